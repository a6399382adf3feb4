"""Names that tell a day: of a daily note, a heading of a diary, a release in a list of changes.

In: the name of a file, or a title. Out: the day that it begins or ends with.
"""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from itertools import chain

import regex

from palace.text.late_patterns import late
from palace.text.months import MONTH_NAMES
from palace.text.weekdays import WEEKDAY_NAMES


def _spelt(word: str) -> str:
    """Return a word in small letters, with one letter i: a Turkish "MAYIS" is a "mayıs"."""
    return word.casefold().replace("\u0307", "").replace("ı", "i")


_MONTHS = {_spelt(name): month for month, names in enumerate(MONTH_NAMES, 1) for name in names}
_WEEKDAYS = (*chain(*WEEKDAY_NAMES), *"mo di mi do fr sa so".split())
_NAMED = dict.fromkeys(name for names in MONTH_NAMES for name in names)
_NAMES = "|".join(sorted(_NAMED, key=len, reverse=True))
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_WRITINGS = (
    rf"{_YEAR}(?P<part>[-_./])(?P<month>\d\d?)(?P=part)(?P<day>\d\d?)",
    rf"{_YEAR}(?P<month>\d\d)(?P<day>\d\d)",
    rf"{_YEAR}年\s?(?P<month>\d\d?)月\s?(?P<day>\d\d?)日|{_YEAR}년\s?(?P<month>\d\d?)월\s?(?P<day>\d\d?)일",
    rf"(?P<day>\d\d?)\.\s?(?P<month>\d\d?)\.\s?{_YEAR}",
    rf"(?P<day>\d\d?)(?:st|nd|rd|th|er|\.)?\s(?:of\s|de\s)?(?P<name>{_NAMES})\.?,?(?:\sde)?\s{_YEAR}",
    rf"(?P<name>{_NAMES})\.?\s(?P<day>\d\d?)(?:st|nd|rd|th)?,?\s{_YEAR}",
)
_DAY = rf"(?<!\d)(?:{'|'.join(_WRITINGS)})(?!\.?\d)"
_WEEKDAY = rf"(?:{'|'.join(_WEEKDAYS)})[.,]?"
# It begins with the day, perhaps behind that of the week, or ends with it behind a sign that parts.
_TOLD = late(
    rf"[\[(*_]*(?:{_WEEKDAY}\s)?{_DAY}(?!(?!T\d)\p{{L}})"
    rf"|.*?[-–—(,|]\s?\[*{_DAY}[\])]*\Z",
    regex.IGNORECASE,
)
_ALONE = late(
    rf"[\[(*_]*(?:{_WEEKDAY}\s)?{_DAY}(?:,?\s\(?{_WEEKDAY}\)?)?[\])*_:]*", regex.IGNORECASE
)
_LETTERS = regex.compile(r"\p{L}+")
_OF_A_DAY = frozenset(
    _LETTERS.findall(
        " ".join((*map(_spelt, _WEEKDAYS), *_MONTHS, "st nd rd th er of de 年 月 日 년 월 일"))
    )
)
_ANY_YEAR = regex.compile(r"(?:19|20)\d\d")
_MOST_CHARS = 200
_MOST_CHARS_ALONE = 40


def is_day(line: str) -> bool:
    """Whether a line is a day and nothing else, as a diary has them: "Monday, 4 May 2026"."""
    if len(line) > _MOST_CHARS_ALONE or not _may_tell_a_year(line):
        return False
    said = map(_spelt, _LETTERS.findall(line))
    return (
        _OF_A_DAY.issuperset(said)
        and _ALONE.fullmatch(line) is not None
        and day_told(line) is not None
    )


def day_of_file(path: str) -> date | None:
    """Return the day that the name of a file tells, or its folders with it: `2026/05/04.md`.

    Args:
        path: With forward slashes.
    """
    *folders, name = path.split("/")
    stem = name[:-3] if name.lower().endswith(".md") else name
    return day_told(stem) or day_told("/".join([*folders[-2:], stem]))


@lru_cache(maxsize=4096)  # the memories of a drawer share its name
def day_told(name: str) -> date | None:
    """Return the day that a file name or a title begins or ends with, if it is one.

    Args:
        name: "2026-05-04", "2026_05_04 Dentist", "[4.1.0] - 2026-03-02", "Monday, 4 May 2026".
    """
    may_be = len(name) <= _MOST_CHARS and _may_tell_a_year(name)
    told = _TOLD.match(name.strip()) if may_be else None
    if told is None:
        return None
    month = _MONTHS[_spelt(told["name"])] if told["name"] else int(told["month"])
    try:
        return date(int(told["year"]), month, int(told["day"]))
    except ValueError:
        return None


def _may_tell_a_year(text: str) -> bool:
    """Whether a text holds a year at all: most names do not, and need no larger pattern."""
    return _ANY_YEAR.search(text) is not None
