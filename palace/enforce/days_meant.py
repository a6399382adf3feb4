"""Days that a text means beside those it writes: "the 5th", "yesterday", "last week", "Q2".

In: a text and the day it was said. Out: its dates, completed, and the days that are worked out.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

import regex

from palace.enforce.dates import (
    FoundDate,
    as_found,
    completed,
    day_behind,
    find_dates,
    find_weekdays,
    part_of_month,
)
from palace.enforce.spoken import ENGLISH_NUMBERS
from palace.text import fold, month_token
from palace.text.months import exists

_BARE_YEAR = regex.compile(r"(?<![\d.,/-])(?:1[5-9]|20)\d\d(?![\d/-]|[.,]\d)")
_BARE_DAY = regex.compile(
    r"\b(?:(?:the|am|vom|zum|le|el)|(?P<of>il|du|au|del|al|dal|de|op))\s+(?P<day>\d{1,2})"
    r"(?:st|nd|rd|th|\.|er?)?(?![\w:.,]*\d|\s?(?:%|€|h|Uhr|uur|heures?|ore)\b)"
    r"(?(of)(?!\s(?!(?:au|al|à|tot|et|y|e|en)\s)\p{L}))"  # no "de 12 plantas"
    r"|(?<=day\s|\b(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\s)(?P<day>\d{1,2})"
    r"(?:(?:st|nd|rd|th)\b|(?![\w:.,–-]*\d|\w|\s?(?:[ap]\.?m|h|Uhr|to|until)\b|\s\p{Lu}))"
)
_DATED = regex.compile(
    r"[.,]?\s*(?:the\s+|den\s+)?(?:\d{1,2}(?:[./]\d{1,2}\b(?!\s?\p{L}{1,2}\b|\s?[%€])|(?:st|nd|rd|th)\b)|\d{4}-\d"
    r"|(?:\d{1,2}\.?\s+(?:of\s+)?)?(?P<month>\p{L}{3,10}))",
    regex.IGNORECASE,
)
_UNIT = r"(?P<unit>days?|weeks?|weekends?|months?|years?)"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(ENGLISH_NUMBERS)}|an?)"
ISO_WEEK = regex.compile(
    r"\b(?:KW|wk|week|weeks|woche|semaine|semana|settimana|sem\.?)\s?(?:no\.?\s?)?(\d{1,2})\b(?![.,:]\d)",
    regex.IGNORECASE,
)
_LEAP_YEAR = 2000
# A program's "no date" is the first or the last day that there is: nothing can be told from it.
_TELLING_YEARS = range(100, 9900)
_QUARTER = regex.compile(r"\bQ([1-4])\b")
_PERIOD = regex.compile(
    rf"\b(?:{_COUNT}\s{_UNIT}\s(?:ago|earlier|back)|(?P<ahead>in)\s{_COUNT}\s{_UNIT}(?!\s(?:ago|of))"
    rf"|(?:last|past|previous|(?P<ahead>next)|(?P<this>this))\s(?P<unit>week|weekend|month|year)"
    r"|(?:letzte[rsn]?|vorige[rsn]?|(?P<ahead>(?:nachste|kommende)[rsn]?)|(?P<this>diese[rsn]?))"
    r"\s(?P<unit>woche|monat|jahr)"
    r"|(?:vorige?|(?P<ahead>volgende?)|(?P<this>deze|dit))\s(?P<unit>week|maand|jaar)"
    r"|(?P<unit>semaine|mois|an|annee)\s(?:derniere?|passee?|(?P<ahead>prochaine?))"
    r"|(?P<ahead>proxim[oa])\s(?P<unit>semana|mes|ano)"
    r"|(?P<unit>semana|mes|ano)\s(?:pasad[oa]|passad[oa]|(?P<ahead>que (?:viene|vem)))"
    r"|(?P<unit>settimana|mese|anno)\s(?:scors[oa]|(?P<ahead>prossim[oa])))\b"
)
_UNITS = {
    **dict.fromkeys(("woche", "semaine", "semana", "settimana"), "week"),
    **dict.fromkeys(("monat", "maand", "mois", "mes", "mese"), "month"),
}  # the others are years
_EDGES = {
    **dict.fromkeys(("end of", "ende", "fin"), -1),
    **dict.fromkeys(("beginning of", "start of", "anfang", "debut"), 0),
}
_WEEKEND = regex.compile(r"week-?end|wochenende|fi(?:n|m) de semana")
_RELATIVE = {
    "today": 0, "tonight": 0, "heute": 0, "hoy": 0, "今天": 0, "今日": 0,
    "yesterday": -1, "gestern": -1, "hier": -1, "ayer": -1, "昨天": -1, "昨日": -1,
    "last night": -1, "la nuit derniere": -1, "anoche": -1, "ontem": -1,
    "tomorrow": 1, "morgen": 1, "demain": 1, "manana": 1, "明天": 1, "明日": 1,
}  # fmt: skip


def days_meant(text: str, as_of: datetime | None) -> list[FoundDate]:
    """Return the dates of a text, completed and worked out from the day it was said.

    "12 May" gets the year of `as_of`, "the 5th" the months that are named beside it; "yesterday"
    and "last Friday" become that day.
    """
    if as_of is not None and as_of.year not in _TELLING_YEARS:
        as_of = None
    written = [*find_dates(text)]
    months = dict.fromkeys((day.year, day.month) for day in written if day.month)
    if as_of is not None and not months:
        months[as_of.year, as_of.month] = None
    for number in _bare_days(text, written):
        written.extend(
            FoundDate(year, month, number)
            for year, month in months
            if month and exists(year, month, number)
        )
    written.extend(_edges_of_months(text, written))
    for match in _QUARTER.finditer(text):
        first = 3 * int(match[1]) - 2
        written.extend(FoundDate(None, month, None) for month in range(first, first + 3))
    found = completed(written, as_of)
    years = [
        int(match[0])
        for match in _BARE_YEAR.finditer(text)
        if not any(day.start <= match.start() < day.end for day in written)
    ]
    found.extend(
        replace(day, year=year)
        for day in written
        for year in years
        if day.day and not day.year and exists(year, day.month or 1, day.day)
    )
    if as_of is not None:
        found.extend(_days_worked_out(text, as_of.date()))
    return found


def _days_worked_out(text: str, said: date) -> Iterator[FoundDate]:
    """Yield the days that a text means by the day it was said: itself, "yesterday", "week 12"."""
    folded = fold(text)
    yield from _days_of_weeks(text, said)
    worked_out = [said]
    worked_out.extend(said + timedelta(days=n) for word, n in _RELATIVE.items() if word in folded)
    if _WEEKEND.search(folded):
        worked_out.extend(_weekends_near(said))
    for weekday, _, end in find_weekdays(text):
        dated = _DATED.match(text, end)
        if dated and (not dated["month"] or month_token(dated["month"])):
            continue  # "Mon 27 April" is that day and no other
        back = (said.weekday() - weekday) % 7
        worked_out.extend(said - timedelta(days=n) for n in (back, back - 7) if n)
    yield from map(as_found, worked_out)
    yield from _periods_meant(folded, said)


def _bare_days(text: str, dated: Sequence[FoundDate]) -> list[int]:
    """Return the days that are said without their month: "the 5th", "jeu 7"."""
    behind = (day_behind(text, end) for _, _, end in find_weekdays(text))
    found = [*_BARE_DAY.finditer(text), *(match for match in behind if match)]
    return [
        int(match["day"])
        for match in found
        if not any(day.start <= match.start("day") < day.end for day in dated)
    ]


def _edges_of_months(text: str, found: Sequence[FoundDate]) -> Iterator[FoundDate]:
    """Yield the last day of "the end of June", the first of its beginning."""
    for day in found:
        part = part_of_month(text, day)
        if part and part[0] in _EDGES and day.month:
            length = monthrange(day.year or _LEAP_YEAR, day.month)[1]
            yield replace(day, day=range(1, length + 1)[_EDGES[part[0]]])


def _days_of_weeks(text: str, said: date) -> Iterator[FoundDate]:
    """Yield the days of the calendar weeks that are named."""
    for match in ISO_WEEK.finditer(text):
        if 1 <= int(match[1]) <= 52:
            for weekday in range(1, 8):
                yield as_found(date.fromisocalendar(said.year, int(match[1]), weekday))


def _weekends_near(said: date) -> Iterator[date]:
    """Yield the days of the last weekend and of the next."""
    saturday = said + timedelta(days=5 - said.weekday())
    return (saturday + timedelta(days=n) for n in (-7, -6, 0, 1))


def _periods_meant(folded: str, said: date) -> Iterator[FoundDate]:
    """Yield days, months and years told from the day of the text: "last month", "2 days ago"."""
    for match in _PERIOD.finditer(folded):
        unit = _UNITS.get(match["unit"], match["unit"].rstrip("s"))
        count = ENGLISH_NUMBERS.get(match["count"] or "", 1)
        count = int(match["count"]) if (match["count"] or "").isdigit() else count
        sign = 1 if match["ahead"] else 0 if match["this"] else -1
        if unit in ("day", "week", "weekend"):
            yield from _days_around(said, unit, sign * count)
        elif unit == "month":
            months = said.year * 12 + said.month - 1 + sign * count
            yield FoundDate(months // 12, months % 12 + 1, None)
        else:
            yield FoundDate(said.year + sign * count, None, None)


def _days_around(said: date, unit: str, count: int) -> Iterator[FoundDate]:
    """Yield the day so many days away, or all days of the week so many weeks away."""
    if unit == "day":
        days = [said + timedelta(days=count)]
    else:
        monday = said - timedelta(days=said.weekday()) + timedelta(weeks=count)
        days = [monday + timedelta(days=n) for n in range(5 if unit == "weekend" else 0, 7)]
    yield from map(as_found, days)
