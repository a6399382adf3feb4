"""Whose is it: whether a name, an identifier, a number, a day or a time stands where it belongs.

In: a sentence and the texts of the memory. Out: the specifics of the sentence that stand there, but
in whose place another of the same kind fits much better: the words around a specific say what it is
of, and the memory has them beside the other one. How well each fits is told by a conditional logit,
fitted on honest answers alone. Whether the two were swapped is told by a logistic model that also
sees whether they are of one sort: of one size and length, beside the same word and sign. Both are
fitted by `benchmarks/fit_slots.py`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from typing import NamedTuple

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
    is_inside,
    may_be_name,
    places_in,
)
from palace.recall.logistic import LogisticModel, load_model
from palace.text import fold, right_before, starts_sentence, stem

_BREAK = regex.compile(
    r"(?P<line>\n+)|(?P<sentence>(?<![.!?;|])[.!?;|]++(?=\s|$)|\s[/•]\s|[。！？；])"
    r"|(?P<clause>(?<![,:()\[\]])[,:()\[\]]++(?=\s|$)|(?<=\s)[-–—(=]|[，、：→—]|->"
    r"|\s(?:and|but|while|whereas|und|aber|et|mais|y|pero|e|en|with|mit)\s)",
    regex.IGNORECASE,
)
_CAPITAL = regex.compile(r"\p{Lu}[\p{L}’'-]*\p{L}")
_CAPITALS = regex.compile(r"(?<![\p{L}\d])\p{Lu}[\p{L}-]*\p{L}(?:[ -]\p{Lu}[\p{L}-]*\p{L})*+(?!\d)")
_TITLE = regex.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|Herrn?|Frau|Fr|Hr|Tante|Onkel|Oma|Opa|Mme|M|Sra?|Capt|Fa|Firma|Fam|Familie|Schwester)\.?\s+(?=\p{Lu})"
)
_LISTED = regex.compile(r"\s?[:(|→]|\s?-+>|\s\d|\s?[,/&+]\s?\p{Lu}")
_NUMBER = "number"
_RATE = "rate"
_YEAR = regex.compile(r"\d\d")  # "9 Jan 26"
_PARTING = " \t\n.,;|/+&•"  # between the items of a list, and before the first
_HALF_DAY = 720  # minutes
_MOST_MAGNITUDES = 3.0
_WORD_BEFORE = regex.compile(r"([\p{L}#]+)[^\p{L}\d.;!?]{0,3}$")
_SIGN = regex.compile(r" *+(.?)", regex.DOTALL)
_WORD_BEHIND = regex.compile(r"[^\p{L}\d.;!?]{0,3}([\p{L}]+)")
FEATURES = ("near", "clause", "beside", "before", "behind")
_NEAR_CHARS = 25.0
_BESIDE_CHARS = 40.0
_FAR_CHARS = 200
_BREAK_CHARS = (8, 20, 40)  # how much farther a clause, a sentence, a line makes it
_MOST_TOLD = 6.0
_MOST_MENTIONS = 80
_PERSON = "<person>"
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
    text: str
    place: tuple[int, int, int]
    around: tuple[str, str] = ("", "")
    sign: str = ""
    opening: bool = False
    unit: str = ""
    values: frozenset[float] = frozenset()

    @property
    def is_bare(self) -> bool:
        """Whether it is a number without a unit."""
        return self.kind == _NUMBER and not self.unit

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
        named = bool(_are_one(self.around[0], other.around[0]))
        return self.is_bare and self.is_same(other) and named

    def gap(self, start: int, place: tuple[int, int, int]) -> float:
        """Return how far a place is from it, in characters; breaks between make it farther."""
        apart = min(abs(start - self.end), abs(start - self.start), _FAR_CHARS)
        return apart + sum(
            chars * min(2, abs(one - two))
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

    def likeness(self, other: Placed) -> float:
        """Return in [0, 1] how far two words are the same."""
        if self.token == other.token:
            return 1.0
        if self.prefix and self.prefix == other.prefix:
            return _PREFIX_LIKENESS
        return 0.0 if self.groups.isdisjoint(other.groups) else _GROUP_LIKENESS


@dataclass(frozen=True)
class Layout:
    """A text as its words and mentions."""

    words: tuple[Placed, ...]
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mention of the memory that might stand in a place of a sentence.

    Attributes:
        mention: The mention.
        features: How well it fits, by `FEATURES`.
        same: Whether it is the one that is said.
        told: How many of the exact things that are asked and said stand in its memory.
        day: Day of its memory.
    """

    mention: Mention
    features: dict[str, float]
    same: bool
    told: int
    day: date | None


