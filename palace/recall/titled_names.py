"""Names where no capital tells them, told by their title: "佐藤さん", "陈阿姨", "Herrn Raabe".

In: a prompt, its words and its language. Out: its words, in which such a name stands by itself, and
where the names are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from palace.recall.lexicon import Lexicon, compiled
from palace.text import Word

Span = tuple[int, int]


def with_names_apart(
    prompt: str, found: Sequence[Word], lexicon: Lexicon
) -> tuple[list[Word], list[Span]]:
    """Return words of which none reaches from a name into its title, and the spans of the names.

    Where no blanks stand between words they are cut into pairs of letters, and a name of one letter
    is in two pairs with what stands beside it: it becomes a word of its own.

    Args:
        prompt: What was typed, as its words were cut from it.
        found: Its words, in order.
        lexicon: Its language; one that tells names by capitals has no such titles.
    """
    matches = chain.from_iterable(compiled(p).finditer(prompt) for p in lexicon.people)
    named = sorted(match.span("name") for match in matches)
    kept = list(found)
    for start, end in named:
        alone = end - start == 1
        before = start if alone else end  # up to here a word may reach
        kept = [w for w in kept if _end(w) <= before or w.start >= end]
        if alone:
            kept.append(Word(prompt[start:end], start, "dense", prompt[start:end]))
    return sorted(kept, key=lambda word: word.start), named


def names_at(spans: Sequence[Span], content: Sequence[Word]) -> list[tuple[str, ...]]:
    """Return the index tokens of each name."""
    inside = (
        tuple(w.token for w in content if start <= w.start and _end(w) <= end)
        for start, end in spans
    )
    return [name for name in inside if name]


def _end(word: Word) -> int:
    return word.start + len(word.surface)
