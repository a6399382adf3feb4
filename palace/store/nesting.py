"""Nested list items that are memories of their own: those that have a metadata comment.

In: a list item with all that stands below it. Out: it, and the nested items with a comment, each
without the lines of those inside it. So identity follows the text when a person nests an item.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from palace.store.blocks import Block, indentation, item_of, with_code
from palace.store.comments import find_comment


def with_nested(
    block: Block, lines: Sequence[str], without: Container[int] = frozenset()
) -> list[Block]:
    """Return a block, and what in it is a memory of its own, in the order of their lines.

    A comment belongs to the innermost item that it is indented for, or stands behind. Below a
    nested item, indented for the outer one, it is that of the outer one, unless this has one.

    Args:
        block: Of any kind.
        lines: Of the whole file, without their ends.
        without: Lines that belong to nobody.
    """
    below = range(block.start + 1, block.end)
    if block.kind != "item" or not any("<!--" in lines[number] for number in below):
        return [block]
    found = [block, *(one for one in _items(block, lines, without) if one.has_comment)]
    holes: list[set[int]] = [set() for _ in found]
    around: list[int] = []
    for at, one in enumerate(found):
        while around and one.start >= found[around[-1]].end:
            around.pop()
        if around:
            holes[around[-1]].update(range(one.start, one.end))
        around.append(at)
    return [replace(one, holes=frozenset(left)) for one, left in zip(found, holes, strict=True)]


def nested_items(block: Block, lines: Sequence[str]) -> list[Block]:
    """Return all items nested in a block, whether they have a comment or not."""
    return list(_items(block, lines, frozenset()))


def _items(block: Block, lines: Sequence[str], without: Container[int]) -> list[Block]:
    numbers = [number for number in range(block.start, block.end) if number not in without]
    walk = _Walk(replace(block, has_comment=(find_comment(lines[block.start]) is not None)))
    for number, (line, is_code) in zip(
        numbers[1:], with_code(lines[number] for number in numbers[1:]), strict=True
    ):
        walk.feed(number, line, is_code=is_code)
    return walk.found


class _Walk:
    """What is open between two lines of a block: the block itself, and items inside it."""

    def __init__(self, block: Block) -> None:
        self.found: list[Block] = []
        self._open = [block]
        self._after_blank = False

    def feed(self, number: int, line: str, *, is_code: bool) -> None:
        width = indentation(line)
        if width == len(line.expandtabs(4)):
            self._after_blank = True
            return
        item = None if is_code or width < self._open[0].content else item_of(number, line)
        comment = None if is_code or "<!--" not in line else find_comment(line)
        is_alone = comment is not None and not line[: comment[0]].strip(" \t")
        if item or self._after_blank or (is_alone and not self._is_for_last()):
            while len(self._open) > 1 and width < self._open[-1].threshold:
                self._open.pop()
        if item:
            self.found.append(item)
            self._open.append(item)
        if comment is not None and comment[1] >= 0:
            self._open[-1].has_comment = True
        for one in self._open[1:]:
            one.end = number + 1
        self._after_blank = False

    def _is_for_last(self) -> bool:
        """Whether a comment is that of the item above it, however it is indented."""
        return self._open[0].has_comment and not self._open[-1].has_comment
