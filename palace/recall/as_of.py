"""The state of then: what a palace held at a moment, and prompts that ask for it.

In: all memories with their history, or a prompt. Out: the memories that were active at a moment;
the moment a prompt names, with the prompt as it would be asked today.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import lru_cache

import regex

from palace.recall.lexicon import Lexicon, compiled, plain
from palace.text import composed, month_token
from palace.types.memory import Memory
from palace.types.session import Turn

_ISO = r"(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2}))?(?!\d)"
_DENSE = r"(?:(?P<year>\d{4})[年년]\s?)?(?P<month>\d{1,2})[月월](?:\s?(?P<day>\d{1,2})[日일])?"
# The day first, with points; with slashes only where the other number is no month.
_NUMERIC = (
    r"(?:(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?|(?P<day>1[3-9]|2\d|3[01])/(?P<month>\d{1,2})/"
    r"|(?P<month>\d{1,2})/(?P<day>1[3-9]|2\d|3[01])/)(?P<year>\d{4})(?![\d.]*\d)"
)
_YEAR_FIRST = r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\d/])"
_MONTH_AND_YEAR = r"(?P<month>0?[1-9]|1[0-2])[./](?P<year>\d{4})(?![\d./]*\d)"
_FIGURES = (_ISO, _YEAR_FIRST, _NUMERIC, _MONTH_AND_YEAR, _DENSE)
_YEAR = r"(?P<year>\d{4})(?![\d/-])"
_NEVER = r"(?!)"
_WORD_END = r"(?!\p{Ll})"  # where blanks stand between words
_DIGIT = regex.compile(r"\d")
# What a date without the name of a month holds, or what may be such a name.
_YEAR_OR_WORD = regex.compile(r"\d{4}|\p{L}{3,12}")
# In which language; where the words before a date begin, perhaps the verb of believing; and where
# the date begins.
_Place = tuple[Lexicon, int, tuple[tuple[int, int], ...], int]
_LAST_INSTANT = timedelta(microseconds=1)
_LONGEST_MONTH = 31
_LONGEST_PROMPT = 1000


def state_at(memories: Iterable[Memory], moment: datetime) -> list[Memory]:
    """Return the memories that held at a moment, as they were: none of them is retired.

    A memory holds from `valid_from`, else from when it was created, until `valid_to` or until it
    was retired, and not beyond the `valid_from` of its successor. Of a retired one that does not
    say when, its successor's beginning is taken; one without a successor did not hold.

    Args:
        memories: All there are, retired ones too.
        moment: Aware.
    """
    every = list(memories)
    by_id = {m.id: m for m in every}
    return [
        replace(m, status="active", superseded_by="", retired=None, valid_to=None)
        for m in every
        if _held(m, by_id.get(m.superseded_by), moment)
    ]


def retired_at(memories: Iterable[Memory], moment: datetime) -> list[Memory]:
    """Return the memories that had begun by a moment and no longer held at it.

    Args:
        memories: All there are, retired ones too.
        moment: Aware.
    """
    every = list(memories)
    by_id = {m.id: m for m in every}
    return [
        m for m in every if _begun(m, moment) and not _held(m, by_id.get(m.superseded_by), moment)
    ]


def _begun(memory: Memory, moment: datetime) -> bool:
    begin = memory.valid_from or memory.created
    return begin is None or begin <= moment


def _held(memory: Memory, successor: Memory | None, moment: datetime) -> bool:
    if not _begun(memory, moment):
        return False
    ends = (memory.valid_to, successor.valid_from if successor else None)
    if any(end is not None and end <= moment for end in ends):
        return False
    if memory.status == "active":
        return True
    ended = memory.retired or (successor.created if successor else None)
    return ended is not None and ended > moment


def dated_turn(
    turn: Turn, lexicons: Sequence[Lexicon], *, now: datetime, timeout_ms: float
) -> Turn:
    """Return the turn with the moment it asks about, if it asks what was believed then.

    "What did we believe in May about the port?" asks for the end of May, as "What did we about the
    port?"; a date alone ("when did we meet in May?") is part of what is asked.
    """
    if turn.as_of is not None:
        return turn
    written = _dated_text(turn.prompt, tuple(lexicons))
    if not written:
        return turn
    for lexicon, start_of_cut, others, when in _asked(written, lexicons, timeout_ms):
        found = _moment_in(written[when:], lexicon, now)
        if found is None:
            continue
        moment, said = found
        prompt = written
        for start, end in sorted([*others, (start_of_cut, when + said)], reverse=True):
            prompt = f"{prompt[:start]} {prompt[end:]}"
        return replace(turn, prompt=" ".join(prompt.split()), as_of=moment)
    return turn


def named_end(
    prompt: str, lexicons: Sequence[Lexicon], *, now: datetime, timeout_ms: float
) -> datetime | None:
    """Return the last instant of a period that is over and that a prompt names ("… in May?")."""
    written = _dated_text(prompt, tuple(lexicons))
    for lexicon in lexicons if written else ():
        try:
            for cut in _before_dates(written, lexicon, timeout_ms / 1000):
                found = _moment_in(written[cut.end() :], lexicon, now)
                if found is not None and found[0] < now:
                    return found[0]
        except TimeoutError:
            continue
    return None


@lru_cache(maxsize=8)  # a walk asks twice of one prompt
def _dated_text(prompt: str, lexicons: tuple[Lexicon, ...]) -> str:
    """Return a prompt as it is read if it may name a date, else ""."""
    if len(prompt) > _LONGEST_PROMPT:
        return ""
    written = composed(plain(prompt, max_chars=_LONGEST_PROMPT))
    return written if _may_name_a_date(written, lexicons) else ""


def _may_name_a_date(prompt: str, lexicons: tuple[Lexicon, ...]) -> bool:
    """Whether a prompt holds a year, a month or yesterday: else no pattern need be looked at.

    Beside a number more words are months, and where no blanks part them each may hide one.
    """
    numbered = _DIGIT.search(prompt) is not None
    if numbered and not prompt.isascii():
        return True
    spoken = tuple(lexicon for lexicon in lexicons if lexicon.may_be_in(prompt))
    return any(
        text[0].isdigit() or month_token(text, beside_day=numbered) is not None
        for text in _YEAR_OR_WORD.findall(prompt)
    ) or any(said.search(prompt) for said in _yesterday(spoken))


def _asked(prompt: str, lexicons: Sequence[Lexicon], timeout_ms: float) -> Iterator[_Place]:
    """Yield where a prompt may name the moment it asks about."""
    for lexicon in lexicons:
        with suppress(TimeoutError):
            yield from _named_in_words(prompt, lexicon, timeout_ms / 1000)
            yield from _believed_then(prompt, lexicon, timeout_ms / 1000)


def _named_in_words(prompt: str, lexicon: Lexicon, timeout: float) -> Iterator[_Place]:
    """Yield where a prompt says "as of" before what may be a date."""
    for pattern in lexicon.requests.get("as_of", ()):
        for match in _compiled(pattern).finditer(prompt, timeout=timeout):
            words, when = match.span("cut"), match.start("when")
            if words[0] > when:  # in Turkish they stand behind the date
                yield lexicon, when, (words,), when
            else:
                yield lexicon, words[0], (), when


def _believed_then(prompt: str, lexicon: Lexicon, timeout: float) -> Iterator[_Place]:
    """Yield where "in", "by" and the like stand in a prompt that asks what was believed."""
    for pattern in lexicon.requests.get("believed", ()):
        belief = _compiled(pattern).search(prompt, timeout=timeout)
        if belief is not None:
            for cut in _before_dates(prompt, lexicon, timeout):
                yield lexicon, cut.start(), (belief.span("belief"),), cut.end()


def _before_dates(prompt: str, lexicon: Lexicon, timeout: float) -> Iterator[regex.Match[str]]:
    """Yield what may stand before a date: "in", "by", "at the end of"."""
    for before in lexicon.requests.get("believed_at", ()):
        yield from _compiled(before).finditer(prompt, timeout=timeout)


def _moment_in(text: str, lexicon: Lexicon, now: datetime) -> tuple[datetime, int] | None:
    """Return the last instant of the period a text begins with, and its length in characters.

    A period that is under way has lasted until now.
    """
    for request, over in _over(now).items():
        said = _compiled(rf"(?:{_any_of(lexicon, request)}){_WORD_END}").match(text)
        if said:
            return over - _LAST_INSTANT, said.end()
    third, begun = _third_in(text, lexicon)
    for form in _forms(lexicon):
        match = _compiled(form).match(text, begun)
        if match is None:
            continue
        parts = match.groupdict()
        if begun and parts.get("day"):
            continue  # a day has no end of its own
        month = parts.get("month")
        if parts.get("word"):
            # "14 marca 2026" is a day, "marca" alone a brand.
            beside = bool(parts.get("day") or parts.get("year") or parts.get("ago"))
            token = month_token(parts["word"], beside_day=beside)
            if token is None:
                continue
            month = token[-2:]
        try:
            year = str(now.year - 1) if parts.get("ago") else parts.get("year")
            begin, end = _period(year, month, parts.get("day"), now, third=third)
            return end if begin > now else min(end, now), match.end()
        except (ValueError, OverflowError):
            continue  # there is no such day, or time ends before it does
    return None


def _over(now: datetime) -> dict[str, datetime]:
    """Return what is over, by the request that names it, with the moment from which on it is."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return {
        "yesterday": today,
        "last_week": today - timedelta(days=today.weekday()),
        "last_month": today.replace(day=1),
        "last_year": today.replace(month=1, day=1),
    }


