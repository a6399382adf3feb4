"""What a session could start with: the rooms by what they are worth, and what was learned last.

In: an opened palace and who begins. Out: the sources of a wake-up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import TypeVar

from palace.enforce.wakeup import RoomDigest, WakeUpSources
from palace.errors import StoreError, StoreUnavailableError
from palace.learn.strength import faded
from palace.ports import Scope, Worth
from palace.store.index_uses import FileUse
from palace.store.names import place_of
from palace.text.moments import utc_now
from palace.types.memory import TIMELINE, Memory
from palace.verbs.opened import OpenedPalace

_log = logging.getLogger(__name__)
_Read = TypeVar("_Read")

# Promotions further back in the journal than so many records were not made last.
_RECENT_RECORDS = 1000


def wake_up_sources(palace: OpenedPalace, session_id: str, project: str | None) -> WakeUpSources:
    """Gather what a session could start with.

    Args:
        palace: Where.
        session_id: The session that starts.
        project: Its project, if any.
    """
    scopes = Scope(project=project).names
    unread: list[str] = []

    def readable(
        read: Callable[[], _Read], *, unread_as: type[StoreError] = StoreUnavailableError
    ) -> _Read | None:
        try:
            return read()
        except unread_as as error:
            _log.warning("a session begins without what cannot be read: %s", error)
            unread.append(error.message)
            return None

    # A link out of the palace is no name that the caller gave.
    identity = readable(lambda: palace.identity_file.read().text, unread_as=StoreError) or ""
    promoted = readable(lambda: _promoted_last(palace, session_id)) or []
    notes = readable(lambda: palace.living_notes(session_id)) or []
    return WakeUpSources(
        identity=identity,
        rooms=_room_digests(palace, scopes, project),
        promoted=tuple(_visible(palace, promoted, scopes)),
        notes=tuple(notes),
        unread=tuple(unread),
    )


def _promoted_last(palace: OpenedPalace, session_id: str) -> list[str]:
    """Return the ids that the last other session promoted, all use until now counted."""
    palace.tally.renew()
    promoted: list[str] = []
    last_session: str | None = None
    for record in palace.journal.records(type="promotion", among=_RECENT_RECORDS):
        if record.get("session") != session_id:
            last_session = last_session or record.get("session")
            if record.get("session") == last_session:
                promoted.append(str(record.get("memory")))
    return promoted


def _visible(palace: OpenedPalace, ids: Iterable[str], scopes: frozenset[str]) -> Iterator[Memory]:
    now = utc_now()
    for identifier in ids:
        memory = palace.index.get(identifier)
        if memory is not None and memory.scope in scopes and memory.holds_at(now):
            yield memory


def _room_digests(
    palace: OpenedPalace, scopes: frozenset[str], project: str | None
) -> tuple[RoomDigest, ...]:
    now = utc_now()
    by_room: dict[str, list[FileUse]] = {}
    for file in palace.index.uses.of_files(scopes, project=project or "", at=now):
        by_room.setdefault(place_of(file.path)[0], []).append(file)
    by_room.pop(TIMELINE, None)
    newest_first = sorted(palace.store.scan(), key=lambda s: -s.mtime_ns)
    rooms = dict.fromkeys(place_of(s.path)[0] for s in newest_first)
    recency = {room: 1.0 / (1 + rank) for rank, room in enumerate(rooms) if room in by_room}
    return tuple(
        RoomDigest(
            name=room,
            memories=sum(f.memories for f in files),
            ranked=partial(_ranked, palace, room, scopes, now),
            uses=sum(f.uses for f in files),
            recency=recency.get(room, 0.0),
            drawers=frozenset(place_of(f.path)[1] for f in files),
            is_of_project=any(f.is_of_project for f in files),
        )
        for room, files in sorted(by_room.items())
    )


def _ranked(
    palace: OpenedPalace, room: str, scopes: frozenset[str], now: datetime
) -> list[tuple[str, Callable[[], str]]]:
    """Return the memories of a room, what is worth most first."""

    def order(row: tuple[str, int, str, int, Worth]) -> tuple[float, ...]:
        *_, position, worth = row
        # Rounded, so that what was written together stays in the order of its file.
        by_now = round(faded(worth, used=worth.counts.last, at=now), 2)
        return (-worth.importance, -by_now, -worth.counts.uses, position)

    found = sorted(palace.index.uses.in_room(room, scopes, at=now), key=order)
    return [(identifier, partial(_text, palace, key)) for identifier, key, *_ in found]


def _text(palace: OpenedPalace, key: int) -> str:
    return "".join(memory.text for memory in palace.index.load([key]).values())
