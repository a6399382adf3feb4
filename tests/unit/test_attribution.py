"""Who said it, and of whom."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from palace.ports import GLOBAL, Candidate
from palace.recall.attribution import (
    ATTRIBUTION_FEATURES,
    Standing,
    Voice,
    attribution_features,
    people_asked,
    standing,
    voices,
)
from palace.recall.logistic import load_model
from palace.recall.scoring import score
from palace.recall.weighing import term_weights
from palace.text import name_tokens, question_ranges, tokens, words
from palace.types.query import Query
from tests.doubles import FixedVocabulary, indexed, memory


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


@pytest.mark.parametrize("text", ["We fly to Holt in May.", "It is cheap."])
def test_what_a_conversation_is_called_after_does_not_speak(text: str) -> None:
    asked = Query("", ("holt",), names=(("holt",),))
    titled = memory(text, speaker="user", heading="Trip to Holt 6f1d", session="Trip to Holt 6f1d")
    with closing(indexed(titled)) as index:
        found = index.candidates(["holt"], layer="L1", scope=GLOBAL, limit=1)
    assert people_asked(asked, found) == frozenset()
    assert standing(found[0], frozenset({"holt"})) == ("named" if "Holt" in text else "other")


def test_who_speaks_in_a_conversation_called_after_him_does() -> None:
    asked = Query("", ("holt",), names=(("holt",),))
    own = memory("It is cheap.", 1, speaker="Mira Holt", heading="Holt", session="Holt")
    mine = memory("Is it cheap, Holt?", 2, speaker="Me", heading="Holt", session="Holt")
    with closing(indexed(own, mine)) as index:
        found = index.candidates(["holt"], layer="L1", scope=GLOBAL, limit=2)
    assert people_asked(asked, found) == {"holt"}
    stand = {c.position: standing(c, frozenset({"holt"})) for c in found}
    assert stand == {1: "own", 2: "named"}


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
    assert standing(found, frozenset({"mira"})) == expected


def test_without_a_person_nobody_stands_anywhere() -> None:
    assert standing(turn("you bought it"), frozenset()) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my blue kettle", {"self": {"blue", "kettl"}}),
        ("your kettle is blue", {"addressed": {"kettl", "blue"}}),
        ("that kettle looks blue", {"plain": {"kettl", "blue"}}),
        ("I like your kettle", {"addressed": {"kettl"}}),
        ("you saw my kettle", {"self": {"kettl"}}),
        ("I saw it and bought it and then the kettle was here", {"plain": {"kettl"}}),
        ("is the kettle blue?", {"addressed": {"kettl", "blue"}}),
        ("shall I take the kettle?", {"plain": {"kettl"}}),
        ("my kettle! Is the kettle good?", {"self": {"kettl"}, "addressed": {"kettl"}}),
        ("Mira has a kettle", {"addressed": {"kettl"}}),
        ("", {}),
    ],
)
def test_of_whom_a_term_is_said(text: str, expected: dict[Voice, set[str]]) -> None:
    asks = tuple(question_ranges(text, words(text)))
    found = turn(text, asks=asks)
    present = [t for t in ("kettl", "blue") if t in found.body]
    assert voices(found, present, {"mira"}) == expected


def test_what_is_found_may_be_said_by_the_person_or_of_him() -> None:
    hers = attribution_features([(True, {"self": 1.0}), (False, {"addressed": 0.5})])
    assert hers["attributed"] == hers["own_self"] == 1.0
    assert hers["other_addressed"] == 0.5
    assert hers["own_self_mass"] > hers["other_addressed_mass"] > 0
    assert hers["other_self"] == hers["other_self_mass"] == 0.0


def test_the_best_turn_counts_once_and_the_mass_of_all() -> None:
    once = attribution_features([(True, {"plain": 0.5}), (False, {"plain": 0.5})])
    twice = attribution_features([(True, {"plain": 0.5})] * 2 + [(False, {"plain": 0.5})])
    assert twice["own_plain"] == once["own_plain"] == 0.5
    assert twice["own_plain_mass"] > once["own_plain_mass"] == once["other_plain_mass"]


def test_where_nobody_is_asked_about_all_is_neutral() -> None:
    assert attribution_features([]) == dict.fromkeys(ATTRIBUTION_FEATURES, 0.0)
    nothing = attribution_features([(True, {}), (False, {})])
    assert nothing == {**dict.fromkeys(ATTRIBUTION_FEATURES, 0.0), "attributed": 1.0}


def test_the_shipped_model_knows_whose_a_fact_is() -> None:
    model = load_model("attribution")

    def own(turns: list[tuple[bool, dict[Voice, float]]]) -> float:
        return model.probability(attribution_features(turns))

    told = own([(True, {"self": 0.8}), (False, {"addressed": 0.6})])
    asked = own([(True, {"addressed": 0.8}), (False, {"self": 0.6})])
    assert told > 0.8 > 0.5 > asked


def test_statements_have_no_attribution_features() -> None:
    asked = Query("", ("mira", "kettl"), names=(("mira",),))
    weights = term_weights(asked, FixedVocabulary("kettle mira"))
    (page,) = score(asked, [turn("Mira's kettle", session="")], weights=weights)
    (spoken,) = score(asked, [turn("my kettle", context=("mira",))], weights=weights)
    assert "own_self" not in page.features
    assert spoken.features["attributed"] == 1.0
