"""What a host tells of a tool that failed repeats what the model wrote to it: it is no evidence."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import ToolException, tool
from langchain_palace import ChatPalace, PalaceMiddleware

from tests.adapters.langchain.doubles import HIT, HIT_TEXT, CountingModel, calling

NAME = "Mallory Quimby"
SAID = f"Version 4.1.0 was signed by {NAME} [1]."


@tool
def read_page(number: int) -> str:
    """Read a page."""
    return f"Nothing on page {number}."


def find_person(name: str) -> str:
    """Find a person."""
    raise ToolException(f"nobody is called {name}")


@tool
def signers(version: str) -> str:
    """Tell who signed a version."""
    return f"Version {version} was signed by {NAME}."


TOOLS = [
    read_page,
    tool(find_person, description="Find a person."),
    signers,
]
TOOLS[1].handle_tool_error = True


def repeating(name, arguments):
    def persona(asked):
        return SAID if asked.is_after_tool else calling(name, arguments)

    return CountingModel(persona=persona)


def in_middleware(palace, model):
    return create_agent(model, TOOLS, middleware=[PalaceMiddleware(palace)])


def as_model(palace, model):
    return create_agent(ChatPalace(inner=model, palace=palace), TOOLS)


CALLS = {
    "arguments that do not fit": ("read_page", {"number": NAME}),
    "an error of the tool": ("find_person", {"name": NAME}),
    "a tool that is not there": (f"signed by {NAME}", {}),
}


@pytest.mark.parametrize("host", [in_middleware, as_model])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
async def test_an_error_vouches_for_nothing(palace, host, call):
    agent = host(palace, repeating(*call))
    for made in (agent.invoke({"messages": HIT}), await agent.ainvoke({"messages": HIT})):
        said = made["messages"]
        assert NAME in said[-2].text  # the model sees it none the less
        assert said[-1].text.startswith(HIT_TEXT)


@pytest.mark.parametrize("host", [in_middleware, as_model])
def test_what_a_tool_answers_does(palace, host):
    agent = host(palace, repeating("signers", {"version": "4.1.0"}))
    assert agent.invoke({"messages": HIT})["messages"][-1].text == SAID


@pytest.mark.parametrize("is_error", [False, True])
def test_a_part_may_be_an_error(palace, is_error):
    def part(id, text, is_error):
        told = {"type": "tool_result", "tool_use_id": id, "content": text}
        return {**told, "is_error": True} if is_error else told

    parts = [part("c1", f"Signed by {NAME}.", is_error), part("c2", "It took 48 hours.", False)]
    messages = [HumanMessage(HIT), calling("signers", {}), HumanMessage(parts)]
    words = iter([SAID, "Version 4.1.0 took 48 hours [1]."])
    model = ChatPalace(inner=CountingModel(persona=lambda _: AIMessage(next(words))), palace=palace)
    assert (NAME in model.invoke(messages).text) is not is_error
    assert "48 hours" in model.invoke(messages).text
