"""A model behind a tool of an agent: what it says is no evidence, what it has found is."""

from __future__ import annotations

from typing import Annotated

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import InjectedToolCallId, tool
from langchain_palace import ChatPalace, PalaceMiddleware, PalaceRunnable
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from palace import ConfigError
from tests.adapters.langchain.doubles import (
    HIT,
    HIT_TEXT,
    LIE,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    calling,
    calling_once,
    honest,
)

SAID = "The release was signed by Mallory Quimby at 03:17."
ASK = {"query": "Who signed it?"}


def saying(text):
    return CountingModel(persona=lambda _: text)


def told(model, query):
    return create_agent(model).invoke({"messages": query})["messages"][-1].text


@tool
def as_text(query: str) -> str:
    """Ask the researcher."""
    return told(saying(SAID), query)


@tool
async def awaited(query: str) -> str:
    """Ask the researcher."""
    made = await create_agent(saying(SAID)).ainvoke({"messages": query})
    return made["messages"][-1].text


@tool
def in_part(query: str) -> str:
    """Ask the researcher."""
    return f"Result: {saying(f'I think so. {SAID}').invoke(query).text[12:]}"


@tool
def as_update(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Ask the researcher."""
    answer = ToolMessage(told(saying(SAID), query), tool_call_id=tool_call_id)
    return Command(update={"messages": [answer]})


@tool
def as_list(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> list:
    """Ask the researcher."""
    return [ToolMessage(told(saying(SAID), query), tool_call_id=tool_call_id)]


@tool
def ledger(query: str) -> str:
    """Look it up in the ledger."""
    return SAID


@tool(return_direct=True)
def direct(query: str) -> str:
    """Ask the researcher, who answers the person."""
    return told(saying(query), query)


@tool(return_direct=True)
def direct_update(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Ask the researcher, who answers the person."""
    answer = ToolMessage(told(saying(query), query), tool_call_id=tool_call_id)
    return Command(update={"messages": [answer]})


def repeating(asked):
    """Say what the last tool answered."""
    return str(asked.messages[-1].text) if asked.is_after_tool else honest(asked)


def calling_all(names, then, args):
    """Return a model that calls tools at once before it says something."""

    def persona(asked):
        if asked.is_pointing or asked.is_after_tool:
            return then(asked)
        made = [calling(name, args, id=name).tool_calls[0] for name in names]
        return AIMessage("", tool_calls=made)

    return CountingModel(persona=persona)


def agent_of(palace, tools, *, names=None, then=repeating, args=ASK, checkpointer=None, **options):
    return create_agent(
        calling_all(names or [tools[0].name], then, args),
        tools,
        middleware=[PalaceMiddleware(palace, **options)],
        checkpointer=checkpointer,
    )


def reply(agent, words=HIT):
    return agent.invoke({"messages": words})["messages"][-1].text


@pytest.mark.parametrize("sub_agent", [as_text, in_part, as_update, as_list])
def test_its_words_are_no_evidence(palace, sub_agent):
    said = reply(agent_of(palace, [sub_agent]))
    assert HIT_TEXT in said
    assert "Mallory" not in said


@pytest.mark.parametrize("sub_agent", [as_text, awaited])
async def test_they_are_none_where_it_is_awaited(palace, sub_agent):
    made = await agent_of(palace, [sub_agent]).ainvoke({"messages": HIT})
    assert "Mallory" not in made["messages"][-1].text


def test_what_a_tool_looked_up_is_evidence(palace):
    assert reply(agent_of(palace, [ledger])) == SAID


def test_so_it_is_beside_a_sub_agent(palace):
    agent = agent_of(palace, [as_text, ledger], names=["as_text", "ledger"])
    assert reply(agent) == SAID


class Shelf(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(SAID)]


@tool
def by_its_tool(query: str) -> str:
    """Ask the researcher."""
    looks_up = calling_once("ledger", ASK, then=lambda _: SAID)
    made = create_agent(CountingModel(persona=looks_up), [ledger]).invoke({"messages": query})
    return made["messages"][-1].text


@tool
def by_its_retriever(query: str) -> str:
    """Ask the researcher."""
    Shelf().invoke(query)
    return saying(SAID).invoke(query).text


@tool
def by_its_thought(query: str) -> str:
    """Ask the researcher."""

    @tool
    def think(thought: str) -> str:
        """Take down a thought."""
        return f"Noted: {thought}"

    thinks = calling_once("think", {"thought": SAID}, then=lambda _: SAID)
    made = create_agent(CountingModel(persona=thinks), [think]).invoke({"messages": query})
    return made["messages"][-1].text


@tool
def by_another(query: str) -> str:
    """Ask the researcher, who asks another one."""
    asks = calling_once("as_text", ASK, then=lambda _: SAID)
    made = create_agent(CountingModel(persona=asks), [as_text]).invoke({"messages": query})
    return made["messages"][-1].text


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
    assert (reply(agent_of(palace, [sub_agent])) == SAID) is counts


@pytest.mark.parametrize("persona", [honest, lambda _: SAID])
@pytest.mark.parametrize("made", [lambda model: model, lambda model: model.with_retry()])
def test_what_its_own_palace_has_checked_is_evidence(palace, other_palace, persona, made):
    other_palace.remember(SAID, room="releases")

    @tool
    def research(query: str) -> str:
        """Ask the researcher."""
        chat = ChatPalace(inner=made(CountingModel(persona=persona)), palace=other_palace)
        return chat.invoke("Who signed the release?").text.removesuffix(" [1]")

    assert reply(agent_of(palace, [research])) == SAID


def test_what_it_wrote_to_its_tools_is_none_beside_another_model(palace, other_palace):
    other_palace.remember(HIT_TEXT, room="releases")

    @tool
    def think(thought: str) -> str:
        """Take down a thought."""
        return f"Noted: {thought}"

    @tool
    def research(query: str) -> str:
        """Ask a researcher with a palace, and a model without one."""
        thinks = calling_once("think", {"thought": SAID})
        guarded = [PalaceMiddleware(other_palace)]
        made = create_agent(CountingModel(persona=thinks), [think], middleware=guarded)
        made.invoke({"messages": HIT})
        return saying(SAID).invoke(query).text

    assert "Mallory" not in reply(agent_of(palace, [research]))


def test_what_its_own_palace_left_alone_is_none(palace, other_palace):
    @tool
    def research(query: str) -> str:
        """Ask the researcher."""
        return ChatPalace(inner=saying(SAID), palace=other_palace).invoke(PASS).text

    assert "Mallory" not in reply(agent_of(palace, [research]))


def test_no_memory_is_asked_and_its_words_are_shown(palace):
    assert reply(agent_of(palace, [as_text]), PASS) == SAID


@pytest.mark.parametrize("sub_agent", [direct, direct_update])
@pytest.mark.parametrize(("words", "text"), [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)])
@pytest.mark.parametrize("lie", ["80085 by Mallory", "Mallory: 80085"])
def test_a_reply_of_its_own_is_checked(palace, sub_agent, words, text, lie):
    agent = agent_of(palace, [sub_agent], args={"query": lie})
    made = agent.invoke({"messages": words})["messages"]
    assert text in made[-1].text
    assert lie not in made[-1].text


