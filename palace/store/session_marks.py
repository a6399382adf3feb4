"""How far each session is condensed, as one small JSON file for each.

In: marks of sessions. Out: the same after a restart. A mark that is lost or cannot be understood
is an empty one: what was condensed is found again on the timeline.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from palace.errors import MemoryNotFoundError
from palace.store.files import ANYTHING, atomic_write, locked, read_bytes, refusals
from palace.store.names import session_file_name
from palace.types.session import SessionMark, SessionSummary

FOLDER = "sessions"
_NOT_UNDERSTOOD = (MemoryNotFoundError, ValueError, TypeError, KeyError, RecursionError)


class FileSessionMarks:
    """Marks in `<root>/sessions/<session>.json`; implements the port `SessionMarks`.

    Files have mode 0600: they hold what the sessions were condensed to. Any call may raise
    `StoreUnavailableError`, where the file system refuses, and `UnsafeNameError`, where a session
    id names no file.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, session_id: str) -> SessionMark:
        """Return the mark of a session, an empty one if it has none."""
        try:
            data = json.loads(read_bytes(self._path(session_id)))
            mark = _mark(data)
        except _NOT_UNDERSTOOD:
            return SessionMark(session_id)
        return mark if mark.session_id == session_id else SessionMark(session_id)

    def write(self, mark: SessionMark) -> None:
        """Keep a mark durably."""
        text = json.dumps(asdict(mark), ensure_ascii=True, indent=1, default=datetime.isoformat)
        atomic_write(self._path(mark.session_id), f"{text}\n".encode(), replaces=ANYTHING)

    def locked(self) -> AbstractContextManager[None]:
        """Hold the marks against other writers.

        One lock for all: a session of its own would leave its file behind for good.

        Raises:
            StoreUnavailableError: If another one holds them for too long.
        """
        return locked(self._root, "sessions")

    def redact(self, told: Callable[[str], bool]) -> None:
        """Take every line that `told` knows out of what the sessions were condensed to.

        A mark that cannot be understood goes as a whole: it counts as an empty one anyway.
        """
        for file in sorted((self._root / FOLDER).glob("*.json")):
            try:
                name = _mark(json.loads(read_bytes(file))).session_id
            except _NOT_UNDERSTOOD:
                with refusals("remove", file):
                    file.unlink(missing_ok=True)
                continue
            with self.locked():
                mark = self.read(name)
                left = [replace(s, text=_without(s.text, told)) for s in mark.summaries]
                if tuple(left) != mark.summaries:
                    self.write(replace(mark, summaries=tuple(s for s in left if s.text)))

    def _path(self, session_id: str) -> Path:
        return self._root / FOLDER / f"{session_file_name(session_id)}.json"


def _mark(data: dict[str, Any]) -> SessionMark:
    last = data["last_consolidated_at"]
    return SessionMark(
        session_id=str(data["session_id"]),
        last_consolidated_at=_moment(last) if last else None,
        count=int(data["count"]),
        tail=tuple(map(str, data["tail"])),
        summaries=tuple(
            SessionSummary(_moment(item["at"]), str(item["text"])) for item in data["summaries"]
        ),
        failures=int(data["failures"]),
    )


def _without(text: str, told: Callable[[str], bool]) -> str:
    """Return a text without the lines that are told, or nothing if only several of them tell."""
    left = "\n".join(line for line in text.splitlines() if not told(line))
    return "" if told(left) else left


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a moment needs an offset")
    return moment
