"""Names where no capital tells them, told by their title: "佐藤さん", "陈阿姨", "Herrn Raabe".

In: a prompt, its words and its language. Out: its words, in which such a name stands by itself, and
where the names and their titles are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from palace.recall.lexicon import Lexicon, compiled
from palace.text import Word


class Titled(NamedTuple):
    """Where a name stands, and from where to where its title reaches with it."""

    start: int
    end: int
    first: int
    last: int

    @property
    def is_titled(self) -> bool:
        """Whether a title stands there at all, which no word has."""
        return (self.first, self.last) != (self.start, self.end)


def with_names_apart(
    prompt: str, found: Sequence[Word], lexicon: Lexicon
) -> tuple[list[Word], list[Titled]]:
    """Return words of which none reaches from a name into its title, and where the names are.

    Where no blanks stand between words they are cut into pairs of letters, and a name of one letter
    is in two pairs with what stands beside it: it becomes a word of its own.

    Args:
        prompt: What was typed, as its words were cut from it.
        found: Its words, in order.
        lexicon: Its language.
    """
    matches = chain.from_iterable(compiled(p).finditer(prompt) for p in lexicon.people)
    named = sorted(Titled(*match.span("name"), *match.span()) for match in matches)
    kept = list(found)
    for start, end, *_ in named:
        alone = end - start == 1
        before = start if alone else end  # up to here a word may reach
        kept = [w for w in kept if w.end <= before or w.start >= end]
        if alone:
            kept.append(Word(prompt[start:end], start, "dense", prompt[start:end]))
    return sorted(kept, key=lambda word: word.start), named


def names_at(named: Sequence[Titled], content: Sequence[Word]) -> list[tuple[str, ...]]:
    """Return the index tokens of each name."""
    inside = (
        tuple(w.token for w in content if start <= w.start and w.end <= end)
        for start, end, *_ in named
    )
    return [name for name in inside if name]


def but_titles(content: Sequence[Word], named: Sequence[Titled]) -> list[Word]:
    """Return the words that are no titles: the capital of "Dr." makes no name of it."""
    return [w for w in content if not any(t.first <= w.start < t.start for t in named)]
