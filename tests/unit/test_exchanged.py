"""Two things of a sentence that stand in each other's places."""

from __future__ import annotations

from datetime import date

import pytest

from palace.enforce.exchanged import exchanged
from palace.enforce.layout import read_layout


def _exchanged(sentence: str, *texts: tuple[str, date | None]) -> list[str]:
    return exchanged(read_layout(sentence), [(read_layout(text), day) for text, day in texts])


@pytest.mark.parametrize(
    ("sentence", "text", "found"),
    [
        (
            "Adults pay 150 € and families 84 €.",
            "Fees: adults 84 €, juniors 36 €, families 150 €.",
            ["150 €", "84 €"],
        ),
        (
            "Lamps cost 18 €, mirrors 26 €.",
            "Prices: 26 € lamps, 18 € mirrors",
            ["18 €", "26 €"],
        ),
        (
            "The chip time was 1:53:20 and the gun time 1:52:37.",
            "Half marathon: 1:52:37 chip, 1:53:20 gun.",
            ["1:53:20", "1:52:37"],
        ),
        (
            "At the party Wilma brings the salad and Cedric the grill.",
            "Party: Wilma grill, Cedric salad.",
            ["Wilma", "Cedric"],
        ),
        (
            "The north cage is due on 16 November and the south cage on 11 November.",
            "Due: north cage 11 Nov, south cage 16 Nov",
            ["16 November", "11 November."],
        ),
    ],
)
def test_what_has_changed_places_is_found(sentence: str, text: str, found: list[str]) -> None:
    """Each stands beside the words that the memory has beside the other."""
    assert _exchanged(sentence, (text, None)) == found


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        (
            "Families pay 150 €, which is more than the 84 € for adults.",
            "Fees: adults 84 €, juniors 36 €, families 150 €.",
        ),
        # One of the two alone may be told in other words.
        ("150 € is what families pay, and 84 € the rest.", "adults 84 €, families 150 €"),
        # Nothing of their own stands beside them.
        ("173 of 220 jars are sold.", "jars: 220 filled, 173 sold"),
        # A reader's own numbers.
        (
            "Cedric has three years more than Wilma and five more than Lorcan.",
            "Wilma 5 years, Cedric 8 years, Lorcan 3 years",
        ),
    ],
)
def test_what_stands_in_its_place_is_left_alone(sentence: str, text: str) -> None:
    assert _exchanged(sentence, (text, None)) == []


def test_a_newer_memory_may_tell_of_the_exchange() -> None:
    rota = ("Cakes: 13 Nov Wilma, 27 Nov Cedric", date(2025, 10, 16))
    told = ("Wilma has swapped with Cedric", date(2025, 10, 30))
    sentence = "Cedric brings cake on 13 Nov and Wilma on 27 Nov."
    assert _exchanged(sentence, rota) != []
    assert _exchanged(sentence, rota, told) == []
    assert _exchanged(sentence, rota, (told[0], date(2025, 10, 1))) != []
