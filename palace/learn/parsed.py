"""A statement taken apart: what it is about, what it says of it, and whether it denies it.

In: any text. Out: a `Parsed` of terms with their kind, slot and place, cheap to compare. Only
the first `MAX_TERMS` terms are looked at, so that no text can cost much.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile, zip_longest
from typing import NamedTuple

import palace.learn.word_classes as lists
from palace.learn.dense import Frame, frame_of
from palace.learn.held import Held, held_in
from palace.learn.values import (
    MAX_CHARS,
    MAX_TERMS,
    Piece,
    Term,
    cut,
    folded_at,
    handles_of,
    may_be_value,
    read_value,
)
from palace.text import stem

_BREAKS = frozenset(".!?;")
_LABELLING = frozenset({":", "=", "->", "→"})
_MONTHS_OR_VERBS = frozenset({"may", "march", "mar"})
# "The heater is on": at the end a preposition says how things are.
_PARTICLES = frozenset({"on", "in"})
_SMALL = lists.NEGATIONS | (lists.FUNCTION_WORDS - lists.MEANINGFUL)
# These are small words, but no verbs where they stand alone.
_NO_VERBS = frozenset({"a", "d", "get"})
_DECIDING = lists.FUNCTION_WORDS | lists.FORMER | lists.QUALIFIERS
_MAY_END = lists.LEAVING | frozenset("longer more from statt of not than".split())


class Parsed(NamedTuple):
    """A text, taken apart.

    Attributes:
        terms: Content terms in order; words that only join are left out.
        negated: Whether it denies.
        owner: Whose it is: `we`, `you`, `they` or "".
        first_person: Whether "I" or "we" is what it is about.
        verbs: Stems of its verbs.
        copula: Whether it says that something is something, or labels it (`port: 5432`).
        labelled: Whether it is of the form `attribute: value`.
        whole: Whether all of the text was read; a longer one is a document, no statement.
        functions: The small words of it that decide.
        handles: For each term, all that another one could be equal by.
        known: All of them together.
        passive: Whether it names a doer with "by".
        past: Whether it tells what happened once.
        changed: Whether it says of itself that something is new.
        frame: What it says around its values, in writing without blanks; else None.
        held: The one place or person it tells of something, in such writing and Korean.
    """

    terms: tuple[Term, ...]
    negated: bool = False
    owner: str = ""
    first_person: bool = False
    verbs: frozenset[str] = frozenset()
    copula: bool = False
    labelled: bool = False
    passive: bool = False
    past: bool = False
    changed: bool = False
    whole: bool = True
    functions: frozenset[str] = frozenset()
    handles: tuple[frozenset[str], ...] = ()
    known: frozenset[str] = frozenset()
    frame: Frame | None = None
    held: Held | None = None


@lru_cache(maxsize=1024)
def read_statement(text: str) -> Parsed:
    """Take a text apart; any text gives a statement, at a cost that is bounded."""
    pieces = cut(text)
    terms = _terms(pieces)
    folded = [p.folded for p in pieces]
    present = frozenset(folded)
    label = 0 if present.isdisjoint(_LABELLING) else _label_end(pieces)
    split = label or _subject_end(pieces, terms)
    if not present.isdisjoint(_MAY_END):
        terms = _with_retired(pieces, terms)
    moved = _moved(terms, split) if any(f in lists.FIRST_PERSON for f in folded[:3]) else ()
    terms = [t._replace(subject=True) if t.at < split or t in moved else t for t in terms]
    verbs = frozenset(t.key for t in terms if t.verb and not t.subject)
    handles = tuple(handles_of(t.key, t.surface, t.kind) for t in terms)
    return Parsed(
        terms=tuple(terms),
        negated=not present.isdisjoint(lists.NEGATIONS) and _is_negated(pieces),
        owner=next((lists.OWNERS[f] for f in folded if f in lists.OWNERS), ""),
        first_person=any(f in lists.FIRST_PERSON for f in folded[:3]),
        verbs=verbs,
        copula=bool(present & lists.COPULAS) or label > 0,
        labelled=label > 0,
        passive="by" in present and bool(present & lists.COPULAS),
        past=_is_past(pieces, verbs, present),
        changed=bool(present & lists.SINCE_NOW) or bool(verbs & lists.CHANGE_VERBS),
        whole=len(text) <= MAX_CHARS and len(terms) < MAX_TERMS and len(pieces) < 2 * MAX_TERMS,
        functions=present & _DECIDING,
        handles=handles,
        known=frozenset().union(*handles),
        frame=frame_of(text) if len(text) <= MAX_CHARS else None,
        held=held_in(text),
    )


# -- pieces -------------------------------------------------------------------------------------


def _is_negated(pieces: Sequence[Piece]) -> bool:
    count = 0
    for number, piece in enumerate(pieces):
        if piece.folded not in lists.NEGATIONS:
            continue
        before = pieces[number - 1].folded if number else ""
        # "Ilse, not Ilka" corrects, it does not deny.
        aside = piece.folded == "not" and before == ","
        answer = number == 0 and piece.folded == "no" and folded_at(pieces, 1) == ","
        over = folded_at(pieces, number + 1) in ("longer", "more")
        swap = piece.folded == "no" and over and _is_aside(pieces, number + 1)
        count += not (aside or answer or swap)
    return count % 2 == 1


def _is_aside(pieces: Sequence[Piece], number: int) -> bool:
    """Whether "no longer" follows a comma: ", no longer to Alpina" ends something in passing."""
    return folded_at(pieces, number - 2) == ","


def _is_past(pieces: Sequence[Piece], verbs: Iterable[str], present: frozenset[str]) -> bool:
    if present & {"last", "since", "must", "should", "will", "is", "are"}:
        return False
    done = any(p.kind == "word" and is_past_form(p.folded) for p in pieces)
    return done and not any(v in lists.CHANGE_VERBS for v in verbs)


def is_past_form(folded: str) -> bool:
    """Whether a word, in small letters, looks like an English verb in the past."""
    return folded in lists.PAST_FORMS or (folded.endswith("ed") and folded not in lists.NO_PAST)


# -- terms --------------------------------------------------------------------------------------


def _terms(pieces: Sequence[Piece]) -> list[Term]:
    terms: list[Term] = []
    slot = ""
    number = 0
    while number < len(pieces) and len(terms) < MAX_TERMS:
        piece = pieces[number]
        term, used = _term(pieces, number)
        if term is not None:
            verb = term.verb and folded_at(pieces, number - 1) not in lists.BEFORE_THINGS
            bare = slot in lists.PREPOSITIONS and folded_at(pieces, number - 1) == slot
            terms.append(term._replace(slot=slot, bare=bare, verb=verb, at=number))
            slot = ""
        elif piece.folded in lists.PREPOSITIONS:
            slot = piece.folded
        elif piece.folded in lists.ARTICLES:
            slot = slot or "a"
        elif piece.kind == "sign" or piece.folded in lists.AUXILIARIES:
            slot = ""
        number += used
    # Before a verb a word is a noun: "the cold store sends".
    following = [t.verb and t.at == n.at - 1 and n.verb for t, n in pairwise(terms)]
    return [t._replace(verb=False) if f else t for t, f in zip_longest(terms, following)]


def _term(pieces: Sequence[Piece], at: int) -> tuple[Term | None, int]:
    """Return the term that begins at a piece, if one does, and how many pieces it takes."""
    return _alone(pieces[at]) or read_value(pieces, at) or (_word(pieces, at), 1)


@lru_cache(maxsize=8192)
def _alone(piece: Piece) -> tuple[Term | None, int] | None:
    """Return what `_term` makes of a piece wherever it stands, None where others decide."""
    if piece.kind == "sign":
        return None, 1
    plain = piece.kind == "word" and piece.text.islower()
    if not plain or may_be_value(piece) or piece.folded in _PARTICLES:
        return None
    return _word([piece], 0), 1


def _word(pieces: Sequence[Piece], at: int) -> Term | None:
    piece = pieces[at]
    folded = piece.folded
    starts = at == 0 or pieces[at - 1].folded in _BREAKS
    timed = _time_word(piece, starts=starts)
    if timed is not None:
        return timed
    if len(folded) == 1 and piece.text.isupper() and folded != "i" and not starts:
        return Term(folded, piece.text, name=True)  # "plan B", "vitamin C"
    if folded in _SMALL and not (folded in _PARTICLES and _is_last(pieces, at)):
        return None
    if not folded.isalpha() and any(c.isdigit() for c in folded):
        return Term(folded, piece.text, "code")
    meaning, verb = _meaning(folded)
    return Term(meaning, piece.text, name=piece.text[0].isupper() and not starts, verb=verb)


def _meaning(folded: str) -> tuple[str, bool]:
    """Return what a word is compared by, and whether it may be a verb."""
    key = lists.VERB_FORMS.get(folded) or stem(folded.replace("-", ""))
    return lists.SYNONYMS.get(key, lists.SYNONYMS.get(folded, key)), key in lists.VERBS


def _time_word(piece: Piece, *, starts: bool) -> Term | None:
    """Return the term of a weekday, a month, "yesterday" or "second"."""
    folded = piece.folded
    if _is_weekday(piece):
        return Term(lists.WEEKDAYS[folded], piece.text, "weekday")
    if folded in lists.DEICTIC:
        return Term(folded, piece.text, "day")
    if folded in lists.ORDINALS:
        return Term(str(lists.ORDINALS[folded]), piece.text, "ordinal")
    verb = folded in _MONTHS_OR_VERBS and (starts or not piece.text[0].isupper())
    return Term(piece.month, piece.text, "month") if piece.month and not verb else None


def _is_last(pieces: Sequence[Piece], at: int) -> bool:
    return at > 0 and (at + 1 == len(pieces) or pieces[at + 1].kind == "sign")


def _is_weekday(piece: Piece) -> bool:
    if piece.kind != "word" or piece.folded not in lists.WEEKDAYS:
        return False
    return (
        piece.folded not in lists.AMBIGUOUS_DAYS
        or piece.text[0].isupper()
        or (piece.folded in ("mon", "wed"))
    )


# -- what it is about ---------------------------------------------------------------------------


def _label_end(pieces: Sequence[Piece]) -> int:
    """Return the piece after which the value of `attribute: value` begins, 0 if there is none."""
    for number, piece in enumerate(pieces[:12]):
        if piece.folded in _LABELLING and number:
            return number
        if piece.folded in _BREAKS or piece.folded in lists.AUXILIARIES:
            return 0
    return 0


def _subject_end(pieces: Sequence[Piece], terms: Sequence[Term]) -> int:
    """Return the first piece that no longer says what the statement is about."""
    if pieces and pieces[0].folded in ("in", "on", "since", "by", "am", "im") and terms:
        # "In 2023 the heating cost …": the time leads, and belongs to what it is about.
        lead = terms[0]
        if lead.kind in ("year", "date", "month", "weekday", "number"):
            return max(lead.at + 1, _verb_at(pieces, terms))
    return _verb_at(pieces, terms)


def _verb_at(pieces: Sequence[Piece], terms: Sequence[Term]) -> int:
    """Return the piece of the first helping verb, else of the first verb, else of the value."""
    for number, piece in enumerate(pieces):
        helps = piece.folded in lists.AUXILIARIES or piece.folded in lists.NEGATIONS
        stray = piece.folded in _NO_VERBS or (piece.text == "May" and number)
        if piece.folded in ("s", "m"):  # "it's on", but not "Mira's sister"
            stray = folded_at(pieces, number - 1) not in lists.FUNCTION_WORDS
        if helps and not stray:
            return number
    if _is_imperative(terms):
        return 0
    for term in terms:
        if term.verb and (term.at or term.key in lists.CHANGE_VERBS):
            return term.at
    return _value_at(pieces, terms)


def _moved(terms: Sequence[Term], verb_at: int) -> Sequence[Term]:
    """Return what "we" change, which is what is spoken of: "we moved the deploys to Thursdays"."""
    behind = [t for t in terms if t.at >= verb_at]
    if not behind or behind[0].key not in lists.CHANGE_VERBS:
        return ()
    return list(takewhile(lambda t: t.kind == "word" and t.slot in ("", "a"), behind[1:]))


def _is_imperative(terms: Sequence[Term]) -> bool:
    """Whether it tells somebody to do something: "use nitrile gloves", but not "run 12"."""
    if not terms or terms[0].at or not terms[0].verb or len(terms) < 2:
        return False
    return terms[1].kind == "word" or terms[0].key not in lists.LABELS


def _value_at(pieces: Sequence[Piece], terms: Sequence[Term]) -> int:
    """Return where a statement without a verb comes to its value: "training in the north hall"."""
    words = {t.at: t for t in terms}
    for number in range(1, len(pieces)):
        term, before = words.get(number), words.get(number - 1)
        if pieces[number].folded in lists.PREPOSITIONS:
            return number
        if term is not None and term.kind != "word":
            # The number of "locker 12" says which locker, it is no value.
            return number + (before is not None and before.key in lists.LABELS)
    return int(len(terms) > 1 and pieces[0].folded not in lists.FIRST_PERSON)


def _with_retired(pieces: Sequence[Piece], terms: Sequence[Term]) -> list[Term]:
    """Mark the terms that the statement itself says are over: "from X", "instead of X"."""
    changing = any(t.key in lists.CHANGE_VERBS for t in terms)
    marked: set[int] = set()
    for number in range(len(pieces)):
        if pieces[number].folded in _MAY_END and _ends_something(pieces, number, changing=changing):
            marked.update(_phrase_after(pieces, number))
    return [t._replace(retired=True) if t.at in marked else t for t in terms]


def _ends_something(pieces: Sequence[Piece], number: int, *, changing: bool) -> bool:
    """Whether what follows a piece is over: "from X" of a move, "instead of X", ", not X"."""
    folded, before = pieces[number].folded, folded_at(pieces, number - 1)
    if folded in lists.LEAVING:
        return folded_at(pieces, number + 1) not in lists.PREPOSITIONS
    if folded in ("longer", "more"):
        return before == "no" and _is_aside(pieces, number)
    return (
        (folded == "from" and changing)
        or folded == "statt"
        or (folded, before) in (("of", "instead"), ("not", ","), ("than", "rather"))
    )


def _phrase_after(pieces: Sequence[Piece], at: int) -> Iterable[int]:
    taken = False
    for number in range(at + 1, min(at + 8, len(pieces))):
        folded = pieces[number].folded
        joins = (
            folded in lists.PREPOSITIONS
            or folded in ("and", "und")
            or (pieces[number].kind == "sign" and folded not in ":")
        )
        if joins and taken:
            return
        if not joins and folded not in lists.FUNCTION_WORDS:
            taken = True
            yield number