@dataclass(frozen=True, slots=True)
class Slot:
    """A specific of a sentence, and what of the memory might stand in its place."""

    mention: Mention
    candidates: tuple[Candidate, ...]

    def features(self, model: LogisticModel) -> dict[str, float]:
        """Return what tells whether another specific was meant: the best of the others.

        Args:
            model: How well a candidate fits, over `FEATURES`.

        Returns:
            How well the one that is said fits and the other does, in log-odds; the kind; how far
            the two are of one sort; and which of their memories is older or tells more.
        """
        fits = {id(one): model.log_odds(one.features) for one in self.candidates}
        own, other = (
            max((one for one in self.candidates if one.same is same), key=lambda c: fits[id(c)])
            for same in (True, False)
        )
        mine, theirs = own.mention, other.mention
        found = {
            "own": fits[id(own)],
            "other": fits[id(other)],
            "told more": float(other.told > own.told),
            "clock": float(mine.kind == "clock"),
            "sign behind": float(mine.sign == theirs.sign),
            "word before": _are_one(mine.around[0], theirs.around[0]),
            "length": abs(len(mine.text) - len(theirs.text)) / 10,
        }
        if own.day and other.day:
            found["older"] = float((other.day > own.day) - (other.day < own.day))
        if mine.kind == _NUMBER:
            low, high = sorted(max(0.1, *one.values) for one in (mine, theirs))
            found["magnitude"] = min(_MOST_MAGNITUDES, math.log10(high / low))
        return found


@lru_cache(maxsize=512)
def read_layout(text: str, *, german: bool = False, titled: frozenset[str] = frozenset()) -> Layout:
    """Return the words and mentions of a text with their places.

    Args:
        text: Any text.
        german: Whether it is in German, where a capital makes no name but
        titled: those that stand behind a title somewhere do.
    """
    clauses: list[int] = []
    sentences: list[int] = []
    lines: list[int] = []
    for found in _BREAK.finditer(text):
        clauses.append(found.start())
        if found["line"] or found["sentence"]:
            sentences.append(found.start())
        if found["line"]:
            lines.append(found.start())

    def place(at: int) -> tuple[int, int, int]:
        return bisect_left(clauses, at), bisect_left(sentences, at), bisect_left(lines, at)

    mentions = tuple(
        Mention(
            **one._asdict(),
            text=text[one.start : one.end],
            place=place(one.start),
            around=_around(text, one.start, one.end),
            sign=_sign_behind(text, one.end),
        )
        for one in _mentions(text, german=german, titled=titled)
    )
    placed = []
    for word in read_words(text):
        person = fold(word.surface) in answer_words().persons
        if not person and not is_content(word):
            continue
        token = _PERSON if person else word.token
        placed.append(
            Placed(
                token,
                token[:_PREFIX_CHARS] if len(token) >= _PREFIX_CHARS and token.isalpha() else "",
                answer_words().groups.get(token, frozenset()),
                0.5 if person or is_framing(word) else 1.0,
                word.start,
                place(word.start),
            )
        )
    return Layout(tuple(placed), mentions)


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    before, behind = right_before(_WORD_BEFORE, text, start), _WORD_BEHIND.match(text, end)
    return (fold(before[1]) if before else "", fold(behind[1]) if behind else "")


def _sign_behind(text: str, end: int) -> str:
    behind = _SIGN.match(text, end)
    sign = behind[1] if behind else ""
    if sign.isalnum():
        return "a"
    return "," if sign.strip(_PARTING) == "" else sign


