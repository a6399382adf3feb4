"""Markdown seen as a row of blocks, and a block's lines folded into the text of a memory.

In: the lines of a file, without their ends. Out: blocks with their line ranges, in one linear
pass, and the words a person reads in them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from palace.errors import StoreError
from palace.store.comments import clean, escape_comments, find_comment
from palace.text.day_names import is_day

BlockKind = Literal["heading", "item", "paragraph", "fence", "turn", "comment", "break", "value"]
MEMORY_KINDS = frozenset({"item", "paragraph", "fence", "turn", "value"})

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+|\Z)", re.ASCII)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?\Z", re.DOTALL)
_UNDERLINE = re.compile(r" {0,3}(?:=+|(-{4,}))[ \t]*\Z")
_FENCE = re.compile(
    r"([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?:(`{3,})[^`]*|(~{3,}).*)\Z", re.ASCII | re.DOTALL
)
_STAMP = re.compile(r"\[(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?::\d\d)?\](?: |\Z)", re.ASCII)
# What other programs and pens put before an item; Markdown reads it as text, and so it stays.
_SIGN = r"[•◦▪▫‣⁃●○☐☑☒✓✔]\ufe0f?[ \t]"
_SIGNED = re.compile(_SIGN)
_STRUCTURE = re.compile(
    rf"(?:[-*+]|\d{{1,9}}[.)])(?:[ \t]|\Z)|{_SIGN}|[>|]|#{{1,6}}(?:[ \t]|\Z)", re.ASCII
)
DAY_LEVEL = 7
_ENDS_AT_LINE_END = ("|", "#")
# Below the head of a table whose rows need no sign at their ends: `--- | ---`.
_BELOW_HEAD = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?")
# A field of Dataview, a property of Logseq, and what outliners write below a task.
_FIELD = re.compile(
    r"\w[\w .-]{0,40}::(?:[ \t]|\Z)|(?:SCHEDULED|DEADLINE|CLOCK): ?[<\[]|:(?:LOGBOOK|END):\Z"
)
_ENDS_A_SENTENCE = (".", "!", "?", "…", ":", ";", "|", "。", "！", "？")


@dataclass(frozen=True, slots=True)
class Fence:
    """An open code fence: its character, length and column, and whether its block holds it.

    Attributes:
        outer: It stands left of the item it continues (or in no item), so indentation cannot
            end it.
    """

    char: str
    size: int
    column: int
    outer: bool = False

    def closed_by(self, line: str) -> bool:
        """Tell whether this line closes the fence."""
        bare = line.strip(" \t")
        closes = len(bare) >= self.size and not bare.strip(self.char)
        return closes and len(line) - len(line.lstrip(" \t")) <= self.column + 3


@dataclass(slots=True)
class Block:
    """A run of lines that belong together.

    Attributes:
        start: First line, 0-based.
        end: One past the last line; blank lines after it are nobody's.
        offset: Where the content starts on the first line, in characters.
        content: Column of the content of an item, 0 for others.
        threshold: Indentation from which a line belongs to the item.
        level: Of a heading, 1 to 6, or 7 for a day above what was written on it.
        title: Of a heading.
        closing: The line that would close a code fence or comment left open, else "".
        sealed: Nothing but a metadata comment or indented lines may follow.
        quote: It is a block quote.
        ordered: It is an item of a numbered list.
        day: What its first line says if that is a day, as in a diary, else "".
        has_words: More than that line is text.
        has_comment: It is known to have a metadata comment.
        holes: Lines in it that belong to memories of their own.
    """

    kind: BlockKind
    start: int
    end: int
    offset: int = 0
    content: int = 0
    threshold: int = 0
    level: int = 0
    title: str = ""
    closing: str = ""
    sealed: bool = False
    quote: bool = False
    ordered: bool = False
    day: str = ""
    has_words: bool = False
    has_comment: bool = False
    holes: frozenset[int] = frozenset()

    @property
    def is_day(self) -> bool:
        """Whether it is the line of a day and nothing else."""
        return bool(self.day) and self.kind == "paragraph" and self.end == self.start + 1

    def underlined_by(self, line: str) -> int:
        """Return the level of the heading that this line makes of the block above it, else 0.

        Three dashes, or any below a sentence, are a break that somebody set without a blank line.
        """
        one_line = self.kind == "paragraph" and self.end == self.start + 1 and not self.quote
        found = _UNDERLINE.match(line) if one_line else None
        if found is None:
            return 0
        if found.group(1) is None:
            return 1
        return 0 if self.title.endswith(_ENDS_A_SENTENCE) else 2


def split_lines(text: str) -> list[str]:
    r"""Split at `\n`, `\r\n` and `\r` only, line ends kept: joining gives the text back."""
    return _LINES.findall(text)


def indentation(line: str) -> int:
    """Return the columns of leading white space; tabs stop at multiples of four."""
    blank = line[: len(line) - len(line.lstrip(" \t"))]
    return len(blank.expandtabs(4)) if "\t" in blank else len(blank)


def dedent(line: str, columns: int) -> str:
    """Take up to so many columns of leading white space off a line."""
    rest = line.lstrip(" \t")
    width = indentation(line)
    if width <= columns:
        return rest
    blank = line[: len(line) - len(rest)]
    if "\t" not in blank:
        return line[columns:]
    # A tab that reaches over the edge leaves its remainder as spaces.
    taken = 0
    for index, char in enumerate(blank):
        if taken >= columns:
            return " " * (taken - columns) + line[index:]
        taken += 4 - taken % 4 if char == "\t" else 1
    return " " * (taken - columns) + rest


def opens_fence(line: str) -> Fence | None:
    """Return the code fence that this line opens, also behind list markers."""
    if "```" not in line and "~~~" not in line:
        return None
    match = _FENCE.match(line)
    if match is None:
        return None
    marker = match.group(2) or match.group(3)
    return Fence(char=marker[0], size=len(marker), column=len(match.group(1)))


def with_code(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield lines, each with whether it is code: in a fence, or one of its ends."""
    fence: Fence | None = None
    for line in lines:
        if fence:
            fence = None if fence.closed_by(line) else fence
            yield line, True
        else:
            fence = opens_fence(line)
            yield line, fence is not None


