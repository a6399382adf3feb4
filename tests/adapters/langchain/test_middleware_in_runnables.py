"""An agent within a `PalaceRunnable`: who speaks behind its tools is heard as in a middleware."""

from __future__ import annotations

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langchain_palace import ChatPalace, PalaceMiddleware, PalaceRunnable
from langgraph.graph import END, START, MessagesState, StateGraph

from palace import ConfigError
from tests.adapters.langchain.doubles import HIT, HIT_TEXT, PASS, CountingModel, calling_once
from tests.adapters.langchain.test_middleware_sub_agents import (
    ASK,
    SAID,
    as_list,
    as_text,
    as_update,
    awaited,
    by_another,
    by_its_retriever,
    by_its_thought,
    by_its_tool,
    calling_all,
    direct,
    direct_model,
    direct_parts,
    direct_update,
    in_part,
    ledger,
    remote,
    repeating,
    saying,
)


def runnable_of(palace, tools, *, names=None, args=ASK, **options):
    agent = create_agent(calling_all(names or [tools[0].name], repeating, args), tools)
    return PalaceRunnable(bound=agent, palace=palace, **options)


def reply(chain, words=HIT):
    return chain.invoke({"messages": [("user", words)]})["messages"][-1].text


async def replies(chain, words=HIT):
    """Return what is released of each way to run a chain."""
    given = {"messages": [("user", words)]}
    states = [
        await asyncio.to_thread(chain.invoke, given),
        await chain.ainvoke(given),
        (await asyncio.to_thread(lambda: [*chain.stream(given, stream_mode="values")]))[-1],
        [state async for state in chain.astream(given, stream_mode="values")][-1],
        (await chain.abatch([given]))[0],
    ]
    return [state["messages"][-1].text for state in states]


@pytest.mark.parametrize("sub_agent", [as_text, in_part, as_update, as_list])
async def test_its_words_are_no_evidence(palace, sub_agent):
    for said in await replies(runnable_of(palace, [sub_agent])):
        assert HIT_TEXT in said
        assert "Mallory" not in said


async def test_they_are_none_where_it_is_awaited(palace):
    made = await runnable_of(palace, [awaited]).ainvoke({"messages": [("user", HIT)]})
    assert "Mallory" not in made["messages"][-1].text


async def test_what_a_tool_looked_up_is_evidence(palace):
    assert await replies(runnable_of(palace, [ledger])) == [SAID] * 5


def test_so_it_is_beside_a_sub_agent(palace):
    @tool
    def other(query: str) -> str:
        """Ask the researcher for something else."""
        return saying("The release was signed by nobody at noon.").invoke(query).text

    assert reply(runnable_of(palace, [other, ledger], names=["other", "ledger"])) == SAID
    chain = runnable_of(palace, [ledger, as_text], names=["ledger", "as_text"])
    assert reply(chain) == SAID  # the one has it of the model, the other has looked it up


@pytest.mark.parametrize(
    ("sub_agent", "counts"),
    [
        (by_its_tool, True),
        (by_its_retriever, True),
        (by_its_thought, False),
        (by_another, False),
    ],
)
def test_what_it_has_found_is_evidence_and_what_it_thought_is_none(palace, sub_agent, counts):
    assert (reply(runnable_of(palace, [sub_agent])) == SAID) is counts


@pytest.mark.parametrize("asked", [HIT, PASS])
def test_what_its_own_palace_has_checked_is_evidence(palace, other_palace, asked):
    other_palace.remember(SAID, room="releases")

    @tool
    def research(query: str) -> str:
        """Ask the researcher."""
        words = "Who signed the release?" if asked == HIT else PASS
        model = CountingModel(persona=lambda _: SAID)
        return ChatPalace(inner=model, palace=other_palace).invoke(words).text

    assert (reply(runnable_of(palace, [research])) == SAID) is (asked == HIT)


