"""Changes that can be taken back: what a write did is noted, and undone from the note.

In: a store, and the steps of a change as the journal keeps them. Out: the same store, watched;
and memories as they were before. A step holds metadata only, never the words of a memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from palace.errors import MemoryNotFoundError, WriteConflictError
from palace.ports import DrawerStore
from palace.types.changes import Undone
from palace.types.memory import Document, Draft, Memory


class EditableStore(DrawerStore, Protocol):
    """A drawer store whose edits can be taken back."""

    def comment_of(self, memory: Memory) -> str | None:
        """Return the metadata comment of a memory, or None."""

    def restore_comment(self, memory: Memory, *, expected: str, comment: str | None) -> Memory:
        """Put an earlier comment back; raises `WriteConflictError` if it is another by now."""

    def is_open_ended(self, room: str, drawer: str) -> bool:
        """Whether the last line of a drawer has no end."""

    def erase(self, memory: Memory, *, open_ended: bool = False) -> None:
        """Take a memory out of its file, and the end of the line that is the last then."""


class WatchedStore:
    """A `DrawerStore` that notes the steps of what is done through it.

    Attributes:
        steps: What was done, in order, ready for the journal.
        named: Derived id -> the id that a memory was given with its first comment.
    """

    def __init__(self, store: EditableStore) -> None:
        self._store = store
        self.steps: list[dict[str, Any]] = []
        self.named: dict[str, str] = {}

    def locked(self) -> AbstractContextManager[None]:
        """See `DrawerStore.locked`."""
        return self._store.locked()

    def read(self, path: str) -> Document:
        """See `DrawerStore.read`."""
        return self._store.read(path)

    def add(self, draft: Draft, *, room: str, drawer: str) -> Memory:
        """Add a memory, and note it."""
        open_ended = self._store.is_open_ended(room, drawer)
        memory = self._store.add(draft, room=room, drawer=drawer)
        step: dict[str, Any] = {"did": "added", "memory": memory.id}
        step["words"] = fingerprint(memory.text)
        if open_ended:
            step["open_ended"] = True
        self.steps.append(step)
        return memory

    def update(self, memory: Memory, **fields: object) -> Memory:
        """Change metadata, and note the comment before and after."""
        before = self._store.comment_of(memory)
        changed = self._store.update(memory, **fields)
        if changed.id != memory.id:
            self.named[memory.id] = changed.id
        after = self._store.comment_of(changed)
        if before != after:
            self.steps.append(
                {"did": "changed", "memory": changed.id, "before": before, "after": after}
            )
        return changed


def fingerprint(text: str) -> str:
    """Return what tells whether words are still the same."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def undo_change(
    record: Mapping[str, Any],
    *,
    store: EditableStore,
    places: Callable[[str], Sequence[Memory]],
    written: Callable[[str], object],
) -> Undone:
    """Take one change back, its steps in reverse; nothing happens unless all of them can be.

    Of memories that somebody took out of their files nothing is left to take back: a step that
    added one is done already, and so is a change of such memories alone.

    Args:
        record: Of the journal, with `steps`.
        store: Where the memories stand.
        places: Returns all that have an id: copies of a file have those of the file.
        written: Called with every path that changed.

    Raises:
        WriteConflictError: If something changed the memories since; not retryable.
        MemoryNotFoundError: If one that it changed is gone, and others of it are not.
    """
    every = list(reversed(record["steps"]))
    gone = {step["memory"] for step in every if not places(str(step["memory"]))}
    steps = [step for step in every if step["memory"] not in gone]
    lost = next((s["memory"] for s in every if s["did"] == "changed" and s not in steps), None)
    if steps and lost:
        raise MemoryNotFoundError(
            f"the memory {lost} was taken out by hand: {record['id']} cannot be taken back",
            hint="put its lines back, or take another change back by its id: `palace history ID`",
        )
    passed = {(step["memory"], step.get("before")) for step in steps}
    for step in steps:
        is_latest = (step["memory"], step.get("after")) not in passed
        _refuse_changed(step, _standing(step, store, places), store if is_latest else None)
    restored: dict[str, Memory] = {}
    removed = [s["memory"] for s in every if s["did"] == "added" and s["memory"] in gone]
    for step in steps:
        memory = _standing(step, store, places)
        if step["did"] == "added":
            for place in places(memory.id):
                if place.text == memory.text:
                    store.erase(place, open_ended=bool(step.get("open_ended")))
                    written(place.path)
            removed.append(memory.id)
            restored.pop(memory.id, None)
        else:
            back = store.restore_comment(memory, expected=step["after"], comment=step["before"])
            restored.pop(memory.id, None)
            restored[back.id] = back
            written(memory.path)
    return Undone(str(record["id"]), str(record["type"]), tuple(restored.values()), tuple(removed))


def _standing(
    step: Mapping[str, Any], store: EditableStore, places: Callable[[str], Sequence[Memory]]
) -> Memory:
    """Return the memory that a step was about, of copies the one that is as the step left it."""
    found = places(str(step["memory"]))
    if not found:
        raise MemoryNotFoundError(
            f"the memory {step['memory']} is gone", hint="see `palace history` for what is left"
        )
    if step["did"] == "added":
        return found[0]
    return next((place for place in found if store.comment_of(place) == step["after"]), found[0])


def _refuse_changed(step: Mapping[str, Any], memory: Memory, store: EditableStore | None) -> None:
    if step["did"] == "changed":
        if store is not None and store.comment_of(memory) != step["after"]:
            raise WriteConflictError(
                f"{memory.id} was changed again since, in {memory.source}",
                hint="take the later change back first, see `palace history`",
                retryable=False,
            )
    elif fingerprint(memory.text) != step["words"]:
        raise WriteConflictError(
            f"the words of {memory.id} were changed since in {memory.source}",
            hint="forget it instead, or take the edit back first",
            retryable=False,
        )
