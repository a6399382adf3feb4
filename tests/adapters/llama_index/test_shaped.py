"""An agent that has its answer shaped into an object: what its tools answered counts there too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.tools import FunctionTool
from llama_index_palace import PalaceLLM

from tests.adapters.llama_index.scripted import (
    HIT,
    MISS,
    PASS,
    UNCLEAR,
    Found,
    ScriptedLLM,
    _tool_call,
    code_text,
)

CODE = code_text(None)
RAIN = "In Rome it rains 12 mm today."


class Report(BaseModel):
    """A code, and how much it rains."""

    code: str
    rain: str


class ShapingLLM(ScriptedLLM):
    """Calls its tool, answers, and shapes that as it is told."""

    shaped: dict[str, Any] = {}

    def _say(self, messages: Sequence[ChatMessage], tools: Sequence[Any] = ()) -> ChatMessage:
        if [t.metadata.name for t in tools] == ["Report"]:
            return _tool_call("Report", self.shaped, "")
        return super()._say(messages, tools)


def weather(city: str) -> str:
    """Tell the weather."""
    return RAIN


def colleague(city: str) -> str:
    """Ask a colleague."""
    return ScriptedLLM(answer=RAIN).complete("How much does it rain?").text


def gauge(city: str) -> str:
    """Ask the engine."""
    synthesizer = get_response_synthesizer(llm=ScriptedLLM(answer="It rains 99 mm."))
    return str(RetrieverQueryEngine(Found(RAIN), synthesizer).query(city))


def note(text: str) -> str:
    """Take down a thought."""
    return f"Noted: {text}"


async def shaped(palace, question, shaped, *, tool="weather", arguments=None, kind="agent"):
    llm = ShapingLLM(tool=tool, tool_arguments=arguments or {"city": "Rome"}, shaped=shaped)
    tools = [FunctionTool.from_defaults(f) for f in (weather, colleague, gauge, note)]
    made = {"llm": PalaceLLM(llm, palace), "tools": tools}
    if kind == "agent":
        agent = FunctionAgent(**made, output_cls=Report)
    else:
        agent = AgentWorkflow(agents=[FunctionAgent(name="one", **made)], output_cls=Report)
    return (await agent.run(question)).structured_response, llm


@pytest.mark.parametrize("kind", ["agent", "workflow"])
async def test_an_object_may_rest_on_results_of_tools(palace, kind):
    told = {"code": "4711-all", "rain": "12 mm"}
    assert (await shaped(palace, HIT, told, kind=kind))[0] == told


async def test_so_it_may_on_what_was_found_behind_one(palace):
    told = {"code": "4711-all", "rain": "12 mm"}
    assert (await shaped(palace, HIT, told, tool="gauge"))[0] == told


@pytest.mark.filterwarnings("ignore:There was a problem with the generation")
async def test_not_on_what_a_model_said_there_though_a_tool_said_so_before(palace):
    told = {"code": "4711-all", "rain": "12 mm"}
    assert (await shaped(palace, HIT, told))[0] == told
    assert (await shaped(palace, HIT, told, tool="colleague"))[0] is None


@pytest.mark.filterwarnings("ignore:There was a problem with the generation")
@pytest.mark.parametrize(
    ("question", "told"),
    [
        (HIT, {"code": "4711-all", "rain": "99 mm"}),
        (HIT, {"code": "9999", "rain": "12 mm"}),
        (UNCLEAR, {"code": "Ruth", "rain": "12 mm"}),
    ],
)
async def test_it_may_rest_on_nothing_else(palace, question, told):
    assert (await shaped(palace, question, told))[0] is None


@pytest.mark.filterwarnings("ignore:There was a problem with the generation")
async def test_what_a_tool_repeats_of_the_model_proves_nothing(palace):
    arguments = {"text": "It rains 99 mm in Rome today."}
    told = {"code": "4711-all", "rain": "99 mm"}
    assert (await shaped(palace, HIT, told, tool="note", arguments=arguments))[0] is None


@pytest.mark.filterwarnings("ignore:There was a problem with the generation")
async def test_on_a_miss_no_object_is_made(palace):
    made, llm = await shaped(palace, MISS, {"code": "1", "rain": "2"})
    assert (made, llm.calls) == (None, [])


async def test_what_asks_for_no_memory_is_the_models_work(palace):
    told = {"code": "9999", "rain": "none"}
    assert (await shaped(palace, PASS, told))[0] == told
