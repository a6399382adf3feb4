"""Memory on its way in and out: folders of Markdown, conversation turns, and our own exports.

In: a path somebody named, or the palace's root. Out: what was added, found unchanged and refused;
or an export from which an empty palace becomes equal to this one.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import secrets as _random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

import regex

from palace.errors import ConfigError, StoreUnavailableError
from palace.learn.places import SUFFIX, place_reason, room_reason
from palace.learn.turns import read_turns
from palace.secrets import describe, find_secrets
from palace.types import ConversationTurn, Memory

FORMAT = "mempalace-export"
VERSION = 1
IDENTITY = "identity.txt"
MAX_IDENTITY_CHARS = 1000
FOLDERS = ("rooms", "playbooks", "timeline")
DIFFERS = "differs from the palace's own"
SUPPORTED = (
    "supported are a folder of Markdown files, a .md file, a .jsonl file of conversation turns"
    " (session, speaker, text, at) and a .json export of a palace"
)

Progress = Callable[[int, int], object]
_STAMPED = regex.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d\] ", regex.MULTILINE)
_NOT_NOTES = frozenset({"config", "scratchpad", "journal"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that was not taken, and why.

    Attributes:
        path_or_line: The file, relative to the source, or `file:line`.
        reason: For a person; never holds a secret's value.
    """

    path_or_line: str
    reason: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did.

    Attributes:
        kind: What the source was.
        added: Files, or conversation turns, that are new in the palace.
        unchanged: Files, or turns, that were there already.
        refused: What was left out, with the reasons.
        paths: Files of the palace that were written, relative to its root.
    """

    kind: Literal["markdown", "turns", "export"]
    added: int = 0
    unchanged: int = 0
    refused: tuple[Refusal, ...] = ()
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote: where, how many files, and how many memories they hold."""

    path: Path
    files: int
    memories: int


@dataclass(slots=True)
class _Intake:
    """Takes files into a palace one by one: new ones are written, others never touched."""

    root: Path
    write_file: Callable[[str, bytes], None]
    added: list[str] = field(default_factory=list)
    unchanged: int = 0
    refused: list[Refusal] = field(default_factory=list)

    def refuse(self, name: str, reason: str) -> None:
        self.refused.append(Refusal(name.encode("utf-8", "replace").decode(), reason))

    def take(self, name: str, target: str, data: bytes, *, as_text: bool = True) -> None:
        """Write one file unless something speaks against it.

        Args:
            name: What the source calls it.
            target: Its path in the palace.
            data: Its bytes.
            as_text: Whether bytes that are no text are refused.
        """
        reason = place_reason(target) or _content_reason(target, data, as_text=as_text)
        if reason:
            return self.refuse(name, reason)
        path = Path(os.path.realpath(self.root / target))
        if not path.is_relative_to(os.path.realpath(self.root)):
            return self.refuse(name, "its place in the palace is a link that leads out of it")
        try:
            if not path.exists():
                self.write_file(target, data)
                self.added.append(target)
            elif path.is_file() and path.read_bytes() == data:
                self.unchanged += 1
            else:
                self.refuse(name, DIFFERS)
        except OSError as error:
            self.refuse(name, f"its place in the palace cannot be used: {_said(error)}")
        return None

    def done(self, kind: Literal["markdown", "export"]) -> Imported:
        return Imported(
            kind, len(self.added), self.unchanged, tuple(self.refused), tuple(self.added)
        )


