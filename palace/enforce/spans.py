"""Times and days worked out from those of the memory: later, earlier, between, and ages.

In: a clock time, a date or a duration of an answer, and the sources. Out: whether it follows.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import combinations, pairwise, permutations, product

import regex

from palace.enforce.arithmetic import rounds_to, says_worked_out, stands_for
from palace.enforce.dates import FoundDate, as_found, find_dates
from palace.enforce.intervals import find_intervals
from palace.enforce.quantities import AROUND, SaidNumber
from palace.enforce.quantity import DAY_SECONDS, Quantity
from palace.enforce.source import Source, nearest_words
from palace.text import right_before

_ENDED = regex.compile(
    r"\b(?:until|till|by|latest|to|before|after|from|since|ends?|ending|expires?|runs? out|through"
    r"|due|next|so|i\.e\.|later|back|covered|good|valid|again|bis|jusqu|vor|spätestens|avant|antes"
    r"|prima|voor|last|ab|seit|dès|depuis|fin|desde|hasta|até|dal|dall['’]|entro|fino|tot|vanaf)\b",
    regex.IGNORECASE,
)
_AGED = regex.compile(
    r"\b(?:aged?|old|younger|older|years?|at (?:about )?\d+|was|were)\b", regex.IGNORECASE
)
# What behind a span says that it lies between two days or times.
_APART = regex.compile(
    r"\s{0,9}\b(?:earlier|later|before|after|apart|früher|später|vorher|danach|plus tôt|plus tard"
    r"|avant|après|antes|después|depois)\b",
    regex.IGNORECASE,
)
_SPANNED = regex.compile(
    r"\b(?:between|before|after|later|earlier|ahead|early|left|spare|last(?:s|ed|ing)?|took|takes|taken|gap|from|until)\b",
    regex.IGNORECASE,
)
_EARLIER = regex.compile(
    r"\b(?:before|earlier|ahead|early|by|leav(?:e|es|ing)|left|set off|start\w*|beg[aiu]n\w*"
    r"|latest|until|from|since|vor\w*|früher|spätestens|los\w*|ab|seit|avant|plus tôt|part\p{L}*"
    r"|antes|sal\p{L}*|prima|voor|vertrek\w*|uiterlijk)\b",
    regex.IGNORECASE,
)
_AT_WORK = regex.compile(r"\b(?:working|business|work)[ -]|werk|arbeit", regex.IGNORECASE)
# Not how long, but how much of each week or year.
_OF_EACH = regex.compile(
    r"\s?(?:/|per|pro|par|por|al|an?|each|every)\s?(?:day|week|month|year|tag|woche|monat|jahr|jour"
    r"|semaine|mois|an|día|semana|mes|año|giorno|settimana|mese|anno|dag|maand|jaar)\b"
    r"|(?:に|에)?\s?\d[\d.,]*[만万千천]?\s?[원円元]",  # what a night costs
    regex.IGNORECASE,
)
_WEEK_DAYS = 7
_WORK_DAYS = 5
_OLDEST = 120
_INCLUSIVE_DAYS = 5
_NEAR_DAYS = 183
_FEW_DAYS = 40
_MOST_DAYS = 40_000  # a little more than a century
_FEW_MONTHS = 4
_MOST_PARTS = 16
_LOOSE_SHARE = 0.1
_MONTH_SHARE = 0.02
_DAYS_IN = {"time": 1 / DAY_SECONDS, "months": 30.436875}


def clock_comes_to(said: Quantity, sources: Sequence[Source], sentence: str) -> bool:
    """Whether a clock time is one that stands there, so much later as stands there or earlier.

    What lies earlier is asked for less often, and looks like another hour of the same thing: a word
    has to say it.
    """
    signs = (1, -1) if _EARLIER.search(sentence) else (1,)
    wanted = {round(value, 2) % 1440 for value in said.values}
    for source in sources:
        clocks = [q for q in source.readings if q.unit == "clock"]
        spans = [q for q in source.readings if q.unit == "time"]
        for clock, span in product(clocks, spans):
            if clock.start == span.start:
                continue  # "8 h" read as both
            minutes = span.measures[0] / 60
            later = {round(v + sign * minutes, 2) % 1440 for v in clock.values for sign in signs}
            if not wanted.isdisjoint(later):
                return True
    return False


def date_comes_to(
    said: FoundDate, sources: Sequence[Source], sentence: str, *, strict: bool
) -> bool:
    """Whether a date is one that stands there, so many days, months or years on or back.

    Without a word that says so it must lie ahead and be one of few that could be reached, and not
    even that is enough where the check is strict.
    """
    ended = _ENDED.search(sentence) is not None
    if strict and not ended:
        return False
    spans = [q for s in sources for q in _day_spans(s)]
    days = {
        (d.year, d.month, d.day if said.day else None)
        for s in sources
        for d in days_on(s, spans, (1, -1) if ended else (1,))
        if d.year and d.month
    }
    fitting = [day for day in days if said.fits(FoundDate(*day))]
    if not fitting or _stands_for(said, sources, sentence):
        return False
    if ended:
        return True
    middle = date(fitting[0][0], fitting[0][1], 15)
    near = sum(abs((date(y, m, d or 15) - middle).days) <= _NEAR_DAYS for y, m, d in days)
    return near <= (_FEW_DAYS if said.day else _FEW_MONTHS)


def _stands_for(said: FoundDate, sources: Sequence[Source], sentence: str) -> bool:
    """Whether the memory has another date beside the same word, which the sentence does not say."""
    beside = nearest_words(sentence, said.start, said.end) if said.end else frozenset()
    spoken = find_dates(sentence) if beside else ()
    return any(
        not any(one.fits(day) for one in spoken)
        and not beside.isdisjoint(nearest_words(source.text, day.start, day.end))
        for source in sources
        for day in (source.written if beside else ())
    )


def _day_spans(source: Source) -> list[Quantity]:
    spans = [
        q
        for q in source.parts
        if q.unit in ("time", "months") and not _OF_EACH.match(source.text, q.end)
    ]
    often = [every for every in find_intervals(source.text) if every.values[0] > 1]
    return [*spans, *often][:_MOST_PARTS]


def days_on(
    source: Source, spans: Sequence[Quantity] | None = None, signs: Sequence[int] = (1, -1)
) -> Iterator[FoundDate]:
    """Yield the days that lie a span (by default one of the source) before or after a day of it.

    A span that leads from one date of the memory to another has been used up.
    """
    days = [d for d in source.dates if d.year and d.month and d.day][:_MOST_PARTS]
    known = {(d.year, d.month, d.day) for d in source.written}
    for span in _day_spans(source) if spans is None else spans:
        ends = [end for day in days for sign in signs for end in _shifted(day, span, sign)]
        if known.isdisjoint((d.year, d.month, d.day) for d in ends):
            yield from ends


def _shifted(day: FoundDate, span: Quantity, sign: int) -> Iterator[FoundDate]:
    start = date(day.year or 2000, day.month or 1, day.day or 1)
    days = span.measures[0] / DAY_SECONDS
    if span.unit == "time" and not 1 <= days <= _MOST_DAYS:
        return
    try:
        if span.unit == "months":
            end = _months_on(start, sign * round(span.measures[0]))
        elif _AT_WORK.search(span.text):
            end = _work_days_on(start, sign * round(days))
        else:
            end = start + timedelta(days=sign * round(days))
    except (OverflowError, ValueError):
        return  # "until 31.12.9999": time ends there
    counted = (end - start).days >= _INCLUSIVE_DAYS and not find_intervals(span.text)
    for inclusive in (0, -1) if counted else (0,):
        yield as_found(end + timedelta(days=inclusive))


def _work_days_on(start: date, days: int) -> date:
    """Return the day so many days from Monday to Friday on or back; holidays are not known."""
    weeks, rest = divmod(abs(days), _WORK_DAYS)
    sign = 1 if days > 0 else -1
    if start.weekday() >= _WORK_DAYS:  # counted from the Friday before, or back from the Monday
        start += timedelta(days=(_WORK_DAYS - 1 if sign > 0 else _WEEK_DAYS) - start.weekday())
    weekend = 0 if 0 <= start.weekday() + sign * rest < _WORK_DAYS else 2
    return start + sign * timedelta(days=_WEEK_DAYS * weeks + rest + weekend)


def _months_on(start: date, months: int) -> date:
    """Return the day so many months on, or the last one of a month that is too short."""
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))


def _is_years_apart(said: SaidNumber, sources: Sequence[Source]) -> bool:
    """Whether a number is the years between two years that stand there, or an age at one."""
    number = said.number
    if number.unit not in ("", "months"):
        return False
    so = says_worked_out(said)
    if not (so or _AGED.search(said.sentence)) or stands_for(
        said._replace(before=""), sources, told=so
    ):
        return False  # "port 2022" stands for port 2222
    since = number.unit == "months"  # "fifty years old", said some day later
    years = {value / 12 for value in number.measures} if since else set(number.values)
    around = (-1, 0, 1) if since else (-1, 0)
    for source in sources:
        told = {source.as_of.year} if since and source.as_of else set()
        known = sorted({d.year for d in source.written if d.year} | _bare_years(source) | told)
        ages = {value for q in source.quantities if not q.unit for value in q.values}
        if any(year - age in years for year in known for age in ages if 1 < age < _OLDEST):
            return True
        for first, second in combinations(known, 2):
            if not years.isdisjoint({second - first + n for n in around}):
                return True
            if number.loose and any(rounds_to(year, second - first) for year in years):
                return True
    return False


def _bare_years(source: Source) -> set[int]:
    return {
        int(value)
        for q in source.quantities
        if not q.unit
        for value in q.values
        if value.is_integer() and 1500 <= value <= 2100
    }


def is_span(said: SaidNumber, sources: Sequence[Source]) -> bool:
    """Whether a duration is that between two clock times or two days."""
    return (
        _is_between_clocks(said.number, sources, said.sentence)
        or _is_between_days(said.number, sources, said.sentence)
        or _is_years_apart(said, sources)
    )


def _is_between_clocks(said: Quantity, sources: Sequence[Source], sentence: str) -> bool:
    """Whether two clock times side by side, or any two where that is said, are so far apart."""
    if said.unit != "time":
        return False
    groups = [[q for q in source.readings if q.unit == "clock"] for source in sources]
    if _SPANNED.search(sentence):
        groups.append([q for group in groups for q in group][:_MOST_PARTS])
    for clocks in groups:
        spans = {round(v * n, 6) for q in clocks for v in q.values for n in (1, 60)}
        apart = {round((b.values[0] - a.values[0]) % 1440, 6) for a, b in pairwise(clocks)}
        spans |= {n * gap for gap in apart for n in (1, 60)}  # of hours and minutes, or minutes
        if _SPANNED.search(sentence):
            pairs = [
                (a, b)
                for one, two in permutations(clocks, 2)
                for a in one.values
                for b in two.values
            ]
            spans |= {round((b - a) * 60, 6) for a, b in pairs if b > a}
        roughly = said.loose or right_before(AROUND, sentence, said.start)  # "about 3 h 20"
        slack = _LOOSE_SHARE if roughly else 0.0
        if any(abs(m - span) <= slack * span for m in said.measures for span in spans if span):
            return True
    return False


def is_as_long(said: Quantity, known: Quantity) -> bool:
    """Whether months are said of days that come to them, or the reverse: "three months" of 90."""
    if {said.unit, known.unit} != {"time", "months"}:
        return False
    mine, theirs = ([measure * _DAYS_IN[q.unit] for measure in q.measures] for q in (said, known))
    halves = any(not value.is_integer() for value in said.values)  # "a month and a half"
    slack = _LOOSE_SHARE if said.loose or halves else _MONTH_SHARE
    return any(min(a, b) >= 1 and abs(a - b) <= slack * b for a in mine for b in theirs)


def _is_between_days(said: Quantity, sources: Sequence[Source], sentence: str) -> bool:
    """Whether a duration of days or more is that between two dates, of one source if not said."""
    unit_days = said.factor * _DAYS_IN.get(said.unit, 0.0)
    if unit_days < 1:
        return False
    days = [m * _DAYS_IN[said.unit] for m in said.measures]
    if _lies_so_far(days, sources, within=2.5 if unit_days == _WEEK_DAYS else 1.0):
        return True
    slack = unit_days / 2 if said.loose else min(2.0, unit_days / 3)
    apart = _APART.match(sentence, said.end) is not None
    ends = (0,) if apart else (0, 1)  # "4-7 Sept" may be four days
    return any(
        abs(abs(second - first) + inclusive - n) <= slack
        for group in _comparable_days(sources, sentence, apart=apart)
        for first, second in combinations(group, 2)
        for n in days
        for inclusive in ends
    )


def _lies_so_far(days: Sequence[float], sources: Sequence[Source], *, within: float) -> bool:
    """Whether a date of a memory lies so many days before or after the memory was said."""
    dated = (
        (date.ordinal, source.as_of.toordinal())
        for source in sources
        if source.as_of is not None
        for date in source.written
        if date.year and date.ordinal
    )
    return any(abs(abs(told - said) - n) < within for told, said in dated for n in days)


def _comparable_days(sources: Sequence[Source], sentence: str, *, apart: bool) -> list[list[int]]:
    """Return groups of days; a span may lie between any two of one group.

    Args:
        sources: Texts that an answer may draw on.
        sentence: The sentence; where it speaks of a span, days of two sources count together.
        apart: Whether it says how far apart things are: then the days of the memories count too.
    """
    if apart:
        told = ([d.ordinal for d in s.dates if d.ordinal][:_MOST_PARTS] for s in sources)
        return [[day for group in told for day in group]]
    groups = [[d.ordinal for d in s.written if d.ordinal][:_MOST_PARTS] for s in sources]
    if _SPANNED.search(sentence):
        groups.append([day for group in groups for day in group][:_MOST_PARTS])
    return groups
