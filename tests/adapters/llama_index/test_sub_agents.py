"""A model behind a tool of an agent: what it says is no evidence, what it has found is."""

from __future__ import annotations

import asyncio
import threading

import pytest
from llama_index.core import PromptTemplate
from llama_index.core.agent.workflow import (
    AgentWorkflow,
    FunctionAgent,
    ReActAgent,
    base_agent,
)
from llama_index.core.base.llms.types import ChatMessage, LLMMetadata
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from llama_index_palace import PalaceLLM, PalaceMemoryBlock, PalaceQueryEngine

from palace import ConfigError
from tests.adapters.llama_index.scripted import (
    FALLBACK,
    HIT,
    MISS,
    PASS,
    UNCLEAR,
    Found,
    ScriptedLLM,
    code_text,
    open_palace,
    paint_text,
)

SAID = "The release was signed by Mallory Quimby at 03:17."
ASK = {"query": "Who signed it?"}


class Repeating(ScriptedLLM):
    """Says what the last tool answered."""

    def _answer(self, text: str) -> str:
        told = [line for line in text.splitlines() if line.startswith(("tool: ", "user: Obs"))]
        return told[-1].removeprefix("tool: ").removeprefix("user: Observation: ")


def saying(text: str = SAID, **fields) -> ScriptedLLM:
    return ScriptedLLM(answer=text, **fields)


def engine_on(retriever, llm, mode="compact"):
    synthesizer = get_response_synthesizer(llm=llm, response_mode=mode)
    return RetrieverQueryEngine(retriever, synthesizer)


def by_chat(query: str) -> str:
    """Ask the researcher."""
    return str(saying().chat([ChatMessage(role="user", content=query)]).message.content)


def by_completion(query: str) -> str:
    """Ask the researcher."""
    return f"Result: {saying(f'I think so. {SAID}').complete(query).text[12:]}"


def by_prediction(query: str) -> str:
    """Ask the researcher."""
    return saying().predict(PromptTemplate("{query_str}"), query_str=query)


def by_stream(query: str) -> str:
    """Ask the researcher."""
    chunks = [*saying().stream_chat([ChatMessage(role="user", content=query)])]
    return str(chunks[-1].message.content)


async def by_awaited(query: str) -> str:
    """Ask the researcher."""
    return (await saying().acomplete(query)).text


async def by_awaited_stream(query: str) -> str:
    """Ask the researcher."""
    pieces = await saying().astream_complete(query)
    return "".join([piece.delta or "" async for piece in pieces])


def by_streamed_completion(query: str) -> str:
    """Ask the researcher."""
    return "".join(piece.delta or "" for piece in saying().stream_complete(query))


async def by_awaited_chat(query: str) -> str:
    """Ask the researcher."""
    said = await saying().achat([ChatMessage(role="user", content=query)])
    return str(said.message.content)


async def by_awaited_chat_stream(query: str) -> str:
    """Ask the researcher."""
    pieces = await saying().astream_chat([ChatMessage(role="user", content=query)])
    return [str(piece.message.content) async for piece in pieces][-1]


async def by_agent(query: str) -> str:
    """Ask the researcher."""
    return str(await FunctionAgent(llm=saying(), tools=[]).run(query))


async def by_reasoning_agent(query: str) -> str:
    """Ask the researcher."""
    return str(await ReActAgent(llm=saying(functions=False), tools=[]).run(query))


async def by_workflow(query: str) -> str:
    """Ask the researchers."""
    return str(await AgentWorkflow([FunctionAgent(llm=saying(), name="one")]).run(query))


def by_error(query: str) -> str:
    """Ask the researcher, who fails."""
    raise ValueError(saying().complete(query).text)


def by_engine(query: str) -> str:
    """Ask the engine."""
    return str(engine_on(Found("Nothing of interest."), saying()).query(query))


def named(tool, name):
    tool.metadata.name = name
    return tool


def ledger(query: str) -> str:
    """Look it up in the ledger."""
    return SAID