class _Found(NamedTuple):
    """What of a mention can be told without the text around it."""

    kind: str
    key: frozenset[object]
    start: int
    end: int
    opening: bool = False
    unit: str = ""
    values: frozenset[float] = frozenset()


def _mentions(text: str, *, german: bool, titled: frozenset[str]) -> Iterator[_Found]:
    dates = find_dates(text)
    known = [(d.start, d.end) for d in dates]
    dates += [d for d in short_dates(text, strict=True) if d.day and not is_inside(d.start, known)]
    spans = list(dict.fromkeys((d.start, d.end) for d in dates))
    for start, end in spans:
        same = [d for d in dates if d.start == start]
        kind = "date" if same[0].day else "month"
        yield _Found(kind, frozenset((d.month, d.day) for d in same), start, end)
    for weekday, start, end in find_weekdays(text):
        spans.append((start, end))
        yield _Found("weekday", frozenset({weekday}), start, end)
    numbers = find_quantities(text, spans)
    ends = {end for _, end in spans}
    for number in numbers:
        if number.unit == "clock":
            key = frozenset(value % _HALF_DAY for value in number.values)
            yield _Found("clock", key, number.start, number.end)
        elif number.values and not (number.start - 1 in ends and _YEAR.fullmatch(number.text)):
            yield _Found(
                _RATE if FOR_ONE.match(text, number.end) else _NUMBER,
                frozenset(number.measures),
                number.start,
                number.end,
                unit=number.unit,
                values=frozenset(number.values),
            )
    measured = [(q.start, q.end) for q in numbers if q.unit or q.text[-1:].isalpha()]
    for specific in find_specifics(text, [*measured, *spans]):
        if specific.kind not in ("quote", "compound"):
            spans.append((specific.start, specific.end))
            wanted = specific.wanted.casefold().strip("`").rstrip("/")
            yield _Found(_sort(wanted), frozenset({wanted}), specific.start, specific.end)
    yield from _names(text, spans, german=german or is_german(text), titled=titled)


def _sort(text: str) -> str:
    """Return which signs a path or an identifier has, and whether digits."""
    signs = "".join(sign for sign in "/\\@:" if sign in text)
    return signs or "0" * any(map(str.isdigit, text))


def _names(
    text: str, spans: Sequence[tuple[int, int]], *, german: bool, titled: frozenset[str]
) -> Iterator[_Found]:
    """Yield words and runs of words with a capital that may be names."""
    likely = {word.start for word, _ in find_names(text, spans)}
    inside = places_in(spans)
    for start, end, has_title in _runs(text):
        if start in inside:
            continue
        end = next((place for place in range(start + 1, end) if place in inside), end)
        end = start + len(text[start:end].rstrip())
        names = [word for word in _CAPITAL.findall(text[start:end]) if may_be_name(word)]
        if not names or (german and not has_title and titled.isdisjoint(map(fold, names))):
            continue
        opens = starts_sentence(text, start) and not has_title and len(names) < 2
        if opens and is_everyday(names[0]):  # "Repeat Sun 29 June", "Supplier: Veldhoek"
            continue
        opening = opens and start not in likely and _LISTED.match(text, end) is None
        kind = "capitals" if text[start:end].isupper() else "name"
        yield _Found(kind, frozenset(map(fold, names)), start, end, opening)


