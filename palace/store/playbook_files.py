"""Playbooks: documented procedures, one Markdown file each.

In: files that people wrote. Out: playbooks with their triggers, warnings and numbered steps, each
as the one memory that it is in the index, and faults for what could not be understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from palace.errors import StoreUnavailableError
from palace.store.blocks import find_blocks, split_lines
from palace.store.comments import clean
from palace.store.files import digest, read_bytes, refusals
from palace.store.front_matter import text_list
from palace.store.markdown import decode, parse
from palace.store.names import refuse_unsafe, resolve_inside, safe_component, without_suffix
from palace.store.tree import existing_name, faults_of, scan_files
from palace.types.memory import PLAYBOOKS, SUFFIX, Document, Fault, FileStamp, Memory, Playbook

_LISTS = ("triggers", "prerequisites", "warnings")


@dataclass(frozen=True, slots=True)
class _Parts:
    """A playbook file taken apart: its digest, its playbook and its faults."""

    digest: str
    playbook: Playbook
    faults: tuple[Fault, ...]


class PlaybookFiles:
    """The playbooks of one palace.

    Any call may raise `StoreUnavailableError`, where a file or folder cannot be read, and
    `UnsafeNameError`, where a name or path leads out of the palace.

    Args:
        root: The palace; its playbooks are `playbooks/*.md`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def scan(self) -> list[FileStamp]:
        """Return a stamp for every playbook file, sorted by path."""
        return self.look()[0]

    def look(self) -> tuple[list[FileStamp], list[Fault]]:
        """Return what `scan` does, and what could not be read."""
        stamps, faults = self._scan()
        return [stamp for stamp in stamps if stamp.path.count("/") == 1], faults

    def all(self) -> list[Playbook]:
        """Return every playbook that can be read, sorted by path."""
        found = []
        for stamp in self.scan():
            with suppress(StoreUnavailableError):  # `faults` names it, and so does every miss
                found.append(self._read(stamp.path).playbook)
        return found

    def get(self, name: str) -> Playbook:
        """Return one playbook by its name, whatever its case.

        Raises:
            MemoryNotFoundError: If there is none.
            UnsafeNameError: If the name is unsafe.
        """
        return self._read(self._path(name)).playbook

    def read(self, path: str) -> Document:
        """Return a file that `scan` has found, whatever its name, as a document of one memory.

        Raises:
            MemoryNotFoundError: If it is gone.
        """
        parts = self._read(path)
        return Document(path, parts.digest, parts.playbook.title, (), (as_memory(parts.playbook),))

    def faults(self) -> list[Fault]:
        """Return everything that was left out or not understood, in all playbooks."""
        stamps, faults = self._scan()
        nested = [stamp.path for stamp in stamps if stamp.path.count("/") > 1]
        faults += [Fault(path, 1, "it is not read: playbooks are in no folder") for path in nested]
        return [*faults, *faults_of(self._read, self.scan())]

    def _scan(self) -> tuple[list[FileStamp], list[Fault]]:
        return scan_files(self.root, (PLAYBOOKS,))

    def _path(self, name: str) -> str:
        stem = without_suffix(name)
        refuse_unsafe(stem, what="playbook")
        home = resolve_inside(self.root, PLAYBOOKS)
        found = existing_name(home, stem, what="playbook", suffix=SUFFIX)
        return f"{PLAYBOOKS}/{found or safe_component(stem, what='playbook') + SUFFIX}"

    def _read(self, path: str) -> _Parts:
        real = resolve_inside(self.root, path)
        data = read_bytes(real)
        with refusals("read", real):
            seconds = real.stat().st_mtime
        return _take_apart(path, data, updated=datetime.fromtimestamp(seconds, tz=timezone.utc))


def as_memory(playbook: Playbook) -> Memory:
    """Return a playbook as the memory that the walk may hand on: title, cautions and steps."""
    cautions = [
        f"{label}: {'; '.join(items)}"
        for label, items in (
            ("Prerequisites", playbook.prerequisites),
            ("Warnings", playbook.warnings),
        )
        if items
    ]
    return Memory(
        id=f"p-{playbook.name}",
        text="\n".join([playbook.title, *cautions, _body(playbook)]),
        path=playbook.path,
        line=playbook.line,
        room=PLAYBOOKS,
        drawer=playbook.name,
        title=playbook.title,
        kind="procedure",
        triggers=playbook.triggers,
    )


def _body(playbook: Playbook) -> str:
    """Return the steps, numbered; where anything stands beside them, all of it as it is written.

    A warning in words of its own must not get lost, and the steps of a way back are not the last
    steps of the way there.
    """
    lines = split_lines(playbook.body)
    blocks = [
        b for b in find_blocks([line.rstrip("\r\n") for line in lines]) if b.kind != "comment"
    ]
    if blocks and blocks[0].kind == "heading" and blocks[0].title == playbook.title:
        del lines[blocks[0].start : blocks.pop(0).end]
    if blocks and all(block.ordered for block in blocks):
        return "\n".join(f"{number}. {step}" for number, step in enumerate(playbook.steps, 1))
    return "".join(lines).strip()


def _take_apart(path: str, data: bytes, *, updated: datetime) -> _Parts:
    page = parse(path, decode(data))
    found = {key: _sentences(page.front.values.get(key)) for key in _LISTS}
    playbook = Playbook(
        name=path.rpartition("/")[2][: -len(SUFFIX)],
        title=page.title,
        triggers=found["triggers"],
        prerequisites=found["prerequisites"],
        warnings=found["warnings"],
        steps=tuple(
            memory.text
            for memory, block in zip(page.memories, page.blocks, strict=True)
            if block.ordered
        ),
        body=clean("".join(page.lines[page.front.end :])),
        path=path,
        line=page.front.end + 1,
        updated=updated,
    )
    return _Parts(digest(data), playbook, page.faults)


def _sentences(value: object) -> tuple[str, ...]:
    """Return texts; `- Careful: never at noon` is a mapping to YAML, and a sentence to a person."""
    items = value if isinstance(value, list) else [value]
    return text_list([_as_written(item) for item in items])


def _as_written(item: object) -> object:
    if not isinstance(item, Mapping):
        return item
    return ", ".join(f"{key}: {'' if value is None else value}" for key, value in item.items())
