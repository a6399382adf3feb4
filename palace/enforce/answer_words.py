"""Words of answers: which carry content and which only frame it.

In: text. Out: content tokens.
"""

from __future__ import annotations

from functools import lru_cache

from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicons
from palace.text import fold, words


@lru_cache(maxsize=1)
def function_words() -> frozenset[str]:
    """Return the words of all shipped languages that carry no content, folded and stemmed."""
    return frozenset().union(*(lexicon.stopwords for lexicon in load_lexicons(DEFAULT_LANGUAGES)))


def content_tokens(text: str) -> list[str]:
    """Return the index tokens of the content words of a text, in order."""
    empty = function_words()
    return [w.token for w in words(text) if w.token not in empty and fold(w.surface) not in empty]
