"""Dates in any common writing, whole or in part, and the days they stand for.

In: text. Out: dates with the place where they stand, comparable whatever the writing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import lru_cache

import regex

from palace.enforce.han import DAY, MONTH, YEAR, han_value
from palace.text import fold, month_number, right_before
from palace.text.months import exists
from palace.text.weekdays import WEEKDAY_NAMES

_WEEKDAYS = {fold(name): day for day, names in enumerate(WEEKDAY_NAMES) for name in names}
_MONTH = r"(?P<month>\p{L}{3,10})\.?"
ORDINAL_WORDS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first"
    " twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh"
    " twenty-eighth twenty-ninth thirtieth thirty-first"
).split()
_SPELLED = "|".join(sorted(ORDINAL_WORDS, key=len, reverse=True))
_DAY = rf"(?P<day>\d{{1,2}}|{_SPELLED})(?:st|nd|rd|th|er|º|\.)?"
# What may stand before the last day of a range: "sam 12 au sam 19 juillet".
_ITS_WEEKDAY = (
    rf"(?:(?:{'|'.join(word for word in _WEEKDAYS if word.isascii())}|thur?|mo|d[io]|mi|fr|s[ao]"
    r"|lun|mar|mer|jeu|ven|sam|dim|mié|jue|vie|s[aá]b|dom|gio|seg|ter|qua|qui|sex|ma|wo|vr|z[ao])"
    r"\.?,?\s(?:the\s|le\s|el\s|il\s|den\s|dem\s|de\s)?)"
)
_YEAR = r"(?P<year>\d{4})(?!-\d|\s?h\b)"  # no hours: "Nov 13, 1900-0730"
_RANGE = r"\s*(?:[-–—/+&]|to|and|until|till|through|bis zum|bis|und|al?|au|et|y)\s*"
# Behind a number it says that this is no day: "June 15 cm", "Oct 2-3 kg".
_MEASURE = (
    r"(?:[%€°]|(?:[cmk]?m|k?g|m?l|pp|h|hrs?|min|[ap]m|hours|days|weeks|months|years|pages|people"
    r"|miles|euros?|kilos?|litres?)\b)"
)
_GERMAN_BEFORE = r"\b(?:am|vom|bis|zum|ab|seit|dem|den|Mo|Di|Mi|Do|Fr|Sa|So|\p{L}+tag)\.?,?\s{1,2}"
_DAY_BEHIND = frozenset(
    "january february march april may june july august september october november december"
    " jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_IN_HAN = regex.compile(rf"{DAY}|{YEAR}")
_YEARS = range(1700, 2200)
_SHORT = r"(?P<short>\p{Lu}\p{Ll}{2})"
_PATTERNS = tuple(
    regex.compile(pattern, regex.IGNORECASE)
    for pattern in (
        r"(?<![\d.,/-])(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d|[-/.]\d)",
        r"(?<![\d.,/])(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])"
        r"(?![\d/-]|[.,]\d)",
        rf"(?:(?P<year>\d{{4}}|{YEAR})\s*[年년]\s*)?(?P<month>\d{{1,2}}|{MONTH})\s*[月월]\s*の?"
        rf"(?:(?P<day>\d{{1,2}}|{DAY})\s*[日일号號]"
        rf"(?:\s*(?:[-–~～〜至到]|から|부터)\s*(?P<other>\d{{1,2}}|{DAY})\s*[日일号號])?)?",
        r"(?<![\d.,/-])(?P<day>\d{1,2})[./-](?P<month>\d{1,2})[./-](?P<year>\d{4})(?!\d|[-/.]\d)",
        rf"\b(?<!\d[.,:])(?:(?P<more>(?:\d{{1,2}}(?:\.|st|nd|rd|th)?,\s){{1,12}}"
        rf"(?=\d{{1,2}}\S{{0,2}},?\s(?:[&+]|and|und|et|y|e|en)\s))?"
        rf"(?P<other>\d{{1,2}})(?:\.|st|nd|rd|th|er|e)?,?{_RANGE}{_ITS_WEEKDAY}?)?{_DAY}\s+(?:day\s+)?(?:of\s+|de\s+)?{_MONTH}"
        rf"(?:,?\s+(?:de\s+|del\s+)?{_YEAR})?(?!\w)",
        rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?:{_RANGE}(?P<other>\d{{1,2}})(?:st|nd|rd|th)?"
        rf"(?![\d%]|:\d|\s?{_MEASURE}))?(?:,?\s+{_YEAR})?"
        rf"(?!\w|:\d|[.,]\d|\s?{_MEASURE})",
        rf"\b{_MONTH},?\s+(?:of\s+|de\s+)?{_YEAR}(?!\w)",
        r"(?<![\d-])(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])(?![\d-])",
        # "12.2." is a date where a word says so; else it is a number at the end of a sentence
        rf"(?<={_GERMAN_BEFORE})(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?!\d)",
        r"(?<![\d.,/-])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?=,|\s+(?:ab|um|bis|von|im|bei)\s)",
        r"(?<![\d/.-])(?P<month>0?[1-9]|1[0-2])/(?P<year>\d{4})(?![\d/-])",
        r"(?<=\b(?:mid|early|late|of|in|from|by|till|since|until|through|Ende|Anfang|Mitte)[ -])"
        rf"{_SHORT}\b",
        rf"\b{_MONTH}(?!\w)",
    )
)
# In small letters alone these may be other words: "mar", "may", "march".
_OTHER_WORD = regex.compile(r"[a-z]{1,4}|march|august|marco")
_AMBIGUOUS_WEEKDAYS = frozenset({"sat", "sun", "wed", "mon"})
# "mon-sat", in small letters
_JOINED_WEEKDAYS = regex.compile(
    r"\b(?:(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\s?[-–/+&]\s?)+"
    r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b",
    regex.IGNORECASE,
)
# "nelle tue note"
_ITALIAN_YOURS = regex.compile(r"\b(?:le|alle|delle|dalle|nelle|sulle) $", regex.IGNORECASE)
_CUT_WEEKDAY = regex.compile(
    r"\b(?P<n0>Mo|lun)|\b(?P<n1>Di)|\b(?P<n2>Mi|mer|mié|wo)|\b(?P<n3>Do|jeu|gio|jue)|\b(?P<n4>Fr|ven|vie|vr)"
    r"|\b(?P<n5>Sa|sam|sab|sáb|za)|\b(?P<n6>So|dim|dom|zo)"
)
_AFTER_CUT = regex.compile(
    r"\b\.?(?=\s*(?:[+&/,–-]|und|oder|bis|u\.)?\s*(?:\d|ab\s\d|um\s\d|(?:Mo|Di|Mi|Do|Fr|Sa|So)\b))"
)
_POINTED_WEEKDAY = regex.compile(
    r"\b(?:(?P<n0>lun|seg)|(?P<n1>mar|ter)|(?P<n2>mer|mié|mie|qua)|(?P<n3>jeu|jue|gio|qui)"
    r"|(?P<n4>ven|vie|sex)|(?P<n5>sam|sab|sáb)|(?P<n6>dim|dom))(?=\.)",
    regex.IGNORECASE,
)
# "ma/wo/vr", "ma-vr", "za t/m zo": alone "ma" and "do" are other words.
_DUTCH = "ma di wo do vr za zo"
_DUTCH_DAY = regex.compile(rf"\b(?:{_DUTCH.replace(' ', '|')})\b", regex.IGNORECASE)
_DUTCH_DAYS = regex.compile(
    rf"{_DUTCH_DAY.pattern}(?:(?:\s?[-–/+]\s?|\st/m\s){_DUTCH_DAY.pattern})+", regex.IGNORECASE
)
# "lun 11 + mar 12": a Tuesday beside another day cut so, else a month.
_TUESDAY = regex.compile(r"\bmar(?=\.?\s\d{1,2}\b)")
_CUT_BESIDE = regex.compile(r"\b(?:lun|mer|mié|jeu|gio|jue|ven|vie|sam|s[aá]b|dim|dom)\.?\s\d")
_DENSE_WEEKDAY = regex.compile(
    r"[月火水木金土日]曜|星期[一二三四五六日天]|周[一二三四五六日]|[월화수목금토일]요일"
)
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*(?:-feira)?")
_HALF_A_YEAR = 6  # months
_BESIDE_CHARS = 12
_NUMBER_BEHIND = regex.compile(
    r"[.,]?\s+(?:the\s+|den\s+|dem\s+|le\s+|el\s+|il\s+|de\s+)?"
    r"(?P<day>\d{1,2})(?:st|nd|rd|th|er?|\.)?(?![\w:]|[.,]\d)"
)
_PART = regex.compile(
    r"\b(?P<part>(?P<early>early|beginning of|start of|anfang|début)"
    r"|(?P<mid>mid|middle of|mitte|mi)|late|end of|ende|fin)[\s-](?:de\s)?$",
    regex.IGNORECASE,
)
_HOLIDAYS = {
    "new year's eve": (12, 31), "silvester": (12, 31), "christmas eve": (12, 24),
    "heiligabend": (12, 24), "christmas day": (12, 25), "boxing day": (12, 26),
    "new year's day": (1, 1), "neujahr": (1, 1), "valentine's day": (2, 14),
    "halloween": (10, 31),
}  # fmt: skip
_HOLIDAY = regex.compile(
    rf"\b(?:{'|'.join(_HOLIDAYS).replace(chr(39), '[’' + chr(39) + ']')})\b", regex.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date as far as it is said.

    Attributes:
        year: Year, if said; likewise `month` and `day`.
        start: Place of its first character.
        end: Place after its last character.
        swapped: Whether day and month could as well be meant the other way round.
    """

    year: int | None
    month: int | None
    day: int | None
    start: int = 0
    end: int = 0
    swapped: bool = False

    def fits(self, other: FoundDate) -> bool:
        """Whether everything that this date says is said by `other` too."""
        mine, theirs = (self.year, self.month, self.day), (other.year, other.month, other.day)
        return all(own in (None, said) for own, said in zip(mine, theirs, strict=True))

    def readings(self) -> tuple[FoundDate, ...]:
        """Return the date in both orders of day and month, where the writing leaves it open."""
        if not self.swapped:
            return (self,)
        return (self, replace(self, month=self.day, day=self.month, swapped=False))

    @property
    def ordinal(self) -> int | None:
        """Days since the year 1, of a date with day and month; without a year, of a leap year."""
        if self.month is None or self.day is None:
            return None
        return date(self.year or 2000, self.month, self.day).toordinal()

    @property
    def weekday(self) -> int | None:
        """Monday = 0, where the date is whole."""
        if self.year is None or self.month is None or self.day is None:
            return None
        return date(self.year, self.month, self.day).weekday()


