"""Questions for the last, the first or the next of several: who asks so, and how they are ordered.

In: a prompt; what was found, and the days it tells of. Out: what answers such a question as well as
anything else, in the order of time that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import NamedTuple, get_args

import regex

from palace.ports import Candidate
from palace.recall.lexicon import Lexicon, first_match
from palace.recall.weighing import Weights
from palace.text import Word
from palace.types.query import Query, TimeOrder

# What holds less of what is asked tells of something else.
_LEAST_SHARE = 0.5

InTime = Callable[[TimeOrder, Sequence[int]], Sequence[int]]
"""From candidate keys to those whose day is known, in an order of time."""


class Ordering(NamedTuple):
    """Which of several a prompt asks for, and the index tokens that only say so."""

    order: TimeOrder | None
    tokens: frozenset[str]


def ordering_of(
    prompt: str, found: Sequence[Word], lexicon: Lexicon, *, timeout_ms: float
) -> Ordering:
    """Return which of several a prompt asks for: of "when did I last call?" the latest.

    Args:
        prompt: What the words stand in.
        found: All its words.
        lexicon: Its language.
        timeout_ms: Bound on each pattern, in milliseconds.
    """
    for pattern in lexicon.requests.get("in_time", ()):
        said = first_match(pattern, prompt, timeout_ms=timeout_ms, flags=regex.IGNORECASE)
        if said is None:
            continue
        for order in get_args(TimeOrder):
            start, end = said.span(order)
            if end > 0:
                return Ordering(order, frozenset(w.token for w in found if start <= w.start < end))
    return Ordering(None, frozenset())


def told_alike(query: Query, candidates: Sequence[Candidate], weights: Weights) -> list[int]:
    """Return the keys of the statements that hold most of what is asked, all alike.

    What only says which of several is meant is not looked for: "car serviced on 2 May" tells the
    last service as well as "last car service: 2 May". Turns of a conversation are none: many name a
    thing, few tell that it happened.
    """
    left = {*query.ordering, *query.soft}
    asked = {term: weight for term, weight in weights.idf.items() if term not in left}
    held = {
        c.key: sum([w for term, w in asked.items() if term in c.body or term in c.context])
        for c in candidates
        if not c.session
    }
    most = max(held.values(), default=0.0)
    if most <= _LEAST_SHARE * sum(asked.values()):
        return []
    return [key for key, of_asked in held.items() if of_asked == most]


def in_order(order: TimeOrder, told: Mapping[int, Sequence[date]], *, today: date) -> list[int]:
    """Return keys in an order of time, without those of which no day is known.

    What is yet to come stands behind all that was where the last is asked for, and what is over
    behind all that is to come where the next is; if there is nothing else, no day tells it.

    Args:
        order: Which is to stand first.
        told: Key -> the days a memory tells of, the one it speaks of first.
        today: The day of the question.
    """

    def place(days: Sequence[date]) -> tuple[bool, int]:
        if order == "earliest":
            return False, days[0].toordinal()
        if order == "next":
            day = next((day for day in days if day >= today), days[0])
            return day < today, abs((day - today).days)
        day = next((day for day in days if day <= today), days[0])
        return day > today, abs((today - day).days)

    places = {key: place(days) for key, days in told.items() if days}
    ordered = sorted(places, key=places.__getitem__)
    is_told = bool(ordered) and not places[ordered[0]][0]
    return ordered if is_told else []
