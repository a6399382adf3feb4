"""Score what was found: a rank to order candidates and absolute features to judge the head of them.

In: a query, candidates and their neighbours as index tokens. Out: scored candidates, best first.
Ranks only order; whether something answers is for `sufficiency`, which reads the features.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from palace.ports import Background, Candidate
from palace.recall.attribution import attribution_features
from palace.recall.features import Asked
from palace.recall.kinds import answer_present
from palace.recall.logistic import LogisticModel, load_model
from palace.recall.ranking import REPLY_FEATURES, Pool
from palace.recall.weighing import Weights
from palace.types.memory import SUFFIX
from palace.types.query import Query

# Only the head of a ranking is described and judged: what stands below never was the answer in any
# measurement.
JUDGED = 10
_UNDESCRIBED: Mapping[str, float] = MappingProxyType({})
# Deviations beyond what has nothing to do with a question that count as 1.
_FAR_BEYOND = 10.0
# Log-odds by which the first leads the second that count as a full lead.
_FULL_MARGIN = 4.0
# Log-odds that a turn falls behind for each better one of its session where several things are
# asked for. From .3 to .7 held-out conversations find more, from 1 on less.
_BETTER_TURN = 0.4
STATIC_VECTORS = frozenset({"wordllama", "model2vec"})
"""Embedders whose vector of a text is the mean of its words': it tells less than that of a model
that reads, so the weights `…_static` are for these and `…_semantic` for all others."""
# Signals of the ranking that judge as well; those that a statement does not have are 0.
_NOT_RANKED = dict.fromkeys(
    (
        *("reach", "home_best", "home_coverage", "named", "addressed", "other"),
        *("self_said", "addressed_said", *REPLY_FEATURES),
    ),
    0.0,
)


class Scored(NamedTuple):
    """One candidate with its rank score (log-odds) and the features behind a judgement.

    Attributes:
        prior: The part of the rank that is the worth of the memory and not its relevance; see
            `palace.recall.priors`.
        place: Its place in the order of time that is asked for; what has none stands behind. The
            search sets it.
    """

    candidate: Candidate
    rank: float
    features: Mapping[str, float]
    prior: float = 0.0
    place: int = 0


def score(
    query: Query,
    candidates: Sequence[Candidate],
    *,
    weights: Weights,
    cosines: Mapping[int, float] | None = None,
    background: Background | None = None,
    ranking: LogisticModel | None = None,
    in_time: Sequence[int] = (),
) -> list[Scored]:
    """Score candidates, best first; ties are broken by place in the palace.

    Args:
        query: What is asked.
        candidates: What was found, together with the neighbours that may matter (for a
            conversation: the turns around it), each once.
        weights: Term weights of the query.
        cosines: Candidate key -> cosine to the question; None where meaning is off.
        background: What any cosine to the question is; None where nobody can tell.
        ranking: The fitted model that orders; the shipped one if not given.
        in_time: Keys of what is told alike of what is asked, in the order of time asked for: it
            stands first, and none of it leads the others.
    """
    if not candidates:
        return []
    # In one order, so that sums and ties come out the same however they were found.
    candidates = sorted(candidates, key=_place)
    pool = Pool(query, candidates, weights=weights, cosines=cosines)
    model = ranking or load_model("ranking" if cosines is None else "ranking_semantic")
    signals = {c.key: pool.ranking_features(c) for c in candidates}
    ranks = {key: model.log_odds(ranked) for key, ranked in signals.items()}
    if in_time:
        ranks |= dict.fromkeys(in_time, max(ranks[key] for key in in_time))
    ordered = sorted(candidates, key=lambda c: -ranks[c.key])
    top = ranks[ordered[0].key]
    leading = {*in_time} or {ordered[0].key}
    runner_up = next((ranks[c.key] for c in ordered if c.key not in leading), top)
    placed = ranks
    if query.several and not in_time:
        placed = _spread(ordered, ranks)
        ordered.sort(key=lambda c: -placed[c.key])
    if in_time:
        top = ranks[in_time[0]]
        ordered.sort(key=lambda c: in_time.index(c.key) if c.key in leading else len(in_time))
    else:
        ordered = _last_written_judged(ordered, placed)
    head = ordered[:JUDGED]
    asked = Asked(query, weights)
    attributed = attribution_features(pool.said) if any(c.session for c in head) else {}
    described = {}
    for candidate in head:
        ahead = ranks[candidate.key] - (runner_up if candidate.key in leading else top)
        values = _described(
            asked, candidate, pool, signals[candidate.key], in_time=candidate.key in in_time
        )
        values["margin"] = max(-1.0, min(1.0, ahead / _FULL_MARGIN))
        if candidate.session:
            values.update(attributed)
        elif cosines and background and candidate.key in cosines:
            values["beyond_chance"] = _beyond_chance(cosines[candidate.key], background)
        described[candidate.key] = values
    return [Scored(c, placed[c.key], described.get(c.key, _UNDESCRIBED)) for c in ordered]


def _last_written_judged(ordered: list[Candidate], ranks: Mapping[int, float]) -> list[Candidate]:
    """Return candidates so that of more equal ones than are judged it is those written last.

    Args:
        ordered: Best first.
        ranks: Candidate key -> log-odds.
    """
    edge = ordered[JUDGED - 1 : JUDGED + 1]
    if len({ranks[c.key] for c in edge}) == len(edge):
        return ordered
    places = sorted(range(len(ordered)), key=lambda n: (-ranks[ordered[n].key], -n))
    latest = {ordered[n].key for n in places[:JUDGED]}
    return sorted(ordered, key=lambda c: c.key not in latest)


def _spread(ordered: Sequence[Candidate], ranks: Mapping[int, float]) -> dict[int, float]:
    """Return the ranks where several things are asked for: less for each better turn of a session.

    What is asked for was hardly all said at one time, and the turns around one that says a part of
    it match nearly as well. A statement stands for itself.

    Args:
        ordered: Best first.
        ranks: Candidate key -> log-odds.
    """
    better: Counter[tuple[str, str]] = Counter()
    spread = dict(ranks)
    for candidate in ordered:
        if candidate.session:
            session = candidate.path, candidate.session
            spread[candidate.key] -= _BETTER_TURN * better[session]
            better[session] += 1
    return spread


def _place(candidate: Candidate) -> tuple[str, int, int]:
    """Return where it stands; a file before a copy of it, whose name begins like its own."""
    return candidate.path.removesuffix(SUFFIX), candidate.position, candidate.key


def _beyond_chance(cosine: float, background: Background) -> float:
    """Return how much nearer a candidate is than sentences unrelated to the question.

    Unlike `closeness` it means the same whatever else was found, and with every embedder.
    """
    return (cosine - background.mean) / (_FAR_BEYOND * background.deviation)


def _described(
    asked: Asked, candidate: Candidate, pool: Pool, ranked: Mapping[str, float], *, in_time: bool
) -> dict[str, float]:
    """Return the absolute features of a candidate, and those of the ranking that judge as well."""
    around = [seen.candidate for _, seen in pool.near(candidate)]
    answered = ranked["dated"] if pool.asks_when else answer_present(asked.query, candidate)
    values = asked.features(candidate, around, answered=answered, in_time=in_time)
    values.update(_NOT_RANKED)
    for name in ranked.keys() & _NOT_RANKED:
        values[name] = ranked[name]
    if asked.query.fronted:
        values["fronted"] = 1.0
    if asked.query.dangling:
        values["dangling"] = 1.0
    if asked.query.mended:
        values["mended"] = asked.rests_on_mended(candidate)
    if asked.query.of_day and _is_of_day(asked.query, candidate):
        values["of_day"] = 1.0
    if not candidate.session:
        values["comes_near"] = pool.comes_near(candidate)
        if not values["coverage"] and not asked.query.elsewhere:  # where no language parts them
            values["near_only"] = 1.0
    if "closeness" in ranked:
        values["closeness"] = pool.closeness(candidate)
    return values


def _is_of_day(query: Query, candidate: Candidate) -> bool:
    """Whether a candidate holds every part of a date, in this or another writing of the day."""
    told = {*candidate.body, *candidate.context}
    return all(
        day in told or not told.isdisjoint(query.related.get(day, ())) for day in query.of_day
    )
