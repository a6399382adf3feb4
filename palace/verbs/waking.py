"""What a session could start with: the rooms by what they are worth, and what was learned last.

In: an opened palace and who begins. Out: the sources of a wake-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from palace.enforce.wakeup import RoomDigest, WakeUpSources
from palace.learn.strength import strength
from palace.ports import UNUSED, Scope, UseCounts
from palace.store.markdown import place_of
from palace.text import utc_now
from palace.types.memory import TIMELINE, Memory
from palace.verbs.opened import OpenedPalace

# Promotions further back in the journal than so many records were not made last.
_RECENT_RECORDS = 1000


def wake_up_sources(palace: OpenedPalace, session_id: str, project: str | None) -> WakeUpSources:
    """Gather what a session could start with."""
    scopes = Scope(project=project).names
    counts, now = palace.tally.counts(), utc_now()

    def order(memory: Memory) -> tuple[float, ...]:
        used = counts.get(memory.id, UNUSED)
        # Rounded, so that what was written together stays in the order of its file.
        by_now = round(strength(memory, used, at=now), 2)
        return (-memory.importance, -by_now, -used.uses, memory.position)

    return WakeUpSources(
        identity=palace.identity_file.read().text,
        rooms=_room_digests(palace, counts, scopes),
        promoted=tuple(_visible(palace, _promoted_last(palace, session_id), scopes)),
        notes=tuple(palace.living_notes(session_id)),
        order=order,
    )


def _promoted_last(palace: OpenedPalace, session_id: str) -> list[str]:
    """Return the ids that the last other session promoted."""
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
    palace: OpenedPalace, counts: Mapping[str, UseCounts], scopes: frozenset[str]
) -> tuple[RoomDigest, ...]:
    by_room: dict[str, list[Memory]] = {}
    now = utc_now()
    for memory in palace.index.memories():
        if memory.holds_at(now) and memory.scope in scopes and memory.room != TIMELINE:
            by_room.setdefault(memory.room, []).append(memory)
    newest_first = sorted(palace.store.scan(), key=lambda s: -s.mtime_ns)
    rooms = dict.fromkeys(place_of(s.path)[0] for s in newest_first)
    recency = {room: 1.0 / (1 + rank) for rank, room in enumerate(rooms) if room in by_room}
    return tuple(
        RoomDigest(
            name=room,
            memories=tuple(found),
            uses=sum(counts.get(m.id, UNUSED).uses for m in found),
            recency=recency.get(room, 0.0),
        )
        for room, found in sorted(by_room.items())
    )
