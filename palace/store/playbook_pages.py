"""Playbooks as documents of the index: each is one memory, found by its triggers and its steps.

In: the playbook files. Out: stamps and documents, as the rooms give them.
"""

from __future__ import annotations

from palace.store.files import digest, read_bytes
from palace.store.names import resolve_inside, without_suffix
from palace.store.playbook_files import PlaybookFiles
from palace.types.memory import Document, FileStamp, Memory, Playbook

ROOM = "playbooks"


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
        playbook = self._files.read(without_suffix(path.rpartition("/")[2]))
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
    steps = [f"{number}. {step}" for number, step in enumerate(playbook.steps, 1)]
    body = steps or [playbook.body.strip()]
    return Memory(
        id=f"p-{playbook.name}",
        text="\n".join([playbook.title, *cautions, *body]),
        path=playbook.path,
        line=playbook.line,
        room=ROOM,
        drawer=playbook.name,
        title=playbook.title,
        kind="procedure",
        triggers=playbook.triggers,
    )
