"""Does the palace hold this already: exact, normalised and near duplicates.

In: a text and memories that resemble it. Out: the memory that says the same and how closely it
does, or None. The rules on statements have word lists, which nobody needs who only asks: they are
imported where two texts are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from operator import eq

from palace.portable import copied_from
from palace.text import fold, tokens
from palace.text.late_patterns import late
from palace.types.changes import Match
from palace.types.memory import Memory

# Signs that no token holds and that still change what is said, and names that no ending is cut off:
# docs.example is not doc.example.
_SIGNS = late(
    r"[<>]=?|[≤≥≠±€$£¥%°]|(?<![\p{L}\p{N}])[-\u2212](?=\d)|(?<=\p{L})[-+\u2212](?![\p{L}\p{N}])"
    r"|(?<![\p{L}\p{N}-])\p{L}[\p{L}\p{N}-]*+(?:[._@][\p{L}\p{N}][\p{L}\p{N}-]*+)++"
)

_WORD = late(r"[\p{L}\p{N}]+")


def find_duplicate(
    text: str, resembling: Iterable[Memory], *, at: datetime | None = None
) -> tuple[Memory, Match] | None:
    """Return the first memory that says the same thing, the closest kind of match first.

    `exact`: the same characters. `normalised`: the same index tokens and signs. `near`: the two
    statements, taken apart, hold the same terms ("on Thursdays …", "… on Thursdays"; "3 kids",
    "three kids"). A small word that tells something ("before", "was", "must", "she") makes two
    statements of them: a false duplicate loses what somebody wanted to keep.

    Args:
        text: The new statement.
        resembling: Memories to compare it with.
        at: When it is said. "On call this month" says something else in another month.
    """
    found = [m for m in resembling if of_one_time(text, at, m)]
    for match, says in _MATCHERS.items():
        for memory in found:
            if says(text, memory.text):
                return memory, match
    return None


def says_the_same(text: str, other: str) -> bool:
    """Whether two statements are one; symmetric."""
    return any(matcher(text, other) for matcher in _MATCHERS.values())


def is_of_one_place(memory: Memory, other: Memory) -> bool:
    """Whether two memories stand in one drawer, or in copies of its file, under the same headings.

    Elsewhere the same words may tell of something else.
    """
    one, two = ((m.room, copied_from(m.drawer), m.heading) for m in (memory, other))
    return one == two


def of_one_time(text: str, at: datetime | None, memory: Memory) -> bool:
    """Whether "today", "this month" or "31 July" in a text means what it means in a memory."""
    from palace.learn.parsed import read_statement

    said = memory.created
    if at is None or said is None:
        return True
    terms = read_statement(text).terms
    days = [term.key for term in terms if term.kind == "day"]
    if any(_period(day, at) != _period(day, said) for day in days):
        return False
    dates = {term.key: term.unit for term in terms}
    return all(
        _are_one_date(term.key, (dates[term.key], at), (term.unit, said))
        for term in read_statement(memory.text).terms
        if term.kind == "date" and term.key in dates
    )


def _are_one_date(day: str, one: tuple[str, datetime], other: tuple[str, datetime]) -> bool:
    """Whether a day told with its year may be the one told without: the last or the next then."""
    (year, _), (_, moment) = sorted((one, other), reverse=True)
    if not year or (one[0] and other[0]):
        return True
    return int(year) - moment.year in (0, 1 if f"{moment:%m-%d}" > day else -1)


def _period(day: str, at: datetime) -> object:
    """Return the year, month, week or day that one on this day tells of."""
    if day.endswith("year"):
        return at.year
    if day.endswith("month"):
        return at.year, at.month
    return at.isocalendar()[:2] if day.endswith("week") else at.date()


def _is_normalised(text: str, other: str) -> bool:
    from palace.learn.comparing import tell_alike
    from palace.learn.parsed import read_statement

    ours, theirs = _tokens(text), _tokens(other)
    if not ours:
        return fold(" ".join(text.split())) == fold(" ".join(other.split()))
    same = ours == theirs and _signs(text) == _signs(other)
    return same and tell_alike(read_statement(text), read_statement(other))


def _is_near(text: str, other: str) -> bool:
    from palace.learn.comparing import compare, may_be_same
    from palace.learn.parsed import read_statement

    one, two = sorted((text, other))  # what is symmetric in meaning must be so in fact
    ours, theirs = read_statement(one), read_statement(two)
    same = may_be_same(ours, theirs) and compare(ours, theirs).relation == "same"
    return same and not _exchanges_roles(one, two)


def _exchanges_roles(one: str, two: str) -> bool:
    """Whether one relates the same things the other way round ("A is above B", "B is above A")."""
    said, related = set(_WORD.findall(fold(one))), _related(two)
    return any(
        relation in related and things.isdisjoint(related[relation]) and related[relation] & said
        for relation, things in _related(one).items()
    )


def _related(text: str) -> dict[str, set[str]]:
    """Return each preposition with the words that follow it, articles left out."""
    from palace.learn.word_classes import BEFORE_THINGS, PREPOSITIONS

    words = [word for word in _WORD.findall(fold(text)) if word not in BEFORE_THINGS]
    related: dict[str, set[str]] = {}
    for relation, thing in pairwise(words):
        # The number of a date or an hour is no thing: "on 14 June 2026" is "on 2026-06-14".
        if relation in PREPOSITIONS and not thing.isdigit():
            related.setdefault(relation, set()).add(thing)
    return related


@lru_cache(maxsize=256)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(tokens(text))


def _signs(text: str) -> list[str]:
    return _SIGNS.findall(text.casefold())


_MATCHERS: dict[Match, Callable[[str, str], bool]] = {
    "exact": eq,
    "normalised": _is_normalised,
    "near": _is_near,
}
