"""A text as its words and what is exact in it, each with its place.

In: a text. Out: `Layout`: names, identifiers, numbers, days and times, and the words that may say
what they are of, with the clause, the sentence and the line in which they stand.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import regex

from palace.enforce.answer_words import answer_words, is_content, is_framing, read_words
from palace.enforce.dates import find_dates, find_weekdays
from palace.enforce.quantities import FOR_ONE, find_quantities
from palace.enforce.shorthand import short_dates
from palace.enforce.specifics import (
    find_names,
    find_specifics,
    is_everyday,
    is_german,
    is_given_name,
    is_inside,
    may_be_name,
    places_in,
)
from palace.text import Word, fold, right_before, starts_sentence

_BREAK = regex.compile(
    r"(?P<line>\n+)|(?P<sentence>(?<![.!?;|])[.!?;|]++(?=\s|$)|\s[/•]\s|[。！？；])"
    r"|(?P<clause>(?<![,:()\[\]])[,:()\[\]]++(?=\s|$)|(?<=\s)[-–—(=]|[，、：→—]|->"
    r"|\s(?:and|but|while|whereas|und|aber|et|mais|y|pero|e|en|with|mit)\s)",
    regex.IGNORECASE,
)
_CAPITAL = regex.compile(r"\p{Lu}[\p{L}’'-]*\p{L}")
_CAPITALS = regex.compile(r"(?<![\p{L}\d])\p{Lu}[\p{L}-]*\p{L}(?:[ -]\p{Lu}[\p{L}-]*\p{L})*+(?!\d)")
_TITLE = regex.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|Herrn?|Frau|Fr|Hr|Tante|Onkel|Oma|Opa|Mme|M|Sra?|Capt|Fa|Firma|Fam|Familie|Schwester|Dott|Sig(?:\.ra)?|Dhr|Mevr)\.?\s+(?=\p{Lu})"
)
_LISTED = regex.compile(r"\s?[:(|→]|\s?-+>|\s\d|\s?[,/&+]\s?\p{Lu}")
NUMBER = "number"
GIVEN = "given"
"""A given name without a title where every noun has a capital: too few of them are told to say
which other one fits its place."""
_RATE = "rate"
_YEAR = regex.compile(r"\d\d")  # "9 Jan 26"
_PARTING = " \t\n.,;|/+&•"  # between the items of a list, and before the first
_HALF_DAY = 720  # minutes
_WORD_BEFORE = regex.compile(r"(?<![\p{L}#])([\p{L}#]+)[^\p{L}\d.;!?]{0,3}$")
_SIGN = regex.compile(r" *+(.?)", regex.DOTALL)
_WORD_BEHIND = regex.compile(r"[^\p{L}\d.;!?]{0,3}([\p{L}]+)")
FAR_CHARS = 200
MOST_MENTIONS = 80
"""Of one text so many are compared."""
_FAR_BREAKS = 2  # what is as many breaks away or more is as far
_BREAK_CHARS = (8, 20, 40)  # how much farther a clause, a sentence, a line makes it
PERSON = "<person>"
_PREFIX_CHARS = 5
_PREFIX_LIKENESS = 0.8
_GROUP_LIKENESS = 0.5


@dataclass(frozen=True, slots=True)
class Mention:
    """Something exact in a text.

    Attributes:
        kind: What it can be exchanged for: `name`, `date`, `clock` …
        key: What it means; two of a kind are the same if these share a member.
        start: Place of its first character; `end` after its last.
        text: As written.
        place: Numbers of its clause, sentence and line.
        around: The words right before and behind it, folded.
        sign: What kind of character stands right behind it.
        opening: Whether it may be a name or only a word that opens a sentence.
        unit: Family of the unit of a number, or "".
        values: What a number is without its unit.
    """

    kind: str
    key: frozenset[object]
    start: int
    end: int
    text: str = ""
    place: tuple[int, int, int] = (0, 0, 0)
    around: tuple[str, str] = ("", "")
    sign: str = ""
    opening: bool = False
    unit: str = ""
    values: frozenset[float] = frozenset()

    @property
    def is_bare(self) -> bool:
        """Whether it is a number without a unit."""
        return self.kind == NUMBER and not self.unit

    def is_same(self, other: Mention) -> bool:
        """Whether both are of one kind and mean the same; a number may lack its unit."""
        if self.kind != other.kind:
            return False
        if self.unit != other.unit:
            units = {self.unit, other.unit}
            bare = "" in units and "ordinal" not in units
            return bare and not self.values.isdisjoint(other.values)
        return not self.key.isdisjoint(other.key)

    def repeats(self, other: Mention) -> bool:
        """Whether both are one number behind one word, which name a thing: "PostgreSQL 16"."""
        named = bool(are_one(self.around[0], other.around[0]))
        return self.is_bare and self.is_same(other) and named

    def gap(self, start: int, place: tuple[int, int, int]) -> float:
        """Return how far a place is from it, in characters; breaks between make it farther."""
        apart = min(abs(start - self.end), abs(start - self.start), FAR_CHARS)
        return apart + sum(
            chars * min(_FAR_BREAKS, abs(one - two))
            for chars, one, two in zip(_BREAK_CHARS, place, self.place, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Placed:
    """A word that may say what a mention is of."""

    token: str
    prefix: str
    groups: frozenset[int]
    weight: float
    start: int
    place: tuple[int, int, int]

    @property
    def end(self) -> int:
        """Place after as many characters as its token has."""
        return self.start + len(self.token)

    def likeness(self, other: Placed) -> float:
        """Return in [0, 1] how far two words are the same."""
        if self.token == other.token:
            return 1.0
        if self.prefix and self.prefix == other.prefix:
            return _PREFIX_LIKENESS
        return 0.0 if self.groups.isdisjoint(other.groups) else _GROUP_LIKENESS


@dataclass(frozen=True)
class Layout:
    """A text as its words and mentions, and how many characters it has."""

    words: tuple[Placed, ...]
    mentions: tuple[Mention, ...]
    chars: int


def joined(layouts: Iterable[Layout]) -> Layout:
    """Return several texts as one, each on lines of its own."""
    words: list[Placed] = []
    mentions: list[Mention] = []
    far = 0  # in characters, and in breaks, of which no text has as many
    for one in layouts:
        words += (replace(w, start=w.start + far, place=_behind(w.place, far)) for w in one.words)
        mentions += (
            replace(m, start=m.start + far, end=m.end + far, place=_behind(m.place, far))
            for m in one.mentions
        )
        far += one.chars + _FAR_BREAKS
    return Layout(tuple(words), tuple(mentions), far)


def _behind(place: tuple[int, int, int], far: int) -> tuple[int, int, int]:
    clause, sentence, line = place
    return clause + far, sentence + far, line + far


@lru_cache(maxsize=512)
def read_layout(text: str, *, german: bool = False) -> Layout:
    """Return the words and mentions of a text with their places.

    Args:
        text: Any text.
        german: Whether it is in German, where a capital makes no name, but a title does.
    """
    clauses: list[int] = []
    sentences: list[int] = []
    lines: list[int] = []
    titles = places_in(match.span() for match in _TITLE.finditer(text))
    for found in _BREAK.finditer(text):
        if found.start() in titles:
            continue  # "Dr. Ruiz"
        clauses.append(found.start())
        if found["line"] or found["sentence"]:
            sentences.append(found.start())
        if found["line"]:
            lines.append(found.start())

    def place(at: int) -> tuple[int, int, int]:
        return bisect_left(clauses, at), bisect_left(sentences, at), bisect_left(lines, at)

    mentions = tuple(
        replace(
            one,
            text=text[one.start : one.end],
            place=place(one.start),
            around=_around(text, one.start, one.end),
            sign=_sign_behind(text, one.end),
        )
        for one in _mentions(text, german=german)
    )
    words = tuple(
        _placed(word, place(word.start))
        for word in read_words(text)
        if _is_person(word) or is_content(word)
    )
    return Layout(words, mentions, len(text))


def _is_person(word: Word) -> bool:
    return fold(word.surface) in answer_words().persons


def _placed(word: Word, place: tuple[int, int, int]) -> Placed:
    person = _is_person(word)
    token = PERSON if person else word.token
    return Placed(
        token,
        token[:_PREFIX_CHARS] if len(token) >= _PREFIX_CHARS and token.isalpha() else "",
        answer_words().groups.get(token, frozenset()),
        0.5 if person or is_framing(word) else 1.0,
        word.start,
        place,
    )


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    before, behind = right_before(_WORD_BEFORE, text, start), _WORD_BEHIND.match(text, end)
    return (fold(before[1]) if before else "", fold(behind[1]) if behind else "")


def _sign_behind(text: str, end: int) -> str:
    behind = _SIGN.match(text, end)
    sign = behind[1] if behind else ""
    if sign.isalnum():
        return "a"
    return "," if sign.strip(_PARTING) == "" else sign


def _mentions(text: str, *, german: bool) -> Iterator[Mention]:
    """Yield the mentions of a text without what stands around them."""
    dates = [*find_dates(text)]
    known = [(d.start, d.end) for d in dates]
    dates += [d for d in short_dates(text, strict=True) if d.day and not is_inside(d.start, known)]
    spans = list(dict.fromkeys((d.start, d.end) for d in dates))
    for start, end in spans:
        same = [d for d in dates if d.start == start]
        kind = "date" if same[0].day else "month"
        yield Mention(kind, frozenset((d.month, d.day) for d in same), start, end)
    for weekday, start, end in find_weekdays(text):
        spans.append((start, end))
        yield Mention("weekday", frozenset({weekday}), start, end)
    numbers = find_quantities(text, spans)
    ends = {end for _, end in spans}
    for number in numbers:
        if number.unit == "clock":
            key = frozenset(value % _HALF_DAY for value in number.values)
            yield Mention("clock", key, number.start, number.end)
        elif number.values and not (number.start - 1 in ends and _YEAR.fullmatch(number.text)):
            yield Mention(
                _RATE if FOR_ONE.match(text, number.end) else NUMBER,
                frozenset(number.measures),
                number.start,
                number.end,
                unit=number.unit,
                values=frozenset(number.values),
            )
    for specific in find_specifics(text, [*spans], numbers):
        if specific.kind not in ("quote", "compound"):
            spans.append((specific.start, specific.end))
            wanted = specific.wanted.casefold().strip("`").rstrip("/")
            yield Mention(_sort(wanted), frozenset({wanted}), specific.start, specific.end)
    yield from _names(text, spans, german=german or is_german(text))


def _sort(text: str) -> str:
    """Return which signs a path or an identifier has, and whether digits."""
    signs = "".join(sign for sign in "/\\@:" if sign in text)
    return signs or "0" * any(map(str.isdigit, text))


def _names(text: str, spans: Sequence[tuple[int, int]], *, german: bool) -> Iterator[Mention]:
    """Yield words and runs of words with a capital that may be names."""
    likely = {word.start for word, _ in find_names(text, spans)}
    inside = places_in(spans)
    for begin, end, has_title in _runs(text):
        words = (word.start() for word in _CAPITAL.finditer(text, begin, end))
        start = next((at for at in words if at not in inside), end)  # "26 Dec Lena"
        end = next((place for place in range(start + 1, end) if place in inside), end)
        end = start + len(text[start:end].rstrip())
        names = [word for word in _CAPITAL.findall(text[start:end]) if may_be_name(word)]
        if not names:
            continue
        noun = german and not has_title
        if noun and any(map(is_given_name, read_words(text[start:end]))):
            yield Mention(GIVEN, frozenset(map(fold, names)), start, end)
            continue
        if noun:
            continue
        opens = starts_sentence(text, start) and not has_title and len(names) < 2
        if opens and is_everyday(names[0]):  # "Repeat Sun 29 June", "Supplier: Veldhoek"
            continue
        opening = opens and start not in likely and _LISTED.match(text, end) is None
        kind = "capitals" if text[start:end].isupper() else "name"
        yield Mention(kind, frozenset(map(fold, names)), start, end, opening=opening)


def _runs(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of words with a capital side by side, and whether a title is before."""
    titles = [match.end() for match in _TITLE.finditer(text)]
    for match in _CAPITALS.finditer(text):
        last = bisect_left(titles, match.end()) - 1
        has_title = last >= 0 and titles[last] >= match.start()
        yield titles[last] if has_title else match.start(), match.end(), has_title


def are_one(word: str, other: str) -> float:
    """Return 1 where two words are the same and there are any, else 0."""
    return float(bool(word) and word == other)
