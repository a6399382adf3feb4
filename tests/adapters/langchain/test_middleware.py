"""`PalaceMiddleware`: an agent that cannot be talked around."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
)
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_palace import ChatPalace, PalaceMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from palace import DECLINE_TOKEN, RecallMiss, UngroundedAnswerError
from tests.adapters.langchain.doubles import (
    CHAT,
    FALLBACK,
    HIT,
    HIT_TEXT,
    IDENTITY,
    LIARS,
    LIE,
    MISS,
    PASS,
    TOLD,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    Recorder,
    calling,
    calling_once,
    declining,
    flaky,
    honest,
    weather,
)

ASKED = "What was our door code for the archive?"
# Who does not know that report takes this for a question about the world.
OWNER = "Who owns the Zorblax report?"
WAYS = ["invoke", "ainvoke", "stream", "astream", "messages", "amessages"]


class Shipped(BaseModel):
    """When something was shipped."""

    version: str
    date: str


def agent_of(model, palace, *tools, before=(), after=(), **more):
    middleware = [*before, PalaceMiddleware(palace), *after]
    return create_agent(model, list(tools), middleware=middleware, **more)


def asked(prompt):
    return {"messages": [HumanMessage(prompt)]}


def thread(name, **more):
    return {"configurable": {"thread_id": name, **more}}


async def last(agent, way, prompt, config=None):
    """Run the agent in one of its ways; return the final text, and every text that was shown."""
    shown = []
    if way == "invoke":
        state = agent.invoke(asked(prompt), config)
    elif way == "ainvoke":
        state = await agent.ainvoke(asked(prompt), config)
    elif way in ("stream", "astream"):
        states = (
            list(agent.stream(asked(prompt), config, stream_mode="values"))
            if way == "stream"
            else [s async for s in agent.astream(asked(prompt), config, stream_mode="values")]
        )
        state = states[-1]
    else:
        pieces = (
            list(agent.stream(asked(prompt), config, stream_mode="messages"))
            if way == "messages"
            else [p async for p in agent.astream(asked(prompt), config, stream_mode="messages")]
        )
        shown = [str(m.text) for m, _ in pieces if m.type in ("ai", "AIMessageChunk")]
        return "".join(shown), shown
    final = state["messages"][-1]
    return str(final.text), [str(m.text) for m in state["messages"] if m.type == "ai"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("prompt", TOLD)
async def test_it_looks_before_it_answers(palace, way, prompt):
    model = CountingModel(persona=honest)

    text, _ = await last(agent_of(model, palace, weather), way, prompt)

    assert (text, model.calls) == TOLD[prompt]
    tools = [["point_to_memory"], ["weather"]] if prompt is UNCLEAR else [["weather"]]
    assert [a.tools for a in model.asked] == tools[: model.calls]
    assert prompt is not PASS or model.asked[0].text == PASS


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("liar", LIARS, ids=lambda p: p.__name__)
async def test_a_liar_gets_nothing_out(palace, way, liar):
    for prompt, kept in ((UNCLEAR, (FALLBACK, UNCLEAR_TEXT)), (HIT, (HIT_TEXT, FALLBACK))):
        agent = agent_of(CountingModel(persona=liar), palace, weather)
        text, shown = await last(agent, way, prompt)
        assert text.startswith(kept)
        assert all("80085" not in piece and "Mallory" not in piece for piece in shown)


async def test_a_refused_confirmation_ends_the_run(palace):
    model = CountingModel(persona=declining)

    state = agent_of(model, palace, weather).invoke(asked(UNCLEAR))

    assert state["messages"][-1].content.startswith(FALLBACK)
    assert state["messages"][-1].response_metadata["palace"]["action"] == "fallback"
    assert model.calls == 1


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR, PASS])
async def test_a_tool_loop_is_decided_once(palace, prompt):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
    agent = agent_of(model, palace, weather)

    before = len(palace.verdicts(limit=99))
    state = await agent.ainvoke(asked(prompt))

    assert len(palace.verdicts(limit=99)) == before + 1
    assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "ai"]
    assert sum(a.is_pointing for a in model.asked) == (prompt == UNCLEAR)
    assert model.calls == 2 + (prompt == UNCLEAR)
    own = [a for a in model.asked if not a.is_pointing]
    assert own[0].text == own[1].text


def test_the_state_keeps_the_persons_own_words_and_plain_values(palace):
    saver = InMemorySaver()
    agent = agent_of(CountingModel(persona=honest), palace, checkpointer=saver)

    state = agent.invoke({"messages": [HumanMessage(HIT, id="h1")]}, thread("t"))

    assert [(m.id, m.content) for m in state["messages"]][0] == ("h1", HIT)
    assert "palace" not in state
    kept = agent.get_state(thread("t")).values["palace"]["PalaceMiddleware"]
    assert kept["verdict"]["action"] == "ground"
    assert_plain(kept)


def assert_plain(value):
    if isinstance(value, dict):
        assert all(isinstance(key, str) for key in value)
        for item in value.values():
            assert_plain(item)
    elif isinstance(value, list):
        for item in value:
            assert_plain(item)
    else:
        assert value is None or type(value) in (str, int, float, bool)


def test_the_verdict_is_seen_by_the_host(palace):
    agent = agent_of(CountingModel(persona=honest), palace)

    for prompt, action in (
        (HIT, "ground"),
        (UNCLEAR, "ground"),
        (MISS, "fallback"),
        (PASS, "pass"),
    ):
        told = agent.invoke(asked(prompt))["messages"][-1].response_metadata["palace"]
        assert told["action"] == action
        assert told["id"] in {v["id"] for v in palace.verdicts()}
        assert_plain(told)


def test_callbacks_hear_of_the_retrieval_and_of_every_call_once(palace):
    recorder = Recorder()
    agent = agent_of(CountingModel(persona=honest), palace)

    agent.invoke(asked(HIT), {"callbacks": [recorder.handler()]})

    assert recorder.events == ["retriever_start", "retriever_end:1", "model_start", "model_end"]


async def test_tokens_never_tell_what_is_not_released(palace):
    for prompt in (HIT, UNCLEAR):
        recorder = Recorder()
        agent = agent_of(CountingModel(persona=LIARS[4]), palace, weather)
        config = {"callbacks": [recorder.handler()]}
        pieces = [p async for p in agent.astream(asked(prompt), config, stream_mode="messages")]
        assert all("80085" not in t for t in [*recorder.tokens, *(f"{m.text}" for m, _ in pieces)])


# -- sessions ----------------------------------------------------------------------------------


@dataclass
class Context:
    session_id: str


@pytest.mark.parametrize("way", ["thread", "session", "context", "dataclass"])
@pytest.mark.parametrize("is_async", [False, True])
async def test_evidence_stays_in_its_session(palace, way, is_async):
    palace.remember("The door code of the archive is 1111.", session_id="a")
    palace.remember("The door code of the archive is 2222.", session_id="b")
    model = CountingModel(persona=honest)
    more = {"context_schema": Context} if way == "dataclass" else {}
    agent = agent_of(model, palace, checkpointer=InMemorySaver(), **more)

    for name, own, other in (("a", "1111", "2222"), ("b", "2222", "1111")):
        config = thread(name if way == "thread" else f"t-{way}-{name}")
        context = None
        if way == "session":
            config["configurable"]["session_id"] = name
        elif way == "context":
            context = {"session_id": name}
        elif way == "dataclass":
            context = Context(name)
        if is_async:
            state = await agent.ainvoke(asked(ASKED), config, context=context)
        else:
            state = agent.invoke(asked(ASKED), config, context=context)
        assert own in state["messages"][-1].content
        assert other not in model.asked[-1].everything


def test_the_first_turn_carries_the_wake_up_through_its_whole_loop(palace):
    palace.set_identity(IDENTITY)
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
    agent = agent_of(model, palace, weather, checkpointer=InMemorySaver())

    agent.invoke(asked(MISS), thread("t"))
    assert model.calls == 0
    agent.invoke(asked(PASS), thread("t"))
    agent.invoke(asked(PASS), thread("t"))

    woken = [sum(IDENTITY in str(m.text) for m in a.messages) for a in model.asked]
    assert woken == [1, 1, 0, 0]


# -- structured output -------------------------------------------------------------------------


def shipping(date, *, as_text=False):
    def persona(asked):
        if asked.is_pointing:
            return honest(asked)
        if as_text:
            return Shipped(version="4.1.0", date=date).model_dump_json()
        return calling("Shipped", {"version": "4.1.0", "date": date})

    return persona


STRATEGIES = {
    "tool": (ToolStrategy(Shipped), False),
    "provider": (ProviderStrategy(Shipped), True),
    "auto": (Shipped, False),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_structured_answer_rests_on_its_evidence(palace, strategy, is_async):
    form, as_text = STRATEGIES[strategy]
    for date, kept in (("2026-03-02", True), ("2026-04-09", False)):
        model = CountingModel(persona=shipping(date, as_text=as_text))
        agent = agent_of(model, palace, response_format=form)
        state = await agent.ainvoke(asked(HIT)) if is_async else agent.invoke(asked(HIT))
        assert model.calls == 1
        if kept:
            assert state["structured_response"] == Shipped(version="4.1.0", date=date)
        else:
            assert state.get("structured_response") is None
            assert HIT_TEXT in state["messages"][-1].content
        assert all("2026-04-09" not in str(m.content) for m in state["messages"])


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("prompt", [MISS, UNCLEAR])
async def test_a_structured_miss_ends_and_is_never_an_old_answer(palace, strategy, prompt):
    form, as_text = STRATEGIES[strategy]
    persona = shipping("2026-03-02", as_text=as_text)

    def then(asked):
        return declining(asked) if asked.is_pointing else persona(asked)

    model = CountingModel(persona=then)
    agent = agent_of(model, palace, response_format=form, checkpointer=InMemorySaver())

    first = agent.invoke(asked(HIT), thread("t"))
    assert first["structured_response"].date == "2026-03-02"
    calls = model.calls
    second = await agent.ainvoke(asked(prompt), {**thread("t"), "recursion_limit": 12})

    assert second.get("structured_response") is None
    assert second["messages"][-1].content.startswith(FALLBACK)
    assert model.calls == calls + (prompt == UNCLEAR)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("tools", [(), (weather,)])
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
async def test_a_structured_run_ends_where_the_model_declines(palace, strategy, tools, prompt):
    def persona(asked):
        return honest(asked) if asked.is_pointing else DECLINE_TOKEN

    model = CountingModel(persona=persona)
    agent = agent_of(model, palace, *tools, response_format=STRATEGIES[strategy][0])

    for state in (
        agent.invoke(asked(prompt), {"recursion_limit": 12}),
        await agent.ainvoke(asked(prompt), {"recursion_limit": 12}),
    ):
        assert state.get("structured_response") is None
        assert state["messages"][-1].content == FALLBACK
        assert state["messages"][-1].response_metadata["palace"]["action"] == "ground"
    assert model.calls == (2 if prompt == HIT else 4)


@pytest.mark.parametrize("mode", ["messages", "values", "updates"])
def test_a_structured_lie_is_not_streamed(palace, mode):
    for prompt in (HIT, UNCLEAR):
        model = CountingModel(persona=shipping("2026-04-09"))
        agent = agent_of(model, palace, weather, response_format=ToolStrategy(Shipped))
        for piece in agent.stream(asked(prompt), stream_mode=mode):
            assert "2026-04-09" not in f"{piece}"


def test_a_structured_loop_with_tools_is_checked_at_its_end(palace):
    def persona(asked):
        if not asked.is_after_tool:
            return calling("weather", {"city": "Zanzibar 12345"})
        return calling("Shipped", {"version": "4.1.0", "date": "2026-03-02"}, id="c2")

    agent = agent_of(
        CountingModel(persona=persona), palace, weather, response_format=ToolStrategy(Shipped)
    )

    state = agent.invoke(asked(HIT))

    assert state["structured_response"].date == "2026-03-02"


# -- other middleware --------------------------------------------------------------------------


def summarising(model):
    return SummarizationMiddleware(model=model, trigger=("messages", 2), keep=("messages", 1))


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_summariser_is_not_called_on_a_miss(palace, is_first, is_async):
    model, summariser = CountingModel(persona=honest), CountingModel(persona=honest)
    other = [summarising(summariser)]
    agent = agent_of(
        model, palace, weather, before=[] if is_first else other, after=other if is_first else []
    )
    messages = [HumanMessage("Hello."), AIMessage("Hi."), HumanMessage("So."), AIMessage("Yes.")]
    state = {"messages": [*messages, HumanMessage(MISS)]}

    done = await agent.ainvoke(state) if is_async else agent.invoke(state)

    assert done["messages"][-1].content == FALLBACK
    assert (model.calls, summariser.calls) == (0, 0)


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("is_async", [False, True])
async def test_evidence_outlives_a_summary(palace, prompt, is_first, is_async):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
    summariser = CountingModel(persona=lambda asked: "They talked about rain.")
    other = [summarising(summariser)]
    agent = agent_of(
        model, palace, weather, before=[] if is_first else other, after=other if is_first else []
    )

    before = len(palace.verdicts(limit=99))
    done = await agent.ainvoke(asked(prompt)) if is_async else agent.invoke(asked(prompt))

    evidence = HIT_TEXT if prompt == HIT else UNCLEAR_TEXT
    assert summariser.calls >= 1
    assert all(m.content != prompt for m in done["messages"])  # the question is summarised away
    assert all(evidence in a.text for a in model.asked)
    assert "They talked about rain." in model.asked[-1].text
    assert model.asked[-1].text.endswith(prompt)
    assert done["messages"][-1].content == f"{evidence} [1]"
    assert len(palace.verdicts(limit=99)) == before + 1


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR, MISS])
@pytest.mark.parametrize("is_outer", [True, False])
@pytest.mark.parametrize("is_async", [False, True])
async def test_retries_decide_and_confirm_once(palace, prompt, is_outer, is_async):
    model = CountingModel(persona=flaky(honest))
    retry = [ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)]
    agent = agent_of(
        model, palace, before=retry if is_outer else [], after=[] if is_outer else retry
    )

    before = len(palace.verdicts(limit=99))
    done = await agent.ainvoke(asked(prompt)) if is_async else agent.invoke(asked(prompt))

    assert len(palace.verdicts(limit=99)) == before + 1
    assert model.calls == {HIT: 2, UNCLEAR: 3, MISS: 0}[prompt]
    assert sum(a.is_pointing for a in model.asked) == (prompt == UNCLEAR)
    assert "line is down" not in done["messages"][-1].content


def test_a_retried_first_turn_still_wakes_up(palace):
    palace.set_identity(IDENTITY)
    model = CountingModel(persona=flaky(honest))
    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)

    agent_of(model, palace, before=[retry]).invoke(asked(PASS), thread("t"))

    assert [IDENTITY in a.text for a in model.asked] == [True, True]


@pytest.mark.parametrize("is_outer", [True, False])
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
def test_a_model_that_stands_in_is_checked_too(palace, is_outer, prompt):
    model, liar = CountingModel(persona=flaky(honest, 9)), CountingModel(persona=LIARS[3])
    other = [ModelFallbackMiddleware(liar)]
    agent = agent_of(
        model, palace, before=other if is_outer else [], after=[] if is_outer else other
    )

    done = agent.invoke(asked(prompt))

    assert liar.calls == 1
    assert "80085" not in done["messages"][-1].content
    assert (HIT_TEXT if prompt == HIT else UNCLEAR_TEXT) in done["messages"][-1].content


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
def test_what_a_model_streams_that_stands_in_is_not_seen_before_it_is_checked(
    palace, is_async, prompt
):
    model, liar = CountingModel(persona=flaky(honest, 9)), CountingModel(persona=LIARS[3])
    agent = agent_of(model, palace, after=[ModelFallbackMiddleware(liar)])

    pieces = streamed(agent, asked(prompt), is_async=is_async)

    assert liar.calls == 1
    assert "80085" not in "".join(pieces)
    assert (HIT_TEXT if prompt == HIT else UNCLEAR_TEXT) in "".join(pieces)


@pytest.mark.parametrize("is_async", [False, True])
def test_the_agents_own_model_streams_in_pieces_unless_the_host_wants_none(palace, is_async):
    agent = agent_of(CountingModel(persona=honest), palace)

    assert len(streamed(agent, asked(HIT), is_async=is_async)) > 1
    assert len(streamed(agent, asked(HIT), is_async=is_async, tags=["nostream"])) == 1


def streamed(agent, prompt, *, is_async, **config):
    """Return what is streamed as messages, piece by piece."""

    async def later():
        return [m async for m, _ in agent.astream(prompt, config, stream_mode="messages")]

    pieces = (m for m, _ in agent.stream(prompt, config, stream_mode="messages"))
    return [m.text for m in (asyncio.run(later()) if is_async else pieces)]


class Interloper(AgentMiddleware):
    """Puts another message of a person into a running turn."""

    def __init__(self, prompt):
        super().__init__()
        self.prompt = prompt

    def before_model(self, state, runtime):
        if state["messages"][-1].type == "tool":
            return {"messages": [HumanMessage(self.prompt)]}
        return None


def test_a_message_put_in_while_running_is_decided_too(palace):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
    agent = agent_of(model, palace, weather, after=[Interloper(MISS)])

    done = agent.invoke(asked(PASS))

    assert model.calls == 1
    assert done["messages"][-1].content == FALLBACK


class Reminder(AgentMiddleware):
    """Speaks for the person, before the model is called or in its messages only."""

    def __init__(self, kept):
        super().__init__()
        self.kept = kept

    def before_model(self, state, runtime):
        asked = [m for m in state["messages"] if m.type == "human"]
        waits = self.kept == "behind a tool" and state["messages"][-1].type != "tool"
        is_due = self.kept and not waits and len(asked) < 2
        return {"messages": [HumanMessage("Go on.")]} if is_due else None

    def wrap_model_call(self, request, handler):
        if not self.kept:
            asked, *after = request.messages
            request = request.override(messages=[asked, HumanMessage("Go on."), *after])
        return handler(request)


@pytest.mark.parametrize("kept", [True, False, "behind a tool"])
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
@pytest.mark.parametrize("liar", LIARS, ids=lambda p: p.__name__)
def test_words_put_in_while_running_do_not_lift_the_ruling(palace, liar, prompt, kept):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}, then=liar))

    done = agent_of(model, palace, weather, before=[Reminder(kept)]).invoke(asked(prompt))

    assert done["messages"][-1].text.startswith((FALLBACK, HIT_TEXT, UNCLEAR_TEXT))
    assert all("80085" not in m.text for m in done["messages"])
    assert "<memory-context>" in model.asked[-1].everything


class Rewriter(AgentMiddleware):
    """Says a question in other words, in the message that asked it."""

    def __init__(self, hook, prompt):
        super().__init__()
        self.hook, self.prompt = hook, prompt

    def _rewritten(self, messages):
        return [
            m.model_copy(update={"content": self.prompt}) if m.type == "human" else m
            for m in messages
        ]

    def before_agent(self, state, runtime):
        if self.hook == "before_agent":
            return {"messages": self._rewritten(state["messages"])}
        return None

    def before_model(self, state, runtime):
        if self.hook == "before_model":
            return {"messages": self._rewritten(state["messages"])}
        return None

    def wrap_model_call(self, request, handler):
        if self.hook == "wrap_model_call":
            request = request.override(messages=self._rewritten(request.messages))
        return handler(request)


@pytest.mark.parametrize("hook", ["before_agent", "before_model", "wrap_model_call"])
def test_a_question_rewritten_in_its_message_is_decided_too(palace, hook):
    for prompt, calls, text in (
        (MISS, 0, FALLBACK),
        (HIT, 2, HIT_TEXT),
        (UNCLEAR, 3, UNCLEAR_TEXT),
    ):
        model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
        agent = agent_of(model, palace, weather, before=[Rewriter(hook, prompt)])

        before = len(palace.verdicts(limit=99))
        done = agent.invoke(asked(PASS))

        assert done["messages"][-1].text.startswith(text)
        assert model.calls == calls
        assert len(palace.verdicts(limit=99)) <= before + 2


def test_several_instances_each_have_their_say(palace, other_palace):
    other_palace.remember("We shipped version 9.9.0 on 2026-05-05.", room="releases")
    model = CountingModel(persona=honest)
    two = [PalaceMiddleware(palace, name="one"), PalaceMiddleware(other_palace, name="two")]
    agent = create_agent(model, [], middleware=two, checkpointer=InMemorySaver())

    missed = agent.invoke(asked(MISS), thread("t"))
    assert missed["messages"][-1].content == FALLBACK
    assert model.calls == 0
    agent.invoke(asked(PASS), thread("t"))
    kept = agent.get_state(thread("t")).values["palace"]
    assert sorted(kept) == ["one", "two"]
    with pytest.raises(AssertionError, match="duplicate"):
        create_agent(model, [], middleware=[PalaceMiddleware(palace), PalaceMiddleware(palace)])


def test_a_wrapped_model_inside_is_decided_once(palace):
    model = CountingModel(persona=honest)
    agent = agent_of(ChatPalace(inner=model, palace=palace), palace)

    before = len(palace.verdicts(limit=99))
    done = agent.invoke(asked(UNCLEAR))

    assert len(palace.verdicts(limit=99)) == before + 1
    assert model.calls == 2
    assert done["messages"][-1].content == f"{UNCLEAR_TEXT} [1]"


@pytest.mark.parametrize("prompt", [OWNER, UNCLEAR])
def test_a_model_with_another_palace_keeps_it(palace, other_palace, prompt):
    palace.remember("The Zorblax report is owned by Ruth.")
    other_palace.remember(UNCLEAR_TEXT, kind="preference")
    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace)

    reply = agent_of(chat, other_palace).invoke(asked(prompt))["messages"][-1].text

    assert ("Ruth" if prompt is OWNER else UNCLEAR_TEXT) in reply


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR, MISS, PASS])
async def test_a_wrapped_model_alone_makes_an_agent_honest(palace, way, prompt):
    for persona in (calling_once("weather", {"city": "Rome"}), *LIARS[4:]):
        model = CountingModel(persona=persona)
        agent = create_agent(ChatPalace(inner=model, palace=palace), [weather])
        text, shown = await last(agent, way, prompt)
        if prompt == MISS:
            assert (text, model.calls) == (FALLBACK, 0)
        elif prompt != PASS:
            assert all("80085" not in piece for piece in shown)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_structured_agent_on_a_wrapped_model_alone_misses_by_type(palace, strategy):
    form, as_text = STRATEGIES[strategy]
    profile = {"structured_output": as_text, "tool_calling": True}
    model = CountingModel(persona=shipping("2026-03-02", as_text=as_text), profile=profile)
    agent = create_agent(ChatPalace(inner=model, palace=palace), [], response_format=form)

    assert agent.invoke(asked(HIT))["structured_response"].date == "2026-03-02"
    calls = model.calls
    with pytest.raises(RecallMiss):  # a text would be asked for a tool call for ever
        agent.invoke(asked(MISS))
    assert model.calls == calls
    lying = CountingModel(persona=shipping("2026-04-09", as_text=as_text), profile=profile)
    agent = create_agent(ChatPalace(inner=lying, palace=palace), [], response_format=form)
    with pytest.raises(UngroundedAnswerError):
        agent.invoke(asked(HIT))


def test_the_profile_decides_how_a_schema_is_asked_for(palace):
    profile = {"structured_output": True, "tool_calling": True}
    model = CountingModel(persona=shipping("2026-03-02", as_text=True), profile=profile)

    for agent in (
        create_agent(ChatPalace(inner=model, palace=palace), [], response_format=Shipped),
        agent_of(model, palace, response_format=Shipped),
    ):
        assert agent.invoke(asked(HIT))["structured_response"].date == "2026-03-02"
        assert model.asked[-1].kwargs["response_format"]


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
def test_a_person_in_the_loop_does_not_decide_again(palace, prompt):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
    hitl = HumanInTheLoopMiddleware(interrupt_on={"weather": True})
    saver = InMemorySaver()
    agent = agent_of(model, palace, weather, after=[hitl], checkpointer=saver)

    before = len(palace.verdicts(limit=99))
    first = agent.invoke(asked(prompt), thread("t"))
    assert "__interrupt__" in first
    # another process: nothing but the checkpoint is left
    again = agent_of(model, palace, weather, after=[hitl], checkpointer=saver)
    done = again.invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread("t"))

    evidence = HIT_TEXT if prompt == HIT else UNCLEAR_TEXT
    assert len(palace.verdicts(limit=99)) == before + 1
    assert sum(a.is_pointing for a in model.asked) == (prompt == UNCLEAR)
    assert evidence in model.asked[-1].text
    assert done["messages"][-1].content == f"{evidence} [1]"


def test_the_system_prompt_is_left_alone(palace):
    model = CountingModel(persona=honest)

    agent_of(model, palace, system_prompt="Be brief.").invoke(asked(UNCLEAR))

    assert [a.messages[0].content for a in model.asked] == ["Be brief."] * 2
    assert [len(a.messages) for a in model.asked] == [2, 2]


def test_an_agent_that_nobody_asks_runs(palace):
    model = CountingModel(persona=honest)

    done = agent_of(model, palace).invoke({"messages": [AIMessage("I go on.")]})

    assert done["messages"][-1].content == CHAT


def test_an_agent_may_use_its_memory_by_tool(palace):
    from langchain_palace import palace_tools

    arguments = {"text": "The tram stops at the north gate.", "visible_to": "session"}
    model = CountingModel(persona=calling_once("palace_remember", arguments))
    agent = agent_of(model, palace, *palace_tools(palace))

    done = agent.invoke(asked(PASS), thread("t9"))

    assert '"stored"' in done["messages"][2].content
    assert palace.search("tram north gate", session_id="t9")[0].memory.scope == "session:t9"


def test_two_turns_of_a_conversation_each_carry_their_own_evidence(palace):
    model = CountingModel(persona=honest)
    agent = agent_of(model, palace, checkpointer=InMemorySaver())

    agent.invoke(asked(HIT), thread("t"))
    done = agent.invoke(asked(UNCLEAR), thread("t"))

    assert HIT_TEXT not in model.asked[-1].text
    assert UNCLEAR_TEXT in model.asked[-1].text
    assert [m.content for m in done["messages"] if m.type == "human"] == [HIT, UNCLEAR]
    assert LIE not in f"{done}"


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR, PASS])
def test_a_question_of_the_program_is_asked_before_what_the_tools_answer(palace, prompt):
    """Behind their results it would be asked again, and the tools called once more, for ever."""
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))

    agent_of(model, palace, weather).invoke(
        {"messages": [SystemMessage(prompt)]}, {**thread("t"), "recursion_limit": 20}
    )

    assert [m.type for m in model.asked[-1].messages] == ["system", "human", "ai", "tool"]
