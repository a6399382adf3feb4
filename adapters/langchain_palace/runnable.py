"""`PalaceRunnable`: any chain, with a look into the palace before it runs.

In: a chain that takes a question, a dict with one, or messages. Out: the same chain, which does
not run for a question about something that is not remembered.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from inspect import signature
from traceback import walk_tb
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import BaseLLMOutputParser
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import (
    Runnable,
    RunnableBranch,
    RunnableConfig,
    RunnableLambda,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableBindingBase, coerce_to_runnable
from langchain_core.runnables.utils import ConfigurableFieldSpec, get_unique_config_specs
from langchain_core.utils.pydantic import TypeBaseModel
from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from langchain_palace.asking import streamed_run, whole_run
from langchain_palace.gate import ReplyGate, canned, check_values
from langchain_palace.heard import HeardTools, hearing_tools
from langchain_palace.messages import text_of
from langchain_palace.outputs import Given, Output
from langchain_palace.own_run import OwnRun
from langchain_palace.questions import Question, question_in
from langchain_palace.session import (
    Call,
    OpenPalace,
    ToolNames,
    call_of,
    known_fields,
)
from langchain_palace.streams import quiet, running
from langchain_palace.turns import Plan, Turns
from palace import ConfigError, Mempalace, ModelCall, ModelReply, RecallMiss, hosting

_log = logging.getLogger(__name__)
# By what a chain keeps its conversation, and where that may be.
_KEEPERS = {
    "get_session_history": "put the history",
    "memory": "give it no memory and keep the history",
    "checkpointer": "compile it without a checkpointer and keep the history",
}
# What a graph may be asked for, so that it tells its states and nothing else.
_WHOLE: dict[str, tuple[object, ...]] = {
    "stream_mode": (None, "values"),
    "subgraphs": (None, False),
    "version": (None, "v1"),
}
# What parsers raise.
_UNREAD = (OutputParserException, ValidationError, json.JSONDecodeError)
_SESSION_SPEC = ConfigurableFieldSpec(
    id="session_id",
    annotation=str,
    name="Session",
    description="The session whose notes and memories may be read.",
    default=None,
    is_shared=True,
)


def _without_memory(bound: Any) -> Runnable[Any, Any]:
    """Return what is to be wrapped as a runnable that keeps no conversation.

    Raises:
        ConfigError: If it keeps one, or is nothing that runs.
    """
    try:
        chain: Runnable[Any, Any] = coerce_to_runnable(bound)
    except TypeError as error:
        raise ConfigError(
            f"{type(bound).__name__} is no chain",
            hint="wrap a runnable, a function or a dict of them",
        ) from error
    for part in _parts(chain):
        # Its own fields alone: a model that a config chooses makes one to tell of others.
        keeper = next((name for name in _KEEPERS if vars(part).get(name)), None)
        if keeper is not None:
            raise ConfigError(
                f"{type(part).__name__} keeps the conversation itself: what it was sent and what"
                " was said, before anything of it is checked",
                hint=f"{_KEEPERS[keeper]} around the PalaceRunnable, or put ChatPalace or"
                " PalaceMiddleware where the model is called",
            )
    return chain


def _parts(chain: Runnable[Any, Any]) -> Iterator[Runnable[Any, Any]]:
    """Yield a chain and the chains in it that it shows."""
    yield chain
    inner: list[Runnable[Any, Any]] = []
    if isinstance(chain, RunnableSequence):
        inner = chain.steps
    elif isinstance(chain, RunnableBindingBase):
        inner = [chain.bound]
    elif isinstance(chain, RunnableBranch):
        inner = [*(branch for _, branch in chain.branches), chain.default]
    elif isinstance(chain, RunnableWithFallbacks):
        inner = [*chain.runnables]
    for part in inner:
        yield from _parts(part)


class PalaceRunnable(OwnRun[Any, Any]):
    """Any chain, behind the palace.

    What the chain gets is its own input with the question replaced: by the question with evidence
    where there is some, else by itself. What it returns is checked: text, messages and the values
    of objects. Text streams sentence by sentence where it is checked; anything else, and what a
    chain without a declared output type returns, comes whole then.

    A chain that keeps the conversation itself would keep what it was sent, evidence included, and
    what its model said before that was checked. It is refused: a message history belongs around
    this one (`RunnableWithMessageHistory(PalaceRunnable(...))`), and an agent with a checkpointer
    gets `PalaceMiddleware` instead.

    Args:
        bound: The chain, or a function.
        palace: The open palace.
        input_key: Where the question is, for a chain that takes a dict; found by itself if it is
            `input`, `question`, `query` or `messages`.
        session_id: The session of calls whose config names none.
        project: The project of calls whose config names none.
        on_miss: Called with the reply in words when the chain does not run, or its model declines
            in an object; what it returns is the result. By default that is the text, or a message
            if the chain returns messages; for a chain that declares anything else, or ends with a
            parser, `RecallMiss` is raised.
        model_tools: Names of tools of an agent behind which a model answers that cannot be heard,
            as one in another process: its words are no evidence.

    Raises, when it is made:
        ConfigError: If the chain has a message history, a memory or a checkpointer, the palace is
            not open, or the list of names is one text.

    Raises, when it runs:
        ConfigError: If it is a graph and asked for anything but its whole states: a `stream_mode`
            other than `values`, `subgraphs`, or `version="v2"`.
    """

    bound: Annotated[Runnable[Any, Any], BeforeValidator(_without_memory)] = Field(exclude=True)
    palace: OpenPalace = Field(exclude=True)
    input_key: str | None = None
    session_id: str | None = None
    project: str | None = None
    on_miss: Callable[[str], Any] | None = Field(default=None, exclude=True)
    model_tools: ToolNames = frozenset()

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _know_fields(cls, values: Any) -> Any:
        return known_fields(cls, values)

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            bound: Runnable[Any, Any] | Callable[..., Any],
            palace: Mempalace,
            input_key: str | None = None,
            session_id: str | None = None,
            project: str | None = None,
            on_miss: Callable[[str], Any] | None = None,
            model_tools: Collection[str] = (),
            name: str | None = None,
        ) -> None: ...

    def __getstate__(self) -> dict[Any, Any]:
        self.palace.__reduce__()  # says so before what cannot be pickled in the chain does

    @property
    def _turns(self) -> Turns:
        return hosting.of_palace(self, Turns)

    @property
    def InputType(self) -> Any:  # noqa: N802 - LangChain's name
        """What the chain takes."""
        return self.bound.InputType

    @property
    def OutputType(self) -> Any:  # noqa: N802 - LangChain's name
        """What the chain returns."""
        return self.bound.OutputType

    def get_input_schema(self, config: RunnableConfig | None = None) -> TypeBaseModel:
        """Return the schema of what the chain takes, for `as_tool` and servers."""
        return self.bound.get_input_schema(config)

    def get_output_schema(self, config: RunnableConfig | None = None) -> TypeBaseModel:
        """Return the schema of what the chain returns."""
        return self.bound.get_output_schema(config)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What a config may name: what the chain takes, and the session."""
        return list(get_unique_config_specs([*self.bound.config_specs, _SESSION_SPEC]))

    def _whole(
        self, input: Any, config: RunnableConfig, kwargs: Mapping[str, Any]
    ) -> hosting.Steps[Any]:
        _demand_whole_states(kwargs)
        question, plan = yield from self._planned(input, config, kwargs)
        if plan.stops:
            return self._missed(plan)
        seen = quiet(config) if plan.is_checked else config
        given = _given(input, question, plan.user_text(question.text))
        return (yield from self._answered(given, plan, seen, kwargs))

    def _answered(
        self, given: Given, plan: Plan, config: RunnableConfig, kwargs: Mapping[str, Any]
    ) -> hosting.Steps[Any]:
        """Run the chain and return what may be released of what it returns."""
        try:
            with self._turns.telling(plan), hearing_tools() as heard, running(config):
                out = yield whole_run(self.bound, given.sent_input, config, kwargs)
            return (yield from self._passed(out, given, plan, heard))
        except RecallMiss as declined:
            yield self._turns.declined(plan, declined)
            if self.on_miss is None:
                raise
            return self.on_miss(declined.message)

    def _planned(
        self, input: Any, config: RunnableConfig, kwargs: Mapping[str, Any]
    ) -> hosting.Steps[tuple[Question, Plan]]:
        call = self._call(config)
        found = question_in(input, self.input_key)
        question, plan = yield from self._turns.decide_all(found, call)
        decided = plan

        def ask(wanted: ModelCall) -> hosting.Steps[ModelReply]:
            given = _given(input, question, wanted.user_text)
            unheard = quiet(config)
            try:
                with running(unheard):
                    out = yield whole_run(self.bound, given.sent_input, unheard, kwargs)
            except ValueError as error:  # what parsers raise, and hosts of theirs in their place
                _tell_unread(error)
                return ModelReply()
            return _reply(out, given, decided)

        alone = _kind(self.bound) in ("text", "message")
        plan = yield from self._turns.settle(plan, call, ask, alone=alone)
        return question, plan

    def _passed(self, out: Any, given: Given, plan: Plan, heard: HeardTools) -> hosting.Steps[Any]:
        """Return what may be released of what the chain returned."""
        self._turns.replied(plan)
        gate = ReplyGate(plan)
        if isinstance(out, AIMessage):
            out = gate.message(out)
        elif plan.is_checked and isinstance(out, str):
            gate.checked = plan.check().check(out)
            out = gate.text = gate.checked.text
        elif plan.is_checked:
            read = Output(out, given, plan, self.model_tools, heard)
            gate, out = read.gate, read.value
            if read.claims:
                gate.checked = check_values(plan.check(), read.claims, read.claims)
        else:
            out = given.undone(out)
        if plan.is_checked:
            yield self._turns.record(plan, gate.text, gate.checked, 1)
        return out

    def _call(self, config: RunnableConfig) -> Call:
        return call_of(config, session_id=self.session_id, project=self.project)

    def _missed(self, plan: Plan) -> Any:
        text = plan.reply
        if self.on_miss is not None:
            return self.on_miss(text)
        kind = _kind(self.bound)
        if kind == "object":
            raise RecallMiss(text, hint="pass on_miss=… to get a value instead")
        return canned(plan) if kind == "message" else text

    # -- in chunks ---------------------------------------------------------------------------------

    def _pieces(
        self, input: Any, config: RunnableConfig, kwargs: Mapping[str, Any]
    ) -> hosting.Pieces[Any]:
        _demand_whole_states(kwargs)
        question, plan = yield from self._planned(input, config, kwargs)
        if plan.stops:
            yield hosting.Shown(self._missed(plan))
            return
        config = quiet(config) if plan.is_checked else config
        given = _given(input, question, plan.user_text(question.text))
        if plan.is_checked and _kind(self.bound) not in ("text", "message"):
            yield hosting.Shown((yield from self._answered(given, plan, config, kwargs)))
            return
        gate = _StreamGate(plan, given)
        with self._turns.telling(plan):
            begun = yield streamed_run(self.bound, given.sent_input, config, kwargs)
            yield from hosting.relay(begun, lambda chunk: map(hosting.Shown, gate.feed(chunk)))
        yield from map(hosting.Shown, gate.close())
        self._turns.replied(plan)
        if plan.is_checked:
            yield self._turns.record(plan, gate.reply.text, gate.reply.checked, 1)


