"""What a caller without a model may show, and what the journal keeps."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from palace.enforce.record import answer_record, verdict_record
from palace.enforce.replies import (
    NEAR_MISSES_NAMED,
    quote_evidence,
    reply_for_miss,
    reply_for_near_miss,
)
from palace.explaining import explain_trace
from palace.types.query import RecallSignal
from palace.types.session import Turn
from palace.types.verdict import Judgement, LayerReport, Verdict
from tests.doubles import evidence

MOMENT = datetime(2026, 3, 14, 23, 30, tzinfo=timezone.utc)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def test_a_quote_is_verbatim_with_origin() -> None:
    found = evidence("line one\nline  two", source="rooms/a/b.md:3", as_of=MOMENT)
    assert quote_evidence([found]) == "line one\nline  two (rooms/a/b.md:3, as of 2026-03-14)"
    assert quote_evidence([]) == ""


def test_staleness_is_said() -> None:
    found = evidence("open", source="a.md:1", as_of=MOMENT, stale=True)
    assert quote_evidence([found]) == "open (a.md:1, as of 2026-03-14, may be out of date)"


def test_no_date_no_as_of() -> None:
    assert quote_evidence([evidence("x", source="a.md:1"), evidence("y", source="b.md:2")]) == (
        "x (a.md:1)\ny (b.md:2)"
    )


def test_a_near_miss_is_named_as_one() -> None:
    found = [evidence(f"text {n}", source=f"{n}.md:1") for n in range(5)]
    reply = reply_for_near_miss("No.", found)
    assert reply.startswith("No. The closest I have, which may not answer it: ")
    assert sum(f'"text {n}" ({n}.md:1)' in reply for n in range(5)) == NEAR_MISSES_NAMED
    assert reply_for_near_miss("No.", []) == "No."


def test_a_long_near_miss_is_cut() -> None:
    reply = reply_for_near_miss("No.", [evidence("word " * 500)])
    assert len(reply) < 450
    assert "…" in reply


def test_what_could_not_be_read_is_said() -> None:
    broken = [
        LayerReport("L1", "unavailable", reason="the disk is gone"),
        LayerReport("L3", "unavailable"),
    ]
    assert reply_for_miss("No.", broken) == (
        "No. I could not look everywhere: L1 (the disk is gone); L3"
    )


def verdict(action: Any = "ground", prompt: str = "Which kettle?") -> Verdict:
    found = (evidence("one", id="m-1"), evidence("two", id="m-2"))
    return Verdict(
        id="v-1",
        action=action,
        outcome="hit",
        signal=RecallSignal("fact", 0.9, ("question",), "status", "recall"),
        layer="L1",
        text="one",
        evidence=found,
        walk=(
            LayerReport("L0", "loaded", evidence=(evidence("me", "L0", id="identity"),)),
            LayerReport("L1", "sufficient", 9, 0.5, 1.0, found),
        ),
        turn=Turn(prompt, "s1", "garden"),
    )


@pytest.mark.parametrize(
    ("action", "injected", "cited"),
    [
        ("ground", ["m-1", "m-2"], []),
        ("confirm", ["m-1", "m-2"], []),
        ("answer", ["m-1", "m-2"], ["m-1"]),
        ("pass", ["m-1", "m-2"], []),
        ("fallback", [], []),
        ("generate", [], []),
    ],
)
def test_retrieved_injected_and_cited(action: str, injected: list[str], cited: list[str]) -> None:
    record = verdict_record(verdict(action), prompts="text")
    assert record["retrieved"] == ["identity", "m-1", "m-2"]
    assert record["injected"] == injected
    assert record["cited"] == cited


def test_a_pass_without_context_injects_nothing() -> None:
    assert verdict_record(replace(verdict("pass"), evidence=()), prompts="text")["injected"] == []


def test_a_record_is_whole_and_json() -> None:
    record = verdict_record(verdict(), prompts="text")
    assert json.loads(json.dumps(record)) == record
    assert set(verdict().as_dict()) <= set(record)
    assert (record["type"], record["id"], record["session"], record["project"]) == (
        "verdict",
        "v-1",
        "s1",
        "garden",
    )
    assert datetime.fromisoformat(record["at"]).tzinfo is not None
    assert record["signal"]["band"] == "recall"


def test_of_a_large_artifact_the_beginning_is_kept() -> None:
    large = evidence("port 8080\n" * 9000, "L3", id="files:/site/big.md")
    memory = evidence("It is 8081.", id="m-1")
    record = verdict_record(replace(verdict(), evidence=(large, memory)), prompts="text")
    assert [len(item["text"]) for item in record["evidence"]] == [4001, 11]
    assert len(json.dumps(record)) < 12_000
    assert record["text"].endswith("It is 8081. (L1.md:1)")
    assert record["injected"] == ["files:/site/big.md", "m-1"]


def test_prompt_as_text_without_secrets() -> None:
    record = verdict_record(verdict(prompt=f"is {TOKEN} ours?"), prompts="text")
    assert record["prompt"].startswith("is ")
    assert TOKEN not in record["prompt"]


def test_prompt_as_hash() -> None:
    record = verdict_record(verdict(prompt="Which kettle?"), prompts="hash")
    assert record["prompt_sha256"] == hashlib.sha256(b"Which kettle?").hexdigest()
    assert "prompt" not in record


def test_prompt_off() -> None:
    record = verdict_record(verdict(), prompts="off")
    assert not [key for key in record if key.startswith("prompt")]


@pytest.mark.parametrize("prompts", ["text", "hash", "off"])
def test_any_prompt_can_be_recorded(prompts: str) -> None:
    record = verdict_record(verdict(prompt="\ud800 \x00 🙂"), prompts=prompts)
    assert record["id"] == "v-1"


def judgement(source: str) -> Judgement:
    parts = {"coverage": (0.51239, 1.23456)}
    return Judgement(
        source, "turn", -5.0, parts, 0.8, 0.5, {"own_best": (1.0, 1.2)}, 0.4, 0.2, 0.05,
        "sufficient", "bars",
    )  # fmt: skip


def test_a_record_explains_the_best_and_no_more() -> None:
    walk = (
        LayerReport("L1", "unclear", best=0.9, judgement=judgement("rooms/other.md")),
        LayerReport("L2", "sufficient", best=0.4, judgement=judgement("rooms/told.md")),
    )
    made = replace(verdict(), layer="L2", walk=walk)
    record = verdict_record(made, prompts="text")
    assert record["judgement"]["source"] == "rooms/told.md"
    assert record["judgement"]["parts"] == {"coverage": [0.512, 1.235]}
    assert all("scores" not in item for item in record["evidence"])
    assert json.loads(json.dumps(record)) == record
    told = explain_trace(record)
    assert "confidence 0.400; sufficient from 0.200, unclear from 0.050" in told
    assert " +1.24  coverage 0.51" in told
    assert "times 0.500 for whose it is" in told
    assert " +1.20  own_best 1.00" in told


def test_a_miss_explains_the_nearest() -> None:
    walk = (
        LayerReport("L1", "none", best=0.1, judgement=judgement("rooms/near.md")),
        LayerReport("L4", "none", best=0.0, judgement=judgement("playbooks/far.md")),
    )
    made = replace(verdict("fallback"), layer=None, evidence=(), walk=walk)
    assert made.judgement is not None
    assert made.judgement.source == "rooms/near.md"
    assert replace(made, walk=()).as_trace()["judgement"] is None


def test_a_session_that_is_called_by_a_token_is_kept_without_it() -> None:
    turn = Turn("Where is the lamp?", f"of {TOKEN}", TOKEN)
    decided = replace(verdict(), turn=turn)
    records = [
        verdict_record(decided, prompts="text"),
        answer_record(None, decided, prompts="text"),
    ]
    assert TOKEN not in json.dumps(records)
    assert [record["session"] for record in records] == ["of [secret removed: github-token]"] * 2