def stamp_of(line: str) -> re.Match[str] | None:
    """Match the `[YYYY-MM-DD HH:MM] ` a timeline line starts with."""
    return _STAMP.match(line) if line.startswith("[") else None


def item_of(number: int, line: str) -> Block | None:
    """Return the list item that a line begins, at whatever indentation; None if it begins none."""
    item = None if is_break(line) else _ITEM.match(line)
    return _item_block(number, line, item) if item else None


def is_break(line: str) -> bool:
    """Tell whether the line is a thematic break."""
    bare = line.replace(" ", "").replace("\t", "")
    return len(bare) >= 3 and bare[0] in "-*_" and not bare.strip(bare[0])


def find_blocks(
    lines: Sequence[str],
    *,
    first: int = 0,
    timeline: bool = False,
    without: Container[int] = frozenset(),
    apart: Container[int] = frozenset(),
) -> list[Block]:
    """Split a file into blocks.

    Args:
        lines: Without their ends.
        first: Where the body starts, after the front matter.
        timeline: Whether stamped lines are blocks of their own.
        without: Lines that part nothing and belong to nobody.
        apart: Lines at which no paragraph goes on.
    """
    numbers = [number for number in range(first, len(lines)) if number not in without]
    blocks = _found(lines, numbers, apart, timeline=timeline, diary=not timeline)
    if not any(block.day for block in blocks):
        return blocks
    if not _is_diary(blocks):
        return _found(lines, numbers, apart)
    for block in blocks:
        if block.is_day:
            block.kind, block.level, block.title = "heading", DAY_LEVEL, block.day
    return blocks


def _found(
    lines: Sequence[str],
    numbers: Iterable[int],
    apart: Container[int],
    *,
    timeline: bool = False,
    diary: bool = False,
) -> list[Block]:
    finder = _Finder(timeline=timeline, diary=diary)
    for number in numbers:
        if number in apart:
            finder.end_paragraph()
        finder.feed(number, lines[number])
    finder.leave()
    return finder.blocks


def _is_diary(blocks: Sequence[Block]) -> bool:
    """Whether days stand above what was written on them: two of one section, and words between.

    A day alone, below "Due" or as the only one of its section, is what somebody noted. One that has
    a comment is a memory, and tells nothing of the others: no write makes a page a diary.
    """
    is_open = False  # whether something was written on a day of this section
    has_day = False
    for block in blocks:
        if block.kind == "heading":
            is_open = has_day = False
        elif block.day and (block.is_day or block.has_words):
            if is_open:
                return True
            has_day, is_open = True, block.has_words
        elif block.kind in MEMORY_KINDS and not block.day:
            is_open = has_day
    return False


def heading_line(level: int, title: str) -> str:
    """Return the line of a heading that reads back as this title.

    Args:
        level: 1 to 6.
        title: One line, without white space around it.
    """
    # A last word of `#` alone would be read as the closing of the heading: close it explicitly.
    mark = "#" * level
    closed = not title.rsplit(" ", 1)[-1].strip("#")
    return f"{mark} {title} {mark}" if closed else f"{mark} {title}"


