"""How often something is: "every other day", "fortnightly", "alle zwei Wochen".

In: a sentence and the texts of the memory. Out: what it says of another interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import regex

from palace.enforce.dates import find_weekdays
from palace.enforce.quantities import read_quantities
from palace.enforce.quantity import Quantity, of_units
from palace.text import fold, right_before

_EVERY = regex.compile(
    r"\b(?:every|each|jede[nrms]?|elke|om de)\s(?:single\s)?"
    r"(?:(?:(?P<n2>other|second|2nd|zweite[nrms]?|2\.|andere|tweede)"
    r"|(?P<n3>third|3rd|dritte[nrms]?|3\.|derde)|(?P<n4>fourth|4th|vierte[nrms]?|4\.|vierde))"
    r"\s)?(?P<unit>\p{L}+)",
    regex.IGNORECASE,
)
_SO_MANY = regex.compile(
    r"\b(?:every|alle|tous les|toutes les|cada|ogni|elke)\s$", regex.IGNORECASE
)
_IN_ONE_WORD = {
    **dict.fromkeys(("daily", "taglich"), ("day", 1.0)),
    **dict.fromkeys(("weekly", "wochentlich"), ("week", 1.0)),
    **dict.fromkeys(("monthly", "monatlich"), ("month", 1.0)),
    "fortnightly": ("week", 2.0),
}
_WORD = regex.compile(r"\p{L}+")
_SPANS = ("time", "months")


@lru_cache(maxsize=512)
def find_intervals(text: str) -> tuple[Quantity, ...]:
    """Return the intervals of a text as the durations they are."""
    return tuple(every for every in _read_intervals(text) if every.unit in _SPANS)


def other_intervals(sentence: str, texts: Sequence[str]) -> list[str]:
    """Return the intervals for which the texts have another, as written.

    One of the two must be a single day, week or month: texts have many spans of several hours.
    """
    said = find_intervals(sentence)
    known = [q for text in texts for q in find_intervals(text)] if said else []
    lengths = {(q.unit, q.measures[0]) for q in known}
    return [
        q.text
        for q in said
        if (q.unit, q.measures[0]) not in lengths
        and any(
            (other.unit, other.factor) == (q.unit, q.factor) and 1 in (other.values[0], q.values[0])
            for other in known
        )
    ]


def _read_intervals(text: str) -> Iterator[Quantity]:
    for match in _EVERY.finditer(text):
        unit = "week" if find_weekdays(match["unit"]) else fold(match["unit"])
        count = next((n for n in (2, 3, 4) if match[f"n{n}"]), 1)
        yield from of_units(match, unit, float(count))
    for match in _WORD.finditer(text):
        yield from of_units(match, *_IN_ONE_WORD.get(fold(match[0]), ("", 1.0)))
    yield from (q for q in read_quantities(text) if right_before(_SO_MANY, text, q.start))
