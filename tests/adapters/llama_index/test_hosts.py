"""PalaceLLM in every host of LlamaIndex: no call on a miss, however the host asks."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from llama_index.core.agent.workflow import (
    AgentStream,
    AgentWorkflow,
    CodeActAgent,
    FunctionAgent,
    ReActAgent,
)
from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.memory import ChatMemoryBuffer, InsertMethod, Memory
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine, RouterQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.tools import FunctionTool, QueryEngineTool
from llama_index_palace import PalaceLLM, PalaceMemoryBlock, PalaceRetriever, palace_session

from palace import Mempalace, RecallMiss
from tests.adapters.llama_index.scripted import (
    CLOCK,
    FALLBACK,
    HAIKU,
    HIT,
    LIE,
    MISS,
    PASS,
    QUOTES,
    UNCLEAR,
    Found,
    ScriptedLLM,
    code_text,
    paint_text,
)

LIARS = [name for name in QUOTES if name not in ("honest", "quotes, then lies")]
TOLD = [
    ChatMessage(role="user", content="Hello."),
    ChatMessage(role="assistant", content="Hello to you."),
]


def gardens() -> Found:
    """Return a person's own documents, which have nothing to do with the palace."""
    return Found("A document about gardens.")


def remembering(history: list[ChatMessage] = ()) -> ChatMemoryBuffer:
    """Return a memory that opens no database; `Memory` leaves its connections to the collector."""
    return ChatMemoryBuffer.from_defaults(chat_history=list(history))


async def of_agent(agent: Any, words: Any, **kwargs: Any) -> tuple[str, str]:
    """Return the answer of an agent and everything it streamed."""
    handler = agent.run(user_msg=words, **kwargs)
    streamed = [e.delta async for e in handler.stream_events() if isinstance(e, AgentStream)]
    return str((await handler).response.content), "".join(streamed)


def make_function_agent(llm: PalaceLLM, **kwargs: Any) -> Any:
    return FunctionAgent(llm=llm, tools=[CLOCK], system_prompt="Be kind.", **kwargs)


def make_react_agent(llm: PalaceLLM, **kwargs: Any) -> Any:
    return ReActAgent(llm=llm, tools=[CLOCK], system_prompt="Be kind.", **kwargs)


def make_workflow(llm: PalaceLLM, **kwargs: Any) -> Any:
    first = FunctionAgent(
        name="first",
        description="Begins.",
        llm=llm,
        tools=[CLOCK],
        can_handoff_to=["second"],
        **kwargs,
    )
    second = FunctionAgent(name="second", description="Ends.", llm=llm, tools=[CLOCK], **kwargs)
    return AgentWorkflow(agents=[first, second], root_agent="first")


AGENTS = {
    "FunctionAgent": make_function_agent,
    "FunctionAgent, not streaming": lambda llm: make_function_agent(llm, streaming=False),
    "ReActAgent": make_react_agent,
    "ReActAgent, not streaming": lambda llm: make_react_agent(llm, streaming=False),
    "AgentWorkflow": make_workflow,
    "agent with state": lambda llm: make_function_agent(llm, initial_state={"mood": "good"}),
    "ReActAgent with state": lambda llm: make_react_agent(llm, initial_state={"mood": "good"}),
}


def scripted_for(name: str, **script: Any) -> ScriptedLLM:
    return ScriptedLLM(functions=not name.startswith("ReAct"), **script)


