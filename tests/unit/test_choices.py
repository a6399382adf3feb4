"""Enumerations of schemas, and which of their values are labels rather than statements."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Literal

import pytest
from pydantic import BaseModel

from palace.enforce.choices import enumerated, values_in
from palace.enforce.grounding import AnswerCheck
from tests.doubles import evidence


class Colour(Enum):
    RED = "red"
    DARK_BLUE = "dark blue"


class Answer(BaseModel):
    """An answer with two choices, one of them nested."""

    text: str
    status: Literal["found", "not_found", "in_progress"] = "found"
    colours: list[Colour] = []


STATUS = frozenset({"found", "not_found", "in_progress"})
COLOURS = frozenset({"red", "dark blue"})


@pytest.mark.parametrize(
    "schema",
    [
        Answer,
        Answer(text="x"),
        Answer.model_json_schema(),
        {"tools": [{"function": {"parameters": Answer.model_json_schema()}}], "temperature": 0.1},
        [str, Answer],
    ],
)
def test_enumerations_are_found_wherever_a_schema_is_held(schema):
    assert set(enumerated(schema)) == {STATUS, COLOURS}


def test_constants_and_numbers_are_choices_too():
    schema = {"oneOf": [{"const": "cat_fact"}, {"enum": [1, 2]}]}
    assert list(enumerated(schema)) == [frozenset({"cat_fact"}), frozenset({"1", "2"})]


@pytest.mark.parametrize("nothing", [None, "text", {"enum": "no list"}, {"type": "string"}, 3, str])
def test_what_enumerates_nothing(nothing):
    assert list(enumerated(nothing)) == []


@dataclass
class Place:
    row: int
    name: str


def test_every_text_and_number_in_an_object_is_a_value():
    made = {"answer": Answer(text=" x ", colours=[Colour.RED]), "more": [True, None, 3, "", 1.5]}
    assert [*values_in(made)] == ["x", "found", "red", "3", "1.5"]
    assert [*values_in((Place(2, "shed"), date(2026, 3, 2)))] == ["2", "shed", "2026-03-02"]
    made["self"] = made
    assert [*values_in(made)] == ["x", "found", "red", "3", "1.5"]


def is_label(value, *texts, schema=Answer, strict=False):
    check = AnswerCheck([evidence(text) for text in texts], "Which colour?", strict=strict)
    return check.without_labels([value, "Red it is."], schema) == ["Red it is."]


class TestLabels:
    def test_a_value_that_only_sorts_an_answer_is_one(self):
        assert is_label("in_progress", "The gate is red.")

    def test_a_value_beside_one_that_is_remembered_states_something(self):
        assert not is_label("red", "The gate is dark blue.")
        assert is_label("red", "The gate is dark.", "The sea is blue.")

    def test_beside_unclear_evidence_nothing_is_one(self):
        assert not is_label("in_progress", "The gate is red.", strict=True)

    def test_what_no_schema_offers_is_none(self):
        assert not is_label("in_progress", "The gate is red.", schema=None)
        assert not is_label("lost", "The gate is red.")

    @pytest.mark.parametrize(
        ("question", "choices"),
        [
            ("Welches Theme mag Alice?", ("blau", "rot", "grün")),
            ("Quel thème préfère Alice ?", ("bleu", "rouge", "vert")),
            ("Какую тему предпочитает Alice?", ("синий", "красный", "зелёный")),
            ("Alice 喜欢什么主题？", ("蓝色", "红色", "绿色")),
            ("An welchem Tag ist das Treffen mit Alice?", ("Dienstag", "Montag", "Freitag")),
            ("В какой день встреча с Alice?", ("вторник", "среда", "пятница")),
        ],
    )
    def test_a_value_in_another_language_beside_the_one_remembered_states_something(
        self, question, choices
    ):
        memory = evidence("Alice prefers the blue theme. Meeting with Alice on Tuesday.")
        check = AnswerCheck([memory], question)
        right, *wrong = choices
        schema = {"enum": list(choices)}
        assert check.without_labels([right, *wrong], schema) == wrong
        assert not any(check.check(value).supported for value in wrong)


@pytest.mark.parametrize(
    "moment",
    ["2024-05-03T00:00:00", "2024-05-03 00:00:00+00:00", "2024-05-03T00:00:00.000Z"],
)
def test_of_a_moment_at_midnight_the_day_is_left(moment):
    check = AnswerCheck([evidence("We sold the ferry on 3 May 2024.")], "When was it sold?")
    (day,) = check.without_labels([moment], None)
    assert check.check(day).supported
    late = [moment.replace("00:00", "17:00", 1), moment.replace("05-03", "05-04")]
    assert not any(check.check(value).supported for value in check.without_labels(late, None))
