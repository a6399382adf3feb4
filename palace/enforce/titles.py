"""Titles of people: a Mr in the place of a Ms.

In: a sentence and the texts of the memory. Out: the names that stand behind a title of the other
sex than all the texts have before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import regex

from palace.text import fold

# "M." and "Fr." may be cut from other words.
_MEN = "mr mister herrn? hr se[ñn]or sr monsieur signor sig meneer mijnheer".split()
_WOMEN = "mrs ms miss frau mme madame mlle se[ñn]ora sra signora sig\\.ra mevrouw mevr".split()
_TITLED = regex.compile(
    rf"\b(?:(?P<man>{'|'.join(_MEN)})|{'|'.join(_WOMEN)})\b\.?\s(?-i:(?P<name>\p{{Lu}}[\p{{L}}'’-]+))",
    regex.IGNORECASE,
)


def other_titles(sentence: str, texts: Sequence[str]) -> list[str]:
    """Return the names of a sentence with their titles, where the texts have another."""
    known = {titled for text in texts for titled, _ in _titled(text)}
    return [
        written
        for (is_man, name), written in _titled(sentence)
        if (is_man, name) not in known and (not is_man, name) in known
    ]


@lru_cache(maxsize=512)
def _titled(text: str) -> tuple[tuple[tuple[bool, str], str], ...]:
    return tuple(_read(text))


def _read(text: str) -> Iterator[tuple[tuple[bool, str], str]]:
    for match in _TITLED.finditer(text):
        yield (match["man"] is not None, fold(match["name"])), match[0]
