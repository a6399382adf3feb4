"""A reply keeps what a host reads beside its words: its id, its place among several, its cost."""

from __future__ import annotations

import json
import uuid
from functools import reduce
from operator import add
from unittest.mock import MagicMock

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.context import collect_runs
from langchain_palace import ChatPalace, PalaceRunnable, tracing

from palace import DECLINE_TOKEN, RecallMiss
from tests.adapters.langchain.doubles import (
    CHAT,
    FALLBACK,
    HIT,
    HIT_TEXT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    USAGE,
    CountingModel,
    calling,
    declining,
    honest,
    ignoring,
    weather,
)


class SpareModel(CountingModel):
    """Returns a second choice beside its reply."""

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        result = super()._generate(messages, stop, run_manager, **kwargs)
        return ChatResult(generations=[*result.generations, ChatGeneration(message=AIMessage(LIE))])


def test_of_several_replies_the_first_is_recorded_and_tells_the_cost(palace):
    chat = ChatPalace(inner=SpareModel(persona=honest), palace=palace)

    first, spare = chat.generate([[HumanMessage(UNCLEAR)]]).generations[0]

    assert first.message.usage_metadata["total_tokens"] == 2 * USAGE["total_tokens"]
    assert spare.message.usage_metadata is None
    assert LIE not in str(spare)
    recorded = next(iter(palace.journal.records(type="answer")))
    assert (recorded["supported"], recorded["unsupported"]) == (True, [])


class NamingModel(CountingModel):
    """Names its message in the first chunk, as providers do."""

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        for chunk in super()._stream(messages, stop, run_manager, **kwargs):
            chunk.message.id = None if chunk.message.usage_metadata else "msg_1"
            yield chunk


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR, PASS])
def test_a_streamed_message_keeps_its_id(palace, prompt):
    chat = ChatPalace(inner=NamingModel(persona=honest), palace=palace)

    assert reduce(add, chat.stream(prompt)).id == "msg_1"


def test_a_session_may_be_a_number(palace):
    palace.note("The code of the archive door is 4711.", session_id="0")
    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace)
    asked = "What is the code of the archive door?"

    assert "4711" in chat.invoke(asked, {"configurable": {"session_id": 0}}).text
    assert "4711" not in chat.invoke(asked, {"configurable": {"session_id": 1}}).text


THINKING = {"type": "thinking", "thinking": LIE, "signature": "c2ln", "index": 0}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": LIE}]}
CALLED = {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Rome"}}
THOUGHTS = [
    ([THINKING], {}),
    ([REASONING, {"type": "text", "text": LIE}, CALLED], {}),
    ([{"type": "text", "text": HIT_TEXT}, {"type": "reasoning", "reasoning": LIE}, CALLED], {}),
    ("", {"reasoning_content": LIE}),
    ("", {"thinking_blocks": [THINKING], "gemini_thought_signatures": {"c1": "c2ln"}}),
]


def thinking_first(content, extras):
    """Think and call a tool, then answer; lie in every thought."""

    def persona(asked):
        if asked.is_pointing or asked.is_after_tool:
            return honest(asked)
        message = calling("weather", {"city": "Rome"})
        return message.model_copy(update={"content": content, "additional_kwargs": extras})

    return persona


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
@pytest.mark.parametrize(("content", "extras"), THOUGHTS)
class TestThoughtsBesideACall:
    """Nobody reads what the model thinks, and the model gets it back: providers insist on it."""

    def told(self, model, messages, streams):
        if not streams:
            return model.invoke(messages)
        chunks = [*model.stream(messages)]
        assert LIE not in str(chunks)
        return reduce(add, chunks)

    def test_are_for_the_model_alone(self, palace, content, extras, prompt, streams):
        model = CountingModel(persona=thinking_first(content, extras))
        bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])
        said = [HumanMessage(prompt)]
        said.append(self.told(bound, said, streams))
        for part in ("content", "additional_kwargs", "tool_calls"):
            assert LIE not in str(getattr(said[1], part))
        assert said[1].tool_calls[0]["args"] == {"city": "Rome"}

        said.append(ToolMessage("It rains.", tool_call_id="c1"))
        last = self.told(bound, said, streams)

        back = model.asked[-1].messages[1]
        kept = [p for p in content if not isinstance(p, str) and p["type"] != "text"]
        assert [p for p in back.content if not isinstance(p, str) and p["type"] != "text"] == kept
        assert {**back.additional_kwargs, **extras} == back.additional_kwargs
        assert back.tool_calls == said[1].tool_calls
        assert LIE not in back.text
        assert LIE not in str(last.content)

    def test_go_back_through_a_wrapper_that_is_made_for_each_call(
        self, palace, content, extras, prompt, streams
    ):
        model = CountingModel(persona=thinking_first(content, extras))
        said = [HumanMessage(prompt)]
        for result in ("It rains.", None):
            bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])
            said.append(self.told(bound, said, streams))
            said += [ToolMessage(result, tool_call_id="c1")] if result else []

        assert LIE in model.asked[-1].everything
        assert LIE not in str(said)
        assert model.calls == (2 if prompt == HIT else 3)  # and a quote is asked for once

    def test_of_one_session_stay_in_it(self, palace, content, extras, prompt, streams):
        model = CountingModel(persona=thinking_first(content, extras))
        bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])
        mine, other = ({"configurable": {"session_id": name}} for name in "ab")
        said = [HumanMessage(prompt), bound.invoke(prompt, mine)]
        foreign = said[1].model_copy(update={"response_metadata": {}})

        bound.invoke([said[0], foreign, ToolMessage("It rains.", tool_call_id="c1")], other)

        assert LIE not in model.asked[-1].everything


