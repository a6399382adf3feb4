"""A tool loop that broke off before its reply: the question is open when the person goes on."""

from __future__ import annotations

from functools import reduce
from operator import add

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_palace import ChatPalace

from tests.adapters.langchain.doubles import (
    CHAT,
    HIT,
    HIT_TEXT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    Shipped,
    calling,
    honest,
    lying_after_a_true_quote,
    weather,
)

QUESTIONS = [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)]


def repeating(asked):
    """Repeat a memory, in whichever message it stands."""
    if asked.is_pointing:
        return honest(asked)
    told = (f"{text} [1]" for _, text in QUESTIONS if text in asked.everything)
    return next(told, CHAT)


def calling_first(then):
    """Call a tool, and never again."""

    def persona(asked):
        if asked.is_pointing or any(m.type == "tool" for m in asked.messages):
            return then(asked)
        return calling("weather", {"city": "Rome"})

    return persona


@tool(return_direct=True)
def reply(text: str) -> str:
    """Reply to the person."""
    return text


def broken_off(palace, persona, question, *, streaming=False):
    """Return a model, and what was said until its tool had answered."""
    model = CountingModel(persona=calling_first(persona))
    bound = ChatPalace(inner=model, palace=palace).bind_tools([weather])
    asked = HumanMessage(question)
    called = reduce(add, bound.stream([asked])) if streaming else bound.invoke([asked])
    return bound, [asked, called, ToolMessage(weather("Rome"), tool_call_id="c1")]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(("question", "text"), QUESTIONS)
def test_is_gone_on_with(palace, question, text, streaming):
    bound, said = broken_off(palace, repeating, question, streaming=streaming)
    assert bound.invoke([*said, HumanMessage("Go on.")]).text == f"{text} [1]"

    bound, said = broken_off(palace, lying_after_a_true_quote, question, streaming=streaming)
    told = bound.invoke([*said, HumanMessage("Go on.")])
    assert text in told.text
    assert LIE not in told.text


def test_what_asks_for_no_memory_is_not(palace):
    bound, said = broken_off(palace, repeating, PASS)
    assert bound.invoke([*said, HumanMessage("Go on.")]).text == CHAT
    assert palace.verdicts(limit=1)[0]["prompt"] == "Go on."


@pytest.mark.parametrize(
    "told", [{"response_metadata": {"finish_reason": "stop"}}, {"name": "bob"}]
)
def test_what_another_model_answered_is_answered(palace, told):
    bound, said = broken_off(palace, repeating, UNCLEAR)
    answered = [*said, AIMessage("It is blue.", **told), HumanMessage(PASS)]
    assert bound.invoke(answered).response_metadata["palace"]["action"] == "pass"


def test_a_message_that_the_host_puts_in_lifts_no_ruling(palace):
    bound, said = broken_off(palace, lying_after_a_true_quote, UNCLEAR)
    told = bound.invoke([*said, HumanMessage("Be brief, and use your tools.")])
    assert LIE not in told.text


def replied(palace, *, streaming):
    """Return a model, and what was said until it called a tool whose result is the reply."""

    def persona(asked):
        if asked.is_pointing or PASS in asked.text:
            return lying_after_a_true_quote(asked)
        return calling("reply", {"text": HIT_TEXT})

    model = CountingModel(persona=persona)
    bound = ChatPalace(inner=model, palace=palace).bind_tools([reply])
    asked = HumanMessage(HIT)
    return bound, [
        asked,
        reduce(add, bound.stream([asked])) if streaming else bound.invoke([asked]),
    ]


@pytest.mark.parametrize("streaming", [False, True])
def test_what_a_tool_replied_is_a_reply(palace, streaming):
    bound, said = replied(palace, streaming=streaming)
    result = ToolMessage(HIT_TEXT, tool_call_id="c1", name="reply")
    assert bound.invoke([*said, result, HumanMessage(PASS)]).text == LIE


@pytest.mark.parametrize("streaming", [False, True])
def test_a_tool_that_failed_to_reply_did_not(palace, streaming):
    bound, said = replied(palace, streaming=streaming)
    failed = ToolMessage("The line is down.", status="error", tool_call_id="c1", name="reply")
    for behind in ([], [failed]):
        assert bound.invoke([*said, *behind, HumanMessage(PASS)]).text != LIE


