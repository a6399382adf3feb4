"""A page that changed in one place: only the item that was added, or the comment that is another.

In: a parsed page and its new text. Out: the new page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter, ne
from typing import TypeVar

from palace.store.blocks import split_lines
from palace.store.comments import find_comment, is_unclean
from palace.store.markdown import Page, Span, annotated, parse
from palace.types.memory import TIMELINE

_Part = TypeVar("_Part")


def parse_again(before: Page, text: str) -> Page:
    """Parse the new text of a page, and of it only the item or comment that is all that changed.

    Returns:
        The same as `parse`.
    """
    if before.closing or before.faults or before.path.startswith(TIMELINE + "/"):
        return parse(before.path, text)
    old = before.render()
    grew = old.endswith("\n") and text.startswith(old)
    page = _grown(before, text[len(old) :]) if grew else _annotated(before, text)
    return page or parse(before.path, text)


def _annotated(before: Page, text: str) -> Page | None:
    """Return a page in which one comment of a line of its own is another; None if that is not all.

    Such a line belongs to its memory and tells of nothing else, whatever fields it holds.
    """
    lines = split_lines(text[len(before.mark) :])
    if len(lines) != len(before.lines) or not text.startswith(before.mark):
        return None
    changed = [n for n, differs in enumerate(map(ne, lines, before.lines)) if differs]
    at = next((n for n, span in enumerate(before.comments) if span and [span.line] == changed), -1)
    span = before.comments[at] if at >= 0 else None
    if span is None:
        return None
    is_last = before.blocks[at].start < span.line == before.blocks[at].end - 1
    line = lines[span.line]
    new = _comment_alone(line, before.lines[span.line], span)
    if new is None or not is_last or is_unclean(line):
        return None
    memory = annotated(before.memories[at], line[new.start : new.end], before.tags)
    if memory is None or memory.id in {m.id for m in before.memories if m.position != at}:
        return None
    return replace(
        before,
        lines=tuple(lines),
        memories=_with(before.memories, at, memory),
        comments=_with(before.comments, at, new),
    )


def _comment_alone(line: str, old: str, span: Span) -> Span | None:
    """Return where a comment stands that is all of a line, as it was of the old one; else None."""
    found = find_comment(line)
    around = old[: span.start], old[span.end :]
    if found is None or "".join(around).strip(" \t\r\n"):
        return None
    start, end = found
    return Span(span.line, start, end) if (line[:start], line[end:]) == around else None


def _with(all_of_it: Sequence[_Part], at: int, part: _Part) -> tuple[_Part, ...]:
    return *all_of_it[:at], part, *all_of_it[at + 1 :]


def _grown(before: Page, tail: str) -> Page | None:
    """Return a page with a text at its end; None if that is not just one list item."""
    added = parse(before.path, tail)
    known = map(attrgetter("id"), before.memories)
    if not _is_one_item(added, tail) or added.memories[0].id in known:
        return None
    return _joined(before, added)


def _is_one_item(added: Page, tail: str) -> bool:
    """Whether a text is one list item with an id, that nothing before it can take over."""
    lines = tail.lstrip("\r\n")
    return (
        lines.startswith("- ")
        and len(added.memories) == 1
        and len(added.blocks) == 1
        and added.memories[0].id.startswith("m-")
        and not (added.closing or added.faults or added.front.end or added.mark)
        and all(line[:1] in " \r\n" for line in split_lines(lines)[1:])
    )


def _joined(before: Page, added: Page) -> Page:
    """Return a page with the one item of another page at its end."""
    lines, (memory,), (block,), (span,) = (
        len(before.lines),
        added.memories,
        added.blocks,
        added.comments,
    )
    memory = replace(
        memory,
        line=memory.line + lines,
        position=len(before.memories),
        title=before.title,
        heading=before.section,
        tags=tuple(dict.fromkeys((*memory.tags, *before.tags))),
    )
    return replace(
        before,
        lines=before.lines + added.lines,
        memories=(*before.memories, memory),
        blocks=(*before.blocks, replace(block, start=block.start + lines, end=block.end + lines)),
        comments=(*before.comments, span and replace(span, line=span.line + lines)),
        closing_at=added.closing_at + lines,
        ends_in_item=True,
    )
