"""The index's SQLite file: opening, repairing, transactions; nothing about what is in it.

In: a path. Out: rows and transactions, and errors of ours only.
"""

from __future__ import annotations

import errno
import logging
import secrets as _random
import shutil
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from palace.errors import StoreUnavailableError
from palace.store.files import is_writable
from palace.store.index_schema import CREATED, SCHEMA_VERSION, STATEMENTS
from palace.store.index_seal import (
    identity_of,
    opening_or_closing,
    remove_leftovers,
    seal,
    state_of,
)

_BUSY_TIMEOUT_MS = 10_000
_RETRY_S = 0.01
_CACHE_KIB = 64 * 1024
# A write adds some 28 pages to the log. Whoever writes the page that is one too many waits for the
# disk; with SQLite's own 1,000 pages that was one write of 35.
_LOG_PAGES = 4000
_LEAST_FREE_BYTES = 1 << 16
_OF_DAMAGE = (
    "malformed",
    "not a database",
    "disk I/O",
    "no such table",
    "no such column",
    "decode",
    "corrupt",
    "vtable",
)
_log = logging.getLogger(__name__)


class IndexBusyError(StoreUnavailableError):
    """Another program is writing the index, and the caller did not want to wait."""


State = tuple[int, int, int]
"""What differs after any write to a database: which one, its data version, and our own changes."""


