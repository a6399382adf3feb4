"""Reminders: memories whose triggers match a prompt are brought up whatever it asks.

In: a turn and the memories that have triggers. Out: evidence, the most important first.
"""

from __future__ import annotations

from collections.abc import Sequence

from palace.ports import Scope
from palace.recall.triggers import matching_trigger
from palace.text import tokens
from palace.text.moments import utc_now
from palace.types.memory import Memory
from palace.types.session import Turn
from palace.types.verdict import Evidence

_REMINDERS = 10
_REMINDED_CHARS = 20_000


def reminders(turn: Turn, marked: Sequence[Memory], *, timeout_ms: float) -> list[Evidence]:
    """Return the memories whose triggers match a prompt, at most 10, the most important first.

    Args:
        turn: Its scope decides which memories it may see.
        marked: Memories with triggers, retired ones too.
        timeout_ms: Bound on each pattern, in milliseconds.
    """
    scopes = Scope(turn.session_id, turn.project).names
    now = utc_now()
    may = [m for m in marked if m.scope in scopes and m.holds_at(now)]
    if not may:
        return []
    said = tokens(turn.prompt[:_REMINDED_CHARS])
    found = [
        m
        for m in may
        if matching_trigger(m.triggers, turn.prompt, timeout_ms=timeout_ms, said=said)
    ]
    found.sort(key=lambda m: -m.importance)
    return [_reminder(m) for m in found[:_REMINDERS]]


def _reminder(memory: Memory) -> Evidence:
    return Evidence(
        id=memory.id,
        text=memory.text,
        layer="L1",
        source=memory.source,
        as_of=memory.as_of,
        confidence=1.0,
        trust=memory.trust,
    )
