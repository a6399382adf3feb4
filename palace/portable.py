"""Names that a file must not have on one system or another; all other modules may ask.

In: a name. Out: whether it is no note or kept for a device, and the name without joiners or
the mark of a copy.
"""

from __future__ import annotations

import re

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
)
# What programs that synchronise folders, and people, put behind the name of a copy:
# "heating (Ada's conflicted copy 2026-05-14)", "heating - Copy (2)", "heating (1)",
# "heating.sync-conflict-20260514-101112-ABCDEFG".
_COPY_MARK = re.compile(
    r"(?: \([^()]*(?:conflict|konflikt|copy|kopie|copie|copia)[^()]*\)"
    r"|[._-](?:sync-)?conflict[-_]?[\d-]*(?:-\w{7})?"
    r"| ?-? (?:copy|kopie|copie|copia)(?: \d{1,2}| \(\d{1,2}\))?"
    r"| \(\d{1,2}\))\Z",
    re.IGNORECASE,
)
_JOINERS = re.compile("[\u200c\u200d]")  # Persian and Hindi are spelt with them, families joined


def without_copy_mark(name: str) -> str:
    """Return the name, without its suffix, of the file that one of this name was copied from."""
    return _COPY_MARK.sub("", name) or name


def is_no_note(name: str) -> bool:
    """Whether a file or folder is none of a person's: hidden, or an Office program's lock file."""
    return name.startswith((".", "~$"))


def is_device(name: str) -> bool:
    """Whether Windows keeps a name, whatever its ending, for a device."""
    return name.strip().split(".")[0].strip().lower() in _DEVICES


def without_joiners(name: str) -> str:
    """Return a name without the invisible characters that scripts are spelt with."""
    return _JOINERS.sub("", name)
