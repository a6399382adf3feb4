"""What became of a change to the memory: written, known already, in conflict, undone, erased.

In: what the verbs did. Out: what the doors tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from palace.types.memory import Memory

Match = Literal["exact", "normalised", "near"]
Relation = Literal["duplicate", "conflict", "unrelated"]


@dataclass(frozen=True, slots=True)
class Remembered:
    """A write that happened."""

    memory: Memory
    status: Literal["stored"] = "stored"


@dataclass(frozen=True, slots=True)
class Duplicate:
    """No memory was added: the palace holds this already.

    Attributes:
        memory: The memory that says the same, with what the repetition brought: further triggers,
            and the word of a person where it was an agent's.
        match: `exact` (the same characters), `normalised` (the same words and signs) or `near`.
        reinforced: Whether the journal took note that it was said again.
    """

    memory: Memory
    match: Match = "exact"
    reinforced: bool = False
    status: Literal["duplicate"] = "duplicate"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Nothing was written: the palace holds another value for the same thing.

    Attributes:
        memory: The memory that says otherwise.
        detail: What differs, for a person.
        stronger: Whose word counts more: a person's beats an agent's, an agent's the system's.
        others: Further memories that the statement contradicts.
    """

    memory: Memory
    detail: str
    stronger: Literal["new", "stored", "neither"] = "neither"
    others: tuple[Memory, ...] = ()
    status: Literal["conflict"] = "conflict"


WriteResult = Remembered | Duplicate | Conflict


@dataclass(frozen=True, slots=True)
class Unclear:
    """A correction was meant, but not which memory, or not how; nothing was written.

    Attributes:
        question: What to ask the person.
        candidates: The memories that may be meant.
    """

    question: str
    candidates: tuple[Memory, ...] = ()
    status: Literal["unclear"] = "unclear"


@dataclass(frozen=True, slots=True)
class Undone:
    """A change that was taken back.

    Attributes:
        event: Journal id of the change.
        verb: What it was: `remember`, `correction`, `forget`, `tag`, `link` …
        restored: Memories that are again as they were before it.
        removed: Ids of memories that it had added and that are gone.
    """

    event: str
    verb: str
    restored: tuple[Memory, ...] = ()
    removed: tuple[str, ...] = ()
    status: Literal["undone"] = "undone"


@dataclass(frozen=True, slots=True)
class History:
    """What became of a statement.

    Attributes:
        versions: Every version that is still readable, oldest first; the last may be active.
        events: Journal records of the changes, oldest first.
    """

    versions: tuple[Memory, ...]
    events: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Erased:
    """A memory whose words are gone from files, index, notes and journal.

    Attributes:
        memory_id: The memory asked for.
        erased: Ids of everything that went, older versions and retired copies included.
        remaining: Where the same words still stand, `path:line`: other memories, pages of a
            person's own. Nobody asked to erase those.
    """

    memory_id: str
    erased: tuple[str, ...]
    remaining: tuple[str, ...] = ()
    status: Literal["erased"] = "erased"


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback that was noted.

    Attributes:
        event: Journal id of the note.
        helpful: What was said.
        memories: The memories it is about.
        strengths: How strong each of them is now, by id, in [0, 1].
    """

    event: str
    helpful: bool
    memories: tuple[Memory, ...]
    strengths: Mapping[str, float]
    status: Literal["noted"] = "noted"