@pytest.mark.parametrize("name", AGENTS)
class TestAgents:
    async def test_a_miss(self, palace, name):
        model = scripted_for(name)
        said, streamed = await of_agent(AGENTS[name](PalaceLLM(model, palace)), MISS)
        assert said == FALLBACK
        assert FALLBACK in streamed or "not streaming" in name
        assert model.calls == []
        assert palace.decided == [MISS]

    async def test_no_recall(self, palace, name):
        said, _ = await of_agent(AGENTS[name](PalaceLLM(scripted_for(name), palace)), PASS)
        assert said == HAIKU
        assert palace.decided == [PASS]

    @pytest.mark.parametrize("tool", ["", "clock"])
    async def test_a_hit_is_decided_once_in_a_tool_loop(self, palace, name, tool):
        model = scripted_for(name, tool=tool, chatter=LIE)
        said, streamed = await of_agent(AGENTS[name](PalaceLLM(model, palace)), HIT)
        assert said == f"{code_text(None)} [1]"
        assert "9999" not in streamed
        assert len(model.calls) == (2 if tool else 1)
        assert palace.decided == [HIT]
        assert all(code_text(None) in p for p in model.prompts)

    async def test_a_liar_on_a_hit(self, palace, name):
        model = scripted_for(name, answer=LIE)
        said, streamed = await of_agent(AGENTS[name](PalaceLLM(model, palace)), HIT)
        assert "9999" not in said + streamed
        assert code_text(None) in said

    async def test_unclear_evidence_is_confirmed_before_the_hosts_own_call(self, palace, name):
        model = scripted_for(name, tool="clock", chatter=LIE)
        said, streamed = await of_agent(AGENTS[name](PalaceLLM(model, palace)), UNCLEAR)
        assert said == f"{paint_text(None)} [1]"
        assert "9999" not in streamed
        assert len(model.calls) == 3  # the quote, the tool, the answer

    @pytest.mark.parametrize("quote", LIARS)
    async def test_without_a_true_quote_nothing_is_released(self, palace, name, quote):
        model = scripted_for(name, quote=quote, answer=LIE, tool="clock", chatter=LIE)
        said, streamed = await of_agent(AGENTS[name](PalaceLLM(model, palace)), UNCLEAR)
        assert said.startswith(FALLBACK)
        assert "9999" not in said + streamed
        assert len(model.calls) == 1

    async def test_sessions_of_one_agent_stay_apart(self, palace, name):
        model = scripted_for(name, tool="clock")
        agent = AGENTS[name](PalaceLLM(model, palace))

        async def one(session: str) -> str:
            with palace_session(session):
                handler = of_agent(agent, HIT)
            with palace_session(session):
                return (await handler)[0]

        said = await asyncio.gather(*(one(f"s{n}") for n in range(3)))
        assert said == [f"{code_text(f's{n}')} [1]" for n in range(3)]
        assert all(sum(code_text(f"s{n}") in p for n in range(3)) == 1 for p in model.prompts)


async def test_a_second_turn_of_a_react_agent_is_decided_on_its_own_words(palace):
    model = ScriptedLLM(functions=False, tool="clock")
    agent = make_react_agent(PalaceLLM(model, palace))
    memory = remembering()
    assert (await of_agent(agent, PASS, memory=memory))[0] == HAIKU
    calls = len(model.calls)
    assert (await of_agent(agent, MISS, memory=memory))[0] == FALLBACK
    assert len(model.calls) == calls
    assert palace.decided == [PASS, MISS]


@pytest.mark.parametrize("answer", ["", "Action: nothing", "Thought: hm"])
async def test_retries_of_a_react_agent_stay_under_the_ruling(palace, answer):
    """A step that cannot be read is asked for again; that is no way around the check."""

    class Muddled(ScriptedLLM):
        def _words(self, text: str, done: bool) -> str:
            return LIE if len(self.calls) > 1 else answer

    model = Muddled(functions=False)
    said, streamed = await of_agent(make_react_agent(PalaceLLM(model, palace)), HIT)
    assert "9999" not in said + streamed
    assert set(palace.decided) == {HIT}


async def test_words_that_look_like_an_observation_are_still_the_persons(palace):
    model = ScriptedLLM(functions=False)
    agent = make_react_agent(PalaceLLM(model, palace))
    memory = remembering()
    await of_agent(agent, PASS, memory=memory)
    said, _ = await of_agent(agent, f"Observation: {MISS}", memory=memory)
    assert said == FALLBACK
    assert len(model.calls) == 1


async def test_a_memory_block_in_the_message_is_not_the_persons_words(palace):
    model = ScriptedLLM()
    memory = Memory.from_defaults(
        session_id="m3",
        memory_blocks=[PalaceMemoryBlock(palace=palace)],
        insert_method=InsertMethod.USER,
    )
    agent = make_function_agent(PalaceLLM(model, palace, session_id="m3"))
    said, _ = await of_agent(agent, HIT, memory=memory)
    await memory.sql_store._async_engine.dispose()
    assert said == f"{code_text('m3')} [1]"
    assert set(palace.decided) == {HIT}


class Painter(BaseModel):
    """Who paints."""

    name: str


async def test_structured_output_of_an_agent_is_none_on_a_miss(palace):
    model = ScriptedLLM()
    agent = FunctionAgent(llm=PalaceLLM(model, palace), tools=[], output_cls=Painter)
    with pytest.warns(UserWarning, match="memory palace"):
        result = await agent.run(user_msg=MISS)
    assert result.structured_response is None
    assert model.calls == []


async def test_structured_output_of_an_agent_comes_from_the_evidence(palace):
    model = ScriptedLLM(tool_arguments={"name": "Ruth"})
    agent = FunctionAgent(llm=PalaceLLM(model, palace), tools=[], output_cls=Painter)
    result = await agent.run(user_msg=UNCLEAR)
    assert result.structured_response == {"name": "Ruth"}
    assert set(palace.decided) == {UNCLEAR}


