"""How a benchmark's command tells of its progress and of what is wrong.

In: the `main` of a benchmark. Out: lines on standard error, so that standard output is JSON alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.datasets import BadDataError
from palace import PalaceError


def run(main: Callable[[], None]) -> None:
    """Run a benchmark; wrong data end it in one line and exit code 2, Ctrl-C in one and 130."""
    try:
        main()
    except KeyboardInterrupt:
        say("interrupted")
        raise SystemExit(130) from None
    except (BadDataError, PalaceError, OSError) as error:
        said = str(error)
        if isinstance(error, OSError) and error.filename:
            said = f"{error.filename}: {error.strerror}"
        say(f"error: {said}")
        raise SystemExit(2) from error


def results_file(text: str) -> Path:
    """Return where results are to be written: type of an argument, looked at before long work.

    Raises:
        argparse.ArgumentTypeError: If no file can stand there.
    """
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is a folder, not a file")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {str(path.parent)!r}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written")
    return path


def results_folder(text: str) -> Path:
    """Return the folder results are to be written to, likewise.

    Raises:
        argparse.ArgumentTypeError: If it is none, or nothing can be written there.
    """
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text!r}")
    if not os.access(path, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written to")
    return path


def whole_number(text: str, of: str) -> int:
    """Return a number from 1 on of something: type of an argument.

    Raises:
        argparse.ArgumentTypeError: If it is none; names of what.
    """
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of {of}")
    return int(text)


def say(progress: str) -> None:
    """Tell how far a long benchmark is."""
    print(progress, file=sys.stderr, flush=True)
