"""The derived index: SQLite rows, and FTS5 as the store of our own posting lists.

In: parsed documents with their file stamps. Out: candidates with BM25 scores and term counts.
Nothing in here is canonical; the file can be deleted at any time.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from palace.errors import StoreUnavailableError
from palace.ports import GLOBAL, Candidate, Scope, TermCounts
from palace.store.index_counts import TermTable, average_tokens, marks
from palace.store.index_database import IndexDatabase, begin_generation, is_refused
from palace.store.index_rows import (
    Tokens,
    best_candidates,
    candidate,
    decode_memory,
    memory_tokens,
    moment,
    sayable,
)
from palace.store.index_schema import MARKED, Mark
from palace.store.index_stamps import StampTable
from palace.store.index_uses import UseTable
from palace.store.index_writing import WriteBatch, Written
from palace.store.passages import TURNS_BEFORE, passage_of
from palace.store.postings import (
    PostingList,
    best_rows,
    bm25,
    holding_all,
    keys_of,
    posting_lists,
)
from palace.text.moments import utc_now
from palace.types.memory import Document, FileStamp, Memory, MemoryKind
from palace.types.verdict import LayerName

_MAX_QUERY_TERMS = 64
# More than asked for is scored, because posting lists do not tell repetitions.
_SPARE = 0.5
_KEPT_FILES = 8
_MANY_MEMORIES = 2000

_UNASKABLE = re.compile(r'[\x00-\x20"\x7f]')

_CANDIDATE = "m.key, f.path, m.position, m.session, m.body, m.context, m.names, m.asks"
_MEMORY = "f.path, m.line, m.position, m.data"
_FROM = "FROM memories m JOIN files f ON f.number = m.file"
_Row = tuple[Any, ...]
_VALID = "m.valid_from <= ? AND (m.valid_to = '' OR m.valid_to > ?)"


class SqliteIndex:
    """Search structure in one SQLite file (WAL), shared by processes and threads.

    Any call may raise `StoreUnavailableError`, where SQLite or the file system refuses, and, where
    `wait` is False, `IndexBusyError`, while another program is writing.

    Args:
        path: The database file, or None to keep the index in memory.
        at: The moment, UTC, at which a memory has to be valid to be found; None for now.

    Attributes:
        uses: How memories were used; as disposable as the rest.
    """

    def __init__(self, path: Path | None, *, at: datetime | None = None) -> None:
        self._at = at
        self._database = IndexDatabase(path)
        self.uses = UseTable(self._database)
        self._terms = TermTable(self._database)
        self._stamps = StampTable(self._database)
        self._written: dict[str, Written] = {}

    @property
    def path(self) -> Path | None:
        """The database file; None while the index is in memory."""
        return self._database.path

    def held(self) -> AbstractContextManager[object]:
        """Keep other threads out for more than one call."""
        return self._database.held()

    def close(self) -> None:
        """Close the connection; the index can be opened again by a new object."""
        self._database.close()

    def renew(self) -> bool:
        """Do what is needed to be whole and ours again; nothing in the usual case.

        An index whose file was deleted or replaced is opened anew, one that turned out damaged is
        emptied.

        Returns:
            Whether the index was emptied, by this or by another program: then every file has to be
            looked at again.
        """
        with self._database.held():
            if self._database.damaged:
                self.clear()
                self._database.damaged = False
                return True
            if self._database.is_lost():
                self._database.reopen()
                return True
            return self._database.is_another_generation()

    def leave_full_disk(self, refused: StoreUnavailableError) -> bool:
        """See `IndexDatabase.leave_full_disk`."""
        return self._database.leave_full_disk(refused)

    def generation(self) -> int:
        """Return a number that is another one once everything was thrown away."""
        return self._database.generation()

    def clear(self) -> None:
        """Throw everything away and start empty; other processes see it at once.

        Raises:
            StoreUnavailableError: If another program is writing, or the disk is full.
        """
        with self._database.held():
            self._written.clear()
            try:
                with self._database.transaction() as connection:
                    self._database.refuse_damage(connection)
                    connection.execute("INSERT INTO postings (postings) VALUES ('delete-all')")
                    for table in ("memories", "files", "terms", "partitions", "uses"):
                        connection.execute(f"DELETE FROM {table}")
                    connection.execute("DELETE FROM meta WHERE key <> 'epoch'")
                    begin_generation(connection)
            except StoreUnavailableError as error:
                if is_refused(error):
                    raise
                # Too damaged to be emptied: then the file itself has to go.
                self._database.remake()

    def scrub(self) -> None:
        """Leave no trace in the files of what was removed before.

        Raises:
            StoreUnavailableError: If another program reads the index all the time.
        """
        with self._database.held():
            # A deletion leaves its words in older segments, in free pages and in the log.
            with self._database.transaction() as connection:
                connection.execute("DELETE FROM terms WHERE body + place + names <= 0")
                connection.execute("INSERT INTO postings (postings) VALUES ('optimize')")
            self._database.rows("VACUUM")
            busy = self._database.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
            self._database.remove_left()
        if busy:
            raise StoreUnavailableError(
                "what was removed may still stand in the index: another program is reading it",
                hint="close the other programs that use this palace and delete its folder .palace;"
                " it is made anew from the files",
            )

    def check(self) -> str | None:
        """Return what SQLite finds wrong with the file, or None; raises if it cannot tell now."""
        return self._database.check("INSERT INTO postings (postings) VALUES ('integrity-check')")

    # -- writing -------------------------------------------------------------------------------

    def stamps(self) -> Mapping[str, tuple[FileStamp, bool]]:
        """See `StampTable.all`."""
        return self._stamps.all()

    def digests(self, paths: Sequence[str] | None = None) -> dict[str, str]:
        """Return path -> content digest of every indexed file, or of some."""
        among = "" if paths is None else f" WHERE path IN ({marks(paths)})"
        return dict(self._database.rows(f"SELECT path, digest FROM files{among}", paths or ()))

    def apply(
        self,
        documents: Iterable[tuple[Document, FileStamp]],
        *,
        layer: LayerName = "L1",
        removed: Iterable[str] = (),
        wait: bool = True,
        tokens: Callable[[Memory, Sequence[str]], Tokens] = memory_tokens,
    ) -> int:
        """Make these files' memories what the documents say and forget removed files, or neither.

        Args:
            documents: Drawn inside the transaction: who reads the files there reads what no other
                program has indexed since.
            layer: The layer of their memories.
            removed: Paths to forget; drawn inside the transaction too.
            wait: Whether to wait for another program that is writing.
            tokens: Returns the tokens of a memory, where they are known already.

        Returns:
            How many memories the files hold.
        """
        with self._database.held():
            with self._stamps.transaction(wait=wait) as (connection, stamped):
                batch = WriteBatch(connection, self._written, tokens, stamped)
                for path in removed:
                    batch.forget(path)
                for document, stamp in documents:
                    batch.replace(document, stamp, layer)
                batch.finish()
            self._keep(batch.written)
        return batch.memories

    def _keep(self, written: Mapping[str, Written | None]) -> None:
        """Remember what stands in the files written last."""
        others = {path: was for path, was in self._written.items() if path not in written}
        known = [(path, now) for path, now in {**others, **written}.items() if now is not None]
        self._written = dict(known[-_KEPT_FILES:])

    def settle(self, written: int) -> None:
        """Merge the posting lists after many memories were written; a later search is faster."""
        if written >= _MANY_MEMORIES:
            with self._database.transaction() as connection:
                connection.execute("INSERT INTO postings (postings) VALUES ('optimize')")

    def touch(self, stamps: Iterable[FileStamp], *, wait: bool = True) -> None:
        """Note new stamps of files whose content did not change."""
        with self._stamps.transaction(wait=wait) as (connection, stamped):
            for stamp in stamps:
                now = time.time_ns()
                noted = connection.execute(
                    "UPDATE files SET size = ?, mtime_ns = ?, changed_ns = ?, indexed_ns = ?"
                    " WHERE path = ?",
                    (*stamp[1:], now, stamp.path),
                )
                if noted.rowcount:
                    stamped[stamp.path] = stamp, now

    # -- searching -----------------------------------------------------------------------------

    def candidates(
        self,
        terms: Sequence[str],
        *,
        layer: LayerName,
        scope: Scope,
        limit: int,
        at: datetime | None = None,
    ) -> list[Candidate]:
        """See `Index.candidates`; without a moment they are valid at that of the index.

        In a large palace memories that hold only its most frequent words may be passed over; see
        `palace.store.postings.best_rows`.

        Source: Okapi BM25 with the constants of FTS5 (k1 = 1.2, b = 0.75); a word in the place of
        a memory counts half.
        """
        asked = _askable(terms)
        if not asked or limit < 1:
            return []
        with self._database.held():
            visible = self._terms.visible(scope)
            if not visible.of_layer(layer):
                return []
            weights = self._terms.weights(asked, visible)
            rows = self._terms.rows(asked, visible, layer)
            lists = [one for t in asked for one in posting_lists(t, rows[t], weights[t])]
            places = {term: place for place, term in enumerate(asked)}
            score = partial(bm25, weights, places, max(average_tokens(visible), 1.0))
            best = self._best(lists, limit, self._now(at)) if lists else []
        return best_candidates(best, score=score, limit=limit)

    def _best(self, lists: Sequence[PostingList], limit: int, now: str) -> list[_Row]:
        """Return the best rows of candidates; more are asked for where some are out of date."""
        wanted = limit + int(limit * _SPARE) + 1
        while True:
            best = best_rows(self._matching, lists, wanted=wanted)
            keys = keys_of(best)
            found = self._candidates(f"m.key IN ({marks(keys)}) AND {_VALID}", (*keys, now, now))
            if len(found) >= limit or len(best) < wanted:
                return found
            wanted *= 4

    def _matching(self, expressions: Sequence[str], limit: int) -> list[tuple[int, int]]:
        # The order of the tables is given: the lists one after the other, each by row.
        return self._database.rows(
            "SELECT asked.key, postings.rowid FROM json_each(?) AS asked CROSS JOIN postings"
            " WHERE postings MATCH asked.value LIMIT ?",
            (json.dumps(expressions), limit),
        )

    def _now(self, at: datetime | None = None) -> str:
        return (at or self._at or utc_now()).isoformat()

    def _candidates(self, condition: str, arguments: Sequence[object]) -> list[_Row]:
        return self._database.rows(f"SELECT {_CANDIDATE} {_FROM} WHERE {condition}", arguments)

    def candidates_by_key(self, keys: Sequence[int]) -> list[Candidate]:
        """Return the candidates of these keys, in the order asked; vanished ones are left out."""
        rows = self._candidates(f"m.key IN ({marks(keys)})", keys)
        by_key = {row[0]: candidate(row) for row in rows}
        return [by_key[key] for key in keys if key in by_key]

    def candidates_in(self, room: str) -> list[Candidate]:
        """Return the active, globally visible candidates of a room, in file order."""
        visible = self._terms.visible(GLOBAL).numbers
        now = self._now()
        rows = self._database.rows(
            f"SELECT {_CANDIDATE} FROM files f JOIN memories m ON m.file = f.number"
            f" WHERE f.layer = 'L1' AND f.room = ? AND m.partition IN ({marks(visible)})"
            f" AND {_VALID} ORDER BY f.path, m.position",
            (room, *visible, now, now),
        )
        return [candidate(row) for row in rows]

    def neighbours(
        self,
        candidates: Sequence[Candidate],
        *,
        distance: int,
        scope: Scope,
        known: Sequence[Candidate] = (),
    ) -> list[Candidate]:
        """Return what stands within `distance` memories in the same file and session, each once."""
        if not candidates:
            return []
        wanted = {
            (c.path, c.session, position)
            for c in candidates
            for position in range(c.position - distance, c.position + distance + 1)
        }
        wanted.difference_update((c.path, c.session, c.position) for c in (*candidates, *known))
        if not wanted:
            return []
        visible = self._terms.visible(scope).numbers
        now = self._now()
        rows = self._database.rows(
            "WITH wanted (path, session, position) AS"
            f" (VALUES {', '.join(['(?, ?, ?)'] * len(wanted))})"
            f" SELECT {_CANDIDATE} FROM wanted CROSS JOIN files f ON f.path = wanted.path"
            " CROSS JOIN memories m ON m.file = f.number AND m.position = wanted.position"
            " WHERE m.session = wanted.session"
            f" AND m.partition IN ({marks(visible)}) AND {_VALID}",
            (*(value for place in wanted for value in place), *visible, now, now),
        )
        return [candidate(row) for row in rows]

    # -- reading -------------------------------------------------------------------------------

    def load(self, keys: Sequence[int]) -> dict[int, Memory]:
        """Return the memories of these keys, in the order asked; vanished ones are left out."""
        rows = self._database.rows(
            f"SELECT m.key, {_MEMORY} {_FROM} WHERE m.key IN ({marks(keys)})", keys
        )
        found = {key: self._decoded(*row) for key, *row in rows}
        return {key: found[key] for key in keys if key in found}

    def _decoded(self, path: str, line: int, position: int, data: str) -> Memory:
        try:
            return decode_memory(data, path=path, line=line, position=position)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            damage = sqlite3.DatabaseError("a row of it is malformed")
            raise self._database.failed(damage) from error

    def get(self, memory_id: str) -> Memory | None:
        """Return one memory by id, active or not; a unique prefix of 8 characters is enough."""
        found = self.places(memory_id)
        if not found and len(memory_id) >= 8:
            begin = sayable(memory_id)
            ids = self._database.rows(
                "SELECT DISTINCT id FROM memories WHERE id >= ? AND id < ? LIMIT 2",
                (begin, begin + "\U0010ffff"),
            )
            found = self.places(ids[0][0]) if len(ids) == 1 else []
        return found[0] if found else None

    def places(self, memory_id: str) -> list[Memory]:
        """Return all memories of one id: a copy of a file has those of the file.

        The shortest name is that of the file that was copied; it comes first.
        """
        condition = "m.id = ? ORDER BY length(f.path), f.path"
        return list(self._memories(condition, (sayable(memory_id),)))

    def memories(
        self, *, room: str | None = None, path: str | None = None, layer: LayerName = "L1"
    ) -> Iterator[Memory]:
        """Yield memories in file order, inactive ones included."""
        conditions, arguments = ["f.layer = ?"], [str(layer)]
        if room is not None:
            conditions.append("f.room = ?")
            arguments.append(room)
        if path is not None:
            conditions.append("f.path = ?")
            arguments.append(path)
        return self._memories(f"{' AND '.join(conditions)} ORDER BY f.path, m.position", arguments)

    def tokenised(self, layer: LayerName) -> list[tuple[Memory, Tokens]]:
        """Return every memory of a layer in file order, retired ones too, with its tokens."""
        columns = f"{_MEMORY}, m.body, m.context, m.names, m.asks"
        ordered = "WHERE f.layer = ? ORDER BY f.path, m.position"
        rows = self._database.rows(f"SELECT {columns} {_FROM} {ordered}", (layer,))
        return [(self._decoded(*row[:4]), row[4:]) for row in rows]

    def _memories(self, condition: str, arguments: Sequence[str]) -> Iterator[Memory]:
        rows = self._database.rows(f"SELECT {_MEMORY} {_FROM} WHERE {condition}", arguments)
        return (self._decoded(*row) for row in rows)

    def marked(self, field: Mark) -> list[Memory]:
        """Return the memories of rooms and timeline that have this field, retired ones too.

        What is retired, and left in a copy of its drawer, is not among them. Those with a status
        are the retired ones, for `active` is not written; an open task has an empty box, or TODO.
        """
        # The order of the tables is given, because SQLite would else read every memory.
        rows = self._database.rows(
            f"SELECT {_MEMORY} FROM memories m INDEXED BY memories_with_{field}"
            " CROSS JOIN files f ON f.number = m.file"
            f" WHERE {MARKED[field]} AND f.layer = 'L1'"
            " AND (m.partition IS NOT NULL OR instr(m.data, '\"status\":') > 0)"
            " ORDER BY f.path, m.position"
        )
        return [self._decoded(*row) for row in rows]

    def latest(
        self,
        kinds: Sequence[MemoryKind],
        *,
        scope: Scope,
        limit: int,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Memory]:
        """Return the active, visible memories of rooms and timeline written last, newest first.

        Args:
            kinds: Of which kinds.
            scope: Who reads.
            limit: How many at most.
            since: The first moment; None for any.
            until: The moment behind the last; None for any.
        """
        found: list[_Row] = []
        numbers = self._terms.visible(scope).of_layer("L1")
        for kind in kinds:  # each of them is in the order of the index
            found += self._database.rows(
                f"SELECT m.dated, {_MEMORY} FROM memories m INDEXED BY memories_by_day"
                " CROSS JOIN files f ON f.number = m.file"
                " WHERE m.kind = ? AND m.dated <> '' AND m.dated >= ? AND m.dated < ?"
                f" AND m.partition IN ({marks(numbers)}) ORDER BY m.dated DESC LIMIT ?",
                (kind, moment(since), moment(until) or "~", *numbers, limit),
            )
        found.sort(key=itemgetter(0), reverse=True)
        return [self._decoded(*row) for _, *row in found[:limit]]

    def pages(self, room: str) -> list[str]:
        """Return the files of a room that hold active memories, the last name first."""
        condition = "layer = 'L1' AND room = ? AND active > 0 ORDER BY path DESC"
        rows = self._database.rows(f"SELECT path FROM files WHERE {condition}", (room,))
        return [path for (path,) in rows]

    def ids_of(self, path: str) -> set[str]:
        """Return the ids of all memories of one file."""
        rows = self._database.rows(f"SELECT m.id {_FROM} WHERE f.path = ?", [path])
        return {name for (name,) in rows}

    def passage_digests(self) -> set[bytes]:
        """Return the digest of every memory's passage, retired ones too."""
        return {d for (d,) in self._database.rows("SELECT DISTINCT passage FROM memories")}

    def rooms(self) -> dict[str, int]:
        """Return room -> number of active memories (timeline included)."""
        return dict(
            self._database.rows(
                "SELECT room, sum(active) FROM files WHERE layer = 'L1' AND active > 0"
                " GROUP BY room ORDER BY room"
            )
        )

    # -- for the vectors of memories -----------------------------------------------------------

    def epoch(self) -> str:
        """Return a word that changes when the database is made anew, and keys begin again."""
        return str(self._database.rows("SELECT value FROM meta WHERE key = 'epoch'")[0][0])

    def passage_texts(self, keys: Sequence[int]) -> dict[int, str]:
        """Return what is embedded for these memories; vanished ones are left out."""
        before: dict[int, list[Memory]] = {}
        for key, *row in self._database.rows(
            "SELECT m.key, f.path, b.line, b.position, b.data FROM memories m"
            " JOIN files f ON f.number = m.file JOIN memories b ON b.file = m.file"
            f" AND b.position BETWEEN m.position - {TURNS_BEFORE} AND m.position - 1"
            f" WHERE m.key IN ({marks(keys)}) AND m.session != '' ORDER BY b.position DESC",
            keys,
        ):
            before.setdefault(key, []).append(self._decoded(*row))
        return {
            key: passage_of(memory, before.get(key, ())) for key, memory in self.load(keys).items()
        }

    def passages(self, *, after: int = 0) -> list[tuple[int, str, str, str, bytes]]:
        """Return (key, path, layer, scope, passage digest) of active memories, by key.

        Args:
            after: Only keys above this one. Keys are never used twice, and a memory that changes
                gets a new one.
        """
        return self._database.rows(
            "SELECT m.key, f.path, p.layer, p.scope, m.passage FROM memories m"
            " JOIN files f ON f.number = m.file JOIN partitions p ON p.number = m.partition"
            " WHERE m.key > ? ORDER BY m.key",
            (after,),
        )

    def active_keys(self, paths: Sequence[str] | None = None) -> list[int]:
        """Return the keys of all active memories, or of those in some files."""
        if paths is None:
            rows = self._database.rows("SELECT key FROM memories WHERE partition IS NOT NULL")
        else:
            rows = self._database.rows(
                "SELECT m.key FROM files f JOIN memories m ON m.file = f.number"
                f" WHERE f.path IN ({marks(paths)}) AND m.partition IS NOT NULL",
                paths,
            )
        return [key for (key,) in rows]

    def active(self) -> int:
        """Return the number of active memories in all scopes and layers."""
        rows = self._database.rows("SELECT coalesce(sum(memories), 0) FROM partitions")
        return int(rows[0][0])

    def visible(self, keys: Sequence[int], *, layer: LayerName, scope: Scope) -> set[int]:
        """Return those keys whose memories a search of this layer and scope may find."""
        numbers = self._terms.visible(scope).of_layer(layer)
        now = self._now()
        rows = self._database.rows(
            f"SELECT m.key FROM memories m WHERE m.key IN ({marks(keys)})"
            f" AND m.partition IN ({marks(numbers)}) AND {_VALID}",
            (*keys, *numbers, now, now),
        )
        return {key for (key,) in rows}

    # -- counts --------------------------------------------------------------------------------

    def size(self, *, scope: Scope = GLOBAL) -> int:
        """Return the number of active memories that a reader may see."""
        return self._terms.visible(scope).memories

    def state(self) -> int:
        """Return a number that is another one after any process changed the index."""
        return self._terms.state()

    def steady(self) -> AbstractContextManager[None]:
        """Take sizes and counts to be what they are now, in this thread, for one short question.

        Whether any process has changed the index is else asked at every call; who writes to it
        meanwhile does not see it in them.
        """
        return self._terms.steady()

    def holds(self, layer: LayerName, *, scope: Scope = GLOBAL) -> bool:
        """Return whether there is any active memory of a layer that a reader may see."""
        visible = self._terms.visible(scope).partitions
        return any(p.layer == layer and p.memories for p in visible)

    def counts(self, terms: Iterable[str], *, scope: Scope = GLOBAL) -> Mapping[str, TermCounts]:
        """Return how many memories a reader may see hold each term; absent terms have zeros."""
        with self._database.held():
            return self._terms.counts(terms, self._terms.visible(scope))

    def together(self, terms: Sequence[str], *, scope: Scope = GLOBAL) -> int:
        """Return how many memories a reader may see hold all of these terms; 0 for no term."""
        asked = _askable(terms)
        if not asked or len(asked) < len({*terms}):
            return 0
        with self._database.held():
            numbers = self._terms.visible(scope).numbers
            return len(self._matching([holding_all(asked, numbers)], -1)) if numbers else 0

    def alike(self, token: str, *, scope: Scope = GLOBAL) -> Sequence[str]:
        """Return tokens that a reader may see and that may be one slip away; see `Vocabulary`."""
        with self._database.held():
            return self._terms.alike(token, self._terms.visible(scope))

    def beginning(self, letters: str, *, most_chars: int, scope: Scope = GLOBAL) -> Sequence[str]:
        """Return tokens that a reader may see and that begin so; see `Vocabulary`."""
        with self._database.held():
            return self._terms.beginning(letters, most_chars, self._terms.visible(scope))


def _askable(terms: Sequence[str]) -> list[str]:
    """Return the terms that could be in the index: whole tokens."""
    asked = dict.fromkeys(sayable(term) for term in terms[:_MAX_QUERY_TERMS])
    return [t for t in asked if t and not _UNASKABLE.search(t)]
