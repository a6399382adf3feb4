"""What a template puts around an agent's question counts in its loop as it does in a chain."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_palace import PalaceMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from tests.adapters.langchain.doubles import (
    HIT,
    HIT_TEXT,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    calling_once,
    weather,
)
from tests.adapters.langchain.test_documents_around import DOCUMENT, TEMPLATE, WHOSE, repeating


@pytest.mark.parametrize(
    ("asked", "released"), [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT), (WHOSE, DOCUMENT)]
)
def test_its_words_are_released_only_where_they_may_be_asked(palace, asked, released):
    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}, then=repeating))
    middleware = [PalaceMiddleware(palace)]
    agent = create_agent(model, [weather], middleware=middleware, checkpointer=InMemorySaver())
    said = {"messages": [HumanMessage(TEMPLATE.format(asked))]}

    state = agent.invoke(said, {"configurable": {"thread_id": "t"}})

    assert released in state["messages"][-1].text
