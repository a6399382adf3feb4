"""The days a memory tells of.

In: a memory. Out: the dates of its words, or the day of the page it stands on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import date

import regex

from palace.enforce.dates import completed, find_dates
from palace.text import month_token
from palace.text.day_names import day_of_file, day_told
from palace.types.memory import Memory

_ENTRY = regex.compile(
    r"\W*(?P<day>\d{4}-\d\d-\d\d)\b(?P<said>(?:(?!\d{4}|\d\W\d).)*)", regex.DOTALL
)
_WORD = regex.compile(r"\p{L}{3,12}")


def days_told(memory: Memory) -> list[date]:
    """Return the days that the words of a memory name, in order, then that of where it stands.

    Of a month it is the first. A day without a year is that of the year in which it was written;
    where nobody knows when that was, it is none. When a fact was noted says nothing of what it
    tells.
    """
    return [*(_opening_day(memory.text) or _days_named(memory)), *_days_around(memory)]


def _opening_day(text: str) -> list[date]:
    """Return the day an entry of a diary begins with, if it names no other: a thousand are read."""
    entry = _ENTRY.fullmatch(text)
    if entry is None or any(map(month_token, _WORD.findall(entry["said"]))):
        return []
    with suppress(ValueError):
        return [date.fromisoformat(entry["day"])]
    return []


def _days_named(memory: Memory) -> Iterator[date]:
    found = completed(find_dates(memory.text), memory.as_of)
    for day in sorted(found, key=lambda day: day.start):
        if day.year and day.month:
            yield date(day.year, day.month, day.day or 1)


def _days_around(memory: Memory) -> Iterator[date]:
    """Yield the day of the conversation, of the headings from within, and of the page."""
    if memory.kind == "event" and memory.as_of:
        yield memory.as_of.date()
    headings = map(day_told, reversed(memory.heading.split(" > ")))
    around = (*headings, day_told(memory.title), day_of_file(memory.path))
    yield from (day for day in around if day is not None)
