"""What `PalaceLLM` costs beyond the decision itself, in milliseconds per call.

In: nothing. Out: a table; `benchmarks.overhead` says what is asked, and what is taken off.

Run: python -m benchmarks.adapter_overhead_llama [--processor]
"""

# ruff: noqa: ANN401, ARG002 - the model's signatures are those of LlamaIndex

from __future__ import annotations

from functools import partial
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM
from llama_index_palace import PalaceLLM

from benchmarks.command import run
from benchmarks.overhead import SAID, Calls, main
from palace import Mempalace


class Parrot(CustomLLM):
    """A model that says one thing at once."""

    @property
    def metadata(self) -> LLMMetadata:
        """A plain chat model."""
        return LLMMetadata(is_chat_model=True)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Say it."""
        return CompletionResponse(text=SAID)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Say it in one piece."""
        return (x for x in [self.complete(prompt)])


def calls(palace: Mempalace, asked: str) -> Calls:
    """Return the calls that ask for something."""
    bare = Parrot()
    wrapped = PalaceLLM(bare, palace)
    messages = [ChatMessage(role="user", content=asked)]
    return Calls(
        wrapped=lambda: wrapped.chat(messages),
        bare=lambda: bare.chat(messages),
        awrapped=lambda: wrapped.achat(messages),
        abare=lambda: bare.achat(messages),
    )


if __name__ == "__main__":
    run(partial(main, "LlamaIndex", calls))
