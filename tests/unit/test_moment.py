"""Moments: what people and programs write, and what could mean two things."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.learn.moment import parse_moment

MAY = datetime(2023, 5, 8, 13, 56, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "value",
    [
        "2023-05-08T13:56:00Z",
        "2023-05-08T13:56:00",
        "2023-05-08 13:56",
        "2023-05-08T15:56:00+02:00",
        "2023-05-08T15:56:00 +0200",
        "2023-05-08T08:56-05",
        "20230508T135600Z",
        "2023/05/08 13:56",
        "2023/05/08 (Mon) 13:56",
        "2023.5.8, 13:56:00.000",
        "8 May 2023 13:56",
        "8. Mai 2023 13:56",
        "8 мая 2023 13:56",
        "1:56 pm on 8 May, 2023",
        "1:56 p.m. on the 8th of May 2023",
        "May 8th, 2023 at 1:56 PM",
        "Monday, 8 May 2023, 13:56 UTC",
        "Mon, 08 May 2023 15:56:00 +0200",
        1683554160,
        1683554160.0,
        1683554160000,
        "1683554160",
    ],
)
def test_common_forms_mean_the_same_moment(value):
    assert parse_moment(value) == MAY


@pytest.mark.parametrize(
    ("value", "hour"),
    [
        ("8 May 2023", 0),
        ("2023-05-08", 0),
        ("12:00 am on 8 May 2023", 0),
        ("12 pm, 8 May 2023", 12),
    ],
)
def test_hours_of_dates_and_twelve_hour_clocks(value, hour):
    assert parse_moment(value) == MAY.replace(hour=hour, minute=0)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        [],
        {},
        "",
        "yesterday",
        "13:56",
        "05/08/2023",
        "8.5.2023",
        "2023-13-01",
        "2023-02-30",
        "2023-05-08T25:00",
        "13 pm on 8 May 2023",
        "2023-05-08T13:56:00 about tea",
        "12:00 8 May 2023 9:30",
        "2023-05-08T10:00+99:00",
        "0001-01-01T00:00+05:00",
        float("nan"),
        float("inf"),
        1e300,
        "2023-05-08 " + "x" * 100,
    ],
)
def test_what_is_no_moment_or_could_mean_two_is_none(value):
    assert parse_moment(value) is None


@given(
    at=st.datetimes(datetime(1000, 1, 2), datetime(9999, 12, 30)),
    minutes=st.integers(-23 * 60, 23 * 60),
)
@settings(deadline=None, max_examples=60)
def test_every_iso_text_is_read_exactly(at, minutes):
    aware = at.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert parse_moment(aware.isoformat()) == aware


@given(value=st.one_of(st.text(max_size=90), st.floats(), st.integers()))
@settings(deadline=None, max_examples=60)
def test_any_value_gives_an_aware_moment_or_none(value):
    moment = parse_moment(value)
    assert moment is None or moment.utcoffset() == timedelta()