@lru_cache(maxsize=512)
def find_dates(text: str) -> tuple[FoundDate, ...]:
    """Return the dates of a text that do not overlap, most complete writing first."""
    found: list[FoundDate] = []
    taken = bytearray(len(text))
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            dates = list(_read(match))
            if dates:
                found.extend(dates)
                taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    for match in _HOLIDAY.finditer(text):
        month, day = _HOLIDAYS[match[0].casefold().replace("’", "'")]
        found.append(FoundDate(None, month, day, *match.span()))
    return tuple(found)


def as_found(day: date) -> FoundDate:
    """Return a day that is worked out."""
    return FoundDate(day.year, day.month, day.day)


def _read(match: regex.Match[str]) -> Iterator[FoundDate]:
    parts = match.groupdict()
    alone = not (parts.get("day") or parts.get("year") or parts.get("short"))
    month = _month(parts.get("month") or parts["short"], alone=alone)
    year = _number(parts.get("year"))
    end = match.end()
    if year is not None and year not in _YEARS:  # "Oct 2650 l": some other number
        if _number(parts.get("month")):
            return
        year, end = None, match.start("year")
    day = _day(parts["day"]) if parts.get("day") else None
    if month is None:
        return
    numeric = _number(parts.get("month")) is not None
    if _is_count_after(match, numeric=numeric):
        return
    if month > 12 and day is not None:
        month, day = day, month
    if not exists(year, month, day):
        return
    swapped = (
        numeric
        and day is not None
        and day <= 12
        and match.start("day") < match.start("month")
        and match[0][match.end("day") - match.start()] != "."
    )
    others, start = _other_days(match)
    yield FoundDate(year, month, day, start, end, swapped)
    for other in others:
        if exists(year, month, other):
            yield FoundDate(year, month, other, start, end)


