"""Does the palace hold another value for the same thing: found without a model, precision first.

In: a text and memories that resemble it. Out: the memory it contradicts and what differs, or None.
"""

from __future__ import annotations

from collections.abc import Iterable

from palace.learn.dedup import differs
from palace.text import name_tokens, words
from palace.types import Memory

# The words that are no values must be nearly the same, or two facts merely resemble each other.
SAME_STATEMENT = 0.75
_LEAST_SHARED = 3


def find_conflicts(text: str, resembling: Iterable[Memory]) -> list[tuple[Memory, str]]:
    """Return the memories that state another value in the same words, and what differs.

    Values are numbers, dates, versions and negations; the other words, names among them, must
    agree, so that unrelated facts never retire each other.
    """
    return [
        (memory, detail)
        for memory in resembling
        if (detail := _difference(text, memory.text)) and _subjects(text) == _subjects(memory.text)
    ]


def _difference(text: str, stored: str) -> str | None:
    ours, theirs = _surfaces(text), _surfaces(stored)
    own = {t for t in ours if not differs(t)}
    other = {t for t in theirs if not differs(t)}
    shared = own & other
    if len(shared) < _LEAST_SHARED or len(shared) / len(own | other) < SAME_STATEMENT:
        return None
    new = [word for token, word in ours.items() if differs(token) and token not in theirs]
    old = [word for token, word in theirs.items() if differs(token) and token not in ours]
    if not (new or old) or max(len(new), len(old)) > 1:
        # Two values that differ are two things more often than one thing that changed.
        return None
    nothing = "no such value"
    return f"stored: {' '.join(old) or nothing}; new: {' '.join(new) or nothing}"


def _surfaces(text: str) -> dict[str, str]:
    """Return token -> the word as a person wrote it."""
    return {word.token: word.surface for word in words(text)}


def _subjects(text: str) -> set[str]:
    return {name for name in name_tokens(text) if not differs(name)}
