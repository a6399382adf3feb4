"""How a prompt is phrased, and what it is about: features of the detector's model.

"Where did I put the blue folder?" and "where did I leave my keys" are phrased alike, and "where did
Napoleon die" is not: the small words in their order tell, with a blank for all others. And people
ask their own notes about folders, keys and landlords more than about emperors. In: a prompt. Out:
the words and pairs of words that the model knows, for its phrasing and for its subject.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Container, Iterable, Mapping
from itertools import chain, pairwise
from types import MappingProxyType

import regex

from palace.text import tokens

SAYS = "says:"
"""What the names of the features begin with that tell how a prompt is put."""

HERE = "here:"
"""What the same begin with where there are memories: what is put so is asked of these, or not."""

ABOUT = "about:"
"""What the names of the features begin with that tell what it is about."""

_NO_SLIPS: Mapping[str, str] = MappingProxyType({})
_START, _END, _BLANK, _NUMBER = "^", "$", "_", "#"
# Where no blanks stand between words, a character is the nearest thing to one.
_CHARACTER = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
# A whole date is one thing that is asked about, and no three numbers of a sum.
_DATE = r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)"
_TOKEN = regex.compile(
    rf"{_DATE}|{_CHARACTER}|(?:(?!{_CHARACTER})[^\W_])+(?:'[^\W\d_]+)?|[?!.,:;\n]"
)
# The same where there are no other letters, in a quarter of the time.
_ASCII_TOKEN = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)|[A-Za-z0-9]+(?:'[A-Za-z]+)?|[?!.,:;\n]")
_HEAD_TOKENS, _TAIL_TOKENS = 40, 20
# What all of it counts together, however long the prompt: the length of the vector.
_ABOUT_LENGTH = 8.0


def words_and_stops(text: str) -> list[str]:
    """Return words, numbers and stops of what `matchable` returned; of a long text both ends."""
    return _ends((_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text))


def phrases(text: str, words: Collection[str]) -> dict[str, float]:
    """Return the features of how a prompt is phrased, each 1.0.

    Args:
        text: As `palace.recall.lexicon.matchable` makes it.
        words: The words that are looked at; every run of others is one blank.
    """
    said = [_START]
    for token in words_and_stops(text):
        kept = token if token in words else _NUMBER if token.isdigit() else _BLANK
        if kept != _BLANK or said[-1] != _BLANK:
            said.append(kept)
    said.append(_END)
    single = (word for word in said if word not in (_START, _END, _BLANK))
    pairs = (f"{one} {two}" for one, two in pairwise(said))
    return {f"{SAYS}{phrase}": 1.0 for phrase in (*single, *pairs)}


def said_here(said: Mapping[str, float]) -> dict[str, float]:
    """Return the features of `phrases` under the names that count where there are memories."""
    return {f"{HERE}{name.removeprefix(SAYS)}": value for name, value in said.items()}


def words_of(features: Iterable[str]) -> frozenset[str]:
    """Return the words that the features of a model look at."""
    said = [name.partition(":")[2] for name in features if name.startswith((SAYS, HERE))]
    return frozenset(" ".join(said).split(" "))


def mentions(text: str, slips: Mapping[str, str] = _NO_SLIPS) -> dict[str, None]:
    """Return the names of all features that could tell what a prompt is about, each once.

    They are its index tokens, so that a word counts in every form, and the pairs of these.

    Args:
        text: As `palace.recall.lexicon.matchable` makes it.
        slips: Misspelt token -> the one that is meant.
    """
    said = _ends([slips.get(token, token) for token in tokens(text)])
    pairs = (f"{one} {two}" for one, two in pairwise((_START, *said, _END)))
    return dict.fromkeys(f"{ABOUT}{phrase}" for phrase in chain(said, pairs))


def subjects(
    text: str,
    known: Container[str],
    *,
    english: Iterable[str] = (),
    slips: Mapping[str, str] = _NO_SLIPS,
) -> dict[str, float]:
    """Return what a prompt is about: the features of it that are known, as a vector of one length.

    Args:
        text: As `palace.recall.lexicon.matchable` makes it.
        known: The features that are looked at.
        english: For a prompt in another language, what it says in English index tokens: people ask
            for the same things in every language, and the model knows most in English.
        slips: Misspelt token -> the one that is meant.
    """
    mentioned = dict.fromkeys((*mentions(text, slips), *(f"{ABOUT}{token}" for token in english)))
    return of_one_length([name for name in mentioned if name in known])


def of_one_length(names: Collection[str]) -> dict[str, float]:
    """Return features as a vector of one fixed length, however many they are."""
    return dict.fromkeys(names, _ABOUT_LENGTH / math.sqrt(len(names))) if names else {}


def _ends(found: list[str]) -> list[str]:
    if len(found) <= _HEAD_TOKENS + _TAIL_TOKENS:
        return found
    return [*found[:_HEAD_TOKENS], *found[-_TAIL_TOKENS:]]
