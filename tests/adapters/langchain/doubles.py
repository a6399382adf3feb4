"""A scripted chat model that counts its calls, and personas for it: honest ones and liars."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field, PrivateAttr

from palace import DECLINE_TOKEN, QUOTE_SCHEMA, Mempalace

HIT = "When did we ship version 4.1.0?"
HIT_TEXT = "We shipped version 4.1.0 on 2026-03-02."
UNCLEAR = "What did we decide about the colour of the dashboard?"
UNCLEAR_TEXT = "Alice prefers the blue theme for the dashboard."
MISS = "Which name did we give to the grey cat of my grandmother?"
PASS = "Write a haiku about rain."
FALLBACK = "I don't have this in my memory palace."
IDENTITY = "I am Robin, keeper of the staging systems."
CHAT = "Rain falls on the quiet pond."

USAGE = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
_ITEM = re.compile(r"^\[(\d+)\] [^\n]*\n((?:  [^\n]*\n?)+)", re.MULTILINE)
Persona = Callable[["Asked"], AIMessage | str]


def stock(palace: Mempalace) -> None:
    """Give a palace what the prompts above are about."""
    palace.remember(HIT_TEXT, room="releases", drawer="log")
    palace.remember("The staging database listens on port 5432.", room="infra")
    palace.remember(UNCLEAR_TEXT, room="people", kind="preference")
    palace.remember("Deploys run from main with make deploy.", room="infra", drawer="deploys")


def weather(city: str) -> str:
    """Get the weather of a city."""
    return f"It rains in {city}."


class Shipped(BaseModel):
    """When something was shipped."""

    date: str


def session(name: str) -> dict[str, Any]:
    """Return the config of a call in a session."""
    return {"configurable": {"session_id": name}}


async def out_of(host: Any, way: str, given: Any, config: Any = None) -> Any:
    """Ask a host in one of its ways; return what it says, its chunks added up."""
    if way == "invoke":
        return host.invoke(given, config)
    if way == "ainvoke":
        return await host.ainvoke(given, config)
    if way == "batch":
        return host.batch([given], config)[0]
    if way == "abatch":
        return (await host.abatch([given], config))[0]
    if way == "stream":
        return reduce(add, host.stream(given, config))
    return reduce(add, [chunk async for chunk in host.astream(given, config)])


class Asked:
    """What a model is asked, as a persona sees it."""

    def __init__(self, messages: Sequence[BaseMessage], kwargs: dict[str, Any]) -> None:
        self.messages = list(messages)
        self.kwargs = kwargs

    @property
    def text(self) -> str:
        """Everything in the last message of a person."""
        return next((str(m.text) for m in reversed(self.messages) if m.type == "human"), "")

    @property
    def everything(self) -> str:
        return "\n".join(f"{m.type}: {m.content} {m.additional_kwargs}" for m in self.messages)

    @property
    def items(self) -> list[str]:
        """The numbered memories in the person's message."""
        return [
            " ".join(line.strip() for line in found[1].splitlines()).strip()
            for found in _ITEM.findall(self.text)
        ]

    @property
    def tools(self) -> list[str]:
        return [convert_to_openai_tool(t)["function"]["name"] for t in self.kwargs.get("tools", [])]

    @property
    def is_pointing(self) -> bool:
        """Whether the quote contract is in force."""
        return "QUOTE: " in self.text

    @property
    def is_after_tool(self) -> bool:
        return bool(self.messages) and self.messages[-1].type == "tool"


