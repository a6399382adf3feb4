"""Moments of texts, and ids that begin with one."""

from __future__ import annotations

import time
from datetime import datetime, timezone

import pytest

from palace.text.moments import aware_moment, id_time, in_utc, iso_moment, new_id, utc_now

NOON = datetime(2026, 3, 2, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "text", ["2026-03-02T12:00Z", "2026-03-02T12:00:00z", "2026-03-02T14:00+02:00"]
)
def test_one_moment_however_its_zone_is_written(text: str) -> None:
    assert iso_moment(text) == aware_moment(text) == NOON


def test_without_a_zone_it_is_in_utc_and_none_that_is_aware() -> None:
    assert iso_moment("2026-03-02T12:00") == in_utc(NOON.replace(tzinfo=None)) == NOON
    assert aware_moment("2026-03-02T12:00") is None


@pytest.mark.parametrize("text", ["noon", "2026-13-01", "0001-01-01T00:00+01:00"])
def test_what_is_no_moment_of_utc_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        iso_moment(text)


@pytest.mark.parametrize("value", ["", "noon", "2026-13-01", None, 7])
def test_anything_else_is_no_moment(value: object) -> None:
    assert aware_moment(value) is None


def test_ids_are_new_and_ordered_and_tell_their_time() -> None:
    before = datetime.now(tz=timezone.utc)
    first = new_id("m")
    time.sleep(0.002)
    second = new_id("m")
    assert first < second
    assert len({new_id("v") for _ in range(500)}) == 500
    assert first.startswith("m-")
    assert len(first) == 28
    told = id_time(first)
    assert told is not None
    assert abs((told - before).total_seconds()) < 5


@pytest.mark.parametrize(
    "text",
    ["", "m-", "m-short", "m-" + "I" * 26, "m-" + "0" * 27, "d-" + "a" * 26, "m-" + "Z" * 26],
)
def test_other_texts_are_no_ids(text: str) -> None:
    assert id_time(text) is None


def test_now_is_aware_and_whole() -> None:
    now = utc_now()
    assert now.tzinfo is timezone.utc
    assert now.microsecond == 0


def test_a_moment_that_utc_does_not_know_is_none() -> None:
    assert aware_moment("0001-01-01T00:00:00+10:00") is None
    assert aware_moment("9999-12-31T23:59:59-10:00") is None


def test_ids_sort_by_when_they_were_made_within_a_millisecond_too() -> None:
    made = [new_id("v") for _ in range(5000)]
    assert made == sorted(made)
    assert len({id_time(one) for one in made}) < 5000