class TestAnAgent:
    @pytest.fixture
    def parts(self):
        langchain = pytest.importorskip("langchain.agents")
        saver = pytest.importorskip("langgraph.checkpoint.memory").InMemorySaver()
        wrapper = pytest.importorskip("langchain_palace").PalaceMiddleware
        return langchain.create_agent, wrapper, saver

    def say(self, agent, words):
        config = {"configurable": {"thread_id": "t"}}
        return agent.invoke({"messages": [("user", words)]}, config)

    @pytest.mark.parametrize("how", ["middleware", "model"])
    @pytest.mark.parametrize("then", [repeating, lying_after_a_true_quote])
    @pytest.mark.parametrize(("question", "text"), QUESTIONS)
    def test_whose_model_failed_goes_on(self, palace, parts, question, text, then, how):
        is_down = True

        def persona(asked):
            nonlocal is_down
            if asked.is_after_tool and is_down:
                is_down = False
                raise ConnectionError("the line is down")
            return calling_first(then)(asked)

        create, wrapper, saver = parts
        model = CountingModel(persona=persona)
        if how == "model":
            agent = create(ChatPalace(inner=model, palace=palace), [weather], checkpointer=saver)
        else:
            agent = create(model, [weather], middleware=[wrapper(palace)], checkpointer=saver)
        with pytest.raises(ConnectionError):
            self.say(agent, question)

        said = self.say(agent, "Go on.")["messages"][-1].text
        assert text in said
        assert LIE not in said

    @pytest.mark.parametrize("how", ["middleware", "model"])
    @pytest.mark.parametrize("limit", ["ModelCallLimitMiddleware", "ToolCallLimitMiddleware"])
    def test_that_met_a_limit_goes_on(self, palace, parts, limit, how):
        create, wrapper, saver = parts
        limits = getattr(pytest.importorskip("langchain.agents.middleware"), limit)
        model = CountingModel(persona=calling_first(lying_after_a_true_quote))
        limited = [limits(run_limit=1 if "Model" in limit else 0, exit_behavior="end")]
        if how == "model":
            chat = ChatPalace(inner=model, palace=palace)
            agent = create(chat, [weather], middleware=limited, checkpointer=saver)
        else:
            limited = [wrapper(palace), *limited]
            agent = create(model, [weather], middleware=limited, checkpointer=saver)
        assert "limit" in self.say(agent, UNCLEAR)["messages"][-1].text

        said = self.say(agent, "Go on.")["messages"][-1].text
        assert UNCLEAR_TEXT in said
        assert LIE not in said

    @settings(
        deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(
        turns=st.lists(
            st.tuples(
                st.sampled_from([HIT, UNCLEAR, MISS, PASS, "Go on."]),
                st.sampled_from(["middleware", "model"]),
                st.lists(st.booleans(), min_size=3, max_size=3),
            ),
            min_size=2,
            max_size=6,
        )
    )
    def test_releases_nothing_until_it_has_replied(self, palace, parts, turns):
        """Whatever is said next, by whatever wrapper, while a question to the memory is open."""
        create, wrapper, _ = parts
        saver = type(parts[2])()
        up: list[bool] = []

        def persona(asked):
            if up and not up.pop():
                raise ConnectionError("the line is down")
            return calling_first(lying_after_a_true_quote)(asked)

        is_open = False
        for words, how, working in turns:
            model = CountingModel(persona=persona)
            inner = ChatPalace(inner=model, palace=palace) if how == "model" else model
            around = [] if how == "model" else [wrapper(palace)]
            agent = create(inner, [weather], middleware=around, checkpointer=saver)
            is_open = is_open or words in (HIT, UNCLEAR, MISS)
            up[:] = working
            try:
                said = self.say(agent, words)["messages"][-1].text
            except ConnectionError:
                continue
            assert not (is_open and LIE in said)
            assert words != MISS or model.calls == 0
            is_open = False

    def test_that_replied_with_an_object_begins_anew(self, palace, parts):
        def persona(asked):
            if PASS in asked.text:
                return calling("Shipped", {"date": "today"})
            return calling("Shipped", {"date": "2026-03-02"})

        create, wrapper, saver = parts
        model = CountingModel(persona=persona)
        agent = create(
            model, response_format=Shipped, middleware=[wrapper(palace)], checkpointer=saver
        )
        assert self.say(agent, HIT)["structured_response"] == Shipped(date="2026-03-02")
        assert self.say(agent, PASS)["structured_response"] == Shipped(date="today")
