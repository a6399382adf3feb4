"""Looking into memory, seen from outside: LangChain callbacks and OpenTelemetry spans.

In: a step that decides a turn. Out: the same step, observed. Without handlers and without
`opentelemetry-api` nothing is sent anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackHandler, CallbackManager
from langchain_core.documents import Document

from langchain_palace.session import Call
from langchain_palace.steps import Step
from palace import Evidence, Verdict

RUN_NAME = "palace.recall"
STORE_ID = "palace"
_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_Handlers = list[BaseCallbackHandler] | Any


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


def documents_of(evidence: Sequence[Evidence]) -> list[Document]:
    """Return pieces of evidence as documents, in their order."""
    return [document_of(item) for item in evidence]


def observed(
    step: Step[Verdict], *, prompt: str, call: Call, handlers: _Handlers = None
) -> Step[Verdict]:
    """Return the step that decides, with a retriever run and a memory span around it.

    Args:
        step: Decides the turn.
        prompt: What is looked for.
        call: Its config names the callbacks.
        handlers: Callbacks of the wrapped model itself.
    """

    def now() -> Verdict:
        manager = CallbackManager.configure(*_configured(call, handlers))
        run = manager.on_retriever_start({"name": RUN_NAME}, prompt, name=RUN_NAME)
        try:
            with memory_span("search_memory", call, query=prompt) as told:
                verdict = step.now()
                told.update(verdict_attributes(verdict))
        except BaseException as error:
            run.on_retriever_error(error)
            raise
        run.on_retriever_end(documents_of(verdict.evidence))
        return verdict

    async def later() -> Verdict:
        manager = AsyncCallbackManager.configure(*_configured(call, handlers))
        run = await manager.on_retriever_start({"name": RUN_NAME}, prompt, name=RUN_NAME)
        try:
            with memory_span("search_memory", call, query=prompt) as told:
                verdict = await step.later()
                told.update(verdict_attributes(verdict))
        except BaseException as error:
            await run.on_retriever_error(error)
            raise
        await run.on_retriever_end(documents_of(verdict.evidence))
        return verdict

    return Step(now, later)


def verdict_attributes(verdict: Verdict) -> dict[str, Any]:
    """Return what a span tells of a verdict; never the words of a memory."""
    return {
        "gen_ai.memory.record.count": len(verdict.evidence),
        "palace.decision": verdict.action,
        "palace.outcome": verdict.outcome,
        "palace.level": verdict.layer or "",
        "palace.verdict": verdict.id,
    }


@contextmanager
def memory_span(operation: str, call: Call, *, query: str = "") -> Iterator[dict[str, Any]]:
    """Open a memory span of the GenAI conventions; a no-op without `opentelemetry-api`.

    Args:
        operation: `search_memory`, `create_memory`, `update_memory` or `delete_memory`.
        call: Its session becomes the conversation.
        query: What is looked for; told only where message content may be captured.

    Yields:
        A mapping; what is put in it becomes attributes of the span.
    """
    told: dict[str, Any] = {}
    api = _opentelemetry()
    if api is None:
        yield told
        return
    attributes = {"gen_ai.operation.name": operation, "gen_ai.memory.store.id": STORE_ID}
    if call.session_id:
        attributes["gen_ai.conversation.id"] = call.session_id
    if query and os.environ.get(_CAPTURE, "").lower() in {"true", "1", "span_only"}:
        attributes["gen_ai.memory.query.text"] = query
    tracer = api.get_tracer("langchain_palace")
    with tracer.start_as_current_span(
        f"{operation} {STORE_ID}", kind=api.SpanKind.INTERNAL, attributes=attributes
    ) as span:
        try:
            yield told
        except BaseException as error:
            span.set_attribute("error.type", type(error).__qualname__)
            raise
        span.set_attributes(told)


@lru_cache(maxsize=1)
def _opentelemetry() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace


def _configured(call: Call, handlers: _Handlers) -> tuple[Any, ...]:
    config: Mapping[str, Any] = call.config
    return (
        config.get("callbacks"),
        handlers,
        False,
        config.get("tags"),
        None,
        dict(config.get("metadata") or {}),
    )
