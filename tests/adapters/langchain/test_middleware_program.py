"""A question that stands in a message of the program, where no person says anything."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain_core.messages import SystemMessage
from langchain_palace import PalaceMiddleware

from tests.adapters.langchain.doubles import (
    HIT,
    PASS,
    UNCLEAR,
    CountingModel,
    calling_once,
    weather,
)


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR, PASS])
def test_is_asked_before_what_the_tools_answer(palace, prompt):
    """Behind their results it would be asked again, and the tools called once more, for ever."""
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}))
    agent = create_agent(model, [weather], middleware=[PalaceMiddleware(palace)])
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 20}

    agent.invoke({"messages": [SystemMessage(prompt)]}, config)

    assert [m.type for m in model.asked[-1].messages] == ["system", "human", "ai", "tool"]
