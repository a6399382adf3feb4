"""Write files into the index, at a cost that follows what changed in them.

In: parsed files inside one transaction. Out: rows, posting lists and counts, all of them in step.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import attrgetter
from typing import NamedTuple

from palace.store.index_rows import Tokens, decode_memory, encode_row, memory_tokens, moment
from palace.store.index_stamps import Stamped
from palace.store.left_copies import copies_concerned, is_left_in_copy, original_of
from palace.store.passages import TURNS_BEFORE, passage_digest, passage_of
from palace.store.postings import posting_row, posting_words
from palace.types.memory import Document, FileStamp, Memory
from palace.types.verdict import LayerName

_MEMORY = (
    "INSERT INTO memories (file, position, line, partition, id, session, valid_from,"
    " valid_to, body, context, names, asks, data, passage, kind, trust, confidence, importance,"
    " dated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_MOVED = (
    "INSERT INTO memories SELECT NULL, file, position, line, ?, id, session, valid_from, valid_to,"
    " body, context, names, asks, data, passage, kind, trust, confidence, importance, dated"
    " FROM memories WHERE key = ?"
)
_COUNT = (
    "INSERT INTO terms VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
    " SET body = body + excluded.body, place = place + excluded.place,"
    " names = names + excluded.names"
)

_NO_END = 1 << 62
_BESIDE_PLACE = attrgetter(*(name for name in Memory.__slots__ if name not in ("position", "line")))
_Row = tuple[int, int, int, str, bytes, "int | None", str, str, str]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written of one file last: from there the next difference is seen.

    Attributes:
        written_ns: Stands in the file's row as long as nobody else wrote it.
        tags: Of the drawer; they are words of every memory in it.
        active: How many of the memories are.
    """

    written_ns: int
    tags: tuple[str, ...]
    memories: tuple[Memory, ...]
    active: int


class _Same(NamedTuple):
    """What of a file is as it was written last.

    Attributes:
        head: How many memories at its beginning are.
        tail: How many at its end are.
        active: How many of all these are active.
        later: By how many positions those at the end come later.
        lower: By how many lines they stand lower.
    """

    head: int = 0
    tail: int = 0
    active: int = 0
    later: int = 0
    lower: int = 0


