"""Which languages the memories of a palace are in, told by their function words.

In: languages, and how many memories hold a word. Out: those languages that some memories are in.
English is never among them: what is asked of English notes is asked whether there are any or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from palace.ports import TermCounts
from palace.recall.lexicon import DENSE_FROM, folded_words, load_lexicon
from palace.recall.related import is_english

# A shorter word in Latin letters is one in many languages, and in names: "de", "la", "il".
_FEWEST_LETTERS = 3
# Longer ones tell nothing that these do not, and all are counted anew after every write.
_MOST_LETTERS, _MOST_IN_DENSE_SCRIPTS = 6, 1
# So often function words have to be said, and one of them twice: a sentence that says many of them
# is one sentence all the same.
_SAID, _SAID_AGAIN = 4, 2


def written_languages(
    languages: Sequence[str], counts: Callable[[Iterable[str]], Mapping[str, TermCounts]]
) -> tuple[str, ...]:
    """Return those of some languages that more than one memory is in, English left out.

    Args:
        languages: Codes of languages that have a lexicon.
        counts: Returns how many memories hold each of some tokens.
    """
    telling = {language: telling_words(language) for language in languages if language != "en"}
    held = counts({word for words in telling.values() for word in words})
    said = [lang for lang, words in telling.items() if _is_said([held[w].any for w in words])]
    if "zh" in said and "ja" in said:  # by its letters Japanese is Chinese too
        unshared = [held[word].any for word in telling["zh"] if not _is_in_japanese(word)]
        said = [lang for lang in said if lang != "zh" or _is_said(unshared)]
    return tuple(said)


def _is_in_japanese(word: str) -> bool:
    """Whether all letters of a word are among those that Japanese is written with."""
    try:
        word.encode("shift_jis")
    except UnicodeEncodeError:
        return False
    return True


def _is_said(held: Sequence[int]) -> bool:
    """Whether so many memories hold words of a language that it is no name and no quotation."""
    most = max(held, default=0)
    return _SAID_AGAIN <= most < sum(held) and sum(held) >= _SAID


@cache
def telling_words(language: str) -> frozenset[str]:
    """Return the short function words of a language that are no words of English, as index tokens.

    A word that is cut down to a stem is no token, and is found in no memory.
    """
    small = load_lexicon(language).function_words - folded_words("number_words")
    return frozenset(word for word in small if _is_telling(word) and not is_english(word))


def _is_telling(word: str) -> bool:
    if word.isascii() and len(word) < _FEWEST_LETTERS:
        return False
    return len(word) <= (_MOST_LETTERS if word < DENSE_FROM else _MOST_IN_DENSE_SCRIPTS)