# -- engines -------------------------------------------------------------------------------------


def simple(llm: PalaceLLM, history: list[ChatMessage]) -> Any:
    return SimpleChatEngine.from_defaults(
        llm=llm, memory=remembering(history), system_prompt="Be kind."
    )


def context(llm: PalaceLLM, history: list[ChatMessage]) -> Any:
    return ContextChatEngine.from_defaults(
        retriever=gardens(), llm=llm, memory=remembering(history)
    )


def condense_context(llm: PalaceLLM, history: list[ChatMessage]) -> Any:
    return CondensePlusContextChatEngine.from_defaults(
        retriever=gardens(), llm=llm, memory=remembering(history)
    )


def condense_question(llm: PalaceLLM, history: list[ChatMessage]) -> Any:
    engine = RetrieverQueryEngine.from_args(gardens(), llm=llm)
    return CondenseQuestionChatEngine.from_defaults(
        query_engine=engine, llm=llm, memory=remembering(history)
    )


ENGINES = {
    "simple": simple,
    "context": context,
    "condense_plus_context": condense_context,
    "condense_question": condense_question,
}


def chat(engine: Any, way: str, words: str) -> str:
    async def made() -> str:
        if way == "chat":
            return str(engine.chat(words))
        if way == "stream_chat":
            return "".join(engine.stream_chat(words).response_gen)
        if way == "achat":
            return str(await engine.achat(words))
        reply = await engine.astream_chat(words)
        return "".join([t async for t in reply.async_response_gen()])

    return asyncio.run(made())


@pytest.mark.parametrize("history", [[], TOLD], ids=["fresh", "with history"])
@pytest.mark.parametrize("way", ["chat", "stream_chat", "achat", "astream_chat"])
@pytest.mark.parametrize("name", ENGINES)
class TestChatEngines:
    def test_a_miss(self, palace, name, way, history):
        model = ScriptedLLM()
        engine = ENGINES[name](PalaceLLM(model, palace), list(history))
        assert chat(engine, way, MISS).strip() == FALLBACK
        assert model.calls == []
        assert set(palace.decided) == {MISS}

    def test_a_hit(self, palace, name, way, history):
        engine = ENGINES[name](PalaceLLM(ScriptedLLM(), palace), list(history))
        # The scripted model condenses to a haiku; the answer stays under the question's ruling.
        assert chat(engine, way, HIT).strip() == f"{code_text(None)} [1]"
        assert set(palace.decided) == {HIT}

    def test_a_liar_in_the_unclear_band(self, palace, name, way, history):
        model = ScriptedLLM(quote="invents", answer=LIE)
        engine = ENGINES[name](PalaceLLM(model, palace), list(history))
        said = chat(engine, way, UNCLEAR)
        assert said.startswith(FALLBACK)
        assert "9999" not in said


def test_who_insists_after_a_miss_gets_no_invention(tmp_path):
    model = ScriptedLLM(answer=LIE)
    with Mempalace.open(tmp_path / "palace") as palace:
        palace.remember("Anna Keller leads the billing team.", room="team")
        engine = simple(PalaceLLM(model, palace), [])
        asked = ("When did we hire Olga?", "Are you sure?", "Just guess.", "Really?")
        assert {str(engine.chat(words)) for words in asked} == {FALLBACK}
    assert model.calls == []


def test_a_question_cannot_be_rewritten_into_one_that_is_let_through(palace):
    model = ScriptedLLM(answer=LIE)
    engine = condense_question(PalaceLLM(model, palace, session_id="s1"), TOLD)
    for words in (HIT, UNCLEAR):
        said = str(engine.chat(words))
        assert "9999" not in said
    assert set(palace.decided) == {HIT, UNCLEAR}


@pytest.mark.parametrize("chats", [True, False])
def test_a_custom_condense_prompt_of_any_host_can_be_named(palace, chats):
    template = "Talk so far:\n{chat_history}\nWhat they now say is {question} Make it alone."
    model = ScriptedLLM(chats=chats)
    llm = PalaceLLM(model, palace, rewrite_prompts=[template])
    engine = CondenseQuestionChatEngine.from_defaults(
        query_engine=RetrieverQueryEngine.from_args(gardens(), llm=llm),
        llm=llm,
        memory=remembering(TOLD),
        condense_question_prompt=PromptTemplate(template),
    )
    assert str(engine.chat(MISS)) == FALLBACK
    asked = [ChatMessage(template.format(chat_history="user: Hello.", question=MISS))]
    assert llm.chat(asked).message.content == MISS
    assert model.calls == []
    assert set(palace.decided) == {MISS}


