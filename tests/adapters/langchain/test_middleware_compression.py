"""An agent whose conversation is condensed on the way."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langchain_palace import PalaceCompression, PalaceMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from tests.adapters.langchain.doubles import FALLBACK, HIT, MISS, CountingModel, honest

RUN = {"configurable": {"thread_id": "t"}}


@tool
def lookup(host: str) -> str:
    """Look at a host."""
    return f"{host} is up"


def answering(asked):
    if not asked.is_after_tool and "look" in asked.text:
        made = {"name": "lookup", "args": {"host": "host-7"}, "id": f"c{len(asked.messages)}"}
        return AIMessage("", tool_calls=[made])
    return f"Noted, {len(asked.messages)} messages."


async def ask(agent, text, *, later=False):
    given = {"messages": [HumanMessage(text)]}
    return await agent.ainvoke(given, RUN) if later else agent.invoke(given, RUN)


@pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
async def test_the_state_stays_small_and_whole(palace, later):
    model = CountingModel(persona=answering)
    agent = create_agent(
        model, [lookup], middleware=[PalaceCompression(palace)], checkpointer=InMemorySaver()
    )
    for n in range(9):
        state = await ask(agent, f"Please look at host-{n}, we use plan {n}.", later=later)
        assert len(state["messages"]) <= 1 + 4 * 4
    summaries = [m for m in palace.memories(room="timeline") if m.session == "t"]
    assert len(summaries) == 2
    assert "plan 0" in state["messages"][0].content
    assert "plan 5" in state["messages"][0].content
    calls = [c["id"] for m in state["messages"] if m.type == "ai" for c in m.tool_calls]
    assert calls == [m.tool_call_id for m in state["messages"] if m.type == "tool"]


async def test_beside_the_gate_a_miss_is_still_a_miss(palace):
    model = CountingModel(persona=honest)
    middleware = [PalaceMiddleware(palace), PalaceCompression(palace)]
    agent = create_agent(model, [], middleware=middleware, checkpointer=InMemorySaver())
    for n in range(5):
        await ask(agent, f"Write a haiku about plan {n}.")
    calls = model.calls
    state = await ask(agent, MISS)
    assert state["messages"][-1].content.startswith(FALLBACK)
    assert model.calls == calls
    state = await ask(agent, HIT)
    assert "2026-03-02" in state["messages"][-1].content


def test_without_a_session_nothing_happens(palace):
    agent = create_agent(
        CountingModel(persona=answering), [], middleware=[PalaceCompression(palace)]
    )
    said = [m for n in range(5) for m in (HumanMessage(f"plan {n}"), AIMessage("ok"))]
    assert len(agent.invoke({"messages": [*said, HumanMessage("go")]})["messages"]) == 12
    assert palace.memories(room="timeline") == []
