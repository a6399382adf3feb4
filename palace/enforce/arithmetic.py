"""What the numbers of one memory come to: sums, differences, shares, times and days worked out.

In: a number or date of an answer, the sentence around it, and a source. Out: whether it follows.
Any two small numbers come to something, so a small number needs a word that says that something was
worked out; a number of three digits or more hardly ever comes about by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import combinations, pairwise

import regex

from palace.enforce.dates import FoundDate
from palace.enforce.quantities import Quantity
from palace.enforce.source import Source

_WORKED_OUT = regex.compile(
    r"\b(?:so(?! far)|thus|hence|therefore|i\.e\.|which (?:is|makes|means|leaves|comes)"
    r"|that(?:'s| is| leaves| makes)|leav(?:es?|ing)|left|of which|remain(?:s|ing)?|rest|others?"
    r"|outstanding|owe[sd]?|still (?:open|due|to)|to go|short of|more|less|fewer|extra|additional"
    r"|another|difference|gap|between|apart|total|altogether|combined|together|in all|all in|sum"
    r"|overall|mak(?:es|ing)|com(?:es?|ing) to|came to|adds?|net|double|since|later|earlier|longer"
    r"|shorter|ris(?:es?|en)|rose|increased?|decreased?|drop(?:s|ped)?|los[et]|gained|grew|gains?"
    r"|saved?|earns?|with you|counting|use[sd]?|burn(?:t|ed)|differed"
    r"|insgesamt|zusammen|mehr|weniger|donc|reste)\b",
    regex.IGNORECASE,
)
_ENDED = regex.compile(
    r"\b(?:until|till|to|before|after|from|since|ends?|ending|expires?|runs? out|through|due|next"
    r"|so|i\.e\.|later|back|covered|good|valid|again|bis|jusqu)\b",
    regex.IGNORECASE,
)
_AGED = regex.compile(
    r"\b(?:aged?|old|younger|older|years?|at (?:about )?\d+|was|were)\b", regex.IGNORECASE
)
_NEARBY_CHARS = 48
_PLUS = regex.compile(r"[^.;\n]{0,14}\+[^.;\n]{0,4}")
_TIMES = regex.compile(r"\s?\p{L}*\s?[x×]\s?")
_ROUGHLY = regex.compile(
    r"(?:about|around|roughly|approximately|nearly|almost|some|just (?:over|under)"
    r"|(?:a )?(?:little|bit) (?:over|under|more than|less than)|(?:more|less) than|over|under"
    r"|close to|a good|well over|or so)[\s$€£]*$",
    regex.IGNORECASE,
)
_NOT_PARTS = frozenset({"clock", "version", "ordinal"})
_PAIR = 2
_SCALES = frozenset({"celsius", "fahrenheit", "degrees"})
_FREE_DIGITS = 3
_LARGE = 1000
_OLDEST = 120
_MOST_PARTS = 16
_ROUGH_SHARE = 0.08
_DAY_SECONDS = 86_400.0


def says_worked_out(said: Quantity, sentence: str) -> bool:
    """Whether a word near a number says how it came about."""
    start, end = max(0, said.start - _NEARBY_CHARS), said.end + _NEARBY_CHARS
    glossed = sentence[: said.start].rstrip().endswith(("(", "+", "=", "→", "->"))
    return glossed or _WORKED_OUT.search(sentence[start:end]) is not None


def comes_to(said: Quantity, sources: Sequence[Source], sentence: str) -> bool:
    """Whether a number is what numbers of one source come to."""
    if not said.values or said.unit in _NOT_PARTS:
        return False
    free = _digits(said) >= _FREE_DIGITS
    told = says_worked_out(said, sentence)
    rough = said.loose or _ROUGHLY.search(sentence, 0, said.start) is not None
    for source in sources:
        parts = source.parts[:_MOST_PARTS]
        if any(_is(said, value, rough=rough) for value in _added(parts, source, said)):
            return True
        if any(_is(said, v, rough=rough) for v in _percentages(parts, said)):
            return True
        if told and any(_is(said, v, rough=rough) for v in _results(parts, said)):
            return True
        alike = [q for q in parts if q.unit == said.unit and q.noun in ("", said.noun)]
        if free and any(_is(said, v, rough=False) for v in _results(alike, said)):
            return True
    return False


def _percentages(parts: Sequence[Quantity], said: Quantity) -> Iterator[float]:
    """Yield what percentages of larger sums come to; no small number is reached this way."""
    shares = [q.values[0] for q in parts if q.unit == "percent"]
    for part in parts:
        size = _size(part, said)
        if size is not None and part.unit != "percent" and part.values[0] >= _LARGE:
            yield from (size * share / 100 for share in shares)


def _is(said: Quantity, value: float, *, rough: bool) -> bool:
    slack = _ROUGH_SHARE * abs(value) if rough else 1e-6 * max(1.0, abs(value))
    return any(abs(measure - value) <= slack for measure in said.measures)


def _digits(said: Quantity) -> int:
    """Return how many significant digits a number has."""
    return len(regex.sub(r"\D", "", f"{said.values[0]:.6g}").strip("0"))


def _size(part: Quantity, said: Quantity, other: Quantity | None = None) -> float | None:
    """Return a part in the smallest unit of what is said, if the two can be compared."""
    if part.unit == said.unit:
        return part.measures[0]
    if not part.unit:
        like = other if other is not None and other.unit == said.unit else said
        return part.values[0] * like.factor
    return part.values[0] if not said.unit else None


def _added(parts: Sequence[Quantity], source: Source, said: Quantity) -> Iterator[float]:
    """Yield the sums of numbers that stand there with a plus between them."""
    for first, second in pairwise(parts):
        between = source.text[first.end : second.start]
        sizes = _size(first, said, second), _size(second, said, first)
        if _PLUS.fullmatch(between) and sizes[0] is not None and sizes[1] is not None:
            yield sizes[0] + sizes[1]
        if _TIMES.fullmatch(between) and sizes[1] is not None and not first.unit:
            yield first.values[0] * sizes[1]


def _results(parts: Sequence[Quantity], said: Quantity) -> Iterator[float]:
    if said.unit == "percent":
        yield from _shares(parts)
        return
    if said.unit in _SCALES:
        sizes = [q.values[0] for q in parts if not q.unit or q.unit in _SCALES]
        yield from (abs(a - b) for a, b in combinations(sizes, 2))
        return
    if not said.unit:
        yield from (100 - q.values[0] for q in parts if q.unit == "percent")
    sizes = [size for part in parts if (size := _size(part, said)) is not None]
    if len(sizes) > _PAIR:
        yield sum(sizes)
        yield from (a + b + c for a, b, c in combinations(sizes[:8], 3))
        yield from (a + b - c for a, c, b in combinations(sizes[:8], 3))
    for first, second in combinations(parts, 2):
        yield from _of_two(first, second, said)


def _of_two(first: Quantity, second: Quantity, said: Quantity) -> Iterator[float]:
    one, two = _size(first, said, second), _size(second, said, first)
    if one is not None and two is not None:
        yield one + two
        yield abs(one - two)
    for count, each in ((first, second), (second, first)):
        size = _size(each, said)
        if size is None:
            continue
        if count.unit == "percent":
            yield size * count.values[0] / 100
            yield size * (100 - count.values[0]) / 100
            yield size * (100 + count.values[0]) / 100
        elif count.unit != said.unit or not said.unit:
            yield size * count.values[0]
            if count.unit == "months":
                yield size * count.measures[0] / 12
            if count.values[0] > 1:
                yield size / count.values[0]


def _shares(parts: Sequence[Quantity]) -> Iterator[float]:
    """Yield percentages: what a percentage leaves, and one number in per cent of another."""
    for part in parts:
        if part.unit == "percent":
            yield 100 - part.values[0]
    for first, second in combinations(parts, 2):
        low, high = sorted((first.measures[0], second.measures[0]))
        if first.unit == second.unit and high > 0:
            yield from (round(100 * low / high), round(100 * (high - low) / high))
            if low > 0:
                yield round(100 * (high - low) / low)


# -- times and days --------------------------------------------------------------------------------


def clock_comes_to(said: Quantity, sources: Sequence[Source]) -> bool:
    """Whether a clock time is one that stands there, so much earlier or later as stands there."""
    wanted = {round(value) % 1440 for value in said.values}
    for source in sources:
        clocks = [q for q in source.readings if q.unit == "clock"]
        spans = [q.measures[0] / 60 for q in source.readings if q.unit == "time" and q.values]
        for clock in clocks:
            for span in spans:
                later = {round(v + sign * span) % 1440 for v in clock.values for sign in (1, -1)}
                if not wanted.isdisjoint(later):
                    return True
    return False


def date_comes_to(said: FoundDate, sources: Sequence[Source], sentence: str) -> bool:
    """Whether a date is one that stands there, so many days, months or years on or back.

    A span that leads from one date of the memory to another has been used up.
    """
    if not _ENDED.search(sentence):
        return False
    return any(said.fits(day) for source in sources for day in _moved(source))


def _moved(source: Source) -> Iterator[FoundDate]:
    days = [d for d in source.dates if d.year and d.month and d.day][:_MOST_PARTS]
    spans = [q for q in source.quantities if q.unit in ("time", "months") and q.values]
    known = {(d.year, d.month, d.day) for d in days}
    for span in spans[:_MOST_PARTS]:
        ends = [end for day in days for sign in (1, -1) for end in _shifted(day, span, sign)]
        if known.isdisjoint((d.year, d.month, d.day) for d in ends):
            yield from ends


def _shifted(day: FoundDate, span: Quantity, sign: int) -> Iterator[FoundDate]:
    start = date(day.year or 2000, day.month or 1, day.day or 1)
    if span.unit == "months":
        months = start.year * 12 + start.month - 1 + sign * round(span.measures[0])
        if not 12 < months < 12 * 9999:
            return
        length = (date(months // 12 + (months % 12 == 11), (months + 1) % 12 + 1, 1)
                  - date(months // 12, months % 12 + 1, 1)).days  # fmt: skip
        end = date(months // 12, months % 12 + 1, min(start.day, length))
    else:
        days = span.measures[0] / _DAY_SECONDS
        if days < 1 or days > 40_000:
            return
        end = start + timedelta(days=sign * round(days))
    for inclusive in (0, -1):
        last = end + timedelta(days=inclusive)
        yield FoundDate(last.year, last.month, last.day)


def years_apart(said: Quantity, sources: Sequence[Source], sentence: str) -> bool:
    """Whether a number is the years between two years that stand there, or an age at one."""
    if said.unit not in ("", "months") or not said.values:
        return False
    if not _AGED.search(sentence) and not says_worked_out(said, sentence):
        return False
    years = {value / 12 for value in said.measures} if said.unit == "months" else set(said.values)
    for source in sources:
        known = sorted({d.year for d in source.dates if d.year} | _bare_years(source))
        ages = {value for q in source.quantities if not q.unit for value in q.values}
        if any(year - age in years for year in known for age in ages if 1 < age < _OLDEST):
            return True
        for first, second in combinations(known, 2):
            if not years.isdisjoint({second - first, second - first - 1}):
                return True
    return False


def _bare_years(source: Source) -> set[int]:
    return {
        int(value)
        for q in source.quantities
        if not q.unit
        for value in q.values
        if value.is_integer() and 1800 <= value <= 2100
    }
