"""OpenTelemetry: a memory span for every look into memory, without its words."""

from __future__ import annotations

import pytest
from langchain_palace import ChatPalace, PalaceRetriever, palace_tools
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from palace import memory_span
from tests.adapters.langchain.doubles import HIT, HIT_TEXT, MISS, CountingModel, honest

EXPORTER = InMemorySpanExporter()


@pytest.fixture
def spans():
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(EXPORTER))
        trace.set_tracer_provider(provider)
    EXPORTER.clear()
    return lambda: [(s.name, dict(s.attributes), s.kind) for s in EXPORTER.get_finished_spans()]


async def test_a_decision_is_a_search_in_memory(palace, spans):
    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace)
    config = {"configurable": {"session_id": "a"}}

    chat.invoke(HIT, config)
    await chat.ainvoke(MISS, config)

    [(name, hit, kind), (_, miss, _)] = spans()
    assert name == "search_memory palace"
    assert kind is trace.SpanKind.INTERNAL
    assert hit["gen_ai.operation.name"] == "search_memory"
    assert hit["gen_ai.conversation.id"] == "a"
    assert hit["gen_ai.memory.record.count"] == 1
    assert (hit["palace.decision"], hit["palace.level"]) == ("ground", "L1")
    assert (miss["palace.decision"], miss["palace.outcome"]) == ("fallback", "nothing_stored")
    assert HIT not in f"{spans()}"
    assert HIT_TEXT not in f"{spans()}"


def test_the_query_is_told_only_where_content_may_be_captured(palace, spans, monkeypatch):
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")

    PalaceRetriever(palace=palace).invoke(HIT)

    [(_, attributes, _)] = spans()
    assert attributes["gen_ai.memory.query.text"] == HIT


def test_tools_tell_what_they_do(palace, spans):
    tools = {tool.name: tool for tool in palace_tools(palace)}
    kept = tools["palace_remember"].invoke({"text": "The tram stops at the gate."})
    tools["palace_forget"].invoke({"memory_id": kept["memory"]["id"]})

    assert [name.split()[0] for name, _, _ in spans()] == ["create_memory", "delete_memory"]
    assert [a["palace.status"] for _, a, _ in spans()] == ["stored", "forgotten"]


def test_a_secret_is_in_no_span(spans, monkeypatch):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    with memory_span("search_memory", token, query=f"Where is {token} kept?"):
        pass

    [(_, attributes, _)] = spans()
    assert attributes["gen_ai.memory.query.text"].startswith("Where is [secret removed")
    assert token not in str(attributes)


def test_a_failure_is_in_its_span(spans):
    with pytest.raises(OSError, match="gone"), memory_span("search_memory", None):
        raise OSError("gone")

    [(_, attributes, _)] = spans()
    assert attributes["error.type"] == "OSError"


def test_without_opentelemetry_nothing_happens(monkeypatch, spans):
    monkeypatch.setattr("palace.tracing._opentelemetry", lambda: None)

    with memory_span("search_memory", None) as told:
        told["x"] = 1

    assert spans() == []