def import_path(
    source: Path,
    *,
    root: Path,
    write_file: Callable[[str, bytes], None],
    append_turns: Callable[[Sequence[ConversationTurn]], list[str]],
    progress: Progress | None = None,
) -> Imported:
    """Import whatever a path holds; doing it again changes nothing.

    A folder that looks like a palace (it has `rooms/` or `identity.txt`) keeps its places, its
    settings are not taken. The Markdown of any other folder is copied byte for byte below
    `rooms/`, by subfolder, files at the top to a room with the folder's own name. A single `.md`
    file goes to the room `inbox`. Hidden names and symlinks are left out. What the palace has
    already under another content is never overwritten.

    Args:
        source: A folder, `.md`, `.jsonl` (conversation turns) or `.json` (an export).
        root: The palace.
        write_file: Writes one new file, given its path relative to the root and its bytes.
        append_turns: Adds the turns that are not there yet; returns the paths that changed.
        progress: Called with (files or lines done, to do).

    Raises:
        ConfigError: If the source is missing or nothing of this; names file and line.
    """
    intake = _Intake(root, write_file)
    suffix = source.suffix.lower()
    try:
        if source.is_dir():
            return _import_folder(source, intake, progress)
        if not source.is_file():
            raise ConfigError(f"there is nothing to import at {source}", hint=SUPPORTED)
        if suffix == SUFFIX:
            _take_file(source, source.name, f"rooms/inbox/{source.name}", intake)
            return intake.done("markdown")
        if suffix == ".jsonl":
            return _import_turns(source, root, append_turns, progress)
        if suffix == ".json":
            return _import_export(source, intake, progress)
    except OSError as error:
        raise ConfigError(f"{source} cannot be read: {_said(error)}", hint=SUPPORTED) from error
    raise ConfigError(f"{source} cannot be imported: its suffix says nothing", hint=SUPPORTED)


def export_json(root: Path, target: Path, *, memories: Sequence[Memory]) -> Exported:
    """Write everything a person owns in the palace to one JSON file, byte for byte.

    That is `identity.txt` and the Markdown of rooms, playbooks and timeline. Scratchpad, journal,
    settings and the derived `.palace` are not exported. Nothing is redacted: the files are the
    person's own.

    Args:
        root: The palace.
        target: The file to write; it must not exist. New: 0600.
        memories: Written beside the files, for readers; an import takes the files alone.

    Raises:
        ConfigError: If the target exists or its folder does not.
        StoreUnavailableError: If a file cannot be read or written.
    """
    if target.exists() or target.is_symlink():
        raise ConfigError(f"{target} exists already", hint="name a file that does not exist yet")
    if not target.parent.is_dir():
        raise ConfigError(f"there is no folder {target.parent}", hint="make it first")
    files = [_file_entry(path, _read(root, path)) for path in own_files(root)]
    text = json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "files": files,
            "memories": [_memory_entry(memory) for memory in memories],
        },
        ensure_ascii=False,
        indent=1,
    )
    # A lone surrogate cannot be UTF-8; its backslash escape is the same character to JSON.
    _write_whole(target, f"{text}\n".encode("utf-8", "backslashreplace"))
    return Exported(target, len(files), len(memories))


def export_markdown(root: Path, target: Path, *, memories: Sequence[Memory]) -> Exported:
    """Copy everything a person owns in the palace to a folder; see `export_json` for what that is.

    Args:
        root: The palace.
        target: The folder; made if needed (0700), else it must be empty and outside the palace.
        memories: What the files hold; they are only counted.

    Raises:
        ConfigError: If the target is a file, is not empty, or is part of the palace.
        StoreUnavailableError: If a file cannot be read or written.
    """
    if Path(os.path.realpath(target)).is_relative_to(os.path.realpath(root)):
        raise ConfigError(f"{target} is part of the palace", hint="name a folder outside of it")
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise ConfigError(
                f"{target} exists and is not an empty folder", hint="name a new or empty folder"
            )
        paths = own_files(root)
        _make_folder(target)
        for path in paths:
            _make_folder((target / path).parent)
            _write_whole(target / path, _read(root, path))
    except OSError as error:
        raise StoreUnavailableError(
            f"the export to {target} failed: {_said(error)}", hint="check the disk and the folder"
        ) from error
    return Exported(target, len(paths), len(memories))


