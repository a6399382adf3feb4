"""Bring the index up to date with the files: only what changed is read.

In: the canonical store, the playbooks and the index. Out: what was added, changed and removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from palace.errors import MemoryNotFoundError, StoreError
from palace.ports import Progress
from palace.store.index_database import IndexBusyError
from palace.store.index_sqlite import SqliteIndex
from palace.store.orphans import nested, orphaned, strayed
from palace.store.rooms import RoomStore
from palace.store.tree import unread
from palace.types.memory import Document, Fault, FileStamp, Memory, is_below
from palace.types.verdict import LayerName

_BATCH_FILES = 64


class Readable(Protocol):
    """Memory files that can be listed and parsed."""

    def look(self) -> tuple[list[FileStamp], list[Fault]]:
        """Return a stamp for every file, sorted by path, and what is left out and why."""

    def read(self, path: str) -> Document:
        """Parse one file."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did.

    Attributes:
        read: Paths that were read again.
        removed: Paths that are gone.
        memories: How many memories were written.
        faults: What could not be understood in the files that were read; and what could not be
            read (`Fault.is_unread`). What the index holds of that stays, and every look tries it.
        complete: False when another program was writing and this one did not wait for it.
    """

    read: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    memories: int = 0
    faults: tuple[Fault, ...] = ()
    complete: bool = True


def refresh(
    index: SqliteIndex,
    sources: Sequence[tuple[LayerName, Readable]],
    *,
    progress: Progress | None = None,
    wait: bool = True,
) -> Refreshed:
    """Index every file whose size, time or content changed, and forget files that are gone.

    A file is read while the index can be written by nobody else: of two programs that index it at
    the same time, the one that comes last has read it last.

    Args:
        index: The derived index.
        sources: Layer and the files that belong to it.
        progress: Called with (files done, files to do).
        wait: Whether to wait for another program that is writing the index; if not, the rest is
            left for another time.
    """
    known = index.stamps()
    scanned = [(layer, source, *source.look()) for layer, source in sources]
    gone = _gone(known, [(stamps, faults) for *_, stamps, faults in scanned])
    dirty = [
        (layer, source, stamp)
        for layer, source, stamps, _ in scanned
        for stamp in stamps
        if _suspect(stamp, known.get(stamp.path))
    ]
    unread = [fault for *_, faults in scanned for fault in faults if fault.is_unread]
    if not dirty and not gone:
        return Refreshed(faults=tuple(unread))
    work = _Work(index, wait=wait, faults=unread)
    try:
        work.forget(gone, sources)
        work.take_in(dirty, progress)
    except IndexBusyError:
        return replace(work.done(), complete=False)
    return work.done()


def _gone(
    known: Iterable[str], looks: Iterable[tuple[list[FileStamp], list[Fault]]]
) -> tuple[str, ...]:
    """Return the known files that are not there; of what cannot be read nobody can tell."""
    present: set[str] = set()
    unread: list[Fault] = []
    for stamps, faults in looks:
        present.update(stamp.path for stamp in stamps)
        unread += [fault for fault in faults if fault.is_unread]
    return tuple(sorted(p for p in known if p not in present and not is_below(p, unread)))


def _suspect(stamp: FileStamp, known: tuple[FileStamp, bool] | None) -> bool:
    """Whether a file is new, changed, or was read too soon after it was written to tell."""
    if known is None:
        return True
    before, racy = known
    return racy or before != stamp


@dataclass(slots=True)
class _Work:
    """What one refresh does to the index, and what it has done so far."""

    index: SqliteIndex
    wait: bool
    read: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    memories: int = 0

    def done(self) -> Refreshed:
        return Refreshed(tuple(self.read), tuple(self.removed), self.memories, tuple(self.faults))

    def forget(self, gone: Sequence[str], sources: Sequence[tuple[LayerName, Readable]]) -> None:
        if gone:
            self.index.apply((), removed=self._still(gone, sources), wait=self.wait)

    def _still(
        self, gone: Sequence[str], sources: Sequence[tuple[LayerName, Readable]]
    ) -> Iterator[str]:
        """Yield what is gone now as well: a file may have come back since it was looked for."""
        for path in _gone(gone, [source.look() for _, source in sources]):
            self.removed.append(path)
            yield path

    def take_in(
        self,
        dirty: Sequence[tuple[LayerName, Readable, FileStamp]],
        progress: Progress | None,
    ) -> None:
        for start in range(0, len(dirty), _BATCH_FILES):
            batch = dirty[start : start + _BATCH_FILES]
            digests = self.index.digests([stamp.path for _, _, stamp in batch])
            same: list[FileStamp] = []
            for layer in dict.fromkeys(layer for layer, _, _ in batch):
                items = [(source, stamp) for of, source, stamp in batch if of == layer]
                changed = self._changed(items, digests, same)
                self.memories += self.index.apply(changed, layer=layer, wait=self.wait)
            if same:
                self.index.touch(same, wait=self.wait)
            if progress is not None:
                progress(min(start + len(batch), len(dirty)), len(dirty))
        self.index.settle(self.memories)

    def _changed(
        self,
        items: Sequence[tuple[Readable, FileStamp]],
        digests: Mapping[str, str],
        same: list[FileStamp],
    ) -> Iterator[tuple[Document, FileStamp]]:
        for source, stamp in items:
            try:
                document = source.read(stamp.path)
            except MemoryNotFoundError:
                continue  # deleted since it was listed; the next look forgets it
            except StoreError as error:
                self.faults.append(unread(stamp.path, error))
                continue  # its stamp stays as it was, and so the next look reads it again
            if digests.get(stamp.path) == document.digest:
                same.append(stamp)
                continue
            if isinstance(source, RoomStore) and (before := self._parted(document)):
                try:
                    stamp, document = source.mend_comments(stamp.path, before)
                except StoreError as error:
                    if error.retryable:
                        continue  # somebody is writing: it is looked at again
            self.read.append(stamp.path)
            self.faults.extend(document.faults)
            yield document, stamp

    def _parted(self, document: Document) -> list[Memory]:
        """Return what a file held, where an edit parted comments from their words; else nothing."""
        if not self.index.ids_of(document.path) - {memory.id for memory in document.memories}:
            return []
        before, now = list(self.index.memories(path=document.path)), document.memories
        parted = orphaned(before, now) or strayed(before, now) or nested(before, now)
        return before if parted else []
