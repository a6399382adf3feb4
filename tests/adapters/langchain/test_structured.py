"""Structured output: grounded values, or a typed miss."""

from __future__ import annotations

import contextlib
import json
from functools import reduce
from operator import add, itemgetter

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from langchain_core.runnables import RunnableMap, RunnablePassthrough
from langchain_core.tools import Tool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_palace import ChatPalace, PalaceMiddleware
from pydantic import BaseModel

from palace import DECLINE_TOKEN, ModelError, RecallMiss, UngroundedAnswerError
from tests.adapters.langchain.doubles import (
    FALLBACK,
    HIT,
    LIARS,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    Recorder,
    calling,
    declining,
    honest,
    out_of,
)


class Shipped(BaseModel):
    """When something was shipped."""

    version: str
    date: str
    is_final: bool = False


def shipping(date="2026-03-02", version="4.1.0"):
    def persona(asked):
        if asked.is_pointing:
            return honest(asked)
        return calling("Shipped", {"version": version, "date": date})

    return persona


WAYS = ["invoke", "ainvoke", "batch", "astream"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_hit_gives_an_object_of_the_schema(palace, way):
    model = CountingModel(persona=shipping())
    chain = ChatPalace(inner=model, palace=palace).with_structured_output(Shipped)

    assert await out_of(chain, way, HIT) == Shipped(version="4.1.0", date="2026-03-02")
    assert model.calls == 1


@pytest.mark.parametrize("way", WAYS)
async def test_a_miss_is_typed_and_never_none(palace, way):
    model = CountingModel(persona=shipping())
    chat = ChatPalace(inner=model, palace=palace)

    with pytest.raises(RecallMiss, match="memory palace"):
        await out_of(chat.with_structured_output(Shipped), way, MISS)
    with pytest.raises(LookupError):
        await out_of(chat.with_structured_output(Shipped, include_raw=True), way, MISS)
    fallen = chat.with_structured_output(Shipped, on_miss=lambda text: ("missed", text))
    assert await out_of(fallen, way, MISS) == ("missed", FALLBACK)
    assert model.calls == 0


@pytest.mark.parametrize("way", WAYS)
async def test_a_value_that_is_not_in_memory_is_refused(palace, way):
    for persona in (shipping("2026-04-09"), shipping(version="Mallory 9")):
        chat = ChatPalace(inner=CountingModel(persona=persona), palace=palace)
        with pytest.raises(UngroundedAnswerError):
            await out_of(chat.with_structured_output(Shipped), way, HIT)


@pytest.mark.parametrize("way", WAYS)
async def test_unclear_evidence_is_quoted_first_here_too(palace, way):
    model = CountingModel(persona=declining)
    chain = ChatPalace(inner=model, palace=palace).with_structured_output(Shipped)

    with pytest.raises(RecallMiss):
        await out_of(chain, way, UNCLEAR)

    assert model.calls == 1
    assert model.asked[0].tools == ["point_to_memory"]


@pytest.mark.parametrize("liar", LIARS[:4], ids=lambda p: p.__name__)
def test_a_liar_gets_no_object_out_of_unclear_evidence(palace, liar):
    model = CountingModel(persona=liar)
    chain = ChatPalace(inner=model, palace=palace).with_structured_output(Shipped)

    with pytest.raises(RecallMiss):
        chain.invoke(UNCLEAR)
    assert model.calls == 1


def test_values_of_a_confirmed_answer_rest_on_the_quoted_memory(palace):
    def persona(asked, theme="blue"):
        if asked.is_pointing:
            return honest(asked)
        return calling("Theme", {"theme": theme})

    class Theme(BaseModel):
        """A theme."""

        theme: str

    model = CountingModel(persona=persona)
    chat = ChatPalace(inner=model, palace=palace)
    assert chat.with_structured_output(Theme).invoke(UNCLEAR) == Theme(theme="blue")
    assert UNCLEAR_TEXT in model.asked[1].text
    lying = CountingModel(persona=lambda a: persona(a, "Vermilion 80085"))
    with pytest.raises(UngroundedAnswerError):
        ChatPalace(inner=lying, palace=palace).with_structured_output(Theme).invoke(UNCLEAR)


@pytest.mark.parametrize(("prompt", "action"), [(HIT, "ground"), (PASS, "pass")])
def test_the_raw_message_tells_the_verdict(palace, prompt, action):
    chat = ChatPalace(inner=CountingModel(persona=shipping()), palace=palace)

    out = chat.with_structured_output(Shipped, include_raw=True).invoke(prompt)

    assert out["raw"].response_metadata["palace"]["action"] == action
    assert out["raw"].tool_calls[0]["name"] == "Shipped"
    assert out["parsed"] == Shipped(version="4.1.0", date="2026-03-02")


def test_the_raw_message_says_no_more_than_the_object(palace):
    told = {"version": "4.1.0", "date": "2026-03-02"}

    def persona(asked, **more):
        beside = calling("Shipped", {**told, **more}, text=LIE)
        return beside.model_copy(update={"additional_kwargs": {"reasoning_content": LIE}})

    chat = ChatPalace(inner=CountingModel(persona=persona), palace=palace)
    out = chat.with_structured_output(Shipped, include_raw=True).invoke(HIT)
    assert "Mallory" not in f"{out}"
    assert out["raw"].tool_calls[0]["args"] == told
    chat = ChatPalace(inner=CountingModel(persona=lambda a: persona(a, note=LIE)), palace=palace)
    with pytest.raises(UngroundedAnswerError):
        chat.with_structured_output(Shipped, include_raw=True).invoke(HIT)


@pytest.mark.parametrize("way", WAYS)
async def test_an_error_does_not_repeat_what_the_model_made_up(palace, way):
    call = {"name": "Shipped", "arguments": "{" + LIE}
    unreadable = AIMessage("", additional_kwargs={"tool_calls": [{"id": "c", "function": call}]})

    def persona(asked):
        return honest(asked) if asked.is_pointing else calling("Shipped", {"version": [LIE]})

    for said in (persona, lambda asked: honest(asked) if asked.is_pointing else unreadable):
        chat = ChatPalace(inner=CountingModel(persona=said), palace=palace)
        for prompt in (HIT, UNCLEAR):
            with pytest.raises(ModelError) as caught:
                await out_of(chat.with_structured_output(Shipped), way, prompt)
            assert "80085" not in str(caught.value)


def test_a_graph_does_not_stream_what_is_not_checked(palace):
    graph = pytest.importorskip("langgraph.graph")

    def persona(asked):
        if asked.is_pointing:
            return honest(asked)
        return calling("Shipped", {"version": "4.1.0", "date": "2026-03-02"}, text=LIE)

    chat = ChatPalace(inner=CountingModel(persona=persona), palace=palace)

    def node(state):
        with contextlib.suppress(UngroundedAnswerError):
            chat.with_structured_output(Shipped).invoke(state["messages"])
        return {"messages": []}

    built = graph.StateGraph(graph.MessagesState).add_node("node", node)
    app = built.add_edge(graph.START, "node").compile()
    for prompt, seen in ((HIT, False), (UNCLEAR, False), (PASS, True)):
        asked = {"messages": [HumanMessage(prompt)]}
        pieces = list(app.stream(asked, stream_mode="messages"))
        assert ("80085" in f"{[m.text for m, _ in pieces]}") is seen


def test_what_is_no_recall_passes(palace):
    chat = ChatPalace(inner=CountingModel(persona=shipping("today")), palace=palace)

    assert chat.with_structured_output(Shipped).invoke(PASS).date == "today"


def test_callbacks_are_told_once(palace):
    recorder = Recorder()
    chat = ChatPalace(inner=CountingModel(persona=shipping()), palace=palace)

    config = {"callbacks": [recorder.handler()]}
    chat.with_structured_output(Shipped).invoke(HIT, config)

    assert recorder.events == ["retriever_start", "retriever_end:1", "model_start", "model_end"]


def test_sessions_are_kept_apart(palace):
    palace.remember("We chose release 7.7.0 as the version of 2026-01-01.", session_id="a")
    ask = "Which release did we choose as the version of 2026-01-01?"
    model = CountingModel(persona=shipping("2026-01-01", "7.7.0"))
    chain = ChatPalace(inner=model, palace=palace).with_structured_output(Shipped)

    assert chain.invoke(ask, {"configurable": {"session_id": "a"}}).version == "7.7.0"
    asked = model.calls
    with contextlib.suppress(RecallMiss, UngroundedAnswerError):
        chain.invoke(ask, {"configurable": {"session_id": "b"}})
    assert all("7.7.0" not in a.everything for a in model.asked[asked:])


class JsonModel(CountingModel):
    """Answers in JSON, which needs no schema, as some providers' models."""

    def with_structured_output(self, schema=None, *, include_raw=False, **kwargs):
        parser = PydanticOutputParser(pydantic_object=schema) if schema else JsonOutputParser()
        if not include_raw:
            return self | parser
        parsed = RunnablePassthrough.assign(
            parsed=itemgetter("raw") | parser, parsing_error=lambda _: None
        )
        failed = RunnablePassthrough.assign(parsed=lambda _: None)
        return RunnableMap(raw=self) | parsed.with_fallbacks(
            [failed], exception_key="parsing_error"
        )


def json_of(said, palace, kind=JsonModel):
    def persona(asked):
        return honest(asked) if asked.is_pointing else said

    return ChatPalace(inner=kind(persona=persona), palace=palace)


DECLINED = {
    "text": DECLINE_TOKEN,
    "value": json.dumps({"version": DECLINE_TOKEN, "date": DECLINE_TOKEN}),
    "call": calling("Shipped", {"version": "4.1.0", "date": DECLINE_TOKEN}),
}


@pytest.mark.parametrize("said", DECLINED)
@pytest.mark.parametrize("include_raw", [False, True])
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_model_declines_where_it_can(palace, said, include_raw, prompt, way):
    kind = CountingModel if said == "call" else JsonModel
    chat = json_of(DECLINED[said], palace, kind)

    with pytest.raises(RecallMiss, match=FALLBACK):
        await out_of(chat.with_structured_output(Shipped, include_raw=include_raw), way, prompt)
    softly = chat.with_structured_output(Shipped, include_raw=include_raw, on_miss=str.upper)
    assert await out_of(softly, way, prompt) == FALLBACK.upper()
    assert len([*palace.journal.records(type="answer")]) == 2


@pytest.mark.parametrize("include_raw", [False, True])
@pytest.mark.parametrize("said", [LIE, json.dumps({"wrong": LIE})])
def test_json_that_cannot_be_read_is_an_error_whoever_reads_it(palace, include_raw, said):
    chain = json_of(said, palace).with_structured_output(Shipped, include_raw=include_raw)

    with pytest.raises(ModelError) as caught:
        chain.invoke(HIT)
    assert "80085" not in str(caught.value)


@pytest.mark.parametrize("schema", [None, Shipped])
async def test_what_is_no_recall_streams_as_it_does_without_the_palace(palace, schema):
    def answer(chat):
        return chat.with_structured_output(schema)

    model = JsonModel(persona=lambda asked: '{"version": "1 or 2", "date": "some day in May"}')
    told = answer(ChatPalace(inner=model, palace=palace))
    bare = list(answer(model).stream(PASS))

    assert len(bare) > 3
    assert list(told.stream(PASS)) == bare
    assert [chunk async for chunk in told.astream(PASS)] == bare


def test_the_raw_message_of_a_stream_tells_the_verdict(palace):
    told = ChatPalace(inner=CountingModel(persona=shipping()), palace=palace)
    chain = told.with_structured_output(Shipped, include_raw=True)

    raw = reduce(add, chain.stream(PASS))["raw"]

    assert raw.response_metadata["palace"]["action"] == "pass"


def test_a_model_may_be_asked_for_any_json(palace):
    def given(date):
        return json_of(json.dumps({"date": date}), palace).with_structured_output()

    assert given("2026-03-02").invoke(HIT) == {"date": "2026-03-02"}
    with pytest.raises(UngroundedAnswerError):
        given("2026-04-09").invoke(HIT)
    with pytest.raises(RecallMiss):
        given("2026-03-02").invoke(MISS)


@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_a_forced_tool_is_a_schema_too(palace, way):
    def run(chat, prompt):
        bound = chat.bind_tools([Shipped], tool_choice="any")
        if way == "invoke":
            return bound.invoke(prompt)
        return reduce(add, bound.stream(prompt))

    true = ChatPalace(inner=CountingModel(persona=shipping()), palace=palace)
    assert run(true, HIT).tool_calls[0]["args"]["date"] == "2026-03-02"
    with pytest.raises(RecallMiss):  # a text would only be asked for again and again
        run(true, MISS)
    false = ChatPalace(inner=CountingModel(persona=shipping("2026-04-09")), palace=palace)
    with pytest.raises(UngroundedAnswerError):
        run(false, HIT)


@tool
def clock() -> str:
    """Tell the time."""
    return "noon"


def agent_of(persona, palace):
    chat = ChatPalace(inner=CountingModel(persona=persona), palace=palace)
    return create_agent(chat, tools=[clock], response_format=ToolStrategy(Shipped))


def asking_for(prompt):
    return {"messages": [{"role": "user", "content": prompt}]}


def test_an_agent_with_tools_of_its_own_gets_a_grounded_answer(palace):
    made = agent_of(shipping(), palace).invoke(asking_for(HIT))

    assert made["structured_response"] == Shipped(version="4.1.0", date="2026-03-02")


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
def test_an_agent_with_tools_of_its_own_gets_no_invented_answer(palace, prompt):
    with pytest.raises(UngroundedAnswerError):
        agent_of(shipping(date="2026-03-09"), palace).invoke(asking_for(prompt))


OWN_TOOLS = [
    {"type": "web_search"},
    {"type": "code_interpreter", "container": {"type": "auto"}},
    Tool("run", str, "Runs code.", metadata={"type": "custom_tool"}),  # takes plain text
]


class SearchingModel(CountingModel):
    """Has tools of its own, which its provider runs."""

    def bind_tools(self, tools, **kwargs):
        kept = [tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=kept, **kwargs)


@pytest.mark.parametrize("guarded", [True, False])
def test_tools_of_the_provider_stand_beside_a_schema(palace, guarded):
    def persona(asked):
        if asked.is_pointing:
            return honest(asked)
        return calling("Shipped", {"version": "4.1.0", "date": "2026-03-02"})

    model = SearchingModel(persona=persona)
    model = ChatPalace(inner=model, palace=palace) if guarded else model
    middleware = [] if guarded else [PalaceMiddleware(palace)]
    agent = create_agent(
        model, OWN_TOOLS, response_format=ToolStrategy(Shipped), middleware=middleware
    )

    made = agent.invoke(asking_for(HIT))["structured_response"]
    assert made == Shipped(version="4.1.0", date="2026-03-02")


def test_arguments_of_an_ordinary_tool_are_no_answer(palace):
    def persona(asked):
        return shipping()(asked) if asked.is_after_tool else calling("clock", {"zone": "UTC+9"})

    made = agent_of(persona, palace).invoke(asking_for(HIT))

    assert made["structured_response"] == Shipped(version="4.1.0", date="2026-03-02")
