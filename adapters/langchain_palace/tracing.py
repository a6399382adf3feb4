"""Looking into memory, seen from outside: LangChain callbacks and OpenTelemetry spans.

In: a step that decides a turn. Out: what it decides, observed. Without handlers and without
`opentelemetry-api` nothing is sent anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeVar

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.documents import Document

from langchain_palace.session import Call
from palace import Evidence, hosting, memory_span, verdict_attributes

RUN_NAME = "palace.recall"
TRACER = "langchain_palace"
T = TypeVar("T", bound=hosting.HostedTurn)


def document_of(evidence: Evidence) -> Document:
    """Return evidence as a document: its words, and where they come from."""
    return Document(
        id=evidence.id,
        page_content=evidence.text,
        metadata={
            "source": evidence.source,
            "layer": evidence.layer,
            "as_of": evidence.as_of.isoformat() if evidence.as_of else None,
            "confidence": round(evidence.confidence, 4),
            "trust": evidence.trust,
            "stale": evidence.stale,
        },
    )


def observed(step: hosting.Step[T], *, prompt: str, call: Call) -> hosting.Steps[T]:
    """Decide, with a retriever run and a memory span around it.

    Args:
        step: Decides the turn.
        prompt: What is looked for.
        call: Its config names the callbacks.
    """

    def begun(kind: type[CallbackManager | AsyncCallbackManager]) -> Any:
        told: Mapping[str, Any] = call.config
        metadata = dict(told.get("metadata") or {})
        about = (told.get("callbacks"), call.handlers, False, told.get("tags"), None, metadata)
        manager = kind.configure(*about)
        manager.parent_run_id = call.run_id or manager.parent_run_id
        if not manager.handlers:  # nobody may be listening
            return None
        return manager.on_retriever_start({"name": RUN_NAME}, prompt, name=RUN_NAME)

    async def later() -> Any:
        run = begun(AsyncCallbackManager)
        return run and await run

    run = (yield hosting.Step(lambda: begun(CallbackManager), later)) if call.is_heard else None
    try:
        with memory_span("search_memory", call.session_id, query=prompt, tracer=TRACER) as told:
            plan: T = yield step
            told.update(verdict_attributes(plan.verdict))
    except BaseException as error:
        if run is not None:
            yield hosting.host_call(partial(run.on_retriever_error, error))
        raise
    if run is not None:
        found = [document_of(item) for item in plan.verdict.evidence]
        yield hosting.host_call(lambda: run.on_retriever_end(found))
    return plan
