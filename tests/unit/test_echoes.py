"""What tools answer and prompts tell, without what the model itself wrote in them."""

from __future__ import annotations

import json

import pytest

from palace import without_echoes
from palace.text.echoes import without_replies

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


TALK = "Human: Hello.\nAI: It is 9999.\n\nI am sure.\nHuman: Which code?\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{TALK}AI:", "Human: Hello.\nHuman: Which code?\n"),
        (
            f"Talk:\n{TALK}AI: 9999.\n\nContext: The gate is green.",
            "Talk:\nHuman: Hello.\nHuman: Which code?\n\n\nContext: The gate is green.",
        ),
        ("system: Be kind.\nuser: Hi.\nassistant: 9999.", "system: Be kind.\nuser: Hi.\n"),
        ("  User: Hi.\n  Assistant: 9999.\n\n# Notes\nGreen.", "  User: Hi.\n\n\n# Notes\nGreen."),
        ("User: Hi.\nAssistant: 9999.\nTool: It rains.", "User: Hi.\nTool: It rains."),
    ],
)
def test_what_the_model_says_in_a_conversation_goes(text: str, left: str) -> None:
    assert without_replies(text) == left


@pytest.mark.parametrize(
    "text",
    ["AI: a survey of 2024.", "Human: Hi.", "Which AI: this one?", "", "The assistant: Ann."],
)
def test_what_is_no_conversation_stays(text: str) -> None:
    assert without_replies(text) == text
