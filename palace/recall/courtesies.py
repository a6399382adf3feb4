"""What a prompt says out of courtesy: "thanks", "ok merci", "alles klar", "Hey Timmy, …".

A single "danke" tells no language, so the phrases of all of them count. In: a prompt. Out: whether
it says nothing else; or the prompt without those at its ends, and without whom it speaks to.
"""

from __future__ import annotations

from functools import cache

import regex

from palace.recall.lexicon import DEFAULT_LANGUAGES, folded_words, load_lexicons, matchable
from palace.text import fold

_WORD = regex.compile(r"[^\W_]+(?:'[^\W_]+)?")
_FIRST_WITHOUT_BLANKS = "\u2e80"  # Chinese, Japanese and Korean letters stand behind it

# A longer sentence says something beside.
_COURTESY_WORDS = 5
_MOST_SENTENCES = 3
_REACTION_CHARS = 40
_GREETING = (
    r"hi|hiya|hey|hello|yo|good (?:morning|afternoon|evening)|hallo|moin|servus|grüezi"
    r"|guten (?:morgen|tag|abend)|bonjour|bonsoir|salut|coucou|hola|buenos días"
    r"|buenas (?:tardes|noches)|olá|oi|bom dia|boa (?:tarde|noite)|ciao|salve|buongiorno"
    r"|buonasera|hoi|dag|goede?(?:morgen|middag|navond)|привет|здравствуй(?:те)?"
    r"|добрый (?:день|вечер)|доброе утро"
    r"|cześć|hej|hejka|dzień dobry|hejsan|tjena|god (?:morgon|kväll)|merhaba|selam|günaydın"
)
_NAME = r"\p{L}[\p{L}\p{M}'’-]*"
_QUESTION = (
    r"when|what|where|who|which|why|how|(?:did|do|have|had|can|could|should) (?:we|i|you)"
    r"|wann|was|wo|wer|wie|wen|wem|welche[rsn]?|warum|quand|que|qu['’]|où|qui|quel(?:le)?s?|comment"
    r"|pourquoi|cuándo|cuando|qué|dónde|donde|quién|quien|cómo|como|quando|onde|quem|qual|dove|chi"
    r"|che|cosa|come|quale|wanneer|waar|wat|welke?|hoe|waarom|когда|где|кто|что|как|почему|какой"
    r"|kiedy|gdzie|kto|co|jak|när|var|vem|vad|vilken|hur|ne|kim|nerede|nasıl"
)
# "Hey Timmy, …" is said to Timmy, and asks nothing about him; dictated, it has no comma.
_GREETED = regex.compile(
    rf"(?:{_GREETING})(?:(?:,? {_NAME})?\s*[,!.…–—-]+\s+(?=\S)| {_NAME} (?=(?:{_QUESTION})\b))",
    regex.IGNORECASE,
)
# "haha when did we …", "… the kettle, thx".
_REACTED_FIRST = regex.compile(
    r"(?:ha(?:ha)+|hehe|lol|wow|h[mu]m+)\b[\s,!.…]+(?=\S)", regex.IGNORECASE
)
_REACTED_LAST = regex.compile(
    r"(?<=\S)[\s,]+(?:ha(?:ha)+|hehe|lol|thx|thnx|pls|plz)[\s.!…]*$", regex.IGNORECASE
)
# Behind a courtesy: "thanks Timmy", "merci, Claire".
_THANKED = regex.compile(r"(?<=\p{L},?) \p{Lu}[\p{L}\p{M}'’-]*(?=[!.…\s]*$)")
_SENTENCE_END = regex.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*")


def without_courtesies(prompt: str) -> str:
    """Return a prompt without the greeting it begins with and courtesies before and behind it.

    Whom it greets or thanks by name goes with them. What says nothing else is returned as it is.
    """
    greeted = _GREETED.match(prompt)
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
    before = _REACTED_FIRST.match(prompt)
    behind = _REACTED_LAST.search(prompt, max(0, len(prompt) - _REACTION_CHARS))
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
def _phrases() -> regex.Pattern[str]:
    listed = [p for x in load_lexicons(DEFAULT_LANGUAGES) for p in x.courtesies]
    # The longest first, so that "thank you so much" is not cut short.
    ordered = sorted(dict.fromkeys(map(fold, listed)), key=lambda phrase: -len(phrase))
    return regex.compile("|".join(map(_bounded, ordered)))


def _bounded(phrase: str) -> str:
    escaped = regex.escape(phrase)
    return escaped if phrase[0] >= _FIRST_WITHOUT_BLANKS else rf"\b{escaped}\b"
