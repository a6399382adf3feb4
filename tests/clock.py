"""What work costs, however busy the machine is and whatever other tests have left in memory."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def seconds(work: Callable[[], object], *, tries: int = 1) -> float:
    """Return the fewest processor seconds that work took in so many tries.

    The collector of garbage stands aside: what it takes depends on what the process already holds,
    hundreds of milliseconds after some thousand tests, and counts for whoever sets it off.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return min(_once(work) for _ in range(tries))
    finally:
        if collects:
            gc.enable()


def _once(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started
