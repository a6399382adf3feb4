"""How a prompt is put, small words in order and a blank for all others; and what it is about."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.recall.lexicon import matchable
from palace.recall.logistic import load_model
from palace.recall.phrasing import (
    ABOUT,
    SAYS,
    mentions,
    phrases,
    said_here,
    subjects,
    words_and_stops,
    words_of,
)

WORDS = frozenset({"where", "did", "i", "put", "the", "?"})


def said(prompt: str) -> set[str]:
    return {name.removeprefix(SAYS) for name in phrases(matchable(prompt), WORDS)}


def test_words_and_pairs_stand_in_their_order():
    assert said("Where did I put?") == {
        "where", "did", "i", "put", "?", "^ where", "where did", "did i", "i put", "put ?", "? $",
    }  # fmt: skip
    assert said("Where did Napoleon die?") != said("Where did I put the blue folder?")


def test_what_it_is_about_makes_no_difference():
    assert said("Where did I put the blue folder?") == said("where did I put the passport?")
    assert said("Where did Napoleon die?") != said("Where did I put the passport?")


def test_numbers_are_told_from_words():
    assert "did #" in said("did 12 or 13?")
    assert "did _" in said("did they?")
    assert "did _" in said("did 4f2a go?")


def test_a_whole_date_is_no_number():
    assert said("did 2026-07-28?") == said("did monday?")
    assert "did #" in said("did 2026-07-280?")


def test_where_there_are_memories_the_same_is_said_once_more():
    found = phrases(matchable("Where did I put?"), WORDS)
    here = said_here(found)
    assert len(here) == len(found)
    assert not here.keys() & found.keys()
    assert words_of(here) == words_of(found)


def test_a_long_prompt_is_read_at_both_ends():
    middle = "lorem " * 500
    found = words_and_stops(f"Where {middle} did?")
    assert found[0] == "Where"
    assert found[-2:] == ["did", "?"]
    assert len(found) == 60


def test_characters_count_as_words_where_no_blanks_stand():
    assert words_and_stops("我的护照在哪里?") == [*"我的护照在哪里", "?"]


def test_the_shipped_model_knows_its_words():
    weights = load_model("detector").weights
    words = words_of(weights)
    assert {"did", "we", "my", "?"} <= words
    named = set(phrases(matchable("When did we sign the lease?"), words))
    assert len(named & set(weights)) > 5


@given(st.text(max_size=300))
def test_any_text_gives_features_of_value_one(text):
    found = phrases(matchable(text), WORDS)
    assert set(found.values()) <= {1.0}
    assert words_of(found) - {"^", "$", "_", "#"} <= WORDS


def test_what_it_is_about_is_seen_in_every_form_of_its_words():
    known = set(mentions("my keys"))
    assert subjects("where did i put my key?", known).keys() == {
        "about:my", "about:key", "about:my key", "about:key $",
    }  # fmt: skip
    assert subjects("the capital of france", known) == {}


def test_all_that_it_is_about_counts_the_same_however_long_it_is():
    short = subjects("my key", set(mentions("my key")))
    long = "my key and the lease of the flat in the old town that we left in May"
    lengths = [math.hypot(*found.values()) for found in (short, subjects(long, mentions(long)))]
    assert lengths == pytest.approx([8, 8])


def test_what_a_long_prompt_is_about_is_said_at_both_ends():
    long = "key " + "lorem " * 100 + "lease " + "lorem " * 100 + "rent"
    assert mentions(long).keys() == {
        "about:key", "about:lorem", "about:rent", "about:^ key", "about:key lorem", "about:lorem lorem",
        "about:lorem rent", "about:rent $",
    }  # fmt: skip


def test_the_shipped_model_knows_what_people_keep_notes_about():
    weights = load_model("detector").weights
    ours, theirs = (
        sum(weights[name] * value for name, value in subjects(prompt, weights).items())
        for prompt in ("the landlord's phone number", "the capital of Australia")
    )
    assert ours > theirs


@given(st.text(max_size=300))
def test_any_text_is_about_something_of_one_length_or_about_nothing(text):
    found = subjects(text, mentions(text))
    assert math.hypot(*found.values()) == pytest.approx(8 if found else 0)
    assert all(name.startswith(ABOUT) for name in found)


@pytest.mark.parametrize(
    "around", ["{}\n", "{}\r\n", "\n\n{}", "  {}\t", "\ufeff{}", "{}\0", "\u200f{}\u200b"]
)
def test_blanks_around_a_prompt_say_nothing(around: str) -> None:
    prompt = "When did we sign the lease?"
    assert matchable(around.format(prompt)) == matchable(prompt)


@pytest.mark.parametrize("blank", ["  ", "\t", "\u00a0", " \u2009 "])
def test_how_wide_a_blank_is_says_nothing(blank: str) -> None:
    prompt = "When did we sign the lease for the flat?"
    assert matchable(prompt.replace(" ", blank)) == matchable(prompt)
