"""Words of answers: which carry content, which only frame it, and which stand for each other.

In: text. Out: content words and the classes that the answer check compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any

import regex
import yaml

from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicons
from palace.text import Word, fold, stem, words

_NUMBERED = (
    r"(?<!\p{{L}})(?:{0})\s?(?:no\.\s?|nr\.\s?|n°\s?|#)?"
    r"(?P<numbers>\d{{1,2}}(?:(?:\s?[,&–-]\s?|,?\s(?:and|to|und|bis|et|à|y|e|en)\s|[と和、]|와\s?)\d{{1,2}})*)"
    r"(?![\d%°€$£]|[.,:/-]\d)"
)

# Where what a refusal is about ends, and something may be said again.
_OBJECT_END = regex.compile(
    r"[,;:()–—]|\s(?:but|aber|mais|pero|però|ma|mas|maar|но|only|just|so|though|although|while)\s",
    regex.IGNORECASE,
)


class AnswerWords:
    """The word lists of the answer check; all folded.

    Attributes:
        function: Words without content in any shipped language, as written and as tokens.
        persons: Words for who speaks and who is spoken to.
        framing: Words that frame an answer and claim nothing.
        refusals: Pattern of a sentence that says that nothing is known.
        advice: Pattern of a sentence that says what to do where nothing is known.
        offers: Pattern of a whole sentence that offers more.
        courtesies: Pattern of a whole sentence that is mere courtesy.
        items: Pattern of pieces of evidence that are called by their numbers.
        affirmations: Words for yes.
        denials: Words for no.
        negations: Words that turn a clause into its opposite.
        reminders: Pattern of what only looks like a negation: "don't forget".
        opposites: Words beside which polarity is not compared.
        groups: Token -> numbers of the groups of words it may stand for.
        codes: Name of a country or language -> the codes and names that stand for it.
        antonyms: Pairs of sets of tokens of which only one can be true of the same thing.
        classes: Token of a thing such as a colour -> the tokens of its names, those of its class.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        stopwords = (lexicon.stopwords for lexicon in load_lexicons(DEFAULT_LANGUAGES))
        self.function = frozenset[str]().union(*stopwords)
        self.persons = _folded(data["persons"])
        self.framing = _forms(data["framing"])
        self.refusals = _any_of(data["refusals"])
        self.advice = _any_of(data["advice"])
        self.offers = regex.compile(rf"\W*(?:{'|'.join(data['offers'])})[^:;–—]*")
        courtesies = "|".join(map(fold, data["courtesies"]))
        self.courtesies = regex.compile(rf"\W*(?:{courtesies})\W*")
        items = "|".join(data["items"].split())
        self.items = regex.compile(_NUMBERED.format(items), regex.IGNORECASE)
        self.affirmations = _folded(data["affirmations"])
        self.denials = _folded(data["denials"])
        self.negations = _folded(data["negations"])
        self.reminders = regex.compile("|".join(data["reminders"]), regex.IGNORECASE)
        self.opposites = _forms(data["opposites"])
        self.groups = _groups(data["synonyms"])
        self.codes = {w: frozenset(line.split()) for line in data["codes"] for w in line.split()}
        self.antonyms = tuple(
            (_stems(one), _stems(other))
            for one, other in (pair.split("/") for pair in data["antonyms"])
        )
        self.classes = _classes(data["classes"])


@lru_cache(maxsize=1)
def answer_words() -> AnswerWords:
    """Return the word lists, read once."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = (resources.files("palace.enforce") / "answer_words.yaml").read_text("utf-8")
    return AnswerWords(yaml.load(text, Loader=loader))  # noqa: S506 - one of the safe loaders


def _groups(lines: Iterable[str]) -> dict[str, frozenset[int]]:
    groups: dict[str, frozenset[int]] = {}
    for number, line in enumerate(lines):
        for word in line.split():
            token = stem(fold(word))
            groups[token] = groups.get(token, frozenset()) | {number}
    return groups


def _any_of(patterns: list[str]) -> regex.Pattern[str]:
    return regex.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def _classes(lines: Iterable[str]) -> dict[str, list[tuple[frozenset[str], frozenset[str]]]]:
    classes: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = {}
    for line in lines:
        members = [_stems(member.replace("=", " ")) for member in line.split()]
        for names in members:
            for token in names:
                classes.setdefault(token, []).append((names, frozenset().union(*members)))
    return classes


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


def _folded(words: str) -> frozenset[str]:
    return frozenset(map(fold, words.split()))


def _forms(words: str) -> frozenset[str]:
    folded = _folded(words)
    return folded | frozenset(map(stem, folded))


@lru_cache(maxsize=1024)
def read_words(text: str) -> tuple[Word, ...]:
    """Return the words of a text; the check asks for those of a sentence many times."""
    return tuple(words(text))


def unknown_spans(sentence: str) -> list[tuple[int, int]]:
    """Return the spans of what nothing is known of: "nothing about a slot in April" claims none."""
    ends = [0, *(match.start() for match in _OBJECT_END.finditer(sentence)), len(sentence)]
    refused = (
        (answer_words().refusals.search(fold(sentence[start:end])), start, end)
        for start, end in pairwise(ends)
    )
    return [(start + match.end(), end) for match, start, end in refused if match]


def is_content(word: Word) -> bool:
    """Whether a word carries content, in any of the shipped languages."""
    empty = answer_words().function
    return word.token not in empty and fold(word.surface) not in empty


def is_framing(word: Word) -> bool:
    """Whether a word only frames an answer."""
    framing = answer_words().framing
    return fold(word.surface) in framing or word.token in framing


def content_tokens(text: str) -> list[str]:
    """Return the index tokens of the content words of a text, in order."""
    return [word.token for word in words(text) if is_content(word)]
