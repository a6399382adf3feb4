"""An agent as a part of a larger graph: its ruling holds there too, streams included."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain_palace import PalaceMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from tests.adapters.langchain.doubles import (
    FALLBACK,
    HIT,
    HIT_TEXT,
    LIARS,
    LIE,
    MISS,
    UNCLEAR,
    CountingModel,
    honest,
)

THREAD = {"configurable": {"thread_id": "t"}}


def graph_of(model, palace):
    """Return a graph with an agent as its only node."""
    graph = StateGraph(MessagesState)
    graph.add_node("agent", create_agent(model, middleware=[PalaceMiddleware(palace)]))
    graph.add_edge(START, "agent")
    return graph.compile(checkpointer=InMemorySaver())


async def streamed(graph, words):
    """Return the text of everything that is streamed, and the last message of the state."""
    said = [
        message.text
        async for _, (message, _) in graph.astream(
            {"messages": [("user", words)]}, THREAD, stream_mode="messages", subgraphs=True
        )
    ]
    return "".join(said), (await graph.aget_state(THREAD)).values["messages"][-1].text


async def test_a_miss_calls_no_model(palace):
    model = CountingModel(persona=honest)
    assert await streamed(graph_of(model, palace), MISS) == (FALLBACK, FALLBACK)
    assert model.calls == 0


async def test_evidence_is_given(palace):
    said, kept = await streamed(graph_of(CountingModel(persona=honest), palace), HIT)
    assert said == kept == f"{HIT_TEXT} [1]"


@pytest.mark.parametrize("liar", LIARS)
async def test_no_lie_gets_out(palace, liar):
    for words in (HIT, UNCLEAR):
        said, kept = await streamed(graph_of(CountingModel(persona=liar), palace), words)
        assert LIE not in said
        assert LIE not in kept
