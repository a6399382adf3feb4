"""Asking a chat model on the way to a reply, without its answer being seen by anybody.

In: a chat model, as it is or with arguments bound, and the calls a turn needs. Out: its replies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import agenerate_from_stream, generate_from_stream
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig

from langchain_palace.arguments import SHAPING
from langchain_palace.chat_runnable import ChatRunnable, is_chat
from langchain_palace.messages import asking, text_of
from palace import ConfigError, ModelCall, ModelReply, hosting

# What both a model and a config may have for callbacks to hear.
_TOLD = ("tags", "metadata", "callbacks")


def unbound(model: Runnable[Any, Any]) -> tuple[BaseChatModel, dict[str, Any]]:
    """Return the chat model behind a binding, and the arguments that are bound to it.

    Tags, metadata and callbacks that are bound to it stay with the model.

    Raises:
        ConfigError: If there is no chat model behind it, or what is bound cannot be kept.
    """
    kwargs: dict[str, Any] = {}
    bound: list[Mapping[str, Any]] = []
    while isinstance(model, RunnableBinding):
        if model.config_factories:
            raise ConfigError(
                "listeners of a chat model would not be told of calls of its wrapper",
                hint="call with_listeners on the wrapper itself",
            )
        kwargs = {**model.kwargs, **kwargs}
        bound.append(model.config)
        model = model.bound
    if not isinstance(model, BaseChatModel) and is_chat(model):
        model = ChatRunnable(runnable=model)
    if isinstance(model, BaseChatModel):
        return reduce(_configured, reversed(bound), model), kwargs
    raise ConfigError(
        f"{type(model).__name__} is not a chat model",
        hint="wrap the chat model itself, or the whole chain with PalaceRunnable",
    )


def _configured(model: BaseChatModel, config: Mapping[str, Any]) -> BaseChatModel:
    """Return the model with what a binding around it tells callbacks of it."""
    told = {name: config[name] for name in _TOLD if config.get(name)}
    update = {name: _both(getattr(model, name), value) for name, value in told.items()}
    return model.model_copy(update=update) if update else model


def _both(own: Any, bound: Any) -> Any:
    """Return tags, metadata or callbacks of a model with those that are bound to it."""
    if isinstance(bound, Mapping):
        return {**(own or {}), **bound}
    return [*_listed(own), *_listed(bound)]


def _listed(values: Any) -> Sequence[Any]:
    return values.handlers if isinstance(values, BaseCallbackManager) else values or ()


def stopping(
    stop: list[str] | None, kwargs: Mapping[str, Any]
) -> tuple[list[str] | None, dict[str, Any]]:
    """Return where a call is to stop and its other arguments: a bound `stop` is one of them."""
    others = dict(kwargs)
    bound = others.pop("stop", None)
    return (bound if stop is None else stop), others


def waiting(model: BaseChatModel) -> hosting.Steps[None]:
    """Wait for the turn of a model whose calls are limited."""
    limiter = model.rate_limiter
    if limiter:
        yield hosting.Step(
            lambda: limiter.acquire(blocking=True), lambda: limiter.aacquire(blocking=True)
        )


def generate(
    model: BaseChatModel,
    messages: list[BaseMessage],
    stop: list[str] | None,
    kwargs: Mapping[str, Any],
) -> hosting.Steps[ChatResult]:
    """Make one silent call of a model: no callback hears what nobody has checked.

    What is set to stream is asked for a stream, for its whole reply cannot always be had.
    """

    def now() -> ChatResult:
        if model._should_stream(async_api=False, **kwargs):
            return generate_from_stream(model._stream(messages, stop=stop, **kwargs))
        return model._generate(messages, stop=stop, run_manager=None, **kwargs)

    async def later() -> ChatResult:
        if model._should_stream(async_api=True, **kwargs):
            return await agenerate_from_stream(model._astream(messages, stop=stop, **kwargs))
        return await model._agenerate(messages, stop=stop, run_manager=None, **kwargs)

    yield from waiting(model)
    result: ChatResult = yield hosting.Step(now, later)
    return result


def whole_run(
    chain: Runnable[Any, Any],
    input: object,
    config: RunnableConfig | None,
    kwargs: Mapping[str, Any],
) -> hosting.Step[Any]:
    """Return the step that runs a chain of the host's."""
    return hosting.Step(
        lambda: chain.invoke(input, config, **kwargs),
        lambda: chain.ainvoke(input, config, **kwargs),
    )


def streamed_run(
    chain: Runnable[Any, Any],
    input: object,
    config: RunnableConfig | None,
    kwargs: Mapping[str, Any],
) -> hosting.Step[Any]:
    """Return the step that begins to stream a chain of the host's."""
    return hosting.begin_stream(
        lambda: chain.stream(input, config, **kwargs),
        lambda: chain.astream(input, config, **kwargs),
    )


class Asker:
    """Asks a model with another text in the place of the person's message.

    What stands before that message stays. What stands behind it is left out, because the contract
    of a call has to be the last thing that the model reads.

    Args:
        model: The chat model, also with arguments bound.
        messages: The conversation.
        index: Where the person asks; see `asking`.
        kwargs: What the host's own call is made with; tools and formats are left out.
    """

    def __init__(
        self,
        model: Runnable[Any, Any],
        messages: Sequence[BaseMessage],
        index: int | None,
        *,
        stop: list[str] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self.usage: UsageMetadata | None = None
        self._model = model
        self._messages = messages
        self._index = index
        self._stop = stop
        self._kwargs = kwargs or {}

    def __call__(self, call: ModelCall) -> hosting.Steps[ModelReply]:
        """Make a call."""
        model, bound = unbound(self._model)
        stop, given = stopping(self._stop, {**bound, **self._kwargs})
        made = {key: value for key, value in given.items() if key not in SHAPING}
        if call.schema is not None:
            model, extra = pointing(model, call.schema)
            made |= extra
        index = self._index
        before = self._messages if index is None else self._messages[: index + 1]
        messages = asking(before, index, call.user_text)
        result = yield from generate(model, messages, stop, made)
        return self._reply(result, call)

    def _reply(self, result: ChatResult, call: ModelCall) -> ModelReply:
        message = result.generations[0].message
        if not isinstance(message, AIMessage):
            return ModelReply(text_of(message))
        if message.usage_metadata:
            self.usage = add_usage(self.usage, message.usage_metadata)
        name = call.schema["name"] if call.schema else ""
        pointed = next((c["args"] for c in message.tool_calls if c["name"] == name), None)
        return ModelReply(
            text_of(message), arguments=pointed, has_tool_calls=bool(message.tool_calls)
        )


def pointing(
    model: BaseChatModel, schema: Mapping[str, Any]
) -> tuple[BaseChatModel, dict[str, Any]]:
    """Return the model with the pointing tool, or as it is if it has no tools."""
    if (model.profile or {}).get("tool_calling") is False:
        return model, {}
    tool = {
        "name": schema["name"],
        "description": schema["description"],
        "parameters": dict(schema["parameters"]),
    }
    try:
        return unbound(model.bind_tools([tool]))
    except NotImplementedError:
        return model, {}