@pytest.mark.parametrize("sub_agent", [direct, direct_update])
@pytest.mark.parametrize(("words", "text"), [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)])
def test_a_true_one_is_shown(palace, sub_agent, words, text):
    assert reply(agent_of(palace, [sub_agent], args={"query": text}), words) == text


@tool(return_direct=True)
def direct_model(query: str) -> str:
    """Ask a model, which answers the person."""
    return saying(query).invoke("Who signed it?").text


@tool
def model_behind(query: str) -> str:
    """Ask a model."""
    return saying(query).invoke("Who signed it?").text


def shown_pieces(pieces):
    """Return what a host shows that prints the tokens of models and what tools answer directly."""
    return "".join(m.text for m, _ in pieces if m.type != "tool" or m.name.startswith("direct"))


@pytest.mark.parametrize("sub_agent", [direct, direct_model, model_behind])
@pytest.mark.parametrize(("words", "text"), [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)])
async def test_a_false_one_is_not_streamed(palace, sub_agent, words, text):
    agent = agent_of(palace, [sub_agent], args={"query": "80085 by Mallory"})
    given = {"messages": words}
    pieces = [*agent.stream(given, stream_mode="messages")]
    awaited = [piece async for piece in agent.astream(given, stream_mode="messages")]
    for said in (shown_pieces(pieces), shown_pieces(awaited)):
        assert text in said
        assert "80085" not in said


def test_what_no_memory_is_asked_for_is_streamed_as_it_comes(palace):
    agent = agent_of(palace, [model_behind], args={"query": SAID})
    pieces = agent.stream({"messages": PASS}, stream_mode="messages")
    tokens = [
        m.text for m, told in pieces if told["langgraph_node"] == "tools" and m.type != "tool"
    ]
    assert "".join(tokens) == SAID
    assert len(tokens) > 1


