"""Memories that are no longer right: corrected or forgotten, never removed from their file.

In: a memory and, for a correction, the right words. Out: a write result, or the retired memory;
retrieval does not return it again, a person can still read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from palace.errors import MemoryNotFoundError
from palace.learn.dedup import is_of_one_place, of_one_time, says_the_same
from palace.learn.remember import Writer, makes_room, refuse_unmarked
from palace.text.moments import utc_now
from palace.types.changes import Duplicate, WriteResult
from palace.types.memory import SUPERSEDED, TIMELINE, Draft, Memory, Trust


def correct(
    writer: Writer,
    old: Memory,
    text: str,
    *,
    source: Trust = "user",
    default_room: str = "notes",
    reason: str = "",
    copies: Sequence[Memory] = (),
    at: datetime | None = None,
) -> WriteResult:
    """Store the right words where the wrong ones stand, then retire the wrong ones.

    Room, drawer, kind, scope, tags, links, importance and triggers are the old memory's, and the
    right words stand behind it, under its headings. What was said in a conversation is corrected by
    a statement in the default room: nobody said it.

    Args:
        writer: The one way in.
        old: The memory that is wrong.
        text: The whole statement as it is right.
        source: Whose word the correction is. A person's supersedes whatever else it contradicts.
        default_room: Where a correction of a conversation turn is stored.
        reason: Why, free text.
        copies: Memories that may say the same as the old one; those that do go with it if they
            stand in its place, or if the right words contradict them.
        at: When it was said; now if not given.

    Returns:
        `Remembered`; `Duplicate` of the old memory if the words are the same (nothing is written)
        or of another one (then the old one is retired in its favour); `Conflict` with a third
        memory unless the source is a person (nothing is written).

    Raises:
        MemoryNotFoundError: If the memory is retired already or gone.
        TextRefusedError: If the text is unfit, or the memory is a playbook.
    """
    _refuse_unfit(old)
    if writer.fit(text) == old.text:
        return Duplicate(old)
    why = writer.fit(reason) if reason.strip() else ""
    # What only writes needs, with its word lists, is loaded by who writes.
    from palace.learn.conflict import find_conflicts

    said = old.room == TIMELINE
    alike = _alike(old, copies)
    contradicted = [copy for copy, _ in find_conflicts(text, alike)]
    wrong = [old, *(m for m in alike if m in contradicted or _goes_with(old, m))]
    return writer.remember(
        _corrected(old, text, source=source, reason=why, at=at),
        room=default_room if said else old.room,
        drawer="notes" if said else old.drawer,
        on_conflict="supersede" if source == "user" else "ask",
        replaces=wrong,
    )


def forget(
    writer: Writer, memory: Memory, *, reason: str = "", copies: Sequence[Memory] = ()
) -> Memory:
    """Retire a memory without a replacement and return it as it is now.

    Args:
        writer: The one way in.
        memory: The memory.
        reason: Why, free text.
        copies: Memories that may say the same; those of its place that do go with it.

    Raises:
        MemoryNotFoundError: If it is retired already or gone.
        TextRefusedError: If it is a playbook, or the reason is unfit.
    """
    _refuse_unfit(memory)
    why = writer.fit(reason) if reason.strip() else memory.reason
    # The memory itself goes last: while it stands, nobody was told that it is forgotten.
    for copy in (m for m in _alike(memory, copies) if _goes_with(memory, m)):
        writer.update(copy, status="inactive", reason=why)
    return writer.update(memory, status="inactive", reason=why)


def drop_plan(writer: Writer, plan: Memory, superseded: Iterable[Memory]) -> None:
    """Undo the end that a plan has set to today's value; it holds until the next plan, if any.

    Args:
        writer: The one way in.
        plan: The memory that goes.
        superseded: Memories with a `superseded_by`.
    """
    further = plan if makes_room(plan) else None
    for held in superseded:
        if held.superseded_by == plan.id and makes_room(held):
            writer.update(
                held,
                valid_to=further.valid_to if further else None,
                superseded_by=further.superseded_by if further else "",
            )


def _alike(memory: Memory, copies: Sequence[Memory]) -> list[Memory]:
    """Return the other memories that say the same, and mean the same day by it."""
    others = [m for m in copies if m.source != memory.source and not m.is_value]
    alike = [m for m in others if says_the_same(m.text, memory.text)]
    return [m for m in alike if of_one_time(memory.text, memory.created, m)]


def _goes_with(memory: Memory, copy: Memory) -> bool:
    """Whether it stands in the same place, or has the same id, as in copies of a whole file."""
    return copy.id == memory.id or is_of_one_place(memory, copy)


def _corrected(old: Memory, text: str, *, source: Trust, reason: str, at: datetime | None) -> Draft:
    begin, said = old.valid_from, at or utc_now()
    return Draft(
        text=text,
        kind=old.kind,
        scope=old.scope,
        trust=source,
        provenance="correction",
        tags=tuple(tag for tag in old.tags if tag != SUPERSEDED),  # these words hold now
        links=old.links,
        importance=old.importance,
        created=said,
        # A plan that is corrected is one still; of what holds already, the wrong words are history.
        valid_from=begin if begin is not None and begin > said else None,
        valid_to=old.valid_to,
        triggers=old.triggers,
        key=old.key,
        project=old.project,
        task=old.task,
        session="" if old.room == TIMELINE else old.session,
        reason=reason,
        behind="" if old.room == TIMELINE else old.id,
    )


def _refuse_unfit(memory: Memory) -> None:
    refuse_unmarked(memory, instead="edit or delete")
    if memory.status != "active":
        by = f"; it was replaced by {memory.superseded_by}" if memory.superseded_by else ""
        raise MemoryNotFoundError(
            f"the memory {memory.id} is retired already{by}", hint="search for what holds now"
        )
