"""What a prompt says out of courtesy: "thanks", "ok merci", "alles klar", "Hey Timmy, …".

A single "danke" tells no language, so the phrases of all lexicons count. In: a prompt. Out: whether
it says nothing else; or the prompt without those at its ends, and without whom it speaks to.
"""

from __future__ import annotations

from functools import cache

import regex

from palace.recall.lexicon import PhraseKind, folded_words, matchable, phrases_of_every_language
from palace.text import fold

_WORD = regex.compile(r"[^\W_]+(?:'[^\W_]+)?")
_FIRST_WITHOUT_BLANKS = "\u2e80"  # Chinese, Japanese and Korean letters stand behind it

# A longer sentence says something beside.
_COURTESY_WORDS = 5
_MOST_SENTENCES = 3
_REACTION_CHARS = 40
# "haha" and "hmm" are said at any length.
_DRAWN_OUT = regex.compile(r"(\p{L}{1,2}?)\1\Z")
_NAME = r"\p{L}[\p{L}\p{M}'’-]*"
# Behind a courtesy: "thanks Timmy", "merci, Claire".
_THANKED = regex.compile(r"(?<=\p{L},?) \p{Lu}[\p{L}\p{M}'’-]*(?=[!.…\s]*$)")
_SENTENCE_END = regex.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*")


def without_courtesies(prompt: str) -> str:
    """Return a prompt without the greeting it begins with and courtesies before and behind it.

    Whom it greets or thanks by name goes with them. What says nothing else is returned as it is.
    """
    greeted = _greeted().match(prompt)
    asked = _without_reactions(prompt[greeted.end() :] if greeted else prompt)
    for _ in range(_MOST_SENTENCES):
        left = _without_thanks(asked)
        if left == asked:
            break
        asked = left
    return asked


def _without_thanks(prompt: str) -> str:
    """Return a prompt without its first or last sentence if that only thanks."""
    ends = [end for end in _SENTENCE_END.finditer(prompt) if end.end() < len(prompt)]
    if ends and _only_thanks(prompt[ends[-1].end() :]):
        return prompt[: ends[-1].start()]
    if ends and _only_thanks(prompt[: ends[0].start()]):
        return prompt[ends[0].end() :]
    return prompt


def _without_reactions(prompt: str) -> str:
    """Return a prompt without a laugh or the like before it and behind it."""
    before = _interjection().match(prompt)
    behind = _closing().search(prompt, max(0, len(prompt) - _REACTION_CHARS))
    return prompt[before.end() if before else 0 : behind.start() if behind else None] or prompt


def _only_thanks(sentence: str) -> bool:
    if len(sentence.split()) > _COURTESY_WORDS or "?" in sentence:
        return False  # without a look at the phrases of all languages
    return is_courtesy(sentence) or is_courtesy(_THANKED.sub("", sentence))


def is_courtesy(prompt: str) -> bool:
    """Whether a prompt is a courtesy and nothing else, small words apart; no question mark."""
    text = matchable(prompt)
    rest, found = _phrases().subn(" ", text)
    asks = "?" in text or "？" in text
    small = folded_words("stopwords")
    return found > 0 and not asks and all(word in small for word in _WORD.findall(rest))


@cache
def _greeted() -> regex.Pattern[str]:
    """Return what finds "Hey Timmy, …": said to Timmy, it asks nothing about him.

    Dictated, it has no comma: then a question has to begin behind the name.
    """
    asked = rf"(?=(?:{_any_of('question_openers')})\b)"
    named = rf"(?:,? {_NAME})?\s*[,!.…–—-]+\s+(?=\S)"
    return regex.compile(
        rf"(?:{_any_of('greetings')})(?:{named}| {_NAME} {asked})", regex.IGNORECASE
    )


@cache
def _interjection() -> regex.Pattern[str]:
    """Return what finds the laugh in "haha when did we …"."""
    said = _any_of("interjections")
    return regex.compile(rf"(?:{said})\b[\s,!.…]+(?=\S)", regex.IGNORECASE)


@cache
def _closing() -> regex.Pattern[str]:
    """Return what finds the end of "… the kettle, thx"."""
    said = _any_of("closings")
    return regex.compile(rf"(?<=\S)[\s,]+(?:{said})[\s.!…]*$", regex.IGNORECASE)


def _any_of(kind: PhraseKind) -> str:
    phrases = map(regex.escape, phrases_of_every_language(kind))
    return "|".join(_DRAWN_OUT.sub(r"\1(?:\1)+", p).replace("'", "['’]") for p in phrases)


@cache
def _phrases() -> regex.Pattern[str]:
    listed = map(fold, phrases_of_every_language("courtesies", "greetings"))
    # The longest first, so that "thank you so much" is not cut short.
    ordered = sorted(dict.fromkeys(listed), key=lambda phrase: -len(phrase))
    return regex.compile("|".join(map(_bounded, ordered)))


def _bounded(phrase: str) -> str:
    escaped = regex.escape(phrase)
    return escaped if phrase[0] >= _FIRST_WITHOUT_BLANKS else rf"\b{escaped}\b"
