"""`PalaceMiddleware`: an agent that looks before it answers; needs `langchain`.

In: an open palace. Out: a middleware for `create_agent`. A turn is decided once, before the agent
does anything; a miss ends the run without a model call, whatever other middleware is there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Annotated, Any

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    hook_config,
)
from langchain.agents.middleware.types import PrivateStateAttr
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.constants import END
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command, Send
from pydantic import Field, SkipValidation
from typing_extensions import NotRequired

from langchain_palace.arguments import direct_tools, tool_name, wants_format
from langchain_palace.asking import Asker
from langchain_palace.chat_model import ChatPalace
from langchain_palace.gate import ReplyGate, canned, check_values
from langchain_palace.gated_model import GatedChatModel, Prepared
from langchain_palace.graph_state import as_state, plan_of
from langchain_palace.heard import Heard, hearing
from langchain_palace.messages import (
    asking_before,
    asking_index,
    heard_behind,
    is_persons,
    is_system,
    is_tools,
    is_users,
    labelled,
    released,
    saying,
    spoken,
    text_of,
    tool_texts,
    verdict_id,
)
from langchain_palace.questions import question_at
from langchain_palace.session import (
    Call,
    call_of_run,
    thread_of,
)
from langchain_palace.streams import ShownTool, all_unseen, seen, tool_unseen
from langchain_palace.turns import Plan, Turns
from palace import (
    CheckedAnswer,
    EnforcementError,
    Mempalace,
    RecallMiss,
    UngroundedAnswerError,
    hosting,
    tool_names,
)

# What the gate says of an answer that it does not let through.
_REFUSED: tuple[type[EnforcementError], ...] = (RecallMiss, UngroundedAnswerError)


def _merged(kept: Mapping[str, Any] | None, update: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what several instances keep, each under its own name."""
    return {**(kept or {}), **(update or {})}


class PalaceState(AgentState[Any]):
    """What the middleware keeps of a turn, by name of the middleware: plain values only.

    It is not part of the agent's output, but a checkpointer keeps it and
    `stream_mode="values"` shows it.
    """

    palace: NotRequired[Annotated[dict[str, Any], PrivateStateAttr, _merged]]


class PlannedModel(GatedChatModel):
    """The agent's model for one call, behind the gate of a turn that is decided already."""

    prepared: SkipValidation[Prepared] = Field(exclude=True)
    turns: Turns = Field(exclude=True)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:
        """Answer, streamed as it is checked."""
        return super().invoke(input, seen(config), **kwargs)

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        """Answer, streamed as it is checked."""
        return await super().ainvoke(input, seen(config), **kwargs)

    def _prepare(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,  # noqa: ARG002 - decided already
        run_manager: Any,  # noqa: ARG002 - decided already
        kwargs: Mapping[str, Any],
    ) -> hosting.Steps[Prepared]:
        yield from ()
        gate = self.prepared.gate
        if gate is not None and wants_format(kwargs):
            gate.expect_object(frozenset(map(tool_name, kwargs.get("tools") or ())))
        return Prepared(gate, messages)

    def _finish(self, prepared: Prepared) -> hosting.Steps[None]:
        gate = prepared.gate
        if gate is not None and gate.checked is not None:
            yield self.turns.record(gate.plan, gate.text, gate.checked, 1)


