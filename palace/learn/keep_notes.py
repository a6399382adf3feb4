"""What Google Keep exports, a file of JSON for each note, told as Markdown.

In: a file. Out: the Markdown of its note, or why there is none. Nothing is written or judged here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from palace.errors import ConfigError
from palace.learn.foreign import Left, mappings, read_json
from palace.learn.moment import parse_moment

_SUFFIX = ".json"
_MARKS = frozenset({"isTrashed", "userEditedTimestampUsec"})
_LOOKED_AT, _MOST_BYTES = 5, 1 << 20


def is_keep_note(value: object) -> bool:
    """Whether a JSON value is a note as Google Keep exports one."""
    return isinstance(value, Mapping) and set(value) >= _MARKS


def is_keep(folder: Path) -> bool:
    """Whether a folder holds notes of Google Keep: one of its first files of JSON is one."""
    for file in keep_files(folder)[:_LOOKED_AT]:
        try:
            if file.stat().st_size <= _MOST_BYTES and is_keep_note(read_json(file)):
                return True
        except (ConfigError, OSError):
            continue
    return False


def keep_files(folder: Path) -> list[Path]:
    """Return the files of JSON that stand directly in a folder, sorted."""
    found = (path for path in folder.iterdir() if path.suffix.lower() == _SUFFIX)
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def read_keep_note(file: Path) -> str | Left:
    """Return a note as Markdown: its labels and the day it was made, its title, its words.

    Its items are tasks, done or not; files leave a mark. What was thrown away stays so.
    """
    try:
        note = read_json(file)
    except ConfigError as error:
        return Left(1, error.message.partition(": ")[2])
    if not is_keep_note(note):
        return Left(1, "it is no note of Google Keep", is_fault=False)
    if note.get("isTrashed"):
        return Left(1, "a note in the bin", is_fault=False)
    title = " ".join(str(note.get("title") or "").split())
    body = "\n\n".join(filter(None, _parts(note)))
    if not (title or body):
        return Left(1, "a note without words", is_fault=False)
    parts = (_front_matter(note), f"# {title}" if title else "", body)
    return "\n\n".join(filter(None, parts)) + "\n"


def _front_matter(note: Mapping[str, Any]) -> str:
    names = (label.get("name") for label in mappings(note.get("labels")))
    tags = ["-".join(str(name).split()) for name in names if name]
    made = _moment(note.get("createdTimestampUsec")) or _moment(note["userEditedTimestampUsec"])
    lines = [f"date: {made:%Y-%m-%d}"] if made else []
    lines += [f"tags: {json.dumps(tags, ensure_ascii=False)}"] if tags else []
    return "\n".join(["---", *lines, "---"]) if lines else ""


def _moment(microseconds: object) -> datetime | None:
    return parse_moment(microseconds / 1e6) if isinstance(microseconds, (int, float)) else None


def _parts(note: Mapping[str, Any]) -> Iterator[str]:
    for file in mappings(note.get("attachments")):
        kind = "image" if str(file.get("mimetype")).startswith("image/") else "file"
        yield f"[{kind} not imported]"
    words = str(note.get("textContent") or "").replace("\r\n", "\n").strip("\n")
    yield words
    items = (
        (row.get("isChecked"), str(row.get("text"))) for row in mappings(note.get("listContent"))
    )
    rows = [(done, " ".join(text.split())) for done, text in items if text.strip()]
    yield "\n".join(f"- [{'x' if done else ' '}] {text}" for done, text in rows)
    links = [str(link["url"]) for link in mappings(note.get("annotations")) if link.get("url")]
    yield "\n".join(f"<{link}>" for link in links if link not in words)
