"""Questions for all of a sort: the last conversation, open tasks, what was told, who is asking.

In: a prompt. Out: what sort it asks for, and of which days. No memory has to hold a word of such a
question: how and when it was kept tells whether it belongs to the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import regex

from palace.recall.lexicon import Lexicon, first_match, matchable
from palace.recall.relative_days import Period
from palace.text import fold
from palace.types.query import Gathering, Sort

_SORTS: Mapping[str, Sort] = {
    "last_talk": "last_talk",
    "open_tasks": "open_tasks",
    "told": "told",
    "of_asker": "of_asker",
    # Behind other turns these ask about the conversation itself.
    "left_off": "last_talk",
    "left_to_do": "open_tasks",
}
# Of a day's talks and tasks the page of that day tells.
_DATED: frozenset[Sort] = frozenset({"told", "of_asker"})
_OF_THIS_TALK = frozenset({"left_off", "left_to_do"})
_NEVER = ("(?!)",)
_DENSE = r"[\u2e80-\uffff]"  # letters that stand alone, where no blanks part words
_WORD_BEGINS = re.compile(rf"{_DENSE}|\b\w{{1,4}}")


def gathering_of(
    prompt: str, lexicon: Lexicon, *, said: Period | None, is_first: bool, timeout_ms: float
) -> Gathering | None:
    """Return what sort of memories a prompt asks for as a whole, if that is all it asks.

    Args:
        prompt: Without whom it speaks to, and without courtesies.
        lexicon: Its language.
        said: The day or the period that it tells from today.
        is_first: Whether nothing was said before it in this conversation.
        timeout_ms: Bound on the pattern, in milliseconds.
    """
    rest = prompt[: said.start] + prompt[said.end :] if said else prompt
    text, pattern = matchable(rest), _asked(lexicon)
    # To compile it takes some 5 ms, and most prompts say a word that is nowhere in it.
    if any(begin[0] not in pattern for begin in _WORD_BEGINS.finditer(text)):
        return None
    asked = first_match(pattern, text, timeout_ms=timeout_ms)
    request = next((name for name in _SORTS if asked and asked[name]), None)
    if request is None or (request in _OF_THIS_TALK and not is_first):
        return None
    sort = _SORTS[request]
    if said and sort in _DATED:
        return Gathering(sort, said.since, said.until)
    return None if said or (sort == "told" and not is_first) else Gathering(sort)


@lru_cache(maxsize=32)
def _asked(lexicon: Lexicon) -> str:
    """Return the pattern of what a whole prompt may ask for, each request a group."""
    led = "|".join(map(regex.escape, sorted(lexicon.folded("leading_words")))) or "(?!)"
    told = "|".join(regex.escape(fold(phrase)) for phrase in lexicon.phrases("to_be_told"))
    before = rf"(?:(?:{led})(?:\W+|(?<={_DENSE}))){{0,3}}(?:(?:{told or '(?!)'})\W*)?"
    sorts = (f"(?P<{name}>{'|'.join(lexicon.requests.get(name, _NEVER))})" for name in _SORTS)
    return rf"\A\W*{before}(?:{'|'.join(sorts)})\W*\Z"
