"""What a memory tells in several words: "half past eight", "a las 20.30", "KW 50".

In: a kind of fact and the index tokens of a memory. Out: the tokens that tell it. The phrases are
those of all lexicons (`tells`), because a memory does not say which language it is in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TypeAlias

import regex

from palace.recall.lexicon import DEFAULT_LANGUAGES, is_word_of, load_lexicons, word_tokens
from palace.text import MONEY, tokens

_NUMBER, _WITH_A_POINT = "#", "#.#"
_MARKS = frozenset((_NUMBER, _WITH_A_POINT))
_Phrase: TypeAlias = tuple[frozenset[str], ...]  # what each part of it may be
_HOUR_AND_MINUTES = regex.compile(r"(?:[01]?\d|2[0-4])\.[0-5]\d")


def told(kind: str, body: Sequence[str]) -> Iterator[str]:
    """Yield the tokens of a memory that a phrase tells a fact with: its numbers, if it has any.

    Args:
        kind: A name under `tells`.
        body: Index tokens, in order.
    """
    phrases = _phrases(kind)
    if phrases.keys().isdisjoint(body):  # every candidate is asked, and most have no such word
        return
    no_time = word_tokens("price_words") | {MONEY}
    for place, token in enumerate(body):
        for before, phrase in phrases.get(token, ()):
            start, end = place - before, place - before + len(phrase)
            if start < 0 or end > len(body):
                continue
            said, behind = body[start:end], body[end : end + 1]
            forms = list(map(_forms, said))
            if not no_time.isdisjoint(behind):  # "um 12.50 Euro teurer"
                continue
            if not any(map(frozenset.isdisjoint, phrase, forms)):
                yield from [t for t, form in zip(said, forms, strict=True) if len(form) > 1] or said


def _forms(token: str) -> tuple[str, ...]:
    """Return a token and the marks that stand for it in a phrase."""
    if not token[0].isdigit():
        return (token, _NUMBER) if is_word_of("number_words", token) else (token,)
    with_a_point = _HOUR_AND_MINUTES.fullmatch(token)
    return (token, _NUMBER, _WITH_A_POINT) if with_a_point else (token, _NUMBER)


@cache
def _phrases(kind: str) -> Mapping[str, Sequence[tuple[int, _Phrase]]]:
    """Return the phrases of a kind by a word of theirs, with how many parts stand before it."""
    found: dict[str, list[tuple[int, _Phrase]]] = {}
    for lexicon in load_lexicons(DEFAULT_LANGUAGES):
        for text in lexicon.tells.get(kind, ()):
            phrase = tuple(map(_alternatives, text.split()))
            words = [place for place, part in enumerate(phrase) if _MARKS.isdisjoint(part)]
            place = min(words, key=lambda place: len(phrase[place]))
            for word in phrase[place]:
                found.setdefault(word, []).append((place, phrase))
    return found


def _alternatives(part: str) -> frozenset[str]:
    """Return the index tokens and marks that a part such as `#|acht` of a phrase may be."""
    return frozenset(one if one in _MARKS else tokens(one)[0] for one in part.split("|"))
