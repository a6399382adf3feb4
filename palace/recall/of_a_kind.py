"""Questions about a kind of thing, which the world answers: "What does a notary do?", 公証人とは？.

A palace that tells of a dentist's appointment says nothing of what dentists do. In: a prompt, its
language and its names. Out: whether all that it asks is what such a thing is or does.
"""

from __future__ import annotations

from collections.abc import Container

import regex

from palace.recall.given_names import is_given_name
from palace.recall.lexicon import Lexicon, first_match, is_word_of
from palace.recall.related import everyday_words
from palace.text import Word, fold, words

_MOST_CHARS = 100


def asks_of_a_kind(
    prompt: str, names: Container[str], lexicon: Lexicon, *, timeout_ms: float
) -> bool:
    """Whether a prompt asks what a kind of thing is or does, and asks nothing else.

    The kind is a bare common noun: the hand-written tables have it, where the language has some,
    and it is no name, no time, and nothing that only says what sort of thing is asked for. What
    "Zephyr" is, a project of the notes, only they tell; so it may be of any noun in quotes.

    Args:
        prompt: As it was typed, without what only frames its question.
        names: Index tokens of its names, those included that only the palace writes as such.
        lexicon: Its language; one that lists no such frames asks for none.
        timeout_ms: How long one pattern may take.
    """
    if len(prompt) > _MOST_CHARS:
        return False
    for frame in lexicon.requests.get("of_a_kind", ()):
        found = first_match(
            rf"\A\W*(?:{frame})[\s.!?…。！？]*\Z",
            prompt,
            timeout_ms=timeout_ms,
            flags=regex.IGNORECASE,
        )
        if found:
            kind = words(found["kind"])
            return bool(kind) and all(_is_common(word, names, lexicon) for word in kind)
    return False


def _is_common(word: Word, names: Container[str], lexicon: Lexicon) -> bool:
    """Whether a word is a plain noun, as far as lists tell."""
    token, listed = word.token, everyday_words(lexicon.language)
    return (
        word.shape in ("word", "dense")
        and (token in listed or not listed)
        and token not in names
        and token not in lexicon.soft
        # Of the pairs of letters of a longer noun, one may be a small word elsewhere.
        and (word.shape == "dense" or fold(word.surface) not in lexicon.function_words)
        and not is_word_of("relative_dates", token)
        and not is_given_name(word, lexicon)
    )
