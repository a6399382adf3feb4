"""A chat model whose replies pass a gate, whichever way they come.

In: a chat model, and a subclass that prepares each call. Out: a chat model of the same abilities.
It delegates to the inner model's own generating methods, so callbacks fire once and are not told
what nobody has checked.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from pydantic import Field, model_validator

from langchain_palace.asking import stopping, unbound
from langchain_palace.gate import ChunkGate, ReplyGate
from langchain_palace.messages import chunk_of, text_of
from langchain_palace.session import known_fields
from langchain_palace.steps import Steps, arun, run
from palace import ConfigError

DESCRIPTION = "_serialized"
"""Where LangChain keeps what it tells callbacks of a model, once it is worked out."""
# What a wrapper takes over from the model it wraps, so that hosts treat it the same.
_TAKEN_OVER = (
    "profile",
    "disable_streaming",
    "output_version",
    "callbacks",
    "tags",
    "metadata",
    "verbose",
)


# Arguments of a wrapper that a host may misspell.
_OURS = ("inner", "palace", "session_id", "project")


class Prepared:
    """A model call, ready to be made, or the reply that stands in for it.

    Args:
        gate: What the reply must pass; None where nobody asked anything.
        messages: What the model is sent.
        reply: Set where the model is not called.
    """

    def __init__(
        self,
        gate: ReplyGate | None,
        messages: list[BaseMessage],
        *,
        reply: AIMessage | None = None,
    ) -> None:
        self.gate = gate
        self.messages = messages
        self.reply = reply

    @property
    def is_open(self) -> bool:
        """Whether callbacks may hear the model itself."""
        return self.gate is None or self.gate.is_open


class GatedChatModel(BaseChatModel):
    """A chat model whose replies pass a gate; subclasses say which."""

    inner: BaseChatModel = Field(exclude=True)
    inner_kwargs: dict[str, Any] = Field(default_factory=dict, exclude=True)
    # As many models have it: whether `invoke` streams, too; False where nothing may.
    streaming: bool | None = None
    # A cached answer would outlive the memory it rests on, and reach sessions that may not see it.
    cache: Any = False

    @model_validator(mode="before")
    @classmethod
    def _take_over(cls, values: Any) -> Any:
        values = known_fields(cls, values, only_like=_OURS)
        if not isinstance(values, Mapping) or "inner" not in values:
            return values
        if values.get("cache"):
            raise ConfigError(
                "a cache would answer one session with the memories of another",
                hint="leave it out: only models that hold no memories can have one",
            )
        inner, kwargs = unbound(values["inner"])
        taken = {name: getattr(inner, name) for name in _TAKEN_OVER}
        if "stream" in kwargs or "streaming" in inner.model_fields_set:
            taken["streaming"] = kwargs.get("stream", getattr(inner, "streaming", None))
        return {**taken, "inner_kwargs": kwargs, **values, "inner": inner, "cache": False}

    # -- what hosts ask of the model ---------------------------------------------------------------

    @property
    def _llm_type(self) -> str:
        return f"palace-{self.inner._llm_type}"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return self.inner._identifying_params

    @property
    def model_name(self) -> str | None:
        """Name of the inner model; hosts choose how to ask for structured output by it."""
        names = (getattr(self.inner, name, None) for name in ("model_name", "model", "model_id"))
        return next((name for name in names if isinstance(name, str)), None)

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        stop, kwargs = stopping(stop, {**self.inner_kwargs, **kwargs})
        return self.inner._get_ls_params(stop=stop, **kwargs)

    def _combine_llm_outputs(self, llm_outputs: list[dict[str, Any] | None], /) -> dict[str, Any]:
        told: list[dict[str, Any] | None] = [output for output in llm_outputs if output]
        return self.inner._combine_llm_outputs(told) if told else {}

    def get_token_ids(self, text: str) -> list[int]:
        """Return the token ids of a text as the inner model counts them."""
        return self.inner.get_token_ids(text)

    def get_num_tokens(self, text: str) -> int:
        """Return the length of a text in tokens of the inner model."""
        return self.inner.get_num_tokens(text)

    def get_num_tokens_from_messages(self, *args: Any, **kwargs: Any) -> int:
        """Return the length of messages in tokens of the inner model."""
        return self.inner.get_num_tokens_from_messages(*args, **kwargs)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: Any = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools as the inner model does."""
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        model, bound = unbound(self.inner.bind_tools(tools, **kwargs))
        update = {"inner": model, **self._bound_update(tools, tool_choice)}
        with_tools = self.model_copy(update=update)
        vars(with_tools).pop(DESCRIPTION, None)  # that of a model without them
        return with_tools.bind(**bound)

    def _bound_update(self, tools: Sequence[Any], tool_choice: object) -> dict[str, Any]:  # noqa: ARG002 - for subclasses
        return {}

    # -- making calls ------------------------------------------------------------------------------

    @abstractmethod
    def _prepare(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Mapping[str, Any]
    ) -> Steps[Prepared]:
        """Return the call to make, or the reply that stands in for it."""

    def _telling(self, prepared: Prepared) -> AbstractContextManager[None]:  # noqa: ARG002 - for subclasses
        """Return what to do while the inner model is called."""
        return nullcontext()

    @abstractmethod
    def _finish(self, prepared: Prepared) -> Steps[None]:
        """Do what is left when a reply has passed."""

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        stop, kwargs = stopping(stop, {**self.inner_kwargs, **kwargs})
        prepared = run(self._prepare(messages, stop, kwargs))
        if prepared.reply is not None:
            return _result(prepared.reply)
        self._wait()
        heard = run_manager if prepared.is_open else None
        with self._telling(prepared):
            result = self.inner._generate(prepared.messages, stop=stop, run_manager=heard, **kwargs)
        if prepared.gate is not None:
            result = prepared.gate.result(result)
            run(self._finish(prepared))
        return result

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        stop, kwargs = stopping(stop, {**self.inner_kwargs, **kwargs})
        prepared = await arun(self._prepare(messages, stop, kwargs))
        if prepared.reply is not None:
            return _result(prepared.reply)
        await self._await()
        heard = run_manager if prepared.is_open else None
        with self._telling(prepared):
            result = await self.inner._agenerate(
                prepared.messages, stop=stop, run_manager=heard, **kwargs
            )
        if prepared.gate is not None:
            result = prepared.gate.result(result)
            await arun(self._finish(prepared))
        return result

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - whoever streams tells the callbacks
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        stop, kwargs = stopping(stop, {**self.inner_kwargs, **kwargs})
        prepared = run(self._prepare(messages, stop, kwargs))
        if prepared.reply is not None:
            yield _only_chunk(prepared.reply)
            return
        self._wait()
        chunks = _inner_chunks(self.inner, prepared.messages, stop, kwargs)
        if prepared.gate is None:
            yield from chunks
            return
        gate = prepared.gate.stream()
        with self._telling(prepared):
            for chunk in chunks:
                yield from gate.feed(chunk)
        yield from gate.close()
        run(self._finish(prepared))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - whoever streams tells the callbacks
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        stop, kwargs = stopping(stop, {**self.inner_kwargs, **kwargs})
        prepared = await arun(self._prepare(messages, stop, kwargs))
        if prepared.reply is not None:
            yield _only_chunk(prepared.reply)
            return
        await self._await()
        gate: ChunkGate | None = prepared.gate.stream() if prepared.gate else None
        with self._telling(prepared):
            async for chunk in _inner_achunks(self.inner, prepared.messages, stop, kwargs):
                for passed in gate.feed(chunk) if gate else [chunk]:
                    yield passed
        if gate is not None:
            for passed in gate.close():
                yield passed
            await arun(self._finish(prepared))

    def _wait(self) -> None:
        if self.inner.rate_limiter:
            self.inner.rate_limiter.acquire(blocking=True)

    async def _await(self) -> None:
        if self.inner.rate_limiter:
            await self.inner.rate_limiter.aacquire(blocking=True)


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


