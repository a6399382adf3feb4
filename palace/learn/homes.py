"""Where somebody lives, and that they moved, as one sentence of many languages tells it.

In: a sentence in a writing with blanks. Out: who lives or moved where, or None. How it is told
stands under `homes` in `statement_words.yaml`; what fits none of that tells nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import regex

from palace.learn.cues import filled
from palace.learn.word_classes import HOMES
from palace.text import fold

_MAX_CHARS = 160
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_YEAR = regex.compile(r"\b(?:19|20)\d\d\b")
_NAME = r"(?-i:\p{Lu})[\p{L}.-]*+"
_BUILT_IN = {
    "of": r"(?P<of>\p{L}[\p{L}'’. -]{0,40}?)",
    "aside": r"(?:(?:<now>|\d{4}) ){0,2}?",
    "held": rf"(?:(?:the|der|die|dem|den|das|la|el|il|o|de) )?(?P<held>{_NAME}(?: {_NAME}){{0,3}})",
}
# "… seit 2019", "…, um zu studieren"; any other word may tell of another time.
_BEHIND = r"(?:,.*| \p{Ll}+ (?:\p{L}+ )?\d{4})?"


class Home(NamedTuple):
    """What a sentence tells: `lives` or `moves`, of whom, the place, and the year of a move."""

    kind: str
    of: str
    place: str
    year: str


def home_in(text: str) -> Home | None:
    """Return who a sentence says lives or moved where; None if it says nothing of it."""
    said = text.strip(" .!")
    if len(said) > _MAX_CHARS:
        return None
    plain = "".join(sign if sign.isupper() else (fold(sign) or sign)[:1] for sign in said)
    present = {word.casefold() for word in _WORD.findall(plain)}
    for language, words in _telling().items():
        if words.isdisjoint(present) or not present.isdisjoint(
            HOMES[language]["unless"].split("|")
        ):
            continue
        for kind, pattern in _patterns(language):
            if found := pattern.match(plain):
                year = _YEAR.search(plain) if kind == "moves" else None
                place = said[found.start("held") : found.end("held")]
                return Home(kind, fold(found["of"]), place, year[0] if year else "")
    return None


@lru_cache(maxsize=1)
def _telling() -> dict[str, frozenset[str]]:
    """Return of each language the words without which a sentence of it tells of no home."""
    return {
        language: frozenset(f"{told['live']}|{told['move']}".split("|"))
        for language, told in HOMES.items()
    }


@lru_cache(maxsize=32)
def _patterns(language: str) -> tuple[tuple[str, regex.Pattern[str]], ...]:
    told = HOMES[language]
    words = _BUILT_IN | {name: f"(?:{one})" for name, one in told.items() if isinstance(one, str)}

    return tuple(
        (kind, regex.compile(rf"{filled(one, words)}{_BEHIND}\Z", regex.IGNORECASE))
        for kind in ("moves", "lives")
        for one in told[kind]
    )