def _runs(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of words with a capital side by side, and whether a title is before."""
    titles = [match.end() for match in _TITLE.finditer(text)]
    for match in _CAPITALS.finditer(text):
        last = bisect_left(titles, match.end()) - 1
        has_title = last >= 0 and titles[last] >= match.start()
        yield titles[last] if has_title else match.start(), match.end(), has_title


def _titled(text: str) -> frozenset[str]:
    """Return the names that stand behind a title."""
    return frozenset(
        fold(word)
        for start, end, has_title in _runs(text)
        for word in (_CAPITAL.findall(text[start:end]) if has_title else ())
    )


class Slots:
    """The memory as what may stand in the places of a sentence.

    Args:
        texts: The memory, one text for each piece.
        german: Whether it is in German, where every noun has a capital.
        days: When each piece was said, if that is known.
    """

    def __init__(
        self, texts: Sequence[str], *, german: bool = False, days: Sequence[date | None] = ()
    ) -> None:
        self._german = german
        self._texts = tuple(texts)
        self._days = (*days, *([None] * (len(texts) - len(days))))
        self._titled = frozenset().union(*map(_titled, texts)) if german else frozenset()
        self._layouts = [read_layout(text, german=german, titled=self._titled) for text in texts]
        self._rare: dict[str, float] = {}
        self._certain = frozenset(
            key for one in self._layouts for m in one.mentions if not m.opening for key in m.key
        )

    def misplaced(
        self, sentence: str, asked: str = "", before: str = "", *, given: bool = False
    ) -> list[str]:
        """Return the specifics of a sentence in whose place another one fits much better.

        Args:
            sentence: A sentence of an answer.
            asked: The question.
            before: What was said before.
            given: Whether what the question says holds, so that a thing that it names by a number
                may be named again: not where it asks whether it does.
        """
        fitting, swapped = load_model("slots"), load_model("swaps")
        repeated = read_layout(asked, german=self._german).mentions if given else ()
        return [
            slot.mention.text
            for slot in self.of(sentence, asked, before)
            if swapped.log_odds(slot.features(fitting)) > swapped.bars["misplaced"]
            and not any(slot.mention.repeats(other) for other in repeated)
        ]

    def of(self, sentence: str, asked: str = "", before: str = "") -> Iterator[Slot]:
        """Yield the specifics of a sentence that stand in the memory, where others might.

        Args:
            sentence: A sentence of an answer.
            asked: The question.
            before: What was said before.
        """
        titled = self._titled | (_titled(sentence) if self._german else frozenset())
        read = partial(read_layout, german=self._german, titled=titled)
        said = read(sentence)
        layouts = self._layouts if titled == self._titled else [read(x) for x in self._texts]
        words = [(word, word.weight * self._rarity(word.token)) for word in said.words]
        spoken = {word.token for word in said.words}
        certain = self._certain | {k for m in said.mentions if not m.opening for k in m.key}
        fits = [_Fit(one, day, words) for one, day in zip(layouts, self._days, strict=True)]
        earlier: list[Mention] | None = None
        for mention in said.mentions:
            if mention.opening and self._certain.isdisjoint(mention.key):
                continue
            if mention.is_bare and not any(map(str.isdigit, mention.text)):
                continue  # a reader's own count
            beside = [other for other in said.mentions if other is not mention]
            known = [
                (fit, m)
                for fit in fits
                for m in fit.mentions
                if m.kind == mention.kind and not (m.opening and certain.isdisjoint(m.key))
            ]
            units = {m.unit for _, m in known if m.is_same(mention)}
            if not units:
                continue
            units.add(mention.unit)
            if not any(m.unit in units and m.text and not m.is_same(mention) for _, m in known):
                continue
            if earlier is None:
                # Here and no earlier: what was said before is the longest text, and another for
                # each sentence.
                earlier = [one for text in (asked, before) for one in read(text).mentions]
            around = _words_around(mention, words)
            near = [(other, _closeness(mention, other, _BESIDE_CHARS)) for other in beside]
            found = tuple(
                fit.candidate(mention, m, around, near, earlier)
                for fit, m in known
                if m.is_same(mention)
                or (m.unit in units and m.text and not _is_said(m, [*beside, *earlier], spoken))
            )
            if 0 < sum(one.same for one in found) < len(found):
                yield Slot(mention, found)

    def _rarity(self, token: str) -> float:
        """Return how much a word tells: one that stands in few clauses tells more."""
        if token not in self._rare:
            count = sum(
                len({w.place[0] for w in one.words if w.token == token}) for one in self._layouts
            )
            self._rare[token] = 2.0 / (1 + count)
        return self._rare[token]


def _said_on(day: date | None) -> Iterator[Mention]:
    """Yield the day of a memory, which stands nowhere in its text."""
    if day is not None:
        key, far = frozenset({(day.month, day.day)}), -_FAR_CHARS
        yield Mention("date", key, far, far, "", (-2, -2, -2))


def _words_around(
    mention: Mention, words: Sequence[tuple[Placed, float]]
) -> list[tuple[Placed, float, float]]:
    """Return the words of a sentence around a mention, how much each tells, and how close it is."""
    return [
        (word, tells, _closeness(mention, word, _NEAR_CHARS))
        for word, tells in words
        if not mention.start <= word.start < mention.end
    ]


class _Fit:
    """How well the mentions of one text of the memory fit the places of a sentence.

    What stands around a mention of the text is the same for every place of the sentence and for
    every word that is said again, so it is looked for once.

    Args:
        layout: The text.
        day: When it was said.
        said: The words of the sentence, and how much each tells.
    """

    def __init__(
        self, layout: Layout, day: date | None, said: Sequence[tuple[Placed, float]]
    ) -> None:
        self.day = day
        self.mentions = (*layout.mentions[:_MOST_MENTIONS], *_said_on(day))
        self._all = layout.mentions
        self._like = {
            token: [(n, w) for w in layout.words if (n := word.likeness(w))]
            for token, word in {word.token: word for word, _ in said}.items()
        }
        self._near: dict[tuple[int, str], tuple[float, float]] = {}
        self._same: dict[int, list[Mention]] = {}
        self._others: dict[tuple[int, int], tuple[bool, float]] = {}

    def candidate(
        self,
        mention: Mention,
        known: Mention,
        around: Sequence[tuple[Placed, float, float]],
        beside: Sequence[tuple[Mention, float]],
        earlier: Sequence[Mention],
    ) -> Candidate:
        """Return how well a mention of the text fits the place of one of the sentence."""
        near = clause = anchored = 0.0
        for word, tells, close in around:
            nearest, in_clause = self._words_near(known, word.token)
            near += tells * close * nearest
            if word.place[0] == mention.place[0]:
                clause += tells * in_clause
        for other, close in beside:
            anchored += close * self._elsewhere(known, other)[1]
        others = (*(other for other, _ in beside), *earlier)
        things = sum(self._elsewhere(known, other)[0] for other in others)
        told = (near, clause, anchored, *map(_are_one, known.around, mention.around))
        features = {n: min(v, _MOST_TOLD) for n, v in zip(FEATURES, told, strict=True)}
        return Candidate(known, features, known.is_same(mention), things, self.day)

    def _words_near(self, known: Mention, token: str) -> tuple[float, float]:
        """Return how near a word like this one stands, and how like it one of the clause is."""
        key = id(known), token
        if key not in self._near:
            apart = [(n, w) for n, w in self._like[token] if not known.start <= w.start < known.end]
            near = (n * _closeness(known, w, _NEAR_CHARS) for n, w in apart)
            in_clause = (n for n, w in apart if w.place[0] == known.place[0])
            self._near[key] = max(near, default=0.0), max(in_clause, default=0.0)
        return self._near[key]

    def _elsewhere(self, known: Mention, said: Mention) -> tuple[bool, float]:
        """Return whether something that is said stands elsewhere in the text, and how near."""
        key = id(known), id(said)
        if key not in self._others:
            if id(said) not in self._same:
                self._same[id(said)] = [m for m in self._all if m.is_same(said)]
            others = [m for m in self._same[id(said)] if m is not known]
            gaps = (_closeness(known, m, _BESIDE_CHARS) for m in others)
            self._others[key] = bool(others), max(gaps, default=0.0)
        return self._others[key]


def _closeness(mention: Mention, other: Placed | Mention, scale: float) -> float:
    return math.exp(-mention.gap(other.start, other.place) / scale)


def _are_one(word: str, other: str) -> float:
    return float(bool(word) and word == other)


def _is_said(known: Mention, beside: Sequence[Mention], spoken: set[str]) -> bool:
    """Whether a sentence names a mention of the memory too, if in lower case."""
    if any(known.is_same(other) for other in beside):
        return True
    return known.kind == "name" and all(stem(str(part)) in spoken for part in known.key)
