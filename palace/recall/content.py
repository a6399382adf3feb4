"""Which words of a prompt carry content, and which terms of the index stand for them.

In: the words of a text and their lexicon. Out: those that say something, and their terms.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import takewhile

import regex

from palace.ports import TermCounts
from palace.recall.borders import FIRST_HANGUL
from palace.recall.days import ordinal_day
from palace.recall.lexicon import Lexicon, is_hiragana
from palace.text import Word, fold, starts_sentence
from palace.text.months import is_dated

MAX_TERMS = 40
_PARTICLE_CHARS = 5
# English alone writes these; "won" and "haven" are other words.
_NEGATED = regex.compile(r"\p{L}*n['’]t\b", regex.IGNORECASE)


def content_of(
    text: str, found: Iterable[Word], lexicon: Lexicon, called: Container[Word]
) -> list[Word]:
    """Return the words of a text that carry content: "in May" does, "may I" and "May I" do not.

    Where a sentence begins with a month, a day beside it has to tell that it is one. Whom somebody
    is `called` is content, whatever else the word is.
    """
    return [
        word
        for word in found
        if not (
            is_function_word(word, lexicon)
            or _NEGATED.match(text, word.start)
            or _ends_in_particle(text, word, lexicon)
        )
        or (word.token.startswith("month") and _is_month(text, word))
        or word in called
    ]


def of_oneself(found: Sequence[Word], lexicon: Lexicon) -> list[Word]:
    """Return what small words alone ask of who speaks: of "hoe heet ik" all but "hoe".

    A soft word that is small elsewhere is content beside a word by which he speaks of himself.
    """
    himself = lexicon.folded("first_person")
    own = {w for w in found if not himself.isdisjoint((fold(w.surface), *w.extra))}
    said = [word for word in found if word in own or word.token in lexicon.soft]
    return said if own and not own.issuperset(said) else []


def _is_month(text: str, word: Word) -> bool:
    if not starts_sentence(text, word.start):
        return True
    return is_dated(text, word.start, word.end)


def _ends_in_particle(text: str, word: Word, lexicon: Lexicon) -> bool:
    """Whether a pair of letters is the end of a noun and a particle: of 월세가 only 월세 counts."""
    letter = lexicon.script_letter
    if letter is None or not lexicon.folded("particles") or word.surface < FIRST_HANGUL:
        return False
    if not letter.match(text[max(word.start - 1, 0) : word.start]):
        return False  # a noun of one letter has no other pair
    rest = text[word.start + 1 : word.start + 1 + _PARTICLE_CHARS]
    return "".join(takewhile(letter.match, rest)) in lexicon.folded("particles")


def is_function_word(word: Word, lexicon: Lexicon) -> bool:
    """Whether a word says nothing by itself: "the", a single letter, a Japanese particle."""
    if word.shape == "number":
        return False
    if word.shape == "dense":
        return word.token in lexicon.function_words or is_hiragana(word.token)
    return fold(word.surface) in lexicon.function_words or len(word.token) < 2


def all_tokens(content: Iterable[Word]) -> list[str]:
    """Return every token that could stand for one of some words."""
    return [token for word in content for token in (word.token, *word.parts, *word.extra)]


def terms_of(content: Iterable[Word], counts: Mapping[str, TermCounts]) -> tuple[str, ...]:
    """Return the tokens that stand for each word in this palace."""
    terms: dict[str, None] = {}
    for word in content:
        terms.update(dict.fromkeys(_standing_for(word, counts)))
    return tuple(terms)[:MAX_TERMS]


def _standing_for(word: Word, counts: Mapping[str, TermCounts]) -> tuple[str, ...]:
    parts = _saying_all(word)
    parts_known = bool(parts) and all(counts[p].any for p in parts)
    if counts[word.token].any and not (word.shape == "word" and parts_known):
        return (word.token,)
    if parts_known:
        return parts
    if word.shape == "identifier":  # "v2.0.1" where only "2.0.1" is written
        return next(((e,) for e in word.extra if counts[e].any), (word.token,))
    return (word.token,)


def _saying_all(word: Word) -> tuple[str, ...]:
    """Return the parts that together say what a word does: "24th" is the 24, "k8s" is no 8."""
    if word.shape != "identifier":
        return word.parts
    if day := ordinal_day(word.token):
        return (day,)
    is_code = not word.token[0].isdigit() and all(part.isdigit() for part in word.parts)
    return () if is_code else word.parts
