"""What is said and found behind a tool of an agent: a model's words are no evidence.

In: the run of a tool. Out: whether a model spoke in it whose words nobody has checked, and what
tools and retrievers found on the way, which no model made up. It is heard as usage of tokens is,
by callbacks: not of a model in another process, or in a thread that the tool itself has begun.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook

from langchain_palace.messages import calls_of, text_of
from palace import values_in, without_echoes


class Heard(BaseCallbackHandler):
    """Hears what is said and found within a run.

    Attributes:
        replies: What models said that no palace has checked.
        written: What models wrote to tools.
        found: What tools and retrievers brought in whose own runs no model spoke.
    """

    run_inline = True  # in order, also with an event loop

    def __init__(self) -> None:
        self.replies: list[BaseMessage] = []
        self.written: list[object] = []
        self.found: list[str] = []
        self._begun: dict[UUID, int] = {}

    def evidence(self, written: object) -> tuple[str, ...]:
        """Return what was found, without what models wrote to tools.

        Args:
            written: What the agent's own model wrote to the tool.
        """
        return without_echoes(self.found, written=values_in([written, self.written]))

    def merge(self, other: Heard) -> None:
        """Take in what another one heard in the same run."""
        self.replies += other.replies
        self.written += other.written
        self.found += other.found

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Do nothing; without this the messages would be written down as one text."""

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        """Take in what a model said."""
        for said in (one for ones in response.generations for one in ones):
            message = said.message if isinstance(said, ChatGeneration) else AIMessage(said.text)
            if isinstance(message, AIMessage):
                self.written += [call["args"] for call in calls_of(message)]
            if not _is_checked(message):
                self.replies.append(message)

    def on_tool_start(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """Note when a tool or a retriever begins."""
        self._begin(run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Take in what a tool answered."""
        self._end(run_id, [text_of(output) if isinstance(output, BaseMessage) else str(output)])

    def on_tool_error(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """Note that a tool or a retriever has failed."""
        self._end(run_id, [])

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **_: Any) -> None:
        """Take in what a retriever found."""
        self._end(run_id, [document.page_content for document in documents])

    on_retriever_start = on_tool_start
    on_retriever_error = on_tool_error

    def _begin(self, run_id: UUID) -> None:
        # Of the tool itself, the first and outermost one, nothing is found: it is what is heard.
        self._begun[run_id] = len(self.replies) if self._begun else -1

    def _end(self, run_id: UUID, texts: list[str]) -> None:
        if self._begun.pop(run_id, -1) == len(self.replies):
            self.found += texts


_HEARING: ContextVar[Heard | None] = ContextVar("langchain_palace_heard", default=None)
register_configure_hook(_HEARING, inheritable=True)


@contextmanager
def hearing() -> Iterator[Heard]:
    """Hear what is said and found within."""
    heard, around = Heard(), _HEARING.get()
    token = _HEARING.set(heard)
    try:
        yield heard
    finally:
        _HEARING.reset(token)
        if around is not None:
            around.merge(heard)


def _is_checked(message: BaseMessage) -> bool:
    """Whether a palace has checked what a model said, or said it in its place."""
    verdict = message.response_metadata.get("palace")
    if not isinstance(verdict, Mapping):
        return False
    return verdict.get("action") not in ("pass", "generate") and bool(verdict.get("supported"))
