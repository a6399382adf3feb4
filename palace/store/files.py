"""Durable, atomic files: the one seam through which the palace's text reaches a disk.

In: paths and bytes. Out: bytes, digests, and files that are either the old or the new one whole.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from filelock import FileLock, Timeout

from palace.errors import MemoryNotFoundError, StoreUnavailableError, WriteConflictError
from palace.store.swapping import is_being_written, swap

ANYTHING: Final = "anything"
"""As `replaces`: whatever stands there."""

LOCK_TIMEOUT_S = 30.0
SAVE_TIMEOUT_S = 10.0
_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")
_FIRST_LOOK_S, _SELDOM_S, _OFTEN_S, _AGING = 0.01, 0.05, 0.005, 0.1
_HINTS = {
    errno.ENOSPC: "free some disk space, then try again",
    errno.EDQUOT: "free some of your disk quota, then try again",
    errno.EACCES: "give this user permission to read and write the palace folder",
    errno.EPERM: "give this user permission to read and write the palace folder",
    errno.EROFS: "the disk is mounted read-only: remount it writable, or move the palace",
    errno.ENAMETOOLONG: "use a shorter name, or move the palace to a shorter path",
    errno.EMFILE: "close some programs, or raise the limit of open files",
    errno.EISDIR: "a folder stands where a file should be: rename it",
    errno.ENOTDIR: "a file stands where a folder should be: rename it",
    errno.ELOOP: "a link leads to itself: remove it",
}
_NEEDS_A_PERSON = frozenset(
    {
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ENAMETOOLONG,
        errno.EISDIR,
        errno.ENOTDIR,
        errno.ELOOP,
    }
)


# What macOS leaves in the place of `a.md` when it frees the disk: `.a.md.icloud`.
IN_THE_CLOUD = ".md.icloud"
NOT_ON_DISK = "is in iCloud and not on this disk: download it"


class LockHeldError(StoreUnavailableError):
    """Another program holds a lock for longer than the caller waits."""


class _Held(threading.local):
    """The locks that this thread holds: of which palace, and which of them."""

    def __init__(self) -> None:
        self.locks: set[tuple[Path, str]] = set()


_held = _Held()
_written: set[int] = set()


class FileSystem:
    """The steps of a durable write, one method each, so that each can be made to fail."""

    def make_folder(self, path: Path) -> None:
        """Make one folder that only its owner may enter."""
        path.mkdir(mode=0o700, exist_ok=True)

    def create(self, path: Path, mode: int) -> int:
        """Create a file that must not exist and return its descriptor."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0), 0o600)
        if mode != 0o600 and hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)
        return descriptor

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all bytes."""
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    def fsync(self, descriptor: int) -> None:
        """Force the file's bytes to the disk."""
        os.fsync(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        """Put the new file in the place of the old one, atomically.

        Where the system can, the old one takes the name of the new one.
        """
        if not swap(source, target):
            source.replace(target)

    def fsync_dir(self, folder: Path) -> None:
        """Force the folder's entries to the disk; a no-op where folders cannot be opened."""
        if os.name == "nt":
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


DISK = FileSystem()


def digest(data: bytes) -> str:
    """Return the SHA-256 of the bytes as 64 hex characters."""
    return hashlib.sha256(data).hexdigest()


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes.

    Raises:
        MemoryNotFoundError: If there is no such file.
        StoreUnavailableError: If the file system refuses, or the file is in iCloud alone.
    """
    try:
        refuse_special(path)
        return path.read_bytes()
    except FileNotFoundError as error:
        if path.with_name(f".{path.name}.icloud").exists():
            raise StoreUnavailableError(
                f"{path} {NOT_ON_DISK}", hint="open it in the Finder once", retryable=False
            ) from error
        raise MemoryNotFoundError(
            f"there is no file {path.name}", hint="list the rooms to see what there is"
        ) from error
    except OSError as error:
        raise unavailable(error, "read", path) from error


def atomic_write(
    path: Path,
    data: bytes,
    *,
    replaces: bytes | Literal["anything"] | None,
    file_system: FileSystem = DISK,
) -> None:
    """Replace a file as a whole, durably, unless somebody else changed it.

    A temporary file in the same folder is written and synced, takes the place of the old one, and
    the folder is synced. The old file's mode is kept; new files are 0600 and new folders 0700.
    Where the system can exchange names, what was replaced is looked at once more, and put back if
    it is not what was expected; elsewhere a save in the instant between look and rename is lost.

    Args:
        path: Absolute path with symlinks already followed.
        data: The new content.
        replaces: The content this write is based on; None if the file must not exist yet,
            `ANYTHING` to write regardless.
        file_system: The steps to use.

    Raises:
        WriteConflictError: If the file is not what was expected.
        StoreUnavailableError: If the file system refuses, or the file is marked read-only; the old
            file is then untouched.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        ensure_folder(path.parent, file_system=file_system)
        _write_temporary(temporary, data, mode=_mode(path), file_system=file_system)
        if isinstance(replaces, str):
            file_system.rename(temporary, path)
        else:
            _refuse_changed(path, replaces)
            _put_in_place(temporary, path, replaces, ours=data, file_system=file_system)
        file_system.fsync_dir(path.parent)
    except OSError as error:
        raise unavailable(error, "write", path) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _put_in_place(
    temporary: Path,
    path: Path,
    stood: bytes | None,
    *,
    ours: bytes,
    file_system: FileSystem,
) -> None:
    """Give the new file its name; what it replaces is what stood there, None for nothing, or stays.

    Raises:
        WriteConflictError: If somebody saved, or is saving, the file in this very instant.
    """
    file_system.rename(temporary, path)
    if not temporary.exists():
        return
    if temporary.read_bytes() == stood and not is_being_written(temporary):
        return
    file_system.rename(temporary, path)
    if temporary.exists() and temporary.read_bytes() != ours:
        # A save on top of ours: the latest one stays.
        file_system.rename(temporary, path)
    raise _changed(path)


def wait_for_save(path: Path, *, timeout_s: float = SAVE_TIMEOUT_S) -> None:
    """Wait while another program is in the middle of saving a file in place.

    Where the system cannot tell, nothing is waited for.

    Raises:
        WriteConflictError: If it takes longer than this.
    """
    ends = time.monotonic() + timeout_s
    while is_being_written(path):
        if time.monotonic() > ends:
            raise WriteConflictError(
                f"another program has had {path.name} open for writing for {timeout_s:g} seconds",
                hint="let it finish saving, or close it; then try again",
            )
        time.sleep(_OFTEN_S)


def ensure_folder(folder: Path, *, file_system: FileSystem = DISK) -> None:
    """Make a folder and its missing parents, each 0700 and recorded durably.

    Raises:
        OSError: If the file system refuses; callers translate.
    """
    if folder.is_dir():
        return
    ensure_folder(folder.parent, file_system=file_system)
    file_system.make_folder(folder)
    file_system.fsync_dir(folder.parent)


def is_writable(path: Path) -> bool:
    """Whether a file or folder may be written, or made where nothing stands yet."""
    there = next((p for p in (path, *path.parents) if os.access(p, os.F_OK)), None)
    return there is not None and os.access(there, os.W_OK)


def keep_out_of_git(folder: Path) -> None:
    """Tell git to leave a derived folder alone, unless the person has told it something else.

    Where it cannot be written, nothing is: it is a courtesy, and a read-only palace is read.
    """
    with suppress(OSError):  # such as that it is there
        told = folder / ".gitignore"
        told.touch(mode=0o600, exist_ok=False)
        told.write_text("# The index: made anew from the files wherever it is missing.\n*\n")


@contextmanager
def locked(
    root: Path, name: str = "palace", *, timeout_s: float = LOCK_TIMEOUT_S
) -> Iterator[None]:
    """Hold one of the palace's locks, against other processes and other threads.

    A thread that holds it already goes on at once: who looks before it writes holds it for both.

    Args:
        root: The palace; the lock is `<root>/.palace/locks/<name>.lock`.
        name: Which lock; a plain file stem.
        timeout_s: How long to wait, in seconds.

    Raises:
        StoreUnavailableError: If the lock is not free in time or cannot be made.
    """
    if (root, name) in _held.locks:
        yield
        return
    path = root / ".palace" / "locks" / f"{name}.lock"
    with lock_file(path, what=f"palace's {name}", timeout_s=timeout_s):
        _held.locks.add((root, name))
        try:
            yield
        finally:
            _held.locks.remove((root, name))


@contextmanager
def lock_file(path: Path, *, what: str, timeout_s: float) -> Iterator[None]:
    """Hold a file as a lock, against other processes and other threads.

    Args:
        path: The file; its folder is made if need be.
        what: Whose lock it is, for the error message.
        timeout_s: How long to wait, in seconds.

    Raises:
        LockHeldError: If it is not free in time.
        StoreUnavailableError: If it cannot be made.
    """
    try:
        ensure_folder(path.parent)
        lock = FileLock(path, mode=0o600)
        _acquire(lock, timeout_s=timeout_s)
    except Timeout as error:
        raise LockHeldError(
            f"another program has held the {what} lock for {timeout_s:g} seconds",
            hint="wait for it to finish, or end it; the lock frees itself when its holder ends",
        ) from error
    except NotImplementedError as error:
        raise StoreUnavailableError(
            "this file system has no file locks",
            hint="move the palace to a local disk",
            retryable=False,
        ) from error
    except OSError as error:
        raise unavailable(error, "lock", path) from error
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: FileLock, *, timeout_s: float) -> None:
    """Take a lock, looking again and again; who has waited longer looks more often.

    Each look takes a processor from somebody who only reads, and who looks seldom is served last.

    Raises:
        Timeout: If it is not free in time.
    """
    started = time.monotonic()
    pause_s = _FIRST_LOOK_S
    while True:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            waited_s = time.monotonic() - started
            if waited_s >= timeout_s:
                raise
        else:
            return
        time.sleep(min(pause_s, timeout_s - waited_s))
        pause_s = max(_OFTEN_S, _SELDOM_S - _AGING * waited_s)