REPEATED = {
    "a thought": lambda args: f"Taken down: {args['text']}",
    "a list": lambda args: f"Updated todo list to {[{'content': args['text']}]}",
    "an error": lambda args: f"Error: {json.dumps(args)} is not understood",
}


@pytest.mark.parametrize("repeated", REPEATED)
@pytest.mark.parametrize(
    "said",
    [
        LIE,
        f"It's so:\n{LIE}",
        "\u6771\u4eac\u306e\u5009\u5eab\u306e\u756a\u53f7\u306f80085\u3067\u3059\u3002",
    ],
)
def test_what_a_tool_repeats_of_the_model_proves_nothing(palace, repeated, said):
    def persona(asked):
        return said if asked.is_after_tool else calling("note", {"text": said})

    bound = ChatPalace(inner=CountingModel(persona=persona), palace=palace).bind_tools([weather])
    asked = [HumanMessage(HIT), bound.invoke(HIT)]
    asked.append(ToolMessage(REPEATED[repeated]({"text": said}), tool_call_id="c1"))

    told = bound.invoke(asked).text
    assert HIT_TEXT in told
    assert "80085" not in told


def test_what_a_result_in_the_persons_role_repeats_proves_nothing(palace):
    bound = ChatPalace(inner=CountingModel(persona=ignoring), palace=palace)
    call = {"type": "tool_use", "id": "c1", "name": "note", "input": {"text": LIE}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": f"Taken down: {LIE}"}

    told = bound.invoke([HumanMessage(HIT), AIMessage([call]), HumanMessage([result])]).text
    assert HIT_TEXT in told
    assert "80085" not in told


def test_what_a_tool_says_of_what_it_was_asked_is_evidence(palace):
    def persona(asked):
        return f"{HIT_TEXT} It rains in Rome." if asked.is_after_tool else call

    call = calling("weather", {"city": "Rome", "why": "the person wants to know it"})
    bound = ChatPalace(inner=CountingModel(persona=persona), palace=palace).bind_tools([weather])
    asked = [HumanMessage(HIT), bound.invoke(HIT), ToolMessage(weather("Rome"), tool_call_id="c1")]

    assert bound.invoke(asked).text == f"{HIT_TEXT} It rains in Rome."


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
def test_an_answer_that_cannot_be_recorded_is_not_lost(palace, prompt):
    palace.root.joinpath("journal").rename(palace.root / "moved")
    palace.root.joinpath("journal").write_text("in the way", encoding="utf-8")
    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace)

    told = chat.invoke(prompt).text
    assert told.endswith("[1]")
    assert "".join(chunk.text for chunk in chat.stream(prompt)) == told


def test_released_text_beside_a_call_goes_back_as_the_part_it_was(palace):
    said = {"type": "text", "text": HIT_TEXT, "id": "msg_1", "phase": "commentary"}
    model = CountingModel(persona=thinking_first([REASONING, said, CALLED], {}))
    bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])
    first = bound.invoke(HIT)

    bound.invoke([HumanMessage(HIT), first, ToolMessage("It rains.", tool_call_id="c1")])

    assert model.asked[-1].messages[1].content == [REASONING, said, CALLED]


@pytest.mark.parametrize("parts", [[CALLED], []])
@pytest.mark.parametrize("prompt", [HIT, PASS])
def test_what_is_said_before_a_call_streams_before_it(palace, prompt, parts):
    content = [{"type": "text", "text": HIT_TEXT}, *parts] if parts else HIT_TEXT
    model = CountingModel(persona=thinking_first(content, {}))
    bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])

    chunks = list(bound.stream(prompt))

    spoken = [place for place, chunk in enumerate(chunks) if chunk.text]
    called = [n for n, c in enumerate(chunks) if c.tool_call_chunks or "tool_use" in str(c.content)]
    assert max(spoken) < min(called)
    assert "".join(chunk.text for chunk in chunks) == HIT_TEXT