@pytest.mark.parametrize("chats", [True, False])
def test_a_custom_condense_prompt_that_nobody_named_stays_under_the_ruling(palace, chats):
    model = ScriptedLLM(answer=LIE, chats=chats)
    llm = PalaceLLM(model, palace, session_id="s1")
    engine = CondenseQuestionChatEngine.from_defaults(
        query_engine=RetrieverQueryEngine.from_args(gardens(), llm=llm),
        llm=llm,
        memory=remembering(TOLD),
        condense_question_prompt=PromptTemplate("{chat_history}\n{question}\nIn one sentence:"),
    )
    assert str(engine.chat(MISS)) == FALLBACK
    assert model.calls == []
    for words in (HIT, UNCLEAR):
        assert LIE not in str(engine.chat(words))


def test_a_custom_condense_prompt_can_be_helped_by_the_session(palace):
    model = ScriptedLLM()
    engine = CondensePlusContextChatEngine.from_defaults(
        retriever=gardens(),
        llm=PalaceLLM(model, palace),
        memory=remembering(TOLD),
        condense_prompt="{chat_history} || {question} || rewrite",
    )
    with palace_session("s1", question=MISS):
        assert str(engine.chat(MISS)) == FALLBACK
    assert model.calls == []


MODES = [m for m in ResponseMode if m not in (ResponseMode.NO_TEXT, ResponseMode.CONTEXT_ONLY)]


@pytest.mark.parametrize("mode", MODES, ids=lambda m: m.value)
@pytest.mark.parametrize("streaming", [False, True])
class TestQueryEngines:
    def engine(self, palace, model, mode, streaming):
        llm = PalaceLLM(model, palace)
        synthesizer = get_response_synthesizer(llm=llm, response_mode=mode, streaming=streaming)
        return RetrieverQueryEngine(gardens(), response_synthesizer=synthesizer)

    def test_a_miss(self, palace, model, mode, streaming):
        assert FALLBACK in self.say(palace, model, mode, streaming, MISS)
        assert model.calls == []
        assert set(palace.decided) == {MISS}

    def test_a_hit(self, palace, model, mode, streaming):
        assert code_text(None) in self.say(palace, model, mode, streaming, HIT)
        assert set(palace.decided) == {HIT}

    def test_a_liar_in_the_unclear_band(self, palace, mode, streaming):
        model = ScriptedLLM(quote="digit", answer=LIE)
        said = self.say(palace, model, mode, streaming, UNCLEAR)
        assert FALLBACK in said
        assert "9999" not in said

    def say(self, palace, model, mode, streaming, words):
        if streaming and mode in (ResponseMode.ACCUMULATE, ResponseMode.COMPACT_ACCUMULATE):
            pytest.skip("this mode does not stream")
        return str(self.engine(palace, model, mode, streaming).query(words))


async def test_a_query_engine_as_a_tool_decides_on_what_the_agent_asks(palace):
    model = ScriptedLLM(tool="docs", tool_arguments={"input": MISS})
    llm = PalaceLLM(model, palace)
    docs = QueryEngineTool.from_defaults(
        RetrieverQueryEngine.from_args(gardens(), llm=llm), name="docs", description="Documents."
    )
    said, _ = await of_agent(FunctionAgent(llm=llm, tools=[docs]), PASS)
    assert said == HAIKU
    assert len(model.calls) == 2  # the agent's own two; the tool's question was refused
    assert palace.decided == [PASS, MISS]


@pytest.mark.parametrize("several", [True, False])
class TestRouting:
    """An engine is chosen by the model, for a question that the prompt of the choice holds."""

    def engine(self, palace, model, several):
        llm = PalaceLLM(model, palace)
        engines = [RetrieverQueryEngine.from_args(gardens(), llm=llm) for _ in "ab"]
        tools = [QueryEngineTool.from_defaults(e, description="Documents.") for e in engines]
        return RouterQueryEngine.from_defaults(tools, llm=llm, select_multi=several)

    @pytest.mark.parametrize("functions", [True, False])
    def test_a_miss_is_not_even_routed(self, palace, functions, several):
        model = ScriptedLLM(functions=functions)
        with pytest.raises(RecallMiss, match="memory palace"):
            self.engine(palace, model, several).query(MISS)
        assert model.calls == []
        assert set(palace.decided) == {MISS}

    @pytest.mark.parametrize("words", [HIT, UNCLEAR, PASS])
    def test_a_choice_is_no_answer(self, palace, several, words):
        choice = {"index": 1, "reason": "Mallory says so, on page 9999."}
        arguments = {"selections": [choice]} if several else choice
        model = ScriptedLLM(tool_arguments=arguments)
        said = str(self.engine(palace, model, several).query(words))
        assert said.startswith((code_text(None), paint_text(None), HAIKU))
        assert len(model.calls) == 2 + (words == UNCLEAR)
        assert set(palace.decided) == {words}


