"""An opened palace: its stores, its index and its parts; what all verbs stand on.

In: settings and a root folder. Out: `OpenedPalace`; `palace.assembly` puts its parts together.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from palace.arguments import check_part
from palace.assembly import Assembly
from palace.errors import MemoryNotFoundError, StoreError, StoreUnavailableError
from palace.learn.use_counts import UseTally
from palace.ports import Embedder, Fetcher, Generator, Progress
from palace.presets import Preset
from palace.privacy import PrivacyFilter
from palace.store.files import ensure_folder, gone, keep_out_of_git, refusals, sweep
from palace.store.identity_file import IdentityFile
from palace.store.index_sqlite import SqliteIndex
from palace.store.journal import FileJournal
from palace.store.pending import PendingChanges, Promise
from palace.store.playbook_files import PlaybookFiles
from palace.store.refresh import Readable, Refreshed, refresh
from palace.store.rooms import RoomStore
from palace.store.scratchpad_file import FileScratchpad
from palace.store.vector_file import VectorFile
from palace.types.memory import Document, Fault, FileStamp
from palace.types.session import ScratchEntry, Turn
from palace.types.verdict import Heard, LayerName

if TYPE_CHECKING:
    from palace.learn.remember import Writer
    from palace.ports import ConflictJudge
    from palace.settings import LoadedSettings, Settings
    from palace.store.vector_channel import VectorChannel


_WRITTEN = ("rooms", "timeline", "playbooks")
_EXPIRY_S = 3600.0  # how often what has outlived its time is looked for
_Indexed = TypeVar("_Indexed")
_log = logging.getLogger(__name__)
_open_ones: WeakSet[OpenedPalace] = WeakSet()


class _Forking(threading.local):
    """What the thread that forks keeps other threads out of meanwhile."""

    def __init__(self) -> None:
        self.held = ExitStack()


_forking = _Forking()


class OpenedPalace:
    """The stores of one palace, opened; not used by itself, see `Mempalace`.

    Args:
        loaded: Settings with their origins and the root.
        preset: Ready-made cues to use besides the person's own.
        judge: Has the last word on conflicts, if given.
        fetchers: Used instead of the configured fetchers when given.
        embedder: Used instead of the configured embedder when given.
        generator: Used instead of the configured language model when given.

    Attributes:
        unread: The files and folders that the last look at all of them could not read.

    Raises:
        ConfigError: If one of these cannot be what it is given as.
    """

    def __init__(
        self,
        loaded: LoadedSettings,
        *,
        preset: Preset | None = None,
        judge: ConflictJudge | None = None,
        fetchers: Sequence[Fetcher] | None = None,
        embedder: Embedder | None = None,
        generator: Generator | None = None,
    ) -> None:
        check_part("judge", judge, "judge")
        check_part("embedder", embedder, "embed")
        check_part("generator", generator, "generate")
        for fetcher in fetchers or ():
            check_part("fetcher", fetcher, "recognise", "fetch")
        self.loaded = loaded
        self.root = loaded.root
        self.judge = judge
        self.preset = preset
        self.fetchers = fetchers
        self.embedder = embedder
        self.generator = generator
        self._open()
        self.refresh()
        self._finish()
        self._count_uses()
        self._tidy()
        self._expire_beside()
        if self.vectors is not None:
            self.vectors.start()
        _open_ones.add(self)

    def _open(self) -> None:
        settings = self.settings
        self._refresh_lock = threading.Lock()
        self._refreshed_at = float("-inf")
        self._unfilled = False
        self.unread: tuple[Fault, ...] = ()
        self._closed = threading.Event()
        self._expiry: threading.Thread | None = None
        self._expired_at = time.monotonic()
        with refusals("make", self.root):
            ensure_folder(self.root)
        self.store = RoomStore(self.root)
        self.playbook_files = PlaybookFiles(self.root)
        self.identity_file = IdentityFile(self.root)
        self.index = SqliteIndex(self.root / ".palace" / "index.sqlite")
        folder = settings.scratchpad.dir
        self.scratchpad = FileScratchpad(
            Path(folder).expanduser() if folder else self.root / "scratchpad",
            ttl_s=settings.scratchpad.ttl_s,
            max_entry_chars=settings.scratchpad.max_entry_chars,
            max_entries=settings.scratchpad.max_entries,
        )
        self.journal = FileJournal(
            self.root / "journal", retention_days=settings.journal.retention_days
        )
        self.pending = PendingChanges(self.root / ".palace" / "pending")

    def _hold(self, held: ExitStack) -> None:
        """Keep other threads out of the databases: half a transaction cannot be forked."""
        if self.vectors is not None:
            held.enter_context(self.vectors.held())
        held.enter_context(self.index.held())

    def _open_anew(self) -> None:
        """Open everything again, in a process that was forked from the one that opened it.

        Locks may be held by threads that are not here, and SQLite takes the hold of the inherited
        connection on its file for ours.
        """
        self.index.close()
        for name in list(vars(self)):
            if isinstance(getattr(type(self), name, None), cached_property):
                del vars(self)[name]
        self._open()
        if self.vectors is not None:
            self.vectors.start()

    def _finish(self) -> None:
        """Retire what a memory replaces whose writer was killed before it could do so."""
        try:
            with self.pending.broken() as promises:
                for promise in promises:
                    self._keep_promise(promise)
        except StoreError as error:
            _log.warning("a change that was cut short could not be finished: %s", error)

    def _keep_promise(self, promise: Promise) -> None:
        new = self.index.get(promise.new)
        if new is None:
            return
        from palace.learn.remember import superseded_fields

        for old in map(self.index.get, promise.retired):
            if old is not None and old.status == "active":
                self.store.update(old, **superseded_fields(old, new))
                self.index_file(old.path)

    def _count_uses(self) -> None:
        """Count how memories were used, where an index that was made anew no longer knows."""
        try:
            if not self.index.uses.mark():
                self.tally.renew()
        except StoreUnavailableError as error:
            # A journal that cannot be read changes the order of near ties, and nothing else.
            _log.info("nobody knows how memories were used: %s", error)

    def _tidy(self) -> None:
        """Drop half-written files, and what could have been put back for a day."""
        keep_out_of_git(self.root / ".palace")
        try:
            sweep(self.root, _WRITTEN)
            self.store.expire()
        except StoreUnavailableError as error:
            # Nothing of this is needed to read; a read-only palace simply keeps it.
            _log.info("nothing was tidied: %s", error)

    def _expire_beside(self) -> None:
        """Drop old journal months and ended notes; for thousands of sessions nobody waits."""
        self._expired_at = time.monotonic()
        self._expiry = threading.Thread(target=self._expire, name="expiry", daemon=True)
        self._expiry.start()

    def _expire(self) -> None:
        try:
            self.journal.apply_retention()
            self.scratchpad.purge_expired(stopped=self._closed.is_set)
        except StoreUnavailableError as error:
            _log.info("nothing expired: %s", error)

    def close(self) -> None:
        """End background work and close the index; the files need no closing."""
        _open_ones.discard(self)
        self._closed.set()
        if self._expiry is not None:
            self._expiry.join()
        if self.vectors is not None:
            self.vectors.close()
        self.index.close()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    @property
    def vectors(self) -> VectorChannel | None:
        """The channel of meaning, None where no embedder is configured."""
        return self._parts.vectors

    @property
    def sources(self) -> Sequence[tuple[LayerName, Readable]]:
        """The files that are indexed, by the layer they belong to."""
        return (("L1", self.store), ("L4", self.playbook_files))

    @cached_property
    def privacy(self) -> PrivacyFilter:
        """What may be written and shown: secrets and personal data, as the settings say."""
        write = self.settings.write
        return PrivacyFilter(write.secrets, write.personal_data)

    @cached_property
    def tally(self) -> UseTally:
        """How memories were used."""
        return UseTally(self.journal.appended, self.index.uses)

    @cached_property
    def _parts(self) -> Assembly:
        return Assembly(self)

    def scrub(self) -> None:
        """Leave no trace under `.palace/` of memories that are no longer in the files.

        Raises:
            StoreUnavailableError: If a part of it cannot be written.
        """
        self.index.scrub()
        vectors = VectorFile(self.root / ".palace")
        for file in (vectors, vectors.beside()):
            with closing(file):
                file.scrub(self.index.passage_digests())
        self._parts.bought_vectors.scrub()

    def heard(self, turn: Turn) -> Heard | None:  # noqa: ARG002 - a reader hears nothing
        """Do what a prompt tells the memory; None if it tells nothing."""
        return None

    @property
    def probe_writer(self) -> Writer:
        """The way in that leaves no record of the change; for trials that clean up themselves."""
        return self._parts.writer

    @property
    def probe_question(self) -> str:
        """A question about a person, `{}` in place of the name, in the first language heard."""
        return self._parts.lexicons[0].about_somebody

    def keep_record(self, record: Mapping[str, Any], *, otherwise: str) -> bool:
        """Append a record where a journal is kept; return whether it is there.

        What it tells of is done: a journal that cannot be written must not undo it.

        Args:
            record: As `FileJournal.append` takes it.
            otherwise: What is logged where it cannot be written.
        """
        if not self.settings.journal.enabled:
            return False
        try:
            self.journal.append(record)
        except StoreError as error:
            _log.warning("%s: %s", otherwise, error)
            return False
        return True

    def living_notes(self, session_id: str) -> list[ScratchEntry]:
        """Return the living notes of a session that may be told.

        A note that was promoted is left out once its memory was corrected or forgotten.
        """
        entries = self.scratchpad.entries(session_id)
        return [e for e in entries if not (e.promoted and self._is_retired(e.promoted))]

    def _is_retired(self, memory_id: str) -> bool:
        memory = self.index.get(memory_id)
        return memory is not None and memory.status != "active"

    def refresh(self, *, force: bool = True, progress: Progress | None = None) -> Refreshed:
        """Take in files that were changed by hand.

        Args:
            force: False looks only when `index.refresh_s` seconds have passed since the last look.
            progress: Called with (files done, files to do).
        """
        self.require_root()
        with self._refresh_lock:
            emptied = self._is_unfilled()
            force = emptied or force
            now = time.monotonic()
            if not force and now - self._refreshed_at < self.settings.index.refresh_s:
                return Refreshed()
            done = self._indexing(
                lambda: refresh(self.index, self.sources, progress=progress, wait=force)
            )
            self._refreshed_at = time.monotonic()
            self._unfilled = False
            if done.complete:
                self._tell_unread([fault for fault in done.faults if fault.is_unread])
            if self._refreshed_at - self._expired_at > _EXPIRY_S:
                self._expire_beside()
        if emptied:
            self._count_uses()
        self._tell_vectors(changed=bool(done.read))
        return done

    def _tell_unread(self, unread: Sequence[Fault]) -> None:
        """Keep what the last look could not read, and log what the one before it could."""
        for fault in unread:
            if fault not in self.unread:
                _log.warning("%s", fault.message)
        self.unread = tuple(unread)

    def reindex(self, *, progress: Progress | None = None) -> Refreshed:
        """Throw the index away and build it from the files."""
        self.index.clear()
        self._unfilled = True
        done = self.refresh(progress=progress)
        self._count_uses()
        return done

    def index_file(self, path: str) -> None:
        """Index one file at once, so that the next question finds what was written."""
        self.require_root()
        if self._is_unfilled():
            self.refresh()
        held = self._indexing(lambda: self.index.apply(self._as_it_is(path)))
        if not held and self.store.stamp(path) is None:
            self._indexing(lambda: self.index.apply((), removed=[path]))
        self._tell_vectors(changed=True)

    def _indexing(self, index: Callable[[], _Indexed]) -> _Indexed:
        """Index something, in memory where the disk is full: what is in a file must be found."""
        try:
            return index()
        except StoreUnavailableError as error:
            self._refreshed_at = float("-inf")  # what failed is looked at before it is tried again
            if not self.index.leave_full_disk(error):
                raise
            return index()

    def _is_unfilled(self) -> bool:
        """Whether the index was emptied and no look at all files has come to its end since."""
        self._unfilled = self.index.renew() or self._unfilled
        return self._unfilled

    def require_root(self) -> None:
        """Refuse a root that was moved away: an empty one in its place would know nothing.

        Raises:
            StoreUnavailableError: If it is not there.
        """
        if not self.root.is_dir():
            raise gone(self.root)

    def _as_it_is(self, path: str) -> Iterator[tuple[Document, FileStamp]]:
        """Yield a file as it is when asked for: inside the transaction that indexes it."""
        stamp = self.store.stamp(path)
        if stamp is not None:
            with suppress(MemoryNotFoundError):
                yield self.store.read(path), stamp

    def _tell_vectors(self, *, changed: bool) -> None:
        if changed and self.vectors is not None:
            self.vectors.wake()


def _before_fork() -> None:
    for palace in sorted(_open_ones, key=id):  # in one order, whoever else forks
        palace._hold(_forking.held)


def _after_fork() -> None:
    _forking.held.close()


def _in_forked_process() -> None:
    _after_fork()
    for palace in list(_open_ones):
        palace._open_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_forked_process
    )