class _StreamGate:
    """The gate for chunks of a chain: text, or chunks of messages."""

    def __init__(self, plan: Plan, given: Given) -> None:
        self._given = given
        self.reply = ReplyGate(plan)
        self._chunks = self.reply.stream()
        self._is_text = False

    def feed(self, chunk: Any) -> list[Any]:
        if isinstance(chunk, AIMessage) and not isinstance(chunk, AIMessageChunk):
            return [self.reply.message(chunk)]
        if isinstance(chunk, AIMessageChunk):
            return [c.message for c in self._chunks.feed(ChatGenerationChunk(message=chunk))]
        if self.reply.is_open:
            return [self._given.undone(chunk)]
        self._is_text = True
        text = chunk if isinstance(chunk, str) else str(chunk)
        fed = self._chunks.feed(ChatGenerationChunk(message=AIMessageChunk(content=text)))
        return [text_of(c.message) for c in fed]

    def close(self) -> list[Any]:
        rest = [c.message for c in self._chunks.close()]
        return [text_of(m) for m in rest if text_of(m)] if self._is_text else rest


def _demand_whole_states(kwargs: Mapping[str, Any]) -> None:
    """Refuse to have a graph tell pieces, whatever the question: on evidence none could be told.

    Raises:
        ConfigError: If pieces are asked for, or the form in which they are told.
    """
    for name, whole in _WHOLE.items():
        if kwargs.get(name) not in whole:
            raise ConfigError(
                f"a PalaceRunnable cannot check what a graph tells with {name}={kwargs[name]!r}",
                hint="put PalaceMiddleware into the agent, which streams in every mode, or stream"
                " the values of the graph",
            )


