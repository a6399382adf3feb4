"""Names that a file must not have on one system or another; all other modules may ask.

In: a name. Out: what speaks against it, whether it is no note or kept for a device, and what it
has in common with other names of the same file and of its copies.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

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
_DRIVE = re.compile(r"[A-Za-z]:")
_JOINERS = re.compile("[\u200c\u200d]")  # Persian and Hindi are spelt with them, families joined


def fold_case(name: str) -> str:
    """Return the form under which two names mean the same file on any file system."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


@lru_cache(maxsize=4096)  # of all evidence it is asked whether it stands in a copy
def without_copy_mark(name: str) -> str:
    """Return the name, without its suffix, of the file that one of this name was copied from."""
    return _COPY_MARK.sub("", name) or name


@lru_cache(maxsize=4096)
def copied_from(name: str) -> str:
    """Return what the names of a file and of its copies have in common, without their suffix."""
    return fold_case(without_copy_mark(name))


def is_no_note(name: str) -> bool:
    """Whether a file or folder is none of a person's: hidden, or an Office program's lock file."""
    return name.startswith((".", "~$"))


def is_device(name: str) -> bool:
    """Whether Windows keeps a name, whatever its ending, for a device."""
    return name.strip().split(".")[0].strip().lower() in _DEVICES


def name_fault(name: str) -> str:
    """Say what speaks against a folder or file of this name, as "is empty"; "" if nothing does."""
    # A look-alike may turn into a separator or `..` only when normalised: check both forms.
    forms = (name, unicodedata.normalize("NFKC", name))
    return next((fault for form in forms if (fault := _fault(form))), "")


def _fault(name: str) -> str:
    bare = name.strip()
    categories = {unicodedata.category(char) for char in _JOINERS.sub("", name)}
    faults = (
        (not bare, "is empty"),
        ("Cc" in categories, "has a control character"),
        ("Cf" in categories, "has an invisible or direction-changing character"),
        (bool(categories & {"Cs", "Zl", "Zp"}), "has a character that no file name may have"),
        (bare in {".", ".."}, "is a parent reference"),
        (bare.startswith("/"), "is an absolute path"),
        ("/" in name, "has a path separator"),
        ("\\" in name, "has a backslash"),
        (bool(_DRIVE.match(bare)), "starts with a drive letter"),
        (bare.startswith("."), "starts with a dot, which hides it"),
        (is_device(name), "is a reserved device name"),
    )
    return next((fault for failed, fault in faults if failed), "")
