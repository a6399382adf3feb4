"""Chat and tool calls of the wrapper.

In: messages of a host. Out: the wrapped model's replies as far as they may be released, or the
palace's own reply without any call.
"""

# ruff: noqa: PLR0917 - the signatures are those of the host

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from llama_index_palace.pointing import calls_of
from llama_index_palace.questions import Asked
from llama_index_palace.replies import (
    Chunks,
    chat_reply,
    is_step,
    noted_chat,
    tool_reply,
)
from llama_index_palace.structured import (
    Answers,
    answers_among,
    check_object,
    demand_support,
    miss,
    unsupported,
    values_in,
)
from llama_index_palace.turns import Ruling, Steps
from llama_index_palace.wrapped import WrappedLLM, aonce, is_alone, once
from palace import ConfigError

if TYPE_CHECKING:
    from llama_index.core.tools.types import BaseTool


# Whether the result of whatever tool is called is the reply, as `predict_and_call` gives it.
_SHOWN = "palace_shown"


class ChattingLLM(WrappedLLM):
    """The chat and tool calls of `PalaceLLM`."""

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Reply to messages; see `PalaceLLM`."""
        asked = self._asked(messages)
        ruling = self._rule(asked, alone=is_alone(asked, kwargs))
        if ruling.refused:
            return self._turns.run(self._refusal(ruling, asked))
        lent = ruling.lend(asked)
        with self._turns.telling(ruling, lent):
            sent = self._sent(messages, asked, ruling, lent)
            response = self.inner.chat(sent, **kwargs)
        return self._turns.run(self._released(response, _Chunks(ruling, asked), self._ended))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Reply to messages; see `PalaceLLM`."""
        asked = self._asked(messages)
        ruling = await self._arule(asked, alone=is_alone(asked, kwargs))
        if ruling.refused:
            return await self._turns.arun(self._refusal(ruling, asked))
        lent = ruling.lend(asked)
        with self._turns.telling(ruling, lent):
            sent = self._sent(messages, asked, ruling, lent)
            response = await self.inner.achat(sent, **kwargs)
        return await self._turns.arun(self._released(response, _Chunks(ruling, asked), self._ended))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Stream a reply; the decision is made before this returns."""
        asked = self._asked(messages)
        ruling = self._rule(asked, alone=is_alone(asked, kwargs))
        if ruling.refused:
            return once(self._turns.run(self._refusal(ruling, asked)))
        lent = ruling.lend(asked)
        with self._turns.telling(ruling, lent):
            sent = self._sent(messages, asked, ruling, lent)
            source = self.inner.stream_chat(sent, **kwargs)
        return self._stream(source, _Chunks(ruling, asked), self._ended, lent)

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Stream a reply; the decision is made before this returns."""
        asked = self._asked(messages)
        ruling = await self._arule(asked, alone=is_alone(asked, kwargs))
        if ruling.refused:
            return aonce(await self._turns.arun(self._refusal(ruling, asked)))
        lent = ruling.lend(asked)
        with self._turns.telling(ruling, lent):
            sent = self._sent(messages, asked, ruling, lent)
            source = await self.inner.astream_chat(sent, **kwargs)
        return self._astream(source, _Chunks(ruling, asked), self._ended, lent)

    # -- releasing -----------------------------------------------------------------------------

    def _refusal(self, ruling: Ruling, asked: Asked) -> Steps[ChatResponse]:
        text, metadata = yield from self._refused(ruling, asked)
        return chat_reply(text, metadata, delta=text)

    def _ended(self, chunks: Chunks[ChatResponse]) -> Steps[ChatResponse | None]:
        """End a reply: the last chunk of a gated one, with what is left and the whole verdict."""
        ruling, asked = chunks.ruling, chunks.asked
        response = chunks.last or chat_reply("", chunks.metadata)
        said = chunks.said.text
        if asked.purpose == "rewrite" and ruling.gated and not said.strip():
            # an empty question is under nobody's ruling
            return chat_reply(ruling.words, chunks.metadata, delta=ruling.words)
        self._turns.rewrote(ruling, asked, said)
        if asked.purpose != "answer":
            return None
        calls_tools = bool(calls_of(self.inner, response))
        if not ruling.gated:
            text = chunks.said.text
            if not is_step(text, asked, calls_tools=calls_tools):
                yield from self._turns.finish(ruling, text, calls=1)
            return None
        screen = chunks.screen
        rest = screen.close(calls_tools=calls_tools)
        if screen.checked is not None:
            metadata = yield from self._turns.finish(
                ruling, screen.released, checked=screen.checked, calls=1
            )
            screen.demand_support()
            self._turns.rewrote(ruling, asked, screen.released)
            return chat_reply(screen.released, metadata, delta=rest, spent=chunks.spent)
        if calls_tools:
            message = self._turns.held.take_out(
                self.inner, response.message, screen.released, message_note(chunks.metadata)
            )
            return tool_reply(message, chunks.metadata, delta=rest, spent=chunks.spent)
        return chat_reply(screen.released, chunks.metadata, delta=rest, spent=chunks.spent)

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
        answers = answers_among(tools, shown=kwargs.pop(_SHOWN, False))
        response = super().chat_with_tools(tools, user_msg, chat_history, *args, **kwargs)
        given = self._given_answers(response, answers)
        if not given:
            return response
        asked = _noted(self._asked_already(chat_history, user_msg), response)
        ruling = self._rule(asked)
        return self._turns.run(self._answers_released(response, given, answers, ruling, asked))

    async def achat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> ChatResponse:
        """Reply with tools at hand, as `chat_with_tools` does."""
        answers = answers_among(tools, shown=kwargs.pop(_SHOWN, False))
        response = await super().achat_with_tools(tools, user_msg, chat_history, *args, **kwargs)
        given = self._given_answers(response, answers)
        if not given:
            return response
        asked = _noted(self._asked_already(chat_history, user_msg), response)
        ruling = await self._arule(asked)
        released = self._answers_released(response, given, answers, ruling, asked)
        return await self._turns.arun(released)

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
        answers = answers_among(tools)
        source = super().stream_chat_with_tools(tools, user_msg, chat_history, *args, **kwargs)
        if not answers:
            return source
        asked = self._asked_already(chat_history, user_msg)
        return self._calls(source, answers, asked, demanded=answers.are_all(tools))

    async def astream_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> ChatResponseAsyncGen:
        """Stream a reply with tools at hand, checked as in `chat_with_tools`."""
        answers = answers_among(tools)
        source = await super().astream_chat_with_tools(
            tools, user_msg, chat_history, *args, **kwargs
        )
        if not answers:
            return source
        asked = self._asked_already(chat_history, user_msg)
        return self._acalls(source, answers, asked, demanded=answers.are_all(tools))

    def _asked_already(
        self, history: Sequence[ChatMessage] | None, user_msg: str | ChatMessage | None
    ) -> Asked:
        """Return what a call was about whose reply is looked at once more."""
        return replace(self._asked(_with_user(history, user_msg)), goes_on=True)

    def _calls(
        self, source: ChatResponseGen, answers: Answers, asked: Asked, *, demanded: bool
    ) -> ChatResponseGen:
        for chunk in source:
            if demanded and _is_ours(chunk):  # hosts would make an empty object of it
                raise miss(chunk.message.content or "")
            given, shown = self._given_answers(chunk, answers), chunk
            if given:
                ruling = self._rule(_noted(asked, chunk))
                released = self._answers_released(chunk, given, answers, ruling, asked)
                shown = self._turns.run(released)
            yield shown

    async def _acalls(
        self, source: ChatResponseAsyncGen, answers: Answers, asked: Asked, *, demanded: bool
    ) -> ChatResponseAsyncGen:
        async for chunk in source:
            if demanded and _is_ours(chunk):
                raise miss(chunk.message.content or "")
            given, shown = self._given_answers(chunk, answers), chunk
            if given:
                ruling = await self._arule(_noted(asked, chunk))
                released = self._answers_released(chunk, given, answers, ruling, asked)
                shown = await self._turns.arun(released)
            yield shown

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
        ruling: Ruling,
        asked: Asked,
    ) -> Steps[ChatResponse]:
        if not ruling.gated or asked.purpose != "answer":
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
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        return _with_functions(self.inner)._prepare_chat_with_tools_compat(
            tools,
            user_msg=user_msg,
            chat_history=chat_history,
            verbose=verbose,
            allow_parallel_tool_calls=allow_parallel_tool_calls,
            tool_required=tool_required,
            **kwargs,
        )

    def _validate_chat_with_tools_response(
        self,
        response: ChatResponse,
        tools: Sequence[BaseTool],
        allow_parallel_tool_calls: bool = False,
        **kwargs: Any,
    ) -> ChatResponse:
        return _with_functions(self.inner)._validate_chat_with_tools_response(
            response, tools, allow_parallel_tool_calls=allow_parallel_tool_calls, **kwargs
        )

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
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        error_on_no_tool_call: bool = True,
        error_on_tool_error: bool = False,
        **kwargs: Any,
    ) -> AgentChatResponse:
        """Predict and call a tool.

        Raises:
            RecallMiss: On a miss, unless `error_on_no_tool_call` is False: then the reply is the
                fallback.
            UngroundedAnswerError: If the model wrote to the tool, whose result is the reply, what
                is not remembered, unless that is False: then the memory answers.
        """
        if not self.metadata.is_function_calling_model:
            asked = self._asked(_with_user(chat_history, user_msg))
            ruling = self._rule(replace(asked, purpose="inner"))  # the call is still to come
            if ruling.refused:
                reply = self._turns.run(self._refusal(ruling, asked))
                return _refused_call(reply, demanded=error_on_no_tool_call)
        else:
            kwargs[_SHOWN] = True
        return super().predict_and_call(
            tools,
            user_msg=user_msg,
            chat_history=chat_history,
            verbose=verbose,
            allow_parallel_tool_calls=allow_parallel_tool_calls,
            error_on_no_tool_call=error_on_no_tool_call,
            error_on_tool_error=error_on_tool_error,
            **kwargs,
        )

    async def apredict_and_call(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        error_on_no_tool_call: bool = True,
        error_on_tool_error: bool = False,
        **kwargs: Any,
    ) -> AgentChatResponse:
        """Predict and call a tool, as `predict_and_call` does."""
        if not self.metadata.is_function_calling_model:
            asked = self._asked(_with_user(chat_history, user_msg))
            ruling = await self._arule(replace(asked, purpose="inner"))
            if ruling.refused:
                reply = await self._turns.arun(self._refusal(ruling, asked))
                return _refused_call(reply, demanded=error_on_no_tool_call)
        else:
            kwargs[_SHOWN] = True
        return await super().apredict_and_call(
            tools,
            user_msg=user_msg,
            chat_history=chat_history,
            verbose=verbose,
            allow_parallel_tool_calls=allow_parallel_tool_calls,
            error_on_no_tool_call=error_on_no_tool_call,
            error_on_tool_error=error_on_tool_error,
            **kwargs,
        )