def normal_text(text: str) -> str:
    r"""Return a text as it reads once it is a memory; doing it twice changes nothing.

    Line ends become `\n`; NUL and lone surrogates become U+FFFD; white space around it goes;
    soft-wrapped lines of prose are joined by one space; nested items (`•` and `☐` too), quotes,
    tables, fields (`key:: value`) and headings keep their lines; runs of blank lines become one;
    fenced code stays as it is, and a fence left open is closed.
    """
    unified = clean(text).replace("\r\n", "\n").replace("\r", "\n").strip()
    return fold_lines(unified.split("\n"))


def item_lines(text: str) -> list[str]:
    """Return the lines of a list item that reads back as `normal_text(text)`.

    Raises:
        StoreError: If the text is empty.
    """
    # Imitations of our comment are escaped; inside fenced code nothing is read as one.
    lines = with_code(normal_text(text).split("\n"))
    first, *rest = [line if is_code else escape_comments(line) for line, is_code in lines]
    if not first:
        raise StoreError("a memory cannot be empty", hint="give it at least one word")
    marker = "* " if is_break("- " + first) else "- "
    return [marker + first, *("  " + line if line else "" for line in rest)]


def fold_lines(lines: Iterable[str]) -> str:
    """Join a block's lines into the text of a memory, as `normal_text` describes."""
    lines = list(lines)
    rows = _rows(lines)
    folded: list[list[str]] = []
    code: set[int] = set()
    fence: Fence | None = None
    joins = False
    for number, line in enumerate(lines):
        if fence:
            code.add(len(folded))
            folded.append([line])
            if fence.closed_by(line):
                code.discard(len(folded) - 1)
                fence = None
            continue
        bare = line.strip(" \t")
        is_apart = number in rows or _is_structure(bare)
        if joins and bare and not is_apart and not opens_fence(line):
            folded[-1].append(bare)
            continue
        fence = opens_fence(line)
        joins = _add_line(folded, line, bare, fenced=fence is not None) and number not in rows
    if fence:
        folded.append([" " * fence.column + fence.char * fence.size])
    return "\n".join(_dedent_all([" ".join(parts) for parts in folded], code)).strip()


def _rows(lines: Sequence[str]) -> set[int]:
    """Return the numbers of lines that are rows of a table without signs at their ends."""
    rows: set[int] = set()
    for number, line in enumerate(lines):
        below = number and "|" in line and _BELOW_HEAD.fullmatch(line.strip(" \t"))
        if below and "|" in lines[number - 1]:
            rows |= {number - 1, number}
        elif number - 1 in rows and "|" in line:
            rows.add(number)
    return rows


def _add_line(folded: list[list[str]], line: str, bare: str, *, fenced: bool) -> bool:
    """Start a new line of the text; tell whether prose may be joined to it."""
    if not bare:
        if folded and folded[-1] != [""]:
            folded.append([""])
        return False
    if fenced:
        folded.append([line.lstrip(" \t") if not folded else line])
        return False
    folded.append([line.rstrip(" \t") if folded and _is_structure(bare) else bare])
    return not (bare.startswith(_ENDS_AT_LINE_END) or _FIELD.match(bare) or is_break(bare))


def _is_structure(bare: str) -> bool:
    return bool(_STRUCTURE.match(bare) or _FIELD.match(bare)) or is_break(bare)


def _dedent_all(lines: list[str], code: set[int]) -> list[str]:
    """Take the indentation common to all lines but the first off them."""
    if len(lines) < 2 or _ITEM.match(lines[0]):
        return lines
    widths = [indentation(line) for n, line in enumerate(lines) if n and line and n not in code]
    common = min(widths, default=0)
    return [lines[0], *(dedent(line, common) for line in lines[1:])] if common else lines