class IndexDatabase:
    """One SQLite file in WAL mode, shared by processes and threads; remade when it is not ours.

    Any call may raise `StoreUnavailableError`, where SQLite or the file system refuses.

    Args:
        path: The database file, or None to keep everything in memory.

    Attributes:
        damaged: Whether SQLite met something that only a new file can repair.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._left: Path | None = None
        self._lock = threading.RLock()
        self.damaged = False
        self._closed = False
        self._generation = 0
        self._opened = 0
        self._hold(self._open())

    # -- use -----------------------------------------------------------------------------------

    def rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self._lock:
            try:
                return self._connection.execute(sql, arguments).fetchall()
            except sqlite3.Error as error:
                raise self.failed(error) from error

    @contextmanager
    def transaction(self, *, wait: bool = True) -> Iterator[sqlite3.Connection]:
        """Lend the connection inside a write transaction: all of it happens, or nothing.

        Args:
            wait: Whether to wait for another program that is writing.

        Raises:
            IndexBusyError: If another program is writing and `wait` is False.
        """
        with self._lock:
            connection = self._connection
            try:
                _begin(connection, wait=wait)
                yield connection
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise self.failed(error) from error
            finally:
                roll_back(connection)

    def held(self) -> AbstractContextManager[object]:
        """Keep other threads out for more than one query."""
        return self._lock

    def state(self) -> State:
        """Return what differs after any write of this or another process."""
        with self._lock:
            version: int = self.rows("PRAGMA data_version")[0][0]
            return self._opened, version, self._connection.total_changes

    def check(self, *statements: str) -> str | None:
        """Return what SQLite finds wrong with the file, or None.

        Args:
            statements: Checks of tables, which fail where something is wrong with them.

        Raises:
            StoreUnavailableError: If it cannot be told now, because the system refuses.
        """
        try:
            result = self.rows("PRAGMA quick_check(1)")[0][0]
            if result != "ok":
                return str(result)
            for statement in statements:
                self.rows(statement)
        except StoreUnavailableError as error:
            if is_refused(error):
                raise
            return error.message
        return None

    def close(self) -> None:
        """Close the connection; whoever is the last to close the file seals it."""
        with self._lock:
            self._closed = True
            self._close()

    def leave_full_disk(self, refused: StoreUnavailableError) -> bool:
        """Go on in memory with all that is indexed, if it was a full disk that refused a write.

        What is written from now on is read from the files by who opens the index next.

        Returns:
            Whether the database is in memory now, and what was refused can be tried again.
        """
        cause = refused.__cause__
        with self._lock:
            if not isinstance(cause, Exception) or not self._is_full(cause):
                return False
            if self.path is None:
                return self._left is not None  # another thread was here meanwhile
            memory = self._connection_to(":memory:")
            try:
                self._connection.backup(memory)
            except sqlite3.Error as error:
                memory.close()
                raise self.failed(error) from error
            self._close()
            self._left, self.path = self.path, None
            self._hold(memory)
            _log.warning(
                "the disk is full: %s is kept in memory until it is opened anew", self._left
            )
            return True

    def remove_left(self) -> None:
        """Delete the file that was left on a full disk: it holds what was removed since."""
        self._delete_files(self._left)

    def failed(self, error: Exception) -> StoreUnavailableError:
        """Return the error for a caller, and remember what only a new file can repair."""
        self.damaged = self.damaged or (_is_damage(error) and not self._is_full(error))
        if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
            return _closed()
        what = "free some space" if is_full(error) else "ask again, or run `palace reindex`"
        return StoreUnavailableError(
            f"the index failed: {error}",
            hint=f"{what}; the index is derived and loses nothing by it",
        )

    def is_lost(self) -> bool:
        """Whether the file was deleted or replaced since it was opened."""
        return self._found() != self._identity

    def is_another_generation(self) -> bool:
        """Whether everything was thrown away since this was asked last, by whatever program."""
        with self._lock:
            before = self._generation
            self._generation = self.generation()
            return before != self._generation

    def generation(self) -> int:
        """Return a number that is another one once everything was thrown away."""
        number: int = self.rows("PRAGMA application_id")[0][0]
        return number

    def reopen(self) -> None:
        """Open the file that stands there now, a new one if there is none."""
        with self._lock:
            self._refuse_closed()
            self._let_go()
            self._hold(self._open())

    def _found(self) -> tuple[int, int] | None:
        return identity_of(self.path) if self.path is not None else None

    def remake(self) -> None:
        """Throw the file away and start with an empty one."""
        with self._lock:
            self._refuse_closed()
            self._let_go()
            self._delete_files(self.path)
            self.reopen()
            self.damaged = False

    def _refuse_closed(self) -> None:
        if self._closed:  # nobody would close, and so seal, what is opened again
            raise _closed()

    # -- opening -------------------------------------------------------------------------------

    def _hold(self, connection: sqlite3.Connection) -> None:
        """Take a connection, to be closed also if nobody asks for it: with this, or at the end.

        What is not closed is not sealed, and would be made anew at the next start.
        """
        self._connection, self._identity = connection, self._found()
        self._close = weakref.finalize(self, _close, connection, self.path, self._identity)
        self._close.atexit = self.path is not None

    def _let_go(self) -> None:
        """Close a connection to what is not to be sealed."""
        self._close.detach()
        self._connection.close()

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except (sqlite3.Error, OSError) as error:
            is_taken = isinstance(error, _OtherVersionError)
            if is_taken:
                _log.warning("%s is %s: ours is kept in memory", self.path, error)
            is_read_only = self.path is not None and not is_writable(self.path)
            if is_taken or is_read_only or self._is_full(error):
                # A palace that cannot be written can still be read: its index lives in memory.
                self._left, self.path = self.path, None
                if self._left is not None and (copy := self._copied(self._left)):
                    return copy
            elif isinstance(error, OSError) or is_refusal(error):
                raise self._cannot_open(error) from error
            else:
                # Damaged or from another version: it is derived, so it is made anew.
                self._delete_files(self.path)
        try:
            return self._connect()
        except (sqlite3.Error, OSError) as error:
            raise self._cannot_open(error) from error

    def _is_full(self, error: Exception) -> bool:
        if "disk I/O" not in str(error) or self.path is None:
            return is_full(error)
        # So SQLite says where it finds no room for what it shares with other processes.
        try:
            return shutil.disk_usage(self.path.parent).free < _LEAST_FREE_BYTES
        except OSError:
            return False

    def _cannot_open(self, error: Exception) -> StoreUnavailableError:
        return StoreUnavailableError(
            f"the index {self.path or self._left} cannot be opened: {error}",
            hint="check the permissions and the free space of the palace's .palace folder,"
            " or delete it: it is made anew from the files",
        )

    def _connect(self) -> sqlite3.Connection:
        if self.path is None:
            return self._connected(":memory:", doubtful=False)
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with opening_or_closing(self.path):
            if not self.path.exists():
                remove_leftovers(self.path)
                self.path.touch(mode=0o600)
            is_new = self.path.stat().st_size == 0
            doubtful = not is_new and state_of(self.path) == "doubtful"
            return self._connected(self.path, doubtful=doubtful)

    def _copied(self, path: Path) -> sqlite3.Connection | None:
        """Return in memory what stands in a file that cannot be written; None if it is not whole.

        Made anew from thousands of files it would take every command many seconds.
        """
        try:
            address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
            with closing(sqlite3.connect(address, uri=True)) as left:
                copy = self._connected(":memory:", doubtful=False, holds=left)
            if state_of(path) == "whole":  # asked afterwards: nobody wrote it meanwhile
                return copy
            copy.close()
        except (sqlite3.Error, OSError):
            pass  # another version's, or another user's
        return None

    def _connected(
        self, database: Path | str, *, doubtful: bool, holds: sqlite3.Connection | None = None
    ) -> sqlite3.Connection:
        connection = self._connection_to(database)
        with ExitStack() as undo:
            undo.callback(connection.close)
            if holds is not None:
                holds.backup(connection)
            self._prepare(connection)
            if doubtful:
                raise sqlite3.DatabaseError("the index changed since it was closed")
            self._generation = connection.execute("PRAGMA application_id").fetchone()[0]
            undo.pop_all()
        return connection

    def _connection_to(self, database: Path | str) -> sqlite3.Connection:
        self._opened += 1
        return sqlite3.connect(
            database, check_same_thread=False, isolation_level=None, cached_statements=256
        )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
        _switch_to_wal(connection)
        # Losing the last transactions in a power cut only means reading some files again.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == SCHEMA_VERSION:
            self.refuse_damage(connection)
            return
        if version != 0:
            _refuse_in_use(connection)
            raise sqlite3.DatabaseError(f"index schema {version}, not {SCHEMA_VERSION}")
        connection.execute("BEGIN EXCLUSIVE")
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in STATEMENTS:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")

    def refuse_damage(self, connection: sqlite3.Connection) -> None:
        """Raise if the file cannot be ours: not what we made it, or cut in the middle of a page."""
        missing = CREATED.difference(
            sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master")
        )
        page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
        if missing or (self.path is not None and self.path.stat().st_size % page_bytes):
            raise sqlite3.DatabaseError("the index is incomplete")

    def _delete_files(self, path: Path | None) -> None:
        if path is None:
            return
        try:
            path.unlink(missing_ok=True)
            remove_leftovers(path)
        except OSError as error:
            raise self._cannot_open(error) from error


class _OtherVersionError(sqlite3.DatabaseError):
    """The file is another version's, and in use: who deletes it loses his own to the other."""


