"""What events and streams of tools tell of a checked turn: nothing that a check may take back."""

from __future__ import annotations

import re

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.tools import ToolRuntime
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import ToolException, tool
from langchain_palace import ChatPalace, PalaceMiddleware, PalaceRunnable
from pydantic import BaseModel

from palace import UngroundedAnswerError
from tests.adapters.langchain.doubles import (
    HIT,
    HIT_TEXT,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    calling,
    calling_once,
    honest,
)

SAID = "80085 by Mallory"


def sub_agent():
    return create_agent(CountingModel(persona=lambda _: SAID))


@tool
def helper(query: str) -> str:
    """Ask the researcher."""
    sub_agent().invoke({"messages": query})
    return "Done."


@tool
def reader(query: str) -> str:
    """Read what the researcher says as it is said."""
    pieces = sub_agent().stream({"messages": query}, stream_mode="messages")
    return f"{len(''.join(message.text for message, _ in pieces))} characters."


@tool(return_direct=True)
def direct(query: str) -> str:
    """Ask the researcher, who answers the person."""
    return sub_agent().invoke({"messages": query})["messages"][-1].text


@tool(return_direct=True)
async def awaited(query: str) -> str:
    """Ask the researcher, who answers the person."""
    return (await sub_agent().ainvoke({"messages": query}))["messages"][-1].text


@tool(return_direct=True)
def failing(query: str) -> str:
    """Ask the researcher, and fail with what was said."""
    raise ToolException(sub_agent().invoke({"messages": query})["messages"][-1].text)


failing.handle_tool_error = True


def agent_of(palace, asked):
    persona = calling_once(asked.name, {"query": "Who?"}, then=honest)
    return create_agent(
        CountingModel(persona=persona), [asked], middleware=[PalaceMiddleware(palace)]
    )


async def events_of(runnable, given):
    return [event async for event in runnable.astream_events(given, version="v2")]


def told(events):
    """Return what events tell, without what a verdict says that it has refused."""
    return re.sub(r"'unsupported': \[[^]]*\]", "", str([event["data"] for event in events]))


def kinds(events, name):
    return [event["event"] for event in events if event["name"] == name]


@pytest.mark.parametrize("asked", [helper, direct, awaited, failing])
@pytest.mark.parametrize(("words", "text"), [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)])
async def test_no_event_tells_what_a_model_behind_a_tool_says(palace, asked, words, text):
    events = await events_of(agent_of(palace, asked), {"messages": words})
    assert "Mallory" not in told(events)
    assert text in told(events)
    end = "on_tool_error" if asked is failing else "on_tool_end"
    assert kinds(events, asked.name) == ["on_tool_start", end]


async def test_they_tell_it_in_any_other(palace):
    assert "Mallory" in told(await events_of(agent_of(palace, direct), {"messages": PASS}))


@pytest.mark.parametrize("asked", [helper, direct, awaited, failing])
@pytest.mark.parametrize("subgraphs", [False, True])
async def test_a_stream_of_tools_tells_that_they_run(palace, asked, subgraphs):
    pytest.importorskip("langgraph.pregel._tools")
    agent = agent_of(palace, asked)
    how = {"stream_mode": "tools", "subgraphs": subgraphs}
    streams = [[piece async for piece in agent.astream({"messages": HIT}, **how)]]
    if asked is not awaited:
        streams.append([*agent.stream({"messages": HIT}, **how)])
    for pieces in streams:
        shown = [piece[-1] if subgraphs else piece for piece in pieces]
        assert [one["event"] for one in shown][0] == "tool-started"
        assert len(shown) == 2
        assert "Mallory" not in str(shown)
        assert {one["tool_call_id"] for one in shown} == {"c1"}


