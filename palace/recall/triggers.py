"""Triggers: the words or patterns of a prompt at which a memory must be brought up.

In: triggers as a person writes them, and prompts. Out: whether one matches, in bounded time, and
what is wrong with one that never can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import regex

from palace.text import fold, tokens

MAX_TRIGGER_CHARS = 200
_PROMPT_CHARS = 20_000
# A trigger is a pattern if it stands between slashes or holds what no plain words hold.
_DENSE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]")
_SIGNS_OF_A_PATTERN = regex.compile(r"[\\|\[\](){}^$]|\.[*+?]|[*+?](?=\w)")


def trigger_fault(trigger: str) -> str | None:
    """Return why a trigger can never match, for a person, or None if it can."""
    text = trigger.strip()
    if not text or text == "//":
        return "it is empty"
    if len(text) > MAX_TRIGGER_CHARS:
        return f"it has {len(text)} characters, at most {MAX_TRIGGER_CHARS} fit"
    pattern = _pattern_in(text)
    if pattern is None:
        return None if tokens(text) else "it holds no word"
    try:
        compiled = _compiled(pattern)
    except regex.error as error:
        return f"it is no pattern: {error}"
    return "it matches every prompt" if compiled.search("") else None


def matching_trigger(
    triggers: Iterable[str], prompt: str, *, timeout_ms: float, said: Sequence[str] | None = None
) -> str | None:
    """Return the first trigger that matches a prompt, or None.

    Plain words match as words, in any case and inflection (`deploy` in "we are deploying"), one
    after the other. A pattern, between slashes or with the signs of one, is searched for as the
    `regex` module does, in any case; one that takes too long does not match.

    Args:
        triggers: As a person wrote them.
        prompt: Any text; the first 20,000 characters count.
        timeout_ms: Bound on each pattern, in milliseconds.
        said: Index tokens of the prompt, if they are known already.
    """
    shown = prompt[:_PROMPT_CHARS]
    words = tokens(shown) if said is None else said
    for trigger in triggers:
        pattern = _pattern_in(trigger.strip())
        if pattern is None:
            if _is_said(trigger, shown, words):
                return trigger
        elif trigger_fault(trigger) is None and _found(pattern, shown, timeout_ms):
            return trigger
    return None


def _pattern_in(trigger: str) -> str | None:
    if len(trigger) > 2 and trigger[0] == trigger[-1] == "/":
        return trigger[1:-1]
    return trigger if _SIGNS_OF_A_PATTERN.search(trigger) else None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.IGNORECASE)


def _found(pattern: str, text: str, timeout_ms: float) -> bool:
    try:
        return _compiled(pattern).search(text, timeout=timeout_ms / 1000) is not None
    except TimeoutError:
        return False


def _is_said(trigger: str, prompt: str, words: Sequence[str]) -> bool:
    if _DENSE.search(trigger):  # no blanks tell the words of these scripts apart
        return fold(trigger.strip()) in fold(prompt)
    return _stands_in(tokens(trigger), words)


def _stands_in(wanted: Sequence[str], said: Sequence[str]) -> bool:
    size = len(wanted)
    return bool(size) and any(
        said[n : n + size] == wanted for n in range(len(said) - size + 1) if said[n] == wanted[0]
    )
