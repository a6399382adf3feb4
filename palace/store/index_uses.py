"""How memories were used, kept beside the index: counts by memory id, and how far they reach.

In: counts made out of the journal. Out: the same counts, for other processes and the next start;
and for the ranking, together with what else tells the worth of a memory.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from palace.ports import UNUSED, JournalMark, UseCounts, Worth
from palace.store.index_counts import marks
from palace.store.index_database import IndexDatabase
from palace.store.index_rows import sayable

_MARK = "journal"
_READ_MARK = "SELECT value FROM meta WHERE key = ?"
_COLUMNS = "uses, said_again, helpful, unhelpful, last"
_MANY_IDS = 500
_WORTH = (
    "m.kind, m.trust, m.confidence, m.importance, m.dated, u.uses, u.said_again, u.helpful,"
    " u.unhelpful, u.last"
)
_Row = Sequence[Any]


class FileUse(NamedTuple):
    """How much of a file holds, how often that was used, and whether a project has a part in it."""

    path: str
    memories: int
    uses: int
    is_of_project: bool


class UseTable:
    """The table `uses` of an index; implements the port `UseCounters`."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database

    def mark(self) -> JournalMark:
        """See `UseCounters.mark`."""
        return _decoded(self._database.rows(_READ_MARK, (_MARK,)))

    def counts(self, ids: Iterable[str] | None = None) -> dict[str, UseCounts]:
        """See `UseCounters.counts`."""
        if ids is None:
            return _counts(self._database.rows(f"SELECT id, {_COLUMNS} FROM uses"))
        wanted, found = list(ids), {}
        for start in range(0, len(wanted), _MANY_IDS):
            some = wanted[start : start + _MANY_IDS]
            rows = self._database.rows(
                f"SELECT id, {_COLUMNS} FROM uses WHERE id IN ({marks(some)})", some
            )
            found.update(_counts(rows))
        return found

    def worths(self, keys: Sequence[int]) -> dict[int, Worth]:
        """Return what the memories behind candidate keys are worth; vanished ones are left out."""
        rows = self._database.rows(
            f"SELECT m.key, {_WORTH} FROM memories m"
            f" LEFT JOIN uses u ON u.id = m.id WHERE m.key IN ({marks(keys)})",
            keys,
        )
        return {key: _worth(row) for key, *row in rows}

    def of_files(self, scopes: Collection[str], *, project: str, at: datetime) -> list[FileUse]:
        """Return what is used of each file of rooms and timeline, by those memories that hold.

        Args:
            scopes: Names of those whose memories count.
            project: Whose memories are looked for beside that.
            at: The moment at which they hold.
        """
        # A quote inside words is escaped, so only the field itself looks so.
        field = f'"project":{json.dumps(project, ensure_ascii=False)}'
        holding, values = _holding(scopes, at)
        rows = self._database.rows(
            "SELECT f.path, count(*), ifnull(sum(u.uses), 0), max(instr(m.data, ?) > 0)"
            f" {holding} GROUP BY f.number",
            (sayable(field), *values),
        )
        return [FileUse(path, memories, uses, bool(of)) for path, memories, uses, of in rows]

    def in_room(
        self, room: str, scopes: Collection[str], *, at: datetime
    ) -> list[tuple[str, int, str, int, Worth]]:
        """Return id, key, path, position and worth of a room's memories; see `of_files`."""
        holding, values = _holding(scopes, at)
        rows = self._database.rows(
            f"SELECT m.id, m.key, f.path, m.position, {_WORTH} {holding} AND f.room = ?"
            " ORDER BY f.path, m.position",
            (*values, sayable(room)),
        )
        return [(*row[:4], _worth(row[4:])) for row in rows]

    def keep(
        self,
        counts: Mapping[str, UseCounts],
        mark: JournalMark,
        *,
        since: JournalMark,
        anew: bool = False,
    ) -> bool:
        """See `UseCounters.keep`."""
        with self._database.transaction() as connection:
            if _decoded(connection.execute(_READ_MARK, (_MARK,)).fetchall()) != since:
                return False
            if anew:
                connection.execute("DELETE FROM uses")
            connection.executemany(
                "INSERT OR REPLACE INTO uses VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (
                        *(identifier, c.uses, c.said_again, c.helpful, c.unhelpful),
                        c.last.isoformat() if c.last else "",
                    )
                    for identifier, c in counts.items()
                ],
            )
            connection.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", (_MARK, json.dumps(dict(mark)))
            )
        return True


def _holding(scopes: Collection[str], at: datetime) -> tuple[str, tuple[str, ...]]:
    """Return the tables of rooms and timeline, of what holds at a moment in some scopes."""
    names, now = [sayable(scope) for scope in scopes], at.isoformat()
    # The order of the tables is given: file by file.
    return (
        "FROM files f CROSS JOIN memories m ON m.file = f.number"
        " CROSS JOIN partitions p ON p.number = m.partition LEFT JOIN uses u ON u.id = m.id"
        f" WHERE f.layer = 'L1' AND p.scope IN ({marks(names)})"
        " AND m.valid_from <= ? AND (m.valid_to = '' OR m.valid_to > ?)",
        (*names, now, now),
    )


def _worth(row: _Row) -> Worth:
    kind, trust, confidence, importance, dated, *used = row
    return Worth(
        kind=kind,
        trust=trust,
        confidence=confidence,
        importance=importance,
        dated=datetime.fromisoformat(dated) if dated else None,
        counts=UNUSED if used[0] is None else _use_counts(used),
    )


def _use_counts(row: _Row) -> UseCounts:
    uses, said_again, helpful, unhelpful, last = row
    when = datetime.fromisoformat(last) if last else None
    return UseCounts(uses, said_again, helpful, unhelpful, when)


def _counts(rows: Iterable[_Row]) -> dict[str, UseCounts]:
    return {identifier: _use_counts(row) for identifier, *row in rows}


def _decoded(rows: Sequence[_Row]) -> JournalMark:
    return json.loads(rows[0][0]) if rows else {}
