"""The index's SQLite file: opening, repairing, transactions; nothing about what is in it.

In: a path and the schema it must have. Out: rows and transactions, and errors of ours only.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palace.errors import StoreUnavailableError

_BUSY_TIMEOUT_MS = 10_000
_RETRY_S = 0.01
_CACHE_KIB = 64 * 1024


@dataclass(frozen=True, slots=True)
class Schema:
    """What a database must look like.

    Attributes:
        version: Stands in the file; another one means another program's or time's file.
        statements: Make everything, separated by `;` and a line break.
        tables: Names of all tables it makes.
    """

    version: int
    statements: str
    tables: frozenset[str]


class IndexDatabase:
    """One SQLite file in WAL mode, shared by processes and threads; remade when it is not ours.

    Args:
        path: The database file, or None to keep everything in memory.
        schema: What it must hold.

    Raises:
        StoreUnavailableError: If the file cannot be opened or remade.
    """

    def __init__(self, path: Path | None, schema: Schema) -> None:
        self.path = path
        self._schema = schema
        self._lock = threading.RLock()
        self._connection = self._open()

    # -- use -----------------------------------------------------------------------------------

    def rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query.

        Raises:
            StoreUnavailableError: If SQLite refuses.
        """
        with self._lock:
            try:
                return self._connection.execute(sql, arguments).fetchall()
            except sqlite3.Error as error:
                raise _translated(error) from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection inside a write transaction: all of it happens, or nothing.

        Raises:
            StoreUnavailableError: If SQLite refuses.
        """
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

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other threads out for more than one query."""
        with self._lock:
            yield

    def state(self) -> tuple[int, int]:
        """Return what differs after any write of this or another process."""
        with self._lock:
            version: int = self.rows("PRAGMA data_version")[0][0]
            return version, self._connection.total_changes

    def check(self) -> str | None:
        """Return what SQLite finds wrong with the file, or None."""
        try:
            result = self.rows("PRAGMA quick_check(1)")[0][0]
        except StoreUnavailableError as error:
            return error.message
        return None if result == "ok" else str(result)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()

    def remake(self) -> None:
        """Throw the file away and start with an empty one."""
        with self._lock:
            self._connection.close()
            self._delete_files()
            self._connection = self._open()

    # -- opening -------------------------------------------------------------------------------

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
            self.path or ":memory:",
            check_same_thread=False,
            isolation_level=None,
            cached_statements=256,
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
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == self._schema.version:
            self._refuse_damage(connection)
            return
        if version != 0:
            raise sqlite3.DatabaseError(f"index schema {version}, not {self._schema.version}")
        connection.execute("BEGIN EXCLUSIVE")
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in self._schema.statements.strip().split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self._schema.version}")
        connection.execute("COMMIT")

    def _refuse_damage(self, connection: sqlite3.Connection) -> None:
        """Raise if the file cannot be ours: tables missing, or cut in the middle of a page."""
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        missing = self._schema.tables - {name for (name,) in rows}
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
