"""Words of answers: which carry content, which only frame it, and which stand for each other.

In: text. Out: content words and the classes that the answer check compares.
"""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
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
        classes: Classes of things, each thing the tokens of its names.
    """

    function: frozenset[str]
    persons: frozenset[str]
    framing: frozenset[str]
    refusals: regex.Pattern[str]
    advice: regex.Pattern[str]
    offers: regex.Pattern[str]
    courtesies: regex.Pattern[str]
    items: regex.Pattern[str]
    affirmations: frozenset[str]
    denials: frozenset[str]
    negations: frozenset[str]
    reminders: regex.Pattern[str]
    opposites: frozenset[str]
    groups: dict[str, frozenset[int]]
    codes: dict[str, frozenset[str]]
    antonyms: tuple[tuple[frozenset[str], frozenset[str]], ...]
    classes: tuple[tuple[frozenset[str], ...], ...]


@lru_cache(maxsize=1)
def answer_words() -> AnswerWords:
    """Return the word lists, read once."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = (resources.files("palace.enforce") / "answer_words.yaml").read_text("utf-8")
    data: dict[str, Any] = yaml.load(text, Loader=loader)  # noqa: S506 - one of the safe loaders
    groups: dict[str, set[int]] = {}
    for number, line in enumerate(data["synonyms"]):
        for word in line.split():
            groups.setdefault(stem(fold(word)), set()).add(number)
    lexicons = load_lexicons(DEFAULT_LANGUAGES)
    return AnswerWords(
        function=_forms(data["function"]).union(*(lexicon.stopwords for lexicon in lexicons)),
        persons=frozenset(map(fold, data["persons"].split())),
        framing=_forms(data["framing"]),
        refusals=_any_of(data["refusals"]),
        advice=_any_of(data["advice"]),
        offers=regex.compile(rf"\W*(?:{'|'.join(data['offers'])})[^:;–—]*"),
        courtesies=regex.compile(rf"\W*(?:{'|'.join(map(fold, data['courtesies']))})\W*"),
        items=regex.compile(_NUMBERED.format("|".join(data["items"].split())), regex.IGNORECASE),
        affirmations=frozenset(map(fold, data["affirmations"].split())),
        denials=frozenset(map(fold, data["denials"].split())),
        negations=frozenset(map(fold, data["negations"].split())),
        reminders=regex.compile("|".join(data["reminders"]), regex.IGNORECASE),
        opposites=_forms(data["opposites"]),
        codes={word: frozenset(line.split()) for line in data["codes"] for word in line.split()},
        groups={token: frozenset(numbers) for token, numbers in groups.items()},
        classes=tuple(
            tuple(frozenset(map(stem, member.split("="))) for member in line.split())
            for line in data["classes"]
        ),
        antonyms=tuple(_sides(pair) for pair in data["antonyms"]),
    )


def _any_of(patterns: list[str]) -> regex.Pattern[str]:
    return regex.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def _sides(pair: str) -> tuple[frozenset[str], frozenset[str]]:
    one, other = pair.split("/")
    return frozenset(map(stem, one.split())), frozenset(map(stem, other.split()))


def _forms(text: str) -> frozenset[str]:
    folded = [fold(word) for word in text.split()]
    return frozenset(folded) | frozenset(stem(word) for word in folded)


@lru_cache(maxsize=1024)
def read_words(text: str) -> tuple[Word, ...]:
    """Return the words of a text; the check asks for those of a sentence many times."""
    return tuple(words(text))


def unknown_spans(sentence: str) -> list[tuple[int, int]]:
    """Return the spans of what nothing is known of: "nothing about a slot in April" claims none."""
    folded = fold(sentence)
    ends = [0, *(match.start() for match in _OBJECT_END.finditer(sentence)), len(sentence)]
    refused = ((answer_words().refusals.search(folded, *part), part[1]) for part in pairwise(ends))
    return [(match.end(), end) for match, end in refused if match]


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
