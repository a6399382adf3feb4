"""Pages that say of themselves that another one holds by now, as records of decisions do.

In: what a page tells at its top, and its blocks. Out: the tags of its memories. The word is that of
the templates: Nygard's has it in a section "Status", MADR in front matter or in a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import regex

from palace.store.blocks import Block
from palace.store.front_matter import tag_list
from palace.types.memory import SUPERSEDED

_MARKUP = r"[\s>*+_~\[(-]*+"
_SUPERSEDED = regex.compile(rf"{_MARKUP}superseded\b", regex.IGNORECASE)
_STATUS = regex.compile(rf"{_MARKUP}status[*_ ]*:{{1,2}}{_SUPERSEDED.pattern}", regex.IGNORECASE)


def page_tags(
    values: Mapping[str, object], blocks: Sequence[Block], lines: Sequence[str]
) -> tuple[str, ...]:
    """Return the tags of a page, which all its memories have; `superseded` if it says so.

    Args:
        values: Its front matter and properties.
        blocks: In their order.
        lines: Of the whole file.
    """
    tags = tag_list(values.get("tags"))
    is_over = _SUPERSEDED.match(str(values.get("status") or "")) or any(
        pattern.match(line) for pattern, line in _told(blocks, lines)
    )
    return tuple(dict.fromkeys((*tags, SUPERSEDED))) if is_over else tags


def _told(
    blocks: Sequence[Block], lines: Sequence[str]
) -> Iterator[tuple[regex.Pattern[str], str]]:
    """Yield the lines that may tell the status of a page, each with what they would match."""
    looked_for: regex.Pattern[str] | None = _STATUS
    first = next((block for block in blocks if block.kind == "heading"), None)
    for block in blocks:
        if block.kind == "heading":
            if block.level > 1 or block is not first:
                is_status = block.title.strip(" :").casefold() == "status"
                looked_for = _SUPERSEDED if is_status else None
        elif looked_for is not None and block.kind != "fence":
            yield from ((looked_for, line) for line in lines[block.start : block.end])
