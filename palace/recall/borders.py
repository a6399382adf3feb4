"""Chinese and Japanese prompts without the pairs of letters that reach from one word into the next.

A text without blanks is cut into overlapping pairs of letters, so 家賃はいくら also has "賃は", and
房租多少钱 has "租多". Such a pair is no word: a memory that answers need not hold it. In: the words
of a prompt and its language. Out: its words with content, without such pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

from palace.recall.lexicon import Lexicon, is_hiragana
from palace.text import Word

FIRST_HANGUL = "\uac00"
_MOST_LETTERS = 4  # of a word that asks


def within_borders(content: Sequence[Word], found: Sequence[Word], lexicon: Lexicon) -> list[Word]:
    """Return the content without the pairs that have a letter of a small word.

    Small words are written in hiragana, or are function words of two letters or particles of the
    language. A letter that no other pair has is kept, alone as in the index (母 of "母の") or with
    the ending that makes a verb of it ("預け"), which no word that asks is (今どこ). Korean is left
    as it is: it has blanks.

    Args:
        content: Words with content, in order.
        found: All words of the prompt, in order.
        lexicon: Its language.
    """
    pairs = [word for word in found if _is_pair(word)]
    if not pairs:
        return list(content)
    small = {place for word in pairs for place in _small_letters(word, lexicon)}
    covered = {
        place
        for word in pairs
        for place in (word.start, word.start + 1)
        if small.isdisjoint((word.start, word.start + 1))
    }
    asked = _question_places(pairs, lexicon)
    kept: dict[int, Word] = {}
    for word in content:
        rest = _left_of(word, small, covered, asked, lexicon) if _is_pair(word) else (word,)
        kept.update((left.start, left) for left in rest)
    return list(kept.values())


def _question_places(pairs: Sequence[Word], lexicon: Lexicon) -> set[int]:
    """Return where words begin that ask: no ending of what stands before them, as in 今どこ."""
    asking = tuple(lexicon.phrases("asking_words"))
    if not asking:
        return set()
    letters = {word.start + n: letter for word in pairs for n, letter in enumerate(word.surface)}
    return {
        place
        for place in letters
        if "".join(letters.get(place + n, "") for n in range(_MOST_LETTERS)).startswith(asking)
    }


def _left_of(
    pair: Word, small: set[int], covered: set[int], asked: set[int], lexicon: Lexicon
) -> tuple[Word, ...]:
    """Return what is left of a pair: itself, its letter with content, or nothing."""
    first, second = pair.start not in small, pair.start + 1 not in small
    if first == second:
        return (pair,) if first else ()
    letter = pair.surface[second]
    if pair.start + second in covered:
        return ()
    ends = is_hiragana(pair.surface[1]) and pair.start + 1 not in asked
    if ends and pair.surface[1] not in lexicon.folded("particles"):
        return (pair,)
    alone = Word(letter, pair.start + second, "dense", letter)
    return () if letter in lexicon.function_words else (alone,)


def _is_pair(word: Word) -> bool:
    return word.shape == "dense" and len(word.surface) == 2 and word.surface < FIRST_HANGUL


def _small_letters(word: Word, lexicon: Lexicon) -> list[int]:
    """Return where a pair has letters of small words."""
    hiragana = [is_hiragana(letter) for letter in word.surface]
    if word.token in lexicon.function_words and not any(hiragana):
        return [word.start, word.start + 1]
    return [
        word.start + place
        for place, letter in enumerate(word.surface)
        if hiragana[place] or letter in lexicon.folded("particles")
    ]
