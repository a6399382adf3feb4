"""What of a model's words gets out, and when."""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms.llm import ToolSelection
from llama_index_palace import PalaceLLM
from llama_index_palace.questions import Asked
from llama_index_palace.replies import Chunks, Said, Screen

from palace import AnswerCheck, Evidence
from tests.adapters.llama_index.scripted import CLOCK, HIT, LIE, UNCLEAR, ScriptedLLM, code_text

TEXT = "The harbour gate code is 4711."
EVIDENCE = Evidence("m-1", TEXT, "L1", "rooms/harbour/code.md:1")


def check() -> AnswerCheck:
    return AnswerCheck((EVIDENCE,), HIT)


def screened(text: str, *, reasoning: bool = False, size: int = 7) -> tuple[str, Screen]:
    """Return what a stream in pieces of `size` characters showed."""
    screen = Screen(check(), Asked(HIT, reasoning=reasoning), TEXT)
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    shown = "".join(screen.feed("", piece) for piece in pieces)
    return shown + screen.close(), screen


class TestPieces:
    def test_a_sentence_is_released_when_it_is_verified_not_at_the_end(self, palace):
        first = f"{code_text(None)} [1]"
        model = ScriptedLLM(answer=f"{first} So the code of the harbour gate is 4711-all. [1]")
        said = [ChatMessage(role="user", content=HIT)]
        deltas = [c.delta for c in PalaceLLM(model, palace).stream_chat(said)]
        assert "".join(deltas).startswith(first)
        assert len([d for d in deltas if d]) >= 2

    @pytest.mark.parametrize("size", [1, 7, 1000])
    def test_pieces_do_not_matter(self, size):
        assert screened(f"{TEXT} [1]", size=size)[0] == f"{TEXT} [1]"
        assert "9999" not in screened(f"{TEXT} [1] {LIE}", size=size)[0]

    def test_whole_texts_and_pieces_are_told_apart(self):
        screen = Screen(check(), Asked(HIT), TEXT)
        seen, shown = "", ""
        for word in TEXT.split(" "):
            seen = f"{seen} {word}".strip()
            shown += screen.feed(seen, None)  # a model that gives no delta
        assert shown + screen.close() == TEXT

    def test_a_piece_may_begin_like_what_was_said(self):
        said = Said()
        for piece in ("1", "11", "1"):
            assert said.add(piece, piece) == piece
        assert said.text == "1111"

    def test_words_beside_a_tool_call_are_dropped(self):
        screen = Screen(check(), Asked(HIT), TEXT)
        screen.feed(LIE, None)
        assert screen.close([ToolSelection(tool_id="1", tool_name="clock", tool_kwargs={})]) == ""
        assert screen.checked is None


@pytest.mark.parametrize("size", [1, 7, 1000])
class TestReasoning:
    @pytest.mark.parametrize(
        "text",
        [
            f"Thought: {LIE}\nAnswer: {TEXT}",
            f"Thought: x\nAnswer: {TEXT}",
            TEXT,
            f"Answer: {TEXT}",
        ],
    )
    def test_only_the_answer_gets_out(self, text, size):
        shown, screen = screened(text, reasoning=True, size=size)
        assert "9999" not in shown
        step = ReActOutputParser().parse(shown)
        assert (step.is_done, step.response) == (True, TEXT)
        assert screen.released == shown
        assert screen.checked is not None

    @pytest.mark.parametrize(
        "text",
        [
            f"Thought: x\nAnswer: {LIE}",
            LIE,
            f"Thought: {LIE}",
            f"Thought: x\nAction: {LIE}",
            f"Answer: {TEXT}\nAction: x\nAction Input: {{}}\nAnswer: {LIE}",
        ],
    )
    def test_a_lie_does_not(self, text, size):
        shown, screen = screened(text, reasoning=True, size=size)
        assert "9999" not in shown + screen.released
        assert ReActOutputParser().parse(shown).is_done

    def test_a_step_is_for_the_host_alone_and_without_its_thought(self, size):
        text = f'Thought: {LIE}\nAction: clock\nAction Input: {{"zone": "UTC"}}'
        shown, screen = screened(text, reasoning=True, size=size)
        step = ReActOutputParser().parse(screen.released)
        assert (step.action, step.action_input) == ("clock", {"zone": "UTC"})
        assert shown == ""
        assert "9999" not in screen.released
        assert screen.checked is None


class Tier(Enum):
    """A word of a provider's; a member holds its class, which holds its members."""

    STANDARD = "standard"


class Details:
    def __init__(self) -> None:
        self.cached_tokens = 3
        self.note = LIE
        self.tier = Tier.STANDARD
        self.whole = self


MADE = {"id": "r-1", "model": "vendor/m:7b", "status": LIE, "stop_reason": None, "text": "9999"}


