"""What a `PalaceRunnable` says that it takes and returns: what its chain does, on a miss too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from langchain_core._api import LangChainBetaWarning
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.output_parsers import (
    JsonOutputParser,
    PydanticOutputParser,
    PydanticToolsParser,
    StrOutputParser,
)
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import (
    ConfigurableField,
    RunnableBranch,
    RunnableLambda,
    RunnableParallel,
)
from langchain_palace import PalaceRunnable
from pydantic import BaseModel

from palace import DECLINE_TOKEN, RecallMiss
from tests.adapters.langchain.doubles import (
    FALLBACK,
    HIT,
    MISS,
    UNCLEAR,
    CountingModel,
    honest,
    out_of,
)

if TYPE_CHECKING:
    from elsewhere import Unknown


class Release(BaseModel):
    """A release."""

    date: str


class EmailMessage(BaseModel):
    """An object by the name of a message."""

    date: str


def as_messages(said) -> list[AnyMessage]:
    return [said]


def as_email(said) -> EmailMessage:
    return EmailMessage(date=said.text)


def as_text(said) -> str:
    return said.text


async def as_awaited_text(said) -> str:
    return said.text


def as_it_comes(said) -> Unknown:
    return said


ENDS = {
    "message": [
        lambda model: model | RunnableLambda(as_messages),
        lambda model: RunnableBranch((lambda _: True, model), model),
        lambda model: RunnableLambda(str) | RunnableBranch((lambda _: True, model), model),
        lambda model: model.with_fallbacks([model]).with_retry(),
        lambda model: model.configurable_fields(model=ConfigurableField(id="model")),
    ],
    "text": [
        lambda model: (
            RunnableBranch((lambda _: True, model | StrOutputParser()), lambda text: text)
            | StrOutputParser()
        ),
        lambda model: RunnableBranch((lambda _: True, model), lambda text: text),  # does not say
        lambda model: model | as_text,
        lambda model: model | as_awaited_text,
        lambda model: model | as_it_comes,
    ],
    "object": [
        lambda model: model | JsonOutputParser(),
        lambda model: model | PydanticToolsParser(tools=[Release], first_tool_only=True),
        lambda model: (model | JsonOutputParser()).with_config(tags=["t"]),
        lambda model: RunnableParallel(answer=model),
        lambda model: model | RunnableLambda(as_email),
        lambda model: model | PydanticOutputParser(pydantic_object=EmailMessage),
    ],
}


@pytest.mark.parametrize(
    ("kind", "chain_of_model"), [(kind, made) for kind, mades in ENDS.items() for made in mades]
)
def test_a_miss_is_of_the_kind_that_a_chain_returns(palace, kind, chain_of_model):
    model = CountingModel(persona=honest)
    chain = PalaceRunnable(bound=chain_of_model(model), palace=palace)

    if kind == "object":
        with pytest.raises(RecallMiss):
            chain.invoke(MISS)
    else:
        said = chain.invoke(MISS)
        assert isinstance(said, AIMessage if kind == "message" else str)
        assert (said.text if kind == "message" else said) == FALLBACK
    assert model.calls == 0


def test_a_model_chosen_by_the_call_is_missed_in_a_message(palace):
    models = pytest.importorskip("langchain.chat_models")
    chain = PalaceRunnable(bound=models.init_chat_model(), palace=palace)

    assert chain.invoke(MISS, {"configurable": {"model": "none"}}).text == FALLBACK


@pytest.mark.parametrize("said", [DECLINE_TOKEN, json.dumps({"date": DECLINE_TOKEN})])
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_declining_in_an_object_is_a_miss(palace, said, prompt, way):
    def persona(asked):
        return json.dumps({"quote": asked.items[0]}) if asked.is_pointing else said

    bound = CountingModel(persona=persona) | JsonOutputParser()

    async def asked(**more):
        return await out_of(PalaceRunnable(bound=bound, palace=palace, **more), way, prompt)

    with pytest.raises(RecallMiss, match=FALLBACK):
        await asked()
    assert (await asked(on_miss=str.upper)).startswith(FALLBACK.upper())


def test_it_tells_what_the_chain_takes_and_returns(palace):
    prompt = ChatPromptTemplate.from_template("{question}")
    bound = prompt | CountingModel(persona=honest) | StrOutputParser()
    chain = PalaceRunnable(bound=bound, palace=palace)

    for told in ("get_input_jsonschema", "get_output_jsonschema"):
        assert getattr(chain, told)() == getattr(bound, told)()
    with pytest.warns(LangChainBetaWarning):
        tool = chain.as_tool(name="ask", description="Ask.")
    assert tool.invoke({"question": MISS}) == FALLBACK
