"""Wake-up: what a session starts with, within a token budget, saying what was left out.

In: identity, rooms, the last session's promotions and the living notes. Out: a `WakeUp`; and
whether a turn is the first of its session, which alone carries it.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from palace.enforce.markers import harmless, indented
from palace.kept import Kept
from palace.ports import Journal
from palace.secrets import redact
from palace.text import clip, estimate_tokens, tokens
from palace.text.moments import new_id, utc_now
from palace.types.memory import Memory
from palace.types.session import ScratchEntry, WakeUp

_LINE_CHARS = 400
_NAMED = 20
_PROJECT_POINTS = 5.0
_RECENCY_POINTS = 1.0
# In records. A session that began before them is woken up once more.
_LOOKED_AT = 2000
# Sessions known without the journal: one is dropped when so many others had a turn since its last.
_KEPT_BEGUN = 20_000
# Wake-ups whose call failed that may wait for a later one at the same time.
_KEPT_LEFT = 512
_Told = TypeVar("_Told")


@dataclass(frozen=True, slots=True)
class RoomDigest:
    """One room as wake-up sees it.

    Attributes:
        memories: How many of its memories may be shown.
        ranked: Returns them, the first to be shown first: the id and what returns the text of
            each. Asked only of rooms that are shown.
        uses: How often its memories were evidence lately.
        recency: In [0, 1], 1 for the most recently changed room.
        drawers: Their names.
        is_of_project: Whether one of the memories belongs to the project of the session.
    """

    name: str
    memories: int
    ranked: Callable[[], Sequence[tuple[str, Callable[[], str]]]]
    uses: int = 0
    recency: float = 0.0
    drawers: frozenset[str] = frozenset()
    is_of_project: bool = False


@dataclass(frozen=True, slots=True)
class WakeUpSources:
    """Everything a wake-up is made of.

    Attributes:
        unread: What could not be read and why, one line each.
    """

    identity: str = ""
    rooms: tuple[RoomDigest, ...] = ()
    promoted: tuple[Memory, ...] = ()
    notes: tuple[ScratchEntry, ...] = ()
    unread: tuple[str, ...] = ()


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
        drawers = " ".join(drawer.replace("-", " ") for drawer in room.drawers)
        named = bool(wanted) and wanted <= set(tokens(f"{room.name.replace('/', ' ')} {drawers}"))
        if named or room.is_of_project:
            points += _PROJECT_POINTS
    return points


@dataclass
class _Page:
    """Lines that fit the budget, and what did not."""

    budget_tokens: int
    lines: list[str] = field(default_factory=list)
    included: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def fits(self, *lines: str) -> bool:
        text = "\n".join((*self.lines, *lines))
        # Alone, and as a prompt holds it.
        return all(estimate_tokens(t) <= self.budget_tokens for t in (text, indented(text)))

    def beginning(self, heading: str, text: str) -> str:
        """Return as much of a text as fits under a heading, cut at a word end; "" if none does."""
        if self.fits(heading, text):
            return text
        sizes = range(1, len(text))
        count = bisect_left(sizes, True, key=lambda n: not self.fits(heading, f"{text[:n]}…"))
        cut = text[:count].rstrip()
        if len(words := cut.rsplit(None, 1)) > 1 and len(words[0]) > count // 2:
            cut = words[0]
        return f"{cut}…" if cut else ""

    def section(
        self,
        heading: str,
        items: Sequence[tuple[str, _Told]],
        *,
        line_of: Callable[[_Told], str],
        limit: int | None = None,
    ) -> int:
        """Add (id, told) items under a heading, say what was left out, return how many fitted.

        Only what may be shown is made a line: looking through a whole room for secrets costs.
        """
        name = heading.lstrip("# ")
        wanted = items[:limit]
        shown = 0
        for identifier, told in wanted:
            line = line_of(told)
            lines = (line,) if shown else (heading, line)
            if not self.fits(*lines):
                self.left_out.append(f"{name}: {len(wanted) - shown} did not fit the budget")
                return shown
            self.lines.extend(lines)
            self.included.append(identifier)
            shown += 1
        if len(items) > shown:
            self.left_out.append(f"{name}: {len(items) - shown} more than are shown")
        return shown


def compose_wake_up(
    session_id: str,
    sources: WakeUpSources,
    *,
    budget_tokens: int,
    project: str | None = None,
    max_rooms: int = 4,
    memories_per_room: int = 5,
    shown: Callable[[str], str] = redact,
) -> WakeUp:
    """Compose the wake-up text of a session.

    Args:
        session_id: The session that starts.
        sources: What there is.
        budget_tokens: Most estimated tokens of the text, >= 0; never exceeded, nor where a prompt
            indents every line.
        project: The project of the session, if any.
        max_rooms: Most rooms to select.
        memories_per_room: Most memories of each room.
        shown: Returns a text as it may be shown to a model.
    """
    # A question loads this module too, and needs none of these patterns.
    from palace.enforce.suspicion import WARNING, suspicions

    page = _Page(budget_tokens)
    identity = harmless(shown(sources.identity.strip()))
    if identity:
        begun = page.beginning("# Identity", identity)
        page.section("# Identity", [("identity", begun or identity)], line_of=str)
        if begun and begun != identity:
            page.left_out.append("Identity: its end did not fit the budget")

    def line_of(text: str) -> str:
        odd = f" · {WARNING}" if suspicions(text) else ""
        return f"- {clip(harmless(shown(text)), _LINE_CHARS)}{odd}"

    # The latest first: what does not fit is what was noted longest ago.
    notes = [(e.id, e.text) for e in reversed(sources.notes)]
    page.section("# Notes of this session", notes, line_of=line_of)
    promoted = [(m.id, m.text) for m in sources.promoted]
    page.section("# Learned last session", promoted, line_of=line_of)
    opened: list[str] = []
    told = set(page.included)
    chosen = select_rooms(sources.rooms, project=project, limit=max_rooms)
    for room in chosen:
        items = [(identifier, text) for identifier, text in room.ranked() if identifier not in told]
        if page.section(
            f"# Room {room.name}",
            items,
            line_of=lambda text: line_of(text()),
            limit=memories_per_room,
        ):
            opened.append(room.name)
    text = "\n".join(page.lines)
    return WakeUp(
        session_id=session_id,
        text=text,
        used_tokens=estimate_tokens(text),
        budget_tokens=budget_tokens,
        rooms=tuple(opened),
        included=tuple(page.included),
        left_out=(*sources.unread, *page.left_out, *_inactive(sources.rooms, chosen)),
    )


def _inactive(rooms: Sequence[RoomDigest], chosen: Sequence[RoomDigest]) -> list[str]:
    active = {room.name for room in chosen}
    quiet = [room for room in rooms if room.name not in active and room.memories]
    if not quiet:
        return []
    names = ", ".join(f"{room.name} ({room.memories})" for room in quiet[:_NAMED])
    more = f" and {len(quiet) - _NAMED} more" if len(quiet) > _NAMED else ""
    return [f"rooms not active in this context: {names}{more}"]


class FirstTurns:
    """Remembers which sessions have begun, in this process and in the journal.

    The process keeps the 20,000 sessions it was asked about last, so a server that runs for months
    stays small. A forgotten session could get its wake-up once more, if its mark is no longer among
    the latest records of the journal either.

    Args:
        journal: Where other processes and earlier runs left their marks; None = only this process.
    """

    def __init__(self, journal: Journal | None) -> None:
        self._journal = journal
        self._begun: Kept[str, bool] = Kept(_KEPT_BEGUN)
        self._left: Kept[tuple[str, str | None], str] = Kept(_KEPT_LEFT)
        self._lock = threading.Lock()

    def begin(self, session_id: str) -> bool:
        """Whether this is the first turn of the session; True at most once for each session."""
        with self._lock:
            if self.knows(session_id):
                return False
            is_first = self._journal is None or self._mark(self._journal, session_id)
            self._begun.put(session_id, True)  # not where the journal fails: a later turn asks
            return is_first

    def knows(self, session_id: str) -> bool:
        """Whether `begin` was called for the session in this process; reads nothing."""
        known = self._begun.get(session_id) is not None
        if known:
            self._begun.put(session_id, True)
        return known

    def leave(self, session_id: str, project: str | None, text: str) -> None:
        """Keep a wake-up that nobody was told for a later turn of the session."""
        self._left.put((session_id, project), text)

    def take(self, session_id: str, project: str | None) -> str:
        """Return what was left to this session and project, once; "" if nothing was."""
        return self._left.pop((session_id, project)) or ""

    def _mark(self, journal: Journal, session_id: str) -> bool:
        """Leave the mark of a session; whether there was none."""
        if redact(session_id) != session_id:
            return True  # called by a token, it is known to this process alone
        begun = journal.records(type="wake_up", among=_LOOKED_AT)
        if any(record.get("session") == session_id for record in begun):
            return False
        now = utc_now().isoformat()
        journal.append({"id": new_id("w"), "type": "wake_up", "at": now, "session": session_id})
        return True
