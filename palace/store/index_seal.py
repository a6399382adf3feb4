"""A seal on the closed index: whoever opens it next sees whether a byte has changed since.

In: the path of a database. Out: whether it is the one that was closed last, whole and unchanged.
SQLite itself has no check sums: a flipped bit would be a wrong word, or a memory nobody finds.
"""

from __future__ import annotations

import json
import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

SIDE_FILES = ("-wal", "-shm", "-journal")
_BLOCK_BYTES = 1 << 20
_LOCK_TIMEOUT_S = 10.0


class _Locked(threading.local):
    """The databases that this thread is opening or closing."""

    def __init__(self) -> None:
        self.paths: set[Path] = set()


_locked = _Locked()

State = Literal["whole", "in use", "doubtful"]


def seal_path(path: Path) -> Path:
    """Return where the seal of a database stands."""
    return path.with_suffix(".seal")


@contextmanager
def opening_or_closing(path: Path) -> Iterator[None]:
    """Keep other programs from opening or closing the same database meanwhile.

    Where no lock can be had (a read-only folder, a file system without locks) nothing is kept. A
    thread waits for no lock of its own: what was let go of is closed at any time, while it opens
    the same database too.
    """
    if path in _locked.paths:
        yield
        return
    lock = FileLock(path.with_suffix(".lock"), timeout=_LOCK_TIMEOUT_S, mode=0o600)
    with suppress(Timeout, OSError, NotImplementedError):
        lock.acquire()
    _locked.paths.add(path)
    try:
        yield
    finally:
        _locked.paths.discard(path)
        lock.release()


def seal(path: Path) -> None:
    """Write down what a database is after its last user has closed it.

    A database that somebody still uses is not sealed. Call it while others are kept out.
    """
    try:
        if _size(path, "-wal") is not None or _is_sealed(path):
            return
        found = {**_stamp(path), "crc32": _check_sum(path)}
        temporary = seal_path(path).with_suffix(f".{os.getpid()}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            json.dump(found, file)
        temporary.replace(seal_path(path))
    except OSError:
        return  # without a seal the next one who opens it makes it anew


def state_of(path: Path) -> State:
    """Say whether a database can be trusted.

    Returns:
        `whole`: closed and unchanged since. `in use`: others have it open, or one of them died;
        SQLite recovers that. `doubtful`: not what was closed last.

    Raises:
        OSError: If it cannot be read.
    """
    logs = [_size(path, suffix) for suffix in ("-wal", "-journal")]
    was_sealed = _is_sealed(path)
    if any(logs) or (logs != [None, None] and not was_sealed):
        return "in use"
    # A copy has another time, and the same bytes.
    if _read_seal(path).get("crc32") == _check_sum(path):
        return "whole"
    # Somebody may have begun to use it while it was read.
    return "in use" if was_sealed and not _is_sealed(path) else "doubtful"


def remove_leftovers(path: Path) -> None:
    """Delete what a database that is gone has left: SQLite would mix it into the next one.

    Raises:
        OSError: If the file system refuses.
    """
    for suffix in SIDE_FILES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    seal_path(path).unlink(missing_ok=True)


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from its successor of the same name; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _size(path: Path, suffix: str) -> int | None:
    """Return the size of a side file, in bytes; the log is there while the database is used."""
    try:
        return path.with_name(path.name + suffix).stat().st_size
    except FileNotFoundError:
        return None


def _is_sealed(path: Path) -> bool:
    """Whether the seal is of this size and time; whether of these bytes is another question."""
    found = _read_seal(path)
    return bool(found) and all(found.get(key) == value for key, value in _stamp(path).items())


def _read_seal(path: Path) -> dict[str, object]:
    try:
        found = json.loads(seal_path(path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _stamp(path: Path) -> dict[str, int]:
    status = path.stat()
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


def _check_sum(path: Path) -> int:
    total = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            total = zlib.crc32(block, total)
    return total
