"""Which turn of a session is its first: only that one carries the wake-up.

In: session ids as turns come. Out: whether to wake up, told once for each session.
"""

from __future__ import annotations

import threading

from palace.ports import Journal
from palace.text import new_id, utc_now

# In records. A session that began before them is woken up once more.
_LOOKED_AT = 2000


class FirstTurns:
    """Remembers which sessions have begun, in this process and in the journal.

    Args:
        journal: Where other processes and earlier runs left their marks; None = only this process.
    """

    def __init__(self, journal: Journal | None) -> None:
        self._journal = journal
        self._begun: set[str] = set()
        self._lock = threading.Lock()

    def begin(self, session_id: str) -> bool:
        """Whether this is the first turn of the session; True at most once for each session."""
        with self._lock:
            if session_id in self._begun:
                return False
            self._begun.add(session_id)
            if self._journal is None:
                return True
            if self._marked(self._journal, session_id):
                return False
            self._journal.append(
                {
                    "id": new_id("w"),
                    "type": "wake_up",
                    "at": utc_now().isoformat(),
                    "session": session_id,
                }
            )
            return True

    def knows(self, session_id: str) -> bool:
        """Whether `begin` was called for the session in this process; reads nothing."""
        return session_id in self._begun

    def _marked(self, journal: Journal, session_id: str) -> bool:
        begun = journal.records(type="wake_up", among=_LOOKED_AT)
        return any(record.get("session") == session_id for record in begun)
