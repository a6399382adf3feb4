"""Runnables that are called like a chat model, turned into chat models.

In: a chat model with retries or fallbacks, or a configurable one, whose class is only known when it
runs. Out: a chat model that calls it. It tells no callbacks: its caller does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManager,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import ensure_config, var_child_runnable_config
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.tools import BaseTool
from pydantic import Field

from langchain_palace.messages import chunk_of

M = TypeVar("M", bound=AIMessage)
# How LangChain names a message that its provider gave no id.
_NAME_OF_RUN = "lc_run-"


def is_chat(model: object) -> bool:
    """Whether something is called as a chat model is."""
    if isinstance(model, RunnableWithFallbacks):
        return is_chat(model.runnable)
    if isinstance(model, RunnableBindingBase):
        return is_chat(model.bound)
    if isinstance(model, DynamicRunnable):
        return is_chat(model.default)
    return isinstance(model, Runnable) and hasattr(model, "bind_tools")


class ChatRunnable(BaseChatModel):
    """A chat model that calls a runnable.

    Args:
        runnable: What `is_chat` says yes to.
        configurable: What a config names for it, beside what that of the graph around it names.
    """

    runnable: Runnable[Any, Any] = Field(exclude=True)
    configurable: Mapping[str, Any] | None = Field(default=None, exclude=True)

    @property
    def _llm_type(self) -> str:
        return type(self.runnable).__name__

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools as the runnable does."""
        made = _made(self.runnable, "bind_tools", tools, **kwargs)
        return self.model_copy(update={"runnable": made})

    def with_structured_output(
        self, schema: Any = None, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[LanguageModelInput, Any]:
        """Answer in a schema as the runnable does."""
        made: Runnable[LanguageModelInput, Any] = _made(
            self.runnable, "with_structured_output", schema, include_raw=include_raw, **kwargs
        )
        return made

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the caller tells
        **kwargs: Any,
    ) -> ChatResult:
        with self._unheard():
            return _result(self.runnable.invoke(messages, **_with_stop(kwargs, stop)))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the caller tells
        **kwargs: Any,
    ) -> ChatResult:
        with self._unheard():
            return _result(await self.runnable.ainvoke(messages, **_with_stop(kwargs, stop)))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the caller tells
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        with self._unheard():
            chunks = iter(self.runnable.stream(messages, **_with_stop(kwargs, stop)))
        while True:
            with self._unheard():  # never while somebody else runs
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield _chunk(chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the caller tells
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        with self._unheard():
            chunks = aiter(self.runnable.astream(messages, **_with_stop(kwargs, stop)))
        while True:
            with self._unheard():
                chunk = await anext(chunks, None)
            if chunk is None:
                return
            yield _chunk(chunk)

    @contextmanager
    def _unheard(self) -> Iterator[None]:
        """Run what is within as no part of a run: no callback hears what nobody has checked.

        Callbacks in a config would not do: a binding adds those of the run that it is in.
        """
        ambient = ensure_config()
        named = {**ambient.get("configurable", {}), **(self.configurable or {})}
        silent = CallbackManager(handlers=[])
        inner: RunnableConfig = {**ambient, "callbacks": silent, "configurable": named}
        token = var_child_runnable_config.set(inner)
        try:
            yield
        finally:
            var_child_runnable_config.reset(token)


def _made(model: Runnable[Any, Any], method: str, *args: Any, **kwargs: Any) -> Any:
    """Return what a method makes of a model, and of each that stands in for it.

    Those would look for it by hints of types that a model may not have.
    """
    if isinstance(model, RunnableWithFallbacks):
        first, *others = (_made(one, method, *args, **kwargs) for one in model.runnables)
        return model.model_copy(update={"runnable": first, "fallbacks": others})
    make = getattr(model, method, None)
    if make is None:
        raise NotImplementedError(f"{type(model).__name__} has no {method}")
    return make(*args, **kwargs)


def _with_stop(kwargs: Mapping[str, Any], stop: list[str] | None) -> dict[str, Any]:
    return dict(kwargs) if stop is None else {**kwargs, "stop": stop}


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=_unnamed(message))])


def _chunk(message: AIMessage) -> ChatGenerationChunk:
    is_whole = not isinstance(message, AIMessageChunk)  # what cannot stream comes so
    return ChatGenerationChunk(message=_unnamed(chunk_of(message) if is_whole else message))


def _unnamed(message: M) -> M:
    """Return a message without the name of a run that nobody hears of; its own stays."""
    is_runs = (message.id or "").startswith(_NAME_OF_RUN)
    return message.model_copy(update={"id": None}) if is_runs else message
