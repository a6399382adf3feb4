"""A prompt that only insists on the question before it: "Are you sure?", "Just guess.".

In: a turn. Out: the turn that it insists on, so that nobody who was told that nothing is remembered
gets another answer by asking twice. And whether a prompt only goes on with what was asked before:
"Another one.".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import regex

from palace.recall.blocks import strip_own_markers
from palace.recall.courtesies import is_courtesy, says_only, without_phrases
from palace.recall.lexicon import Lexicon, folded_words, matchable
from palace.recall.misspelt import as_meant
from palace.types.session import ANSWERING, ASKING, Message, Turn

_WORD = regex.compile(r"\p{L}+")
# Who says more says something beside.
_MOST_CHARS = 120
_MOST_WORDS = 6


def insisted_on(turn: Turn, *, fallback_text: str, lexicons: Sequence[Lexicon]) -> Turn:
    """Return the turn that was asked before if this one only insists on it, else this one.

    Args:
        turn: With what was said before it.
        fallback_text: What our own reply says where nothing is remembered. Behind that reply more
            prompts count as insisting, because the lists of phrases cannot hold all of them.
        lexicons: The languages in which what was said before is read.
    """
    if not _only_insists(turn.prompt, turn.history, fallback_text):
        return turn
    for place in reversed(range(len(turn.history))):
        before = turn.history[:place]
        said = as_meant(strip_own_markers(turn.history[place].content).strip(), lexicons)
        is_asked = turn.history[place].role in ASKING and said
        if is_asked and not _only_insists(said, before, fallback_text):
            return replace(turn, prompt=said, history=before)
    return turn


def only_goes_on(prompt: str) -> bool:
    """Whether a prompt only asks for more of what was asked before: "A shorter one"."""
    said = _WORD.findall(matchable(prompt)) if len(prompt) <= _MOST_CHARS else ()
    going_on = folded_words("going_on_words")
    rest = set(said) - going_on
    return rest.issubset(folded_words("stopwords")) and len(rest) < len(set(said)) <= _MOST_WORDS


def _only_insists(prompt: str, before: Sequence[Message], fallback_text: str) -> bool:
    if not before or len(prompt) > _MOST_CHARS:
        return False
    return says_only(prompt, "insisting") or (
        before[-1].role in ANSWERING and fallback_text in before[-1].content and _urges(prompt)
    )


def _urges(prompt: str) -> bool:
    """Whether a prompt has only words of insisting and small words, and no question word.

    "Why not?" and "How come?" insist too. A prompt that begins with the speaker does not: "I'll
    check." tells what the speaker will do.
    """
    rest, asks_why = without_phrases(prompt, "asking_why")
    said = _WORD.findall(rest)
    insisting = folded_words("insisting_words")
    if not asks_why and insisting.isdisjoint(said):
        return False
    if not folded_words("first_person").isdisjoint(said[:1]):
        return False
    small = insisting | folded_words("stopwords") | folded_words("soft")
    is_asking = not folded_words("question_words").isdisjoint(said)
    return small.issuperset(said) and not is_asking and not is_courtesy(prompt)
