"""What passes the gate of one reply, whole or in chunks, and what is told of it afterwards."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_palace.gate import ReplyGate, canned
from langchain_palace.turns import Plan
from pydantic import BaseModel

from palace import (
    DECLINE_TOKEN,
    AnswerOptions,
    Evidence,
    RecallMiss,
    RecallSignal,
    UngroundedAnswerError,
    Verdict,
)
from tests.adapters.langchain.doubles import FALLBACK, HIT, HIT_TEXT, LIE, PASS, USAGE, calling

EVIDENCE = Evidence("m-1", HIT_TEXT, "L1", "rooms/releases/log.md:1", confidence=0.95)
GROUND = Plan(
    Verdict("v-1", "ground", "hit", RecallSignal("fact", 0.9), evidence=(EVIDENCE,)),
    HIT,
    AnswerOptions(),
)
OPEN = Plan(Verdict("v-2", "pass", "not_recall", RecallSignal("none", 0.1)), PASS, AnswerOptions())
DEARER = {name: 2 * tokens for name, tokens in USAGE.items()}
INFO = {"finish_reason": "stop", "logprobs": {"content": [LIE]}}
TOLD = {"finish_reason": "stop"}


class Shipped(BaseModel):
    version: str
    kind: Literal["P1", "P2"] = "P1"


def gate(plan: Plan = GROUND, **named: Any) -> ReplyGate:
    return ReplyGate(plan, **named)


def called(text: str = "", **more: Any) -> AIMessage:
    return calling("weather", {"city": "Rome"}, text=text).model_copy(update=more)


def piece(content: Any = "", **more: Any) -> AIMessageChunk:
    return AIMessageChunk(content=content, **more)


def call_piece(**more: Any) -> AIMessageChunk:
    chunk = {"name": "weather", "args": '{"city": "Rome"}', "id": "c1", "index": 0}
    return piece(**{"tool_call_chunks": [chunk], **more})


def streamed(one: ReplyGate, *chunks: Any, info: Any = None) -> list[AIMessageChunk]:
    """Return the messages that a stream lets out."""
    through, shown = one.stream(), []
    for chunk in chunks:
        shown += through.feed(ChatGenerationChunk(message=chunk, generation_info=info))
    return [chunk.message for chunk in (*shown, *through.close())]


def summed(chunks: list[AIMessageChunk]) -> AIMessageChunk:
    return reduce(add, chunks)


class TestAMessageThatIsNotChecked:
    def test_passes_with_its_verdict_and_all_it_cost(self):
        said = AIMessage(LIE, usage_metadata=USAGE, response_metadata={"model": "m"})
        told = gate(replace(OPEN, usage=USAGE)).message(said)
        assert (told.text, told.usage_metadata) == (LIE, DEARER)
        assert told.response_metadata["model"] == "m"
        assert told.response_metadata["palace"]["id"] == "v-2"

    def test_is_not_kept(self):
        one = gate(OPEN)
        one.message(AIMessage(LIE))
        assert (one.is_open, one.said, one.checked, one.text) == (True, None, None, "")

    def test_keeps_what_the_provider_tells(self):
        reply = ChatGeneration(message=AIMessage(LIE), generation_info=INFO)
        told = gate(OPEN).result(ChatResult(generations=[reply], llm_output=INFO))
        assert told.generations[0].generation_info == INFO
        assert told.llm_output == INFO

    def test_streams_as_it_is_with_the_verdict_in_the_first_chunk(self):
        through = gate(OPEN).stream()
        first, second = (
            through.feed(ChatGenerationChunk(message=piece(text), generation_info=INFO))[0]
            for text in ("Rain ", "falls.")
        )
        assert first.message.response_metadata["palace"]["id"] == "v-2"
        assert "palace" not in second.message.response_metadata
        assert first.generation_info == second.generation_info == INFO
        assert through.close() == []

    def test_streams_so_where_an_object_is_wanted(self):
        shown = streamed(gate(OPEN, structured=[]), piece("{"), piece("}"))
        assert [chunk.text for chunk in shown] == ["{", "}"]


class TestAMessage:
    def test_tells_what_was_checked_and_what_it_cost(self):
        one = gate(replace(GROUND, usage=USAGE))
        said = AIMessage(f"{HIT_TEXT} [1] {LIE}", usage_metadata=USAGE)
        told = one.message(said)
        assert one.said is said
        assert not one.is_open
        assert one.text == told.text
        assert HIT_TEXT in told.text
        assert "80085" not in told.text
        assert told.response_metadata["palace"]["unsupported"]
        assert told.usage_metadata == DEARER

    @pytest.mark.parametrize("text", ["", " \n"])
    def test_without_words_declines(self, text):
        one = gate()
        assert one.message(AIMessage(text)).text == FALLBACK
        assert one.checked.declined
        with pytest.raises(RecallMiss):
            gate(must_fit=True).message(AIMessage(text))

    def test_without_words_calls(self):
        one = gate(must_fit=True)
        told = one.message(called())
        assert (told.text, one.checked, len(told.tool_calls)) == ("", None, 1)

    def test_that_declines_is_a_miss_where_words_do_not_fit(self):
        assert gate().message(AIMessage(DECLINE_TOKEN)).text == FALLBACK
        with pytest.raises(RecallMiss, match="memory palace"):
            gate(must_fit=True).message(AIMessage(DECLINE_TOKEN))
        assert gate(must_fit=True).message(AIMessage(HIT_TEXT)).text == HIT_TEXT

    @pytest.mark.parametrize("text", [LIE, DECLINE_TOKEN])
    def test_that_calls_says_what_is_supported_or_nothing(self, text):
        one = gate(must_fit=True)
        told = one.message(called(text))
        assert (told.text, one.text, len(told.tool_calls)) == ("", "", 1)
        assert gate().message(called(HIT_TEXT)).text == HIT_TEXT

    def test_of_an_older_kind_is_checked_too(self):
        reply = ChatGeneration(message=HumanMessage(HIT_TEXT), generation_info=None)
        told = gate().result(ChatResult(generations=[reply]))
        assert told.generations[0].message.text == HIT_TEXT

    def test_releases_nothing_of_its_words_beside_them(self):
        replies = [
            ChatGeneration(message=AIMessage(HIT_TEXT, usage_metadata=USAGE), generation_info=INFO),
            ChatGeneration(message=AIMessage(LIE, usage_metadata=USAGE), generation_info=None),
        ]
        one = gate(replace(GROUND, usage=USAGE))
        told = one.result(ChatResult(generations=replies, llm_output=INFO))
        assert [g.generation_info for g in told.generations] == [TOLD, {}]
        assert told.llm_output == TOLD
        assert [g.message.usage_metadata for g in told.generations] == [DEARER, USAGE]
        assert one.text == HIT_TEXT
        assert gate().result(ChatResult(generations=replies)).llm_output is None

    def test_that_no_model_wrote_tells_what_was_spent(self):
        missed = replace(GROUND.verdict, action="fallback")
        assert canned(replace(GROUND, verdict=missed)).usage_metadata is None
        told = canned(replace(GROUND, verdict=missed, usage=USAGE))
        assert (told.text, told.usage_metadata) == (FALLBACK, USAGE)


class TestAnObject:
    def test_is_checked_where_its_gate_learns_of_it_late(self):
        text = json.dumps({"version": "9.9.9"})
        one = gate()
        one.expect_object(["weather"])
        with pytest.raises(UngroundedAnswerError):
            one.message(AIMessage(text))
        early = gate(structured=["weather"])
        early.expect_object([])
        assert early.message(called()).tool_calls  # a tool of the host's is no answer

    @pytest.mark.parametrize(
        "form",
        [
            "{}",
            "```json\n{}\n```",
            " ```\n{}\n``` ",
            "```json {}```",
            "Captain Zork says:\n```json\n{}\n```\nOn 3 May 1977.",
            "{}\n\nCaptain Zork said so.",
        ],
    )
    def test_is_found_in_words(self, form):
        right, wrong = (form.replace("{}", json.dumps({"version": v})) for v in ("4.1.0", "9.9.9"))
        one = gate(replace(GROUND, usage=USAGE), structured=[])
        told = one.message(AIMessage(right, usage_metadata=USAGE))
        assert json.loads(told.text) == {"version": "4.1.0"}  # nobody has checked the words around
        assert told.usage_metadata == DEARER
        assert json.loads(one.checked.text) == ["4.1.0"]
        with pytest.raises(UngroundedAnswerError, match="1 of 1"):
            gate(structured=[]).message(AIMessage(wrong))

    def test_may_be_a_list(self):
        assert gate(structured=[]).message(AIMessage('["4.1.0"]')).text == '["4.1.0"]'
        with pytest.raises(UngroundedAnswerError, match="1 of 1"):
            gate(structured=[]).message(AIMessage('["9.9.9"]'))

    @pytest.mark.parametrize("text", [HIT_TEXT, "4", '"4.1.0"'])
    def test_is_no_text_or_number_alone(self, text):
        one = gate(structured=[])
        one.message(AIMessage(text))
        assert one.text

    def test_beside_which_something_is_said_is_checked_with_that(self):
        answer = calling("Shipped", {"version": "4.1.0"}, text=LIE)
        with pytest.raises(UngroundedAnswerError, match="1 of 2"):
            gate(structured=["weather"]).message(answer)

    def test_of_another_tool_is_no_answer(self):
        assert gate(structured=["weather"]).message(called()).tool_calls
        assert gate(structured=["weather"]).message(called(json.dumps({"v": "9.9.9"}))).text == ""

    def test_may_hold_labels_of_its_schema(self):
        answer = AIMessage(json.dumps({"version": "4.1.0", "kind": "P2"}))
        assert gate(structured=[], schema=Shipped).message(answer).text == answer.text
        with pytest.raises(UngroundedAnswerError, match="1 of 2"):
            gate(structured=[]).message(answer)

    def test_that_declines_in_a_value_is_a_miss(self):
        with pytest.raises(RecallMiss):
            gate(structured=[]).message(AIMessage(json.dumps({"version": DECLINE_TOKEN})))

    def test_is_flagged_where_that_is_wanted(self):
        plan = replace(GROUND, options=AnswerOptions(mode="flag"))
        one = gate(plan, structured=[])
        told = one.message(AIMessage(json.dumps({"version": "9.9.9"})))
        assert (one.checked.supported, one.checked.unsupported) == (False, ("9.9.9",))
        assert told.response_metadata["palace"]["unsupported"] == ["9.9.9"]

    def test_is_streamed_whole(self):
        right, wrong = (json.dumps({"version": v}) for v in ("4.1.0", "9.9.9"))
        (told,) = streamed(gate(structured=[]), piece(right[:9], id="m"), piece(right[9:]))
        assert (told.text, told.id, told.chunk_position) == (right, "m", "last")
        with pytest.raises(UngroundedAnswerError):
            streamed(gate(structured=[]), piece(wrong[:9]), piece(wrong[9:]))
        assert streamed(gate(structured=[])) == []

    def test_is_streamed_with_what_its_message_tells(self):
        function = {"function_call": {"name": "Shipped", "arguments": '{"version": "4.1.0"}'}}
        parts = {"response_metadata": INFO, "usage_metadata": USAGE, "additional_kwargs": function}
        (told,) = streamed(gate(structured=[]), piece("", **parts))
        assert told.response_metadata["finish_reason"] == "stop"
        assert told.usage_metadata == USAGE
        assert told.additional_kwargs == function

    def test_in_a_call_is_streamed_too(self):
        (told,) = streamed(gate(structured=["weather"]), call_piece())
        assert told.tool_calls[0]["args"] == {"city": "Rome"}
        with pytest.raises(UngroundedAnswerError):
            streamed(gate(structured=[]), call_piece())


class TestAStream:
    def test_ends_with_what_was_checked(self):
        one = gate(replace(GROUND, usage=USAGE))
        chunks = [
            piece(f"{HIT_TEXT} ", id="m-1"),
            piece(LIE, id="m-2"),
            piece(usage_metadata=USAGE),
        ]
        shown = streamed(one, *chunks)
        told = summed(shown)
        assert told.text == one.text
        assert HIT_TEXT in one.text
        assert "80085" not in str([chunk.content for chunk in shown])
        assert one.said.text == f"{HIT_TEXT} {LIE}"
        assert not one.checked.supported
        assert told.response_metadata["palace"]["unsupported"]
        assert told.usage_metadata == DEARER
        assert {chunk.id for chunk in shown if chunk.text or chunk.response_metadata} == {"m-1"}
        assert [c.chunk_position for c in shown] == [None] * (len(shown) - 1) + ["last"]

    def test_is_named_by_the_first_chunk_that_has_a_name(self):
        shown = streamed(gate(), piece(HIT_TEXT), piece(" ", id="m-1"), piece(" ", id="m-2"))
        assert shown[-1].id == "m-1"

    def test_names_each_piece(self):
        first, *_ = streamed(gate(), piece(f"{HIT_TEXT} It", id="m-1"), piece(" rains."))
        assert (first.text.strip(), first.id) == (HIT_TEXT, "m-1")

    def test_tells_what_the_provider_tells_at_the_end(self):
        message = piece(HIT_TEXT, response_metadata={**INFO, "model": "m"})
        shown = streamed(gate(), message, info={**INFO, "model": "older", "seed": 1})
        assert not any(chunk.response_metadata for chunk in shown[:-1])
        told = {k: v for k, v in shown[-1].response_metadata.items() if k != "palace"}
        assert told == {"finish_reason": "stop", "model": "m", "seed": 1}

    def test_of_whole_messages_is_checked(self):
        through = gate().stream()
        through.feed(ChatGenerationChunk.model_construct(message=AIMessage(HIT_TEXT)))
        assert "".join(chunk.message.text for chunk in through.close()) == HIT_TEXT

    @pytest.mark.parametrize("chunks", [[], [""], [" \n"]])
    def test_without_words_declines(self, chunks):
        one = gate()
        assert summed(streamed(one, *map(piece, chunks))).text.strip() == FALLBACK
        assert one.checked.declined
        with pytest.raises(RecallMiss):
            streamed(gate(must_fit=True), *map(piece, chunks))

    def test_without_words_calls(self):
        one = gate(must_fit=True)
        told = summed(streamed(one, call_piece(), piece(), piece(" ")))
        assert (told.text.strip(), one.text, one.checked) == ("", "", None)
        assert len(told.tool_calls) == 1

    @pytest.mark.parametrize("text", [LIE, DECLINE_TOKEN])
    @pytest.mark.parametrize("after", [[], [piece()], [piece(usage_metadata=USAGE)]])
    def test_that_calls_says_what_is_supported_or_nothing(self, text, after):
        one = gate(must_fit=True)
        shown = streamed(one, piece(text), call_piece(), *after)
        assert (summed(shown).text, len(summed(shown).tool_calls)) == ("", 1)
        told = streamed(gate(), piece(HIT_TEXT), call_piece(), *after)
        assert [chunk.text for chunk in told if chunk.text] == [HIT_TEXT]
        texts = [n for n, chunk in enumerate(told) if chunk.text]
        calls = [n for n, chunk in enumerate(told) if chunk.tool_call_chunks]
        assert max(texts) < min(calls)

    def test_tells_at_once_what_it_cost_and_what_it_calls_first(self):
        through = gate().stream()
        for message in (call_piece(), piece(usage_metadata=USAGE)):
            (shown,) = through.feed(ChatGenerationChunk(message=message))
            assert shown.message.tool_call_chunks == message.tool_call_chunks
        through.feed(ChatGenerationChunk(message=piece("It is")))
        (shown,) = through.feed(ChatGenerationChunk(message=piece(usage_metadata=USAGE)))
        assert shown.message.usage_metadata == USAGE
        assert through.feed(ChatGenerationChunk(message=call_piece())) == []

    def test_of_a_call_shows_the_call_alone(self):
        part = {"type": "tool_use", "id": "c1", "name": "weather", "input": {}, "index": 1}
        extras = {"tool_calls": [{"id": "c1"}], "reasoning_content": LIE}
        meta = {"response_metadata": {"said": LIE}, "chunk_position": "last"}
        message = call_piece(
            content=[{"type": "thinking", "thinking": LIE, "index": 0}, part],
            additional_kwargs=extras,
            **meta,
        )
        shown = gate().stream().feed(ChatGenerationChunk(message=message))[0].message
        assert shown.content == [part]
        assert shown.additional_kwargs == {"tool_calls": [{"id": "c1"}]}
        assert shown.response_metadata == {}
        assert shown.chunk_position is None

    @pytest.mark.parametrize(
        "message",
        [
            piece(content=[{"type": "tool_use", "id": "c1", "name": "w", "input": {}, "index": 0}]),
            piece(additional_kwargs={"function_call": {"name": "w", "arguments": "{}"}}),
            call_piece(),
        ],
    )
    def test_calls_in_each_way(self, message):
        one = gate(must_fit=True)
        shown = streamed(one, message)
        assert one.checked is None
        assert FALLBACK not in summed(shown).text
