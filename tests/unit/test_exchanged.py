"""Two things of a sentence that stand in each other's places."""

from __future__ import annotations

from datetime import date

import pytest

from palace.enforce.exchanged import exchanged
from palace.enforce.mentions import joined, read_layout


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
        (
            "Dr Ruiz said yes, Prof. Lund has not answered.",
            "References: Prof. Lund said yes, Dr Ruiz not answered yet.",
            ["Ruiz", "Lund"],
        ),
        # One of the two stands there twice.
        (
            "You bring the stove, Wilma the bread and Cedric the map.",
            "Hike with Wilma and Cedric. Stove me, Cedric bread, Wilma the map.",
            ["Wilma", "Cedric"],
        ),
        (
            "Annegret baut das Zelt auf, Ruprecht bestellt die Getränke.",
            "Fest: Ruprecht baut das Zelt auf, Annegret bestellt die Getränke.",
            ["Annegret", "Ruprecht"],
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


def test_two_that_no_text_has_both_of_are_compared_over_all_of_them() -> None:
    texts = ("Key from the neighbour Wilma, flat 3.", "The cat goes to Cedric, no need to feed it.")
    memory = [(read_layout(text), None) for text in texts]
    whole = joined(layout for layout, _ in memory)
    sentence = read_layout("You get the key from Cedric, and the cat goes to Wilma.")
    assert exchanged(sentence, memory) == []
    assert exchanged(sentence, memory, whole) == ["Cedric", "Wilma"]


def test_what_another_text_says_so_is_not_exchanged() -> None:
    first = "Week 18: Tue-Thu Lena, Fri-Sun Wilma, backup Cedric."
    second = "Week 19: Mon-Thu Cedric, Fri-Sun Lena, backup Wilma."
    assert (
        _exchanged("Fri-Sun it is Wilma, with Cedric as backup.", (first, None), (second, None))
        == []
    )


def test_a_month_right_before_a_name_is_no_part_of_it() -> None:
    """Nor does the point of a title end a sentence."""
    layout = read_layout("On call: 22-26 Dec Wilma. Then Dr. Ruiz until 3 Jan.")
    wilma, ruiz = (m for m in layout.mentions if m.kind == "name")
    assert (wilma.text, ruiz.text) == ("Wilma", "Ruiz")
    assert ruiz.place[1] == wilma.place[1] + 1 == layout.words[-1].place[1]


def test_what_a_memory_says_everywhere_has_no_place_of_its_own() -> None:
    opened, rested = (
        "Wilma opens the gate.\nCedric locks the door.",
        "\nWilma rests, Cedric sleeps.",
    )
    said = "At the weekend Cedric opens the gate and Wilma locks the door."
    assert _exchanged(said, (opened + 3 * rested, None)) == ["Cedric", "Wilma"]
    assert _exchanged(said, (opened + 4 * rested, None)) == []
