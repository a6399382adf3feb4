"""Append-only files of one JSON object per line, safe against torn lines and half-written tails.

In: mappings to append, paths to read. Out: the objects whose lines are whole, in either direction;
`StoreUnavailableError` where the file system refuses.

A line counts when it ends in a newline and holds one JSON object. Everything else (the tail of a
process that died, a disk that filled up, a stray edit) is skipped on reading and closed by a
newline before the next append, so that two records never end up on one line.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from palace.errors import ConfigError
from palace.store.files import DISK, refusals, refuse_special

_APPEND_FLAGS = (
    os.O_RDWR
    | os.O_APPEND
    | os.O_CREAT
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_BLOCK_BYTES = 64 * 1024


def encode_line(record: Mapping[str, Any]) -> bytes:
    """Return one record as a line of UTF-8 JSON, newline included.

    Aware datetimes become ISO 8601 text and mappings become objects. Text that is not valid
    Unicode (lone surrogates) is escaped, so that it survives the round trip.

    Raises:
        ConfigError: If the record holds something JSON cannot say.
    """
    try:
        try:
            return _TEXT.encode(dict(record)).encode() + b"\n"
        except UnicodeEncodeError:
            return _ESCAPED.encode(dict(record)).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"a record cannot be written as JSON: {error}",
            hint="use text, finite numbers, booleans, lists, mappings and datetimes only",
        ) from error


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


_TEXT, _ESCAPED = (
    json.JSONEncoder(ensure_ascii=escapes, allow_nan=False, separators=(",", ":"), default=_plain)
    for escapes in (False, True)
)


def decode_line(line: bytes) -> dict[str, Any] | None:
    """Return the object of one line, or None when the line is blank, torn or not an object."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def append_line(path: Path, line: bytes, *, durable: bool) -> None:
    """Append one whole line with a single write; the file is made with mode 0600.

    On POSIX a single `O_APPEND` write never interleaves with another one, so writers of several
    processes need no lock for whole lines. A symbolic link in place of the file is refused.

    Args:
        path: The file; its folder is made with mode 0700 if it is missing, the one above is not.
        line: What `encode_line` returned.
        durable: Whether to fsync the file, and the folder when the file is new.

    Raises:
        StoreUnavailableError: If the file system refuses or takes only part of the line.
    """
    with refusals("write", path):
        try:
            descriptor = os.open(path, _APPEND_FLAGS, 0o600)
        except FileNotFoundError:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(path, _APPEND_FLAGS, 0o600)
        try:
            is_new = _write_whole(descriptor, line)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if durable and is_new:
            DISK.fsync_dir(path.parent)


def _write_whole(descriptor: int, line: bytes) -> bool:
    """Write the line, closing a torn one before it; return whether the file was empty."""
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if size:
        os.lseek(descriptor, size - 1, os.SEEK_SET)
        if os.read(descriptor, 1) != b"\n":
            line = b"\n" + line
    if os.write(descriptor, line) != len(line):
        raise OSError(errno.ENOSPC, "only a part of the line was taken")
    return size == 0


def end_of_lines(path: Path) -> int:
    """Return the offset behind the last whole line of a file, in bytes; 0 if there is none."""
    with refusals("read", path), suppress(FileNotFoundError):
        refuse_special(path)
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            while end > 0:
                start = max(0, end - _BLOCK_BYTES)
                file.seek(start)
                found = file.read(end - start).rfind(b"\n")
                if found >= 0:
                    return start + found + 1
                end = start
    return 0


def read_newest_first(path: Path, *, behind: int = 0, end: int | None = None) -> Iterator[bytes]:
    """Yield the whole lines of a file from its end, without newlines, a block at a time.

    A missing file has no lines. A tail without a newline is left out.

    Args:
        path: The file.
        behind: Only lines from this offset on, in bytes; the beginning of a line.
        end: Only lines before this offset; the end of one.
    """
    with refusals("read", path), suppress(FileNotFoundError):
        refuse_special(path)
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END) if end is None else end
            tail = b""
            is_last = True
            while end > behind:
                start = max(behind, end - _BLOCK_BYTES)
                file.seek(start)
                lines = (file.read(end - start) + tail).split(b"\n")
                tail = lines[0]
                whole = lines[1:-1] if is_last else lines[1:]
                if len(lines) > 1:
                    is_last = False
                end = start
                yield from reversed(whole)
            if not is_last:
                yield tail


def overwrite_lines(path: Path, change: Callable[[bytes], bytes]) -> int:
    """Change lines of a file where they stand; a shorter one is filled up with blanks.

    Nothing moves, so a process that appends meanwhile loses nothing.

    Args:
        path: The file; a missing one has no lines.
        change: Returns what a line, without its newline, becomes: at most as many bytes.

    Returns:
        How many lines changed.
    """
    changed = 0
    with refusals("change", path), suppress(FileNotFoundError):
        refuse_special(path)
        with path.open("r+b") as file:
            start = 0
            for line in file.read().split(b"\n"):
                new = change(line)
                if new != line:
                    file.seek(start)
                    file.write(new[: len(line)].ljust(len(line)))
                    changed += 1
                start += len(line) + 1
            file.flush()
            os.fsync(file.fileno())
    return changed
