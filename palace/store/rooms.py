"""Rooms, drawers and the timeline: the canonical memory, read from and written to Markdown files.

In: drafts, edits and conversation turns. Out: memories with their id, file and line, once they
are safely on the disk. What a person wrote in a file meanwhile is kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from palace.arguments import quoted
from palace.errors import (
    MemoryNotFoundError,
    StoreError,
    StoreUnavailableError,
    UnsafeNameError,
    WriteConflictError,
)
from palace.store.blocks import heading_line
from palace.store.comments import clean
from palace.store.files import (
    DISK,
    LOCK_TIMEOUT_S,
    FileSystem,
    ensure_folder,
    listing,
    locked,
    read_bytes,
    refusals,
)
from palace.store.inline import find_marks
from palace.store.markdown import Page, decode, parse
from palace.store.names import resolve_inside, room_of, without_suffix
from palace.store.orphans import mended
from palace.store.page_files import PageFiles
from palace.store.recovery import overwritten, recovered, text_of, written_to
from palace.store.timeline_merge import merge_turns, page_path
from palace.store.tree import (
    drawer_file,
    every_file,
    faults_of,
    room_folder,
    room_names,
    scan_files,
    stray_note,
)
from palace.store.written_log import WrittenLog
from palace.text.moments import new_id, utc_now
from palace.types.checks import Overwritten
from palace.types.memory import (
    ROOMS,
    SUFFIX,
    TIMELINE,
    Document,
    Draft,
    Fault,
    FileStamp,
    Memory,
)
from palace.types.session import ConversationTurn

_DEFAULTS = Draft(text="")
_OPTIONAL = (
    "scope provenance importance valid_from valid_to triggers project task session reason key"
    " superseded_by"
).split()


class RoomStore:
    """The palace's Markdown, as the port `DrawerStore`.

    Every write takes the palace's lock, reads the file anew, edits only what was asked, and is
    durable when it returns. A file that somebody without the lock changes meanwhile is read again
    and edited again, at most 20 times.

    Any call may raise `StoreUnavailableError`, where the file system refuses, `UnsafeNameError`,
    where a name or path is unsafe, and `MemoryNotFoundError`, where the memory it is about is gone;
    a write also `WriteConflictError`, where a file keeps changing.

    Args:
        root: The palace; made when first written to.
        file_system: The steps of a durable write.
        lock_timeout_s: How long a write waits for another, in seconds.
        clock: Says what time it is, aware.
    """

    def __init__(
        self,
        root: Path,
        *,
        file_system: FileSystem = DISK,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.root = root
        self._file_system = file_system
        self._lock_timeout_s = lock_timeout_s
        self._clock = clock
        self._pages = PageFiles(root, file_system=file_system)
        self._log = WrittenLog(root, clock=clock)

    def locked(self) -> AbstractContextManager[None]:
        """Keep all other writers out: what is looked at meanwhile holds until it is written.

        Whoever holds it may write, and hold it again; who only reads needs none.

        Raises:
            StoreUnavailableError: If another writer holds it for too long.
        """
        return locked(self.root, timeout_s=self._lock_timeout_s)

    def scan(self) -> list[FileStamp]:
        """Return a stamp for every memory file of rooms and timeline, sorted by path."""
        return self.look()[0]

    def look(self) -> tuple[list[FileStamp], list[Fault]]:
        """Return what `scan` does, and what it leaves out and why."""
        return scan_files(self.root, (ROOMS, TIMELINE))

    def stamp(self, path: str) -> FileStamp | None:
        """Return the stamp of one file without looking at the others; None if it is gone."""
        real = resolve_inside(self.root, path)
        with refusals("read", real), suppress(FileNotFoundError):
            status = real.stat()
            return FileStamp(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return None

    def faults(self) -> list[Fault]:
        """Return everything that is left out or not understood, in all files."""
        stamps, faults = self.look()
        return [*faults, *faults_of(self.read, stamps)]

    def stray(self) -> str:
        """Return a Markdown file that stands in the palace and in none of its places, else ""."""
        return stray_note(self.root)

    def read(self, path: str) -> Document:
        """Parse one file; nonsense in it becomes faults.

        Args:
            path: Relative to the root, as in `FileStamp`.

        Raises:
            MemoryNotFoundError: If there is no such file.
        """
        return self._pages.document(path)

    def rooms(self) -> list[str]:
        """Return the names of all rooms, nested ones as `a/b`, sorted.

        Drawers that stand in no folder are in the room `.`.
        """
        return room_names(self.root)

    def drawers(self, room: str) -> list[str]:
        """Return the names of the drawers that stand directly in a room, sorted.

        Raises:
            MemoryNotFoundError: If there is no such room.
        """
        folder = room_folder(self.root, room)
        real = resolve_inside(self.root, folder)
        with refusals("read", real):
            if not real.is_dir():
                raise MemoryNotFoundError(
                    f"there is no room {room!r}", hint="list the rooms to see their names"
                )
        listing(real)  # that it cannot be read does not mean that it is empty
        stamps = scan_files(self.root, (folder,))[0]
        names = (stamp.path[len(folder) + 1 : -len(SUFFIX)] for stamp in stamps)
        return [name for name in names if "/" not in name]

    def create_room(self, room: str) -> str:
        """Make a room, unless it is there, and return its name as it stands on disk."""
        with self.locked():
            folder = room_folder(self.root, room)
            path = resolve_inside(self.root, folder)
            with refusals("make", path):
                ensure_folder(path, file_system=self._file_system)
        return room_of(folder[len(ROOMS) + 1 :])

    def add(self, draft: Draft, *, room: str, drawer: str) -> Memory:
        """Append one memory durably and return it with its id, path and line.

        Args:
            draft: Its text is kept as `palace.store.blocks.normal_text` says; without `created`
                it is created now.
            room: Made if needed.
            drawer: Made if needed.

        Raises:
            StoreError: If the text is empty.
        """
        return self.add_many([draft], room=room, drawer=drawer)[0]

    def add_many(self, drafts: Sequence[Draft], *, room: str, drawer: str) -> list[Memory]:
        """Append memories to one drawer in one durable write; otherwise as `add`.

        One memory alone may stand behind another one instead (`Draft.behind`).
        """
        added = {draft.id or new_id("m"): draft for draft in drafts}
        items = [
            (draft.text, {"id": memory_id, **_fields_of(draft, now=self._clock())})
            for memory_id, draft in added.items()
        ]

        behind = drafts[0].behind if len(drafts) == 1 else ""

        def change(page: Page) -> str:
            place = next((m.position for m in page.memories if m.id == behind), None)
            if place is not None:
                return page.with_memory_behind(place, *items[0])
            return _titled(page, without_suffix(drawer)).append_memories(items)

        with self.locked():
            page, _ = self._pages.edit(drawer_file(self.root, room, drawer), change)
            self._note(page, None, added)
        return [memory for memory in page.memories if memory.id in added]

    def update(self, memory: Memory, **fields: object) -> Memory:
        """Change metadata of one memory in place; its text and all else stay as they are.

        A memory with a derived id gets one of its own, in a comment. One that becomes inactive
        keeps the moment as `retired`.

        Args:
            memory: As read before; it is found again by its id, or by its text if that is derived.
            **fields: Fields of `Memory` that are metadata; None, "" and empty ones are taken out.

        Returns:
            The memory as it is now.

        Raises:
            StoreError: If it is a value of the front matter, where no comment can stand.
            ValueError: If a field is unknown or its value is not of its kind.
        """
        if "id" in fields:
            raise ValueError("an id is never changed")
        if memory.is_value:
            raise StoreError(f"{memory.source} is front matter", hint="change it by hand")
        values = {("source" if name == "trust" else name): v for name, v in fields.items()}
        if "status" in values and memory.status != values["status"]:
            values["retired"] = self._clock() if values["status"] == "inactive" else None

        memory_id = fresh = new_id("m")

        def change(page: Page) -> str:
            nonlocal memory_id
            found = _find(page, memory)
            is_derived = found.id.startswith("d-")
            memory_id = fresh if is_derived else found.id
            named = {"id": fresh} if is_derived else {}
            return page.with_memory_fields(found.position, {**named, **values})

        with self.locked():
            page, before = self._pages.edit(memory.path, change)
            self._note(page, before, [memory_id])
        return page.memories[page.position_of(memory_id)]

    def is_open_ended(self, room: str, drawer: str) -> bool:
        """Whether the last line of a drawer has no end, which adding a memory gives it."""
        try:
            with resolve_inside(self.root, drawer_file(self.root, room, drawer)).open("rb") as file:
                file.seek(-1, os.SEEK_END)
                return file.read() not in (b"\r", b"\n")
        except OSError:
            return False  # there is no such file, or nothing in it

    def erase(self, memory: Memory, *, open_ended: bool = False) -> None:
        """Take one memory out of its file for good; what else is there stays.

        Args:
            memory: As read before.
            open_ended: Whether the last line had no end before the memory was added below it.

        Raises:
            WriteConflictError: If its words are other ones by now, or the file kept changing.
        """

        def change(page: Page) -> str:
            found = _find(page, memory)
            if found.text != memory.text:
                raise WriteConflictError(
                    f"the words of {memory.id} were changed in {memory.source} just now",
                    hint="look at them, and try again",
                    retryable=False,
                )
            return page.remove(found.position, open_ended=open_ended)

        with self.locked():
            page, before = self._pages.edit(memory.path, change)
            self._log.trim(without=lambda written: written.id == memory.id)
            self._note(page, before, [memory.id])

    def goes_on(self, memory: Memory) -> bool:
        """Whether somebody wrote on below the comment of a memory, in the same paragraph."""
        page = self._pages.page(memory.path)
        return page.goes_on(_find(page, memory).position)

    def comment_of(self, memory: Memory) -> str | None:
        """Return the metadata comment of a memory as it stands in its file, or None."""
        page = self._pages.page(memory.path)
        return page.comment_of(_find(page, memory).position)

    def restore_comment(self, memory: Memory, *, expected: str, comment: str | None) -> Memory:
        """Put an earlier metadata comment back, or take the comment out, byte for byte.

        Args:
            memory: As it is now.
            expected: The comment it must have now.
            comment: What stood there before; None if there was none.

        Raises:
            WriteConflictError: If its comment is another one by now, or the file kept changing.
        """
        position = 0

        def change(page: Page) -> str:
            nonlocal position
            position = _find(page, memory).position
            if page.comment_of(position) != expected:
                raise WriteConflictError(
                    f"the memory {memory.id} was changed again since",
                    hint="undo the later change first",
                    retryable=False,
                )
            return page.with_comment(position, comment)

        with self.locked():
            page, before = self._pages.edit(memory.path, change)
            self._note(page, before, [memory.id])
        return page.memories[position]

    def mend_comments(self, path: str, before: Sequence[Memory]) -> tuple[FileStamp, Document]:
        """Bring comments that an edit parted from their words back to them, or from all others.

        Args:
            path: Of the file.
            before: The memories it had before the edit; see `palace.store.orphans.mended`.

        Returns:
            The file's stamp, and what it holds then.

        Raises:
            MemoryNotFoundError: If the file is gone.
            StoreUnavailableError: If the file system refuses, or somebody is writing just now.
        """
        mend = partial(mended, before=before)
        if mend(page := self._pages.page(path)) != page.render():
            with locked(self.root, timeout_s=0):  # readers call this: they wait for nobody
                self._pages.edit(path, mend, save_timeout_s=0)
        stamp = self.stamp(path)
        if stamp is None:
            raise MemoryNotFoundError(f"there is no file {path}", hint="search again")
        return stamp, self.read(path)

    def overwritten(self) -> list[Overwritten]:
        """Return what was written within a day and does not stand as it was written."""
        return overwritten(self._log.all(), self._page_now, self._standing)

    def recover(self, memory_id: str) -> Memory | None:
        """Put what was overwritten back as it was written, or take out again what was erased.

        Returns:
            The memory; None if it had been erased.

        Raises:
            MemoryNotFoundError: If nothing of it was overwritten.
            StoreError: If it cannot stand in its file without changing others.
        """
        with self.locked():
            lost = {one.id for one in self.overwritten()}
            written = next((w for w in reversed(self._log.all()) if w.id == memory_id), None)
            if written is None or memory_id not in lost:
                raise MemoryNotFoundError(
                    f"nothing of {quoted(memory_id)} was overwritten within a day",
                    hint="`palace recover` lists what was",
                )

            def change(page: Page) -> str:
                return recovered(_titled(page, Path(page.path).stem), written)

            page, before = self._pages.edit(written.path, change)
            self._note(page, before, [memory_id])
        return next((memory for memory in page.memories if memory.id == memory_id), None)

    def forget_writes(self, path: str) -> None:
        """Forget what was written to one file: it was made to be removed."""
        with self.locked():
            self._log.trim(without=lambda written: written.path == path)

    def forget_words(self, holds: Callable[[str], bool]) -> None:
        """Forget what was written with these words, so that nobody can put them back."""
        with self.locked():
            self._log.trim(without=lambda written: holds(text_of(written)))

    def expire(self) -> None:
        """Forget what was written more than a day ago.

        Raises:
            StoreUnavailableError: If the file system refuses, or somebody is writing just now.
        """
        if self._log.expires():
            with locked(self.root, timeout_s=0):  # whoever opens a palace waits for nobody
                self._log.trim()

    def _page_now(self, path: str) -> Page:
        """Return a file as it is; where a folder, or a link outside, stands by now, nothing is."""
        try:
            is_elsewhere = resolve_inside(self.root, path).is_dir()
        except UnsafeNameError:
            is_elsewhere = True
        return parse(path, "") if is_elsewhere else self._pages.page(path)

    def _standing(self, ids: Iterable[str]) -> set[str]:
        """Return which of these ids stand in any file; that another memory names one is not it."""
        sought, found = set(ids), set[str]()
        for stamp in every_file(self.root, (ROOMS, TIMELINE)):
            data = read_bytes(resolve_inside(self.root, stamp.path))
            if any(name.encode() in data for name in sought):
                found |= sought & {m.id for m in parse(stamp.path, decode(data)).memories}
        return found

    def append_timeline(self, turns: Sequence[ConversationTurn]) -> list[str]:
        """Add the turns that are not there yet, one write for each day.

        Args:
            turns: In the order they were said; see `palace.store.timeline_merge.merge_turns`.

        Returns:
            The paths that changed, sorted.

        Raises:
            WriteConflictError: If a page kept changing; pages before it are written.
        """
        days: dict[str, list[ConversationTurn]] = {}
        for turn in turns:
            days.setdefault(page_path(turn), []).append(turn)
        changed: list[str] = []
        with self.locked():
            for path, said in sorted(days.items()):
                page, before = self._pages.edit(path, partial(merge_turns, turns=said))
                if page is not before:
                    changed.append(path)
        return changed

    def _note(self, page: Page, before: Page | None, ids: Iterable[str]) -> None:
        """Keep what was written, in case an editor saves an older copy over it."""
        if page is before:
            return
        now = self._clock().timestamp()
        entries = [written_to(page, before, name, at=now) for name in ids]
        with suppress(StoreUnavailableError):  # the memory itself is safe
            self._log.add(entries)


def _find(page: Page, memory: Memory) -> Memory:
    """Find a memory again: by its id, or by its words, the nearest first, if that is derived."""
    for found in page.memories:
        if found.id == memory.id:
            return found
    same = [found for found in page.memories if found.text == memory.text]
    if not memory.id.startswith("d-") or not same:
        raise MemoryNotFoundError(
            f"the memory {memory.id} is no longer in {page.path}",
            hint="it was edited or erased: search again",
        )
    return min(same, key=lambda found: abs(found.position - memory.position))


def _fields_of(draft: Draft, *, now: datetime) -> dict[str, object]:
    """Return the comment of a new memory: who, what and when always, the rest where it is given."""
    tags, links = find_marks(draft.text)
    fields: dict[str, object] = {
        "kind": draft.kind,
        "source": draft.trust,
        "confidence": draft.confidence,
        "created": draft.created or now,
        "tags": [tag for tag in draft.tags if tag not in tags],
        "links": [link for link in draft.links if link not in links],
    }
    for name in _OPTIONAL:
        value = getattr(draft, name)
        if value != getattr(_DEFAULTS, name):
            fields[name] = value
    return fields


def _titled(page: Page, title: str) -> Page:
    """Return a page, an empty one with its title."""
    if page.lines:
        return page
    heading = heading_line(1, " ".join(clean(title).split()))
    return parse(page.path, f"{page.mark}{heading}\n")
