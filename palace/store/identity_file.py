"""The identity of the palace's owner: one short text, never longer than its limit.

In: the text a person wants to be known by. Out: the text with how much of its room it uses.
"""

from __future__ import annotations

import stat
import time
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from pathlib import Path

from palace.errors import IdentityTooLongError, MemoryNotFoundError, StoreError
from palace.store.comments import NOT_UTF8, clean, is_unclean
from palace.store.files import ANYTHING, atomic_write, locked, read_bytes, unavailable
from palace.store.index_stamps import is_racy
from palace.store.merge_marks import conflicts, merge_marks
from palace.store.names import resolve_inside
from palace.store.tree import unread
from palace.types.memory import IDENTITY_FILE, MAX_IDENTITY_CHARS, Fault

_Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Identity:
    """What the identity file says.

    Attributes:
        text: Without the newline at its end; "" if there is no file.
        chars: Unicode code points of `text`.
        limit: How many there may be.
        used_percent: Of the limit, rounded; over 100 if too long.
        over: How many characters too many, 0 if it fits.
    """

    text: str
    chars: int
    limit: int
    used_percent: int
    over: int


class IdentityFile:
    """`identity.txt` of one palace.

    Any call may raise `StoreUnavailableError`, where the file system refuses, and
    `UnsafeNameError`, where the file is a symlink out of the palace.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._path = root / IDENTITY_FILE  # read for every answer, so made once
        self._known: tuple[_Stamp | None, Identity] = None, _measure("")

    def read(self) -> Identity:
        """Return the identity; one that a person made too long is returned whole.

        It is asked for three times for every answer, and read once as long as it stays as it is.
        """
        stamp = self._stamp()  # before it is read: what is written meanwhile is read again
        known, identity = self._known
        if stamp is None or stamp != known:
            try:
                data = self._bytes()
            except MemoryNotFoundError:
                data = b""
            identity = _measure(data.decode(_encoding(data), "replace"))
            self._known = stamp, identity
        return identity

    def _stamp(self) -> _Stamp | None:
        """Return what differs once the file is another; None where nothing tells for sure."""
        try:
            found = self._path.lstat()
        except OSError:
            return None
        changed_ns = max(found.st_mtime_ns, found.st_ctime_ns)
        if not stat.S_ISREG(found.st_mode) or is_racy(changed_ns, time.time_ns()):
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def faults(self) -> list[Fault]:
        """Return what cannot be understood of the file."""
        try:
            data = self._bytes()
        except StoreError as error:
            return [unread(IDENTITY_FILE, error)]
        try:
            unclean = is_unclean(data.decode(_encoding(data)))
        except UnicodeDecodeError:
            unclean = True
        faults = [Fault(IDENTITY_FILE, 1, NOT_UTF8)] if unclean else []
        return faults + conflicts(IDENTITY_FILE, merge_marks(self.read().text.split("\n")))

    def _bytes(self) -> bytes:
        path = self._path
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise unavailable(error, "read", path) from error
        if stat.S_ISLNK(mode):  # only a link of its own could lead it elsewhere
            path = resolve_inside(self.root, IDENTITY_FILE)
        return read_bytes(path)

    def write(self, text: str) -> Identity:
        """Replace the identity durably and return it.

        Args:
            text: At most `MAX_IDENTITY_CHARS` characters without newlines at its end.

        Raises:
            IdentityTooLongError: If it is longer; says by how much, and what to merge.
        """
        identity = _measure(clean(text))
        if identity.over:
            raise IdentityTooLongError(
                f"the identity has {identity.chars} of at most {identity.limit} characters,"
                f" {identity.over} too many",
                hint=f"merge or move to a room: {_longest(identity.text)}",
            )
        data = f"{identity.text}\n".encode() if identity.text else b""
        path = resolve_inside(self.root, IDENTITY_FILE)
        with locked(self.root):
            atomic_write(path, data, replaces=ANYTHING)
        return identity


def _encoding(data: bytes) -> str:
    """Return what a file is written in: UTF-8, or the UTF-16 of some Windows programs."""
    return "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"


def _measure(text: str) -> Identity:
    kept = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    chars, limit = len(kept), MAX_IDENTITY_CHARS
    return Identity(kept, chars, limit, round(100 * chars / limit), over=max(0, chars - limit))


def _longest(text: str) -> str:
    """Name the three longest paragraphs by their length, line and first words."""
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    longest = sorted(lines, key=lambda found: -len(found[1]))[:3]
    return "; ".join(
        f"line {n} ({len(line)} characters: {' '.join(line.split()[:6])[:60]} …)"
        for n, line in longest
    )
