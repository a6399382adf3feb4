"""Numbers in words, as their languages write them together."""

from __future__ import annotations

import pytest

from palace.enforce.quantities import read_quantities
from palace.enforce.spoken import spoken_clocks, spoken_numbers, spoken_parts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("fünfunddreißig", 35),  # its two signs fold in two ways
        ("fuenf und funfunddreissig", 35),
        ("dreiunddreißig", 33),
        ("éénentwintig", 21),
        ("tweeëntachtig", 82),
        ("trentatré", 33),
        ("ventuno", 21),
        ("quarantotto", 48),
        ("quatre-vingt-dix", 90),
    ],
)
def test_what_is_written_together_is_one_number(text: str, value: int) -> None:
    assert [s.values for s in spoken_numbers(text)][-1] == (float(value),)


@pytest.mark.parametrize("text", ["ventidueeuro", "fünfundvierziger", "undzwanzig"])
def test_part_of_a_word_is_no_number(text: str) -> None:
    assert not list(spoken_numbers(text))


def test_times_are_read_after_a_text_without_any() -> None:
    assert not list(spoken_clocks("nothing of the kind"))
    said = next(spoken_clocks("at half past eight in the evening"))
    assert said.values == (1230.0,)


@pytest.mark.parametrize("text", ["a las cinco y media", "fechou às cinco e meia"])
def test_a_time_behind_its_article_is_read(text: str) -> None:
    assert [said.values for said in spoken_clocks(text)] == [(330.0, 1050.0)]


def test_a_metre_and_some_hundredths_is_read() -> None:
    assert [s.values for s in spoken_parts("It is a metre forty wide.")] == [(1.4,)]
    assert not list(spoken_parts("It is forty wide."))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("家賃は月8万5千円です", 85_000),
        ("家賃は85,000円です", 85_000),
        ("報价14.3万元", 143_000),
        ("2,300万円", 23_000_000),
        ("이사 비용은 23만 원", 230_000),
        ("1億2000万人", 120_000_000),
    ],
)
def test_digits_before_a_myriad_are_one_number(text: str, value: float) -> None:
    assert [quantity.values for quantity in read_quantities(text)] == [(float(value),)]
