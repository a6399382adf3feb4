"""What is said and found behind a tool of an agent: a model's words are no evidence.

In: the run of a tool. Out: whether a model spoke in it whose words nobody has checked, and what
tools and retrievers found on the way, which no model made up. It is heard as usage of tokens is,
by callbacks: not of a model in another process, or in a thread that the tool itself has begun.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tracers.context import register_configure_hook

from langchain_palace.messages import calls_of, has_failed, text_of
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
        text = text_of(output) if isinstance(output, BaseMessage) else str(output)
        self._end(run_id, [] if has_failed(output) else [text])

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


class HeardTools(BaseCallbackHandler):
    """Hears what is said and found behind each tool that is called within a run.

    Attributes:
        found: What was found behind the tools in whose runs a model spoke whose words no palace has
            checked, by the id of the call, or by the text of a result that has none.
    """

    run_inline = True

    def __init__(self) -> None:
        self.found: dict[str, tuple[str, ...]] = {}
        self._called: dict[UUID, tuple[Heard, str, object]] = {}
        self._within: dict[UUID, Sequence[Heard]] = {}

    def merge(self, other: Heard) -> None:
        """Take in what another one heard in the same run: behind which tool, nobody knows."""
        for heard in self._open():
            heard.merge(other)

    def on_chain_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """Note behind which tool something runs; what nobody has begun is behind any of them."""
        known = self._within.get(parent_run_id, ()) if parent_run_id else self._open()
        self._within[run_id] = known

    on_chat_model_start = on_chain_start
    on_llm_start = on_chain_start

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Take in what a model said."""
        for heard in self._within.get(run_id, ()):
            heard.on_llm_end(response)

    def on_tool_start(self, *_: Any, run_id: UUID, **told: Any) -> None:
        """Note when a tool or a retriever begins."""
        self.on_chain_start(run_id=run_id, parent_run_id=told.get("parent_run_id"))
        if not self._within[run_id] and "tool_call_id" in told:
            heard = Heard()
            self._within[run_id] = [heard]
            self._called[run_id] = heard, told["tool_call_id"] or "", told.get("inputs")
        for heard in self._within[run_id]:
            heard.on_tool_start(run_id=run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Take in what a tool answered."""
        for heard in self._within.get(run_id, ()):
            heard.on_tool_end(output, run_id=run_id)
        self._end(run_id, text_of(output) if isinstance(output, BaseMessage) else str(output))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Note that a tool or a retriever has failed."""
        for heard in self._within.get(run_id, ()):
            heard.on_tool_error(run_id=run_id)
        self._end(run_id, str(error))

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **_: Any) -> None:
        """Take in what a retriever found."""
        for heard in self._within.get(run_id, ()):
            heard.on_retriever_end(documents, run_id=run_id)

    on_retriever_start = on_tool_start
    on_retriever_error = on_tool_error

    def behind(self, message: BaseMessage) -> tuple[str, ...] | None:
        """Return what was found behind the tool whose result a message is, None if none spoke."""
        called = str(getattr(message, "tool_call_id", ""))
        return self.found.get(called, self.found.get(text_of(message)))

    def holds(self, config: RunnableConfig) -> bool:
        """Whether what runs with a config runs behind one of the tools."""
        parent = getattr(config.get("callbacks"), "parent_run_id", None)
        return parent is not None and bool(self._within.get(parent))

    def _open(self) -> list[Heard]:
        return [heard for heard, _, _ in self._called.values()]

    def _end(self, run_id: UUID, text: str) -> None:
        heard, called, written = self._called.pop(run_id, (None, "", None))
        if heard is not None and heard.replies:
            self.found[called or text] = heard.evidence(written)


_HEARING: ContextVar[Heard | HeardTools | None] = ContextVar("langchain_palace_heard", default=None)
register_configure_hook(_HEARING, inheritable=True)
_T = TypeVar("_T", Heard, HeardTools)


def is_behind_tool(config: RunnableConfig) -> bool:
    """Whether what runs with a config runs behind a tool that is heard: a model asks there."""
    heard = _HEARING.get()
    return isinstance(heard, Heard) or (heard is not None and heard.holds(config))


@contextmanager
def hearing() -> Iterator[Heard]:
    """Hear what is said and found within."""
    around = _HEARING.get()
    with _listening(Heard()) as heard:
        try:
            yield heard
        finally:
            if around is not None:
                around.merge(heard)


@contextmanager
def hearing_tools() -> Iterator[HeardTools]:
    """Hear what is said and found behind each tool that is called within."""
    with _listening(HeardTools()) as heard:
        yield heard


@contextmanager
def _listening(heard: _T) -> Iterator[_T]:
    token = _HEARING.set(heard)
    try:
        yield heard
    finally:
        _HEARING.reset(token)


def _is_checked(message: BaseMessage) -> bool:
    """Whether a palace has checked what a model said, or said it in its place."""
    verdict = message.response_metadata.get("palace")
    if not isinstance(verdict, Mapping):
        return False
    return verdict.get("action") not in ("pass", "generate") and bool(verdict.get("supported"))
