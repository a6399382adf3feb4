"""What a system offers against two programs that save one file: exchange, and a look at writers.

In: paths. Out: exchanged names, and whether a program is in the middle of a save. Where a system
cannot do it, the answer says so, and its callers do without.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import signal
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

_HERE = -100  # AT_FDCWD: paths are as a program understands them
_NO_REPLACE, _EXCHANGE = 1, 2
_CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM})


def swap(source: Path, target: Path) -> bool:
    """Give a file the name of another, which takes the name of the first, in one step.

    Where there is no other one, the first alone changes its name.

    Returns:
        Whether it is done; False where the system cannot.

    Raises:
        OSError: If the file system refuses.
    """
    while True:
        try:
            return _rename(source, target, _EXCHANGE)
        except FileNotFoundError:
            with suppress(FileExistsError):  # made in this very instant
                return _rename(source, target, _NO_REPLACE)


def is_being_written(path: Path) -> bool:
    """Whether a program has the file open for writing; False where that cannot be known."""
    if _lease_is_free(path):
        return False
    # Some file systems never grant a lease: then a file nobody else knows gets none either.
    unknown = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        os.close(os.open(unknown, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        return _lease_is_free(unknown)
    except OSError:
        return False
    finally:
        with suppress(OSError):
            unknown.unlink()


def _rename(source: Path, target: Path, flag: int) -> bool:
    renameat2 = _renameat2()
    if renameat2 is None:
        return False
    if renameat2(_HERE, os.fsencode(source), _HERE, os.fsencode(target), flag) == 0:
        return True
    error = ctypes.get_errno()
    if error in _CANNOT:
        return False
    raise OSError(error, os.strerror(error), str(target))


@cache
def _renameat2() -> Any:  # noqa: ANN401 - a function of the C library, or None
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)


def _lease_is_free(path: Path) -> bool:
    """Whether a read lease is granted, which it is only while nobody can write; True if unasked."""
    if sys.platform != "linux":
        return True
    import fcntl

    try:
        # A pipe would be waited for until somebody writes into it.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(path, flags)
    except OSError:
        return True
    try:
        # Who opens it for writing in this instant is told by a signal that nobody minds.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno != errno.EAGAIN
    finally:
        os.close(descriptor)
    return True
