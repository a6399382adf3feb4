"""Three bands out of one probability."""

from __future__ import annotations

import math
from typing import Any

import pytest

from palace.ports import Candidate
from palace.recall.logistic import LogisticModel, load_model
from palace.recall.scoring import Scored
from palace.recall.sufficiency import Sufficiency, Topic, attributed
from tests.doubles import bar_model

STATEMENT = bar_model({"coverage": 4.0}, bias=-2.0)
TURN = bar_model({"coverage": 1.0}, bias=0.0, sufficient=0.9, unclear=0.6)


def scored(*, session: str = "", **features: float) -> Scored:
    neutral = {"has_names": 0.0, "names": 0.5, "unknown_name": 0.0}
    return Scored(Candidate(1, "a.md", 0, session, (), ()), 1.0, {**neutral, **features})


def judged(sufficiency: Sufficiency, found: Scored) -> str:
    return sufficiency.band(found, sufficiency.confidence(found))


# -- the model ----------------------------------------------------------------------------------


def test_probability_is_logistic() -> None:
    model = LogisticModel({"a": 2.0, "b": -1.0}, 0.5, {})
    assert model.probability({}) == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert model.probability({"a": 1.0, "b": 0.5}) == pytest.approx(1 / (1 + math.exp(-2.0)))
    assert model.probability({"unheard_of": 9.0}) == model.probability({})


@pytest.mark.parametrize("bias", [1e9, -1e9, math.inf, -math.inf])
def test_probability_stays_between_zero_and_one(bias: float) -> None:
    assert 0 < LogisticModel({}, bias, {}).probability({}) <= 1


def test_contributions_are_largest_first() -> None:
    model = LogisticModel({"a": 1.0, "b": -3.0, "c": 2.0, "d": 5.0}, 0, {})
    assert model.contributions({"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0}) == {
        "b": -3.0,
        "c": 2.0,
        "a": 1.0,
    }
    assert list(model.contributions({"a": 1.0, "b": 1.0, "c": 1.0})) == ["b", "c", "a"]


@pytest.mark.parametrize("name", ["topic", "topic_static", "topic_semantic"])
def test_shipped_models_of_topics(name: str) -> None:
    model = load_model(name)
    assert 0 < model.bars["on_topic"] < 1
    assert ("beyond_chance" in model.weights) == (name != "topic")
    assert "closeness" not in model.weights  # of three memories one always is the closest
    assert model.weights["distinct"] > 0 > model.weights["unknown_name"]
    assert model.provenance


@pytest.mark.parametrize("name", ["detector", "sufficiency_statement", "sufficiency_turn"])
def test_shipped_models(name: str) -> None:
    model = load_model(name)
    bars = ("other", "recall") if name == "detector" else ("unclear", "sufficient")
    assert 0 < model.bars[bars[0]] < model.bars[bars[1]] < 1
    assert model.weights
    assert all(math.isfinite(w) for w in (*model.weights.values(), model.bias))
    assert model.provenance


# -- the bands ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("coverage", "band"), [(1.0, "sufficient"), (0.5, "unclear"), (0.0, "none")]
)
def test_bands(coverage: float, band: str) -> None:
    assert judged(Sufficiency(STATEMENT, TURN), scored(coverage=coverage)) == band


def test_a_bar_is_part_of_its_band() -> None:
    sufficiency = Sufficiency(STATEMENT, TURN)
    found = scored(coverage=1.0)
    assert sufficiency.band(found, 0.7) == "sufficient"
    assert sufficiency.band(found, 0.3) == "unclear"
    assert sufficiency.band(found, 0.2999) == "none"


def test_statements_and_turns_have_their_own_models_and_bars() -> None:
    sufficiency = Sufficiency(STATEMENT, TURN)
    assert sufficiency.model(scored()) is STATEMENT
    assert sufficiency.model(scored(session="s1")) is TURN
    turn = scored(session="s1", coverage=1.0)
    assert sufficiency.confidence(turn) == TURN.probability({"coverage": 1.0})
    assert judged(sufficiency, turn) == "unclear"


def test_given_bars_win_over_fitted_ones() -> None:
    strict = Sufficiency(STATEMENT, TURN, sufficient_at=0.95, unclear_at=0.9)
    assert judged(strict, scored(coverage=1.0)) == "none"
    lenient = Sufficiency(STATEMENT, TURN, sufficient_at=0.05, unclear_at=0.01)
    assert judged(lenient, scored(coverage=0.0)) == "sufficient"
    zero = Sufficiency(STATEMENT, TURN, sufficient_at=0.0, unclear_at=0.0)
    assert judged(zero, scored(coverage=0.0)) == "sufficient"


def test_an_unclear_bar_above_the_sufficient_one_hides_nothing() -> None:
    odd = Sufficiency(STATEMENT, TURN, sufficient_at=0.2)  # the fitted unclear bar is 0.3
    found = scored(coverage=1.0)
    assert odd.band(found, 0.25) == "sufficient"
    assert odd.band(found, 0.1) == "none"


