"""The derived index: SQLite with FTS5, fed with our own tokens.

In: parsed documents with their file stamps. Out: candidates with BM25 scores and term counts.
Nothing in here is canonical; the file can be deleted at any time.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from palace.errors import StoreUnavailableError
from palace.ports import Candidate, Scope, TermCounts
from palace.store.memory_json import decode_memory, encode_memory
from palace.store.passages import passage_digest, passage_of
from palace.text import name_tokens, tokens, utc_now
from palace.types import Document, FileStamp, LayerName, Memory

SCHEMA_VERSION = 3
_MAX_QUERY_TERMS = 64
_BUSY_TIMEOUT_MS = 10_000
_RETRY_S = 0.01
# A file changed within this time before it was read may change again under the same mtime.
_RACY_NS = 50_000_000

# Our tokens hold letters, digits and these; nothing may be split again inside the engine.
_TOKENIZER = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'"

_SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    indexed_ns INTEGER NOT NULL, digest TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE memories (
    key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, path TEXT NOT NULL,
    position INTEGER NOT NULL, layer TEXT NOT NULL, room TEXT NOT NULL, status TEXT NOT NULL,
    scope TEXT NOT NULL, session TEXT NOT NULL, valid_from TEXT NOT NULL, valid_to TEXT NOT NULL,
    data TEXT NOT NULL, body TEXT NOT NULL, context TEXT NOT NULL, names TEXT NOT NULL,
    passage BLOB NOT NULL
);
INSERT INTO meta VALUES ('epoch', lower(hex(randomblob(8))));
CREATE INDEX memories_by_id ON memories (id);
CREATE INDEX memories_by_place ON memories (path, position);
CREATE INDEX memories_by_room ON memories (room, status);
CREATE VIRTUAL TABLE fts USING fts5(
    body, context, names, content='memories', content_rowid='key', tokenize="{_TOKENIZER}"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(fts, 'col');
"""
_TABLES = frozenset({"meta", "files", "memories", "fts", "vocabulary"})
_CANDIDATE = "m.key, m.path, m.position, m.session, m.body, m.context, m.names"
_VISIBLE = (
    "m.status = 'active' AND m.scope IN ('global', ?, ?)"
    " AND m.valid_from <= ? AND (m.valid_to = '' OR m.valid_to > ?)"
)


