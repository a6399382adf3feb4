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

from llama_index_palace.events import KEY, message_note
from llama_index_palace.held import HeldBack
from llama_index_palace.pointing import call_step, calls_of
from llama_index_palace.replies import Chunks, chat_reply, noted_chat, tool_reply
from llama_index_palace.structured import answers_among, miss, unsupported
from llama_index_palace.turns import Lent, Ruling
from llama_index_palace.wrapped import HostCall, WrappedLLM
from palace import ConfigError, hosting

if TYPE_CHECKING:
    from llama_index.core.tools.types import BaseTool

# Tells a call of ours which of its tools are answers.
_ANSWERS = "palace_answers"


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
        answers = kwargs.pop(_ANSWERS, None)
        asked = self._asked(messages)
        if answers is not None:
            # hosts would make an empty object of a stream without the call
            demanded = answers.are_all and method == "stream_chat"
            asked = replace(asked, answers=answers, demanded=demanded)

        def step(ruling: Ruling, lent: Lent) -> hosting.Step[Any]:
            sent = self._sent(messages, asked, ruling, lent)
            return call_step(self.inner, method, sent, **kwargs)

        return HostCall(_Chunks, asked, kwargs, step)

    # -- tools ---------------------------------------------------------------------------------

    def _prepare_chat_with_tools(
        self, tools: Sequence[BaseTool], *args: Any, tool_required: bool = False, **kwargs: Any
    ) -> dict[str, Any]:
        kwargs["tool_required"] = tool_required  # named here: hosts look whether it is known
        made = _with_functions(self.inner)._prepare_chat_with_tools_compat(tools, *args, **kwargs)
        return {
            **made,
            _ANSWERS: answers_among(tools, self._direct, self._models),
        }  # `_chatting` takes it out

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

    def calls(self, inner: LLM) -> list[ToolSelection]:
        return calls_of(inner, self.last) if self.last is not None else []

    def step(self, rest: str, inner: LLM, held: HeldBack) -> ChatResponse:
        if self.last is None or not self.screen.lets_calls:
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