def test_a_stranger_is_never_more_than_none() -> None:
    sufficiency = Sufficiency(STATEMENT, TURN)
    sure: Any = {"coverage": 1.0, "has_names": 1.0, "names": 1.0}
    assert judged(sufficiency, scored(**sure, unknown_name=1.0)) == "none"
    assert judged(sufficiency, scored(**sure, unknown_name=0.5)) == "sufficient"
    assert judged(sufficiency, scored(coverage=1.0, unknown_name=1.0)) == "sufficient"


@pytest.mark.parametrize(
    ("coverage", "names", "band"),
    [(1.0, 1.0, "sufficient"), (1.0, 0.5, "unclear"), (1.0, 0.0, "unclear"), (0.0, 1.0, "unclear"),
     (0.0, 0.5, "none")],
)  # fmt: skip
def test_a_statement_must_hold_every_name_asked_for(
    coverage: float, names: float, band: str
) -> None:
    found = scored(coverage=coverage, names=names, has_names=1.0)
    assert judged(Sufficiency(STATEMENT, TURN), found) == band


def test_a_turn_may_lack_the_name() -> None:
    sufficiency = Sufficiency(STATEMENT, TURN)
    turn = scored(session="s1", names=0.0, has_names=1.0)
    assert sufficiency.band(turn, 0.95) == "sufficient"
    whole = scored(session="s1", names=1.0, has_names=1.0)
    assert sufficiency.band(whole, 0.1) == "none"


def test_a_candidate_that_was_not_described_proves_nothing() -> None:
    bare = Scored(Candidate(1, "a.md", 0, "", (), ()), 99.0, {})
    assert Sufficiency(STATEMENT, TURN).band(bare, 1.0) == "none"


def test_rank_does_not_enter() -> None:
    sufficiency = Sufficiency(STATEMENT, TURN)
    low, high = (
        Scored(Candidate(1, "a", 0, "", (), ()), r, {"coverage": 0.5, "has_names": 0.0})
        for r in (0.1, 99.0)
    )
    assert sufficiency.confidence(low) == sufficiency.confidence(high)


def test_whose_it_is_can_raise_and_lower_what_it_is() -> None:
    assert attributed(0.5, 0.99) > 0.5 > attributed(0.5, 0.6)
    assert attributed(0.9, 0.1) < 0.01
    assert attributed(1.0, 1.0) == 1.0
    assert attributed(0.0, 1.0) == attributed(1.0, 0.0) == 0.0


# -- the judgement, explained -------------------------------------------------------------------


def test_a_judgement_tells_each_feature_and_adds_up() -> None:
    whose = LogisticModel({"own_self": -1.0}, 0.0, {})
    sufficiency = Sufficiency(STATEMENT, TURN, attribution=whose)
    found = scored(session="s1", coverage=0.5, attributed=1.0, own_self=1.0)
    told = sufficiency.judgement(found, sufficiency.weighed(found))
    assert (told.model, told.source, told.rule) == ("turn", "a.md", "bars")
    assert told.parts == {"coverage": (0.5, 0.5)}
    total = told.bias + sum(share for _, share in told.parts.values())
    assert told.probability == pytest.approx(1 / (1 + math.exp(-total)))
    assert told.attribution_parts == {"own_self": (1.0, -1.0)}
    assert told.attribution is not None
    assert told.attribution < 1
    assert told.confidence == pytest.approx(told.probability * told.attribution)
    assert told.confidence == attributed(told.probability, 1 / (1 + math.exp(1)))
    assert told.confidence == sufficiency.confidence(found)
    assert (told.sufficient_at, told.unclear_at) == (0.9, 0.6)


@pytest.mark.parametrize(
    ("features", "band", "rule"),
    [
        ({"coverage": 1.0}, "sufficient", "bars"),
        ({"coverage": 0.0}, "none", "bars"),
        ({"coverage": 1.0, "has_names": 1.0, "unknown_name": 1.0}, "none", "stranger"),
        ({"coverage": 1.0, "has_names": 1.0, "names": 0.5}, "unclear", "name missing"),
        ({"coverage": 1.0, "fronted": 1.0}, "unclear", "name missing"),
        ({"coverage": 1.0, "answer_type": 0.0}, "unclear", "answer missing"),
        ({"coverage": 1.0, "answer_type": 0.5}, "sufficient", "bars"),
        ({"coverage": 1.0, "other_date": 1.0}, "unclear", "other date"),
        ({"coverage": 1.0, "other_number": 1.0}, "unclear", "other number"),
        ({"coverage": 1.0, "mended": 1.0}, "unclear", "mended word"),
        ({"coverage": 1.0, "mended": 0.0}, "sufficient", "bars"),
        ({"coverage": -9.0, "has_names": 1.0, "names": 1.0}, "unclear", "names present"),
        ({"coverage": 1.0, "near_only": 1.0}, "unclear", "near only"),
        ({"coverage": 1.0, "dangling": 1.0}, "unclear", "dangling"),
        ({"coverage": 1.0, "own": 0.0}, "unclear", "own words"),
        ({"coverage": 1.0, "own": 0.1}, "sufficient", "bars"),
    ],
)
def test_a_judgement_names_the_rule(features: dict[str, float], band: str, rule: str) -> None:
    sufficiency = Sufficiency(STATEMENT, TURN)
    found = scored(**features)
    told = sufficiency.judgement(found, sufficiency.weighed(found))
    assert (told.band, told.rule) == (band, rule)
    assert told.band == sufficiency.band(found, told.confidence)
    assert (told.model, told.attribution) == ("statement", None)