def _other_days(match: regex.Match[str]) -> tuple[list[int], int]:
    """Return the days that share the month of another, and where the first of them stands.

    Those of "11, 16 and 21 May" do, the number of "Station Road 14, 3 and 5 August" does not.
    """
    said = match.groupdict()
    if not said.get("other"):
        return [], match.start()
    texts = (*regex.findall(r"\d+", said.get("more") or ""), said["other"])
    days = [*map(_day, texts)]
    return (days, match.start()) if days == sorted(days) else (days[-1:], match.start("other"))


def _is_count_after(match: regex.Match[str], *, numeric: bool) -> bool:
    """Whether "Juli 14" is a month and some other number: only English puts the day behind it."""
    said = match.groupdict()
    if numeric or not said.get("day") or said.get("year"):
        return False
    if _TUESDAY.match(match.string, match.start()) and _CUT_BESIDE.search(match.string):
        return True
    return match.start("month") < match.start("day") and fold(said["month"]) not in _DAY_BEHIND


def _month(text: str, *, alone: bool) -> int | None:
    number = _number(text)
    if number is not None:
        return number
    return None if alone and _OTHER_WORD.fullmatch(text) else month_number(text)


def _day(text: str) -> int:
    number = _number(text)
    return ORDINAL_WORDS.index(text.casefold()) + 1 if number is None else number


