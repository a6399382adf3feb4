"""Vectors at rest: float32 rows in one file, and whose text each of them is in a small database.

In: passage digests and vectors of one embedder. Out: the same, also after a crash and beside other
processes. Derived: it can be deleted at any time, at the price of embedding again.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from palace.errors import EmbedderMismatchError, StoreUnavailableError
from palace.ports import EmbedderIdentity, Vector
from palace.store.files import is_writable
from palace.store.index_database import is_full, is_refusal, roll_back
from palace.store.index_seal import identity_of

_FORMAT = 1
_BUSY_TIMEOUT_MS = 10_000
_FLOAT_BYTES = 4
# Shorter than any digest: what a row of nothing is known by.
_SCRUBBED_BYTES = 8
_DATABASE = "vectors.sqlite"
_BESIDE = "anew"
_SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE rows (row INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE)",
)


class VectorFile:
    """Append-only rows of vectors, keyed by passage digest, shared by processes and threads.

    A row counts once the database says so: its bytes are on disk before. A new start gets a file
    of a new name, so that nobody reads a file that changes under him.

    Args:
        folder: The palace's `.palace` folder. Nothing is opened or made before it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self._opened: sqlite3.Connection | None = None
        self._opened_file: tuple[int, int] | None = None
        self._openings = 0

    # -- life ----------------------------------------------------------------------------------

    @property
    def read_only(self) -> bool:
        """Whether nothing can be added here."""
        return not is_writable(self.folder)

    def held(self) -> AbstractContextManager[object]:
        """Keep other threads out for more than one call."""
        return self._lock

    def _connection(self) -> sqlite3.Connection:
        path = self.folder / _DATABASE
        if self._opened is not None and identity_of(path) != self._opened_file:
            self.close()  # the folder may be deleted at any time
        if self._opened is None:
            try:
                self._opened = self._connect()
            except sqlite3.DatabaseError as error:
                if is_refusal(error) or self.read_only:
                    raise _translated(error) from error
                # Damaged or from another version: it is derived, so it is made anew.
                self._delete()
                self._opened = self._connect()
            except OSError as error:
                raise _translated(error) from error
            self._opened_file = identity_of(path)
            self._openings += 1
        return self._opened

    def _connect(self) -> sqlite3.Connection:
        path = self.folder / _DATABASE
        address: Path | str = path
        if not self.read_only:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            path.touch(mode=0o600)
        else:
            address = f"{path.absolute().as_uri()}?mode=ro" if path.exists() else ":memory:"
        connection = sqlite3.connect(
            address, uri=isinstance(address, str), check_same_thread=False, isolation_level=None
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            connection.execute("BEGIN EXCLUSIVE")
            if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
            connection.execute("COMMIT")
        elif version != _FORMAT:
            raise sqlite3.DatabaseError(f"vectors of format {version}, expected {_FORMAT}")
        self._refuse_damage(connection)

    def _refuse_damage(self, connection: sqlite3.Connection) -> None:
        """Raise if rows are promised that the file does not hold."""
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        count = connection.execute("SELECT coalesce(max(row) + 1, 0) FROM rows").fetchone()[0]
        if not meta:
            if count:
                raise sqlite3.DatabaseError("vectors of nobody knows which model")
            return
        width = _identity_in(meta).dimension * _FLOAT_BYTES
        path = self._file_of(meta["generation"])
        if count and (not path.exists() or path.stat().st_size < count * width):
            raise sqlite3.DatabaseError("the file of vectors is shorter than it should be")

    def _delete(self) -> None:
        self.close()
        try:
            for path in (*self.folder.glob("vectors-*"), *self.folder.glob(f"{_DATABASE}*")):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailableError(
                f"the damaged vectors cannot be removed: {error}",
                hint="check the permissions of the palace's .palace folder",
            ) from error

    def _close_if_damaged(self, error: Exception) -> None:
        """Let the next call open the database, which finds the damage and begins anew."""
        if type(error) is sqlite3.DatabaseError:
            self.close()

    def close(self) -> None:
        """Close the database; it opens again when it is needed."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    # -- reading -------------------------------------------------------------------------------

    def identity(self) -> EmbedderIdentity | None:
        """Return whose vectors these are, None where there are none."""
        meta = self._meta()
        return _identity_in(meta) if meta else None

    def generation(self) -> tuple[str, str]:
        """Return what changes with every start and scrub; what was read of rows holds within it."""
        meta = self._meta()
        return meta.get("generation", ""), meta.get("scrubbed", "")

    def path(self) -> Path:
        """Return the file that holds the rows, one after the other."""
        return self._file_of(self.generation()[0])

    def rows(self, *, after: int = -1) -> list[tuple[int, bytes]]:
        """Return (row, digest) of the rows above a row, in order; rows are counted from 0."""
        return self._read("SELECT row, digest FROM rows WHERE row > ? ORDER BY row", (after,))

    def version(self) -> int:
        """Return a number that changes whenever any process changed the database."""
        with self._lock:
            changes = self._connection().total_changes
            return hash((self._openings, self._read("PRAGMA data_version")[0][0], changes))

    def _meta(self) -> dict[str, str]:
        return dict(self._read("SELECT key, value FROM meta"))

    def _read(self, sql: str, arguments: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        with self._lock:
            try:
                return self._connection().execute(sql, arguments).fetchall()
            except (sqlite3.Error, OSError) as error:
                self._close_if_damaged(error)
                raise _translated(error) from error

    def _file_of(self, generation: str) -> Path:
        return self.folder / f"vectors-{generation}.f32"

    # -- writing -------------------------------------------------------------------------------

    def require(self, identity: EmbedderIdentity) -> None:
        """Make sure that vectors of this embedder may be added and compared.

        Raises:
            EmbedderMismatchError: If the stored ones come from another one.
        """
        stored = self.identity()
        if stored is None and not self.read_only:
            stored = self._start(identity, anew=False)
        if stored is not None and stored != identity:
            raise EmbedderMismatchError(
                f"the stored vectors come from {stored}, the settings name {identity}",
                hint="`palace embed --rebuild` embeds everything again; until then words answer",
            )

    def start(self, identity: EmbedderIdentity) -> None:
        """Begin anew with this embedder, in a file of its own; the vectors so far are dropped."""
        self._start(identity, anew=True)

    def _start(self, identity: EmbedderIdentity, *, anew: bool) -> EmbedderIdentity:
        """Begin, or unless `anew` leave what somebody else began; return whose vectors they are."""
        generation = secrets.token_hex(8)
        meta = {
            "name": identity.name,
            "revision": identity.revision,
            "dimension": str(identity.dimension),
            "generation": generation,
        }
        with self._transaction() as connection:
            begun = dict(connection.execute("SELECT key, value FROM meta"))
            if begun and not anew:
                return _identity_in(begun)
            old = list(self.folder.glob("vectors-*"))
            self._file_of(generation).touch(mode=0o600)
            _put(connection, meta, ())
        _remove(old)
        return identity

    def beside(self) -> VectorFile:
        """Return the file in which a rebuild is made, beside this one that is still read."""
        return VectorFile(self.folder / _BESIDE)

    def adopt(self, made: VectorFile) -> None:
        """Put what was made beside in the place of these vectors, in one step."""
        meta, rows = made._meta(), made.rows()
        made.close()
        with self._transaction() as connection:
            old = list(self.folder.glob("vectors-*"))
            for path in made.folder.glob(f"vectors-{meta['generation']}.*"):  # a graph too
                path.replace(self.folder / path.name)
            _put(connection, meta, rows)
        _remove(old)
        shutil.rmtree(made.folder, ignore_errors=True)

    def add(
        self,
        vectors: Sequence[tuple[bytes, Vector]],
        *,
        identity: EmbedderIdentity,
        kept: Callable[[], Container[bytes]] | None = None,
    ) -> int:
        """Append vectors by their passage digests; those that are there already are left out.

        Args:
            vectors: (digest, vector) of each passage.
            identity: Whose vectors they are.
            kept: Returns the digests that memories have now; the others are left out. It is asked
                while no scrub can run, so that nothing that was erased meanwhile comes after it.

        Returns:
            How many rows were added.

        Raises:
            EmbedderMismatchError: If somebody began anew with another embedder meanwhile.
        """
        self.require(identity)
        with self._transaction() as connection:
            meta = dict(connection.execute("SELECT key, value FROM meta"))
            if not meta or _identity_in(meta) != identity:
                raise EmbedderMismatchError(
                    "another process began anew with another embedder",
                    hint="use one embedder for one palace",
                )
            present = connection.execute("SELECT coalesce(max(row) + 1, 0) FROM rows").fetchone()[0]
            there = kept() if kept is not None else {digest for digest, _ in vectors}
            has = "SELECT 1 FROM rows WHERE digest = ?"
            new = {
                digest: vector
                for digest, vector in vectors
                if digest in there and connection.execute(has, (digest,)).fetchone() is None
            }
            width = identity.dimension * _FLOAT_BYTES
            self._write(meta["generation"], [(present, b"".join(new.values()))], width=width)
            connection.executemany(
                "INSERT INTO rows VALUES (?, ?)", list(enumerate(new, start=present))
            )
        return len(new)

    def scrub(self, kept: Set[bytes]) -> int:
        """Overwrite the vectors of passages that no memory has any more; return how many.

        Their rows stay, as rows of nothing, so that all others keep their numbers.
        """
        if not (self.folder / _DATABASE).exists():
            return 0
        with self._transaction() as connection:
            connection.execute("PRAGMA secure_delete = ON")
            meta = dict(connection.execute("SELECT key, value FROM meta"))
            rows = connection.execute("SELECT row, digest FROM rows").fetchall() if meta else []
            gone = [r for r, d in rows if d not in kept and len(d) != _SCRUBBED_BYTES]
            if gone:
                for graph in self.folder.glob("vectors-*.usearch*"):  # it holds them as well
                    graph.unlink(missing_ok=True)
                scrubbed = ("scrubbed", secrets.token_hex(8))
                connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", scrubbed)
                width = _identity_in(meta).dimension * _FLOAT_BYTES
                self._write(meta["generation"], ((row, bytes(width)) for row in gone), width=width)
                connection.executemany(
                    "UPDATE rows SET digest = randomblob(?) WHERE row = ?",
                    [(_SCRUBBED_BYTES, row) for row in gone],
                )
        return len(gone)

    def _write(self, generation: str, rows: Iterable[tuple[int, bytes]], *, width: int) -> None:
        """Write (row, bytes from there on), each row of so many bytes, and sync once."""
        # What a killed writer left behind the last row is written over.
        with self._file_of(generation).open("r+b") as file:
            for row, content in rows:
                file.seek(row * width)
                file.write(content)
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            connection = self._connection()
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except (sqlite3.Error, OSError) as error:
                self._close_if_damaged(error)
                raise _translated(error) from error
            finally:
                roll_back(connection)


def _put(
    connection: sqlite3.Connection, meta: dict[str, str], rows: Sequence[tuple[int, bytes]]
) -> None:
    connection.execute("DELETE FROM rows")
    connection.execute("DELETE FROM meta")
    connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    connection.executemany("INSERT INTO rows VALUES (?, ?)", rows)


def _remove(paths: Sequence[Path]) -> None:
    for path in paths:
        with suppress(OSError):  # where somebody still reads it, a later start removes it
            path.unlink()


def _identity_in(meta: dict[str, str]) -> EmbedderIdentity:
    try:
        return EmbedderIdentity(meta["name"], meta["revision"], int(meta["dimension"]))
    except (KeyError, ValueError) as error:
        raise sqlite3.DatabaseError("the identity of the vectors is damaged") from error


def _translated(error: sqlite3.Error | OSError) -> StoreUnavailableError:
    what = "`palace embed --rebuild` makes them anew"
    if is_full(error):
        what = "free some space"
    elif isinstance(error, OSError) or is_refusal(error):  # the vectors themselves are whole
        what = "check the palace's .palace folder and try again"
    return StoreUnavailableError(
        f"the vectors cannot be used: {error}", hint=f"{what}; until then words answer"
    )
