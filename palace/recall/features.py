"""The absolute signals of one candidate, from which `sufficiency` judges whether it answers.

In: a query, a candidate and the turns around it as index tokens. Out: features in [0, 1]; they
never depend on what else was found, so the best of the bad stays bad.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from palace.ports import Candidate
from palace.recall.kinds import counted_present, is_month, is_year, tells_how_to_reach
from palace.recall.related import NEARLY_ALL_LISTED
from palace.recall.weighing import K1, Weights, relevance
from palace.text import tokens
from palace.types.query import Query


class Asked:
    """A question as every candidate is measured against it: worked out once, not for each.

    Args:
        query: What is asked.
        weights: Term weights of the query.
    """

    def __init__(self, query: Query, weights: Weights) -> None:
        self.query = query
        self.weights = weights
        idf, known = weights.idf, weights.known
        self._total = sum(idf.values()) or 1.0
        self._known_total = sum([weight for t, weight in idf.items() if t in known]) or 1.0
        named = {token for name in query.names for token in name}
        # Nothing else that a memory says is looked at for most of the signals.
        self._looked_for = dict.fromkeys((*idf, *query.terms, *query.head, *named)).keys()
        self._rest = {t: weight for t, weight in idf.items() if t not in named}
        self._rest_total = sum(self._rest.values()) or 1.0
        self._most_relevance = self._rest_total * (K1 + 1)
        self._tail = [t for t in query.terms if t not in query.head]
        self._identifiers = [i for i in query.identifiers if i in idf]
        self._numbers = [n for n in query.numbers if n in idf]
        # The prompt's own terms, those of the turn before and the soft ones apart.
        self._own = [t for t in query.terms if t not in query.soft] if query.carried else []
        self._dates = [
            (is_one, asked)
            for is_one in (is_month, is_year)
            if (asked := [t for t in query.terms if is_one(t)])
        ]
        self._numbered = _numbered(query)
        absent = sum([weight for t, weight in idf.items() if t not in known])
        self._absent = absent / self._total
        self._names = _count_names(query)
        self._unknown_name = _unknown_names(query, weights)
        self._labels = self._looked_for & query.labels
        self._ordering = self._looked_for & query.ordering
        self._one_term = float(len(query.terms) <= 1)
        self._carried = float(bool(query.carried))

    def features(
        self,
        candidate: Candidate,
        neighbours: Sequence[Candidate],
        *,
        answered: float,
        in_time: bool = False,
    ) -> dict[str, float]:
        """Return the absolute signals of one candidate, each in [0, 1].

        Args:
            candidate: What is measured.
            neighbours: The turns around it.
            answered: What `answer_present` says of it.
            in_time: Whether its day tells which of several it is: no word of it has to.
        """
        query, idf, known = self.query, self.weights.idf, self.weights.known
        ceiling = self.weights.ceiling
        body = self._looked_for & candidate.body
        if query.labels and not candidate.session and tells_how_to_reach(query, candidate):
            body = body | self._labels
        if in_time:
            body = body | self._ordering
        place = self._looked_for & candidate.context
        here = body | place if place else body  # mostly a place says nothing of it
        around = [neighbour.body for neighbour in neighbours]
        matched = [weight for t, weight in idf.items() if t in here]
        lacking = [weight for t, weight in idf.items() if t not in here]
        rest_here = {t: weight for t, weight in self._rest.items() if t in here}
        covered, names = sum(matched), self._names_present(here)
        coverage = covered / self._total
        told = candidate.body
        return {
            "coverage": coverage,
            "coverage_body": self._coverage(body) if place else coverage,
            "coverage_window": self._coverage(here.union(*around)) if around else coverage,
            "coverage_known": covered / self._known_total,
            "absent": self._absent,
            "distinct": min(len(matched), 4) / 4,
            "rarest": max(matched, default=0.0) / ceiling,
            "head": _share(query.head, here),
            "tail": _share(self._tail, here),
            "names": names,
            "names_body": self._names_present(body) if place else names,
            "has_names": float(self._names > 0),
            "unknown_name": self._unknown_name,
            "identifiers": _share(self._identifiers, here),
            "numbers": _share(self._numbers, body),
            "missing": max(lacking, default=0.0) / ceiling,
            "missing_known": max([idf[t] for t in known if t not in here], default=0.0) / ceiling,
            "answer_type": answered,
            "other_date": self._other_date_told(told),
            "other_number": self._other_number_told(told),
            "counted": counted_present(query, told),
            "phrase": _adjacent_pairs([t for t in query.terms if t in here], told),
            "rest_body": sum([w for t, w in rest_here.items() if t in body]) / self._rest_total,
            "relevance": min(relevance(candidate, rest_here) / self._most_relevance, 1.0),
            "one_term": self._one_term,
            "carried": self._carried,
            "own": _share(self._own, here),
        }

    def rests_on_mended(self, candidate: Candidate) -> float:
        """Return 1 if all that a candidate has of the question was misspelt, or a name, else 0.

        Any is enough where no list holds nearly every word: there it may be another word.
        """
        here = self._looked_for & {*candidate.body, *candidate.context}
        mended = here.intersection(self.query.mended)
        unsure = self.query.language not in NEARLY_ALL_LISTED
        named = any(not mended.isdisjoint(name) for name in self.query.names)
        return float(bool(mended) and (unsure or named or mended == here))

    def _coverage(self, present: set[str]) -> float:
        """Return the weighted share of the question that is present."""
        return sum([weight for t, weight in self.weights.idf.items() if t in present]) / self._total

    def _names_present(self, present: set[str]) -> float:
        """Return the share of the names that are present; neutral .5 where there is none."""
        if not self._names:
            return 0.5
        return sum([present.issuperset(name) for name in self.query.names]) / self._names

    def _other_date_told(self, body: Sequence[str]) -> float:
        """Return 1 if a memory tells of another month or year than the one asked about, else 0."""
        for is_one, asked in self._dates:
            told = [t for t in body if is_one(t)]
            if told and not any(t in told for t in asked):
                return 1.0
        return 0.0

    def _other_number_told(self, body: Sequence[str]) -> float:
        """Return 1 if a memory has pier 4 where pier 3 is asked about, and no 3 at all, else 0."""
        for word, number in self._numbered:
            if number not in body and word in body:
                behind = [b for a, b in pairwise(body) if a == word]
                if any(b.isdecimal() for b in behind):
                    return 1.0
        return 0.0


def _numbered(query: Query) -> list[tuple[str, str]]:
    """Return each term that a whole number stands right behind, with that number: pier 3."""
    if not query.numbers:
        return []
    return [
        (word, number)
        for word, number in pairwise(tokens(query.text))
        if number.isdecimal() and not is_year(number)
        if word in query.terms and not word.isdecimal()
    ]


def _share(terms: Sequence[str], present: set[str]) -> float:
    """Return the share of terms that are present; neutral .5 where nothing was asked."""
    return len([t for t in terms if t in present]) / len(terms) if terms else 0.5


def _unknown_names(query: Query, weights: Weights) -> float:
    names = _count_names(query)
    if not names:
        return 0.0
    known = sum(all(t not in weights.idf or t in weights.known for t in n) for n in query.names)
    return (names - known) / names


def _count_names(query: Query) -> int:
    return len(query.names) + bool(query.unheard)


def _adjacent_pairs(terms: Sequence[str], body: Sequence[str]) -> float:
    """Return the share of neighbouring query terms that stand within three tokens of each other."""
    pairs = list(pairwise(terms))
    if not pairs:
        return 0.5
    places: dict[str, list[int]] = {term: [] for term in terms}
    for number, token in enumerate(body):
        if token in places:
            places[token].append(number)
    close = sum(any(abs(i - j) <= 3 for i in places[a] for j in places[b]) for a, b in pairs)
    return close / len(pairs)
