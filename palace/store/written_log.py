"""What the palace itself wrote lately, kept so that an editor's old copy cannot undo it unseen.

In: memories as they were written. Out: for one day, the lines of each. An editor that saves what it
read before our write removes that write from the file. The file itself cannot tell this from a
deletion by a person, so nothing is put back automatically; but nothing is gone without a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from palace.errors import MemoryNotFoundError
from palace.store.files import ANYTHING, atomic_write, read_bytes, refusals, refuse_special
from palace.store.json_lines import append_line, decode_line, encode_line

KEPT_S = 86_400.0
"""How long a write is remembered, in seconds."""

MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Written:
    """One memory as one write left it.

    Attributes:
        at: When, in seconds since the epoch.
        path: Its file, relative to the palace.
        id: Of the memory.
        before: Its metadata comment before, "" if it was new.
        lines: The memory with its comment, without line ends; empty if it was erased.
    """

    at: float
    path: str
    id: str
    before: str
    lines: tuple[str, ...]


class WrittenLog:
    """The writes of the last day in `.palace/written.jsonl`; its user holds the palace's lock.

    Any call may raise `StoreUnavailableError`, where the file system refuses.

    Args:
        root: The palace.
        clock: Says what time it is, aware.
    """

    def __init__(self, root: Path, *, clock: Callable[[], datetime]) -> None:
        self._file = root / ".palace" / "written.jsonl"
        self._clock = clock

    def add(self, entries: Sequence[Written]) -> None:
        """Remember writes, the newest last; what does not fit loses the oldest."""
        lines = b"".join(encode_line(asdict(entry)) for entry in entries)
        if len(lines) <= MAX_BYTES:  # a large import has a source of its own
            append_line(self._file, lines, durable=False)
        if self._bytes() > MAX_BYTES:
            self.trim()

    def all(self) -> list[Written]:
        """Return the writes of the last day, oldest first."""
        try:
            data = read_bytes(self._file)
        except MemoryNotFoundError:
            return []
        now = self._clock().timestamp()
        found = (_written(line) for line in data.split(b"\n"))
        return [written for written in found if written and _is_kept(written, now)]

    def expires(self) -> bool:
        """Whether something in it is older than a day; asked without the lock."""
        with refusals("read", self._file), suppress(FileNotFoundError):
            refuse_special(self._file)
            with self._file.open("rb") as file:
                first = _written(file.readline())
            return not (first and _is_kept(first, self._clock().timestamp()))
        return False

    def trim(self, *, without: Callable[[Written], bool] = lambda _written: False) -> None:
        """Forget what `without` names, is older than a day or more than half of what fits."""
        if self._bytes():
            kept = [entry for entry in self.all() if not without(entry)]
            data = b"".join(_newest(kept, MAX_BYTES // 2))
            atomic_write(self._file, data, replaces=ANYTHING)

    def _bytes(self) -> int:
        try:
            return self._file.stat().st_size
        except FileNotFoundError:
            return 0


def _written(line: bytes) -> Written | None:
    """Return what a line says; None for a torn one and for one that somebody else wrote."""
    match decode_line(line):
        case {"at": float(at), "path": str(path), "id": str(name), "before": str(before), **rest}:
            lines = rest.get("lines")
            if isinstance(lines, list) and all(isinstance(one, str) for one in lines):
                return Written(at, path, name, before, tuple(lines))
    return None


def _is_kept(written: Written, now: float) -> bool:
    """Whether a write is of this day; by a clock that was wrong it may lie ahead."""
    return abs(now - written.at) < KEPT_S


def _newest(entries: Iterable[Written], most_bytes: int) -> list[bytes]:
    kept: list[bytes] = []
    for line in reversed([encode_line(asdict(entry)) for entry in entries]):
        most_bytes -= len(line)
        if most_bytes < 0:
            break
        kept.append(line)
    return kept[::-1]
