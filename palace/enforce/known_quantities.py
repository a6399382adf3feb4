"""Numbers that an answer may say: those of the evidence, and those that follow from them.

In: sources, and a quantity of an answer with its sentence. Out: whether it stands there with its
unit, is worked out from what stands there, or is the reader's own count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import regex

from palace.enforce.answer_words import answer_words
from palace.enforce.arithmetic import comes_to, is_spelled, rounds_to, says_nothing
from palace.enforce.counts import is_counted_otherwise, is_told_less_often, told_a_day, told_a_week
from palace.enforce.dates import FoundDate, find_weekdays
from palace.enforce.known_dates import KnownDates
from palace.enforce.quantities import AROUND, FOR_ONE, OR_SO, SaidNumber
from palace.enforce.quantity import DEGREES, Quantity, is_small
from palace.enforce.signs import has_other_sign
from palace.enforce.source import Source
from palace.enforce.spans import clock_comes_to, date_comes_to, is_as_long, is_span
from palace.text import fold, right_before

_AT = regex.compile(
    r"\b(?:at|by|until|till|before|after|from|to|between|and|around|(?:later|earlier) than"
    r"|um|bis|ab|zwischen|und|à|las)\s+$"
    r"|@\s?$",
    regex.IGNORECASE,
)
_SHORTLY_MINUTES = 20
_LEAST_CODE_DIGITS = 4
_SHORTLY = regex.compile(
    r"\b(?:shortly|just|a (?:little|bit)|a few minutes|soon|around|about|roughly|towards?|kurz"
    r"|gegen|vers|hacia|sobre|verso|por volta|rond|tegen"
    r"|(?:peu|poco|pouco|even|iets)(?=\s+(?:a|d|p|na|v)))"
    r"(?:\s+(?:before|after|past|to|vor|nach|apr[eè]s|avant|despu[eé]s|antes|dopo|prima|depois|na"
    r"|voor))?(?:\s+de)?(?:\s+(?:las?|l[ea]|alle|delle|d?as))?\s+$",
    regex.IGNORECASE,
)
_DAY_BEFORE = regex.compile(
    r"\b(?:am|vom|zum|dem|den|le|el|il|al|dal|del|op|día|dia|do|du|au|the)\s+$",
    regex.IGNORECASE,
)
_WORD_BEFORE = regex.compile(r"(?<!\p{L})(\p{L}{3,40}+)\s$")
_VERSION_BEFORE = regex.compile(r"\b(?:version|revision|v|rev\.?)\s$", regex.IGNORECASE)
_POINT_BEFORE = regex.compile(r"(?<![\w.])\.$")
_LABELS = regex.compile(r"(?<!\p{L})\p{Lu}\p{L}*+\s$")
_JOINED_BEHIND = regex.compile(r"[-–:/×](?=\d)")
_JOINED_BEFORE = regex.compile(r"(?<=\d)(?:[-–:/x×.]|,\s|,?\s(?:and|und|et|y|e)\s)$")


def _equals(said: Quantity, known: Quantity, *, hourly: bool) -> bool:
    """Whether a number without a unit may be a known quantity; "at ten" may be 22:00."""
    if known.unit == "version":
        return known.version.startswith(f"{said.text.strip()}.")
    if known.unit == "clock":
        hours = {value / 60 - half for value in known.values for half in (0, 12)}
        return hourly and not hours.isdisjoint(v for v in said.values if v.is_integer())
    return not set(known.values).isdisjoint(said.values)


def _is_telling(known: Quantity) -> bool:
    """Whether a number is more than a single digit, so that it hardly stands for two things."""
    return "." in known.text or any(v >= 10 or not v.is_integer() for v in known.values)


def _names_with(said: SaidNumber) -> Iterator[str]:
    """Yield patterns of what a bare number may be a part of, as it is written there."""
    digits, label = said.number.text, said.is_behind(_WORD_BEFORE)
    if said.is_behind(_POINT_BEFORE):  # ".47" is the end of an address: 192.168.1.47
        yield rf"\d\.{regex.escape(digits)}(?![\d.]\d|\d)"
    if not digits.isdigit():
        return
    if len(digits) >= _LEAST_CODE_DIGITS:  # "0619" stands there digit by digit: 0-6-1-9
        yield rf"(?<![\w.,-]){'[- ]'.join(digits)}(?![\w-]|[.,]\d)"
    if said.is_behind(_VERSION_BEFORE):  # "version 7" is the v7 or rev7 of a name
        yield rf"(?<!\p{{L}})(?:v|r|ver|rev)[.-]?{digits}(?![\d.]\d)"
    if label:  # "step 18000" is step_18000, and "Postgres 15" a 15.6
        name = rf"(?<!\p{{L}}){regex.escape(fold(label[1]))}"
        yield rf"{name}[_-]?0*{digits}(?!\d)"
        if label[1][0].isupper():
            yield rf"{name} {digits}\.\d"


@dataclass(frozen=True, eq=False)
class KnownQuantities:
    """The numbers of several sources together.

    Attributes:
        sources: Texts that an answer may draw on.
        dates: Their dates, whose days and years may be said alone.
        strict: Whether little may be worked out, as after unclear evidence.
    """

    sources: Sequence[Source]
    dates: KnownDates
    strict: bool = False

    @cached_property
    def _quantities(self) -> tuple[Quantity, ...]:
        return tuple(q for s in self.sources for q in s.readings)

    @cached_property
    def _counts(self) -> tuple[Quantity, ...]:
        """Numbers that tell how many there are, which "5 plants per m" does not."""
        return tuple(
            q for s in self.sources for q in s.readings if not FOR_ONE.match(s.text, q.end)
        )

    def has_reading(self, quantity: Quantity) -> bool:
        """Whether a number that shorthand may mean stands there as it is, not worked out."""
        return any(
            q.unit == quantity.unit and not set(q.measures).isdisjoint(quantity.measures)
            for q in self._quantities
        )

    def has_number(self, said: SaidNumber) -> bool:
        """Whether a number stands there with its unit, or follows from what stands there."""
        quantity = said.number
        if quantity.unit == "version":
            return self._has_version(quantity.version)
        if quantity.unit == "clock":
            return self._has_clock(said)
        if has_other_sign(said, self.sources):
            return False
        if quantity.unit == "ordinal":
            return self._has_ordinal(said)
        return self._has_measure(said) if quantity.unit else self._has_bare(said)

    def _has_version(self, version: str) -> bool:
        return any(
            q.version == version or q.version.startswith(f"{version}.") for q in self._quantities
        )

    def _has_clock(self, said: SaidNumber) -> bool:
        minutes = {v % 1440 for v in said.number.values}
        clocks = [q for q in self._quantities if q.unit == "clock"]
        if any(not minutes.isdisjoint({v % 1440 for v in known.values}) for known in clocks):
            return True
        apart = (abs(v - k) % 1440 for known in clocks for v in minutes for k in known.values)
        near = min((min(gap, 1440 - gap) for gap in apart), default=math.inf)
        if near <= _SHORTLY_MINUTES and (said.is_behind(_SHORTLY) or said.is_before(OR_SO)):
            return True
        if near < 1 and right_before(AROUND, said.sentence, said.number.start):
            return True  # "just under 1:53" of 1:52:37
        return (
            clock_comes_to(said.number, self.sources, said.sentence)
            or self._is_time_taken(said)
            or any(
                not known.unit and not known.noun and 60 * v in minutes
                for known in self._quantities
                for v in known.values
            )
        )

    def _is_shortly(self, said: SaidNumber) -> bool:
        """Whether a bare number is the hour in "shortly after eleven"."""
        minutes = tuple(60 * v + half for v in said.number.values for half in (0, 720))
        clock = replace(said.number, unit="clock", values=minutes)
        return said.is_behind(_SHORTLY) is not None and self._has_clock(said._replace(number=clock))

    def _is_time_taken(self, said: SaidNumber) -> bool:
        """Whether "5:33" are minutes and seconds that come to from others."""
        if not regex.fullmatch(r"\d{1,2}:\d\d", said.number.text):
            return False
        taken = replace(said.number, values=said.number.values[:1], unit="time")
        return comes_to(SaidNumber(taken, said.sentence), self.sources)

    def _has_ordinal(self, said: SaidNumber) -> bool:
        days = {float(day.day) for day in self.dates.days if day.day}
        known = {v for q in self._quantities if q.unit in ("", "ordinal") for v in q.values}
        return not (days | known).isdisjoint(said.number.values) or any(
            date_comes_to(FoundDate(None, None, int(v)), self.sources, said.sentence, strict=True)
            for v in said.number.values
        )

    def _has_measure(self, said: SaidNumber) -> bool:
        quantity = said.number
        return (
            self.has_reading(quantity)
            or self._has_loosely(quantity)
            or self._has_share(quantity)
            or any(is_as_long(quantity, known) for known in self._quantities)
            or self._follows(said)
            or self._may_count(said)
        )

    def _has_loosely(self, quantity: Quantity) -> bool:
        """Whether the number stands there without a unit, or both are degrees of some scale."""
        return (
            any(
                not set(q.values).isdisjoint(quantity.values)
                for q in self._quantities
                if (not q.unit and (not q.noun or _is_telling(q)))
                or ({q.unit, quantity.unit} <= DEGREES and "degrees" in (q.unit, quantity.unit))
                or quantity.text[-2:] in (" F", " C")  # front, a bed C
            )
            or any(  # "10k" that is run
                quantity.unit == "length" and q.text[-1:] == "k" and q.values == quantity.measures
                for q in self._quantities
            )
        )

    def _has_share(self, quantity: Quantity) -> bool:
        """Whether a percentage stands there as a share of one: 88.3 % of 0.883."""
        shares = {round(value / 100, 8) for value in quantity.values}
        return quantity.unit == "percent" and any(
            not shares.isdisjoint(q.values) for q in self._quantities if not q.unit
        )

    def _has_bare(self, said: SaidNumber) -> bool:
        """Whether a number without a unit stands there, of the same things where they are named."""
        quantity, sentence = said.number, said.sentence
        if often := told_a_week(said, self.sources):
            return not often.isdisjoint(quantity.values)
        hourly = said.is_behind(_AT) is not None
        function = answer_words().function
        thing = "" if says_nothing(quantity.noun) else quantity.noun
        equal = [q for q in self._quantities if _equals(quantity, q, hourly=hourly)]
        if equal:
            same_thing = not thing or any(
                q.noun == thing or (not q.unit and (not q.noun or q.noun in function))
                for q in equal
            )
            return same_thing or all(
                q.noun != thing or said.spoken.intersection(q.values) for q in self._counts
            )
        if often := told_a_day(said, self.sources):
            return not often.isdisjoint(quantity.values)  # no quarter of "every 12 hours"
        if hourly and not thing and self._is_shortly(said):
            return True
        of_weekday = any(
            sentence[end : quantity.start].isspace() for _, _, end in find_weekdays(sentence)
        )
        of_month = said.is_behind(_DAY_BEFORE) is not None
        if (of_weekday or (of_month and not thing)) and self._has_ordinal(said):
            return True  # "Friday 30", "am 30."
        years = {float(day.year) for day in self.dates.days if day.year}
        return (
            any(regex.search(name, s.plain) for name in _names_with(said) for s in self.sources)
            or not years.isdisjoint(quantity.values)
            or self._follows(said)
            or self._may_count(said)
        )

    def _may_count(self, said: SaidNumber) -> bool:
        """Whether a small number may be the reader's own count."""
        quantity = said.number
        if said.is_behind(_JOINED_BEFORE) or said.is_before(_JOINED_BEHIND):
            return False  # of a score, a range or a row of labels
        if quantity.text[:1].isdigit() and (said.is_behind(_LABELS) or self._is_labelled(said)):
            return False  # "Room 9", "grade 3"
        return is_small(quantity) and not (
            is_counted_otherwise(said, self.sources) or is_told_less_often(quantity, self.sources)
        )

    def _is_labelled(self, said: SaidNumber) -> bool:
        """Whether a number stands behind a word that has another one behind it there."""
        label = said.is_behind(_WORD_BEFORE)
        if label is None or fold(label[1]) in answer_words().function:
            return False
        numbered = regex.compile(rf"(?<!\p{{L}}){regex.escape(fold(label[1]))} \d")
        return any(numbered.search(source.plain) for source in self.sources)

    def _follows(self, said: SaidNumber) -> bool:
        """Whether a number is worked out from what stands there."""
        return (
            comes_to(said, self.sources, strict=self.strict)
            or is_span(said, self.sources)
            or self._is_about(said.number)
        )

    def _is_about(self, quantity: Quantity) -> bool:
        """Whether "about 2,000" rounds a number that stands there."""
        if not quantity.loose:
            return False
        spelled = is_spelled(quantity)
        return any(
            rounds_to(said, measure / quantity.factor if known.unit else measure, quarters=spelled)
            for said in quantity.values
            for known in self._quantities
            if "" in (known.unit, quantity.unit) or known.unit == quantity.unit
            for measure in known.measures
        )