def _number(text: str | None) -> int | None:
    """Return a number in digits or in Chinese letters, if it is one."""
    if text and (text.isdigit() or _IN_HAN.fullmatch(text)):
        return int(han_value(text))
    return None


@lru_cache(maxsize=512)
def find_weekdays(text: str) -> tuple[tuple[int, int, int], ...]:
    """Return the weekdays of a text as (Monday = 0, start, end)."""
    found: dict[int, tuple[int, int, int]] = {}
    for number, (start, end) in _read_weekdays(text):
        found.setdefault(start, (number, start, end))
    return tuple(found.values())


def _is_plain(match: regex.Match[str]) -> bool:
    """Whether "sat" is a weekday: with a capital, or joined to another."""
    return match[0][0].isupper() or any(
        joined.start() <= match.start() < joined.end()
        for joined in _JOINED_WEEKDAYS.finditer(match.string)
    )


def _read_weekdays(text: str) -> Iterator[tuple[int, tuple[int, int]]]:
    for match in _WORD.finditer(text):
        folded = fold(match[0])
        number = _WEEKDAYS.get(folded, _WEEKDAYS.get(folded.removesuffix("s")))
        if number is None or (folded in _AMBIGUOUS_WEEKDAYS and not _is_plain(match)):
            continue
        if match[0] == "tue" and right_before(_ITALIAN_YOURS, text, match.start()):
            continue
        yield number, match.span()
    for match in _CUT_WEEKDAY.finditer(text):
        if _AFTER_CUT.match(text, match.end()):
            yield _weekday_cut(match), match.span()
    for row in _DUTCH_DAYS.finditer(text):
        for match in _DUTCH_DAY.finditer(text, *row.span()):
            yield _DUTCH.split().index(match[0].casefold()), match.span()
    if _CUT_BESIDE.search(text):
        yield from ((1, match.span()) for match in _TUESDAY.finditer(text))
    pointed = [(_weekday_cut(match), match.span()) for match in _POINTED_WEEKDAY.finditer(text)]
    if len({number for number, _ in pointed}) > 1:  # one alone may be another word cut
        yield from pointed
    yield from ((_WEEKDAYS[match[0]], match.span()) for match in _DENSE_WEEKDAY.finditer(text))


def _weekday_cut(match: regex.Match[str]) -> int:
    return next(number for number in range(7) if match[f"n{number}"])


def day_behind(text: str, end: int) -> regex.Match[str] | None:
    """Return the match of a bare day (its group "day") behind the weekday that ends at `end`."""
    return _NUMBER_BEHIND.match(text, end)


def date_beside(text: str, end: int) -> FoundDate | None:
    """Return the date, or the bare day, that stands behind a weekday: "Friday the 13th"."""
    dates = [d for d in find_dates(text) if d.day and 0 <= d.start - end <= _BESIDE_CHARS]
    bare = day_behind(text, end)
    number = int(bare["day"]) if bare else None
    first = [day for day in dates if day.day == number]  # "Fri 4 to Sun 6 July" begins on the 4th
    if bare and not dates:
        return FoundDate(None, None, number)
    return next(iter([*first, *dates]), None)


def part_of_month(text: str, month: FoundDate) -> tuple[str, range] | None:
    """Return which part of a month is said ("early July", "Ende Juni"), folded, and its days."""
    said = right_before(_PART, text, month.start) if month.day is None else None
    if said is None:
        return None
    days = range(1, 13) if said["early"] else range(8, 24) if said["mid"] else range(18, 32)
    return fold(said["part"]), days


def completed(found: Sequence[FoundDate], as_of: datetime | None) -> list[FoundDate]:
    """Return dates in all their readings, and those without a year also in the year of `as_of`."""
    readings = [reading for day in found for reading in day.readings()]
    if as_of is None:
        return readings
    return readings + [
        replace(day, year=year)
        for day in readings
        if day.year is None
        for year in _years_meant(day, as_of.date())
        if exists(year, day.month or 1, day.day)
    ]


def _years_meant(day: FoundDate, said: date) -> Iterator[int]:
    """Yield the year of a text and, for a month far off in it, the one in which it is nearer."""
    yield said.year
    months = (day.month or said.month) - said.month
    if abs(months) > _HALF_A_YEAR:
        yield said.year + (1 if months < 0 else -1)