@tool(return_direct=True)
def direct_parts(query: str) -> list:
    """Ask a model, which answers the person in parts."""
    said = saying(query).invoke("Who signed it?").text
    return [{"type": "text", "text": "Here you are."}, {"type": "text", "text": said}]


@tool
def ending(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """End the graph around the agent with what the researcher says."""
    said = AIMessage(told(saying(query), query), additional_kwargs={"reasoning_content": query})
    update = {"messages": [ToolMessage("", tool_call_id=tool_call_id), said]}
    return Command(graph=Command.PARENT, goto=END, update=update)


@pytest.mark.parametrize(("words", "text"), [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)])
@pytest.mark.parametrize("lie", ["80085 by Mallory", None])
def test_what_ends_the_graph_around_an_agent_is_checked_where_it_is_named(palace, words, text, lie):
    args = {"query": lie or text}
    graph = StateGraph(MessagesState)
    graph.add_node("agent", agent_of(palace, [ending], args=args, direct_tools=["ending"]))
    graph.add_edge(START, "agent")

    *_, result, shown = graph.compile().invoke({"messages": words})["messages"]

    assert (result.type, result.text, shown.type) == ("tool", "", "ai")
    assert text in shown.text
    assert shown.response_metadata["palace"]["supported"] is (lie is None)
    assert "80085" not in f"{shown.content}{shown.additional_kwargs}"


def test_a_false_part_of_one_is_not_shown(palace):
    agent = agent_of(palace, [direct_parts], args={"query": "80085 by Mallory"})
    shown = agent.invoke({"messages": HIT})["messages"][-1]
    assert HIT_TEXT in str(shown.content)
    assert "80085" not in str(shown.content)


@tool
def remote(query: str) -> str:
    """Ask a researcher elsewhere."""
    return SAID


