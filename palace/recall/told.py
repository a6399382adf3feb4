"""What a memory tells in several words: "half past eight", "a las 20.30", "KW 50".

In: a kind of fact and the index tokens of a memory. Out: the tokens that tell it. The phrases are
those of all lexicons (`tells`), because a memory does not say which language it is in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

import regex

from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicons, word_tokens
from palace.text import MONEY, tokens

_NUMBER, _WITH_A_POINT = "#", "#.#"
_HOUR_AND_MINUTES = regex.compile(r"(?:[01]?\d|2[0-4])\.[0-5]\d")


def told(kind: str, body: Sequence[str]) -> Iterator[str]:
    """Yield the tokens of a memory that a phrase tells a fact with: its numbers, if it has any.

    Args:
        kind: A name under `tells`.
        body: Index tokens, in order.
    """
    no_time = word_tokens("price_words") | {MONEY}
    for place, token in enumerate(body):
        for phrase in _begun_by(token, kind):
            end = place + len(phrase)
            said, behind = body[place:end], body[end : end + 1]
            forms = list(map(_forms, said))
            if len(said) < len(phrase) or not no_time.isdisjoint(behind):  # "um 12.50 Euro teurer"
                continue
            if not any(map(frozenset.isdisjoint, phrase, forms)):
                yield from [t for t, form in zip(said, forms, strict=True) if len(form) > 1] or said


@lru_cache(maxsize=8192)  # every word of every candidate is looked up
def _begun_by(token: str, kind: str) -> tuple[tuple[frozenset[str], ...], ...]:
    """Return the phrases of a kind that may begin with a token."""
    phrases = _phrases(kind)
    return tuple(phrase for form in _forms(token) for phrase in phrases.get(form, ()))


def _forms(token: str) -> tuple[str, ...]:
    """Return a token and the marks that stand for it in a phrase."""
    if not token[0].isdigit():
        return (token, _NUMBER) if token in word_tokens("number_words") else (token,)
    with_a_point = _HOUR_AND_MINUTES.fullmatch(token)
    return (token, _NUMBER, _WITH_A_POINT) if with_a_point else (token, _NUMBER)


@cache
def _phrases(kind: str) -> Mapping[str, Sequence[tuple[frozenset[str], ...]]]:
    """Return the phrases of a kind by each form that their first part may have."""
    found: dict[str, list[tuple[frozenset[str], ...]]] = {}
    for lexicon in load_lexicons(DEFAULT_LANGUAGES):
        for phrase in lexicon.tells.get(kind, ()):
            parts = tuple(map(_alternatives, phrase.split()))
            for first in parts[0]:
                found.setdefault(first, []).append(parts)
    return found


def _alternatives(part: str) -> frozenset[str]:
    """Return the index tokens and marks that a part such as `#|acht` of a phrase may be."""
    return frozenset(
        one if one in (_NUMBER, _WITH_A_POINT) else tokens(one)[0] for one in part.split("|")
    )
