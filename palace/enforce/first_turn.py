"""Which turn of a session is its first: only that one carries the wake-up.

In: session ids as turns come, and wake-ups whose call failed. Out: whether to wake up, told once
for each session.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from palace.ports import Journal
from palace.secrets import redact
from palace.text.moments import new_id, utc_now

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
        self._begun: OrderedDict[str, None] = OrderedDict()  # the one used last is the last
        self._left: OrderedDict[tuple[str, str | None], str] = OrderedDict()
        self._lock = threading.Lock()
        self._brief = threading.Lock()  # never held while the journal is read

    def begin(self, session_id: str) -> bool:
        """Whether this is the first turn of the session; True at most once for each session."""
        with self._lock:
            if self.knows(session_id):
                return False
            is_first = self._journal is None or self._mark(self._journal, session_id)
            with self._brief:  # not where the journal fails: a later turn asks again
                self._begun[session_id] = None
                if len(self._begun) > _KEPT_BEGUN:
                    self._begun.popitem(last=False)
            return is_first

    def knows(self, session_id: str) -> bool:
        """Whether `begin` was called for the session in this process; reads nothing."""
        with self._brief:
            if session_id not in self._begun:
                return False
            self._begun.move_to_end(session_id)
            return True

    def leave(self, session_id: str, project: str | None, text: str) -> None:
        """Keep a wake-up that nobody was told for a later turn of the session."""
        with self._brief:
            self._left[session_id, project] = text
            while len(self._left) > _KEPT_LEFT:
                self._left.popitem(last=False)

    def take(self, session_id: str, project: str | None) -> str:
        """Return what was left to this session and project, once; "" if nothing was."""
        with self._brief:
            return self._left.pop((session_id, project), "")

    def _mark(self, journal: Journal, session_id: str) -> bool:
        """Leave the mark of a session; whether there was none."""
        if redact(session_id) != session_id:
            return True  # called by a token, it is known to this process alone
        begun = journal.records(type="wake_up", among=_LOOKED_AT)
        if any(record.get("session") == session_id for record in begun):
            return False
        now = utc_now().isoformat()
        journal.append({"id": new_id("w"), "type": "wake_up", "at": now, "session": session_id})
        return True
