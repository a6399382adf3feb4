"""`ChatPalace`: a chat model that looks before it answers.

In: any chat model and a palace. Out: a chat model of the same abilities. It delegates to the
inner model's own generating methods, so callbacks fire once and tools, streams and batches work.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import Field, PrivateAttr, model_validator

from langchain_palace.asking import Asker, unbound
from langchain_palace.gate import ChunkGate, ReplyGate, canned, chunk_of
from langchain_palace.messages import asking, asking_index, text_of, tool_texts
from langchain_palace.session import Call, call_of
from langchain_palace.steps import Steps, arun, run
from langchain_palace.structured import StructuredPalace
from langchain_palace.turns import Plan, Turns, asked_of
from palace import Mempalace, RecallMiss

# What a wrapper takes over from the model it wraps, so that hosts treat it the same.
_TAKEN_OVER = (
    "profile",
    "disable_streaming",
    "output_version",
    "callbacks",
    "tags",
    "metadata",
    "verbose",
)


class Prepared:
    """A model call, ready to be made, or the reply that stands in for it.

    Args:
        gate: What the reply must pass; None where nobody asked anything.
        messages: What the model is sent.
        reply: Set where the model is not called.
    """

    def __init__(
        self,
        gate: ReplyGate | None,
        messages: list[BaseMessage],
        *,
        reply: AIMessage | None = None,
    ) -> None:
        self.gate = gate
        self.messages = messages
        self.reply = reply

    @property
    def is_open(self) -> bool:
        """Whether callbacks may hear the model itself."""
        return self.gate is None or self.gate.is_open


class GatedChatModel(BaseChatModel):
    """A chat model whose replies pass a gate; subclasses say which."""

    inner: BaseChatModel = Field(exclude=True)
    inner_kwargs: dict[str, Any] = Field(default_factory=dict, exclude=True)
    # A cached answer would outlive the memory it rests on, and reach sessions that may not see it.
    cache: Any = False

    @model_validator(mode="before")
    @classmethod
    def _take_over(cls, values: Any) -> Any:  # noqa: ANN401 - pydantic hands in anything
        if not isinstance(values, Mapping) or not isinstance(values.get("inner"), Runnable):
            return values
        inner, kwargs = unbound(values["inner"])
        taken = {name: getattr(inner, name) for name in _TAKEN_OVER}
        return {**taken, "inner_kwargs": kwargs, **values, "inner": inner}

    # -- what hosts ask of the model ---------------------------------------------------------------

    @property
    def _llm_type(self) -> str:
        return f"palace-{self.inner._llm_type}"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return self.inner._identifying_params

    @property
    def model_name(self) -> str | None:
        """Name of the inner model; hosts choose how to ask for structured output by it."""
        names = (getattr(self.inner, name, None) for name in ("model_name", "model", "model_id"))
        return next((name for name in names if isinstance(name, str)), None)

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:  # noqa: ANN401 - a type of LangSmith's
        return self.inner._get_ls_params(stop=stop, **{**self.inner_kwargs, **kwargs})

    def get_token_ids(self, text: str) -> list[int]:
        """Return the token ids of a text as the inner model counts them."""
        return self.inner.get_token_ids(text)

    def get_num_tokens(self, text: str) -> int:
        """Return the length of a text in tokens of the inner model."""
        return self.inner.get_num_tokens(text)

    def get_num_tokens_from_messages(self, *args: Any, **kwargs: Any) -> int:
        """Return the length of messages in tokens of the inner model."""
        return self.inner.get_num_tokens_from_messages(*args, **kwargs)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: Any = None,  # noqa: ANN401 - every provider has forms of its own
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools as the inner model does."""
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        model, bound = unbound(self.inner.bind_tools(tools, **kwargs))
        update = {"inner": model, **self._bound_update(tools, tool_choice)}
        return self.model_copy(update=update).bind(**bound)

    def _bound_update(self, tools: Sequence[Any], tool_choice: object) -> dict[str, Any]:  # noqa: ARG002 - for subclasses
        return {}

    # -- making calls ------------------------------------------------------------------------------

    @abstractmethod
    def _prepare(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Mapping[str, Any]
    ) -> Steps[Prepared]:
        """Return the call to make, or the reply that stands in for it."""

    @abstractmethod
    def _finish(self, prepared: Prepared) -> Steps[None]:
        """Do what is left when a reply has passed."""

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        kwargs = {**self.inner_kwargs, **kwargs}
        prepared = run(self._prepare(messages, stop, kwargs))
        if prepared.reply is not None:
            return _result(prepared.reply)
        self._wait()
        heard = run_manager if prepared.is_open else None
        result = self.inner._generate(prepared.messages, stop=stop, run_manager=heard, **kwargs)
        if prepared.gate is not None:
            result = prepared.gate.result(result)
            run(self._finish(prepared))
        return result

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        kwargs = {**self.inner_kwargs, **kwargs}
        prepared = await arun(self._prepare(messages, stop, kwargs))
        if prepared.reply is not None:
            return _result(prepared.reply)
        await self._await()
        heard = run_manager if prepared.is_open else None
        result = await self.inner._agenerate(
            prepared.messages, stop=stop, run_manager=heard, **kwargs
        )
        if prepared.gate is not None:
            result = prepared.gate.result(result)
            await arun(self._finish(prepared))
        return result

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - whoever streams tells the callbacks
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        kwargs = {**self.inner_kwargs, **kwargs}
        prepared = run(self._prepare(messages, stop, kwargs))
        if prepared.reply is not None:
            yield _only_chunk(prepared.reply)
            return
        self._wait()
        chunks = _inner_chunks(self.inner, prepared.messages, stop, kwargs)
        if prepared.gate is None:
            yield from chunks
            return
        gate = prepared.gate.stream()
        for chunk in chunks:
            yield from gate.feed(chunk)
        yield from gate.close()
        run(self._finish(prepared))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - whoever streams tells the callbacks
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        kwargs = {**self.inner_kwargs, **kwargs}
        prepared = await arun(self._prepare(messages, stop, kwargs))
        if prepared.reply is not None:
            yield _only_chunk(prepared.reply)
            return
        await self._await()
        gate: ChunkGate | None = prepared.gate.stream() if prepared.gate else None
        async for chunk in _inner_achunks(self.inner, prepared.messages, stop, kwargs):
            for passed in gate.feed(chunk) if gate else [chunk]:
                yield passed
        if gate is not None:
            for passed in gate.close():
                yield passed
            await arun(self._finish(prepared))

    def _wait(self) -> None:
        if self.inner.rate_limiter:
            self.inner.rate_limiter.acquire(blocking=True)

    async def _await(self) -> None:
        if self.inner.rate_limiter:
            await self.inner.rate_limiter.aacquire(blocking=True)


