"""Names typed in small letters that nobody in this palace has: "did karel give the tent back".

Most of what people type in a hurry has no capitals, and a question about a stranger is one all the
same. In: the words of a prompt, its language, and what palace and language know. Out: the tokens
of such a name, or none: in doubt a word is a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from string import ascii_lowercase

from palace.ports import TermCounts
from palace.recall.lexicon import Lexicon
from palace.recall.related import is_listed
from palace.text import Word, fold, tokens

_Counts = Callable[[Iterable[str]], Mapping[str, TermCounts]]

_FEWEST_LETTERS = 4
_MOST_WORDS = 3
_POSSESSIVE = ("'s", "’s")


def unheard_name(
    prompt: str, found: Sequence[Word], lexicon: Lexicon, counts: _Counts
) -> tuple[str, ...]:
    """Return the index tokens of a name in small letters that the palace has never heard of.

    It is one run of words that stand in no list of the language, nor, with one letter more, less,
    changed or moved, in the lists or in the palace; it stands behind a word such as "dr" or "did",
    or begins the prompt and owns something ("whelan's"). No other word of the prompt is unknown:
    where some are, it may be in another language or a dialect.

    Args:
        prompt: What was typed.
        found: Its words, in order.
        lexicon: Its language; one that lists no words before names has none.
        counts: Returns how often tokens stand in the palace.
    """
    if not lexicon.before_names:
        return ()
    run = _unknown(found, lexicon, counts)
    if not 0 < len(run) <= _MOST_WORDS:
        return ()
    if not all(prompt[_end(one) : other.start] == " " for one, other in pairwise(run)):
        return ()
    before = next((word for word in reversed(found) if word.start < run[0].start), None)
    if before is None:
        is_name = prompt.startswith(_POSSESSIVE, _end(run[-1]))
    else:
        beside = prompt[_end(before) : run[0].start] in {" ", ". "}
        is_name = beside and fold(before.surface) in lexicon.before_names
    return tuple(word.token for word in run) if is_name else ()


def _unknown(found: Sequence[Word], lexicon: Lexicon, counts: _Counts) -> list[Word]:
    """Return the words in small letters that neither the language nor the palace knows."""
    unlisted = [word for word in found if _is_unlisted(word, lexicon)]
    known = counts([token for word in unlisted for token in _standing_for(word)])
    return [
        word
        for word in unlisted
        if not any(known[token].any for token in _standing_for(word))
        and not _is_misspelt(word, lexicon, counts)
    ]


def _end(word: Word) -> int:
    return word.start + len(word.surface)


def _standing_for(word: Word) -> tuple[str, ...]:
    return (word.token, *word.parts)


def _is_unlisted(word: Word, lexicon: Lexicon) -> bool:
    """Whether a word is in small letters and in no list of its language."""
    return (
        word.shape == "word"
        and len(word.surface) >= _FEWEST_LETTERS
        and word.surface.isalpha()
        and word.surface.islower()
        and fold(word.surface) not in lexicon.function_words
        and not any(is_listed(token, lexicon.language) for token in _standing_for(word))
    )


def _is_misspelt(word: Word, lexicon: Lexicon, counts: _Counts) -> bool:
    """Whether one letter more, less, changed or moved makes a known word of it."""
    meant = set(tokens(" ".join(_nearly(fold(word.surface)))))
    if any(is_listed(token, lexicon.language) for token in meant):
        return True
    return any(count.any for count in counts(meant).values())


def _nearly(word: str) -> set[str]:
    """Return what a word is one slip away from.

    Source: Damerau 1964; four in five misspellings are one such slip.
    """
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    return {
        *(head + tail[1:] for head, tail in cuts if tail),
        *(head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1),
        *(head + letter + tail[1:] for head, tail in cuts if tail for letter in ascii_lowercase),
        *(head + letter + tail for head, tail in cuts for letter in ascii_lowercase),
    }