def own_files(root: Path) -> list[str]:
    """Return what a person owns in a palace, as paths relative to its root, sorted.

    Symlinks are followed inside the palace only, each real folder once. Names that the palace does
    not read (backslashes, bytes that are not UTF-8) are left out.

    Raises:
        StoreUnavailableError: If a folder cannot be read.
    """
    found = [IDENTITY] if (root / IDENTITY).is_file() and _inside(root / IDENTITY, root) else []
    for folder in FOLDERS:
        try:
            found += [f"{folder}/{path}" for path in _markdown(root / folder, inside=root)]
        except OSError as error:
            raise StoreUnavailableError(
                f"{root / folder} cannot be read: {_said(error)}", hint="check its permissions"
            ) from error
    return sorted(path for path in found if _is_read(path))


def _is_read(path: str) -> bool:
    """Whether the palace reads such a path, whatever it would call a new one."""
    is_text = path.encode("utf-8", "replace").decode() == path
    nested = path.startswith("playbooks/") and path.count("/") > 1
    return is_text and "\\" not in path and not nested


# Folders


def _import_folder(source: Path, intake: _Intake, progress: Progress | None) -> Imported:
    real = Path(os.path.realpath(source))
    root = Path(os.path.realpath(intake.root))
    if real != root and real.is_relative_to(root):
        raise ConfigError(f"{source} is part of this palace already", hint=SUPPORTED)
    is_palace = (source / "rooms").is_dir() or (source / IDENTITY).is_file()
    paths = sorted(_markdown(source, inside=None))
    if is_palace:
        paths = [path for path in paths if path.split("/")[0] not in _NOT_NOTES]
        if (source / IDENTITY).is_file() and not (source / IDENTITY).is_symlink():
            paths.insert(0, IDENTITY)
    elif not paths:
        raise ConfigError(f"{source} holds no Markdown files", hint=SUPPORTED)
    for number, path in enumerate(paths, 1):
        if is_palace:
            _take_file(source / path, path, path, intake)
        else:
            room = path.rpartition("/")[0] or real.name
            reason = room_reason(room)
            if reason:
                intake.refuse(path, reason)
            else:
                _take_file(source / path, path, f"rooms/{room}/{path.rpartition('/')[2]}", intake)
        if progress:
            progress(number, len(paths))
    return intake.done("markdown")


def _take_file(source: Path, name: str, target: str, intake: _Intake) -> None:
    try:
        data = source.read_bytes()
    except OSError as error:
        intake.refuse(name, f"it cannot be read: {_said(error)}")
        return
    intake.take(name, target, data)


def _markdown(folder: Path, *, inside: Path | None) -> Iterator[str]:
    """Yield the Markdown files below a folder as relative paths, hidden names left out.

    Args:
        folder: Where to look; nothing is found if it is missing.
        inside: Symlinks are followed that lead nowhere else; None follows none.
    """
    pending = [("", folder)] if folder.is_dir() else []
    seen: set[str] = set()
    while pending:
        prefix, current = pending.pop()
        real = os.path.realpath(current)
        if real in seen:
            continue
        seen.add(real)
        for entry in sorted(current.iterdir()):
            allowed = _inside(entry, inside) if inside else not entry.is_symlink()
            if entry.name.startswith(".") or not allowed:
                continue
            if entry.is_dir():
                pending.append((f"{prefix}{entry.name}/", entry))
            elif entry.name[-3:].lower() == SUFFIX and entry.is_file():
                yield prefix + entry.name


