"""Small words as they are typed in haste: "wat did i promise", "cb il me doit".

They tell what kind of prompt it is. The memories cannot help to mend them: such a typo may stand in
none. In: a prompt. Out: the same with the small words of its language as they are meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

from palace.recall.language import language_of
from palace.recall.lexicon import DEFAULT_LANGUAGES, MATCHED_CHARS, Lexicon, load_lexicons
from palace.text import words

_OF_A_WORD = r"[\p{L}\p{N}_'’@/-]"
_WORD = regex.compile(rf"(?<!{_OF_A_WORD}|\.){_OF_A_WORD}++")


def as_meant(prompt: str, lexicons: Sequence[Lexicon]) -> str:
    """Return a prompt with its small words as they are meant; a long one as it is.

    Args:
        prompt: As it was typed.
        lexicons: The languages that are known.
    """
    if len(prompt) > MATCHED_CHARS:
        return prompt
    if _of_any_language().isdisjoint(map(str.casefold, _WORD.findall(prompt))):
        return prompt
    meant = language_of(prompt, words(prompt), lexicons).misspelt

    def mended(found: regex.Match[str]) -> str:
        typed = found[0]
        # With a capital it is another word: "UR", "the Wat".
        small = typed.islower() or (typed.istitle() and not found.start())
        return meant.get(typed.lower(), typed) if small else typed

    return _WORD.sub(mended, prompt)


@cache
def _of_any_language() -> frozenset[str]:
    return frozenset[str]().union(*(x.misspelt for x in load_lexicons(DEFAULT_LANGUAGES)))
