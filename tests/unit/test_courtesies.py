"""What is said to acknowledge an answer, and what only begins so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.recall.courtesies import is_courtesy


@pytest.mark.parametrize(
    "prompt",
    ["Thanks!", "thank you so much", "OK, merci.", "Vielen Dank für alles!", "C’est noté", "谢谢你", "👍 thanks"],
)  # fmt: skip
def test_a_courtesy_says_nothing_else(prompt: str) -> None:
    assert is_courtesy(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "", "?", "ok?", "thanks, and the price", "no milk", "fine print", "danke an Mira", "okapi", "merci à Paul",
        "谢谢信", "Thanksgiving", "good boiler",
    ],
)  # fmt: skip
def test_what_says_more_is_none(prompt: str) -> None:
    assert not is_courtesy(prompt)


@given(st.text(max_size=200))
def test_a_question_is_none_whatever_it_says(text: str) -> None:
    assert not is_courtesy(f"thanks {text}?")
