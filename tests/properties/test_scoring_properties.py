"""Features stay in bounds and the order of a ranking is a function of its members alone."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from palace.ports import Candidate
from palace.recall.scoring import JUDGED, score
from palace.recall.weighing import Weights, term_weights
from palace.types.query import Query
from tests.doubles import FixedVocabulary

LIGHT = settings(deadline=None, max_examples=60)
TERMS = [
    "kettl",
    "blue",
    "mira",
    "holt",
    "14",
    "2026-10-05",
    "month10",
    "v2.0",
    "数据",
    "you",
    "one",
    "am",
]
some_terms = st.lists(st.sampled_from(TERMS), max_size=8)
unique_terms = st.lists(st.sampled_from(TERMS), max_size=5, unique=True).map(tuple)

places = st.tuples(
    st.sampled_from(["a.md", "b.md"]),
    st.integers(min_value=0, max_value=12),
    st.sampled_from(["", "", "s1", "s2"]),
)
candidates = st.lists(
    st.tuples(places, some_terms, some_terms, some_terms),
    max_size=30,
    unique_by=lambda found: (found[0][0], found[0][1]),
).map(
    lambda found: [
        Candidate(
            *(n, path, position, session, tuple(body), tuple(context), frozenset(names)),
            asks=((0, len(body) // 2), (len(body) - 1, len(body))) if len(body) > 3 else (),
        )
        for n, ((path, position, session), body, context, names) in enumerate(found)
    ]
)


@st.composite
def queries(draw: st.DrawFn) -> Query:
    terms = draw(unique_terms)
    return Query(
        "asked",
        terms,
        head=draw(unique_terms.map(lambda h: tuple(t for t in h if t in terms))),
        names=draw(st.lists(unique_terms.filter(bool), max_size=2, unique=True).map(tuple)),
        identifiers=draw(unique_terms),
        numbers=draw(unique_terms),
        answer_type=draw(
            st.sampled_from(
                ["clock", "date", "number", "person", "place", "reason", "yes_no", "thing"]
            )
        ),
        soft=draw(unique_terms.map(lambda s: tuple(t for t in s if t in terms))),
        carried=draw(unique_terms.map(lambda c: tuple(t for t in c if t not in terms))),
    )


def weighed(query: Query, found: list[Candidate], others: int) -> Weights:
    """Return weights of a palace that holds the candidates and some memories more."""
    held = [{*c.body, *c.context} for c in found]
    return term_weights(query, FixedVocabulary.of_tokens(*held, *[{"else"}] * others))


@LIGHT
@given(queries(), candidates, st.integers(min_value=0, max_value=50))
def test_features_stay_in_bounds(query: Query, found: list[Candidate], others: int) -> None:
    for scored in score(query, found, weights=weighed(query, found, others)):
        for name, value in scored.features.items():
            low = -1.0 if name == "margin" else 0.0
            assert low <= value <= 1.0 + 1e-9, name


@LIGHT
@given(queries(), candidates, st.randoms(use_true_random=False))
def test_the_order_depends_on_the_members_alone(
    query: Query, found: list[Candidate], chance: random.Random
) -> None:
    weights = weighed(query, found, 5)
    shuffled = list(found)
    chance.shuffle(shuffled)
    assert score(query, found, weights=weights) == score(query, shuffled, weights=weights)


@LIGHT
@given(queries(), candidates)
def test_best_first_and_ties_by_place(query: Query, found: list[Candidate]) -> None:
    ranked = score(query, found, weights=weighed(query, found, 5))
    assert sorted(s.candidate.key for s in ranked) == sorted(c.key for c in found)
    ranks = [-s.rank for s in ranked]
    assert ranks == sorted(ranks)
    for equals in (ranked[:JUDGED], ranked[JUDGED:]):  # of more than are judged, the last written
        keys = [(-s.rank, s.candidate.path, s.candidate.position) for s in equals]
        assert keys == sorted(keys)


@LIGHT
@given(queries(), st.integers(min_value=0, max_value=20))
def test_weights_are_positive_and_absent_terms_weigh_most(query: Query, others: int) -> None:
    weights = term_weights(query, FixedVocabulary(*["kettl blue"] * others))
    assert all(0 < weight <= weights.ceiling + 1e-9 for weight in weights.idf.values())
    assert set(weights.idf) == {*query.terms, *query.carried}
    assert weights.known <= set(weights.idf)
