"""Journal and notes on their way out and in: files of lines, merged record by record.

In: the folders they stand in, or lines from an export. Out: what to export, and what is missing
where they are imported. A record that is there, whatever became of it, is never added again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path

from palace.errors import StoreUnavailableError
from palace.learn.places import name_reason

JOURNAL, SCRATCHPAD = "journal", "scratchpad"
SUFFIX = ".jsonl"
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])\.jsonl")


def record_files(folders: Mapping[str, Path]) -> dict[str, Path]:
    """Return the files of journal and scratchpad by their path in an export, sorted.

    Args:
        folders: Where `journal` and `scratchpad` stand.

    Raises:
        StoreUnavailableError: If a folder cannot be read.
    """
    found = {}
    for name, folder in folders.items():
        try:
            files = list(folder.iterdir()) if folder.is_dir() else []
        except OSError as error:
            raise StoreUnavailableError(
                f"{folder} cannot be read: {error.strerror or error}", hint="check its permissions"
            ) from error
        found.update({f"{name}/{f.name}": f for f in files if f.is_file() and not f.is_symlink()})
    return {path: found[path] for path in sorted(found) if not record_place_reason(path)}


def record_place_reason(path: str) -> str:
    """Say why no file of journal or notes can stand at this path of an export, or ""."""
    folder, _, name = path.partition("/")
    if folder == JOURNAL:
        return "" if _MONTH.fullmatch(name) else "it is no month of a journal"
    if folder != SCRATCHPAD or not name.endswith(SUFFIX):
        return "it is neither journal nor notes"
    return name_reason(name)


def missing_lines(there: bytes, lines: Iterable[bytes]) -> list[bytes]:
    """Return the lines that hold no record that is there already, in their order.

    A record is known by its id and type (and, of a promoted note, by its memory): one whose words
    were erased since stays as it is. A line that is no record is known by its bytes.

    Args:
        there: The file as it is.
        lines: Whole lines, without newlines.
    """
    known = {_key(line) for line in there.split(b"\n")}
    missing = []
    for line in lines:
        key = _key(line)
        if line.strip() and key not in known:
            known.add(key)
            missing.append(line)
    return missing


def _key(line: bytes) -> Hashable:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return line.strip()
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        return line.strip()
    return record["id"], str(record.get("type")), str(record.get("memory") or "")
