"""PalaceLLM alone: all eight calls, tools, structured prediction, sessions and what hosts see."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.agent.react.formatter import ReActChatFormatter
from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.callbacks import CallbackManager
from llama_index.core.extractors import KeywordExtractor
from llama_index.core.ingestion.pipeline import get_transformation_hash
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.program import FunctionCallingProgram
from llama_index.core.prompts import PromptTemplate
from llama_index.core.schema import TextNode
from llama_index.core.types import PydanticProgramMode
from llama_index_palace import PalaceLLM, palace_session

from palace import QUOTE_SCHEMA, ConfigError, ModelError, RecallMiss, UngroundedAnswerError
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
    BandPalace,
    ScriptedLLM,
    code_text,
    open_palace,
    other_text,
    paint_text,
)

CALLS = (
    "chat",
    "achat",
    "stream_chat",
    "astream_chat",
    "complete",
    "acomplete",
    "stream_complete",
    "astream_complete",
)
LIARS = [name for name in QUOTES if name not in ("honest", "quotes, then lies")]


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


async def made(llm: PalaceLLM, call: str, words: str) -> tuple[str, list[str], dict]:
    """Make one of the eight calls: (final text, deltas, palace metadata of the last response)."""
    result = getattr(llm, call)(words if "complete" in call else [user(words)])
    if call.startswith("a"):
        result = await result
    if "stream" not in call:
        chunks = [result]
    else:
        chunks = [c async for c in result] if call.startswith("a") else list(result)
    last = chunks[-1]
    text = last.text if "complete" in call else (last.message.content or "")
    return text, [c.delta or "" for c in chunks], last.additional_kwargs["palace"]


def run(llm: PalaceLLM, call: str, words: str) -> tuple[str, list[str], dict]:
    return asyncio.run(made(llm, call, words))


@pytest.mark.parametrize("call", CALLS)
class TestEightCalls:
    def test_a_miss_never_reaches_the_model(self, palace, model, call):
        text, deltas, verdict = run(PalaceLLM(model, palace), call, MISS)
        assert text == FALLBACK
        assert "".join(deltas) == FALLBACK or "stream" not in call
        assert model.calls == []
        assert (verdict["action"], verdict["model_calls"]) == ("fallback", 0)

    def test_what_is_no_recall_goes_through_untouched(self, palace, model, call):
        text, deltas, verdict = run(PalaceLLM(model, palace), call, PASS)
        assert text == HAIKU
        assert model.prompts == [f"user: {PASS}"]
        assert verdict["action"] == "pass"
        if "stream" in call:
            assert "".join(deltas) == HAIKU

    def test_a_hit_is_answered_from_the_evidence(self, palace, model, call):
        text, deltas, verdict = run(PalaceLLM(model, palace), call, HIT)
        assert text == f"{code_text(None)} [1]"
        assert len(model.calls) == 1
        assert code_text(None) in model.prompts[0]
        assert verdict["cited"] == {"1": "m-code"}
        assert (verdict["supported"], verdict["model_calls"]) == (True, 1)
        if "stream" in call:
            assert "".join(deltas) == text

    def test_a_liar_on_a_hit_is_replaced(self, palace, call):
        model = ScriptedLLM(answer=LIE)
        text, deltas, verdict = run(PalaceLLM(model, palace), call, HIT)
        assert "9999" not in text + "".join(deltas)
        assert "Zork" not in text + "".join(deltas)
        assert code_text(None) in text
        assert verdict["supported"] is False

    def test_the_model_may_decline_a_hit(self, palace, call):
        text, _, verdict = run(PalaceLLM(ScriptedLLM(answer="declines"), palace), call, HIT)
        assert text == FALLBACK
        assert verdict["declined"] is True

    @pytest.mark.parametrize("functions", [True, False])
    def test_unclear_evidence_needs_a_quote(self, palace, call, functions):
        model = ScriptedLLM(functions=functions)
        text, _, verdict = run(PalaceLLM(model, palace), call, UNCLEAR)
        assert text == f"{paint_text(None)} [1]"
        assert verdict["model_calls"] == len(model.calls) == 2
        assert [e["id"] for e in verdict["evidence"]] == ["m-near0"]
        assert other_text(None) in model.prompts[0]
        assert other_text(None) not in model.prompts[1]  # the quoted memory alone

    @pytest.mark.parametrize("quote", LIARS)
    def test_without_a_true_quote_nothing_is_released(self, palace, call, quote):
        model = ScriptedLLM(quote=quote, answer=LIE)
        text, deltas, verdict = run(PalaceLLM(model, palace), call, UNCLEAR)
        said = text + "".join(deltas) + repr(verdict)
        assert text.startswith(FALLBACK)
        assert "9999" not in said
        assert "Zork" not in said
        assert len(model.calls) == 1

    def test_a_true_quote_is_no_licence_to_lie(self, palace, call):
        model = ScriptedLLM(quote="quotes, then lies", answer=LIE)
        text, deltas, _ = run(PalaceLLM(model, palace), call, UNCLEAR)
        assert "9999" not in text + "".join(deltas)
        assert paint_text(None) in text


class Silent(ScriptedLLM):
    """Streams nothing at all."""

    def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
        super().stream_chat(messages, **kwargs)
        return iter(())


@pytest.mark.parametrize("call", [call for call in CALLS if "stream" in call])
def test_an_empty_stream_on_a_hit_is_answered_by_the_memory(palace, call):
    text, deltas, verdict = run(PalaceLLM(Silent(), palace), call, HIT)
    assert text == "".join(deltas)
    assert text.startswith(code_text(None))
    assert verdict["model_calls"] == 1


def test_an_empty_stream_of_what_is_no_recall_stays_empty(palace):
    llm = PalaceLLM(Silent(), palace)
    for _ in range(2):
        assert list(llm.stream_chat([user(PASS)])) == []
    assert palace.decided == [PASS, PASS]


@pytest.mark.parametrize("last", ["Please.", ""])
@pytest.mark.parametrize(
    ("words", "calls", "kept"),
    [(MISS, 0, FALLBACK), (HIT, 1, code_text(None)), (UNCLEAR, 2, paint_text(None))],
)
def test_another_message_does_not_hide_a_question(palace, words, calls, kept, last):
    model = ScriptedLLM(answer=LIE)
    said = list(PalaceLLM(model, palace).stream_chat([user(words), user(last)]))
    assert said[-1].message.content.startswith(kept)
    assert "9999" not in "".join(chunk.delta for chunk in said)
    assert len(model.calls) == calls


@pytest.mark.parametrize("call", ["chat", "astream_chat", "complete"])
def test_one_quote_call_may_bring_the_answer(tmp_path, call):
    with open_palace(tmp_path / "p", "answers: {quote_calls: one}") as palace:
        model = ScriptedLLM()
        text, _, verdict = run(PalaceLLM(model, palace), call, UNCLEAR)
        assert text == paint_text(None)
        assert verdict["model_calls"] == len(model.calls) == 1
        lying = ScriptedLLM(quote="quotes, then lies")
        text, _, _ = run(PalaceLLM(lying, palace), call, UNCLEAR)
        assert "9999" not in text


class Thinking(ScriptedLLM):
    """Takes no forced call, as providers whose model thinks first."""

    in_words: bool = False

    def _prepare_chat_with_tools(
        self, *args: Any, tool_required: bool = False, **kwargs: Any
    ) -> dict[str, Any]:
        if tool_required:
            raise ValueError("thinking may not be enabled when tool_choice forces tool use")
        return super()._prepare_chat_with_tools(*args, **kwargs)

    def _point(self, text: str, names: Any) -> ChatMessage:
        return super()._point(text, () if self.in_words else names)


@pytest.mark.parametrize("in_words", [True, False])
@pytest.mark.parametrize("call", CALLS[:4])
def test_a_model_that_takes_no_forced_call_is_asked_for_a_quote_too(palace, call, in_words):
    text, _, verdict = run(PalaceLLM(Thinking(in_words=in_words), palace), call, UNCLEAR)
    assert text == f"{paint_text(None)} [1]"
    assert verdict["action"] == "ground"


class TestMessages:
    def test_what_is_quoted_after_begins_with_the_person(self, palace, model):
        assistant = ChatMessage(role="assistant", content="Welcome.")
        said = [assistant, *[user("Hello."), assistant] * 5]
        PalaceLLM(model, palace).chat([*said, user(UNCLEAR)])
        quoted = model.calls[0]["messages"]
        assert [m.role.value for m in quoted[:2]] == ["user", "assistant"]
        assert "QUOTE: " in (quoted[-1].content or "")

    def test_a_quote_is_asked_for_behind_what_the_program_says(self, palace, model):
        system = ChatMessage(role="system", content="Answer in Dutch.")
        PalaceLLM(model, palace).chat([system, user(UNCLEAR)])
        quoted = model.calls[0]["messages"]
        assert quoted[0] == system
        assert [m.role.value for m in quoted] == ["system", "user"]

    @pytest.mark.parametrize(
        "form", ["Thought: … Action Input: … Answer: …", "<execute>...</execute>"]
    )
    def test_a_quote_is_asked_for_without_a_program_that_teaches_a_form(self, palace, model, form):
        system = ChatMessage(role="system", content=form)
        PalaceLLM(model, palace).chat([system, user(UNCLEAR)])
        assert [m.role.value for m in model.calls[0]["messages"]] == ["user"]

    def test_evidence_stands_in_the_users_message_only(self, palace, model):
        PalaceLLM(model, palace).chat([ChatMessage(role="system", content="Be kind."), user(HIT)])
        system, asked = model.calls[0]["messages"]
        assert system.content == "Be kind."
        assert code_text(None) in asked.content

    def test_the_hosts_own_messages_are_not_changed(self, palace, model):
        messages = [user(HIT)]
        PalaceLLM(model, palace).chat(messages)
        assert messages == [user(HIT)]

    def test_an_image_stays_beside_the_question(self, palace, model):
        image = ImageBlock(image=b"")
        message = ChatMessage(role="user", blocks=[image, TextBlock(text=HIT)])
        PalaceLLM(model, palace).chat([message])
        sent = model.calls[0]["messages"][0]
        assert [b.block_type for b in sent.blocks] == ["image", "text"]

    def test_a_question_in_a_system_message_gets_its_evidence_as_user(self, palace, model):
        PalaceLLM(model, palace).chat([ChatMessage(role="system", content=HIT)])
        sent = model.calls[0]["messages"]
        assert [m.role.value for m in sent] == ["system", "user"]
        assert code_text(None) not in sent[0].content

    def test_verdicts_in_the_history_are_not_sent_to_the_model(self, palace, model):
        llm = PalaceLLM(model, palace)
        first = llm.chat([user(HIT)]).message
        assert first.additional_kwargs["palace"]["action"] == "ground"
        llm.chat([user(HIT), first, user(PASS)])
        assert all("palace" not in kwargs for kwargs in model.calls[-1]["kwargs"])

    def test_a_message_names_memories_and_does_not_copy_them(self, palace, model):
        reply = PalaceLLM(model, palace).chat([user(HIT)])
        note = reply.message.additional_kwargs["palace"]
        assert note["evidence"] == [{"id": "m-code", "source": "rooms/harbour/code.md:1"}]
        assert code_text(None) not in repr(note)
        assert reply.additional_kwargs["palace"]["evidence"][0]["text"] == code_text(None)

    def test_the_models_raw_words_do_not_slip_out_beside_the_reply(self, palace):
        llm = PalaceLLM(ScriptedLLM(answer=LIE), palace)
        for reply in [llm.chat([user(HIT)]), *llm.stream_chat([user(HIT)])]:
            assert "9999" not in repr(
                (reply.raw, reply.delta, reply.logprobs, reply.message.blocks)
            )

    def test_no_message_at_all_is_the_models_business(self, palace, model):
        assert PalaceLLM(model, palace).chat([user("")]).message.content == HAIKU

    def test_a_question_hidden_in_a_longer_text_is_found(self, palace, model):
        text = f"Here is a long report.\n\nQuestion: {MISS}\nAnswer: "
        assert PalaceLLM(model, palace).complete(text).text == FALLBACK
        assert model.calls == []


class TestSessions:
    def test_the_block_wins_over_the_constructor(self, palace, model):
        llm = PalaceLLM(model, palace, session_id="s1")
        with palace_session("s2"):
            assert llm.chat([user(HIT)]).message.content == f"{code_text('s2')} [1]"
        assert llm.chat([user(HIT)]).message.content == f"{code_text('s1')} [1]"

    def test_a_stream_read_after_its_block_stays_in_its_session(self, palace, model):
        llm = PalaceLLM(model, palace)
        with palace_session("s2"):
            stream = llm.stream_chat([user(HIT)])
        with palace_session("s3"):
            assert list(stream)[-1].message.content == f"{code_text('s2')} [1]"

    def test_the_question_of_the_block_is_what_is_decided(self, palace, model):
        with palace_session("s1", question=MISS):
            assert PalaceLLM(model, palace).complete("Rephrase it.").text == FALLBACK
        assert model.calls == []

    async def test_concurrent_sessions_stay_apart(self, palace, model):
        llm = PalaceLLM(model, palace)

        async def one(session: str) -> str:
            with palace_session(session):
                return (await llm.achat([user(HIT)])).message.content

        said = await asyncio.gather(*(one(f"s{n}") for n in range(8)))
        assert said == [f"{code_text(f's{n}')} [1]" for n in range(8)]
        assert all(sum(code_text(f"s{n}") in p for n in range(8)) == 1 for p in model.prompts)


class Painter(BaseModel):
    """Who paints."""

    name: str


class Score(BaseModel):
    """A number."""

    code: int
    sure: bool


PROMPT = PromptTemplate("Extract: {query_str}")


def structured(llm: PalaceLLM, way: str, words: str, cls: type = Painter) -> Any:
    async def made() -> Any:
        if way == "plain":
            return llm.structured_predict(cls, PROMPT, query_str=words)
        if way == "async":
            return await llm.astructured_predict(cls, PROMPT, query_str=words)
        if way == "stream":
            return list(llm.stream_structured_predict(cls, PROMPT, query_str=words))[-1]
        if way == "astream":
            source = await llm.astream_structured_predict(cls, PROMPT, query_str=words)
            return [o async for o in source][-1]
        return (await llm.as_structured_llm(cls).achat([user(words)])).raw

    return asyncio.run(made())


@pytest.mark.parametrize("way", ["plain", "async", "stream", "astream", "as_structured_llm"])
class TestStructured:
    def test_a_miss_is_typed(self, palace, model, way):
        with pytest.raises(RecallMiss, match="memory palace"):
            structured(PalaceLLM(model, palace), way, MISS)
        assert model.calls == []

    def test_what_is_no_recall_is_predicted(self, palace, way):
        model = ScriptedLLM(tool_arguments={"name": "Rain"})
        assert structured(PalaceLLM(model, palace), way, PASS).name == "Rain"

    def test_a_hit_is_predicted_from_the_evidence(self, palace, way):
        model = ScriptedLLM(tool_arguments={"code": 4711, "sure": True})
        assert structured(PalaceLLM(model, palace), way, HIT, Score).code == 4711
        assert code_text(None) in model.prompts[0]

    def test_an_invented_value_is_refused(self, palace, way):
        model = ScriptedLLM(tool_arguments={"code": 9999, "sure": True})
        with pytest.raises(UngroundedAnswerError, match="Score") as raised:
            structured(PalaceLLM(model, palace), way, HIT, Score)
        assert "9999" not in str(raised.value)
        (record,) = palace.journal.records(type="answer")
        assert "9999" in " ".join(record["unsupported"])

    def test_no_object_at_all_is_a_failure_without_the_models_words(self, palace, way):
        model = ScriptedLLM(functions=False, answer=LIE)
        # Older versions cannot stream the object of a model without functions at all.
        with pytest.raises((ModelError, NotImplementedError)) as raised:
            structured(PalaceLLM(model, palace), way, HIT)
        assert "9999" not in str(raised.value)

    def test_unclear_evidence_needs_a_quote(self, palace, way):
        model = ScriptedLLM(tool_arguments={"name": "Ruth"})
        assert structured(PalaceLLM(model, palace), way, UNCLEAR).name == "Ruth"
        assert other_text(None) not in model.prompts[-1]

    @pytest.mark.parametrize("quote", LIARS)
    def test_without_a_true_quote_it_is_a_miss(self, palace, way, quote):
        model = ScriptedLLM(quote=quote, tool_arguments={"name": "Zork"})
        with pytest.raises(RecallMiss):
            structured(PalaceLLM(model, palace), way, UNCLEAR)
        assert len(model.calls) == 1

    def test_a_model_that_declines_is_a_miss(self, palace, way):
        model = ScriptedLLM(tool_arguments={"name": "NOT_IN_MEMORY"})
        with pytest.raises(RecallMiss):
            structured(PalaceLLM(model, palace), way, HIT)


def test_braces_in_evidence_are_no_variables(palace):
    model = ScriptedLLM(tool_arguments={"code": 4711, "sure": True})
    prompt = PromptTemplate('Extract {{"a": 1}} from: {query_str}')
    PalaceLLM(model, palace).structured_predict(Score, prompt, query_str=HIT)
    assert "{query_str}" not in model.prompts[0]


class TestToolCalls:
    @pytest.mark.parametrize("functions", [True, False])
    async def test_a_miss_is_typed(self, palace, functions):
        model = ScriptedLLM(tool="clock", functions=functions)
        llm = PalaceLLM(model, palace)
        with pytest.raises(RecallMiss):
            llm.predict_and_call([CLOCK], user_msg=MISS)
        with pytest.raises(RecallMiss):
            await llm.apredict_and_call([CLOCK], user_msg=MISS)
        reply = llm.predict_and_call([CLOCK], user_msg=MISS, error_on_no_tool_call=False)
        assert reply.response == FALLBACK
        assert model.calls == []

    def test_a_hit_calls_the_tool(self, palace):
        model = ScriptedLLM(tool="clock")
        reply = PalaceLLM(model, palace).predict_and_call([CLOCK], user_msg=HIT)
        assert reply.response == "noon"
        assert code_text(None) in model.prompts[0]

    def test_a_hit_reaches_a_model_without_functions(self, palace):
        # LlamaIndex' own ReAct way fails without these two, and in older versions with them too.
        react = {"react_chat_formatter": ReActChatFormatter(), "output_parser": ReActOutputParser()}
        llm = PalaceLLM(ScriptedLLM(functions=False, tool="clock"), palace)
        reply = llm.predict_and_call([CLOCK], user_msg=HIT, **react)
        assert reply.response == "noon" or "requires a running workflow" in reply.response

    def test_a_model_without_functions_says_so(self, palace):
        llm = PalaceLLM(MockLLM(), palace)
        assert llm.metadata.is_function_calling_model is False
        with pytest.raises(ConfigError, match="ReActAgent"):
            llm.chat_with_tools([CLOCK], user_msg=PASS)


class TestAnswersByTool:
    """A tool that only builds an object of a schema is an answer; its arguments are checked."""

    def program(self, palace: BandPalace, code: int, **more: Any) -> Any:
        model = ScriptedLLM(tool_arguments={"code": code, "sure": True}, **more)
        return FunctionCallingProgram.from_defaults(
            Score, prompt=PROMPT, llm=PalaceLLM(model, palace)
        )

    def test_a_supported_object_passes(self, palace):
        assert self.program(palace, 4711)(query_str=HIT).code == 4711

    async def test_an_invented_object_is_refused(self, palace):
        with pytest.raises(UngroundedAnswerError) as raised:
            self.program(palace, 9999)(query_str=HIT)
        assert "9999" not in str(raised.value)
        with pytest.raises(UngroundedAnswerError):
            await self.program(palace, 9999).acall(query_str=HIT)
        with pytest.raises(UngroundedAnswerError):
            list(self.program(palace, 9999).stream_call(query_str=HIT))

    @pytest.mark.parametrize("script", [{}, {"quote": "declines"}, {"quote": "invents"}])
    @pytest.mark.parametrize("words", [MISS, UNCLEAR])
    async def test_a_miss_is_typed_in_streams_too(self, palace, words, script):
        script = {"quote": "ignores", **script}
        with pytest.raises(RecallMiss, match="memory palace"):
            list(self.program(palace, 4711, **script).stream_call(query_str=words))
        with pytest.raises(RecallMiss, match="memory palace"):
            async for _ in await self.program(palace, 4711, **script).astream_call(query_str=words):
                pass

    async def test_declining_in_words_is_a_miss(self, palace):
        class InWords(ScriptedLLM):
            def _say(self, messages: Any, tools: Any = ()) -> ChatMessage:
                super()._say(messages, tools)
                return ChatMessage(role="assistant", content="NOT_IN_MEMORY")

        program = FunctionCallingProgram.from_defaults(
            Score, prompt=PROMPT, llm=PalaceLLM(InWords(), palace)
        )
        with pytest.raises(RecallMiss):
            program(query_str=HIT)
        with pytest.raises(RecallMiss):
            await program.acall(query_str=HIT)
        with pytest.raises(RecallMiss):
            list(program.stream_call(query_str=HIT))

    def test_what_is_no_recall_passes(self, palace):
        assert self.program(palace, 9999)(query_str=PASS).code == 9999


class TestWrapping:
    def test_metadata_and_prompts_are_the_wrapped_models_own(self, palace):
        inner = MockLLM(system_prompt="Be kind.", max_tokens=7)
        llm = PalaceLLM(inner, palace)
        window = llm.metadata.context_window
        assert llm.metadata == inner.metadata.model_copy(update={"context_window": window})
        assert 0.7 * inner.metadata.context_window < window < inner.metadata.context_window
        assert llm.system_prompt == "Be kind."
        assert llm.class_name() == "PalaceLLM"

    def test_a_hosts_callback_manager_reaches_the_model(self, palace, model):
        manager = CallbackManager([])
        llm = PalaceLLM(model, palace)
        llm.callback_manager = manager
        assert model.callback_manager is manager

    def test_what_is_set_after_wrapping_holds_for_objects_too(self, palace):
        model = ScriptedLLM(answer='{"code": 4711, "sure": true}')
        llm = PalaceLLM(model, palace)
        llm.system_prompt = "Be kind."
        llm.pydantic_program_mode = PydanticProgramMode.LLM
        assert llm.structured_predict(Score, PROMPT, query_str=HIT).code == 4711
        (call,) = model.calls
        assert "Be kind." in call["text"]
        assert call["tools"] == []

    def test_every_setting_of_a_model_is_shared(self, palace, model):
        llm = PalaceLLM(model, palace)
        for name in LLM.model_fields:
            assert getattr(llm, name) is getattr(model, name)
            setattr(llm, name, given := object())
            assert getattr(model, name) is given

    def test_the_palace_is_not_serialized(self, palace, model):
        assert "palace" not in PalaceLLM(model, palace).model_dump()

    def test_a_cache_tells_one_model_from_another(self, palace):
        def key(max_tokens: int) -> str:
            extractor = KeywordExtractor(llm=PalaceLLM(MockLLM(max_tokens=max_tokens), palace))
            return get_transformation_hash([TextNode(text="Boats.")], extractor)

        assert key(64) == key(64)
        assert key(64) != key(128)

    def test_what_the_model_holds_is_not_dumped(self, palace):
        model = ScriptedLLM(answer="sk-of-the-model")
        assert "sk-of-the-model" not in PalaceLLM(model, palace).model_dump_json()

    def test_the_quote_tool_has_the_contracts_arguments(self):
        from llama_index_palace.pointing import _PointToMemory

        assert set(_PointToMemory.model_fields) == set(QUOTE_SCHEMA["parameters"]["properties"])


def test_flag_releases_and_names_what_is_unsupported(tmp_path):
    with open_palace(tmp_path / "p", "answers: {check: flag}") as palace:
        text, _, verdict = run(PalaceLLM(ScriptedLLM(answer=LIE), palace), "chat", HIT)
        assert "9999" in text
        assert verdict["unsupported"]
        # Unclear evidence is replaced whatever the mode.
        lying = ScriptedLLM(quote="quotes, then lies", answer=LIE)
        assert "9999" not in run(PalaceLLM(lying, palace), "chat", UNCLEAR)[0]


def test_bands(palace: BandPalace):
    from palace import RetrievalEnforcer

    actions = [RetrievalEnforcer(palace).decide(q).action for q in (HIT, UNCLEAR, MISS, PASS)]
    assert actions == ["ground", "confirm", "fallback", "pass"]


@pytest.mark.parametrize("call", ["chat", "acomplete"])
def test_what_must_be_brought_up_reaches_the_model_whatever_the_prompt(palace, model, call):
    palace.remember("Never rhyme rain with pain.", kind="negative", triggers=["rain", "harbour"])
    for prompt in (PASS, HIT):
        run(PalaceLLM(model, palace), call, prompt)
    assert len(model.prompts) == 2
    assert all("Never rhyme rain with pain." in str(asked) for asked in model.prompts)


@pytest.mark.parametrize("call", CALLS)
def test_what_is_told_is_kept_without_a_call(palace, model, call):
    text, _, told = run(PalaceLLM(model, palace), call, "Remember this: the lamp is green.")
    assert text == "I will remember: the lamp is green."
    assert told["written"][0]["status"] == "stored"
    assert not model.prompts
