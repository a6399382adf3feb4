"""Query engine, retriever, memory block, tools and instrumentation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.agent.workflow import CodeActAgent, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine import CondenseQuestionChatEngine, ContextChatEngine
from llama_index.core.indices.query.query_transform.base import IdentityQueryTransform
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.memory import InsertMethod, Memory
from llama_index.core.query_engine import RetrieverQueryEngine, TransformQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.schema import QueryBundle
from llama_index_palace import (
    PalaceLLM,
    PalaceMemoryBlock,
    PalaceQueryEngine,
    PalaceRetriever,
    PalaceVerdictEvent,
    palace_session,
    palace_synthesizer,
    palace_tools,
)
from llama_index_palace.synthesizer import EMPTY
from pydantic import BaseModel

from palace import ConfigError, Mempalace, RecallMiss, UngroundedAnswerError, agent_tools
from tests.adapters.llama_index.scripted import (
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
    open_palace,
    paint_text,
)
from tests.adapters.llama_index.test_hosts import gardens, remembering

MODES = (
    ResponseMode.ACCUMULATE,
    ResponseMode.COMPACT,
    ResponseMode.COMPACT_ACCUMULATE,
    ResponseMode.REFINE,
    ResponseMode.SIMPLE_SUMMARIZE,
    ResponseMode.TREE_SUMMARIZE,
)
LIARS = [name for name in QUOTES if name not in ("honest", "quotes, then lies")]


class Events(BaseEventHandler):
    """Keeps every event."""

    seen: list[Any] = []

    @classmethod
    def class_name(cls) -> str:
        return "Events"

    def handle(self, event: Any, **kwargs: Any) -> None:
        self.seen.append(event)

    @property
    def names(self) -> list[str]:
        return [e.class_name() for e in self.seen]


@pytest.fixture
def events() -> Iterator[Events]:
    root = get_dispatcher()
    handler = Events(seen=[])
    root.add_event_handler(handler)
    yield handler
    root.event_handlers.remove(handler)


# -- query engine --------------------------------------------------------------------------------


async def said(response: Any) -> str:
    """Return the whole text of a response, streamed or not."""
    if isinstance(response, AsyncStreamingResponse):
        return "".join([piece async for piece in response.response_gen])
    if isinstance(response, StreamingResponse):
        return "".join(response.response_gen)
    return str(response)


def ask(engine: PalaceQueryEngine, words: str, asynchronous: bool) -> Response:
    if asynchronous:
        return asyncio.run(engine.aquery(words))
    return engine.query(words)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["query", "aquery"])
@pytest.mark.parametrize("own", [False, True], ids=["asks the engine", "asks a model"])
class TestQueryEngine:
    def engine(self, palace: Mempalace, model: ScriptedLLM, own: bool) -> PalaceQueryEngine:
        inner = RetrieverQueryEngine.from_args(gardens(), llm=model)
        return PalaceQueryEngine(inner, palace, llm=model if own else None, session_id="s1")

    def test_a_miss(self, palace, model, own, asynchronous):
        response = ask(self.engine(palace, model, own), MISS, asynchronous)
        assert str(response) == FALLBACK
        assert response.metadata["palace"]["action"] == "fallback"
        assert (response.source_nodes, model.calls) == ([], [])

    def test_no_recall(self, palace, model, own, asynchronous):
        response = ask(self.engine(palace, model, own), PASS, asynchronous)
        assert str(response) == HAIKU
        assert "gardens" in model.prompts[0]
        assert response.metadata["palace"]["action"] == "pass"

    def test_a_hit(self, palace, model, own, asynchronous):
        response = ask(self.engine(palace, model, own), HIT, asynchronous)
        assert str(response) == f"{code_text('s1')} [1]"
        (node,) = response.source_nodes
        assert (node.node.id_, node.text) == ("m-code", code_text("s1"))
        assert response.metadata["palace"]["cited"] == {"1": "m-code"}

    def test_a_liar_on_a_hit(self, palace, own, asynchronous):
        response = ask(self.engine(palace, ScriptedLLM(answer=LIE), own), HIT, asynchronous)
        assert "9999" not in str(response)

    def test_unclear_evidence_needs_a_quote(self, palace, model, own, asynchronous):
        response = ask(self.engine(palace, model, own), UNCLEAR, asynchronous)
        assert str(response) == f"{paint_text('s1')} [1]"
        assert response.metadata["palace"]["model_calls"] == len(model.calls) == 2

    @pytest.mark.parametrize("quote", LIARS)
    def test_without_a_true_quote(self, palace, own, asynchronous, quote):
        model = ScriptedLLM(quote=quote, answer=LIE)
        response = ask(self.engine(palace, model, own), UNCLEAR, asynchronous)
        assert str(response).startswith(FALLBACK)
        assert "9999" not in str(response)
        assert len(model.calls) == 1

    @pytest.mark.parametrize("words", [MISS, HIT, UNCLEAR, PASS])
    async def test_answering_from_nodes_is_a_query(self, palace, model, own, asynchronous, words):
        engine = self.engine(palace, model, own)
        query, nodes = QueryBundle(words), gardens().retrieve("")
        if asynchronous:
            told = await engine.asynthesize(query, nodes)
        else:
            told = engine.synthesize(query, nodes)
        asked = await engine.aquery(query) if asynchronous else engine.query(query)
        assert str(told) == str(asked)
        assert told.metadata["palace"]["action"] == asked.metadata["palace"]["action"]
        assert not model.calls or words != MISS

    def test_events_are_those_of_a_query_engine(self, palace, model, own, asynchronous, events):
        ask(self.engine(palace, model, own), MISS, asynchronous)
        assert events.names == [
            "QueryStartEvent",
            "RetrievalStartEvent",
            "RetrievalEndEvent",
            "PalaceVerdictEvent",
            "PalaceVerdictEvent",
            "QueryEndEvent",
        ]


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (MISS, []),
        (UNCLEAR, []),
        (HIT, [code_text("s1")]),
        (PASS, ["A document about gardens."]),
    ],
)
async def test_what_an_engine_retrieves(palace, model, words, texts):
    inner = RetrieverQueryEngine.from_args(gardens(), llm=model)
    engine = PalaceQueryEngine(inner, palace, session_id="s1")
    assert [node.text for node in engine.retrieve(QueryBundle(words))] == texts
    assert [node.text for node in await engine.aretrieve(QueryBundle(words))] == texts
    assert model.calls == []


def test_what_is_told_where_an_engine_retrieves_is_said_by_the_one_that_answers(palace, model):
    inner = RetrieverQueryEngine.from_args(gardens(), llm=model)
    engine = PalaceQueryEngine(inner, palace, session_id="s1")
    query = QueryBundle("Remember this: the lamp is green.")
    assert engine.retrieve(query) == []
    assert str(engine.synthesize(query, [])) == "I will remember: the lamp is green."
    assert model.calls == []


def test_a_streaming_engine_keeps_streaming_what_is_no_recall(palace, model):
    inner = RetrieverQueryEngine.from_args(gardens(), llm=model, streaming=True)
    response = PalaceQueryEngine(inner, palace).query(PASS)
    assert "".join(response.response_gen) == HAIKU
    assert str(PalaceQueryEngine(inner, palace).query(HIT)) == f"{code_text(None)} [1]"


@pytest.mark.parametrize("words", [MISS, HIT, UNCLEAR, PASS])
@pytest.mark.parametrize("own", [False, True], ids=["asks the engine", "asks a model"])
@pytest.mark.parametrize("turned", [False, True], ids=["plain", "turned"])
async def test_a_streaming_engine_gives_what_can_be_read_in_pieces(
    palace, model, own, turned, words
):
    inner = RetrieverQueryEngine.from_args(gardens(), llm=model, streaming=True)
    if turned:
        inner = TransformQueryEngine(inner, IdentityQueryTransform())
    engine = PalaceQueryEngine(inner, palace, llm=model if own else None)

    now, later = engine.query(words), await engine.aquery(words)

    assert isinstance(now, StreamingResponse)
    assert isinstance(later, AsyncStreamingResponse)
    assert now.metadata["palace"]["action"] == later.metadata["palace"]["action"]
    assert await said(now) == await said(later) != ""


class Gate(BaseModel):
    """What is asked for."""

    code: str


class Typed(ScriptedLLM):
    """Makes one object, whatever it is asked."""

    code: str = code_text(None).rsplit(" ", 1)[1].strip(".")

    def structured_predict(self, output_cls: Any, prompt: Any, *args: Any, **kwargs: Any) -> Any:
        self.prompts.append(prompt.format(**kwargs))
        return output_cls(code=self.code)

    async def astructured_predict(self, *args: Any, **kwargs: Any) -> Any:
        return self.structured_predict(*args, **kwargs)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["query", "aquery"])
class TestEngineOfObjects:
    def asked(self, palace, model, words, asynchronous, retriever=gardens) -> Any:
        inner = RetrieverQueryEngine.from_args(retriever(), llm=model, output_cls=Gate)
        return ask(PalaceQueryEngine(inner, palace), words, asynchronous)

    @pytest.mark.parametrize("words", [MISS, UNCLEAR])
    def test_a_miss_is_raised(self, palace, words, asynchronous):
        model = Typed()
        with pytest.raises(RecallMiss, match=FALLBACK):
            self.asked(palace, model, words, asynchronous)
        assert words == UNCLEAR or not (model.prompts or model.calls)

    def test_a_hit_is_an_object_on_evidence(self, palace, asynchronous):
        response = self.asked(palace, Typed(), HIT, asynchronous)
        assert response.response == Gate(code=Typed().code)
        assert response.metadata["palace"]["action"] == "ground"
        assert [node.node.id_ for node in response.source_nodes] == ["m-code"]

    def test_a_lie_is_raised(self, palace, asynchronous):
        with pytest.raises(UngroundedAnswerError) as raised:
            self.asked(palace, Typed(code="9999"), HIT, asynchronous)
        assert "9999" not in str(raised.value)

    def test_no_recall_is_the_engines(self, palace, asynchronous):
        response = self.asked(palace, Typed(code="9999"), PASS, asynchronous)
        assert response.response == Gate(code="9999")

    def test_an_engine_without_nodes_makes_none(self, palace, asynchronous):
        with pytest.raises(RecallMiss):
            self.asked(palace, Typed(), HIT, asynchronous, Found)


async def test_a_stream_is_read_in_the_loop_that_began_it(palace):
    loops = set()

    class Streaming(ScriptedLLM):
        async def astream_chat(self, messages: Any, **kwargs: Any) -> Any:
            pieces = await super().astream_chat(messages, **kwargs)

            async def told() -> Any:
                async for piece in pieces:
                    loops.add(asyncio.get_running_loop())
                    yield piece

            return told()

    inner = RetrieverQueryEngine.from_args(gardens(), llm=Streaming(), streaming=True)
    await PalaceQueryEngine(inner, palace).aquery(HIT)
    assert loops == {asyncio.get_running_loop()}


@pytest.mark.parametrize("words", [MISS, HIT, PASS])
async def test_a_chat_engine_that_streams_can_stand_on_either_of_them(palace, model, words):
    streaming = RetrieverQueryEngine.from_args(gardens(), llm=model, streaming=True)
    speaks = palace_synthesizer(palace, llm=model)
    for engine, llm in (
        (PalaceQueryEngine(streaming, palace), model),
        (RetrieverQueryEngine(PalaceRetriever(palace), speaks), PalaceLLM(model, palace)),
    ):
        chat = CondenseQuestionChatEngine.from_defaults(
            query_engine=engine, llm=llm, memory=remembering()
        )
        streamed = "".join(chat.stream_chat(words).response_gen)
        chat.reset()
        assert streamed == str(chat.chat(words))


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("own", [False, True], ids=["asks the engine", "asks a model"])
async def test_an_engine_that_retrieves_nothing_says_the_palaces_sentence(
    palace, model, own, streaming
):
    inner = RetrieverQueryEngine.from_args(Found(), llm=model, streaming=streaming)
    assert await said(inner.query(PASS)) == EMPTY  # what LlamaIndex says by itself
    engine = PalaceQueryEngine(inner, palace, llm=model if own else None)
    for words in (PASS, MISS):
        assert await said(engine.query(words)) == FALLBACK
        assert await said(await engine.aquery(words)) == FALLBACK
    assert model.calls == []
    assert code_text(None) in await said(engine.query(HIT))


def test_what_is_embedded_stays_the_question(palace, model):
    found = gardens()
    PalaceQueryEngine(RetrieverQueryEngine.from_args(found, llm=model), palace).query(HIT)
    assert found.asked[0].embedding_strs == [HIT]


# -- retriever -----------------------------------------------------------------------------------


class TestRetriever:
    @pytest.fixture
    def stored(self, tmp_path) -> Iterator[Mempalace]:
        with open_palace(tmp_path / "p") as palace:
            for name in ("Ada", "Bea", "Cleo", "Dora", "Effi"):
                palace.remember(f"The boat {name} is painted blue.", on_conflict="keep")
            yield palace

    @pytest.mark.parametrize("words", [MISS, UNCLEAR])
    def test_a_question_without_sufficient_evidence_gets_nothing(self, stored, words):
        assert PalaceRetriever(stored).retrieve(words) == []

    def test_a_hit_gets_its_evidence(self, stored):
        with palace_session("s1"):
            (node,) = PalaceRetriever(stored).retrieve(HIT)
        assert node.text == code_text("s1")
        assert node.metadata["source"] == "rooms/harbour/code.md:1"

    def test_what_is_no_recall_gets_the_nearest(self, stored):
        nodes = PalaceRetriever(palace=stored, k=4).retrieve("blue boat")
        assert len(nodes) == 4
        assert all("painted blue" in n.text and n.score is not None for n in nodes)

    def test_the_gate_can_be_off(self, stored):
        assert len(PalaceRetriever(stored, k=2, gate="off").retrieve("blue boat")) == 2
        assert stored.decided == []

    async def test_async(self, stored):
        assert len(await PalaceRetriever(stored, k=3).aretrieve("blue boat")) == 3
        assert await PalaceRetriever(stored).aretrieve(MISS) == []
        assert [n.node.id_ for n in await PalaceRetriever(stored).aretrieve(HIT)] == ["m-code"]

    def test_secrets_written_by_hand_stay_in_their_file(self, stored):
        secret = "ghp_" + "a1B2" * 9
        (stored.root / "rooms" / "keys").mkdir(parents=True)
        (stored.root / "rooms" / "keys" / "boat.md").write_text(f"- The boat key is {secret}.\n")
        stored.refresh()
        nodes = PalaceRetriever(stored, k=10, gate="off").retrieve("boat key")
        assert any("The boat key is" in n.text for n in nodes)
        assert not any(secret in n.text for n in nodes)

    def test_session_memories_stay_in_their_session(self, stored):
        stored.remember("The blue boat has a secret drawer.", session_id="s1")
        retriever = PalaceRetriever(stored, k=10, gate="off")
        assert not any("secret drawer" in n.text for n in retriever.retrieve("blue boat drawer"))
        with palace_session("s1"):
            nodes = retriever.retrieve("blue boat drawer")
        assert any("secret drawer" in n.text for n in nodes)

    @pytest.mark.parametrize("wrong", [{"k": 0}, {"k": "4"}, {"k": 2.5}, {"gate": "ajar"}])
    def test_wrong_arguments(self, stored, wrong):
        with pytest.raises(ConfigError):
            PalaceRetriever(stored, **wrong)

    def test_an_engine_on_it_does_not_call_its_model_on_a_miss(self, stored, model):
        engine = RetrieverQueryEngine.from_args(PalaceRetriever(stored), llm=model)
        assert str(engine.query(MISS)) == EMPTY  # LlamaIndex' own words for it
        assert model.calls == []

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("streaming", [False, True])
    async def test_an_engine_on_it_says_the_palaces_sentence(self, stored, model, mode, streaming):
        speaks = palace_synthesizer(stored, llm=model, response_mode=mode, streaming=streaming)
        engine = RetrieverQueryEngine(PalaceRetriever(stored), speaks)
        assert str(engine.query(MISS)) == FALLBACK
        assert await said(await engine.aquery(MISS)) == FALLBACK
        assert model.calls == []

    def test_the_sentence_is_that_of_the_settings(self, tmp_path, model):
        with open_palace(tmp_path / "q", "enforce:\n  fallback_text: Nothing here.\n") as palace:
            speaks = palace_synthesizer(palace, llm=model)
            engine = RetrieverQueryEngine(PalaceRetriever(palace), speaks)
            assert str(engine.query(MISS)) == "Nothing here."

    async def test_a_miss_may_stop_the_host(self, stored, model):
        retriever = PalaceRetriever(stored, raise_on_miss=True)
        engine = RetrieverQueryEngine.from_args(retriever, llm=model)
        chat = ContextChatEngine.from_defaults(retriever=retriever, llm=model, memory=remembering())
        with pytest.raises(RecallMiss, match=FALLBACK):
            engine.query(MISS)
        with pytest.raises(RecallMiss, match=FALLBACK):
            await engine.aquery(MISS)
        with pytest.raises(RecallMiss, match=FALLBACK):
            chat.chat(MISS)
        assert model.calls == []
        assert "4711" in retriever.retrieve(HIT)[0].text

    def test_events(self, stored, events):
        PalaceRetriever(stored).retrieve(HIT)
        assert events.names == ["RetrievalStartEvent", "PalaceVerdictEvent", "RetrievalEndEvent"]


# -- memory block --------------------------------------------------------------------------------


class TestMemoryBlock:
    @pytest.fixture
    def memory(self, palace) -> Memory:
        return Memory.from_defaults(
            session_id="s1",
            memory_blocks=[PalaceMemoryBlock(palace=palace)],
            insert_method=InsertMethod.USER,
        )

    async def shown(self, memory: Memory, words: str) -> str:
        await memory.aput(ChatMessage(role="user", content=words))
        shown = "\n".join(str(m.content) for m in await memory.aget())
        await memory.sql_store._async_engine.dispose()
        return shown

    async def test_a_hit_stands_in_the_users_message_once(self, memory):
        shown = await self.shown(memory, HIT)
        assert shown.count(code_text("s1")) == 1
        assert shown.count("<memory-context>") == 1

    @pytest.mark.parametrize("words", [MISS, UNCLEAR, PASS])
    async def test_anything_else_adds_nothing(self, memory, words):
        assert await self.shown(memory, words) == words

    async def test_a_tool_loop_is_decided_once(self, palace):
        block = PalaceMemoryBlock(palace=palace)
        said = [ChatMessage(role="user", content=HIT)]
        for _ in range(3):
            assert code_text("s1") in await block.aget(list(said), session_id="s1")
            said.append(ChatMessage(role="tool", content="noon"))
        assert palace.decided == [HIT]
        await block.aget(said, session_id="s2")
        assert palace.decided == [HIT, HIT]

    async def test_the_same_question_is_decided_anew(self, palace):
        block = PalaceMemoryBlock(palace=palace)
        for _ in range(2):
            await block.aget([ChatMessage(role="user", content=HIT)], session_id="s1")
        assert palace.decided == [HIT, HIT]

    async def test_a_miss_may_stop_the_host(self, palace):
        block = PalaceMemoryBlock(palace=palace, raise_on_miss=True)
        for words in (MISS, UNCLEAR):
            with pytest.raises(RecallMiss):
                await block.aget([ChatMessage(role="user", content=words)])
        assert await block.aget([ChatMessage(role="user", content=PASS)]) == ""
        assert await block.aget([]) == ""

    async def test_it_keeps_nothing(self, palace):
        await PalaceMemoryBlock(palace=palace).aput([ChatMessage(role="user", content="x")])
        assert palace.memories() == []


# -- tools ---------------------------------------------------------------------------------------


class TestTools:
    def test_they_are_those_of_the_palace(self, palace):
        tools = palace_tools(palace)
        ours = agent_tools(palace)
        assert [t.metadata.name for t in tools] == [t.name for t in ours]
        assert [t.metadata.description for t in tools] == [t.description for t in ours]
        for tool, one in zip(tools, ours, strict=True):
            shown = tool.metadata.get_parameters_dict()
            assert set(shown["properties"]) == set(one.parameters["properties"])
            assert set(shown.get("required", ())) == set(one.parameters["required"])

    def test_a_memory_travels_through_them(self, palace):
        tools = {t.metadata.name: t for t in palace_tools(palace, session_id="s1")}
        stored = json.loads(tools["palace_remember"].call(text="The quay is closed.").content)
        assert stored["status"] == "stored"
        again = json.loads(tools["palace_read"].call(memory_id=stored["memory"]["id"]).content)
        assert again["memory"]["text"] == "The quay is closed."

    def test_wrong_arguments_are_a_result(self, palace):
        tool = palace_tools(palace)[0]
        assert json.loads(tool.call(colour="blue").content)["status"] == "invalid"

    def test_the_session_is_the_hosts(self, palace):
        tools = {t.metadata.name: t for t in palace_tools(palace)}
        assert json.loads(tools["palace_note"].call(text="x y").content)["status"] == "invalid"
        with palace_session("s7"):
            tools["palace_note"].call(text="The tide is low.")
        assert [n.text for n in palace.notes("s7")] == ["The tide is low."]

    async def test_the_project_is_the_hosts_too(self, palace):
        tools = {t.metadata.name: t for t in palace_tools(palace, project="site")}
        told = {"text": "The tide is low.", "visible_to": "project"}
        with palace_session("s7", project="shop"):
            stored = json.loads(tools["palace_remember"].call(**told).content)
            read = {"memory_id": stored["memory"]["id"]}
            known = json.loads((await tools["palace_read"].acall(**read)).content)
        assert palace.get(read["memory_id"]).scope == "project:shop"
        assert known["status"] == "found"
        assert json.loads(tools["palace_read"].call(**read).content)["status"] == "not_found"

    async def test_the_session_reaches_them_in_an_agent_too(self, palace):
        model = ScriptedLLM(tool="palace_note", tool_arguments={"text": "The tide is high."})
        agent = FunctionAgent(llm=PalaceLLM(model, palace), tools=palace_tools(palace))
        with palace_session("s8"):
            handler = agent.run(user_msg=PASS)
        await handler
        assert [n.text for n in palace.notes("s8")] == ["The tide is high."]

    def test_an_agent_that_writes_code_is_shown_each_of_them(self, palace, model):
        tools = palace_tools(palace, session_id="s1")
        agent = CodeActAgent(code_execute_fn=eval, tools=list(tools), llm=model)
        shown = agent._get_tool_descriptions(agent.tools)
        for tool in tools:
            assert f"def {tool.metadata.name}(" in shown
            assert tool.metadata.description in shown
        assert "def palace_search(query: str, limit: int | None = None) -> str:" in shown
        for function in agent._get_tool_fns(tools):
            assert callable(function)
        remember, search = tools[2].real_fn, tools[0].real_fn
        assert json.loads(remember("The quay is closed."))["status"] == "stored"
        assert json.loads(search("quay", 3))["status"] == "nothing_stored"
        with pytest.raises(TypeError, match="too many"):
            search("quay", 3, "more")

    async def test_async(self, palace):
        tool = palace_tools(palace)[0]
        assert json.loads((await tool.acall(query="quay")).content)["status"] == "nothing_stored"


# -- events --------------------------------------------------------------------------------------


class TestEvents:
    def test_a_refused_turn_shows_as_a_retrieval_and_a_verdict(self, palace, model, events):
        with palace_session("s1"):
            PalaceLLM(model, palace).chat([ChatMessage(role="user", content=MISS)])
        verdicts = [e for e in events.seen if isinstance(e, PalaceVerdictEvent)]
        assert events.names[:2] == ["RetrievalStartEvent", "RetrievalEndEvent"]
        assert [e.stage for e in verdicts] == ["decided", "answered"]
        assert [e.verdict["action"] for e in verdicts] == ["fallback", "fallback"]
        assert {e.session_id for e in verdicts} == {"s1"}
        assert not any(name.startswith("LLM") for name in events.names)

    def test_a_hit_shows_its_nodes_and_its_check(self, palace, model, events):
        PalaceLLM(model, palace).chat([ChatMessage(role="user", content=HIT)])
        (end,) = [e for e in events.seen if e.class_name() == "RetrievalEndEvent"]
        assert [n.text for n in end.nodes] == [code_text(None)]
        last = [e for e in events.seen if isinstance(e, PalaceVerdictEvent)][-1]
        assert (last.verdict["cited"], last.verdict["supported"]) == ({"1": "m-code"}, True)
