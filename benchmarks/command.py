"""How a benchmark's command tells of its progress and of what is wrong.

In: the `main` of a benchmark. Out: lines on standard error, so that standard output is JSON alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from benchmarks.datasets import BadDataError
from palace import PalaceError


def run(main: Callable[[], None]) -> None:
    """Run a benchmark; wrong arguments or data end it in one line and exit code 1."""
    try:
        main()
    except (BadDataError, PalaceError, OSError) as error:
        raise SystemExit(f"error: {error}") from error


def say(progress: str) -> None:
    """Tell how far a long benchmark is."""
    print(progress, file=sys.stderr, flush=True)
