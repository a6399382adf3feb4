"""How strong a memory is: half-lives, use, feedback, whose word it is."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import get_args

import pytest

from palace.learn.strength import HALF_LIFE_DAYS, feedback_factor, half_life_days, strength
from palace.ports import UNUSED, UseCounts
from palace.types.memory import MemoryKind
from tests.doubles import memory

NOW = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


@pytest.mark.parametrize(
    ("kind", "days"),
    [("correction", 365), ("negative", 365), ("preference", 90), ("procedure", 60), ("fact", 30)],
)
def test_half_is_left_after_the_half_life_of_the_kind(kind: MemoryKind, days: int) -> None:
    aged = memory("x", kind=kind, created=days_ago(days))
    assert strength(aged, at=NOW) == pytest.approx(0.5)
    assert strength(aged, at=NOW + timedelta(days=days)) == pytest.approx(0.25)


def test_every_kind_has_a_half_life() -> None:
    assert set(HALF_LIFE_DAYS) == set(get_args(MemoryKind))


@pytest.mark.parametrize("kind", [k for k in get_args(MemoryKind) if k != "event"])
def test_what_the_system_inferred_fades_in_days(kind: MemoryKind) -> None:
    inferred = memory("x", kind=kind, trust="system", created=days_ago(7))
    assert half_life_days(inferred) == 7
    assert strength(inferred, at=NOW) == pytest.approx(0.6 / 2)


@pytest.mark.parametrize("trust", ["user", "system"])
def test_an_event_does_not_fade(trust: str) -> None:
    happened = memory("x", kind="event", trust=trust, created=days_ago(9000))
    assert strength(happened, at=NOW) == strength(happened, at=days_ago(9000)) > 0


def test_a_person_s_word_weighs_more_than_an_agent_s_and_that_more_than_the_system_s() -> None:
    by_source = [
        strength(memory("x", trust=trust), at=NOW) for trust in ("user", "agent", "system")
    ]
    assert by_source == [1.0, 0.8, 0.6]


def test_use_makes_it_young_again_and_lets_it_last() -> None:
    old = memory("x", created=days_ago(300))
    used = UseCounts(uses=2, said_again=1, last=days_ago(30))
    assert strength(old, at=NOW) == pytest.approx(0.5**10)
    assert strength(old, used, at=NOW) == pytest.approx(0.5 ** (1 / (1 + math.log(4))))


def test_an_update_makes_it_young_again() -> None:
    changed = memory("x", created=days_ago(300), updated=days_ago(30))
    assert strength(changed, at=NOW) == pytest.approx(0.5)


def test_without_a_date_or_from_the_future_it_has_no_age() -> None:
    assert strength(memory("x"), at=NOW) == 1.0
    assert strength(memory("x", created=days_ago(-5)), at=NOW) == 1.0


def test_feedback_moves_it_within_bounds() -> None:
    doubted = memory("x", confidence=0.6)
    assert strength(doubted, UseCounts(helpful=1), at=NOW) == pytest.approx(0.6 * 7 / 6)
    assert strength(doubted, UseCounts(unhelpful=1), at=NOW) == pytest.approx(0.6 * 5 / 6)
    assert strength(doubted, UseCounts(helpful=3, unhelpful=3), at=NOW) == pytest.approx(0.6)
    assert 0.5 < feedback_factor(0, 10_000) < 0.51
    assert 1.49 < feedback_factor(10_000, 0) < 1.5
    assert strength(memory("x"), UseCounts(helpful=9), at=NOW) == 1.0


def test_nothing_used_is_unused() -> None:
    aged = memory("x", created=days_ago(30))
    assert strength(aged, UNUSED, at=NOW) == strength(aged, at=NOW)
