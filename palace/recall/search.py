"""Search: from a query to scored candidates of one layer, best first.

In: a query and a scope. Out: scored candidates, or hits with their memories loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from palace.ports import Background, Candidate, Index, Scope, Vectors
from palace.recall.copies import without_copies
from palace.recall.fusion import QUESTION, Fusion, fused
from palace.recall.in_time import InTime, told_alike
from palace.recall.logistic import LogisticModel, probability_of
from palace.recall.priors import Priors, with_priors
from palace.recall.related import add_nearer
from palace.recall.scoring import JUDGED, Scored, score
from palace.recall.weighing import NO_WEIGHTS, Weights, term_weights
from palace.types.query import Hit, Query
from palace.types.verdict import LayerName

# Only the head of the candidate list is worth its neighbours.
_NEIGHBOURED = 20
_NEIGHBOURED_OF_RELATED = 10
# A search brings so many candidates for each hit that is asked for, up to so many of a channel.
_CANDIDATES_A_HIT = 3
_MOST_WIDENED = 200
# Of what may tell of the last, the first or the next of several.
_MOST_TOLD = 1000
# Candidates that related words bring, and the most words that are looked for.
_RELATED = 30
_RELATED_TERMS = 48


@dataclass(frozen=True, slots=True)
class Found:
    """Everything one query found, before it is scored.

    Attributes:
        candidates: By words, by related words and by meaning, and the turns around them, each
            once.
        weights: Term weights of the query.
        cosines: Candidate key -> cosine to the question; None where words answer alone.
        background: What any cosine to the question is; None where words answer alone.
        in_time: Keys of what is told alike of what is asked, in the order of time asked for.
    """

    candidates: Sequence[Candidate]
    weights: Weights
    cosines: Mapping[int, float] | None = None
    background: Background | None = None
    in_time: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Searcher:
    """Asks the index, and the vectors where there are some, and scores what comes back.

    Attributes:
        index: Where the memories are.
        vectors: The channel of meaning, None where it is off.
        candidates: How many candidates each channel brings, >= 1.
        neighbour_distance: How many memories on each side lend their words, >= 0.
        fusion: How the two channels are joined.
        priors: What memories are worth beside their words; None where words decide alone.
        with_meaning: The fitted model that orders where meaning speaks; None takes the usual one.
        order: Puts memories in an order of time; None where their days are not known.
    """

    index: Index
    vectors: Vectors | None = None
    candidates: int = 40
    neighbour_distance: int = 2
    fusion: Fusion = QUESTION
    priors: Priors | None = None
    with_meaning: LogisticModel | None = None
    order: InTime | None = None

    @property
    def words_alone(self) -> str:
        """Why words answered without vectors, for some memories or all; "" if none had to."""
        state = self.vectors.state if self.vectors is not None else None
        if state is None or state.status == "ready":
            return ""
        if state.status != "partial":
            return f"words answered alone: {state.reason}"
        who = "for the rest" if state.embedded else "alone"
        return f"words answered {who}: {state.reason}" if state.total else ""

    def weights(self, query: Query) -> Weights:
        """Return the weight of every term of the query in this palace."""
        return term_weights(query, self.index)

    def found(self, query: Query, *, layer: LayerName = "L1") -> Found:
        """Return everything that one of the channels finds, and the turns around it."""
        scope = Scope(session_id=query.session_id, project=query.project)
        vector = self.vectors.ask(query.glossed) if self.vectors is not None else None
        if not self.index.holds(layer, scope=scope):
            return Found((), NO_WEIGHTS)
        terms = (*query.terms, *query.carried, *chain.from_iterable(query.days.values()))
        most = _MOST_TOLD if query.in_time else self.candidates
        by_words = self.index.candidates(terms, layer=layer, scope=scope, limit=most)
        by_words, in_time = self._in_time(query, by_words)
        by_meaning: list[Candidate] = []
        if self.vectors is not None and vector is not None:
            nearest = self.vectors.nearest(vector, layer=layer, scope=scope, limit=self.candidates)
            known = {c.key for c in by_words}
            by_meaning = self.index.candidates_by_key([k for k, _ in nearest if k not in known])
        found = [*by_words, *by_meaning]
        by_related = self._by_related_words(query, layer, scope, known=found)
        found += by_related
        heads = (
            *by_words[:_NEIGHBOURED],
            *by_meaning[:_NEIGHBOURED],
            *by_related[:_NEIGHBOURED_OF_RELATED],
        )
        spoken = [c for c in heads if c.session]
        found += self.index.neighbours(
            spoken, distance=self.neighbour_distance, scope=scope, known=found
        )
        found = without_copies(found, self.index.load)
        if query.days:
            found = [_dated_as_asked(candidate, query) for candidate in found]
        weights = self.weights(query) if found else NO_WEIGHTS
        if in_time:  # their days tell which of them is meant, whether or not any word does
            weights = weights._replace(known=weights.known.union(query.ordering))
        if self.vectors is None or vector is None:
            return Found(found, weights, in_time=in_time)
        cosines = self.vectors.cosines(vector, [c.key for c in found])
        return Found(found, weights, cosines, self.vectors.background(vector), in_time)

    def _by_related_words(
        self, query: Query, layer: LayerName, scope: Scope, *, known: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return what holds words related to those of the query, and was not found yet."""
        nearness: dict[str, float] = {}
        for near in query.related.values():
            add_nearer(nearness, near)
        for term in query.terms:
            nearness.pop(term, None)
        if not nearness:
            return []
        counts = self.index.counts(nearness, scope=scope)
        held = [(-near, token) for token, near in nearness.items() if counts[token].any]
        nearest = [token for _, token in sorted(held)[:_RELATED_TERMS]]
        by_related = self.index.candidates(nearest, layer=layer, scope=scope, limit=_RELATED)
        keys = {c.key for c in known}
        return [c for c in by_related if c.key not in keys]

    def scored(self, query: Query, *, layer: LayerName = "L1") -> list[Scored]:
        """Return the scored candidates of a layer, best first."""
        found = self.found(query, layer=layer)
        ranked = score(
            query,
            found.candidates,
            weights=found.weights,
            cosines=found.cosines,
            background=found.background,
            ranking=self.with_meaning if found.cosines is not None else None,
            in_time=found.in_time,
        )
        if found.cosines is not None and self.fusion.method != "question":
            ranked = fused(ranked, found.cosines, self.fusion)  # its scores are no log-odds
        elif self.priors is not None:
            ranked = with_priors(ranked, self.priors)
        if not found.in_time:
            return ranked
        places = {key: place for place, key in enumerate(found.in_time)}
        placed = [s._replace(place=places.get(s.candidate.key, len(places))) for s in ranked]
        return sorted(placed, key=lambda scored: scored.place)

    def _in_time(
        self, query: Query, by_words: Sequence[Candidate]
    ) -> tuple[list[Candidate], Sequence[int]]:
        """Return what was found by words, as much as usual, and what of it is asked for in time.

        That is the last, the first or the next of all that tells alike, wherever it ranks.
        """
        if query.in_time is None or self.order is None:
            return [*by_words], ()
        alike = told_alike(query, by_words, self.weights(query))
        ordered = self.order(query.in_time, alike)[:JUDGED]
        kept = {*ordered, *(c.key for c in by_words[: self.candidates])}
        return [c for c in by_words if c.key in kept], ordered

    def hits(self, query: Query, *, top_k: int, layer: LayerName = "L1") -> list[Hit]:
        """Return the best memories of a layer with their scores in (0, 1)."""
        wide = min(_CANDIDATES_A_HIT * top_k, _MOST_WIDENED)
        deep = replace(self, candidates=max(self.candidates, wide, top_k))
        best = deep.scored(query, layer=layer)[:top_k]
        memories = self.index.load([scored.candidate.key for scored in best])
        return [
            Hit(memory=memory, score=probability_of(scored.rank), parts=_parts(scored))
            for scored in best
            for memory in [memories.get(scored.candidate.key)]
            if memory is not None
        ]


def _dated_as_asked(candidate: Candidate, query: Query) -> Candidate:
    """Return a candidate, any day of a period that is asked about as the one that stands for it."""
    asked = {day: term for term, days in query.days.items() for day in days}
    if asked.keys().isdisjoint((*candidate.body, *candidate.context)):
        return candidate
    body, context = (
        tuple(asked.get(token, token) for token in told)
        for told in (candidate.body, candidate.context)
    )
    return candidate._replace(body=body, context=context)


def _parts(scored: Scored) -> dict[str, float]:
    """Return the features with the prior, where there is one."""
    prior = {"prior": scored.prior} if scored.prior else {}
    return {**scored.features, **prior}
