"""How a prompt is put: its small words in their order, whatever it is about left blank.

"Where did I put the blue folder?" and "where did I leave my keys" are put alike, and "where did
Napoleon die" is not. In: a prompt. Out: the words and pairs of words that the detector's model
knows, with a blank for every run of other words. No list of topics, names or subjects is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise

import regex

PREFIX = "says:"
"""What the names of these features begin with."""

_START, _END, _BLANK, _NUMBER = "^", "$", "_", "#"
# Where no blanks stand between words, a character is the nearest thing to one.
_CHARACTER = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
_TOKEN = regex.compile(rf"{_CHARACTER}|(?:(?!{_CHARACTER})[^\W_])+(?:'[^\W\d_]+)?|[?!.,:;\n]")
_HEAD_TOKENS, _TAIL_TOKENS = 40, 20


def tokens(text: str) -> list[str]:
    """Return words, numbers and stops of what `matchable` returned; of a long text both ends."""
    found = [str(token) for token in _TOKEN.findall(text)]
    if len(found) <= _HEAD_TOKENS + _TAIL_TOKENS:
        return found
    return [*found[:_HEAD_TOKENS], *found[-_TAIL_TOKENS:]]


def phrases(text: str, words: Collection[str]) -> dict[str, float]:
    """Return what a prompt says and in which order, each 1.0.

    Args:
        text: As `palace.recall.lexicon.matchable` makes it.
        words: The words that are looked at; every run of others is one blank.
    """
    said = [_START]
    for token in tokens(text):
        kept = token if token in words else _NUMBER if token.isdigit() else _BLANK
        if kept != _BLANK or said[-1] != _BLANK:
            said.append(kept)
    said.append(_END)
    single = (word for word in said if word not in (_START, _END, _BLANK))
    pairs = (f"{one} {two}" for one, two in pairwise(said))
    return {f"{PREFIX}{phrase}": 1.0 for phrase in (*single, *pairs)}


def words_of(features: Iterable[str]) -> frozenset[str]:
    """Return the words that the features of a model look at."""
    said = (name[len(PREFIX) :].split(" ") for name in features if name.startswith(PREFIX))
    return frozenset(word for phrase in said for word in phrase)
