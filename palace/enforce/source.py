"""One text that an answer may draw on, read once: its words, dates, numbers and lists.

In: a text and when it was said. Out: a `Source` that is compared with what an answer says.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import pairwise

import regex

from palace.enforce.answer_words import answer_words, is_content, read_words
from palace.enforce.dates import FoundDate, completed, find_dates, find_weekdays
from palace.enforce.days_meant import ISO_WEEK, days_meant
from palace.enforce.han import han_numbers
from palace.enforce.intervals import find_intervals
from palace.enforce.quantities import find_quantities
from palace.enforce.quantity import Quantity
from palace.enforce.shorthand import short_dates, short_quantities
from palace.enforce.specifics import DENSE, find_names, is_inside
from palace.recall.given_names import given_names
from palace.text import fold, month_token, straight

_LIST_SEPARATOR = regex.compile(
    r"(?:,\s*(?:and|or|und|et|y)\s|,(?!\d{3})|;|/|\s\+\s|&|\band\b|\bor\b|\bund\b|\bet\b|\by\b|\bplus\b|、|和)\s*"
)
_LAST_ITEM = regex.compile(r"\b(?:and|or|und|oder|et|ou|y|o|e)\b|[、和&]|\s\+\s")
_CLAUSE = regex.compile(r"[.!?;:—()\n。！？；：]+")
_CLAUSE_OR_NUMBER = regex.compile(rf"{_CLAUSE.pattern}|\d+")
_ROW_END = regex.compile(r"[.;!?](?!\d)|\n|。")
_COLON_LIST = regex.compile(
    r":\s+(\p{L}[\p{L}\s]{1,50}(?:,\s+\p{L}[\p{L}\s]{1,50}){2,})(?=[.;!?\n]|$)"
)
_BRACKETED = regex.compile(r"\(([^()]*,\s[^()]*)\)")
_EACH_ONE = regex.compile(r"\b(?:(?<!no )one|another|the other)\b", regex.IGNORECASE)
_IN_BRACKETS = regex.compile(r"\s?\([^()]*\)")
_WHOLE = regex.compile(r"\ba (?:full|whole) (day|week|month|year)\b", regex.IGNORECASE)
_INCLUDED = regex.compile(r"\((?:incl|of which|davon)\b[^()]*\)", regex.IGNORECASE)
_TAKEN_SHORT = frozenset(
    {"time", "length", "area", "mass", "volume", "percent", "euro", "dollar", "pound"}
)
NO_PARTS = frozenset({"clock", "version", "ordinal"})
_LONGEST_LIST = 12
_LONGEST_CUT = 5
_LEAST_CUT = 3
# What a Russian name ends in; "ов" is none: Иванов is another than Иван.
_CASES = frozenset(
    "а я у ю е и ы о ь еи ои ею ою ом ем ам ям ами ями ах ях ым им ого его ому ему ыи ии ая яя"
    " ую ых их".split()
) | {""}
_FEWEST_BEFORE_CASE = 2
_HEAD = regex.compile(
    r"(?<!\p{L})(?:\p{Lu}\p{Ll}{2,3}(?![\p{L}'’])|\p{Lu}[b-df-hj-np-tv-z](?!\p{L})"
    r"|\p{Ll}{3,4}(?=\s\p{Ll}?\d))"
)
_HYPHEN = regex.compile(r"[-–]")
_CUT = regex.compile(
    r"(?<!\p{L})(?:\p{Lu}{2,4}(?!\p{L})|\p{L}{2,5}(?=\.\s+\p{Ll}|\.\s*\d|\.,|\.\s?\p{Lu}(?!\p{L}))"
    r"|\p{Ll}{2,5}(?=\.?\s(?:\p{Lu}|\d{1,3})(?!\p{L})))"
)


def is_cut_from(short: str, word: str) -> bool:
    """Whether a short word is another one cut: its beginning, or its consonants in order."""
    if len(word) < len(short) + 2 or short[0] != word[0]:
        return False
    if word.startswith(short):
        return len(short) >= _LEAST_CUT
    return not any(letter in "aeiou" for letter in short[1:]) and _are_in_order(short, word)


def _are_in_order(letters: str, word: str) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in letters)


def is_in_other_case(one: str, other: str) -> bool:
    """Whether two folded names may be one in two cases of Russian: "Вологде", "Вологду"."""
    ends = range(_FEWEST_BEFORE_CASE, min(len(one), len(other)) + 1)
    return any(
        one[:end] == other[:end] and {one[end:], other[end:]} <= _CASES for end in reversed(ends)
    )


def is_cut_name(short: str, name: str, *, whole: bool) -> bool:
    """Whether a short form may be this name cut: Bio, Ros, Rm."""
    if "-" in name or (whole and not given_names().isdisjoint((short, name))):
        return False  # Joyce is another than Joy; "Heinr." is plainly cut
    return (whole or len(short) >= _LEAST_CUT) and is_cut_from(short, name)


def listed_length(text: str) -> int:
    """Return how many items a list names; 0 if it is none or too long to be counted by a reader."""
    parts = [part for part in _LIST_SEPARATOR.split(text) if part.strip()]
    return len(parts) if 2 <= len(parts) <= _LONGEST_LIST else 0


def nearest_words(text: str, start: int, end: int) -> frozenset[tuple[str, str]]:
    """Return the content word before and the one after a place in a text, in the same clause."""
    breaks, words = _broken(text)
    last = bisect_left(breaks, (start,)) - 1
    left = min(breaks[last][1], start) if last >= 0 else 0
    following = bisect_right(breaks, end, key=lambda span: span[1])
    right = max(breaks[following][0], end) if following < len(breaks) else len(text)
    before = bisect_left(words, (start,)) - 1
    after = bisect_left(words, (end,))
    found = []
    if before >= 0 and words[before][0] >= left:
        found.append(("before", words[before][1]))
    if after < len(words) and words[after][0] < right:
        found.append(("after", words[after][1]))
    return frozenset(found)


@lru_cache(maxsize=64)
def _broken(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, str]]]:
    """Return where a text has ends of clauses and numbers, and its content words with places."""
    words = [(w.start, w.token) for w in read_words(text) if w.token.isalpha() and is_content(w)]
    return [match.span() for match in _CLAUSE_OR_NUMBER.finditer(text)], words


def plain(text: str) -> str:
    """Return text as it is compared: folded, one blank for white space, straight quotes."""
    return " ".join(fold(straight(text)).split())


@dataclass(frozen=True)
class Source:
    """One text that an answer may draw on.

    Attributes:
        text: The text.
        as_of: When it was said, if that is known.
        shown: Further text that belongs to it (where it stands), for names and paths.
    """

    text: str
    as_of: datetime | None = None
    shown: str = ""

    @cached_property
    def plain(self) -> str:
        """The text as it is compared."""
        return plain(f"{self.text}\n{self.shown}")

    @cached_property
    def spaced(self) -> str:
        """The same with blanks for letters of writing that has none: "缺H9样点" names H9."""
        return self.plain if self.plain.isascii() else DENSE.sub(" ", self.plain)

    @cached_property
    def tokens(self) -> frozenset[str]:
        """All index tokens, parts of identifiers and hyphenated words included."""
        found: set[str] = set()
        for word in read_words(self.text):
            found.update((word.token, *word.parts, *word.extra))
        return frozenset(found)

    @cached_property
    def names(self) -> frozenset[str]:
        """Its words and those of its place, folded but not stemmed: Simon is not Simone."""
        found: set[str] = set()
        for word in read_words(f"{self.text}\n{self.shown}"):
            found.update((fold(word.surface), *word.parts, *_HYPHEN.split(fold(word.surface))))
        return frozenset(found)

    @cached_property
    def full_names(self) -> frozenset[tuple[str, str]]:
        """Its names of which one stands right behind the other, folded."""
        days = [(start, end) for _, start, end in find_weekdays(self.text)]
        found = [word for word, _ in find_names(self.text, days)]
        return frozenset(
            (fold(one.surface), fold(other.surface))
            for one, other in pairwise(found)
            if self.text[one.end : other.start] == " "
        )

    @cached_property
    def abbreviations(self) -> frozenset[str]:
        """Its short words, any of which may be cut from a longer one: rtr, appt, max."""
        return frozenset(
            folded
            for word in read_words(self.text)
            if 2 <= len(folded := fold(word.surface)) <= _LONGEST_CUT
            and folded.isalpha()
            and is_content(word)
        )

    @cached_property
    def marked(self) -> frozenset[str]:
        """Its words that are plainly cut: before a point or a label ("app B"), or in capitals."""
        return frozenset(fold(match[0]) for match in _CUT.finditer(self.text))

    @cached_property
    def heads(self) -> frozenset[str]:
        """Its words of three or four letters with a capital: names may be cut to them."""
        found = {match[0] for match in _HEAD.finditer(self.text)}
        return frozenset(fold(head) for head in found if month_token(head) is None)

    @cached_property
    def groups(self) -> frozenset[int]:
        """Groups of words that may stand for words of this text."""
        groups = answer_words().groups
        return frozenset(g for token in self.tokens for g in groups.get(token, ()))

    @cached_property
    def dates(self) -> tuple[FoundDate, ...]:
        """Dates said or meant."""
        return (*days_meant(self.text, self.as_of), *self._short_dates)

    @cached_property
    def _short_dates(self) -> tuple[FoundDate, ...]:
        return tuple(completed(tuple(short_dates(self.text)), self.as_of))

    @cached_property
    def written(self) -> tuple[FoundDate, ...]:
        """Dates said, not worked out."""
        short = (day for day in self._short_dates if day.day)
        return (*completed(find_dates(self.text), self.as_of), *short)

    @cached_property
    def weekdays(self) -> frozenset[int]:
        """Weekdays said, or of dates that are said."""
        said = {number for number, _, _ in find_weekdays(self.text)}
        return frozenset(said | {d.weekday for d in self.written if d.weekday is not None})

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Numbers with their units; not those of dates."""
        taken = [(d.start, d.end) for d in find_dates(self.text)]
        return tuple(find_quantities(self.text, taken))

    @cached_property
    def readings(self) -> tuple[Quantity, ...]:
        """Its numbers, what shorthand may mean by them besides, and how often something is."""
        often = (every for every in find_intervals(self.text) if every.values[0] > 1)
        return (*self.quantities, *short_quantities(self.text), *often)

    @cached_property
    def parts(self) -> tuple[Quantity, ...]:
        """Its numbers that others can be worked out from: no times of day, no days in digits."""
        days = [(d.start, d.end) for d in short_dates(self.text, strict=True)]
        days += [m.span() for m in _INCLUDED.finditer(self.text)]
        days += [m.span() for m in ISO_WEEK.finditer(self.text)]
        read = {q.start: q for q in self.quantities}
        for short in short_quantities(self.text):
            plain_one = read.get(short.start)
            vague = plain_one is None or plain_one.unit in ("", "clock")
            if vague and short.unit in _TAKEN_SHORT:
                read[short.start] = short
        for said in han_numbers(self.text):  # "四个人"
            if said.counts and said.value > 1:
                one = Quantity((said.value,), start=said.start, end=said.end)
                read.setdefault(said.start, one)
        for match in _WHOLE.finditer(self.text):  # "better after a full year"
            one = find_quantities(f"1 {match[1]}")[0]
            read.setdefault(match.start(), replace(one, start=match.start(), end=match.end()))
        for clock in self.quantities:  # "1:47:32" may be a time of day or a time taken
            if clock.unit == "clock" and clock.text.count(":") > 1:
                read[clock.start] = replace(
                    clock, values=clock.values[:1], unit="time", factor=60.0
                )
        return tuple(
            q
            for _, q in sorted(read.items())
            if q.values and q.unit not in NO_PARTS and not is_inside(q.start, days)
        )

    @cached_property
    def rows(self) -> tuple[tuple[Quantity, ...], ...]:
        """Its numbers, those of one clause together."""
        days = [(d.start, d.end) for d in self.written]  # "30.5."
        stops = (match.start() for match in _ROW_END.finditer(self.text))
        ends = [stop for stop in stops if not is_inside(stop, days)]
        found: dict[int, list[Quantity]] = {}
        for part in self.parts:
            found.setdefault(sum(end < part.start for end in ends), []).append(part)
        return tuple(map(tuple, found.values()))

    @cached_property
    def lengths(self) -> frozenset[int]:
        """How many things its lists name; without "and" only those behind a colon."""
        found: set[int] = set()
        for clause in _CLAUSE.split(self.text):
            if _LAST_ITEM.search(clause):
                found.add(listed_length(clause))
        found.update(listed_length(m[1]) for m in _BRACKETED.finditer(self.text))
        bare = _IN_BRACKETS.sub("", self.text)  # "Tess (whippet), Duke (boxer), Mabel (lab)"
        found.update(listed_length(m[1]) for m in _COLON_LIST.finditer(bare))
        found.add(len(_EACH_ONE.findall(self.text)))  # "one with Ida, one in the shed"
        return frozenset(found - {0, 1})
