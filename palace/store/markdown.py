"""A memory file as a person wrote it: parsed without loss, edited without touching the rest.

In: the text of one Markdown file and its path in the palace. Out: its memories and faults, and
new text in which only what was asked for has changed; rendering gives back the text as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from functools import lru_cache
from typing import Any

from palace.errors import MemoryNotFoundError, StoreError
from palace.store.blocks import (
    DAY_LEVEL,
    MEMORY_KINDS,
    Block,
    dedent,
    find_blocks,
    fold_lines,
    indentation,
    item_lines,
    split_lines,
    stamp_of,
    with_code,
)
from palace.store.comments import (
    NOT_UTF8,
    clean,
    edit_comment,
    find_comment,
    is_unclean,
    parse_time,
    unescape_comments,
    write_comment,
)
from palace.store.front_matter import (
    FrontMatter,
    one_text,
    page_properties,
    properties_of_the_page,
    read_front_matter,
    text_list,
    value_blocks,
)
from palace.store.memory_fields import comment_fields, with_marks
from palace.store.merge_marks import conflicts, merge_marks, other_versions, without_marks
from palace.store.names import derived_id, place_of
from palace.store.nesting import with_nested
from palace.store.superseded import page_tags
from palace.store.timeline_page import split_speaker, stamp_time, turn_text
from palace.text.day_names import day_of_file, day_told, is_day
from palace.types.memory import FRONT_MATTER, TIMELINE, Document, Fault, Memory


@dataclass(frozen=True, slots=True)
class Span:
    """Where a metadata comment stands: line, first and one past the last character."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Page:
    """One parsed memory file; `parse` makes it.

    Attributes:
        path: Relative to the palace root, forward slashes.
        lines: The file, line ends kept.
        aliases: What the file is called besides.
        blocks: The block of each memory, by position.
        comments: The metadata comment of each memory, or None, by position.
        mark: The byte order mark, if the file has one.
        closing: The line that closes a fence or comment left open at the end, else "".
        closing_at: The line it goes before.
        ends_in_item: Whether the last block is a list item.
        section: The headings above what would be written at the end, outermost first, joined by
            ` > `.
        tells_days: Whether its name, headings or lines tell on which day something was written.
    """

    path: str
    lines: tuple[str, ...]
    front: FrontMatter
    title: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    memories: tuple[Memory, ...]
    faults: tuple[Fault, ...]
    blocks: tuple[Block, ...]
    comments: tuple[Span | None, ...]
    mark: str = ""
    closing: str = ""
    closing_at: int = 0
    ends_in_item: bool = False
    section: str = ""
    tells_days: bool = False

    def render(self) -> str:
        """Return the text that was parsed, character for character."""
        return self.mark + "".join(self.lines)

    def document(self, digest: str) -> Document:
        """Return what readers need of the page; `digest` is that of the file's bytes."""
        words = (*self.tags, *self.aliases)
        return Document(self.path, digest, self.title, words, self.memories, self.faults)

    @property
    def newline(self) -> str:
        r"""The line end of the file: that of its first line, else `\n`."""
        first = _line_end(self.lines[0]) if self.lines else ""
        # A lone `\r` in front of somebody's `\n` would melt into one line end.
        mixed = first == "\r" and any(line.endswith("\n") for line in self.lines)
        return "\n" if mixed or not first else first

    def closed_lines(self) -> list[str]:
        """Return the file's lines, an open fence or comment at the end closed."""
        if not self.closing:
            return list(self.lines)
        before = "".join(self.lines[: self.closing_at])
        gap = "" if not before or before.endswith(("\r", "\n")) else self.newline
        closing = gap + self.closing + self.newline
        return [*self.lines[: self.closing_at], closing, *self.lines[self.closing_at :]]

    def with_memory_fields(self, position: int, fields: Mapping[str, object]) -> str:
        """Return the text with fields of one memory's comment set; a comment is added if needed.

        Args:
            position: Of the memory in the file, 0-based.
            fields: Comment keys; None, "" and empty lists take a field out.

        Raises:
            ValueError: If a field is unknown or its value is not of its kind.
        """
        block, span = self.blocks[position], self.comments[position]
        lines = list(self.lines)
        if span:
            line = lines[span.line]
            comment = edit_comment(line[span.start : span.end], fields)
            lines[span.line] = line[: span.start] + comment + line[span.end :]
            return self.mark + "".join(lines)
        added = [" " * block.content + write_comment(fields)]
        if block.closing:
            added.insert(0, block.closing)
            # What ended the open fence must not become a lazy line of the closed item.
            added += [""] if "".join(self.lines[block.end : block.end + 1]).strip() else []
        return self._insert(self.lines, block.end, added)

    def comment_of(self, position: int) -> str | None:
        """Return the metadata comment of one memory as it stands, or None."""
        span = self.comments[position]
        return self.lines[span.line][span.start : span.end] if span else None

    def goes_on(self, position: int) -> bool:
        """Whether a memory goes on below its comment: the program ends what it writes with it."""
        span = self.comments[position]
        below = self.lines[span.line + 1 : self.blocks[position].end] if span else ()
        return bool("".join(below).strip())

    def with_comment(self, position: int, comment: str | None) -> str:
        """Return the text with the comment of a memory, which has one, replaced or taken out."""
        span = self.comments[position]
        assert span is not None
        lines = list(self.lines)
        line = lines[span.line]
        rest = line[: span.start] + (comment or "") + line[span.end :]
        lines[span.line] = rest if comment or rest.strip() else ""
        if not lines[span.line] and not _line_end(line):
            # The file ended without a line end, and the comment was set below its last words.
            lines[span.line - 1] = lines[span.line - 1].rstrip("\r\n")
        return self.mark + "".join(lines)

    def with_comments_parted(self, positions: Sequence[int]) -> str:
        """Return the text with an empty comment between these memories and theirs.

        What was their comment belongs to no memory then, and keeps every byte.
        """
        lines = list(self.lines)
        for position in sorted(positions, reverse=True):
            span, block = self.comments[position], self.blocks[position]
            if span and span.line > block.start:
                lines.insert(span.line, "<!-- -->" + self.newline)
        return self.mark + "".join(lines)

    def append_memories(self, memories: Sequence[tuple[str, Mapping[str, object]]]) -> str:
        """Return the text with list items and their comments at the end.

        Args:
            memories: The text of each, which reads back as `normal_text(text)`, and the keys of
                its comment; none is written without any.

        Raises:
            StoreError: If a text is empty.
            ValueError: If a field is unknown or its value is not of its kind.
        """
        added: list[str] = []
        for text, fields in memories:
            added += item_lines(text)
            if fields:
                added.append("  " + write_comment(fields))
        return self.append_lines(added, is_item=True)

    def with_memory_behind(self, position: int, text: str, fields: Mapping[str, object]) -> str:
        """Return the text with a list item and its comment behind a memory, under its headings.

        Where it could not be taken out again without a trace it stands at the end.

        Args:
            position: Of the memory, 0-based.
            text: Of the new one.
            fields: Keys of its comment.

        Raises:
            StoreError: If the text is empty.
            ValueError: If a field is unknown or its value is not of its kind.
        """
        block = self.blocks[position]
        gap = [] if block.kind == "item" else [""]
        lines = [*gap, *item_lines(text), "  " + write_comment(fields)]
        page = parse(self.path, self._insert(self.lines, block.end, lines))
        place = sum(one.start < block.end for one in self.blocks)  # behind what is nested in it
        is_added = _texts(page, but=place) == _texts(self)
        is_added &= {memory.id for memory in page.memories} > {m.id for m in self.memories}
        if is_added and page._without(place) == self.render():
            return page.render()
        return self.append_memories([(text, fields)])

    def append_lines(self, lines: Sequence[str], *, is_item: bool) -> str:
        """Return the text with the lines of a memory at the end, as they are.

        Args:
            lines: Without their ends.
            is_item: Whether they are a list item, which may follow another one directly.
        """
        closed = self.closed_lines()
        apart = closed and closed[-1].strip() and not (self.ends_in_item and is_item)
        return self._insert(closed, len(closed), ["", *lines] if apart else lines, end_line=True)

    def block_lines(self, position: int) -> tuple[str, ...]:
        """Return the lines of one memory, its comment included, without their ends."""
        block = self.blocks[position]
        return tuple(line.rstrip("\r\n") for line in self.lines[block.start : block.end])

    def with_block(self, position: int, lines: Sequence[str]) -> str:
        """Return the text with other lines in the place of one memory."""
        block = self.blocks[position]
        end = _line_end(self.lines[-1]) if block.end == len(self.lines) else self.newline
        text = self.newline.join(lines) + end
        return "".join([self.mark, *self.lines[: block.start], text, *self.lines[block.end :]])

    def remove(self, position: int, *, open_ended: bool = False) -> str:
        """Return the text without one memory and its comment.

        Args:
            position: Of the memory, 0-based.
            open_ended: Whether the last line loses its end, where that is the one before it.
        """
        others, kept = _texts(self, but=position), self._without(position)
        if open_ended and self.blocks[position].end == len(self.lines):
            kept = kept.removesuffix("\n").removesuffix("\r")
        # The lines that were days of a diary may stand alone now.
        if _but_days(_texts(parse(self.path, kept))) == _but_days(others):
            return kept
        # Where neighbours would run together, an empty comment parts them.
        for apart in ([""], ["", ""], ["", "", "<!-- -->", ""]):
            written = self.with_block(position, apart)
            if _texts(parse(self.path, written)) == others:
                return written
        raise StoreError(
            f"the memory at {self.memories[position].source} cannot go without changing others",
            hint="edit the file by hand",
        )

    def _without(self, position: int) -> str:
        """Return the text without one memory, whatever becomes of its neighbours."""
        start, end = self.blocks[position].start, self.blocks[position].end
        if start == 0 or not self.lines[start - 1].strip():
            if end < len(self.lines) and not self.lines[end].strip():
                end += 1
            before = self.blocks[position - 1] if position else self.blocks[position]
            between = "".join(self.lines[before.end : start]).strip()
            in_list = position > 0 and before.kind == "item" and not between
            if end == len(self.lines) and not in_list:
                start = max(start - 1, 0)  # the blank line parted it from what stands before
        return "".join([self.mark, *self.lines[:start], *self.lines[end:]])

    def position_of(self, memory_id: str) -> int:
        """Return the position of a memory.

        Raises:
            MemoryNotFoundError: If no memory of the file has this id.
        """
        for memory in self.memories:
            if memory.id == memory_id:
                return memory.position
        raise MemoryNotFoundError(
            f"no memory {memory_id} in {self.path}", hint="it may have been edited: search again"
        )

    def _insert(
        self, lines: Sequence[str], at: int, added: Sequence[str], *, end_line: bool = False
    ) -> str:
        """Insert whole lines; the file's last line is only given an end where one is needed."""
        before, after = "".join(lines[:at]), "".join(lines[at:])
        text = self.newline.join(added)
        if before and not before.endswith(("\r", "\n")):
            text = self.newline + text + (self.newline if end_line else "")
        else:
            text += self.newline
        return self.mark + before + text + after


