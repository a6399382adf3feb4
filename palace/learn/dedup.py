"""Does the palace hold this already: exact, normalised and near duplicates.

In: a text and memories that resemble it. Out: the memory that says the same, or None.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

import regex

from palace.text import fold, name_tokens, tokens
from palace.types import Match, Memory

# High on purpose: a false duplicate loses what a person wanted to keep.
NEAR_DUPLICATE = 0.9
_NEGATIONS = frozenset(
    "not no never none without cannot don t won isn aren doesn didn nicht nie kein pas jamais"
    " sin nunca jamas nao не никогда 不 没 ない".split()
)
# Signs that no token holds and that still change what is said.
_SIGNS = regex.compile(r"[<>]=?|[≤≥≠±€$£¥%°]|(?<![\p{L}\p{N}])[-\u2212](?=\d)")


def find_duplicate(text: str, resembling: Iterable[Memory]) -> tuple[Memory, Match] | None:
    """Return the first memory that says the same thing, and how closely it does.

    Two texts say the same when their index tokens and signs are equal; or when at least nine tenths
    of their distinct tokens are shared in the same order and neither a number, a name, a sign nor a
    negation differs.
    """
    for memory in resembling:
        if says_the_same(text, memory.text):
            return memory, _closeness(text, memory.text)
    return None


def _closeness(text: str, other: str) -> Match:
    if text == other:
        return "exact"
    return "normalised" if tokens(text) == tokens(other) else "near"


def says_the_same(text: str, other: str) -> bool:
    """Whether two statements are one; symmetric."""
    ours, theirs = tokens(text), tokens(other)
    if not ours or not theirs:
        return fold(" ".join(text.split())) == fold(" ".join(other.split()))
    if _SIGNS.findall(text) != _SIGNS.findall(other):
        return False
    return ours == theirs or (
        _near(ours, theirs) and set(name_tokens(text)) == set(name_tokens(other))
    )


def _near(ours: list[str], theirs: list[str]) -> bool:
    own, other = set(ours), set(theirs)
    if len(own & other) / len(own | other) < NEAR_DUPLICATE:
        return False
    if any(differs(token) for token in own ^ other):
        return False
    first, second = sorted((ours, theirs))  # the ratio depends on who comes first
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= NEAR_DUPLICATE


def differs(token: str) -> bool:
    """Whether a token that only one of two texts holds makes them say different things."""
    return any(c.isdigit() for c in token) or token.startswith("month") or token in _NEGATIONS
