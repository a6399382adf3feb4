"""Prompts that only acknowledge what was said: "thanks", "ok merci", "alles klar".

A single "danke" tells no language, so the phrases of all of them count. In: a prompt. Out: whether
it says nothing else.
"""

from __future__ import annotations

from functools import cache

import regex

from palace.recall.lexicon import DEFAULT_LANGUAGES, folded_words, load_lexicons, matchable
from palace.text import fold

_WORD = regex.compile(r"[^\W_]+(?:'[^\W_]+)?")
_FIRST_WITHOUT_BLANKS = "\u2e80"  # Chinese, Japanese and Korean letters stand behind it


def is_courtesy(prompt: str) -> bool:
    """Whether a prompt is a courtesy and nothing else, small words apart; no question mark."""
    text = matchable(prompt)
    rest, found = _phrases().subn(" ", text)
    asks = "?" in text or "？" in text
    small = folded_words("stopwords")
    return found > 0 and not asks and all(word in small for word in _WORD.findall(rest))


@cache
def _phrases() -> regex.Pattern[str]:
    listed = [p for x in load_lexicons(DEFAULT_LANGUAGES) for p in x.courtesies]
    # The longest first, so that "thank you so much" is not cut short.
    ordered = sorted(dict.fromkeys(map(fold, listed)), key=lambda phrase: -len(phrase))
    return regex.compile("|".join(map(_bounded, ordered)))


def _bounded(phrase: str) -> str:
    escaped = regex.escape(phrase)
    return escaped if phrase[0] >= _FIRST_WITHOUT_BLANKS else rf"\b{escaped}\b"
