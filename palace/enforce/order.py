"""Two numbers that are said in an order: "from 410 to 230", "230 (was 410)", 128/83.

In: a sentence and the texts of the memory. Out: what it says the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

import regex

from palace.enforce.quantities import read_quantities
from palace.text import right_before

_FROM = regex.compile(r"\b(?:from|von|de|da|van)\s$", regex.IGNORECASE)
# "from 14 pages to 10", but "from 230 back to 410" undoes what is remembered.
_TO = regex.compile(
    r"(?:\s(?!(?:back|zurück)\b)\p{L}+)?,?\s(?:up |down )?(?:to|auf|à|a|naar)\s", regex.IGNORECASE
)
_ARROW = regex.compile(r"\s?(?:-+>|→|=>)\s?")
_BEFORE = regex.compile(
    r"[^\d.\n]{0,24}(?:[,(;:–—]\s?(?:it\s)?(?:was|were|war|vorher|zuvor|avant|antes|prima)"
    r"|\b(?:from|instead of|rather than|statt|au lieu de|en vez de|invece di))\s",
    regex.IGNORECASE,
)
_OVER = regex.compile(r"\s?/\s?|\s(?:over|zu|sur|sobre|su|op)\s", regex.IGNORECASE)
_LARGEST_OF_DATES = 31


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two numbers in an order: what changed from one to the other, or a ratio of two measures."""

    first: float
    second: float
    is_ratio: bool
    text: str = field(compare=False)


def turned_round(sentence: str, texts: Sequence[str]) -> list[str]:
    """Return the pairs of numbers that the texts have in the other order alone, as written."""
    said = _pairs(sentence)
    known = {pair for text in texts for pair in _pairs(text)} if said else set()
    return [
        pair.text
        for pair in said
        if replace(pair, first=pair.second, second=pair.first) in known and pair not in known
    ]


@lru_cache(maxsize=512)
def _pairs(text: str) -> tuple[_Pair, ...]:
    return tuple(_read_pairs(text))


def _read_pairs(text: str) -> Iterator[_Pair]:
    for one, two in pairwise(read_quantities(text)):
        if not one.values or not two.values or "clock" in (one.unit, two.unit):
            continue
        between, written = text[one.end : two.start], text[one.start : two.end]
        first, second = one.values[0], two.values[0]
        led = right_before(_FROM, text, one.start) and _TO.fullmatch(between)
        if led or _ARROW.fullmatch(between):
            yield _Pair(first, second, is_ratio=False, text=written)
        elif _BEFORE.fullmatch(between):
            yield _Pair(second, first, is_ratio=False, text=written)
        elif _OVER.fullmatch(between) and max(first, second) > _LARGEST_OF_DATES:
            yield _Pair(first, second, is_ratio=True, text=written)
