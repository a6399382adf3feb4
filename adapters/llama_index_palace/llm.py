"""A model that looks before it answers: the one seam that every LlamaIndex host goes through.

In: any LlamaIndex model and a palace. Out: `PalaceLLM`, a drop-in for it in agents, workflows,
chat engines, query engines and structured prediction.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import LLM, ToolSelection
from llama_index.core.prompts import BasePromptTemplate, PromptTemplate
from llama_index.core.types import Model, TokenAsyncGen, TokenGen
from llama_index_palace.events import KEY, verdict_metadata
from llama_index_palace.pointing import aask, ask, calls_of
from llama_index_palace.questions import (
    HOST_REWRITES,
    Asked,
    asked_in_messages,
    asked_in_prompt,
    rewrite_pattern,
    told_by_template,
)
from llama_index_palace.replies import (
    Screen,
    chat_reply,
    completion_reply,
    is_step,
    noted_chat,
    noted_completion,
    prepared_messages,
    refusal_text,
    tool_reply,
)
from llama_index_palace.session import PalaceSession, current_session
from llama_index_palace.structured import PreparedPrompt, check_object, declines, miss
from llama_index_palace.turns import Ruling, Steps, Turns

from palace import Mempalace, ModelCall, ModelReply

if TYPE_CHECKING:
    from llama_index.core.tools.types import BaseTool

_COPIED = (
    "callback_manager",
    "system_prompt",
    "messages_to_prompt",
    "completion_to_prompt",
    "output_parser",
    "pydantic_program_mode",
    "query_wrapper_prompt",
)


class PalaceLLM(FunctionCallingLLM):
    """Wraps a model so that recall prompts are decided by the palace before it is called.

    On a miss the wrapped model is not called at all. On unclear evidence it is asked for a quote
    first, and nothing else is released without one. On sufficient evidence it gets the evidence
    in the user's message, and its words are released as they are verified. Everything else goes
    through untouched. The verdict is in `additional_kwargs["palace"]` of message and reply.

    Args:
        inner: The model.
        palace: An open `Mempalace`.
        session_id: Session of all calls outside a `palace_session` block.
        project: Project of these calls.
        rewrite_prompts: Templates with `{question}` (and perhaps `{chat_history}`) with which a
            host of yours has the model rewrite a question before it is asked; the ones of
            LlamaIndex' own chat engines are known.

    Example:
        >>> llm = PalaceLLM(OpenAI("…"), palace, session_id="s1")  # doctest: +SKIP
        >>> agent = FunctionAgent(llm=llm, tools=tools)  # doctest: +SKIP
    """

    inner: LLM = Field(exclude=True)
    palace: Any = Field(exclude=True)
    session_id: str | None = None
    project: str | None = None
    _turns: Turns = PrivateAttr()
    _rewrites: tuple[re.Pattern[str], ...] = PrivateAttr(default=HOST_REWRITES)

    def __init__(
        self,
        inner: LLM,
        palace: Mempalace,
        *,
        session_id: str | None = None,
        project: str | None = None,
        rewrite_prompts: Sequence[str] = (),
    ) -> None:
        super().__init__(
            inner=inner,
            palace=palace,
            session_id=session_id,
            project=project,
            **{name: getattr(inner, name) for name in _COPIED},
        )
        self._turns = Turns(palace)
        self._rewrites = (*(rewrite_pattern(p.strip()) for p in rewrite_prompts), *HOST_REWRITES)

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401 - any field
        """Set a field; a host's callback manager reaches the wrapped model too."""
        super().__setattr__(name, value)
        if name == "callback_manager":
            self.inner.callback_manager = value

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class."""
        return "PalaceLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """The wrapped model's own, so that hosts choose the same way with and without us."""
        return self.inner.metadata

    # -- deciding ------------------------------------------------------------------------------

    @property
    def _session(self) -> PalaceSession:
        return current_session(self.session_id, project=self.project)

    def _asked(self, messages: Sequence[ChatMessage]) -> Asked:
        return asked_in_messages(messages, question=self._session.question)

    def _asked_in(self, prompt: str) -> Asked:
        return asked_in_prompt(prompt, question=self._session.question, rewrites=self._rewrites)

    def _rule(self, asked: Asked, *, alone: bool = False) -> Ruling:
        def point(call: ModelCall) -> ModelReply:
            return ask(self.inner, call, asked.history)

        return self._turns.run(self._turns.rule(asked, self._session, alone=alone), point)

    async def _arule(self, asked: Asked, *, alone: bool = False) -> Ruling:
        async def point(call: ModelCall) -> ModelReply:
            return await aask(self.inner, call, asked.history)

        return await self._turns.arun(self._turns.rule(asked, self._session, alone=alone), point)

    # -- chat ----------------------------------------------------------------------------------

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Reply to messages; see the class."""
        asked = self._asked(messages)
        ruling = self._rule(asked, alone=_is_alone(asked, kwargs))
        if ruling.refused:
            return self._turns.run(self._refusal(ruling, asked))
        response = self.inner.chat(prepared_messages(messages, asked, ruling), **kwargs)
        return self._turns.run(self._released(response, ruling, asked))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Reply to messages; see the class."""
        asked = self._asked(messages)
        ruling = await self._arule(asked, alone=_is_alone(asked, kwargs))
        if ruling.refused:
            return await self._turns.arun(self._refusal(ruling, asked))
        response = await self.inner.achat(prepared_messages(messages, asked, ruling), **kwargs)
        return await self._turns.arun(self._released(response, ruling, asked))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Stream a reply; the decision is made before this returns."""
        asked = self._asked(messages)
        ruling = self._rule(asked, alone=_is_alone(asked, kwargs))
        if ruling.refused:
            return _once(self._turns.run(self._refusal(ruling, asked)))
        source = self.inner.stream_chat(prepared_messages(messages, asked, ruling), **kwargs)
        return self._stream(source, ruling, asked)

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Stream a reply; the decision is made before this returns."""
        asked = self._asked(messages)
        ruling = await self._arule(asked, alone=_is_alone(asked, kwargs))
        if ruling.refused:
            return _aonce(await self._turns.arun(self._refusal(ruling, asked)))
        sent = prepared_messages(messages, asked, ruling)
        return self._astream(await self.inner.astream_chat(sent, **kwargs), ruling, asked)

    def _refusal(self, ruling: Ruling, asked: Asked) -> Steps[ChatResponse]:
        text = refusal_text(ruling, asked)
        if asked.purpose == "rewrite":  # the turn goes on: its answer is still to come
            return chat_reply(text, verdict_metadata(ruling.verdict), delta=text)
        return chat_reply(text, (yield from self._turns.finish(ruling, text)), delta=text)

    def _released(
        self, response: ChatResponse, ruling: Ruling, asked: Asked
    ) -> Steps[ChatResponse]:
        if asked.purpose != "answer":
            return response
        text = response.message.content or ""
        if not ruling.gated:
            return (yield from self._passed(response, ruling, asked))
        screen = Screen(ruling.check(asked), reasoning=asked.reasoning)
        screen.feed(text, None)
        return (yield from self._ended(response, ruling, asked, screen))

    def _passed(self, response: ChatResponse, ruling: Ruling, asked: Asked) -> Steps[ChatResponse]:
        """Let the last reply of an ungated turn through."""
        text = response.message.content or ""
        if is_step(text, asked, calls_tools=bool(calls_of(self.inner, response))):
            return noted_chat(response, verdict_metadata(ruling.verdict))
        return noted_chat(response, (yield from self._turns.finish(ruling, text, calls=1)))

    def _ended(
        self, response: ChatResponse, ruling: Ruling, asked: Asked, screen: Screen
    ) -> Steps[ChatResponse]:
        """Return the last chunk of a gated reply: what is left of it, and the whole verdict."""
        calls_tools = bool(calls_of(self.inner, response))
        rest = screen.close(calls_tools=calls_tools)
        if screen.checked is None:  # a step of a loop: the turn goes on
            metadata = verdict_metadata(ruling.verdict, model_calls=ruling.model_calls + 1)
            if calls_tools:
                return tool_reply(response, screen.released, metadata, delta=rest)
            return chat_reply(screen.released, metadata, delta=rest)
        metadata = yield from self._turns.finish(
            ruling, screen.released, checked=screen.checked, calls=1
        )
        return chat_reply(screen.released, metadata, delta=rest)

    def _stream(self, source: ChatResponseGen, ruling: Ruling, asked: Asked) -> ChatResponseGen:
        chunks = _ChatChunks(ruling, asked)
        for chunk in source:
            yield from chunks.take(chunk)
        last = chunks.last
        if last is not None and asked.purpose == "answer":
            end = self._ended if ruling.gated else self._passed_chunk
            yield self._turns.run(end(last, ruling, asked, chunks.screen))

    async def _astream(
        self, source: ChatResponseAsyncGen, ruling: Ruling, asked: Asked
    ) -> ChatResponseAsyncGen:
        chunks = _ChatChunks(ruling, asked)
        async for chunk in source:
            for shown in chunks.take(chunk):
                yield shown
        last = chunks.last
        if last is not None and asked.purpose == "answer":
            end = self._ended if ruling.gated else self._passed_chunk
            yield await self._turns.arun(end(last, ruling, asked, chunks.screen))

    def _passed_chunk(
        self,
        response: ChatResponse,
        ruling: Ruling,
        asked: Asked,
        screen: Screen,  # noqa: ARG002 - called as `_ended` is
    ) -> Steps[ChatResponse]:
        return (yield from self._passed(response, ruling, asked))

    # -- completion ----------------------------------------------------------------------------

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Complete a prompt; see the class."""
        asked = self._asked_in(prompt)
        ruling = self._rule(asked, alone=_is_alone(asked, kwargs))
        if ruling.refused:
            return self._turns.run(self._crefusal(ruling, asked))
        sent = _prompt(prompt, ruling, asked)
        response = self.inner.complete(sent, formatted=formatted, **kwargs)
        return self._turns.run(self._creleased(response, ruling, asked))

    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Complete a prompt; see the class."""
        asked = self._asked_in(prompt)
        ruling = await self._arule(asked, alone=_is_alone(asked, kwargs))
        if ruling.refused:
            return await self._turns.arun(self._crefusal(ruling, asked))
        sent = _prompt(prompt, ruling, asked)
        response = await self.inner.acomplete(sent, formatted=formatted, **kwargs)
        return await self._turns.arun(self._creleased(response, ruling, asked))

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Stream a completion; the decision is made before this returns."""
        asked = self._asked_in(prompt)
        ruling = self._rule(asked, alone=_is_alone(asked, kwargs))
        if ruling.refused:
            return _once(self._turns.run(self._crefusal(ruling, asked)))
        sent = _prompt(prompt, ruling, asked)
        source = self.inner.stream_complete(sent, formatted=formatted, **kwargs)
        return self._cstream(source, ruling, asked)

    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        """Stream a completion; the decision is made before this returns."""
        asked = self._asked_in(prompt)
        ruling = await self._arule(asked, alone=_is_alone(asked, kwargs))
        if ruling.refused:
            return _aonce(await self._turns.arun(self._crefusal(ruling, asked)))
        sent = _prompt(prompt, ruling, asked)
        source = await self.inner.astream_complete(sent, formatted=formatted, **kwargs)
        return self._castream(source, ruling, asked)

    def _crefusal(self, ruling: Ruling, asked: Asked) -> Steps[CompletionResponse]:
        reply = yield from self._refusal(ruling, asked)
        text = reply.message.content or ""
        return completion_reply(text, reply.additional_kwargs[KEY], delta=text)

    def _creleased(
        self, response: CompletionResponse, ruling: Ruling, asked: Asked
    ) -> Steps[CompletionResponse]:
        if asked.purpose != "answer":
            return response
        screen = Screen(ruling.check(asked), reasoning=asked.reasoning)
        screen.feed(response.text, None)
        return (yield from self._cended(response, ruling, asked, screen))

    def _cended(
        self, response: CompletionResponse, ruling: Ruling, asked: Asked, screen: Screen
    ) -> Steps[CompletionResponse]:
        if not ruling.gated:
            if is_step(response.text, asked, calls_tools=False):
                return noted_completion(response, verdict_metadata(ruling.verdict))
            metadata = yield from self._turns.finish(ruling, response.text, calls=1)
            return noted_completion(response, metadata)
        rest = screen.close()
        if screen.checked is None:
            metadata = verdict_metadata(ruling.verdict, model_calls=ruling.model_calls + 1)
        else:
            metadata = yield from self._turns.finish(
                ruling, screen.released, checked=screen.checked, calls=1
            )
        return completion_reply(screen.released, metadata, delta=rest)

    def _cstream(
        self, source: CompletionResponseGen, ruling: Ruling, asked: Asked
    ) -> CompletionResponseGen:
        chunks = _TextChunks(ruling, asked)
        for chunk in source:
            yield from chunks.take(chunk)
        if chunks.last is not None and asked.purpose == "answer":
            yield self._turns.run(self._cended(chunks.last, ruling, asked, chunks.screen))

    async def _castream(
        self, source: CompletionResponseAsyncGen, ruling: Ruling, asked: Asked
    ) -> CompletionResponseAsyncGen:
        chunks = _TextChunks(ruling, asked)
        async for chunk in source:
            for shown in chunks.take(chunk):
                yield shown
        if chunks.last is not None and asked.purpose == "answer":
            yield await self._turns.arun(self._cended(chunks.last, ruling, asked, chunks.screen))

    # -- prompts of hosts: the template knows the question ------------------------------------

    def predict(self, prompt: BasePromptTemplate, **prompt_args: Any) -> str:
        """Predict for a template, decided on the question among its arguments."""
        with told_by_template(prompt, prompt_args):
            return super().predict(prompt, **prompt_args)

    def stream(self, prompt: BasePromptTemplate, **prompt_args: Any) -> TokenGen:
        """Stream for a template, decided on the question among its arguments."""
        with told_by_template(prompt, prompt_args):
            return super().stream(prompt, **prompt_args)

    async def apredict(self, prompt: BasePromptTemplate, **prompt_args: Any) -> str:
        """Predict for a template, decided on the question among its arguments."""
        with told_by_template(prompt, prompt_args):
            return await super().apredict(prompt, **prompt_args)

    async def astream(self, prompt: BasePromptTemplate, **prompt_args: Any) -> TokenAsyncGen:
        """Stream for a template, decided on the question among its arguments."""
        with told_by_template(prompt, prompt_args):
            return await super().astream(prompt, **prompt_args)

    # -- tools ---------------------------------------------------------------------------------

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
        """
        verdict = response.message.additional_kwargs.get(KEY)
        if verdict and verdict["action"] in ("fallback", "answer"):
            if error_on_no_tool_call:
                raise miss(response.message.content or "")
            return []
        return _with_functions(self.inner).get_tool_calls_from_response(
            response, error_on_no_tool_call=error_on_no_tool_call, **kwargs
        )

    def predict_and_call(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        **kwargs: Any,
    ) -> AgentChatResponse:
        """Predict and call a tool.

        Raises:
            RecallMiss: On a miss, unless `error_on_no_tool_call` is False: then the reply is the
                fallback.
        """
        if not self.metadata.is_function_calling_model:
            ruling = self._rule(self._asked(_with_user(chat_history, user_msg)))
            if ruling.refused:
                return _refused_call(ruling, kwargs)
        return super().predict_and_call(
            tools, user_msg=user_msg, chat_history=chat_history, verbose=verbose, **kwargs
        )

    async def apredict_and_call(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        **kwargs: Any,
    ) -> AgentChatResponse:
        """Predict and call a tool, as `predict_and_call` does."""
        if not self.metadata.is_function_calling_model:
            ruling = await self._arule(self._asked(_with_user(chat_history, user_msg)))
            if ruling.refused:
                return _refused_call(ruling, kwargs)
        return await super().apredict_and_call(
            tools, user_msg=user_msg, chat_history=chat_history, verbose=verbose, **kwargs
        )

    # -- structured prediction -----------------------------------------------------------------

    def structured_predict(
        self,
        output_cls: type[Model],
        prompt: PromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> Model:
        """Predict an object.

        Raises:
            RecallMiss: On a miss, when the model declines, or without a verified quote.
            UngroundedAnswerError: If a value is not supported by the evidence.
        """
        messages, asked = self._asked_for_object(prompt, prompt_args)
        ruling = self._rule(asked)
        ready = self._turns.run(self._object_prompt(messages, ruling, asked))
        with _declined(ruling):
            result = self.inner.structured_predict(output_cls, ready, llm_kwargs=llm_kwargs)
        self._turns.run(self._object_checked(result, ruling, asked))
        return result

    async def astructured_predict(
        self,
        output_cls: type[Model],
        prompt: PromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> Model:
        """Predict an object, as `structured_predict` does."""
        messages, asked = self._asked_for_object(prompt, prompt_args)
        ruling = await self._arule(asked)
        ready = await self._turns.arun(self._object_prompt(messages, ruling, asked))
        with _declined(ruling):
            result = await self.inner.astructured_predict(output_cls, ready, llm_kwargs=llm_kwargs)
        await self._turns.arun(self._object_checked(result, ruling, asked))
        return result
