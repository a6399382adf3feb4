"""A chat model with retries or fallbacks, or one that a config chooses, is wrapped like any other."""

from __future__ import annotations

import pytest
from langchain_core.runnables import ConfigurableField
from langchain_palace import ChatPalace, PalaceRunnable

from tests.adapters.langchain.doubles import (
    FALLBACK,
    HIT,
    LIARS,
    LIE,
    MISS,
    PASS,
    TOLD,
    UNCLEAR,
    USAGE,
    CountingModel,
    Recorder,
    Shipped,
    calling_once,
    failing,
    honest,
    out_of,
    weather,
)

WAYS = ["invoke", "ainvoke", "stream", "astream"]


@pytest.fixture
def chosen_by_name(monkeypatch):
    """Have `init_chat_model` find models by their names."""
    pytest.importorskip("langchain.chat_models")
    from langchain.chat_models import base

    models = {}
    monkeypatch.setattr(base, "_init_chat_model_helper", lambda model, **_: models[model])
    return models


def with_retry(model):
    return model.with_retry()


def with_fallbacks(model):
    return CountingModel(persona=failing(99)).with_fallbacks([model])


def with_fields(model):
    return model.configurable_fields(model=ConfigurableField(id="name"))


def with_alternatives(model):
    other = CountingModel(persona=LIARS[3])
    return model.configurable_alternatives(ConfigurableField(id="which"), other=other)


KINDS = [with_retry, with_fallbacks, with_fields, with_alternatives]
BINDING = KINDS[1:]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("prompt", TOLD)
@pytest.mark.parametrize("kind", KINDS)
async def test_it_looks_before_it_answers(palace, kind, prompt, way):
    model = CountingModel(persona=honest)
    recorder = Recorder()
    chat = ChatPalace(inner=kind(model), palace=palace)

    message = await out_of(chat, way, prompt, {"callbacks": [recorder.handler()]})

    assert (message.text, model.calls) == TOLD[prompt]
    assert recorder.events.count("model_start") == recorder.events.count("model_end") == 1
    assert message.response_metadata["palace"]["model_calls"] == model.calls
    total = (message.usage_metadata or {}).get("total_tokens", 0)
    assert total == model.calls * USAGE["total_tokens"]


@pytest.mark.parametrize("liar", LIARS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_liar_gets_nothing_out(palace, kind, liar):
    chat = ChatPalace(inner=kind(CountingModel(persona=liar)), palace=palace)

    for way in WAYS:
        for prompt in (HIT, UNCLEAR):
            assert LIE not in (await out_of(chat, way, prompt)).text


@pytest.mark.parametrize("kind", BINDING)
def test_tools_and_schemas_are_those_of_the_model(palace, kind):
    def persona(asked):
        if asked.is_pointing or not asked.tools:
            return honest(asked)
        given = {"weather": {"city": "Rome"}, "Shipped": {"date": "2026-03-02"}}
        return calling_once(asked.tools[0], given[asked.tools[0]])(asked)

    chat = ChatPalace(inner=kind(CountingModel(persona=persona)), palace=palace)

    assert chat.bind_tools([weather]).invoke(HIT).tool_calls[0]["args"] == {"city": "Rome"}
    structured = chat.with_structured_output(Shipped, on_miss=lambda text: text)
    assert structured.invoke(HIT) == Shipped(date="2026-03-02")
    assert structured.invoke(MISS) == FALLBACK


def test_the_config_of_the_call_chooses(palace, chosen_by_name):
    from langchain.chat_models import init_chat_model

    chosen_by_name |= {name: CountingModel(persona=honest) for name in ("a", "b")}
    model = init_chat_model("a", configurable_fields=("model",), model_provider="any")
    chat = ChatPalace(inner=model, palace=palace)

    chat.invoke(HIT)
    chat.invoke(HIT, {"configurable": {"model": "b"}})
    list(chat.stream(UNCLEAR, {"configurable": {"model": "b"}}))

    assert {name: model.calls for name, model in chosen_by_name.items()} == {"a": 1, "b": 3}


@pytest.mark.parametrize("prompt", TOLD)
@pytest.mark.parametrize("kind", KINDS)
async def test_it_may_be_the_model_of_an_agent(palace, kind, prompt):
    agents = pytest.importorskip("langchain.agents")
    from langchain_palace import PalaceMiddleware

    for tools in ([], [weather]) if kind in BINDING else ([],):
        model = CountingModel(persona=honest)
        agent = agents.create_agent(kind(model), tools, middleware=[PalaceMiddleware(palace)])
        asked = {"messages": [("user", prompt)]}

        told = agent.invoke(asked)["messages"][-1].text
        assert (told, model.calls) == TOLD[prompt]
        pieces = [m async for m, _ in agent.astream(asked, stream_mode="messages")]
        assert "".join(m.text for m in pieces if m.type != "human") == told


@pytest.mark.parametrize("liar", LIARS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_streams_no_lie_of_it(palace, kind, liar):
    agents = pytest.importorskip("langchain.agents")
    from langchain_palace import PalaceMiddleware

    agent = agents.create_agent(
        kind(CountingModel(persona=liar)), middleware=[PalaceMiddleware(palace)]
    )
    for prompt in (HIT, UNCLEAR):
        pieces = agent.stream({"messages": [("user", prompt)]}, stream_mode="messages")
        assert not any("80085" in str(message.content) for message, _ in pieces)


def test_a_config_chooses_the_model_of_an_agent(palace, chosen_by_name):
    agents = pytest.importorskip("langchain.agents")
    from langchain.chat_models import init_chat_model
    from langchain_palace import PalaceMiddleware

    chosen_by_name |= {name: CountingModel(persona=honest) for name in ("a", "b")}
    model = init_chat_model("a", configurable_fields=("model",), model_provider="any")
    agent = agents.create_agent(model, [weather], middleware=[PalaceMiddleware(palace)])

    for prompt in (HIT, UNCLEAR, PASS, MISS):
        agent.invoke({"messages": [("user", prompt)]}, {"configurable": {"model": "b"}})

    assert [model.calls for model in chosen_by_name.values()] == [0, 4]


def test_a_model_that_is_not_asked_is_not_made(palace, chosen_by_name):
    from langchain.chat_models import init_chat_model

    model = init_chat_model("a", configurable_fields=("model",), model_provider="any")

    assert ChatPalace(inner=model, palace=palace).invoke(MISS).text == FALLBACK
    assert PalaceRunnable(bound=model, palace=palace).invoke(MISS).text == FALLBACK
    assert chosen_by_name == {}