def _inside(path: Path, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _content_reason(target: str, data: bytes, *, as_text: bool) -> str:
    """Say why bytes may not become a file of the palace, or "" if they may."""
    if as_text and b"\0" in data:
        return "it is binary: it has NUL bytes"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if as_text:
            line = data.count(b"\n", 0, error.start) + 1
            return f"it is not UTF-8 text, first at line {line}"
        text = data.decode("utf-8", "replace")
    findings = find_secrets(text)
    if findings:
        return f"it holds a secret: {describe(findings, text)}"
    chars = len(text.replace("\r\n", "\n").rstrip("\r\n"))
    if target == IDENTITY and chars > MAX_IDENTITY_CHARS:
        return f"the identity has {chars} of at most {MAX_IDENTITY_CHARS} characters"
    return ""


# Conversation turns


def _import_turns(
    source: Path,
    root: Path,
    append_turns: Callable[[Sequence[ConversationTurn]], list[str]],
    progress: Progress | None,
) -> Imported:
    turns, lines = read_turns(source, progress=progress)
    pages = {f"timeline/{turn.at.astimezone(timezone.utc):%Y-%m-%d}.md" for turn in turns}
    before = Counter({page: _stamps(root / page) for page in pages})
    changed = append_turns(turns) if turns else []
    added = sum(_stamps(root / page) - before[page] for page in changed)
    return Imported(
        "turns",
        added,
        len(turns) - added,
        tuple(Refusal(f"{source.name}:{found.line}", found.reason) for found in lines),
        tuple(changed),
    )


def _stamps(page: Path) -> int:
    """Count the turns of a timeline page; only they start a line with a stamp."""
    try:
        return len(_STAMPED.findall(page.read_text("utf-8", "replace")))
    except FileNotFoundError:
        return 0


# Exports


def _import_export(source: Path, intake: _Intake, progress: Progress | None) -> Imported:
    entries = _export_entries(source)
    for number, entry in enumerate(entries, 1):
        path = entry.get("path") if isinstance(entry, Mapping) else None
        name = path if isinstance(path, str) else f"file {number}"
        data = _entry_bytes(entry)
        if not isinstance(path, str) or data is None:
            intake.refuse(name, "it has no path, or neither text nor base64")
        else:
            intake.take(name, path, data, as_text=False)
        if progress:
            progress(number, len(entries))
    return intake.done("export")


def _export_entries(source: Path) -> list[Any]:
    try:
        data = json.loads(source.read_bytes().decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{source}:{error.lineno}: it is not JSON: {error.msg}", hint=SUPPORTED
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{source}:1: it is not JSON in UTF-8", hint=SUPPORTED) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ConfigError(f"{source}:1: it is no export of a palace", hint=SUPPORTED)
    if data.get("version") != VERSION:
        raise ConfigError(
            f"{source}:1: it is an export of version {str(data.get('version'))[:20]},"
            f" known is {VERSION}",
            hint="use the version of this program that wrote it, or a newer one",
        )
    entries = data.get("files")
    if not isinstance(entries, list):
        raise ConfigError(f"{source}:1: the export has no list of files", hint=SUPPORTED)
    return entries


def _entry_bytes(entry: object) -> bytes | None:
    if not isinstance(entry, Mapping):
        return None
    text, encoded = entry.get("text"), entry.get("base64")
    if isinstance(text, str):
        with suppress(UnicodeEncodeError):
            return text.encode()
    elif isinstance(encoded, str):
        with suppress(binascii.Error, ValueError):
            return base64.b64decode(encoded, validate=True)
    return None


def _file_entry(path: str, data: bytes) -> dict[str, str]:
    try:
        return {"path": path, "text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"path": path, "base64": base64.b64encode(data).decode()}


def _memory_entry(memory: Memory) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(memory).items()
    }


# Files


def _read(root: Path, path: str) -> bytes:
    try:
        return (root / path).read_bytes()
    except OSError as error:
        raise StoreUnavailableError(
            f"{path} cannot be read: {_said(error)}", hint="check its permissions"
        ) from error


def _write_whole(target: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    temporary = target.with_name(f".{_random.token_hex(8)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(target)
    except OSError as error:
        raise StoreUnavailableError(
            f"{target} cannot be written: {_said(error)}", hint="check the disk and the folder"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _said(error: OSError) -> str:
    return error.strerror or str(error)
