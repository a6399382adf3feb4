"""What all calls of the wrapper share: the wrapped model, the palace, and the ruling of a turn.

In: what a call is about. Out: a `Ruling`, made before the wrapped model is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

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
from llama_index_palace.heard import Reply, TellsItself, expect, hear, unheard, unheard_stream
from llama_index_palace.pointing import ask
from llama_index_palace.questions import HOST_REWRITES, Asked, asked_in_messages, asked_in_prompt
from llama_index_palace.replies import Chunks, is_step, prepared_messages, refusal_text
from llama_index_palace.session import PalaceSession, current_session, known_question
from llama_index_palace.structured import Answers, miss
from llama_index_palace.turns import Lent, Ruling, Turns
from palace import ConfigError, hosting

_T = TypeVar("_T")
_R = TypeVar("_R", ChatResponse, CompletionResponse)
# What hosts read and set of a model besides its calls.
SHARED = tuple(LLM.model_fields)
# What the contract of an answer says around the evidence, estimated, and the share of a window
# that is kept free at most.
_CONTRACT_TOKENS = 200
_MOST_KEPT_FREE = 4


@dataclass(frozen=True, slots=True)
class HostCall(Generic[_R]):
    """A call of the host's.

    Attributes:
        form: The chunks of its reply.
        asked: What it asks.
        kwargs: What the host gives the model beside that.
        step: Returns the call of the wrapped model.
    """

    form: type[Chunks[_R]]
    asked: Asked
    kwargs: Mapping[str, Any]
    step: Callable[[Ruling, Lent], hosting.Step[Any]]


class WrappedLLM(FunctionCallingLLM, TellsItself):
    """The fields of `PalaceLLM` and its decisions; the calls are in its subclasses."""

    inner: LLM
    palace: Any = Field(exclude=True)
    session_id: str | None = None
    project: str | None = None
    _rewrites: tuple[re.Pattern[str], ...] = PrivateAttr(default=())
    _direct: frozenset[str] = PrivateAttr(default=frozenset())
    _models: frozenset[str] = PrivateAttr(default=frozenset())

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
    def _turns(self) -> Turns:
        return hosting.of_palace(self, Turns)

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
        asked = asked_in_messages(
            messages,
            question=known_question(),
            rewrites=self._rewrites,
            models=self._models,
        )
        if not asked.reasoning:
            return asked
        never = self._direct & self._models
        return replace(asked, answers=Answers(direct=self._direct, never=never))

    def _asked_in(self, prompt: str) -> Asked:
        if not isinstance(prompt, str):
            raise ConfigError(
                f"{type(prompt).__name__} is no text",
                hint="complete takes a text, predict a PromptTemplate, chat a list of ChatMessage",
            )
        known = (*self._rewrites, *HOST_REWRITES)
        return asked_in_prompt(prompt, question=known_question(), rewrites=known)

    def _rule(self, asked: Asked, *, alone: bool = False) -> hosting.Steps[Ruling]:
        hear()  # a host may have set other handlers since
        point = partial(ask, self.inner, asked)
        ruling = yield from self._turns.rule(asked, self._session, point, alone=alone)
        if asked.purpose == "pieces" and ruling.is_checked:
            raise ConfigError(
                "FLARE puts an answer together from pieces that cannot be checked one by one",
                hint="put PalaceQueryEngine(engine, palace, llm=model) around the engine, and leave"
                " its own model bare",
            )
        return ruling

    def _sent(
        self, messages: Sequence[ChatMessage], asked: Asked, ruling: Ruling, lent: Lent
    ) -> list[ChatMessage]:
        """Return messages as the model gets them."""
        said = [self._turns.held.put_back(m) for m in messages]
        return prepared_messages(said, asked, ruling, lent)

    def _refused(self, ruling: Ruling, asked: Asked) -> hosting.Steps[tuple[str, dict[str, Any]]]:
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
        if asked.purpose in ("steps", "inner", "pieces") or asked.in_schema or asked.demanded:
            raise miss(text)
        return text, metadata

    # -- replying ------------------------------------------------------------------------------

    def _whole(self, call: HostCall[_R]) -> hosting.Steps[_R]:
        """Reply at once."""
        chunks, lent = yield from self._begun(call)
        ruling = chunks.ruling
        if lent is None:
            return (yield from self._refusal(chunks))
        with self._turns.telling(ruling, lent):
            response: _R = yield _call_step(call, ruling, lent)
        shown = list(chunks.take(response))
        last = (yield from self._ended(chunks)) or shown[-1]
        return last.model_copy(update={"delta": None}) if ruling.is_checked else last

    def _streamed(self, call: HostCall[_R]) -> hosting.Steps[hosting.Pieces[_R]]:
        """Return a reply that streams; it is decided before."""
        chunks, lent = yield from self._begun(call)
        if lent is None:
            reply = yield from self._refusal(chunks)
            return _once(reply)
        with self._turns.telling(chunks.ruling, lent):
            source = yield _call_step(call, chunks.ruling, lent)
        if chunks.ruling.gates(call.asked):
            source = unheard_stream(source)
        return self._pieces(source, chunks, lent)

    def _begun(self, call: HostCall[_R]) -> hosting.Steps[tuple[Chunks[_R], Lent | None]]:
        """Decide a call; what it has of the wake-up is None where the model is not called."""
        asked = call.asked
        in_steps = asked.reasoning or asked.in_schema or bool(call.kwargs.get("tools"))
        alone = asked.purpose == "answer" and not in_steps
        ruling = yield from self._rule(asked, alone=alone)
        return call.form(ruling, asked), None if ruling.stops else ruling.lend(asked)

    def _refusal(self, chunks: Chunks[_R]) -> hosting.Steps[_R]:
        text, metadata = yield from self._refused(chunks.ruling, chunks.asked)
        reply: _R = chunks.reply(text, metadata, delta=text)
        return reply

    def _pieces(self, source: Any, chunks: Chunks[_R], lent: Lent) -> hosting.Pieces[_R]:
        with self._left_early(chunks.ruling, lent):
            yield from hosting.relay(source, lambda chunk: map(hosting.Shown, chunks.take(chunk)))
        end = yield from self._ended(chunks)
        if end is not None:
            yield hosting.Shown(end)

    def _ended(self, chunks: Chunks[_R]) -> hosting.Steps[_R | None]:
        """End a reply: the last chunk of a gated one, with what is left and the whole verdict."""
        ruling, asked, said = chunks.ruling, chunks.asked, chunks.said.text
        last: _R
        if asked.purpose == "rewrite" and ruling.is_checked and not said.strip():
            # an empty question is under nobody's ruling
            last = chunks.reply(ruling.words, chunks.metadata, delta=ruling.words)
            return last
        self._turns.rewrote(ruling, asked, said)
        if asked.purpose != "answer":
            return None
        calls = chunks.calls(self.inner)
        if not ruling.is_checked:
            ruling.goes_on = is_step(said, asked, calls_tools=bool(calls))
            if not ruling.goes_on:
                yield from self._turns.finish(ruling, said, calls=1)
            return None
        screen = chunks.screen
        rest = screen.close(calls)
        checked = screen.checked
        ruling.goes_on = checked is None
        if checked is not None:
            released = screen.released
            metadata = yield from self._turns.finish(ruling, released, checked=checked, calls=1)
            screen.demand_support()
            self._turns.rewrote(ruling, asked, released)
            if not screen.lets_calls:
                last = chunks.reply(released, metadata, delta=rest, spent=chunks.spent)
                return last
        for agent in screen.handed_to:
            hosting.tell_handed_over(agent)
        for tool, given in screen.shown:
            check, record = partial(ruling.check, asked), partial(self._turns.record_direct, ruling)
            expect(tool, given, Reply(check, record, is_known=tool in asked.answers.direct))
        return chunks.step(rest, self.inner, self._turns.held)

    @contextmanager
    def _left_early(self, ruling: Ruling, lent: Lent) -> Iterator[None]:
        """End the turn if its stream fails or nobody reads it to the end."""
        try:
            with self._turns.telling(ruling, lent):
                yield
        except BaseException:
            self._turns.forget(ruling)
            raise


def _call_step(call: HostCall[Any], ruling: Ruling, lent: Lent) -> hosting.Step[Any]:
    step = call.step(ruling, lent)
    return unheard(step) if ruling.gates(call.asked) else step


def _once(reply: _T) -> hosting.Pieces[_T]:
    yield hosting.Shown(reply)
