"""Files written whole: who reads one finds what it was or what it is now, and no part of it.

In: a path and bytes. Out: the file, 0600, and its folders, 0700 where they are new.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes, *, suffix: str = ".tmp") -> None:
    """Write a file that is there whole or not at all; `suffix` is that of the temporary one.

    Raises:
        OSError: If the file system refuses; callers translate.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}{suffix}")
    try:
        make_folder(path.parent)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents, each 0700.

    Raises:
        OSError: If the file system refuses; callers translate.
    """
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
