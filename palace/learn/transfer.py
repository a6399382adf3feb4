"""Memory on its way out: an export from which an empty palace becomes equal to this one.

In: the palace's root and the files a person owns there. Out: one JSON file, or a folder of
Markdown; `palace.learn.importing` reads both.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from palace.errors import ConfigError, StoreUnavailableError
from palace.portable import is_no_note
from palace.types.memory import PLAYBOOKS, ROOMS, SUFFIX, TIMELINE, Memory
from palace.whole_files import make_folder, write_whole

FORMAT = "mempalace-export"
VERSION = 1
FOLDERS = (ROOMS, PLAYBOOKS, TIMELINE)
OTHER_TEXTS = frozenset({".markdown", ".mdown", ".mdx", ".mkd", ".org", ".rst", ".txt"})
_OTHER_NOTES = OTHER_TEXTS | frozenset(
    {".adoc", ".canvas", ".csv", ".docx", ".enex", ".htm", ".html", ".odt", ".rtf"}
)
_NOT_MARKDOWN = f"its name does not end in {SUFFIX}"


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote.

    Attributes:
        path: Where.
        files: How many files of the palace.
        memories: How many memories they hold.
        records: How many files of the journal and of notes.
    """

    path: Path
    files: int
    memories: int
    records: int = 0


def export_json(
    root: Path,
    target: Path,
    *,
    files: Sequence[str],
    memories: Sequence[Memory],
    records: Mapping[str, Path] = MappingProxyType({}),
) -> Exported:
    """Write everything a person owns in the palace to one JSON file, byte for byte.

    That is `identity.txt`, the Markdown of rooms, playbooks and timeline, the journal and the notes
    of the scratchpad. Settings and the derived `.palace` are not exported. Nothing is redacted: the
    files are the person's own.

    Args:
        root: The palace.
        target: The file to write; it must not exist. New: 0600.
        files: What a person owns, as paths below the root.
        memories: Written beside the files, for readers; an import takes the files alone.
        records: Files of journal and notes to export, by their path in the export.

    Raises:
        ConfigError: If the target exists or its folder does not.
        StoreUnavailableError: If a file cannot be read or written.
    """
    with _written(target):
        if target.exists() or target.is_symlink():
            raise ConfigError(
                f"{target} exists already", hint="name a file that does not exist yet"
            )
        if not target.parent.is_dir():
            raise ConfigError(f"there is no folder {target.parent}", hint="make it first")
    own = [_file_entry(path, _read(root / path)) for path in files]
    kept = [_file_entry(path, _read(file)) for path, file in records.items()]
    text = json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "files": own,
            "records": kept,
            "memories": [asdict(memory) for memory in memories],
        },
        ensure_ascii=False,
        indent=1,
        default=datetime.isoformat,
    )
    with _written(target):
        # A lone surrogate cannot be UTF-8; its backslash escape is the same character to JSON.
        write_whole(target, f"{text}\n".encode("utf-8", "backslashreplace"))
    return Exported(target, len(own), len(memories), len(kept))


def export_markdown(
    root: Path,
    target: Path,
    *,
    files: Sequence[str],
    memories: Sequence[Memory],
    records: Mapping[str, Path] = MappingProxyType({}),
) -> Exported:
    """Copy everything a person owns in the palace to a folder; see `export_json` for what that is.

    Args:
        root: The palace.
        target: The folder; made if needed (0700), else it must be empty and outside the palace.
        files: As in `export_json`.
        memories: What the files hold; they are only counted.
        records: As in `export_json`.

    Raises:
        ConfigError: If the target is a file, is not empty, or is part of the palace.
        StoreUnavailableError: If a file cannot be read or written.
    """
    if Path(os.path.realpath(target)).is_relative_to(os.path.realpath(root)):
        raise ConfigError(f"{target} is part of the palace", hint="name a folder outside of it")
    with _written(target):
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise ConfigError(
                f"{target} exists and is not an empty folder", hint="name a new or empty folder"
            )
        make_folder(target)
        for path, file in {**{path: root / path for path in files}, **records}.items():
            write_whole(target / path, _read(file))
    return Exported(target, len(files), len(memories), len(records))


@contextmanager
def _written(target: Path) -> Iterator[None]:
    """Turn what the file system refuses meanwhile into an error that names the target."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailableError(
            f"the export to {target} failed: {said(error)}", hint="check the disk and the folder"
        ) from error


# Folders


def markdown_files(
    folder: Path,
    *,
    unread: Callable[[str, str], None] | None = None,
    left: Callable[[str, str], None] | None = None,
) -> Iterator[str]:
    """Yield the Markdown files below a folder as relative paths, no hidden or lock files, no links.

    Args:
        folder: Where to look; nothing is found if it is missing.
        unread: Called with each folder below it that cannot be read, and why.
        left: Called with each link, and each file that may hold notes in another form, and why.

    Raises:
        OSError: If the folder itself cannot be read.
    """
    pending = [("", folder)] if folder.is_dir() else []
    while pending:
        prefix, current = pending.pop()
        try:
            entries = sorted(current.iterdir())
        except OSError as error:
            if not prefix:
                raise
            if unread is not None:
                unread(prefix, f"it cannot be read: {said(error)}")
            continue
        for entry in entries:
            if is_no_note(entry.name):
                continue
            is_link = entry.is_symlink()
            if entry.is_dir() and not is_link:
                pending.append((f"{prefix}{entry.name}/", entry))
            elif entry.name[-3:].lower() == SUFFIX and entry.is_file() and not is_link:
                yield prefix + entry.name
            elif left is not None and (is_link or entry.suffix.lower() in _OTHER_NOTES):
                left(prefix + entry.name, "it is a link" if is_link else _NOT_MARKDOWN)


def _file_entry(path: str, data: bytes) -> dict[str, str]:
    try:
        return {"path": path, "text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"path": path, "base64": base64.b64encode(data).decode()}


# Files


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise StoreUnavailableError(
            f"{file} cannot be read: {said(error)}", hint="check its permissions"
        ) from error


def said(error: OSError) -> str:
    """Return what the operating system said, without the path."""
    return error.strerror or str(error)
