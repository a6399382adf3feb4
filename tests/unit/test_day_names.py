"""The name of a daily note, and a heading of a diary, tell a day; other names do not."""

from __future__ import annotations

import pytest

from palace.text.day_names import day_told, is_day


@pytest.mark.parametrize(
    "name",
    [
        "2026-05-04",
        "2026_05_04",
        "2026.05.04",
        "20260504",
        "2026-5-4",
        "2026-05-04 Call with the glazier",
        "2026-05-04-call",
        "2026-05-04_call",
        "2026-05-04T10:30",
        "[[2026-05-04]] Monday",
        "04.05.2026",
        "4. 5. 2026",
        "Mo, 04.05.2026",
        "4 May 2026",
        "Monday, 4 May 2026",
        "Monday 4 May 2026",
        "May 4th, 2026",
        "May 4, 2026",
        "4. Mai 2026",
        "Montag, 4. Mai 2026",
        "4 mai 2026",
        "4 de mayo de 2026",
        "2026年5月4日",
        "2026년 5월 4일",
        "[4.1.0] - 2026-05-04",
        "4.1.0 (2026-05-04)",
        "v4.1.0 – 4 May 2026",
        "Trip to Bergen, 2026-05-04",
    ],
)
def test_a_name_that_tells_a_day(name):
    told = day_told(name)
    assert told is not None
    assert told.isoformat() == "2026-05-04"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Greenhouse",
        "2026",
        "2026-05",
        "2026-W19",
        "2026-02-30",
        "2026-13-01",
        "202605041230 Zettel",
        "1.2.0",
        "Deadline 2026-07-15",
        "Valid until: 2026-12-31",
        "What was said on 2026-05-04 about glass",
        "4 May",
        "May 2026",
        "10.4.2026.1",
        "invoice 88-2026-05-04-7",
        "2026-05-04Tuesday",
        "4 May 2026ish",
        "(" * 300,
    ],
)
def test_a_name_that_tells_none(name):
    assert day_told(name) is None


@pytest.mark.parametrize(
    "line",
    [
        "2026-05-04",
        "**4 May 2026**",
        "Monday, 4 May 2026:",
        "04.05.2026 (Montag)",
        "[[2026-05-04]]",
    ],
)
def test_a_line_that_is_a_day(line):
    assert is_day(line)


@pytest.mark.parametrize(
    "line", ["2026-05-04 Oslo", "Due 2026-05-04", "2026-02-30", "4 May", "", "2026-05-04, rain"]
)
def test_a_line_that_is_more_or_less_than_a_day(line):
    assert not is_day(line)
