"""What a caller without a model may show, and what the journal keeps."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from palace.enforce.record import verdict_record
from palace.enforce.replies import (
    NEAR_MISSES_NAMED,
    quote_evidence,
    reply_for_miss,
    reply_for_near_miss,
)
from palace.types import LayerReport, RecallSignal, Turn, Verdict
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