class SqliteIndex:
    """Search structure in one SQLite file (WAL), shared by processes and threads.

    Args:
        path: The database file, or None to keep the index in memory.

    Raises:
        StoreUnavailableError: If the file cannot be opened or rebuilt.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._counts: dict[str, TermCounts] = {}
        self._counts_version = -1
        self._size = 0
        self._connection = self._open()

    # -- life ----------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except (sqlite3.Error, OSError) as error:
            if self._is_read_only():
                # A palace that cannot be written can still be read: its index lives in memory.
                self.path = None
            elif isinstance(error, OSError) or _is_refusal(error):
                raise self._cannot_open(error) from error
            else:
                # Damaged or from another version: it is derived, so it is made anew.
                self._delete_files()
        try:
            return self._connect()
        except (sqlite3.Error, OSError) as error:
            raise self._cannot_open(error) from error

    def _is_read_only(self) -> bool:
        if self.path is None:
            return False
        present = next((p for p in (self.path, *self.path.parents) if p.exists()), None)
        return present is not None and not os.access(present, os.W_OK)

    def _cannot_open(self, error: Exception) -> StoreUnavailableError:
        return StoreUnavailableError(
            f"the index {self.path} cannot be opened: {error}",
            hint="check the permissions and the free space of the palace's .palace folder",
        )

    def _connect(self) -> sqlite3.Connection:
        if self.path is not None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self.path.exists():
                self.path.touch(mode=0o600)
        connection = sqlite3.connect(
            self.path or ":memory:", check_same_thread=False, isolation_level=None
        )
        with ExitStack() as undo:
            undo.callback(connection.close)
            self._prepare(connection)
            undo.pop_all()
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
        _switch_to_wal(connection)
        # Losing the last transactions in a power cut only means reading some files again.
        connection.execute("PRAGMA synchronous = NORMAL")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == SCHEMA_VERSION:
            self._refuse_damage(connection)
            return
        if version != 0:
            raise sqlite3.DatabaseError(f"index schema {version}, expected {SCHEMA_VERSION}")
        connection.execute("BEGIN EXCLUSIVE")
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in _SCHEMA.strip().split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")

    def _refuse_damage(self, connection: sqlite3.Connection) -> None:
        """Raise if the file cannot be ours: tables missing, or cut in the middle of a page."""
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        missing = _TABLES - {name for (name,) in rows}
        page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
        if missing or (self.path is not None and self.path.stat().st_size % page_bytes):
            raise sqlite3.DatabaseError("the index is incomplete")

    def _delete_files(self) -> None:
        if self.path is None:
            return
        try:
            for suffix in ("", "-wal", "-shm", "-journal"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise self._cannot_open(error) from error

    def close(self) -> None:
        """Close the connection; the index can be opened again by a new object."""
        with self._lock:
            self._connection.close()

    def clear(self) -> None:
        """Throw everything away and start empty; other processes see it at once."""
        with self._lock:
            self._counts_version = -1
            try:
                with self._transaction() as connection:
                    connection.execute("INSERT INTO fts (fts) VALUES ('delete-all')")
                    connection.execute("DELETE FROM memories")
                    connection.execute("DELETE FROM files")
            except StoreUnavailableError:
                # Too damaged to be emptied: then the file itself has to go.
                self._connection.close()
                self._delete_files()
                self._connection = self._open()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            connection = self._connection
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise _translated(error) from error
            finally:
                _rollback(connection)  # does nothing after a commit

    def _rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._connection.execute(sql, arguments).fetchall()
            except sqlite3.Error as error:
                raise _translated(error) from error

    # -- writing -------------------------------------------------------------------------------

    def stamps(self) -> dict[str, tuple[FileStamp, bool]]:
        """Return path -> (stamp, racy) of every indexed file.

        A racy file was written so shortly before it was read that its time stamp proves nothing.
        """
        rows = self._rows("SELECT path, size, mtime_ns, indexed_ns FROM files")
        return {
            path: (FileStamp(path, size, mtime), mtime > indexed - _RACY_NS)
            for path, size, mtime, indexed in rows
        }

    def digests(self) -> dict[str, str]:
        """Return path -> content digest of every indexed file."""
        return dict(self._rows("SELECT path, digest FROM files"))

    def apply(
        self,
        documents: Iterable[tuple[Document, FileStamp]],
        *,
        layer: LayerName = "L1",
        removed: Iterable[str] = (),
    ) -> int:
        """Replace these files' memories and forget removed files, in one transaction.

        Returns:
            How many memories were written.
        """
        written = 0
        with self._transaction() as connection:
            for path in removed:
                self._forget(connection, path)
            for document, stamp in documents:
                self._forget(connection, document.path)
                written += self._write(connection, document, layer)
                connection.execute(
                    "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)",
                    (document.path, stamp.size, stamp.mtime_ns, time.time_ns(), document.digest),
                )
        return written

    def touch(self, stamps: Iterable[FileStamp]) -> None:
        """Note new stamps of files whose content did not change."""
        with self._transaction() as connection:
            connection.executemany(
                "UPDATE files SET size = ?, mtime_ns = ?, indexed_ns = ? WHERE path = ?",
                [(s.size, s.mtime_ns, time.time_ns(), s.path) for s in stamps],
            )

    def _forget(self, connection: sqlite3.Connection, path: str) -> None:
        connection.execute(
            "INSERT INTO fts (fts, rowid, body, context, names)"
            " SELECT 'delete', key, body, context, names FROM memories WHERE path = ?",
            (path,),
        )
        connection.execute("DELETE FROM memories WHERE path = ?", (path,))
        connection.execute("DELETE FROM files WHERE path = ?", (path,))

    def _write(self, connection: sqlite3.Connection, document: Document, layer: LayerName) -> int:
        for memory in document.memories:
            body, context, names = memory_tokens(memory, document.tags)
            key = connection.execute(
                "INSERT INTO memories (id, path, position, layer, room, status, scope, session,"
                " valid_from, valid_to, data, body, context, names, passage)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    memory.id,
                    memory.path,
                    memory.position,
                    layer,
                    memory.room,
                    memory.status,
                    memory.scope,
                    memory.session,
                    _moment(memory.valid_from),
                    _moment(memory.valid_to),
                    encode_memory(memory),
                    body,
                    context,
                    names,
                    passage_digest(passage_of(memory)),
                ),
            ).lastrowid
            connection.execute(
                "INSERT INTO fts (rowid, body, context, names) VALUES (?, ?, ?, ?)",
                (key, body, context, names),
            )
        return len(document.memories)

    # -- reading -------------------------------------------------------------------------------

    def candidates(
        self, terms: Sequence[str], *, layer: LayerName, scope: Scope, limit: int
    ) -> list[Candidate]:
        """Return active, visible memories holding any of the terms, best BM25 first.

        Source: Okapi BM25 as FTS5 computes it (k1 = 1.2, b = 0.75); context counts half.
        """
        match = _match_expression(terms)
        if not match or limit < 1:
            return []
        rows = self._rows(
            f"SELECT {_CANDIDATE},"
            " bm25(fts, 1.0, 0.5, 0.0) AS score"
            " FROM fts JOIN memories m ON m.key = fts.rowid"
            f" WHERE fts MATCH ? AND m.layer = ? AND {_VISIBLE}"
            " ORDER BY score, m.key LIMIT ?",
            (match, layer, *_scope_arguments(scope), limit),
        )
        return [_candidate(row[:7], bm25=-row[7]) for row in rows]

    def candidates_by_key(self, keys: Sequence[int]) -> list[Candidate]:
        """Return the candidates of these keys, in the order asked; vanished ones are left out."""
        marks = ", ".join("?" * len(keys))
        rows = self._rows(
            f"SELECT {_CANDIDATE} FROM memories m WHERE m.key IN ({marks})",
            keys,
        )
        by_key = {row[0]: _candidate(row) for row in rows}
        return [by_key[key] for key in keys if key in by_key]

    def neighbours(
        self, candidates: Sequence[Candidate], *, distance: int, scope: Scope
    ) -> dict[int, list[Candidate]]:
        """Return, by candidate key, what stands within `distance` memories in the same file."""
        if distance < 1:
            return {c.key: [] for c in candidates}
        places = self._places(candidates, distance=distance, scope=scope)
        return {
            c.key: [
                found
                for offset in range(-distance, distance + 1)
                if offset and (found := places.get((c.path, c.session, c.position + offset)))
            ]
            for c in candidates
        }

    def _places(
        self, candidates: Sequence[Candidate], *, distance: int, scope: Scope
    ) -> dict[tuple[str, str, int], Candidate]:
        """Return what stands at or around these candidates, one query a file."""
        wanted: dict[str, set[int]] = {}
        for c in candidates:
            near = range(c.position - distance, c.position + distance + 1)
            wanted.setdefault(c.path, set()).update(near)
        places: dict[tuple[str, str, int], Candidate] = {}
        for path, positions in wanted.items():
            marks = ", ".join("?" * len(positions))
            rows = self._rows(
                f"SELECT {_CANDIDATE} FROM memories m"
                f" WHERE m.path = ? AND m.position IN ({marks}) AND {_VISIBLE}",
                (path, *sorted(positions), *_scope_arguments(scope)),
            )
            places.update(((row[1], row[3], row[2]), _candidate(row)) for row in rows)
        return places

    def load(self, keys: Sequence[int]) -> list[Memory]:
        """Return the memories of these keys, in the order asked; vanished ones are left out."""
        if not keys:
            return []
        marks = ", ".join("?" * len(keys))
        rows = self._rows(f"SELECT key, data FROM memories WHERE key IN ({marks})", keys)
        by_key = {key: decode_memory(data) for key, data in rows}
        return [by_key[key] for key in keys if key in by_key]

    def get(self, memory_id: str) -> Memory | None:
        """Return one memory by id, active or not; a unique prefix of 8 characters is enough."""
        memory_id = _sayable(memory_id)
        rows = self._rows("SELECT data FROM memories WHERE id = ? LIMIT 1", (memory_id,))
        if not rows and len(memory_id) >= 8:
            rows = self._rows(
                "SELECT data FROM memories WHERE id >= ? AND id < ? LIMIT 2",
                (memory_id, memory_id + "\U0010ffff"),
            )
        return decode_memory(rows[0][0]) if len(rows) == 1 else None

    def memories(
        self, *, room: str | None = None, path: str | None = None, layer: LayerName = "L1"
    ) -> Iterator[Memory]:
        """Yield memories in file order, inactive ones included."""
        conditions, arguments = ["layer = ?"], [str(layer)]
        if room is not None:
            conditions.append("room = ?")
            arguments.append(room)
        if path is not None:
            conditions.append("path = ?")
            arguments.append(path)
        rows = self._rows(
            f"SELECT data FROM memories WHERE {' AND '.join(conditions)} ORDER BY path, position",
            arguments,
        )
        return (decode_memory(data) for (data,) in rows)

    def rooms(self) -> dict[str, int]:
        """Return room -> number of active memories (timeline included)."""
        return dict(
            self._rows(
                "SELECT room, count(*) FROM memories WHERE status = 'active' AND layer = 'L1'"
                " GROUP BY room ORDER BY room"
            )
        )

    def epoch(self) -> str:
        """Return a word that changes when the database is made anew, and keys begin again."""
        return str(self._rows("SELECT value FROM meta WHERE key = 'epoch'")[0][0])

    def version(self) -> int:
        """Return a number that changes whenever any process changed the database."""
        with self._lock:
            version = self._rows("PRAGMA data_version")[0][0]
            return hash((version, self._connection.total_changes))

    def passages(self, *, after: int = 0) -> list[tuple[int, str, str, str, bytes]]:
        """Return (key, path, layer, scope, passage digest) of active memories, by key.

        Args:
            after: Only keys above this one. Keys are never used twice, and a file that changes
                gets new ones for all its memories.
        """
        return self._rows(
            "SELECT key, path, layer, scope, passage FROM memories"
            " WHERE key > ? AND status = 'active' ORDER BY key",
            (after,),
        )

    def visible(self, keys: Sequence[int], *, layer: LayerName, scope: Scope) -> set[int]:
        """Return those keys whose memories a search of this layer and scope may find."""
        marks = ", ".join("?" * len(keys))
        rows = self._rows(
            f"SELECT m.key FROM memories m WHERE m.key IN ({marks}) AND m.layer = ? AND {_VISIBLE}",
            (*keys, layer, *_scope_arguments(scope)),
        )
        return {key for (key,) in rows}

    def size(self) -> int:
        """Return the number of memories that count for term weights."""
        self._refresh_counts()
        return self._size

    def counts(self, terms: Iterable[str]) -> Mapping[str, TermCounts]:
        """Return how many memories hold each term; absent terms have zeros."""
        with self._lock:
            self._refresh_counts()
            return {term: self._count(term) for term in terms}

    def _count(self, term: str) -> TermCounts:
        known = self._counts.get(term)
        if known is None:
            rows = self._rows("SELECT col, doc FROM vocabulary WHERE term = ?", (_sayable(term),))
            by_column = dict(rows)
            known = self._counts[term] = TermCounts(
                any=max(by_column.get("body", 0), by_column.get("context", 0)),
                name=by_column.get("names", 0),
            )
        return known

    def _refresh_counts(self) -> None:
        """Drop remembered counts when any process changed the database."""
        with self._lock:
            stamp = self.version()
            if stamp != self._counts_version:
                self._counts.clear()
                self._size = self._rows("SELECT count(*) FROM memories WHERE status = 'active'")[0][
                    0
                ]
                self._counts_version = stamp

    def check(self) -> str | None:
        """Return what SQLite finds wrong with the file, or None."""
        try:
            result = self._rows("PRAGMA quick_check(1)")[0][0]
            self._rows("INSERT INTO fts (fts, rank) VALUES ('integrity-check', 1)")
        except StoreUnavailableError as error:
            return error.message
        return None if result == "ok" else str(result)


def memory_tokens(memory: Memory, drawer_tags: Sequence[str] = ()) -> tuple[str, str, str]:
    """Return (body, context, names): the space-joined index tokens of one memory."""
    place = [
        memory.speaker,
        memory.heading,
        memory.title,
        memory.drawer.replace("-", " "),
        memory.room.replace("/", " "),
        " ".join((*memory.tags, *drawer_tags, *memory.triggers)),
    ]
    if memory.created is not None and memory.room == "timeline":
        place.append(f"{memory.created:%Y-%m-%d}")
    context = tokens("\n".join(part for part in place if part))
    names = dict.fromkeys((*name_tokens(memory.text), *tokens(memory.speaker)))
    return " ".join(tokens(memory.text)), " ".join(context), " ".join(names)


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Switch the journal mode; SQLite itself does not wait while another does the same."""
    deadline = time.monotonic() + _BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)
        else:
            return


