"""Questions made out of a memory without a model: one fact is left out and asked for.

In: a memory, the language it is written in, a source of chance. Out: a question that the memory
answers, or None where it holds too little to ask for. Scripts without spaces are left alone.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from palace.ports import Vocabulary
from palace.recall.lexicon import Lexicon
from palace.text import Word, fold, name_tokens, words
from palace.types.memory import Memory

Fact = Literal["clock", "date", "number", "person", "thing"]
_READ_CHARS = 400
_FEWEST_SAID = 2
_MOST_SAID = 5


@dataclass(frozen=True, slots=True)
class Cloze:
    """A question, and the index tokens of the fact it asks for and does not say."""

    text: str
    answer: frozenset[str]


def cloze_question(
    memory: Memory, lexicon: Lexicon, vocabulary: Vocabulary, *, rng: random.Random
) -> Cloze | None:
    """Return a question whose answer the memory holds and the question does not say.

    A clock time, date, number, name or the rarest word is left out; the two to five content words
    nearest to it are kept, as they stand or without the small words between them. Of a turn the
    speaker is named, as people ask about conversations.

    Args:
        memory: What to ask about.
        lexicon: The language its text is written in.
        vocabulary: What the palace's words are; tells which word is rarest.
        rng: Decides between the facts, openings and lengths.
    """
    openings = lexicon.openings
    content = _content_words(memory, lexicon)
    if not openings or len(content) <= _FEWEST_SAID:
        return None
    facts = _facts(memory.text[:_READ_CHARS], content, vocabulary)
    fact = rng.choice(sorted(facts))
    answer = rng.choice(facts[fact])
    said = _said_around(answer, content, most=rng.randint(_FEWEST_SAID, _MOST_SAID))
    if len(said) < _FEWEST_SAID:
        return None
    opening = rng.choice(openings[fact])
    whole = not memory.speaker and rng.random() < 0.5
    rest = _as_it_stands(memory.text, said, answer) if whole else " ".join(w.surface for w in said)
    text = " ".join(f"{opening} {memory.speaker} {rest}?".split())
    return Cloze(text, frozenset((answer.token, *answer.parts)))


def _content_words(memory: Memory, lexicon: Lexicon) -> list[Word]:
    return [
        word
        for word in words(memory.text[:_READ_CHARS])
        if word.shape == "number"
        or word.token.startswith("month")  # "May" is a small word too
        or (
            word.shape in ("word", "identifier")
            and len(word.token) > 1
            and fold(word.surface) not in lexicon.function_words
        )
    ]


def _facts(text: str, content: Sequence[Word], vocabulary: Vocabulary) -> dict[Fact, list[Word]]:
    names = frozenset(name_tokens(text))
    facts: dict[Fact, list[Word]] = {}
    for word in content:
        fact = _fact(word, names)
        if fact is not None:
            facts.setdefault(fact, []).append(word)
    counts = vocabulary.counts([word.token for word in content])
    facts["thing"] = [min(content, key=lambda word: (counts[word.token].any, word.start))]
    return facts


def _fact(word: Word, names: frozenset[str]) -> Fact | None:
    if word.token.startswith("month") or any(t.startswith("month") for t in word.extra):
        return "date"
    if word.shape == "number":
        return "clock" if ":" in word.surface else "number"
    return "person" if word.shape == "word" and word.token in names else None


def _said_around(answer: Word, content: Sequence[Word], *, most: int) -> list[Word]:
    """Return the words nearest to the answer that do not give it away, in order."""
    place = content.index(answer)
    given = {answer.token, *answer.parts, *answer.extra}
    others = [
        (abs(number - place), number, word)
        for number, word in enumerate(content)
        if given.isdisjoint((word.token, *word.parts, *word.extra))
    ]
    nearest = sorted(others, key=lambda item: item[:2])[:most]
    return [word for _, _, word in sorted(nearest, key=lambda item: item[1])]


def _as_it_stands(text: str, said: Sequence[Word], answer: Word) -> str:
    """Return the stretch of text that the words span, without the answer wherever it stands."""
    stretch = text[said[0].start : said[-1].end]
    return stretch.replace(answer.surface, " ").strip(" .?!,;:")