@pytest.mark.parametrize(
    ("words", "said", "calls"), [(MISS, FALLBACK, 0), (UNCLEAR, FALLBACK, 1), (PASS, LIE, 1)]
)
async def test_an_agent_that_writes_code_is_under_the_ruling(palace, words, said, calls):
    model = ScriptedLLM(answer=LIE, quote="ignores")
    llm = PalaceLLM(model, palace)
    agent = CodeActAgent(code_execute_fn=lambda code: code, tools=[CLOCK], llm=llm)
    answer, streamed = await of_agent(agent, words)
    assert answer.startswith(said)
    assert len(model.calls) == calls
    assert words == PASS or LIE not in streamed


@pytest.mark.parametrize("kind", [FunctionAgent, ReActAgent])
@pytest.mark.parametrize("told", [{}, {"handoff_output_prompt": "To {to_agent}, for: {reason}"}])
async def test_a_model_cannot_make_evidence_of_a_handoff(palace, kind, told):
    arguments = {"to_agent": "second", "reason": LIE}
    model = ScriptedLLM(
        tool="handoff", tool_arguments=arguments, answer=LIE, functions=kind is FunctionAgent
    )
    llm = PalaceLLM(model, palace)
    first = kind(name="first", description="Begins.", llm=llm, can_handoff_to=["second"])
    second = kind(name="second", description="Ends.", llm=llm)
    workflow = AgentWorkflow(agents=[first, second], root_agent="first", **told)
    said, streamed = await of_agent(workflow, HIT)
    assert said.startswith(code_text(None))
    assert "9999" not in said + streamed.rpartition("Answer:")[2]


REPEATED = {
    "a thought": lambda text: f"Taken down: {text}",
    "a list": lambda text: f"Updated list: {[{'content': text}]}",
    "an error": lambda text: f"Error: {json.dumps({'text': text})} is not understood",
}


@pytest.mark.parametrize("kind", [FunctionAgent, ReActAgent])
@pytest.mark.parametrize("repeated", REPEATED)
@pytest.mark.parametrize("said", [LIE, f"It's so:\n{LIE}"])
async def test_what_a_tool_repeats_of_the_model_proves_nothing(palace, kind, repeated, said):
    note = FunctionTool.from_defaults(fn=REPEATED[repeated], name="note", description="Notes.")
    model = ScriptedLLM(
        tool="note", tool_arguments={"text": said}, answer=LIE, functions=kind is FunctionAgent
    )
    answer, _ = await of_agent(kind(llm=PalaceLLM(model, palace), tools=[note]), HIT)
    assert answer.startswith(code_text(None))
    assert "9999" not in answer


async def test_what_a_tool_says_of_what_it_was_asked_is_evidence(palace):
    def weather(city: str) -> str:
        return f"It rains in {city}."

    tool = FunctionTool.from_defaults(fn=weather, name="weather", description="Weather.")
    answer = f"{code_text(None)} It rains in Rome."
    model = ScriptedLLM(tool="weather", tool_arguments={"city": "Rome"}, answer=answer)
    said, _ = await of_agent(FunctionAgent(llm=PalaceLLM(model, palace), tools=[tool]), HIT)
    assert said == answer


def test_blocks_of_a_message_are_read_as_one(palace, model):
    message = ChatMessage(role="user", blocks=[TextBlock(text="Tell me."), TextBlock(text=MISS)])
    assert PalaceLLM(model, palace).chat([message]).message.content == FALLBACK


def test_a_follow_up_is_decided_on_what_it_was_rewritten_to(palace):
    engine = condense_question(PalaceLLM(ScriptedLLM(answer=MISS), palace), TOLD)
    assert str(engine.chat("And when was that?")) == FALLBACK
    assert palace.decided == ["And when was that?", MISS]


def test_a_refusal_does_not_outlive_a_new_memory(palace):
    engine = CondensePlusContextChatEngine.from_defaults(
        retriever=PalaceRetriever(palace),
        llm=PalaceLLM(ScriptedLLM(), palace, session_id="s1"),
        memory=remembering(TOLD),
    )
    for _ in range(2):
        palace.detector.turns.clear()
        assert str(engine.chat(MISS)) == "Empty Response"
        assert palace.decided  # looked again
        engine._memory.set(list(TOLD))
