"""Copies of a file, made by a person or a program that synchronises folders, count once.

In: candidates of one search. Out: the same without what a copy of a drawer only repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from palace.portable import copied_from
from palace.ports import Candidate
from palace.types.memory import Memory


def without_copies(
    found: Sequence[Candidate], load: Callable[[Sequence[int]], Mapping[int, Memory]]
) -> list[Candidate]:
    """Return candidates without those that a copy of their file repeats.

    The same words in another drawer, or under another heading, may be about something else, and a
    turn of a conversation was said at another time: those are kept.

    Args:
        found: Candidates in any order.
        load: Returns memories by candidate key; asked only where words repeat.
    """
    by_words: dict[tuple[str, ...], list[Candidate]] = {}
    for candidate in found:
        if not candidate.session:
            by_words.setdefault(candidate.body, []).append(candidate)
    repeated = [c for same in by_words.values() if len(same) > 1 for c in same]
    if not repeated:
        return list(found)
    memories = load([c.key for c in repeated])
    # The shortest name is that of the file that was copied.
    repeated.sort(key=lambda c: (len(c.path), c.path, c.position))
    first: dict[Hashable, str] = {}
    copied = set()
    for candidate in repeated:
        memory = memories.get(candidate.key)
        if memory and first.setdefault(_said(memory), memory.path) != memory.path:
            copied.add(candidate.key)
    return [c for c in found if c.key not in copied]


def _said(memory: Memory) -> Hashable:
    """Return what a memory says and where, the same for that of a copied file."""
    return (
        " ".join(memory.text.split()),
        memory.room,
        copied_from(memory.drawer),
        memory.heading,
        memory.scope,
        memory.trust,
        memory.kind,
        memory.valid_from,
        memory.valid_to,
    )