def _third_in(text: str, lexicon: Lexicon) -> tuple[int, int]:
    """Return which third of a period a text begins with, and where the period itself begins."""
    for third, request in enumerate(("early", "mid", "late"), start=1):
        if said := _compiled(_any_of(lexicon, request)).match(text):
            return third, said.end()
    return 3, 0


@lru_cache(maxsize=32)
def _yesterday(lexicons: tuple[Lexicon, ...]) -> tuple[regex.Pattern[str], ...]:
    """Return what finds the words for yesterday or last week, perhaps in longer ones.

    A pattern each, because what a single one begins with is looked for first.
    """
    over = ("yesterday", "last_week", "last_month", "last_year")
    said = (word for x in lexicons for request in over for word in x.requests.get(request, ()))
    return tuple(map(_compiled, said))


@lru_cache(maxsize=32)
def _forms(lexicon: Lexicon) -> tuple[str, ...]:
    """Return the patterns of a date; a language has its own words around the name of a month.

    "As of March last year" is one, and "as of last March" says no more than "as of March".
    """
    word = rf"(?:{_any_of(lexicon, 'last')})?(?P<word>\p{{L}}{{3,12}})"
    ago = rf"(?P<ago>,?\s+(?:{_any_of(lexicon, 'last_year')}){_WORD_END})"
    month_first = (
        rf"{word}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<year>\d{{4}})|{ago})?"
    )
    day_first = (
        r"(?:(?:the\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?\s+(?:de\s+|of\s+)?)?"
        rf"{word}(?:,?\s+(?:de\s+)?(?P<year>\d{{4}})|{ago})?"
    )
    return (*_FIGURES, month_first, day_first, _YEAR)


