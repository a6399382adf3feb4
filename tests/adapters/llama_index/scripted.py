"""A model that does what it is told and counts its calls, and a palace with one answer to each kind of question."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool

from palace import DECLINE_TOKEN, Evidence, LayerReport, Mempalace, Query, RecallSignal, Turn
from palace.enforce.enforcer import Enforcement

HIT = "What is the code of the harbour gate?"
UNCLEAR = "Who paints the harbour gate?"
MISS = "When did we sell the lighthouse?"
PASS = "Write a haiku about rain."
LIE = "The code is 9999, Captain Zork said so on 3 May 1977."
FALLBACK = "I don't have this in my memory palace."
HAIKU = "Soft rain on the roof."
CLOCK = FunctionTool.from_defaults(fn=lambda: "noon", name="clock", description="Time.")


def code_text(session: str | None) -> str:
    return f"The harbour gate code is 4711-{session or 'all'}."


def paint_text(session: str | None) -> str:
    return f"Every spring the harbour gate is painted by Ruth, team {session or 'all'}."


def other_text(session: str | None) -> str:
    return f"The harbour gate was built in 1888 for quay {session or 'all'}."


class Found(BaseRetriever):
    """Finds the same texts whatever it is asked, as a person's own documents."""

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self.asked: list[QueryBundle] = []
        self.nodes = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in texts]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle)
        return self.nodes


