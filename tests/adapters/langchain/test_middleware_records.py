"""What an agent releases is in the journal, whoever said it: one record for one reply."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelFallbackMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_palace import PalaceMiddleware
from pydantic import BaseModel

from palace import DECLINE_TOKEN
from tests.adapters.langchain.doubles import HIT, HIT_TEXT, CountingModel, calling, honest

SAID = "80085 by Mallory"


class Release(BaseModel):
    """A release."""

    answer: str


def failing(asked):
    raise ConnectionError("The provider is down.")


def records(palace):
    return [*palace.journal.records(type="answer")]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("persona", "is_true"), [(honest, True), (lambda _: SAID, False)])
async def test_of_a_model_that_a_middleware_falls_back_to(palace, order, persona, is_true):
    other = CountingModel(persona=persona)
    around = [PalaceMiddleware(palace), ModelFallbackMiddleware(other)][::order]
    agent = create_agent(CountingModel(persona=failing), middleware=around)
    for made in (agent.invoke({"messages": HIT}), await agent.ainvoke({"messages": HIT})):
        assert HIT_TEXT in made["messages"][-1].text
    told = records(palace)
    assert [record["supported"] for record in told] == [is_true, is_true]


@pytest.mark.parametrize(
    ("answer", "supported", "declined"),
    [(HIT_TEXT, True, False), (SAID, False, False), (DECLINE_TOKEN, True, True)],
)
def test_of_an_answer_in_a_schema(palace, answer, supported, declined):
    model = CountingModel(persona=lambda _: calling("Release", {"answer": answer}))
    agent = create_agent(
        model, response_format=ToolStrategy(Release), middleware=[PalaceMiddleware(palace)]
    )
    agent.invoke({"messages": HIT})
    (record,) = records(palace)
    assert (record["supported"], record["declined"]) == (supported, declined)
