"""The scratchpad on disk: notes of one session, one JSON line each, with a time to live.

In: a session id (untrusted) and text. Out: the notes that are still alive, oldest first.

A note is one appended line, a promotion is another, and what is erased is blanked where it stands
and told in a third, so that whoever has read it forgets it. Notes whose time is over are never
returned; `purge_expired` deletes files in which every note is over, and nothing else. Only the file
of a session that never ends is written anew, without what is over, once that is most of it.
Whether a text holds a secret is checked by the caller.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Mapping, Set
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from numbers import Real
from pathlib import Path
from typing import Any, BinaryIO

from palace.errors import ConfigError, MemoryNotFoundError, StoreError
from palace.kept import Kept
from palace.store.files import (
    ANYTHING,
    DISK,
    atomic_write,
    listing,
    lock_file,
    read_bytes,
    refusals,
    refuse_special,
    unavailable,
)
from palace.store.json_lines import (
    append_line,
    decode_line,
    encode_line,
    overwrite_lines,
)
from palace.store.names import session_file_name
from palace.text.moments import new_id, utc_now
from palace.types.memory import Trust
from palace.types.session import ScratchEntry

DEFAULT_TTL_S = 3600.0
_SUFFIX = ".jsonl"
_LOCK_TIMEOUT_S = 10.0
_HEAD_BYTES = 96
_HEAD = "rewritten"  # the first line of a file that was written anew
_KEPT_EXPIRED = 1000  # notes whose time is over that a file may hold, however few others it has
_KEPT_STATES = 1024  # sessions whose notes are kept in memory, the ones read last


@dataclass(slots=True)
class _FileState:
    """What has been read of one file, so that a walk reads only what is new."""

    head: bytes = b""
    offset: int = 0
    entries: dict[str, ScratchEntry] = field(default_factory=dict)


class FileScratchpad:
    """Scratchpad in `<folder>/<session>.jsonl`; implements the port `Scratchpad`.

    A note is expired when its age is at least its time to live. A clock that was set back makes
    notes younger, never unreadable. Several processes may share the folder: writers take a lock
    file in it, readers take none. Any call may raise `StoreUnavailableError`, where the disk
    refuses or the lock cannot be had, and `UnsafeNameError`, where a session id names no file.

    Args:
        folder: Where the session files are; made at the first write, mode 0700 (files 0600).
        ttl_s: Time to live of a note that is given none, in seconds, > 0.
        max_entry_chars: Longest note, in characters, >= 1.
        max_entries: Most living notes of one session, >= 1; more are refused.
        clock: Returns the present moment, aware, UTC.

    Raises:
        ConfigError: If a bound is out of range.
    """

    def __init__(
        self,
        folder: Path,
        *,
        ttl_s: float = DEFAULT_TTL_S,
        max_entry_chars: int = 4000,
        max_entries: int = 1000,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        if max_entry_chars < 1 or max_entries < 1:
            raise ConfigError(
                "the scratchpad's limits must be at least 1",
                hint="raise the greatest length and the greatest number of notes",
            )
        self.folder = folder
        self._ttl_s = checked_ttl(ttl_s)
        self._max_entry_chars = max_entry_chars
        self._max_entries = max_entries
        self._clock = clock
        self._states: Kept[str, _FileState] = Kept(_KEPT_STATES)
        self._states_lock = threading.Lock()

    def append(
        self, session_id: str, text: str, *, ttl_s: float | None = None, source: Trust = "agent"
    ) -> ScratchEntry:
        """Write one note durably (fsync) and return it with its id and moment.

        Args:
            session_id: Any text that `session_file_name` accepts.
            text: The note, kept verbatim; not blank, at most `max_entry_chars` characters.
            ttl_s: Its time to live in seconds, > 0; the scratchpad's if None.
            source: Whose word it is.

        Raises:
            ConfigError: If the text is blank or too long, or the time to live is not above 0.
            StoreError: If the session holds `max_entries` living notes already.
        """
        path = self._path(session_id)
        if not text.strip():
            raise ConfigError("an empty note cannot be kept", hint="say what should be remembered")
        if len(text) > self._max_entry_chars:
            raise ConfigError(
                f"a note of {len(text)} characters is too long for the scratchpad",
                hint=f"note the conclusion in at most {self._max_entry_chars} characters",
            )
        entry = ScratchEntry(
            id=new_id("s"),
            session_id=session_id,
            text=text,
            at=self._clock(),
            ttl_s=self._ttl_s if ttl_s is None else checked_ttl(ttl_s),
            source=source,
        )
        with self._writing():
            if len(self.entries(session_id)) >= self._max_entries:
                raise StoreError(
                    f"the scratchpad of session {session_id!r} holds {self._max_entries} notes"
                    " already",
                    hint="promote what should last, or wait until notes expire",
                )
            self._shrink(path)
            append_line(path, encode_line(_as_record(entry)), durable=True)
        return entry

    def entries(self, session_id: str) -> list[ScratchEntry]:
        """Return the living notes of a session, oldest first; an unknown session has none."""
        now = self._clock()
        read = self._read(self._path(session_id))
        return [e for e in read if e.session_id == session_id and not is_expired(e, now)]

    def sessions(self) -> list[str]:
        """Return the ids of sessions with living notes, the latest written first."""
        now = self._clock()
        latest: dict[str, tuple[datetime, str]] = {}
        for path in self._files():
            for entry in self._read(path):
                if not is_expired(entry, now):
                    latest[entry.session_id] = (entry.at, entry.id)
        return sorted(latest, key=lambda session: latest[session], reverse=True)

    def get(self, entry_id: str) -> ScratchEntry | None:
        """Return one living note of any session, or None."""
        located = self._locate(entry_id)
        if located is None or is_expired(located[1], self._clock()):
            return None
        return located[1]

    def mark_promoted(self, entry_id: str, memory_id: str) -> ScratchEntry:
        """Note durably that an entry became a memory, and return the entry as it is now.

        An entry that expired meanwhile can still be marked; marking it again with the same
        memory writes nothing.

        Raises:
            ConfigError: If the memory id is empty.
            MemoryNotFoundError: If no file holds the entry.
        """
        if not memory_id:
            raise ConfigError(
                "a promoted note needs the id of its memory", hint="give the id that was stored"
            )
        with self._writing():
            located = self._locate(entry_id)
            if located is None:
                raise MemoryNotFoundError(
                    f"no scratchpad note has the id {entry_id!r}",
                    hint="list the notes of the session",
                )
            path, entry = located
            if entry.promoted != memory_id:
                event = {
                    "type": "promoted",
                    "id": entry_id,
                    "memory": memory_id,
                    "at": self._clock(),
                }
                append_line(path, encode_line(event), durable=True)
        return replace(entry, promoted=memory_id)

    def purge_expired(self, *, stopped: Callable[[], bool] = lambda: False) -> int:
        """Delete the files in which every note is expired; return how many were deleted.

        A file without a readable note is left alone: nobody knows what it holds. Others may write
        meanwhile, because the lock is held for one file at a time.

        Args:
            stopped: Whether to leave the rest for another time.
        """
        purged = 0
        with refusals("delete", self.folder):
            for path in self._files():
                if stopped():
                    break
                with suppress(MemoryNotFoundError, FileNotFoundError):  # others purge as well
                    purged += self._purge(path)
            if purged:
                DISK.fsync_dir(self.folder)
        return purged

    def _purge(self, path: Path) -> bool:
        data = read_bytes(path)
        if not _is_over(data, self._clock()):
            return False
        with self._writing():
            is_same = path.stat().st_size == len(data)  # nobody has noted anything since
            if is_same:
                path.unlink()
        return is_same

    def erase(self, spoils: Callable[[ScratchEntry], bool]) -> tuple[str, ...]:
        """Blank out the notes for which `spoils` is true, expired ones too; return their ids."""
        if not self._files():
            return ()
        with self._writing():
            gone = {e.id for path in self._files() for e in self._read(path) if spoils(e)}
            for path in self._files() if gone else ():
                if overwrite_lines(path, lambda line: b"" if _is_about(line, gone) else line):
                    event = {"type": "erased", "ids": sorted(gone), "at": self._clock()}
                    append_line(path, encode_line(event), durable=True)
        return tuple(sorted(gone))

    def _shrink(self, path: Path) -> None:
        """Write a file anew without the notes that are over, where most are; the lock is held."""
        notes, now = self._read(path), self._clock()
        over = {note.id for note in notes if is_expired(note, now)}
        if len(over) <= max(_KEPT_EXPIRED, len(notes) // 2):
            return
        lines = read_bytes(path).split(b"\n")
        kept = [line for line in lines[_is_head(lines[0]) :] if line.strip()]
        kept = [line + b"\n" for line in kept if not _is_about(line, over)]
        # Whoever has read the file knows by its first line that it is another one.
        head = encode_line({"type": _HEAD, "id": new_id("f")})
        atomic_write(path, b"".join([head, *kept]), replaces=ANYTHING)

    def _path(self, session_id: str) -> Path:
        return _file_of(self.folder, session_id)

    def _files(self) -> list[Path]:
        paths = (Path(entry.path) for entry in listing(self.folder))
        return sorted(path for path in paths if path.suffix == _SUFFIX and path.is_file())

    def _locate(self, entry_id: str) -> tuple[Path, ScratchEntry] | None:
        for path in self._files():
            for entry in self._read(path):
                if entry.id == entry_id:
                    return path, entry
        return None

    def _writing(self) -> AbstractContextManager[None]:
        return lock_file(self.folder / ".lock", what="scratchpad's", timeout_s=_LOCK_TIMEOUT_S)

    def _read(self, path: Path) -> list[ScratchEntry]:
        """Every note of a file, expired ones included, in the order of writing."""
        with self._states_lock:
            try:
                refuse_special(path)
                with path.open("rb") as file:
                    state = self._state_of(path.name, file)
                    file.seek(state.offset)
                    _take_in(state, file.read())
            except FileNotFoundError:
                self._states.pop(path.name)
                return []
            except OSError as error:
                raise unavailable(error, "read", path) from error
            return list(state.entries.values())

    def _state_of(self, name: str, file: BinaryIO) -> _FileState:
        """Return what is known of a file already; nothing of one that was replaced."""
        state = self._states.get(name)
        if state is None or not _is_same_file(state, file):
            state = _FileState()
        self._states.put(name, state)
        return state


@lru_cache(maxsize=64)
def _file_of(folder: Path, session_id: str) -> Path:
    return folder / f"{session_file_name(session_id)}{_SUFFIX}"


def checked_ttl(ttl_s: float) -> float:
    """Return a time to live in seconds, if it is finite and above 0.

    Raises:
        ConfigError: If it is not.
    """
    is_number = isinstance(ttl_s, Real) and not isinstance(ttl_s, bool)
    if not is_number or not math.isfinite(ttl_s) or ttl_s <= 0:
        raise ConfigError(
            f"a note cannot live for {ttl_s!r} seconds", hint="use a number of seconds above 0"
        )
    return float(ttl_s)


def is_expired(entry: ScratchEntry, now: datetime) -> bool:
    """Return whether the note's age has reached its time to live."""
    return (now - entry.at).total_seconds() >= entry.ttl_s


