"""What `ChatPalace` costs beyond the decision itself, in milliseconds per call.

In: nothing. Out: a table; `benchmarks.overhead` says what is asked, and what is taken off.

Run: python -m benchmarks.adapter_overhead [--processor]
"""

# ruff: noqa: ANN401, ARG002 - the model's signatures are those of LangChain

from __future__ import annotations

from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_palace import ChatPalace

from benchmarks.command import run
from benchmarks.overhead import SAID, Calls, main
from palace import Mempalace


class Parrot(BaseChatModel):
    """A model that says one thing at once."""

    @property
    def _llm_type(self) -> str:
        return "parrot"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(SAID))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages)


def calls(palace: Mempalace, asked: str) -> Calls:
    """Return the calls that ask for something."""
    bare = Parrot()
    wrapped = ChatPalace(inner=bare, palace=palace)
    return Calls(
        wrapped=lambda: wrapped.invoke(asked),
        bare=lambda: bare.invoke(asked),
        awrapped=lambda: wrapped.ainvoke(asked),
        abare=lambda: bare.ainvoke(asked),
    )


if __name__ == "__main__":
    run(partial(main, "LangChain", calls))
