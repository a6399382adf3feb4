"""Wake-up: what a session starts with, within a token budget, saying what was left out.

In: identity, rooms, the last session's promotions and the living notes. Out: a `WakeUp`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from palace.secrets import redact
from palace.text import clip, estimate_tokens, tokens
from palace.types import Memory, ScratchEntry, WakeUp

_LINE_CHARS = 400
_PROJECT_POINTS = 5.0
_RECENCY_POINTS = 1.0


@dataclass(frozen=True, slots=True)
class RoomDigest:
    """One room as wake-up sees it.

    Attributes:
        uses: How often its memories were evidence lately.
        recency: In [0, 1], 1 for the most recently changed room.
        memories: Active memories, most important first.
    """

    name: str
    memories: tuple[Memory, ...]
    uses: int = 0
    recency: float = 0.0


@dataclass(frozen=True, slots=True)
class WakeUpSources:
    """Everything a wake-up is made of."""

    identity: str = ""
    rooms: tuple[RoomDigest, ...] = ()
    promoted: tuple[Memory, ...] = ()
    notes: tuple[ScratchEntry, ...] = ()


def select_rooms(
    rooms: Iterable[RoomDigest], *, project: str | None, limit: int
) -> list[RoomDigest]:
    """Return the rooms that matter in this context, best first; never all for the sake of it.

    A room counts when it belongs to the project, was used lately or changed last.
    """
    scored = [(_room_points(room, project), room) for room in rooms if room.memories]
    relevant = [(points, room) for points, room in scored if points > 0]
    relevant.sort(key=lambda item: (-item[0], item[1].name))
    return [room for _, room in relevant[:limit]]


def _room_points(room: RoomDigest, project: str | None) -> float:
    points = float(room.uses) + _RECENCY_POINTS * room.recency
    if project:
        wanted = set(tokens(project))
        named = wanted <= set(tokens(f"{room.name.replace('/', ' ')} {_drawers(room)}"))
        if named or any(m.project == project for m in room.memories):
            points += _PROJECT_POINTS
    return points


def _drawers(room: RoomDigest) -> str:
    return " ".join({m.drawer.replace("-", " ") for m in room.memories})


@dataclass
class _Page:
    """Lines that fit the budget, and what did not."""

    budget_tokens: int
    lines: list[str] = field(default_factory=list)
    included: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def fits(self, *lines: str) -> bool:
        return estimate_tokens("\n".join((*self.lines, *lines))) <= self.budget_tokens

    def leave_out(self, what: str, count: int) -> None:
        if count > 0:
            self.left_out[what] = self.left_out.get(what, 0) + count

    def section(self, heading: str, items: Sequence[tuple[str, str]]) -> bool:
        """Add as many (id, line) items as fit under a heading; count the rest."""
        opened = False
        for number, (identifier, line) in enumerate(items):
            wanted = (line,) if opened else (heading, line)
            if not self.fits(*wanted):
                self.leave_out(heading.lstrip("# "), len(items) - number)
                break
            self.lines.extend(wanted)
            self.included.append(identifier)
            opened = True
        return opened


def compose_wake_up(
    session_id: str,
    sources: WakeUpSources,
    *,
    budget_tokens: int,
    project: str | None = None,
    max_rooms: int = 4,
    memories_per_room: int = 5,
) -> WakeUp:
    """Compose the wake-up text of a session.

    Args:
        session_id: The session that starts.
        sources: What there is.
        budget_tokens: Most estimated tokens of the text, >= 0; never exceeded.
        project: The project of the session, if any.
        max_rooms: Most rooms to select.
        memories_per_room: Most memories of each room.
    """
    page = _Page(budget_tokens)
    identity = redact(sources.identity.strip())
    if identity:
        page.section("# Identity", [("identity", identity)])
    page.section("# Notes of this session", [(e.id, _line(e.text)) for e in sources.notes])
    page.section("# Learned last session", [(m.id, _line(m.text)) for m in sources.promoted])
    shown: list[str] = []
    told = set(page.included)
    chosen = select_rooms(sources.rooms, project=project, limit=max_rooms)
    for room in chosen:
        items = [(m.id, _line(m.text)) for m in room.memories if m.id not in told]
        if page.section(f"# Room {room.name}", items[:memories_per_room]):
            shown.append(room.name)
            page.leave_out(f"Room {room.name}", len(items) - memories_per_room)
    text = "\n".join(page.lines)
    return WakeUp(
        session_id=session_id,
        text=text,
        used_tokens=estimate_tokens(text),
        budget_tokens=budget_tokens,
        rooms=tuple(shown),
        included=tuple(page.included),
        left_out=_left_out(page.left_out, sources.rooms, shown),
    )


def _line(text: str) -> str:
    return f"- {clip(redact(text), _LINE_CHARS)}"


def _left_out(
    cut: Mapping[str, int], rooms: Sequence[RoomDigest], shown: Sequence[str]
) -> tuple[str, ...]:
    lines = [f"{what}: {count} more left out" for what, count in cut.items()]
    quiet = [r for r in rooms if r.name not in shown and f"Room {r.name}" not in cut and r.memories]
    if quiet:
        names = ", ".join(f"{r.name} ({len(r.memories)})" for r in quiet)
        lines.append(f"rooms not active in this context: {names}")
    return tuple(lines)
