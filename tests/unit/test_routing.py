"""Choices that a program reads."""

from __future__ import annotations

from typing import Any

import pytest

from palace.enforce.choices import choice_alone, is_choice

PROGRAM = ["You are a supervisor of the researcher and of the web coder."]
NEXT = {"enum": ["researcher", "web_coder", "FINISH"]}


def schema(**fields: Any) -> dict[str, Any]:
    return {"parameters": {"type": "object", "properties": fields}}


@pytest.mark.parametrize(
    "field",
    [
        NEXT,
        {"const": "researcher"},
        {"anyOf": [NEXT, {"type": "null"}]},
        {"type": "array", "items": NEXT},
    ],
)
def test_places_that_the_program_names_are_a_choice(field: dict[str, Any]) -> None:
    assert is_choice(schema(next=field, sure={"type": "boolean"}), program=PROGRAM)


@pytest.mark.parametrize(
    "field",
    [
        {"type": "string"},
        {"type": ["string", "null"]},
        {"type": "integer"},
        {"type": "array", "items": {"type": "string"}},
        {"anyOf": [NEXT, {"type": "string"}]},
        {"$ref": "#/$defs/Next"},
        {"enum": ["Ruth", "Zork"]},
        {},
        True,
    ],
)
def test_whatever_else_it_may_hold_is_none(field: object) -> None:
    assert not is_choice(schema(next=NEXT, other=field), program=PROGRAM)


@pytest.mark.parametrize("held", [None, {}, [], "text", [schema(next=NEXT), schema(other=NEXT)]])
def test_without_one_object_there_is_no_choice(held: object) -> None:
    assert not is_choice(held, program=PROGRAM)


def test_words_beside_a_choice_are_left_out() -> None:
    both = schema(next=NEXT, why={"type": "string"})
    assert is_choice(both, program=PROGRAM, with_words=True)
    made = {"next": "researcher", "why": "He knows."}
    assert choice_alone(made, both) == {"next": "researcher", "why": ""}
    assert choice_alone(None, both) is None