def test_it_is_heard_where_it_leaves_out_what_it_was_given(palace):
    """As where a program gives no callbacks on, or an older Python loses them."""

    @tool
    def research(query: str) -> str:
        """Ask the researcher."""
        return saying(SAID).invoke(query, {"callbacks": []}).text

    assert "Mallory" not in reply(runnable_of(palace, [research]))


def test_it_is_heard_behind_a_guarded_agent(palace, other_palace):
    """The middleware hears its tools in the place of the one around it, and tells it."""
    other_palace.remember(HIT_TEXT, room="releases")

    @tool
    def research(query: str) -> str:
        """Ask a guarded agent with a researcher."""
        model = CountingModel(persona=calling_once("as_text", ASK, then=lambda _: HIT_TEXT))
        guarded = [PalaceMiddleware(other_palace)]
        made = create_agent(model, [as_text], middleware=guarded).invoke({"messages": HIT})
        return made["messages"][-2].text

    assert "Mallory" not in reply(runnable_of(palace, [research]))


def test_no_memory_is_asked_and_its_words_are_shown(palace):
    assert reply(runnable_of(palace, [as_text]), PASS) == SAID
    assert reply(runnable_of(palace, [direct], args={"query": SAID}), PASS) == SAID


@pytest.mark.parametrize("sub_agent", [direct, direct_update, direct_model])
@pytest.mark.parametrize("lie", ["80085 by Mallory", "Mallory: 80085"])
async def test_a_reply_of_its_own_is_checked(palace, sub_agent, lie):
    chain = runnable_of(palace, [sub_agent], args={"query": lie})
    for said in await replies(chain):
        assert HIT_TEXT in said
        assert lie not in said
    shown = chain.invoke({"messages": [("user", HIT)]})["messages"][-1]
    assert shown.type == "tool"
    assert shown.response_metadata["palace"]["supported"] is False
    assert not any(told["supported"] for told in palace.journal.records(type="answer"))


def test_a_true_one_is_shown(palace):
    assert reply(runnable_of(palace, [direct], args={"query": HIT_TEXT})) == HIT_TEXT


def test_a_false_part_of_one_is_not_shown(palace):
    chain = runnable_of(palace, [direct_parts], args={"query": "80085 by Mallory"})
    shown = chain.invoke({"messages": [("user", HIT)]})["messages"][-1]
    assert HIT_TEXT in str(shown.content)
    assert "80085" not in str(shown.content)


def test_a_node_of_ones_own_is_heard_by_what_its_tool_answered(palace):
    @tool
    def research(query: str) -> str:
        """Ask the researcher."""
        return saying(SAID).invoke(query).text

    def researched(state):
        said = research.invoke(ASK)
        return {"messages": [ToolMessage(said, tool_call_id="c1")]}

    model = CountingModel(persona=calling_once("research", ASK, then=repeating))
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", researched)
    graph.add_node("end", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_edge(START, "model").add_edge("model", "tools").add_edge("tools", "end")
    chain = PalaceRunnable(bound=graph.add_edge("end", END).compile(), palace=palace)
    assert HIT_TEXT in reply(chain)
    assert "Mallory" not in reply(chain)


def test_a_model_elsewhere_is_named(palace):
    assert reply(runnable_of(palace, [remote])) == SAID
    assert "Mallory" not in reply(runnable_of(palace, [remote], model_tools=["remote"]))
    with pytest.raises(ConfigError, match="model_tools"):
        PalaceRunnable(bound=saying(SAID), palace=palace, model_tools="as_text")


def test_a_named_one_whose_result_is_the_reply_is_checked(palace):
    @tool(return_direct=True)
    def elsewhere(query: str) -> str:
        """Ask a researcher elsewhere, who answers the person."""
        return query

    args = {"query": "80085 by Mallory"}
    assert reply(runnable_of(palace, [elsewhere], args=args)) == "80085 by Mallory"
    named = runnable_of(palace, [elsewhere], args=args, model_tools=["elsewhere"])
    assert HIT_TEXT in reply(named)
