"""What a model is shown of an artifact that is too long for it."""

from __future__ import annotations

import pytest

from palace.enforce.excerpt import GAP, excerpt
from palace.enforce.markers import indented
from palace.enforce.prompt import grounded_prompt
from palace.text import estimate_tokens
from palace.types.query import RecallSignal
from palace.types.verdict import Verdict
from tests.doubles import evidence

WORDS = [f"Paragraph {n} tells of the garden, of rain and of the shed." for n in range(90)]
ANSWER = "Release 2.5.0 is planned for 2026-12-09."
PAGE = "\n\n".join(["# Plan", *WORDS[:70], ANSWER, *WORDS[70:]])
LOG = "\n".join(["site.log: 90 lines", *(f"10:{n:02} ERROR no {n}" for n in range(90))])
ASKED = "When is release 2.5.0 planned, see plan.md?"


def test_what_fits_is_left_alone() -> None:
    assert excerpt(PAGE, ASKED, max_tokens=9999) == PAGE


@pytest.mark.parametrize("max_tokens", [40, 100, 500])
def test_what_was_asked_about_is_shown_behind_the_beginning(max_tokens: int) -> None:
    shown = excerpt(PAGE, ASKED, max_tokens=max_tokens)
    assert estimate_tokens(indented(shown)) <= max_tokens
    lines = [line for line in shown.split("\n") if line]
    assert lines[0] == "# Plan"
    assert ANSWER in lines
    left = [line for line in lines if line != GAP]
    assert left == [line for line in PAGE.split("\n") if line in left]


def test_where_nothing_was_asked_about_it_is_the_beginning() -> None:
    shown = excerpt(PAGE, "What is in it?", max_tokens=100)
    assert shown.split("\n\n")[:3] == ["# Plan", WORDS[0], WORDS[1]]
    assert shown.endswith(GAP)


def test_a_long_listing_is_taken_line_by_line() -> None:
    listing = "\n".join(["name,port", *(f"host{n},{8000 + n}" for n in range(900))])
    shown = excerpt(listing, "Which port has host777?", max_tokens=60)
    assert "host777,8777" in shown.split("\n")


def test_of_a_log_the_newest_lines_are_shown_behind_its_head() -> None:
    lines = excerpt(LOG, "errors in site.log", max_tokens=100, newest=True).split("\n")
    assert lines[:2] == ["site.log: 90 lines", GAP]
    assert lines[2:] == LOG.split("\n")[-len(lines[2:]) :]
    assert len(lines) > 8


def test_a_beginning_that_does_not_fit_is_all_there_is() -> None:
    assert excerpt("x" * 900 + "\n\ny", "y", max_tokens=20).startswith("xxx")


def prompted(*found: object, budget_tokens: int = 300) -> str:
    verdict = Verdict(
        "v-1",
        "ground",
        "hit",
        RecallSignal("fact", 0.9),
        evidence=tuple(found),  # type: ignore[arg-type]
    )
    prompt = grounded_prompt(ASKED, verdict, budget_tokens=budget_tokens)
    assert estimate_tokens(prompt.partition("\n\nAnswer the")[0]) <= budget_tokens
    return prompt


def test_a_prompt_has_the_part_that_answers_and_the_memory_too() -> None:
    page = evidence(PAGE, "L3", id="files:/site/plan.md")
    log = evidence(LOG, "L3", id="logs:/site/site.log")
    assert ANSWER in prompted(page)
    both = prompted(page, evidence("It was planned for May."))
    assert ANSWER in both
    assert "It was planned for May." in both
    assert "10:89 ERROR" in prompted(log)
    assert "10:00 ERROR" not in prompted(log)
    two = prompted(page, log)
    assert ANSWER in two
    assert "10:89 ERROR" in two