def _refuse_in_use(connection: sqlite3.Connection) -> None:
    """Raise if others have the file open: none of them lets it be switched back."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        raise _OtherVersionError("in use by another version") from error


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


def is_refusal(error: sqlite3.Error) -> bool:
    """Whether the system refused, rather than the file being damaged or not ours."""
    said = str(error)
    return any(word in said for word in ("locked", "busy", "unable to open", "readonly", "full"))


def is_refused(error: StoreUnavailableError) -> bool:
    """Whether an error of ours is one of `is_refusal`."""
    return isinstance(error.__cause__, sqlite3.Error) and is_refusal(error.__cause__)


def is_full(error: Exception) -> bool:
    """Whether there is no room left on the disk."""
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return full or "disk is full" in str(error)


def roll_back(connection: sqlite3.Connection) -> None:
    """End a transaction that was not committed; does nothing after a commit."""
    with suppress(sqlite3.Error):  # a closed connection has nothing to roll back
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def begin_generation(connection: sqlite3.Connection) -> None:
    """Tell other programs, inside a transaction, that everything was thrown away."""
    connection.execute(f"PRAGMA application_id = {_random.randbelow(1 << 31)}")


def _begin(connection: sqlite3.Connection, *, wait: bool) -> None:
    """Begin a transaction that writes.

    Raises:
        IndexBusyError: If another program is writing and `wait` is False.
    """
    if wait:
        connection.execute("BEGIN IMMEDIATE")
        return
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        raise IndexBusyError("another program is writing the index") from error
    finally:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")


def _close(
    connection: sqlite3.Connection, path: Path | None, identity: tuple[int, int] | None
) -> None:
    """Close a connection, and seal the file if it is the one that was opened."""
    if path is None or identity_of(path) != identity:
        connection.close()
        return
    with opening_or_closing(path):
        connection.close()
        seal(path)


def _closed() -> StoreUnavailableError:
    return StoreUnavailableError("the palace was closed", hint="open it again to use it")


def _is_damage(error: Exception) -> bool:
    return isinstance(error, sqlite3.DatabaseError) and any(w in str(error) for w in _OF_DAMAGE)
