"""One decision for each turn, however often its host calls the model, and however turns cross."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ImageBlock
from llama_index.core.program import FunctionCallingProgram
from llama_index_palace import PalaceLLM, PalaceMemoryBlock, PalaceRetriever

from tests.adapters.llama_index.scripted import (
    CLOCK,
    HAIKU,
    HIT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    ScriptedLLM,
    paint_text,
)
from tests.adapters.llama_index.test_hosts import ENGINES, TOLD, chat
from tests.adapters.llama_index.test_llm import PROMPT, Score, user


class TestTurns:
    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    def test_the_loops_of_two_conversations_stay_apart(self, palace, words):
        """The same last words, in the same place, of people without sessions."""
        model = ScriptedLLM(tool="clock", answer=LIE, quote="quotes, then lies")
        llm = PalaceLLM(model, palace)
        one, other = [user(words), user("Please.")], [user(PASS), user("Please.")]
        for said in (one, other):
            said.append(llm.chat_with_tools([CLOCK], chat_history=list(said)).message)
            said.append(ChatMessage(role="tool", content="noon"))
        assert "9999" not in llm.chat_with_tools([CLOCK], chat_history=one).message.content
        assert llm.chat_with_tools([CLOCK], chat_history=other).message.content == LIE

    @pytest.mark.parametrize("words", [HIT, UNCLEAR, PASS])
    def test_the_loops_of_equal_turns_stay_apart(self, palace, words):
        """The same words twice at once, in one session: each turn is decided once."""
        llm = PalaceLLM(ScriptedLLM(tool="clock"), palace, session_id="s1")
        turns = [[user(words)], [user(words)]]
        for said in turns:
            said.append(llm.chat_with_tools([CLOCK], chat_history=list(said)).message)
            said.append(ChatMessage(role="tool", content="noon"))
        replies = [llm.chat_with_tools([CLOCK], chat_history=said).message for said in turns]
        decided = [said[1].additional_kwargs["palace"]["id"] for said in turns]
        assert [r.additional_kwargs["palace"]["id"] for r in replies] == decided
        assert palace.decided == [words, words]

    def test_results_of_tools_may_be_repeated(self, palace):
        answer = "The harbour gate code is 4711-all. The clock says 16:20."
        llm = PalaceLLM(ScriptedLLM(answer=answer), palace)
        said = [user(HIT), ChatMessage(role="tool", content="The clock says 16:20.")]
        assert llm.chat(said).message.content == answer
        assert "16:20" not in llm.chat(said[:1]).message.content

    def test_after_unclear_evidence_only_the_quoted_memory_may_be(self, palace):
        answer = f"{paint_text(None)} The clock says 16:20."
        said = [user(UNCLEAR), ChatMessage(role="tool", content="The clock says 16:20.")]
        reply = PalaceLLM(ScriptedLLM(answer=answer), palace).chat(said).message.content
        assert paint_text(None) in reply
        assert "16:20" not in reply

    def test_the_next_turn_is_decided_anew(self, palace, model):
        llm = PalaceLLM(model, palace, session_id="s1")
        for _ in range(2):
            llm.chat([user(MISS)])
        assert palace.decided == [MISS, MISS]

    def test_a_stream_nobody_reads_to_the_end_ends_its_turn(self, palace, model):
        llm = PalaceLLM(model, palace)
        stream = llm.stream_chat([user(PASS)])
        next(stream)
        stream.close()
        llm.chat([user(PASS)])
        assert palace.decided == [PASS, PASS]

    def test_a_stream_that_nobody_reads_at_all_too(self, palace, model):
        llm = PalaceLLM(model, palace)
        llm.stream_chat([user(HIT)])
        llm.chat([user(HIT)])
        assert palace.decided == [HIT, HIT]

    @pytest.mark.parametrize("words", [HIT, UNCLEAR, PASS])
    def test_a_tool_loop_that_nobody_goes_on_with_ends_with_the_next_question(self, palace, words):
        llm = PalaceLLM(ScriptedLLM(tool="clock"), palace)
        for _ in range(2):  # the host reads the tool's result out and asks no more
            assert llm.predict_and_call([CLOCK], user_msg=words).response == "noon"
        assert palace.decided == [words, words]

    def test_an_object_made_by_a_tool_ends_its_turn(self, palace):
        model = ScriptedLLM(tool_arguments={"code": 4711, "sure": True})
        llm = PalaceLLM(model, palace)
        for _ in range(2):
            FunctionCallingProgram.from_defaults(Score, prompt=PROMPT, llm=llm)(query_str=PASS)
        assert len(palace.decided) == 2

    async def test_an_async_one_too(self, palace, model):
        llm = PalaceLLM(model, palace)
        stream = await llm.astream_complete(PASS)
        await stream.__anext__()
        await stream.aclose()
        await llm.acomplete(PASS)
        assert palace.decided == [PASS, PASS]

    def test_wake_up_comes_with_the_first_model_call_of_a_session_only(self, palace, model):
        palace.set_identity("I am the keeper of the harbour.")
        llm = PalaceLLM(model, palace, session_id="s1")
        llm.chat([user(MISS)])
        llm.chat([user(PASS)])
        llm.chat([user(PASS)])
        assert ["keeper of the harbour" in p for p in model.prompts] == [True, False]
        PalaceLLM(model, palace).chat([user(PASS)])
        assert "keeper" not in model.prompts[-1]

    def test_a_tool_loop_keeps_its_wake_up(self, palace):
        palace.set_identity("I am the keeper of the harbour.")
        model = ScriptedLLM(tool="clock")
        llm = PalaceLLM(model, palace, session_id="s1")
        first = llm.chat_with_tools([CLOCK], chat_history=[user(PASS)])
        llm.chat_with_tools(
            [CLOCK], chat_history=[user(PASS), first.message, ChatMessage(role="tool", content="n")]
        )
        assert ["keeper of the harbour" in p for p in model.prompts] == [True, True]

    def test_answers_are_recorded(self, palace, model):
        PalaceLLM(model, palace).chat([user(HIT)])
        (record,) = palace.journal.records(type="answer")
        assert record["cited"] == ["m-code"]
        assert record["model_calls"] == 1


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("way", ["chat", "stream_chat", "achat", "astream_chat"])
def test_what_is_told_to_a_chat_engine_is_told_once(palace, model, name, way):
    """Some ask the palace twice: what it is to be rewritten to, and what is answered."""
    engine = ENGINES[name](PalaceLLM(model, palace, session_id="s1"), TOLD)
    said = chat(engine, way, "Remember this: the lamp is green.")
    assert said == "I will remember: the lamp is green."
    assert model.calls == []


@pytest.mark.parametrize("name", ["condense_question", "condense_plus_context"])
def test_a_long_conversation_is_decided_once_a_turn_too(palace, model, name):
    llm = PalaceLLM(model, palace, session_id="s1")
    assert chat(ENGINES[name](llm, TOLD * 9), "chat", UNCLEAR).startswith(paint_text("s1"))
    assert palace.decided == [UNCLEAR]
    assert len(model.calls) == 3  # for the quote, the rewriting and the answer


@pytest.mark.parametrize("way", ["chat", "stream_chat"])
def test_what_is_told_first_does_not_hide_what_is_asked_then(palace, model, way):
    llm = PalaceLLM(model, palace)
    told, image = user("Remember this: the lamp is green."), ImageBlock(url="https://x/y.png")
    reply = last_of(getattr(llm, way)([told, user(PASS)]))
    assert reply.message.content == HAIKU
    assert reply.additional_kwargs["palace"]["written"][0]["status"] == "stored"
    reply = last_of(getattr(llm, way)([told, ChatMessage(role="user", blocks=[image])]))
    assert "the lamp is green" in reply.message.content
    assert len(model.calls) == 1


@pytest.mark.parametrize("rest", ["", f" {UNCLEAR}", f" {HIT}", f" {MISS}"])
async def test_what_a_memory_block_heard_is_said_by_who_answers(palace, model, rest):
    words = f"Remember this: the lamp is green.{rest}"
    await PalaceMemoryBlock(palace).aget([user(words)], session_id="s1")
    reply = await PalaceLLM(model, palace, session_id="s1").achat([user(words)])
    (written,) = reply.additional_kwargs["palace"]["written"]
    assert written["status"] == "stored"
    assert len(palace.decided) == bool(rest)  # once for both
    if rest in ("", f" {MISS}"):
        assert "I will remember: the lamp is green." in reply.message.content
        assert model.calls == []
    if rest == f" {UNCLEAR}":
        assert paint_text("s1") in reply.message.content
        assert len(model.calls) == 2


async def test_a_query_tells_the_memory_nothing(palace):
    retriever = PalaceRetriever(palace)
    assert retriever.retrieve("Remember this: the lamp is green.") == []
    assert await retriever.aretrieve("Remember this: the lamp is green.") == []
    assert palace.memories() == []


@pytest.mark.parametrize("words", [HIT, UNCLEAR, MISS, PASS])
@pytest.mark.parametrize("way", ["chat", "stream_chat"])
def test_what_is_told_before_a_labelled_question_is_kept(palace, model, words, way):
    llm = PalaceLLM(model, palace, session_id="s1")
    reply = last_of(
        getattr(llm, way)([user(f"Remember this: the lamp is green.\nQuestion: {words}")])
    )
    assert [w["status"] for w in reply.additional_kwargs["palace"]["written"]] == ["stored"]
    assert [m.text for m in palace.memories()] == ["the lamp is green."]
    if words == MISS:
        assert reply.message.content.startswith("I will remember: the lamp is green.")
        assert model.calls == []


def last_of(reply: Any) -> Any:
    return reply if isinstance(reply, ChatResponse) else list(reply)[-1]
