"""Small counts: how many of a thing there are, which memories seldom say in so many words.

In: a small number without a unit, its sentence and the sources. Out: whether the memory counts the
same thing otherwise. A reader counts what is listed, rows of names, ways of doing something; so a
count of which the memory has no other is taken for the reader's own and holds, but for "five times"
of what several memories tell four days of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import regex

from palace.enforce.arithmetic import says_nothing
from palace.enforce.intervals import find_intervals
from palace.enforce.quantities import SaidNumber
from palace.enforce.quantity import DAY_SECONDS, Quantity, is_of_days, is_small
from palace.enforce.source import Source, listed_length
from palace.text import stem

_DAILY = regex.compile(
    r"\s*(?:times\s)?(?:(?:a|per|every|each)\s+day|daily)\b|\s*(?:täglich|(?:am|pro) Tag)\b",
    regex.IGNORECASE,
)
_EACH_PERIOD = regex.compile(
    r"\s*(?:times\s|mal\s|fois\s|veces\s|vezes\s|volte\s)?"
    r"(?:(?:an?|per|every|each|pro|die|in der|im|par|a la|al|por|alla)\s)?"
    r"(?:(?P<week>week(?:ly)?|Woche|wöchentlich|semaine|semana|settimana)"
    r"|(?P<month>month(?:ly)?|Monat|monatlich|mois|mes|mese)"
    r"|(?P<year>year(?:ly)?|Jahr|jährlich|an|año|anno))\b",
    regex.IGNORECASE,
)
_A_DAY = regex.compile(r"\s\p{L}+\s(?:(?:a|per|every|each)\s+day|daily)\b", regex.IGNORECASE)
_HOURLY = regex.compile(r"\b(?:at|by|until|till|from|before|after|to|past)\s+$", regex.IGNORECASE)
# A clause that tells more of the last item is none: ", which is done".
_AFTER_COLON = regex.compile(r":\s((?:(?!,\s(?:which|who|where)\b)[^.;!?])+)")
_IN_BRACKETS = regex.compile(r"[^\d.,:;!?()\n]{0,40}\(([^()]+)\)")
_ONE = regex.compile(r"\bone\b", regex.IGNORECASE)
# What an answer counts of its own.
_OF_ANSWERS = frozenset(map(stem, "thing date point reason step part change item option".split()))
_TIMES = frozenset(
    map(stem, "time mal fois veces vezes volte keer gånger razy раз раза kez kere".split())
)
_ASKS = ("?", "？")


def is_counted_otherwise(said: SaidNumber, sources: Sequence[Source]) -> bool:
    """Whether the memory has another number in the place of a small one."""
    number = said.number
    listed = said.is_before(_IN_BRACKETS)
    if listed is not None and listed_length(listed[1]) == number.values[0]:
        return False  # "two office days (Tuesday and Thursday)"
    counts = set(_same_thing(said, sources))
    if counts:
        return number.values[0] not in counts
    if not number.unit:
        if _is_listed(said, sources) or number.noun in _OF_ANSWERS:
            return False
        clocks = (q for source in sources for q in source.readings if q.unit == "clock")
        if said.is_behind(_HOURLY) and any(clocks):
            return True
        if number.text.strip().isalpha():  # a reader writes his own count in words
            return number.values[0] != 1 and any(_ONE.search(source.text) for source in sources)
    return any(_rivals(said, sources))


def told_a_day(said: SaidNumber, sources: Sequence[Source]) -> frozenset[float]:
    """Return how often a day the memory tells something, where that is what a number says."""
    if said.number.noun != "time" or not _DAILY.match(said.sentence, said.number.end):
        return frozenset()
    return frozenset(times for source in sources for times in _times_a_day(source))


def told_a_week(said: SaidNumber, sources: Sequence[Source]) -> frozenset[float]:
    """Return how often a week, a month or a year memories tell something, likewise.

    By intervals that is not told: who comes every other week comes no certain times a month.
    """
    period = _period_behind(said.sentence, said.number)
    if not period:
        return frozenset()
    return frozenset(
        times
        for source in sources
        for q in source.quantities
        if _period_behind(source.text, q) == period
        for times in q.values
    )


def _period_behind(text: str, number: Quantity) -> str:
    """Return the period of "twice a week" and "three times weekly", else ""."""
    found = _EACH_PERIOD.match(text, number.end) if number.noun == "time" else None
    return (found.lastgroup or "") if found else ""


def _same_thing(said: SaidNumber, sources: Sequence[Source]) -> Iterator[float]:
    """Yield what the memory counts of the same thing, by number or as one."""
    noun, end = said.number.noun, said.number.end
    if noun in ("", "time"):
        return
    for source in sources:
        counts = [v for q in source.quantities if q.noun == noun for v in q.values]
        yield from counts
        if _A_DAY.match(said.sentence, end):  # "two tablets a day" of one every 12 hours
            yield from (v * times for times in _times_a_day(source) for v in counts)
    one = regex.compile(rf"\b(?:an?|one|1) (?:\p{{L}}+ )?{regex.escape(noun)}")
    if any(one.search(source.plain) for source in sources):
        yield 1.0


def _times_a_day(source: Source) -> Iterator[float]:
    """Yield how often a day something is: "1-0-1", "every 12 h", "twice daily"."""
    for q in source.readings:
        if q.noun == "time" and ("-" in q.text or _DAILY.match(source.text, q.end)):
            yield from q.values
    yield from (
        DAY_SECONDS / every.measures[0]
        for every in find_intervals(source.text)
        if every.unit == "time" and 0 < every.measures[0] <= DAY_SECONDS
    )


def is_told_less_often(number: Quantity, sources: Sequence[Source]) -> bool:
    """Whether something is said to have happened more often than memories tell days of it.

    Only where several tell it and each a day: what comes again, or was counted there, may have
    been more often.
    """
    return number.noun in _TIMES and number.values[0] > _most_times(sources)


def _most_times(sources: Sequence[Source]) -> float:
    """Return how many days all memories tell; no end where one of them tells none, or a count."""
    days: set[tuple[int | None, int | None]] = set()
    memories = [source for source in sources if not source.text.rstrip().endswith(_ASKS)]
    for memory in memories:
        told = {(day.day, day.month) for day in memory.written if day.day}
        counted = any(quantity.noun in _TIMES for quantity in memory.quantities)
        if not told or counted or find_intervals(memory.text):
            return math.inf
        days |= told
    return len(days) if len(memories) > 1 else math.inf


def _is_listed(said: SaidNumber, sources: Sequence[Source]) -> bool:
    """Whether so many things are listed, there or behind the number."""
    count = int(said.number.values[0])
    if any(count in source.lengths for source in sources):
        return True
    listed = _AFTER_COLON.search(said.sentence, said.number.end)
    return listed is not None and listed_length(listed[1]) == count


def _rivals(said: SaidNumber, sources: Sequence[Source]) -> Iterator[Quantity]:
    """Yield the small numbers of the sort that stand there and that the sentence does not say."""
    number = said.number
    spoken = said.spoken.difference(number.values)
    for source in sources:
        for quantity in source.parts:
            if number.unit:
                same_sort = is_of_days(quantity)
            else:  # "three pieces" where pieces are known is no grade 5
                other = number.noun in source.tokens and quantity.noun != number.noun
                other = other and not says_nothing(quantity.noun) and not says_nothing(number.noun)
                same_sort = not quantity.unit and is_small(quantity) and not other
            if same_sort and spoken.isdisjoint(quantity.values):
                yield quantity
