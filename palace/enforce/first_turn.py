"""Which turn of a session is its first: only that one carries the wake-up.

In: session ids as turns come, and wake-ups whose call failed. Out: whether to wake up, told once
for each session.
"""

from __future__ import annotations

import threading

from palace.kept import Kept
from palace.ports import Journal
from palace.text import new_id, utc_now

# In records. A session that began before them is woken up once more.
_LOOKED_AT = 2000
# Sessions known without the journal: one is dropped when so many others had a turn since its last.
_KEPT_BEGUN = 20_000
# Wake-ups whose call failed that may wait for a later one at the same time.
_KEPT_LEFT = 512


class FirstTurns:
    """Remembers which sessions have begun, in this process and in the journal.

    Every look at a session renews it, and of those that nobody looked at for longest the process
    forgets what is beyond 20,000. So a server that runs for months stays small, and only a session
    that so many others have overtaken could be told its wake-up again, where the journal no longer
    shows its mark among the latest records.

    Args:
        journal: Where other processes and earlier runs left their marks; None = only this process.
    """

    def __init__(self, journal: Journal | None) -> None:
        self._journal = journal
        self._begun: Kept[str, bool] = Kept(_KEPT_BEGUN)
        self._left: Kept[tuple[str, str | None], str] = Kept(_KEPT_LEFT)
        self._lock = threading.Lock()

    def begin(self, session_id: str) -> bool:
        """Whether this is the first turn of the session; True at most once for each session."""
        with self._lock:
            if self.knows(session_id):
                return False
            is_first = self._journal is None or self._mark(self._journal, session_id)
            self._begun.put(session_id, True)  # not where the journal fails: a later turn asks
            return is_first

    def knows(self, session_id: str) -> bool:
        """Whether `begin` was called for the session in this process; reads nothing."""
        known = self._begun.get(session_id) is not None
        if known:
            self._begun.put(session_id, True)
        return known

    def leave(self, session_id: str, project: str | None, text: str) -> None:
        """Keep a wake-up that nobody was told for a later turn of the session."""
        self._left.put((session_id, project), text)

    def take(self, session_id: str, project: str | None) -> str:
        """Return what was left to this session and project, once; "" if nothing was."""
        return self._left.pop((session_id, project)) or ""

    def _mark(self, journal: Journal, session_id: str) -> bool:
        """Leave the mark of a session; whether there was none."""
        begun = journal.records(type="wake_up", among=_LOOKED_AT)
        if any(record.get("session") == session_id for record in begun):
            return False
        now = utc_now().isoformat()
        journal.append({"id": new_id("w"), "type": "wake_up", "at": now, "session": session_id})
        return True