TOPIC = bar_model({"distinct": 4.0, "beyond_chance": 9.0}, bias=-2.0, on_topic=0.5)


def test_whether_it_is_on_topic_is_judged_by_the_first_statement() -> None:
    sufficiency = Sufficiency(STATEMENT, TURN, topic=TOPIC)
    assert sufficiency.topic(scored(distinct=0.5)) == (0.5, 0.5)
    assert [Topic(p, 0.5).is_missed for p in (0.5, 0.49)] == [False, True]
    far = scored(distinct=0.4)
    assert sufficiency.topic(far) == (TOPIC.probability(far.features), 0.5)
    assert sufficiency.topic(scored(session="s1", distinct=0.0)) is None
    assert Sufficiency(STATEMENT, TURN).topic(scored(distinct=0.0)) is None


def test_where_meaning_speaks_the_topic_is_judged_by_it_too() -> None:
    near = bar_model({"beyond_chance": 4.0}, bias=-2.0, on_topic=0.2)
    sufficiency = Sufficiency(STATEMENT, TURN, topic=TOPIC, topic_in_meaning=near)
    told = sufficiency.topic(scored(distinct=0.0, beyond_chance=0.4))
    assert told == (near.probability({"beyond_chance": 0.4}), 0.2)
    alone = sufficiency.topic(scored(distinct=0.0))  # the embedder was down, or has yet to come
    assert alone == (TOPIC.probability({"distinct": 0.0}), 0.5)


@pytest.mark.parametrize(("bar", "missed"), [(0.0, False), (0.1, False), (0.2, True)])
def test_the_bar_of_topics_can_be_given(bar: float, missed: bool) -> None:
    told = Sufficiency(STATEMENT, TURN, topic=TOPIC, on_topic_at=bar).topic(scored(distinct=0.0))
    assert told is not None
    assert (told.bar, told.is_missed) == (bar, missed)


NEAR_IN_MEANING = bar_model({"closeness": 2.0}, bias=-1.0, unclear=0.5)


@pytest.mark.parametrize(
    ("features", "band", "rule"),
    [
        ({"closeness": 0.5}, "unclear", "meaning"),  # the bar itself
        ({"closeness": 0.4}, "none", "bars"),
        ({}, "none", "bars"),
        ({"closeness": 9.0, "coverage": 0.5}, "unclear", "bars"),
        ({"closeness": 9.0, "has_names": 1.0, "unknown_name": 1.0}, "none", "stranger"),
    ],
)  # fmt: skip
def test_meaning_makes_a_statement_unclear_and_no_more(
    features: dict[str, float], band: str, rule: str
) -> None:
    sufficiency = Sufficiency(STATEMENT, TURN, meaning=NEAR_IN_MEANING)
    found = scored(**{"coverage": 0.0, **features})
    weighed = sufficiency.weighed(found)
    assert (weighed.band, weighed.rule) == (band, rule)
    assert weighed.confidence == sufficiency.confidence(found)
    assert weighed.promise == (
        0.0 if rule == "stranger"
        else NEAR_IN_MEANING.probability(features) if "closeness" in features
        else weighed.confidence
    )  # fmt: skip


def test_meaning_says_nothing_of_a_turn() -> None:
    sufficiency = Sufficiency(STATEMENT, TURN, meaning=NEAR_IN_MEANING)
    weighed = sufficiency.weighed(scored(session="s1", coverage=-9.0, closeness=9.0))
    assert (weighed.band, weighed.promise) == ("none", weighed.confidence)


def test_bars_in_force_are_the_settings() -> None:
    sufficiency = Sufficiency(STATEMENT, TURN, sufficient_at=0.3, unclear_at=0.9)
    assert sufficiency.bars(scored(coverage=1.0)) == (0.3, 0.3)


def test_whoever_else_spoke_of_a_place_is_not_who_is_asked_about() -> None:
    sufficiency = Sufficiency(STATEMENT, TURN)
    asked = {"has_names": 1.0, "names": 0.5, "unknown_name": 0.5, "coverage": 1.0}
    nobody = scored(session="s", attributed=0.0, **asked)
    somebody = scored(session="s", attributed=1.0, **asked)
    assert (sufficiency.confidence(nobody), judged(sufficiency, nobody)) == (0.0, "none")
    assert judged(sufficiency, somebody) != "none"
    assert judged(sufficiency, scored(**asked)) != "none"


@pytest.mark.parametrize("flaw", [{"answer_type": 0.0}, {"other_date": 1.0}, {"other_number": 1.0}])
def test_a_turn_may_leave_the_answer_to_the_turns_around_it(flaw: dict[str, float]) -> None:
    sufficiency = Sufficiency(STATEMENT, TURN)
    assert judged(sufficiency, scored(session="s1", coverage=9.0, **flaw)) == "sufficient"