class _Chunks(Chunks[ChatResponse]):
    """The chunks of a chat reply."""

    def take(self, chunk: ChatResponse) -> Iterator[ChatResponse]:
        if self.ruling.gated and self.asked.purpose == "answer":
            self._note(chunk)
            piece = self.screen.feed(chunk.message.content, chunk.delta)
            if piece:
                yield chat_reply(self.screen.released, self.metadata, delta=piece)
            return
        self.last = chunk
        self.said.add(chunk.message.content, chunk.delta)
        yield noted_chat(chunk, self.metadata) if self.asked.purpose == "answer" else chunk


def _is_ours(response: ChatResponse) -> bool:
    """Whether the palace gave a reply in the model's place, or the model declined."""
    verdict = response.message.additional_kwargs.get(KEY) or {}
    return verdict.get("action") in ("fallback", "answer") or verdict.get("declined", False)


def _is_replaced(response: ChatResponse) -> bool:
    """Whether the memory answers in the place of a model that said what is not remembered."""
    return (response.message.additional_kwargs.get(KEY) or {}).get("supported") is False


def _noted(asked: Asked, response: ChatResponse) -> Asked:
    return replace(asked, noted=noted_verdict([response.message]))


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


def _refused_call(reply: ChatResponse, *, demanded: bool) -> AgentChatResponse:
    text = reply.message.content or ""
    if demanded:
        raise miss(text)
    return AgentChatResponse(response=text, metadata=dict(reply.additional_kwargs))
