"""People who are called by their given name alone: "did Ruth send the keys?".

People use a given name alone for somebody they know, and surnames for the rest of the world. Whom
the name means, the palace tells. In: the words of a prompt. Out: which of them are given names, and
whether one stands alone. The names, folded, were written by hand as lists in
`benchmarks/data/given_names`; `python -m benchmarks.written_words` packs them into
`given_names.txt`. Names that are everyday words as well ("Will", "Rose", "Pierre") are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from palace.recall.lexicon import Lexicon
from palace.recall.related import everyday_words
from palace.text import Word, fold, starts_sentence

LISTED = Path(__file__).parent / "given_names.txt"


def is_given_name(word: Word, lexicon: Lexicon) -> bool:
    """Whether a word is a given name; an everyday word of the language only with a capital.

    Args:
        word: Of a prompt.
        lexicon: The prompt's language.
    """
    return (
        word.shape == "word"
        and as_listed(word) in given_names()
        and (word.surface[0].isupper() or word.token not in everyday_words(lexicon.language))
    )


def calls_by_given_name(prompt: str, found: Sequence[Word], lexicon: Lexicon) -> bool:
    """Whether a prompt calls somebody by a given name alone, without a surname or a title.

    The name needs a capital: somebody who asks in small letters may mean the Emma of a series.

    Args:
        prompt: What was typed.
        found: Its words, in order.
        lexicon: Its language.
    """
    return any(
        word.surface[0].isupper()
        and is_given_name(word, lexicon)
        and not _is_part_of_a_name(prompt, found, place, lexicon)
        for place, word in enumerate(found)
    )


@cache
def given_names() -> frozenset[str]:
    """Return all names, each as `as_listed` returns it."""
    return frozenset(LISTED.read_text("utf-8").split())


def as_listed(word: Word) -> str:
    """Return a word as names are listed: folded; in letters of Russian by their stem."""
    folded = fold(word.surface)
    return folded if folded.isascii() else word.token


def _is_part_of_a_name(prompt: str, found: Sequence[Word], place: int, lexicon: Lexicon) -> bool:
    """Whether a name or a title stands right beside a word: "of President Ruth", "Ruth Bader".

    What opens a sentence has a capital always, and is none: "Ask Ruth".
    """
    word = found[place]
    before = [o for o in found[max(place - 1, 0) : place] if not starts_sentence(prompt, o.start)]
    beside = [
        *((other, prompt[other.end : word.start]) for other in before),
        *((other, prompt[word.end : other.start]) for other in found[place + 1 : place + 2]),
    ]
    return any(
        between == " "
        and other.surface[0].isupper()
        and fold(other.surface) not in lexicon.function_words
        # "Aunt Ruth": so somebody calls whom he knows.
        and fold(other.surface) not in lexicon.folded("before_names")
        # In German every noun has a capital.
        and (lexicon.capitals_mark_names or other.token not in everyday_words(lexicon.language))
        for other, between in beside
    )
