"""What was retired in a drawer and still stands in a copy that a synchronisation left of it.

In: a write to the index. Out: the copies it concerns, and which of their memories are not indexed:
their rows stay, in no partition and no posting list, as those of retired ones do.
"""

from __future__ import annotations

import posixpath
import sqlite3
from collections.abc import Iterable

from palace.portable import fold_case, without_copy_mark
from palace.types.memory import SUFFIX, Memory


def original_of(path: str) -> str:
    """Return what `file_key` would be of the file that this one is a copy of, else ""."""
    folder, stem = _folder_and_stem(path)
    original = without_copy_mark(stem)
    return "" if original == stem else f"{folder}/{fold_case(original)}"


def file_key(path: str) -> str:
    """Return what names a file, whatever its case and its Unicode form."""
    folder, stem = _folder_and_stem(path)
    return f"{folder}/{fold_case(stem)}"


def _folder_and_stem(path: str) -> tuple[str, str]:
    folder, name = posixpath.split(path)
    return folder, name[: -len(SUFFIX)] if name.lower().endswith(SUFFIX) else name


def copies_concerned(connection: sqlite3.Connection, paths: Iterable[str]) -> dict[int, list[str]]:
    """Return the copies among these files, or of them, by number, with the rows of what is retired.

    Args:
        connection: Of the index.
        paths: Files that were written or forgotten.
    """
    copies = connection.execute("SELECT number, path, copy_of FROM files WHERE copy_of <> ''")
    if not (found := copies.fetchall()):
        return {}
    written = set(paths)
    keys = {file_key(path) for path in written}
    return {
        number: _retired_in(connection, posixpath.dirname(path), original)
        for number, path, original in found
        if path in written or original in keys
    }


def _retired_in(connection: sqlite3.Connection, folder: str, key: str) -> list[str]:
    """Return the data of what is retired in the files of this key."""
    beside = connection.execute(
        "SELECT number, path FROM files WHERE path > ? AND path < ?", (f"{folder}/", f"{folder}0")
    )
    numbers = [number for number, path in beside.fetchall() if file_key(path) == key]
    return [
        data
        for number in numbers
        for (data,) in connection.execute(
            "SELECT data FROM memories WHERE file = ? AND instr(data, '\"status\":') > 0", (number,)
        ).fetchall()
    ]


def is_left_in_copy(memory: Memory, retired: Iterable[Memory]) -> bool:
    """Whether a memory stands in a copy of its drawer, and was retired in the drawer itself.

    Args:
        memory: An active one.
        retired: What was retired.
    """
    original = without_copy_mark(memory.drawer)
    return original != memory.drawer and any(
        old.status != "active"
        and (old.text, old.room, old.heading) == (memory.text, memory.room, memory.heading)
        and old.scope == memory.scope
        and fold_case(old.drawer) == fold_case(original)
        # What was said again since holds.
        and not (memory.created and old.retired and memory.created > old.retired)
        for old in retired
    )