class _Finder:
    """The state between two lines."""

    def __init__(self, *, timeline: bool, diary: bool) -> None:
        self.blocks: list[Block] = []
        self._timeline = timeline
        self._diary = diary
        self._block: Block | None = None
        self._fence: Fence | None = None
        self._in_comment = False
        self._after_blank = False

    def feed(self, number: int, line: str) -> None:
        block = self._block
        bare = line.strip(" \t")
        if self._in_comment and block:
            block.end = number + 1
            self._in_comment = "-->" not in line
        elif not bare:
            self._blank(number, line)
        elif block and self._fence and self._stays_in_fence(block, self._fence, number, line):
            pass
        elif self._block and self._continues(self._block, line, bare):
            self._extend(self._block, number, line)
        else:
            self.leave()
            self._start(number, line, bare)
        if bare:
            self._after_blank = False

    def end_paragraph(self) -> None:
        """End the block at hand if it is a paragraph."""
        if self._block and self._block.kind == "paragraph":
            self.leave()

    def leave(self) -> None:
        """End the block at hand; say how to close what it left open."""
        block, fence = self._block, self._fence
        if block and fence:
            block.closing = " " * fence.column + fence.char * fence.size
        elif block and self._in_comment:
            block.closing = "-->"
        self._block = self._fence = None
        self._in_comment = False

    def _blank(self, number: int, line: str) -> None:
        block = self._block
        # A turn's own blank lines are indented, so that they are told from the gap behind it.
        if block and block.kind == "turn" and not self._after_blank and line.startswith("  "):
            block.end = number + 1
        else:
            self._after_blank = True

    def _stays_in_fence(self, block: Block, fence: Fence, number: int, line: str) -> bool:
        if not fence.outer and indentation(line) < block.threshold:
            self.leave()
            return False
        block.end = number + 1
        if fence.closed_by(line):
            self._fence = None
            block.sealed = fence.outer
        return True

    def _continues(self, block: Block, line: str, bare: str) -> bool:
        if block.kind not in MEMORY_KINDS:
            return False
        if block.threshold and indentation(line) >= block.threshold:
            return True
        if self._after_blank:
            return False
        if bare.startswith("<!--"):
            comment = find_comment(line)
            return comment is not None and (comment[1] >= 0 or not block.sealed)
        return not block.sealed and not self._interrupts(block, line, bare)

    def _interrupts(self, block: Block, line: str, bare: str) -> bool:
        if bare[0] == ">":
            return not block.quote
        if bare[0] == "#":
            return _HEADING.match(line) is not None
        if block.underlined_by(line):
            return False
        is_signed = block.kind == "paragraph" and not block.quote and _SIGNED.match(bare)
        if is_signed or is_break(bare) or (self._timeline and stamp_of(line)):
            return True
        item = _ITEM.match(line)
        if item is None or block.kind == "item":
            return item is not None
        numbered_otherwise = item.group(2)[0].isdigit() and item.group(2)[:-1] != "1"
        return item.end() < len(line) and not numbered_otherwise

    def _extend(self, block: Block, number: int, line: str) -> None:
        block.has_words = block.has_words or not line.lstrip().startswith("<!--")
        level = block.underlined_by(line)
        if level:
            block.kind, block.level = "heading", level
            self._block = None
        block.end = number + 1
        self._open_fence(block, line)

    def _open_fence(self, block: Block, line: str) -> None:
        if block.kind not in MEMORY_KINDS or block.kind == "turn":
            return
        first = block.end == block.start + 1
        fence = opens_fence(line[block.offset :] if first else line)
        if fence:
            column = fence.column + (block.content if first else 0)
            outer = block.kind != "item" or column < block.threshold
            self._fence = Fence(fence.char, fence.size, column, outer)

    def _start(self, number: int, line: str, bare: str) -> None:
        block = self._new_block(number, line, bare)
        self.blocks.append(block)
        self._block = block
        if block.kind == "comment":
            self._in_comment = "-->" not in line
        self._open_fence(block, line)

    def _new_block(self, number: int, line: str, bare: str) -> Block:
        end = number + 1
        heading = _HEADING.match(line) if bare[0] == "#" else None
        if heading:
            level = len(heading.group(1))
            return Block("heading", number, end, level=level, title=_title(heading.group(2)))
        if self._diary and is_day(bare):  # "4. Mai 2026" is no item
            return Block("paragraph", number, end, title=bare, day=bare.strip("*_:"))
        is_comment = _is_comment_line(line, bare)
        if is_comment or is_break(bare):
            return Block("comment" if is_comment else "break", number, end)
        stamp = stamp_of(line) if self._timeline else None
        if stamp:
            return Block("turn", number, end, offset=stamp.end(), content=2, threshold=2)
        item = _ITEM.match(line)
        if item:
            return _item_block(number, line, item)
        kind: BlockKind = "fence" if opens_fence(line) else "paragraph"
        return Block(kind, number, end, quote=bare[0] == ">", title=bare)


def _item_block(number: int, line: str, item: re.Match[str]) -> Block:
    marker_column = indentation(line)
    width = len(item.group(2))
    content = len(line[: item.end()].expandtabs(4))
    if not 1 <= content - marker_column - width <= 4 or item.end() == len(line):
        content = marker_column + width + 1
    return Block(
        "item",
        number,
        number + 1,
        offset=item.end(),
        content=content,
        threshold=marker_column + 2,
        ordered=item.group(2)[0].isdigit(),
    )


def _is_comment_line(line: str, bare: str) -> bool:
    """Tell whether a top-level line is, or begins, an HTML comment and nothing else."""
    if not bare.startswith("<!--"):
        return False
    ours = find_comment(line)
    if ours and ours[1] < 0:
        return False
    end = bare.find("-->", 4)
    return end < 0 or not bare[end + 3 :].strip()


def _title(text: str | None) -> str:
    title = (text or "").strip(" \t")
    closed = title.rstrip("#")
    return closed.rstrip(" \t") if closed == "" or closed[-1] in " \t" else title
