"""Days that a prompt tells from today, as memories date them: "yesterday", "this week", "Friday".

In: the words of a prompt, the day it was asked, and what the palace's words are. Out: the words, a
day or a period by a date that the palace has of it; and the other dates that are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

import regex

from palace.ports import TermCounts
from palace.recall.kinds import is_day, is_month, is_year
from palace.recall.lexicon import Lexicon, first_match
from palace.text import Word, fold, words
from palace.text import tokens as tokens_of
from palace.text.months import MONTH_NAMES

# Of two that could match, the longer comes first: "the day before yesterday".
_DAYS = {"two_days_ago": -2, "in_two_days": 2, "yesterday": -1, "tomorrow": 1, "today": 0}
_MONTHS_AGO = {"last_month": 1, "this_month": 0}
_WEEKS_AGO = {"last_week": 1, "this_week": 0}
# As many of them ago as a number in the place of `{}` says.
_AGO = ("days_ago", "weeks_ago", "months_ago")
_DAY, _WEEK = timedelta(days=1), timedelta(days=7)
# Where no blanks part words a day stands between any letters. What the standard library knows too.
_LETTER = r"[a-z\u00df-\u024f\u0430-\u04ff]"


class Period(NamedTuple):
    """A day or a period as a prompt tells it.

    Attributes:
        start: Where its words begin.
        end: Where they end.
        since: Its first day.
        until: The day behind its last.
    """

    start: int
    end: int
    since: date
    until: date


class Dated(NamedTuple):
    """The words of a prompt, and the other dates that one of them stands for.

    Attributes:
        found: The words, in order.
        told: Index tokens of the date that was put there.
        days: The one of them that stands for a period -> those of its other days.
        said: What the prompt tells of a day or a period; None where it tells none.
    """

    found: list[Word]
    told: frozenset[str] = frozenset()
    days: Mapping[str, Sequence[str]] = {}
    said: Period | None = None


class Told(NamedTuple):
    """What memories tell of days.

    Attributes:
        counts: Returns how often tokens stand in the palace.
        together: Returns how many memories hold all of some tokens.
    """

    counts: Callable[[Iterable[str]], Mapping[str, TermCounts]]
    together: Callable[[Sequence[str]], int]


def days_as_dated(
    prompt: str,
    found: Sequence[Word],
    lexicon: Lexicon,
    told: Told,
    *,
    today: date,
    timeout_ms: float,
) -> Dated:
    """Return the words of a prompt, "yesterday" as the date of that day where a memory has it.

    A week is the last day of it that memories have, which stands for the others; a month is named.

    Args:
        prompt: What the words stand in.
        found: The words, in order.
        lexicon: The language of the prompt.
        told: What memories tell of days.
        today: The day it was asked.
        timeout_ms: Bound on each pattern, in milliseconds.
    """
    pattern = _told(lexicon)
    said = first_match(pattern, prompt, timeout_ms=timeout_ms, flags=regex.IGNORECASE)
    if said is None or not said[0]:
        return Dated([*found])
    name = next(name for name, said_so in said.groupdict().items() if said_so)
    since, until = _period(name, said[0], lexicon, today)
    others: list[str] = []
    if until - since == _DAY:
        dated = _dated(since, told)
    elif until - since == _WEEK:
        week = [str(since + timedelta(days=days)) for days in range(7)]
        counts = told.counts(week)
        *others, last = [day for day in week if counts[day].any] or [""]
        dated = words(last)
    else:
        dated = _month(since, told)
    tokens = frozenset(word.token for word in dated)
    days = {last: others} if others else {}
    return Dated(_put(dated, said, found), tokens, days, Period(*said.span(), since, until))


def dates_of_weekdays(
    found: Sequence[Word], terms: Collection[str], lexicon: Lexicon, *, today: date
) -> dict[str, list[str]]:
    """Return the dates of the last and the next day of that name, for each that a prompt names.

    Either may be meant: "what did I do on Friday?", "what is on on Friday?".

    Args:
        found: The words of the prompt.
        terms: Index tokens of its content.
        lexicon: The language of the prompt.
        today: The day it was asked.
    """
    dates: dict[str, list[str]] = {}
    week = _week(lexicon)
    for word in found:
        day = week.get(fold(word.surface))
        if day is not None and word.token in terms:
            ahead = (day - today.weekday()) % 7
            near = (today + timedelta(days=days) for days in (ahead - 7, ahead))
            dates[word.token] = [day.isoformat() for day in near]
    return dates


def asks_of_day(terms: Sequence[str], days: Collection[str], lexicon: Lexicon) -> tuple[str, ...]:
    """Return the terms of a date where a prompt asks for nothing but what that time holds.

    Args:
        terms: Index tokens of its content.
        days: Those of them that stand for a period or a day of the week.
        lexicon: Its language.
    """
    dates = [term for term in terms if term in days or is_day(term) or is_year(term)]
    if any(map(is_month, dates)):
        dates = [term for term in terms if term in dates or term.isdecimal()]
    if all(term.isdecimal() for term in dates) or not _doing(lexicon).issuperset(
        {*terms} - {*dates}
    ):
        return ()
    return tuple(dates)


@lru_cache(maxsize=32)
def _told(lexicon: Lexicon) -> str:
    """Return the pattern of all days and periods, no part of a longer word, each a group.

    Of a language that lists none it finds nothing but an empty text.
    """
    number = rf"(?:\d{{1,2}}|{'|'.join(map(regex.escape, _numbers(lexicon)))})"
    told = (
        f"(?P<{name}>{'|'.join(patterns).replace('{}', number)})"
        for name in (*_DAYS, *_MONTHS_AGO, *_WEEKS_AGO, *_AGO)
        if (patterns := lexicon.requests.get(name))
    )
    return rf"(?<!{_LETTER})(?:{'|'.join(told)})(?!{_LETTER})"


@lru_cache(maxsize=32)
def _numbers(lexicon: Lexicon) -> dict[str, int]:
    """Return how a language writes the first numbers, the longest first."""
    listed = enumerate(lexicon.listed("counted_ago"), start=1)
    written = [(form, number) for number, forms in listed for form in forms.split("|")]
    return dict(sorted(written, key=lambda one: -len(one[0])))


def _period(name: str, said: str, lexicon: Lexicon, today: date) -> tuple[date, date]:
    """Return the first day of a period and the one behind its last, by how a prompt tells it."""
    if name in _DAYS:
        day = today + timedelta(days=_DAYS[name])
        return day, day + _DAY
    number = _number_in(said, lexicon) if name in _AGO else 0
    if name == "days_ago":
        day = today - timedelta(days=number)
        return day, day + _DAY
    if name == "weeks_ago":  # some days more or less, whatever day it is
        first = today - timedelta(days=7 * number + 3)
        return first, first + _WEEK
    if name in _WEEKS_AGO:
        monday = today - timedelta(days=today.weekday() + 7 * _WEEKS_AGO[name])
        return monday, monday + _WEEK
    months = today.year * 12 + today.month - 1 - _MONTHS_AGO.get(name, number)
    (year, month), (next_year, following) = divmod(months, 12), divmod(months + 1, 12)
    return date(year, month + 1, 1), date(next_year, following + 1, 1)


def _number_in(said: str, lexicon: Lexicon) -> int:
    """Return the number of "three days ago"."""
    if figures := "".join(filter(str.isdecimal, said)):
        return int(figures)
    folded = fold(said)
    told = [(folded.find(fold(form)), number) for form, number in _numbers(lexicon).items()]
    return min((one for one in told if one[0] >= 0), key=itemgetter(0), default=(0, 1))[1]


def _dated(day: date, told: Told) -> list[Word]:
    """Return the words of a date in the first of two writings that some memory has, else none.

    In whatever language a month is named, the index has one token for it.
    """
    for written in (day.isoformat(), f"{day.day} {MONTH_NAMES[day.month - 1][0]} {day.year}"):
        found = words(written)
        if told.together([word.token for word in found]):
            return found
    return []


def _month(day: date, told: Told) -> list[Word]:
    """Return the words of a month and its year, none where no memory tells of that month."""
    found = words(f"{MONTH_NAMES[day.month - 1][0]} {day.year}")
    token = found[0].token
    return found if told.counts([token])[token].any else []


def _put(dated: Sequence[Word], said: regex.Match[str], found: Sequence[Word]) -> list[Word]:
    """Return the words with a date in the place of those that tell it; unchanged without one."""
    if not dated:
        return [*found]
    start, end = said.span()
    before = [word for word in found if word.start < start]
    behind = [word for word in found if word.start >= end]
    return [*before, *(word._replace(start=start) for word in dated), *behind]


@lru_cache(maxsize=32)
def _doing(lexicon: Lexicon) -> frozenset[str]:
    """Return the words that ask for whatever a day holds, folded, and as index tokens."""
    listed = " ".join(lexicon.listed("doing_words"))
    return lexicon.folded("doing_words").union(tokens_of(listed))


@lru_cache(maxsize=32)
def _week(lexicon: Lexicon) -> dict[str, int]:
    """Return the days of the week as a language writes them, folded, Monday = 0."""
    listed = enumerate(lexicon.listed("days_of_week"))
    return {fold(form): day for day, forms in listed for form in forms.split("|")}
