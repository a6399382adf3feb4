"""Labels in the answer of an agent: what a schema only lets a model choose among."""

from __future__ import annotations

from typing import Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_palace import PalaceMiddleware
from pydantic import BaseModel

from tests.adapters.langchain.doubles import HIT, HIT_TEXT, CountingModel, calling


class Shipped(BaseModel):
    """When something was shipped."""

    text: str
    topic: Literal["release_date", "staff_p1"]


class Day(BaseModel):
    """The day, of those that a form offers."""

    day: Literal["2026-03-02", "2026-03-09"]


def agent_of(palace, values, answer, strategy):
    def persona(asked):
        made = calling(answer.__name__, values)
        return made if asked.tools else answer(**values).model_dump_json()

    model = CountingModel(persona=persona)
    middleware = [PalaceMiddleware(palace)]
    return create_agent(model, [], middleware=middleware, response_format=strategy(answer))


@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
def test_a_label_passes_and_a_chosen_lie_does_not(palace, strategy):
    asked = {"messages": [("user", HIT)]}
    values = {"text": HIT_TEXT, "topic": "release_date"}

    done = agent_of(palace, values, Shipped, strategy).invoke(asked)
    assert done["structured_response"] == Shipped(**values)

    done = agent_of(palace, {"day": "2026-03-09"}, Day, strategy).invoke(asked)
    assert done.get("structured_response") is None
    assert done["messages"][-1].text.startswith(HIT_TEXT)
