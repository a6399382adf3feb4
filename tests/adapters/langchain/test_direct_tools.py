"""A tool whose result is the reply shows a person what the model wrote to it."""

from __future__ import annotations

from functools import reduce
from operator import add

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_palace import ChatPalace

from tests.adapters.langchain.doubles import (
    FALLBACK,
    HIT,
    HIT_TEXT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    calling,
    saying,
)


@tool(return_direct=True)
def reply(text: str) -> str:
    """Reply to the person."""
    return text


@tool(return_direct=True)
def order(number: str) -> str:
    """Show an order."""
    return f"Order {number} has been paid and sent."


def asked(palace, model, question, *, streaming):
    chat = ChatPalace(inner=model, palace=palace).bind_tools([reply, order])
    if not streaming:
        return chat.invoke(question)
    said = reduce(add, chat.stream(question))
    assert LIE not in said.text
    return said


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(("question", "text"), [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)])
def test_what_is_not_remembered_is_not_shown(palace, question, text, streaming):
    said = asked(palace, saying("reply", text=LIE), question, streaming=streaming)
    assert not said.tool_calls
    assert text in said.text
    assert LIE not in str(said.model_dump(exclude={"response_metadata"}))


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("question", "name", "values"),
    [
        (HIT, "reply", {"text": HIT_TEXT}),
        (UNCLEAR, "reply", {"text": UNCLEAR_TEXT}),
        (HIT, "order", {"number": "7788"}),
        (PASS, "reply", {"text": "Rain falls on the quiet pond."}),
    ],
)
def test_other_calls_go_on(palace, question, name, values, streaming):
    said = asked(palace, saying(name, **values), question, streaming=streaming)
    assert [(c["name"], c["args"]) for c in said.tool_calls] == [(name, values)]


def test_on_a_miss_none_is_called(palace):
    model = saying("reply", text=LIE)
    assert asked(palace, model, MISS, streaming=False).text == FALLBACK
    assert model.calls == 0


@pytest.mark.parametrize("question", [HIT, UNCLEAR])
def test_an_agent_shows_the_memory_instead(palace, question):
    agents = pytest.importorskip("langchain.agents")
    middleware = pytest.importorskip("langchain_palace").PalaceMiddleware(palace)
    agent = agents.create_agent(saying("reply", text=LIE), [reply], middleware=[middleware])

    messages = agent.invoke({"messages": question})["messages"]
    assert isinstance(messages[-1], AIMessage)
    assert LIE not in "".join(str(m.content) + str(getattr(m, "tool_calls", "")) for m in messages)


@tool
def shown(text: str) -> str:
    """Show a text to the person; says nothing of it."""
    return text


def test_one_that_does_not_say_so_is_named(palace):
    model = saying("shown", text=LIE)
    unnamed = ChatPalace(inner=model, palace=palace).bind_tools([shown])
    assert unnamed.invoke(HIT).tool_calls
    named = ChatPalace(inner=model, palace=palace, direct_tools=["shown"]).bind_tools([shown])
    assert HIT_TEXT in named.invoke(HIT).text
    bound = ChatPalace(inner=model.bind_tools([shown]), palace=palace, direct_tools=["shown"])
    assert not bound.invoke(HIT).tool_calls


def after(result, *, name):
    called = calling("research", {"query": "Who signed it?"})
    return [HumanMessage(HIT), called, ToolMessage(result, tool_call_id="c1", name=name)]


@pytest.mark.parametrize("name", ["research", None])
def test_what_a_model_says_behind_a_named_tool_is_no_evidence(palace, name):
    words = "The release was signed by Mallory Quimby at 03:17."
    model = CountingModel(persona=lambda asked: words)
    chat = ChatPalace(inner=model, palace=palace)
    assert chat.invoke(after(words, name=name)).text == words
    chat = ChatPalace(inner=model, palace=palace, model_tools=["research"])
    assert HIT_TEXT in chat.invoke(after(words, name=name)).text


def test_a_model_whose_words_are_the_reply_is_not_called(palace):
    model = saying("reply", text="Who signed it?")
    chat = ChatPalace(inner=model, palace=palace, model_tools=["reply"]).bind_tools([reply])
    said = chat.invoke(HIT)
    assert HIT_TEXT in said.text
    assert not said.tool_calls
