"""What stands inside a line: `#tags`, `[[links]]`, and the code in which neither counts.

In: the text of a memory. Out: tags and link targets, unique, in order of appearance.
"""

from __future__ import annotations

import re

from palace.store.blocks import with_code

_TAG = re.compile(r"(?:(?<=\s)|\A)#([\w/-]{1,200})")
_LINK = re.compile(r"\[\[([^\[\]\n|]{1,300})(?:\|[^\[\]\n]{0,300})?\]\]")
_TICKS = re.compile(r"`+")


def find_tags(text: str) -> tuple[str, ...]:
    """Return the `#tags` of a memory outside code, unique, in order; a tag needs a non-digit."""
    return find_marks(text)[0]


def find_marks(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tags of a memory and the targets of its links, unique, in order.

    Neither counts in code; a target stands without its alias and its `#part`.
    """
    if "#" not in text and "[[" not in text:
        return (), ()
    plain = without_code(text)
    tags = (match.group(1).rstrip("/-") for match in _TAG.finditer(plain))
    links = (match.group(1).partition("#")[0].strip() for match in _LINK.finditer(plain))
    return (
        tuple(dict.fromkeys(tag for tag in tags if tag and not tag.isdigit())),
        tuple(dict.fromkeys(target for target in links if target)),
    )


def without_code(text: str) -> str:
    """Blank out fenced code and inline code, in linear time."""
    if "`" not in text and "~~~" not in text:
        return text
    lines = with_code(text.split("\n"))
    return _without_spans("\n".join("" if is_code else line for line, is_code in lines))


def _without_spans(text: str) -> str:
    """Blank out inline code: a run of backticks up to the next run of the same length."""
    if "`" not in text:
        return text
    runs = list(_TICKS.finditer(text))
    following: dict[int, int] = {}
    closer: list[int | None] = [None] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        size = len(runs[index].group())
        closer[index] = following.get(size)
        following[size] = index
    kept: list[str] = []
    position = index = 0
    while index < len(runs):
        end = closer[index]
        if end is not None:
            kept += [text[position : runs[index].start()], "`"]
            position = runs[end].end()
            index = end
        index += 1
    return "".join([*kept, text[position:]])
