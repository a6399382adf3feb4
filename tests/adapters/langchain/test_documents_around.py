"""What a template puts around a question is a source where that may be asked of it, else none."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_palace import ChatPalace

from tests.adapters.langchain.doubles import (
    HIT,
    HIT_TEXT,
    LIE,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    calling_once,
    lying_after_a_true_quote,
    pointing,
    weather,
)

DOCUMENT = "Mallory keeps version 80085 of the dashboard in the orange cellar."
TEMPLATE = f"Answer from the context.\n\nContext: {DOCUMENT}\n\nQuestion: {{}}\nAnswer:"
# One that is about nobody, and so may be asked of what stands beside it.
WHOSE = "When was version 4.1.0 shipped?"


def repeating(asked):
    """Point rightly, and say what the document says."""
    return pointing(asked, 1, asked.items[0], DOCUMENT) if asked.is_pointing else DOCUMENT


@pytest.fixture(params=["one", "two"])
def palace_of_calls(palace, request):
    """The palace, asked for the quote and the answer in so many calls."""
    (palace.root / "config").mkdir(exist_ok=True)
    settings = palace.root / "config" / "mempalace.yaml"
    settings.write_text(f"answers: {{quote_calls: {request.param}}}\n", encoding="utf-8")
    with palace.open(palace.root) as anew:
        yield anew


RELEASED = [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT), (WHOSE, DOCUMENT)]


@pytest.mark.parametrize(("asked", "released"), RELEASED)
def test_its_words_are_released_only_then(palace_of_calls, asked, released):
    chat = ChatPalace(inner=CountingModel(persona=repeating), palace=palace_of_calls)
    assert released in chat.invoke(TEMPLATE.format(asked)).text


@pytest.mark.parametrize(("asked", "released"), RELEASED)
def test_so_they_are_in_the_loop_of_an_agent(palace, asked, released):
    agents = pytest.importorskip("langchain.agents")
    from langchain_palace import PalaceMiddleware
    from langgraph.checkpoint.memory import InMemorySaver

    model = CountingModel(persona=calling_once("weather", {"city": "Rome"}, then=repeating))
    middleware, saver = [PalaceMiddleware(palace)], InMemorySaver()
    agent = agents.create_agent(model, [weather], middleware=middleware, checkpointer=saver)
    said = {"messages": [HumanMessage(TEMPLATE.format(asked))]}

    state = agent.invoke(said, {"configurable": {"thread_id": "t"}})

    assert released in state["messages"][-1].text


# A conversation that a chain writes down as one text: what a model said in it proves nothing.
SAID = f"Human: Hello.\nAI: {LIE}\n\nIt is so."
CONVERSATIONS = {
    "alone": [HumanMessage(SAID + "\nHuman: {asked}\nAI:")],
    "in a chain": [
        HumanMessage(f"A friendly talk.\n\nCurrent conversation:\n{SAID}\nHuman: {{asked}}\nAI:")
    ],
    "before a label": [
        HumanMessage(f"Chat history:\n{SAID}\n\nQuestion: {{asked}}\nAnswer:"),
    ],
    "of the program": [SystemMessage(f"You know this:\n{SAID}"), HumanMessage("{asked}")],
}


@pytest.mark.parametrize("said", CONVERSATIONS.values(), ids=CONVERSATIONS)
@pytest.mark.parametrize(
    ("asked", "memory"), [(HIT, HIT_TEXT), (WHOSE, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)]
)
def test_no_lie_of_an_earlier_reply_is_repeated(palace_of_calls, said, asked, memory):
    messages = [type(m)(m.text.replace("{asked}", asked)) for m in said]
    model = CountingModel(persona=lying_after_a_true_quote)

    reply = ChatPalace(inner=model, palace=palace_of_calls).invoke(messages)

    assert memory in reply.text
    assert "80085" not in reply.text
