"""What was asked and not found, so that a person can fill it.

In: the journal's verdicts and answers, newest first. Out: groups of similar questions with how
often and when they were asked; questions that were answered later are no gaps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from palace.text.moments import in_utc, iso_moment

SIMILAR = 0.6
_MISSED = frozenset({"nothing_stored", "near_miss"})
_KNOWN = frozenset({*_MISSED, "hit"})


@dataclass(frozen=True, slots=True)
class Gap:
    """A question, asked in one wording or several, that was not answered.

    Attributes:
        question: The wording used last; "" where the journal keeps only a hash of it.
        count: How often it was asked.
        first_asked: When it was asked first in this period, UTC.
        last_asked: When it was asked last, UTC.
        near: Where the closest memory stands, if one was close: `path:line`.
        verdicts: Ids for `palace why`, newest first.
    """

    question: str
    count: int
    first_asked: datetime
    last_asked: datetime
    near: str = ""
    verdicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gaps:
    """What was asked and not found in a period.

    Attributes:
        gaps: The most asked first, then the latest.
        not_kept: Unanswered questions whose words the journal did not keep, by its settings; those
            it kept a hash of stand among the gaps too.
        since: Begin of the period, None for all there is.
    """

    gaps: tuple[Gap, ...]
    not_kept: int = 0
    since: datetime | None = None


def find_gaps(
    records: Iterable[Mapping[str, Any]],
    *,
    terms: Callable[[str], Iterable[str]],
    since: datetime | None = None,
) -> Gaps:
    """Return what was asked and not found.

    Two questions are similar if they share at least six tenths of their terms, and every term
    with a digit in it.

    Args:
        records: Of the journal, newest first; other types than verdicts and answers are skipped.
        terms: Returns the content terms of a question.
        since: Only told again in the result.
    """
    groups = _Groups(terms)
    answered: set[str] = set()
    not_kept = 0
    for record in records:
        if record.get("type") == "answer" and record.get("cited") and not record.get("declined"):
            answered.add(str(record.get("verdict")))
        if record.get("type") != "verdict" or record.get("outcome") not in _KNOWN:
            continue
        found = record["outcome"] == "hit" or record["id"] in answered
        if not record.get("prompt"):
            not_kept += not found
        if record.get("prompt") or record.get("prompt_sha256"):
            groups.take(record, found=found)
    gaps = sorted(groups.open(), key=lambda gap: (-gap.count, -gap.last_asked.timestamp()))
    return Gaps(tuple(gaps), not_kept, since)


@dataclass(slots=True)
class _Group:
    """Similar questions, the newest first."""

    terms: frozenset[str]
    answered: bool
    records: list[Mapping[str, Any]] = field(default_factory=list)

    def gap(self) -> Gap:
        newest, oldest = self.records[0], self.records[-1]
        near = (_near(record) for record in self.records)
        return Gap(
            question=str(newest.get("prompt") or ""),
            count=len(self.records),
            first_asked=_moment(oldest),
            last_asked=_moment(newest),
            near=next((place for place in near if place), ""),
            verdicts=tuple(str(record["id"]) for record in self.records),
        )


class _Groups:
    """Questions put together by their terms; of equally similar groups the newest counts."""

    def __init__(self, terms: Callable[[str], Iterable[str]]) -> None:
        self._terms = cache(terms)  # what is asked again and again is read once
        self._groups: list[_Group] = []
        self._by_term: dict[tuple[frozenset[str], str], list[int]] = {}

    def take(self, record: Mapping[str, Any], *, found: bool) -> None:
        terms = self._terms_of(record)
        digits = frozenset(t for t in terms if any(c.isdigit() for c in t))
        group = self._similar(terms, digits)
        if group is None:
            group = _Group(terms, answered=found)
            for term in terms:
                self._by_term.setdefault((digits, term), []).append(len(self._groups))
            self._groups.append(group)
        if not found:
            group.records.append(record)

    def open(self) -> Iterator[Gap]:
        return (group.gap() for group in self._groups if group.records and not group.answered)

    def _terms_of(self, record: Mapping[str, Any]) -> frozenset[str]:
        prompt = record.get("prompt")
        if not prompt:
            return frozenset({f"sha256:{record['prompt_sha256']}"})
        # A question of nothing but small words is similar to itself alone.
        return frozenset(self._terms(str(prompt))) or frozenset({str(prompt).casefold()})

    def _similar(self, terms: frozenset[str], digits: frozenset[str]) -> _Group | None:
        holding = sorted((self._by_term.get((digits, term), ()) for term in terms), key=len)
        # A similar group holds so many of the terms that it cannot miss all of these.
        rarest = holding[: len(terms) - math.ceil(SIMILAR * len(terms)) + 1]
        near = sorted({number for groups in rarest for number in groups})
        best = max(near, key=lambda n: _share(terms, self._groups[n].terms), default=None)
        if best is None or _share(terms, self._groups[best].terms) < SIMILAR:
            return None
        return self._groups[best]


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def _near(record: Mapping[str, Any]) -> str:
    evidence = record.get("evidence")
    if record.get("outcome") != "near_miss" or not isinstance(evidence, list) or not evidence:
        return ""
    return str(evidence[0].get("source") or "")


def _moment(record: Mapping[str, Any]) -> datetime:
    at = record["at"]
    return in_utc(at) if isinstance(at, datetime) else iso_moment(str(at))
