"""Days that an answer may name: those of the evidence, and those that lie a span from them.

In: sources, and a date or weekday of an answer with its sentence. Out: whether it stands there.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from palace.enforce.dates import (
    FoundDate,
    date_beside,
    part_of_month,
)
from palace.enforce.source import Source
from palace.enforce.spans import date_comes_to, days_on

_NO_LEAP_YEAR = 2001
# Feasts, and the days (month, day) around which their names may be said.
_CHRISTMAS, _EASTER = ((12, 1), (12, 31)), ((3, 15), (5, 2))
_FEASTS = {
    **dict.fromkeys(
        "christmas xmas noel navidad nochebuena natale vigilia natal kerst kerstmis".split(),
        _CHRISTMAS,
    ),
    **dict.fromkeys("easter paques pascua pasqua pascoa pasen".split(), _EASTER),
    "midsummer": ((6, 17), (6, 30)),
}
# Beside the month that begins when something is over: "not before July", of what ends 30 June.
_BEHIND = regex.compile(
    r"\b(?:from|before|after|since|again|back|earliest|soonest|ab|vor|nach|wieder|erst|dès|après"
    r"|avant|desde|antes|después|da|dopo|prima|vanaf|voor|weer)\b",
    regex.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class KnownDates:
    """The dates of several sources together.

    Attributes:
        sources: Texts that an answer may draw on.
        strict: Whether little may be worked out, as after unclear evidence.
    """

    sources: Sequence[Source]
    strict: bool = False

    @cached_property
    def days(self) -> tuple[FoundDate, ...]:
        """Dates said or meant, and the days that lie a span from them."""
        return tuple(day for s in self.sources for day in (*s.dates, *days_on(s)))

    def has_date(self, day: FoundDate, sentence: str = "") -> bool:
        """Whether everything that a date says is said by one date there."""
        said = day.readings()
        part = part_of_month(sentence, day)
        return any(
            reading.fits(known)
            and (part is None or known.day is None or known.day in part[1] or part[0] in s.plain)
            for reading in said
            for s in self.sources
            for known in s.dates
        ) or any(
            date_comes_to(reading, self.sources, sentence, strict=self.strict)
            or ((part is None or 1 in part[1]) and self._begins_behind(reading, sentence))
            for reading in said
        )

    def _begins_behind(self, said: FoundDate, sentence: str) -> bool:
        """Whether a month or its first day lies right behind a day there, and a word says so."""
        if self.strict or not said.month or said.day not in (None, 1):
            return False
        if not _BEHIND.search(sentence):
            return False
        year, month = (said.year, said.month - 1) if said.month > 1 else (None, 12)
        return any(
            day.day == monthrange(day.year or _NO_LEAP_YEAR, month)[1]
            and FoundDate(year, month, None).fits(day)
            for source in self.sources
            for day in source.dates
        )

    def has_feast(self, name: str) -> bool:
        """Whether a feast is one around which a day there lies: Christmas, of 20 December."""
        first, last = _FEASTS.get(name, ((13, 0), (13, 0)))
        return not self.strict and any(
            day.month and day.day and first <= (day.month, day.day) <= last for day in self.days
        )

    def has_weekday(self, weekday: int, sentence: str, end: int) -> bool:
        """Whether a weekday stands there, or is that of a date there or beside it."""
        if any(weekday in s.weekdays for s in self.sources):
            return True
        beside = date_beside(sentence, end)
        return beside is not None and any(
            day.weekday == weekday for day in self.days if beside.fits(day)
        )
