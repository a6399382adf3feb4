"""Shorthand of notes: what its numbers and dates may mean."""

from __future__ import annotations

import pytest

from palace.enforce.shorthand import short_dates, short_quantities


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("8-11:30", {("clock", 480.0), ("clock", 690.0)}),
        ("@ 9", {("clock", 540.0)}),
        ("35x45 mm", {("length", 0.035)}),
        ("95-100k", {("", 95_000.0)}),
        ("(25 late)", {("time", 1500.0)}),
        ("H5", {("", 5.0)}),
        ("1-0-1", {("", 2.0)}),
    ],
)
def test_a_number_in_shorthand_has_its_reading(text, wanted):
    read = {(q.unit, round(m, 6)) for q in short_quantities(text) for m in q.measures}
    assert wanted <= read


@pytest.mark.parametrize("text", ["8-11 mm", "2 x 2.5 l", "version 3"])
def test_what_has_a_unit_of_its_own_is_no_time_of_day(text):
    assert not [q for q in short_quantities(text) if q.unit in ("clock", "volume")]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("29/11", (None, 11, 29)),
        ("12.3.", (None, 3, 12)),
        ("11.2.26", (2026, 2, 11)),
        ("4.-7.9.", (None, 9, 4)),
    ],
)
def test_days_in_digits_are_read(text, day):
    assert day in {(d.year, d.month, d.day) for d in short_dates(text)}


def test_a_number_at_the_end_of_a_sentence_is_no_day():
    assert not list(short_dates("a pH of 4.5.", strict=True))
    assert list(short_dates("on 4.5.", strict=True))
