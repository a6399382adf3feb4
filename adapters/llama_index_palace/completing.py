"""Completions of the wrapper.

In: a prompt of a host. Out: the wrapped model's text as far as it may be released, or the
palace's own reply without any call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llama_index.core.base.llms.types import (
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
)

from llama_index_palace.questions import Asked
from llama_index_palace.replies import Chunks, completion_reply, is_step, noted_completion
from llama_index_palace.turns import Lent, Ruling, Steps
from llama_index_palace.wrapped import WrappedLLM, aonce, is_alone, once


class CompletingLLM(WrappedLLM):
    """The completion calls of `PalaceLLM`."""

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Complete a prompt; see `PalaceLLM`."""
        asked = self._asked_in(prompt)
        ruling = self._rule(asked, alone=is_alone(asked, kwargs))
        if ruling.refused:
            return self._turns.run(self._no_completion(ruling, asked))
        lent = ruling.lend(asked)
        sent = _prepared(prompt, ruling, asked, lent)
        with self._turns.telling(ruling, lent):
            response = self.inner.complete(sent, formatted=formatted, **kwargs)
        return self._turns.run(
            self._released(response, _TextChunks(ruling, asked), self._text_ended)
        )

    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Complete a prompt; see `PalaceLLM`."""
        asked = self._asked_in(prompt)
        ruling = await self._arule(asked, alone=is_alone(asked, kwargs))
        if ruling.refused:
            return await self._turns.arun(self._no_completion(ruling, asked))
        lent = ruling.lend(asked)
        sent = _prepared(prompt, ruling, asked, lent)
        with self._turns.telling(ruling, lent):
            response = await self.inner.acomplete(sent, formatted=formatted, **kwargs)
        return await self._turns.arun(
            self._released(response, _TextChunks(ruling, asked), self._text_ended)
        )

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Stream a completion; the decision is made before this returns."""
        asked = self._asked_in(prompt)
        ruling = self._rule(asked, alone=is_alone(asked, kwargs))
        if ruling.refused:
            return once(self._turns.run(self._no_completion(ruling, asked)))
        lent = ruling.lend(asked)
        sent = _prepared(prompt, ruling, asked, lent)
        with self._turns.telling(ruling, lent):
            source = self.inner.stream_complete(sent, formatted=formatted, **kwargs)
        return self._stream(source, _TextChunks(ruling, asked), self._text_ended, lent)

    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        """Stream a completion; the decision is made before this returns."""
        asked = self._asked_in(prompt)
        ruling = await self._arule(asked, alone=is_alone(asked, kwargs))
        if ruling.refused:
            return aonce(await self._turns.arun(self._no_completion(ruling, asked)))
        lent = ruling.lend(asked)
        sent = _prepared(prompt, ruling, asked, lent)
        with self._turns.telling(ruling, lent):
            source = await self.inner.astream_complete(sent, formatted=formatted, **kwargs)
        return self._astream(source, _TextChunks(ruling, asked), self._text_ended, lent)

    # -- releasing -----------------------------------------------------------------------------

    def _no_completion(self, ruling: Ruling, asked: Asked) -> Steps[CompletionResponse]:
        text, metadata = yield from self._refused(ruling, asked)
        return completion_reply(text, metadata, delta=text)

    def _text_ended(self, chunks: Chunks[CompletionResponse]) -> Steps[CompletionResponse | None]:
        """End a reply: the last chunk of a gated one, with what is left and the whole verdict."""
        ruling, asked = chunks.ruling, chunks.asked
        said = chunks.said.text
        if asked.purpose == "rewrite" and ruling.gated and not said.strip():
            # an empty question is under nobody's ruling
            return completion_reply(ruling.words, chunks.metadata, delta=ruling.words)
        self._turns.rewrote(ruling, asked, said)
        if asked.purpose != "answer":
            return None
        if not ruling.gated:
            ruling.goes_on = is_step(chunks.said.text, asked, calls_tools=False)
            if not ruling.goes_on:
                yield from self._turns.finish(ruling, chunks.said.text, calls=1)
            return None
        screen = chunks.screen
        rest = screen.close()
        ruling.goes_on = screen.checked is None
        if screen.checked is None:
            return completion_reply(
                screen.released, chunks.metadata, delta=rest, spent=chunks.spent
            )
        metadata = yield from self._turns.finish(
            ruling, screen.released, checked=screen.checked, calls=1
        )
        screen.demand_support()
        self._turns.rewrote(ruling, asked, screen.released)
        return completion_reply(screen.released, metadata, delta=rest, spent=chunks.spent)


class _TextChunks(Chunks[CompletionResponse]):
    """The chunks of a completion."""

    def take(self, chunk: CompletionResponse) -> Iterator[CompletionResponse]:
        if self.ruling.gated and self.asked.purpose == "answer":
            self._note(chunk)
            piece = self.screen.feed(chunk.text, chunk.delta)
            if piece:
                yield completion_reply(self.screen.released, self.metadata, delta=piece)
            return
        self.last = chunk
        self.said.add(chunk.text, chunk.delta)
        yield noted_completion(chunk, self.metadata) if self.asked.purpose == "answer" else chunk


def _prepared(prompt: str, ruling: Ruling, asked: Asked, lent: Lent) -> str:
    return ruling.prompt(prompt, lent) if asked.purpose == "answer" else prompt
