"""A reply keeps what a host reads beside its words: its id, its place among several, its cost."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_palace import ChatPalace

from tests.adapters.langchain.doubles import (
    HIT,
    LIE,
    PASS,
    UNCLEAR,
    USAGE,
    CountingModel,
    honest,
)


class SpareModel(CountingModel):
    """Returns a second choice beside its reply."""

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        result = super()._generate(messages, stop, run_manager, **kwargs)
        return ChatResult(generations=[*result.generations, ChatGeneration(message=AIMessage(LIE))])


def test_of_several_replies_the_first_is_recorded_and_tells_the_cost(palace):
    chat = ChatPalace(inner=SpareModel(persona=honest), palace=palace)

    first, spare = chat.generate([[HumanMessage(UNCLEAR)]]).generations[0]

    assert first.message.usage_metadata["total_tokens"] == 2 * USAGE["total_tokens"]
    assert spare.message.usage_metadata is None
    assert LIE not in str(spare)
    recorded = next(iter(palace.journal.records(type="answer")))
    assert (recorded["supported"], recorded["unsupported"]) == (True, [])


class NamingModel(CountingModel):
    """Names its message in the first chunk, as providers do."""

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        for chunk in super()._stream(messages, stop, run_manager, **kwargs):
            chunk.message.id = None if chunk.message.usage_metadata else "msg_1"
            yield chunk


@pytest.mark.parametrize("prompt", [HIT, UNCLEAR, PASS])
def test_a_streamed_message_keeps_its_id(palace, prompt):
    whole = None
    for chunk in ChatPalace(inner=NamingModel(persona=honest), palace=palace).stream(prompt):
        whole = chunk if whole is None else whole + chunk

    assert whole.id == "msg_1"


def test_a_session_may_be_a_number(palace):
    palace.note("The code of the archive door is 4711.", session_id="0")
    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace)
    asked = "What is the code of the archive door?"

    assert "4711" in chat.invoke(asked, {"configurable": {"session_id": 0}}).text
    assert "4711" not in chat.invoke(asked, {"configurable": {"session_id": 1}}).text
