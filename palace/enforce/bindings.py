"""Catch facts that are put together wrongly: Bob's number said of Alice, week 22's name of week 23.

In: a sentence and the evidence. Out: the clauses whose parts all stand in the evidence, but never
together, while in each place somebody else stands in their stead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from palace.enforce.answer_words import is_content, is_framing, read_words
from palace.enforce.dates import find_dates, find_weekdays
from palace.enforce.quantities import find_quantities
from palace.enforce.specifics import find_names, find_specifics

_PLACES = ("code", "url", "path")
_PIECE = regex.compile(
    r"(?<![,;!?.])[,;!?.]++(?=\s|$)|[()—\n。！？；，、]+|\s(?:and|but|while|whereas|und|aber|et|mais|y|pero)\s",
    regex.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A clause as what it names and what it says.

    Attributes:
        anchors: (kind, value) of the names, dates and numbers.
        words: Tokens of its other content words.
    """

    anchors: frozenset[tuple[str, str]]
    words: frozenset[str]

    @property
    def is_bare(self) -> bool:
        """Whether the clause is one name or number and nothing else."""
        return not self.words and len(self.anchors) == 1

    def has(self, part: tuple[str, str]) -> bool:
        """Whether the clause has an anchor, or a word given as ("", token)."""
        return part in self.anchors or (part[0] == "" and part[1] in self.words)

    def resembles(self, other: Piece) -> bool:
        """Whether both are built alike, as the items of a list are."""
        kinds, others = ({kind for kind, _ in p.anchors} for p in (self, other))
        return kinds == others and abs(len(self.words) - len(other.words)) <= 1

    def rivals(self, anchor: tuple[str, str], clause: Piece) -> bool:
        """Whether another anchor of the same kind stands here that `clause` does not name."""
        return any(kind == anchor[0] for kind, value in self.anchors - clause.anchors - {anchor})


@lru_cache(maxsize=512)
def pieces(text: str) -> tuple[Piece, ...]:
    """Cut a text into clauses."""
    # acronyms are no one of whom something could be said
    named = frozenset(w.token for w, _ in find_names(text, ()) if not w.surface.isupper())
    return tuple(
        piece
        for part in _PIECE.split(text)
        if (piece := _piece(part, named)).anchors or piece.words
    )


def _piece(text: str, named: frozenset[str]) -> Piece:
    dates = find_dates(text)
    spans = [(d.start, d.end) for d in dates]
    anchors = {("date", f"{d.month}-{d.day}") for d in dates if d.day}
    for weekday, start, end in find_weekdays(text):
        spans.append((start, end))
        anchors.add(("weekday", str(weekday)))
    for quantity in find_quantities(text, spans):
        spans.append((quantity.start, quantity.end))
        kind = quantity.unit or f"number {quantity.noun}"
        value = quantity.version or str(quantity.measures[:1])
        if quantity.unit in ("", "ordinal"):
            kind, value = "number", str(quantity.values[:1])
        anchors.add((kind, value))
    spans.extend((s.start, s.end) for s in find_specifics(text) if s.kind in _PLACES)
    said = set()
    for word in read_words(text):
        if any(a <= word.start < b for a, b in spans):
            continue
        if word.token in named and not word.surface.islower():
            anchors.add(("name", word.token))
        elif is_content(word) and not is_framing(word):
            said.add(word.token)
    return Piece(frozenset(anchors), frozenset(said))


def is_misjoined(sentence: str, texts: Sequence[str]) -> bool:
    """Whether a clause of the sentence says of one what is remembered of another.

    A clause is misjoined when nothing it says of a name stands beside that name in any clause of
    the evidence, and most of it stands beside another name: in another memory, or in the same list
    ("week 22 Amira, week 23 Kofi").
    """
    known = [(place, piece) for place, text in enumerate(texts) for piece in pieces(text)]
    named = frozenset(v for _, piece in known for kind, v in piece.anchors if kind == "name")
    for part in _PIECE.split(sentence):
        if named.isdisjoint(word.token for word in read_words(part)):
            continue
        clause = _piece(part, named)
        pivots = [anchor for anchor in clause.anchors if anchor[0] == "name"]
        if any(_is_elsewhere(anchor, clause, known) for anchor in pivots):
            return True
    return False


def _is_elsewhere(
    anchor: tuple[str, str], clause: Piece, known: Sequence[tuple[int, Piece]]
) -> bool:
    own = [(place, piece) for place, piece in known if anchor in piece.anchors]
    if all(piece.is_bare for _, piece in own):
        return False  # an item of a list, of which the words before it are said too
    homes = {place for place, _ in own}
    others = [a for a in clause.anchors if a != anchor] + [("", w) for w in clause.words]
    elsewhere = neutral = 0
    for other in others:
        found = [(place, piece) for place, piece in known if piece.has(other)]
        rivals = [
            piece.rivals(anchor, clause)
            and (place not in homes or any(piece.resembles(p) for _, p in own))
            for place, piece in found
            if anchor not in piece.anchors
        ]
        if len(rivals) < len(found):  # beside the anchor itself
            if not any(rivals):
                return False
        elif rivals and all(rivals):
            elsewhere += 1
        else:
            neutral += bool(rivals)
    return elsewhere > neutral
