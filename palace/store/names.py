"""Names given by people and models, turned into file names that cannot leave the palace.

In: untrusted names of rooms, drawers, playbooks and sessions. Out: safe path components, and
paths proven to lie inside the root.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from contextlib import suppress
from pathlib import Path

from palace.arguments import quoted
from palace.errors import UnsafeNameError
from palace.portable import fold_case, is_device, name_fault
from palace.secrets import find_secrets
from palace.types.memory import MAX_ROOM_DEPTH, TIMELINE

MAX_COMPONENT_CHARS = 80
MAX_COMPONENT_BYTES = 200
MAX_SESSION_CHARS = 512
_PLAIN = "use letters, digits, '-', '_' and '.'; a room in a room is written a/b"
_ANY_SESSION = f"any text of 1 to {MAX_SESSION_CHARS} characters names a session"
RESERVED_ROOMS = frozenset({"timeline", "playbooks"})

_DRIVE = re.compile(r"[A-Za-z]:")
_HASHED_STEM = re.compile(r"-[0-9a-f]{20}\Z")


def safe_component(name: str, *, what: str) -> str:
    """Turn one name into one path component.

    Args:
        name: Untrusted name of a single folder or file, without separators.
        what: What it names, for the error message, e.g. `room`.

    Returns:
        The slug: NFKC, letters, digits, marks and `-_.` kept, everything else one `-`; at most
        80 characters and 200 UTF-8 bytes (longer ones end in a hash of the whole).

    Raises:
        UnsafeNameError: Empty, hidden, a parent reference, with separators, control, invisible or
            direction-changing characters, a drive letter, or a reserved device name.
    """
    refuse_unsafe(name, what=what)
    slug = _slug(name)
    if not slug:
        raise _unsafe(what, name, "it has no letters or digits")
    if is_device(slug):
        raise _unsafe(what, name, "it is a reserved device name")
    return _shorten(slug)


def room_parts(name: str) -> list[str]:
    """Return the checked components of a room name, not yet slugged.

    Args:
        name: Untrusted room name; `a/b` is a room in a room, at most 8 deep.

    Raises:
        UnsafeNameError: If a component is unsafe, or the name is kept for the palace itself.
    """
    parts = unicodedata.normalize("NFKC", name).strip(" ").split("/")
    if len(parts) > 1 and parts[0] == "":
        raise _unsafe("room", name, "it is an absolute path")
    if len(parts) > MAX_ROOM_DEPTH:
        raise _unsafe("room", name, f"it is more than {MAX_ROOM_DEPTH} rooms deep")
    for part in parts:
        refuse_unsafe(part, what="room")
    if fold_case(parts[0]) in RESERVED_ROOMS:
        raise _unsafe("room", name, "the palace keeps this name for itself")
    return parts


def room_of(folder: str) -> str:
    """Return the name of the room that a folder is, given by its path below `rooms/`.

    The name is that path. Where the path is empty, or begins like a place of the palace that is no
    room, `./` stands before it, so that no name means two places.
    """
    kept = folder.partition("/")[0] in {"", *RESERVED_ROOMS}
    return f"./{folder}".rstrip("/") if kept else folder


def without_suffix(name: str) -> str:
    """Drop a `.md` that a person typed as part of a drawer's or playbook's name."""
    return name[:-3] if len(name) > 3 and name[-3:].lower() == ".md" else name


def session_file_name(session_id: str) -> str:
    """Map any session id to a file stem of its own.

    Args:
        session_id: Untrusted, 1 to 512 characters.

    Returns:
        The id itself where it is a plain lower-case slug, else a readable slug, unless it holds a
        secret, and 80 bits of the id's hash, so that no two ids share a file, on case-insensitive
        file systems neither.

    Raises:
        UnsafeNameError: If the id is empty or too long.
    """
    if not session_id:
        raise _unsafe("session", session_id, "it is empty", hint=_ANY_SESSION)
    if len(session_id) > MAX_SESSION_CHARS:
        reason = f"it exceeds {MAX_SESSION_CHARS} characters"
        raise _unsafe("session", session_id[:40], reason, hint=_ANY_SESSION)
    slug = "" if find_secrets(session_id) else _slug(_printable(session_id)).lower()
    plain = slug == session_id == fold_case(slug) and not _HASHED_STEM.search(slug)
    if plain and not is_device(slug) and _shorten(slug) == slug:
        return slug
    tag = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    readable = _cut(slug.split(".")[0], chars=40, octets=120).strip("-_") or "session"
    return f"{readable}-{tag}"


def resolve_inside(root: Path, relative: str) -> Path:
    """Return the real path of something in the palace.

    Args:
        root: The palace.
        relative: Path below it, forward slashes.

    Returns:
        The absolute path with every symlink followed; it need not exist.

    Raises:
        UnsafeNameError: If it is absolute, has `..`, NUL or a backslash, or really lies elsewhere.
    """
    if not relative or relative.startswith("/") or _DRIVE.match(relative):
        raise _unsafe("path", relative, "it is not relative to the palace")
    if "\0" in relative or "\\" in relative or ".." in relative.split("/"):
        raise _unsafe("path", relative, "it has a parent reference, NUL or backslash")
    real_root = os.path.realpath(root)
    real = os.path.normpath(os.path.join(real_root, relative))  # noqa: PTH118 - realpath's type
    if _may_lead_elsewhere(real_root, real):
        real = os.path.realpath(real)
    if not is_inside(real, real_root):
        raise UnsafeNameError(
            f"{relative[:80]!r} leads out of the palace",
            hint="put the folder or file itself where the link stands",
        )
    return Path(real)


def is_inside(real: str, real_root: str) -> bool:
    """Whether a path is a folder or below it; links in both are followed already."""
    return real == real_root or real.startswith(real_root.rstrip(os.sep) + os.sep)


def _may_lead_elsewhere(real_root: str, path: str) -> bool:
    """Whether a link may stand below the root, on the way to a path."""
    if os.name != "posix":  # other systems have links of more kinds
        return True
    while len(path) > len(real_root):
        with suppress(OSError):
            if stat.S_ISLNK(os.lstat(path).st_mode):
                return True
        path = os.path.dirname(path)  # noqa: PTH120 - a plain string
    return False


def refuse_unsafe(name: str, *, what: str) -> None:
    """Check one component before it meets the file system.

    Raises:
        UnsafeNameError: As `safe_component`.
    """
    if fault := name_fault(name):
        raise _unsafe(what, name, f"it {fault}")


def _slug(name: str) -> str:
    chars = [
        char if char in "-_." or unicodedata.category(char)[0] in "LNM" else "-"
        for char in unicodedata.normalize("NFKC", name)
    ]
    slug = re.sub(r"-{2,}", "-", "".join(chars))
    slug = slug.strip("-.")
    return slug if slug.strip("_") else ""


def _printable(text: str) -> str:
    return "".join(char if unicodedata.category(char)[0] != "C" else "-" for char in text)


def _shorten(slug: str) -> str:
    if len(slug) <= MAX_COMPONENT_CHARS and len(slug.encode()) <= MAX_COMPONENT_BYTES:
        return slug
    # The hash ignores case, as the look-up of existing names does.
    tag = hashlib.sha256(fold_case(slug).encode()).hexdigest()[:10]
    room = len(tag) + 1
    head = _cut(slug, chars=MAX_COMPONENT_CHARS - room, octets=MAX_COMPONENT_BYTES - room)
    return f"{head.rstrip('-._')}-{tag}"


def _cut(text: str, *, chars: int, octets: int) -> str:
    return text[:chars].encode()[:octets].decode("utf-8", "ignore")


def _unsafe(what: str, name: str, reason: str, *, hint: str = _PLAIN) -> UnsafeNameError:
    return UnsafeNameError(f"the {what} name {quoted(name)} is refused: {reason}", hint=hint)


def place_of(path: str) -> tuple[str, str]:
    """Return (room, drawer) of a path in the palace; `timeline` for timeline pages."""
    parts = path.split("/")
    stem = parts[-1][:-3] if parts[-1].lower().endswith(".md") else parts[-1]
    room = TIMELINE if parts[0] == TIMELINE else room_of("/".join(parts[1:-1]))
    return room, stem


def derived_id(path: str, text: str, occurrence: int) -> str:
    """Return the id of a memory without one.

    Args:
        path: Of its file in the palace.
        text: Of the memory.
        occurrence: How many memories with the same text stand before it in the file.
    """
    key = f"{path}\0{text}\0{occurrence}"
    return "d-" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
