"""A runnable that is a run of its own, as LangChain's own chains are: what is checked shows there.

In: what a runnable does with one input, once for all doors. Out: the four doors of LangChain.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.config import patch_config
from langchain_core.runnables.utils import Input, Output

from palace import hosting


class OwnRun(RunnableSerializable[Input, Output]):
    """The doors of a runnable that looks into the palace before it runs what it is bound to."""

    if TYPE_CHECKING:
        bound: Any  # a field of the subclasses

    def with_fallbacks(  # type: ignore[override]
        self, fallbacks: Sequence[Runnable[Any, Any]], **options: Any
    ) -> OwnRun[Input, Output]:
        """Return the same with others for where what is bound fails; a miss is no failure."""
        return self._bound_to(self.bound.with_fallbacks(fallbacks, **options))

    def with_retry(self, **options: Any) -> OwnRun[Input, Output]:
        """Return the same that runs what is bound again where that fails; a miss is no failure."""
        return self._bound_to(self.bound.with_retry(**options))

    def _bound_to(self, bound: Any) -> OwnRun[Input, Output]:
        return type(self)(**{**dict(self), "bound": bound})

    @abstractmethod
    def _whole(
        self, input: Any, config: RunnableConfig, kwargs: Mapping[str, Any]
    ) -> hosting.Steps[Any]:
        """Return what comes of an input."""

    @abstractmethod
    def _pieces(
        self, input: Any, config: RunnableConfig, kwargs: Mapping[str, Any]
    ) -> hosting.Pieces[Any]:
        """Yield what comes of an input, in pieces."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run what is bound, or answer without it."""
        return self._call_with_config(self._now, input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run what is bound, or answer without it."""
        return await self._acall_with_config(self._later, input, config, **kwargs)

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> Iterator[Any]:
        """Run what is bound, or answer without it, in pieces where it may be."""
        return self._transform_stream_with_config(iter([input]), self._chunks, config, **kwargs)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> AsyncIterator[Any]:
        """Run what is bound, or answer without it, in pieces where it may be."""

        async def only() -> AsyncIterator[Any]:
            yield input

        async for chunk in self._atransform_stream_with_config(
            only(), self._achunks, config, **kwargs
        ):
            yield chunk

    def _now(
        self,
        input: Any,
        run_manager: object,  # noqa: ARG002 - the config holds its child
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Any:
        return hosting.run(self._whole(input, config, kwargs))

    async def _later(
        self,
        input: Any,
        run_manager: object,  # noqa: ARG002 - the config holds its child
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Any:
        return await hosting.arun(self._whole(input, config, kwargs))

    def _chunks(
        self, inputs: Iterator[Any], run_manager: Any, config: RunnableConfig, **kwargs: Any
    ) -> Iterator[Any]:
        return hosting.stream(self._begun(inputs, run_manager, config, kwargs))

    def _achunks(
        self, inputs: AsyncIterator[Any], run_manager: Any, config: RunnableConfig, **kwargs: Any
    ) -> AsyncIterator[Any]:
        return hosting.astream(self._begun(inputs, run_manager, config, kwargs))

    def _begun(
        self, inputs: Any, run_manager: Any, config: RunnableConfig, kwargs: Mapping[str, Any]
    ) -> hosting.Pieces[Any]:
        config = patch_config(config, callbacks=run_manager.get_child())
        input = yield hosting.Step(lambda: next(inputs), lambda: anext(inputs))
        yield from self._pieces(input, config, kwargs)