ENGINE = named(
    QueryEngineTool.from_defaults(engine_on(Found("Nothing of interest."), saying())), "engine"
)
BEHIND = [
    by_chat,
    by_completion,
    by_prediction,
    by_stream,
    by_awaited,
    by_awaited_stream,
    by_streamed_completion,
    by_awaited_chat,
    by_awaited_chat_stream,
    by_agent,
    by_reasoning_agent,
    by_workflow,
    by_error,
    by_engine,
]
KINDS = [FunctionAgent, ReActAgent]


def asking(palace, tools, args=ASK, *, kind=FunctionAgent, name=None, model=Repeating, **options):
    tools = [t if not callable(t) or hasattr(t, "metadata") else made_of(t) for t in tools]
    first = name or tools[0].metadata.name
    llm = model(tool=first, tool_arguments=args, functions=kind is FunctionAgent)
    return PalaceLLM(llm, palace, **options), tools


def made_of(function, **options) -> FunctionTool:
    return FunctionTool.from_defaults(function, **options)


async def reply(palace, tools, words=HIT, *, kind=FunctionAgent, streaming=True, **options):
    llm, tools = asking(palace, tools, kind=kind, **options)
    return str(await kind(llm=llm, tools=tools, streaming=streaming).run(words))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("behind", [*BEHIND, ENGINE])
async def test_its_words_are_no_evidence(palace, behind, kind, streaming):
    said = await reply(palace, [behind], kind=kind, streaming=streaming)
    assert code_text(None) in said
    assert "Mallory" not in said


@pytest.mark.parametrize("kind", KINDS)
async def test_what_a_tool_looked_up_is_evidence(palace, kind):
    assert await reply(palace, [ledger], kind=kind) == SAID


class Thinking(ScriptedLLM):
    """Calls two tools, one after the other, and repeats what both answered."""

    def _say(self, messages, tools=()):
        done = sum(m.role.value == "tool" for m in messages)
        self.tool = ["by_chat", "ledger", ""][done]
        self.tool_arguments = ASK
        if not self.tool:
            return ChatMessage(role="assistant", content=SAID)
        call = {"id": str(done), "name": self.tool, "arguments": ASK}
        return ChatMessage(role="assistant", additional_kwargs={"tool_calls": [call]})


async def test_so_it_is_beside_a_sub_agent(palace):
    """But for the one text that both gave."""

    def register(query: str) -> str:
        """Look it up."""
        return f"Register: {SAID}"

    tools = [made_of(by_chat), made_of(register, name="ledger")]
    assert await reply(palace, tools, model=Thinking) == SAID


async def by_its_tool(query: str) -> str:
    """Ask the researcher."""
    llm = saying(tool="ledger", tool_arguments=ASK)
    return str(await FunctionAgent(llm=llm, tools=[ledger]).run(query))


def by_its_retriever(query: str) -> str:
    """Ask the engine."""
    return str(engine_on(Found(SAID), saying()).query(query))


async def by_its_retriever_tool(query: str) -> str:
    """Ask the researcher."""
    shelf = named(RetrieverTool.from_defaults(Found(SAID)), "shelf")
    llm = saying(tool="shelf", tool_arguments={"input": query})
    return str(await FunctionAgent(llm=llm, tools=[shelf]).run(query))


async def by_its_thought(query: str) -> str:
    """Ask the researcher."""

    def think(thought: str) -> str:
        """Take down a thought."""
        return f"Noted: {thought}"

    llm = saying(tool="think", tool_arguments={"thought": SAID})
    return str(await FunctionAgent(llm=llm, tools=[think]).run(query))


async def by_another(query: str) -> str:
    """Ask the researcher, who asks another one."""
    llm = saying(tool="by_chat", tool_arguments=ASK)
    return str(await FunctionAgent(llm=llm, tools=[by_chat]).run(query))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("sub_agent", "counts"),
    [
        (by_its_tool, True),
        (by_its_retriever, True),
        (by_its_retriever_tool, True),
        (by_its_thought, False),
        (by_another, False),
    ],
)
async def test_what_it_has_found_is_evidence_and_what_it_thought_is_none(
    palace, sub_agent, counts, kind
):
    assert (await reply(palace, [sub_agent], kind=kind) == SAID) is counts


@pytest.fixture
def other_palace(tmp_path):
    with open_palace(tmp_path / "other") as opened:
        yield opened


