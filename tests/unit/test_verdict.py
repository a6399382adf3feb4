"""A verdict has exactly one public shape, and says everything to whoever asks why."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timezone
from typing import get_args

import pytest

from palace.explaining import explain_trace
from palace.types.query import RecallSignal
from palace.types.session import Turn
from palace.types.verdict import Evidence, Judgement, LayerReport, Rule, Verdict

MOMENT = datetime(2026, 3, 14, 9, 30, tzinfo=timezone.utc)
FOUND = Evidence(
    "m-1", "the kettle is blue", "L1", "rooms/desk/notes.md:3", MOMENT, 0.81234567, {"coverage": 0.5},
    stale=True,
)  # fmt: skip
VERDICT = Verdict(
    id="v-1",
    action="ground",
    outcome="hit",
    signal=RecallSignal("fact", 0.987654321, ("question", "past_we"), "status", "recall"),
    layer="L1",
    text="the kettle is blue (rooms/desk/notes.md:3)",
    evidence=(FOUND,),
    walk=(
        LayerReport("L0", "none", elapsed_ms=0.123456),
        LayerReport("L1", "sufficient", 3, 0.81234567, 1.5, (FOUND,), "because"),
    ),
    turn=Turn("Which kettle?", "s1"),
    elapsed_ms=2.34567,
)


def test_public_shape_of_a_verdict() -> None:
    shape = VERDICT.as_dict()
    assert list(shape) == [
        "id", "action", "outcome", "layer", "text", "signal", "evidence", "walk",
    ]  # fmt: skip
    assert list(shape["signal"]) == ["kind", "score", "cues"]
    assert [list(e) for e in shape["evidence"]] == [
        ["id", "text", "layer", "source", "as_of", "confidence"]
    ]
    assert [list(r) for r in shape["walk"]] == [
        ["layer", "outcome", "candidates", "best", "elapsed_ms"]
    ] * 2
    assert shape == {
        "id": "v-1",
        "action": "ground",
        "outcome": "hit",
        "layer": "L1",
        "text": "the kettle is blue (rooms/desk/notes.md:3)",
        "signal": {"kind": "fact", "score": 0.9877, "cues": ["question", "past_we"]},
        "evidence": [
            {
                "id": "m-1",
                "text": "the kettle is blue",
                "layer": "L1",
                "source": "rooms/desk/notes.md:3",
                "as_of": "2026-03-14T09:30:00+00:00",
                "confidence": 0.8123,
            }
        ],
        "walk": [
            {"layer": "L0", "outcome": "none", "candidates": 0, "best": None, "elapsed_ms": 0.123},
            {
                "layer": "L1",
                "outcome": "sufficient",
                "candidates": 3,
                "best": 0.8123,
                "elapsed_ms": 1.5,
            },
        ],
    }


def test_public_shape_is_json() -> None:
    assert json.loads(json.dumps(VERDICT.as_dict())) == VERDICT.as_dict()
    assert json.loads(json.dumps(VERDICT.as_trace())) == VERDICT.as_trace()


def test_trace_adds_what_explains() -> None:
    trace = VERDICT.as_trace()
    assert set(trace) - set(VERDICT.as_dict()) == {"prompt", "elapsed_ms", "judgement"}
    assert trace["signal"]["runner_up"] == "status"
    assert trace["signal"]["band"] == "recall"
    assert trace["evidence"][0]["scores"] == {"coverage": 0.5}
    assert (trace["evidence"][0]["stale"], trace["evidence"][0]["trust"]) == (True, "user")
    assert [r["reason"] for r in trace["walk"]] == ["", "because"]


def test_explanation_says_everything() -> None:
    told = VERDICT.explain()
    for part in (
        "v-1: ground (hit) by L1", "'Which kettle?'", "fact, score 0.988, recall", "question, past_we",
        "L0       none, 0 candidates", "L1       sufficient, 3 candidates, best 0.812", "because",
        "[1] L1 rooms/desk/notes.md:3, as of 2026-03-14T09:30:00+00:00, may be out of date",
        "the kettle is blue", "coverage 0.50",
    ):  # fmt: skip
        assert part in told


def test_explanation_of_a_record_without_its_prompt() -> None:
    trace = VERDICT.as_trace()
    del trace["prompt"]
    told = explain_trace({**trace, "at": "2026-03-14T09:30:00+00:00"})
    assert "(not kept)" in told
    assert "2026-03-14T09:30:00" in told.splitlines()[0]


@pytest.mark.parametrize("rule", get_args(Rule))
def test_every_rule_is_explained_in_words(rule: Rule) -> None:
    judged = Judgement(
        "rooms/a.md", "statement", 0.0, {}, 0.2, None, {}, 0.2, 0.5, 0.1, "unclear", rule
    )
    report = LayerReport("L1", "unclear", 1, 0.2, judgement=judged)
    told = replace(VERDICT, walk=(report,)).explain()
    [line] = [line for line in told.splitlines() if "by the rule:" in line]
    assert len(line.partition("by the rule: ")[2].split()) > 4


def test_explanation_of_an_empty_verdict() -> None:
    bare = Verdict("v-2", "pass", "not_recall", RecallSignal("none", 0.0))
    assert "cues: none" in bare.explain()
    assert bare.as_dict()["evidence"] == []
