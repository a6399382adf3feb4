"""Names typed in small letters that nobody in this palace has: "did karel give the tent back".

Most of what people type in a hurry has no capitals, and a question about a stranger is one all the
same. In: the words of a prompt, its language, and what palace and language know. Out: the tokens
of such a name, or none: in doubt a word is a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from string import ascii_lowercase

from palace.ports import Scope, Vocabulary
from palace.recall.given_names import is_given_name
from palace.recall.lexicon import Lexicon, compiled
from palace.recall.related import knows_any
from palace.text import Word, fold

_FEWEST_LETTERS = 4
_MOST_WORDS = 3
_POSSESSIVE = ("'s", "’s")


def unheard_name(
    prompt: str, found: Sequence[Word], lexicon: Lexicon, vocabulary: Vocabulary, *, scope: Scope
) -> tuple[str, ...]:
    """Return the index tokens of a name in small letters that the palace has never heard of.

    It is a given name, with the unknown words behind it, or a word of every day that is one too,
    behind "did" or "is", if no memory has the word; or one run of words that stand neither in
    a list of the language nor in the palace, behind a word such as "dr" or "did", or that open the
    prompt and own something ("whelan's"). Of these no other word of the prompt is unknown: where
    some are, it may be in another language or a dialect. A word that one letter more, less, changed
    or moved makes a known one is no name.

    Args:
        prompt: What was typed.
        found: Its words, in order.
        lexicon: Its language; one that lists no words before names has only given ones.
        vocabulary: What the palace's words are.
        scope: What may be read.
    """
    everyday = everyday_names(prompt, found, lexicon)
    counts = vocabulary.counts([word.token for word in everyday], scope=scope) if everyday else {}
    if strangers := [word for word in everyday if not counts[word.token].any]:
        return _tokens(strangers[:1])
    unknown = _unknown(found, lexicon, vocabulary, scope)
    given = next((n for n, word in enumerate(unknown) if is_given_name(word, lexicon)), None)
    if given is not None:
        run = _run(prompt, unknown[given:])
        alike = one_slip_away(run[0].token)
        return () if _holds(alike, run[0].token, vocabulary, scope) else _tokens(run)
    if not any(stands_as_name(prompt, word, found, lexicon) for word in unknown):
        return ()
    named = [word for word in unknown if not _is_misspelt(word.token, lexicon, vocabulary, scope)]
    if not 0 < len(named) <= _MOST_WORDS or not stands_as_name(prompt, named[0], found, lexicon):
        return ()
    return _tokens(named) if _run(prompt, named) == named else ()


def everyday_names(prompt: str, found: Sequence[Word], lexicon: Lexicon) -> list[Word]:
    """Return words of every day that are a name where they stand: "when did rose call".

    Behind "of" or "to" it may be the flower, or what one does.

    Args:
        prompt: What was typed.
        found: Its words, in order.
        lexicon: Its language; one that lists no such words has none.
    """
    listed = lexicon.folded("everyday_names")
    return [
        word
        for before, word in (pairwise(found) if listed else ())
        if word.surface.islower()
        and fold(word.surface) in listed
        and prompt[before.end : word.start] == " "
        and fold(before.surface) in lexicon.folded("before_names")
        and compiled(lexicon.cues["question"]).match(fold(before.surface))
    ]


def _run(prompt: str, unknown: Sequence[Word]) -> list[Word]:
    """Return the first of some words with those that stand right behind it, one after the other."""
    run = [*unknown[:1]]
    for word in unknown[1:_MOST_WORDS]:
        if prompt[run[-1].end : word.start] != " ":
            break
        run.append(word)
    return run


def _tokens(run: Sequence[Word]) -> tuple[str, ...]:
    return tuple(word.token for word in run)


def _unknown(
    found: Sequence[Word], lexicon: Lexicon, vocabulary: Vocabulary, scope: Scope
) -> list[Word]:
    """Return the words in small letters that neither the language nor the palace has."""
    unlisted = [word for word in found if _is_unlisted(word, lexicon)]
    if not unlisted:
        return []
    asked = [token for word in unlisted for token in _standing_for(word)]
    known = vocabulary.counts(asked, scope=scope)
    return [word for word in unlisted if not any(known[token].any for token in _standing_for(word))]


def _is_unlisted(word: Word, lexicon: Lexicon) -> bool:
    """Whether a word is in small letters and in no list of its language."""
    return (
        word.shape == "word"
        and len(word.surface) >= _FEWEST_LETTERS
        and word.surface.isalpha()
        and word.surface.islower()
        and fold(word.surface) not in lexicon.function_words
        and (is_given_name(word, lexicon) or not knows_any(_standing_for(word), lexicon.language))
    )


def _standing_for(word: Word) -> tuple[str, ...]:
    return (word.token, *word.parts)


def stands_as_name(prompt: str, word: Word, found: Sequence[Word], lexicon: Lexicon) -> bool:
    """Whether a word stands behind one such as "did", or opens the prompt and owns something.

    In a language that lists no words before names none does.
    """
    if not lexicon.folded("before_names"):
        return False
    before = next((other for other in reversed(found) if other.start < word.start), None)
    if before is None:
        return prompt.startswith(_POSSESSIVE, word.end)
    beside = prompt[before.end : word.start] in {" ", ". "}
    return beside and fold(before.surface) in lexicon.folded("before_names")


def _is_misspelt(token: str, lexicon: Lexicon, vocabulary: Vocabulary, scope: Scope) -> bool:
    """Whether one letter more, less, changed or moved makes a known word of it."""
    meant = one_slip_away(token)
    if knows_any(meant, lexicon.language):
        return True
    return _holds(meant, token, vocabulary, scope)


def _holds(meant: AbstractSet[str], token: str, vocabulary: Vocabulary, scope: Scope) -> bool:
    """Whether the palace has one of the words that a token is one slip away from."""
    if not meant.isdisjoint(vocabulary.alike(token, scope=scope)):
        return True
    # The palace finds what begins alike by itself; the few others are asked for.
    others = [other for other in meant if not other.startswith(token[0])]
    return any(count.any for count in vocabulary.counts(others, scope=scope).values())


def one_slip_away(token: str) -> set[str]:
    """Return what a token is one slip away from: a letter more, less, changed, or two swapped.

    Source: Damerau 1964; four in five misspellings are one such slip.
    """
    cuts = [(token[:place], token[place:]) for place in range(len(token) + 1)]
    return {
        *(head + tail[1:] for head, tail in cuts if tail),
        *(head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1),
        *(head + letter + tail[1:] for head, tail in cuts if tail for letter in ascii_lowercase),
        *(head + letter + tail for head, tail in cuts for letter in ascii_lowercase),
    }
