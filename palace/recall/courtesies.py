"""What a prompt says out of courtesy: "thanks", "ok merci", "alles klar", "Hey Timmy, …".

A single "danke" tells no language, so the phrases of all lexicons count. In: a prompt. Out: whether
it says nothing else; or the prompt without the courtesies at its ends and the name in them.
"""

from __future__ import annotations

from functools import cache

import regex

from palace.recall.lexicon import folded_words, matchable, phrases_of_every_language
from palace.recall.lexicon_format import PhraseKind
from palace.text import fold

_RUN = regex.compile(r"[^\W_]+")
_WORD = regex.compile(r"[^\W_]+(?:'[^\W_]+)?")
_FIRST_WITHOUT_BLANKS = "\u2e80"  # Chinese, Japanese and Korean letters stand behind it

# A longer sentence says something beside.
_COURTESY_WORDS = 5
_MOST_SENTENCES = 3
_CLOSING_CHARS = 40
_LINES_OF_A_CLOSING = 2
_FIRST_CHARS, _LAST_CHARS = 40, 12
_BEHIND_A_CLOSING = " \n.!。)"
# "haha" and "hmm" are said at any length.
_DRAWN_OUT = regex.compile(r"(\p{L}{1,2}?)\1(?=(?:\\b)?\Z)")
_DENSE = r"[\u2E80-\U0003FFFF]"
_WORD_OF_A_NAME = r"[\p{L}\p{M}'’-]*"
NAME = rf"\p{{L}}{_WORD_OF_A_NAME}"
_WHOLE_NAME = rf"{NAME}(?: (?-i:\p{{Lu}}){_WORD_OF_A_NAME}){{0,2}}"
# What ends a greeting: a stop or a small picture, with a blank or such a letter behind it.
STOP = rf"[^\S\n]*(?:[,!?.…、。，！？~–—\-\p{{So}}]+(?:\s+|(?={_DENSE}))|\n\s*)(?=\S)"
# Behind a courtesy: "thanks Timmy", "merci, Claire", the "Lee" of "Kind regards\nAnn Lee".
_THANKED = regex.compile(rf"(?<=\p{{L}},?)\s+\p{{Lu}}{_WORD_OF_A_NAME}(?=[!.…\s]*$)")
_WORDS_OF_A_NAME = 3
# What begins with a stop is looked for in a quarter of the time that what stands behind one takes.
_SENTENCE_END = regex.compile(r"[.!?…]\K\s+|[。！？]\K\s*| ?\n\s*")


def without_courtesies(prompt: str) -> str:
    """Return a prompt without the greeting it begins with and courtesies before and behind it.

    Whom it greets or thanks by name goes with them. What says nothing else is returned as it is.
    """
    asked = prompt[len(opening_of(prompt)) :]
    if fold(asked[-_LAST_CHARS:]).rstrip(_BEHIND_A_CLOSING).endswith(_endings()):
        closing = _closing().search(asked, max(0, len(asked) - _CLOSING_CHARS))
        asked = asked[: closing.start()] if closing else asked
    for _ in range(_MOST_SENTENCES):
        left = _without_thanks(asked)
        if left == asked:
            break
        asked = left
    return asked


def opening_of(prompt: str) -> str:
    """Return the greetings and laughs that a prompt begins with before it says more, or ""."""
    if not prompt.startswith("@") and not may_open(prompt, "greetings", "interjections"):
        return ""
    end = 0
    for _ in range(_MOST_SENTENCES):
        found = _opening().match(prompt, end)
        if found is None:
            break
        end = found.end()
    return prompt[:end]


def _without_thanks(prompt: str) -> str:
    """Return a prompt without its first or last sentence if that only thanks."""
    ends = [end for end in _SENTENCE_END.finditer(prompt) if end.end() < len(prompt)]
    # Who signs may do so on a line of its own.
    for end in ends[: -_LINES_OF_A_CLOSING - 1 : -1]:
        if only_thanks(prompt[end.end() :]):
            return prompt[: end.start()]
    if ends and only_thanks(prompt[: ends[0].start()]):
        return prompt[ends[0].end() :]
    return prompt


def only_thanks(sentence: str) -> bool:
    """Whether a short sentence is a courtesy and nothing else, whom it thanks by name apart."""
    if len(sentence.split()) > _COURTESY_WORDS or "?" in sentence:
        return False  # without a look at the phrases of all languages
    for _ in range(_WORDS_OF_A_NAME):
        if is_courtesy(sentence):
            return True
        sentence, named = _THANKED.subn("", sentence)
        if not named:
            return False
    return is_courtesy(sentence)