def sweep(root: Path, folders: Sequence[str]) -> int:
    """Delete the temporary files that writers which died have left; return how many there were.

    Whoever writes holds the palace's lock; while somebody does, nothing is deleted.

    Args:
        root: The palace; its own files are looked at too.
        folders: Below the root; whatever stands below them.

    Raises:
        StoreUnavailableError: If the file system refuses.
    """
    found = [root, *(root / name for name in folders)]
    left: list[Path] = []
    with refusals("tidy", root):
        for folder in found:
            for entry in listing(folder):
                if _TEMPORARY.fullmatch(entry.name):
                    left.append(Path(entry.path))
                elif folder != root and entry.is_dir(follow_symlinks=False):
                    found.append(Path(entry.path))
        if left:
            with locked(root, timeout_s=0):
                for path in left:
                    path.unlink(missing_ok=True)
    return len(left)


def gone(root: Path) -> StoreUnavailableError:
    """Return the error for a palace whose folder was moved away, or whose disk is not there."""
    return StoreUnavailableError(
        f"the folder of the palace is gone: {root}",
        hint="put it back where it was, or open the palace where it stands now",
        retryable=False,
    )


def refuse_special(path: Path) -> None:
    """Refuse what would be waited for until somebody writes into it, or never ends.

    Raises:
        OSError: If it is a pipe or a device; also if nothing is there.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError("it is a pipe or a device and no file")


def unavailable(error: OSError, verb: str, path: Path) -> StoreUnavailableError:
    """Translate what the operating system said into what a person can do.

    Args:
        error: The refusal.
        verb: What was tried: `read`, `write`, `delete`, `lock`.
        path: What it was tried on.
    """
    reason = os.strerror(error.errno) if error.errno else str(error)
    return StoreUnavailableError(
        f"could not {verb} {path}: {reason}",
        hint=_HINTS.get(error.errno or 0, "check the disk and the folder, then try again"),
        retryable=error.errno not in _NEEDS_A_PERSON,
    )


@contextmanager
def refusals(verb: str, path: Path) -> Iterator[None]:
    """Turn what the operating system refuses meanwhile into `unavailable`."""
    try:
        yield
    except OSError as error:
        raise unavailable(error, verb, path) from error


def listing(folder: Path) -> list[os.DirEntry[str]]:
    """Return what stands in a folder, nothing if there is none.

    Raises:
        StoreUnavailableError: If it cannot be read.
    """
    try:
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unavailable(error, "read", folder) from error


def _write_temporary(path: Path, data: bytes, *, mode: int, file_system: FileSystem) -> None:
    descriptor = file_system.create(path, mode)
    _written.add(descriptor)
    try:
        file_system.write(descriptor, data)
        file_system.fsync(descriptor)
    finally:
        _written.discard(descriptor)
        os.close(descriptor)


def _mode(path: Path) -> int:
    """Return the mode of a file, of one to be made if there is none.

    Raises:
        StoreUnavailableError: If somebody has taken the right to write it from everybody: a new
            file in its place would need a right in its folder alone.
    """
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return 0o600
    if not mode & 0o222:
        raise StoreUnavailableError(
            f"could not write {path}: it is marked read-only",
            hint="make the file writable, if it may be changed",
            retryable=False,
        )
    return mode


def _refuse_changed(path: Path, expected: bytes | None) -> None:
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        found = None
    if found != expected:
        raise _changed(path)


def _changed(path: Path) -> WriteConflictError:
    return WriteConflictError(
        f"{path.name} was changed while it was being written",
        hint="try again: the change of the other writer was kept",
    )


def _close_written() -> None:
    """Close what threads of the process that this one was forked from are writing.

    Kept open, the file would look to everybody like one that somebody is in the middle of saving.
    """
    while _written:
        with suppress(OSError):
            os.close(_written.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_written)
