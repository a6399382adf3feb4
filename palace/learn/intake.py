"""An import at work: what it takes into a palace, one thing after the other, and its count.

In: names, places and bytes. Out: files and records that are new in the palace, and the count of
what was added, found there already, redacted, left out and refused. What is there is never touched.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from palace.errors import WriteConflictError
from palace.learn.formats import Format
from palace.learn.json_stream import UTF16_MARKS
from palace.learn.places import place_reason
from palace.learn.record_files import missing_lines, record_place_reason
from palace.learn.transfer import said
from palace.ports import BulkStore
from palace.privacy import PrivacyFilter
from palace.secrets import redact
from palace.types.memory import IDENTITY_FILE, MAX_IDENTITY_CHARS, Memory

DIFFERS = "differs from the palace's own"
_SAVED = "save it as UTF-8 in your editor, then import it again"
EDITED = f"{DIFFERS}, which nobody touched since it was imported: --update takes it"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that was not taken, or not as it was, and why.

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
        added: Files, turns or memories (see `unit`) that are new in the palace.
        unchanged: Those that were there already.
        refused: What was left out because something speaks against it, with the reasons.
        paths: Files of the palace that were written, relative to its root.
        redacted: What was taken without the secrets or the personal data in it.
        ignored: What is not meant to be taken: ignored files, links, tool messages, drawings.
        dry_run: Nothing was written; this is what an import would do.
        records: Records of the journal and notes that are new in the palace.
        updated: Files that took the place of what an import had brought from there before.
    """

    kind: Format
    added: int = 0
    unchanged: int = 0
    refused: tuple[Refusal, ...] = ()
    paths: tuple[str, ...] = ()
    redacted: tuple[Refusal, ...] = ()
    ignored: tuple[Refusal, ...] = ()
    dry_run: bool = False
    records: int = 0
    updated: int = 0

    @property
    def unit(self) -> str:
        """What is counted: `files`, `turns` or `memories`."""
        if self.kind in ("markdown", "obsidian", "keep", "export"):
            return "files"
        return "memories" if self.kind == "mem0" else "turns"


@dataclass(frozen=True, slots=True)
class Destination:
    """Where an import writes.

    Attributes:
        root: The palace, or a copy of it.
        home: Where the palace itself stands.
        store: Its Markdown.
        write_file: Writes one file, given its path relative to the root, its bytes and those that
            stand there, None for a new one; a `WriteConflictError` says that there are others by
            now.
        known: Returns the memories the palace holds, inactive ones included.
        fit: Returns a text as a memory is stored, or raises `TextRefusedError`.
        privacy: What may be written.
        records: Where `journal` and `scratchpad` stand; what is not named takes no records.
        append: Adds whole lines to such a file, made if it is missing; the usual one adds nothing.
        brought: Path of a file -> from where an import brought it, and the digest of its bytes.
        update: Whether what was edited at its source since takes the place of what was brought.
    """

    root: Path
    home: Path
    store: BulkStore
    write_file: Callable[[str, bytes, bytes | None], None]
    known: Callable[[], Iterable[Memory]] = tuple
    fit: Callable[[str], str] = str.strip
    privacy: PrivacyFilter = field(default_factory=PrivacyFilter)
    records: Mapping[str, Path] = field(default_factory=dict)
    append: Callable[[Path, bytes], None] = lambda _file, _lines: None
    brought: dict[str, tuple[str, str]] = field(default_factory=dict)
    update: bool = False


