"""Looking into memory, seen from outside: LangChain callbacks and OpenTelemetry spans.

In: a step that decides a turn. Out: the same step, observed. Without handlers and without
`opentelemetry-api` nothing is sent anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from langchain_core.callbacks import (
    AsyncCallbackManager,
    BaseCallbackHandler,
    BaseCallbackManager,
    CallbackManager,
)
from langchain_core.documents import Document

from langchain_palace.session import Call
from langchain_palace.steps import Step
from palace import Evidence, Verdict, memory_span, verdict_attributes

RUN_NAME = "palace.recall"
TRACER = "langchain_palace"
M = TypeVar("M", bound=BaseCallbackManager)
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


class Decided(Protocol):
    """What a decision gives."""

    @property
    def verdict(self) -> Verdict:
        """The verdict."""


D = TypeVar("D", bound=Decided)


def observed(step: Step[D], *, prompt: str, call: Call, handlers: _Handlers = None) -> Step[D]:
    """Return the step that decides, with a retriever run and a memory span around it.

    Args:
        step: Decides the turn.
        prompt: What is looked for.
        call: Its config names the callbacks.
        handlers: Callbacks of the wrapped model itself.
    """

    def now() -> D:
        manager = _within(CallbackManager.configure(*_configured(call, handlers)), call)
        start = partial(manager.on_retriever_start, {"name": RUN_NAME}, prompt, name=RUN_NAME)
        run = start() if manager.handlers else None  # nobody may be listening
        try:
            with memory_span("search_memory", call.session_id, query=prompt, tracer=TRACER) as told:
                plan = step.now()
                told.update(verdict_attributes(plan.verdict))
        except BaseException as error:
            if run is not None:
                run.on_retriever_error(error)
            raise
        if run is not None:
            run.on_retriever_end(documents_of(plan.verdict.evidence))
        return plan

    async def later() -> D:
        manager = _within(AsyncCallbackManager.configure(*_configured(call, handlers)), call)
        start = partial(manager.on_retriever_start, {"name": RUN_NAME}, prompt, name=RUN_NAME)
        run = await start() if manager.handlers else None
        try:
            with memory_span("search_memory", call.session_id, query=prompt, tracer=TRACER) as told:
                plan = await step.later()
                told.update(verdict_attributes(plan.verdict))
        except BaseException as error:
            if run is not None:
                await run.on_retriever_error(error)
            raise
        if run is not None:
            await run.on_retriever_end(documents_of(plan.verdict.evidence))
        return plan

    return Step(now, later)


def _within(manager: M, call: Call) -> M:
    """Return callbacks that tell of a part of the call's own run, where that is known."""
    manager.parent_run_id = call.run_id or manager.parent_run_id
    return manager


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
