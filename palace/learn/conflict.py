"""Does the palace hold another value for the same thing: found without a model, precision first.

In: a text and memories that resemble it. Out: the memory it contradicts and what differs, or None.
"""

from __future__ import annotations

from collections.abc import Iterable

from palace.learn.dedup import differs
from palace.text import name_tokens, tokens
from palace.types import Memory

# The words that are no values must be nearly the same, or two facts merely resemble each other.
SAME_STATEMENT = 0.75
_LEAST_SHARED = 3


def find_conflict(text: str, resembling: Iterable[Memory]) -> tuple[Memory, str] | None:
    """Return the first memory that states another value in the same words, and the difference.

    Values are numbers, dates, versions and negations; the other words, names among them, must
    agree, so that unrelated facts never retire each other.
    """
    own = tokens(text)
    own_names = set(name_tokens(text))
    for memory in resembling:
        other = tokens(memory.text)
        detail = _difference(own, other)
        if detail and _same_subject(own_names, set(name_tokens(memory.text))):
            return memory, detail
    return None


def _difference(own: list[str], other: list[str]) -> str | None:
    own_words = {t for t in own if not differs(t)}
    other_words = {t for t in other if not differs(t)}
    union = own_words | other_words
    shared = own_words & other_words
    if len(shared) < _LEAST_SHARED or len(shared) / len(union) < SAME_STATEMENT:
        return None
    ours = [t for t in dict.fromkeys(own) if differs(t) and t not in other]
    theirs = [t for t in dict.fromkeys(other) if differs(t) and t not in own]
    if not ours and not theirs:
        return None
    return (
        f"stored: {' '.join(theirs) or 'no such value'}; new: {' '.join(ours) or 'no such value'}"
    )


def _same_subject(own: set[str], other: set[str]) -> bool:
    plain_own = {n for n in own if not differs(n)}
    plain_other = {n for n in other if not differs(n)}
    return plain_own == plain_other
