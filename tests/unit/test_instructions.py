import pytest

from palace.recall.instructions import only_instructs, without_instructions
from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicons

LEXICONS = tuple(load_lexicons(DEFAULT_LANGUAGES))
ASKED = "Where does the staging server run?"


def asked_in(prompt: str) -> str:
    return without_instructions(prompt, LEXICONS, timeout_ms=1000.0)


@pytest.mark.parametrize(
    "told",
    [
        "Max 50 words.",
        "Reply in Markdown, at most 3 sentences.",
        "Write at most 3 sentences in plain English.",
        "Use bullet points.",
        "Answer in one sentence, no preamble.",
        "Limit your answer to 100 tokens.",
        "Answer concisely and cite your sources.",
        "Don't make anything up. If you don't know, say so.",
        "Think step by step.",
        "Höchstens zwei Sätze.",
        "Format: markdown table.",
        "Answer the user query.",
        "Sois bref.",
        "Máximo 20 palabras.",
    ],
)
def test_how_to_answer_is_no_part_of_the_question(told):
    for prompt in (f"{ASKED} {told}", f"{ASKED}\n\n{told}", f"{told}\n{ASKED}"):
        assert asked_in(prompt) == ASKED


def test_a_comma_may_part_it_from_the_question():
    assert asked_in("In one word, where does it run?") == "where does it run?"


def test_it_may_stand_on_both_sides():
    assert asked_in(f"In one word: {ASKED}\nNo emojis, please.") == ASKED


@pytest.mark.parametrize(
    "prompt",
    [
        ASKED,
        "",
        "Max 50 words.",
        "Answer in JSON. Keep it short.",
        "Thank Mrs Okonkwo for the training. Keep it under 120 words.",
        "Translate into English: Die Ware ist da.",
        f"{ASKED} Who told you in one word?",
        "Who has a key? Only the gardener?",
        "In LaTeX, how can I keep a figure from floating?",
        f"Max 50 words.\n{'Something long. ' * 50}{ASKED}",
    ],
)
def test_whatever_else_stays(prompt):
    assert asked_in(prompt) == prompt


@pytest.mark.parametrize(
    ("prompt", "only"),
    [
        ("Answer the user query.", True),
        ("Answer the question below.\nMax 50 words.", True),
        ("Sois bref.", True),
        (f"Answer the user query. {ASKED}", False),
        (ASKED, False),
        ("Keep it under 120 words and write to Ann.", False),
        ("", False),
    ],
)
def test_what_only_says_how_to_answer_asks_nothing(prompt, only):
    assert only_instructs(prompt, LEXICONS, timeout_ms=1000.0) == only
