"""What a memory tells in several words: "half past eight", "a las 20.30", "KW 50".

In: a kind of fact and the index tokens of a memory. Out: the tokens that tell it. The phrases are
those of all lexicons (`tells`), because a memory does not say which language it is in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

import regex

from palace.recall.lexicon import DEFAULT_LANGUAGES, is_word_of, load_lexicons
from palace.text import MONEY, tokens

_NUMBER, _WITH_A_POINT = "#", "#.#"
_MARKS = frozenset((_NUMBER, _WITH_A_POINT))
_Phrase: TypeAlias = tuple[frozenset[str], ...]  # what each part of it may be
_HOUR_AND_MINUTES = regex.compile(r"(?:[01]?\d|2[0-4])\.[0-5]\d")


def told(body: Sequence[str], *kinds: str) -> Iterator[str]:
    """Yield the tokens of a memory that a phrase tells a fact with: its numbers, if it has any.

    Args:
        body: Index tokens, in order.
        kinds: Names under `tells`.
    """
    phrases = _phrases(kinds)
    if phrases.keys().isdisjoint(body):  # every candidate is asked, and most have no such word
        return
    for place, token in enumerate(body):
        for before, phrase in phrases.get(token, ()):
            start, end = place - before, place - before + len(phrase)
            if start < 0 or end > len(body):
                continue
            said = body[start:end]
            if any(map(_is_another, phrase, said)):  # most are, at the first number that is none
                continue
            if not any(map(_is_price, body[end : end + 1])):  # "um 12.50 Euro teurer"
                yield from [t for t in said if len(_forms(t)) > 1] or said


def _is_another(part: frozenset[str], token: str) -> bool:
    """Whether a token is nothing that a part of a phrase may be."""
    return part.isdisjoint(_forms(token))


def _is_price(token: str) -> bool:
    return token == MONEY or is_word_of("price_words", token)


@lru_cache(maxsize=8192)
def _forms(token: str) -> tuple[str, ...]:
    """Return a token and the marks that stand for it in a phrase."""
    if not token[0].isdigit():
        return (token, _NUMBER) if is_word_of("number_words", token) else (token,)
    with_a_point = _HOUR_AND_MINUTES.fullmatch(token)
    return (token, _NUMBER, _WITH_A_POINT) if with_a_point else (token, _NUMBER)


@cache
def _phrases(kinds: tuple[str, ...]) -> Mapping[str, Sequence[tuple[int, _Phrase]]]:
    """Return the phrases of some kinds by a word of theirs, with how many parts stand before it."""
    found: dict[str, list[tuple[int, _Phrase]]] = {}
    for lexicon in load_lexicons(DEFAULT_LANGUAGES):
        for text in (text for kind in kinds for text in lexicon.tells.get(kind, ())):
            phrase = tuple(map(_alternatives, text.split()))
            words = [place for place, part in enumerate(phrase) if _MARKS.isdisjoint(part)]
            # By what few memories hold: of "a la una" that is "una".
            place = min(words, key=lambda n: (len(phrase[n]), -min(map(len, phrase[n]))))
            for word in phrase[place]:
                found.setdefault(word, []).append((place, phrase))
    return found


def _alternatives(part: str) -> frozenset[str]:
    """Return the index tokens and marks that a part such as `#|acht` of a phrase may be."""
    return frozenset(one if one in _MARKS else tokens(one)[0] for one in part.split("|"))
