"""What every writing verb stands on: changes that are noted in the journal, step by step.

In: the parts of a palace. Out: a writer whose steps can be taken back, where a journal is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from palace.errors import MemoryNotFoundError
from palace.learn.changes import WatchedStore
from palace.learn.remember import Writer
from palace.portable import copied_from
from palace.store.journal import new_record
from palace.types.memory import Memory
from palace.verbs.reading import ReadingVerbs

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Change:
    """One change under way.

    Attributes:
        writer: The way in; what goes through it is noted.
        session: The session it belongs to.
        about: What the journal says of the change besides its steps.
    """

    writer: Writer
    session: str | None = None
    about: dict[str, Any] = field(default_factory=dict)


class ChangingVerbs(ReadingVerbs):
    """Gives verbs a writer whose changes the journal knows."""

    @contextmanager
    def _changing(self, type: str, *, writer: Writer | None = None) -> Iterator[Change]:
        """Yield a change; when it ends it is noted, unless nothing was done.

        No other writer comes in between: what the change looks at holds until it is made.

        Args:
            type: What the journal calls it.
            writer: The way in, if another than the usual one: one that has asked its judge.
        """
        watched = WatchedStore(self.store)
        change = Change(replace(writer or self._parts.writer, store=watched))
        self.require_root()
        with self.store.locked():
            try:
                yield change
            finally:
                # Also what a failure left half done can be taken back.
                for was, now in watched.named.items():
                    self._note_change("named", change.session, {"memory": now, "was": was})
                if watched.steps:
                    about = {**change.about, "steps": watched.steps}
                    self._note_change(type, change.session, about)

    def _meant(self, memory_id: str, *, for_good: bool = False) -> Memory:
        """Return the one memory that is to be changed; otherwise as `get`.

        Args:
            memory_id: As in `get`.
            for_good: Whether the change cannot be taken back. Then the id must not stand with other
                words in a copy of the file either: these may be what is meant.

        Raises:
            MemoryNotFoundError: If there is none, or the id stands in another drawer with other
                words: somebody made a new drawer out of an old one, comments included.
        """
        memory = self.get(memory_id)
        for other in self.index.places(memory.id):
            is_apart = for_good or _drawer_of(other) != _drawer_of(memory)
            if other.text != memory.text and is_apart:
                raise MemoryNotFoundError(
                    f"the id {memory.id} stands in {memory.source} and, below other words, in"
                    f" {other.source}",
                    hint="delete the comment of the copy, so that it gets an id of its own",
                )
        return memory

    def _note_change(self, type: str, session: str | None, about: dict[str, Any]) -> None:
        # What was written is written; without its record it only cannot be taken back.
        record = new_record(type, "c", session, about)
        self.keep_record(record, otherwise=f"the change {type} is not in the journal")


def _drawer_of(memory: Memory) -> tuple[str, str]:
    return memory.room, copied_from(memory.drawer)
