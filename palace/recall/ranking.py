"""What orders candidates: relevance, the turns around, the home they stand in, who spoke, meaning.

In: a query and everything that was found for it. Out: features by candidate, in the units of the
fitted model `weights/ranking.json`. They compare candidates of one question and prove nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

from palace.ports import Candidate
from palace.recall.attribution import Standing, Voice, people_asked, standing, voices
from palace.recall.kinds import answer_present
from palace.recall.weighing import K1, Weights, relevance
from palace.types.query import Query

# How much of a word counts that a turn does not hold itself but one at this distance does.
REACH = {1: 0.6, 2: 0.4}
_LOG_FLOOR = 0.05
_MANY_NAMES = 4
# What is half as near counts a third: of the words of the table only the nearest mean the same.
_NEARNESS_POWER = 1.5
# A conversation is long and says everything nearly: turns are asked for fewer words, and what is
# half as near counts an eighth.
_RELATED_OF_TURNS, _NEARNESS_POWER_OF_TURNS = 12, 3.0
# Of a session so many of the turns nearest in meaning tell what it is about.
_CLOSEST = 3
# A conversation opens with greetings, in these many turns.
_OPENING = 2
REPLY_FEATURES = ("before_1", "before_2", "after_1", "after_2", "answers", "asks")
_TIMES = ("clock", "date", "duration")


class _Seen(NamedTuple):
    """One candidate as the ranking sees it; which terms of the question it holds, as bits.

    Attributes:
        terms: In its body.
        asked: In a question that it asks itself.
        place_share: Share of the question that its place says; of a statement, or comes near to.
        related: Share of the question that its words only come near to, less by what they differ.
        shares: Share of the question by voice; turns alone.
    """

    candidate: Candidate
    terms: int
    asked: int
    place_share: float
    related: float
    standing: Standing
    shares: Mapping[Voice, float]
    relevance: float


class _Home(NamedTuple):
    """What was found in one session or drawer, seen together.

    Attributes:
        best: Relevance of its best.
        coverage: Share of the question that stands anywhere in it.
        mass: Logarithm of one more than all the relevance in it.
        closeness: Mean closeness of the nearest in it; 0 where meaning is off.
    """

    best: float
    coverage: float
    mass: float
    closeness: float


class _Question:
    """The terms of the question as one kind of memory is asked it, a bit each, with weights."""

    def __init__(self, idf: Mapping[str, float]) -> None:
        self.idf = idf
        self.total = sum(idf.values()) or 1.0
        self._bits = {term: 1 << n for n, term in enumerate(idf)}
        self._shares: dict[int, float] = {}

    def bits(self, terms: Iterable[str]) -> int:
        """Return some of its terms as bits."""
        bits = 0
        for term in terms:
            bits |= self._bits.get(term, 0)
        return bits

    def share(self, bits: int) -> float:
        """Return the weighted share of the question that some of its terms make up."""
        share = self._shares.get(bits)
        if share is None:
            held = [self.idf[term] for term, bit in self._bits.items() if bit & bits]
            share = self._shares[bits] = sum(held) / self.total
        return share


class _Related:
    """Words that mean nearly the same as terms of the question, each with the terms it is near.

    Args:
        related: Term -> words near it, nearest first -> nearness.
        power: What a word counts is its nearness to this power.
        nearest: How many words of each term count; None for all.
    """

    def __init__(
        self,
        related: Mapping[str, Mapping[str, float]],
        *,
        power: float,
        nearest: int | None = None,
    ) -> None:
        self._terms: dict[str, list[tuple[str, float]]] = {}
        for term, near in related.items():
            for token, nearness in islice(near.items(), nearest):
                self._terms.setdefault(token, []).append((term, nearness**power))

    def best(self, words: AbstractSet[str]) -> dict[str, float]:
        """Return the terms that words only come near to, and what the nearest counts."""
        best: dict[str, float] = {}
        for token in self._terms.keys() & words:
            for term, counts in self._terms[token]:
                if term not in words:
                    best[term] = max(best.get(term, 0.0), counts)
        return best

    def share(self, words: AbstractSet[str], question: _Question) -> float:
        """Return the weighted share of the question that words only come near to."""
        best = self.best(words)
        if not best:
            return 0.0
        # In the order of the question, so that sums come out the same.
        return sum([w * best[t] for t, w in question.idf.items() if t in best]) / question.total


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
        self.asks_when = query.answer_type in _TIMES
        self._cosines = cosines
        self.people = people_asked(query, candidates)
        self.idf = weights.idf
        # A speaker's name says whose words are meant; it is seldom said itself.
        self.spoken_idf = {t: w for t, w in weights.idf.items() if t not in self.people}
        self._asked, self._spoken = _Question(self.idf), _Question(self.spoken_idf)
        tokens = chain(self.idf, query.related, *query.related.values())
        # Nothing else that a memory says is looked at here.
        self._telling = dict.fromkeys(tokens).keys()
        self._sessions: dict[tuple[str, str], dict[int, _Seen]] = {}
        self._seen: dict[int, _Seen] = {}
        for candidate in candidates:
            seen = self._seen[candidate.key] = self._see(candidate)
            if candidate.session:
                home = self._sessions.setdefault((candidate.path, candidate.session), {})
                home[candidate.position] = seen

    @cached_property
    def _related(self) -> _Related:
        return _Related(self._query.related, power=_NEARNESS_POWER)

    @cached_property
    def _related_said(self) -> _Related:
        """The same of turns."""
        return _Related(
            self._query.related, power=_NEARNESS_POWER_OF_TURNS, nearest=_RELATED_OF_TURNS
        )

    def _see(self, candidate: Candidate) -> _Seen:
        question = self._spoken if candidate.session else self._asked
        words, place = self._telling & candidate.body, self._telling & candidate.context
        terms = [t for t in question.idf if t in words] if words else []
        around = [t for t in question.idf if t in place] if place else []
        held = {t: question.idf[t] for t in (*terms, *around)} if terms or around else {}
        where = standing(candidate, self.people) if self.people else ""
        shares: dict[Voice, float] = {}
        asked = 0
        if candidate.session and terms:
            said = voices(candidate, terms, () if where == "own" else self.people)
            shares = {
                voice: question.share(question.bits(spoken)) for voice, spoken in said.items()
            }
            for start, end in candidate.asks:
                asked |= question.bits(candidate.body[start:end])
        place_share = question.share(question.bits(around)) if around else 0.0
        related_words = self._related_said if candidate.session else self._related
        related = related_words.share(words, question) if words else 0.0
        relevant = relevance(candidate, held) / (question.total * (K1 + 1)) if held else 0.0
        if not candidate.session:
            # A word that comes near is one that is said once, less by what it differs: the word
            # itself is always worth more.
            relevant += related / (K1 + 1)
            place_share += self._related.share(place, question) if place else 0.0
        bits = question.bits(terms)
        return _Seen(candidate, bits, asked, place_share, related, where, shares, relevant)

    def comes_near(self, candidate: Candidate) -> float:
        """Return how near a memory comes to words that it does not say: their nearness cubed.

        A word as near as .7 counts a third, and so do two as near as .55.
        """
        best = self._related.best(self._telling & (*candidate.body, *candidate.context))
        return sum(sorted([math.pow(counts, 3 / _NEARNESS_POWER) for counts in best.values()]))

    def near(self, candidate: Candidate) -> list[tuple[int, _Seen]]:
        """Return (distance, turn) of the turns around a turn of the same session."""
        if not candidate.session:
            return []
        turns = self._sessions[candidate.path, candidate.session]
        here = candidate.position
        return [(abs(step), turns[here + step]) for step in (-1, 1, -2, 2) if here + step in turns]

    @cached_property
    def said(self) -> list[tuple[bool, Mapping[Voice, float]]]:
        """Every turn that stands to a person asked about: whether it is his own, and its shares."""
        return [(s.standing == "own", s.shares) for s in self._seen.values() if s.standing]

    @cached_property
    def _homes(self) -> dict[tuple[str, str], _Home]:
        """Every session or drawer that something was found in."""
        found: dict[tuple[str, str], list[_Seen]] = {}
        for seen in self._seen.values():
            found.setdefault((seen.candidate.path, seen.candidate.session), []).append(seen)
        return {home: self._home(turns) for home, turns in found.items()}

    def _home(self, found: Sequence[_Seen]) -> _Home:
        terms, of_session = 0, bool(found[0].candidate.session)
        for seen in found:
            terms |= seen.terms
        closest: list[float] = []
        if self._cosines is not None:
            closest = sorted([self.closeness(seen.candidate) for seen in found])[-_CLOSEST:]
        relevances = [seen.relevance for seen in found]
        return _Home(
            best=max(relevances),
            coverage=(self._spoken if of_session else self._asked).share(terms),
            mass=math.log1p(sum(relevances)),
            closeness=sum(closest) / _CLOSEST,
        )

    @cached_property
    def _reach(self) -> dict[int, float]:
        """Candidate key -> its coverage, with what the turns around it lend at a discount."""
        return {key: self._reach_of(seen) for key, seen in self._seen.items()}

    def _reach_of(self, seen: _Seen) -> float:
        if not seen.candidate.session:
            return self._asked.share(seen.terms) + seen.related
        share, here = self._spoken.share, seen.terms
        before, after, far_before, far_after = self._around[seen.candidate.key]
        reach = share(here)
        if near := (before | after) & ~here:
            reach += REACH[1] * share(near)
        if far := (far_before | far_after) & ~(here | near):
            reach += REACH[2] * share(far)
        return reach

    @cached_property
    def _around(self) -> dict[int, tuple[int, int, int, int]]:
        """Turn -> terms of the turns before and after it, then of those two before and after."""
        said = (seen.candidate for seen in self._seen.values() if seen.candidate.session)
        return {candidate.key: self._said_around(candidate) for candidate in said}

    def _said_around(self, candidate: Candidate) -> tuple[int, int, int, int]:
        turns = self._sessions[candidate.path, candidate.session]
        before, after, far_before, far_after = [
            turns[place].terms if (place := candidate.position + step) in turns else 0
            for step in (-1, 1, -2, 2)
        ]
        return before, after, far_before, far_after

    def _replies(self, seen: _Seen) -> dict[str, float]:
        """Return what the two turns before and after say of the question that nearer ones do not.

        With what of it the turn before asks of this one, and how much of this one is a question.
        """
        candidate, share, here = seen.candidate, self._spoken.share, seen.terms
        values = dict.fromkeys(REPLY_FEATURES, 0.0)
        before, after, far_before, far_after = self._around[candidate.key]
        values["before_1"] = share(before & ~here)
        values["after_1"] = share(after & ~here)
        values["before_2"] = share(far_before & ~(here | before))
        values["after_2"] = share(far_after & ~(here | after))
        last = self._sessions[candidate.path, candidate.session].get(candidate.position - 1)
        if last and last.asked and last.candidate.context != candidate.context:
            values["answers"] = share(last.asked & ~here)
        if candidate.asks:
            asked = sum([end - start for start, end in candidate.asks])
            values["asks"] = asked / len(candidate.body)
        return values

    @cached_property
    def _cosine_scale(self) -> tuple[float, float]:
        """Mean and deviation of the cosines: models differ in both, the order they agree on."""
        values = [*(self._cosines or {}).values()]
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
        """Return the signals that order this candidate among the others.

        A statement has none of those that only a turn can have; they count as 0.
        """
        seen = self._seen[candidate.key]
        home = self._homes[candidate.path, candidate.session]
        fresh_names = len(candidate.names.difference(self.idf))
        values = {
            "relevance_log": math.log(_LOG_FLOOR + seen.relevance),
            "reach": self._reach[candidate.key],
            "home_best": home.best,
            "home_coverage": home.coverage,
            # Of a turn it tells who speaks and when, of a statement what it is kept under.
            "context_said" if candidate.session else "context": seen.place_share,
            "dated": answer_present(self._query, candidate) if self.asks_when else 0.5,
            "fresh_names": min(fresh_names, _MANY_NAMES) / _MANY_NAMES,
        }
        if candidate.session:
            values["named"] = float(seen.standing == "named")
            values["addressed"] = float(seen.standing == "addressed")
            values["other"] = float(seen.standing == "other")
            values["home_mass"] = home.mass
            values["opens"] = float(candidate.position < _OPENING)
            values["related_said"] = seen.related
            values["self_said"] = seen.shares.get("self", 0.0)
            values["addressed_said"] = seen.shares.get("addressed", 0.0)
            values.update(self._replies(seen))
        if self._cosines is not None:
            closeness = self.closeness(candidate)
            # A turn is found by its words and its surroundings, a statement by what it means.
            values["closeness"] = 0.0 if candidate.session else closeness
            values["closeness_said"] = closeness if candidate.session else 0.0
            values["home_closeness"] = home.closeness if candidate.session else 0.0
            values["closeness_uncovered"] = closeness * self._uncovered
        return values