@tool
def remote_update(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Ask a researcher elsewhere."""
    return Command(update={"messages": [ToolMessage(SAID, tool_call_id=tool_call_id)]})


@pytest.mark.parametrize("asked", [remote, remote_update])
def test_a_model_elsewhere_is_named(palace, asked):
    assert reply(agent_of(palace, [asked])) == SAID
    assert "Mallory" not in reply(agent_of(palace, [asked], model_tools=[asked.name]))


def test_a_named_one_whose_result_is_the_reply_is_checked(palace):
    agent = agent_of(palace, [remote], model_tools=["remote"], direct_tools=["remote"])
    assert HIT_TEXT in agent.invoke({"messages": HIT})["messages"][2].text


def test_a_tool_that_shows_what_it_is_given_is_named(palace):
    @tool
    def show(text: str) -> str:
        """Show a text to the person."""
        return "Shown."

    lying = {"then": lambda _: HIT_TEXT, "args": {"text": LIE}}
    unnamed = agent_of(palace, [show], **lying).invoke({"messages": HIT})["messages"]
    assert unnamed[1].tool_calls
    named = agent_of(palace, [show], direct_tools=["show"], **lying).invoke({"messages": HIT})
    assert HIT_TEXT in named["messages"][-1].text
    assert not any(getattr(m, "tool_calls", None) for m in named["messages"])


def test_it_is_remembered_by_a_checkpointer(palace):
    kept, thread = InMemorySaver(), {"configurable": {"thread_id": "t"}}
    agent = agent_of(palace, [as_text], checkpointer=kept)
    agent.invoke({"messages": HIT}, thread, interrupt_after=["tools"])
    resumed = agent_of(palace, [as_text], checkpointer=kept)
    made = resumed.invoke(None, thread)["messages"]
    assert made[-2].text == SAID
    assert HIT_TEXT in made[-1].text


def test_it_is_heard_behind_a_tool_that_waits_for_a_person(palace):
    @tool
    def approved(query: str) -> str:
        """Ask the researcher, if a person lets one."""
        said = saying(SAID).invoke(query).text
        return f"{said} {interrupt('May it be told?')}"

    thread = {"configurable": {"thread_id": "t"}}
    agent = agent_of(palace, [approved], checkpointer=InMemorySaver())
    assert agent.invoke({"messages": HIT}, thread)["__interrupt__"]
    made = agent.invoke(Command(resume="Yes."), thread)["messages"]
    assert made[-2].text == f"{SAID} Yes."
    assert HIT_TEXT in made[-1].text
    assert "Mallory" not in made[-1].text


def test_it_is_heard_by_each_of_several(palace, other_palace):
    palaces = [PalaceMiddleware(other_palace, name="other"), PalaceMiddleware(palace)]
    persona = calling_once("as_text", ASK, then=repeating)
    agent = create_agent(CountingModel(persona=persona), [as_text], middleware=palaces)
    other_palace.remember(HIT_TEXT, room="releases")
    assert "Mallory" not in reply(agent)
    assert "Mallory" not in reply(
        create_agent(CountingModel(persona=persona), [as_text], middleware=palaces[::-1])
    )


@pytest.mark.parametrize("name", ["direct_tools", "model_tools"])
def test_names_are_a_list(palace, name):
    with pytest.raises(ConfigError, match=name):
        PalaceMiddleware(palace, **{name: "reply"})
    with pytest.raises(ConfigError, match=name):
        ChatPalace(inner=saying(SAID), palace=palace, **{name: "reply"})


KEEP = "Remember this: the lamp of the tower is green."


def asked_by_a_tool(palace, kind):
    @tool
    def chat(query: str) -> str:
        """Ask the researcher."""
        return ChatPalace(inner=saying("Fine."), palace=palace).invoke(query).text

    @tool
    async def awaited(query: str) -> str:
        """Ask the researcher."""
        return (await ChatPalace(inner=saying("Fine."), palace=palace).ainvoke(query)).text

    @tool
    def agent(query: str) -> str:
        """Ask the researcher."""
        made = create_agent(saying("Fine."), middleware=[PalaceMiddleware(palace)])
        return made.invoke({"messages": query})["messages"][-1].text

    @tool
    def chain(query: str) -> str:
        """Ask the researcher."""
        return PalaceRunnable(bound=saying("Fine."), palace=palace).invoke(query).text

    return {"chat": chat, "awaited": awaited, "agent": agent, "chain": chain}[kind]


@pytest.mark.parametrize("kind", ["chat", "awaited", "agent", "chain"])
@pytest.mark.parametrize("words", [HIT, PASS])
@pytest.mark.parametrize("around", ["middleware", "runnable"])
async def test_what_a_model_tells_one_is_no_word_of_the_person(
    palace, other_palace, kind, words, around
):
    asked = asked_by_a_tool(other_palace, kind)
    persona = calling_once(asked.name, {"query": KEEP}, then=honest)
    if around == "middleware":
        agent = create_agent(
            CountingModel(persona=persona), [asked], middleware=[PalaceMiddleware(palace)]
        )
    else:
        bound = create_agent(CountingModel(persona=persona), [asked])
        agent = PalaceRunnable(bound=bound, palace=palace)
    await agent.ainvoke({"messages": [("user", words)]})
    assert other_palace.memories() == []


def test_what_the_person_tells_one_is_kept(palace, other_palace):
    ChatPalace(inner=saying("Fine."), palace=other_palace).invoke(KEEP)
    assert len(other_palace.memories()) == 1


# -- another agent that goes on ------------------------------------------------------------------


@tool
def hand_over(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Hand over to the researcher."""
    told = ToolMessage("Handed over.", tool_call_id=tool_call_id)
    return Command(goto="researcher", graph=Command.PARENT, update={"messages": [told]})


def team_of(first, second):
    graph = StateGraph(MessagesState)
    graph.add_node("first", first, destinations=("researcher",))
    graph.add_node("researcher", create_agent(second))
    return graph.add_edge(START, "first").compile()


def test_who_gets_a_checked_turn_is_warned_of_once(palace, caplog):
    team = team_of(agent_of(palace, [hand_over]), saying(SAID))
    for words in (PASS, HIT, HIT):
        assert team.invoke({"messages": words})["messages"][-1].text == SAID
    assert [r.getMessage() for r in caplog.records if "goes on" in r.getMessage()] == [
        "'researcher' goes on with a checked turn: what it says is checked only where its own model"
        " is wrapped, or the whole graph is"
    ]


def test_what_it_says_is_checked_where_the_whole_graph_is_wrapped(palace):
    calling = calling_once("hand_over", ASK, then=honest)
    team = team_of(create_agent(CountingModel(persona=calling), [hand_over]), saying(SAID))
    made = PalaceRunnable(bound=team, palace=palace).invoke({"messages": [("user", HIT)]})
    assert HIT_TEXT in made["messages"][-1].text
    assert "Mallory" not in made["messages"][-1].text
