"""The palace's folders: which memory files there are, and which of them a name means.

In: the root of a palace. Out: stamps of its files, folder and file names as they are on disk,
and faults for what cannot be read, or not safely.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Protocol

from palace.errors import MemoryNotFoundError, StoreError, StoreUnavailableError, UnsafeNameError
from palace.portable import fold_case, is_no_note
from palace.store.files import IN_THE_CLOUD, NOT_ON_DISK, listing, unavailable
from palace.store.names import (
    is_inside,
    resolve_inside,
    room_of,
    room_parts,
    safe_component,
    without_suffix,
)
from palace.types.memory import (
    IDENTITY_FILE,
    PLAYBOOKS,
    ROOMS,
    SUFFIX,
    TIMELINE,
    Fault,
    FileStamp,
)

_LEADS_OUT = "a symlink that leads out of the palace"


def scan_files(root: Path, folders: tuple[str, ...]) -> tuple[list[FileStamp], list[Fault]]:
    """Return a stamp of every Markdown file below these folders, and what was left out and why.

    What cannot be read, a folder too, is left out as `Fault.is_unread`, and costs nothing else.
    Hidden names, lock files (`~$`) and other suffixes are left out silently; symlinks are followed
    inside the palace only, each real folder and file once, by its own name if that is among them.

    Args:
        root: The palace.
        folders: Below the root; missing ones are empty.
    """
    stamps: list[FileStamp] = []
    links: list[FileStamp] = []
    faults: list[Fault] = []
    for path, entry in walk(root, folders, faults):
        if path[-3:].lower() != SUFFIX or not entry.is_file():
            continue
        try:
            status = entry.stat()
        except FileNotFoundError:
            continue  # deleted since the folder was listed
        except OSError as error:
            faults.append(unread(path, unavailable(error, "read", Path(entry.path))))
            continue
        found = links if entry.is_symlink() else stamps
        found.append(FileStamp(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    stamps.sort(key=attrgetter("path"))
    return _with_links(root, stamps, links), faults


def _with_links(root: Path, own: list[FileStamp], links: list[FileStamp]) -> list[FileStamp]:
    """Add the linked files that are not there by their own name, each once."""
    if not links:
        return own
    by_name = attrgetter("path")
    real = {
        os.path.realpath(root / stamp.path): stamp for stamp in sorted(links, key=by_name)[::-1]
    }
    real |= {os.path.realpath(root / stamp.path): stamp for stamp in own}
    return sorted(real.values(), key=by_name)


def unread(path: str, error: StoreError) -> Fault:
    """Return the fault of a file, or a folder, that could not be read."""
    hint = f"; {error.hint}" if error.hint else ""
    return Fault(path, 1, f"{error.message}{hint}", is_unread=True)


class _Understood(Protocol):
    @property
    def faults(self) -> tuple[Fault, ...]: ...


def faults_of(read: Callable[[str], _Understood], stamps: Iterable[FileStamp]) -> Iterator[Fault]:
    """Yield what is not understood in files, and which of them cannot be read."""
    for stamp in stamps:
        try:
            yield from read(stamp.path).faults
        except MemoryNotFoundError:
            continue  # deleted since it was listed
        except StoreError as error:
            yield unread(stamp.path, error)


def every_file(root: Path, folders: tuple[str, ...]) -> list[FileStamp]:
    """Return a stamp of every Markdown file below these folders, for who must not miss one.

    Raises:
        StoreUnavailableError: If one cannot be read.
    """
    stamps, faults = scan_files(root, folders)
    for fault in faults:
        if fault.is_unread:
            raise StoreUnavailableError(fault.message, hint="see `palace doctor`")
    return stamps


def own_files(root: Path) -> list[str]:
    """Return what a person owns in a palace, as paths relative to its root, sorted.

    That is `identity.txt`, the Markdown of rooms and timeline, and the playbooks.

    Raises:
        StoreUnavailableError: If a part of it cannot be read.
    """
    identity = root / IDENTITY_FILE
    is_own = identity.is_file() and is_inside(os.path.realpath(identity), os.path.realpath(root))
    stamps = every_file(root, (ROOMS, TIMELINE))
    stamps += [stamp for stamp in every_file(root, (PLAYBOOKS,)) if stamp.path.count("/") == 1]
    return sorted([*[IDENTITY_FILE] * is_own, *(stamp.path for stamp in stamps)])


def stray_note(root: Path) -> str:
    """Return the first Markdown file that stands in none of a palace's places, else ""."""
    for folder, below, files in os.walk(root):
        place = os.path.relpath(folder, root)
        kept = (ROOMS, TIMELINE, PLAYBOOKS, "config") if place == "." else ()
        below[:] = sorted(name for name in below if not is_no_note(name) and name not in kept)
        for name in sorted(files):
            if name[-3:].lower() == SUFFIX and not is_no_note(name):
                return posixpath.normpath(f"{place}/{name}".replace(os.sep, "/"))
    return ""


