"""How memories were used, counted from the journal and kept up to date record by record.

In: journal records (`verdict`, `reinforced`, `feedback`, `named`). Out: a `UseCounts` for every
memory.

A correction needs no count: it writes a new memory, which starts without any. A memory written by
hand that is given an id keeps what was counted under its derived id.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from palace.ports import UNUSED, JournalMark, UseCounters, UseCounts
from palace.text.moments import aware_moment

_TYPES = ("verdict", "reinforced", "feedback", "named")
# Of each type: what is older fades anyway, and a session must not wait for a year of records.
_MOST_READ = 2000

Appended = tuple[Iterable[Mapping[str, Any]], JournalMark]


class UseTally:
    """The counts of all memories; every look reads only what was appended since the last one.

    Args:
        appended: Returns the records behind a mark with the new mark, or None if the mark no
            longer fits the journal (a month was deleted): `FileJournal.appended`.
        kept: Where the counts are kept from one process to the next.
    """

    def __init__(self, appended: Callable[..., Appended | None], kept: UseCounters) -> None:
        self._appended = appended
        self._kept = kept
        self._known: tuple[JournalMark, dict[str, UseCounts]] | None = None
        self._lock = threading.Lock()

    def counts(self) -> Mapping[str, UseCounts]:
        """Return the counts by memory id as they are now; a memory never used is missing.

        Raises:
            StoreUnavailableError: If the journal cannot be read or the counts cannot be kept.
        """
        with self._lock:
            mark = self._renewed()
            if self._known is None or self._known[0] != mark:
                self._known = mark, self._kept.counts()
            return self._known[1]

    def renew(self) -> None:
        """Count what was appended; the kept counts are those of now.

        Of each type of record at most the 2000 newest are read, so that the cost is bounded.

        Raises:
            StoreUnavailableError: As `counts`.
        """
        with self._lock:
            self._renewed()

    def _renewed(self) -> JournalMark:
        since = self._kept.mark()
        news = self._appended(since, types=_TYPES, newest=_MOST_READ)
        anew = news is None
        if news is None:
            news = self._appended({}, types=_TYPES, newest=_MOST_READ) or ((), {})
        records, mark = list(news[0]), news[1]
        if not anew and mark == since:
            return mark
        before = {} if anew else self._kept.counts(_concerned(records))
        if not self._kept.keep(counted(records, before), mark, since=since, anew=anew):
            return self._kept.mark()  # another process counted them meanwhile
        return mark


def _concerned(records: Sequence[Mapping[str, Any]]) -> set[str]:
    told = {memory for record in records for memory, _ in _told(record)}
    return told.union(*_named(records))


def _named(records: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return derived ids, each with the one that a memory was given in its place."""
    given = (_ids([r.get("was"), r.get("memory")]) for r in records if r.get("type") == "named")
    return [(ids[0], ids[1]) for ids in given if len(ids) == 2]


def counted(
    records: Iterable[Mapping[str, Any]], before: Mapping[str, UseCounts] | None = None
) -> dict[str, UseCounts]:
    """Return counts with these records added, in any order; records of other types count nothing.

    Args:
        records: Of the journal.
        before: Counts so far; not changed.
    """
    counts, records = dict(before or {}), list(records)
    names: dict[str, set[str]] = {}
    for was, now in _named(records):
        names.setdefault(was, {was}).add(now)
        counts[now] = _together(counts.get(now, UNUSED), counts.get(was, UNUSED))
    for record in records:
        for called, use in _told(record):
            for memory in names.get(called, (called,)):
                counts[memory] = _together(counts.get(memory, UNUSED), use)
    return counts


def _together(some: UseCounts, others: UseCounts) -> UseCounts:
    moments = [moment for moment in (some.last, others.last) if moment is not None]
    return UseCounts(
        some.uses + others.uses,
        some.said_again + others.said_again,
        some.helpful + others.helpful,
        some.unhelpful + others.unhelpful,
        max(moments, default=None),
    )


def _told(record: Mapping[str, Any]) -> Iterator[tuple[str, UseCounts]]:
    """Yield the memories that a record is about, each with what it counts for them."""
    at = aware_moment(record.get("at"))
    match record.get("type"):
        case "verdict":
            use, memories = UseCounts(uses=1, last=at), record.get("injected")
        case "reinforced":
            use, memories = UseCounts(said_again=1, last=at), [record.get("memory")]
        case "feedback" if record.get("helpful") is True:
            use, memories = UseCounts(helpful=1, last=at), record.get("memories")
        case "feedback":
            use, memories = UseCounts(unhelpful=1), record.get("memories")
        case _:
            return
    yield from ((memory, use) for memory in _ids(memories))


def _ids(value: object) -> list[str]:
    found = value if isinstance(value, list) else []
    return list(dict.fromkeys(item for item in found if isinstance(item, str) and item))
