"""What an agent's model is called with, bound to it or set by another middleware, stays."""

from __future__ import annotations

import json

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_palace import PalaceMiddleware

from tests.adapters.langchain.doubles import (
    FALLBACK,
    HIT,
    HIT_TEXT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    calling,
    honest,
)


class Settings(AgentMiddleware):
    """Sets what a model is called with."""

    def __init__(self, **settings):
        super().__init__()
        self.settings = settings or {"stop": ["X"], "temperature": 0.3}

    def wrap_model_call(self, request, handler):
        return handler(request.override(model_settings=self.settings))


def said(agent, prompt):
    return agent.invoke({"messages": [("user", prompt)]})["messages"][-1].content


@pytest.mark.parametrize("is_first", [True, False])
def test_settings_of_another_middleware_reach_the_agents_call(palace, is_first):
    model = CountingModel(persona=honest)
    ours = PalaceMiddleware(palace)
    agent = create_agent(
        model, [], middleware=[Settings(), ours] if is_first else [ours, Settings()]
    )

    assert said(agent, MISS) == FALLBACK
    assert model.calls == 0
    assert said(agent, HIT).startswith(HIT_TEXT)
    assert said(agent, UNCLEAR).startswith(UNCLEAR_TEXT)
    told = [(asked.kwargs.get("stop"), asked.kwargs.get("temperature")) for asked in model.asked]
    pointing = (["X"], 0.3) if is_first else (None, None)
    assert told == [(["X"], 0.3), pointing, (["X"], 0.3)]


def test_an_agents_model_may_have_arguments_bound(palace):
    model = CountingModel(persona=honest)
    agent = create_agent(model.bind(stop=["X"]), [], middleware=[PalaceMiddleware(palace)])

    assert said(agent, MISS) == FALLBACK
    assert model.calls == 0
    assert said(agent, HIT).startswith(HIT_TEXT)
    assert said(agent, UNCLEAR).startswith(UNCLEAR_TEXT)
    assert [asked.kwargs["stop"] for asked in model.asked] == [["X"]] * 3


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR, PASS])
@pytest.mark.parametrize(("name", "shown"), [(None, "CountingModel"), ("planner", "planner")])
@pytest.mark.parametrize("is_bound", [True, False])
async def test_callbacks_are_told_the_name_of_the_agents_model(
    palace, prompt, name, shown, is_bound
):
    model = CountingModel(persona=honest, name=name)
    agent = create_agent(
        model.bind(stop=["X"]) if is_bound else model, [], middleware=[PalaceMiddleware(palace)]
    )

    events = agent.astream_events({"messages": [("user", prompt)]}, version="v2")

    names = {event["name"] async for event in events if "chat_model" in event["event"]}
    assert names == {shown}


@pytest.mark.parametrize("way", ["bound", "before", "behind"])
@pytest.mark.parametrize("mode", ["values", "messages"])
def test_a_format_is_kept_and_holds_no_lie(palace, way, mode):
    form = {"response_format": {"type": "json_object"}}

    def told(date, prompt=HIT):
        def persona(asked):
            return honest(asked) if asked.is_pointing else json.dumps({"date": date})

        model = CountingModel(persona=persona)
        ours, theirs = PalaceMiddleware(palace), Settings(**form)
        around = {"bound": [ours], "before": [theirs, ours], "behind": [ours, theirs]}[way]
        agent = create_agent(model.bind(**form) if way == "bound" else model, [], middleware=around)
        asked = {"messages": [("user", prompt)]}
        if mode == "messages":
            return "".join(m.text for m, _ in agent.stream(asked, stream_mode="messages"))
        return agent.invoke(asked)["messages"][-1].text

    assert json.loads(told("2026-03-02")) == {"date": "2026-03-02"}
    assert told("2026-04-09").startswith(HIT_TEXT)
    assert told("2026-04-09", UNCLEAR).startswith(UNCLEAR_TEXT)
    assert told("2026-03-02", MISS) == FALLBACK


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
@pytest.mark.parametrize("mode", ["values", "messages"])
def test_thoughts_beside_a_call_are_for_the_model_alone(palace, prompt, mode):
    thought = {"type": "thinking", "thinking": LIE, "signature": "c2ln", "index": 0}

    def weather(city: str) -> str:
        """Tell the weather."""
        return f"It rains in {city}."

    def persona(asked):
        if asked.is_pointing or asked.is_after_tool:
            return honest(asked)
        return calling("weather", {"city": "Rome"}).model_copy(update={"content": [thought]})

    model = CountingModel(persona=persona)
    agent = create_agent(model, [weather], middleware=[PalaceMiddleware(palace)])

    told = list(agent.stream({"messages": [("user", prompt)]}, stream_mode=mode))

    assert LIE not in str(told)
    [back] = [m for m in model.asked[-1].messages if m.type == "ai"]
    assert back.content == [thought]
