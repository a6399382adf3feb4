"""Days in a prompt and how else a memory may write them: "2 March" as 2026-03-02 and 2.3.

In: the words of a prompt. Out: the index tokens of the other writings of each day that is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from palace.text import Word, right_before
from palace.text.late_patterns import late
from palace.text.months import exists

# A day without a year is looked for in so many years before this one, and in the next.
_YEARS_BEFORE = 10
_DAY = late(r"(\d{1,2})(?:st|nd|rd|th|er|o)?")  # "1º" is 1o
_YEAR = late(r"(?:19|20)\d\d")
_MONTH = r"(?P<month>0?[1-9]|1[0-2])"
# "14.10." and "14.10.2026" in any language; "10/14" and "14/10" where one of them is no month,
# with a year perhaps; "2026/10/14" where the year comes first.
_POINTED = late(
    r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?:(?P<year>(?:19|20)\d\d)(?!\.?\d)|(?!\d))"
)
_SLASHED = late(
    rf"(?:{_MONTH}/(?P<day>1[3-9]|2\d|3[01])|(?P<day>1[3-9]|2\d|3[01])/{_MONTH})"
    r"(?:/(?P<year>(?:19|20)\d\d))?"
    rf"|(?P<year>(?:19|20)\d\d)/{_MONTH}/(?P<day>0?[1-9]|[12]\d|3[01])"
)
# Before the number of a day that a letter for it follows: "2026年10月14日", "10월 14일".
_MONTH_LETTER = late(r"(?:(?P<year>(?:19|20)\d\d)[年년] ?)?(?<!\d)(?P<month>\d{1,2})[月월] ?$")
_DAY_LETTERS = frozenset("日号號일")
_LINKS = frozenset({"of", "de"})


class NamedDay(NamedTuple):
    """A day of a prompt: the word that tells its number, and the day as far as it is told."""

    word: Word
    month: int
    day: int
    year: int | None = None

    def writings(self, *, this_year: int) -> list[str]:
        """Return the index tokens of its other writings, whole dates first."""
        years = range(this_year - _YEARS_BEFORE, this_year + 2)
        dates = [
            f"{year}-{self.month:02}-{self.day:02}"
            for year in ([self.year] if self.year else reversed(years))
        ]
        short = [f"{self.day}.{self.month}", f"{self.day:02}.{self.month:02}"]
        return [token for token in dict.fromkeys((*dates, *short)) if token != self.word.token]


def ordinal_day(token: str) -> str:
    """Return the number of a day that is written as "24th", or ""."""
    day = _DAY.fullmatch(token)
    return day[1] if day else ""


def named_days(text: str, found: Sequence[Word]) -> Iterator[NamedDay]:
    """Yield the days that the words of a text name by number and month."""
    for place, word in enumerate(found):
        if not word.surface[0].isdigit():
            continue
        short = _SLASHED.fullmatch(word.surface)
        if word.shape == "number":  # the last point is no part of the word
            short = short or _POINTED.match(text, word.start)
        if short is not None:
            told = int(short["year"]) if short["year"] else None
            named = NamedDay(word, int(short["month"]), int(short["day"]), told)
        elif lettered := _with_letters(text, word):
            named = lettered
        elif (day := _DAY.fullmatch(word.token)) and (beside := _month_beside(found, place)):
            month, last = beside
            year = found[last + 1].token if last + 1 < len(found) else ""
            told = int(year) if _YEAR.fullmatch(year) else None
            named = NamedDay(word, month, int(day[1]), told)
        else:
            continue
        if exists(named.year, named.month, named.day):
            yield named


def _with_letters(text: str, word: Word) -> NamedDay | None:
    """Return the day that "2026年10月14日" names at its 14, or None."""
    if word.shape != "number" or text[word.end : word.end + 1] not in _DAY_LETTERS:
        return None
    before = right_before(_MONTH_LETTER, text, word.start)
    if before is None or not word.surface.isdecimal():
        return None
    year = int(before["year"]) if before["year"] else None
    return NamedDay(word, int(before["month"]), int(word.surface), year)


def _month_beside(found: Sequence[Word], place: int) -> tuple[int, int] | None:
    """Return the month beside a day and the place of the later of both: "2 (of) March"."""
    behind = place + 1
    if behind < len(found) and found[behind].token in _LINKS:
        behind += 1
    for month, last in ((behind, behind), (place - 1, place)):
        if 0 <= month < len(found) and found[month].token.startswith("month"):
            number = found[month].token[5:]
            if number.isdecimal():
                return int(number), last
    return None
