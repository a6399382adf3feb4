"""Chat and tool calls of the wrapper.

In: messages of a host. Out: the wrapped model's replies as far as they may be released, or the
palace's own reply without any call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
)
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import LLM, ToolSelection

from llama_index_palace.events import KEY, message_note, noted_verdict
from llama_index_palace.held import HeldBack
from llama_index_palace.pointing import call_step, calls_of
from llama_index_palace.questions import Asked
from llama_index_palace.replies import Chunks, chat_reply, noted_chat, tool_reply
from llama_index_palace.structured import (
    Answers,
    answers_among,
    check_object,
    demand_support,
    miss,
    unsupported,
)
from llama_index_palace.turns import Lent, Ruling
from llama_index_palace.wrapped import HostCall, WrappedLLM
from palace import ConfigError, hosting, values_in

if TYPE_CHECKING:
    from llama_index.core.tools.types import BaseTool


class ChattingLLM(WrappedLLM):
    """The chat and tool calls of `PalaceLLM`."""

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Reply to messages; see `PalaceLLM`."""
        return hosting.run(self._whole(self._chatting("chat", messages, kwargs)))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Reply to messages; see `PalaceLLM`."""
        return await hosting.arun(self._whole(self._chatting("chat", messages, kwargs)))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Stream a reply; the decision is made before this returns."""
        call = self._chatting("stream_chat", messages, kwargs)
        return hosting.stream(hosting.run(self._streamed(call)))

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Stream a reply; the decision is made before this returns."""
        call = self._chatting("stream_chat", messages, kwargs)
        return hosting.astream(await hosting.arun(self._streamed(call)))

    def _chatting(
        self, method: str, messages: Sequence[ChatMessage], kwargs: dict[str, Any]
    ) -> HostCall[ChatResponse]:
        asked = self._asked(messages)

        def step(ruling: Ruling, lent: Lent) -> hosting.Step[Any]:
            sent = self._sent(messages, asked, ruling, lent)
            return call_step(self.inner, method, sent, **kwargs)

        return HostCall(_Chunks, asked, kwargs, step)

    # -- tools ---------------------------------------------------------------------------------

    def chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> ChatResponse:
        """Reply with tools at hand; a call that is an answer in a schema is checked as one.

        Raises:
            UngroundedAnswerError: If such an answer says what the evidence does not.
        """
        made = partial(super().chat_with_tools, tools, user_msg, chat_history, *args)
        return hosting.run(self._called(made, tools, _with_user(chat_history, user_msg), kwargs))

    async def achat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> ChatResponse:
        """Reply with tools at hand, as `chat_with_tools` does."""
        made = partial(super().achat_with_tools, tools, user_msg, chat_history, *args)
        said = _with_user(chat_history, user_msg)
        return await hosting.arun(self._called(made, tools, said, kwargs))

    def _called(
        self,
        made: Callable[..., Any],
        tools: Sequence[BaseTool],
        said: list[ChatMessage],
        kwargs: dict[str, Any],
    ) -> hosting.Steps[ChatResponse]:
        answers = answers_among(tools, self._direct)
        response: ChatResponse = yield hosting.host_call(partial(made, **kwargs))
        given = self._given_answers(response, answers)
        if not given:
            return response
        return (yield from self._answers_released(response, given, answers, self._again(said)))

    def stream_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> ChatResponseGen:
        """Stream a reply with tools at hand, checked as in `chat_with_tools`.

        Raises:
            RecallMiss: On a miss, or when the model declines, where only an object is asked for.
        """
        answers = answers_among(tools, self._direct)
        source = super().stream_chat_with_tools(tools, user_msg, chat_history, *args, **kwargs)
        if not answers:
            return source
        asked = self._again(_with_user(chat_history, user_msg))
        calls = self._calls(source, answers, asked, demanded=answers.are_all(tools))
        return hosting.stream(calls)

    async def astream_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> ChatResponseAsyncGen:
        """Stream a reply with tools at hand, checked as in `chat_with_tools`."""
        answers = answers_among(tools, self._direct)
        source = await super().astream_chat_with_tools(
            tools, user_msg, chat_history, *args, **kwargs
        )
        if not answers:
            return source
        asked = self._again(_with_user(chat_history, user_msg))
        calls = self._calls(source, answers, asked, demanded=answers.are_all(tools))
        return hosting.astream(calls)

    def _again(self, said: list[ChatMessage]) -> Asked:
        """Return what a call was about whose reply is looked at once more."""
        return replace(self._asked(said), goes_on=True)

    def _calls(
        self, source: Any, answers: Answers, asked: Asked, *, demanded: bool
    ) -> hosting.Pieces[ChatResponse]:
        def take(chunk: ChatResponse) -> hosting.Pieces[ChatResponse]:
            if demanded and _is_ours(chunk):  # hosts would make an empty object of it
                raise miss(chunk.message.content or "")
            given = self._given_answers(chunk, answers)
            if given:
                chunk = yield from self._answers_released(chunk, given, answers, asked)
            yield hosting.Shown(chunk)

        return hosting.relay(source, take)

    def _given_answers(self, response: ChatResponse, answers: Answers) -> list[ToolSelection]:
        """Return the calls that are answers in a schema, or that a tool shows to the person."""
        if not answers:
            return []
        calls = calls_of(self.inner, response)
        return [c for c in calls if c.tool_name in answers.schemas or c.tool_name in answers.direct]

    def _answers_released(
        self,
        response: ChatResponse,
        given: list[ToolSelection],
        answers: Answers,
        asked: Asked,
    ) -> hosting.Steps[ChatResponse]:
        noted = noted_verdict([response.message])
        ruling = yield from self._rule(replace(asked, noted=noted))
        if not ruling.is_checked or asked.purpose != "answer":
            return response
        check = ruling.check(asked)
        direct = [c.tool_kwargs for c in given if c.tool_name in answers.direct]
        shown = check.shown_wrongly(values_in(direct))
        if shown is not None:  # the memory answers instead
            metadata = yield from self._turns.finish(ruling, shown.text, checked=shown, calls=1)
            return chat_reply(shown.text, metadata, delta=shown.text)
        objects = [c for c in given if c.tool_name in answers.schemas]
        if objects:
            schemas = [*answers.schemas.values()]
            checked = check_object([c.tool_kwargs for c in objects], check, schemas)
            yield from self._turns.finish(ruling, "", checked=checked, calls=1)
            demand_support(objects, checked, check, name=objects[0].tool_name)
        return response

    def _prepare_chat_with_tools(
        self, *args: Any, tool_required: bool = False, **kwargs: Any
    ) -> dict[str, Any]:
        kwargs["tool_required"] = tool_required  # named here: hosts look whether it is known
        return _with_functions(self.inner)._prepare_chat_with_tools_compat(*args, **kwargs)

    def _validate_chat_with_tools_response(self, *args: Any, **kwargs: Any) -> ChatResponse:
        return _with_functions(self.inner)._validate_chat_with_tools_response(*args, **kwargs)

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        """Return the tool calls of a reply.

        Raises:
            RecallMiss: If a call is demanded and the palace gave the reply instead of the model.
            UngroundedAnswerError: If one is demanded and the model said what is not remembered.
        """
        if _is_ours(response):
            if error_on_no_tool_call:
                raise miss(response.message.content or "")
            return []
        if error_on_no_tool_call and _is_replaced(response):
            raise unsupported("call")
        return _with_functions(self.inner).get_tool_calls_from_response(
            response, error_on_no_tool_call=error_on_no_tool_call, **kwargs
        )

    def predict_and_call(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        *args: Any,
        error_on_no_tool_call: bool = True,
        **kwargs: Any,
    ) -> AgentChatResponse:
        """Predict and call a tool.

        Raises:
            RecallMiss: On a miss, unless `error_on_no_tool_call` is False: then the reply is the
                fallback.
            UngroundedAnswerError: If the model wrote to the tool, whose result is the reply, what
                is not remembered, unless that is False: then the memory answers.
        """
        call, shown = FunctionCallingLLM.predict_and_call, self._showing(tools)
        made = partial(call, shown, tools, user_msg, chat_history, *args, **kwargs)
        said = _with_user(chat_history, user_msg)
        return hosting.run(self._calling(made, said, demanded=error_on_no_tool_call))

    async def apredict_and_call(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        *args: Any,
        error_on_no_tool_call: bool = True,
        **kwargs: Any,
    ) -> AgentChatResponse:
        """Predict and call a tool, as `predict_and_call` does."""
        call, shown = FunctionCallingLLM.apredict_and_call, self._showing(tools)
        made = partial(call, shown, tools, user_msg, chat_history, *args, **kwargs)
        said = _with_user(chat_history, user_msg)
        return await hosting.arun(self._calling(made, said, demanded=error_on_no_tool_call))

    def _calling(
        self, made: Callable[..., Any], said: list[ChatMessage], *, demanded: bool
    ) -> hosting.Steps[AgentChatResponse]:
        """Have a tool called, if one is to be."""
        if not self.metadata.is_function_calling_model:
            asked = self._asked(said)
            # its call is yet to come
            ruling = yield from self._rule(replace(asked, purpose="inner"))
            if ruling.stops:
                reply = yield from self._refusal(_Chunks(ruling, asked))
                text = reply.message.content or ""
                if demanded:
                    raise miss(text)
                return AgentChatResponse(response=text, metadata=dict(reply.additional_kwargs))
        made = partial(made, error_on_no_tool_call=demanded)
        response: AgentChatResponse = yield hosting.host_call(made)
        return response

    def _showing(self, tools: Sequence[BaseTool]) -> ChattingLLM:
        """Return the wrapper for a call after which the result of any tool is the reply."""
        shown = self.model_copy()
        shown._direct = frozenset(str(tool.metadata.name) for tool in tools)
        return shown


class _Chunks(Chunks[ChatResponse]):
    """The chunks of a chat reply."""

    reply = staticmethod(chat_reply)
    noted = staticmethod(noted_chat)

    def text_in(self, chunk: ChatResponse) -> str | None:
        return chunk.message.content

    def calls_tools(self, inner: LLM) -> bool:
        return self.last is not None and bool(calls_of(inner, self.last))

    def step(self, rest: str, inner: LLM, held: HeldBack) -> ChatResponse:
        if self.last is None or not self.calls_tools(inner):
            return super().step(rest, inner, held)
        note = message_note(self.metadata)
        message = held.take_out(inner, self.last.message, self.screen.released, note)
        return tool_reply(message, self.metadata, delta=rest, spent=self.spent)


def _is_ours(response: ChatResponse) -> bool:
    """Whether the palace gave a reply in the model's place, or the model declined."""
    verdict = response.message.additional_kwargs.get(KEY) or {}
    return verdict.get("action") in ("fallback", "answer") or verdict.get("declined", False)


def _is_replaced(response: ChatResponse) -> bool:
    """Whether the memory answers in the place of a model that said what is not remembered."""
    return (response.message.additional_kwargs.get(KEY) or {}).get("supported") is False


def _with_functions(inner: LLM) -> FunctionCallingLLM:
    if not isinstance(inner, FunctionCallingLLM):
        raise ConfigError(
            f"{type(inner).__name__} cannot call functions", hint="use ReActAgent with it"
        )
    return inner


def _with_user(
    history: Sequence[ChatMessage] | None, user_msg: str | ChatMessage | None
) -> list[ChatMessage]:
    said = list(history or ())
    if isinstance(user_msg, str):
        return [*said, ChatMessage(role="user", content=user_msg)]
    return [*said, user_msg] if user_msg is not None else said
