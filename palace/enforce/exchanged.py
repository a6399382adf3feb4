"""Two things of a sentence in each other's places: "adults 150, juniors 84" of "adults 84 …".

In: a sentence and the memory as words and mentions. Out: the mentions that have changed places.

One thing in a wrong place may only be told in other words. Two that each stand beside the words
that the memory has beside the other are no accident: both have to be crossed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from itertools import combinations
from typing import NamedTuple

from palace.enforce.layout import NUMBER, PERSON, Layout, Mention

_BREAK_CHARS = (30, 60, 120)  # how much farther a clause, a sentence, a line makes it
_NEAR_CHARS = 40.0
_SIDE_BY_SIDE_CHARS = 4.0
_LEAST_CROSSED = 0.05
_MOST_STRAIGHT = 0.5
_NAMES = frozenset(("name", "capitals"))  # their words tell by themselves


class _Place(NamedTuple):
    """Where a word or a mention stands."""

    start: int
    end: int
    place: tuple[int, int, int]


class _Twins(NamedTuple):
    """A mention of the sentence, and the only one of the memory that means the same."""

    said: Mention
    known: Mention


def exchanged(said: Layout, memory: Sequence[tuple[Layout, date | None]]) -> list[str]:
    """Return the mentions of a sentence that stand in each other's places, as written.

    Args:
        said: The sentence.
        memory: The texts of the memory, and when each was said, if that is known.
    """
    found: dict[str, None] = {}
    for known, day in memory:
        # A newer text may tell that the two have changed places since.
        newer = {w.token for one, at in memory if day and at and at > day for w in one.words}
        for one, two in combinations(_twins(said, known), 2):
            sort, other = ((twin.said.kind, twin.said.unit) for twin in (one, two))
            if (
                sort == other
                and _are_apart(said, one.said, two.said)
                and _are_apart(known, one.known, two.known)
                and _is_crossed(list(_landmarks(said, known, one, two, newer)), one, two)
            ):
                found.update(dict.fromkeys((one.said.text, two.said.text)))
    return list(found)


def _twins(said: Layout, known: Layout) -> Iterator[_Twins]:
    for mention in said.mentions:
        own = [m for m in known.mentions if m.is_same(mention) and m.unit == mention.unit]
        alone = len(own) == 1 and sum(map(mention.is_same, said.mentions)) == 1
        if alone and not mention.opening and not _is_readers(mention):
            yield _Twins(mention, own[0])


def _is_readers(mention: Mention) -> bool:
    """Whether it is a number in words, which a reader may have counted or worked out."""
    return mention.kind == NUMBER and not any(map(str.isdigit, mention.text))


def _are_apart(layout: Layout, one: Mention, two: Mention) -> bool:
    """Whether something stands between two mentions: those of "173 of 220" share their words."""
    first, second = sorted((one, two), key=lambda mention: mention.start)
    return any(first.end <= m.start < second.start for m in (*layout.words, *layout.mentions))


def _landmarks(
    said: Layout, known: Layout, one: _Twins, two: _Twins, newer: AbstractSet[str]
) -> Iterator[tuple[list[_Place], list[_Place]]]:
    """Yield where each thing stands that is beside two mentions, in the sentence and the memory."""
    spoken, remembered = _words_of(said, one.said, two.said), _words_of(known, one.known, two.known)
    shared = spoken.keys() & remembered.keys() - newer
    yield from ((spoken[token], remembered[token]) for token in shared)
    rivals = (one.said.kind, one.said.unit)
    for mention in said.mentions:
        if mention.kind in _NAMES or _is_readers(mention):
            continue
        if (mention.kind, mention.unit) != rivals:
            places = [
                [_Place(m.start, m.end, m.place) for m in layout.mentions if m.is_same(mention)]
                for layout in (said, known)
            ]
            if places[1]:
                yield places[0], places[1]


def _words_of(layout: Layout, one: Mention, two: Mention) -> dict[str, list[_Place]]:
    """Return the places of the words outside of two mentions and of all that is no name."""
    exact = [m for m in layout.mentions if m.kind not in _NAMES or m in (one, two)]
    found: dict[str, list[_Place]] = {}
    for word in layout.words:
        if word.token != PERSON and not any(m.start <= word.start < m.end for m in exact):
            end = word.start + len(word.token)
            found.setdefault(word.token, []).append(_Place(word.start, end, word.place))
    return found


def _is_crossed(
    landmarks: Sequence[tuple[list[_Place], list[_Place]]], one: _Twins, two: _Twins
) -> bool:
    """Whether what stands beside each mention of two stands beside the other one in the memory."""
    crossed = {True: 0.0, False: 0.0}  # beside the one, beside the two
    straight = total = 0.0
    for spoken, remembered in landmarks:
        said = _leaning(spoken, one.said, two.said)
        known = _leaning(remembered, one.known, two.known)
        told = said * known
        total += told
        straight = max(straight, told)
        crossed[said > 0] = max(crossed[said > 0], -told)
    least, most = sorted(crossed.values())
    return total < 0 and least > _LEAST_CROSSED and straight < _MOST_STRAIGHT * most


def _leaning(places: Iterable[_Place], one: Mention, two: Mention) -> float:
    """Return in (-1, 1) how much nearer something stands to one mention than to another."""
    to_one, to_two = (min(_gap(mention, place) for place in places) for mention in (one, two))
    ratio = math.log((to_two + _SIDE_BY_SIDE_CHARS) / (to_one + _SIDE_BY_SIDE_CHARS))
    return math.tanh(ratio) * math.exp(-min(to_one, to_two) / _NEAR_CHARS)


def _gap(mention: Mention, place: _Place) -> float:
    apart = max(place.start - mention.end, mention.start - place.end, 0)
    return apart + sum(
        chars * min(2, abs(one - two))
        for chars, one, two in zip(_BREAK_CHARS, place.place, mention.place, strict=True)
    )
