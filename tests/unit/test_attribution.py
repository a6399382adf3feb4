"""Who said it, and of whom."""

from __future__ import annotations

from typing import Any

import pytest

from palace.ports import Candidate
from palace.recall.attribution import (
    ATTRIBUTION_FEATURES,
    Said,
    Standing,
    attribution_features,
    people_asked,
    standing,
)
from palace.recall.scoring import score
from palace.recall.weighing import term_weights
from palace.text import name_tokens, tokens
from palace.types.query import Query
from tests.doubles import FixedVocabulary


def turn(text: str, position: int = 0, **fields: Any) -> Candidate:
    values = {"key": position + 1, "path": "a.md", "session": "s1", "context": (), **fields}
    return Candidate(
        position=position, body=tuple(tokens(text)), names=frozenset(name_tokens(text)), **values
    )


def test_people_are_who_spoke() -> None:
    asked = Query("", ("mira", "kettl", "holt"), names=(("mira",), ("holt",)))
    found = [turn("my kettle", context=("mira",)), turn("Holt came", 1, context=("jona",))]
    assert people_asked(asked, found) == {"mira"}
    pages = [turn("my kettle", session="", context=("mira",))]
    assert people_asked(asked, pages) == frozenset()
    assert people_asked(Query("", ("kettl",)), found) == frozenset()


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (turn("we bought it", context=("mira",)), "own"),
        (turn("Mira bought it", context=("jona",)), "named"),
        (turn("you bought it", context=("jona",)), "addressed"),
        (turn("we bought it", context=("jona",)), "other"),
        (turn("we bought it", session=""), ""),
    ],
)
def test_standing(found: Candidate, expected: Standing) -> None:
    assert standing(found, {"mira"}, set(found.body)) == expected


def test_without_a_person_nobody_stands_anywhere() -> None:
    assert standing(turn("you bought it"), frozenset(), {"you"}) == ""


def said(text: str, where: Standing, coverage: float) -> Said:
    return Said(frozenset(tokens(text)), where, coverage)


def test_what_is_found_may_be_the_persons_own_or_not() -> None:
    kettle = {"kettl": 1.0}
    hers = attribution_features(
        [said("my kettle", "own", 1.0), said("nice kettle of yours", "addressed", 1.0)], kettle
    )
    his = attribution_features(
        [said("my kettle", "other", 1.0), said("your kettle is nice", "own", 0.2)], kettle
    )
    assert hers["attributed"] == his["attributed"] == 1.0
    for name in ("own_mass", "own_best", "own_of_self"):
        assert hers[name] >= 0 > his[name], name


def test_where_nobody_is_asked_about_all_is_neutral() -> None:
    assert attribution_features([said("my kettle", "", 1.0)], {"kettl": 1.0}) == dict.fromkeys(
        ATTRIBUTION_FEATURES, 0.0
    )
    assert attribution_features([], {}) == dict.fromkeys(ATTRIBUTION_FEATURES, 0.0)


def test_a_rare_word_that_only_the_other_says_counts_against_the_person() -> None:
    weights = {"kettl": 3.0, "blue": 0.1}
    turns = [said("blue", "own", 0.1), said("kettle", "other", 0.9), said("blue", "other", 0.1)]
    assert attribution_features(turns, weights)["own_terms"] < 0


def test_statements_have_no_attribution_features() -> None:
    asked = Query("", ("mira", "kettl"), names=(("mira",),))
    weights = term_weights(asked, FixedVocabulary("kettle mira"))
    (page,) = score(asked, [turn("Mira's kettle", session="")], weights=weights)
    (spoken,) = score(asked, [turn("my kettle", context=("mira",))], weights=weights)
    assert "own_mass" not in page.features
    assert spoken.features["attributed"] == 1.0
