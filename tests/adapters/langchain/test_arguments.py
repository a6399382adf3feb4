"""An answer in a schema is one however a model was told to give it, and so is a call of a tool."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, FunctionMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_palace import ChatPalace

from palace import RecallMiss, UngroundedAnswerError
from tests.adapters.langchain.doubles import (
    HIT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    CountingModel,
    Shipped,
    declining,
    honest,
    out_of,
    saying,
)

TOOL = convert_to_openai_tool(Shipped)
NAMED = {"type": "function", "function": {"name": "Shipped"}}
OTHER = {**TOOL, "function": {**TOOL["function"], "name": "Other"}}


def bound_before(model, palace):
    return ChatPalace(inner=model.bind_tools([Shipped], tool_choice="any"), palace=palace)


def bound_in_words_of_the_provider(model, palace):
    chat = ChatPalace(inner=model, palace=palace)
    return chat.bind(tools=[TOOL], tool_choice={"type": "any"})


def bound_by_name(model, palace):
    return ChatPalace(inner=model, palace=palace).bind(tools=[TOOL, OTHER], tool_choice=NAMED)


def bound_among_some(model, palace):
    choice = {"type": "allowed_tools", "mode": "required", "tools": [NAMED]}
    return ChatPalace(inner=model, palace=palace).bind(tools=[TOOL], tool_choice=choice)


def bound_in_words_of_another_provider(model, palace):
    config = {"function_calling_config": {"mode": "ANY"}}
    return ChatPalace(inner=model, palace=palace).bind(tools=[TOOL], tool_config=config)


@pytest.mark.parametrize(
    "bound",
    [
        bound_before,
        bound_in_words_of_the_provider,
        bound_by_name,
        bound_among_some,
        bound_in_words_of_another_provider,
    ],
)
class TestAForcedTool:
    def test_holds_what_is_remembered(self, palace, bound):
        reply = bound(saying("Shipped", date="2026-03-02"), palace).invoke(HIT)

        assert reply.tool_calls[0]["args"] == {"date": "2026-03-02"}

    @pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
    def test_holds_no_lie(self, palace, bound, prompt):
        with pytest.raises(UngroundedAnswerError):
            bound(saying("Shipped", date="2026-04-09"), palace).invoke(prompt)

    def test_is_missed_by_type(self, palace, bound):
        model = saying("Shipped", date="2026-03-02")

        with pytest.raises(RecallMiss):
            bound(model, palace).invoke(MISS)
        assert model.calls == 0


@pytest.mark.parametrize(
    "choice",
    [
        None,
        "auto",
        {"type": "auto"},
        "none",
        {"auto": {}},
        {"type": "allowed_tools", "mode": "auto", "tools": [NAMED]},
        {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED]}},
    ],
)
def test_a_tool_that_is_not_forced_may_be_left_out(palace, choice):
    model = CountingModel(persona=honest)
    chat = ChatPalace(inner=model, palace=palace).bind(tools=[TOOL], tool_choice=choice)

    assert "2026-03-02" in chat.invoke(HIT).text
    assert chat.invoke(MISS).response_metadata["palace"]["action"] == "fallback"


@pytest.mark.parametrize(
    "arguments",
    [
        {"response_format": {"type": "json_object"}},
        {"format": "json"},
        {"format": {"type": "object", "properties": {}}},
        {"response_mime_type": "application/json"},
        {"response_schema": Shipped},
        {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
        {"text": {"format": {"type": "json_schema", "schema": {}}}},
    ],
)
class TestAFormat:
    def test_is_kept(self, palace, arguments):
        said = json.dumps({"date": "2026-03-02"})
        chat = ChatPalace(inner=CountingModel(persona=lambda _: said), palace=palace)

        assert chat.bind(**arguments).invoke(HIT).text == said

    def test_holds_no_lie(self, palace, arguments):
        said = json.dumps({"date": "2026-04-09"})
        chat = ChatPalace(inner=CountingModel(persona=lambda _: said), palace=palace)

        with pytest.raises(UngroundedAnswerError):
            chat.bind(**arguments).invoke(HIT)

    def test_is_none_of_the_call_that_points(self, palace, arguments):
        model = CountingModel(persona=declining)

        with pytest.raises(RecallMiss):
            ChatPalace(inner=model, palace=palace).bind(**arguments).invoke(UNCLEAR)
        assert [arguments.keys() & asked.kwargs.keys() for asked in model.asked] == [set()]

    def test_is_missed_by_type(self, palace, arguments):
        model = CountingModel(persona=honest)

        with pytest.raises(RecallMiss):
            ChatPalace(inner=model, palace=palace).bind(**arguments).invoke(MISS)
        assert model.calls == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"response_format": {"type": "text"}},
        {"output_config": {"effort": "low"}},
        {"text": {"verbosity": "low"}},
        {"response_mime_type": "text/plain"},
    ],
)
def test_plain_text_is_no_format(palace, arguments):
    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace).bind(**arguments)

    assert "2026-03-02" in chat.invoke(HIT).text
    assert chat.invoke(MISS).response_metadata["palace"]["action"] == "fallback"


FUNCTION = TOOL["function"]


class FunctionModel(CountingModel):
    """Streams the call of a function in pieces, as the older interface does."""

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        message = self._say(messages, kwargs)
        called = message.additional_kwargs["function_call"]
        pieces = [{**called, "arguments": ""}]
        pieces += [{"arguments": letter} for letter in called["arguments"]]
        for piece in pieces:
            chunk = AIMessageChunk("", additional_kwargs={"function_call": piece})
            yield ChatGenerationChunk(message=chunk)


def functioning(date, *, arguments=None, text=""):
    called = {"name": "Shipped", "arguments": arguments or json.dumps({"date": date})}

    def persona(asked):
        if asked.is_pointing or any(m.type == "function" for m in asked.messages):
            return honest(asked)
        return AIMessage(text, additional_kwargs={"function_call": called})

    return persona


@pytest.mark.parametrize("way", ["invoke", "stream"])
class TestAFunctionOfTheOlderKind:
    @pytest.mark.parametrize("prompt", [HIT, UNCLEAR, PASS])
    async def test_is_called(self, palace, way, prompt):
        model = FunctionModel(persona=functioning("today"))
        chat = ChatPalace(inner=model, palace=palace).bind(functions=[FUNCTION])

        called = (await out_of(chat, way, prompt)).additional_kwargs["function_call"]
        assert (called["name"], called["arguments"]) == ("Shipped", '{"date": "today"}')

    async def test_holds_what_is_remembered_where_it_is_forced(self, palace, way):
        model = FunctionModel(persona=functioning("2026-03-02"))
        chat = ChatPalace(inner=model, palace=palace)
        chat = chat.bind(functions=[FUNCTION], function_call={"name": "Shipped"})

        with pytest.raises(RecallMiss):
            await out_of(chat, way, MISS)
        assert model.calls == 0
        called = (await out_of(chat, way, HIT)).additional_kwargs["function_call"]
        assert called["arguments"] == '{"date": "2026-03-02"}'

    @pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
    async def test_holds_no_lie_where_it_is_forced(self, palace, way, prompt):
        model = FunctionModel(persona=functioning("2026-04-09"))
        chat = ChatPalace(inner=model, palace=palace)
        chat = chat.bind(functions=[FUNCTION], function_call={"name": "Shipped"})

        with pytest.raises(UngroundedAnswerError):
            await out_of(chat, way, prompt)


def test_words_beside_a_function_are_dropped(palace):
    model = FunctionModel(persona=functioning("today", text=LIE))
    chat = ChatPalace(inner=model, palace=palace)

    assert chat.bind(functions=[FUNCTION]).invoke(HIT).text == ""


@pytest.mark.parametrize("arguments", ['{"date": ', '["today"]', ["today"], "null"])
def test_a_function_that_cannot_be_read_is_not_called(palace, arguments):
    model = FunctionModel(persona=functioning("today", arguments=arguments, text=LIE))
    chat = ChatPalace(inner=model, palace=palace).bind(functions=[FUNCTION])

    reply = chat.invoke(HIT)
    assert "function_call" not in reply.additional_kwargs
    assert LIE not in reply.text


def test_what_is_no_function_is_not_called(palace):
    odd = AIMessage("Rain falls.", additional_kwargs={"function_call": "Shipped"})
    chat = ChatPalace(inner=CountingModel(persona=lambda _: odd), palace=palace)

    assert chat.invoke(PASS).text == "Rain falls."
    assert "function_call" not in chat.invoke(HIT).additional_kwargs


def test_the_arguments_of_a_function_may_be_read_already(palace):
    model = FunctionModel(persona=functioning("today", arguments={"date": "today"}))
    chat = ChatPalace(inner=model, palace=palace).bind(functions=[FUNCTION])

    assert chat.invoke(HIT).additional_kwargs["function_call"]["name"] == "Shipped"


def test_what_a_function_returned_is_of_its_turn(palace):
    model = FunctionModel(persona=functioning("today"))
    chat = ChatPalace(inner=model, palace=palace).bind(functions=[FUNCTION])
    asked = HumanMessage(UNCLEAR)

    called = chat.invoke([asked])
    chat.invoke([asked, called, FunctionMessage("Sunny.", name="Shipped")])

    assert [one.is_pointing for one in model.asked] == [True, False, False]
