"""The facade: a verb for everything a door can do.

In: a root folder and settings. Out: `Mempalace`; `palace.assembly` puts its parts together.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from palace.assembly import TIMELINE, Assembly, answer_options, wake_up_sources
from palace.enforce.enforcer import Enforcement
from palace.enforce.first_turn import FirstTurns
from palace.enforce.record import answer_record
from palace.enforce.wakeup import compose_wake_up
from palace.errors import ConfigError, MemoryNotFoundError, StoreUnavailableError
from palace.layout import LaidOut, lay_out
from palace.learn.promote import promote
from palace.learn.remember import ON_CONFLICT, OnConflict
from palace.learn.retire import correct, forget
from palace.learn.transfer import (
    Exported,
    Imported,
    export_json,
    export_markdown,
    import_path,
)
from palace.ports import Fetcher
from palace.presets import Preset, load_preset, seed
from palace.recall.sufficiency import Sufficiency
from palace.store.files import atomic_write, ensure_folder, unavailable
from palace.store.identity_file import Identity, IdentityFile
from palace.store.index_sqlite import SqliteIndex
from palace.store.journal import FileJournal
from palace.store.playbook_files import PlaybookFiles
from palace.store.playbook_pages import PlaybookPages
from palace.store.refresh import Refreshed, refresh
from palace.store.rooms import RoomStore
from palace.store.scratchpad_file import FileScratchpad
from palace.text import new_id, utc_now
from palace.types import (
    Check,
    ConversationTurn,
    Draft,
    Fault,
    Hit,
    Memory,
    MemoryKind,
    Playbook,
    Query,
    ScratchEntry,
    Trust,
    Turn,
    Verdict,
    WakeUp,
    WriteResult,
)

if TYPE_CHECKING:
    from palace.enforce.answering import Answer, AnswerOptions
    from palace.enforce.grounding import CheckedAnswer
    from palace.settings import LoadedSettings, Settings

PresetName = Literal["issue_analysis", "health_check", "code_review"]
Progress = Callable[[int, int], object]
_log = logging.getLogger(__name__)


class PalaceRoom:
    """One room: a folder of drawers.

    Args:
        palace: The palace it belongs to.
        name: Room name, with `/` for nested rooms.
    """

    def __init__(self, palace: Mempalace, name: str) -> None:
        self.palace = palace
        self.name = name

    def __repr__(self) -> str:
        return f"PalaceRoom({self.name!r})"

    @property
    def drawers(self) -> tuple[str, ...]:
        """Names of the drawers, sorted."""
        return tuple(self.palace.store.drawers(self.name))

    def memories(self, drawer: str | None = None) -> list[Memory]:
        """Return active memories of the room, or of one drawer, in file order."""
        return self.palace.memories(room=self.name, drawer=drawer)

    def remember(self, text: str, *, drawer: str = "notes", **fields: Any) -> WriteResult:  # noqa: ANN401 - passed on to `Mempalace.remember`
        """Remember in this room; see `Mempalace.remember`."""
        return self.palace.remember(text, room=self.name, drawer=drawer, **fields)


class Mempalace:
    """A palace: one directory, the whole memory of one agent or user.

    Open it with `Mempalace.open(root)`; use it as a context manager or call `close()`.

    Args:
        loaded: Settings with their origins and the root.
        preset: Ready-made cues to use besides the person's own.
        fetchers: Used instead of the configured fetchers when given.
    """

    def __init__(
        self,
        loaded: LoadedSettings,
        *,
        preset: Preset | None = None,
        fetchers: Sequence[Fetcher] | None = None,
    ) -> None:
        self.loaded = loaded
        self.root = loaded.root
        settings = self.settings
        self.preset = preset
        self.fetchers = fetchers
        self._refresh_lock = threading.Lock()
        self._refreshed_at = float("-inf")
        try:
            ensure_folder(self.root)
        except OSError as error:
            raise unavailable(error, "make", self.root) from error
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
        self.refresh()
        self._tidy()

    # -- opening -------------------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        root: str | Path | None = None,
        *,
        config: str | Path | None = None,
        fetchers: Sequence[Fetcher] | None = None,
        create: bool = True,
    ) -> Mempalace:
        """Open a palace; the folder is made if it does not exist.

        Args:
            root: The palace's folder; else `PALACE_ROOT`, `root:` in the settings, `~/.mempalace`.
            config: The settings file; else it is searched for as the README says.
            fetchers: Used instead of the configured fetchers, e.g. in tests.
            create: False refuses a folder that does not exist: who only reads wants no new palace.

        Raises:
            ConfigError: If the settings are wrong, or there is no palace and none may be made.
            StoreUnavailableError: If the folder cannot be used.
        """
        from palace.settings import load_settings

        loaded = load_settings(
            config=Path(config) if config else None,
            root=Path(root).expanduser() if root else None,
        )
        if not create:
            _require_palace(loaded.root)
        name = loaded.settings.preset
        preset = load_preset(name) if name != "none" else None
        return cls(loaded, preset=preset, fetchers=fetchers)

    @classmethod
    def _with_preset(cls, name: PresetName, root: str | Path | None) -> Mempalace:
        palace = cls.open(root)
        preset = load_preset(name)
        seed(preset, palace.root)
        palace.preset = preset
        palace.refresh(force=True)
        return palace

    @classmethod
    def for_issue_analysis(cls, root: str | Path | None = None) -> Mempalace:
        """Open a palace with rooms, playbooks and cues for analysing issues.

        Rooms `issues` (triage, root-causes, duplicates) and `project` (architecture, conventions);
        playbooks for triage and reproduction; cues such as "have we seen this before". Files that
        exist already are left as they are.
        """
        return cls._with_preset("issue_analysis", root)

    @classmethod
    def for_health_check(cls, root: str | Path | None = None) -> Mempalace:
        """Open a palace with rooms, playbooks and cues for watching systems.

        Rooms `systems` (services, baselines, contacts) and `incidents` (log, known-problems);
        playbooks for a health check and an incident; cues such as "what is normal for".
        """
        return cls._with_preset("health_check", root)

    @classmethod
    def for_code_review(cls, root: str | Path | None = None) -> Mempalace:
        """Open a palace with rooms, playbooks and cues for reviewing code.

        Rooms `review` (conventions, decisions, pitfalls) and `people` (reviewers); playbooks for a
        review and for a risky change; cues such as "our convention for".
        """
        return cls._with_preset("code_review", root)

    def lay_out(self, *, preset: PresetName | None = None, sample: bool = False) -> LaidOut:
        """Make what a new palace needs and does not have; nothing is ever overwritten.

        Args:
            preset: Ready-made rooms and playbooks; a new settings file switches its cues on too.
            sample: Whether to add memories to try the palace with.
        """
        return lay_out(self, preset=preset, sample=sample)

    def _tidy(self) -> None:
        """Drop what has outlived its time: journal months and notes of ended sessions."""
        try:
            self.journal.apply_retention()
            self.scratchpad.purge_expired()
        except StoreUnavailableError as error:
            # Nothing of this is needed to read; a read-only palace simply keeps it.
            _log.info("nothing was tidied: %s", error)

    def close(self) -> None:
        """Close the index; the files need no closing."""
        self.index.close()

    def __enter__(self) -> Mempalace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    # -- index ---------------------------------------------------------------------------------

    def refresh(self, *, force: bool = True, progress: Progress | None = None) -> Refreshed:
        """Take in files that were changed by hand.

        Args:
            force: False looks only when `index.refresh_s` seconds have passed since the last look.
            progress: Called with (files done, files to do).
        """
        with self._refresh_lock:
            now = time.monotonic()
            if not force and now - self._refreshed_at < self.settings.index.refresh_s:
                return Refreshed()
            done = refresh(
                self.index,
                [("L1", self.store), ("L4", PlaybookPages(self.playbook_files))],
                progress=progress,
            )
            self._refreshed_at = time.monotonic()
            return done

    def reindex(self, *, progress: Progress | None = None) -> Refreshed:
        """Throw the index away and build it from the files."""
        self.index.clear()
        return self.refresh(progress=progress)

    # -- reading -------------------------------------------------------------------------------

    def rooms(self) -> tuple[PalaceRoom, ...]:
        """Return all rooms, sorted by name; the timeline is not a room."""
        return tuple(PalaceRoom(self, name) for name in self.store.rooms())

    def room(self, name: str) -> PalaceRoom:
        """Return a room by name, making it if it does not exist.

        Raises:
            UnsafeNameError: If the name would leave the palace.
        """
        return PalaceRoom(self, self.store.create_room(name))

    def memories(
        self,
        *,
        room: str | None = None,
        drawer: str | None = None,
        include_inactive: bool = False,
    ) -> list[Memory]:
        """Return memories in file order; inactive ones only when asked for.

        Raises:
            MemoryNotFoundError: If there is no such room or drawer; names the nearest.
        """
        self.refresh(force=False)
        if room is not None and room != TIMELINE:
            self._require(room, drawer)
        return [
            m
            for m in self.index.memories(room=room)
            if (include_inactive or m.status == "active") and (drawer is None or m.drawer == drawer)
        ]

    def _require(self, room: str, drawer: str | None) -> None:
        if room not in (rooms := self.store.rooms()):
            raise _not_found(f"there is no room {room!r}", room, rooms)
        if drawer is not None and drawer not in (drawers := self.store.drawers(room)):
            raise _not_found(f"the room {room!r} has no drawer {drawer!r}", drawer, drawers)

    def get(self, memory_id: str) -> Memory:
        """Return one memory by id or unique prefix of at least 8 characters, active or not.

        Raises:
            MemoryNotFoundError: If there is none.
        """
        self.refresh(force=False)
        memory = self.index.get(memory_id)
        if memory is None:
            raise MemoryNotFoundError(
                f"no memory has the id {memory_id!r}", hint="see `palace list` or `palace search`"
            )
        return memory

    def search(
        self,
        text: str,
        *,
        top_k: int | None = None,
        session_id: str | None = None,
        project: str | None = None,
        layer: Literal["L1", "L4"] = "L1",
    ) -> list[Hit]:
        """Return the memories nearest to any text at all, best first, with their scores.

        This is the search the enforcer uses; unlike the enforcer it always returns the nearest.
        """
        self.refresh(force=False)
        query = self.analyse(Turn(text, session_id=session_id, project=project))
        return self._parts.searcher.hits(
            query, top_k=top_k or self.settings.search.top_k, layer=layer
        )

    def playbooks(self) -> list[Playbook]:
        """Return all playbooks, sorted by name."""
        return self.playbook_files.all()

    @property
    def identity(self) -> Identity:
        """The identity with its length and usage percentage."""
        return self.identity_file.read()

    def set_identity(self, text: str) -> Identity:
        """Write the identity.

        Raises:
            IdentityTooLongError: If it has more than 1000 characters; says what to merge.
            SecretRefusedError: If it holds a secret.
        """
        return self.identity_file.write(self._parts.writer.fit(text))

    def faults(self) -> list[Fault]:
        """Return everything in the files that could not be understood."""
        return [*self.store.faults(), *self.playbook_files.faults()]

    # -- writing -------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        room: str | None = None,
        drawer: str = "notes",
        kind: MemoryKind = "fact",
        source: Trust = "user",
        tags: Sequence[str] = (),
        importance: float = 0.5,
        confidence: float = 1.0,
        project: str | None = None,
        session_id: str | None = None,
        provenance: str = "",
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        triggers: Sequence[str] = (),
        on_conflict: OnConflict = "ask",
    ) -> WriteResult:
        """Store one statement; the very next question finds it.

        Args:
            text: The statement.
            room: Room, made if needed; `write.default_room` if not given.
            drawer: Drawer, made if needed.
            kind: What sort of memory it is.
            source: Whose word it is.
            tags: Without `#`.
            importance: In [0, 1].
            confidence: In [0, 1].
            project: Only visible to this project, if given.
            session_id: Only visible to this session, if given.
            provenance: Where it comes from, free text.
            valid_from: From when it is true.
            valid_to: Until when it is true; afterwards it is not returned.
            triggers: Patterns of prompts it must be attached to (negative memories).
            on_conflict: What to do when the palace holds another value: `ask`, `keep`, `supersede`.

        Returns:
            `Remembered`, `Duplicate` (nothing written) or `Conflict` (nothing written).

        Raises:
            TextRefusedError: If the text is unfit; `SecretRefusedError` if it holds a secret.
            UnsafeNameError: If a name would leave the palace.
        """
        if on_conflict not in ON_CONFLICT:
            raise ConfigError(
                f"on_conflict is {on_conflict!r}", hint=f"use one of {', '.join(ON_CONFLICT)}"
            )
        draft = Draft(
            text=text,
            kind=kind,
            scope=_scope_of(project, session_id),
            trust=source,
            provenance=provenance,
            tags=tuple(tags),
            importance=importance,
            confidence=confidence,
            created=utc_now(),
            valid_from=valid_from,
            valid_to=valid_to,
            triggers=tuple(triggers),
            project=project or "",
            session=session_id or "",
        )
        return self._parts.writer.remember(
            draft,
            room=room or self.settings.write.default_room,
            drawer=drawer,
            on_conflict=on_conflict,
        )

    def correct(
        self, memory_id: str, text: str, *, source: Trust = "user", reason: str = ""
    ) -> WriteResult:
        """Replace a memory by the right words; the very next question finds those alone.

        The old memory stays in its file as inactive, with the id of the one that supersedes it.
        Room, drawer, kind, scope, tags and importance are kept.

        Args:
            memory_id: Id of the wrong memory, or a unique prefix of at least 8 characters.
            text: The whole statement as it is right.
            source: Whose word it is. A person's correction also supersedes whatever else it
                contradicts; anybody else's meets a `Conflict`.
            reason: Why, free text.

        Returns:
            `Remembered`; `Duplicate` of the memory itself (nothing changed) or of another one
            (the wrong one is retired in its favour); `Conflict` with a third (nothing changed).

        Raises:
            MemoryNotFoundError: If there is no such active memory.
            TextRefusedError: If the text is unfit, or it is a playbook, which is a file of its own.
        """
        old = self.get(memory_id)
        result = correct(
            self._parts.writer,
            old,
            text,
            source=source,
            default_room=self.settings.write.default_room,
            reason=reason,
        )
        if result.status != "conflict" and result.memory.id != old.id:
            self._note_retirement("correction", old, superseded_by=result.memory.id)
        return result

    def forget(self, memory_id: str, *, reason: str = "") -> Memory:
        """Retire a memory: no question finds it again; it stays readable in its file.

        Args:
            memory_id: Its id, or a unique prefix of at least 8 characters.
            reason: Why, free text.

        Returns:
            The memory as it is now, inactive.

        Raises:
            MemoryNotFoundError: If there is no such active memory.
            TextRefusedError: If it is a playbook, which is a file of its own.
        """
        old = self.get(memory_id)
        gone = forget(self._parts.writer, old, reason=reason)
        self._note_retirement("forget", old, reason=gone.reason)
        return gone

    def _note_retirement(self, type: str, old: Memory, **more: str) -> None:
        self.journal.append(
            {
                "id": new_id("c"),
                "type": type,
                "at": utc_now().isoformat(),
                "session": old.session or None,
                "memory": old.id,
                **more,
            }
        )

    def note(self, text: str, *, session_id: str, ttl_s: float | None = None) -> ScratchEntry:
        """Note something for the rest of a session.

        Raises:
            SecretRefusedError: If the text holds a secret.
            UnsafeNameError: If the session id cannot name a file.
        """
        return self.scratchpad.append(session_id, self._parts.writer.fit(text), ttl_s=ttl_s)

    def notes(self, session_id: str) -> list[ScratchEntry]:
        """Return the living notes of a session, oldest first."""
        return self.scratchpad.entries(session_id)

    def promote_to_palace(
        self,
        entry: ScratchEntry | str,
        room: str,
        drawer: str,
        *,
        summary: str,
        reason: str,
        kind: MemoryKind = "fact",
        project: str | None = None,
        on_conflict: OnConflict = "ask",
    ) -> WriteResult:
        """Turn a note of the scratchpad into a memory, on purpose and in plain words.

        Args:
            entry: The note, or its id.
            room: Room of the memory.
            drawer: Drawer of the memory.
            summary: The words of the memory.
            reason: Why it is worth keeping.
            kind: What sort of memory it is.
            project: Only visible to this project, if given.
            on_conflict: `ask`, `keep` or `supersede`.

        Raises:
            MemoryNotFoundError: If the note does not exist or has expired.
            TextRefusedError: If summary or reason is missing, or it is raw tool output.
            SecretRefusedError: If anything in it is a secret.
        """
        noted = entry if isinstance(entry, ScratchEntry) else self._living(entry)
        result = promote(
            self._parts.writer,
            noted,
            room=room,
            drawer=drawer,
            summary=summary,
            reason=reason,
            kind=kind,
            project=project or "",
            on_conflict=on_conflict,
        )
        if result.status == "stored":
            self._note_promotion(noted, result.memory)
        return result

    def _living(self, entry_id: str) -> ScratchEntry:
        entry = self.scratchpad.get(entry_id)
        if entry is None:
            raise MemoryNotFoundError(
                f"no living note has the id {entry_id!r}",
                hint="notes expire; `palace note --list` shows the living ones",
            )
        return entry

    def _note_promotion(self, entry: ScratchEntry, memory: Memory) -> None:
        if self.scratchpad.get(entry.id) is not None:
            self.scratchpad.mark_promoted(entry.id, memory.id)
        self.journal.append(
            {
                "id": new_id("p"),
                "type": "promotion",
                "at": utc_now().isoformat(),
                "session": entry.session_id,
                "memory": memory.id,
                "entry": entry.id,
            }
        )

    def index_file(self, path: str) -> None:
        """Index one file at once, so that the next question finds what was written."""
        stamp = self.store.stamp(path)
        if stamp is None:
            self.index.apply((), removed=[path])
        else:
            self.index.apply([(self.store.read(path), stamp)])

    # -- import, export ------------------------------------------------------------------------

    def import_from(self, source: str | Path, *, progress: Progress | None = None) -> Imported:
        """Import a folder of Markdown, conversation turns as JSONL, or an export of a palace.

        Args:
            source: A folder (kept as it is), a `.md` file, a `.jsonl` file of turns
                (`session, speaker, text, at`) or a `.json` export.
            progress: Called with (done, to do).

        Returns:
            What was added, was there already, and was refused, with the reasons.

        Raises:
            ConfigError: If the source cannot be read as any of these; names file and line.
        """
        done = import_path(
            Path(source).expanduser(),
            root=self.root,
            write_file=self._put_file,
            append_turns=self._append_turns,
            progress=progress,
        )
        self.refresh()
        return done

    def import_turns(
        self, turns: Iterable[ConversationTurn], *, progress: Progress | None = None
    ) -> int:
        """Add verbatim conversation turns to the timeline; those already there are left out.

        Returns:
            How many timeline pages changed.
        """
        paths = self._append_turns(list(turns))
        self.refresh(progress=progress)
        return len(paths)

    def _append_turns(self, turns: Sequence[ConversationTurn]) -> list[str]:
        return self.store.append_timeline(turns)

    def _put_file(self, relative: str, data: bytes) -> None:
        atomic_write(self.root / relative, data, expected_digest=None)

    def export(self, target: str | Path, *, form: Literal["json", "markdown"] = "json") -> Exported:
        """Write everything canonical to one JSON file or a folder of Markdown.

        Raises:
            ConfigError: If the target exists and is not empty.
        """
        path = Path(target).expanduser()
        memories = self.memories(include_inactive=True)
        if form == "json":
            return export_json(self.root, path, memories=memories)
        return export_markdown(self.root, path, memories=memories)

    # -- enforcement ---------------------------------------------------------------------------

    @cached_property
    def _parts(self) -> Assembly:
        return Assembly(self)

    @property
    def enforcement(self) -> Enforcement:
        """The assembled parts of the walk; what `RetrievalEnforcer` works with."""
        return self._parts.enforcement

    @property
    def sufficiency(self) -> Sufficiency:
        """The calibrated bar in force."""
        return self._parts.sufficiency

    @property
    def answer_options(self) -> AnswerOptions:
        """How answers are made and checked: the `answers:` settings with the identity in force."""
        return answer_options(self.settings, identity=self.identity.text)

    def record_answer(self, answer: Answer | CheckedAnswer | None, verdict: Verdict) -> str:
        """Record what was released for a verdict: cited memories, unsupported words, model calls.

        Args:
            answer: The answer, or its check where a host made the calls itself.
            verdict: The verdict it was made for.

        Returns:
            Id of the record, "" when no journal is kept.
        """
        if not self.settings.journal.enabled:
            return ""
        record = answer_record(answer, verdict, prompts=self.settings.journal.prompts)
        self.journal.append(record)
        return str(record["id"])

    def analyse(self, turn: Turn) -> Query:
        """Return how a turn is understood: its terms, names and what would answer it."""
        return self._parts.analyst.analyse(turn)

    # -- wake-up -------------------------------------------------------------------------------

    def wake_up(
        self, session_id: str, project: str | None = None, budget_tokens: int | None = None
    ) -> WakeUp:
        """Return what a session starts with, within the budget, saying what was left out.

        L0 identity, living notes of the session, what the last session promoted, and the rooms
        that matter in this context; never the whole palace.

        Args:
            session_id: The session that starts.
            project: Its project, if any.
            budget_tokens: Most estimated tokens; `wakeup.budget_tokens` if not given.
        """
        settings = self.settings.wakeup
        self.refresh(force=False)
        return compose_wake_up(
            session_id,
            wake_up_sources(self, session_id, project),
            budget_tokens=settings.budget_tokens if budget_tokens is None else budget_tokens,
            project=project,
            max_rooms=settings.rooms,
            memories_per_room=settings.memories_per_room,
        )

    def session_wake_up(self, session_id: str | None, project: str | None = None) -> str:
        """Return the wake-up text on the first turn of a session, "" on all later ones.

        A session has begun when this method was called for it in this process, or in another one
        that kept the same journal.

        Args:
            session_id: The session; without one there is no first turn, and the result is "".
            project: Its project, if any.
        """
        if not session_id or not self._first_turns.begin(session_id):
            return ""
        return self.wake_up(session_id, project).text

    @cached_property
    def _first_turns(self) -> FirstTurns:
        return FirstTurns(self.journal if self.settings.journal.enabled else None)

    # -- looking back --------------------------------------------------------------------------

    def verdicts(self, *, limit: int = 20, since: datetime | None = None) -> list[dict[str, Any]]:
        """Return journal records of verdicts, newest first."""
        found: list[dict[str, Any]] = []
        for record in self.journal.records(since=since, type="verdict"):
            found.append(record)
            if len(found) >= limit:
                break
        return found

    def verdict(self, verdict_id: str | None = None) -> dict[str, Any]:
        """Return the journal record of one verdict, the last one if no id is given.

        Raises:
            MemoryNotFoundError: If the journal has none.
        """
        record = (
            self.journal.find(verdict_id)
            if verdict_id
            else next(iter(self.journal.records(type="verdict")), None)
        )
        if record is None:
            what = f"verdict {verdict_id!r}" if verdict_id else "verdict"
            raise MemoryNotFoundError(
                f"the journal holds no {what}", hint="see `palace journal` for what it holds"
            )
        return record

    def doctor(self) -> list[Check]:
        """Test what the palace can do: write, read, find and recover a probe; report faults."""
        from palace.doctor import run_checks

        return run_checks(self)


def _require_palace(root: Path) -> None:
    if root.exists() and not root.is_dir():
        raise ConfigError(f"{root} is no folder", hint="name the palace's folder")
    if not root.is_dir():
        raise ConfigError(f"there is no palace at {root}", hint=f"`palace init {root}` makes one")


def _not_found(message: str, name: str, names: Sequence[str]) -> MemoryNotFoundError:
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see `palace list`"
    return MemoryNotFoundError(message, hint=hint)


def _scope_of(project: str | None, session_id: str | None) -> str:
    if session_id:
        return f"session:{session_id}"
    return f"project:{project}" if project else "global"
