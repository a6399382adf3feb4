"""What all calls of the wrapper share: the wrapped model, the palace, and the ruling of a turn.

In: what a call is about. Out: a `Ruling`, made before the wrapped model is called.
"""

from __future__ import annotations

import re
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from typing import Any, TypeVar

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
)
from llama_index.core.bridge.pydantic import Field, PrivateAttr, field_serializer
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import LLM

from llama_index_palace.events import verdict_metadata
from llama_index_palace.pointing import aask, ask
from llama_index_palace.questions import (
    HOST_REWRITES,
    Asked,
    asked_in_messages,
    asked_in_prompt,
)
from llama_index_palace.replies import Chunks, prepared_messages, refusal_text
from llama_index_palace.session import PalaceSession, current_session
from llama_index_palace.structured import miss
from llama_index_palace.turns import Lent, Ruling, Steps, Turns
from palace import ConfigError, ModelCall, ModelReply

_T = TypeVar("_T")
_R = TypeVar("_R", ChatResponse, CompletionResponse)
# The steps that end a reply: its last chunk, if there is one more.
_Ended = Callable[[Chunks[_R]], Steps[_R | None]]
# What hosts read and set of a model besides its calls.
SHARED = tuple(LLM.model_fields)
# What the contract of an answer says around the evidence, estimated, and the share of a window
# that is kept free at most.
_CONTRACT_TOKENS = 200
_MOST_KEPT_FREE = 4