def walk(
    root: Path, folders: tuple[str, ...], faults: list[Fault]
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield (path in the palace, entry) of everything readable below some folders.

    Args:
        root: The palace.
        folders: Below the root.
        faults: Gets one fault for each name that is left out for safety, or cannot be read.
    """
    real_root = os.path.realpath(root)
    pending = [(folder, os.path.realpath(root / folder)) for folder in folders]
    seen: set[str] = set()
    while pending:
        relative, real = pending.pop()
        if not is_inside(real, real_root):
            faults.append(Fault(relative, 1, _LEADS_OUT))
            continue
        if real in seen:
            continue
        seen.add(real)
        for entry in _entries(relative, real, faults):
            name = entry.name
            path = f"{relative}/{name}"
            if is_no_note(name):
                if name.lower().endswith(IN_THE_CLOUD):
                    own = f"{relative}/{name[1 : -len(IN_THE_CLOUD)]}{SUFFIX}"
                    faults.append(Fault(own, 1, f"{own} {NOT_ON_DISK}", is_unread=True))
                continue
            # Thousands of files are looked at before a question: the usual one is passed quickly.
            if not name.isascii() or "\\" in name or entry.is_symlink():
                reason = _unreadable(entry, real_root)
                if reason:
                    faults.append(Fault(path.encode("utf-8", "replace").decode(), 1, reason))
                    continue
            yield path, entry
            if entry.is_dir():
                is_link = entry.is_symlink()
                # Other systems have links of more kinds.
                leads = is_link or os.name != "posix"
                real_path = os.path.realpath(entry.path) if leads else entry.path
                # What a link leads to is called by its own name where it stands in the palace too.
                pending.insert(0 if is_link else len(pending), (path, real_path))


def _entries(relative: str, real: str, faults: list[Fault]) -> list[os.DirEntry[str]]:
    """Return what stands in a folder, nothing if it cannot be read."""
    try:
        return listing(Path(real))
    except StoreUnavailableError as error:
        faults.append(unread(relative, error))
        return []


def room_names(root: Path) -> list[str]:
    """Return the names of all rooms, nested ones as `a/b`, sorted.

    Drawers that stand in no folder are in the room `.`.
    """
    found: set[str] = set()
    for path, entry in walk(root, (ROOMS,), []):
        if entry.is_dir():
            found.add(path)
        elif path[-3:].lower() == SUFFIX:
            found.add(posixpath.dirname(path))
    return sorted(room_of(path[len(ROOMS) + 1 :]) for path in found)


def room_folder(root: Path, room: str) -> str:
    """Return the folder a room's name means, which need not exist yet.

    A person may have named it as no new room may be.

    Raises:
        UnsafeNameError: If the name is unsafe.
    """
    folder = ROOMS
    try:
        parts = room_parts(room)
    except UnsafeNameError:
        if room not in room_names(root):
            raise
        parts = []
    if "/".join(parts) != room and room in room_names(root):
        return posixpath.normpath(f"{ROOMS}/{room}")
    for part in parts:
        found = existing_name(resolve_inside(root, folder), part, what="room")
        folder = f"{folder}/{found or safe_component(part, what='room')}"
    return folder


def drawer_file(root: Path, room: str, drawer: str) -> str:
    """Return the file a drawer's name means, which need not exist yet.

    Where a link stands in the palace for another of its files, that is the file's own name: by two
    names its memories would count twice until the next look at all files.

    Raises:
        UnsafeNameError: If a name is unsafe.
    """
    name = without_suffix(drawer)
    folder = room_folder(root, room)
    there = resolve_inside(root, folder)
    names = dict.fromkeys((drawer, name))  # the drawer of a file `a.md.md` is called `a.md`
    known = (existing_name(there, one, what="drawer", suffix=SUFFIX) for one in names)
    file = next(filter(None, known), None) or safe_component(name, what="drawer") + SUFFIX
    path = f"{folder}/{file}"
    own = resolve_inside(root, path).relative_to(os.path.realpath(root)).as_posix()
    is_read = own.startswith(f"{ROOMS}/") and own[-3:].lower() == SUFFIX
    return own if is_read and not any(map(is_no_note, own.split("/"))) else path


def existing_name(folder: Path, name: str, *, what: str, suffix: str = "") -> str | None:
    """Return the name on disk that a person means, whatever its case or Unicode form.

    Args:
        folder: Where to look; may be missing.
        name: Without suffix.
        what: What it names, for the error message.
        suffix: Of the files looked for; "" for folders.

    Returns:
        The name as it stands on disk, suffix included, or None.

    Raises:
        UnsafeNameError: If nothing is named just so, and nothing new may be.
    """
    entries, whole = listing(folder), name + suffix
    # Nearly always so, and a room may hold thousands.
    if any(entry.name == whole and _fits(entry, suffix) for entry in entries):
        return whole
    stems = {
        entry.name[: len(entry.name) - len(suffix)]: entry.name
        for entry in sorted(entries, key=lambda entry: entry.name)
        if _fits(entry, suffix)
    }
    if name in stems:
        return stems[name]
    wanted = {fold_case(name), fold_case(safe_component(name, what=what))}
    return next((full for stem, full in stems.items() if fold_case(stem) in wanted), None)


def _fits(entry: os.DirEntry[str], suffix: str) -> bool:
    if is_no_note(entry.name) or "\\" in entry.name or not _is_text(entry.name):
        return False
    with suppress(OSError):  # a link that leads to itself
        if not suffix:
            return entry.is_dir()
        return entry.name.lower().endswith(suffix) and entry.is_file()
    return False


def _unreadable(entry: os.DirEntry[str], real_root: str) -> str:
    """Say why an entry is left out, or "" if it may be read."""
    if "\\" in entry.name or not _is_text(entry.name):
        return "a file name with a backslash or bytes that are not UTF-8"
    if not entry.is_symlink():
        return ""
    real = os.path.realpath(entry.path)
    if not is_inside(real, real_root):
        return _LEADS_OUT
    return "" if os.path.exists(real) else "a symlink to nothing"  # noqa: PTH110 - a plain string


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
