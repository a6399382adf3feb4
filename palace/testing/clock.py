"""A clock that tests move by hand.

In: seconds. Out: the present moment, as tests want it.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone


class ManualClock:
    """A clock that stands still until a test moves it; call it for the present moment.

    Args:
        now: Where it starts, aware.
    """

    def __init__(self, now: datetime = datetime(2026, 3, 14, 9, 30, tzinfo=timezone.utc)) -> None:
        self._now = now

    def __call__(self) -> datetime:
        """Return the present moment, aware."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock by this many seconds; negative ones set it back."""
        self._now += timedelta(seconds=seconds)
