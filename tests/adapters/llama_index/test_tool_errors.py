"""What a host tells of a tool that failed repeats what the model wrote to it: it is no evidence."""

from __future__ import annotations

import pytest
from llama_index.core.agent.react.formatter import ReActChatFormatter
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index_palace import PalaceLLM

from tests.adapters.llama_index.scripted import HIT, ScriptedLLM, code_text

NAME = "Mallory Quimby"
SAID = f"The harbour gate code was set by {NAME} [1]."


def find_person(name: str) -> str:
    """Find a person."""
    raise ValueError(f"nobody is called {name}")


def as_error(told: object) -> ToolOutput:
    return ToolOutput(
        content=f"nobody like {told}", tool_name="", raw_input={}, raw_output=told, is_error=True
    )


def repeat(name: str) -> str:
    """Find a person."""
    return name


def who_set_it(name: str) -> str:
    """Tell who set the code."""
    return f"It was set by {NAME}."


TOOLS = [
    FunctionTool.from_defaults(find_person),
    FunctionTool.from_defaults(repeat, callback=as_error),
    FunctionTool.from_defaults(who_set_it),
]


class Calling(ScriptedLLM):
    """Calls a tool, whether it is there or not, and then says what it was given to say."""

    def _say(self, messages, tools=()):
        if self.functions and messages[-1].role.value == "user":
            call = {"id": "c1", "name": self.tool, "arguments": self.tool_arguments}
            return ChatMessage(role="assistant", additional_kwargs={"tool_calls": [call]})
        return super()._say(messages, tools)


async def reply(palace, tool, *, kind=FunctionAgent, arguments=None, several=False, **options):
    inner = Calling(
        tool=tool,
        tool_arguments=arguments or {"name": NAME},
        answer=SAID,
        functions=kind is FunctionAgent,
    )
    agent = kind(
        llm=PalaceLLM(inner, palace), tools=TOOLS, name="one", description="One.", **options
    )
    if not several:
        return str(await agent.run(HIT))
    other = FunctionAgent(llm=PalaceLLM(inner, palace), name="two", description="Two.")
    return str(await AgentWorkflow([agent, other], root_agent="one").run(HIT))


def observing(**options):
    """Make an agent that thinks in words, with what its tools answered in a role of its own."""
    formatter = ReActChatFormatter.from_defaults(observation_role="tool")
    return ReActAgent(formatter=formatter, **options)


KINDS = [FunctionAgent, ReActAgent, observing]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tool", ["find_person", "repeat", NAME])
async def test_an_error_vouches_for_nothing(palace, tool, kind):
    assert code_text(None) in await reply(palace, tool, kind=kind)


async def test_an_agent_that_is_not_there_does_not_either(palace):
    told = {"to_agent": NAME, "reason": "none"}
    assert code_text(None) in await reply(palace, "handoff", arguments=told, several=True)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_a_tool_answers_does(palace, kind):
    assert await reply(palace, "who_set_it", kind=kind) == SAID