class Counting(ScriptedLLM):
    """Tells what its replies cost, as providers do: beside the reply, and in its raw form."""

    COUNTS: ClassVar = {"prompt_tokens": 5, "completion_tokens": 7}

    def _counted(self, response: Any) -> Any:
        usage = {**self.COUNTS, "details": Details(), "tier": Tier.STANDARD}
        raw = {**MADE, "choices": [{"finish_reason": "stop", "text": LIE}, LIE], "usage": usage}
        extra = {**self.COUNTS, "said": LIE, "cut": True, "parsed": {"code": 9999}}
        return response.model_copy(update={"raw": raw, "additional_kwargs": extra})

    def chat(self, messages: Any, **kwargs: Any) -> Any:
        return self._counted(super().chat(messages, **kwargs))

    def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
        return map(self._counted, super().stream_chat(messages, **kwargs))

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return self._counted(super().complete(prompt, formatted, **kwargs))


@pytest.mark.parametrize("words", [HIT, UNCLEAR])
class TestUsage:
    """What a checked reply cost is told as the model told it, and none of its words are."""

    def told(self, reply: Any) -> None:
        kept = {k: v for k, v in reply.additional_kwargs.items() if k != "palace"}
        assert kept == Counting.COUNTS
        usage = {**Counting.COUNTS, "details": {"cached_tokens": 3}}
        choices = [{"finish_reason": "stop"}, {}]
        assert reply.raw == {
            "id": "r-1",
            "model": "vendor/m:7b",
            "choices": choices,
            "usage": usage,
        }

    def test_of_a_reply(self, palace, words):
        llm = PalaceLLM(Counting(), palace)
        self.told(llm.chat([ChatMessage(role="user", content=words)]))
        self.told(llm.complete(words))

    def test_of_a_stream(self, palace, words):
        *_, last = PalaceLLM(Counting(), palace).stream_chat([ChatMessage(words)])
        self.told(last)

    def test_of_a_tool_call(self, palace, words):
        llm = PalaceLLM(Counting(tool="clock", chatter=LIE), palace)
        reply = llm.chat_with_tools([CLOCK], user_msg=words)
        assert llm.get_tool_calls_from_response(reply)
        self.told(reply)


class Reason(Enum):
    STOP = "STOP"
    OTHER = 0


class Candidate:
    """A part of a reply as an object, as some clients have it."""

    def __init__(self) -> None:
        self.finish_reason = Reason.STOP
        self.content = LIE


class TestHowAReplyWasMade:
    """Which reply it is, of which model, and why it ended: what providers tell as names."""

    def told(self, raw: Any, *further: Any) -> Any:
        chunks: Chunks[Any] = Chunks(None, None)
        for one in (raw, *further):
            chunks._note(ChatResponse(message=ChatMessage("assistant"), raw=one))
        return chunks.spent.raw

    @pytest.mark.parametrize(
        "made",
        [
            {"id": "msg_1", "model": "m-1", "stop_reason": "end_turn"},
            {"model": "m:7b", "done_reason": "length"},
            {"id": "resp_1", "model": "m-1", "status": "completed"},
            {"response_id": "x", "model_version": "models/m-1", "finish_reason": "MAX_TOKENS"},
            {"stopReason": "tool_use"},
        ],
    )
    def test_is_told_as_the_provider_does(self, made):
        words = {"content": LIE, "response": LIE, "output_text": "9999", "parsed": 9999}
        assert self.told({**made, **words}) == made
        assert self.told(SimpleNamespace(**made, **words)) == made

    def test_is_told_of_parts(self):
        told = {"candidates": [{"finish_reason": "STOP"}]}
        assert self.told({"candidates": [Candidate()]}) == told
        assert self.told({"candidates": (Candidate(),)}) == told

    @pytest.mark.parametrize("name", ["id", "model", "finish_reason", "status"])
    @pytest.mark.parametrize("value", [LIE, "", None, 9999, True, ["x"], Reason.OTHER, "x" * 201])
    def test_is_a_name_and_no_sentence(self, name, value):
        assert self.told({name: value}) is None
        assert self.told({"choices": [{name: value}]}) is None

    @pytest.mark.parametrize("raw", [None, LIE, [LIE], {"choices": LIE}, {"choices": {"a": LIE}}])
    def test_is_not_there_where_nobody_tells_it(self, raw):
        assert self.told(raw) is None

    def test_is_told_by_a_stream_bit_by_bit(self):
        first = {"id": "r-1", "choices": [{"finish_reason": None}]}
        ended = {"id": "r-1", "choices": [{"finish_reason": "stop"}]}
        usage = {"id": "r-1", "choices": [], "usage": {"total_tokens": 3}}
        assert self.told(first, ended, usage) == {**ended, "usage": {"total_tokens": 3}}
