from __future__ import annotations

from datetime import date
from functools import partial

import pytest

from palace.enforce.grounding import AnswerCheck
from palace.enforce.mentions import read_layout
from palace.enforce.slots import Slots
from palace.recall.logistic import load_model
from tests.clock import seconds
from tests.doubles import evidence

MAY = date(2026, 5, 4)
JUNE = date(2026, 6, 9)


def rivals(slots, sentence):
    """Return what is said -> what of the memory might stand in its place."""
    return {
        slot.mention.text: {one.mention.text for one in slot.candidates if not one.same}
        for slot in slots.of(sentence)
    }


@pytest.mark.parametrize(
    ("memory", "sentence", "said", "others"),
    [
        # what stands before a number in the notes does not make it one of a kind
        ("Fees: hall 340, insurance 210.", "The hall costs 340.", "340", {"210"}),
        # notes leave out the unit, or have it only once
        ("Jump in 33.8 s, the winner 33.4.", "You took 33.4 s.", "33.4 s", {"33.8 s"}),
        ("Weir 14 km, mill 22 km.", "The mill is 22 away.", "22", {"14 km"}),
        # a short year is no amount
        ("Roof 9 Jan 26, 3 nails, 80 tiles.", "80 tiles", "80 tiles", {"3 nails"}),
    ],
)
def test_numbers_are_exchanged_for_numbers(memory, sentence, said, others):
    found = rivals(Slots([memory]), sentence)
    assert {key.split()[0]: {t.split()[0] for t in texts} for key, texts in found.items()} == {
        said.split()[0]: {text.split()[0] for text in others}
    }


def test_the_day_of_a_memory_stands_for_no_day_of_its_text():
    slots = Slots(["Fence invoice paid 1 May."], days=[MAY])
    assert rivals(slots, "You paid the fence on 4 May.") == {"4 May.": {"1 May."}}


def test_an_ordinary_word_that_opens_a_line_is_no_name():
    memory = "Repeat Sunday, Millbrook hall.\nSupplier: Veldhoek Bulbs."
    assert rivals(Slots([memory]), "It is at Millbrook.") == {"Millbrook": {"Veldhoek Bulbs"}}


def test_a_name_ends_where_a_day_begins():
    names = [m.text for m in read_layout("They meet at Lower Eastgate Wednesday.").mentions]
    assert names == ["Wednesday", "Lower Eastgate"]


def test_the_newer_of_two_memories_is_held_more_likely():
    slots = Slots(["Fair: 120 people.", "Corrected: 95 people."], days=[MAY, JUNE])
    older = {
        slot.mention.text: slot.features(load_model("slots"))["older"]
        for slot in slots.of("It is 95 people.")
    }
    assert list(older.values()) == [-1.0]


def test_a_long_source_takes_no_longer_than_it_is_long():
    """Pages and results of tools of a hundred thousand characters stand beside the memory."""

    def cost(lines):
        long = "".join(
            f'On {n % 28 + 1} May Anna paid {n}.50 euro for {n} tickets, see AB-{n}; "thanks", said Mr. Smith.\n'
            for n in range(lines)
        )
        check = AnswerCheck((evidence("The gate code is 4711."),), "", also=(long,))
        return seconds(partial(check.check, "The gate code is 4711, for 12 tickets of Anna."))

    cost(3)
    assert cost(400) < 25 * cost(50)


def test_what_was_said_before_is_read_where_something_could_be_exchanged_and_nowhere_else():
    slots = Slots(["Fees: hall 340, insurance 210.", "Jump in 33.8 s."])
    before = "We talked of the fees."
    list(slots.of("You took 33.8 s.", before=before))
    untouched = read_layout.cache_info().misses
    read_layout(before)
    assert read_layout.cache_info().misses == untouched + 1
    assert list(slots.of("The hall costs 340.", before=before))


def test_a_number_in_words_is_the_readers_own_and_stands_in_no_ones_place():
    slots = Slots(["Hall 11 x 9 m = 99 m2, paint covers 10 m2 a litre, loft 40 m2."])
    assert list(slots.of("Two coats go on 99 m2 of the hall."))
    assert not list(slots.of("They go on ninety-nine square metres of the hall."))