def _kind(bound: Runnable[Any, Any]) -> str:
    """Say whether a chain returns a `message`, `text`, an `object`, or does not say (`unknown`)."""
    try:
        declared = bound.OutputType
        if isinstance(declared, str) and isinstance(bound, RunnableLambda):
            declared = _written_out(bound)
    except (NameError, TypeError):
        return "unknown"
    if declared is Any or isinstance(declared, (str, TypeVar)):
        return _kind_of_part(bound)
    if declared is str:
        return "text"
    is_message = any(issubclass(one, BaseMessage) for one in _classes(declared))
    return "message" if is_message else "object"


def _written_out(function: RunnableLambda[Any, Any]) -> Any:
    """Return what a function returns where its module keeps annotations as text.

    Raises:
        NameError: If it was imported for a type checker alone.
    """
    called = function.func if hasattr(function, "func") else function.afunc
    return signature(called, eval_str=True).return_annotation


def _classes(declared: Any) -> Iterator[type]:
    """Yield the classes in a declared type."""
    parts = get_args(declared)
    if not parts and isinstance(declared, type):
        yield declared
    for part in parts:
        yield from _classes(part)


def _kind_of_part(bound: Runnable[Any, Any]) -> str:
    """Say what a chain without a declared output type returns by what stands at its end."""
    if isinstance(bound, RunnableSequence):
        return _kind(bound.last)
    if isinstance(bound, RunnableBindingBase):
        return _kind(bound.bound)
    if isinstance(bound, RunnableWithFallbacks):
        return _kind(bound.runnable)
    if isinstance(bound, RunnableBranch):
        kinds = {_kind(bound.default), *(_kind(branch) for _, branch in bound.branches)}
        return kinds.pop() if len(kinds) == 1 else "unknown"
    if isinstance(bound, BaseLLMOutputParser):
        return "object"
    # A chat model whose class is only known when it runs.
    return "message" if hasattr(bound, "bind_tools") else "unknown"


