"""Weights that stand on lines are found there one by one, and all of them once many are."""

from __future__ import annotations

import json
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.recall import listed_weights
from palace.recall.listed_weights import ListedWeights, listed
from palace.recall.logistic import LogisticModel, load_model
from palace.recall.phrasing import words_of

NAMES = st.text(st.characters(exclude_characters="\t↵", exclude_categories=["Cs"]), min_size=1)
WEIGHTS = st.dictionaries(NAMES, st.floats(-9, 9).filter(bool), max_size=30)
SAID = {"says:when did": 0.5, "says:when": -1.25, "says:\n when": 2.0, "about:сад": 0.0625}


def lines_of(weights: dict[str, float], **more: float) -> ListedWeights:
    return ListedWeights(listed(weights).encode(), more)


@given(WEIGHTS, NAMES)
def test_each_is_found_and_nothing_else(weights: dict[str, float], other: str) -> None:
    found = lines_of(weights)
    assert [found[name] for name in weights] == list(weights.values())
    assert (other in found) == (other in weights)
    assert found == weights  # reads all of them
    assert [found[name] for name in weights] == list(weights.values())


def test_a_model_knows_what_stands_on_lines_and_what_stands_elsewhere() -> None:
    model = LogisticModel(lines_of(SAID, personal=3.0), 0.25, {})
    asked = {"says:when did": 1.0, "says:\n when": 0.5, "personal": 1.0, "says:did": 1.0}
    assert model.log_odds(asked) == 0.25 + 0.5 + 1.0 + 3.0
    assert model.contributions(asked) == {
        "personal": 3.0,
        "says:\n when": 1.0,
        "says:when did": 0.5,
    }


def test_all_are_read_once_many_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed_weights, "_WORTH_READING_ALL", 2)
    weights = lines_of(SAID, personal=3.0)
    kinds = []
    for name in SAID:
        kinds.append(type(weights.quickest()))
        assert weights.quickest()[name] == SAID[name]
    assert kinds == [ListedWeights, ListedWeights, dict, dict]
    assert weights.quickest() == {**SAID, "personal": 3.0}


def test_the_shipped_lines_are_in_order_and_its_words_are_all_that_they_hold() -> None:
    text = (resources.files("palace.recall") / "weights" / "detector.txt").read_bytes()
    lines = text.split(b"\n")
    assert lines == [*sorted(lines[:-1]), b""]
    assert len({line.partition(b"\t")[0] for line in lines}) == len(lines)
    model = load_model("detector")
    assert model.words == words_of(model.weights)


def test_a_hand_made_change_of_a_line_counts() -> None:
    text = listed(SAID).replace("says:when\t-1.25", "says:when\t7")
    assert ListedWeights(text.encode(), {})["says:when"] == 7.0
    assert json.dumps(dict(ListedWeights(text.encode(), {}))).count("7.0") == 1