def is_courtesy(prompt: str) -> bool:
    """Whether a prompt is a courtesy and nothing else, small words apart; no question mark."""
    return "?" not in matchable(prompt) and says_only(prompt, "courtesies", "greetings")


def says_only(prompt: str, *kinds: PhraseKind) -> bool:
    """Whether a prompt is phrases of these kinds in any language and small words, at least one."""
    said = (run for run in _RUN.findall(matchable(prompt)) if run.isascii())
    if not _runs_of(*kinds).issuperset(said):
        return False  # without a look at the phrases of all languages
    rest, found = without_phrases(prompt, *kinds)
    small = folded_words("stopwords")
    return found > 0 and all(word in small for word in _WORD.findall(rest))


@cache
def _runs_of(*kinds: PhraseKind) -> frozenset[str]:
    """Return all that stands between blanks and signs in phrases of these kinds and small words."""
    listed = (*map(fold, phrases_of_every_language(*kinds)), *folded_words("stopwords"))
    return frozenset(_RUN.findall(" ".join(listed)))


def without_phrases(prompt: str, *kinds: PhraseKind) -> tuple[str, int]:
    """Return a prompt, as cues are matched, without phrases of these kinds, and how many it had."""
    return _phrases(*kinds).subn(" ", matchable(prompt))


def may_open(prompt: str, *kinds: PhraseKind) -> bool:
    """Whether a prompt begins with the letters of a phrase of these kinds.

    Few do, and to compile what finds the phrases of all languages takes some 30 ms.
    """
    first = fold(prompt[:_FIRST_CHARS].lstrip("¡")).replace("’", "'")
    return first.startswith(_beginnings(*kinds))


@cache
def _beginnings(*kinds: PhraseKind) -> tuple[str, ...]:
    return tuple({fold(phrase) for phrase in phrases_of_every_language(*kinds)})


@cache
def _endings() -> tuple[str, ...]:
    """Return the two letters that something said behind a question ends with."""
    return tuple({fold(phrase)[-2:] for phrase in phrases_of_every_language("closings")})


@cache
def _opening() -> regex.Pattern[str]:
    """Return what finds "Hey Timmy, …", said to Timmy and nothing about him, and "haha …".

    Dictated, a greeting has no comma: then a question has to begin behind it or behind the name.
    """
    asked = rf"(?:{any_of('question_openers')})"
    named = rf"(?:,? {_WHOLE_NAME})?{STOP}| (?:{NAME} )??(?={asked})"
    said = rf"(?:{any_of('interjections')})[\s,!.…、。，！~]+"
    # Where many talk, "@timmy" says whom a question is for.
    mentioned = rf"@[\p{{L}}\p{{N}}][\w.-]*[,:]?\s+(?={asked})"
    return regex.compile(
        rf"¡?(?:{any_of('greetings')})(?:{named})|{said}(?=\S)|{mentioned}", regex.IGNORECASE
    )


@cache
def _closing() -> regex.Pattern[str]:
    """Return what finds the end of "… the kettle, thx"."""
    said = rf"(?:{any_of('closings')})"
    return regex.compile(
        rf"(?<=\S)(?:[\s,]+|(?<=[?!.。、…！？]))\(?{said}\)?[\s.!…。]*$", regex.IGNORECASE
    )


def any_of(kind: PhraseKind) -> str:
    """Return what finds any phrase of a kind, in every language, as people type it."""
    listed = phrases_of_every_language(kind)
    # Accents are often left out. Where they are part of a question word, another word is left.
    folded = () if kind == "question_openers" else map(fold, listed)
    return "|".join(map(_drawn_out, dict.fromkeys((*listed, *folded))))


def _drawn_out(phrase: str) -> str:
    return _DRAWN_OUT.sub(r"\1(?:\1)+", _bounded(phrase))


@cache
def _phrases(*kinds: PhraseKind) -> regex.Pattern[str]:
    listed = map(fold, phrases_of_every_language(*kinds))
    # The longest first, so that "thank you so much" is not cut short.
    ordered = sorted(dict.fromkeys(listed), key=lambda phrase: -len(phrase))
    return regex.compile("|".join(map(_bounded, ordered)))


def _bounded(phrase: str) -> str:
    escaped = regex.escape(phrase).replace("'", "['’]")
    return escaped if phrase[0] >= _FIRST_WITHOUT_BLANKS else rf"\b{escaped}\b"
