"""What an answer may say: everything that stands in the evidence, the question and the identity.

In: texts. Out: `Support`, which tells of a number, date, name or word whether it stands there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations, pairwise

import regex

from palace.enforce.answer_words import answer_words, is_content, read_words
from palace.enforce.arithmetic import clock_comes_to, comes_to, date_comes_to, years_apart
from palace.enforce.dates import FoundDate
from palace.enforce.derived import (
    is_about_span,
    is_apart,
    is_count,
    is_difference,
    is_product,
    is_sum_of_two,
    is_time_apart,
    is_total,
    is_within_range,
)
from palace.enforce.quantities import Quantity
from palace.enforce.source import Source, is_cut_from, plain
from palace.enforce.specifics import Specific
from palace.text import Word, fold, stem

_INNER_NUMBER = regex.compile(r"(?<=^\p{L}{1,3})\d{1,4}$")
_AT = regex.compile(
    r"\b(?:at|by|until|till|before|after|from|to|between|and|around|um|bis|ab|à|las)\s+$"
    r"|@\s?$",
    regex.IGNORECASE,
)
_JOINED = regex.compile(r"(?P<head>[\w.-]+):(?P<tail>\d{1,5})|(?P<head>.+)/(?P<tail>[\w.-]+)")
_HOUR = regex.compile(r"(?:1?\d|2[0-4])\s?(?:h|heures|horas)", regex.IGNORECASE)
_SPANNED = regex.compile(
    r"\b(?:between|before|after|later|earlier|ahead|early|left|spare|lasts?|took|takes|gap)\b",
    regex.IGNORECASE,
)
_SHORTLY_MINUTES = 20
_SHORTLY = regex.compile(
    r"\b(?:shortly|just|a (?:little|bit)|a few minutes|soon|around|about|roughly|towards?|kurz"
    r"|gegen|vers)"
    r"(?:\s+(?:before|after|past|to|vor|nach))?\s+$",
    regex.IGNORECASE,
)
_LABEL = regex.compile(r"(?P<letters>\p{L}{1,3})(?P<digits>\d{1,3})")
_LEAST_PREFIX_CHARS = 5
_MOST_DATES = 12
_DEGREES = frozenset({"celsius", "fahrenheit", "degrees"})
_DAYS_IN = {"time": 1 / 86_400, "months": 30.436875}


def _equals(said: Quantity, known: Quantity, *, hourly: bool) -> bool:
    """Whether a number without a unit may be a known quantity; "at ten" may be 22:00."""
    if known.unit == "version":
        return known.version.startswith(f"{said.text.strip()}.")
    if known.unit == "clock":
        hours = {value / 60 - half for value in known.values for half in (0, 12)}
        return hourly and not hours.isdisjoint(said.values)
    return not set(known.values).isdisjoint(said.values)


def _as_hour(known: Quantity) -> tuple[float, ...]:
    """Return the minutes after midnight of "16h" and "16 heures", written as durations are."""
    return tuple(60 * v for v in known.values) if _HOUR.fullmatch(known.text.strip()) else ()


def _is_telling(known: Quantity) -> bool:
    """Whether a number is more than a single digit, so that it hardly stands for two things."""
    return any(value >= 10 or not value.is_integer() for value in known.values)


def _rounds(said: float, exact: float, *, digits: int) -> bool:
    """Whether one number is another, at least 10, rounded to so many digits."""
    if exact < 10:
        return False
    unit = 10.0 ** (math.floor(math.log10(exact)) - digits + 1)
    return abs(said - exact) <= unit / 2 and math.isclose(said % unit, 0, abs_tol=1e-9)


class Support:
    """Several sources together.

    Args:
        sources: Texts that an answer may draw on.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self.sources = tuple(sources)

    @cached_property
    def tokens(self) -> frozenset[str]:
        """All index tokens."""
        return frozenset().union(*(s.tokens for s in self.sources))

    @cached_property
    def groups(self) -> frozenset[int]:
        """Groups of words that may stand for words of the sources."""
        return frozenset().union(*(s.groups for s in self.sources))

    @cached_property
    def _prefixes(self) -> frozenset[str]:
        return frozenset(
            t[:_LEAST_PREFIX_CHARS]
            for t in self.tokens
            if len(t) >= _LEAST_PREFIX_CHARS and t.isalpha()
        )

    @cached_property
    def _abbreviations(self) -> frozenset[str]:
        return frozenset().union(*(s.abbreviations for s in self.sources))

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset().union(*(s.names for s in self.sources))

    @cached_property
    def _quantities(self) -> tuple[Quantity, ...]:
        return tuple(q for s in self.sources for q in s.readings)

    # -- words -----------------------------------------------------------------------------------

    def has_word(self, word: Word) -> bool:
        """Whether a word stands there, as it is, in parts, or in another form."""
        if word.token in self.tokens or any(t in self.tokens for t in word.extra if len(t) > 1):
            return True
        if word.parts and all(part in self.tokens for part in word.parts):
            return True
        return word.token[:_LEAST_PREFIX_CHARS] in self._prefixes and word.token.isalpha()

    def resembles(self, word: Word) -> bool:
        """Whether a word that may stand for this one stands there."""
        if self.has_synonym(word):
            return True
        folded = fold(word.surface)
        return len(folded) > 3 and any(is_cut_from(short, folded) for short in self._abbreviations)

    def has_synonym(self, word: Word) -> bool:
        """Whether a word of the same meaning stands there."""
        return not self.groups.isdisjoint(answer_words().groups.get(word.token, ()))

    def has_name(self, word: Word) -> bool:
        """Whether a name stands there, in any case and any of its forms."""
        folded = fold(word.surface)
        bare = folded.replace("-", "")
        if not self._names.isdisjoint({folded, f"{folded}s", folded.removesuffix("s"), bare}):
            return True
        if any(
            is_cut_from(short, folded) for s in self.sources for short in s.marked if len(short) > 2
        ):
            return True
        codes = answer_words().codes.get(folded, frozenset())
        if any(
            not codes.isdisjoint(s.marked) or any(c in s.names for c in codes if len(c) > 2)
            for s in self.sources
        ):
            return True
        return bool(word.parts) and all(part in self._names for part in word.parts)

    def has_another(self, word: Word) -> bool:
        """Whether a thing of the word's class stands there, and the word itself does not."""
        for members in answer_words().classes:
            named = next((member for member in members if word.token in member), None)
            if named is None or not self.tokens.isdisjoint(named):
                continue
            if any(not self.tokens.isdisjoint(member) for member in members):
                return True
        return False

    # -- specifics -------------------------------------------------------------------------------

    def has_specific(self, specific: Specific) -> bool:
        """Whether an address, a path, code, a quote or an identifier stands there."""
        wanted = plain(specific.wanted)
        if specific.kind == "quote":
            return self._has_quote(wanted)
        if specific.kind == "code" and "\n" in specific.wanted:
            return self._has_lines(specific.wanted)
        if specific.kind == "url":
            wanted = wanted.rstrip("/")
        if specific.kind in ("path", "url"):
            wanted = wanted.rstrip("/") or wanted
        if specific.kind == "compound":
            return self._has_compound(wanted)
        if specific.kind == "name":
            return any(wanted in s.plain for s in self.sources)
        return (
            self._has_whole(wanted)
            or (specific.kind == "identifier" and self._has_identifier(specific.wanted))
            or (specific.kind in ("identifier", "path") and self._has_joined(wanted))
        )

    def _has_joined(self, wanted: str) -> bool:
        """Whether host and port, or folder and file, stand apart in one source.

        Neither may stand there as a part of another address or path, whose parts are its own.
        """
        found = _JOINED.fullmatch(wanted)
        if found is None:
            return False
        head = rf"(?<![\w./:-]){regex.escape(found['head'])}/?(?![\w/:-]|\.\w)"
        tail = rf"(?<![\w./:-]){regex.escape(found['tail'])}(?![\w/:-]|\.\w)"
        return any(
            regex.search(head, s.plain) and regex.search(tail, s.plain) for s in self.sources
        )

    def _has_whole(self, wanted: str) -> bool:
        if not wanted:
            return True
        left = r"(?<![\w\-])" if wanted[0].isalnum() or wanted[0] in "_-" else r"(?<![\w])"
        right = r"(?![\w\-]|[.,]\d)" if wanted[-1].isalnum() or wanted[-1] in "_-" else ""
        pattern = regex.compile(left + regex.escape(wanted) + right)
        return any(pattern.search(s.plain) for s in self.sources)

    def _has_identifier(self, wanted: str) -> bool:
        found = read_words(wanted)
        if len(found) != 1:
            return False
        word = found[0]
        if word.token in self.tokens or any(e in self.tokens for e in word.extra if len(e) > 1):
            return True
        label = _LABEL.fullmatch(wanted)
        if label is None:
            return False
        spelled = regex.compile(
            rf"(?<!\w){label['letters']}\p{{L}}*[. ]{{1,2}}(?:no\.? ?|#)?{label['digits']}"
            r"(?!\w|[.,]\d)",
            regex.IGNORECASE,
        )
        return any(spelled.search(s.text) for s in self.sources)

    def _has_compound(self, wanted: str) -> bool:
        """Whether a hyphenated word stands there, or at least no sibling of it does.

        "ops-admin" is wrong where "ops-viewer" is remembered; "half-hour" is a word like any other.
        """
        mark = "/" if "/" in wanted else "-"
        parts = wanted.split(mark)
        apart = mark == "-" and all(stem(part) in self.tokens for part in parts)
        if apart or self._has_whole(wanted):
            return True
        siblings = regex.compile(
            rf"(?<![\w-])(?:{regex.escape(parts[0])}{mark}\w+|\w+{mark}{regex.escape(parts[-1])})(?![\w-])"
        )
        return not any(siblings.search(s.plain) for s in self.sources)

    def _has_quote(self, wanted: str) -> bool:
        pieces = [p.strip(" .,;:!?'\"") for p in regex.split(r"\.\.\.|…|\[\.\.\.\]", wanted)]
        pieces = [p for p in pieces if p]
        if all(self._has_whole(p) for p in pieces):
            return True
        found = [w for w in read_words(wanted) if is_content(w)]
        return len(found) <= 1 and all(self.has_name(w) for w in found)

    def _has_lines(self, code: str) -> bool:
        lines = [" ".join(line.split()) for line in code.splitlines()]
        if lines and regex.fullmatch(r"[\w+-]{0,20}", lines[0]):
            lines = lines[1:]  # the language of the block
        return all(self._has_whole(plain(line)) for line in lines if line.strip("`{}()[];, "))

    # -- dates -----------------------------------------------------------------------------------

    def has_date(self, day: FoundDate, sentence: str = "") -> bool:
        """Whether everything that a date says is said by one date there."""
        said = day.readings()
        return any(
            reading.fits(known) for reading in said for s in self.sources for known in s.dates
        ) or any(date_comes_to(reading, self.sources, sentence) for reading in said)

    def has_weekday(self, weekday: int) -> bool:
        """Whether a weekday stands there, or is one of a date that does."""
        return any(weekday in s.weekdays for s in self.sources)

    # -- quantities ------------------------------------------------------------------------------

    def has_reading(self, quantity: Quantity) -> bool:
        """Whether a number that shorthand may mean stands there as it is, not worked out."""
        if quantity.unit == "clock":
            said = {v % 1440 for v in quantity.values}
            clocks = (q for q in self._quantities if q.unit == "clock")
            return any(not said.isdisjoint({v % 1440 for v in q.values}) for q in clocks)
        return any(
            q.unit == quantity.unit and not set(q.measures).isdisjoint(quantity.measures)
            for q in self._quantities
        )

    def has_quantity(self, quantity: Quantity, sentence: str) -> bool:
        """Whether a number stands there with its unit, or follows from what stands there."""
        if quantity.unit == "version":
            return self._has_version(quantity.version)
        if quantity.unit == "clock":
            return self._has_clock(quantity, sentence)
        if quantity.unit == "ordinal":
            return self._has_ordinal(quantity)
        if quantity.unit:
            return self._has_measure(quantity, sentence)
        return self._has_number(quantity, sentence)

    def _has_version(self, version: str) -> bool:
        return any(
            q.version == version or q.version.startswith(f"{version}.") for q in self._quantities
        )

    def _has_clock(self, quantity: Quantity, sentence: str) -> bool:
        said = {v % 1440 for v in quantity.values}
        for known in self._quantities:
            at = known.values if known.unit == "clock" else _as_hour(known)
            if not said.isdisjoint({v % 1440 for v in at}):
                return True
        if _SHORTLY.search(sentence, 0, quantity.start) and any(
            min(abs(v - k) % 1440, -abs(v - k) % 1440) <= _SHORTLY_MINUTES
            for known in self._quantities
            if known.unit == "clock"
            for v in quantity.values
            for k in known.values
        ):
            return True
        return clock_comes_to(quantity, self.sources) or any(
            not known.unit and not known.noun and 60 * v in said
            for known in self._quantities
            for v in known.values
        )

    def _has_ordinal(self, quantity: Quantity) -> bool:
        days = {float(d.day) for s in self.sources for d in s.dates if d.day}
        values = set(quantity.values)
        known = {v for q in self._quantities if q.unit in ("", "ordinal") for v in q.values}
        known |= {float(n) for t in self.tokens for n in _INNER_NUMBER.findall(t)}  # p95
        return not values.isdisjoint(days | known)

    def _has_measure(self, quantity: Quantity, sentence: str) -> bool:
        same = [q for q in self._quantities if q.unit == quantity.unit]
        return (
            any(not set(q.measures).isdisjoint(quantity.measures) for q in same)
            or self._has_loosely(quantity)
            or self._has_one(quantity)
            or (quantity.unit == "time" and self._is_clock_span(quantity, sentence))
            or self._is_between_dates(quantity, sentence)
            or self._follows(quantity, same, sentence)
        )

    def _has_one(self, quantity: Quantity) -> bool:
        """Whether "one week" is a week that is spoken of without a number: "the first week"."""
        one, _, unit = quantity.text.casefold().partition(" ")
        if one != "one" or not unit:
            return False
        spoken = regex.compile(
            rf"\b(?:first|last|next|an?|per|each|every)\s+{regex.escape(unit)}\b"
        )
        return any(spoken.search(s.plain) for s in self.sources)

    def _has_loosely(self, quantity: Quantity) -> bool:
        """Whether the number stands there without a unit, or both are degrees of some scale."""
        return any(
            not set(q.values).isdisjoint(quantity.values)
            for q in self._quantities
            if (not q.unit and (not q.noun or _is_telling(q)))
            or ({q.unit, quantity.unit} <= _DEGREES and "degrees" in (q.unit, quantity.unit))
        )

    def _is_between_dates(self, quantity: Quantity, sentence: str) -> bool:
        """Whether a duration of days or more is that between two dates of one source."""
        if quantity.unit not in _DAYS_IN:
            return False
        days = [m * _DAYS_IN[quantity.unit] for m in quantity.measures]
        unit_days = quantity.factor * _DAYS_IN[quantity.unit]
        slack = min(2.0, unit_days / 3)
        ends = (0,) if is_apart(quantity, sentence) else (0, 1)  # "4-7 Sept" may be four days
        for source in self.sources:
            ordinals = sorted(d.ordinal for d in source.written if d.ordinal)[:_MOST_DATES]
            for first, second in combinations(ordinals, 2):
                if unit_days >= 1 and any(
                    abs(second - first + inclusive - n) <= slack for n in days for inclusive in ends
                ):
                    return True
        return False

    @cached_property
    def _clock_spans(self) -> set[float]:
        """Durations that "1:52:40" and "06:10-07:25" may mean, in seconds."""
        found: set[float] = set()
        for source in self.sources:
            clocks = [q for q in source.readings if q.unit == "clock"]
            for clock in clocks:
                found.update(round(v * 60, 6) for v in clock.values)
                found.update(round(v, 6) for v in clock.values)
            for first, second in pairwise(clocks):
                found.add(round((second.values[0] - first.values[0]) % 1440 * 60, 6))
        return found

    def _is_clock_span(self, quantity: Quantity, sentence: str) -> bool:
        """Whether a duration is that between two clock times: side by side, or said to be so."""
        if not self._clock_spans.isdisjoint(quantity.measures):
            return True
        if not _SPANNED.search(sentence):
            return False
        for source in self.sources:
            minutes = {v for q in source.readings if q.unit == "clock" for v in q.values}
            apart = {round((b - a) * 60, 6) for a in minutes for b in minutes if b > a}
            if not apart.isdisjoint(quantity.measures):
                return True
        return False

    def _has_number(self, quantity: Quantity, sentence: str) -> bool:
        """Whether a number without a unit stands there, of the same things where they are named."""
        hourly = _AT.search(sentence, 0, quantity.start) is not None
        known = [
            q
            for s in self.sources
            for q in (*s.quantities, *(r for r in s.readings if r.unit in ("", "clock")))
        ]
        equal = [q for q in known if _equals(quantity, q, hourly=hourly)]
        other_count = any(
            q.noun and q.noun == quantity.noun and q not in equal for q in self._quantities
        )
        if any(not quantity.noun or q.noun in ("", "of", quantity.noun) for q in equal):
            return True
        if equal:
            return not other_count
        years = {float(d.year) for s in self.sources for d in s.dates if d.year}
        if not years.isdisjoint(quantity.values) or (
            not other_count and is_count(quantity, self.sources, sentence)
        ):
            return True
        bare = [q for q in self._quantities if q.unit not in ("clock", "version", "ordinal")]
        return self._follows(quantity, bare, sentence)

    def _follows(self, quantity: Quantity, parts: Sequence[Quantity], sentence: str) -> bool:
        """Whether a number is worked out, by the words of its sentence, from what stands there."""
        return (
            is_total(quantity, parts, sentence)
            or any(
                follows(quantity, self.sources, sentence)
                for follows in (
                    is_difference,
                    is_product,
                    is_sum_of_two,
                    is_time_apart,
                    is_within_range,
                )
            )
            or (quantity.unit == "time" and is_about_span(quantity, sorted(self._clock_spans)))
            or self._is_about(quantity, parts)
            or years_apart(quantity, self.sources, sentence)
            or comes_to(quantity, self.sources, sentence)
        )

    def _is_about(self, quantity: Quantity, known: Sequence[Quantity]) -> bool:
        """Whether "about 2,000" rounds a number that stands there to two digits."""
        if not quantity.loose:
            return False
        return any(
            _rounds(said, m, digits=digits)
            for said in quantity.measures
            for q in known
            for m in q.measures
            for digits in (1, 2)
        )
