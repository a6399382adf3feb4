"""Names of who is addressed or speaks: "Where is it, Timmy?", "Ruth, when …", "This is Ann. …".

Such a name is not what the question is about. What the agent is called stands in its identity. In:
that text, a prompt and what the palace knows. Out: the prompt without these names, and whether one
of them may be what is asked about after all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import regex

from palace.recall.courtesies import NAME, STOP, any_of, may_open
from palace.recall.given_names import is_given_name
from palace.recall.lexicon import (
    Lexicon,
    folded_words,
    matchable,
    matches,
    phrases_of_every_language,
)
from palace.recall.lexicon_format import PhraseKind
from palace.text import Word, fold, words

_WORD_OF_A_NAME = r"\p{Lu}[\p{L}\p{M}\p{N}-]*+"
# "You are Rose Miller's memory" tells whose memory it is.
_TOLD = rf"[*_\"“'‘]*(?P<name>{_WORD_OF_A_NAME}(?: {_WORD_OF_A_NAME}){{0,2}}+)(?!['’]\p{{L}})"
_IN_A_WORD = r"[\p{L}\p{M}\p{N}]"
_SAYS_SOMETHING = regex.compile(_IN_A_WORD)
_STOPPED = regex.compile(r"[,.!?:;…–—-]\s*\Z")
_STOPS = regex.compile(r"\s*+(?:[,.!?:;…–—-]++\s*+|\n\s*+)")
_BEFORE_A_NAME: tuple[PhraseKind, ...] = ("greetings", "introductions", "who_speaks")
_GAP = regex.compile(r"\s*+(?:[,:;–—-]\s*+)?")


class Spoken(NamedTuple):
    """A prompt without the name it speaks to, and whether it may ask about that person as well."""

    prompt: str
    doubtful: bool


@lru_cache(maxsize=64)
def agent_name(identity: str) -> tuple[str, ...]:
    """Return the words of the name that an identity tells, none if it tells none.

    A small word is none: "may we" and "the key" speak to nobody.

    Args:
        identity: "I am Timmy, …" or "You are Timmy, …": where it says both, who is spoken to is
            the agent.
    """
    said = fold(identity).replace("’", "'")
    listed = phrases_of_every_language("introductions")
    # Of all languages those are compiled that may be there: mostly none.
    found = (_introduction(phrase).search(identity) for phrase in listed if fold(phrase) in said)
    told = next((match["name"] for match in found if match), "")
    return tuple(word for word in told.split() if fold(word) not in folded_words("stopwords"))


def behind_agent(prompt: str, agent: tuple[str, ...]) -> str:
    """Return what a prompt says behind "Timmy, …" or "Hey Timmy, …"; all of it without that.

    A greeting to somebody else stays: what follows may be a letter of somebody else, too.

    Args:
        prompt: As it was written.
        agent: As of `agent_name`.
    """
    if not agent or _called(agent).search(prompt) is None:
        return prompt  # nearly all: their greetings need not be looked for
    greeted = _greeted(agent).match(prompt)
    return prompt[greeted.end() :] if greeted else prompt


def without_addressee(
    prompt: str,
    found: Sequence[Word],
    lexicon: Lexicon,
    *,
    agent: tuple[str, ...],
    known: Callable[[str], bool],
    timeout_ms: float,
) -> Spoken:
    """Return a prompt without the agent's name and without a stranger in front who is spoken to.

    "Timmy, when did we move?" speaks to Timmy if the agent has that name, or if the palace knows
    nobody of that name and the question has no "she" or "he": "Ruth, when did she move?" asks about
    Ruth. Nothing tells whether "Ruth, when did we meet?" does; such a result is marked as doubtful.

    Args:
        prompt: What is asked, without courtesies.
        found: Its words, in order.
        lexicon: Its language.
        agent: As of `agent_name`.
        known: Whether memories hold the index token of a name.
        timeout_ms: Bound on each pattern, in milliseconds.
    """

    def has(cue: str, text: str) -> bool:
        return matches(lexicon.cues[cue], matchable(text), timeout_ms=timeout_ms)

    doubtful = False
    spoken = _without_agent(prompt, agent, asks=lambda text: has("question", text.rstrip(" ?!.…")))
    if spoken is not None:
        may_be_asked = spoken.doubtful or has("person_ref", spoken.prompt)
        if not (may_be_asked and known(words(agent[0])[0].token)):
            prompt, doubtful = spoken
            found = words(prompt)
    # Mostly nobody is named in front, and what finds him need not be compiled.
    names = [word for word in found if is_given_name(word, lexicon)]
    in_front = names and (names[0] is found[0] or may_open(prompt, *_BEFORE_A_NAME))
    stranger = _in_front().match(prompt) if in_front else None
    if stranger is None:
        return Spoken(prompt, doubtful)
    name = next((word for word in found if word.start == stranger.start("name")), None)
    if name is None or not is_given_name(name, lexicon) or known(name.token):
        return Spoken(prompt, doubtful)
    asked = prompt[stranger.end() :]
    if has("person_ref", asked):
        return Spoken(prompt, doubtful)
    return Spoken(asked, doubtful or stranger["said"] is None)


def _without_agent(
    prompt: str, name: tuple[str, ...], *, asks: Callable[[str], bool]
) -> Spoken | None:
    """Return a prompt without the agent's name where it may speak to the agent, else None.

    It does where the name stands apart at either end, or where the question begins behind it.
    Dictated, no comma tells: "when did we meet timmy" may ask about it.
    """
    for match in _called(name).finditer(prompt) if name else ():
        before, behind = prompt[: match.start()], prompt[match.end() :]
        first, last = (_SAYS_SOMETHING.search(beside) is None for beside in (before, behind))
        if first and last:
            return None
        if last:
            return Spoken(f"{before.rstrip(' ,')}{behind}", _STOPPED.search(before) is None)
        stop, gap = _STOPS.match(behind), _GAP.match(behind)
        rest = behind[gap.end() :] if gap else behind
        begins = not asks(before) and (
            asks(rest) or bool(_asking().match(rest) or _in_front().match(rest))
        )
        if begins or first:
            left = behind[stop.end() :] if stop else behind.lstrip()
            return Spoken(f"{before}{left}", not (begins or stop))
    return None


@cache
def _introduction(phrase: str) -> regex.Pattern[str]:
    said = regex.escape(phrase).replace("'", "['’]")
    return regex.compile(rf"(?<![\p{{L}}\p{{M}}])(?i:{said})\s+(?:[–—-]\s+)?{_TOLD}")


@lru_cache(maxsize=64)
def _called(name: tuple[str, ...]) -> regex.Pattern[str]:
    return regex.compile(_as_called(name), regex.IGNORECASE)


@lru_cache(maxsize=64)
def _greeted(name: tuple[str, ...]) -> regex.Pattern[str]:
    said = f"{any_of('greetings')}|{any_of('courtesies')}"
    called = rf"\s*(?:(?:{said})[\s,!.…]+)?{_as_called(name)}[\s,:!.…–—-]+"
    return regex.compile(called, regex.IGNORECASE)


def _as_called(name: tuple[str, ...]) -> str:
    """Return what finds a name or the first word of it, without its accents too."""
    first, *more = (rf"(?:{regex.escape(word)}|{regex.escape(fold(word))})" for word in name)
    whole = "".join(f"(?: {word}" for word in more) + ")?" * len(more)
    return rf"(?<![@/'’-]|{_IN_A_WORD}){first}{whole}(?![@/]|['’-]?{_IN_A_WORD})"


@cache
def _asking() -> regex.Pattern[str]:
    return regex.compile(any_of("question_openers"), regex.IGNORECASE)


@cache
def _in_front() -> regex.Pattern[str]:
    """Return what finds "Timmy, when …" and, who speaks, "This is Ann. …" or "Ann here, …"."""
    asked = rf"(?={any_of('question_openers')})"
    greeted = rf"(?:(?:{any_of('greetings')})[\s,!.…–—-]+)?+"
    before = rf"(?P<said>{any_of('introductions')}|{any_of('who_speaks')})"
    behind = any_of("speaking")
    introduced = rf"{before}\s+(?P<name>{NAME})(?: (?:{behind}))?"
    speaking = rf"(?P<name>{NAME}) (?P<said>{behind})"
    speaker = rf"{greeted}(?:{introduced}|{speaking})(?:{STOP}| {asked})"
    return regex.compile(rf"{speaker}|(?P<name>{NAME})(?:,\s+| ){asked}", regex.IGNORECASE)
