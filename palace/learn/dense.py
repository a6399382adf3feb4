"""Two statements in writing without blanks that are the same but for a value: 10月3日, 10月5日.

In: a text. Out: what it says around its values, and these; and whether two of them contradict each
other. Only what follows a value closely may follow: of "会议室3在二楼" the number says which room.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import NamedTuple

import regex

from palace.learn.cues import filled
from palace.learn.word_classes import WRITTEN
from palace.text.late_patterns import late

_DENSE = late(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_MARK, _DAY_MARK = "\ue000", "\ue001"
_BLANKS = late(r"\s+")
_ENDS = " 。.!！"


def _named(name: str) -> regex.Pattern[str]:
    return late(filled(WRITTEN["dense"][name], WRITTEN["dense"]))


_DAY, VALUE, NOW = _named("weekday"), _named("value"), _named("now")
_TOLD, _CHANGED, _JOINS = _named("told"), _named("changed"), _named("joins")
_BEHIND, _CLOCK_BEHIND, _BETWEEN = _named("behind"), _named("clock_behind"), _named("between")
_LEAST_LETTERS = 2


class Frame(NamedTuple):
    """What a statement says around its values.

    Attributes:
        around: Its words with a mark in the place of each value.
        values: The values in order, as written.
        told: Whether it tells what happened once.
    """

    around: str
    values: tuple[str, ...]
    told: bool


def frame_of(text: str) -> Frame | None:
    """Return what a statement says around its values; None without such letters."""
    if text.isascii() or not _DENSE.search(text):
        return None
    plain = NOW.sub("", unicodedata.normalize("NFKC", text)).strip(_ENDS)
    values = tuple(match[0].strip() for match in VALUE.finditer(plain))
    marked = VALUE.sub(lambda match: _DAY_MARK if match["day"] else _MARK, plain)
    told = bool(_TOLD.search(plain)) and not _CHANGED.search(plain)
    return Frame(_JOINS.sub("", _BLANKS.sub("", marked)), values, told)


def differ_in_values(stored: Frame, new: Frame) -> bool:
    """Whether two statements say the same but for values."""
    as_many = len(stored.values) == len(new.values)
    return stored.around == new.around and as_many and stored.values != new.values


def both_hold(stored: Frame, new: Frame) -> bool:
    """Whether statements that differ in values may both be true.

    Both tell what happened once, or one value is in digits and the other is not: 3万, 30000.
    """
    pairs = zip(stored.values, new.values, strict=True)
    return (stored.told and new.told) or any(_is_written_otherwise(*pair) for pair in pairs)


def differing(stored: Frame, new: Frame) -> tuple[str, str] | None:
    """Return the values in which two statements contradict each other, None where they do not.

    The values that differ stand together, behind what they are told of and close to the end.
    """
    pairs = list(zip(stored.values, new.values, strict=True))
    others = [n for n, (old, now) in enumerate(pairs) if old != now]
    places = [n for n, sign in enumerate(new.around) if sign in (_MARK, _DAY_MARK)]
    first, last = others[0], others[-1]
    before, behind = new.around[: places[first]], new.around[places[last] + 1 :]
    between = (new.around[a + 1 : b] for a, b in pairwise(places[first : last + 1]))
    is_day = new.around[places[last]] == _DAY_MARK or ":" in pairs[last][1]
    follows = _CLOCK_BEHIND if is_day else _BEHIND
    if (
        sum(sign.isalpha() for sign in before) < _LEAST_LETTERS
        or not follows.match(behind)
        or not all(map(_BETWEEN.fullmatch, between))
    ):
        return None
    return " ".join(pairs[n][0] for n in others), " ".join(pairs[n][1] for n in others)


def with_day(text: str, new: str) -> str:
    """Return a text with its only day of the week changed to the one that was said, or ""."""
    told, held = (list(_DAY.finditer(said)) for said in (new, text))
    if len(told) != 1 or len(held) != 1 or told[0][0] == held[0][0]:
        return ""
    return f"{text[: held[0].start()]}{told[0][0]}{text[held[0].end() :]}"


def _is_written_otherwise(one: str, other: str) -> bool:
    return bool(_DENSE.search(one)) != bool(_DENSE.search(other))
