"""A plan as plain values, for the state of a graph.

In: a settled or undecided plan. Out: a dict that every checkpointer can keep, and back again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from langchain_palace.session import Call
from langchain_palace.turns import Plan
from palace import AnswerOptions, Turn, Verdict

_VERDICT = TypeAdapter(Verdict)
# Of no use to the rest of a turn; what was asked stands beside it.
_LEFT_OUT: Any = {
    "turn": True,
    "elapsed_ms": True,
    "evidence": {"__all__": {"scores"}},
    "reminders": {"__all__": {"scores"}},
    "walk": {"__all__": {"evidence", "reason", "judgement"}},
}


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
    return {
        "verdict": _VERDICT.dump_python(plan.verdict, mode="json", exclude=_LEFT_OUT),
        "question": plan.question,
        "asked": plan.verdict.turn.prompt,
        "program": plan.verdict.turn.instructions,
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
    question = state["question"]
    asked = state.get("asked", question)  # a checkpoint may be older
    program = state.get("program", "")
    beside = f"{program}\n{question}".replace(asked, "\n").strip()
    who = state["session_id"], state["project"]
    turn = Turn(asked, *who, beside=beside, instructions=program)
    return Plan(
        replace(_VERDICT.validate_python(state["verdict"]), turn=turn),
        question,
        options,
        message_id=state["message_id"],
        wake_up=state["wake_up"],
    )
