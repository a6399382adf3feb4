"""A turn that is changed or taken up while it is under way, by a person or by a middleware."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelFallbackMiddleware,
)
from langchain_core.messages import HumanMessage
from langchain_palace import ChatPalace, PalaceMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.adapters.langchain.doubles import (
    CHAT,
    FALLBACK,
    HIT,
    HIT_TEXT,
    MISS,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    calling_once,
    flaky,
    honest,
    ignoring,
    weather,
)

ANSWERS = {HIT: HIT_TEXT, UNCLEAR: UNCLEAR_TEXT, MISS: FALLBACK, PASS: CHAT}


def agent_of(model, *middleware):
    saver = InMemorySaver()
    return create_agent(model, [weather], middleware=list(middleware), checkpointer=saver)


def edited(agent, config, words):
    """Return the run from before the first model call on, with other words in the same message."""
    history = agent.get_state_history(config)
    before = [state for state in history if state.next == ("model",)][-1]
    changed = HumanMessage(words, id=before.values["messages"][-1].id)
    return agent.invoke(None, agent.update_state(before.config, {"messages": [changed]}))


@pytest.mark.parametrize("words", [HIT, UNCLEAR, MISS])
@pytest.mark.parametrize("first", [HIT, UNCLEAR, PASS])
def test_a_question_edited_in_an_earlier_state_is_decided_on(palace, first, words):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
    agent = agent_of(model, PalaceMiddleware(palace))
    config = {"configurable": {"thread_id": "t"}}
    agent.invoke({"messages": [HumanMessage(first)]}, config)
    calls = model.calls

    done = edited(agent, config, words)

    assert done["messages"][-1].text.startswith(ANSWERS[words])
    if words == MISS:
        assert model.calls == calls


@pytest.mark.parametrize("last", ["Thank you.", "And when exactly?"])
def test_of_two_messages_the_edited_one_counts(palace, last):
    model = CountingModel(persona=honest)
    agent = agent_of(model, PalaceMiddleware(palace))
    config = {"configurable": {"thread_id": "t"}}
    asked = [HumanMessage(HIT, id="q"), HumanMessage(last)]
    assert agent.invoke({"messages": asked}, config)["messages"][-1].text.startswith(HIT_TEXT)
    (before,) = (s for s in agent.get_state_history(config) if s.next == ("model",))

    changed = {"messages": [HumanMessage(MISS, id="q")]}
    done = agent.invoke(None, agent.update_state(before.config, changed))

    assert done["messages"][-1].text == FALLBACK
    assert model.calls == 1


class Around(AgentMiddleware):
    """Puts documents around the question, as those that retrieve do."""

    def wrap_model_call(self, request, handler):
        *before, asked = request.messages[:1]
        text = f"Boats are red. The museum opens at nine.\n\n{asked.text}\n\nToday is a Monday."
        asked = asked.model_copy(update={"content": text})
        return handler(request.override(messages=[*before, asked, *request.messages[1:]]))


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
def test_what_is_put_around_a_question_does_not_change_its_ruling(palace, prompt, is_first):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
    ours = PalaceMiddleware(palace)
    agent = agent_of(model, *([Around(), ours] if is_first else [ours, Around()]))
    before = len(palace.verdicts(limit=99))

    done = agent.invoke({"messages": [HumanMessage(prompt)]}, {"configurable": {"thread_id": "t"}})

    assert done["messages"][-1].text.startswith(ANSWERS[prompt])
    assert len(palace.verdicts(limit=99)) == before + 1
    assert "The museum opens at nine." in model.asked[-1].everything


DOOR = "What was our door code for the archive?"


@pytest.mark.parametrize("who", ["a", "b", "c", None])
def test_whoever_resumes_a_turn_has_the_memories_of_the_own_session(palace, who):
    palace.remember("The door code of the archive is 1111.", session_id="a")
    palace.remember("The door code of the archive is 2222.", session_id="b")
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
    hitl = HumanInTheLoopMiddleware(interrupt_on={"weather": True})
    agent = agent_of(model, PalaceMiddleware(palace), hitl)
    config = {"configurable": {"thread_id": "t", "session_id": "a"}}
    assert "__interrupt__" in agent.invoke({"messages": [HumanMessage(DOOR)]}, config)

    approved = Command(resume={"decisions": [{"type": "approve"}]})
    named = {"session_id": who} if who else {}
    done = agent.invoke(approved, {"configurable": {"thread_id": "t", **named}})

    expected = {"a": "1111", None: "1111", "b": "2222"}
    assert expected.get(who, FALLBACK) in done["messages"][-1].text
    assert all(("1111" in a.everything) == (who not in ("b", "c")) for a in model.asked[1:])


def test_a_copy_of_a_turn_in_another_thread_is_decided_anew(palace):
    palace.remember("The door code of the archive is 1111.", session_id="a")
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
    hitl = HumanInTheLoopMiddleware(interrupt_on={"weather": True})
    agent = agent_of(model, PalaceMiddleware(palace), hitl)
    own, other = ({"configurable": {"thread_id": name}} for name in "ab")
    agent.invoke({"messages": [HumanMessage(DOOR)]}, own)

    agent.update_state(other, agent.get_state(own).values, as_node="model")
    agent.invoke(None, other)
    done = agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), other)

    assert done["messages"][-1].text == FALLBACK
    assert not any("1111" in asked.everything for asked in model.asked[1:])


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR, MISS, PASS])
@pytest.mark.parametrize("earlier", [[], [PASS], [HIT]])
def test_a_question_that_came_in_marked_as_a_summary_is_decided_on(palace, prompt, earlier):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
    agent = agent_of(model, PalaceMiddleware(palace))
    config = {"configurable": {"thread_id": "t"}}
    for words in earlier:
        agent.invoke({"messages": [HumanMessage(words)]}, config)
    calls = model.calls

    marked = HumanMessage(prompt, additional_kwargs={"lc_source": "summarization"})
    last = agent.invoke({"messages": [marked]}, config)["messages"][-1]

    assert last.text.startswith(ANSWERS[prompt])
    assert "palace" in last.response_metadata
    if prompt == MISS:
        assert model.calls == calls


class Remembering(AgentMiddleware):
    """Answers every call with the first message it saw, as a cache does."""

    def __init__(self, first):
        super().__init__()
        self.first = first

    def wrap_model_call(self, request, handler):
        return self.first


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
def test_a_checked_reply_to_another_question_is_checked_anew(palace, prompt):
    palace.remember("The gate code is 4711.", room="infra")
    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace)
    other = chat.invoke("What is the gate code?")
    assert other.response_metadata["palace"]["action"] == "ground"

    middleware = [PalaceMiddleware(palace), Remembering(other)]
    agent = create_agent(CountingModel(persona=honest), [], middleware=middleware)
    last = agent.invoke({"messages": [HumanMessage(prompt)]})["messages"][-1]

    assert "4711" not in last.text
    assert last.text.startswith(ANSWERS[prompt])


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
def test_a_wrapped_model_that_is_fallen_back_on_is_checked_too(palace, prompt):
    liar = ChatPalace(inner=CountingModel(persona=ignoring), palace=palace)

    fallback = ModelFallbackMiddleware(liar)
    model = CountingModel(persona=flaky(honest, 9))
    agent = agent_of(model, PalaceMiddleware(palace), fallback)

    last = agent.invoke({"messages": [HumanMessage(prompt)]}, {"configurable": {"thread_id": "t"}})

    assert last["messages"][-1].text.startswith(ANSWERS[prompt])
