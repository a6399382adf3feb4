"""Whose is it: whether a name, an identifier, a day or a time stands where it belongs.

In: a sentence and the texts of the memory. Out: the specifics of the sentence that stand there, but
in whose place another of the same kind fits much better: the words around a specific say what it is
of, and the memory has them beside the other one. Which of several fits is told by a conditional
logit, fitted by `benchmarks/fit_slots.py` on honest answers alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from palace.enforce.answer_words import answer_words, is_content, is_framing, read_words
from palace.enforce.dates import find_dates, find_weekdays
from palace.enforce.quantities import Quantity, find_quantities
from palace.enforce.shorthand import short_dates
from palace.enforce.specifics import find_specifics, is_german, is_inside, may_be_name
from palace.recall.logistic import load_model
from palace.text import fold, starts_sentence, stem

_BREAK = regex.compile(
    r"(?P<line>\n+)|(?P<sentence>(?<![.!?;|])[.!?;|]++(?=\s|$)|\s[/•]\s|[。！？；])"
    r"|(?P<clause>(?<![,:()\[\]])[,:()\[\]]++(?=\s|$)|(?<=\s)[-–—(=]|[，、：→—]|->"
    r"|\s(?:and|but|while|whereas|und|aber|et|mais|y|pero|e|en|with|mit)\s)",
    regex.IGNORECASE,
)
_CAPITAL = regex.compile(r"\p{Lu}[\p{L}’'-]*\p{L}")
_CAPITALS = regex.compile(r"(?<![\p{L}\d])\p{Lu}[\p{L}-]*\p{L}(?:[ -]\p{Lu}[\p{L}-]*\p{L})*+(?!\d)")
_TITLE = regex.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|Herrn?|Frau|Fr|Hr|Tante|Onkel|Oma|Opa|Mme|M|Sra?|Capt|Fa|Firma|Fam|Familie|Schwester)\.?\s$"
)
_LISTED = regex.compile(r"\s?[:(|→]|\s?-+>|\s\d|\s?[,/&+]\s?\p{Lu}")
_LABEL = regex.compile(r"(?<![\p{L}\d])(\p{L}{2,}|#)[.:]?\s?$")
_AMOUNT = "amount "
# What an answer often takes from several memories.
_TOLD_TOGETHER = frozenset({"name", "capitals", "date", "month", "weekday"})
_MORE_WORDS = 0.3
_WORD_BEFORE = regex.compile(r"([\p{L}#]+)[^\p{L}\d.;!?]{0,3}$")
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
        opening: Whether it may be a name or only a word that opens a sentence.
    """

    kind: str
    key: frozenset[object]
    start: int
    end: int
    text: str
    place: tuple[int, int, int]
    around: tuple[str, str]
    opening: bool

    def is_same(self, other: Mention) -> bool:
        """Whether both are of one kind and mean the same."""
        return self.kind == other.kind and not self.key.isdisjoint(other.key)

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
        told: How much of what is asked and said stands in its memory: exact things, words.
    """

    mention: Mention
    features: dict[str, float]
    same: bool
    told: tuple[int, float]

    @property
    def nearness(self) -> float:
        """How many words of the sentence stand near it, and in its clause."""
        return self.features["near"] + self.features["clause"] / 2


@dataclass(frozen=True, slots=True)
class Slot:
    """A specific of a sentence, and what of the memory might stand in its place."""

    mention: Mention
    candidates: tuple[Candidate, ...]

    @property
    def is_amount(self) -> bool:
        """Whether it is a number of which only a unit says what it is of."""
        return self.mention.kind.startswith(_AMOUNT)

    def is_of_another(self) -> bool:
        """Whether it stands in another memory than the one told of, which has one of its own."""
        if self.mention.kind in _TOLD_TOGETHER:
            return False
        mine = [one for one in self.candidates if one.same]
        things, words = (max(one.told[n] for one in mine) for n in (0, 1))
        nearness = max(one.nearness for one in mine)
        return any(
            other.told[0] > things
            and other.told[1] > words + _MORE_WORDS
            and other.nearness >= nearness
            for other in self.candidates
            if not other.same
        )


@lru_cache(maxsize=512)
def read_layout(text: str, *, german: bool = False) -> Layout:
    """Return the words and mentions of a text with their places."""
    breaks = [
        (m.start(), 2 if m["line"] else 1 if m["sentence"] else 0) for m in _BREAK.finditer(text)
    ]

    def place(at: int) -> tuple[int, int, int]:
        levels = [level for start, level in breaks if start < at]
        return len(levels), sum(n > 0 for n in levels), sum(n > 1 for n in levels)

    mentions = tuple(
        Mention(kind, key, start, end, text[start:end], place(start), around, opening)
        for kind, key, start, end, opening in _mentions(text, german=german)
        if (around := _around(text, start, end))
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
    before, behind = _WORD_BEFORE.search(text, 0, start), _WORD_BEHIND.match(text, end)
    return (fold(before[1]) if before else "", fold(behind[1]) if behind else "")


_Telling = tuple[Placed, float]
_Found = Iterator[tuple[str, frozenset[object], int, int, bool]]


def _mentions(text: str, *, german: bool) -> _Found:
    dates = find_dates(text)
    known = [(d.start, d.end) for d in dates]
    dates += [d for d in short_dates(text, strict=True) if d.day and not is_inside(d.start, known)]
    spans = list(dict.fromkeys((d.start, d.end) for d in dates))
    for start, end in spans:
        same = [d for d in dates if d.start == start]
        kind = "date" if same[0].day else "month"
        yield kind, frozenset((d.month, d.day) for d in same), start, end, False
    for weekday, start, end in find_weekdays(text):
        spans.append((start, end))
        yield "weekday", frozenset({weekday}), start, end, False
    numbers = find_quantities(text, spans)
    for number in numbers:
        if number.unit == "clock":
            key = frozenset(value % 720 for value in number.values)
            yield "clock", key, number.start, number.end, False
        elif number.values:
            kind = _numbered(text, number)
            yield kind, frozenset(number.measures), number.start, number.end, False
    measured = [(q.start, q.end) for q in numbers if q.unit or q.text[-1:].isalpha()]
    for specific in find_specifics(text, [*measured, *spans]):
        if specific.kind not in ("quote", "compound"):
            spans.append((specific.start, specific.end))
            wanted = specific.wanted.casefold().strip("`").rstrip("/")
            yield _shape(wanted), frozenset({wanted}), specific.start, specific.end, False
    yield from _names(text, spans, german=german or is_german(text))


def _numbered(text: str, number: Quantity) -> str:
    """Return what a number can be exchanged for: one of the same label ("lot 412") or unit."""
    label = _LABEL.search(text, 0, number.start) if not number.unit else None
    if label is None or not number.text[:1].isdigit():
        return f"{_AMOUNT}{number.unit}"
    word = fold(label[1])
    empty = word in answer_words().function or word in answer_words().framing
    return _AMOUNT if empty else f"label {stem(word)}"


def _shape(text: str) -> str:
    """Return which signs a path or an identifier has, and whether digits."""
    signs = "".join(sign for sign in "/\\@:" if sign in text)
    return signs or "0" * any(map(str.isdigit, text))


def _names(text: str, spans: Sequence[tuple[int, int]], *, german: bool) -> _Found:
    """Yield words and runs of words with a capital that may be names."""
    for match in _CAPITALS.finditer(text):
        titled = _TITLE.search(text, 0, match.start()) is not None
        if is_inside(match.start(), spans) or (german and not titled):
            continue
        names = [word for word in _CAPITAL.findall(match[0]) if may_be_name(word)]
        if not names:
            continue
        opens = starts_sentence(text, match.start()) and not titled and len(names) < 2
        opening = opens and _LISTED.match(text, match.end()) is None
        kind = "capitals" if match[0].isupper() else "name"
        yield kind, frozenset(map(fold, names)), match.start(), match.end(), opening


class Slots:
    """The memory as what may stand in the places of a sentence.

    Args:
        texts: The memory, one text for each piece.
        german: Whether it is in German, where every noun has a capital.
    """

    def __init__(self, texts: Sequence[str], *, german: bool = False) -> None:
        self._german = german
        self._layouts = [read_layout(text, german=german) for text in texts]
        self._rare: dict[str, float] = {}
        self._certain = frozenset(
            key for one in self._layouts for m in one.mentions if not m.opening for key in m.key
        )

    def misplaced(self, sentence: str, asked: str = "", before: str = "") -> list[str]:
        """Return the specifics of a sentence in whose place another one fits much better."""
        model = load_model("slots")
        found = []
        for slot in self.of(sentence, asked, before):
            own, other = (
                max(model.log_odds(one.features) for one in slot.candidates if one.same is same)
                for same in (True, False)
            )
            # amounts are too often told in other words
            fits = not slot.is_amount and other - own > model.bars["misplaced"]
            if fits or slot.is_of_another():
                found.append(slot.mention.text)
        return found

    def of(self, sentence: str, asked: str = "", before: str = "") -> Iterator[Slot]:
        """Yield the specifics of a sentence that stand in the memory, where others might.

        Args:
            sentence: A sentence of an answer.
            asked: The question.
            before: What was said before.
        """
        said = read_layout(sentence, german=self._german)
        around = [read_layout(text, german=self._german) for text in (asked, before)]
        earlier = [mention for one in around for mention in one.mentions]
        words = [(word, word.weight * self._rarity(word.token)) for word in said.words]
        words_asked = [(w, w.weight * self._rarity(w.token)) for w in around[0].words]
        spoken = {word.token for word in said.words}
        certain = self._certain | {k for m in said.mentions if not m.opening for k in m.key}
        fits = [_Fit(layout, words, words_asked) for layout in self._layouts]
        for mention in said.mentions:
            if mention.kind == _AMOUNT:
                continue  # bare numbers are too often told in other words
            if mention.opening and self._certain.isdisjoint(mention.key):
                continue
            beside = [other for other in said.mentions if other is not mention]
            found = tuple(
                fit.candidate(mention, known, beside, earlier)
                for fit in fits
                for known in fit.layout.mentions[:_MOST_MENTIONS]
                if known.kind == mention.kind
                and not (known.opening and certain.isdisjoint(known.key))
                and (known.is_same(mention) or not _is_said(known, [*beside, *earlier], spoken))
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


class _Fit:
    """How well the mentions of one text of the memory fit the places of a sentence.

    Args:
        layout: The text.
        said: The words of the sentence, and how much each tells.
        asked: Those of the question.
    """

    def __init__(self, layout: Layout, said: Sequence[_Telling], asked: Sequence[_Telling]) -> None:
        self.layout = layout
        self._like = [
            (word, tells, like)
            for word, tells in said
            if (like := [(n, w) for w in layout.words if (n := word.likeness(w))])
        ]
        known = (tells for word, tells in asked if any(map(word.likeness, layout.words)))
        self._told = sum(tells for _, tells, _ in self._like) + sum(known)

    def candidate(
        self,
        mention: Mention,
        known: Mention,
        beside: Sequence[Mention],
        earlier: Sequence[Mention],
    ) -> Candidate:
        """Return how well a mention of the text fits the place of one of the sentence."""
        near = clause = anchored = 0.0
        for word, tells, like in self._like:
            apart = [(n, w) for n, w in like if not known.start <= w.start < known.end]
            if not apart or mention.start <= word.start < mention.end:
                continue
            close = _closeness(mention, word, _NEAR_CHARS)
            near += tells * close * max(n * _closeness(known, w, _NEAR_CHARS) for n, w in apart)
            if word.place[0] == mention.place[0]:
                in_clause = (n for n, w in apart if w.place[0] == known.place[0])
                clause += tells * max(in_clause, default=0.0)
        for other in beside:
            gaps = (_closeness(known, m, _BESIDE_CHARS) for m in self._others(known, other))
            anchored += _closeness(mention, other, _BESIDE_CHARS) * max(gaps, default=0.0)
        things = sum(any(self._others(known, other)) for other in (*beside, *earlier))
        told = (near, clause, anchored, *map(_are_one, known.around, mention.around))
        features = {n: min(v, _MOST_TOLD) for n, v in zip(FEATURES, told, strict=True)}
        return Candidate(known, features, known.is_same(mention), (things, self._told))

    def _others(self, known: Mention, said: Mention) -> Iterator[Mention]:
        """Yield where else in the text something stands that is said."""
        return (m for m in self.layout.mentions if m is not known and m.is_same(said))


def _closeness(mention: Mention, other: Placed | Mention, scale: float) -> float:
    return math.exp(-mention.gap(other.start, other.place) / scale)


def _are_one(word: str, other: str) -> float:
    return float(bool(word) and word == other)


def _is_said(known: Mention, beside: Sequence[Mention], spoken: set[str]) -> bool:
    """Whether a sentence names a mention of the memory too, if in lower case."""
    if any(known.is_same(other) for other in beside):
        return True
    return known.kind == "name" and all(stem(str(part)) in spoken for part in known.key)
