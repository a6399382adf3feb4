"""Strength stays in [0, 1], falls with age, rises with use, and never hides a memory."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from palace.learn.strength import strength
from palace.ports import UseCounts
from palace.types.memory import Memory, MemoryKind, Trust
from tests.doubles import memory

NOW = datetime(2026, 6, 1, tzinfo=timezone.utc)
COUNT = st.integers(0, 10**6)
PART = st.floats(0, 1)
MOMENTS = st.none() | st.datetimes(timezones=st.just(timezone.utc))

counts = st.builds(UseCounts, COUNT, COUNT, COUNT, COUNT, MOMENTS)
memories = st.builds(
    lambda kind, trust, confidence, created: memory(
        "x", kind=kind, trust=trust, confidence=confidence, created=created
    ),
    st.sampled_from(get_args(MemoryKind)),
    st.sampled_from(get_args(Trust)),
    PART,
    MOMENTS,
)


@settings(deadline=None, max_examples=200)
@given(memories, counts, st.datetimes(timezones=st.just(timezone.utc)))
def test_within_its_bounds(one: Memory, used: UseCounts, at: datetime) -> None:
    assert 0.0 <= strength(one, used, at=at) <= 1.0


@settings(deadline=None, max_examples=100)
@given(memories, counts, st.integers(0, 10_000))
def test_never_stronger_by_age_alone(one: Memory, used: UseCounts, days: int) -> None:
    assert strength(one, used, at=NOW + timedelta(days=days)) <= strength(one, used, at=NOW)


@settings(deadline=None, max_examples=100)
@given(memories, COUNT, COUNT)
def test_never_weaker_by_use_or_praise(one: Memory, uses: int, praise: int) -> None:
    plain = strength(one, at=NOW)
    assert strength(one, UseCounts(uses=uses), at=NOW) >= plain
    assert strength(one, UseCounts(helpful=praise), at=NOW) >= plain
    assert strength(one, UseCounts(unhelpful=praise), at=NOW) <= plain
