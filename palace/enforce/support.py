"""What an answer may say: everything that stands in the evidence, the question and the identity.

In: texts. Out: `Support`, which tells of a number, date, name or word whether it stands there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import regex

from palace.enforce.answer_words import answer_words, is_content, read_words
from palace.enforce.arithmetic import comes_to, rounds_to
from palace.enforce.counts import is_counted_otherwise, is_small, is_within_range
from palace.enforce.dates import FoundDate, date_beside, find_weekdays, part_of_month
from palace.enforce.quantities import DEGREES, Quantity, is_unit, read_quantities
from palace.enforce.source import Source, is_cut_from, is_cut_name, is_cut_through, plain
from palace.enforce.spans import (
    clock_comes_to,
    date_comes_to,
    days_on,
    is_as_long,
    is_span,
    weekdays_on,
)
from palace.enforce.specifics import Specific, may_be_name
from palace.recall.related import translated
from palace.text import Word, fold, stem

_AT = regex.compile(
    r"\b(?:at|by|until|till|before|after|from|to|between|and|around|(?:later|earlier) than"
    r"|um|bis|ab|zwischen|und|à|las)\s+$"
    r"|@\s?$",
    regex.IGNORECASE,
)
_JOINED = regex.compile(r"(?P<head>[\w.-]+):(?P<tail>\d{1,5})|(?P<head>.+)/(?P<tail>[\w.-]+)")
_SHORTLY_MINUTES = 20
_SHORTLY = regex.compile(
    r"\b(?:shortly|just|a (?:little|bit)|a few minutes|soon|around|about|roughly|towards?|kurz"
    r"|gegen|vers)"
    r"(?:\s+(?:before|after|past|to|vor|nach))?\s+$",
    regex.IGNORECASE,
)
_LETTERED = regex.compile(r"(?<!\p{L})(\p{L}{3,20})\.?\s\p{Lu}(?![\w'’])")
_TIMES_AS = regex.compile(r"\s?times\s(?:as|more|less|\p{L}+er)\b", regex.IGNORECASE)
_DAY_BEFORE = regex.compile(
    r"\b(?:am|vom|zum|dem|den|le|el|il|al|dal|del|op|día|dia|do|du|au|the)\s+$",
    regex.IGNORECASE,
)
_WORD_BEFORE = regex.compile(r"(?<!\p{L})(\p{L}{3,40}+)\s$")
_VERSION_BEFORE = regex.compile(r"\b(?:version|revision|v|rev\.?)\s$", regex.IGNORECASE)
_POINT_BEFORE = regex.compile(r"(?<![\w.])\.$")
_LABELS = regex.compile(r"(?<!\p{L})\p{Lu}\p{L}*+\s$")
_IDENTIFIER = regex.compile(r"(?P<letters>\p{L}{1,3})(?P<digits>\d{1,3})")
_ENDING = regex.compile(r"e[nrsm]?$")
_PEOPLES = ("ian", "ians", "ean", "ese")
_PLACEHOLDER = regex.compile(r"<[\p{L}][\w -]{0,30}>")
_WORD_AND_NUMBER = regex.compile(
    r"(?<![\w./-])(?P<word>\p{L}{4,20})(?P<rest>-[\p{L}]{0,2}\d[\w.]*)(?![\w/-])"
)
_JOINED_BEFORE = regex.compile(r"(?<=\d)(?:[-–:/x×.]|,\s|,?\s(?:and|und|et|y|e)\s)$")
_LEAST_PREFIX_CHARS = 5
_LIKE_CHARS = 3


def _equals(said: Quantity, known: Quantity, *, hourly: bool) -> bool:
    """Whether a number without a unit may be a known quantity; "at ten" may be 22:00."""
    if known.unit == "version":
        return known.version.startswith(f"{said.text.strip()}.")
    if known.unit == "clock":
        hours = {value / 60 - half for value in known.values for half in (0, 12)}
        return hourly and not hours.isdisjoint(said.values)
    return not set(known.values).isdisjoint(said.values)


def _is_telling(known: Quantity) -> bool:
    """Whether a number is more than a single digit, so that it hardly stands for two things."""
    return "." in known.text or any(v >= 10 or not v.is_integer() for v in known.values)


def _is_capital(word: Word) -> bool:
    return (
        word.surface[0].isupper()
        and len(word.surface) > _LIKE_CHARS
        and word.surface.isalpha()
        and may_be_name(word.surface)
    )


def _is_cut_compound(known: Sequence[str], said: Sequence[str]) -> bool:
    """Whether each part of a compound is that of another or that cut: "req/min"."""
    return len(known) == len(said) and all(
        k == s or is_cut_from(k, s) or _is_of_one_root(k, s)
        for k, s in zip(known, said, strict=True)
    )


def _is_of_one_root(one: str, other: str) -> bool:
    """Whether two words are forms of one: co-supervised, co-supervisor."""
    alike = min(len(one), len(other)) > _LEAST_PREFIX_CHARS
    return stem(one) == stem(other) or (
        alike and one[: _LEAST_PREFIX_CHARS + 1] == other[: _LEAST_PREFIX_CHARS + 1]
    )


def _without_ending(surface: str) -> str:
    """Return a word as it is without a German ending: "Rotes" and "Roten" are one."""
    return _ENDING.sub("", fold(surface))


def _token_at(found: Sequence[Word], place: int) -> str:
    return found[place].token if 0 <= place < len(found) else ""


class Support:
    """Several sources together.

    Args:
        sources: Texts that an answer may draw on.
        strict: Whether little may be worked out, as after unclear evidence.
        language: Of the question, and so of the answer: its words may stand there in English.
    """

    def __init__(
        self, sources: Iterable[Source], *, strict: bool = False, language: str = "en"
    ) -> None:
        self.sources = tuple(sources)
        self.strict = strict
        self.language = language

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

    @cached_property
    def _days(self) -> tuple[FoundDate, ...]:
        """Dates said or meant, and the days that lie a span from them."""
        return tuple(day for s in self.sources for day in (*s.dates, *days_on(s)))

    # -- words -----------------------------------------------------------------------------------

    def has_word(self, word: Word) -> bool:
        """Whether a word stands there, as it is, in parts, or in another form."""
        if word.token in self.tokens or any(t in self.tokens for t in word.extra if len(t) > 1):
            return True
        return word.token[:_LEAST_PREFIX_CHARS] in self._prefixes and word.token.isalpha()

    def resembles(self, word: Word) -> bool:
        """Whether a word that may stand for this one stands there."""
        if self.has_synonym(word) or self._has_translation(word):
            return True
        folded = fold(word.surface)
        return len(folded) > 3 and any(is_cut_from(short, folded) for short in self._abbreviations)

    def has_synonym(self, word: Word) -> bool:
        """Whether a word of the same meaning stands there."""
        return not self.groups.isdisjoint(answer_words().groups.get(word.token, ()))

    def _has_translation(self, word: Word) -> bool:
        """Whether an English word for one of another language stands there.

        After unclear evidence that is not enough: there the quoted memory alone is proved.
        """
        if self.strict:
            return False
        english = translated([word.token], self.language).get(word.token, ())
        return not self.tokens.isdisjoint(english)

    def has_name(self, word: Word) -> bool:
        """Whether a name stands there, in any case and any of its forms."""
        folded = fold(word.surface)
        bare = folded.replace("-", "")
        if not self._names.isdisjoint({folded, f"{folded}s", folded.removesuffix("s"), bare}):
            return True
        if any(
            is_cut_name(short, folded, whole=short in s.heads)
            for s in self.sources
            for short in s.heads | s.marked
        ):
            return True
        codes = answer_words().codes.get(folded, frozenset())
        if any(
            not codes.isdisjoint(s.marked) or any(c in s.names for c in codes if len(c) > 2)
            for s in self.sources
        ):
            return True
        if word.parts and all(part in self._names for part in word.parts):
            return True
        people = (folded.removesuffix(end) for end in _PEOPLES if folded.endswith(end))
        if not self._names.isdisjoint(people):
            return True  # "Dobsonian", of Dobson
        *heads, tail = word.surface.split("-")
        return tail.islower() and bool(heads) and self._names.issuperset(map(fold, heads))

    def has_joined_name(self, word: Word, sentence: str) -> bool:
        """Whether a name stands there as one word with the one beside it: "Let's Encrypt"."""
        said = read_words(sentence)
        place = said.index(word)
        around = said[max(place - 1, 0) : place + 2]
        spans = (sentence[a.start : b.start + len(b.surface)] for a, b in pairwise(around))
        joined = ("".join(filter(str.isalnum, fold(span))) for span in spans)
        return not self._names.isdisjoint(joined)

    def has_other_label(self, label: Word, sentence: str) -> bool:
        """Whether the thing that a single letter marks has another letter there: "bed B"."""
        before = next((w for w in reversed(read_words(sentence)) if w.start < label.start), None)
        if before is None:
            return False
        said = fold(before.surface)
        return any(
            stem(head) == before.token or is_cut_from(head, said)
            for s in self.sources
            for head in (fold(m[1]) for m in _LETTERED.finditer(s.text))
        )

    def has_like_name(self, word: Word, sentence: str) -> bool:
        """Whether a name that begins alike stands in the place of one that stands nowhere.

        Beside the same word, as in "with Robert" for "with Ruben": so names are told that only
        open a sentence or stand in a language in which every noun has a capital.
        """
        if not _is_capital(word) or self.has_word(word):
            return False
        said = read_words(sentence)
        place = said.index(word)
        beside = [_token_at(said, place + n) for n in (-1, 1)]
        return any(
            _is_capital(known)
            and known.surface[0] == word.surface[0]
            and abs(len(known.surface) - len(word.surface)) <= _LIKE_CHARS
            and known not in said
            and any(
                b and b == _token_at(words, n + m) for b, m in zip(beside, (-1, 1), strict=True)
            )
            and _without_ending(known.surface) != _without_ending(word.surface)
            for source in self.sources
            for words in (read_words(source.text),)
            for n, known in enumerate(words)
        )

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
        if specific.kind in ("path", "url"):
            wanted = wanted.rstrip("/") or wanted
        if specific.kind in ("code", "path", "url") and _PLACEHOLDER.search(wanted):
            return self._has_filled(wanted)
        if specific.kind == "compound":
            return self._has_compound(wanted)
        if specific.kind == "name":
            return any(wanted in s.plain for s in self.sources)
        return (
            self._has_whole(wanted)
            or (specific.kind == "identifier" and self._has_identifier(wanted))
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
        left = r"(?<!\w)(?<!(?<!\d)-)" if wanted[0].isalnum() or wanted[0] in "_-" else r"(?<![\w])"
        right = r"(?!\w|-\w|[.,]\d)" if wanted[-1].isalnum() or wanted[-1] in "_-" else ""
        pattern = regex.compile(left + regex.escape(wanted) + right)
        return any(pattern.search(s.plain) for s in self.sources)

    def _has_filled(self, wanted: str) -> bool:
        """Whether something stands there that fills the places left open: "dump-<date>.sql"."""
        kept = map(regex.escape, _PLACEHOLDER.split(wanted))
        pattern = regex.compile(rf"(?<![\w-]){'[^ /]+'.join(kept)}(?![\w-])")
        return any(pattern.search(s.plain) for s in self.sources)

    def _has_identifier(self, wanted: str) -> bool:
        """Whether letters with a number stand in a file's name, or spelled out: H3 as "Hive 3"."""
        if self._has_cut_identifier(wanted):
            return True
        label = _IDENTIFIER.fullmatch(wanted)
        if label is None:
            return False
        # master_r3.wav, a4paper, and the first of m11-m20
        whole = rf"(?<=\w_){wanted}(?=[_.])|(?<!\w){wanted}(?=\p{{L}}|[-–]{label['letters']}\d)"
        inside = regex.compile(whole)
        if any(inside.search(s.plain) for s in self.sources):
            return True
        spelled = regex.compile(
            rf"(?<!\w){label['letters']}\p{{L}}*[. ]{{1,2}}(?:no\.? ?|#)?{label['digits']}"
            r"(?!\w|[.,]\d)",
            regex.IGNORECASE,
        )
        return any(spelled.search(s.text) for s in self.sources)

    def _has_cut_identifier(self, wanted: str) -> bool:
        """Whether one of the same digits and signs stands there, its word cut: effnet-b2.

        Or the same in the plural: the pg_dumps of pg_dump.
        """
        if wanted.endswith("s") and self._has_whole(wanted[:-1]):
            return True
        said = _WORD_AND_NUMBER.fullmatch(wanted)
        return said is not None and any(
            known["rest"] == said["rest"] and is_cut_through(known["word"], said["word"])
            for source in self.sources
            for known in _WORD_AND_NUMBER.finditer(source.plain)
        )

    def _has_compound(self, wanted: str) -> bool:
        """Whether a hyphenated word stands there, or at least no sibling of it does.

        "ops-admin" is wrong where "ops-viewer" is remembered; "half-hour" is a word like any other.
        """
        mark = "/" if "/" in wanted else "-"
        parts = wanted.split(mark)
        apart = mark == "-" and all(stem(part) in self.tokens for part in parts)
        if apart or all(map(is_unit, parts)) or self._has_whole(wanted):
            return True
        siblings = regex.compile(
            rf"(?<![\w-])(?:{regex.escape(parts[0])}{mark}\w+|\w+{mark}{regex.escape(parts[-1])})(?![\w-])"
        )
        found = (match[0] for s in self.sources for match in siblings.finditer(s.plain))
        return all(_is_cut_compound(sibling.split(mark), parts) for sibling in found)

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
        part = part_of_month(sentence, day)
        return any(
            reading.fits(known)
            and (part is None or known.day is None or known.day in part[1] or part[0] in s.plain)
            for reading in said
            for s in self.sources
            for known in s.dates
        ) or any(
            date_comes_to(reading, self.sources, sentence, strict=self.strict) for reading in said
        )

    def has_weekday(self, weekday: int, sentence: str, end: int) -> bool:
        """Whether a weekday stands there, or is that of a date there or beside it."""
        if any(weekday in s.weekdays for s in self.sources):
            return True
        beside = date_beside(sentence, end)
        if beside is None:
            told = (weekdays_on(source) for source in self.sources if source.weekdays)
            return not self.strict and any(weekday in days for days in told)
        return any(day.weekday == weekday for day in self._days if beside.fits(day))

    # -- quantities ------------------------------------------------------------------------------

    def has_reading(self, quantity: Quantity) -> bool:
        """Whether a number that shorthand may mean stands there as it is, not worked out."""
        return any(
            q.unit == quantity.unit and not set(q.measures).isdisjoint(quantity.measures)
            for q in self._quantities
        )

    def has_quantity(self, quantity: Quantity, sentence: str, before: str = "") -> bool:
        """Whether a number stands there with its unit, or follows from what stands there."""
        if quantity.unit == "version":
            return self._has_version(quantity.version)
        if quantity.unit == "clock":
            return self._has_clock(quantity, sentence)
        if quantity.unit == "ordinal":
            return self._has_ordinal(quantity, sentence)
        if quantity.unit:
            return self._has_measure(quantity, sentence, before)
        return self._has_number(quantity, sentence, before)

    def _has_version(self, version: str) -> bool:
        return any(
            q.version == version or q.version.startswith(f"{version}.") for q in self._quantities
        )

    def _has_clock(self, quantity: Quantity, sentence: str) -> bool:
        said = {v % 1440 for v in quantity.values}
        clocks = [q for q in self._quantities if q.unit == "clock"]
        if any(not said.isdisjoint({v % 1440 for v in known.values}) for known in clocks):
            return True
        apart = (abs(v - k) % 1440 for known in clocks for v in said for k in known.values)
        if _SHORTLY.search(sentence, 0, quantity.start) and any(
            min(gap, 1440 - gap) <= _SHORTLY_MINUTES for gap in apart
        ):
            return True
        return (
            clock_comes_to(quantity, self.sources)
            or self._is_time_taken(quantity, sentence)
            or any(
                not known.unit and not known.noun and 60 * v in said
                for known in self._quantities
                for v in known.values
            )
        )

    def _is_shortly(self, quantity: Quantity, sentence: str) -> bool:
        """Whether a bare number is the hour in "shortly after eleven"."""
        if not _SHORTLY.search(sentence, 0, quantity.start):
            return False
        minutes = tuple(60 * v + half for v in quantity.values for half in (0, 720))
        return self._has_clock(replace(quantity, unit="clock", values=minutes), sentence)

    def _is_time_taken(self, quantity: Quantity, sentence: str) -> bool:
        """Whether "5:33" are minutes and seconds that come to from others."""
        if not regex.fullmatch(r"\d{1,2}:\d\d", quantity.text):
            return False
        taken = replace(quantity, values=quantity.values[:1], unit="time")
        return comes_to(taken, self.sources, sentence)

    def _has_ordinal(self, quantity: Quantity, sentence: str) -> bool:
        days = {float(day.day) for day in self._days if day.day}
        known = {v for q in self._quantities if q.unit in ("", "ordinal") for v in q.values}
        return not (days | known).isdisjoint(quantity.values) or any(
            date_comes_to(FoundDate(None, None, int(v)), self.sources, sentence, strict=True)
            for v in quantity.values
        )

    def _has_measure(self, quantity: Quantity, sentence: str, before: str) -> bool:
        return (
            self.has_reading(quantity)
            or self._has_binary(quantity)
            or self._has_loosely(quantity)
            or self._has_share(quantity)
            or any(is_as_long(quantity, known) for known in self._quantities)
            or self._follows(quantity, sentence, before)
            or self._may_count(quantity, sentence)
        )

    def _has_binary(self, quantity: Quantity) -> bool:
        """Whether as many bytes stand there in steps of 1,024: 1.5 GB of 1536 MB."""
        said = {round(v * step, 6) for v in quantity.measures for step in (1.024, 1 / 1.024)}
        return quantity.unit == "bytes" and any(
            not said.isdisjoint(q.measures) for q in self._quantities if q.unit == "bytes"
        )

    def _has_loosely(self, quantity: Quantity) -> bool:
        """Whether the number stands there without a unit, or both are degrees of some scale."""
        return any(
            not set(q.values).isdisjoint(quantity.values)
            for q in self._quantities
            if (not q.unit and (not q.noun or _is_telling(q)))
            or ({q.unit, quantity.unit} <= DEGREES and "degrees" in (q.unit, quantity.unit))
            or quantity.text[-2:] in (" F", " C")  # front, a bed C
        )

    def _has_share(self, quantity: Quantity) -> bool:
        """Whether a percentage stands there as a share of one: 88.3 % of 0.883."""
        shares = {round(value / 100, 8) for value in quantity.values}
        return quantity.unit == "percent" and any(
            not shares.isdisjoint(q.values) for q in self._quantities if not q.unit
        )

    def _has_number(self, quantity: Quantity, sentence: str, before: str) -> bool:
        """Whether a number without a unit stands there, of the same things where they are named."""
        hourly = _AT.search(sentence, 0, quantity.start) is not None
        thing = "" if quantity.noun in answer_words().function else quantity.noun
        equal = [q for q in self._quantities if _equals(quantity, q, hourly=hourly)]
        if equal:
            same_thing = not thing or any(
                q.noun in ("", thing) or q.noun in answer_words().function for q in equal
            )
            spoken = {v for q in read_quantities(sentence) for v in q.values}
            return same_thing or not any(
                q.noun == thing and spoken.isdisjoint(q.values) for q in self._quantities
            )
        if hourly and not thing and self._is_shortly(quantity, sentence):
            return True
        of_weekday = any(
            sentence[end : quantity.start].isspace() for _, _, end in find_weekdays(sentence)
        )
        of_month = _DAY_BEFORE.search(sentence, 0, quantity.start) is not None
        if (of_weekday or (of_month and not thing)) and self._has_ordinal(quantity, sentence):
            return True  # "Friday 30", "am 30."
        parts_of_names = self._is_of_version, self._is_of_address, self._is_of_label
        if any(stands(quantity, sentence) for stands in parts_of_names):
            return True
        years = {float(day.year) for day in self._days if day.year}
        return (
            not years.isdisjoint(quantity.values)
            or self._follows(quantity, sentence, before)
            or self._may_count(quantity, sentence)
        )

    def _is_of_version(self, quantity: Quantity, sentence: str) -> bool:
        """Whether "version 7" is the v7 or rev7 of a name there."""
        if not quantity.text.isdigit() or not _VERSION_BEFORE.search(sentence, 0, quantity.start):
            return False
        written = regex.compile(rf"(?<!\p{{L}})(?:v|r|ver|rev)[.-]?{quantity.text}(?![\d.]\d)")
        return any(written.search(s.plain) for s in self.sources)

    def _is_of_label(self, quantity: Quantity, sentence: str) -> bool:
        """Whether "step 18000" is the step_18000 of a name there."""
        before = _WORD_BEFORE.search(sentence, 0, quantity.start)
        if before is None or not quantity.text.isdigit():
            return False
        label = rf"(?<!\p{{L}}){regex.escape(fold(before[1]))}[_-]?0*{quantity.text}(?!\d)"
        return any(regex.search(label, s.plain) for s in self.sources)

    def _is_of_address(self, quantity: Quantity, sentence: str) -> bool:
        """Whether ".47" is the end of an address there: 192.168.1.47."""
        if not _POINT_BEFORE.search(sentence, 0, quantity.start):
            return False
        end = regex.compile(rf"\d\.{regex.escape(quantity.text)}(?![\d.]\d|\d)")
        return any(end.search(s.plain) for s in self.sources)

    def _may_count(self, quantity: Quantity, sentence: str) -> bool:
        """Whether a small number may be the reader's own count."""
        if _JOINED_BEFORE.search(sentence, 0, quantity.start):
            return False  # of a score, a range or a row of labels
        if quantity.text[:1].isdigit() and _LABELS.search(sentence, 0, quantity.start):
            return False  # "Room 9"
        if _TIMES_AS.match(sentence, quantity.end):
            return False  # worked out or wrong
        return is_small(quantity) and not is_counted_otherwise(quantity, self.sources, sentence)

    def _follows(self, quantity: Quantity, sentence: str, before: str) -> bool:
        """Whether a number is worked out from what stands there."""
        return (
            comes_to(quantity, self.sources, sentence, before, strict=self.strict)
            or is_span(quantity, self.sources, sentence)
            or is_within_range(quantity, self.sources, sentence)
            or self._is_about(quantity)
        )

    def _is_about(self, quantity: Quantity) -> bool:
        """Whether "about 2,000" rounds a number that stands there."""
        if not quantity.loose:
            return False
        spelled = not any(map(str.isdigit, quantity.text))
        return any(
            rounds_to(said, measure / quantity.factor if known.unit else measure, quarters=spelled)
            for said in quantity.values
            for known in self._quantities
            if "" in (known.unit, quantity.unit) or known.unit == quantity.unit
            for measure in known.measures
        )