def _candidate(row: Sequence[Any], *, bm25: float = 0.0) -> Candidate:
    key, path, position, session, body, context, names = row
    return Candidate(
        key=key,
        path=path,
        position=position,
        session=session,
        body=tuple(body.split()),
        context=tuple(context.split()),
        names=frozenset(names.split()),
        bm25=bm25,
    )


def _match_expression(terms: Sequence[str]) -> str:
    asked = (_sayable(term) for term in terms[:_MAX_QUERY_TERMS])
    quoted = ['"' + term.replace('"', '""') + '"' for term in asked if term.strip()]
    return "{body context} : (" + " OR ".join(quoted) + ")" if quoted else ""


def _scope_arguments(scope: Scope) -> tuple[str, str, str, str]:
    return (
        _sayable(f"session:{scope.session_id}") if scope.session_id else "",
        _sayable(f"project:{scope.project}") if scope.project else "",
        now := utc_now().isoformat(),
        now,
    )


def _moment(when: datetime | None) -> str:
    """Return a moment in UTC, so that texts compare as the moments do; "" for none."""
    return when.astimezone(timezone.utc).isoformat(timespec="seconds") if when else ""


def _sayable(text: str) -> str:
    """Return text that SQLite can take: lone surrogates name nothing that was ever stored."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _is_refusal(error: sqlite3.Error) -> bool:
    """Whether the system refused, rather than the file being damaged or not ours."""
    said = str(error)
    return any(word in said for word in ("locked", "busy", "unable to open", "readonly", "full"))


def _rollback(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):  # a closed connection has nothing to roll back
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _translated(error: sqlite3.Error) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"the index failed: {error}",
        hint="run `palace reindex`; the index is derived and loses nothing by it",
    )
