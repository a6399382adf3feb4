"""Playbooks as documents of the index: each is one memory, found by its triggers and its steps.

In: the playbook files. Out: stamps and documents, as the rooms give them.
"""

from __future__ import annotations

from palace.store.blocks import find_blocks, split_lines
from palace.store.files import digest, read_bytes
from palace.store.names import resolve_inside
from palace.store.playbook_files import PlaybookFiles
from palace.types.memory import PLAYBOOKS, Document, FileStamp, Memory, Playbook


class PlaybookPages:
    """The playbooks, readable as documents.

    Args:
        files: Where the playbooks are.
    """

    def __init__(self, files: PlaybookFiles) -> None:
        self._files = files

    def scan(self) -> list[FileStamp]:
        """Return a stamp for every playbook file, sorted by path."""
        return self._files.scan()

    def read(self, path: str) -> Document:
        """Return one playbook as a document with a single memory."""
        data = read_bytes(resolve_inside(self._files.root, path))
        playbook = self._files.read_path(path)
        return Document(path, digest(data), playbook.title, (), (as_memory(playbook),))


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
