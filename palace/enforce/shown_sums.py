"""Sums that a sentence shows: "13.2 + 9.6 = 22.8", "187.75 € (24 × 6.99 € + 19.99 €)".

In: a number and the sentence it stands in. Out: what the sums come to that are shown for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import regex

from palace.enforce.quantities import decimals, read_quantities
from palace.enforce.quantity import Quantity

# Between the numbers of a sum, between the result and a sum behind it, and the other way round.
_SIGN = regex.compile(r"(?:\s\p{L}{1,15})?\s?(?P<sign>[+×x*·/÷−–-])\s?")
_SHOWS = regex.compile(r"(?:\s\p{L}{1,15})?\s?(?:=|[(:])\s?")
_SHOWN = regex.compile(r"(?:\s\p{L}{1,15})?\)?\s?=\s?")
_DIVIDES = frozenset("/÷")


def shown_values(said: Quantity, sentence: str) -> Iterator[float]:
    """Yield what the sums come to that a sentence shows for a number, in its smallest unit.

    A quotient counts as rounded to the decimals that the number is said with.
    """
    for start, numbers, signs in _sums(sentence):
        if start == said.start and all(q.values for q in numbers):
            value = _worked_out(
                [
                    q.measures[0] / said.factor if q.unit == said.unit else q.values[0]
                    for q in numbers
                ],
                signs,
            )
            if not _DIVIDES.isdisjoint(signs):
                value = round(value, decimals(said.values[0]))
            yield value * said.factor


def _sums(sentence: str) -> Iterator[tuple[int, Sequence[Quantity], Sequence[str]]]:
    """Yield where the result of each sum stands, its numbers and its signs."""
    listed = read_quantities(sentence)
    gaps = [sentence[one.end : two.start] for one, two in pairwise(listed)]
    signs = [found["sign"] if (found := _SIGN.fullmatch(gap)) else "" for gap in gaps]
    first = 0
    for last, sign in enumerate([*signs, ""]):
        if sign:
            continue
        numbers, between = listed[first : last + 1], signs[first:last]
        if between and first and _SHOWS.fullmatch(gaps[first - 1]):
            yield listed[first - 1].start, numbers, between
        if between and last < len(gaps) and _SHOWN.fullmatch(gaps[last]):
            yield listed[last + 1].start, numbers, between
        first = last + 1


def _worked_out(sizes: Sequence[float], signs: Sequence[str]) -> float:
    """Return what numbers with signs between them come to, products first."""
    total, product = 0.0, sizes[0]
    for sign, size in zip(signs, sizes[1:], strict=True):
        if sign in "×x*·":
            product *= size
        elif sign in _DIVIDES:
            product = product / size if size else math.inf
        else:
            total, product = total + product, size if sign == "+" else -size
    return total + product
