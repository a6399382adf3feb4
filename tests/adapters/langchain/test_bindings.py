"""What a user has bound to a model counts behind the wrapper as it does before it."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_palace import ChatPalace

from palace import ConfigError
from tests.adapters.langchain.doubles import (
    HIT,
    HIT_TEXT,
    MISS,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    Recorder,
    honest,
    out_of,
)


async def replied(chat, way, prompt):
    if way == "generate":
        return chat.generate([[HumanMessage(prompt)]]).generations[0][0].text
    return (await out_of(chat, way, prompt)).text


@pytest.mark.parametrize("way", ["invoke", "stream", "generate"])
async def test_where_the_model_is_to_stop_reaches_every_call(palace, way):
    model = CountingModel(persona=honest)
    chat = ChatPalace(inner=model.bind(stop=["\n\n"]), palace=palace)

    assert (await replied(chat, way, HIT)).startswith(HIT_TEXT)
    assert (await replied(chat, way, UNCLEAR)).startswith(UNCLEAR_TEXT)
    assert await replied(chat, way, PASS)
    assert [asked.kwargs["stop"] for asked in model.asked] == [["\n\n"]] * 4


def test_a_call_says_better_where_to_stop(palace):
    model = CountingModel(persona=honest)
    chat = ChatPalace(inner=model.bind(stop=["bound"]), palace=palace)

    chat.invoke(UNCLEAR, stop=["said"])
    chat.bind(stop=["later"]).invoke(PASS)

    assert [asked.kwargs["stop"] for asked in model.asked] == [["said"], ["said"], ["later"]]


def test_tags_metadata_and_callbacks_of_the_model_stay_with_it(palace):
    recorder, model = Recorder(), CountingModel(persona=honest, tags=["own"])
    bound = model.with_config(
        tags=["nostream"], metadata={"team": "a"}, callbacks=[recorder.handler()]
    )
    chat = ChatPalace(inner=bound.bind(temperature=0.1), palace=palace)

    chat.invoke(HIT)

    assert recorder.events == ["model_start", "retriever_start", "retriever_end:1", "model_end"]
    assert sorted(chat.tags) == ["nostream", "own"]
    assert chat.metadata["team"] == "a"
    assert model.tags == ["own"]
    assert model.callbacks is None
    assert [asked.kwargs["temperature"] for asked in model.asked] == [0.1]


def test_a_binding_takes_nothing_over_from_the_run_it_is_made_in(palace):
    recorder, model = Recorder(), CountingModel(persona=honest)
    made = []

    def ask(prompt):
        made.append(ChatPalace(inner=model.bind(temperature=0.1), palace=palace))
        return made[0].invoke(prompt)

    RunnableLambda(ask).invoke(HIT, {"callbacks": [recorder.handler()], "tags": ["run"]})

    assert made[0].inner is model
    assert recorder.events == ["model_start", "retriever_start", "retriever_end:1", "model_end"]


def test_what_cannot_be_taken_over_is_refused(palace):
    model = CountingModel(persona=honest)

    with pytest.raises(ConfigError, match="listeners of a chat model"):
        ChatPalace(inner=model.with_listeners(on_start=print), palace=palace)
    for make in ("with_retry", "with_listeners"):
        wrapped = getattr(ChatPalace(inner=model, palace=palace), make)()
        assert wrapped.invoke(MISS).content
    assert model.calls == 0
