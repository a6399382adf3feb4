"""What is stored: memories, drafts, playbooks, and the files they stand in.

In: what stores read from files. Out: what search, the layers and the verbs work on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

MemoryKind = Literal["fact", "preference", "procedure", "correction", "negative", "event"]
Trust = Literal["user", "agent", "system"]
Status = Literal["active", "inactive"]
ROOMS = "rooms"
"""Folder of the rooms."""
MAX_ROOM_DEPTH = 8
SUFFIX = ".md"
"""What the name of a file with memories ends with."""
IDENTITY_FILE = "identity.txt"
MAX_IDENTITY_CHARS = 1000
TIMELINE = "timeline"
"""Folder of what was said in conversations, and the room of its memories."""
PLAYBOOKS = "playbooks"
"""Folder of procedures, and the room they are found in."""
SUPERSEDED = "superseded"
"""Tag of a memory in whose place another one holds by now; a page that says so gives it to all."""
FRONT_MATTER = "front matter"
"""Where a memory comes from that is a value at the head of its file."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One statement of the palace, with where it stands.

    Attributes:
        id: `m-…` when the file carries an id, `d-…` (path + content hash) when it is derived.
        text: The statement as a person reads it: markers and our metadata comment removed.
        path: File, relative to the palace root, with forward slashes.
        line: First line of the statement in the file, 1-based.
        room: Room name; `timeline` for history, `playbooks` for procedures.
        drawer: File name without its suffix.
        title: The drawer's title.
        heading: Headings above the statement, outermost first, joined by ` > `.
        position: Ordinal of the statement in its file, 0-based.
        speaker: Who said it, for a conversation turn, else "".
        session: The session it was said or learned in, else "".
        confidence: In [0, 1].
        importance: In [0, 1].
        key: Of a memory that is updated in place: one active memory has it in a scope.
        links: What it points to: `room/drawer` and `[[links]]` of its words, ids of memories.
        retired: When it became inactive, if it did.
    """

    id: str
    text: str
    path: str
    line: int
    room: str
    drawer: str
    title: str = ""
    heading: str = ""
    position: int = 0
    kind: MemoryKind = "fact"
    scope: str = "global"
    trust: Trust = "user"
    provenance: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 1.0
    created: datetime | None = None
    updated: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    status: Status = "active"
    superseded_by: str = ""
    triggers: tuple[str, ...] = ()
    project: str = ""
    task: str = ""
    session: str = ""
    reason: str = ""
    speaker: str = ""
    key: str = ""
    retired: datetime | None = None

    @property
    def source(self) -> str:
        """Where a person finds it: `path:line`."""
        return f"{self.path}:{self.line}"

    @property
    def is_value(self) -> bool:
        """Whether it is a value of the front matter, where no comment can stand."""
        return self.provenance == FRONT_MATTER and self.id.startswith("d-")

    @property
    def said(self) -> str:
        """Its words; those of a turn behind who says them: `Olga: I have moved.`."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    @property
    def as_of(self) -> datetime | None:
        """Of when it speaks: since when it is true, else when it was last written."""
        return self.valid_from or self.updated or self.created

    def holds_at(self, moment: datetime) -> bool:
        """Whether it is active, and the moment is in the time it is true."""
        begun = self.valid_from is None or self.valid_from <= moment
        over = self.valid_to is not None and self.valid_to <= moment
        return self.status == "active" and begun and not over


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory before it has a file and a line; fields as in `Memory`.

    Attributes:
        id: The id it shall have; "" for one that the store gives it.
        behind: The id of a memory of its drawer that it is to stand behind; else it stands at the
            end.
    """

    text: str
    kind: MemoryKind = "fact"
    scope: str = "global"
    trust: Trust = "user"
    provenance: str = ""
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 1.0
    created: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    triggers: tuple[str, ...] = ()
    project: str = ""
    task: str = ""
    session: str = ""
    reason: str = ""
    key: str = ""
    superseded_by: str = ""
    links: tuple[str, ...] = ()
    id: str = ""
    behind: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a file that could not be understood; the bytes stay as they are.

    Attributes:
        is_unread: Whether the file, or the folder, could not be read: nobody knows what it holds.
    """

    path: str
    line: int
    message: str
    is_unread: bool = False


def is_below(path: str, faults: Iterable[Fault]) -> bool:
    """Whether a file is one of those that could not be read, or stands in such a folder."""
    return any(path == fault.path or path.startswith(f"{fault.path}/") for fault in faults)


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed memory file.

    Attributes:
        path: Relative to the palace root, forward slashes.
        digest: Hash of the file's bytes.
        tags: Its tags and other names (`aliases`), words of every memory in it.
        memories: In file order, inactive ones included.
    """

    path: str
    digest: str
    title: str
    tags: tuple[str, ...]
    memories: tuple[Memory, ...]
    faults: tuple[Fault, ...] = ()


class FileStamp(NamedTuple):
    """What tells whether a file changed since it was indexed.

    Attributes:
        mtime_ns: When its content changed, as a program may set it.
        changed_ns: When anything about it changed (`st_ctime`), which no program sets: a backup
            put back with its old time, and of the same size, differs by this alone.
    """

    path: str
    size: int
    mtime_ns: int
    changed_ns: int = 0


@dataclass(frozen=True, slots=True)
class Playbook:
    """A documented procedure.

    Attributes:
        name: File name without suffix.
        steps: The numbered steps, markers removed, in order.
        body: The whole Markdown body, verbatim.
    """

    name: str
    title: str
    triggers: tuple[str, ...]
    prerequisites: tuple[str, ...]
    warnings: tuple[str, ...]
    steps: tuple[str, ...]
    body: str
    path: str
    line: int = 1
    updated: datetime | None = None
