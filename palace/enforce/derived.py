"""Numbers that follow from what stands there: sums, differences, products, spans and counts.

In: a number of an answer, the sentence around it and the sources. Out: whether it follows. Any two
numbers come to something, so each way needs words in the sentence that say what was done, and
numbers that stand side by side in one source.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import regex

from palace.enforce.quantities import Quantity
from palace.enforce.source import Source, listed_length
from palace.text import fold, stem, words

_TOTAL = regex.compile(
    r"\b(?:total|altogether|combined|in all|all in|all told|together|sum|overall|zusammen|insgesamt"
    r"|au total|en total|no total)\b",
    regex.IGNORECASE,
)
_PRODUCT = regex.compile(
    r"\b(?:comes? to|came to|makes|adds? up to|costs?|macht|kosten|coûtent|cuestan)\b",
    regex.IGNORECASE,
)
_DIFFERENCE = regex.compile(
    r"\b(?:sav(?:e[sd]?|ing)|difference|(?:down|up|fell|drop(?:s|ped)?|rose|rises?|raised|reduced"
    r"|increased?|cut|shorter|longer|faster|slower|earlier|later)\s+by|(?:drop|dropped|discarded"
    r"|removed|lost|gained|left out)\s+(?=\d|\p{L}+\s+in\b)|(?:fewer|less|more|shorter|longer"
    r"|faster|slower)\s+than|um|weniger|mehr|gespart|de moins|de plus|menos|más)\b",
    regex.IGNORECASE,
)
_APART = regex.compile(
    r"\s*\b(?:earlier|later|before|after|apart|früher|später|vorher|danach|plus tôt|plus tard"
    r"|avant|après|antes|después|depois)\b",
    regex.IGNORECASE,
)
_RATE = regex.compile(r"\s*(?:/|per|an?|pro|par|por|each)\s*(?P<noun>\p{L}+)?", regex.IGNORECASE)
_TIMES = regex.compile(r"\s*+\p{L}*\s*+(?:à|x|×|@|of|at)\s*", regex.IGNORECASE)
_WEEKLY = regex.compile(
    r"\s*(?:a|per|every|each)\s+week\b|\s*(?:pro|die) Woche\b", regex.IGNORECASE
)
_AFTER_COLON = regex.compile(r":\s(?P<listed>[^.;!?]+)|\((?P<listed>[^()]+)\)")
_ONE_OF = r"\b{noun}\p{{L}}{{0,2}} (?P<label>\p{{Lu}}|\d{{1,2}})(?![\w.])"
_RANGE = regex.compile(
    r"(?<![\d.,:-])(\d{1,3})\s*(?:-|–|to|bis|à|a|al|até)\s*(\d{1,3})(?![\d.,:-])"
)
_MOST_PARTS = 12
_SECONDS_IN_DAY = 86_400
_LOOSE_SHARE = 0.05


def is_total(said: Quantity, parts: Sequence[Quantity], sentence: str) -> bool:
    """Whether a number is said to be the total of numbers that stand there."""
    if not _TOTAL.search(sentence) or len(parts) > _MOST_PARTS:
        return False
    sizes = [q.measures[0] for q in parts if q.measures]
    sums = {round(a + b, 6) for a, b in combinations(sizes, 2)} | {round(sum(sizes), 6)}
    return not sums.isdisjoint(said.measures)


def is_sum_of_two(said: Quantity, sources: Sequence[Source], sentence: str) -> bool:
    """Whether a number is said to be the total of two side by side, one without its unit."""
    if not _TOTAL.search(sentence):
        return False
    pairs = (pair for source in sources for pair in pairwise(source.quantities))
    sizes = (_comparable(first, second, said) for first, second in pairs)
    return any(size is not None and round(sum(size), 6) in said.measures for size in sizes)


def is_difference(said: Quantity, sources: Sequence[Source], sentence: str) -> bool:
    """Whether a number is said to be the difference of two that stand side by side."""
    if not _DIFFERENCE.search(sentence):
        return False
    for source in sources:
        for first, second in pairwise(source.quantities):
            sizes = _comparable(first, second, said)
            if sizes and round(abs(sizes[0] - sizes[1]), 6) in said.measures:
                return True
    return False


def _comparable(first: Quantity, second: Quantity, said: Quantity) -> tuple[float, float] | None:
    """Return two numbers in the unit of a third; one of them may leave its unit out."""
    units = {first.unit, second.unit}
    if not (first.values and second.values) or not units <= {said.unit, ""}:
        return None
    if said.unit and units == {""}:
        return None
    factor = max(first.factor, second.factor) if len(units) > 1 else 1.0
    low, high = (
        q.values[0] * factor if len(units) > 1 and not q.unit else q.measures[0]
        for q in (first, second)
    )
    return low, high


def is_product(said: Quantity, sources: Sequence[Source], sentence: str) -> bool:
    """Whether a number is said to be what so many of a thing come to at a price for each."""
    if not (_PRODUCT.search(sentence) or _TOTAL.search(sentence)):
        return False
    for source in sources:
        for count, each_size in pairwise(source.quantities):
            between = source.text[count.end : each_size.start]
            fits = not count.unit and each_size.unit == said.unit and _TIMES.fullmatch(between)
            if fits and round(count.values[0] * each_size.measures[0], 6) in said.measures:
                return True
        for price in source.quantities:
            rate = _RATE.match(source.text, price.end)
            if rate is None or not price.values or price.unit not in ("", said.unit):
                continue
            each = stem(fold(rate["noun"] or ""))
            counts = (q for q in source.quantities if q is not price and q.noun and q.noun == each)
            if any(round(price.measures[0] * q.values[0], 6) in said.measures for q in counts):
                return True
    return False


def is_time_apart(said: Quantity, sources: Sequence[Source], sentence: str) -> bool:
    """Whether "two days earlier" are the days between two dates, of one source or of two."""
    if said.unit != "time" or not is_apart(said, sentence):
        return False
    ordinals = sorted({d.ordinal for s in sources for d in s.written if d.ordinal})[:_MOST_PARTS]
    apart = {float((b - a) * _SECONDS_IN_DAY) for a, b in combinations(ordinals, 2)}
    return not apart.isdisjoint(said.measures)


def is_apart(said: Quantity, sentence: str) -> bool:
    """Whether a duration is said to lie between two days, as "two days earlier" does."""
    return _APART.match(sentence, said.end) is not None


def is_about_span(said: Quantity, spans: Sequence[float]) -> bool:
    """Whether "just under three hours" is roughly the time between two clock times."""
    return said.loose and any(
        span > 0 and abs(size - span) <= _LOOSE_SHARE * span
        for size in said.measures
        for span in spans
    )


def is_count(said: Quantity, sources: Sequence[Source], sentence: str) -> bool:
    """Whether a small number in words is how many things a list names, or how many there are."""
    if said.text[:1].isdigit() or not said.values or not said.values[0].is_integer():
        return False
    count = int(said.values[0])
    if said.noun == "time":  # "twice a week" counts the days of a week, no list
        weekly = _WEEKLY.match(sentence, said.end) is not None
        return weekly and any(len(source.weekdays) == count for source in sources)
    if _is_single(said.noun, sources):
        return False
    memories = sum(bool(source.quantities) for source in sources)
    if count == memories > 1 or any(
        count in source.lengths or count == _counted(source) for source in sources
    ):
        return True
    listed = _AFTER_COLON.search(sentence, said.end)
    if listed is not None and listed_length(listed["listed"]) == count:
        return True
    return count > 1 and count == _labelled(said, sources, sentence)


def _counted(source: Source) -> int:
    """Return how many things are counted in all: 3 of "2 plum, 1 quince"; 0 beyond a handful."""
    counts = [q.values[0] for q in source.quantities if not q.unit and q.noun and q.values]
    whole = len(counts) > 1 and all(count.is_integer() and count < 10 for count in counts)
    return int(sum(counts)) if whole else 0


def _is_single(noun: str, sources: Sequence[Source]) -> bool:
    """Whether there is one of the things that are counted: "a spoon of jelly"."""
    if not noun:
        return False
    one = regex.compile(rf"\b(?:an?|one|1) (?:\p{{L}}+ )?{regex.escape(noun)}")
    return any(one.search(source.plain) for source in sources)


def _labelled(said: Quantity, sources: Sequence[Source], sentence: str) -> int:
    """Return how many labels stand after the thing that is counted: "sensor A", "sensor B"."""
    following = next(iter(words(sentence[said.end :])), None)
    if following is None or len(following.token) < 3 or not following.token.isalpha():
        return 0
    pattern = regex.compile(_ONE_OF.format(noun=following.token), regex.IGNORECASE)
    labels = {
        m["label"] for s in sources for m in pattern.finditer(s.text) if not m["label"].islower()
    }
    return len(labels)


def is_within_range(said: Quantity, sources: Sequence[Source], sentence: str) -> bool:
    """Whether a number is listed between the two ends of a range that stands there."""
    if said.unit or not said.values:
        return False
    for source in sources:
        for match in _RANGE.finditer(source.text):
            low, high = int(match[1]), int(match[2])
            ends = all(regex.search(rf"(?<![\d.,]){n}(?!\d)", sentence) for n in (low, high))
            if ends and low < said.values[0] < high and said.values[0].is_integer():
                return True
    return False