def _is_over(data: bytes, now: datetime) -> bool:
    """Whether a file holds notes and the time of all is over; mostly the newest one tells."""
    found = False
    for line in reversed(data.split(b"\n")):
        note = _as_entry(decode_line(line) or {})
        if note is not None and not is_expired(note, now):
            return False
        found = found or note is not None
    return found


def _is_head(line: bytes) -> bool:
    record = decode_line(line)
    return record is not None and record.get("type") == _HEAD


def _is_about(line: bytes, ids: Set[str]) -> bool:
    record = decode_line(line)
    return record is not None and record.get("id") in ids


def _as_record(entry: ScratchEntry) -> dict[str, Any]:
    return {
        "type": "note",
        "id": entry.id,
        "session": entry.session_id,
        "at": entry.at,
        "ttl_s": entry.ttl_s,
        "source": entry.source,
        "text": entry.text,
    }


def _is_same_file(state: _FileState, file: BinaryIO) -> bool:
    """Whether this is what was read before, grown or not, and no successor of the same name.

    The first bytes hold the id of the first note; inode numbers are reused at once.
    """
    is_grown = file.seek(0, os.SEEK_END) >= state.offset
    file.seek(0)
    return is_grown and file.read(len(state.head)) == state.head


def _take_in(state: _FileState, added: bytes) -> None:
    """Apply the whole lines that were appended; a torn tail waits for its newline."""
    whole, newline, _ = added.rpartition(b"\n")
    if not state.offset:
        state.head = (whole + newline)[:_HEAD_BYTES]
    for line in whole.split(b"\n"):
        record = decode_line(line)
        if record is not None:
            _apply(state.entries, record)
    # Last: who is interrupted (a host's time limit raises anywhere) reads these lines once more.
    state.offset += len(whole) + len(newline)