@pytest.mark.skipif(
    not hasattr(ToolRuntime, "emit_output_delta"), reason="this version of LangGraph has no pieces"
)
@pytest.mark.parametrize("return_direct", [False, True])
async def test_a_piece_of_a_reply_is_not_told_before_it_is_checked(palace, return_direct):
    @tool(return_direct=return_direct)
    def telling(query: str, runtime: ToolRuntime) -> str:
        """Ask a model, and tell what it says as it says it."""
        for piece in CountingModel(persona=lambda _: SAID).stream(query):
            runtime.emit_output_delta(piece.text)
        return "Done."

    agent = agent_of(palace, telling)
    awaited = [piece async for piece in agent.astream({"messages": HIT}, stream_mode="tools")]
    for pieces in (awaited, [*agent.stream({"messages": HIT}, stream_mode="tools")]):
        assert ("Mallory" in str(pieces)) is not return_direct


@pytest.mark.parametrize("words", [HIT, PASS])
def test_a_tool_reads_itself_what_is_said_behind_it(palace, words):
    made = agent_of(palace, reader).invoke({"messages": words})["messages"]
    answers = [message.text for message in made if message.type == "tool"]
    assert answers == [f"{len(SAID)} characters."]


@pytest.mark.parametrize(("words", "start"), [(HIT, HIT_TEXT), (UNCLEAR, "I don't have this")])
async def test_nor_what_is_said_within_a_runnable(palace, words, start):
    wrapped = PalaceRunnable(bound=CountingModel(persona=lambda _: SAID), palace=palace)
    events = await events_of(wrapped, words)
    assert "Mallory" not in told(events)
    assert events[-1]["data"]["output"].text.startswith(start)


async def test_nor_what_is_said_in_an_agent_within_one(palace):
    wrapped = PalaceRunnable(bound=sub_agent(), palace=palace)
    events = await events_of(wrapped, {"messages": [("user", HIT)]})
    assert "Mallory" not in told(events)
    assert HIT_TEXT in told(events)


async def test_other_callbacks_of_the_program_hear_all(palace):
    class Trace(BaseCallbackHandler):
        def __init__(self):
            self.said = []

        def on_llm_end(self, response, **_):
            self.said.append(response.generations[0][0].text)

    trace = Trace()
    agent_of(palace, direct).invoke({"messages": HIT}, {"callbacks": [trace]})
    assert SAID in trace.said


async def test_nor_what_a_model_says_that_a_middleware_swaps_in(palace):
    class Swap(AgentMiddleware):
        async def awrap_model_call(self, request, handler):
            return await handler(request.override(model=CountingModel(persona=lambda _: SAID)))

    agent = create_agent(
        CountingModel(persona=honest), middleware=[PalaceMiddleware(palace), Swap()]
    )
    events = await events_of(agent, {"messages": HIT})
    assert "Mallory" not in told(events)
    assert HIT_TEXT in told(events)


async def test_the_tokens_of_the_agents_own_model_are_told_as_they_are_checked(palace):
    agent = create_agent(CountingModel(persona=honest), middleware=[PalaceMiddleware(palace)])
    events = await events_of(agent, {"messages": HIT})
    tokens = [e["data"]["chunk"].text for e in events if e["event"] == "on_chat_model_stream"]
    assert "".join(tokens) == f"{HIT_TEXT} [1]"


class Release(BaseModel):
    """A release."""

    answer: str


@pytest.mark.parametrize("include_raw", [False, True])
async def test_nor_what_a_model_says_in_a_schema(palace, include_raw):
    def structured(said):
        model = CountingModel(persona=lambda _: calling("Release", {"answer": said}))
        asked = ChatPalace(inner=model, palace=palace)
        return asked.with_structured_output(Release, include_raw=include_raw)

    events = []
    with pytest.raises(UngroundedAnswerError):  # noqa: PT012
        async for event in structured(SAID).astream_events(HIT, version="v2"):
            events.append(event)
    assert "Mallory" not in told(events)
    events = await events_of(structured(HIT_TEXT), HIT)
    assert HIT_TEXT in str(events[-1]["data"]["output"])
