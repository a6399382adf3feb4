"""A chat model whose replies pass a gate, whichever way they come.

In: a chat model, and a subclass that prepares each call. Out: a chat model of the same abilities.
It delegates to the inner model's own generating methods, so callbacks fire once and are not told
what nobody has checked.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from pydantic import Field, model_validator

from langchain_palace.asking import stopping, unbound, waiting
from langchain_palace.gate import ReplyGate
from langchain_palace.messages import chunk_of, text_of
from langchain_palace.session import known_fields
from palace import ConfigError, hosting

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
_OURS = ("inner", "palace", "session_id", "project", "direct_tools", "model_tools")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A model call, ready to be made, or the reply that stands in for it.

    Attributes:
        gate: What the reply must pass; None where nobody asked anything.
        messages: What the model is sent.
        reply: Set where the model is not called.
    """

    gate: ReplyGate | None
    messages: list[BaseMessage]
    reply: AIMessage | None = None

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
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        run_manager: Any,
        kwargs: Mapping[str, Any],
    ) -> hosting.Steps[Prepared]:
        """Return the call to make, or the reply that stands in for it.

        Args:
            messages: The conversation.
            stop: Where the call is to stop.
            run_manager: What callbacks hear of it with, None where that is not told.
            kwargs: Its other arguments.
        """

    def _telling(self, prepared: Prepared) -> AbstractContextManager[None]:  # noqa: ARG002 - for subclasses
        """Return what to do while the inner model is called."""
        return nullcontext()

    @abstractmethod
    def _finish(self, prepared: Prepared) -> hosting.Steps[None]:
        """Do what is left when a reply has passed."""

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return hosting.run(self._whole(messages, stop, run_manager, kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await hosting.arun(self._whole(messages, stop, run_manager, kwargs))

    def _whole(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        run_manager: Any,
        kwargs: Mapping[str, Any],
    ) -> hosting.Steps[ChatResult]:
        stop, kwargs = stopping(stop, {**self.inner_kwargs, **kwargs})
        prepared = yield from self._prepare(messages, stop, run_manager, kwargs)
        if prepared.reply is not None:
            return ChatResult(generations=[ChatGeneration(message=prepared.reply)])
        yield from waiting(self.inner)
        heard = run_manager if prepared.is_open else None
        call = {"stop": stop, "run_manager": heard, **kwargs}
        with self._telling(prepared):
            result: ChatResult = yield hosting.Step(
                lambda: self.inner._generate(prepared.messages, **call),
                lambda: self.inner._agenerate(prepared.messages, **call),
            )
        if prepared.gate is not None:
            result = prepared.gate.result(result)
            yield from self._finish(prepared)
        return result

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - whoever streams tells the callbacks
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        return hosting.stream(self._pieces(messages, stop, kwargs))

    def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - whoever streams tells the callbacks
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        return hosting.astream(self._pieces(messages, stop, kwargs))

    def _pieces(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Mapping[str, Any]
    ) -> hosting.Pieces[ChatGenerationChunk]:
        stop, kwargs = stopping(stop, {**self.inner_kwargs, **kwargs})
        prepared = yield from self._prepare(messages, stop, None, kwargs)
        if prepared.reply is not None:
            yield hosting.Shown(ChatGenerationChunk(message=chunk_of(prepared.reply)))
            return
        yield from waiting(self.inner)
        gate = prepared.gate.stream() if prepared.gate else None
        with self._telling(prepared):
            begun = yield _streaming(self.inner, prepared.messages, stop, kwargs)
            feed = gate.feed if gate else lambda chunk: [chunk]
            yield from hosting.relay(begun, lambda chunk: map(hosting.Shown, feed(chunk)))
        if gate is not None:
            yield from map(hosting.Shown, gate.close())
            yield from self._finish(prepared)


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


def _streaming(
    model: BaseChatModel,
    messages: list[BaseMessage],
    stop: list[str] | None,
    kwargs: Mapping[str, Any],
) -> hosting.Step[Any]:
    """Return the step that begins a stream of a model, of one chunk where it has none."""

    def now() -> Iterable[ChatGenerationChunk]:
        if _streams(model, kwargs, "sync"):
            return model._stream(messages, stop=stop, **kwargs)
        return [_chunk_of_result(model._generate(messages, stop=stop, **kwargs))]

    async def later() -> Any:
        if _streams(model, kwargs, "any"):
            return model._astream(messages, stop=stop, **kwargs)
        return [_chunk_of_result(await model._agenerate(messages, stop=stop, **kwargs))]

    return hosting.Step(now, later)


def _chunk_of_result(result: ChatResult) -> ChatGenerationChunk:
    generation = result.generations[0]
    message = generation.message
    whole = message if isinstance(message, AIMessage) else AIMessage(text_of(message))
    info = generation.generation_info
    return ChatGenerationChunk(message=chunk_of(whole), generation_info=info)
