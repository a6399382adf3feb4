"""Work that is waited for so long and no longer, whatever it hangs in.

In: work of one call. Out: what it returns or raises, or `TimeoutError`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

_T = TypeVar("_T")


def done_within(timeout_s: float, work: Callable[[], _T], *, name: str) -> _T:
    """Do work in a thread of its own and return what it returns.

    Name resolution and trickling headers obey no time-out of a socket. The thread is a daemon, so
    that what still waits for a name does not hold up the end of the program either.

    Args:
        timeout_s: Longest wait, in seconds.
        work: What it raises is raised here.
        name: Of the thread.

    Raises:
        TimeoutError: If it is not done by then; it may go on by itself.
    """
    result: Future[_T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the work was asked for
            result.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    if not wait([result], timeout=timeout_s).done:
        raise TimeoutError
    return result.result()
