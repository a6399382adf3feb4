"""Score candidates against a query: a rank to order them and absolute features to judge them.

In: a query, candidates and their neighbours as index tokens. Out: scored candidates, best first.
Ranks only order; whether something answers is for `sufficiency`, which reads the features.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from palace.ports import Candidate, Scope, TermCounts, Vocabulary
from palace.types import Query

K1 = 1.2
B = 0.4
AVERAGE_TOKENS = 24.0
CONTEXT_SHARE = 0.5
CARRIED_WEIGHT = 0.5
SOFT_WEIGHT = 0.3
# Weight of a neighbour's own relevance at distance 1 and 2, and of the best of its session.
NEIGHBOUR_SHARE = {1: 0.3, 2: 0.15}
SESSION_SHARE = 0.3
# Speaker attribution: the named person's own words, another's answer to them, anybody else's.
OWN_TURN, NAMED_TURN, ADDRESSED_TURN, OTHER_TURN = 1.0, 0.8, 0.5, 0.2
# Of a handful of memories the frequencies tell nothing: weights are those of a palace this large.
_FEWEST = 8
# Features are only worked out for the head of the ranking; nothing below it is ever judged.
_DESCRIBED = 20
_ADDRESS = frozenset("you your du dein tu vous votr usted voce ты вы".split())
_RELATIVE_DATES = frozenset(
    "yesterday today tomorrow tonight ago last next week weekend month year morn even monday"
    " tuesday wednesday thursday friday saturday sunday daili weekli summer winter spring"
    " autumn fall sinc until gestern heut morgen hier ayer hoy manana ontem hoje вчера сегодня"
    " завтра".split()
)
_CLOCK_WORDS = frozenset("am pm noon midnight clock uhr heur hora час 点 時".split())
_NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten eleven twelv dozen half twice once coupl"
    " hundr thousand zwei drei vier deux trois quatr dos tres cuatro dois".split()
)


@dataclass(frozen=True, slots=True)
class Scored:
    """One candidate with its rank score and the features behind a judgement, each in [0, 1]."""

    candidate: Candidate
    rank: float
    features: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Weights:
    """Term weights of one query over one palace.

    Attributes:
        idf: Term -> inverse document frequency; carried terms are discounted.
        known: Terms that some memory holds.
    """

    idf: Mapping[str, float]
    known: frozenset[str]
    ceiling: float


def term_weights(query: Query, vocabulary: Vocabulary) -> Weights:
    """Return the weight of every term of the query; absent terms weigh most.

    Source: the probabilistic inverse document frequency of Robertson & Spärck Jones.
    """
    terms = (*query.terms, *query.carried)
    scope = Scope(query.session_id, query.project)
    counts = vocabulary.counts(terms, scope=scope)
    size = max(vocabulary.size(scope=scope), _FEWEST)
    idf = {t: inverse_frequency(counts[t], size) for t in terms}
    for term in query.carried:
        idf[term] *= CARRIED_WEIGHT
    for term in query.soft:
        idf[term] *= SOFT_WEIGHT
    return Weights(
        idf=idf,
        known=frozenset(t for t in terms if counts[t].any),
        ceiling=inverse_frequency(TermCounts(), size),
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
    length = len(candidate.body)
    norm = K1 * (1 - B + B * length / AVERAGE_TOKENS)
    total = 0.0
    for term, weight in weights.items():
        frequency = candidate.body.count(term) + (
            CONTEXT_SHARE if term in candidate.context else 0.0
        )
        if frequency:
            total += weight * frequency * (K1 + 1) / (frequency + norm)
    return total


def score(query: Query, candidates: Sequence[Candidate], *, weights: Weights) -> list[Scored]:
    """Score candidates, best first; ties are broken by place in the palace.

    Args:
        query: What is asked.
        candidates: What was found, together with the neighbours that may matter (for a
            conversation: the turns around it), each once.
        weights: Term weights of the query.
    """
    if not candidates:
        return []
    own = {c.key: _own_relevance(c, query, weights) for c in candidates}
    places = {(c.path, c.session, c.position): c for c in candidates if c.session}
    best_of_session: dict[tuple[str, str], float] = {}
    for c in candidates:
        if c.session:
            place = (c.path, c.session)
            best_of_session[place] = max(best_of_session.get(place, 0.0), own[c.key])
    near = {c.key: _near(c, places) for c in candidates}
    ranks = {
        c.key: own[c.key]
        + sum(NEIGHBOUR_SHARE[distance] * own[n.key] for distance, n in near[c.key])
        + SESSION_SHARE * best_of_session.get((c.path, c.session), 0.0)
        for c in candidates
    }
    ordered = sorted(candidates, key=lambda c: (-ranks[c.key], c.path, c.position))
    top, runner_up = (ranks[c.key] for c in (ordered * 2)[:2])
    return [
        Scored(
            c,
            ranks[c.key],
            features(
                query,
                c,
                [n for _, n in near[c.key]],
                weights=weights,
                margin=_margin(ranks[c.key], runner_up if number == 0 else top),
            ),
        )
        for number, c in enumerate(ordered[:_DESCRIBED])
    ] + [Scored(c, ranks[c.key], {}) for c in ordered[_DESCRIBED:]]


def _near(
    candidate: Candidate, places: Mapping[tuple[str, str, int], Candidate]
) -> list[tuple[int, Candidate]]:
    """Return (distance, turn) of the turns around a turn of the same session."""
    if not candidate.session:
        return []
    found = []
    for distance in NEIGHBOUR_SHARE:
        for position in (candidate.position - distance, candidate.position + distance):
            neighbour = places.get((candidate.path, candidate.session, position))
            if neighbour is not None:
                found.append((distance, neighbour))
    return found


def _margin(value: float, rival: float) -> float:
    return max(-1.0, min(1.0, (value - rival) / value)) if value > 0 else 0.0


def _own_relevance(candidate: Candidate, query: Query, weights: Weights) -> float:
    if not candidate.session:
        return relevance(candidate, weights.idf)
    # In a conversation the person's name says whose words are meant; it is seldom said itself.
    asked = {token for name in query.names for token in name}
    rest = {term: weight for term, weight in weights.idf.items() if term not in asked}
    return relevance(candidate, rest) * attribution(candidate, query)


def attribution(candidate: Candidate, query: Query) -> float:
    """Return how well a conversation turn fits the person asked about; 1 outside conversations."""
    if not candidate.session or not query.names:
        return 1.0
    asked = {token for name in query.names for token in name}
    if asked & set(candidate.context):
        return OWN_TURN
    if asked & set(candidate.body):
        return NAMED_TURN
    return ADDRESSED_TURN if _ADDRESS & set(candidate.body) else OTHER_TURN


def features(
    query: Query,
    candidate: Candidate,
    neighbours: Sequence[Candidate],
    *,
    weights: Weights,
    margin: float,
) -> dict[str, float]:
    """Return the absolute signals of one candidate, each in [0, 1] (margin in [-1, 1])."""
    body, context = set(candidate.body), set(candidate.context)
    here = body | context
    window = here.union(*(n.body for n in neighbours)) if neighbours else here
    idf = weights.idf
    total = sum(idf.values()) or 1.0
    matched = [t for t in idf if t in here]
    own = [t for t in query.terms if t in here]
    known_total = sum(idf[t] for t in weights.known) or 1.0
    asked = {token for name in query.names for token in name}
    rest = {t: weight for t, weight in idf.items() if t not in asked}
    rest_total = sum(rest.values()) or 1.0
    return {
        "coverage": sum(idf[t] for t in matched) / total,
        "coverage_body": sum(idf[t] for t in idf if t in body) / total,
        "coverage_window": sum(idf[t] for t in idf if t in window) / total,
        "coverage_known": sum(idf[t] for t in matched) / known_total,
        "absent": sum(idf[t] for t in idf if t not in weights.known) / total,
        "distinct": min(len(matched), 4) / 4,
        "rarest": max((idf[t] for t in matched), default=0.0) / weights.ceiling,
        "head": _share(query.head, here),
        "tail": _share([t for t in query.terms if t not in query.head], here),
        "names": _names_present(query, here),
        "names_body": _names_present(query, body),
        "has_names": float(bool(query.names)),
        "unknown_name": _unknown_names(query, weights),
        "identifiers": _share([i for i in query.identifiers if i in idf], here),
        "numbers": _share([n for n in query.numbers if n in idf], body),
        "missing": max((idf[t] for t in idf if t not in here), default=0.0) / weights.ceiling,
        "missing_known": max((idf[t] for t in weights.known if t not in here), default=0.0)
        / weights.ceiling,
        "answer_type": answer_present(query, candidate),
        "counted": counted_present(query, candidate.body),
        "phrase": _adjacent_pairs(own, candidate.body),
        "rest_body": sum(rest[t] for t in rest if t in body) / rest_total,
        "relevance": min(relevance(candidate, rest) / (rest_total * (K1 + 1)), 1.0),
        "margin": margin,
        "one_term": float(len(query.terms) <= 1),
        "carried": float(bool(query.carried)),
        "own": _own_share(query, here),
    }


def _share(terms: Sequence[str], present: set[str]) -> float:
    """Return the share of terms that are present; neutral .5 where nothing was asked."""
    return sum(t in present for t in terms) / len(terms) if terms else 0.5


def _own_share(query: Query, present: set[str]) -> float:
    """Return the share of the prompt's own terms that are present, those of the turn before apart.

    Neutral .5 where the prompt stands alone or only says what sort of thing it asks for.
    """
    own = [t for t in query.terms if t not in query.soft] if query.carried else []
    return _share(own, present)


def _names_present(query: Query, present: set[str]) -> float:
    if not query.names:
        return 0.5
    return sum(all(t in present for t in name) for name in query.names) / len(query.names)


def _unknown_names(query: Query, weights: Weights) -> float:
    if not query.names:
        return 0.0
    unknown = sum(any(t in weights.idf and t not in weights.known for t in n) for n in query.names)
    return unknown / len(query.names)


def _adjacent_pairs(terms: Sequence[str], body: Sequence[str]) -> float:
    """Return the share of neighbouring query terms that stand within three tokens of each other."""
    pairs = list(pairwise(terms))
    if not pairs:
        return 0.5
    places: dict[str, list[int]] = {}
    for number, token in enumerate(body):
        places.setdefault(token, []).append(number)
    close = sum(
        any(abs(i - j) <= 3 for i in places.get(a, ()) for j in places.get(b, ())) for a, b in pairs
    )
    return close / len(pairs)


def answer_present(query: Query, candidate: Candidate) -> float:
    """Return whether a memory holds something of the expected kind that the question did not say.

    1 if present, 0 if absent, .5 where the kind cannot be seen in tokens.
    """
    asked = {*query.terms, *query.carried, *query.numbers}
    fresh = [t for t in candidate.body if t not in asked]
    match query.answer_type:
        case "clock":
            return float(any(_tells_clock(t) for t in fresh))
        case "date":
            return float(any(_tells_date(t) for t in fresh))
        case "number":
            return float(any(_tells_number(t) for t in fresh))
        case "person":
            return float(any(t in candidate.names for t in fresh) or bool(candidate.session))
        case _:
            return 0.5


def counted_present(query: Query, body: Sequence[str]) -> float:
    """Return whether a number stands beside the thing whose number is asked ("how many eggs").

    1 if it does, 0 if not, .5 where nothing is counted.
    """
    if query.answer_type != "number" or not query.head:
        return 0.5
    thing = query.head[0]
    places = [i for i, token in enumerate(body) if token == thing]
    near = {j for i in places for j in range(max(i - 3, 0), i + 4)}
    return float(any(j < len(body) and _tells_number(body[j]) for j in near))


def _tells_clock(token: str) -> bool:
    return (token[:1].isdigit() and ":" in token) or token in _CLOCK_WORDS


def _tells_number(token: str) -> bool:
    return token[:1].isdigit() or token in _NUMBER_WORDS


def _tells_date(token: str) -> bool:
    return token[:1].isdigit() or token.startswith("month") or token in _RELATIVE_DATES
