from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from palace.fetch.timeframe import Window, find_window, line_moment

UTC = timezone.utc
NOW = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("prompt", "since", "until"),
    [
        ("in the last 2 hours", "2026-03-14 07:30", "2026-03-14 09:30"),
        ("the past two hours", "2026-03-14 07:30", "2026-03-14 09:30"),
        ("last hour", "2026-03-14 08:30", "2026-03-14 09:30"),
        ("last 90 min", "2026-03-14 08:00", "2026-03-14 09:30"),
        ("last 3 days", "2026-03-11 09:30", "2026-03-14 09:30"),
        ("last week", "2026-03-07 09:30", "2026-03-14 09:30"),
        ("last month", "2026-02-12 09:30", "2026-03-14 09:30"),
        ("since 08:00", "2026-03-14 08:00", None),
        ("since 14:00", "2026-03-13 14:00", None),
        ("since 2pm", "2026-03-13 14:00", None),
        ("since 12am", "2026-03-14 00:00", None),
        ("since yesterday", "2026-03-13 00:00", None),
        ("since yesterday at 14:00", "2026-03-13 14:00", None),
        ("since 2026-03-01", "2026-03-01 00:00", None),
        ("since 2026-03-01 14:05", "2026-03-01 14:05", None),
        ("between 07:00 and 08:15", "2026-03-14 07:00", "2026-03-14 08:15"),
        ("between 23:00 and 01:00", "2026-03-13 23:00", "2026-03-14 01:00"),
        ("yesterday from 07:00 to 08:00", "2026-03-13 07:00", "2026-03-13 08:00"),
        ("today", "2026-03-14 00:00", "2026-03-14 23:59:59.999999"),
        ("yesterday", "2026-03-13 00:00", "2026-03-13 23:59:59.999999"),
        ("on 2026-03-01", "2026-03-01 00:00", "2026-03-01 23:59:59.999999"),
        ("this morning", "2026-03-14 00:00", "2026-03-14 09:30"),
        ("last night", "2026-03-13 18:00", "2026-03-14 06:00"),
    ],
)
def test_windows(prompt: str, since: str, until: str | None) -> None:
    window = find_window(f"errors in app.log {prompt}?", now=NOW, zone=UTC)
    assert window == Window(at(since), at(until) if until else None)


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "the last 50 lines",
        "since the deploy",
        "last 99999 weeks of it " * 2,
        "since 2026-99-99",
        "since 13pm",
        "at last",
        "since 3",
    ],
)
def test_no_window(prompt: str) -> None:
    window = find_window(prompt, now=NOW, zone=UTC)
    assert not window or window.since < at("1000-01-01 00:00")


def test_clock_times_are_those_of_the_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    window = find_window("since 08:00", now=NOW, zone=berlin)
    assert window.since == at("2026-03-14 07:00")
    # Summer time began between the two days.
    after = datetime(2026, 3, 29, 9, 30, tzinfo=UTC)
    assert find_window("since 2026-03-28", now=after, zone=berlin).since == at("2026-03-27 23:00")


def test_without_a_zone_it_is_this_machines() -> None:
    window = find_window("since 2026-03-01 14:00", now=NOW)
    assert window.since == datetime(2026, 3, 1, 14).astimezone()


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("2026-03-14T08:00:01Z started", "2026-03-14 08:00:01"),
        ("2026-03-14T08:00:01.123456+01:00 x", "2026-03-14 07:00:01"),
        ("[2026-03-14 08:00:01,123] ERROR x", "2026-03-14 08:00:01"),
        ("2026-03-14 08:00 x", "2026-03-14 08:00"),
        ("2026/03/14 08:00:01 [error] x", "2026-03-14 08:00:01"),
        ("14.03.2026 08:00:01 ERROR x", "2026-03-14 08:00:01"),
        ("[14.03.2026, 08:00:01,250] x", "2026-03-14 08:00:01"),
        ("14.03.2026 08:00 x", "2026-03-14 08:00"),
        ('127.0.0.1 - - [14/Mar/2026:08:00:01 +0100] "GET / HTTP/1.1" 200', "2026-03-14 07:00:01"),
        ("Mar 14 08:00:01 host app[1]: x", "2026-03-14 08:00:01"),
        ("Mar  4 08:00:01 host app[1]: x", "2026-03-04 08:00:01"),
        ("Dec 24 08:00:01 host app[1]: x", "2025-12-24 08:00:01"),
        ("<13>Mar 14 08:00:01 host x", "2026-03-14 08:00:01"),
        ('{"level":"info","time":"2026-03-14T08:00:01Z"}', "2026-03-14 08:00:01"),
        ("1773475201.250 x", "2026-03-14 08:00:01"),
        ("1773475201250 x", "2026-03-14 08:00:01"),
    ],
)
def test_moments_of_lines(line: str, moment: str) -> None:
    assert line_moment(line, now=NOW, zone=UTC) == at(moment)


@pytest.mark.parametrize(
    ("zone", "moment"),
    [
        (" UTC [77] LOG:", "2026-03-14 08:00:01"),
        (" GMT LOG:", "2026-03-14 08:00:01"),
        ("-05 LOG:", "2026-03-14 13:00:01"),
        (" -10 items", "2026-03-14 07:00:01"),
        (" UTCX", "2026-03-14 07:00:01"),
    ],
)
def test_zones_of_lines(zone: str, moment: str) -> None:
    line = f"2026-03-14 08:00:01.123{zone}"
    assert line_moment(line, now=NOW, zone=ZoneInfo("Europe/Berlin")) == at(moment)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "    at main.py",
        "no time",
        "2026-99-14 08:00:01",
        "Foo 14 08:00:01",
        "08:00:01 x",
        "Feb 31 08:00:00 x",
        "31.02.2026 08:00:00 x",
        "1.14.03.2026 08:00:00 x",
        "2026-03-14 08:00:00 +99:99",
    ],
)
def test_lines_without_a_moment(line: str) -> None:
    assert line_moment(line, now=NOW, zone=UTC) is None


def test_window_includes_its_ends() -> None:
    window = Window(NOW, NOW + timedelta(hours=1))
    assert window.holds(NOW)
    assert window.holds(NOW + timedelta(hours=1))
    assert not window.holds(NOW - timedelta(seconds=1))
    assert not window.holds(NOW + timedelta(hours=1, seconds=1))
