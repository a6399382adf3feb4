"""The name of a daily note, and a heading of a diary, tell a day; other names do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.text import day_names
from palace.text.day_names import day_told, is_day
from palace.text.months import MONTH_NAMES


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
        "4 MAYIS 2026",
        "4 mayıs 2026",
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
        "segunda-feira, 4 de maio de 2026",
        "понедельник 4 мая 2026",
        "Poniedziałek, 4 maja 2026",
        "4 Mayıs 2026 Pazartesi",
    ],
)
def test_a_line_that_is_a_day(line):
    assert is_day(line)


@pytest.mark.parametrize(
    "line", ["2026-05-04 Oslo", "Due 2026-05-04", "2026-02-30", "4 May", "", "2026-05-04, rain"]
)
def test_a_line_that_is_more_or_less_than_a_day(line):
    assert not is_day(line)


PIECES = [
    *"4 04 2026 2026-05-04 4.5.2026 20260504 May MAY mayo märz MÄRZ mayıs MAYIS MAYİS nisan NİSAN".split(),
    *"th er st of de . , - ( ) [ ] * _ : 年 月 日 2026年5月4日 Monday Mo miércoles SÁBADO ſun We x".split(),
    " ", " ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_a_line_with_other_words_is_no_day_without_being_tried(line):
    found = day_names._ALONE.fullmatch(line) is not None and len(line) <= 40
    assert is_day(line) == (found and day_told(line) is not None)


@pytest.mark.parametrize("months", MONTH_NAMES)
def test_a_month_is_known_in_capitals_too(months):
    for name in months:
        days = {day_told(f"4 {written} 2026") for written in (name, name.upper(), name.title())}
        assert days == {day_told(f"4 {months[0]} 2026")}
        assert is_day(f"4 {name.upper()} 2026")
    assert day_told("4 NİSAN 2026") == day_told("4 nisan 2026")