class WrappedLLM(FunctionCallingLLM):
    """The fields of `PalaceLLM` and its decisions; the calls are in its subclasses."""

    inner: LLM
    palace: Any = Field(exclude=True)
    session_id: str | None = None
    project: str | None = None
    _turns: Turns = PrivateAttr()
    _rewrites: tuple[re.Pattern[str], ...] = PrivateAttr(default=())

    @field_serializer("inner")
    def _told_of_inner(self, inner: LLM) -> dict[str, Any]:
        # Caches of hosts tell one model from another by it; its own fields may hold a key.
        return {"class_name": inner.class_name(), **inner.metadata.model_dump()}

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field; what a host sets of a model reaches the wrapped one too."""
        super().__setattr__(name, value)
        if name in SHARED:
            setattr(self.inner, name, value)

    def __getstate__(self) -> dict[Any, Any]:
        # LlamaIndex would leave out what cannot be pickled, the palace, without a word.
        raise ConfigError(
            f"{type(self).__name__} cannot be pickled: its palace is open here",
            hint="wrap the model again where it is used, with a palace that is opened there",
        )

    @property
    def metadata(self) -> LLMMetadata:
        """The wrapped model's own, so that hosts choose the same way with and without us.

        But they fill the whole window with documents, and what is added to a question has to fit.
        """
        told = self.inner.metadata
        settings = self.palace.settings
        added = settings.context.budget_tokens + settings.wakeup.budget_tokens + _CONTRACT_TOKENS
        kept_free = min(added, told.context_window // _MOST_KEPT_FREE)
        return told.model_copy(update={"context_window": told.context_window - kept_free})

    # -- deciding ------------------------------------------------------------------------------

    @property
    def _session(self) -> PalaceSession:
        return current_session(self.session_id, project=self.project)

    def _asked(self, messages: Sequence[ChatMessage]) -> Asked:
        if not isinstance(messages, Sequence) or not all(
            isinstance(m, ChatMessage) for m in messages
        ):
            raise ConfigError(
                f"{type(messages).__name__} is no list of ChatMessage",
                hint='chat takes [ChatMessage(role="user", content="…")]; complete takes a text',
            )
        known = self._session.question
        return asked_in_messages(messages, question=known, rewrites=self._rewrites)

    def _asked_in(self, prompt: str) -> Asked:
        if not isinstance(prompt, str):
            raise ConfigError(
                f"{type(prompt).__name__} is no text",
                hint="complete takes a text, predict a PromptTemplate, chat a list of ChatMessage",
            )
        known = (*self._rewrites, *HOST_REWRITES)
        return asked_in_prompt(prompt, question=self._session.question, rewrites=known)

    def _rule(self, asked: Asked, *, alone: bool = False) -> Ruling:
        def point(call: ModelCall) -> ModelReply:
            return ask(self.inner, call, asked)

        ruling = self._turns.run(self._turns.rule(asked, self._session, alone=alone), point)
        return _checkable(ruling, asked)

    async def _arule(self, asked: Asked, *, alone: bool = False) -> Ruling:
        async def point(call: ModelCall) -> ModelReply:
            return await aask(self.inner, call, asked)

        rule = self._turns.rule(asked, self._session, alone=alone)
        return _checkable(await self._turns.arun(rule, point), asked)

    def _sent(
        self, messages: Sequence[ChatMessage], asked: Asked, ruling: Ruling, lent: Lent
    ) -> list[ChatMessage]:
        """Return messages as the model gets them."""
        said = [self._turns.held.put_back(m) for m in messages]
        return prepared_messages(said, asked, ruling, lent)

    def _refused(self, ruling: Ruling, asked: Asked) -> Steps[tuple[str, dict[str, Any]]]:
        """Return the reply of a turn that needs no model, and its verdict for the host.

        Raises:
            RecallMiss: Where the host would read a choice or a query out of it, not a reply.
        """
        text = refusal_text(ruling, asked)
        if asked.purpose == "rewrite":  # the turn goes on: its answer is still to come
            self._turns.rewrote(ruling, asked, text)
            return text, verdict_metadata(ruling.verdict, model_calls=ruling.model_calls)
        metadata = yield from self._turns.finish(ruling, text)
        if asked.may_rewrite:
            self._turns.rewrote(ruling, asked, text)
        if asked.purpose in ("steps", "inner", "pieces") or asked.in_schema:
            raise miss(text)
        return text, metadata

    # -- releasing -----------------------------------------------------------------------------

    def _released(self, response: _R, chunks: Chunks[_R], ended: _Ended[_R]) -> Steps[_R]:
        """Return what may be shown of a whole reply."""
        shown = list(chunks.take(response))
        last = (yield from ended(chunks)) or shown[-1]
        return last.model_copy(update={"delta": None}) if chunks.ruling.gated else last

    def _stream(
        self, source: Iterator[_R], chunks: Chunks[_R], ended: _Ended[_R], lent: Lent
    ) -> Generator[_R, None, None]:
        with self._left_early(chunks.ruling, lent):
            for chunk in source:
                yield from chunks.take(chunk)
        end = self._turns.run(ended(chunks))
        if end is not None:
            yield end

    async def _astream(
        self, source: AsyncIterator[_R], chunks: Chunks[_R], ended: _Ended[_R], lent: Lent
    ) -> AsyncGenerator[_R, None]:
        with self._left_early(chunks.ruling, lent):
            async for chunk in source:
                for shown in chunks.take(chunk):
                    yield shown
        end = await self._turns.arun(ended(chunks))
        if end is not None:
            yield end

    @contextmanager
    def _left_early(self, ruling: Ruling, lent: Lent) -> Iterator[None]:
        """End the turn if its stream fails or nobody reads it to the end."""
        try:
            with self._turns.telling(ruling, lent):
                yield
        except BaseException:
            self._turns.forget(ruling)
            raise


def _checkable(ruling: Ruling, asked: Asked) -> Ruling:
    if asked.purpose == "pieces" and ruling.gated:
        raise ConfigError(
            "FLARE puts an answer together from pieces that cannot be checked one by one",
            hint="put PalaceQueryEngine(engine, palace, llm=model) around the engine, and leave its"
            " own model bare",
        )
    return ruling


def is_alone(asked: Asked, kwargs: Mapping[str, Any]) -> bool:
    """Whether the reply of a call is plain text, with no tools or reasoning steps before it."""
    if asked.reasoning or asked.in_schema or kwargs.get("tools"):
        return False
    return asked.purpose == "answer"


def once(reply: _T) -> Generator[_T, None, None]:
    """Stream one reply."""
    yield reply


async def aonce(reply: _T) -> AsyncGenerator[_T, None]:
    """Stream one reply."""
    yield reply
