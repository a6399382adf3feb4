"""Looking into memory as OpenTelemetry spans, for who has `opentelemetry-api` installed.

In: what is done with memory, and for which session. Out: a span of the GenAI conventions around it.
Without the package nothing is imported and nothing is sent anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from palace.secrets import redact
from palace.types.verdict import Verdict

STORE_ID = "palace"
_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@contextmanager
def memory_span(
    operation: str, session_id: str | None, *, query: str = "", tracer: str = "palace"
) -> Iterator[dict[str, Any]]:
    """Open a memory span; a no-op without `opentelemetry-api` or a provider of spans.

    Args:
        operation: `search_memory`, `create_memory`, `update_memory` or `delete_memory`.
        session_id: The session becomes the conversation, without secrets.
        query: What is looked for; told, without secrets, only where message content may be
            captured.
        tracer: Name of the instrumented package.

    Yields:
        A mapping; what is put in it becomes attributes of the span.
    """
    told: dict[str, Any] = {}
    api = _opentelemetry()
    provider = api and api.get_tracer_provider()
    if not provider or isinstance(provider, api.ProxyTracerProvider):  # nobody listens
        yield told
        return
    attributes = {"gen_ai.operation.name": operation, "gen_ai.memory.store.id": STORE_ID}
    if session_id:
        attributes["gen_ai.conversation.id"] = redact(session_id)
    if query and os.environ.get(_CAPTURE, "").lower() in {"true", "1", "span_only"}:
        attributes["gen_ai.memory.query.text"] = redact(query)
    with _tracer(provider, tracer).start_as_current_span(
        f"{operation} {STORE_ID}", kind=api.SpanKind.INTERNAL, attributes=attributes
    ) as span:
        try:
            yield told
        except BaseException as error:
            span.set_attribute("error.type", type(error).__qualname__)
            raise
        span.set_attributes(told)


def verdict_attributes(verdict: Verdict) -> dict[str, Any]:
    """Return what a span tells of a verdict; never the words of a memory."""
    return {
        "gen_ai.memory.record.count": len(verdict.evidence),
        "palace.decision": verdict.action,
        "palace.outcome": verdict.outcome,
        "palace.level": verdict.layer or "",
        "palace.verdict": verdict.id,
    }


@lru_cache(maxsize=8)
def _tracer(provider: Any, name: str) -> Any:  # noqa: ANN401 - of a package that may be missing
    return provider.get_tracer(name)


@lru_cache(maxsize=1)
def _opentelemetry() -> Any:  # noqa: ANN401 - a module that may not be installed
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace
