"""The session that a run's context names is that of everything in the run."""

from __future__ import annotations

from typing import TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.runnables import RunnableLambda
from langchain_palace import ChatPalace, PalaceMiddleware, PalaceRetriever, PalaceRunnable
from langchain_palace.tools import palace_tools
from langgraph.graph import END, START, MessagesState, StateGraph

from tests.adapters.langchain.doubles import PASS, CountingModel, calling_once, honest

DOOR = "What was our door code for the archive?"


class Context(TypedDict):
    """Who asks."""

    session_id: str


def with_middleware(model, palace):
    return create_agent(model, [], middleware=[PalaceMiddleware(palace)], context_schema=Context)


def with_model(model, palace):
    chat = ChatPalace(inner=model, palace=palace)
    return create_agent(chat, [], context_schema=Context)


def graph_of(step):
    graph = StateGraph(MessagesState, context_schema=Context)
    graph.add_node("answer", lambda state: {"messages": [step.invoke(state["messages"])]})
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile()


def with_chain(model, palace):
    return graph_of(PalaceRunnable(bound=model, palace=palace))


def with_retriever(model, palace):
    found = RunnableLambda(lambda messages: messages[-1].text) | PalaceRetriever(palace=palace)
    return graph_of(found | (lambda documents: ("ai", documents[0].page_content)))


def with_tool(model, palace):
    model.persona = calling_once(
        "palace_search", {"query": DOOR}, then=lambda asked: asked.messages[-1].text
    )
    return create_agent(model, palace_tools(palace), context_schema=Context)


@pytest.mark.parametrize(
    "made", [with_middleware, with_model, with_chain, with_retriever, with_tool]
)
@pytest.mark.parametrize("config", [None, {"configurable": {"session_id": "b"}}])
def test_the_context_goes_before_the_config(palace, made, config):
    palace.remember("The door code of the archive is 1111.", session_id="a")
    palace.remember("The door code of the archive is 2222.", session_id="b")
    agent = made(CountingModel(persona=honest), palace)
    asked = {"messages": [("user", PASS if made is with_tool else DOOR)]}

    told = agent.invoke(asked, config, context={"session_id": "a"})["messages"][-1].text

    assert "1111" in told
    assert "2222" not in told
