"""Questions that can be judged without the rest of their prompt.

"I am filling in a form. What is our tax number?" asks for a memory, whatever its first sentence
says. "Ann has 14 apples and eats five of them. How many apples are left?" does not: the rest tells
what is asked about. In: a prompt. Out: each sentence that might be such a question, with the
sentences before and after it; the caller decides whether these belong to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import regex

from palace.recall.courtesies import opening_of
from palace.recall.lexicon import MATCHED_CHARS, plain
from palace.recall.phrasing import words_and_stops
from palace.recall.shape import code_share

# Longer prompts are documents: a question in one of them may be anybody's.
MAX_WORDS = 60
_MIN_WORDS = 4
# "Dr." and "e.g." end no sentence.
_BREAK = regex.compile(
    r"[.!?…]\K(?<!\b(?:\p{Lu}\p{Ll}{0,2}|\p{L}|\p{L}\.\p{L})\.)\s+|[。！？]\K\s*| ?\n\s*"
)
# Figures, quotes and code are what a prompt brings along to be worked on.
_BROUGHT_ALONG = regex.compile(r"\d|[\"“”„«»‹›「」『』`]")


@dataclass(frozen=True, slots=True)
class Apart:
    """A sentence that could be a question of its own.

    Attributes:
        sentence: Its words, as they stand in the prompt.
        before: The sentences before it.
        after: The sentences after it.
    """

    sentence: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a text; a line ends one too."""
    return [sentence for sentence in _BREAK.split(text) if sentence]


@lru_cache(maxsize=8)  # a walk asks twice of one prompt
def sentences_apart(prompt: str) -> tuple[Apart, ...]:
    """Return each sentence that could be a question of its own, in their order.

    Args:
        prompt: Any text; a long one, or one with code, has no such sentence.
    """
    prompt = plain(prompt, max_chars=2 * MATCHED_CHARS)
    if len(prompt) > MATCHED_CHARS or len(prompt.split()) > MAX_WORDS or code_share(prompt):
        return ()
    # "Good morning, …" is said beside a question as "Good morning! …" is.
    opening = opening_of(prompt)
    parts = (opening.strip(), *_BREAK.split(prompt[len(opening) :]))
    sentences = tuple(sentence for sentence in parts if sentence)
    if len(sentences) < 2:
        return ()
    each = (Apart(s, sentences[:n], sentences[n + 1 :]) for n, s in enumerate(sentences))
    return tuple(
        apart
        for apart in each
        if len(words_and_stops(apart.sentence)) >= _MIN_WORDS
        # "Translate this:" speaks of the sentence that follows.
        and not (apart.before and apart.before[-1].endswith((":", "：")))
        and not any(map(_BROUGHT_ALONG.search, (*apart.before, *apart.after)))
    )
