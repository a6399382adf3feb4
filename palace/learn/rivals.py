"""Memories that a new one may repeat or contradict: those of its scope that share its words.

In: a draft or a memory. Out: active memories, those that share most first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from palace.ports import Index, Scope
from palace.text import tokens
from palace.text.moments import utc_now
from palace.types.memory import TIMELINE, Draft, Memory
from palace.types.session import Turn

# Conversations and other scopes share the words; they are left out after the search.
_SEARCHED = 64
_RESEMBLING = 16
_LAST_INSTANT = timedelta(microseconds=1)


class Rivals:
    """Looks for them in the index.

    Args:
        index: Of the palace.
        terms: Returns the words of a turn that are searched for.
        everything: Returns all memories, for a draft that has no words.
    """

    def __init__(
        self,
        *,
        index: Index,
        terms: Callable[[Turn], Sequence[str]],
        everything: Callable[[], Iterable[Memory]],
    ) -> None:
        self._index = index
        self._terms = terms
        self._everything = everything

    def of(self, draft: Draft) -> list[Memory]:
        """Return memories of the draft's own scope that share its words, at most 16.

        Only such as are valid when the draft is: now, or at the moment of its validity that is
        nearest to now.
        """
        scope = _scope_named(draft.scope)
        turn = Turn(draft.text, scope.session_id, scope.project)
        terms = self._terms(turn) or tuple(dict.fromkeys(tokens(draft.text)))
        if not terms:  # signs alone, that no index holds
            return [m for m in self._everything() if _is_rival(m, draft)]
        from palace.learn.word_classes import searched_for

        found = self._index.candidates(
            searched_for(terms), layer="L1", scope=scope, limit=_SEARCHED, at=_moment_of(draft)
        )
        rivals = (m for m in self._loaded([c.key for c in found]) if _is_rival(m, draft))
        return list(islice(rivals, _RESEMBLING))

    def _loaded(self, keys: Sequence[int]) -> Iterator[Memory]:
        """Yield the memories of these keys; few are read where few are asked for."""
        for start in range(0, len(keys), _RESEMBLING):
            yield from self._index.load(keys[start : start + _RESEMBLING]).values()

    def copies_of(self, memory: Memory) -> list[Memory]:
        """Return active memories of the same scope that share its words, turns included."""
        found = self._index.candidates(
            self._terms(Turn(memory.text)),
            layer="L1",
            scope=_scope_named(memory.scope),
            limit=_SEARCHED,
        )
        memories = self._index.load([c.key for c in found]).values()
        return [m for m in memories if m.scope == memory.scope and m.source != memory.source]


def _moment_of(draft: Draft) -> datetime | None:
    """Return the moment nearest to now at which a draft is true; None for now."""
    now = utc_now()
    if draft.valid_from is not None and draft.valid_from > now:
        return draft.valid_from
    if draft.valid_to is not None and draft.valid_to <= now:
        return draft.valid_to.replace(microsecond=0) - _LAST_INSTANT  # as the index keeps it
    return None


def _is_rival(memory: Memory, draft: Draft) -> bool:
    """Whether a memory can say the same or otherwise.

    What was said in a conversation cannot, nor a value at the head of a file, which names nobody.
    """
    is_stated = memory.room != TIMELINE and not memory.is_value
    return memory.status == "active" and memory.scope == draft.scope and is_stated


def _scope_named(scope: str) -> Scope:
    kind, _, name = scope.partition(":")
    return Scope(
        session_id=name if kind == "session" else None,
        project=name if kind == "project" else None,
    )
