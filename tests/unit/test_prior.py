"""The prior orders near ties by what memories are worth, and never lifts what matches worse."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from palace.learn.prior import LARGEST, prior
from palace.ports import Candidate, UseCounts, Worth
from palace.recall.priors import with_priors
from palace.recall.scoring import JUDGED, Scored

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
LIKED, DISLIKED = UseCounts(helpful=3), UseCounts(unhelpful=3)


def worth(**fields: Any) -> Worth:
    values: dict[str, Any] = {
        "kind": "fact",
        "trust": "user",
        "confidence": 0.6,
        "importance": 0.5,
        "dated": NOON,
        **fields,
    }
    return Worth(**values)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"trust": "user"}, {"trust": "agent"}),
        ({"trust": "agent"}, {"trust": "system"}),
        ({"confidence": 0.9}, {"confidence": 0.5}),
        ({"importance": 0.9}, {"importance": 0.5}),
        ({"counts": LIKED}, {}),
        ({}, {"counts": DISLIKED}),
        ({"kind": "correction"}, {}),
        ({"kind": "negative"}, {"kind": "preference"}),
        ({}, {"dated": NOON - timedelta(days=60)}),
        ({"dated": NOON - timedelta(days=60), "counts": UseCounts(uses=9)},
         {"dated": NOON - timedelta(days=60)}),
        # what was asked for until it changed is no younger than what was told since
        ({"dated": NOON - timedelta(days=20)},
         {"dated": NOON - timedelta(days=60), "counts": UseCounts(uses=1, last=NOON)}),
    ],
)  # fmt: skip
def test_what_is_worth_more_has_the_larger_prior(better: Any, worse: Any) -> None:
    assert prior(worth(**better), at=NOON) > prior(worth(**worse), at=NOON)


def test_the_prior_is_bounded() -> None:
    best = worth(kind="correction", confidence=1.0, importance=1.0, counts=LIKED)
    assert prior(best, at=NOON) == pytest.approx(LARGEST)
    worst = worth(confidence=0.0, importance=0.0)
    assert prior(worst, at=NOON) == 0.0


def ranked(*ranks: float) -> list[Scored]:
    return [
        Scored(Candidate(n, "rooms/a/b.md", n, "", (), ()), rank, {"coverage": 0.5})
        for n, rank in enumerate(ranks)
    ]


def test_near_ties_change_places_and_nothing_else_does() -> None:
    found = with_priors(ranked(5.0, 4.9, 3.0), lambda _keys: {0: 0.1, 1: 0.7, 2: 0.7})
    assert [s.candidate.key for s in found] == [1, 0, 2]
    assert [(s.rank, s.prior) for s in found][0] == (pytest.approx(5.6), 0.7)
    assert [s.features for s in found] == [{"coverage": 0.5}] * 3


def test_only_the_head_is_asked_about() -> None:
    asked: list[int] = []

    def priors(keys: Any) -> dict[int, float]:
        asked.extend(keys)
        return {}

    many = ranked(*(-0.1 * n for n in range(JUDGED + 5)))
    assert with_priors(many, priors) == many
    assert asked == list(range(JUDGED))
    assert with_priors([], priors) == []