def _given(input: object, question: Question, sent: str) -> Given:
    """Return the input of a chain with another text in place of the person's words.

    With the same words it is the input as it came.
    """
    given = input if sent == question.text else question.replaced(sent)
    return Given(input, question.text, given, sent)


def _tell_unread(error: ValueError) -> None:
    """Warn of a quote that could not be read where no parser says so.

    It may be a fault of the program, which must not look like a gap in the memory; what it says is
    left out, for it may repeat what the model said.
    """
    if not _is_unread(error):
        kind = type(error).__name__
        place = _place_of(error)
        _log.warning("%s of the chain is taken for a quote that cannot be read: %s", kind, place)


def _is_unread(error: BaseException | None) -> bool:
    """Whether a parser raised an error, or what it comes from."""
    if error is None or isinstance(error, _UNREAD):
        return error is not None
    return _is_unread(error.__cause__ or error.__context__)


def _place_of(error: ValueError) -> str:
    *_, (frame, line) = walk_tb(error.__traceback__)
    return f"{frame.f_code.co_filename}:{line}"


def _reply(out: object, given: Given, plan: Plan) -> ModelReply:
    """Read what a chain returned for a call of ours: one text, or a quote that it read itself."""
    if isinstance(out, Mapping) and "quote" in out:
        return ModelReply(arguments=out)
    texts = Output(out, given, plan).texts
    return ModelReply(texts[0]) if len(texts) == 1 else ModelReply()
