"""Two values of a sentence that have changed places: "adults 150, juniors 84" of "adults 84 …".

In: a sentence and the memory as words and mentions. Out: the mentions that have changed places.

A single value beside other words than in the memory may be a paraphrase. Two values that each stand
beside the words which the memory has beside the other are no accident, so both must be crossed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from itertools import combinations, product, starmap
from typing import NamedTuple

from palace.enforce.mentions import GIVEN, MOST_MENTIONS, NUMBER, PERSON, Layout, Mention, Placed
from palace.enforce.specifics import places_in

_BREAK_CHARS = (30, 60, 120)  # how much farther a clause, a sentence, a line makes it
_NEAR_CHARS = 40.0
_SIDE_BY_SIDE_CHARS = 4.0
_LEAST_CROSSED = 0.05
_MOST_TWINS = 16
_MOST_TIMES = 4
_MOST_STRAIGHT = 0.5
_NAMES = frozenset(("name", "capitals", GIVEN))  # their words tell by themselves
_MOVING = frozenset((PERSON, *"dr mr mrs ms prof herr frau".split()))  # a title goes with its name


_Place = Mention | Placed
_Words = dict[str, list[Placed]]


class _Twins(NamedTuple):
    """A mention of the sentence, and those of the memory that mean the same."""

    said: Mention
    known: Sequence[Mention]


def exchanged(
    said: Layout, memory: Sequence[tuple[Layout, date | None]], whole: Layout | None = None
) -> list[str]:
    """Return the mentions of a sentence that stand in each other's places, as written.

    Args:
        said: The sentence.
        memory: The texts of the memory, and when each was said, if that is known.
        whole: All texts as one, for two things that no text has both of.
    """
    crossed: dict[tuple[str, str], bool] = {}
    for known, day in (*memory, *([(whole, None)] if whole else ())):
        twins = list(_twins(said, known))[:_MOST_TWINS]
        pairs = [
            (one, two)
            for one, two in combinations(twins, 2)
            if _sort(one.said) == _sort(two.said)
            and _are_apart(said, [one.said], [two.said])
            and _are_apart(known, one.known, two.known)
            and not (known is whole and (one.said.text, two.said.text) in crossed)
        ]
        # A newer text may tell that the two have changed places since.
        newer = {w.token for one, at in memory if day and at and at > day for w in one.words}
        exact = list(_exact(said, known)) if pairs else []
        words = _words_of(said), _words_of(known) if pairs else {}
        for one, two in pairs:
            landmarks: list[Sequence[Sequence[_Place]]] = [
                *_worded(*words, one, two, newer),
                *(places for sort, *places in exact if sort != _sort(one.said)),
            ]
            both = one.said.text, two.said.text
            crossed[both] = crossed.get(both, True) and _is_crossed(landmarks, one, two)
    return list(dict.fromkeys(text for both in crossed if crossed[both] for text in both))


def _sort(mention: Mention) -> tuple[str, str]:
    """Return what a mention can be exchanged for."""
    return mention.kind, mention.unit


def _twins(said: Layout, known: Layout) -> Iterator[_Twins]:
    for mention in said.mentions[:MOST_MENTIONS]:
        own = [m for m in known.mentions if m.is_same(mention) and m.unit == mention.unit]
        alone = sum(map(mention.is_same, said.mentions)) == 1
        rare = 0 < len(own) <= _MOST_TIMES
        if rare and alone and not mention.opening and not _is_readers(mention):
            yield _Twins(mention, own)


def _is_readers(mention: Mention) -> bool:
    """Whether it is a number in words: a reader may have counted or worked it out."""
    return mention.kind == NUMBER and not any(map(str.isdigit, mention.text))


def _are_apart(layout: Layout, one: Iterable[Mention], two: Sequence[Mention]) -> bool:
    """Whether something stands between two mentions: those of "173 of 220" share their words."""
    starts = [*(w.start for w in layout.words), *(m.start for m in layout.mentions)]
    ordered = (sorted(pair, key=lambda mention: mention.start) for pair in product(one, two))
    return any(first.end <= start < second.start for first, second in ordered for start in starts)


def _exact(
    said: Layout, known: Layout
) -> Iterator[tuple[tuple[str, str], list[Mention], list[Mention]]]:
    """Yield the sort of what is no name, and where it stands in the sentence and the memory."""
    for mention in said.mentions[:MOST_MENTIONS]:
        if mention.kind not in _NAMES and not _is_readers(mention):
            spoken, remembered = (
                [m for m in layout.mentions if m.is_same(mention)] for layout in (said, known)
            )
            if remembered:
                yield _sort(mention), spoken, remembered


def _worded(
    spoken: _Words, remembered: _Words, one: _Twins, two: _Twins, newer: AbstractSet[str]
) -> Iterator[tuple[list[Placed], list[Placed]]]:
    """Yield where each word stands that is said and remembered beside two mentions."""
    for token in spoken.keys() & remembered.keys() - newer:
        said = _outside(spoken[token], (one.said, two.said))
        known = _outside(remembered[token], (*one.known, *two.known))
        if said and known:
            yield said, known


def _outside(places: Sequence[Placed], mentions: Sequence[Mention]) -> list[Placed]:
    return [p for p in places if not any(m.start <= p.start < m.end for m in mentions)]


def _words_of(layout: Layout) -> _Words:
    """Return the places of the words outside of all that is no name."""
    exact = places_in((m.start, m.end) for m in layout.mentions if m.kind not in _NAMES)
    found: _Words = {}
    for word in layout.words:
        if word.token not in _MOVING and word.start not in exact:
            found.setdefault(word.token, []).append(word)
    return found


def _is_crossed(landmarks: Iterable[Sequence[Sequence[_Place]]], one: _Twins, two: _Twins) -> bool:
    """Whether what stands beside each mention of two stands beside the other one in the memory."""
    crossed = {True: 0.0, False: 0.0}  # beside the one, beside the two
    straight = total = 0.0
    for spoken, remembered in landmarks:
        said = _leaning(spoken, [one.said], [two.said])
        known = _leaning(remembered, one.known, two.known)
        told = said * known
        total += told
        straight = max(straight, told)
        crossed[said > 0] = max(crossed[said > 0], -told)
    least, most = sorted(crossed.values())
    return total < 0 and least > _LEAST_CROSSED and straight < _MOST_STRAIGHT * most


def _leaning(places: Sequence[_Place], one: Sequence[Mention], two: Sequence[Mention]) -> float:
    """Return in (-1, 1) how much nearer something stands to one thing than to another."""
    to_one, to_two = (min(starmap(_gap, product(thing, places))) for thing in (one, two))
    ratio = math.log((to_two + _SIDE_BY_SIDE_CHARS) / (to_one + _SIDE_BY_SIDE_CHARS))
    return math.tanh(ratio) * math.exp(-min(to_one, to_two) / _NEAR_CHARS)


def _gap(mention: Mention, place: _Place) -> float:
    apart = max(place.start - mention.end, mention.start - place.end, 0)
    return apart + sum(
        chars * min(2, abs(one - two))
        for chars, one, two in zip(_BREAK_CHARS, place.place, mention.place, strict=True)
    )
