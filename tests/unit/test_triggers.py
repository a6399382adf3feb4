"""Triggers: words and patterns of prompts, matched in bounded time, refused where they never can."""

from __future__ import annotations

import time

import pytest

from palace.recall.triggers import matching_trigger, trigger_fault


def matches(trigger: str, prompt: str) -> bool:
    return matching_trigger([trigger], prompt, timeout_ms=50) == trigger


@pytest.mark.parametrize(
    ("trigger", "prompt"),
    [
        ("deploy", "We are DEPLOYING the site."),
        ("staging database", "Restart the staging database, please."),
        ("C++", "Rewrite it in C++ now"),
        ("what?", "What now"),
        ("café", "meet me at the CAFE"),
        ("部署", "请现在部署网站"),
        ("/fri(day)?/", "see you on Fri"),
        ("deploy.*friday", "Deploy it this Friday!"),
        ("colou?r", "change the color"),
        (r"\bv\d+", "ship v12"),
    ],
)
def test_words_and_patterns_match(trigger, prompt):
    assert trigger_fault(trigger) is None
    assert matches(trigger, prompt)


@pytest.mark.parametrize(
    ("trigger", "prompt"),
    [
        ("deploy", "a plain prompt"),
        ("staging database", "the database in staging"),
        ("art", "start the party"),
        ("C++", "the letter C"),
        ("/^deploy/", "please deploy"),
        ("deploy", ""),
    ],
)
def test_what_is_not_said_does_not_match(trigger, prompt):
    assert not matches(trigger, prompt)


@pytest.mark.parametrize("trigger", ["", "  ", "//", "(((", "a" * 300, "!!!", ".*", "(x)?", "[a"])
def test_what_can_never_match_or_always_does_has_a_fault(trigger):
    assert trigger_fault(trigger)
    assert not matches(trigger, "a (((( [a !!! prompt")


def test_no_pattern_hangs_a_prompt():
    begun = time.process_time()
    assert not matches(r"/(a+)+$/", "a" * 5000 + "!")
    assert time.process_time() - begun < 2
