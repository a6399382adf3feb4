"""A page that grew: of a list item added at its end, only the item is read.

In: a parsed page and its new text. Out: the new page.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter

from palace.store.blocks import split_lines
from palace.store.markdown import Page, parse
from palace.types.memory import TIMELINE


def parse_grown(before: Page, text: str) -> Page:
    """Parse the new text of a page; where only a list item was added, only that is read.

    Returns:
        The same as `parse`.
    """
    old = before.render()
    tail = text[len(old) :]
    plain = not (before.closing or before.faults or before.path.startswith(TIMELINE + "/"))
    if not plain or not old.endswith("\n") or not text.startswith(old):
        return parse(before.path, text)
    added = parse(before.path, tail)
    known = map(attrgetter("id"), before.memories)
    if not _is_one_item(added, tail) or added.memories[0].id in known:
        return parse(before.path, text)
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
