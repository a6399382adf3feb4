"""How many memories hold a term, by what a reader may see of them: the vocabulary of the index.

In: a scope and terms. Out: partitions of the index, counts and weights of terms. What was read is
kept until any process changes the database.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from palace.ports import Scope, TermCounts
from palace.store.index_database import IndexDatabase, State
from palace.store.index_rows import sayable
from palace.types.verdict import LayerName

_KEPT_TERMS = 100_000


@dataclass(frozen=True, slots=True)
class Partition:
    """What the index holds of one layer in one scope, and how much it is."""

    number: int
    layer: str
    memories: int
    tokens: int


class TermTable:
    """The tables `partitions` and `terms` of an index.

    Args:
        database: Of the index.
    """

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        self._as_of: State | None = None
        self._counts: dict[tuple[int, str], tuple[int, int, int]] = {}
        self._partitions: dict[Scope, list[Partition]] = {}

    def forget(self) -> None:
        """Drop what was read: the database is another one."""
        self._as_of = None

    def visible(self, scope: Scope) -> list[Partition]:
        """Return what a reader of this scope may see."""
        with self._database.held():
            self._renew()
            if scope not in self._partitions:
                rows = self._database.rows(
                    "SELECT number, layer, memories, tokens FROM partitions"
                    " WHERE scope IN ('global', ?, ?)",
                    _scopes(scope),
                )
                self._partitions[scope] = [Partition(*row) for row in rows]
            return self._partitions[scope]

    def count(self, term: str, visible: Sequence[Partition]) -> TermCounts:
        """Return how many of the visible memories hold a term."""
        held = named = 0
        for partition in visible:
            body, place, names = self._held(partition.number, term)
            held += body + place
            named += names
        return TermCounts(held, named)

    def rows(
        self, term: str, visible: Sequence[Partition], layer: LayerName
    ) -> list[tuple[int, int, int]]:
        """Return (partition, memories that say a term, memories whose place alone has it)."""
        return [(p.number, *self._held(p.number, term)[:2]) for p in visible if p.layer == layer]

    def weights(self, terms: Iterable[str], visible: Sequence[Partition]) -> dict[str, float]:
        """Return the inverse document frequency of each term among the visible memories."""
        size = sum(p.memories for p in visible)
        counts = {term: self.count(term, visible).any for term in terms}
        return {
            term: math.log(1.0 + (size - count + 0.5) / (count + 0.5))
            for term, count in counts.items()
        }

    def _held(self, partition: int, term: str) -> tuple[int, int, int]:
        """Return how many memories of a partition say a term, only stand where it is, name it."""
        known = self._counts.get((partition, term))
        if known is None:
            rows = self._database.rows(
                "SELECT body, place, names FROM terms WHERE partition = ? AND term = ?",
                (partition, sayable(term)),
            )
            known = self._counts[partition, term] = rows[0] if rows else (0, 0, 0)
        return known

    def _renew(self) -> None:
        """Drop what is remembered when any process changed the database."""
        state = self._database.state()
        if state != self._as_of or len(self._counts) > _KEPT_TERMS:
            self._counts.clear()
            self._partitions.clear()
            self._as_of = state


def average_tokens(visible: Sequence[Partition]) -> float:
    """Return the mean length of the visible memories, in tokens."""
    return sum(p.tokens for p in visible) / max(sum(p.memories for p in visible), 1)


def _scopes(scope: Scope) -> tuple[str, str]:
    return (
        sayable(f"session:{scope.session_id}") if scope.session_id else "",
        sayable(f"project:{scope.project}") if scope.project else "",
    )
