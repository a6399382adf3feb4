"""What is kept for a while in this process, such as between the calls of a host.

In: keys and values. Out: the values that are not too old, from any thread.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Generic, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class Kept(Generic[_K, _V]):
    """A mapping that forgets what was put long ago, and the oldest where there is too much.

    Args:
        most: Most values, >= 1.
        kept_s: How long a value is kept, in seconds.
    """

    def __init__(self, most: int = 1024, *, kept_s: float = math.inf) -> None:
        self._kept_s = kept_s
        self._most = most
        self._values: dict[_K, tuple[float, _V]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: _K) -> _V | None:
        """Return a value, None without one."""
        at, value = self._values.get(key, (0.0, None))
        return value if time.monotonic() - at <= self._kept_s else None

    def put(self, key: _K, value: _V) -> None:
        """Keep a value from now on."""
        now = time.monotonic()
        with self._lock:
            self._values.pop(key, None)
            self._values[key] = (now, value)
            while len(self._values) > self._most or self._oldest_at() < now - self._kept_s:
                del self._values[next(iter(self._values))]

    def _oldest_at(self) -> float:
        return next(iter(self._values.values()))[0]

    def pop(self, key: _K) -> _V | None:
        """Forget a value and return it, None without one."""
        with self._lock:
            return self._values.pop(key, (0.0, None))[1]
