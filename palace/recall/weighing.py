"""What a term weighs in this palace, and how relevant a memory is to weighed terms.

In: a query and the palace's vocabulary. Out: weights, and BM25 over index tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from palace.ports import Candidate, Scope, TermCounts, Vocabulary
from palace.types.query import Query

K1 = 1.2
B = 0.4
AVERAGE_TOKENS = 24.0
CONTEXT_SHARE = 0.5
CARRIED_WEIGHT = 0.5
SOFT_WEIGHT = 0.3
# Of a handful of memories the frequencies tell nothing: weights are those of a palace this large.
_FEWEST = 8


class Weights(NamedTuple):
    """Term weights of one query over one palace.

    Attributes:
        idf: Term -> inverse document frequency; carried terms are discounted.
        known: Terms that some memory holds.
        ceiling: Weight of a term that no memory holds: no term weighs more.
    """

    idf: Mapping[str, float]
    known: frozenset[str]
    ceiling: float


NO_WEIGHTS = Weights({}, frozenset(), ceiling=0.0)


def term_weights(query: Query, vocabulary: Vocabulary) -> Weights:
    """Return the weight of every term of the query; absent terms weigh most."""
    scope = Scope(query.session_id, query.project)
    elsewhere = chain.from_iterable((*query.elsewhere.values(), *query.days.values()))
    counts = vocabulary.counts((*query.terms, *query.carried, *elsewhere), scope=scope)
    return weights_of(query, counts, size=vocabulary.size(scope=scope))


def weights_of(query: Query, counts: Mapping[str, TermCounts], *, size: int) -> Weights:
    """Return the weight of every term of the query; absent terms weigh most.

    Args:
        query: What is asked.
        counts: How many memories hold each of its terms, and of what other languages say for them.
        size: How many memories there are.

    Source: the probabilistic inverse document frequency of Robertson & Spärck Jones.
    """
    terms = (*query.terms, *query.carried)
    size = max(size, _FEWEST)
    elsewhere = query.elsewhere
    meant = {t: (*elsewhere.get(t, ()), *query.days.get(t, ())) for t in terms}
    idf = {t: inverse_frequency(_meant(t, meant[t], counts), size) for t in terms}
    for term in query.carried:
        idf[term] *= CARRIED_WEIGHT
    for term in query.soft:
        idf[term] *= SOFT_WEIGHT
    return Weights(
        idf=idf,
        known=frozenset(
            t for t in terms if any(counts[one].any for one in (t, *query.days.get(t, ())))
        ),
        ceiling=inverse_frequency(TermCounts(), size),
    )


def _meant(term: str, elsewhere: Iterable[str], counts: Mapping[str, TermCounts]) -> TermCounts:
    """Return how many memories hold a term, or the most frequent word for it elsewhere."""
    held = counts[term]
    return (
        held
        if held.any
        else max((counts[e] for e in elsewhere), key=attrgetter("any"), default=held)
    )


def inverse_frequency(count: TermCounts, size: int) -> float:
    """Return log(1 + (N - n + .5) / (n + .5)), > 0."""
    n = min(count.any, size)
    return math.log(1.0 + (size - n + 0.5) / (n + 0.5))


def relevance(candidate: Candidate, weights: Mapping[str, float]) -> float:
    """Return BM25 over body and (at half weight) context; >= 0.

    Source: Robertson & Zaragoza 2009, with fixed average length so that the value does not depend
    on the rest of the palace.
    """
    body, context = candidate.body, candidate.context
    norm = K1 * (1 - B + B * len(body) / AVERAGE_TOKENS)
    total = 0.0
    for term, weight in weights.items():
        frequency = body.count(term) + (CONTEXT_SHARE if term in context else 0.0)
        if frequency:
            total += weight * frequency * (K1 + 1) / (frequency + norm)
    return total
