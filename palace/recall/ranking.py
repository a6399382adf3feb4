"""What orders candidates: relevance, the turns around, the home they stand in, who spoke, meaning.

In: a query and everything that was found for it. Out: features by candidate, in the units of the
fitted model `weights/ranking.json`. They compare candidates of one question and prove nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from palace.ports import Candidate
from palace.recall.attribution import Said, Standing, people_asked, standing
from palace.recall.features import answer_present
from palace.recall.weighing import K1, Weights, relevance
from palace.types.query import Query

# How much of a word counts that a turn does not hold itself but one at this distance does.
REACH = {0: 1.0, 1: 0.6, 2: 0.4}
_LOG_FLOOR = 0.05
_MANY_NAMES = 4
_TIMES = ("clock", "date", "duration")


@dataclass(frozen=True, slots=True)
class _Seen:
    """One candidate as the ranking sees it; terms are those of the question that it holds."""

    candidate: Candidate
    words: frozenset[str]
    terms: tuple[str, ...]
    around: tuple[str, ...]
    standing: Standing
    coverage: float
    relevance: float


@dataclass(frozen=True, slots=True)
class _Question:
    """Term weights of the question as one kind of memory is asked it, and their sum."""

    idf: Mapping[str, float]
    total: float

    def share(self, terms: Iterable[str]) -> float:
        """Return the weighted share of the question that some of its terms make up."""
        idf = self.idf
        return sum([idf[t] for t in terms if t in idf]) / self.total


class Pool:
    """Everything that was found for one query, seen together.

    Args:
        query: What is asked.
        candidates: What was found, with the neighbours that may matter, each once.
        weights: Term weights of the query.
        cosines: Candidate key -> cosine to the question, where meaning is on.
    """

    def __init__(
        self,
        query: Query,
        candidates: Sequence[Candidate],
        *,
        weights: Weights,
        cosines: Mapping[int, float] | None = None,
    ) -> None:
        self._query = query
        self._cosines = cosines
        self.people = people_asked(query, candidates)
        self.idf = weights.idf
        # A speaker's name says whose words are meant; it is seldom said itself.
        self.spoken_idf = {t: w for t, w in weights.idf.items() if t not in self.people}
        self._asked, self._spoken = (
            _Question(idf, sum(idf.values()) or 1.0) for idf in (self.idf, self.spoken_idf)
        )
        self._sessions: dict[tuple[str, str], dict[int, _Seen]] = {}
        self._seen: dict[int, _Seen] = {}
        for candidate in candidates:
            seen = self._seen[candidate.key] = self._see(candidate)
            if candidate.session:
                home = self._sessions.setdefault((candidate.path, candidate.session), {})
                home[candidate.position] = seen

    def _question(self, candidate: Candidate) -> _Question:
        return self._spoken if candidate.session else self._asked

    def _see(self, candidate: Candidate) -> _Seen:
        question = self._question(candidate)
        words = frozenset(candidate.body)
        terms = tuple([t for t in question.idf if t in words])
        around = tuple([t for t in question.idf if t in candidate.context])
        most = question.total * (K1 + 1)
        return _Seen(
            candidate,
            words=words,
            terms=terms,
            around=around,
            standing=standing(candidate, self.people, words),
            coverage=question.share(terms),
            relevance=relevance(candidate, question.idf) / most if terms or around else 0.0,
        )

    def near(self, candidate: Candidate) -> list[tuple[int, _Seen]]:
        """Return (distance, turn) of the turns around a turn of the same session."""
        if not candidate.session:
            return []
        turns = self._sessions[candidate.path, candidate.session]
        here = candidate.position
        return [(abs(step), turns[here + step]) for step in (-1, 1, -2, 2) if here + step in turns]

    @cached_property
    def said(self) -> list[Said]:
        """Every turn that was found, as evidence of who is meant."""
        return [
            Said(s.words, s.standing, s.coverage)
            for s in self._seen.values()
            if s.candidate.session
        ]

    @cached_property
    def _homes(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Best relevance, and share of the question that stands anywhere in a session or drawer."""
        best: dict[tuple[str, str], float] = {}
        terms: dict[tuple[str, str], dict[str, None]] = {}
        for seen in self._seen.values():
            home = (seen.candidate.path, seen.candidate.session)
            best[home] = max(best.get(home, 0.0), seen.relevance)
            terms.setdefault(home, {}).update(dict.fromkeys(seen.terms))
        return {
            home: (best[home], (self._spoken if home[1] else self._asked).share(held))
            for home, held in terms.items()
        }

    @cached_property
    def _reach(self) -> dict[int, float]:
        """Candidate key -> its coverage, with what the turns around it lend at a discount."""
        return {key: self._reach_of(seen) for key, seen in self._seen.items()}

    def _reach_of(self, seen: _Seen) -> float:
        near = [(d, turn) for d, turn in self.near(seen.candidate) if turn.terms]
        if not near:
            return seen.coverage
        best = dict.fromkeys(seen.terms, REACH[0])
        for distance, turn in near:
            lent = REACH[distance]
            for term in turn.terms:
                if best.get(term, 0.0) < lent:
                    best[term] = lent
        question = self._question(seen.candidate)
        return sum([question.idf[t] * share for t, share in best.items()]) / question.total

    @cached_property
    def _cosine_scale(self) -> tuple[float, float]:
        """Mean and deviation of the cosines: models differ in both, the order they agree on."""
        values = [*(self._cosines or {}).values()]
        if len(values) < 2:
            return (values[0] if values else 0.0), 1.0
        mean = sum(values) / len(values)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
        return mean, max(deviation, 0.02)

    @cached_property
    def _uncovered(self) -> float:
        """The share of the question that no candidate holds: there, words cannot be trusted."""
        return 1.0 - max(self._reach.values(), default=0.0)

    def closeness(self, candidate: Candidate) -> float:
        """Return the cosine in deviations from the mean of what was found; 0 where unknown."""
        if self._cosines is None or candidate.key not in self._cosines:
            return 0.0
        mean, deviation = self._cosine_scale
        return (self._cosines[candidate.key] - mean) / deviation

    def ranking_features(self, candidate: Candidate) -> dict[str, float]:
        """Return the signals that order this candidate among the others."""
        seen = self._seen[candidate.key]
        query = self._query
        home_best, home_coverage = self._homes[candidate.path, candidate.session]
        values = {
            "relevance_log": math.log(_LOG_FLOOR + seen.relevance),
            "named": float(seen.standing == "named"),
            "addressed": float(seen.standing == "addressed"),
            "other": float(seen.standing == "other"),
            "reach": self._reach[candidate.key],
            "home_best": home_best,
            "home_coverage": home_coverage,
            "context": self._question(candidate).share(seen.around),
            "dated": answer_present(query, candidate) if query.answer_type in _TIMES else 0.5,
            "fresh_names": min(len(candidate.names - self.idf.keys()), _MANY_NAMES) / _MANY_NAMES,
        }
        if self._cosines is not None:
            closeness = self.closeness(candidate)
            # A turn is found by its words and its surroundings, a statement by what it means.
            values["closeness"] = 0.0 if candidate.session else closeness
            values["closeness_said"] = closeness if candidate.session else 0.0
            values["closeness_uncovered"] = closeness * self._uncovered
        return values
