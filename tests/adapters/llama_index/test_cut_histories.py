"""A tool loop goes on where the host has cut off the question."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ImageBlock
from llama_index_palace import PalaceLLM, palace_session

from tests.adapters.llama_index.scripted import (
    CLOCK,
    FALLBACK,
    HAIKU,
    HIT,
    LIE,
    PASS,
    UNCLEAR,
    BandPalace,
    ScriptedLLM,
    code_text,
    open_palace,
    paint_text,
)

PROGRAM = [[], [ChatMessage(role="system", content="Be kind.")]]
TEXTS = {HIT: code_text, UNCLEAR: paint_text}


def under_way(palace: BandPalace, words: str, **named: Any) -> list[ChatMessage]:
    """Return a conversation in which the model called a tool, without its question."""
    llm = PalaceLLM(ScriptedLLM(tool="clock"), palace, **named)
    first = llm.chat_with_tools([CLOCK], chat_history=[ChatMessage(words)]).message
    return [first, ChatMessage(role="tool", content="noon")]


async def goes_on(llm: PalaceLLM, way: str, said: list[ChatMessage]) -> list[ChatResponse]:
    """Return everything that is shown of the reply to messages."""
    if way in ("chat", "achat"):
        reply = getattr(llm, way)(said)
        return [await reply if way == "achat" else reply]
    if way in ("chat_with_tools", "achat_with_tools"):
        reply = getattr(llm, way)([CLOCK], chat_history=said)
        return [await reply if way == "achat_with_tools" else reply]
    if way == "stream_chat":
        return list(llm.stream_chat(said))
    return [chunk async for chunk in await llm.astream_chat(said)]


WAYS = ["chat", "achat", "chat_with_tools", "achat_with_tools", "stream_chat", "astream_chat"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("words", [HIT, UNCLEAR])
class TestATurnThatIsChecked:
    @pytest.mark.parametrize("kept", ["hash", "off"])
    @pytest.mark.parametrize("program", PROGRAM)
    async def test_whose_question_nobody_knows_any_more_ends(
        self, tmp_path, words, way, kept, program
    ):
        settings = f"journal: {{prompts: '{kept}'}}"
        with open_palace(tmp_path, settings) as first:
            cut = [*program, *under_way(first, words, session_id="s1")]
        with open_palace(tmp_path, settings) as anew:  # as another process has it
            model = ScriptedLLM(answer=LIE)
            llm = PalaceLLM(model, anew, session_id="s1")

            *_, told = await goes_on(llm, way, cut)

            assert told.message.content == FALLBACK
            assert told.additional_kwargs["palace"]["action"] == "fallback"
            assert model.calls == []

    @pytest.mark.parametrize("other", [{"session_id": "s2"}, {"project": "p2"}, {}])
    async def test_is_of_its_session_and_project(self, palace, words, way, other):
        cut = under_way(palace, words, session_id="s1", project="p1")
        model = ScriptedLLM(answer=LIE)
        llm = PalaceLLM(model, palace, **{"session_id": "s1", **other})

        *_, told = await goes_on(llm, way, cut)

        assert told.message.content == FALLBACK
        assert model.calls == []

    @pytest.mark.parametrize("kept", ["text", "off"])
    @pytest.mark.parametrize("earlier", [[], [ChatMessage("Hi."), ChatMessage("Hello.")]])
    async def test_goes_on_under_its_ruling(self, tmp_path, words, way, kept, earlier):
        with open_palace(tmp_path, f"journal: {{prompts: '{kept}'}}") as palace:
            llm = PalaceLLM(ScriptedLLM(tool="clock"), palace)
            said = [*earlier, ChatMessage(words)]
            first = llm.chat_with_tools([CLOCK], chat_history=said).message
            decided, model = len(palace.decided), ScriptedLLM()
            cut = [first, ChatMessage(role="tool", content="noon")]

            *_, told = await goes_on(PalaceLLM(model, palace), way, cut)

            assert told.message.content == f"{TEXTS[words](None)} [1]"
            assert len(palace.decided) == decided
            assert len(model.calls) == 1

    async def test_stays_checked(self, palace, words, way):
        cut = under_way(palace, words)

        for chunk in await goes_on(PalaceLLM(ScriptedLLM(answer=LIE), palace), way, cut):
            assert "9999" not in repr((chunk.message, chunk.delta, chunk.raw))


@pytest.mark.parametrize("program", PROGRAM)
@pytest.mark.parametrize("words", [HIT, UNCLEAR])
def test_the_question_stands_before_what_the_tools_answered(palace, words, program):
    """Behind their results it would be asked again, and the tools called once more."""
    model = ScriptedLLM()
    cut = [*program, *under_way(palace, words)]

    PalaceLLM(model, palace).chat_with_tools([CLOCK], chat_history=cut)

    roles = [m.role.value for m in model.calls[-1]["messages"]]
    assert roles == [*(m.role.value for m in program), "user", "assistant", "tool"]


def test_so_it_does_where_the_program_asks_it(palace):
    llm = PalaceLLM(ScriptedLLM(tool="clock"), palace)
    said = [ChatMessage(role="system", content=HIT)]
    said.append(llm.chat_with_tools([CLOCK], chat_history=list(said)).message)
    said.append(ChatMessage(role="tool", content="noon"))

    reply = llm.chat_with_tools([CLOCK], chat_history=said)

    assert reply.message.content == f"{code_text(None)} [1]"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("settings", ["", "journal: {prompts: 'off'}"])
class TestATurnThatIsNotChecked:
    async def test_goes_on_in_another_process(self, tmp_path, way, settings):
        with open_palace(tmp_path, settings) as first:
            cut = under_way(first, PASS)
        with open_palace(tmp_path, settings) as anew:
            *_, told = await goes_on(PalaceLLM(ScriptedLLM(), anew), way, cut)
            assert told.message.content == HAIKU

    async def test_so_does_what_the_memory_lacks_and_a_model_may_make_up(
        self, tmp_path, way, settings
    ):
        settings = "\n".join(["enforce: {on_miss: generate}", settings])
        with open_palace(tmp_path, settings) as first:
            cut = under_way(first, "When did we sell the lighthouse?")
            assert cut[0].additional_kwargs["palace"]["action"] == "generate"
        with open_palace(tmp_path, settings) as anew:
            *_, told = await goes_on(PalaceLLM(ScriptedLLM(), anew), way, cut)
            assert told.message.content == HAIKU


def test_what_asks_for_no_memory_alone_ends_where_its_reply_rests_on_one(palace):
    """As "And when?" does, which the journal keeps without what was said before it."""
    cut = under_way(palace, PASS)
    cut[0].additional_kwargs["palace"]["action"] = "ground"
    with open_palace(palace.root) as anew:
        reply = PalaceLLM(ScriptedLLM(answer=LIE), anew).chat(cut)
    assert reply.message.content == FALLBACK


def test_a_note_without_an_action_is_one_of_a_memory(palace):
    note = {"palace": {"id": "v-0"}}
    cut = [
        ChatMessage(role="assistant", content="", additional_kwargs=note),
        ChatMessage(role="tool", content="noon"),
    ]
    assert PalaceLLM(ScriptedLLM(answer=LIE), palace).chat(cut).message.content == FALLBACK


@pytest.mark.parametrize("note", ["ours", {"model": "m"}, {"id": None}])
def test_what_is_no_note_of_ours_changes_nothing(palace, note):
    said = ChatMessage(role="assistant", content="", additional_kwargs={"palace": note})
    cut = [said, ChatMessage(role="tool", content="noon")]
    assert PalaceLLM(ScriptedLLM(), palace).chat(cut).message.content == HAIKU


def test_a_question_in_a_picture_is_not_cut_off(palace):
    llm = PalaceLLM(ScriptedLLM(tool="clock"), palace)
    picture = ChatMessage(role="user", blocks=[ImageBlock(url="https://host.example/gate.png")])
    said = [ChatMessage(HIT), picture]
    said.append(llm.chat_with_tools([CLOCK], chat_history=list(said)).message)
    said.append(ChatMessage(role="tool", content="noon"))
    assert llm.chat(said).message.content == f"{code_text(None)} [1]"
    assert palace.decided == [HIT]


def test_a_loop_goes_on_in_another_block_of_its_session(tmp_path):
    with open_palace(tmp_path, "journal: {prompts: 'off'}") as palace:
        with palace_session("s1"):
            cut = under_way(palace, HIT)
        with palace_session("s1"):
            reply = PalaceLLM(ScriptedLLM(), palace).chat(cut)
        assert reply.message.content == f"{code_text('s1')} [1]"