def _apply(entries: dict[str, ScratchEntry], record: Mapping[str, Any]) -> None:
    if record.get("type") == "promoted":
        entry = entries.get(str(record.get("id")))
        if entry is not None:
            entries[entry.id] = replace(entry, promoted=str(record.get("memory", "")))
        return
    if record.get("type") == "erased":
        ids = record.get("ids")
        for identifier in ids if isinstance(ids, list) else ():
            entries.pop(str(identifier), None)
        return
    entry = _as_entry(record)
    if entry is not None:
        entries.setdefault(entry.id, entry)


def _as_entry(record: Mapping[str, Any]) -> ScratchEntry | None:
    """The note of a record, or None when the record is something else or damaged."""
    try:
        at = datetime.fromisoformat(record["at"])
        texts = (record["id"], record["session"], record["text"])
        ttl_s = checked_ttl(float(record["ttl_s"]))
    except (KeyError, TypeError, ValueError, OverflowError, ConfigError):
        return None
    is_whole = at.tzinfo is not None and all(isinstance(t, str) and t for t in texts)
    if record.get("type") != "note" or not is_whole:
        return None
    said = record.get("source")
    source: Trust = said if said in ("user", "system") else "agent"
    return ScratchEntry(
        id=texts[0], session_id=texts[1], text=texts[2], at=at, ttl_s=ttl_s, source=source
    )
