"""Vectors that were paid for, kept on disk by model and content.

In: the words a vector was made of, and by which model. Out: the vector, if it is still there.
Derived: a cache that is damaged, full or read-only costs money, never an answer. Nobody can tell
whose words a vector was made of, so an erasure empties it.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from palace.errors import StoreUnavailableError
from palace.ports import Vector

_MAX_BYTES = 268_435_456
_PRUNED_SHARE = 4
_BUSY_TIMEOUT_MS = 2000


class VectorCache:
    """A small database of vectors; the oldest go when it is full. Only `scrub` raises.

    Args:
        path: The file; its folder is made if needed. None keeps nothing.
        max_bytes: Most bytes of vectors, >= 1.
    """

    def __init__(self, path: Path | None, *, max_bytes: int = _MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get(self, model: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors that are known, by text."""
        found: dict[str, Vector] = {}
        with self._used() as connection:
            if connection is None:
                return found
            for text in texts:
                row = connection.execute(
                    "SELECT vector FROM vectors WHERE key = ?", (_key(model, text),)
                ).fetchone()
                if row is not None:
                    found[text] = row[0]
        return found

    def scrubs(self) -> int:
        """Return how often it was scrubbed, 0 where nothing is kept."""
        with self._used() as connection:
            return _scrubs(connection) if connection is not None else 0
        return 0

    def put(self, model: str, vectors: Mapping[str, Vector], *, scrubs: int | None = None) -> None:
        """Keep vectors by the text they were made of.

        Args:
            model: Which model made them.
            vectors: Text -> vector.
            scrubs: As `scrubs()` was before they were asked for: after a scrub they are not kept,
                because it may have been meant for one of them.
        """
        with self._used() as connection:
            if connection is None or not vectors:
                return
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                if scrubs not in (None, _scrubs(connection)):
                    return
                connection.executemany(
                    "INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)",
                    [(_key(model, text), vector) for text, vector in vectors.items()],
                )
                self._prune(connection, len(next(iter(vectors.values()))))

    def clear(self) -> None:
        """Forget all vectors, so that the next ones are asked for anew."""
        if self._path is not None and self._path.exists():
            with self._used() as connection:
                if connection is not None:
                    with connection:
                        connection.execute("DELETE FROM vectors")

    def scrub(self) -> None:
        """Forget all vectors and leave no trace of them on the disk.

        Raises:
            StoreUnavailableError: If another program uses the cache all the time.
        """
        if self._path is None or not self._path.exists():
            return
        try:
            with self._lock, closing(_connect(self._path)) as connection:
                connection.execute("PRAGMA secure_delete = ON")
                with connection:
                    connection.execute("DELETE FROM vectors")
                    connection.execute(f"PRAGMA user_version = {_scrubs(connection) + 1}")
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except (sqlite3.Error, OSError) as error:
            raise _still_there(str(error)) from error
        if busy:
            raise _still_there("another program is reading it")

    def close(self) -> None:
        """Close the database; it opens again when it is needed."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _used(self) -> Iterator[sqlite3.Connection | None]:
        """Lend the database, None if there is none; what fails meanwhile costs only money."""
        with self._lock:
            connection = None
            with self._costing_money():
                connection = self._opened()
            with self._costing_money():
                yield connection

    @contextmanager
    def _costing_money(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if type(error) is sqlite3.DatabaseError:  # damaged, which no later call repairs
                self._drop()

    def _opened(self) -> sqlite3.Connection | None:
        if self._path is None:
            return None
        if self._connection is not None and not self._path.exists():  # deleted while open
            self._connection.close()
            self._connection = None
        if self._connection is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._connection = _connect(self._path)
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        with suppress(OSError):
            assert self._path is not None
            self._path.unlink(missing_ok=True)

    def _prune(self, connection: sqlite3.Connection, vector_bytes: int) -> None:
        most = max(self._max_bytes // max(vector_bytes, 1), 1)
        count, newest = connection.execute(
            "SELECT count(*), coalesce(max(number), 0) FROM vectors"
        ).fetchone()
        if count > most:
            kept = most - most // _PRUNED_SHARE
            connection.execute("DELETE FROM vectors WHERE number <= ?", (newest - kept,))


def _scrubs(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _still_there(why: str) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"the vectors of what was removed may still be kept: {why}",
        hint="close the other programs that use this palace and delete its folder .palace;"
        " it is made anew from the files",
    )


def _connect(path: Path) -> sqlite3.Connection:
    path.touch(mode=0o600)
    connection = sqlite3.connect(path, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA journal_mode = WAL")
        # Losing the last vectors in a power cut only means asking for them again.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY AUTOINCREMENT,"
            " key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)"
        )
    except BaseException:
        connection.close()
        raise
    return connection


def _key(model: str, text: str) -> bytes:
    return hashlib.sha256(f"{model}\0{text}".encode("utf-8", "replace")).digest()
