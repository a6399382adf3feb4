"""Parsing a page anew after a small change: only the added item, or the changed comment, is read.

In: a parsed page and its new text. Out: the new page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter, ne
from typing import NamedTuple

from palace.store.blocks import Block, split_lines
from palace.store.comments import find_comment, is_unclean
from palace.store.markdown import Page, Span, parse
from palace.store.memory_fields import annotated
from palace.types.memory import TIMELINE, Memory


def parse_again(before: Page, text: str) -> Page:
    """Parse the new text of a page, and of it only the item or comment that is all that changed.

    Returns:
        The same as `parse`.
    """
    is_plain = not (before.closing or before.faults or before.tells_days)
    if not is_plain or before.path.startswith(TIMELINE + "/"):
        return parse(before.path, text)
    return _grown(before, text) or _annotated(before, text) or parse(before.path, text)


def _annotated(before: Page, text: str) -> Page | None:
    """Return a page in which one memory has another comment, or its first; None if that is not all.

    A comment on a line of its own, the last one of its memory, belongs to it whatever it says, and
    what stands behind it is read as before.
    """
    lines = tuple(split_lines(text[len(before.mark) :]))
    added = len(lines) - len(before.lines)
    differ = (n for n, differs in enumerate(map(ne, lines, before.lines)) if differs)
    number = next(differ, len(before.lines))
    end = number + 1 - added
    at = next((n for n, block in enumerate(before.blocks) if block.end == end), -1)
    if at < 0 or added not in (0, 1) or lines[number + 1 :] != before.lines[end:]:
        return None
    if before.blocks[at].holes:  # what is nested in it stands above the comment
        return None
    if not text.startswith(before.mark):
        return None
    span = _commented(before, at, lines[number], number, is_new=bool(added))
    if span is None:
        return None
    comment = lines[number][span.start : span.end]
    memory = annotated(before.memories[at], comment, before.tags)
    if memory is None or memory.id in {m.id for m in before.memories if m.position != at}:
        return None
    block = before.blocks[at]
    behind = _moved(before, at + 1, added)
    return replace(
        before,
        lines=lines,
        memories=(*before.memories[:at], memory, *behind.memories),
        blocks=(*before.blocks[:at], replace(block, end=block.end + added), *behind.blocks),
        comments=(*before.comments[:at], span, *behind.comments),
        closing_at=before.closing_at + added,
    )


def _commented(page: Page, at: int, line: str, number: int, *, is_new: bool) -> Span | None:
    """Return where the comment of a memory stands on a line that holds nothing else.

    Args:
        page: As it was.
        at: Position of the memory; the line is its last one.
        line: As it is now.
        number: Of the line.
        is_new: Whether the line was added to it: else it held the comment that the memory had.

    Returns:
        None if the line is another one.
    """
    block, known = page.blocks[at], page.comments[at]
    if is_new:
        fits = known is None and not block.closing and block.kind in ("item", "paragraph")
        indent = " " * block.content
    else:
        fits = known is not None and known.line == number > block.start
        indent = page.lines[number][: known.start] if known else ""
    found = find_comment(line)
    if not fits or found is None or is_unclean(line):
        return None
    start, end = found
    alone = end >= 0 and line[:start] == indent and not (indent + line[end:]).strip(" \t\r\n")
    return Span(number, start, end) if alone else None


class _Rest(NamedTuple):
    """The memories of a page from one on, with their blocks and comments."""

    memories: Sequence[Memory]
    blocks: Sequence[Block]
    comments: Sequence[Span | None]


def _moved(page: Page, first: int, by: int) -> _Rest:
    """Return the memories of a page from one on, so many lines further down."""
    rest = _Rest(page.memories[first:], page.blocks[first:], page.comments[first:])
    if not by:
        return rest
    return _Rest(
        [replace(memory, line=memory.line + by) for memory in rest.memories],
        [_lower(block, by) for block in rest.blocks],
        [span and replace(span, line=span.line + by) for span in rest.comments],
    )


def _lower(block: Block, by: int) -> Block:
    holes = frozenset(number + by for number in block.holes)
    return replace(block, start=block.start + by, end=block.end + by, holes=holes)


def _grown(before: Page, text: str) -> Page | None:
    """Return a page with one list item more at its end; None if that is not all."""
    old = before.render()
    if not old.endswith("\n") or not text.startswith(old):
        return None
    tail = text[len(old) :]
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
