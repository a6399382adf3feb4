"""A tool whose result is the reply shows a person what the model wrote to it."""

from __future__ import annotations

import pytest
from llama_index.core.agent.react.formatter import ReActChatFormatter
from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.tools import FunctionTool
from llama_index_palace import PalaceLLM

from palace import ConfigError, UngroundedAnswerError
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


class TestAToolThatIsNamed:
    """An agent that thinks in words does not tell its model which results are the reply."""

    async def said(self, palace, question, tool, arguments, *, streaming, kind=ReActAgent):
        tools = [FunctionTool.from_defaults(f, return_direct=True) for f in (reply, order)]
        model = ScriptedLLM(tool=tool, tool_arguments=arguments, functions=kind is FunctionAgent)
        llm = PalaceLLM(model, palace, direct_tools=["reply", "order"])
        handler = kind(llm=llm, tools=tools, streaming=streaming).run(question)
        shown = [repr(event) async for event in handler.stream_events()]
        return str(await handler), "".join(shown)

    @pytest.mark.parametrize("streaming", [False, True])
    @pytest.mark.parametrize(
        ("question", "text"), [(HIT, code_text(None)), (UNCLEAR, paint_text(None))]
    )
    async def test_shows_nothing_that_is_not_remembered(self, palace, question, text, streaming):
        arguments = {"text": LIE}
        said, shown = await self.said(palace, question, "reply", arguments, streaming=streaming)
        assert text in said
        assert LIE not in shown

    @pytest.mark.parametrize("streaming", [False, True])
    @pytest.mark.parametrize(
        ("question", "tool", "arguments", "text"),
        [
            (HIT, "reply", {"text": code_text(None)}, code_text(None)),
            (HIT, "order", {"number": "7788"}, "Order 7788 has been paid and sent."),
            (PASS, "reply", {"text": LIE}, LIE),
        ],
    )
    async def test_is_called_otherwise(self, palace, question, tool, arguments, text, streaming):
        said, _ = await self.said(palace, question, tool, arguments, streaming=streaming)
        assert said == text

    def test_may_be_any(self, palace):
        """As one that shows what it is given to a person by itself."""
        tools = [FunctionTool.from_defaults(reply)]
        model = ScriptedLLM(tool="reply", tool_arguments={"text": LIE})
        llm = PalaceLLM(model, palace, direct_tools=["reply"])
        said = llm.chat_with_tools(tools, user_msg=HIT).message
        assert code_text(None) in said.content
        assert not llm.get_tool_calls_from_response(
            llm.chat_with_tools(tools, user_msg=HIT), error_on_no_tool_call=False
        )

    @pytest.mark.parametrize("question", [HIT, PASS])
    def test_is_told_to_no_model(self, palace, question):
        """Providers refuse arguments that they do not know."""
        given = []

        class Strict(ScriptedLLM):
            def chat(self, messages, **kwargs):
                given.append(set(kwargs))
                return super().chat(messages, **kwargs)

        tools = [FunctionTool.from_defaults(reply, return_direct=True)]
        PalaceLLM(Strict(), palace).chat_with_tools(tools, user_msg=question)
        assert given == [{"tools"}]

    def test_is_named_in_a_list(self, palace):
        with pytest.raises(ConfigError, match="direct_tools"):
            PalaceLLM(ScriptedLLM(), palace, direct_tools="reply")


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


@pytest.mark.parametrize("kind", [FunctionAgent, ReActAgent])
async def test_who_gets_a_checked_turn_is_warned_of_once(palace, caplog, kind):
    name = f"bare_{kind.__name__}"
    arguments = {"to_agent": name, "reason": "It knows."}
    llm = ScriptedLLM(tool="handoff", tool_arguments=arguments, functions=kind is FunctionAgent)
    front = kind(
        name="front", description="Greets.", llm=PalaceLLM(llm, palace), can_handoff_to=[name]
    )
    bare = FunctionAgent(name=name, description="Writes.", llm=ScriptedLLM(answer=LIE))
    team = AgentWorkflow(agents=[front, bare], root_agent="front")
    for _ in range(2):
        assert str(await team.run(HIT)) == LIE  # as 0004 says: its own model is bare
    assert [r.getMessage() for r in caplog.records if name in r.getMessage()] == [
        f"'{name}' goes on with a checked turn: what it says is checked only where its own model"
        " is wrapped, or the whole graph is"
    ]


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


@pytest.mark.parametrize("question", [HIT, UNCLEAR])
def test_a_model_without_functions_calls_none_either(palace, question):
    # LlamaIndex' own ReAct way fails without these two, and in older versions with them too.
    react = {"react_chat_formatter": ReActChatFormatter(), "output_parser": ReActOutputParser()}
    model = ScriptedLLM(tool="reply", tool_arguments={"text": LIE}, functions=False)
    tools = [FunctionTool.from_defaults(reply)]

    said = PalaceLLM(model, palace).predict_and_call(tools, user_msg=question, **react)

    assert LIE not in str(said)
    assert not said.sources