@pytest.mark.parametrize("answer", ["honest", SAID])
@pytest.mark.parametrize("how", ["agent", "streamed", "engine", "engine alone"])
async def test_what_its_own_palace_has_checked_is_evidence(palace, other_palace, answer, how):
    async def research(query: str) -> str:
        """Ask the researcher."""
        llm = PalaceLLM(saying(answer), other_palace, session_id="8822")
        if how == "agent":
            said = str(await FunctionAgent(llm=llm, tools=[], streaming=False).run(HIT))
        elif how == "streamed":
            pieces = await llm.astream_complete(HIT)
            said = "".join([piece.delta or "" async for piece in pieces])
        else:
            inner = engine_on(Found("Nothing of interest."), saying(answer))
            model = llm.inner if how == "engine" else None
            engine = PalaceQueryEngine(inner, other_palace, llm=model, session_id="8822")
            said = str(await engine.aquery(HIT))
        return said.removesuffix(" [1]")

    said = await reply(palace, [research])
    # What it made up was replaced by its memory, and counts as little as in LangChain.
    assert (code_text("8822") in said) is (answer == "honest")
    assert "Mallory" not in said


class Lazy(CustomLLM):
    """A model of somebody's own: LlamaIndex asks it when its stream is read."""

    @property
    def metadata(self):
        return LLMMetadata(context_window=100_000)

    def complete(self, prompt, formatted=False, **kwargs):
        return saying("honest").complete(prompt)

    def stream_complete(self, prompt, formatted=False, **kwargs):
        return saying("honest").stream_complete(prompt)


@pytest.mark.parametrize("streaming", [False, True])
async def test_so_it_is_with_a_model_that_is_asked_when_its_stream_is_read(
    palace, other_palace, streaming
):
    async def research(query: str) -> str:
        """Ask the researcher."""
        llm = PalaceLLM(Lazy(), other_palace, session_id="8822")
        agent = ReActAgent(llm=llm, tools=[], streaming=streaming)
        return str(await agent.run(HIT)).removesuffix(" [1]")

    assert await reply(palace, [research]) == code_text("8822")


async def test_what_its_own_palace_left_alone_is_none(palace, other_palace):
    async def research(query: str) -> str:
        """Ask the researcher."""
        llm = PalaceLLM(saying(), other_palace)
        return str(await FunctionAgent(llm=llm, tools=[]).run(PASS))

    def engine(query: str) -> str:
        """Ask the engine."""
        return str(
            PalaceQueryEngine(
                engine_on(Found("Nothing of interest."), saying()), other_palace
            ).query(PASS)
        )

    for behind in (research, engine):
        assert "Mallory" not in await reply(palace, [behind])


@pytest.mark.parametrize("kind", KINDS)
async def test_no_memory_is_asked_and_its_words_are_shown(palace, kind):
    assert await reply(palace, [by_chat], PASS, kind=kind) == SAID


async def test_on_a_miss_nobody_is_asked(palace):
    asked = []

    def research(query: str) -> str:
        """Ask the researcher."""
        asked.append(query)
        return by_chat(query)

    assert await reply(palace, [research], MISS) == FALLBACK
    assert not asked


# -- where its result is the reply -------------------------------------------------------------------


def direct(query: str) -> str:
    """Ask the researcher, who answers the person."""
    return str(saying(query).complete("Who signed it?"))


async def direct_agent(query: str) -> str:
    """Ask the researcher, who answers the person."""
    return str(await FunctionAgent(llm=saying(query), tools=[]).run("Who signed it?"))


async def direct_team(query: str) -> str:
    """Ask the researcher, who looks it up and answers the person."""

    def look(words: str) -> str:
        """Look it up."""
        return "Nothing of interest."

    llm = saying(query, tool="look", tool_arguments={"words": "signed"})
    return str(await FunctionAgent(llm=llm, tools=[look]).run("Who signed it?"))


