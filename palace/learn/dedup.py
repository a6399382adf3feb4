"""Does the palace hold this already: exact, normalised and near duplicates.

In: a text and memories that resemble it. Out: the memory that says the same and how closely it
does, or None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from itertools import pairwise
from operator import eq

import regex

from palace.text import fold, name_tokens, tokens
from palace.types.changes import Match
from palace.types.memory import Memory

# High on purpose: a false duplicate loses what a person wanted to keep.
NEAR_DUPLICATE = 0.9
# Two neighbouring tokens are a shingle; one word that differs costs two shingles.
SAME_SHINGLES = 0.8
_NEGATIONS = frozenset(
    "not no never none without cannot don t won isn aren doesn didn nicht nie kein pas jamais"
    " sin nunca jamas nao не никогда 不 没 ない".split()
)
# Signs that no token holds and that still change what is said.
_SIGNS = regex.compile(r"[<>]=?|[≤≥≠±€$£¥%°]|(?<![\p{L}\p{N}])[-\u2212](?=\d)")

_WORD = regex.compile(r"[\p{L}\p{N}]+")


def find_duplicate(text: str, resembling: Iterable[Memory]) -> tuple[Memory, Match] | None:
    """Return the first memory that says the same thing, the closest kind of match first.

    `exact`: the same characters. `normalised`: the same index tokens and signs. `near`: nine tenths
    of the distinct tokens and four fifths of the shingles are shared, and neither a number, a name,
    a sign nor a negation differs; or the two statements, taken apart, hold the same terms ("on
    Thursdays …", "… on Thursdays"; "3 kids", "three kids").
    """
    found = list(resembling)
    for match, says in _MATCHERS.items():
        for memory in found:
            if says(text, memory.text):
                return memory, match
    return None


def says_the_same(text: str, other: str) -> bool:
    """Whether two statements are one; symmetric."""
    return any(matcher(text, other) for matcher in _MATCHERS.values())


def _is_normalised(text: str, other: str) -> bool:
    ours, theirs = _outline(text), _outline(other)
    if not ours.tokens or not theirs.tokens:
        return fold(" ".join(text.split())) == fold(" ".join(other.split()))
    return ours.tokens == theirs.tokens and ours.signs == theirs.signs


def _is_near(text: str, other: str) -> bool:
    one, two = sorted((text, other))  # what is symmetric in meaning must be so in fact
    return (_read_the_same(one, two) or _shares_most(one, two)) and not _exchanges_roles(one, two)


def _read_the_same(one: str, two: str) -> bool:
    # The rules have word lists, which nobody needs who only asks.
    from palace.learn.comparing import compare, may_be_same
    from palace.learn.statement import read_statement

    ours, theirs = read_statement(one), read_statement(two)
    return may_be_same(ours, theirs) and compare(ours, theirs).relation == "same"


def _shares_most(one: str, two: str) -> bool:
    ours, theirs = _outline(one), _outline(two)
    shared = len(ours.distinct & theirs.distinct)
    if shared < NEAR_DUPLICATE * (len(ours.distinct) + len(theirs.distinct) - shared):
        return False
    if not ours.tokens or not theirs.tokens or ours.signs != theirs.signs:
        return False
    if any(map(differs, ours.distinct ^ theirs.distinct)) or ours.values != theirs.values:
        return False
    common = 2 * (ours.shingles & theirs.shingles).total()
    total = ours.shingles.total() + theirs.shingles.total()
    # "Mira pays Jonas" is not "Jonas pays Mira": names stand in the same order.
    return common >= SAME_SHINGLES * total and list(name_tokens(one)) == list(name_tokens(two))


def _exchanges_roles(one: str, two: str) -> bool:
    """Whether one relates the same things the other way round ("A is above B", "B is above A")."""
    said, related = set(_WORD.findall(fold(one))), _related(two)
    return any(
        relation in related and things.isdisjoint(related[relation]) and related[relation] & said
        for relation, things in _related(one).items()
    )


def _related(text: str) -> dict[str, set[str]]:
    """Return each preposition with the words that follow it, articles left out."""
    from palace.learn.statement import BEFORE_THINGS
    from palace.learn.word_classes import PREPOSITIONS

    words = [word for word in _WORD.findall(fold(text)) if word not in BEFORE_THINGS]
    related: dict[str, set[str]] = {}
    for relation, thing in pairwise(words):
        if relation in PREPOSITIONS:
            related.setdefault(relation, set()).add(thing)
    return related


class _Outline:
    """What two texts are compared by, each part worked out once, when it is first needed."""

    def __init__(self, text: str) -> None:
        self.tokens = tuple(tokens(text))
        self.distinct = frozenset(self.tokens)
        self._text = text

    @cached_property
    def signs(self) -> list[str]:
        return _SIGNS.findall(self._text)

    @cached_property
    def values(self) -> list[str]:
        return [t for t in self.tokens if differs(t)]

    @cached_property
    def shingles(self) -> Counter[tuple[str, str]]:
        return Counter(pairwise(self.tokens))


@lru_cache(maxsize=256)
def _outline(text: str) -> _Outline:
    return _Outline(text)


_MATCHERS: dict[Match, Callable[[str, str], bool]] = {
    "exact": eq,
    "normalised": _is_normalised,
    "near": _is_near,
}


def differs(token: str) -> bool:
    """Whether a token that only one of two texts holds makes them say different things."""
    return any(c.isdigit() for c in token) or token.startswith("month") or token in _NEGATIONS
