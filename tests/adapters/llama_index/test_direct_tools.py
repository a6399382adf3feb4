"""A tool whose result is the reply shows a person what the model wrote to it."""

from __future__ import annotations

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index_palace import PalaceLLM

from palace import UngroundedAnswerError
from tests.adapters.llama_index.scripted import (
    FALLBACK,
    HIT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    ScriptedLLM,
    code_text,
    paint_text,
)


def reply(text: str) -> str:
    """Reply to the person."""
    return text


def order(number: str) -> str:
    """Show an order."""
    return f"Order {number} has been paid and sent."


async def answered(palace, llm, question, *, streaming):
    tools = [FunctionTool.from_defaults(f, return_direct=True) for f in (reply, order)]
    agent = FunctionAgent(llm=PalaceLLM(llm, palace), tools=tools, streaming=streaming)
    return str(await agent.run(question))


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("question", "text"), [(HIT, code_text(None)), (UNCLEAR, paint_text(None))]
)
async def test_what_is_not_remembered_is_not_shown(palace, question, text, streaming):
    llm = ScriptedLLM(tool="reply", tool_arguments={"text": LIE})
    said = await answered(palace, llm, question, streaming=streaming)
    assert text in said
    assert LIE not in said


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("question", "tool", "arguments", "text"),
    [
        (HIT, "reply", {"text": code_text(None)}, code_text(None)),
        (UNCLEAR, "reply", {"text": paint_text(None)}, paint_text(None)),
        (HIT, "order", {"number": "7788"}, "Order 7788 has been paid and sent."),
        (PASS, "reply", {"text": LIE}, LIE),
    ],
)
async def test_other_calls_go_on(palace, question, tool, arguments, text, streaming):
    llm = ScriptedLLM(tool=tool, tool_arguments=arguments)
    assert await answered(palace, llm, question, streaming=streaming) == text


async def test_on_a_miss_none_is_called(palace):
    llm = ScriptedLLM(tool="reply", tool_arguments={"text": LIE})
    assert await answered(palace, llm, MISS, streaming=False) == FALLBACK
    assert not llm.calls


async def test_handing_over_to_another_agent_is_no_reply(palace):
    reason = "The other agent knows all about the harbour."
    arguments = {"to_agent": "writer", "reason": reason}
    first = PalaceLLM(ScriptedLLM(tool="handoff", tool_arguments=arguments), palace)
    agents = [
        FunctionAgent(name="front", description="Greets.", llm=first, can_handoff_to=["writer"]),
        FunctionAgent(name="writer", description="Writes.", llm=PalaceLLM(ScriptedLLM(), palace)),
    ]
    said = await AgentWorkflow(agents=agents, root_agent="front").run(HIT)
    assert code_text(None) in str(said)
    assert said.current_agent_name == "writer"


@pytest.mark.parametrize("is_async", [True, False])
class TestPredictAndCall:
    """What is called is the reply, whatever the tool."""

    async def said(self, palace, question, is_async, text, **kwargs):
        llm = PalaceLLM(ScriptedLLM(tool="reply", tool_arguments={"text": text}), palace)
        tools = [FunctionTool.from_defaults(reply)]
        if is_async:
            return str(await llm.apredict_and_call(tools, user_msg=question, **kwargs))
        return str(llm.predict_and_call(tools, user_msg=question, **kwargs))

    @pytest.mark.parametrize(
        ("question", "text"),
        [(HIT, code_text(None)), (UNCLEAR, paint_text(None)), (PASS, LIE)],
    )
    async def test_what_is_remembered_is_shown(self, palace, question, text, is_async):
        assert await self.said(palace, question, is_async, text) == text

    @pytest.mark.parametrize(
        ("question", "text"), [(HIT, code_text(None)), (UNCLEAR, paint_text(None))]
    )
    async def test_a_lie_is_not(self, palace, question, text, is_async):
        with pytest.raises(UngroundedAnswerError, match="does not say"):
            await self.said(palace, question, is_async, LIE)
        said = await self.said(palace, question, is_async, LIE, error_on_no_tool_call=False)
        assert text in said
        assert LIE not in said
