"""The verbs that read: rooms, memories, search, playbooks, identity.

In: names, ids and questions. Out: values of `palace.types`; nothing is changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Literal

from palace.arguments import (
    check_choice,
    check_counts,
    check_given,
    check_names,
    check_texts,
    moment_in,
    quoted,
)
from palace.errors import ConfigError, MemoryNotFoundError
from palace.portable import fold_case
from palace.recall.triggers import trigger_fault
from palace.store.identity_file import Identity
from palace.store.names import derived_id
from palace.types.memory import TIMELINE, Fault, Memory, Playbook
from palace.types.query import Hit, Query
from palace.types.session import Turn
from palace.verbs.opened import OpenedPalace

_NAMED = 3
_SEARCHED = ("L1", "L4")


class ReadingVerbs(OpenedPalace):
    """What can be read of a palace."""

    def memories(
        self,
        *,
        room: str | None = None,
        drawer: str | None = None,
        include_inactive: bool = False,
    ) -> list[Memory]:
        """Return memories in file order; inactive ones only when asked for.

        Raises:
            MemoryNotFoundError: If there is no such room or drawer; names the nearest.
        """
        check_names(room=room, drawer=drawer)
        self.refresh(force=False)
        if room is not None and room != TIMELINE:
            room, drawer = self._on_disk(room, drawer)
        return [
            m
            for m in self.index.memories(room=room)
            if (include_inactive or m.status == "active") and (drawer is None or m.drawer == drawer)
        ]

    def _on_disk(self, room: str, drawer: str | None) -> tuple[str, str | None]:
        """Return the names of a room and a drawer as their files have them."""
        rooms = self.store.rooms()
        found = _same_name(room, rooms)
        if found is None:
            raise _not_found(f"there is no room {quoted(room)}", room, rooms)
        if drawer is None:
            return found, None
        drawers = self.store.drawers(found)
        known = _same_name(drawer, drawers)
        if known is None:
            raise _not_found(
                f"the room {quoted(room)} has no drawer {quoted(drawer)}", drawer, drawers
            )
        return found, known

    def get(self, memory_id: str) -> Memory:
        """Return one memory by id or unique prefix of at least 8 characters, active or not.

        A derived id (`d-…`) is known also after a change wrote another one to the file.

        Raises:
            MemoryNotFoundError: If there is none, or several that begin so; names them.
        """
        check_texts(id=memory_id)
        if not memory_id.strip():
            raise ConfigError("the id is empty", hint="give an id; `palace list` shows them")
        self.refresh(force=False)
        memory = self.index.get(memory_id)
        if memory is None and memory_id.startswith("d-"):
            memory = self._once_called(memory_id)
        if memory is None:
            raise self._unknown(memory_id)
        return memory

    def _once_called(self, derived: str) -> Memory | None:
        """Return the memory that had this derived id until one was written to its file."""
        before: Counter[tuple[str, str]] = Counter()
        for memory in self.index.memories():
            place = memory.path, memory.text
            if derived == derived_id(*place, before[place]):
                return memory
            before[place] += 1
        return None

    def _unknown(self, memory_id: str) -> MemoryNotFoundError:
        # Ids begin with their time: those of one minute begin alike.
        every = (m.id for m in self.index.memories())
        alike = list(dict.fromkeys(name for name in every if name.startswith(memory_id)))
        if len(alike) < 2:
            return MemoryNotFoundError(
                f"no memory has the id {quoted(memory_id)}",
                hint="see `palace list` or `palace search`",
            )
        return MemoryNotFoundError(
            f"{len(alike)} memories have an id that begins with {quoted(memory_id)}",
            hint=f"give more of it: {', '.join(alike[:_NAMED])}{', …' * (len(alike) > _NAMED)}",
        )

    def search(
        self,
        text: str,
        *,
        top_k: int | None = None,
        session_id: str | None = None,
        project: str | None = None,
        layer: Literal["L1", "L4"] = "L1",
        as_of: datetime | None = None,
    ) -> list[Hit]:
        """Return the memories nearest to any text at all, best first, with their scores.

        This is the search the enforcer uses; unlike the enforcer it always returns the nearest.

        Args:
            text: What to look for: a question, words, a whole paragraph.
            top_k: Most hits, >= 1; `search.top_k` if not given.
            session_id: The session whose scoped memories may be read; its notes are not searched.
            project: The project whose scoped memories may be read.
            layer: `L1`, rooms and timeline, or `L4`, playbooks.
            as_of: Searches what the palace held at this moment, what was retired since included.

        Raises:
            ConfigError: If the text is no text, or `top_k` no whole number from 1 on, or there is
                no such layer to search.
        """
        check_texts(text=text)
        check_given(session=session_id, project=project)
        check_counts(top_k=top_k)
        check_choice("layer", layer, _SEARCHED)
        self.refresh(force=False)
        moment = moment_in("as_of", as_of)
        parts = self._parts if moment is None else self._parts.at(moment)
        most = top_k or self.settings.search.top_k
        with self.index.steady():
            query = parts.analyst.analyse(Turn(text, session_id=session_id, project=project))
            return parts.searcher.hits(query, top_k=most, layer=layer)

    def analyse(self, turn: Turn) -> Query:
        """Return how a turn is understood: its terms, names and what would answer it."""
        return self._parts.analyst.analyse(turn)

    def playbooks(self) -> list[Playbook]:
        """Return all playbooks, sorted by name."""
        return self.playbook_files.all()

    @property
    def identity(self) -> Identity:
        """The identity with its length and usage percentage."""
        return self.identity_file.read()

    def set_identity(self, text: str) -> Identity:
        """Write the identity.

        Raises:
            IdentityTooLongError: If it has more than 1000 characters; says what to merge.
            SecretRefusedError: If it holds a secret.
        """
        check_texts(text=text)
        return self.identity_file.write(self._parts.writer.fit(text))

    def faults(self) -> list[Fault]:
        """Return everything in the files that could not be understood."""
        triggers = [
            Fault(m.path, m.line, f"the trigger {trigger[:80]!r} can never match: {fault}")
            for m in self.index.marked("triggers")
            for trigger in m.triggers
            if (fault := trigger_fault(trigger))
        ]
        files = (self.identity_file, self.store, self.playbook_files)
        return [*(fault for kept in files for fault in kept.faults()), *triggers]


def _same_name(name: str, names: Sequence[str]) -> str | None:
    """Return the name that means the same file, as a write with it does: itself, if it is one."""
    if name in names:
        return name
    return next((one for one in names if fold_case(one) == fold_case(name)), None)


def _not_found(message: str, name: str, names: Sequence[str]) -> MemoryNotFoundError:
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see `palace list`"
    return MemoryNotFoundError(message, hint=hint)