@dataclass(slots=True)
class WriteBatch:
    """Changes to the index inside one transaction; `finish` writes what is kept back for speed.

    Args:
        connection: Inside a transaction.
        known: What was last written, by path; from `written` of earlier batches.
        tokens: Returns the tokens of a memory in a drawer with such tags.
        stamped: Gets the stamp of every file that is written, see `StampTable`.
    """

    connection: sqlite3.Connection
    known: dict[str, Written]
    tokens: Callable[[Memory, Sequence[str]], Tokens] = memory_tokens
    stamped: Stamped = field(default_factory=dict)
    written: dict[str, Written | None] = field(default_factory=dict)
    memories: int = 0
    _posted: list[tuple[int, str]] = field(default_factory=list)
    _unposted: list[tuple[int, str]] = field(default_factory=list)
    _terms: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    _sizes: dict[int, list[int]] = field(default_factory=dict)
    _partitions: dict[tuple[str, str], int] = field(default_factory=dict)

    def forget(self, path: str) -> None:
        """Take a file and all its memories out."""
        found = self.connection.execute("SELECT number FROM files WHERE path = ?", (path,))
        for (number,) in found.fetchall():
            self._remove(self._rows_of(number))
            self.connection.execute("DELETE FROM files WHERE number = ?", (number,))
        self.written[path] = self.stamped[path] = None

    def replace(self, document: Document, stamp: FileStamp, layer: LayerName) -> None:
        """Make a file's rows what its document says; memories that stay cost nothing."""
        self.memories += len(document.memories)
        now = time.time_ns()  # a moment no other write has
        number, written_ns, tags = self._file(document, stamp)
        same = self._same(written_ns, document)
        changed = range(same.head, len(document.memories) - same.tail)
        first, end = _positions(document.memories, changed)
        stale = self._rows_of(number, first, end - same.later)
        if same.later or same.lower:
            self.connection.execute(
                "UPDATE memories SET position = position + ?, line = line + ?"
                " WHERE file = ? AND position >= ?",
                (same.later, same.lower, number, end - same.later),
            )
        moved = stale if tags == " ".join(document.tags) else []
        kept = self._write(document, changed, number, layer, moved)
        self._remove([row for row in stale if row[0] not in kept])
        active = same.active + _active(document.memories[n] for n in changed)
        self.connection.execute(
            "UPDATE files SET size = ?, mtime_ns = ?, changed_ns = ?, indexed_ns = ?,"
            " written_ns = ?, digest = ?, tags = ?, room = ?, layer = ?, active = ?"
            " WHERE number = ?",
            (
                *stamp[1:],
                now,
                now,
                document.digest,
                " ".join(document.tags),
                document.memories[0].room if document.memories else "",
                layer,
                active,
                number,
            ),
        )
        self.stamped[document.path] = stamp, now
        self.written[document.path] = Written(now, document.tags, document.memories, active)

    def finish(self) -> None:
        """Write posting lists and counts; in order, because that is what makes them fast."""
        self._write_postings()  # what is taken out of them must stand in them
        for number, retired in copies_concerned(self.connection, self.written).items():
            self._leave_out(number, [decode_memory(data) for data in retired])
            self._write_postings()
        execute = self.connection.executemany
        execute(
            _COUNT,
            [(*name, *counts) for name, counts in sorted(self._terms.items()) if any(counts)],
        )
        execute(
            "UPDATE partitions SET memories = memories + ?, tokens = tokens + ? WHERE number = ?",
            [(memories, tokens, number) for number, (memories, tokens) in self._sizes.items()],
        )

    def _write_postings(self) -> None:
        execute = self.connection.executemany
        execute(
            "INSERT INTO postings (postings, rowid, words) VALUES ('delete', ?, ?)",
            sorted(self._unposted),
        )
        execute("INSERT INTO postings (rowid, words) VALUES (?, ?)", sorted(self._posted))
        self._unposted.clear()
        self._posted.clear()

    # -- files ---------------------------------------------------------------------------------

    def _file(self, document: Document, stamp: FileStamp) -> tuple[int, int, str]:
        """Return the number of a file, new if need be, when it was written, and with which tags."""
        self.connection.execute(
            "INSERT OR IGNORE INTO files (path, size, mtime_ns, changed_ns, indexed_ns, written_ns,"
            " digest, tags, room, layer, active, copy_of)"
            " VALUES (?, ?, ?, ?, 0, 0, '', ?, '', '', 0, ?)",
            (document.path, *stamp[1:], " ".join(document.tags), original_of(document.path)),
        )
        number, written_ns, tags = self.connection.execute(
            "SELECT number, written_ns, tags FROM files WHERE path = ?", (document.path,)
        ).fetchone()
        return number, written_ns, tags

    def _same(self, written_ns: int, document: Document) -> _Same:
        """Return what is surely as it was written last; a turn is where those before it are."""
        known = self.written.get(document.path) or self.known.get(document.path)
        if known is None or known.tags != document.tags:
            return _Same()
        if written_ns != known.written_ns:  # anybody who wrote the file since left another moment
            return _Same()
        head = _common(known.memories, document.memories)
        before, now = known.memories[head:][::-1], document.memories[head:][::-1]
        if not before or not now:
            return _Same(head, active=known.active - _active(before))
        later, lower = now[0].position - before[0].position, now[0].line - before[0].line
        if later or lower:
            alike = _common(_placed(before, later, lower), _placed(now))
        else:
            alike = _common(before, now)
        tail = max(alike - TURNS_BEFORE, 0)
        active = known.active - _active(before[tail:])
        return _Same(head, tail, active, later, lower) if tail else _Same(head, active=active)

    # -- memories ------------------------------------------------------------------------------

    def _rows_of(self, number: int, first: int = -1, end: int = _NO_END) -> list[_Row]:
        return self.connection.execute(
            "SELECT key, position, line, data, passage, partition, body, context, names"
            " FROM memories WHERE file = ? AND position >= ? AND position < ?",
            (number, first, end),
        ).fetchall()

    def _write(
        self,
        document: Document,
        changed: range,
        number: int,
        layer: LayerName,
        stale: Iterable[_Row],
    ) -> set[int]:
        """Write the memories that changed, and return the keys of the rows that only moved."""
        reusable: dict[tuple[str, bytes], list[_Row]] = {}
        for row in stale:
            reusable.setdefault((row[3], row[4]), []).append(row)
        kept: set[int] = set()
        for place in changed:
            memory = document.memories[place]
            before = document.memories[max(place - TURNS_BEFORE, 0) : place][::-1]
            written = encode_row(memory), passage_digest(passage_of(memory, before))
            if not reusable.get(written):
                self._insert(memory, document.tags, written, number, layer)
                continue
            key, position, line, *_ = reusable[written].pop()
            kept.add(key)
            if (position, line) != (memory.position, memory.line):
                self.connection.execute(
                    "UPDATE memories SET position = ?, line = ? WHERE key = ?",
                    (memory.position, memory.line, key),
                )
        return kept

    def _insert(
        self,
        memory: Memory,
        tags: Sequence[str],
        written: tuple[str, bytes],
        number: int,
        layer: LayerName,
    ) -> None:
        body, context, names, asks = self.tokens(memory, tags)
        partition = self._partition(layer, memory.scope) if memory.status == "active" else None
        added = self.connection.execute(
            _MEMORY,
            (
                number,
                memory.position,
                memory.line,
                partition,
                memory.id,
                memory.session,
                moment(memory.valid_from),
                moment(memory.valid_to),
                body,
                context,
                names,
                asks,
                *written,
                memory.kind,
                memory.trust,
                memory.confidence,
                memory.importance,
                max(moment(memory.created), moment(memory.updated)),
            ),
        )
        if partition is not None:
            self._post(added.lastrowid or 0, partition, (body, context, names), is_out=False)

    def _leave_out(self, number: int, retired: Sequence[Memory]) -> None:
        """Post all active memories of a copy but those that were retired in the file itself."""
        where = "SELECT layer FROM files WHERE number = ?"
        (layer,) = self.connection.execute(where, (number,)).fetchone()
        for row in self._rows_of(number):
            memory = decode_memory(row[3])
            is_out = memory.status != "active" or is_left_in_copy(memory, retired)
            if is_out == (row[5] is None):
                continue
            # A key is never used twice: vectors are asked for those of a newer one alone.
            partition = None if is_out else self._partition(layer, memory.scope)
            moved = self.connection.execute(_MOVED, (partition, row[0]))
            self._remove([row])
            if partition is not None:
                self._post(moved.lastrowid or 0, partition, row[6:], is_out=False)

    def _remove(self, rows: Iterable[_Row]) -> None:
        for row in rows:
            self.connection.execute("DELETE FROM memories WHERE key = ?", (row[0],))
            if row[5] is not None:
                self._post(row[0], row[5], row[6:], is_out=True)

    def _post(self, key: int, partition: int, words: tuple[str, str, str], *, is_out: bool) -> None:
        """Put a memory into the posting lists of a partition, or take it out of them."""
        said, place, named = (text.split() for text in words)
        row = posting_row(key, len(said) + len(place))
        posted = self._unposted if is_out else self._posted
        posted.append((row, posting_words(partition, said, place)))
        self._count(partition, said, place, named, sign=-1 if is_out else 1)

    def _partition(self, layer: LayerName, scope: str) -> int:
        known = self._partitions.get((layer, scope))
        if known is None:
            self.connection.execute(
                "INSERT OR IGNORE INTO partitions (scope, layer, memories, tokens)"
                " VALUES (?, ?, 0, 0)",
                (scope, layer),
            )
            found = self.connection.execute(
                "SELECT number FROM partitions WHERE scope = ? AND layer = ?", (scope, layer)
            )
            (known,) = found.fetchone()
            self._partitions[layer, scope] = known
        return known

    def _count(
        self,
        partition: int,
        body: Sequence[str],
        context: Sequence[str],
        names: Sequence[str],
        *,
        sign: int,
    ) -> None:
        said = set(body)
        for column, held in enumerate((said, set(context) - said, set(names))):
            for token in held:
                counts = self._terms.get((partition, token))
                if counts is None:
                    counts = self._terms[partition, token] = [0, 0, 0]
                counts[column] += sign
        size = self._sizes.setdefault(partition, [0, 0])
        size[0] += sign
        size[1] += sign * (len(body) + len(context))


def _positions(memories: Sequence[Memory], some: range) -> tuple[int, int]:
    """Return the first position at which some of the memories may stand, and the first behind."""
    first = memories[some.start - 1].position + 1 if some.start else -1
    return first, memories[some.stop].position if some.stop < len(memories) else _NO_END


def _placed(memories: Iterable[Memory], later: int = 0, lower: int = 0) -> Iterator[object]:
    """Yield all that memories are, so many positions later and lines lower."""
    return ((m.position + later, m.line + lower, _BESIDE_PLACE(m)) for m in memories)


def _common(before: Iterable[object], now: Iterable[object]) -> int:
    """Return how many memories at the beginning are the same."""
    same = (old is new or old == new for old, new in zip(before, now, strict=False))
    return sum(takewhile(bool, same))


def _active(memories: Iterable[Memory]) -> int:
    return sum(memory.status == "active" for memory in memories)