def _any_of(lexicon: Lexicon, request: str) -> str:
    return "|".join(lexicon.requests.get(request, ())) or _NEVER


def _period(
    year: str | None, month: str | None, day: str | None, now: datetime, *, third: int
) -> tuple[datetime, datetime]:
    """Return the begin and the last instant of a day, or of so many thirds of a month or a year."""
    if month is None:
        in_year = int(year or 0)
        following = (in_year, 1 + 4 * third) if third < 3 else (in_year + 1, 1)
        return _start(in_year, 1), _start(*following) - _LAST_INSTANT
    number, in_year = int(month), int(year) if year else now.year
    if not year and _start(in_year, number, int(day or 1)) > now:
        in_year -= 1  # without a year, the last one is meant
    begin = _start(in_year, number, int(day or 1))
    if day:
        return begin, begin + timedelta(days=1) - _LAST_INSTANT
    if third < 3:
        return begin, _start(in_year, number, 1 + 10 * third) - _LAST_INSTANT
    following = (in_year, number + 1) if number < 12 else (in_year + 1, 1)
    return begin, _start(*following) - _LAST_INSTANT


def _start(year: int, month: int, day: int = 1) -> datetime:
    """Return the begin of a day; the 29th to 31st of a shorter month is the last that it has."""
    if 28 < day <= _LONGEST_MONTH:
        day = min(day, monthrange(year, month)[1])
    return datetime(year, month, day, tzinfo=timezone.utc)


def _compiled(pattern: str) -> regex.Pattern[str]:
    return compiled(pattern, regex.IGNORECASE)
