"""Which language a text is in.

In: a text and the lexicons of the languages that are known. Out: the lexicon of one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from palace.recall.lexicon import Lexicon, compiled
from palace.text import Word, fold


def language_of(text: str, found: Sequence[Word], lexicons: Sequence[Lexicon]) -> Lexicon:
    """Return the lexicon of a text's language: by script, else by its function words.

    Typical letters count like one function word, and so does each word with a letter that no other
    language has, names apart: a Turkish sentence may have no function word at all. On a tie the
    first lexicon wins.

    Args:
        text: Any text.
        found: Its words.
        lexicons: The languages to know, at least one.
    """
    spaced = sum(w.shape != "dense" for w in found)
    # Japanese is written with the letters of Chinese too: more scripts are the surer sign.
    telling = [lexicon for lexicon in lexicons if lexicon.scripts]
    for lexicon in sorted(telling, key=lambda lexicon: -len(lexicon.scripts)):
        # A foreign name inside a sentence is not the sentence.
        if _script_letters(text, lexicon) > spaced:
            return lexicon
    lowered = text.lower()
    said = [fold(w.surface) for w in found if w.shape == "word" and len(w.token) > 1]
    spelt = [] if text.isascii() else [set(w.surface) for w in found if w.surface.islower()]

    def evidence(lexicon: Lexicon) -> int:
        if lexicon.scripts and not _script_letters(text, lexicon):
            return 0
        typical = any(letter in lowered for letter in lexicon.typical_letters)
        own = len([letters for letters in spelt if not lexicon.own_letters.isdisjoint(letters)])
        known = lexicon.function_words
        return typical + own + len([word for word in said if word in known])

    return max(lexicons, key=evidence)


def is_unread(text: str, lexicons: Iterable[Lexicon]) -> bool:
    """Whether most letters of a text are of scripts that none of the languages is written in."""
    if text.isascii():
        return False
    # A language without letters of its own is written in Latin ones.
    scripts = sorted({s for lexicon in lexicons for s in lexicon.scripts or ("Latin",)})
    letters = compiled(r"\p{L}").findall(text)
    read = compiled("[" + "".join(rf"\p{{{script}}}" for script in scripts) + "]").findall(text)
    return 2 * len(read) < len(letters)


def _script_letters(text: str, lexicon: Lexicon) -> int:
    letter = lexicon.script_letter
    return 0 if letter is None or text.isascii() else len(letter.findall(text))
