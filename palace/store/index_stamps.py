"""When the indexed files were last seen: what a look at the disk is compared with.

In: what is written to the table `files`. Out: a stamp for every file, and whether it proves
anything. Of thousands of files only those are read again that other processes may have written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from palace.store.index_database import IndexDatabase, State
from palace.types.memory import FileStamp

# A file changed within this time before it was read may change again under the same mtime; where
# a disk keeps whole seconds alone, within two, because FAT keeps every second one.
_RACY_NS, _RACY_IN_SECONDS_NS = 50_000_000, 2_000_000_000
# Clocks of other computers may be ahead; what is of another day was not written just now.
_AHEAD_NS = 86_400_000_000_000

Stamped = dict[str, "tuple[FileStamp, int] | None"]
"""Path -> stamp and when it was indexed, in nanoseconds; None for a file that was forgotten."""


class StampTable:
    """The stamps in the table `files` of an index."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        self._stamps: dict[str, tuple[FileStamp, bool]] = {}
        self._as_of: State | None = None

    def all(self) -> Mapping[str, tuple[FileStamp, bool]]:
        """Return path -> (stamp, racy) of every indexed file.

        A racy file was written so shortly before it was read that its time stamp proves nothing.
        """
        with self._database.held():
            state = self._database.state()
            if state != self._as_of:
                rows = self._database.rows(
                    "SELECT path, size, mtime_ns, changed_ns, indexed_ns FROM files"
                )
                self._stamps = {r[0]: (FileStamp(*r[:4]), is_racy(r[2], r[4])) for r in rows}
                self._as_of = state
            return self._stamps

    @contextmanager
    def transaction(self, *, wait: bool) -> Iterator[tuple[sqlite3.Connection, Stamped]]:
        """Lend a transaction, and a mapping to note in which files it wrote.

        Raises:
            IndexBusyError: If another program is writing and `wait` is False.
            StoreUnavailableError: If SQLite refuses.
        """
        stamped: Stamped = {}
        with self._database.held():
            with self._database.transaction(wait=wait) as connection:
                before = self._database.state()
                yield connection, stamped
            if before == self._as_of:
                self._take(stamped)
                # Our own changes grow until the commit; whoever writes after it is not passed over.
                self._as_of = (*before[:2], self._database.state()[2])

    def _take(self, stamped: Stamped) -> None:
        for path, written in stamped.items():
            if written is None:
                self._stamps.pop(path, None)
            else:
                stamp, indexed_ns = written
                self._stamps[path] = stamp, is_racy(stamp.mtime_ns, indexed_ns)


def is_racy(mtime_ns: int, read_ns: int) -> bool:
    """Whether a file may have changed since it was read without another mtime."""
    tick = _RACY_NS if mtime_ns % 1_000_000_000 else _RACY_IN_SECONDS_NS
    return -tick < mtime_ns - read_ns < _AHEAD_NS
