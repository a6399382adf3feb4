"""Comments that a person's edit parted from their words, by a deletion or by moving a line.

In: the memories a file had, and its page as it is. Out: the ids whose comment now stands under the
words of another memory, and the text in which what was parted stands together again. The file alone
cannot tell: a reworded memory looks the same, with its comment under other words. So it is noticed
when the change is taken in, while both versions are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from palace.store.comments import find_comment, read_comment
from palace.store.markdown import Page, parse
from palace.store.nesting import nested_items
from palace.types.memory import Memory


def orphaned(before: Iterable[Memory], now: Iterable[Memory]) -> list[str]:
    """Return the ids that were words of their own before and are another memory's now.

    Args:
        before: The memories of a file as it was.
        now: As it is.
    """
    known = {memory.id: memory.text for memory in before}
    now = list(now)
    texts = {memory.text for memory in now}
    hers = {text for name, text in known.items() if name.startswith("d-")}
    hers -= {memory.text for memory in now if memory.id.startswith("d-")}
    return [
        memory.id
        for memory in now
        if memory.text in hers
        and known.get(memory.id, memory.text) != memory.text
        and known[memory.id] not in texts
    ]


def strayed(before: Iterable[Memory], now: Iterable[Memory]) -> dict[str, str]:
    """Return the words of memories, by id, whose comment stands elsewhere, and they without one.

    So it is after an editor has moved one line up or down. A comment under words that are new stays
    where it is: its memory was reworded.

    Args:
        before: The memories of a file as it was.
        now: As it is.
    """
    known = {memory.id: memory.text for memory in before}
    times = Counter(known.values())
    holders = {memory.id: memory.text for memory in now}
    bare = {text for name, text in holders.items() if name.startswith("d-") and times[text] == 1}
    return {
        name: text
        for name, text in known.items()
        if text in bare
        and not name.startswith("d-")
        and holders.get(name) != text
        and holders.get(name, text) in times
    }


def nested(before: Iterable[Memory], now: Iterable[Memory]) -> dict[str, str]:
    """Return the words of memories, by id, that stand in others now, which may have their comment.

    So it is after an editor has put one line under the item above it, that has no comment.

    Args:
        before: The memories of a file as it was.
        now: As it is.
    """
    known = {memory.id: memory.text for memory in before if not memory.id.startswith("d-")}
    return {
        memory.id: text
        for memory in now
        if (text := known.get(memory.id, memory.text)) != memory.text
        and text.partition("\n")[0] in memory.text
    }


def mended(page: Page, before: Sequence[Memory]) -> str:
    """Return the text of a page in which comments stand under their own words, or under none.

    Words stay as they are. A comment that strayed goes back to its words, as it is written; where
    these were put under another item it is indented as far as they are. One whose words were
    deleted is parted from the memory above it.
    """
    while moved := _brought_back(page, before) or _brought_under(page, before):
        page = moved
    left = orphaned(before, page.memories)
    return page.with_comments_parted([m.position for m in page.memories if m.id in left])


def _brought_back(page: Page, before: Sequence[Memory]) -> Page | None:
    """Return the page with its strayed comments under their words; None without, or if in doubt."""
    numbers: dict[object, list[int]] = {}
    for number, line in enumerate(page.lines):
        numbers.setdefault(_id_told(line), []).append(number)
    found = strayed(before, page.memories)
    words = {name: text for name, text in found.items() if len(numbers.get(name, ())) == 1}
    away = {numbers[name][0] for name in words}
    lines = [line for number, line in enumerate(page.lines) if number not in away]
    without = parse(page.path, page.mark + "".join(lines))
    places = {memory.text: memory.position for memory in without.memories}
    if not words or not places.keys() >= set(words.values()):
        return None
    for place, name in sorted(((places[text], name) for name, text in words.items()), reverse=True):
        block = without.blocks[place]
        comment = " " * block.content + page.lines[numbers[name][0]].strip()
        is_ended = lines[block.end - 1].endswith(("\r", "\n"))
        lines[block.end - 1] += "" if is_ended else page.newline
        lines.insert(block.end, comment + page.newline * is_ended)
    back = parse(page.path, page.mark + "".join(lines))
    stand = {memory.id: memory.text for memory in back.memories}
    is_right = [m.text for m in back.memories] == [m.text for m in page.memories]
    return back if is_right and words.items() <= stand.items() else None


def _brought_under(page: Page, before: Sequence[Memory]) -> Page | None:
    """Return the page with a comment indented for the item right above it; None if none is to be.

    By its own indentation it is that of the item around it.
    """
    bare = [line.rstrip("\r\n") for line in page.lines]
    for name, text in nested(before, page.memories).items():
        position = page.position_of(name)
        span = page.comments[position]
        for item in nested_items(page.blocks[position], bare):
            if span is None or item.end != span.line or bare[span.line].strip()[:4] != "<!--":
                continue
            lines = list(page.lines)
            lines[span.line] = " " * item.content + lines[span.line].lstrip(" \t")
            under = parse(page.path, page.mark + "".join(lines))
            if {memory.id: memory.text for memory in under.memories}.get(name) == text:
                return under
    return None


def _id_told(line: str) -> object:
    """Return the id that a comment tells which has a line for itself, else None."""
    found = find_comment(line) if "<!--" in line else None
    if found is None or line.strip() != line[found[0] : found[1]]:
        return None
    return read_comment(line[found[0] : found[1]])[0].get("id")
