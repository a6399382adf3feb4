"""Lexicons load, compile and are matched within time."""

from __future__ import annotations

import time
from typing import get_args

import pytest
import regex

from palace.errors import ConfigError
from palace.recall.detector import KIND_OF_CUE, PERSONAL_CUES
from palace.recall.lexicon import (
    DEFAULT_LANGUAGES,
    MATCHED_CHARS,
    load_lexicon,
    load_lexicons,
    matchable,
    matches,
)
from palace.types import AnswerType

HOSTILE = [
    "a" * 1300,
    "did we " * 200,
    "((((" * 300,
    "? " * 600,
    "\n" * 1200,
    "the " * 300 + "?",
    "'" * 1200,
]


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_every_shipped_language_is_whole(language: str) -> None:
    lexicon = load_lexicon(language)
    assert lexicon.language == language
    assert len(lexicon.stopwords) > 20
    assert lexicon.cues
    assert set(lexicon.cues) <= set(load_lexicon("en").cues)
    assert {*KIND_OF_CUE, "question", "task"} <= set(lexicon.cues)
    assert set(PERSONAL_CUES) & set(lexicon.cues)
    assert set(lexicon.question_types) <= set(get_args(AnswerType))


def test_lexicons_come_in_the_order_asked() -> None:
    assert [x.language for x in load_lexicons(("ru", "en"))] == ["ru", "en"]
    assert load_lexicons(()) == ()


@pytest.mark.parametrize(
    "language", ["xx", "", "EN", "../en", "en.yaml", "en\x00", "e n", "/etc/passwd"]
)
def test_an_unknown_language_names_the_known_ones(language: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_lexicon(language)
    assert all(known in caught.value.hint for known in DEFAULT_LANGUAGES)


def test_stop_words_are_known_as_written_and_as_tokens() -> None:
    stop = load_lexicon("en").stopwords
    assert {"does", "do", "the", "was", "be"} <= stop
    assert "kettle" not in stop


def test_german_capitals_mark_no_names() -> None:
    assert not load_lexicon("de").capitals_mark_names
    assert load_lexicon("en").capitals_mark_names


def test_matchable_text_is_folded_and_straightened() -> None:
    assert matchable("What’s “Café”?") == 'what\'s "cafe"?'


def test_of_a_long_prompt_head_and_tail_are_matched() -> None:
    text = matchable("start " + "x" * 10_000 + " end")
    assert text.startswith("start ")
    assert text.endswith(" end")
    assert len(text) == 2 * MATCHED_CHARS + 1


def test_a_match_is_found_and_a_slow_pattern_is_none() -> None:
    assert matches("b+", "abc", timeout_ms=50)
    assert not matches("x", "abc", timeout_ms=50)
    slow = r"(?:a|aa|aaa)+(?:a|aa|aaa)+(?:a|aa|aaa)+c"
    started = time.perf_counter()
    assert not matches(slow, "a" * 60, timeout_ms=20)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_shipped_patterns_are_quick_on_hostile_text(language: str) -> None:
    lexicon = load_lexicon(language)
    patterns = [*lexicon.cues.values(), *lexicon.question_types.values(), lexicon.follow_up]
    for text in HOSTILE:
        for pattern in patterns:
            regex.search(pattern, matchable(text), timeout=0.5)  # raises TimeoutError when slow