@pytest.mark.parametrize("told", ["v-1", {"id": ["v-1"]}, {"id": 1}, ["v-1"], None])
@pytest.mark.parametrize("asked", [[], [HumanMessage(HIT)]])
def test_what_else_a_message_may_tell_as_its_verdict_is_none(palace, told, asked):
    model = CountingModel(persona=honest)
    bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])
    bound.invoke(HIT)  # a turn whose loop might go on
    call = calling("weather", {"city": "Rome"})
    foreign = call.model_copy(update={"response_metadata": {"palace": told}})

    last = bound.invoke([*asked, foreign, ToolMessage("It rains.", tool_call_id="c1")])

    assert last.text == (f"{HIT_TEXT} [1]" if asked else CHAT)


class Misspelling(BaseChatModel):
    """Calls a tool in a way that nobody can read, and cannot stream."""

    @property
    def _llm_type(self):
        return "misspelling"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        call = {"name": "weather", "args": '{"city": ', "id": "c1", "error": "cut off"}
        message = AIMessage("", invalid_tool_calls=[{**call, "type": "invalid_tool_call"}])
        return ChatResult(generations=[ChatGeneration(message=message)])


async def test_a_call_that_cannot_be_read_comes_through_a_stream_as_such(palace):
    chat = ChatPalace(inner=Misspelling(), palace=palace)
    whole = chat.invoke(PASS).invalid_tool_calls

    for chunks in (list(chat.stream(PASS)), [c async for c in chat.astream(PASS)]):
        assert [call for c in chunks for call in c.invalid_tool_calls] == whole
        assert not any(c.tool_calls for c in chunks)


class Tracer(BaseTracer):
    """Keeps the runs that are no part of another one."""

    def __init__(self):
        super().__init__()
        self.runs = []

    def _persist_run(self, run):
        self.runs.append(run)


async def test_the_look_into_memory_is_a_part_of_the_run_of_the_model(palace):
    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace)
    tracer = Tracer()
    config = {"callbacks": [tracer]}

    chat.invoke(HIT, config)
    await chat.ainvoke(HIT, config)
    list(chat.stream(HIT, config))
    assert [chunk async for chunk in chat.astream(HIT, config)]
    chat.batch([HIT, MISS], config)

    told = [(run.name, [child.name for child in run.child_runs]) for run in tracer.runs]
    assert told == [("ChatPalace", ["palace.recall"])] * 6
    assert len({run.id for run in tracer.runs}) == 6


async def test_who_listens_to_everything_hears_the_look_into_memory(palace):
    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace)

    with collect_runs() as heard:
        chat.invoke(MISS)
        await chat.ainvoke(HIT)

    told = [(run.name, [child.name for child in run.child_runs]) for run in heard.traced_runs]
    assert told == [("ChatPalace", ["palace.recall"])] * 2


async def test_where_nobody_listens_nobody_is_looked_for_twice(palace, monkeypatch):
    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace)
    for manager in (tracing.CallbackManager, tracing.AsyncCallbackManager):
        asked = MagicMock(wraps=manager.configure)
        monkeypatch.setattr(manager, "configure", asked)
        chat.invoke(MISS)
        await chat.ainvoke(MISS)
        assert asked.call_count == 1  # by the model's own run


def test_who_names_the_run_of_the_model_finds_it_so(palace):
    named = uuid.uuid4()
    tracer = Tracer()

    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace)
    chat.invoke(HIT, {"callbacks": [tracer], "run_id": named})

    assert [(run.id, len(run.child_runs)) for run in tracer.runs] == [(named, 1)]


@pytest.mark.parametrize("streams", [False, True])
class TestDecliningInWords:
    """Where a call is demanded, words alone are a miss; beside a call they are dropped."""

    def told(self, chat, streams):
        if not streams:
            return chat.invoke(HIT)
        return reduce(add, chat.stream(HIT))

    @pytest.mark.parametrize("said", [declining, lambda asked: ""])
    @pytest.mark.parametrize("choice", ["weather", "any"])
    def test_is_a_miss_where_a_call_is_demanded(self, palace, streams, choice, said):
        chat = ChatPalace(inner=CountingModel(persona=said), palace=palace)

        with pytest.raises(RecallMiss):
            self.told(chat.bind_tools([weather, storm], tool_choice=choice), streams)

    def test_is_dropped_beside_a_call(self, palace, streams):
        def persona(asked):
            return calling("weather", {"city": "Rome"}, text=DECLINE_TOKEN)

        chat = ChatPalace(inner=CountingModel(persona=persona), palace=palace)
        reply = self.told(chat.bind_tools([weather, storm], tool_choice="any"), streams)

        assert [call["name"] for call in reply.tool_calls] == ["weather"]
        assert not reply.text

    def test_is_the_fallback_where_words_are_wanted(self, palace, streams):
        model = CountingModel(persona=declining)

        for chain in (
            ChatPalace(inner=model, palace=palace),
            PalaceRunnable(bound=model, palace=palace),
        ):
            assert self.told(chain, streams).text == FALLBACK


def storm(city: str) -> str:
    """Tell of storms."""
    return f"No storm in {city}."
