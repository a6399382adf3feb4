"""Values in a text: dates, clock times, numbers with their units, versions, codes and paths.

In: a text. Out: its `Piece`s, and for a piece the `Term` that begins there and how far it reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import regex

import palace.learn.word_classes as lists
from palace.text import canonical_number, fold, month_token, stem
from palace.text.late_patterns import late

MAX_TERMS = 150
MAX_CHARS = 1500

# What is said in other words, and the words without which it need not be looked for.
_PHRASES = tuple(
    (told["words"].split("|"), late(told["pattern"], regex.IGNORECASE), told["plain"])
    for told in lists.WRITTEN["in_plain_words"]
)
_YEAR = regex.compile(r"(19|20)\d\d")
_IN_DATES = frozenset({"of", ".", ",", "the"})
_HALVES = {"half": 30, "quarter": 15}
_VALUE_WORDS = frozenset({*lists.NUMBER_WORDS, *lists.ORDINALS, *_HALVES})
_CLOCK_AFTER = frozenset({"at", "until", "till", "um"})
_PIECE = regex.compile(
    # Most pieces are plain words. They are tried first, and by the letter: to ignore case costs
    # more than all else.
    r"(?P<word>(?-i:[A-Za-z]++(?=[\s,;!?)]|\.(?!\w)|\Z)))"
    # Of 4/10/2026 nobody can tell which is the month.
    r"|(?P<iso>\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}\.\d{1,2}\.(?:19|20)\d\d\b"
    r"|\b(?:(?:1[3-9]|2\d|3[01])/\d{1,2}|\d{1,2}/(?:1[3-9]|2\d|3[01]))/(?:19|20)\d\d\b)"
    r"|(?P<clock>\b\d{1,2}:\d{2}(?!\d)(?:\s?[ap]m\b)?|\b\d{1,2}h(?:\d{2})?\b|\b\d{1,2}\s?[ap]m\b)"
    r"|(?P<path>(?:(?<!\w)[~.]{0,2}/[\w.\-]+(?:/[\w.\-]+)*)|(?<!\w)\w++://\S+"
    r"|(?<!\w)\p{L}[\w-]*+(?:\.\p{L}[\w-]*+)++)"
    r"|(?P<version>\bv\d+(?:\.\d+)*\b|\b\d+(?:\.\d+){2,}\b)"
    r"|(?P<code>\b\d+[a-z]+\d\w*|\b\d+[B-FH-JN-RU-Z]\b"
    # What a year numbers, such as an invoice: no month, and no span of years.
    r"|\b(?:19|20)\d\d-(?!(?:19|20)\d\d\b)\d{3,6}\b)"
    r"|(?P<number>(?:(?<!\w)[-\u2212])?\d+(?:[.,]\d+)*(?P<ordinal>st|nd|rd|th)?)"
    r"|(?P<other>[<>]=|[<>≤≥≠±#@*&+])"
    r"|(?P<sign>->|→|[:=;,.!?%€$£°()])"
    r"|(?P<word>[\p{L}\p{M}][\p{L}\p{M}\p{N}_]*(?:-[\p{L}\p{N}]+)*)"
    r"|(?P<rest>[^\s\p{P}\p{L}\p{N}])",
    regex.IGNORECASE,
)
# No piece goes over a blank, but for a clock time: "7 pm".
_CHUNK = regex.compile(r"\S+(?:(?<=\d)\s[ap]m\S*)*", regex.IGNORECASE)


class Term(NamedTuple):
    """One content word or value of a statement.

    Attributes:
        key: What it is compared by: a stem, a canonical number or date.
        surface: As written.
        kind: `word`, `number`, `clock`, `date`, `year`, `weekday`, `month`, `version`, `code`,
            `path`, `ordinal` or `day` (today, yesterday).
        unit: Of a number: the dimension of its unit and the unit, `volume:litr`, else "".
        slot: Preposition or article before it, "" if none.
        bare: Whether it stands right behind that preposition: "on leave", but not "on the roof".
        name: Written like a name.
        verb: May be a verb.
        subject: Stands in the part that says what the statement is about.
        retired: The statement itself says that this is no longer so.
        at: Ordinal of the piece it began at.
    """

    key: str
    surface: str
    kind: str = "word"
    unit: str = ""
    slot: str = ""
    bare: bool = False
    name: bool = False
    verb: bool = False
    subject: bool = False
    retired: bool = False
    at: int = 0


class Piece(NamedTuple):
    """A piece of a text: a word, a number, a sign.

    Attributes:
        text: As written, without the ending of an ordinal number.
        folded: Case and accents removed.
        kind: Which alternative of the pattern it is.
        ordinal: Whether it is a number with an ending: `3rd`.
        month: The index token of the month that a word names, "" if it names none.
    """

    text: str
    folded: str
    kind: str
    ordinal: bool = False
    month: str = ""


_LEAST_SLIP = 5


def are_equal(one: Term, other: Term) -> bool:
    """Whether two terms stand for the same, a slip of the keyboard and a missing unit allowed."""
    if one.kind != other.kind:
        return _loosely_equal(one, other)
    if one.key != other.key:
        return one.kind == "word" and _is_slip(one, other)
    if one.kind in ("number", "date"):
        return one.unit == other.unit or not one.unit or not other.unit
    return True


@lru_cache(maxsize=8192)
def handles_of(key: str, surface: str, kind: str) -> frozenset[str]:
    """Return all that `are_equal` goes by: terms that share none of it are not equal."""
    found = {key}
    if kind == "word" and len(surface) >= _LEAST_SLIP:
        found.add("".join(sorted(surface.lower())))
    elif kind in ("number", "clock"):
        found.add(_as_clock(key))
    return frozenset(found)


def _loosely_equal(one: Term, other: Term) -> bool:
    kinds = {one.kind, other.kind}
    if kinds in ({"number", "year"}, {"number", "version"}):
        return one.key == other.key
    if kinds == {"number", "clock"}:
        return _as_clock(one.key) == _as_clock(other.key)
    return False


def _as_clock(key: str) -> str:
    whole, _, minutes = key.replace(".", ":").partition(":")
    return f"{whole}:{minutes or '00'}"


def _is_slip(one: Term, other: Term) -> bool:
    """Whether a word has two neighbouring letters swapped: a slip of the keyboard."""
    a, b = one.surface.lower(), other.surface.lower()
    if len(a) != len(b) or len(a) < _LEAST_SLIP or a == b:
        return False
    differing = [n for n, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    return (
        len(differing) == 2
        and differing[1] == differing[0] + 1
        and a[differing[0]] == b[differing[1]]
        and a[differing[1]] == b[differing[0]]
    )


def cut(text: str) -> list[Piece]:
    """Cut a text into at most twice `MAX_TERMS` pieces; linear in its length."""
    found: list[Piece] = []
    for chunk in _CHUNK.findall(_in_plain_words(text.replace("\u00a0", " "))):
        found.extend(_pieces_of(chunk))
        if len(found) >= 2 * MAX_TERMS:
            break
    return found[: 2 * MAX_TERMS]


@lru_cache(maxsize=8192)
def _pieces_of(chunk: str) -> tuple[Piece, ...]:
    if chunk.isascii() and chunk.isalpha():  # the first of the alternatives: no need to try
        return (_piece(chunk, "word"),)
    found = islice(_PIECE.finditer(chunk), 2 * MAX_TERMS)
    return tuple(_piece(match[0], _kind_of(match)) for match in found)


def _kind_of(match: regex.Match[str]) -> str:
    kind = match.lastgroup or "other"
    return "ordinal" if kind in ("number", "ordinal") and match["ordinal"] is not None else kind


def _piece(surface: str, kind: str) -> Piece:
    if kind == "ordinal":
        return Piece(surface[:-2], fold(surface[:-2]), "number", ordinal=True)
    month = month_token(surface) if kind == "word" else None
    return Piece(surface, fold(surface), kind, month=month or "")


def _in_plain_words(text: str) -> str:
    folded = _without_case(text)
    for needles, pattern, plain in _PHRASES:
        for needle in needles:
            if needle in folded:
                text = pattern.sub(plain, text)
                folded = _without_case(text)
                break
    return text


def _without_case(text: str) -> str:
    """Fold a text as the patterns ignore case."""
    return text.replace("İ", "i").casefold()


def folded_at(pieces: Sequence[Piece], number: int) -> str:
    """Return the folded piece at a place, "" outside the text."""
    return pieces[number].folded if 0 <= number < len(pieces) else ""


def read_value(pieces: Sequence[Piece], at: int) -> tuple[Term, int] | None:
    """Return the value that begins at a piece and how many pieces it takes, or None."""
    piece = pieces[at]
    if piece.kind in ("number", "iso") or (piece.kind == "word" and may_be_value(piece)):
        for reader in (_date, _told_clock, _clock_after, _number):
            found = reader(pieces, at)
            if found is not None:
                return found
    if piece.kind == "clock":
        return Term(_clock_key(piece.folded), piece.text, "clock"), 1
    if piece.kind in ("version", "code", "path"):
        return Term(piece.folded.removeprefix("v"), piece.text, piece.kind), 1
    return None


def may_be_value(word: Piece) -> bool:
    """Whether a word can begin a value: most cannot, and are not tried."""
    return bool(word.month) or word.folded in _VALUE_WORDS


def _value(piece: Piece) -> int | None:
    if piece.kind == "number" and piece.folded.isdigit():
        return int(piece.folded) if len(piece.folded) < 9 else None
    if piece.kind == "word":
        return lists.NUMBER_WORDS.get(piece.folded)
    return None


def _date(pieces: Sequence[Piece], at: int) -> tuple[Term, int] | None:
    """Read `2026-05-14`, `14 May`, `May 14th, 2026`, `the second of May`, `12. Juli`."""
    piece = pieces[at]
    if piece.kind == "iso":
        told = regex.split(r"[-./]", piece.folded)
        year, month, day = told if len(told[0]) == 4 else told[::-1]
        if int(month) > 12:
            month, day = day, month
        return Term(f"{month:0>2}-{day:0>2}", piece.text, "date", unit=year), 1
    shown = [p for p in pieces[at : at + 4] if p.folded not in _IN_DATES]
    if len(shown) < 2 or shown[0] is not piece or shown[1] not in pieces[at : at + 3]:
        return None
    day, month = _day(piece), _month(shown[1])
    if day is None or month is None:
        day, month = _day(shown[1]), _month(piece)
    if day is None or month is None:
        return None
    used = pieces.index(shown[1], at) - at + 1
    # "May 14, 2026", but "on 14 May, 2026 was over".
    comma = int(_month(piece) is not None and folded_at(pieces, at + used) == ",")
    year = folded_at(pieces, at + used + comma)
    year = year if _YEAR.fullmatch(year) else ""
    used += 1 + comma if year else 0
    surface = " ".join(p.text for p in pieces[at : at + used])
    return Term(f"{month}-{day:02}", surface, "date", unit=year), used


def _day(piece: Piece) -> int | None:
    value = int(piece.folded) if piece.folded.isdigit() and len(piece.folded) <= 2 else None
    if value is None:
        value = lists.ORDINALS.get(piece.folded)
    return value if value is not None and 1 <= value <= 31 else None


def _month(piece: Piece) -> str | None:
    return piece.month[-2:] or None


def _told_clock(pieces: Sequence[Piece], at: int) -> tuple[Term, int] | None:
    """Read `half past six` and `ten to eight`."""
    told = pieces[at : at + 3]
    if len(told) < 3 or told[1].folded not in ("past", "to"):
        return None
    hour = _value(told[2])
    minutes = _HALVES.get(told[0].folded, _value(told[0]))
    spoken = told[0].kind == told[2].kind == "word"
    if not spoken or hour is None or minutes is None or not 1 <= hour <= 12:
        return None
    total = hour * 60 + (minutes if told[1].folded == "past" else -minutes)
    surface = " ".join(p.text for p in told)
    return Term(f"{total // 60}:{total % 60:02}", surface, "clock"), 3


def _clock_after(pieces: Sequence[Piece], at: int) -> tuple[Term, int] | None:
    """Read the hour of `at seven` and `until 8`."""
    hour = _value(pieces[at])
    if hour is None or hour > 24 or folded_at(pieces, at - 1) not in _CLOCK_AFTER:
        return None
    following = pieces[at + 1] if at + 1 < len(pieces) else None
    if following is not None and (following.kind == "number" or _unit(following)):
        return None
    return Term(f"{hour}:00", pieces[at].text, "clock"), 1


def _clock_key(text: str) -> str:
    digits = regex.findall(r"\d+", text)
    hour, minute = int(digits[0]), int(digits[1]) if len(digits) > 1 else 0
    if hour <= 12 and text.endswith("m"):
        hour = hour % 12 + 12 * ("pm" in text)
    return f"{hour}:{minute:02}"


def _number(pieces: Sequence[Piece], at: int) -> tuple[Term, int] | None:
    """Read a number with its unit; digits that are spelt out one by one are one number."""
    piece = pieces[at]
    if (piece.kind != "number" and _value(piece) is None) or _is_pronoun(pieces, at):
        return None
    digits = _spelt_digits(pieces, at)
    if digits > 2:
        key = "".join(str(_value(p)) for p in pieces[at : at + digits])
        return Term(key, " ".join(p.text for p in pieces[at : at + digits]), "number"), digits
    if piece.ordinal:
        return Term(piece.folded, piece.text, "ordinal"), 1
    key, used = _cardinal(pieces, at)
    unit, taken = _unit_after(pieces, at + used, at)
    surface = " ".join(p.text for p in pieces[at : at + used + taken])
    if not unit and _YEAR.fullmatch(key):
        return Term(key, surface, "year"), used
    return Term(key, surface, "number", unit=unit), used + taken


def _cardinal(pieces: Sequence[Piece], at: int) -> tuple[str, int]:
    """Return a number, canonical, and how many pieces it takes: "twenty five" takes two."""
    piece = pieces[at]
    if piece.kind == "number":
        return canonical_number(piece.folded), 1
    tens = _value(piece) or 0
    ones = (_value(pieces[at + 1]) if at + 1 < len(pieces) else None) or 0
    joined = tens >= 20 and 0 < ones < 10
    return (str(tens + ones), 2) if joined else (str(tens), 1)


def _is_pronoun(pieces: Sequence[Piece], at: int) -> bool:
    """Whether "one" counts nothing: "the blue one", but "need one key", "four one seven"."""
    if pieces[at].folded != "one":
        return False
    around = [pieces[n] for n in (at - 1, at + 1) if 0 <= n < len(pieces)]
    counts = (
        at > 0 and stem(pieces[at - 1].folded) in lists.VERBS and bool(_counted(pieces, at + 1))
    )
    return not counts and not any(_value(p) is not None or _unit(p) for p in around)


def _spelt_digits(pieces: Sequence[Piece], at: int) -> int:
    count = 0
    for piece in pieces[at : at + 20]:
        value = _value(piece)
        if value is None or value > 9 or (piece.kind == "number" and len(piece.folded) > 1):
            break
        count += 1
    return count


def _unit_after(pieces: Sequence[Piece], at: int, start: int) -> tuple[str, int]:
    """Return the unit that follows a number, or the sign before it, and the pieces it takes."""
    if at < len(pieces) and (unit := _unit(pieces[at])):
        degrees = unit.startswith("degrees") and folded_at(pieces, at + 1) in ("c", "f")
        return unit, 2 if degrees else 1
    if start and pieces[start - 1].folded in ("$", "€", "£"):
        return _unit(pieces[start - 1]), 0
    return _counted(pieces, at), 0


def _counted(pieces: Sequence[Piece], at: int) -> str:
    """Return what a number counts, as its unit: six shelves are not six lamps."""
    if at >= len(pieces) or pieces[at].kind != "word" or not pieces[at].text[0].islower():
        return ""
    folded = pieces[at].folded
    key = stem(folded)
    if folded in lists.FUNCTION_WORDS or folded in lists.NEGATIONS or key in lists.VERBS:
        return ""
    return f"{key}:{key}"


def _unit(piece: Piece) -> str:
    key = stem(piece.folded)
    dimension = lists.UNITS.get(key)
    same = lists.SAME_UNITS.get(key) or lists.SYNONYMS.get(key, key)
    return f"{dimension}:{same}" if dimension else ""
