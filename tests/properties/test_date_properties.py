"""Laws of dates: whatever a text says, a day that is read from it is one of the calendar."""

from __future__ import annotations

from datetime import datetime, timezone

from hypothesis import given
from hypothesis import strategies as st

from palace.enforce.source import Source

_SAID = datetime(2026, 2, 28, tzinfo=timezone.utc)
_NUMBERS = st.sampled_from("0 00 1 2 02 3 12 13 28 29 30 31 32 2023 2024 2026 0000 9999".split())
_MONTHS = st.sampled_from("Feb March april Juni marzo end beginning Monday".split())
_SIGNS = st.sampled_from((" ", ". ", ".", "/", "-", " - ", ", ", " of ", " de ", "月", "日", "年"))


@given(
    st.lists(st.one_of(_NUMBERS, _MONTHS, _SIGNS), min_size=1, max_size=7),
    st.sampled_from(("", " ")),
    st.sampled_from((None, _SAID)),
)
def test_every_day_that_is_read_exists(
    pieces: list[str], between: str, said: datetime | None
) -> None:
    source = Source(between.join(pieces), said)
    for day in (*source.dates, *source.written):
        if day.month is not None and day.day is not None:
            assert day.ordinal is not None
            assert (day.weekday is None) == (day.year is None)
