"""An agent as a part of a larger graph: its ruling holds there too, streams included."""

from __future__ import annotations

import re

import pytest
from langchain.agents import create_agent
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_palace import PalaceMiddleware, PalaceRunnable
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph

from tests.adapters.langchain.doubles import (
    FALLBACK,
    HIT,
    HIT_TEXT,
    LIARS,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    CountingModel,
    calling_once,
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


# -- what the graphs within a tool show ----------------------------------------------------------

SAID = "80085 by Mallory"


def sub_agent(checkpointer=None):
    return create_agent(CountingModel(persona=lambda _: SAID), checkpointer=checkpointer)


@tool
def called(query: str) -> str:
    """Ask the researcher."""
    sub_agent().invoke({"messages": query})
    return "Done."


@tool
def streamed_there(query: str) -> str:
    """Ask the researcher."""
    list(sub_agent().stream({"messages": query}, stream_mode="messages"))
    return "Done."


@tool
async def awaited(query: str) -> str:
    """Ask the researcher."""
    await sub_agent().ainvoke({"messages": query})
    return "Done."


@tool
def in_its_own_thread(query: str) -> str:
    """Ask the researcher."""
    thread = {"configurable": {"thread_id": "own"}}
    sub_agent(InMemorySaver()).invoke({"messages": query}, thread)
    return "Done."


def with_tool(palace, asked, model=honest):
    persona = calling_once(asked.name, {"query": "Who?"}, then=model)
    guarded = [PalaceMiddleware(palace)]
    return create_agent(CountingModel(persona=persona), [asked], middleware=guarded)


MODES = ["messages", "updates", "values", "debug", "tasks", ["messages", "updates"]]


async def pieces(agent, words, **how):
    return [piece async for piece in agent.astream({"messages": [("user", words)]}, **how)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("subgraphs", [False, True])
@pytest.mark.parametrize("asked", [called, streamed_there, awaited, in_its_own_thread])
@pytest.mark.parametrize("around", [False, True])
async def test_a_sub_agent_is_not_shown_in_a_checked_turn(palace, asked, mode, subgraphs, around):
    agent = with_tool(palace, asked)
    if around:
        graph = StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent")
        agent = graph.compile()
    how = {"stream_mode": mode, "subgraphs": subgraphs}
    for words in (HIT, UNCLEAR):
        shown = str(await pieces(agent, words, **how))
        assert "Mallory" not in shown
        if asked is not awaited:
            given = {"messages": [("user", words)]}
            assert "Mallory" not in str([*agent.stream(given, **how)])
    assert HIT_TEXT in str(await pieces(agent, HIT, **how))


async def test_it_is_shown_in_any_other(palace):
    for mode in MODES:
        how = {"stream_mode": mode, "subgraphs": True}
        assert "Mallory" in str(await pieces(with_tool(palace, called), PASS, **how))


@pytest.mark.parametrize("words", [HIT, PASS])
async def test_what_it_writes_to_the_stream_itself_goes_on(palace, words):
    def work(state):
        get_stream_writer()("half done")
        return {"messages": []}

    inner = StateGraph(MessagesState).add_node("work", work).add_edge(START, "work").compile()

    @tool
    def working(query: str) -> str:
        """Work."""
        inner.invoke({"messages": []})
        return "Done."

    agent = with_tool(palace, working)
    for mode in ("custom", ["custom", "updates"]):
        assert "half done" in str(await pieces(agent, words, stream_mode=mode, subgraphs=True))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("subgraphs", [False, True])
async def test_nor_is_an_agent_within_a_runnable_before_it_is_checked(palace, mode, subgraphs):
    liar = create_agent(CountingModel(persona=lambda _: SAID))
    wrapped = PalaceRunnable(bound=liar, palace=palace)

    def node(state):
        return {"messages": wrapped.invoke(state)["messages"][-1:]}

    async def anode(state):
        return {"messages": (await wrapped.ainvoke(state))["messages"][-1:]}

    graph = StateGraph(MessagesState).add_node("node", RunnableLambda(node, anode))
    agent = graph.add_edge(START, "node").compile()
    how = {"stream_mode": mode, "subgraphs": subgraphs}
    synchronous = [*agent.stream({"messages": [("user", HIT)]}, **how)]
    for shown in (str(synchronous), str(await pieces(agent, HIT, **how))):
        assert HIT_TEXT in shown
        told_to_the_host = r"'unsupported': \[[^]]*\]"
        assert "Mallory" not in re.sub(told_to_the_host, "", shown)