@lru_cache(maxsize=2)  # a change that looks at what it has written is not parsed twice
def parse(path: str, text: str) -> Page:
    """Parse one memory file; nothing in it is an error, only a fault.

    Args:
        path: Relative to the palace root; `timeline/…` is read as a timeline page.
        text: The file, decoded as UTF-8 with `surrogateescape`.
    """
    return _Parser(path, text).page()


def decode(data: bytes) -> str:
    """Return a file's bytes as text; bytes that are not UTF-8 survive as lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes that `decode` was given."""
    return text.encode("utf-8", "surrogateescape")


class _Parser:
    """One pass over a file; collects what `Page` freezes."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.mark = text[:1] if text.startswith("\ufeff") else ""
        self.raw = split_lines(text[len(self.mark) :])
        self.faults: list[Fault] = []
        self.lines = [line.rstrip("\r\n") for line in self.raw]
        if is_unclean(text):
            self.lines = [clean(line) for line in self.lines]
            self._fault_encoding()
        self.room, self.drawer = place_of(path)
        self.timeline = path.startswith(TIMELINE + "/")
        self.memories: list[Memory] = []
        self.blocks: list[Block] = []
        self.comments: list[Span | None] = []
        self.texts: Counter[str] = Counter()
        self.ids: set[str] = set()
        self.section = ""

    def page(self) -> Page:
        self.marks = merge_marks(self.lines)
        lines = without_marks(self.lines, self.marks)
        front = read_front_matter(lines)
        if front.problem:
            self.fault(front.line - 1, front.problem)
        self.faults += conflicts(self.path, self.marks)
        blocks = find_blocks(
            self.lines,
            first=front.end + properties_of_the_page(lines[front.end :]),
            timeline=self.timeline,
            without=self.marks,
            apart=other_versions(self.lines, self.marks),
        )
        values = {**page_properties(lines[front.end :]), **front.values}
        first = _title_block(blocks)
        self.title = one_text(values.get("title")) or (first.title if first else "") or self.drawer
        self.tags = page_tags(values, blocks, self.lines)
        days = map(day_told, (self.title, str(values.get("date") or "")))
        self.day = day_of_file(self.path) or next(filter(None, days), None)
        self.tells_days = self.day is not None
        told = [] if self.timeline else value_blocks(lines, front)
        self._walk(told + blocks, skip=first if first and first.title == self.title else None)
        last = blocks[-1] if blocks else None
        return Page(
            path=self.path,
            lines=tuple(self.raw),
            front=front,
            title=self.title,
            tags=self.tags,
            aliases=text_list(values.get("aliases")) + text_list(values.get("alias")),
            memories=tuple(self.memories),
            faults=tuple(self.faults),
            blocks=tuple(self.blocks),
            comments=tuple(self.comments),
            mark=self.mark,
            closing=_closing(last),
            closing_at=last.end if last else 0,
            ends_in_item=bool(last and last.kind == "item"),
            section=self.section,
            tells_days=self.tells_days,
        )

    def fault(self, line: int, message: str) -> None:
        self.faults.append(Fault(self.path, line + 1, message))

    def _walk(self, blocks: Sequence[Block], *, skip: Block | None) -> None:
        above: list[tuple[int, str]] = []
        here = self.day
        for block in blocks:
            if block.closing:
                self.fault(block.start, "a code fence or a comment that starts here never ends")
            if block.kind == "heading":
                above = [pair for pair in above if pair[0] < block.level]
                if block is not skip:
                    above.append((block.level, block.title))
                days = (day_told(title) for _, title in reversed(above))
                here = next(filter(None, days), self.day)
                self.tells_days |= here is not None
            elif block.kind in MEMORY_KINDS:
                if block.day:
                    above = [pair for pair in above if pair[0] < DAY_LEVEL]
                    here = day_told(block.day)
                    self.tells_days = True
                first, *nested = with_nested(block, self.lines, self.marks)
                self._add(first, above, here)
                outer = (
                    self.memories[-1].text.partition("\n")[0] if nested and self.memories else ""
                )
                for own in nested:
                    self._add(own, [*above, (DAY_LEVEL + 1, outer)], here)
                if block.day:  # what follows was written on it, too
                    above.append((DAY_LEVEL, block.day))
            elif block.kind == "comment" and find_comment(self.lines[block.start]):
                self.fault(block.start, "a memory comment that belongs to no memory")
        self.section = _section(above)

    def _add(self, block: Block, above: Sequence[tuple[int, str]], day: date | None) -> None:
        is_turn = block.kind == "turn"
        content, span = self._read_turn(block) if is_turn else self._read_block(block)
        values: dict[str, Any] = self._metadata(span)
        given = self._turn_values(block, content) if is_turn else None
        text = given.pop("text") if given else content
        if not text.strip():
            return
        memory_id = self._id(values.pop("id", ""), text, block)
        if self.timeline:
            section = next((title for level, title in above if level == 2), "")
            defaults = {"kind": "event", "created": _page_day(self.drawer)}
            values = {**defaults, **values, "session": section, **(given or {})}
        elif day:
            values.setdefault("created", datetime(*day.timetuple()[:3], tzinfo=timezone.utc))
        if block.kind == "value":  # alone it says little
            values |= {"provenance": FRONT_MATTER, "importance": 0.2}
        self.memories.append(
            Memory(
                id=memory_id,
                text=text,
                path=self.path,
                line=block.start + 1,
                room=self.room,
                drawer=self.drawer,
                title=self.title,
                heading=_section(above),
                position=len(self.memories),
                **with_marks(text, values, self.tags),
            )
        )
        self.blocks.append(block)
        self.comments.append(span)

    def _read_block(self, block: Block) -> tuple[str, Span | None]:
        """Return a block's text and the place of its comment; code is content throughout."""
        spans: list[Span] = []
        content: list[str] = []
        numbers = self._numbers(block)
        lines = with_code(self._content(block, number) for number in numbers)
        for number, (line, is_code) in zip(numbers, lines, strict=True):
            if not is_code and "<!--" in line:
                span = self._comment(number)
                rest = self._content(block, number, without=span)
                spans += [span] if span else []
                if span and not rest.strip():
                    continue
                line = unescape_comments(rest)
            content.append(line)
        return fold_lines(content), self._counting(spans)

    def _read_turn(self, block: Block) -> tuple[str, Span | None]:
        """Return a turn's text, speaker included; only a whole line can be a comment."""
        spans: list[Span] = []
        kept: list[str] = []
        for number in self._numbers(block)[1:]:
            line = self.lines[number]
            span = find_comment(line) if line.lstrip().startswith("<!--") else None
            if span and span[1] >= 0 and not line[span[1] :].strip():
                spans.append(Span(number, *span))
            else:
                kept.append(line)
        return turn_text(self.lines[block.start][block.offset :], kept), self._counting(spans)

    def _numbers(self, block: Block) -> list[int]:
        numbers = range(block.start, block.end)
        return [n for n in numbers if n not in self.marks and n not in block.holes]

    def _content(self, block: Block, number: int, *, without: Span | None = None) -> str:
        """Return a line of a block without its marker or indentation, and without a comment."""
        line = self.lines[number]
        if without:
            line = (line[: without.start].rstrip(" \t") + line[without.end :]).rstrip(" \t")
        return line[block.offset :] if number == block.start else dedent(line, block.content)

    def _comment(self, number: int) -> Span | None:
        """Return our comment on a line; one that does not end there is a fault."""
        found = find_comment(self.lines[number])
        if found and found[1] < 0:
            self.fault(number, "a memory comment that does not end on its line is read as text")
            return None
        return Span(number, *found) if found else None

    def _turn_values(self, block: Block, content: str) -> dict[str, Any] | None:
        stamp = stamp_of(self.lines[block.start])
        created = stamp_time(*stamp.groups()) if stamp else None
        if created is None:
            self.fault(block.start, "a stamp that is no date")
        speaker, text = split_speaker(content)
        return {"text": text, "speaker": speaker, "created": created}

    def _metadata(self, span: Span | None) -> dict[str, Any]:
        if span is None:
            return {}
        values, problems = comment_fields(self.lines[span.line][span.start : span.end])
        for problem in problems:
            self.fault(span.line, problem)
        return values

    def _id(self, given: str, text: str, block: Block) -> str:
        occurrence = self.texts[text]
        self.texts[text] += 1
        if given and given in self.ids:
            self.fault(block.start, f"the id {given} is used twice; this memory gets a derived one")
            given = ""
        memory_id = given or derived_id(self.path, text, occurrence)
        self.ids.add(memory_id)
        return memory_id

    def _counting(self, spans: Sequence[Span]) -> Span | None:
        """Return the comment that counts: the first, or while git asks which, one that retires."""
        if self.marks:
            spans = sorted(spans, key=lambda s: " status=inactive" not in self.lines[s.line])
        for span in spans[1:]:
            self.fault(span.line, "a second memory comment in one memory; the other one counts")
        return spans[0] if spans else None

    def _fault_encoding(self) -> None:
        line = next(number for number, line in enumerate(self.raw) if is_unclean(line))
        self.fault(line, NOT_UTF8)


def _title_block(blocks: Sequence[Block]) -> Block | None:
    """Return the heading that is the title: the first of level 1, if it is no day among others."""
    tops = [block for block in blocks if block.kind == "heading" and block.level == 1]
    is_title = bool(tops) and (len(tops) == 1 or day_told(tops[0].title) is None)
    return tops[0] if is_title else None


def _texts(page: Page, *, but: int = -1) -> list[str]:
    return [memory.text for memory in page.memories if memory.position != but]


def _but_days(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if not (is_day(text) or is_day(f"1. {text}"))]


def _section(above: Sequence[tuple[int, str]]) -> str:
    return " > ".join(title for _, title in above if title)


def _closing(last: Block | None) -> str:
    """Return the line that an appended item needs before it; an item's own fence ends with it."""
    if last is None or (last.kind == "item" and indentation(last.closing) >= last.threshold):
        return ""
    return last.closing


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _page_day(drawer: str) -> datetime | None:
    try:
        return parse_time(drawer)
    except ValueError:
        return None
