"""Slips of the fingers in a question: "who sharpend the planner knifes", "what did imogne say".

The index matches tokens exactly, so one wrong letter hides a memory. In: the words of a prompt, its
language, and what palace and language know. Out: for a word that neither has, the one word of the
palace that can be meant; in doubt none.
"""

from __future__ import annotations

from collections.abc import Sequence

from palace.ports import Scope, TermCounts, Vocabulary
from palace.recall.lexicon import Lexicon, folded_words
from palace.recall.related import NEARLY_ALL_LISTED, knows_any
from palace.recall.small_names import one_slip_away, stands_as_name
from palace.text import Word, fold, stem

# Where a list holds nearly every word, and where none does.
_FEWEST_LETTERS, _FEWEST_LETTERS_UNLISTED = 5, 6
# A prompt with more words that nobody knows is in another language, or no question.
_MOST_WORDS = 3
# A token is a name when the palace mostly writes it as one.
_NAME_SHARE = 0.6
# What the stemmer of the index takes from a word, if so much is left.
_ENDINGS = (
    "s es ed ing ings er ers ion ions ation ations ment ments ness ly al ally ive able ible ity "
    "ous ance ence ful less"
).split()
_FEWEST_BEFORE_ENDING = 4
_QUOTES = frozenset('`"“«„')


def meant_words(
    prompt: str,
    found: Sequence[Word],
    unknown: Sequence[Word],
    lexicon: Lexicon,
    vocabulary: Vocabulary,
    *,
    scope: Scope,
) -> dict[str, str]:
    """Return misspelt tokens of a prompt with the tokens of the palace that are meant.

    Of all that is one slip away (a letter more, less, changed, or two swapped) the palace must hold
    one token alone, and it begins with the same letter or with the first two swapped. Another name
    is another person: what is written as a name, here or in the palace, is only mended where two
    letters are swapped or one is doubled. So is a word with a letter changed where no list holds
    nearly every word: "Tannen" may be firs, and no slip for "Tonnen".

    Args:
        prompt: What was typed.
        found: Its words, in order.
        unknown: Those that carry content and that the palace does not hold.
        lexicon: The language of the prompt.
        vocabulary: What the palace's words are.
        scope: What may be read.
    """
    unlisted = {word.token: word for word in unknown if _is_unlisted(word, lexicon)}
    if len(unlisted) > _MOST_WORDS:
        return {}
    meant: dict[str, str] = {}
    for token, word in unlisted.items():
        near = _near(word, vocabulary, scope)
        if len(near) != 1:
            continue
        ((other, count),) = near.items()
        told_apart = lexicon.language in NEARLY_ALL_LISTED or len(other) != len(token)
        named = stands_as_name(prompt, word, found, lexicon) or (
            lexicon.capitals_mark_names
            and (word.surface[0].isupper() or count.name >= _NAME_SHARE * count.any)
        )
        quoted = prompt[word.start - 1 : word.start] in _QUOTES
        if (told_apart and not (named or quoted)) or other in _swapped_or_doubled(word):
            meant[token] = other
    return meant


def _is_unlisted(word: Word, lexicon: Lexicon) -> bool:
    """Whether a word is long enough, holds letters alone and stands in no list of words."""
    listed = lexicon.language in NEARLY_ALL_LISTED
    return (
        word.shape == "word"
        and len(word.token) >= (_FEWEST_LETTERS if listed else _FEWEST_LETTERS_UNLISTED)
        and word.surface.isalpha()
        and word.token not in lexicon.soft
        and fold(word.surface) not in folded_words("stopwords")
        and not knows_any([word.token], lexicon.language, *NEARLY_ALL_LISTED)
    )


def _near(word: Word, vocabulary: Vocabulary, scope: Scope) -> dict[str, TermCounts]:
    """Return the tokens of the palace that are one slip away."""
    token = word.token
    alike = vocabulary.alike(token, scope=scope)
    near = one_slip_away(token).intersection(alike) if alike else set()
    swapped = token[1] + token[0] + token[2:]
    begun = {token[:end] for end in range(_FEWEST_BEFORE_ENDING, len(token) - 1)}
    counts = vocabulary.counts({swapped, *near, *begun}, scope=scope)
    return {
        other: count
        for other, count in counts.items()
        if count.any and (other not in begun or _misses_ending(fold(word.surface), other))
    }


def _misses_ending(typed: str, other: str) -> bool:
    """Whether a token and an ending are one slip away from what was typed.

    A slip keeps an ending on its word: of the token of "variation" "variaton" is two letters away.
    """
    near = one_slip_away(typed[len(other) :])
    return any(stem(other + ending) == other for ending in _ENDINGS if ending in near)


def _swapped_or_doubled(word: Word) -> set[str]:
    """Return the tokens of a word with two letters in the other order, or one more or less often.

    As it was typed, for an ending may hide the slip: "imogne" is "imogn" in an index.
    """
    typed = fold(word.surface)
    pairs = [(typed[:n], typed[n], typed[n + 1], typed[n + 2 :]) for n in range(len(typed) - 1)]
    swapped = (head + two + one + tail for head, one, two, tail in pairs)
    once = (head + one + tail for head, one, two, tail in pairs if one == two)
    twice = (typed[:n] + typed[n:][:1] + typed[n:] for n in range(len(typed)))
    return set(map(stem, (*swapped, *once, *twice)))
