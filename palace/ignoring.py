"""Files that their owner keeps from programs: `.gitignore`, `.secretsignore`, names of secrets.

In: a path below a folder. Out: why it is not read, or "". Rules are git's own: patterns of deeper
folders win over those above, `!` takes a file back in, and nothing below an ignored folder is
taken back. Both kinds of files are read up to the top of the repository the folder lies in;
`.secretsignore` has the same form, and no `.gitignore` takes back what it names.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".secretsignore")
_MAX_BYTES = 1_000_000
_SECRET_NAMES = (
    *(".git", ".ssh", ".gnupg", ".aws", ".kube", ".docker", ".netrc", ".pgpass", ".htpasswd"),
    *(".npmrc", ".pypirc", ".git-credentials", "credentials", "shadow"),
    *(".env", ".env.*", "*.env", ".envrc", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk"),
)
_HARMLESS_NAMES = ("*.pub", ".env.example", ".env.sample", ".env.template", ".env.dist")


def secret_name(path: Path) -> str:
    """Return the part of a path under whose name secrets are usually kept, or ""."""
    for part in path.parts:
        name = part.lower()
        harmless = any(fnmatchcase(name, pattern) for pattern in _HARMLESS_NAMES)
        if not harmless and any(fnmatchcase(name, pattern) for pattern in _SECRET_NAMES):
            return part
    return ""


class IgnoreRules:
    """The ignore files that hold for one folder and everything below it.

    They are read when first needed and kept; make new rules for a new look.

    Args:
        folder: Absolute.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._top = _repository_of(folder)
        self._spec = cache(_read_spec)
        if self._top != folder and self._found(folder, first=1, is_folder=True):
            # A person named a folder that the repository ignores: only its own rules hold.
            self._top = folder

    def reason(self, path: Path) -> str:
        """Return which ignore file keeps a path from being read, or "".

        Args:
            path: Absolute, below the folder, without `..`; it need not exist.
        """
        if not path.is_relative_to(self._folder):
            return ""
        first = len(self._folder.relative_to(self._top).parts) + 1
        return self._found(path, first=first, is_folder=False)

    def _found(self, path: Path, *, first: int, is_folder: bool) -> str:
        """Return which file names a path or one of its folders, from the first-th part on."""
        parts = path.relative_to(self._top).parts
        for name in IGNORE_FILES:
            for depth in range(first, len(parts) + 1):
                is_inner = is_folder or depth < len(parts)
                if self._is_ignored(name, parts[:depth], is_folder=is_inner):
                    return f"{name} names it"
        return ""

    def _is_ignored(self, name: str, parts: tuple[str, ...], *, is_folder: bool) -> bool:
        for depth in range(len(parts) - 1, -1, -1):
            spec = self._spec(self._top.joinpath(*parts[:depth], name))
            if spec is not None:
                relative = "/".join(parts[depth:]) + ("/" if is_folder else "")
                found = spec.check_file(relative).include
                if found is not None:
                    return found
        return False


def _repository_of(folder: Path) -> Path:
    """Return the top of the git repository a folder lies in, or the folder itself."""
    for place in (folder, *folder.parents):
        if (place / ".git").exists():
            return place
    return folder


def _read_spec(file: Path) -> GitIgnoreSpec | None:
    try:
        if not file.is_file() or file.stat().st_size > _MAX_BYTES:
            return None
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    from pathspec import GitIgnoreSpec

    # A line that is no pattern hides nothing; the others still hold.
    return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
