"""What tools answer, without what the model itself wrote to them."""

from __future__ import annotations

import json

import pytest

from palace import without_echoes

SAID = 'the "blue" kettle costs 40 euros'


@pytest.mark.parametrize(
    ("form", "left"),
    [(SAID, " "), (json.dumps(SAID), '" "'), (repr({"thought": SAID}), "{'thought': ' '}")],
)
def test_a_statement_of_the_model_goes_however_it_is_written(form: str, left: str) -> None:
    told = without_echoes([f"Noted: {form}. The lamp is 7 euros."], written=[SAID])
    assert told == (f"Noted: {left}. The lamp is 7 euros.",)


@pytest.mark.parametrize("asked", ["kettle", "the blue kettle", ""])
def test_what_a_tool_is_asked_about_stays(asked: str) -> None:
    assert without_echoes(["the blue kettle: 40"], written=[asked]) == ("the blue kettle: 40",)


def test_without_blanks_eight_letters_state_something() -> None:
    said = "青い電気ケトルは四十ユーロ"
    assert without_echoes([said, "青い電気"], written=[said, "青い電気"]) == (" ", "青い電気")
