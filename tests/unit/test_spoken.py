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
        ("dos mil quinientos", 2500),
        ("doscientos cincuenta y tres", 253),
        ("mil novecientos cuarenta", 1940),
        ("mil e quinhentos", 1500),
        ("trezentos e cinquenta", 350),
        ("trecento", 300),
        ("centottanta", 180),
        ("duemilacinquecentoventitré", 2523),
        ("milleottocento", 1800),
        ("двести пятьдесят", 250),
        ("двадцать пять тысяч триста", 25300),
        ("yedi bin sekiz yüz", 7800),
        ("altı bin iki yüz kırk", 6240),
        ("on iki", 12),
        ("yirmi beş bin", 25000),
        ("yuz kirk", 140),
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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("media hora", 0.5),
        ("dura hora y media", 1.5),
        ("dos horas y media", 2.5),
        ("tres cuartos de hora", 0.75),
        ("duas horas e meia", 2.5),
        ("um quarto de hora", 0.25),
        ("mezz'ora", 0.5),
        ("un’ora e mezza", 1.5),
        ("due ore e mezza", 2.5),
        ("tre quarti d'ora", 0.75),
        ("deux heures et demie", 2.5),
        ("полтора часа", 1.5),
        ("полчаса", 0.5),
        ("два с половиной часа", 2.5),
    ],
)
def test_parts_of_an_hour_are_read(text: str, value: float) -> None:
    assert [(s.values, s.unit, s.factor) for s in spoken_parts(text)] == [((value,), "time", 3600)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("un kilo trescientos de arroz", 1.3),
        ("un chilo e trecentocinquanta", 1.35),
        ("dois quilos e duzentos", 2.2),
    ],
)
def test_a_kilo_and_some_hundreds_is_read(text: str, value: float) -> None:
    assert [(s.values, s.unit, s.factor) for s in spoken_parts(text)] == [((value,), "mass", 1000)]


def test_noon_behind_an_hour_is_no_other_time() -> None:
    said = spoken_clocks("a las doce y media del mediodía")
    assert [s.values for s in said] == [(750.0, 30.0)]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("a mediodía", 720.0),
        ("à meia-noite", 0.0),
        ("a mezzogiorno", 720.0),
        ("в полночь", 0.0),
        ("в три часа дня", 900.0),
        ("в семь утра", 420.0),
        ("в 9 вечера", 1260.0),
    ],
)
def test_times_of_the_day_are_read(text: str, minutes: float) -> None:
    assert (minutes,) in [said.values for said in spoken_clocks(text)]


def test_three_days_are_no_time() -> None:
    assert not list(spoken_clocks("через 3 дня"))


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
        ("8千万円", 80_000_000),
        ("2억 8천만 원", 280_000_000),
        ("칠십팔만 원", 780_000),
        ("이만 오천 원", 25_000),
        ("만 원", 10_000),
        ("3 bin lira", 3_000),
        ("2,5 milyon TL", 2_500_000),
    ],
)
def test_digits_before_a_myriad_are_one_number(text: str, value: float) -> None:
    assert [quantity.values for quantity in read_quantities(text)] == [(float(value),)]


@pytest.mark.parametrize("text", ["um 15 bin ich da", "um zwei bin ich da", "on two days"])
def test_words_of_other_languages_multiply_nothing(text: str) -> None:
    assert [q.values for q in read_quantities(text)] in ([(15.0,)], [(2.0,)])


@pytest.mark.parametrize("text", ["Elli is here.", "이번 일이 많다", "시월", "만일"])
def test_what_is_also_a_name_or_another_word_is_no_number(text: str) -> None:
    assert not read_quantities(text)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("오후 세 시", (900.0,)),
        ("저녁 일곱 시 반", (1170.0,)),
        ("다섯 시 이십오 분", (325.0, 1045.0)),
    ],
)
def test_korean_times_are_read(text: str, minutes: tuple[float, ...]) -> None:
    assert [q.values for q in read_quantities(text)] == [minutes]
