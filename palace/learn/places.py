"""Places that a file may have in a palace, judged before anything is written there.

In: a path relative to the root, from a source nobody vouches for. Out: the reason why the palace
could not hold a file there, or "" if it could.
"""

from __future__ import annotations

import unicodedata

from palace.portable import name_fault
from palace.types.memory import IDENTITY_FILE, MAX_ROOM_DEPTH, SUFFIX

MAX_COMPONENT_BYTES = 255


def place_reason(path: str) -> str:
    """Say why no file of a palace can stand at this path, or "" if one can.

    Places are `identity.txt`, Markdown below `rooms/` and `timeline/`, and directly in
    `playbooks/`.

    Args:
        path: Relative to the root, with forward slashes.
    """
    if path == IDENTITY_FILE:
        return ""
    folder, *parts = path.split("/")
    if folder not in ("rooms", "timeline", "playbooks") or not parts:
        return "it stands outside rooms/, playbooks/ and timeline/"
    if folder == "playbooks" and len(parts) > 1:
        return "playbooks stand directly in playbooks/"
    if reason := next(filter(None, map(name_reason, parts)), ""):
        return reason
    if parts[-1][-3:].lower() != SUFFIX or len(parts[-1]) <= len(SUFFIX):
        return "it is no Markdown file"
    is_too_deep = folder == "rooms" and len(parts) - 1 > MAX_ROOM_DEPTH
    return f"it is more than {MAX_ROOM_DEPTH} rooms deep" if is_too_deep else ""


def name_reason(name: str) -> str:
    """Say why no folder or file of a palace can have this name, or "" if one can."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "its name has bytes that are not UTF-8"
    if fault := name_fault(name):
        return f"its name {fault}"
    if size > MAX_COMPONENT_BYTES:
        return f"its name exceeds {MAX_COMPONENT_BYTES} bytes"
    is_lock = unicodedata.normalize("NFKC", name).strip().startswith("~$")
    return "its name starts with ~$, as that of a lock file" if is_lock else ""