DIRECT = [direct, direct_agent, direct_team]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", DIRECT)
@pytest.mark.parametrize(("words", "text"), [(HIT, code_text(None)), (UNCLEAR, paint_text(None))])
@pytest.mark.parametrize("lie", ["80085 by Mallory", "Mallory: 80085"])
async def test_a_reply_of_its_own_is_checked(palace, function, words, text, lie, kind):
    llm, tools = asking(palace, [made_of(function, return_direct=True)], {"query": lie}, kind=kind)
    handler = kind(llm=llm, tools=tools).run(words)
    shown = [event async for event in handler.stream_events() if hasattr(event, "tool_output")]
    said = str(await handler)
    assert text in said
    assert lie not in said
    assert shown
    assert lie not in str([(e.tool_output.content, e.tool_output.raw_output) for e in shown])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", DIRECT)
@pytest.mark.parametrize(
    ("words", "text"),
    [(HIT, code_text(None)), (UNCLEAR, paint_text(None)), (PASS, "80085 by Mallory")],
)
async def test_a_true_one_is_shown(palace, function, words, text, kind):
    tool = made_of(function, return_direct=True)
    assert await reply(palace, [tool], words, args={"query": text}, kind=kind) == text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lie", ["80085 by Mallory", None])
async def test_what_is_released_of_one_is_in_the_journal(palace, kind, lie):
    tool = made_of(direct, return_direct=True)
    said = await reply(palace, [tool], args={"query": lie or code_text(None)}, kind=kind)
    (record,) = palace.journal.records(type="answer")
    assert record["supported"] is not bool(lie)
    assert ("Mallory" in str(record)) is bool(lie)
    assert code_text(None) in said


async def test_what_a_reasoning_agent_goes_on_from_is_no_reply_in_the_journal(palace):
    await reply(palace, [by_chat], kind=ReActAgent)
    assert len([*palace.journal.records(type="answer")]) == 1


async def test_a_reply_from_what_it_has_found_is_shown(palace):
    engine = engine_on(Found(SAID), saying())
    tool = named(QueryEngineTool.from_defaults(engine, return_direct=True), "engine")
    assert await reply(palace, [tool], args={"input": "Who?"}) == SAID


@pytest.mark.parametrize("awaited", [False, True])
async def test_so_it_is_where_a_tool_is_predicted_and_called(palace, awaited):
    for words, text in ((HIT, code_text(None)), (PASS, "80085 by Mallory")):
        llm, tools = asking(palace, [direct], {"query": "80085 by Mallory"})
        if awaited:
            said = await llm.apredict_and_call(tools, words)
        else:
            said = await asyncio.to_thread(llm.predict_and_call, tools, words)
        assert text in str(said.response)
        assert str(said.response) == str(said.sources[0].content)


async def test_of_two_who_ask_the_same_neither_gets_the_memory_of_the_other(palace):
    both = threading.Barrier(2)

    def research(query: str) -> str:
        """Ask the researcher, who answers the person."""
        both.wait(5)
        return direct(query)

    tool = made_of(research, return_direct=True)
    args = {"query": "80085 by Mallory"}
    ones = [
        reply(palace, [tool], args=args, session_id=session, streaming=False)
        for session in ("one", "two")
    ]
    said = await asyncio.gather(*ones)
    assert "80085" not in str(said)
    assert code_text("two") not in said[0]
    assert code_text("one") not in said[1]


@pytest.mark.skipif(
    not hasattr(base_agent, "_get_waiting_for_event_exception"),
    reason="this version of LlamaIndex takes waiting for a failure of the tool",
)
@pytest.mark.parametrize("return_direct", [False, True])
async def test_it_is_heard_behind_a_tool_that_waits_for_a_person(palace, return_direct):
    async def approved(ctx: Context, query: str) -> str:
        """Ask the researcher, if a person lets one."""
        said = (await saying(SAID).acomplete(query)).text
        asked = InputRequiredEvent(prefix="May it be told?")
        answer = await ctx.wait_for_event(HumanResponseEvent, waiter_event=asked)
        return f"{said} {answer.response}"

    approved.__annotations__["ctx"] = Context  # the host does not read annotations kept as text
    tool = made_of(approved, return_direct=return_direct)
    args = {"query": "Who?"}
    llm, tools = asking(palace, [tool], args)
    for words in (HIT, PASS, HIT):
        handler = FunctionAgent(llm=llm, tools=tools).run(words)
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                handler.ctx.send_event(HumanResponseEvent(response="Yes."))
        said = str(await handler)
        assert ("Mallory" in said) is (words == PASS)


