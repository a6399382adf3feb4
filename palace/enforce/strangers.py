"""A name in the place of another, in an answer whose language is not that of the memory.

In: a sentence in another language than English, and an English memory. Out: the words of the
sentence that may be names and stand nowhere, if it leaves out names of the memory. The lists that
lead from other languages into English know ordinary words, so a word that they do not know may be a
name. Which words of the memory are names, its English capitals tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import regex

from palace.enforce.answer_words import is_content, read_words
from palace.enforce.specifics import find_names, is_everyday, is_inside, may_be_name
from palace.enforce.support import Support
from palace.recall.lexicon import load_lexicon, matchable, matches
from palace.recall.related import translated
from palace.text import Word, fold, right_before, starts_sentence

# Before a German noun, seldom before a name.
_DETERMINERS = regex.compile(
    r"(?<!\p{L})(?:d(?:er|ie|as|en|em|es)|(?:k?ein|[mds]ein|ihr|unser|euer|eur|dies|jed|welch|solch)"
    r"(?:e[rnms]?)?|alle[rnms]?|viele[rn]?|einige[rn]?|mehrere[rn]?|im|am|zum|zur|vom|beim|ins|ans)"
    r"\s(?:\p{Ll}+e[rnms]?\s)?$",
    regex.IGNORECASE,
)
# Endings of nouns that are made of other words.
_NO_NAMES = ("ung", "ungen", "heit", "keit", "schaft", "tion", "tionen", "ismus", "tat", "taten")
_MOST_ENDING_CHARS = 2
_MATCH_MS = 50.0
_CYRILLIC = str.maketrans(
    dict(
        zip(
            "абвгдеёжзийклмнопрстуфхцчшщыэюя",
            "a b v g d e e zh z i i k l m n o p r s t u f h c ch sh sch y e yu ya".split(),
            strict=True,
        )
    )
    | {"ь": "", "ъ": ""}
)


def strangers(
    sentence: str,
    taken: Sequence[tuple[int, int]],
    question: str,
    texts: Iterable[str],
    support: Support,
) -> list[str]:
    """Return what may be names and stand nowhere, where those of the memory are left out.

    Args:
        sentence: Of an answer.
        taken: Spans of it that are numbers, dates and the like.
        question: What was asked: in German a name that it says itself makes up for no other one.
        texts: English memories.
        support: What the sentence may rest on, with its language.
    """
    found = [w for w in _unknown(sentence, support) if not is_inside(w.start, taken)]
    if not found:
        return []
    remembered = {fold(w.surface) for text in texts for w, _ in find_names(text, ())}
    said, asked = _names_in(sentence, remembered), _names_in(question, remembered)
    if support.language == "de":
        unasked = remembered - asked
        replaced = bool(remembered) and said.isdisjoint(unasked or asked)
    else:  # what opens a sentence there may be any word
        replaced = bool(remembered) and not said and _asks_for_name(question, support.language)
    if not replaced and asked and said.isdisjoint(asked):  # somebody else is spoken of
        start = read_words(sentence)[0].start
        found = [word for word in found if word.start == start]
        replaced = True
    return [w.surface for w in found] if replaced else []


def is_spelled(word: Word, support: Support) -> bool:
    """Whether a name in Cyrillic letters stands there in Latin ones."""
    latin = _latin(word.surface)
    if latin == fold(word.surface):
        return False
    names = {fold(w.surface) for s in support.sources for w in read_words(s.text)}
    return any(_is_form(latin, name) for name in names)


def _unknown(sentence: str, support: Support) -> Iterator[Word]:
    """Yield words with a capital that stand nowhere and that no list knows."""
    for word in read_words(sentence):
        surface = word.surface
        if len(surface) < 2 or not surface.isalpha() or not may_be_name(surface):
            continue
        opens = starts_sentence(sentence, word.start)
        if not opens and (
            support.language != "de" or right_before(_DETERMINERS, sentence, word.start)
        ):
            continue  # elsewhere a capital inside a sentence tells a name, and is judged as one
        if opens and not regex.match(r"\s\p{L}", sentence[word.start + len(surface) :]):
            continue
        known = support.has_word(word) or support.has_name(word) or support.resembles(word)
        ordinary = (
            fold(surface).endswith(_NO_NAMES)
            or is_everyday(surface, support.language)
            or translated([word.token], support.language)
        )
        if not known and is_content(word) and not ordinary:
            yield word


@lru_cache(maxsize=64)
def _asks_for_name(question: str, language: str) -> bool:
    """Whether a question asks who it is, or what something is called."""
    types = load_lexicon(language).question_types
    kinds = (types.get(kind) for kind in ("person", "name"))
    text = matchable(question)
    return any(kind and matches(kind, text, timeout_ms=_MATCH_MS) for kind in kinds)


def _names_in(text: str, names: set[str]) -> set[str]:
    spoken = [_latin(word.surface) for word in read_words(text)]
    return {name for name in names if any(_is_form(one, name) for one in spoken)}


def _latin(surface: str) -> str:
    return fold(surface).translate(_CYRILLIC)


def _is_form(said: str, name: str) -> bool:
    """Whether a word is a name, perhaps with an ending, or without the h that others lack."""
    longer = len(name) + _MOST_ENDING_CHARS
    return any(
        said.startswith(one) and len(said) <= longer for one in (name, name.replace("h", ""))
    )
