"""Turns added to a timeline page, each exactly once however often they are handed in.

In: the text of a page and turns of its day. Out: the text with the missing turns under the
headings of their sessions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from palace.store.blocks import find_blocks, heading_line, indentation
from palace.store.markdown import Page, parse
from palace.store.timeline_page import (
    minute_of,
    session_title,
    speaker_label,
    turn_lines,
    verbatim_text,
)
from palace.types.session import ConversationTurn

_Key = tuple[str, str, str, str]


def page_path(turn: ConversationTurn) -> str:
    """Return the page a turn belongs to: that of its UTC date."""
    return f"timeline/{minute_of(turn.at)[:10]}.md"


def merge_turns(page: Page, turns: Sequence[ConversationTurn]) -> str:
    """Return the page's text with the turns that it does not have yet.

    A turn is its session, minute, speaker and words; of k equal ones in the input, only those
    beyond what the page has are added. Sessions stand in order of appearance, turns in the order
    given; turns without words are left out.

    Args:
        page: The page as it is, perhaps empty.
        turns: Of the page's day.
    """
    there = Counter(_keys_of(page))
    missing: dict[str, list[str]] = {}
    for turn in turns:
        key = _key_of(turn)
        if not key[3].strip():
            continue
        if there[key] > 0:
            there[key] -= 1
            continue
        lines = turn_lines(f"[{key[1]}] ", key[2], key[3], fields=_fields_of(turn))
        missing.setdefault(key[0], []).extend(lines)
    return _insert(page, missing) if missing else page.render()


def _keys_of(page: Page) -> Iterable[_Key]:
    for memory, block in zip(page.memories, page.blocks, strict=True):
        if block.kind == "turn" and memory.created:
            yield memory.session, minute_of(memory.created), memory.speaker, memory.text


def _key_of(turn: ConversationTurn) -> _Key:
    return (
        session_title(turn.session),
        minute_of(turn.at),
        speaker_label(turn.speaker),
        verbatim_text(turn.text),
    )


def _fields_of(turn: ConversationTurn) -> dict[str, object]:
    """Return what goes into the comment of a turn: what is not as for any verbatim turn."""
    said = {
        "provenance": turn.provenance,
        "source": "" if turn.trust == "user" else turn.trust,
        "scope": "" if turn.scope == "global" else turn.scope,
        "project": turn.project,
        "task": turn.task,
    }
    return {name: value for name, value in said.items() if value}


def _insert(page: Page, missing: dict[str, list[str]]) -> str:
    if not page.lines:
        title = page.path.rpartition("/")[2][:-3]
        page = parse(page.path, f"{page.mark}# {title}{page.newline}")
    newline = page.newline
    ends = _section_ends(page)
    lines = page.closed_lines()
    if not lines[-1].endswith(("\r", "\n")):
        lines[-1] += newline
    # From the bottom up, so that places found in the old page stay right; new sessions come last.
    known = sorted((s for s in missing if s in ends), key=lambda s: ends[s][0], reverse=True)
    for session in known:
        place, spaced = ends[session]
        place += bool(page.closing) and place == page.closing_at
        added = [""] * spaced + missing[session] + _gap(lines[place:])
        lines[place:place] = [line + newline for line in added]
    for session in missing:
        if session not in ends:
            added = ["", heading_line(2, session), *missing[session]]
            lines += [line + newline for line in added]
    return page.mark + "".join(lines)


def _section_ends(page: Page) -> dict[str, tuple[int, bool]]:
    """Return, by session, the line its next turn goes to and whether a blank line goes first."""
    lines = [line.rstrip("\r\n") for line in page.lines]
    ends: dict[str, tuple[int, bool]] = {"": (page.front.end, False)}
    section = ""
    for block in find_blocks(lines, first=page.front.end, timeline=True):
        if block.kind == "heading" and block.level <= 2:
            section = block.title if block.level == 2 else ""
        ends[section] = (block.end, block.kind == "heading" and block.level == 1)
    return ends


def _gap(following: Sequence[str]) -> list[str]:
    """Return what keeps the lines behind a turn from being read as part of it."""
    if not following:
        return []
    block = next((line for line in following if line.strip()), "")
    if indentation(block) >= 2:
        return ["", "<!-- -->", ""]
    return [""] if following[0].startswith("  ") else []
