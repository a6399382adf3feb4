"""What a model thinks beside its words and calls is shown to nobody where words are checked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llama_index.core.base.llms import types
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms.llm import ToolSelection
from llama_index_palace import PalaceLLM

from tests.adapters.llama_index.scripted import CLOCK, HIT, LIE, PASS, UNCLEAR, ScriptedLLM

pytestmark = pytest.mark.skipif(
    not hasattr(types, "ToolCallBlock"), reason="LlamaIndex 0.14.0 has no such blocks"
)


class Thinking(ScriptedLLM):
    """Thinks aloud in a block of its own, as some models do, and in the extras, as others do."""

    def _say(self, messages: Any, tools: Any = ()) -> ChatMessage:
        said = super()._say(messages, tools)
        signed = types.ThinkingBlock(content=LIE, additional_information={"signature": "s-1"})
        extras = {**said.additional_kwargs, "reasoning_content": LIE}
        return ChatMessage(
            role="assistant", blocks=[signed, *said.blocks], additional_kwargs=extras
        )


class InBlocks(Thinking):
    """Calls its tools in blocks, not in the extras."""

    def _say(self, messages: Any, tools: Any = ()) -> ChatMessage:
        said = super()._say(messages, tools)
        calls = said.additional_kwargs.pop("tool_calls", [])
        blocks = [
            types.ToolCallBlock(
                tool_call_id=c["id"], tool_name=c["name"], tool_kwargs=c["arguments"]
            )
            for c in calls
        ]
        return said.model_copy(update={"blocks": [*said.blocks, *blocks]})

    def get_tool_calls_from_response(self, response: Any, *args: Any, **kwargs: Any) -> Any:
        return [
            ToolSelection(tool_id=b.tool_call_id, tool_name=b.tool_name, tool_kwargs=b.tool_kwargs)
            for b in response.message.blocks
            if isinstance(b, types.ToolCallBlock)
        ]


async def of(llm: PalaceLLM, way: str, said: list[ChatMessage]) -> Any:
    """Return what a model with a clock says, all of it."""
    if way == "chat":
        return [llm.chat_with_tools([CLOCK], chat_history=said)]
    if way == "achat":
        return [await llm.achat_with_tools([CLOCK], chat_history=said)]
    if way == "stream":
        return list(llm.stream_chat_with_tools([CLOCK], chat_history=said))
    return [c async for c in await llm.astream_chat_with_tools([CLOCK], chat_history=said)]


@pytest.mark.parametrize("way", ["chat", "achat", "stream", "astream"])
@pytest.mark.parametrize("kind", [Thinking, InBlocks])
class TestThinking:
    """Reasoning is shown to nobody where words are checked, and a model gets its own back."""

    @pytest.mark.parametrize("chatter", ["", "I will look. "])
    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    async def test_beside_a_call(self, palace, words, chatter, kind, way):
        model = kind(tool="clock", chatter=chatter, answer=LIE)
        llm = PalaceLLM(model, palace, session_id="s1")
        said = [ChatMessage(role="user", content=words)]
        chunks = await of(llm, way, said)
        assert LIE not in "".join(c.model_dump_json() for c in chunks)
        (call,) = llm.get_tool_calls_from_response(chunks[-1])
        # a host may keep a conversation as text
        kept = ChatMessage.model_validate_json(chunks[-1].message.model_dump_json())
        noon = ChatMessage(
            role="tool", content="It is noon.", additional_kwargs={"tool_call_id": call.tool_id}
        )
        answer = await of(llm, way, [*said, kept, noon])
        assert LIE not in "".join(c.model_dump_json() for c in answer)
        sent = model.calls[-1]["messages"][1]
        assert sent.blocks[0].additional_information == {"signature": "s-1"}
        assert sent.additional_kwargs["reasoning_content"] == LIE
        assert "palace" not in sent.additional_kwargs
        response = ChatResponse(message=sent)
        assert [c.tool_id for c in model.get_tool_calls_from_response(response)] == [call.tool_id]
        assert palace.decided == [words]

    async def test_a_call_that_the_host_changed_stays_changed(self, palace, kind, way):
        model = kind(tool="clock", tool_arguments={"zone": "UTC"})
        llm = PalaceLLM(model, palace)
        said = [ChatMessage(role="user", content=HIT)]
        kept = (await of(llm, way, said))[-1].message
        kept.blocks = []
        kept.additional_kwargs.pop("tool_calls", None)
        await of(llm, way, [*said, kept, ChatMessage(role="tool", content="It is noon.")])
        assert "UTC" not in model.calls[-1]["messages"][1].model_dump_json()

    async def test_where_nothing_is_checked_it_passes(self, palace, kind, way):
        llm = PalaceLLM(kind(tool="clock"), palace)
        chunks = await of(llm, way, [ChatMessage(role="user", content=PASS)])
        assert any(isinstance(b, types.ThinkingBlock) for b in chunks[-1].message.blocks)
        assert chunks[-1].message.additional_kwargs["reasoning_content"] == LIE


FORMS = {
    "a block": lambda arguments: {
        "blocks": [types.ToolCallBlock(tool_name="note", tool_kwargs=arguments)]
    },
    "a block of text": lambda arguments: {
        "blocks": [types.ToolCallBlock(tool_name="note", tool_kwargs=json.dumps(arguments))]
    },
    "an extra": lambda arguments: {
        "additional_kwargs": {"tool_calls": [{"function": {"arguments": json.dumps(arguments)}}]}
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_what_a_tool_repeats_of_a_call_in_any_form_proves_nothing(palace, form):
    call = ChatMessage(role="assistant", **FORMS[form]({"text": LIE}))
    said = [ChatMessage(HIT), call, ChatMessage(role="tool", content=f"Noted: {LIE}")]
    assert "9999" not in str(PalaceLLM(ScriptedLLM(answer=LIE), palace).chat(said))