class PalaceMiddleware(AgentMiddleware[PalaceState, Any, Any]):
    """Puts the palace in the path of an agent.

    For a question about something that is not remembered the run ends with an honest reply and no
    model call. With evidence every call of the turn carries it, in the person's message; unclear
    evidence must be quoted by the model first, before the agent's own call. Answers are checked,
    streamed ones sentence by sentence. The verdict is in `response_metadata["palace"]`.

    What a tool answers is evidence beside that of the memory, but no words of a model behind it (a
    sub-agent): they are heard where it is called through LangChain, and count where they are
    checked by a palace. Where such a tool's result is the reply, it is checked as one.

    The session is the run's `context.session_id`, else `session_id` or `thread_id` of its
    `configurable`; the project likewise.

    Args:
        palace: The open palace.
        session_id: The session of runs that name none.
        project: The project of runs that name none.
        name: For several instances in one agent, a name each.
        direct_tools: Names of tools whose result reaches the person, beside those that say so
            (`return_direct`): what the model states to one is checked.
        model_tools: Names of tools behind which a model answers that cannot be heard, as one in
            another process.
        system_prompt: That of the agent, which no middleware sees before the agent calls its
            model: what only it can answer is left to the model then.

    Raises:
        ConfigError: If the palace is not open, or a list of names is one text.

    Example:
        >>> agent = create_agent(  # doctest: +SKIP
        ...     model, tools, middleware=[PalaceMiddleware(palace)]
        ... )
    """

    state_schema = PalaceState

    def __init__(
        self,
        palace: Mempalace,
        *,
        session_id: str | None = None,
        project: str | None = None,
        name: str = "PalaceMiddleware",
        direct_tools: Collection[str] = (),
        model_tools: Collection[str] = (),
        system_prompt: str | SystemMessage | None = None,
    ) -> None:
        super().__init__()
        self.session_id = session_id
        self.project = project
        self._name = name
        self._direct = tool_names("direct_tools", direct_tools)
        self._models = tool_names("model_tools", model_tools)
        if isinstance(system_prompt, SystemMessage):
            system_prompt = text_of(system_prompt)
        self._program = system_prompt or ""
        self._turns = Turns(palace)

    @property
    def palace(self) -> Mempalace:
        """The open palace; for another one make another middleware."""
        return self._turns.palace

    @property
    def name(self) -> str:
        """The name in the graph."""
        return self._name

    # -- before the agent: decide ------------------------------------------------------------------

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: PalaceState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Decide the turn; on a miss end the run."""
        return hosting.run(self._begin(state, runtime))

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(
        self, state: PalaceState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Decide the turn; on a miss end the run."""
        return await hosting.arun(self._begin(state, runtime))

    def _begin(self, state: PalaceState, runtime: Runtime[Any]) -> hosting.Steps[dict[str, Any]]:
        messages: Sequence[BaseMessage] = state["messages"]
        update: dict[str, Any] = {"palace": {self.name: None}}
        if "structured_response" in state:
            # The answer of an earlier turn would stand beside the refusal of this one.
            update["structured_response"] = None
        # Nothing was summarised in this run yet: who marks what asks as a summary sent it so.
        index = asking_index(messages, is_users)
        if index is None:
            return update
        call = self._call(runtime)
        plan = yield from self._decided(messages, index, call)
        if not plan.stops:
            return {**update, **self._state(plan, call, messages, runtime)}
        return {**update, "messages": [canned(plan)], "jump_to": "end"}

    # -- around every model call: confirm, inject, check -------------------------------------------

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]:
        """Make the call with the evidence of the turn, or end the run."""
        return hosting.run(self._around(request, handler))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]:
        """Make the call with the evidence of the turn, or end the run."""
        return await hosting.arun(self._around(request, handler))

    def _around(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]
    ) -> hosting.Steps[ModelResponse[Any] | ExtendedModelResponse[Any]]:
        whole: list[Any] = self._turns.whole(request.messages)
        request = self._unwrapped(request).override(messages=whole)
        call = self._call(request.runtime)
        plan, is_new = yield from self._plan(request, call)
        if plan is None:
            untouched: ModelResponse[Any] = yield hosting.host_call(lambda: handler(request))
            return untouched
        if not plan.wake_up or plan.verdict.action == "confirm":
            settled = yield from self._settled(plan, request, call)
            before = plan.verdict.action, plan.wake_up
            is_new = is_new or before != (settled.verdict.action, settled.wake_up)
            plan = settled
        if plan.stops:
            return _stopped(canned(plan))
        gate = self._gate(plan, request)
        asked = self._asked(request, plan, gate)
        made: ModelResponse[Any] | EnforcementError
        with self._turns.telling(plan):
            try:
                # A model that middleware further in puts in the place of ours is checked when it
                # is done: until then nobody gets to see what it says.
                with nullcontext() if gate.is_open else all_unseen():
                    made = yield hosting.host_call(lambda: handler(asked))
            except _REFUSED as error:  # what is left of an answer that the gate refused
                made = error
        recorded = gate.checked  # what our own model has said is in the journal
        try:
            response = self._passed(made, request, plan, gate)
        except _REFUSED as error:
            reply, checked = _instead(plan, error)
            self._turns.replied(plan, gate.said)
            yield self._turns.record(plan, checked.text, checked, 1)
            return _stopped(reply)
        self._turns.replied(plan, gate.said)
        if gate.checked is not None and gate.checked is not recorded:
            yield self._turns.record(plan, gate.text, gate.checked, 1)
        if not is_new:
            return response
        kept = self._state(plan, call, request.messages, request.runtime)
        return ExtendedModelResponse(response, Command(update=kept))

    def _decided(
        self, messages: Sequence[BaseMessage], index: int, call: Call
    ) -> hosting.Steps[Plan]:
        question = question_at(messages, index, program=self._program)
        _, plan = yield from self._turns.decide_all(question, call)
        return plan

    def _state(
        self, plan: Plan, call: Call, messages: Sequence[BaseMessage], runtime: object
    ) -> dict[str, Any]:
        seen, before, thread = _ids(messages), _before(messages), thread_of(runtime)
        return {"palace": {self.name: as_state(plan, call, seen, before=before, thread=thread)}}

    def _plan(
        self, request: ModelRequest[Any], call: Call
    ) -> hosting.Steps[tuple[Plan | None, bool]]:
        """Return the plan of the turn, and whether the state does not have it yet."""
        kept = self._kept(request.state, request.runtime, call)
        plan: Plan | None = None
        if kept:
            options = yield hosting.in_thread(lambda: self.palace.answer_options)
            plan = plan_of(kept, options)
        index = asking_index(request.messages)
        if index is None or (kept and plan and not _is_new(request.messages, index, plan, kept)):
            return plan, False
        # Somebody put in a message that `before_agent` never saw, or changed the one it saw.
        new = yield from self._decided(request.messages, index, call)
        if plan is not None and plan.verdict.action != "pass" and new.verdict.action == "pass":
            return plan, True  # what is not answered yet is none the less asked
        return new, True

    def _kept(self, state: Any, runtime: object, call: Call) -> dict[str, Any] | None:
        """Return the plan that the state keeps, None if it has none of who asks now."""
        kept = (state.get("palace") or {}).get(self.name)
        return kept if kept and _is_of(kept, call, thread_of(runtime)) else None

    def _settled(self, plan: Plan, request: ModelRequest[Any], call: Call) -> hosting.Steps[Plan]:
        # A call that failed is made again before the state could keep what it cost.
        key = ("settled", plan.verdict.id)
        kept = self._turns.under_way(key)
        if kept is not None:
            return kept
        alone = not request.tools and request.response_format is None
        index = plan.place_in(request.messages)
        since = request.messages if index is None else request.messages[index + 1 :]
        first = not any(m.type == "ai" for m in since)
        system = [request.system_message] if request.system_message else []
        messages = [*system, *request.messages]
        at = None if index is None else index + len(system)
        asker = Asker(request.model, messages, at, kwargs=request.model_settings)
        return (yield from self._turns.settled(plan, call, asker, key, alone=alone, wakes=first))

    def _asked(self, request: ModelRequest[Any], plan: Plan, gate: ReplyGate) -> ModelRequest[Any]:
        """Return the request with the evidence in the person's message, and the gate in place."""
        index = plan.place_in(request.messages)
        request = request.override(messages=plan.sent(request.messages, index))
        if gate.is_open:
            return request
        model = PlannedModel(
            inner=request.model,
            prepared=Prepared(gate, []),
            turns=self._turns,
            name=request.model.get_name(),  # callbacks are told of the agent's own model
        )
        return request.override(model=model)

    def _passed(
        self,
        made: ModelResponse[Any] | EnforcementError,
        request: ModelRequest[Any],
        plan: Plan,
        gate: ReplyGate,
    ) -> ModelResponse[Any]:
        """Return the response with its verdict.

        Middleware further in may have called another model than the one behind the gate: what it
        brought passes the gate here.

        Raises:
            RecallMiss, UngroundedAnswerError: If the gate refuses it.
        """
        if isinstance(made, EnforcementError):
            raise made
        if plan.is_checked and made.structured_response is not None:
            check = plan.check(self._tool_texts(request.messages, plan))
            check_values(check, made.structured_response, _schema(request))
        result = [_through(gate, message) for message in made.result]
        return ModelResponse(result=result, structured_response=made.structured_response)

    def _gate(self, plan: Plan, request: ModelRequest[Any]) -> ReplyGate:
        structured = None
        if request.response_format is not None:
            structured = frozenset(map(tool_name, request.tools))
        return ReplyGate(
            plan,
            tool_texts=self._tool_texts(request.messages, plan),
            structured=structured,
            # Words alone do not end a structured run, so whoever declines would be asked again.
            must_fit=structured is not None,
            schema=_schema(request),
            direct=direct_tools(request.tools) | self._direct,
        )

    def _tool_texts(self, messages: Sequence[BaseMessage], plan: Plan) -> tuple[str, ...]:
        return tool_texts(messages, plan.place_in(messages), self._models)

    # -- around every call of a tool: who speaks behind it -----------------------------------------

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> ToolMessage | Command[Any]:
        """Make the call; the words of a model behind the tool vouch for no answer."""
        made: ToolMessage | Command[Any] = hosting.run(self._around_tool(request, handler))
        return made

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage | Command[Any]:
        """Make the call; the words of a model behind the tool vouch for no answer."""
        made: ToolMessage | Command[Any] = await hosting.arun(self._around_tool(request, handler))
        return made

    def _around_tool(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> hosting.Steps[Any]:
        call = self._call(request.runtime)
        kept = self._kept(request.state, request.runtime, call)
        if kept is None or kept["verdict"]["action"] != "ground":
            with hearing():
                return (yield hosting.host_call(lambda: handler(request)))
        asked, tool, config = request.tool_call, request.tool, request.runtime.config
        if asked["name"] not in self._direct and not (tool and tool.return_direct):
            # Nobody has checked what a model says in there: it is not shown.
            with hearing() as heard, tool_unseen(config, whole=False):
                made = yield hosting.host_call(lambda: handler(request))
            for agent in _handed_to(made):
                hosting.tell_handed_over(agent)
            if not self._speaks(heard, asked):
                return made
            found = heard.evidence(asked["args"])
            return _with_messages(
                made, lambda said: heard_behind(said, found) if is_tools(said) else said
            )
        shown = ShownTool(config, tool, asked)
        yield from shown.begin()
        try:
            with hearing() as heard, tool_unseen(config, whole=True):
                made = yield hosting.host_call(lambda: handler(request))
            if self._speaks(heard, asked):
                made = yield from self._reply(made, request, kept, heard)
        except Exception as error:
            yield from shown.end(error)
            raise
        yield from shown.end(made)
        return made

    def _speaks(self, heard: Heard, asked: ToolCall) -> bool:
        """Whether a model spoke behind a tool whose words nobody has checked."""
        return bool(heard.replies) or asked["name"] in self._models

    def _reply(
        self, made: Any, request: ToolCallRequest, kept: dict[str, Any], heard: Heard
    ) -> hosting.Steps[Any]:
        """Return what a tool answered that is the reply, as it may be released."""
        found = heard.evidence(request.tool_call["args"])
        options = yield hosting.in_thread(lambda: self.palace.answer_options)
        plan = plan_of(kept, options)
        check = plan.check((*self._tool_texts(request.state["messages"], plan), *found))
        told: list[CheckedAnswer] = []

        def shown(said: BaseMessage) -> BaseMessage:
            if is_users(said) or is_system(said) or not text_of(said).strip():
                return said
            checked = check.check(text_of(said))
            told.append(checked)
            metadata = plan.metadata(checked)
            if isinstance(said, AIMessage):
                return released(said, checked.text, metadata)
            return heard_behind(labelled(saying(said, checked.text), metadata), found)

        made = _with_messages(made, shown)
        for checked in told:
            yield self._turns.record(plan, checked.text, checked, 0)
        return made

    def _unwrapped(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return the request on the bare model where that asks the same palace: one decision."""
        model = request.model
        if not isinstance(model, ChatPalace) or model.inner_kwargs:
            return request
        return request.override(model=model.inner) if model.palace is self.palace else request

    def _call(self, runtime: object) -> Call:
        """Return who asks, as the run's context or config tells."""
        return call_of_run(runtime, session_id=self.session_id, project=self.project)


def _instead(plan: Plan, error: EnforcementError) -> tuple[AIMessage, CheckedAnswer]:
    """Return what is said in place of an answer that the gate refused, and what it refused."""
    declined = isinstance(error, RecallMiss)
    quoted = None if declined else plan.verdict.text
    text = quoted or plan.options.fallback_text
    checked = CheckedAnswer(text, supported=declined, declined=declined)
    return spoken(text, plan.metadata()), checked


def _stopped(message: AIMessage) -> ExtendedModelResponse[Any]:
    """End the run: a message without tool calls alone does not end a structured one."""
    return ExtendedModelResponse(
        ModelResponse(result=[message]), Command(update={"jump_to": "end"})
    )


def _is_of(kept: Mapping[str, Any], call: Call, thread: str | None) -> bool:
    """Whether a turn is of who asks now: another session may take it up, but not its memories.

    Who takes it up in its own thread may leave the session out; it is that of the thread then.
    """
    sessions = [kept["session_id"]]
    if kept.get("thread_id") == thread:
        sessions += [None, thread]
    return call.session_id in sessions and call.project in (None, kept["project"])


def _ids(messages: Sequence[BaseMessage]) -> list[str]:
    found = (m.id for m in messages if is_persons(m) or is_system(m))
    return [identifier for identifier in found if identifier]


def _before(messages: Sequence[BaseMessage]) -> str:
    """Return the open question right before the one that asks, "" if there is none."""
    index = asking_index(messages)
    before = None if index is None else asking_before(messages, index)
    return "" if before is None else text_of(messages[before])


def _is_new(messages: Sequence[BaseMessage], index: int, plan: Plan, kept: dict[str, Any]) -> bool:
    """Whether a message was never decided on, or the one that asked now asks something else.

    With more around its words it asks the same, except where those were let through. So it does
    when the open question before it is gone, but not when that asks something else.
    """
    before = _before(messages)
    if messages[index].id not in kept["seen"] or (before and kept.get("before", "") not in before):
        return True
    said = (text_of(m) for m in messages if m.id is not None and m.id == plan.message_id)
    now = next(said, plan.question)
    return now != plan.question if plan.verdict.action == "pass" else plan.question not in now


def _schema(request: ModelRequest[Any]) -> list[Any]:
    """Return the JSON schemas that the agent's answer has to fit one of."""
    if request.response_format is None:
        return []
    return [spec.json_schema for spec in ToolStrategy(request.response_format.schema).schema_specs]


def _handed_to(made: Any) -> Iterator[str]:
    """Yield the nodes around an agent that what a tool answered goes on with."""
    for one in made if isinstance(made, list) else [made]:
        if isinstance(one, Command) and one.graph == Command.PARENT:
            goto = [one.goto] if isinstance(one.goto, (str, Send)) else one.goto
            yield from (to.node if isinstance(to, Send) else to for to in goto if to != END)


def _with_messages(made: Any, change: Callable[[BaseMessage], BaseMessage]) -> Any:
    """Return what a tool answered with the messages in it changed."""
    if isinstance(made, list):
        return [_with_messages(one, change) for one in made]
    if isinstance(made, BaseMessage):
        return change(made)
    update = made.update if isinstance(made, Command) else None
    if not isinstance(update, Mapping) or "messages" not in update:
        return made
    said = update["messages"]
    messages = _with_messages(said if isinstance(said, list) else [said], change)
    return replace(made, update={**update, "messages": messages})


def _through(gate: ReplyGate, message: BaseMessage) -> BaseMessage:
    """Return a message as it may be released; one that the gate has seen is."""
    if not isinstance(message, AIMessage):
        return message
    told = verdict_id(message)
    if told == gate.plan.verdict.id or (told is not None and gate.is_open):
        return message
    if gate.is_open:
        return labelled(message, gate.plan.metadata())
    return gate.message(message)
