"""What the numbers of the memory come to: sums, differences, means, products, shares, spans.

In: a number of an answer, the sentence around it, and the sources. Out: whether it follows. Any two
numbers come to something. So what can be reached is counted: a number holds when few of the numbers
that might stand in its place could have been reached as well, and more of them may be where a word
near it says that something was worked out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, combinations, pairwise

import regex

from palace.enforce.answer_words import answer_words
from palace.enforce.quantities import SaidNumber, decimals, read_quantities
from palace.enforce.quantity import DEGREES, MONEY, Quantity, is_small
from palace.enforce.source import NO_PARTS, Source, nearest_words
from palace.text import fold, stem

_WORKED_OUT = regex.compile(
    r"\b(?:so(?! far)|thus|hence|therefore|i\.e\.|which (?:is|makes|means|leaves|comes)"
    r"|that(?:'s| is| leaves| makes)|leav(?:es?|ing)|left|of which|remain(?:s|ing)?|rest|others?"
    r"|outstanding|owe[sd]?|still (?:open|due|to)|to go|short of|more|less|fewer|extra|additional"
    r"|another|difference|gap|between|total|altogether|combined|together|in all|all in"
    r"|all told|sum|overall|mak(?:es|ing)|com(?:es?|ing) to|works? out|came to"
    r"|(?:up|down) by|adds?|added|(?<!\.)net|double|since"
    r"|cheaper|dearer|older|younger|heavier|lighter|larger|smaller|bigger|warmer|colder"
    r"|lower|higher|wider|narrower|better|worse|later|earlier|sooner|longer|shorter|faster|slower"
    r"|quicker|ris(?:es?|en)|rose|increased?"
    r"|improve[sd]?|climb(?:s|ed)|jump(?:s|ed)|reduce[sd]?|decreased?|drop(?:s|ped)?|fell|los[et]|gained|grew|gains?|sav(?:es?|ed|ing)|earns?"
    r"|with you|counting|use[sd]|burn(?:t|ed)|differed|average[sd]?|mean|each|per|apiece|costs?"
    r"|half|early|ahead|spare|included|times (?:as|the|that)|too \p{L}+|short"
    r"|insgesamt|zusammen|mehr|weniger|macht|kosten|um|gespart|donc|reste|au total|de moins"
    r"|bleib(?:t|en)|übrig|abzüglich|abzug|differenz|billiger|teurer|günstiger|jeweils|schnitt"
    r"|durchschnitt\p{L}*|ergibt|hälfte|doppelt|gesamt|später|früher|somit"
    r"|de plus|coûtent|en (?:tout|total)|reste(?:nt|ra)?|soit|chacune?|moitié|en moyenne"
    r"|menos|más|cuestan|no total|qued(?:a|an)|es decir|o sea|en promedio|mitad|cada un[oa]"
    r"|rimang\p{L}*|manca(?:no)?|quindi|cioè|metà|in media|blij(?:ft|ven)|samen|gemiddeld"
    r"|ficam?|ou seja|metade|em média)\b"
    r"|一共|总共|總共|合计|共计|总计|平均|每人|还剩|剩下|相差|合計|全部で|残り|差額|합계|모두|평균|남은|총\s",
    regex.IGNORECASE,
)
# Says of what stands behind it that it was worked out, not of what stands before.
_FOLLOWS = regex.compile(r"(?:so|thus|hence|therefore|i\.e\.|donc)$", regex.IGNORECASE)
_PER = regex.compile(r"\s?(?:/|per|pro|par|por)\s?", regex.IGNORECASE)
_PER_SPAN = regex.compile(
    r"\b(?:an?|per|each|every|pro|im|par|al?|por|ogni)\s(?:hour|day|week|month|year|night"
    r"|stunde|tag|woche|monat|jahr|jour|semaine|mois|an|día|semana|mes|año|giorno|mese|anno|dag"
    r"|maand|jaar|dia|mês|ano)\b",
    regex.IGNORECASE,
)
# How many there are of one span in another: hours of a day, days of a week …
_RATES = (4.0, 7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 365.0)
_NEARBY_CHARS = 48
_BESIDE_CHARS = 14
_PLUS = regex.compile(r"[^.;\n]{0,14}\+[^.;\n]{0,4}")
_JOINED = regex.compile(r"(?<=\d)(?:\s?[/±]\s?|[-–:])$")
_JOINS = regex.compile(r"(?:\s?/\s?|[-–:])(?=\d)")
_TIMES = regex.compile(r"\s?\p{L}*\s?(?:[x×à@]|of|at)\s?")
_EACH = regex.compile(r"\s?(?:each|ea|apiece|je|stück|chacune?|cada un[oa])\b", regex.IGNORECASE)
_ONE_THING = regex.compile(r"[^\d,.;:()\n]{1,40}")
_FOR_ONE = regex.compile(r"\s?(?:/|per\s|pro\s|par\s|por\s)\s?(\p{L}+)", regex.IGNORECASE)
_OF = regex.compile(r"\s?(?:of|out of|von|de|di|van|sur)\s(?:the\s|den\s)?", regex.IGNORECASE)
_FRACTIONS = {
    2.0: r"\b(?:half|halve[sd]?|hälfte|halb\w*|moitié|mitad|metà|metade|helft)\b",
    3.0: r"\b(?:thirds?|drittel\w*|tiers|tercios?|terzo|terço|derde)\b",
}
_POINTS = frozenset(map(stem, ("points", "percentage", "prozentpunkte", "puntos", "pontos")))
# What was done with an amount, or is to be: "deposit 40 paid".
_DONE = frozenset(
    stem(word)
    for word in (
        "paid due owed left down off open spent sold used gone bezahlt angezahlt offen verkauft"
        " weg verse paye regle pagado pagados pagato pagati pago pagos betaald voldaan verkocht"
    ).split()
)
_NEARLY = 0.1
_HUNDREDTH = 0.01
_SIDE_BY_SIDE = 2
_MOST_PARTS = 16
_MOST_IN_THREES = 8
_MOST_STATED = 10
# The most that numbers like the one said may be reached, as a share of all such numbers; fitted on
# altered answers made from honest ones (benchmarks/mutations.py).
FREE_CHANCE = 0.15
STRICT_CHANCE = 0.03
TOLD_CHANCE = 0.35
STATED_CHANCE = 0.25
# What stands behind the number of a month, a day or a year.
_OF_DATES = frozenset("月日年월일년")


def says_worked_out(said: SaidNumber, *, within: int = _NEARBY_CHARS) -> bool:
    """Whether a word near a number says how it came about."""
    start, end = max(0, said.number.start - within), said.number.end + within
    return any(
        match.start() < said.number.start or not _FOLLOWS.match(match[0])
        for match in _WORKED_OUT.finditer(said.sentence, start, end)
    )


def comes_to(said: SaidNumber, sources: Sequence[Source], *, strict: bool = False) -> bool:
    """Whether a number is what numbers of the sources come to, hardly by chance.

    Args:
        said: A number of an answer.
        sources: What its parts may stand in.
        strict: Whether it must hardly be by chance, and not rest on what the answer itself says.
    """
    number, sentence = said.number, said.sentence
    if said.is_behind(_JOINED) or said.is_before(_JOINS):  # no pair that is measured: "128/83"
        return False
    told = says_worked_out(said)
    sure = {value for source in sources for value in _spelled_out(source, number)}
    if not strict:
        sure.update(_totals(number, said.beside, told=told))
        if told:
            sure.update(_typed(number, sources), _rests(number, sources))
    if _hits(number, sure, rough=number.loose):
        return True
    if stands_for(said, sources, told=told):
        return False
    if strict:
        return _is_reached(number, sources, told=told, free=STRICT_CHANCE)
    stated = [*_usable(said.beside), *_usable(read_quantities(said.before))]
    near = {
        *_with_stated(number, sources, stated, told=told),
        *_fractions(number, sources, sentence),
        *_rates(number, sources, sentence),
    }
    most = TOLD_CHANCE if told else STATED_CHANCE
    free = TOLD_CHANCE if number.loose else FREE_CHANCE
    if not _has_rival(said, sources):
        most = free = math.inf
    if told and not is_small(number) and not (number.loose and number.unit):
        most = math.inf  # what is told of what holds is seldom made up
    reached = _chance_of(number, near)
    return (reached < math.inf and reached <= most) or _is_reached(
        number, sources, told=told, free=free
    )


def _has_rival(said: SaidNumber, sources: Sequence[Source]) -> bool:
    """Whether the memory has a number of the kind that is not said: the one said may replace it."""
    unit, spoken = said.number.unit, said.spoken
    return any(
        spoken.isdisjoint(part.values) and unit in ("", part.unit)
        for source in sources
        for part in source.parts
    )


@lru_cache(maxsize=16)
def _measured(text: str) -> tuple[tuple[int, tuple[float, ...]], ...]:
    """Return where the numbers stand that others may be worked out from, and what they measure."""
    return tuple((q.start, q.measures) for q in _usable(read_quantities(text)))


def _is_reached(said: Quantity, sources: Sequence[Source], *, told: bool, free: float) -> bool:
    """Whether the plainest step that reaches a number reaches few others like it."""
    lists = [tuple(_comparable(source.parts, said, told=told)) for source in sources]
    rows = [row[:_MOST_PARTS] for source in sources for row in source.rows]
    together = tuple(chain(*lists))[:_MOST_PARTS]
    reached: set[float] = set()
    for step, reach in _STEPS:
        for parts in (*rows, together) if reach == "all" else lists:
            reached.update(round(value, 6) for value in step(parts, said))
        chance = _chance_of(said, reached)
        if chance < math.inf:
            return chance <= (max(free, TOLD_CHANCE) if told else free)
    return False


def _typed(said: Quantity, sources: Sequence[Source]) -> Iterator[float]:
    """Yield by how much numbers of one unit or of one thing differ, in any memory."""
    if said.unit or not says_nothing(said.noun):
        # What percentages differ by is said in points.
        kind = ("percent", "") if said.noun in _POINTS else (said.unit, said.noun)
        parts = (part for source in sources for part in source.parts)
        alike = [p.measures[0] for p in parts if (p.unit, p.noun) == kind]
        yield from (abs(one - two) for one, two in combinations(alike[:_MOST_PARTS], 2))


def _rests(said: Quantity, sources: Sequence[Source]) -> Iterator[float]:
    """Yield what all other numbers of a memory leave of its largest, as of a budget."""
    for source in sources:
        sizes = _sizes(source.parts, said)
        if len(sizes) > 2:
            yield 2 * max(sizes) - sum(sizes)


def _comparable(parts: Sequence[Quantity], said: Quantity, *, told: bool) -> Iterator[Quantity]:
    """Yield numbers; of what they are counts matters only where no word says what was done.

    What comes to thousandths is worked out from such: beside 0.045 "1.911" is no 1,911.
    """
    step = -1 if _place(said.values[0], rough=False) < _HUNDREDTH else 1
    for part in parts[:_MOST_PARTS]:
        noun = "" if told else part.noun
        yield replace(part, values=part.values[::step], noun=noun)


def _usable(numbers: Iterable[Quantity]) -> list[Quantity]:
    """Return the numbers that others may be worked out from."""
    return [
        q for q in numbers if q.values and q.unit not in NO_PARTS and q.noun[:1] not in _OF_DATES
    ]


def _with_stated(
    said: Quantity, sources: Sequence[Source], stated: Sequence[Quantity], *, told: bool
) -> Iterator[float]:
    """Yield what a number that is stated comes to with another, stated or remembered.

    With one as large only where a word says so: that may be the same.
    """
    known = [q for source in sources for q in _comparable(source.parts, said, told=True)]
    for first in stated[:_MOST_STATED]:
        one = replace(first, noun="")
        for second in (*known, *stated[:_MOST_STATED]):
            if second is not first and (told or second.measures != first.measures):
                yield from _of_two(one, replace(second, noun=""), said)


def stands_for(said: SaidNumber, sources: Sequence[Source], *, told: bool) -> bool:
    """Whether a number stands for another: beside the same words, or nearly as large.

    Where a word right beside it says what was done, only if the memory has that very word there.
    """
    number = said.number
    beside = nearest_words(said.sentence, number.start, number.end)
    if says_worked_out(said, within=_BESIDE_CHARS):
        beside = frozenset(one for one in beside if _WORKED_OUT.fullmatch(one[1]))
    others = [m for at, m in _measured(said.sentence) if not number.start <= at < number.end]
    spoken = set(chain(*others, *(measures for _, measures in _measured(said.before))))
    return any(
        (part.unit == number.unit or (not part.unit and says_nothing(part.noun)))
        and 0.5 <= (ratio := part.measures[0] / (number.measures[0] or 1.0)) <= 2
        and spoken.isdisjoint(part.measures)
        and (
            (not told and abs(ratio - 1) <= _NEARLY)
            or not beside.isdisjoint(nearest_words(source.text, part.start, part.end))
        )
        for source in sources
        for part in source.parts
    )


def _totals(said: Quantity, beside: Sequence[Quantity], *, told: bool) -> Iterator[float]:
    """Yield what all other numbers of the sentence come to: "47: thirty of them, the other 17".

    What they leave counts where a word says so: "of 12 seven are sold, so five are left".
    """
    sizes = _sizes(_usable(beside), said)
    if len(sizes) > 1:
        yield sum(sizes)
        if told:
            yield 2 * max(sizes) - sum(sizes)


def _hits(said: Quantity, reached: Iterable[float], *, rough: bool) -> bool:
    slack = _last_place(said.values[0], quarters=is_spelled(said)) * said.factor / 2 * rough
    return any(
        abs(measure - value) <= max(slack, 1e-6 * max(1.0, abs(value)))
        for value in reached
        for measure in said.measures
    )


def _chance_of(said: Quantity, reached: set[float]) -> float:
    """Return the least chance by which a number is reached, exactly or roughly; else infinity."""
    return min(
        (
            _chance(said, reached, rough=rough)
            for rough in {False, said.loose}
            if _hits(said, reached, rough=rough)
        ),
        default=math.inf,
    )


def _chance(said: Quantity, reached: set[float], *, rough: bool) -> float:
    """Return the share of numbers as large and as exact as the one said that are reached."""
    size = abs(said.values[0]) or 1.0
    step = _place(size, rough=rough)
    low, high = size / 2, size * 2
    places = {
        round(value / step)
        for value in (r / said.factor for r in reached)
        if low <= value <= high and (rough or abs(value / step - round(value / step)) < 1e-4)
    }
    return len(places) * step / (high - low)


def _place(size: float, *, rough: bool) -> float:
    """Return the last place that a number is said to: 0.1 of 2.5, 1 of 40, 10 of a rough 40."""
    place = float(10.0 ** -decimals(size))
    while rough and place < size / 10 and math.isclose(size % (10 * place), 0.0, abs_tol=1e-9):
        place *= 10
    return place


def rounds_to(said: float, exact: float, *, quarters: bool = False) -> bool:
    """Whether a rough number is an exact one to its own last place: nine of 9.1, 15 of 14.8.

    With quarters that is one where it is said in them: three quarters of an hour of 42 minutes.
    """
    return abs(said - exact) <= (_last_place(said, quarters=quarters) if said else 1.0) / 2


def is_spelled(said: Quantity) -> bool:
    """Whether a number is said in words."""
    return not any(map(str.isdigit, said.text))


def _last_place(size: float, *, quarters: bool) -> float:
    """Return the place that a rough number is said to, a quarter of what is said in quarters."""
    in_quarters = quarters and not size.is_integer() and (4 * size).is_integer()
    return 0.25 if in_quarters else _place(size, rough=True)


def _size(part: Quantity, said: Quantity, other: Quantity | None = None) -> float | None:
    """Return a part in the smallest unit of what is said, if the two can be compared."""
    if part.unit == said.unit:
        return part.measures[0]
    if not part.unit:
        if not says_nothing(part.noun):
            return None  # a count of something else
        like = other if other is not None and other.unit == said.unit else said
        return part.values[0] * like.factor
    return part.values[0] if not said.unit and says_nothing(said.noun) else None


def _sizes(parts: Iterable[Quantity], said: Quantity) -> list[float]:
    return [size for part in parts if (size := _size(part, said)) is not None]


def says_nothing(noun: str) -> bool:
    """Whether the word behind a number is no thing that is counted: "412 now"."""
    lists = answer_words()
    return len(noun) < 2 or noun in lists.function or noun in lists.framing or noun in _DONE


def _alike(parts: Sequence[Quantity], said: Quantity) -> list[float]:
    return [
        q.measures[0]
        for q in parts
        if q.unit == said.unit and (says_nothing(q.noun) or said.noun.startswith(q.noun))
    ]


# -- ways to come to a number, the plainest first --------------------------------------------------


def _spelled_out(source: Source, said: Quantity) -> Iterator[float]:
    """Yield what is to be worked out as it stands there: "980 + 120", "2 x 2.5 l", "1 of 8"."""
    for first, second in pairwise(source.parts[:_MOST_PARTS]):
        between = source.text[first.end : second.start]
        first, second = replace(first, noun=""), replace(second, noun="")
        sizes = _size(first, said, second), _size(second, said, first)
        if sizes[1] is not None and sizes[0] is not None and _PLUS.fullmatch(between):
            yield sizes[0] + sizes[1]
        if sizes[1] is not None and not first.unit and _TIMES.fullmatch(between):
            yield first.values[0] * sizes[1]
        if sizes[1] is not None and not first.unit and _OF.fullmatch(between):
            yield sizes[1] - first.values[0] * second.factor  # "lost 1 of 8"
        if sizes[0] is not None and second.unit and second.values[0] and _PER.fullmatch(between):
            yield sizes[0] / second.values[0]  # of one: "20 ml per 5 l"
    for row in source.rows:
        yield from _bill(row[:_MOST_PARTS], said, source.text)


def _bill(row: Sequence[Quantity], said: Quantity, text: str) -> Iterator[float]:
    """Yield what a list comes to that has multiples, and so many of what costs so much for one.

    "£45, £28, 6 chairs £4 each", "4 x 94, 186, 2 x 148"; "4 nights £85/n, dog +£5/n".
    """
    priced = _multiplied(row, text)
    if len(priced) < len(row):
        sized = [(part, size) for part in priced if (size := _size(part, said)) is not None]
        yield sum(size for _, size in sized)
        yield sum(size for part, size in sized if part not in row)
        yield from (m for part in priced if part.unit == said.unit for m in part.measures)
    rates: dict[str, float] = {}
    for part in priced:
        one, size = _FOR_ONE.match(text, part.end), _size(part, said)
        if one and size is not None:
            rates[fold(one[1])] = rates.get(fold(one[1]), 0.0) + size
    for count in row if rates else ():
        *_, thing = ("", *regex.findall(r"\p{L}+", fold(f"{count.text} {count.noun}")))
        yield from (count.values[0] * size for one, size in rates.items() if thing.startswith(one))


def _multiplied(row: Sequence[Quantity], text: str) -> list[Quantity]:
    """Return a row in which so many of a thing and what each is are one number."""
    found: list[Quantity] = []
    for part in row:
        if found and _is_multiple(found[-1], part, text):
            count = found.pop()
            values = tuple(count.values[0] * value for value in part.values)
            part = replace(part, values=values, start=count.start, noun="")
        found.append(part)
    return found


def _is_multiple(count: Quantity, each: Quantity, text: str) -> bool:
    """Whether it is told how many of a thing and what each is: "6 chairs £4 each", "4 @ £210"."""
    between = text[count.end : each.start]
    told = _TIMES.fullmatch(between) or (
        _EACH.match(text, each.end) and _ONE_THING.fullmatch(between)
    )
    return bool(told) and (not count.unit or count.unit not in ("percent", each.unit))


def _fractions(said: Quantity, sources: Sequence[Source], sentence: str) -> Iterator[float]:
    """Yield halves and thirds of what is remembered, where one is spoken of."""
    texts = (sentence, *(source.text for source in sources))
    known = (part for source in sources for part in source.parts[:_MOST_PARTS])
    sizes = _sizes((part for part in known if part.unit != "percent"), said)
    for parts, pattern in _FRACTIONS.items():
        if any(regex.search(pattern, text, regex.IGNORECASE) for text in texts):
            yield from (share for size in sizes for share in (size / parts, size - size / parts))


def _rates(said: Quantity, sources: Sequence[Source], sentence: str) -> Iterator[float]:
    """Yield what so much in one span makes in another, where a sentence says "a day"."""
    if not _PER_SPAN.search(sentence):
        return
    for source in sources:
        for size in _sizes(source.parts[:_MOST_PARTS], said):
            yield from (rate for n in _RATES for rate in (size * n, size / n))


def _wholes(parts: Sequence[Quantity], said: Quantity) -> Iterator[float]:
    """Yield sum and mean of a list: numbers of one kind in a row, or all of them."""
    for row in (*_rows(parts), parts):
        for sizes in (_alike(row, said), _sizes(row, said)):
            if len(sizes) > 1:
                yield sum(sizes)
                yield sum(sizes) / len(sizes)


def _rows(parts: Sequence[Quantity]) -> Iterator[list[Quantity]]:
    """Yield numbers that follow each other: of one unit, or with nothing between."""
    for breaks in (_is_other_unit, _is_apart):
        row: list[Quantity] = []
        for part in parts:
            if row and breaks(row[-1], part):
                yield row
                row = []
            row.append(part)
        yield row


def _is_other_unit(one: Quantity, two: Quantity) -> bool:
    return two.unit not in (one.unit, "")


def _is_apart(one: Quantity, two: Quantity) -> bool:
    return not 0 < two.start - one.end <= _SIDE_BY_SIDE


def _neighbours(parts: Sequence[Quantity], said: Quantity) -> Iterator[float]:
    """Yield what two numbers side by side come to, and the product of three."""
    for one, two, three in zip(parts, parts[1:], parts[2:], strict=False):
        if (size := _size(three, said)) is not None:
            yield one.values[0] * two.values[0] * size
    for first, second in pairwise(parts):
        yield from _of_two(first, second, said)


def _pairs(parts: Sequence[Quantity], said: Quantity) -> Iterator[float]:
    """Yield what two numbers of one unit come to."""
    if said.unit == "percent":
        yield from _shares(parts, decimals(said.values[0]))
    elif said.unit in DEGREES:
        sizes = [q.values[0] for q in parts if not q.unit or q.unit in DEGREES]
        yield from (abs(a - b) for a, b in combinations(sizes, 2))
    else:
        yield from (abs(one - two) for one, two in combinations(_alike(parts, said), 2))
    if not said.unit:
        yield from (100 - q.values[0] for q in parts if q.unit == "percent")


def _all_pairs(parts: Sequence[Quantity], said: Quantity) -> Iterator[float]:
    for first, second in combinations(parts, 2):
        yield from _of_two(first, second, said)


def _threes(parts: Sequence[Quantity], said: Quantity) -> Iterator[float]:
    for a, b, c in combinations(_sizes(parts, said)[:_MOST_IN_THREES], 3):
        yield from (a + b + c, a + b - c, a + c - b, b + c - a)


def _of_two(first: Quantity, second: Quantity, said: Quantity) -> Iterator[float]:
    if said.unit == "percent" or said.unit in DEGREES:
        return
    one, two = _size(first, said, second), _size(second, said, first)
    if one is not None and two is not None:
        yield one + two
        yield abs(one - two)
    for count, each in ((first, second), (second, first)):
        size = _size(each, said)
        if size is None:
            continue
        if count.unit == "percent":
            yield from (size * n / 100 for n in (count.values[0], 100 - count.values[0]))
            yield size * (100 + count.values[0]) / 100
        elif count.unit not in DEGREES and (
            (count.unit != said.unit or not said.unit) and not {count.unit, said.unit} <= MONEY
        ):
            yield size * count.values[0]
            if count.unit == "months":
                yield size * count.measures[0] / 12
            if count.values[0] > 1:
                yield size / count.values[0]


def _shares(parts: Sequence[Quantity], decimals: int) -> Iterator[float]:
    """Yield percentages: one number in per cent of another, rounded."""
    for first, second in combinations(parts, 2):
        low, high = sorted((first.measures[0], second.measures[0]))
        if first.unit == second.unit and high:
            shares = [low / high, (high - low) / high, *([(high - low) / low] if low > 0 else [])]
            yield from (round(100 * share, decimals) for share in shares)


_STEPS: tuple[tuple[Callable[[Sequence[Quantity], Quantity], Iterator[float]], str], ...] = (
    (_wholes, "all"),
    (_neighbours, "each"),
    (_pairs, "all"),
    (_all_pairs, "each"),
    (_threes, "each"),
)
