"""`ChatPalace`: a chat model that looks before it answers.

In: any chat model and a palace. Out: a chat model of the same abilities. It delegates to the
inner model's own generating methods, so callbacks fire once and tools, streams and batches work.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

from langchain_palace.arguments import SHAPING, direct_tools, forced_tools, tool_name, wants_format
from langchain_palace.asking import Asker
from langchain_palace.chat_runnable import ChatRunnable
from langchain_palace.errands import errand_of, is_clerical
from langchain_palace.gate import NOTHING_TO_FIT, ReplyGate, canned
from langchain_palace.gated_model import DESCRIPTION, GatedChatModel, Prepared
from langchain_palace.messages import asking_index, is_system, is_tools, text_of, tool_texts
from langchain_palace.questions import question_at
from langchain_palace.schemas import wanted_schema
from langchain_palace.session import Call, OpenPalace, ToolNames, call_of
from langchain_palace.structured import StructuredPalace
from langchain_palace.turns import Plan, Turns, key_of, told_in_loop
from palace import Mempalace, RecallMiss, hosting, is_choice


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
        direct_tools: Names of tools whose result reaches the person, beside bound ones that say so
            (`return_direct`): what the model states to one is checked.
        model_tools: Names of tools behind which a model answers, as a sub-agent without a palace:
            its words are no evidence, and where they are the reply the memory stands instead.

    Raises, when it is made:
        ConfigError: If the palace is not open, or a list of names is one text.

    Example:
        >>> model = ChatPalace(inner=model, palace=palace)  # doctest: +SKIP
        >>> model.invoke("When did we ship 4.1.0?").content  # doctest: +SKIP
        'You shipped 4.1.0 on 2026-03-02 [1].'
    """

    palace: OpenPalace = Field(exclude=True)
    session_id: str | None = None
    project: str | None = None
    forced_tools: int = Field(default=0, exclude=True)
    # Names of bound tools that do work, beside ones that only hold an answer in a schema.
    working_tools: frozenset[str] | None = Field(default=None, exclude=True)
    direct_tools: ToolNames = Field(default=frozenset(), exclude=True)
    model_tools: ToolNames = Field(default=frozenset(), exclude=True)
    _call: Call | None = PrivateAttr(default=None)

    if TYPE_CHECKING:
        # The field holds the model alone; what is bound to it is taken over.
        def __init__(
            self,
            *,
            inner: Runnable[LanguageModelInput, AIMessage],
            palace: Mempalace,
            session_id: str | None = None,
            project: str | None = None,
            direct_tools: Collection[str] = (),
            model_tools: Collection[str] = (),
            **more: Any,
        ) -> None: ...

    def __getstate__(self) -> dict[Any, Any]:
        self.palace.__reduce__()  # says so before what cannot be pickled in the model does

    @property
    def _turns(self) -> Turns:
        return hosting.of_palace(self, Turns)

    # -- entry points: who asks --------------------------------------------------------------------

    def invoke(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        """Answer; see the class."""
        called, config = self._called(config)
        return BaseChatModel.invoke(called, input, config, **kwargs)

    async def ainvoke(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        """Answer; see the class."""
        called, config = self._called(config)
        return await BaseChatModel.ainvoke(called, input, config, **kwargs)

    def stream(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[AIMessageChunk]:
        """Answer in chunks; see the class."""
        called, config = self._called(config)
        return BaseChatModel.stream(called, input, config, **kwargs)

    def astream(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessageChunk]:
        """Answer in chunks; see the class."""
        called, config = self._called(config)
        return BaseChatModel.astream(called, input, config, **kwargs)

    def stream_events(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Answer in events of the session that the config names."""
        called, config = self._called(config)
        return BaseChatModel.stream_events(called, input, config, **kwargs)

    def astream_events(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Answer in events of the session that the config names."""
        called, config = self._called(config)
        return BaseChatModel.astream_events(called, input, config, **kwargs)

    def _called(self, config: RunnableConfig | None) -> tuple[ChatPalace, RunnableConfig]:
        """Return a copy that knows who asks, for a config never reaches the generating methods.

        The config names the run, so that the look into memory shows as a part of it.
        """
        # LangChain describes a model to callbacks once and keeps that. Asked for here, it is
        # shared by the copies, each of which would make its own: a fifth of what a call costs.
        # So are the turns.
        getattr(self, DESCRIPTION, None)
        hosting.of_palace(self, Turns)
        called = self.model_copy()
        called._call = call = self.call_of(config, is_run=True)
        if isinstance(self.inner, ChatRunnable):
            named = {"configurable": call.config.get("configurable")}
            called.inner = self.inner.model_copy(update=named)
        return called, {**(config or {}), "run_id": call.run_id}

    def call_of(self, config: RunnableConfig | None, *, is_run: bool = False) -> Call:
        """Return who asks this model with a config; see `session.call_of`."""
        return call_of(
            config,
            session_id=self.session_id,
            project=self.project,
            handlers=self.callbacks,
            is_run=is_run,
        )

    def with_fallbacks(  # type: ignore[override]
        self, fallbacks: Sequence[Runnable[LanguageModelInput, AIMessage]], **options: Any
    ) -> ChatPalace:
        """Return the same with other models for where the inner one fails: a miss is no failure."""
        models = self.inner.with_fallbacks(fallbacks, **options)
        return self.model_copy(update={"inner": ChatRunnable(runnable=models)})

    # -- structured output -------------------------------------------------------------------------

    def with_structured_output(
        self,
        schema: dict[str, Any] | type | None = None,
        *,
        include_raw: bool = False,
        on_miss: Callable[[str], Any] | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, Any]:
        """Return a runnable that answers in a schema, or says that there is no answer.

        Args:
            schema: As the inner model takes it; some take none where any JSON will do.
            include_raw: As the inner model takes it.
            on_miss: Called with the reply in words when nothing is remembered; what it returns is
                the result. Without it `RecallMiss` is raised.
            **kwargs: As the inner model takes them.
        """
        given: Any = schema
        made = self.inner.with_structured_output(given, include_raw=include_raw, **kwargs)
        if schema is not None and not isinstance(schema, Mapping):
            schema = convert_to_openai_tool(schema)
        return StructuredPalace(
            model=self,
            bound=made,
            answer_schema=schema,
            answer_class=given if isinstance(given, type) else None,
            include_raw=include_raw,
            on_miss=on_miss,
        )

    def _bound_update(self, tools: Sequence[Any], tool_choice: object) -> dict[str, Any]:
        working = [tool for tool in tools if not _holds_answer(tool)]
        forced = forced_tools({"tools": tools, "tool_choice": tool_choice})
        does_work = forced and all(isinstance(tool, BaseTool) for tool in tools)
        is_told = len(working) < len(tools) or does_work
        named = frozenset(map(tool_name, working)) if is_told else None
        direct = self.direct_tools | direct_tools(tools)
        return {"forced_tools": forced, "working_tools": named, "direct_tools": direct}

    # -- the turn ----------------------------------------------------------------------------------

    def plan(
        self,
        messages: Sequence[BaseMessage],
        call: Call,
        asker: Callable[[Sequence[BaseMessage], int], Asker],
        *,
        alone: bool,
        chooses: bool = False,
        schema: object = None,
    ) -> hosting.Steps[Plan | None]:
        """Decide and settle the turn of a conversation; None if nobody asks the model anything.

        Args:
            messages: The conversation.
            call: Who asks.
            asker: Makes what asks the model: of messages, and where the person asks in them.
            alone: Whether the model's text is the whole reply.
            chooses: Whether the reply is in a schema, and may be a choice for the program alone.
            schema: What the reply has to fit, or what holds that, if it has to.
        """
        turns = self._turns
        index = asking_index(messages)
        told = told_in_loop(messages)
        if index is None:
            return (yield from self._looped(told, messages, call, asker)) if told else None
        prompt, program = text_of(messages[index]), [*map(text_of, filter(is_system, messages))]
        texts = dict.fromkeys((prompt, *program))
        if is_clerical(texts, call):
            return None
        key = key_of(messages, index, call)
        kept = looped = turns.looped(told, call) if told else None
        if looped is None or not looped.goes_on_in(messages, index):
            # A turn that begins is always decided anew: what was remembered just now must be found.
            kept = turns.under_way(key) if any(map(is_tools, messages[index + 1 :])) else None
        if kept is not None:
            return kept
        _, plan = yield from turns.decide_all(question_at(messages, index), call)
        if told and looped is None and plan.verdict.action == "pass":
            # The loop may be another question's.
            resumed = yield from self._looped(told, messages, call, asker)
            if resumed is not None:
                return resumed
        errand = errand_of(texts) if alone or chooses else None
        is_known = errand is not None and errand.chooses == chooses
        if plan.verdict.action in {"ground", "confirm"} and (
            (is_known and chooses)
            or is_choice(schema, program=program, prompt=prompt, with_words=chooses)
        ):
            return replace(plan, chooses=True)  # it is no answer, and needs no evidence
        if errand is not None and is_known:
            plan = plan.on_errand(errand)
        ask, wakes = asker(messages, index - plan.behind), errand is None
        return (yield from turns.settled(plan, call, ask, key, alone=alone, wakes=wakes))

    def _looped(
        self,
        told: Mapping[str, Any],
        messages: Sequence[BaseMessage],
        call: Call,
        asker: Callable[[Sequence[BaseMessage], int], Asker],
    ) -> hosting.Steps[Plan | None]:
        """Return the plan of a tool loop whose question was cut off, None where it is let through.

        Args:
            told: See `told_in_loop`.
            messages: As for `plan`, like the others.
            call: Who asks.
            asker: Makes what asks the model.
        """
        turns = self._turns
        kept = turns.looped(told, call)
        if kept is not None:
            return kept
        plan = yield from turns.resumed(told, call)
        if plan is None:
            return None
        sent = [*filter(is_system, messages), HumanMessage(plan.question)]
        ask, key = asker(sent, len(sent) - 1), ("resumed", plan.verdict.id)
        return (yield from turns.settled(plan, call, ask, key, alone=False, wakes=False))

    def _prepare(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        run_manager: Any,
        kwargs: Mapping[str, Any],
    ) -> hosting.Steps[Prepared]:
        call = self._call or self.call_of(None)
        if run_manager is not None and not run_manager.handlers:
            call = replace(call, is_heard=False)
        messages = self._turns.whole(messages)
        schema = wanted_schema(messages)
        in_text = schema is not None
        forced, formed, has_tools = self.forced_tools, False, False
        if not SHAPING.isdisjoint(kwargs):
            forced = forced or forced_tools(kwargs)  # however they are bound to the model
            formed = wants_format(kwargs)
            has_tools = bool(kwargs.get("tools") or kwargs.get("functions"))
        must_fit = bool(forced or formed or in_text)
        plan = yield from self.plan(
            messages,
            call,
            partial(Asker, self.inner, stop=stop, kwargs=kwargs),
            alone=not (has_tools or must_fit),
            schema=[kwargs, schema] if must_fit else None,
        )
        if plan is None:
            return Prepared(None, messages)
        if plan.stops:
            if must_fit:
                raise RecallMiss(plan.reply, hint=NOTHING_TO_FIT)
            return Prepared(None, messages, reply=canned(plan))
        index = plan.place_in(messages)
        gate = ReplyGate(
            plan,
            tool_texts=tool_texts(messages, index, self.model_tools),
            structured=self._structured(
                plan, forced, in_text=formed or (in_text and not kwargs.get("tools"))
            ),
            must_fit=must_fit,
            schema=[kwargs, schema],
            direct=self.direct_tools,
            never=self.direct_tools & self.model_tools,
        )
        return Prepared(gate, plan.sent(messages, index))

    def _telling(self, prepared: Prepared) -> AbstractContextManager[None]:
        return self._turns.telling(prepared.gate.plan) if prepared.gate else nullcontext()

    def _finish(self, prepared: Prepared) -> hosting.Steps[None]:
        gate = prepared.gate
        if gate is None:
            return
        self._turns.replied(gate.plan, gate.said)
        if gate.checked is not None:
            yield self._turns.record(gate.plan, gate.text, gate.checked, 1)

    def _structured(self, plan: Plan, tools: int, *, in_text: bool) -> Collection[str] | None:
        """Return the tools whose arguments are no answer, None where the answer is plain text.

        A tool without work of its own, as agents bind for `ToolStrategy`, is an answer in a
        schema, and one with it is none. Where no tool says so, a single forced one is, and every
        forced one where the evidence is unclear.

        Args:
            plan: The plan of the turn.
            tools: Among how many tools the model has to choose.
            in_text: Whether the answer in a schema comes as text.
        """
        if self.working_tools is not None:
            return self.working_tools
        unclear = plan.verdict.outcome == "near_miss"
        forced = tools == 1 or (tools > 1 and unclear)
        return () if forced or in_text else None


def _holds_answer(tool: object) -> bool:
    return isinstance(tool, StructuredTool) and tool.func is None and tool.coroutine is None
