"""What the comment of a memory and its words say of it.

In: a comment, a text. Out: fields of a memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from palace.store.comments import read_comment
from palace.store.inline import find_marks
from palace.types.memory import Memory


def comment_fields(comment: str) -> tuple[dict[str, Any], list[str]]:
    """Return what a comment says of its memory, by the names a memory has for it; what is wrong."""
    values, problems = read_comment(comment)
    if "source" in values:
        values["trust"] = values.pop("source")
    return values, problems


def with_marks(text: str, values: dict[str, Any], page_tags: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a memory with all its tags and links, those of its words included."""
    inline, links = find_marks(text)
    tags = dict.fromkeys([*values.get("tags", ()), *inline, *page_tags])
    links = tuple(dict.fromkeys([*links, *values.get("links", ())]))
    return {**values, "tags": tuple(tags), "links": links}


def annotated(memory: Memory, comment: str, page_tags: Sequence[str]) -> Memory | None:
    """Return a memory of a drawer as it is with another comment.

    Args:
        memory: As it was.
        comment: From `<!--` to `-->`.
        page_tags: Of its page.

    Returns:
        None where only the whole page tells: the comment names no id, or something of it is wrong.
    """
    values, problems = comment_fields(comment)
    if problems or not values.get("id"):
        return None
    return Memory(
        text=memory.text,
        path=memory.path,
        line=memory.line,
        room=memory.room,
        drawer=memory.drawer,
        title=memory.title,
        heading=memory.heading,
        position=memory.position,
        **with_marks(memory.text, values, page_tags),
    )
