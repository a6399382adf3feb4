"""OpenTelemetry memory spans, where OpenTelemetry is there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index_palace import (
    PalaceLLM,
    PalaceMemoryBlock,
    PalaceQueryEngine,
    PalaceRetriever,
    palace_session,
    palace_tools,
)

from tests.adapters.llama_index.scripted import HIT, MISS, PASS, code_text
from tests.adapters.llama_index.test_hosts import gardens

pytest.importorskip("opentelemetry.sdk")

from llama_index.core.query_engine import RetrieverQueryEngine
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

SAID = [ChatMessage(role="user", content=HIT)]


class Api:
    """The API of OpenTelemetry with a provider of the test's own; the global one is set only once."""

    SpanKind = trace.SpanKind
    ProxyTracerProvider = trace.ProxyTracerProvider

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._provider = TracerProvider()
        self._provider.add_span_processor(SimpleSpanProcessor(exporter))

    def get_tracer_provider(self) -> TracerProvider:
        return self._provider


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    api = Api(exporter)
    monkeypatch.setattr("palace.tracing._opentelemetry", lambda: api)
    yield exporter
    exporter.clear()


def test_a_turn_is_one_span(palace, model, seen):
    with palace_session("s1"):
        PalaceLLM(model, palace).chat(SAID)
    (span,) = seen.get_finished_spans()
    assert span.name == "search_memory palace"
    assert span.kind is trace.SpanKind.INTERNAL
    told = dict(span.attributes)
    assert told["gen_ai.operation.name"] == "search_memory"
    assert told["gen_ai.conversation.id"] == "s1"
    assert told["gen_ai.memory.record.count"] == 1
    assert (told["palace.decision"], told["palace.level"]) == ("ground", "L1")
    assert HIT not in repr(told)
    assert code_text("s1") not in repr(told)


def test_the_question_is_told_only_where_content_may_be_captured(palace, model, seen, monkeypatch):
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    PalaceLLM(model, palace).chat(SAID)
    (span,) = seen.get_finished_spans()
    assert span.attributes["gen_ai.memory.query.text"] == HIT


async def test_every_part_is_seen(palace, model, seen):
    await PalaceLLM(model, palace).achat(SAID)
    PalaceRetriever(palace).retrieve(MISS)
    await PalaceMemoryBlock(palace=palace).aget(SAID)
    PalaceQueryEngine(RetrieverQueryEngine.from_args(gardens(), llm=model), palace).query(PASS)
    decisions = [s.attributes["palace.decision"] for s in seen.get_finished_spans()]
    assert decisions == ["ground", "fallback", "ground", "pass"]


def test_tools_tell_what_they_do(palace, seen):
    tools = {t.metadata.name: t for t in palace_tools(palace, session_id="s1")}
    tools["palace_note"].call(text="The tide is low.")
    tools["palace_search"].call(query="tide")
    names = [s.name.split()[0] for s in seen.get_finished_spans()]
    assert names == ["create_memory", "search_memory"]
    assert seen.get_finished_spans()[0].attributes["palace.status"] == "noted"
    assert seen.get_finished_spans()[0].attributes["gen_ai.conversation.id"] == "s1"


def test_without_opentelemetry_nothing_happens(palace, model, monkeypatch):
    monkeypatch.setattr("palace.tracing._opentelemetry", lambda: None)
    assert PalaceLLM(model, palace).chat(SAID).message.content
