"""All memories of a sort: the last conversation, open tasks, what was told, who is asking.

In: what a prompt asks for as a whole, and the index. Out: the memories that are of that sort; their
words are not compared with those of the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time
from functools import partial
from typing import Literal, Protocol

from palace.ports import Scope
from palace.recall.lexicon import folded_words
from palace.text import fold
from palace.types.memory import TIMELINE, Memory, MemoryKind
from palace.types.query import Gathering
from palace.types.session import ASKING

_LIKED: Sequence[MemoryKind] = ("preference",)
_FACTS: Sequence[MemoryKind] = ("fact", "procedure", "correction", "negative")
_SAID: Sequence[MemoryKind] = ("event",)
# Of what was told last so much is looked through for what somebody said of himself.
_LOOKED_THROUGH = 500
_MOST = 50
_OPEN = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?\[ \] |\ATODO\b", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]+")


class Kept(Protocol):
    """What is asked of an index."""

    def marked(self, field: Literal["open"]) -> list[Memory]:
        """Return the memories with an empty box in their words, or that begin with TODO."""

    def latest(
        self,
        kinds: Sequence[MemoryKind],
        *,
        scope: Scope,
        limit: int,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Memory]:
        """Return the memories written last, the newest first."""

    def pages(self, room: str) -> list[str]:
        """Return the files of a room, the last first."""

    def memories(self, *, path: str) -> Iterable[Memory]:
        """Yield the memories of a file."""


def gathered(
    index: Kept,
    asked: Gathering,
    *,
    scope: Scope,
    present: str | None,
    may: Callable[[Memory], bool],
    most: int,
) -> list[Memory]:
    """Return the memories that a prompt asks for as a whole; none where there are none.

    Args:
        index: Where they are.
        asked: Which they are.
        scope: Who asks.
        present: The conversation in which it is asked, as the timeline calls it.
        may: Whether a memory may be evidence now.
        most: How many of a conversation are wanted: they are its last. Of what is complete only if
            none is left out, there are up to 50.
    """

    def visible(memory: Memory) -> bool:
        return memory.scope in scope.names and may(memory)

    if asked.sort == "last_talk":
        return _last_talk(index, present, visible)[-most:]
    if asked.sort == "open_tasks":
        return [m for m in index.marked("open") if visible(m) and _OPEN.search(m.text)][:_MOST]
    latest = partial(
        index.latest,
        scope=scope,
        limit=_LOOKED_THROUGH,
        since=_begin(asked.since),
        until=_begin(asked.until),
    )
    if asked.sort == "told":
        told = list(filter(_is_kept, latest((*_LIKED, *_FACTS))))
    else:
        told = [*latest(_LIKED), *filter(_tells_of_asker, [*latest(_FACTS), *latest(_SAID)])]
    return [m for m in told if visible(m)][:_MOST]


def _last_talk(index: Kept, present: str | None, visible: Callable[[Memory], bool]) -> list[Memory]:
    """Return what a page of the timeline tells of the last conversation, and of tasks since then.

    That is another conversation than the present, unless there is none.
    """
    since: list[Memory] = []
    own: list[Memory] = []
    for page in index.pages(TIMELINE):
        told = [m for m in index.memories(path=page) if visible(m)]
        talks = [m.session for m in told if not _is_apart(m) and m.session != present]
        if talks:
            begin = next(n for n, m in enumerate(told) if m.session == talks[-1])
            last = [m for m in told[begin:] if _is_apart(m) or m.session == talks[-1]]
            return [*last, *since]
        since = [*filter(_is_apart, told), *since]
        own = own or [m for m in told if not _is_apart(m)]
    return since or own


def _is_apart(memory: Memory) -> bool:
    """Whether an entry of the timeline is no part of a conversation: a task, or of nobody's."""
    return not memory.session or memory.provenance == "task"


def _is_kept(memory: Memory) -> bool:
    """Whether a memory was given to be kept, and is no line that somebody wrote by hand."""
    return memory.id.startswith("m-")


def _tells_of_asker(memory: Memory) -> bool:
    """Whether it was told, and begins as "I live in Bergen." or "The user lives in Bergen."."""
    first, *second = [fold(word) for word in _WORD.findall(memory.text)[:2]] or [""]
    own = first in folded_words("first_person")
    if memory.kind == "event":
        return own and memory.speaker.casefold() in ASKING and "?" not in memory.text
    named = not folded_words("asker_words").isdisjoint((first, *second))
    return _is_kept(memory) and (named or (own and memory.trust == "user"))


def _begin(day: date | None) -> datetime | None:
    """Return the moment a day begins where the palace is."""
    return datetime.combine(day, time.min).astimezone() if day else None