# -- what a model writes to one ----------------------------------------------------------------------


KEEP = "Remember this: the lamp of the tower is green."


@pytest.mark.parametrize("how", ["agent", "streamed", "engine", "block", "tools"])
@pytest.mark.parametrize("words", [HIT, PASS])
async def test_what_a_model_tells_one_is_no_word_of_the_person(palace, other_palace, how, words):
    llm = PalaceLLM(saying("Fine."), other_palace)

    async def research(query: str) -> str:
        """Ask the researcher."""
        if how == "agent":
            return str(await FunctionAgent(llm=llm, tools=[]).run(query))
        if how == "streamed":
            pieces = await llm.astream_complete(query)
            return "".join([piece.delta or "" async for piece in pieces])
        if how == "engine":
            engine = PalaceQueryEngine(
                engine_on(Found("Nothing of interest."), saying("Fine.")), other_palace
            )
            return str(await engine.aquery(query))
        if how == "block":
            asked = [ChatMessage(role="user", content=query)]
            return await PalaceMemoryBlock(other_palace).aget(asked)
        inner = ScriptedLLM(tool="by_llm", tool_arguments={"query": query})

        async def by_llm(query: str) -> str:
            """Ask another one."""
            return (await llm.acomplete(query)).text

        agent = FunctionAgent(llm=PalaceLLM(inner, other_palace), tools=[by_llm])
        return str(await agent.run(PASS))

    await reply(palace, [research], words, args={"query": KEEP})
    assert other_palace.memories() == []


async def test_nor_is_what_one_without_a_palace_tells_an_engine(palace):
    engine = PalaceQueryEngine(engine_on(Found("Nothing of interest."), saying("Fine.")), palace)
    tool = named(QueryEngineTool.from_defaults(engine), "engine")
    bare = ScriptedLLM(tool="engine", tool_arguments={"input": KEEP})
    await FunctionAgent(llm=bare, tools=[tool]).run(PASS)
    assert palace.memories() == []


async def test_what_the_person_tells_is_kept(palace):
    await reply(palace, [by_chat], KEEP)
    assert len(palace.memories()) == 1


# -- where it is not heard ---------------------------------------------------------------------------


def remote(query: str) -> str:
    """Ask a researcher elsewhere."""
    return SAID


@pytest.mark.parametrize("kind", KINDS)
async def test_a_model_elsewhere_is_named(palace, kind):
    assert await reply(palace, [remote], kind=kind) == SAID
    assert "Mallory" not in await reply(palace, [remote], kind=kind, model_tools=["remote"])
    beside = [remote, by_chat]
    assert await reply(palace, beside, kind=kind, model_tools=["by_chat"]) == SAID


@pytest.mark.parametrize("told", [{"name": "remote"}, {"tool_call_id": "1"}])
def test_so_it_is_in_a_loop_of_ones_own(palace, told):
    call = {"id": "1", "name": "remote", "arguments": ASK}
    messages = [
        ChatMessage(role="user", content=HIT),
        ChatMessage(role="assistant", additional_kwargs={"tool_calls": [call]}),
        ChatMessage(role="tool", content=SAID, additional_kwargs=told),
    ]
    assert PalaceLLM(saying(), palace).chat(messages).message.content == SAID
    llm = PalaceLLM(saying(), palace, model_tools=["remote"])
    assert code_text(None) in llm.chat(messages).message.content


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("words", "text"), [(HIT, code_text(None)), (UNCLEAR, paint_text(None))])
async def test_a_named_one_whose_result_would_be_the_reply_is_not_called(palace, words, text, kind):
    called = []

    def elsewhere(query: str) -> str:
        """Ask a researcher elsewhere, who answers the person."""
        called.append(query)
        return SAID

    tool = made_of(elsewhere, return_direct=True)
    names = {"direct_tools": ["elsewhere"], "model_tools": ["elsewhere"]}
    assert text in await reply(palace, [tool], words, kind=kind, **names)
    assert not called
    assert await reply(palace, [tool], PASS, kind=kind, **names) == SAID


def test_they_are_named_in_a_list(palace):
    with pytest.raises(ConfigError, match="model_tools"):
        PalaceLLM(ScriptedLLM(), palace, model_tools="remote")