@dataclass(slots=True)
class Intake:
    """Takes things into a palace one by one and keeps count; what is there is never touched."""

    to: Destination
    kind: Format
    added: int = 0
    unchanged: int = 0
    paths: dict[str, None] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    redacted: list[Refusal] = field(default_factory=list)
    ignored: list[Refusal] = field(default_factory=list)
    records: int = 0
    updated: int = 0
    former: Mapping[int, Sequence[str]] = field(default_factory=dict)

    def refuse(self, name: str, reason: str) -> None:
        """Tell of something that is left out because something speaks against it."""
        self.refused.append(Refusal(_printable(name), reason))

    def ignore(self, name: str, reason: str) -> None:
        """Tell of something that is not meant to be taken."""
        self.ignored.append(Refusal(_printable(name), reason))

    def cleaned(self, name: str, text: str) -> str | None:
        """Return a text as it may be written, or None after refusing it."""
        reason = self.to.privacy.refusal(text)
        if reason:
            self.refuse(name, reason)
            return None
        shown = self.to.privacy.shown(text)
        if shown != text:
            self.redacted.append(Refusal(_printable(name), "taken without what is private in it"))
        return shown

    def take(
        self, name: str, target: str, data: bytes, *, as_text: bool = True, origin: str = ""
    ) -> None:
        """Write one file unless something speaks against it.

        Args:
            name: What the source calls it.
            target: Its path in the palace.
            data: Its bytes.
            as_text: Whether bytes that are no text are refused.
            origin: The file it is read from; only from there it is brought forward.
        """
        reason = place_reason(target) or self.to.privacy.name_refusal(target)
        reason = reason or _content_reason(target, data, as_text=as_text)
        if reason:
            return self.refuse(name, reason)
        text = data.decode("utf-8", "surrogateescape")
        shown = self.cleaned(name, text)
        if shown is None:
            return None
        if shown != text:
            data = shown.encode("utf-8", "surrogateescape")
        path = Path(os.path.realpath(self.to.root / target))
        if not path.is_relative_to(os.path.realpath(self.to.root)):
            return self.refuse(name, "its place in the palace is a link that leads out of it")
        try:
            if not path.exists() and (former := self._former_place(data)):
                self.ignore(name, f"{former} has the same words already")
            elif not path.exists() and self._written(target, data):
                self.added += 1
                self.paths[target] = None
                self._remember(target, data, origin)
            elif path.is_file():
                self._take_again(name, target, data, there=path.read_bytes(), origin=origin)
            else:
                self.refuse(name, DIFFERS)
        except OSError as error:
            self.refuse(name, f"its place in the palace cannot be used: {said(error)}")
        return None

    def _take_again(
        self, name: str, target: str, data: bytes, *, there: bytes, origin: str
    ) -> None:
        """Take a file where there is one: the same, or what was brought from there before."""
        is_as_brought = bool(origin) and self.to.brought.get(target) == (origin, _digest(there))
        if there == data:
            self.unchanged += 1
            self._remember(target, data, origin)
        elif not is_as_brought or not data.strip():
            self.refuse(name, DIFFERS)
        elif not self.to.update:
            self.refuse(name, EDITED)
        elif self._written(target, data, replaces=there):
            self.updated += 1
            self.paths[target] = None
            self._remember(target, data, origin)
        else:
            self.refuse(name, DIFFERS)

    def _remember(self, target: str, data: bytes, origin: str) -> None:
        """Note from where a file is as it is; what an export holds is from no file."""
        if origin:
            self.to.brought[target] = (origin, _digest(data))

    def _former_place(self, data: bytes) -> str:
        """Return where a note was taken in under a name that its source no longer has, or ""."""
        alike = self.former.get(len(data), ()) if data.strip() else ()
        return next((path for path in alike if (self.to.root / path).read_bytes() == data), "")

    def _written(self, target: str, data: bytes, *, replaces: bytes | None = None) -> bool:
        """Write a file; no if somebody else was quicker."""
        try:
            self.to.write_file(target, data, replaces)
        except WriteConflictError:
            return False
        return True

    def take_records(self, path: str, data: bytes) -> None:
        """Add the records of a file of journal or notes that are not there yet."""
        folder = self.to.records.get(path.partition("/")[0])
        reason = record_place_reason(path) or self.to.privacy.name_refusal(path)
        if reason:
            return self.refuse(path, reason)
        if folder is None:
            return None
        file = folder / path.partition("/")[2]
        there = file.read_bytes() if file.is_file() else b""
        lines = [self._fit_line(path, line) for line in missing_lines(there, data.split(b"\n"))]
        fit = [line for line in lines if line is not None]
        if fit:
            self.to.append(file, b"".join(line + b"\n" for line in fit))
            self.records += len(fit)
        return None

    def _fit_line(self, path: str, line: bytes) -> bytes | None:
        """Return a record as it may be written, None after refusing one that may not."""
        text = line.decode("utf-8", "surrogateescape")
        shown = self.cleaned(path, text)
        return None if shown is None else shown.encode("utf-8", "surrogateescape")

    def done(self) -> Imported:
        """Return what the import did so far."""
        return Imported(
            self.kind,
            self.added,
            self.unchanged,
            tuple(self.refused),
            tuple(self.paths),
            tuple(self.redacted),
            tuple(self.ignored),
            records=self.records,
            updated=self.updated,
        )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _content_reason(target: str, data: bytes, *, as_text: bool) -> str:
    """Say why bytes may not become a file of the palace, or "" if they may."""
    if as_text and data.startswith(UTF16_MARKS):
        return f"it is written in UTF-16, not in UTF-8; {_SAVED}"
    if as_text and b"\0" in data:
        return "it is binary: it has NUL bytes"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if as_text:
            line = data.count(b"\n", 0, error.start) + 1
            return f"it is not UTF-8 text, first at line {line}; {_SAVED}"
        text = data.decode("utf-8", "replace")
    chars = len(text.replace("\r\n", "\n").rstrip("\r\n"))
    if target == IDENTITY_FILE and chars > MAX_IDENTITY_CHARS:
        return f"the identity has {chars} of at most {MAX_IDENTITY_CHARS} characters"
    return ""


def _printable(name: str) -> str:
    return redact(name.encode("utf-8", "replace").decode())
