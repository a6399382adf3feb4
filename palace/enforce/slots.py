"""Values that the memory holds of something else: the port of one service said of another.

In: a sentence and the texts of the memory. Out: those names, identifiers, numbers, days and times
of the sentence that stand in the memory, but in whose place another one of the same kind fits much
better: the words around a value say what it is of, and the memory has these words beside the other
one. How well each fits is told by a conditional logit, fitted on honest answers alone. Whether the
two were swapped is told by a logistic model that also sees how alike they are in size and length,
and in the word and sign beside them. Both are fitted by `benchmarks/fit_slots.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import regex

from palace.enforce.exchanged import exchanged
from palace.enforce.mentions import (
    FAR_CHARS,
    GIVEN,
    MOST_MENTIONS,
    NUMBER,
    Layout,
    Mention,
    Placed,
    are_one,
    joined,
    read_layout,
)
from palace.recall.logistic import LogisticModel, load_model
from palace.text import stem

_MOST_MAGNITUDES = 3.0
FEATURES = ("near", "clause", "beside", "before", "behind")
_NEAR_CHARS = 25.0
_BESIDE_CHARS = 40.0
_MOST_TOLD = 6.0
_OF_SUMS = "+×*·÷="
_AND = "and or und oder et ou y o e en of och eller oraz lub i и или ve veya".split()
_ARTICLES = "the a an der die das den dem le la les el los las il lo de het ett en".split()
# What stands between two things of a list: "the Blue Door, Chez Anna and the Wok".
_ITEMS_APART = regex.compile(
    rf"[\s,;/+&•、，]*(?:\b(?:{'|'.join(_AND)})\s+)?(?:\b(?:{'|'.join(_ARTICLES)})\s+)?",
    regex.IGNORECASE,
)


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
            "word before": are_one(mine.around[0], theirs.around[0]),
            "length": abs(len(mine.text) - len(theirs.text)) / 10,
        }
        if own.day and other.day:
            found["older"] = float((other.day > own.day) - (other.day < own.day))
        if mine.kind == NUMBER:
            low, high = sorted(max(0.1, *one.values) for one in (mine, theirs))
            found["magnitude"] = min(_MOST_MAGNITUDES, math.log10(high / low))
        return found


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
        self._days = (*days, *([None] * (len(texts) - len(days))))
        self._layouts = [read_layout(text, german=german) for text in texts]
        self._rare: dict[str, float] = {}
        self._certain = frozenset[object]().union(*map(_certain, self._layouts))

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
        said, layouts = self._read(sentence), self._layouts
        words = [(word, word.weight * self._rarity(word.token)) for word in said.words]
        spoken = {word.token for word in said.words}
        certain = self._certain | _certain(said)
        fits = [_Fit(one, day, words) for one, day in zip(layouts, self._days, strict=True)]
        earlier: list[Mention] | None = None
        for mention in filter(self._is_of_memory, said.mentions):
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
                earlier = [one for text in (asked, before) for one in self._read(text).mentions]
            around = _words_around(mention, words)
            gathered = self._gathered(sentence, said.mentions, mention)
            near = [
                (other, _closeness(mention, other, _BESIDE_CHARS))
                for other in beside
                if not any(other is item for item in gathered)
            ]
            found = tuple(
                fit.candidate(mention, m, around, near, earlier)
                for fit, m in known
                if m.is_same(mention)
                or (m.unit in units and m.text and not _is_said(m, [*beside, *earlier], spoken))
            )
            if 0 < sum(one.same for one in found) < len(found):
                yield Slot(mention, found)

    def _is_of_memory(self, mention: Mention) -> bool:
        """Whether what a sentence mentions can be something of the memory that is said there."""
        if mention.kind == NUMBER:  # no reader's own count, nor beside others that it sums up
            return any(map(str.isdigit, mention.text)) and mention.sign not in _OF_SUMS
        certain = not mention.opening or not self._certain.isdisjoint(mention.key)
        return certain and mention.kind != GIVEN

    def _gathered(
        self, sentence: str, mentions: Sequence[Mention], mention: Mention
    ) -> list[Mention]:
        """Return the items of a mention's list that stand in the memory beside none of the others.

        Who gathers from several memories puts things beside each other that no memory has so: what
        stands beside such an item there says nothing of the next one here.
        """
        items = _listed_with(sentence, mentions, mention)
        stands = {
            id(item): {n for n, one in enumerate(self._layouts) if _holds(one, item)}
            for item in items
        }
        return [
            item
            for item in items
            if item is not mention
            and all(stands[id(item)].isdisjoint(stands[id(o)]) for o in items if o is not item)
        ]

    def exchanged(self, sentence: str) -> list[str]:
        """Return the specifics of a sentence that stand in each other's places."""
        memory = tuple(zip(self._layouts, self._days, strict=True))
        return exchanged(self._read(sentence), memory, self._whole)

    @cached_property
    def _whole(self) -> Layout | None:
        """All texts as one, where there are several."""
        return joined(self._layouts) if len(self._layouts) > 1 else None

    def _read(self, text: str) -> Layout:
        return read_layout(text, german=self._german)

    def _rarity(self, token: str) -> float:
        """Return how much a word tells: one that stands in few clauses tells more."""
        if token not in self._rare:
            count = sum(
                len({w.place[0] for w in one.words if w.token == token}) for one in self._layouts
            )
            self._rare[token] = 2.0 / (1 + count)
        return self._rare[token]


def _certain(layout: Layout) -> frozenset[object]:
    """Return what is mentioned where more than its place says that it is a mention."""
    return frozenset(key for m in layout.mentions if not m.opening for key in m.key)


def _listed_with(sentence: str, mentions: Sequence[Mention], mention: Mention) -> Sequence[Mention]:
    """Return the mentions of a sentence that stand in one list with one of them, itself too."""
    row: list[Mention] = []
    for other in mentions:
        if other.kind != mention.kind:
            continue
        if row and not _ITEMS_APART.fullmatch(sentence, row[-1].end, other.start):
            if any(item is mention for item in row):
                break
            row = []
        row.append(other)
    return row


def _holds(layout: Layout, mention: Mention) -> bool:
    return any(mention.is_same(other) for other in layout.mentions)


def _said_on(day: date | None) -> Iterator[Mention]:
    """Yield the day of a memory, which stands nowhere in its text."""
    if day is not None:
        key, far = frozenset({(day.month, day.day)}), -FAR_CHARS
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
        self.mentions = (*layout.mentions[:MOST_MENTIONS], *_said_on(day))
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
        told = (near, clause, anchored, *map(are_one, known.around, mention.around))
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


def _is_said(known: Mention, beside: Sequence[Mention], spoken: set[str]) -> bool:
    """Whether a sentence names a mention of the memory too, if in lower case."""
    if any(known.is_same(other) for other in beside):
        return True
    return known.kind == "name" and all(stem(str(part)) in spoken for part in known.key)
