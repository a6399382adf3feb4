"""Does the palace hold this already: exact, normalised and near duplicates.

In: a text and memories that resemble it. Out: the memory that says the same, or None.
"""

from __future__ import annotations

from collections.abc import Iterable

from palace.text import tokens
from palace.types import Memory

# High on purpose: a false duplicate loses what a person wanted to keep.
NEAR_DUPLICATE = 0.9
_NEGATIONS = frozenset(
    "not no never none without cannot don t won isn aren doesn didn nicht nie kein pas jamais"
    " sin nunca jamas nao не никогда 不 没 ない".split()
)


def find_duplicate(text: str, resembling: Iterable[Memory]) -> Memory | None:
    """Return the first memory that says the same thing.

    Two texts are the same when their index tokens are, or when at least nine tenths of their
    distinct tokens are shared and neither a number nor a negation differs.
    """
    own = tokens(text)
    for memory in resembling:
        other = tokens(memory.text)
        if own == other or _near(set(own), set(other)):
            return memory
    return None


def _near(own: set[str], other: set[str]) -> bool:
    union = own | other
    if not union or len(own & other) / len(union) < NEAR_DUPLICATE:
        return False
    return not any(differs(token) for token in own ^ other)


def differs(token: str) -> bool:
    """Whether a token that only one of two texts holds makes them say different things."""
    return any(c.isdigit() for c in token) or token.startswith("month") or token in _NEGATIONS
