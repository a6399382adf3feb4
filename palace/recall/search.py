"""Search: from a query to scored candidates of one layer, best first.

In: a query and a scope. Out: scored candidates, or hits with their memories loaded.
"""

from __future__ import annotations

from dataclasses import dataclass

from palace.ports import Index, Scope
from palace.recall.scoring import Scored, Weights, score, term_weights
from palace.types import Hit, LayerName, Query

# Only the head of the candidate list is worth its neighbours.
_NEIGHBOURED = 30


@dataclass(frozen=True, slots=True)
class Searcher:
    """Asks the index and scores what comes back.

    Attributes:
        index: Where the memories are.
        candidates: How many candidates are scored, >= 1.
        neighbour_distance: How many memories on each side lend their words, >= 0.
    """

    index: Index
    candidates: int = 60
    neighbour_distance: int = 2

    def weights(self, query: Query) -> Weights:
        """Return the weight of every term of the query in this palace."""
        return term_weights(query, self.index)

    def scored(self, query: Query, *, layer: LayerName = "L1") -> list[Scored]:
        """Return the scored candidates of a layer, best first."""
        scope = Scope(session_id=query.session_id, project=query.project)
        found = self.index.candidates(
            (*query.terms, *query.carried), layer=layer, scope=scope, limit=self.candidates
        )
        if not found:
            return []
        spoken = [c for c in found[:_NEIGHBOURED] if c.session]
        near = self.index.neighbours(spoken, distance=self.neighbour_distance, scope=scope)
        pool = {c.key: c for around in near.values() for c in around}
        pool.update((c.key, c) for c in found)
        return score(query, list(pool.values()), weights=self.weights(query))

    def hits(self, query: Query, *, top_k: int, layer: LayerName = "L1") -> list[Hit]:
        """Return the best memories of a layer with their scores."""
        best = self.scored(query, layer=layer)[:top_k]
        return [
            Hit(memory=memory, score=scored.rank, parts=scored.features)
            for scored in best
            for memory in self.index.load([scored.candidate.key])
        ]
