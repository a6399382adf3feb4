"""A plan as plain values, for the state of a graph.

In: a settled or undecided plan. Out: a dict that every checkpointer can keep, and back again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from langchain_palace.session import Call
from langchain_palace.turns import Plan
from palace import AnswerOptions, Evidence, LayerReport, PromptWrite, RecallSignal, Turn, Verdict


def as_state(
    plan: Plan, call: Call, seen: Sequence[str], *, before: str, thread: str | None = None
) -> dict[str, Any]:
    """Return a plan as plain values.

    Args:
        plan: The plan of a turn; an answer within it is not kept, the turn is over then.
        call: Who asked.
        seen: Ids of all messages of the person when it was made.
        before: The open question right before it, "" if there was none; what follows up on it is
            decided with its words.
        thread: Where it is kept; a copy of the state may be put elsewhere.
    """
    verdict = plan.verdict.as_dict()
    for item, evidence in zip(verdict["evidence"], plan.verdict.evidence, strict=True):
        item.update(trust=evidence.trust, stale=evidence.stale)
    reminders = [asdict(item) for item in plan.verdict.reminders]
    for item in reminders:
        item.update(as_of=item["as_of"].isoformat() if item["as_of"] else None, scores={})
    verdict.update(reminders=reminders, written=[asdict(item) for item in plan.verdict.written])
    return {
        "verdict": verdict,
        "question": plan.question,
        "message_id": plan.message_id,
        "wake_up": plan.wake_up,
        "session_id": call.session_id,
        "project": call.project,
        "thread_id": thread,
        "seen": list(seen),
        "before": before,
    }


def plan_of(state: Mapping[str, Any], options: AnswerOptions) -> Plan:
    """Return the plan that `as_state` kept, with how answers are made now."""
    verdict = state["verdict"]
    signal = verdict["signal"]
    return Plan(
        Verdict(
            id=verdict["id"],
            action=verdict["action"],
            outcome=verdict["outcome"],
            signal=RecallSignal(signal["kind"], signal["score"], tuple(signal["cues"])),
            layer=verdict["layer"],
            text=verdict["text"],
            evidence=tuple(_evidence(item) for item in verdict["evidence"]),
            walk=tuple(
                LayerReport(
                    step["layer"],
                    step["outcome"],
                    candidates=step["candidates"],
                    best=step["best"],
                    elapsed_ms=step["elapsed_ms"],
                )
                for step in verdict["walk"]
            ),
            reminders=tuple(_evidence(item) for item in verdict.get("reminders", ())),
            written=tuple(PromptWrite(**item) for item in verdict.get("written", ())),
            turn=Turn(state["question"], state["session_id"], state["project"]),
        ),
        state["question"],
        options,
        message_id=state["message_id"],
        wake_up=state["wake_up"],
    )


def _evidence(item: Mapping[str, Any]) -> Evidence:
    return Evidence(
        id=item["id"],
        text=item["text"],
        layer=item["layer"],
        source=item["source"],
        as_of=datetime.fromisoformat(item["as_of"]) if item["as_of"] else None,
        confidence=item["confidence"],
        trust=item["trust"],
        stale=item["stale"],
        state_of=datetime.fromisoformat(item["state_of"]) if item.get("state_of") else None,
    )
