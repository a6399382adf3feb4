"""Reads regular files and nothing else: no links, devices or pipes.

In: a path without links in it. Out: bytes, or the file for a block of code, or a `FetchError`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO

from palace.errors import FetchDeniedError, FetchError, FetchNotFoundError


def resolve_existing(path: Path) -> Path:
    """Return where a path leads, all links followed.

    Raises:
        FetchNotFoundError: If nothing is there.
        FetchError: If it cannot be followed: a loop, a missing permission, no possible name.
    """
    try:
        return path.resolve(strict=True)
    except FileNotFoundError as error:
        raise FetchNotFoundError(f"{path} does not exist", hint="check the path") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise FetchError(f"{str(path)!r} cannot be resolved", hint="check the path") from error


def read_regular(path: Path, *, max_bytes: int) -> tuple[bytes, int, datetime]:
    """Read the beginning of a regular file; links, devices and pipes are never opened for real.

    Args:
        path: Without links in it.
        max_bytes: Most to read.

    Returns:
        At most `max_bytes` bytes, the size of the file in bytes and when it changed (UTC).

    Raises:
        FetchDeniedError: If permission is missing.
        FetchNotFoundError: If it is gone.
        FetchError: If it is no regular file or cannot be read.
    """
    with open_regular(path) as file:
        status, data = os.fstat(file.fileno()), file.read(max_bytes)
        changed = datetime.fromtimestamp(int(status.st_mtime), tz=timezone.utc)
        return data, max(status.st_size, len(data)), changed


@contextlib.contextmanager
def open_regular(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading; raises as `read_regular`."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        # Devices may act on being opened, so they are told apart before; the file is
        # checked again because the name may have changed hands in between.
        if not stat.S_ISREG(path.lstat().st_mode):
            raise _not_regular(path)
        with os.fdopen(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _not_regular(path)
            yield file
    except FileNotFoundError as error:
        raise FetchNotFoundError(f"{path} does not exist", hint="check the path") from error
    except PermissionError as error:
        raise FetchDeniedError(
            f"{path} may not be read", hint="check the permissions of the file"
        ) from error
    except OSError as error:
        reason = errno.errorcode.get(error.errno or 0, "I/O error")
        raise FetchError(f"{path} cannot be read ({reason})", hint="check the file") from error


def _not_regular(path: Path) -> FetchError:
    return FetchError(f"{path} is not a regular file", hint="name a regular file")
