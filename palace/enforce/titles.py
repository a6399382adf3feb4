"""Titles of people: a Mr in the place of a Ms.

In: a sentence and the texts of the memory. Out: the names that stand behind a title of the other
sex than all the texts have before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import regex

from palace.enforce.polarity import OneOfTwo, others_of_two
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
    return others_of_two(sentence, texts, _titled)


@lru_cache(maxsize=512)
def _titled(text: str) -> OneOfTwo:
    return tuple(
        ((match["man"] is not None, fold(match["name"])), match[0])
        for match in _TITLED.finditer(text)
    )
