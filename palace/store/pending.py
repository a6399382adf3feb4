"""Changes that take more than one write: noted as a promise, so that a killed one can be finished.

In: the id of a memory that is about to be written and the ids that it retires. Out: the promises of
processes that are no more; whoever opens the palace next keeps them.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

_SUFFIX = ".json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Promise:
    """What was about to happen: once `new` is stored, the others are superseded by it."""

    new: str
    retired: tuple[str, ...]


class PendingChanges:
    """Promises in `<folder>/<memory id>.json`, there only while a change is under way.

    Losing the folder loses nothing that was written; a change that was killed stays half done.

    Args:
        folder: Made when it is first needed, mode 0700.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def promised(self, new: str, retired: Sequence[str]) -> Iterator[None]:
        """Hold a promise while a change is made; it stays if the change fails half-way.

        Where the promise cannot be written the change is made without it.
        """
        path = self._folder / f"{new}{_SUFFIX}"
        lock = FileLock(path.with_suffix(".lock"), timeout=0, mode=0o600)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            lock.acquire()
            _write(path, {"new": new, "retired": list(retired)})
        except (OSError, Timeout, NotImplementedError) as error:
            _log.info("a change is made without a promise: %s", error)
        try:
            yield
            _remove(path)
        finally:
            lock.release()
            _remove(path.with_suffix(".lock"))

    @contextmanager
    def broken(self) -> Iterator[list[Promise]]:
        """Lend the promises of processes that are no more; those that were kept are forgotten."""
        held: list[tuple[Path, FileLock, Promise | None]] = []
        for path in self._files():
            lock = FileLock(path.with_suffix(".lock"), timeout=0, mode=0o600)
            with suppress(OSError, Timeout, NotImplementedError):  # its writer still lives
                lock.acquire()
                held.append((path, lock, _read(path)))
        try:
            yield [promise for _, _, promise in held if promise is not None]
            for path, _, _ in held:
                _remove(path)
        finally:
            for path, lock, _ in held:
                lock.release()
                _remove(path.with_suffix(".lock"))

    def _files(self) -> list[Path]:
        try:
            return sorted({p.with_suffix(_SUFFIX) for p in self._folder.iterdir()})
        except OSError:
            return []


def _write(path: Path, promise: dict[str, object]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, json.dumps(promise).encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path) -> Promise | None:
    """Return a promise; None for a torn one, behind which nothing was written yet."""
    try:
        data = json.loads(path.read_bytes())
        return Promise(str(data["new"]), tuple(map(str, data["retired"])))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