class BandDetector:
    """Recall is whatever asks about gate, paint or lighthouse, anywhere in the prompt."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    def detect(self, turn: Turn, query: Query) -> RecallSignal:
        self.turns.append(turn)
        recall = any(w in turn.prompt for w in ("code of the", "Who paints", "sell the lighthouse"))
        band = "recall" if recall else "other"
        return RecallSignal("fact", 0.9 if recall else 0.1, band=band)


class BandLayer:
    """Knows the code for sure and the painter by hearsay, each in the session's own words."""

    name = "L1"

    def gather(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport:
        if "code of the" in turn.prompt:
            found = (_evidence("code", code_text(turn.session_id), 0.95),)
            return LayerReport("L1", "sufficient", 1, 0.95, evidence=found)
        if "Who paints" in turn.prompt:
            texts = (paint_text(turn.session_id), other_text(turn.session_id))
            found = tuple(_evidence(f"near{n}", t, 0.4 - n / 10) for n, t in enumerate(texts))
            return LayerReport("L1", "unclear", 2, 0.4, evidence=found)
        return LayerReport("L1", "none", 0)


def _evidence(name: str, text: str, confidence: float) -> Evidence:
    return Evidence(f"m-{name}", text, "L1", f"rooms/harbour/{name}.md:1", confidence=confidence)


class BandPalace(Mempalace):
    """A real palace whose detector and layers are doubles."""

    @cached_property
    def detector(self) -> BandDetector:
        return BandDetector()

    @property
    def enforcement(self) -> Enforcement:
        return replace(super().enforcement, detector=self.detector, layers=(BandLayer(),))

    @property
    def decided(self) -> list[str]:
        return [turn.prompt for turn in self.detector.turns]


def open_palace(root: Path, settings: str = "") -> BandPalace:
    config = root / "config" / "mempalace.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(settings, encoding="utf-8")
    return BandPalace.open(root)


_ITEM = re.compile(r"^\[(\d+)\] .*\n((?:  .*\n?)+)", re.MULTILINE)


def shown_items(text: str) -> list[str]:
    """Return the memories of a `<memory-context>` block, in order."""
    return [" ".join(body.split()) for _, body in _ITEM.findall(text)]


def is_quote_call(text: str) -> bool:
    return "Point to the memory item" in text


Quote = Callable[[list[str]], dict[str, Any] | str]
QUOTES: dict[str, Quote] = {
    "honest": lambda items: {"memory": 1, "quote": items[0], "answer": items[0]},
    "declines": lambda items: {"memory": None, "quote": "", "answer": ""},
    "invents": lambda items: {"memory": 1, "quote": "painted by Captain Zork", "answer": LIE},
    "digit": lambda items: {
        "memory": 2,
        "quote": items[-1].replace("1888", "1889"),
        "answer": LIE,
    },
    "wrong memory": lambda items: {"memory": 2, "quote": items[0], "answer": LIE},
    "ignores": lambda items: LIE,
    "quotes, then lies": lambda items: {"memory": 1, "quote": items[0], "answer": LIE},
}


class ScriptedLLM(FunctionCallingLLM):
    """Replies from a script: `quote` to the quote contract, `answer` to everything else.

    `answer` "honest" repeats what it was shown with a citation, or writes a haiku; other text is
    said as it is. With `tool` set, it calls that tool first in every turn. `words` is called with
    the text of a reasoning host to give a whole ReAct step.
    """

    quote: str = "honest"
    answer: str = "honest"
    tool: str = ""
    tool_arguments: dict[str, Any] = {}
    chatter: str = ""
    functions: bool = True
    chats: bool = True
    context_window: int = 100_000
    _calls: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    @classmethod
    def class_name(cls) -> str:
        return "scripted"

    @property
    def calls(self) -> list[dict[str, Any]]:
        return self._calls

    @property
    def prompts(self) -> list[str]:
        return [call["text"] for call in self._calls]

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            is_function_calling_model=self.functions,
            is_chat_model=self.chats,
            model_name="scripted",
            context_window=self.context_window,
        )

    # -- the script ----------------------------------------------------------------------------

    def _say(self, messages: Sequence[ChatMessage], tools: Sequence[Any] = ()) -> ChatMessage:
        text = "\n".join(f"{m.role.value}: {m.content}" for m in messages)
        names = [t.metadata.name for t in tools]
        kwargs = [dict(m.additional_kwargs) for m in messages]
        self._calls.append({"text": text, "tools": names, "kwargs": kwargs, "messages": messages})
        last = next((m for m in reversed(messages) if m.role.value == "user"), messages[-1])
        if is_quote_call(last.content or ""):
            return self._point(last.content or "", names)
        after = messages[list(messages).index(last) + 1 :]
        done = any(m.role.value == "tool" for m in after) or _is_observation(last)
        if self.tool in names and not done:
            return _tool_call(self.tool, self.tool_arguments, self.chatter)
        if names and not self.tool and names[0][:1].isupper():  # an output class
            return _tool_call(names[0], self.tool_arguments, self.chatter)
        return ChatMessage(role="assistant", content=self._words(text, done))

    def _point(self, text: str, names: Sequence[str]) -> ChatMessage:
        reply = QUOTES[self.quote](shown_items(text))
        if isinstance(reply, str):
            return ChatMessage(role="assistant", content=reply)
        if "point_to_memory" in names:
            return _tool_call("point_to_memory", reply, "")
        return ChatMessage(role="assistant", content=json.dumps(reply))

    def _words(self, text: str, done: bool) -> str:
        if "Action Input:" in text and not self.functions:
            if self.tool and not done:
                arguments = json.dumps(self.tool_arguments)
                thought = self.chatter or "I will look."
                return f"Thought: {thought}\nAction: {self.tool}\nAction Input: {arguments}"
            return f"Thought: {self.chatter or 'I know.'}\nAnswer: {self._answer(text)}"
        return self._answer(text)

    def _answer(self, text: str) -> str:
        if self.answer == "declines":
            return DECLINE_TOKEN
        if self.answer != "honest":
            return self.answer
        items = shown_items(text)
        return f"{items[0]} [1]" if "Answer the question below from the memory" in text else HAIKU

    # -- the eight calls -----------------------------------------------------------------------

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        message = self._say(messages, kwargs.get("tools") or ())
        return ChatResponse(message=message, raw={"said": message.content})

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self.chat(messages, **kwargs)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        message = self._say(messages, kwargs.get("tools") or ())

        def chunks() -> ChatResponseGen:
            said = ""
            for piece in re.findall(r"\s*\S+", message.content or ""):
                said += piece
                part = ChatMessage(role="assistant", content=said)
                yield ChatResponse(message=part, delta=piece, raw={"said": said})
            if message.additional_kwargs or not said:
                yield ChatResponse(message=message, delta="")

        return chunks()

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        source = self.stream_chat(messages, **kwargs)

        async def chunks() -> ChatResponseAsyncGen:
            for chunk in source:
                yield chunk

        return chunks()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        message = self._say([ChatMessage(role="user", content=prompt)])
        return CompletionResponse(text=message.content or "")

    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        return self.complete(prompt, formatted, **kwargs)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        source = self.stream_chat([ChatMessage(role="user", content=prompt)])

        def chunks() -> CompletionResponseGen:
            for chunk in source:
                yield CompletionResponse(text=chunk.message.content or "", delta=chunk.delta)

        return chunks()

    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        source = self.stream_complete(prompt, formatted, **kwargs)

        async def chunks() -> CompletionResponseAsyncGen:
            for chunk in source:
                yield chunk

        return chunks()

    # -- functions -----------------------------------------------------------------------------

    def _prepare_chat_with_tools(
        self,
        tools: Sequence[Any],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        said = list(chat_history or ())
        if user_msg is not None:
            said.append(
                user_msg
                if isinstance(user_msg, ChatMessage)
                else ChatMessage(role="user", content=user_msg)
            )
        return {"messages": said, "tools": list(tools)}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        calls = response.message.additional_kwargs.get("tool_calls", [])
        if not calls and error_on_no_tool_call:
            raise ValueError(f"no tool call: {response.message.content}")
        return [
            ToolSelection(tool_id=c["id"], tool_name=c["name"], tool_kwargs=c["arguments"])
            for c in calls
        ]


def _is_observation(message: ChatMessage) -> bool:
    return (message.content or "").startswith("Observation: ")


def _tool_call(name: str, arguments: dict[str, Any], chatter: str) -> ChatMessage:
    call = {"id": uuid.uuid4().hex, "name": name, "arguments": arguments}
    return ChatMessage(
        role="assistant", content=chatter or None, additional_kwargs={"tool_calls": [call]}
    )
