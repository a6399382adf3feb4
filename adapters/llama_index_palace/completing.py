"""Completions of the wrapper.

In: a prompt of a host. Out: the wrapped model's text as far as it may be released, or the
palace's own reply without any call.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import (
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
)

from llama_index_palace.pointing import call_step
from llama_index_palace.replies import Chunks, completion_reply, noted_completion
from llama_index_palace.turns import Lent, Ruling
from llama_index_palace.wrapped import HostCall, WrappedLLM
from palace import hosting


class CompletingLLM(WrappedLLM):
    """The completion calls of `PalaceLLM`."""

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Complete a prompt; see `PalaceLLM`."""
        return hosting.run(self._whole(self._completing("complete", prompt, formatted, kwargs)))

    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Complete a prompt; see `PalaceLLM`."""
        call = self._completing("complete", prompt, formatted, kwargs)
        return await hosting.arun(self._whole(call))

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Stream a completion; the decision is made before this returns."""
        call = self._completing("stream_complete", prompt, formatted, kwargs)
        return hosting.stream(hosting.run(self._streamed(call)))

    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        """Stream a completion; the decision is made before this returns."""
        call = self._completing("stream_complete", prompt, formatted, kwargs)
        return hosting.astream(await hosting.arun(self._streamed(call)))

    def _completing(
        self, method: str, prompt: str, formatted: bool, kwargs: dict[str, Any]
    ) -> HostCall[CompletionResponse]:
        asked = self._asked_in(prompt)

        def step(ruling: Ruling, lent: Lent) -> hosting.Step[Any]:
            is_answer = asked.purpose == "answer"
            sent = ruling.prompt(prompt, lent.wake_up) if is_answer else prompt
            return call_step(self.inner, method, sent, formatted=formatted, **kwargs)

        return HostCall(_TextChunks, asked, kwargs, step)


class _TextChunks(Chunks[CompletionResponse]):
    """The chunks of a completion."""

    reply = staticmethod(completion_reply)
    noted = staticmethod(noted_completion)

    def text_in(self, chunk: CompletionResponse) -> str:
        return chunk.text
