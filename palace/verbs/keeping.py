"""The verbs that keep memories in order: tags, links, undo, history, true erasure and recovery.

In: ids. Out: memories as they are now, what was taken back or put back, what is left of the past.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palace.arguments import check_lists, check_names, check_texts, quoted
from palace.errors import ConfigError, MemoryNotFoundError, StoreError
from palace.learn.annotate import change_links, change_tags
from palace.learn.changes import undo_change
from palace.learn.erase import Eraser, older_versions, retired_copies
from palace.learn.remember import refuse_unmarked
from palace.learn.retire import drop_plan
from palace.portable import fold_case
from palace.store.inline import find_marks, find_tags
from palace.store.names import derived_id
from palace.types.changes import Erased, History, Undone
from palace.types.checks import Overwritten
from palace.types.memory import IDENTITY_FILE, PLAYBOOKS, ROOMS, SUFFIX, Memory
from palace.verbs.changing import Change
from palace.verbs.writing import WritingVerbs


class KeepingVerbs(WritingVerbs):
    """What can be done with memories that are there."""

    def tag(self, memory_id: str, add: Sequence[str] = (), *, remove: Sequence[str] = ()) -> Memory:
        """Add tags to a memory and take tags away; its words stay as they are.

        Args:
            memory_id: Its id, or a unique prefix of at least 8 characters.
            add: Tags, with or without `#`.
            remove: Tags that stand beside the words, not in them.

        Raises:
            MemoryNotFoundError: If there is no such memory.
            ConfigError: If a tag is none, or one to remove is not there or part of the words.
        """
        check_lists(add=add, remove=remove)
        with self._changing("tag") as change:
            memory = self._meant(memory_id)
            change.about["memory"] = memory.id
            said = find_tags(memory.text)
            return change_tags(change.writer, memory, said, add=add, remove=remove)

    def link(self, memory_id: str, target: str, *, remove: bool = False) -> Memory:
        """Link a memory to another one, or to a whole drawer; its words stay as they are.

        Args:
            memory_id: Its id, or a unique prefix of at least 8 characters.
            target: Id of a memory (or its prefix), or `room/drawer`.
            remove: Take the link away instead.

        Raises:
            MemoryNotFoundError: If there is no such memory or drawer.
            ConfigError: If a memory is to be linked to itself, a link to remove is not there, or
                the target is no text.
        """
        check_texts(target=target)
        with self._changing("link") as change:
            memory = self._meant(memory_id)
            name = target if remove and target in memory.links else self._target(change, target)
            if name == memory.id:
                raise ConfigError("a memory is not linked to itself", hint="name another one")
            change.about = {"memory": memory.id, "target": name}
            _, said = find_marks(memory.text)
            return change_links(change.writer, memory, said, name, remove=remove)

    def _target(self, change: Change, target: str) -> str:
        """Return what a link must say: a durable id, or `room/drawer` as it is on disk."""
        found = self.index.get(target)
        if found is None and "/" in target:
            room, _, drawer = target.strip().removesuffix(".md").rpartition("/")
            room, known = self._on_disk(room, drawer)
            return f"{room}/{known}"
        found = found or self.get(target)
        if found.id.startswith("d-") and found.room != PLAYBOOKS:
            refuse_unmarked(found, instead="edit")
            # A derived id changes with the words: a link needs one that stays.
            found = change.writer.update(found)
        return found.id

    def linked(self, memory_id: str) -> list[Memory]:
        """Return the active memories a memory is linked with, in either direction.

        A link to a memory that was corrected leads to what replaced it; one to a drawer leads to
        the drawer's memories. `[[Boiler]]` is every drawer called so, in whatever room.
        """
        memory = self.get(memory_id)
        found = {m.id: m for target in memory.links for m in self._led_to(target)}
        older = older_versions(memory, self.index.marked("superseded_by"))
        ids = {memory.id, *(m.id for m in older)}
        for other in self.index.marked("links"):
            if any(link in ids or _names(link, memory.path) for link in other.links):
                found.setdefault(other.id, other)
        return [m for m in found.values() if m.id != memory.id and m.status == "active"]

    def _led_to(self, target: str) -> list[Memory]:
        found = self.index.get(target)
        if found is not None:
            return [self._last_version(found)]
        paths = [stamp.path for stamp in self.store.scan() if _names(target, stamp.path)]
        return [memory for path in paths for memory in self.index.memories(path=path)]

    def undo(self, event: str | None = None) -> Undone:
        """Take a change back: the last one that was not, or the one with this journal id.

        Raises:
            MemoryNotFoundError: If there is nothing to take back, or a part of it was taken out by
                hand and another one was not.
            WriteConflictError: If the memory was changed since; not retryable.
        """
        check_names(id=event)
        self.require_root()
        with self.store.locked():
            self.refresh()
            record = self._undoable(event)
            done = undo_change(
                record,
                store=self.store,
                places=self.index.places,
                written=self.index_file,
            )
            about = {"undoes": done.event, "memory": record.get("memory")}
            self._note_change("undo", record.get("session"), about)
        return done

    def _undoable(self, event: str | None) -> dict[str, Any]:
        undone = {record.get("undoes") for record in self.journal.records(type="undo")}
        if event is None:
            erasures = self.journal.records(type="erase")
            gone = {identifier for record in erasures for identifier in record.get("erased") or ()}
            for record in self.journal.records(holding=["steps"]):
                steps = record.get("steps") or ()
                # An erasure is final, and what was changed before it is behind it.
                lives = gone.isdisjoint(step.get("memory") for step in steps)
                if steps and lives and record["id"] not in undone:
                    return record
            raise MemoryNotFoundError(
                "there is no change to take back",
                hint="see `palace history ID`; without a journal nothing can be taken back",
            )
        found = self.journal.find(event)
        if found is None or not found.get("steps"):
            raise MemoryNotFoundError(
                f"the journal holds no change {quoted(event)} that can be taken back",
                hint="see `palace history ID`; an erasure is final",
            )
        if found["id"] in undone:
            raise MemoryNotFoundError(
                f"the change {found['id']} was taken back already", hint="make it again instead"
            )
        return found

    def history(self, memory_id: str) -> History:
        """Return every readable version of a statement and the changes made to it.

        Args:
            memory_id: Of any version, or a unique prefix of at least 8 characters.

        Raises:
            MemoryNotFoundError: If there is no such memory.
        """
        last = self._last_version(self.get(memory_id))
        older = older_versions(last, self.index.marked("superseded_by"))
        versions = [*reversed(older), last]
        ids = {m.id for m in versions}
        named = self.journal.records(type="named")
        ids.update([str(record["was"]) for record in named if record.get("memory") in ids])
        events = [
            record
            for record in self.journal.records(holding=ids)
            if record["type"] not in ("verdict", "answer", "named") and _touches(record, ids)
        ]
        return History(tuple(versions), tuple(reversed(events)))

    def _last_version(self, memory: Memory) -> Memory:
        """Return what replaced a memory, perhaps through others; itself if nothing did."""
        seen = {memory.id}
        while memory.superseded_by and (after := self.index.get(memory.superseded_by)):
            if after.id in seen:
                break
            memory = after
            seen.add(memory.id)
        return memory

    def erase(self, memory_id: str, *, reason: str = "") -> Erased:
        """Remove the words of a memory for good; this cannot be undone.

        They go from its file, with older versions and retired copies, from the index, from the
        note it was promoted from, from what sessions were condensed to and from the journal, whose
        records keep their ids. What a disk or a backup keeps of overwritten files is out of reach.

        Args:
            memory_id: Its id, or a unique prefix of at least 8 characters.
            reason: Why, free text; kept in the journal unless it repeats the words.

        Returns:
            What went, and where the same words still stand.

        Raises:
            MemoryNotFoundError: If there is no such memory, or its id stands below other words in
                another file too.
            TextRefusedError: If it is a playbook, which is a file of its own.
        """
        check_texts(reason=reason)
        self.refresh()
        memory = self._meant(memory_id, for_good=True)
        refuse_unmarked(memory, instead="delete")
        drop_plan(self._parts.writer, memory, self.index.marked("superseded_by"))
        gone = self._going_with(memory)
        eraser = Eraser.of(gone.values(), called=map(self._first_called, gone.values()))
        self._erase_from_files(gone)
        self.store.forget_words(eraser.holds)
        self.scrub()
        notes = {m.provenance.removeprefix("scratchpad:") for m in gone.values()}
        self.scratchpad.erase(
            lambda e: e.id in notes or e.promoted in eraser.ids or eraser.holds(e.text)
        )
        self._parts.marks.redact(eraser.holds)
        self.journal.redact(eraser.cleaned, concerns=eraser.concerns)
        why = "" if eraser.holds(reason) else self._parts.writer.fit(reason) if reason else ""
        self._note_change("erase", None, {"memory": memory.id, "erased": [*gone], "reason": why})
        return Erased(memory.id, tuple(gone), tuple(self._still(eraser)))

    def _going_with(self, memory: Memory) -> dict[str, Memory]:
        """Return by their ids a memory, its older versions and the retired copies of all these."""
        versions = (memory, *older_versions(memory, self.index.marked("superseded_by")))
        gone = {version.id: version for version in versions}
        for version in versions:
            copies = retired_copies(version, self.index.memories())
            gone.update((copy.id, copy) for copy in copies)
        return gone

    def _erase_from_files(self, gone: Mapping[str, Memory]) -> None:
        """Take memories out of every file that has their id with their words."""
        places = [place for memory_id in gone for place in self.index.places(memory_id)]
        for place in [p for p in places if p.text == gone[p.id].text]:
            self.store.erase(place)
            self.index_file(place.path)

    def still_said(self, memory: Memory) -> list[Memory]:
        """Return active memories that hold the words of a retired one, alone or among others.

        So may another drawer, of something else perhaps, and the turn of a conversation in which it
        was said: they stay, because nobody asked to retire them.
        """
        eraser = Eraser.of([memory])
        copies = self._parts.rivals.copies_of(memory)
        return [m for m in copies if m.status == "active" and eraser.holds(m.text)]

    def overwritten(self) -> tuple[Overwritten, ...]:
        """Return what this palace wrote within a day and a file does not have as it was written.

        Nothing tells an old copy saved over it from a deletion by hand: both are listed.
        """
        return tuple(self.store.overwritten())

    def recover(self, memory_id: str) -> Memory | None:
        """Put a memory back as it was written; the very next question finds it.

        Args:
            memory_id: Of one that `overwritten()` lists.

        Returns:
            The memory; None if it had been erased, came back, and is gone again.

        Raises:
            MemoryNotFoundError: If nothing of it was overwritten.
            StoreError: If it cannot stand in its file without changing others.
        """
        path = next((one.path for one in self.overwritten() if one.id == memory_id), None)
        memory = self.store.recover(memory_id)
        if path is not None:
            self.index_file(path)
        return memory

    def _first_called(self, memory: Memory) -> str:
        """Return the derived id that a memory had until one was written to its file, if ever."""
        above = list(self.index.memories(path=memory.path))[: memory.position]
        return derived_id(memory.path, memory.text, sum(m.text == memory.text for m in above))

    def _still(self, eraser: Eraser) -> list[str]:
        memories = [*self.index.memories(), *self.index.memories(layer="L4")]
        found = [m.source for m in memories if eraser.holds(m.text)]
        try:
            return [*found, *([IDENTITY_FILE] if eraser.holds(self.identity.text) else [])]
        except StoreError as error:  # what is erased is erased
            return [*found, f"{IDENTITY_FILE}, perhaps: {error.message}"]


def _names(link: str, path: str) -> bool:
    """Whether a link names a drawer: by its file, with or without its rooms and `.md`."""
    name, file = (fold_case(written).removesuffix(SUFFIX) for written in (link, path))
    return bool(name) and path.startswith(f"{ROOMS}/") and file.endswith(f"/{name}")


def _touches(record: dict[str, Any], ids: set[str]) -> bool:
    steps = [step.get("memory") for step in record.get("steps") or ()]
    several = [*(record.get("erased") or ()), *(record.get("memories") or ())]
    return not ids.isdisjoint([record.get("memory"), *steps, *several])
