"""Looking into memory as OpenTelemetry spans, for who has `opentelemetry-api` installed.

In: an enforcer and a turn. Out: its verdict, decided inside a memory span.
"""

from __future__ import annotations

from palace import RetrievalEnforcer, Turn, Verdict, memory_span, verdict_attributes

TRACER = "llama_index_palace"


def decide_traced(enforcer: RetrievalEnforcer, turn: Turn) -> Verdict:
    """Decide a turn inside a memory span."""
    with memory_span("search_memory", turn.session_id, query=turn.prompt, tracer=TRACER) as told:
        verdict = enforcer.decide(turn)
        told.update(verdict_attributes(verdict))
    return verdict


async def adecide_traced(enforcer: RetrievalEnforcer, turn: Turn) -> Verdict:
    """Decide a turn inside a memory span, off the event loop."""
    with memory_span("search_memory", turn.session_id, query=turn.prompt, tracer=TRACER) as told:
        verdict = await enforcer.adecide(turn)
        told.update(verdict_attributes(verdict))
    return verdict
