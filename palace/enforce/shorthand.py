"""The shorthand of notes: "8-11:30", "35x45 mm", "95-100k", "29/11 + 6/12", "(25 late)", "H5".

In: text. Out: what its numbers and dates may mean besides what they say at first sight. A reading
more in a memory lets an honest answer stand and proves no other number; in an answer a reading
counts only where it is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import regex

from palace.enforce.dates import FoundDate
from palace.enforce.han import han_clocks, han_numbers
from palace.enforce.quantities import read_quantities
from palace.enforce.quantity import DAY_SECONDS, Quantity, times_of_day
from palace.enforce.spoken import spoken_numbers
from palace.text import month_number, right_before
from palace.text.months import exists

_DASH = r"\s?(?:[-–—]|to|until|till|bis|and|und|et|y|e|en|tot|até|alle|à|a)\s?"
_HOUR = r"(?P<h{0}>[01]?\d|2[0-4])(?:[:.h](?P<m{0}>[0-5]\d))?"
_HOURS = regex.compile(
    rf"(?<![\d.,:/-]|\p{{L}}){_HOUR.format(1)}{_DASH}{_HOUR.format(2)}(?![\d%€$£]|[.,:/-]\d)"
    r"(?:\s?(?P<half>[ap])\.?m\b)?(?!\s?(?:mm|cm|km?|m|k?g|ml|l|min|sec|days?|d|wks?|weeks?|mo|months"
    r"|years|yrs?|hours|hrs|pages|pp)\b)",
    regex.IGNORECASE,
)
_POINT_CLOCK = regex.compile(
    r"(?<![\d.,:/-])(?P<h>[01]?\d|2[0-3])\.(?P<m>[0-5]\d)(?![\d%€$£]|[.,]\d)"
)
_HOUR_SAID = regex.compile(r"(?<![\d.,:/-])(?P<h>[01]?\d|2[0-4])\s?h(?!\w|\s?\d)")
_HOURS_SAID = regex.compile(
    r"(?<![\d.,:/-])(?P<h>[01]?\d|2[0-3])\s?(?:h|heures|Uhr)\s?(?P<m>[0-5]\d)(?!\d)"
)
# Hours and minutes in four digits: "1900-0730", "1330h", "2000 local".
_FOUR_DIGITS = regex.compile(
    r"(?<![\d.,:/$€£-])(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d)"
    r"(?=\s?(?:h|hrs?|hours|local|UTC|Z)(?!\p{L})|[-–](?:[01]\d|2[0-3])[0-5]\d(?![\d:/-]|[.,]\d))"
    r"|(?<=(?<![\d.,:/$€£-])(?:[01]\d|2[0-3])[0-5]\d[-–])(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d)(?![\d:/-]|[.,]\d)",
    regex.IGNORECASE,
)
_CLOCK_WORD = regex.compile(
    r"(?:\b(?:at|by|from|to|until|till|before|after|between|about|around|@|um|ab|bis)\s?|[–-]\s?)$",
    regex.IGNORECASE,
)
_BARE_HOUR = regex.compile(
    r"(?:(?<=@\s?)|(?<=\b(?:at|by|from|until|till|before|after|ab|um|bis)\s))"
    r"(?P<h>[01]?\d|2[0-4])(?![\d%€$£°]|[.,:/-]\d)",
    regex.IGNORECASE,
)
_SPREAD = regex.compile(
    r"(?<![\d.,\p{L}])(?P<n>\d+(?:[.,]\d+)?)(?P<link>\s?(?:[-–—x×/+>]|->|→|to|by|and)\s?)"
    r"(?=(?P<rest>[$€£]?(?P<plain>\d+(?:[.,]\d+)*)\s?(?:\p{L}+|[%€$£°]\p{L}?)))",
    regex.IGNORECASE,
)
_LATE = regex.compile(r"(?<![\d.,:])(\d{1,3})\s?(?:late|early|behind|delayed?)\b", regex.IGNORECASE)
_LABEL = regex.compile(r"(?<![\p{L}\d_-])\p{L}{1,4}\.?-?(\d{1,4})(?![\d\p{L}])")
_SCIENTIFIC = regex.compile(
    r"(?<![\w.,])(\d{1,20}(?:\.\d{1,20})?e[+-]?\d{1,2})(?!\w)", regex.IGNORECASE
)
_PRIMED = regex.compile(r"(?<![\d.,:'’])(\d{1,3})['’′](?![\w'’′])")
_MINUTES = regex.compile(r"(?<![\d.,:\p{L}])(\d{1,3})\s?m(?![\w²³/])")  # metres at first sight
_GIGABYTES = regex.compile(r"(?<![\w.,])(\d{1,4}(?:\.\d+)?)\s?G(?![\w])")  # grams at first sight
_PAGES = regex.compile(r"(?<![\w.,])(\d{1,4})\s?pp?(?!\w)")  # pence at first sight
_AT_SECOND_SIGHT = (
    (_LABEL, "", 1.0),
    (_SCIENTIFIC, "", 1.0),
    (_LATE, "time", 60.0),
    (_PRIMED, "time", 60.0),
    (_MINUTES, "time", 60.0),
    (_GIGABYTES, "bytes", 1e9),
    (_PAGES, "", 1.0),
)
_DOSES = regex.compile(r"(?<![\d-])[0-3](?:-[0-3]){2,3}(?![\d-])")
_PARTED = regex.compile(r"(?<![\w.,])(\d{1,3})([kMR])(\d{1,2})(?!\w)")  # 4k7 is 4.7k
_SCORE = regex.compile(r"(?<![\d:.,])([1-9]|[12]\d):(\d)(?![\d:])")
_SCALES = {"k": 1e3, "M": 1e6, "R": 1.0}
_SCALED = regex.compile(r"\d\s?([kM])\b")
_DECIMAL = regex.compile(r"(?<![\d.,:/-])(\d{1,3}[.,]\d{1,2})(?![\d%]|[.,:/-]\d)")
_DAY_MONTH = regex.compile(
    r"(?<![\d.,:/]|\d-)(?:(?P<other>\d{1,2})\.?\s?[-–]\s?)?(?P<day>\d{1,2})(?P<mark>[./])(?P<month>\d{1,2})"
    r"(?P<last>(?P=mark)(?P<year>\d{4}|\d{2})?)?(?![\d%]|:\d|[./]\d)"
)
# "25, 26 Dec"
_LISTED_DAYS = regex.compile(
    r"(?<![\w.,:/-])(?P<days>(?:\d{1,2}\.?,\s){1,12})(?=\d{1,2}\.?\s(?P<month>\p{L}{3,10}))"
)
_SHORT_MONTH = regex.compile(r"(?<!\p{L})\p{Lu}\p{Ll}{2,3}(?!\p{L})")
_ON = regex.compile(
    r"\b(?:on|by|until|from|to|the|since|before|after|am|den|vom|zum|bis|ab|seit|le|du|au|\p{L}+(?:day|tag))"
    r",?\s+$",
    regex.IGNORECASE,
)
_GOES_ON = regex.compile(r"\s?[,;:()–-]|\s\p{Ll}")
_OLDEST_SHORT_YEAR = 70
_NOON = 12


@lru_cache(maxsize=512)
def short_quantities(text: str) -> tuple[Quantity, ...]:
    """Return numbers as shorthand may mean them, each at its place; they may overlap."""
    return tuple(_readings(text))


def _readings(text: str) -> Iterator[Quantity]:
    yield from _clock_ranges(text)
    yield from _clocks(text)
    yield from _spread(text)
    for pattern, unit, factor in _AT_SECOND_SIGHT:
        for match in pattern.finditer(text):
            yield Quantity((float(match[1]),), unit, factor, *match.span(), match[0])
    for match in _PARTED.finditer(text):
        value = float(f"{match[1]}.{match[3]}") * _SCALES[match[2]]
        yield Quantity((value,), "", 1.0, *match.span(), match[0])
    for match in _SCORE.finditer(text):  # "five to two" is read as a time of day
        at = 60.0 * int(match[2]) - int(match[1])
        yield Quantity((at % 1440, at + 720), "clock", 1.0, *match.span(), match[0])
    for match in _DOSES.finditer(text):
        doses = [int(dose) for dose in match[0].split("-")]
        taken = float(sum(dose > 0 for dose in doses))
        yield Quantity((taken,), "", 1.0, *match.span(), match[0], noun="time")
        for course in read_quantities(text):  # what 1-0-1 comes to in two weeks
            if course.unit == "time" and course.factor >= DAY_SECONDS:
                days = course.measures[0] / DAY_SECONDS
                yield Quantity((sum(doses) * days,), "", 1.0, *match.span(), match[0])
    yield from _scaled(text)
    yield from _in_han(text)


def _in_han(text: str) -> Iterator[Quantity]:
    """Yield what may be a number or a time in Chinese letters: "三楼", "三点"; no single one."""
    for said in han_numbers(text):
        if said.value != 1:
            written = text[said.start : said.end]
            yield Quantity((said.value,), "", 1.0, said.start, said.end, written)
    yield from han_clocks(text, all_day=True)


def _scaled(text: str) -> Iterator[Quantity]:
    """Yield decimals with the thousands that others beside them have."""
    for scale in {_SCALES[letter] for letter in _SCALED.findall(text)}:  # "Q1 2.4M, DE 1.3"
        for match in _DECIMAL.finditer(text):
            value = float(match[1].replace(",", ".")) * scale
            yield Quantity((value,), "", 1.0, *match.span(), match[0])


def short_dates(text: str, *, strict: bool = False) -> Iterator[FoundDate]:
    """Yield days and months in digits alone: "12.3.", "29/11", "4.-7.9.", "11.2.26".

    Args:
        text: Any text.
        strict: Whether points alone make no date, as at the end of a sentence: "a pH of 4.5."
    """
    for match in _SHORT_MONTH.finditer(text):
        if month := month_number(match[0]):
            yield FoundDate(None, month, None, *match.span())
    yield from _listed_days(text)
    for match in _DAY_MONTH.finditer(text):
        pointed = match["mark"] == "." and not match["year"]
        if pointed and not match["last"]:
            continue
        goes_on = _GOES_ON.match(text, match.end()) or right_before(_ON, text, match.start())
        if pointed and strict and not goes_on:
            continue
        year = int(match["year"]) if match["year"] else None
        if year is not None and year < 100:
            year += 1900 if year > _OLDEST_SHORT_YEAR else 2000
        first, second = int(match["day"]), int(match["month"])
        orders = {(first, second)} if match["mark"] == "." else {(first, second), (second, first)}
        for day, month in orders:
            days = [day, *([int(match["other"])] if match["other"] and day == first else [])]
            for number in days:
                if exists(year, month, number):
                    yield FoundDate(year, month, number, *match.span())


def _listed_days(text: str) -> Iterator[FoundDate]:
    for match in _LISTED_DAYS.finditer(text):
        month = month_number(match["month"])
        for day in map(int, regex.findall(r"\d+", match["days"])):
            if month and exists(None, month, day):
                yield FoundDate(None, month, day, *match.span("days"))


def _clock(text: str, span: tuple[int, int], hour: str, minute: str | None, half: str) -> Quantity:
    """Return a clock time; without a half of the day either is meant, up to noon."""
    values = times_of_day(int(hour) * 60.0 + int(minute or 0), half)
    return Quantity(values, "clock", 1.0, *span, text[slice(*span)])


def _clock_ranges(text: str) -> Iterator[Quantity]:
    for match in _HOURS.finditer(text):
        half = match["half"] or ""
        first = half or ("a" if int(match["h2"]) > _NOON > int(match["h1"]) else "")  # "6-16 Uhr"
        for n, part in (("1", first), ("2", half)):
            span = match.start(f"h{n}"), max(match.end(f"h{n}"), match.end(f"m{n}"))
            yield _clock(text, span, match[f"h{n}"], match[f"m{n}"], part)


def _clocks(text: str) -> Iterator[Quantity]:
    for pattern in (_POINT_CLOCK, _BARE_HOUR, _HOUR_SAID, _HOURS_SAID, _FOUR_DIGITS):
        for match in pattern.finditer(text):
            yield _clock(text, match.span(), match["h"], match.groupdict().get("m"), "")
    for said in spoken_numbers(text):
        spoken = said.values[0]
        if (
            spoken.is_integer()
            and 1 <= spoken <= _NOON
            and right_before(_CLOCK_WORD, text, said.start)
        ):
            yield _clock(text, (said.start, said.end), str(int(spoken)), None, "")


def _spread(text: str) -> Iterator[Quantity]:
    """Yield the first of two numbers with the unit and the thousands that only the second has."""
    for match in _SPREAD.finditer(text):
        found = [q for n in ("rest", "plain", "n") for q in read_quantities(match[n])[:1]]
        if len(found) < 3 or not found[0].values:
            continue
        second, plain, first = found
        if match["link"].strip() in ("x", "×") and second.unit != "length":
            continue  # "2 x 2.5 l" are two of them
        scale = second.values[0] / plain.values[0] if plain.values and plain.values[0] else 1.0
        yield replace(
            second,
            values=tuple(value * scale for value in first.values),
            start=match.start("n"),
            end=match.end("n"),
            text=match["n"],
        )