class CountingModel(BaseChatModel):
    """Says what its persona says; remembers every call it got."""

    persona: Any = Field(exclude=True)
    model: str = "scripted-1"
    has_tools: bool = True
    streams: bool = True
    _asked: list[Asked] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def asked(self) -> list[Asked]:
        """Every call, copies of this model included."""
        return self._asked

    @property
    def calls(self) -> int:
        return len(self._asked)

    def _say(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> AIMessage:
        asked = Asked(messages, kwargs)
        with self._lock:
            self._asked.append(asked)
        said = self.persona(asked)
        if isinstance(said, str):
            said = AIMessage(said)
        return said.model_copy(update={"usage_metadata": USAGE})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = self._say(messages, _with_stop(kwargs, stop))
        info = {"finish_reason": "stop", "model_name": self.model}
        return ChatResult(generations=[ChatGeneration(message=message, generation_info=info)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in chunks_of(self._say(messages, _with_stop(kwargs, stop))):
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in chunks_of(self._say(messages, _with_stop(kwargs, stop))):
            yield ChatGenerationChunk(message=chunk)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        if not self.has_tools:
            raise NotImplementedError
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)


class WholeModel(CountingModel):
    """The same, without streaming: everything comes whole."""

    def _should_stream(self, **kwargs: Any) -> bool:
        return False


class SelfBindingModel(CountingModel):
    """A model whose `bind_tools` returns itself, as fakes do."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self


def _with_stop(kwargs: dict[str, Any], stop: list[str] | None) -> dict[str, Any]:
    return {**kwargs, "stop": stop} if stop else kwargs


def chunks_of(message: AIMessage) -> list[AIMessageChunk]:
    """Cut a message into chunks of a word each, then calls, then usage."""
    parts = message.content if isinstance(message.content, list) else [message.content]
    chunks: list[AIMessageChunk] = []
    for part in parts:
        if isinstance(part, str):
            words = re.findall(r"\S+\s*|\s+", part)
            chunks += [AIMessageChunk(word) for word in words]
        elif part.get("type") == "text":
            words = re.findall(r"\S+\s*|\s+", part["text"])
            chunks += [AIMessageChunk([{"type": "text", "text": w, "index": 0}]) for w in words]
        else:
            chunks.append(AIMessageChunk([part]))
    for index, call in enumerate(message.tool_calls):
        piece = {
            "name": call["name"],
            "args": json.dumps(call["args"]),
            "id": call["id"],
            "index": index,
            "type": "tool_call_chunk",
        }
        chunks.append(AIMessageChunk("", tool_call_chunks=[piece]))
    chunks.append(AIMessageChunk("", usage_metadata=message.usage_metadata, chunk_position="last"))
    if message.additional_kwargs:
        chunks[0] = chunks[0].model_copy(
            update={"additional_kwargs": dict(message.additional_kwargs)}
        )
    return chunks


def calling(name: str, arguments: dict[str, Any], *, text: str = "", id: str = "c1") -> AIMessage:
    """Return a message that calls one tool."""
    call = {"name": name, "args": arguments, "id": id, "type": "tool_call"}
    return AIMessage(text, tool_calls=[call])


def pointing(
    asked: Asked, memory: int | None, quote: str = "", answer: str = ""
) -> AIMessage | str:
    """Return a reply under the quote contract, by tool where there is one."""
    if QUOTE_SCHEMA["name"] in asked.tools:
        arguments = {"memory": memory, "quote": quote, "answer": answer}
        return calling(QUOTE_SCHEMA["name"], arguments)
    if memory is None:
        return DECLINE_TOKEN
    return f"MEMORY: {memory}\nQUOTE: {quote}\nANSWER: {answer}"


def honest(asked: Asked) -> AIMessage | str:
    """Point to the first memory, repeat it when it is given, chat otherwise."""
    if asked.is_pointing:
        return pointing(asked, 1, asked.items[0], asked.items[0])
    if "Answer the question below from the memory items" in asked.text and asked.items:
        return f"{asked.items[0]} [1]"
    return CHAT


def saying(name: str, **values: Any) -> CountingModel:
    """Return a model that points honestly, and calls a tool with values otherwise."""

    def persona(asked: Asked) -> AIMessage | str:
        return honest(asked) if asked.is_pointing else calling(name, values)

    return CountingModel(persona=persona)


def failing(times: int) -> Persona:
    """Fail so many times, as a server that cannot be reached, then be honest."""
    left = iter(range(times))

    def persona(asked: Asked) -> AIMessage | str:
        if next(left, None) is not None:
            raise ConnectionError
        return honest(asked)

    return persona


def flaky(then: Persona, times: float = 1) -> Persona:
    """Fail so many of the host's own calls; those that point do not count."""
    left = times

    def persona(asked: Asked) -> AIMessage | str:
        nonlocal left
        if left and not asked.is_pointing:
            left -= 1
            raise ConnectionError("the line is down")
        return then(asked)

    return persona


def declining(asked: Asked) -> AIMessage | str:
    """Decline wherever the contract lets one."""
    return pointing(asked, None) if asked.is_pointing else DECLINE_TOKEN


# What is said to each prompt in the end, and how many calls of a model that takes.
TOLD = {
    PASS: (CHAT, 1),
    HIT: (f"{HIT_TEXT} [1]", 1),
    UNCLEAR: (f"{UNCLEAR_TEXT} [1]", 2),
    MISS: (FALLBACK, 0),
}


LIE = "The secret launch code is 80085 and Mallory keeps it in /etc/lies."


def inventing_quotes(asked: Asked) -> AIMessage | str:
    return pointing(asked, 1, LIE, LIE) if asked.is_pointing else LIE


def changing_digits(asked: Asked) -> AIMessage | str:
    words = asked.items[0] if asked.items else LIE
    wrong = re.sub(r"\d", "7", words) if re.search(r"[0-689]", words) else f"{words} 80085"
    return pointing(asked, 1, wrong, wrong) if asked.is_pointing else wrong


def quoting_another(asked: Asked) -> AIMessage | str:
    return pointing(asked, 99, asked.items[0], LIE) if asked.is_pointing else LIE


def ignoring(asked: Asked) -> AIMessage | str:
    return LIE


def lying_after_a_true_quote(asked: Asked) -> AIMessage | str:
    return pointing(asked, 1, asked.items[0], LIE) if asked.is_pointing else LIE


def chatting_beside_calls(asked: Asked) -> AIMessage | str:
    """Lie in the text beside a tool call, in reasoning, and in extras."""
    if asked.is_pointing:
        return pointing(asked, 1, asked.items[0], LIE)
    free = [name for name in asked.tools if name != QUOTE_SCHEMA["name"]]
    if free and not asked.is_after_tool:
        return calling(free[0], {"city": "Rome"}, text=LIE)
    return AIMessage(LIE, additional_kwargs={"reasoning_content": LIE})


LIARS: tuple[Persona, ...] = (
    inventing_quotes,
    changing_digits,
    quoting_another,
    ignoring,
    lying_after_a_true_quote,
    chatting_beside_calls,
)


def calling_once(name: str, arguments: dict[str, Any], then: Persona = honest) -> Persona:
    """Return a persona that calls a tool before it says what another one says."""

    def persona(asked: Asked) -> AIMessage | str:
        if asked.is_pointing or asked.is_after_tool or name not in asked.tools:
            return then(asked)
        return calling(name, arguments)

    return persona


class Recorder:
    """Counts what callbacks are told. Use `handler()`."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.tokens: list[str] = []

    def handler(self) -> Any:
        from langchain_core.callbacks import BaseCallbackHandler

        recorder = self

        class Handler(BaseCallbackHandler):
            def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
                recorder.events.append("model_start")

            def on_llm_new_token(self, token: str, **kwargs: Any) -> None:
                recorder.tokens.append(token if isinstance(token, str) else str(token))

            def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
                recorder.events.append("model_end")

            def on_llm_error(self, *args: Any, **kwargs: Any) -> None:
                recorder.events.append("model_error")

            def on_retriever_start(self, *args: Any, **kwargs: Any) -> None:
                recorder.events.append("retriever_start")

            def on_retriever_end(self, documents: Any, **kwargs: Any) -> None:
                recorder.events.append(f"retriever_end:{len(documents)}")

            def on_retriever_error(self, *args: Any, **kwargs: Any) -> None:
                recorder.events.append("retriever_error")

        return Handler()
