"""Questions that stand in a prompt on their own, and what is around them."""

from __future__ import annotations

import pytest
from hypothesis import given

from palace.recall.apart import MAX_WORDS, Apart, sentences_apart
from palace.recall.lexicon import UNSEEN, plain
from tests.properties.strategies import any_text


def apart(prompt: str) -> list[str]:
    return [apart.sentence for apart in sentences_apart(prompt)]


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("It rains. What is our tax number?", Apart("What is our tax number?", ("It rains.",), ())),
        (
            "### Input\nwhere do we park the van",
            Apart("where do we park the van", ("### Input",), ()),
        ),
        (
            "Who met Dr. Adler? Say so briefly.",
            Apart("Who met Dr. Adler?", (), ("Say so briefly.",)),
        ),
        (
            "Good morning Mira, what is our tax number?",
            Apart("what is our tax number?", ("Good morning Mira,",), ()),
        ),
        ("我在填表。我们的税号是多少？", Apart("我们的税号是多少？", ("我在填表。",), ())),
    ],
)
def test_a_sentence_comes_with_the_others(prompt, found):
    assert found in list(sentences_apart(prompt))


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "What is our tax number?",
        "14 apples. How many are left for her?",
        '"Closed." What does the sign on the door mean?',
        "Translate this: what is our tax number?",
        "Translate this:\nWhat is our tax number?",
        "import os\nprint(os.name)\nWhat did we say about this?",
        "word " * MAX_WORDS + ". What is our tax number?",
    ],
)
def test_a_prompt_of_one_sentence_or_with_what_it_is_about_has_none(prompt):
    assert apart(prompt) == []


def test_what_is_too_short_to_be_a_question_of_its_own_is_not_looked_at():
    assert apart("Good morning to all of you. When?") == ["Good morning to all of you."]


@given(prompt=any_text)
def test_no_word_is_made_up_and_none_is_lost(prompt):
    for apart in sentences_apart(prompt):
        left = plain(prompt, max_chars=1200)
        for part in (*apart.before, apart.sentence, *apart.after):
            assert part in left
            left = left.replace(part, "", 1)
        assert not left.strip(UNSEEN)
