"""Another thing of the same kind, and honest answers that only name one in other words."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from palace.enforce.grounding import AnswerCheck
from tests.doubles import evidence

DAY = datetime(2026, 3, 2, tzinfo=timezone.utc)


def holds(memory, answer, question="What do my notes say?"):
    return AnswerCheck([evidence(memory, as_of=DAY)], question).check(answer).supported


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("Left ankle sprained.", "The left ankle is sprained.", "The right ankle is sprained."),
        ("Meter is left of the gate.", "It's left of the gate.", "It's right of the gate."),
        ("Noise at the front left.", "The noise is at the front left.",
         "The noise is at the front right."),
        ("Rodilla izquierda inflamada.", "La rodilla izquierda está inflamada.",
         "La rodilla derecha está inflamada."),
    ],
)  # fmt: skip
def test_the_other_side_is_another_one(memory, good, bad):
    assert holds(memory, good)
    assert not holds(memory, bad)


def test_who_left_is_on_no_side():
    assert holds("Ida left early, 3 left for lunch.", "That's right: early on Ida left for lunch.")


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("Deck boards: larch, 28 mm.", "The deck is larch, 28 mm.", "The deck is spruce, 28 mm."),
        ("Dose: 1 tsp with food.", "It's 1 tsp, with food.", "It's 1 tbsp, with food."),
        ("My nephew comes at 5 pm.", "Your nephew comes at 5 pm.", "Your niece comes at 5 pm."),
        ("Alu profile, 40 mm.", "An aluminium profile of 40 mm.", "A brass profile of 40 mm."),
    ],
)
def test_another_member_of_a_class_of_things_is_another_thing(memory, good, bad):
    assert holds(memory, good)
    assert not holds(memory, bad)


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        ("Vertrag mit der Firma Lohnbeck GmbH.", "Der Vertrag ist mit der Lohnbeck GmbH.",
         "Der Vertrag ist mit der Lohmeier GmbH."),
        ("Roof by Takmo AB.", "Takmo AB does the roof.", "Takrix AB does the roof."),
        ("Offer of Soundhill: refund.", "Soundhill offers a refund.", "Soundvale offers a refund."),
        ("Das Fass steht in Halle C.", "Das Fass ist in der Halle C und nicht im Hof.",
         "Das Fass ist in der Halle D und nicht im Hof."),
    ],
)  # fmt: skip
def test_a_name_that_begins_alike_is_another(memory, good, bad):
    assert holds(memory, good)
    assert not holds(memory, bad)


@pytest.mark.parametrize("label", ["stage", "day", "floor"])
def test_a_label_with_another_number_is_no_count_of_a_reader(label):
    memory = f"The form is wanted from {label} 3."
    assert holds(memory, f"They want the form from {label} 3.")
    assert not holds(memory, f"They want the form from {label} 4.")


@pytest.mark.parametrize(
    ("memory", "answer"),
    [
        ("Strings changed 20 Dec.", "You changed the strings just before Christmas."),
        ("Arrivo il 19 dicembre.", "Arriva prima di Natale, il 19 dicembre."),
        ("Booked: 7-10 April 2026.", "You booked four days around Easter, 7 to 10 April."),
    ],
)
def test_a_feast_may_be_named_where_a_day_lies_near_it(memory, answer):
    assert holds(memory, answer)


def test_a_feast_of_another_season_may_not_be_named():
    assert not holds("Strings changed 20 June.", "You changed the strings just before Christmas.")


def test_weekdays_in_small_letters_are_read_where_they_are_joined():
    memory = "Support mon-sat 6-22 h."
    assert holds(memory, "Support is there from Monday to Saturday.")
    assert not holds(memory, "Support is there from Tuesday to Sunday.")


def test_a_town_may_be_called_as_in_another_language():
    memory = "Zug ab München 9:23, an Köln 14:08."
    assert holds(memory, "The train leaves Munich at 9:23.", "When does my train leave?")
    assert not holds(memory, "The train leaves Nuremberg at 9:23.", "When does my train leave?")


def test_a_duration_of_hours_and_minutes_may_be_said_about():
    memory = "Train: dep 8:37, arr 11:58."
    assert holds(memory, "It takes about three hours and twenty minutes.")
    assert not holds(memory, "It takes about four hours and twenty minutes.")


def test_an_identifier_may_stand_between_chinese_letters():
    memory = "不要用旧数据，缺H9样点。"
    assert holds(memory, "不要用旧数据：缺少H9。", "为什么不用旧数据？")
    assert not holds(memory, "不要用旧数据：缺少H8。", "为什么不用旧数据？")


@pytest.mark.parametrize(
    "answer", ["Die Abgabe ist Ende April.", "Sie braucht die Spendenbelege bis zum 30. April."]
)
def test_a_german_noun_of_an_english_memory_is_no_name(answer):
    memory = "Call with Ms Kowal: return due 30 April, she needs the donation receipts."
    assert holds(memory, answer, "Was hat die Steuerberaterin zur Abgabe gesagt?")


def test_what_is_left_is_worked_out_in_german_too():
    memory = "Schaden 11.800 €, Selbstbeteiligung 1.000."
    assert holds(memory, "Nach Abzug der Selbstbeteiligung bleiben 10.800 €.", "Was zahlen sie?")


@pytest.mark.parametrize(
    "answer", ["From 1 July on.", "Not before July.", "Again from early July."]
)
def test_what_is_over_at_the_end_of_a_month_begins_with_the_next(answer):
    memory = "Beach closed 1 March - 30 June."
    assert holds(memory, answer, "When does the beach open?")
    assert not holds(memory, answer.replace("July", "August"), "When does the beach open?")


def test_the_end_of_the_next_month_is_no_beginning():
    assert not holds("Beach closed until 30 June.", "It is closed until the end of July.")


def test_who_has_a_husband_may_be_called_a_wife():
    assert holds("Lena's husband is called Tom.", "Lena is Tom's wife.")


def test_an_english_sentence_with_words_that_are_german_too_keeps_its_names():
    memory = "Told of the war by Okonedo; many men die in it."
    assert holds(memory, "I am told of the war by Okonedo, and that many men die.")
    assert not holds(memory, "I am told of the war by Harcastle, and that many men die.")
