"""Looking into memory as OpenTelemetry spans, for who has `opentelemetry-api` installed.

In: an enforcer and a turn. Out: its verdict, decided inside a memory span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from palace import RetrievalEnforcer, Turn, Verdict, memory_span, verdict_attributes

TRACER = "llama_index_palace"


def decide_traced(enforcer: RetrievalEnforcer, turn: Turn, further: Sequence[str] = ()) -> Verdict:
    """Decide a turn inside a memory span.

    Args:
        enforcer: Decides.
        turn: The turn.
        further: Further words to decide on, in their order, where the first ask nothing.
    """
    with memory_span("search_memory", turn.session_id, query=turn.prompt, tracer=TRACER) as told:
        verdict = enforcer.decide(turn)
        for words in further:
            if verdict.action == "pass" and not verdict.written:
                verdict = enforcer.decide(replace(turn, prompt=words))
        told.update(verdict_attributes(verdict))
    return verdict
