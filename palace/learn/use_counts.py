"""How memories were used, counted from the journal and kept up to date record by record.

In: journal records (`verdict`, `reinforced`, `feedback`). Out: a `UseCounts` for every memory.

A correction needs no count: what it writes is a memory of its own, as young as the correction.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, Literal

Mark = Mapping[str, int]
"""How far a journal was read; what it says is the journal's own business."""

_Counted = Literal["uses", "said_again", "helpful", "unhelpful"]


@dataclass(frozen=True, slots=True)
class UseCounts:
    """How often one memory was used.

    Attributes:
        uses: Times it was put before a model or a person.
        said_again: Times somebody said the same again.
        helpful: Times it was called helpful.
        unhelpful: Times it was called not helpful.
        last: When it was last used, said again or called helpful, aware.
    """

    uses: int = 0
    said_again: int = 0
    helpful: int = 0
    unhelpful: int = 0
    last: datetime | None = None


UNUSED = UseCounts()


class UseTally:
    """The counts of all memories; every look reads only what was appended since the last one.

    Args:
        appended: Returns the records behind a mark with the new mark, or None if the mark no
            longer fits the journal (a month was deleted).
    """

    def __init__(
        self, appended: Callable[[Mark], tuple[Iterable[Mapping[str, Any]], Mark] | None]
    ) -> None:
        self._appended = appended
        self._mark: Mark = {}
        self._counts: dict[str, UseCounts] = {}
        self._lock = threading.Lock()

    def counts(self) -> Mapping[str, UseCounts]:
        """Return the counts by memory id as they are now; a memory never used is missing.

        Raises:
            StoreUnavailableError: If the journal cannot be read.
        """
        with self._lock:
            news = self._appended(self._mark)
            if news is None:
                self._counts = {}
                news = self._appended({}) or ((), {})
            records, self._mark = news
            self._counts = counted(records, self._counts)
            return self._counts


def counted(
    records: Iterable[Mapping[str, Any]], before: Mapping[str, UseCounts] | None = None
) -> dict[str, UseCounts]:
    """Return counts with these records added, in any order; records of other types count nothing.

    Args:
        records: Of the journal.
        before: Counts so far; not changed.
    """
    counts = dict(before or {})
    for record in records:
        for memory, what in _told(record):
            counts[memory] = _more(counts.get(memory, UNUSED), what, _moment(record.get("at")))
    return counts


def _told(record: Mapping[str, Any]) -> Iterator[tuple[str, _Counted]]:
    match record.get("type"):
        case "verdict":
            yield from ((memory, "uses") for memory in _ids(record.get("injected")))
        case "reinforced":
            yield from ((memory, "said_again") for memory in _ids([record.get("memory")]))
        case "feedback":
            what: _Counted = "helpful" if record.get("helpful") is True else "unhelpful"
            yield from ((memory, what) for memory in _ids(record.get("memories")))


def _ids(value: object) -> list[str]:
    found = value if isinstance(value, list) else []
    return list(dict.fromkeys(item for item in found if isinstance(item, str) and item))


def _more(counts: UseCounts, what: _Counted, at: datetime | None) -> UseCounts:
    match what:
        case "uses":
            more = replace(counts, uses=counts.uses + 1)
        case "said_again":
            more = replace(counts, said_again=counts.said_again + 1)
        case "helpful":
            more = replace(counts, helpful=counts.helpful + 1)
        case "unhelpful":
            return replace(counts, unhelpful=counts.unhelpful + 1)
    moments = [moment for moment in (counts.last, at) if moment is not None]
    return replace(more, last=max(moments, default=None))


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(re.sub(r"[zZ]\Z", "+00:00", value))
    except ValueError:
        return None
    return None if moment.tzinfo is None else moment.astimezone(timezone.utc)
