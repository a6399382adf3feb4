"""What a stream shows of a run whose words nobody has checked: nothing.

In: the config of a run. Out: one with which LangGraph's streams and `astream_events` show nothing
of it; of a tool they show that it runs and what came of it. All other callbacks hear everything,
for they are the program's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManager,
    BaseCallbackHandler,
    BaseCallbackManager,
    CallbackManager,
)
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, var_child_runnable_config
from langchain_core.tools import BaseTool, ToolException

from langchain_palace.messages import text_of
from palace import hosting

# What LangGraph has the graphs within a task show with `subgraphs=True`, and in which modes they
# say themselves what to show.
_STREAM = "__pregel_stream"
_OWN_MODES = frozenset({"custom"})
# What LangChain and LangGraph ask of a handler that shows a run to its caller.
_SHOWS = "tap_output_aiter"


class _Veil(BaseCallbackHandler):
    """Stands where a handler stood that shows a run to its caller, and shows nothing."""

    def __init__(self, handler: BaseCallbackHandler) -> None:
        self.handler = handler

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Do nothing; without this the messages would be written down as one text."""


@contextmanager
def running(config: RunnableConfig) -> Iterator[None]:
    """Run what is within as a part of the run of a config: graphs add theirs to the given one."""
    token = var_child_runnable_config.set(config)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


@contextmanager
def all_unseen() -> Iterator[None]:
    """Show nothing of the models that run within, but for those that say otherwise; see `seen`."""
    with running(_changed(ensure_config(), _veiled)):
        yield


def seen(config: RunnableConfig | None) -> RunnableConfig:
    """Return a config for a checked run within `all_unseen`."""
    return _changed(ensure_config(config), _unveiled)


def quiet(config: RunnableConfig) -> RunnableConfig:
    """Return a config of whose run nothing is shown, but what its graphs write themselves."""
    return _narrowed(_changed(config, _left_out))


@contextmanager
def tool_unseen(config: RunnableConfig, *, whole: bool) -> Iterator[None]:
    """Show nothing of what runs in the call of a tool that is made with this very config.

    Args:
        config: The config.
        whole: Whether the tool itself is not shown, too.
    """
    before = config.copy()
    config.update(_narrowed(_changed(config, _left_out, only_within=not whole)))
    try:
        yield
    finally:
        config.clear()  # type: ignore[attr-defined]
        config.update(before)


class ShownTool:
    """Tells who watches a run that a tool is called, and what came of it once that was checked.

    Args:
        config: The config of the call.
        tool: The tool, None for one that was added later.
        call: The call.
    """

    def __init__(
        self, config: RunnableConfig, tool: BaseTool | None, call: Mapping[str, Any]
    ) -> None:
        manager = config.get("callbacks")
        handlers = manager.handlers if isinstance(manager, BaseCallbackManager) else []
        self._watching = [handler for handler in handlers if hasattr(handler, _SHOWS)]
        self._parent = getattr(manager, "parent_run_id", None)
        self._config = config
        self._tool = {"name": call["name"], "description": tool.description if tool else ""}
        self._call = call
        self._run: Any = None

    def begin(self) -> hosting.Steps[None]:
        """Tell that the tool is called."""
        if not self._watching:
            return
        options: dict[str, Any] = {
            "handlers": self._watching,
            "parent_run_id": self._parent,
            "tags": self._config.get("tags"),
            "metadata": self._config.get("metadata"),
        }
        told = (self._tool, str(self._call["args"]))
        beside = {
            "name": self._call["name"],
            "inputs": self._call["args"],
            "tool_call_id": self._call["id"],
        }

        # In a context of their own: with what LangGraph puts there a tool could show its pieces.
        def now() -> Any:
            manager = CallbackManager(**options)
            return copy_context().run(manager.on_tool_start, *told, **beside)

        async def later() -> Any:
            manager = AsyncCallbackManager(**options)
            return await asyncio.ensure_future(manager.on_tool_start(*told, **beside))

        self._run = yield hosting.Step(now, later)

    def end(self, made: object) -> hosting.Steps[None]:
        """Tell what came of it: what the tool answered, or an error."""
        if self._run is None:
            return
        is_answer = isinstance(made, ToolMessage)
        if is_answer and made.status == "error":  # type: ignore[attr-defined]
            made = ToolException(text_of(made))  # type: ignore[arg-type]
        failed = isinstance(made, BaseException)
        yield hosting.host_call(
            lambda: self._run.on_tool_error(made) if failed else self._run.on_tool_end(made)
        )


def _left_out(handlers: Iterable[BaseCallbackHandler]) -> list[BaseCallbackHandler]:
    return [handler for handler in handlers if not hasattr(handler, _SHOWS)]


def _veiled(handlers: Iterable[BaseCallbackHandler]) -> list[BaseCallbackHandler]:
    return [_Veil(handler) if hasattr(handler, _SHOWS) else handler for handler in handlers]


def _unveiled(handlers: Iterable[BaseCallbackHandler]) -> list[BaseCallbackHandler]:
    return [handler.handler if isinstance(handler, _Veil) else handler for handler in handlers]


def _changed(
    config: RunnableConfig,
    change: Callable[[Iterable[BaseCallbackHandler]], list[BaseCallbackHandler]],
    *,
    only_within: bool = False,
) -> RunnableConfig:
    """Return a config with other handlers.

    Args:
        config: The config.
        change: Returns the handlers.
        only_within: Whether the run that is made with it itself keeps its own.
    """
    callbacks = config.get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        callbacks = callbacks.copy()
        callbacks.inheritable_handlers = change(callbacks.inheritable_handlers)
        if not only_within:
            callbacks.handlers = change(callbacks.handlers)
    return {**config, "callbacks": callbacks}


def _narrowed(config: RunnableConfig) -> RunnableConfig:
    """Return a config whose graphs show nothing to the graph around but what they write."""
    configurable = dict(config.get("configurable") or {})
    stream = configurable.get(_STREAM)
    if stream is not None:
        configurable[_STREAM] = type(stream)(stream, stream.modes & _OWN_MODES)
    return {**config, "configurable": configurable}
