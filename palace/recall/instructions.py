"""Sentences of a prompt that say how to answer: "Max 50 words.", "In Markdown.".

In: a prompt. Out: the same without such sentences at its ends; so it is judged and looked up. The
model that answers still gets the whole prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

from palace.recall.lexicon import MATCHED_CHARS, Lexicon, first_match, matchable, matches
from palace.recall.shape import QUESTION_MARKS

# Behind a sentence, a colon ("In one word: when …") or at the end of a line.
_BREAK = regex.compile(r"(?<=[.!?:…])\s+|\n\s*")
_COMMA = regex.compile(r"\s?[,–—-]{1,3}\s+")  # "In one word, when …"
_AND = r"(?:\s*[,;]\s*(?:and |und |et |y )?|\s+(?:and|und|et|y)\s+|\s+)"
_MOST_CHARS = 160
_CLAUSES = 3
_WORDS_OF_A_TOPIC = 2


def without_instructions(prompt: str, lexicons: Sequence[Lexicon], *, timeout_ms: float) -> str:
    """Return a prompt without the sentences at its ends that say how to answer; never nothing.

    Args:
        prompt: Any text; a long one is returned as it is.
        lexicons: The languages that are known.
        timeout_ms: How long one pattern may take.
    """
    if len(prompt) > MATCHED_CHARS:
        return prompt
    breaks = list(_BREAK.finditer(prompt.strip()))
    text, start, end = prompt.strip(), 0, len(prompt.strip())
    while breaks:
        first, last = breaks[0], breaks[-1]
        if _instructs(text[last.end() : end], lexicons, timeout_ms):
            end = last.start()
            breaks.pop()
        elif _instructs(text[start : first.start()], lexicons, timeout_ms):
            start = first.end()
            breaks.pop(0)
        else:
            break
    comma = _COMMA.search(text, start, min(end, start + _MOST_CHARS))
    told = text[start : comma.start()] if comma else ""
    # "In LaTeX, how …" tells of what it asks.
    if comma and len(told.split()) != _WORDS_OF_A_TOPIC and _instructs(told, lexicons, timeout_ms):
        start = comma.end()
    asked = text[start:end]
    return asked if asked != text and _asks(asked, lexicons, timeout_ms) else prompt


def only_instructs(prompt: str, lexicons: Sequence[Lexicon], *, timeout_ms: float) -> bool:
    """Whether a prompt only says how to answer, or that it be done: "Answer the user query."."""
    sentences = _BREAK.split(prompt.strip())
    return all(_instructs(sentence, lexicons, timeout_ms) for sentence in sentences)


def _asks(text: str, lexicons: Sequence[Lexicon], timeout_ms: float) -> bool:
    """Whether a text asks: behind a task "Keep it under 120 words." tells what is to be made."""
    if text.endswith(QUESTION_MARKS):
        return True
    said = matchable(text)
    return any(matches(x.cues["question"], said, timeout_ms=timeout_ms) for x in lexicons)


def _instructs(sentence: str, lexicons: Sequence[Lexicon], timeout_ms: float) -> bool:
    return 0 < len(sentence) <= _MOST_CHARS and any(
        first_match(said, sentence, timeout_ms=timeout_ms, flags=regex.IGNORECASE)
        for said in map(_said, lexicons)
        if said
    )


@cache
def _said(lexicon: Lexicon) -> str:
    """Return the pattern of a sentence that is nothing but instructions, "" if none are known."""
    listed = lexicon.requests.get("answer_so", ())
    # Written once and called again: to compile it twice takes twice as long.
    clause = f"(?P<clause>{'|'.join(listed)})"
    said = rf"\A\W*{clause}(?:{_AND}(?&clause)){{0,{_CLAUSES}}}(?:,? please)?[\s.!:…]*\Z"
    return said if listed else ""