class ChatPalace(GatedChatModel):
    """A chat model that looks into the palace first.

    For a question about something that is not remembered it answers by itself, honestly, and the
    inner model is not called. With evidence the inner model is called with it and its answer is
    checked; with unclear evidence it first has to point to the words that answer. Everything else
    passes as it is. The verdict is in `response_metadata["palace"]`.

    Streaming: checked text is released sentence by sentence, so the first token comes with the
    end of the first sentence; what is not checked streams as the inner model streams.

    Args:
        inner: The model to wrap, also with tools or arguments bound.
        palace: The open palace.
        session_id: The session of calls whose config names none. A config names it as
            `{"configurable": {"session_id": …}}` or `thread_id`.
        project: The project of calls whose config names none (`{"configurable": {"project": …}}`).

    Example:
        >>> model = ChatPalace(inner=model, palace=palace)  # doctest: +SKIP
        >>> model.invoke("When did we ship 4.1.0?").content  # doctest: +SKIP
        'You shipped 4.1.0 on 2026-03-02 [1].'
    """

    palace: Mempalace = Field(exclude=True)
    session_id: str | None = None
    project: str | None = None
    forced_tools: int = Field(default=0, exclude=True)
    _turns: Turns = PrivateAttr()
    _call: Call | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:  # noqa: ANN401 - pydantic's
        """Set up what the copies of this model share."""
        super().model_post_init(context)
        self._turns = Turns(self.palace)

    # -- entry points: who asks --------------------------------------------------------------------

    def invoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """Answer; see the class."""
        return BaseChatModel.invoke(self._called(config), input, config, stop=stop, **kwargs)

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """Answer; see the class."""
        called = self._called(config)
        return await BaseChatModel.ainvoke(called, input, config, stop=stop, **kwargs)

    def stream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> Iterator[AIMessageChunk]:
        """Answer in chunks; see the class."""
        return BaseChatModel.stream(self._called(config), input, config, stop=stop, **kwargs)

    async def astream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AIMessageChunk]:
        """Answer in chunks; see the class."""
        called = self._called(config)
        async for chunk in BaseChatModel.astream(called, input, config, stop=stop, **kwargs):
            yield chunk

    def stream_events(self, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: ANN401 - overloads of LangChain's
        """Answer in events of the session that the config names."""
        return BaseChatModel.stream_events(self._called(config), input, config, **kwargs)

    def astream_events(self, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: ANN401 - overloads of LangChain's
        """Answer in events of the session that the config names."""
        return BaseChatModel.astream_events(self._called(config), input, config, **kwargs)

    def _called(self, config: RunnableConfig | None) -> ChatPalace:
        """Return a copy that knows who asks: a config never reaches the generating methods."""
        called = self.model_copy()
        called._call = call_of(config, session_id=self.session_id, project=self.project)
        return called

    # -- structured output -------------------------------------------------------------------------

    def with_structured_output(
        self,
        schema: dict[str, Any] | type,
        *,
        include_raw: bool = False,
        on_miss: Callable[[str], Any] | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, Any]:
        """Return a runnable that answers in a schema, or says that there is no answer.

        Args:
            schema: As the inner model takes it.
            include_raw: As the inner model takes it.
            on_miss: Called with the reply in words when nothing is remembered; what it returns is
                the result. Without it `RecallMiss` is raised.
            **kwargs: As the inner model takes them.
        """
        made = self.inner.with_structured_output(schema, include_raw=include_raw, **kwargs)
        return StructuredPalace(model=self, bound=made, include_raw=include_raw, on_miss=on_miss)

    def _bound_update(self, tools: Sequence[Any], tool_choice: object) -> dict[str, Any]:
        forced = tool_choice not in (None, False, "auto", "none")
        return {"forced_tools": len(tools) if forced else 0}

    # -- the turn ----------------------------------------------------------------------------------

    def plan(
        self,
        messages: Sequence[BaseMessage],
        call: Call,
        *,
        alone: bool,
        stop: list[str] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> Steps[Plan | None]:
        """Decide and settle the turn of a conversation; None if nobody asks anything."""
        index = asking_index(messages)
        if index is None:
            return None
        plan = self._turns.under_way(messages, call)
        if plan is not None:
            return plan
        plan = yield from self._turns.decide(
            **asked_of(messages, index), call=call, handlers=self.callbacks
        )
        asker = Asker(self.inner, messages, index, stop=stop, kwargs=kwargs)
        options = yield self._turns.options()
        plan = yield from self._turns.settle(plan, call, options, asker, alone=alone)
        plan = replace(plan, usage=asker.usage)
        self._turns.keep(plan, messages, call)
        if plan.model_calls and plan.stops:
            yield self._turns.record(plan, plan.reply(options), None, 0)
        return plan

    def _prepare(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Mapping[str, Any]
    ) -> Steps[Prepared]:
        call = self._call or call_of(None, session_id=self.session_id, project=self.project)
        shaped = bool(kwargs.get("tools") or kwargs.get("functions") or self._must_fit(kwargs))
        plan = yield from self.plan(messages, call, alone=not shaped, stop=stop, kwargs=kwargs)
        if plan is None:
            return Prepared(None, messages)
        options = yield self._turns.options()
        if plan.stops:
            if self._must_fit(kwargs):
                raise RecallMiss(
                    plan.reply(options),
                    hint="the caller wants an answer in a schema, and there is none to give",
                )
            return Prepared(None, messages, reply=canned(plan, options))
        index = asking_index(messages)
        assert index is not None
        gate = ReplyGate(
            plan,
            options,
            tool_texts=tool_texts(messages, index),
            structured=() if self._is_answer_structured(plan, kwargs) else None,
        )
        said = text_of(messages[index])
        text = plan.user_text(options, said=said)
        sent = messages if text == said else asking(messages, index, text)
        return Prepared(gate, sent)

    def _finish(self, prepared: Prepared) -> Steps[None]:
        gate = prepared.gate
        if gate is not None and not gate.is_open:
            yield self._turns.record(gate.plan, gate.text, gate.checked, 1)

    def _must_fit(self, kwargs: Mapping[str, Any]) -> bool:
        """Whether a reply in words would not be understood, as in a loop that waits for a tool."""
        return bool(self.forced_tools or kwargs.get("response_format"))

    def _is_answer_structured(self, plan: Plan, kwargs: Mapping[str, Any]) -> bool:
        """Whether arguments of a tool are the answer, as far as can be told from here."""
        unclear = plan.verdict.outcome == "near_miss"
        forced = self.forced_tools == 1 or (self.forced_tools > 1 and unclear)
        return bool(forced or kwargs.get("response_format"))


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


def _only_chunk(message: AIMessage) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=chunk_of(message))


def _streams(
    model: BaseChatModel, kwargs: Mapping[str, Any], which: Literal["sync", "any"]
) -> bool:
    own = type(model)
    sync = own._stream is not BaseChatModel._stream
    any_of_both = sync or own._astream is not BaseChatModel._astream
    if model.disable_streaming is True or (
        model.disable_streaming == "tool_calling" and kwargs.get("tools")
    ):
        return False
    return sync if which == "sync" else any_of_both


def _inner_chunks(
    model: BaseChatModel,
    messages: list[BaseMessage],
    stop: list[str] | None,
    kwargs: Mapping[str, Any],
) -> Iterator[ChatGenerationChunk]:
    if _streams(model, kwargs, "sync"):
        yield from model._stream(messages, stop=stop, **kwargs)
        return
    result = model._generate(messages, stop=stop, **kwargs)
    yield _chunk_of_result(result)


async def _inner_achunks(
    model: BaseChatModel,
    messages: list[BaseMessage],
    stop: list[str] | None,
    kwargs: Mapping[str, Any],
) -> AsyncIterator[ChatGenerationChunk]:
    if _streams(model, kwargs, "any"):
        async for chunk in model._astream(messages, stop=stop, **kwargs):
            yield chunk
        return
    yield _chunk_of_result(await model._agenerate(messages, stop=stop, **kwargs))


def _chunk_of_result(result: ChatResult) -> ChatGenerationChunk:
    generation = result.generations[0]
    message = generation.message
    whole = message if isinstance(message, AIMessage) else AIMessage(text_of(message))
    info = generation.generation_info
    return ChatGenerationChunk(message=chunk_of(whole), generation_info=info)
