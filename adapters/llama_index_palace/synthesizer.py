"""What a host says that retrieved nothing: the palace's own sentence.

In: a palace and what a response synthesizer is made of; responses of engines. Out: a synthesizer,
or a response, that says plainly what LlamaIndex calls an empty response.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import Any

from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.response_synthesizers import BaseSynthesizer, get_response_synthesizer
from llama_index.core.types import RESPONSE_TEXT_TYPE

from palace import Mempalace, require_palace

# What synthesizers say without nodes and without a call; a test holds it to the installed version.
EMPTY = "Empty Response"


def palace_synthesizer(palace: Mempalace, **arguments: Any) -> BaseSynthesizer:
    """Return a synthesizer for an engine on a `PalaceRetriever`.

    On a miss the engine gets no nodes, calls no model, and says the palace's own sentence.

    Args:
        palace: The open palace.
        **arguments: As for LlamaIndex' `get_response_synthesizer`: `llm`, `response_mode`,
            `streaming` … With `response_mode="generation"` the model is called whatever there is.

    Raises:
        ConfigError: If the palace is not open.
    """
    sentence = require_palace(palace).answer_options.fallback_text
    return _Speaking(get_response_synthesizer(**arguments), sentence)


class _Speaking(BaseSynthesizer):
    """Another synthesizer that says a sentence of its own where it has nothing to say."""

    def __init__(self, inner: BaseSynthesizer, sentence: str) -> None:
        self._inner = inner
        self._sentence = sentence
        super().__init__(
            inner._llm,
            inner.callback_manager,
            streaming=inner._streaming,
            output_cls=inner._output_cls,
        )

    @property
    def _streaming(self) -> bool:  # chat engines set it for the one call that is to stream
        return self._inner._streaming

    @_streaming.setter
    def _streaming(self, streams: bool) -> None:
        self._inner._streaming = streams

    def synthesize(self, *args: Any, **kwargs: Any) -> RESPONSE_TYPE:
        """See `BaseSynthesizer.synthesize`."""
        return spoken(self._inner.synthesize(*args, **kwargs), self._sentence)

    async def asynthesize(self, *args: Any, **kwargs: Any) -> RESPONSE_TYPE:
        """See `BaseSynthesizer.asynthesize`."""
        return spoken(await self._inner.asynthesize(*args, **kwargs), self._sentence)

    def get_response(self, *args: Any, **kwargs: Any) -> RESPONSE_TEXT_TYPE:
        """See `BaseSynthesizer.get_response`."""
        return self._inner.get_response(*args, **kwargs)

    async def aget_response(self, *args: Any, **kwargs: Any) -> RESPONSE_TEXT_TYPE:
        """See `BaseSynthesizer.aget_response`."""
        return await self._inner.aget_response(*args, **kwargs)

    def _get_prompts(self) -> PromptDictType:
        return self._inner.get_prompts()

    def _update_prompts(self, prompts: PromptDictType) -> None:
        self._inner.update_prompts(prompts)


def spoken(response: RESPONSE_TYPE, sentence: str) -> RESPONSE_TYPE:
    """Return an engine's response with this sentence in place of an empty one."""
    if response.source_nodes:
        return response
    if isinstance(response, Response) and response.response == EMPTY:
        response.response = sentence
    elif isinstance(response, StreamingResponse):
        response.response_gen = _pieces(response.response_gen, sentence)
    elif isinstance(response, AsyncStreamingResponse):
        response.response_gen = _apieces(response.response_gen, sentence)
    return response


def streams(engine: object) -> bool:
    """Whether a query engine, or the one that it asks, answers in pieces."""
    return bool(getattr(_synthesizer_of(engine), "_streaming", False))


def makes_objects(engine: object) -> bool:
    """Whether a query engine, or the one that it asks, answers with an object of a schema."""
    has_schema = getattr(_synthesizer_of(engine), "_output_cls", None) is not None
    return has_schema and not streams(engine)


def _synthesizer_of(engine: object) -> object:
    synthesizer = getattr(engine, "_response_synthesizer", None)
    if synthesizer is None and hasattr(engine, "_query_engine"):
        return _synthesizer_of(engine._query_engine)
    return synthesizer


def streamed(response: Response) -> StreamingResponse:
    """Return a whole response as one that comes in pieces."""
    pieces = (piece for piece in [str(response)])
    return StreamingResponse(pieces, response.source_nodes, response.metadata)


def astreamed(response: Response) -> AsyncStreamingResponse:
    """Return a whole response as one that comes in pieces."""

    async def pieces() -> AsyncGenerator[str, None]:
        yield str(response)

    return AsyncStreamingResponse(pieces(), response.source_nodes, response.metadata)


def _pieces(given: Generator[str, None, None], sentence: str) -> Generator[str, None, None]:
    for piece in given:
        yield sentence if piece == EMPTY else piece


async def _apieces(given: AsyncGenerator[str, None], sentence: str) -> AsyncGenerator[str, None]:
    async for piece in given:
        yield sentence if piece == EMPTY else piece