def _only_chunk(message: AIMessage) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=chunk_of(message))


def _streams(
    model: BaseChatModel, kwargs: Mapping[str, Any], which: Literal["sync", "any"]
) -> bool:
    own = type(model)
    sync = own._stream is not BaseChatModel._stream
    any_of_both = sync or own._astream is not BaseChatModel._astream
    if model.disable_streaming is True or (
        model.disable_streaming == "tool_calling" and kwargs.get("tools")
    ):
        return False
    return sync if which == "sync" else any_of_both


def _inner_chunks(
    model: BaseChatModel,
    messages: list[BaseMessage],
    stop: list[str] | None,
    kwargs: Mapping[str, Any],
) -> Iterator[ChatGenerationChunk]:
    if _streams(model, kwargs, "sync"):
        yield from model._stream(messages, stop=stop, **kwargs)
        return
    result = model._generate(messages, stop=stop, **kwargs)
    yield _chunk_of_result(result)


async def _inner_achunks(
    model: BaseChatModel,
    messages: list[BaseMessage],
    stop: list[str] | None,
    kwargs: Mapping[str, Any],
) -> AsyncIterator[ChatGenerationChunk]:
    if _streams(model, kwargs, "any"):
        async for chunk in model._astream(messages, stop=stop, **kwargs):
            yield chunk
        return
    yield _chunk_of_result(await model._agenerate(messages, stop=stop, **kwargs))


def _chunk_of_result(result: ChatResult) -> ChatGenerationChunk:
    generation = result.generations[0]
    message = generation.message
    whole = message if isinstance(message, AIMessage) else AIMessage(text_of(message))
    info = generation.generation_info
    return ChatGenerationChunk(message=chunk_of(whole), generation_info=info)
