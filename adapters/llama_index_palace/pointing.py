"""The quote call, made the best way the wrapped model can: by tool, by chat or by completion.

In: a `ModelCall` and what the turn is about. Out: a `ModelReply`; nobody is shown anything of it.
"""

from __future__ import annotations

from itertools import dropwhile
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    MessageRole,
)
from llama_index.core.bridge.pydantic import BaseModel, Field
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import LLM
from llama_index.core.tools import FunctionTool

from llama_index_palace.heard import unheard
from llama_index_palace.questions import Asked
from palace import QUOTE_SCHEMA, ModelCall, ModelReply, hosting


class _Further(BaseModel):
    memory: int = Field(description="Number of the item.")
    quote: str = Field(description="Its words, copied.")


class _PointToMemory(BaseModel):
    """The arguments of the quote contract; a test holds them equal to `QUOTE_SCHEMA`."""

    memory: int | None = Field(description="Number of the item that answers, or null if none does.")
    quote: str = Field(description="The words of that item that answer, copied exactly.")
    answer: str = Field(description="A short answer that says only what the item says.")
    also: list[_Further] = Field(
        default_factory=list,
        description="Further items, only if the question asks for several things.",
    )


def _never_run(**arguments: object) -> str:
    """Stand for the tool: its call is read, never run."""
    return str(arguments)


_TOOL = FunctionTool.from_defaults(
    fn=_never_run,
    name=str(QUOTE_SCHEMA["name"]),
    description=str(QUOTE_SCHEMA["description"]),
    fn_schema=_PointToMemory,
)


def ask(inner: LLM, asked: Asked, call: ModelCall) -> hosting.Steps[ModelReply]:
    """Make the call."""
    messages = _messages(asked, call.user_text)
    if call.schema is not None and _has_tools(inner):
        step = call_step(inner, "chat", **_with_tool(inner, messages))
        return _reply(inner, (yield unheard(step)))
    if inner.metadata.is_chat_model:
        said: ChatResponse = yield unheard(call_step(inner, "chat", messages))
        return ModelReply(said.message.content or "")
    step = call_step(inner, "complete", call.user_text)
    completed: CompletionResponse = yield unheard(step)
    return ModelReply(completed.text)


def call_step(
    inner: LLM | BaseQueryEngine, method: str, /, *args: Any, **kwargs: Any
) -> hosting.Step[Any]:
    """Return a call of a model or an engine as a step: of a method, or of its awaited twin."""
    return hosting.Step(
        lambda: getattr(inner, method)(*args, **kwargs),
        lambda: getattr(inner, f"a{method}")(*args, **kwargs),
    )


def calls_of(inner: LLM, response: ChatResponse) -> list[Any]:
    """Return the tool calls of a reply, none from a model that has no tools."""
    if not _has_tools(inner):
        return []
    assert isinstance(inner, FunctionCallingLLM)
    return list(inner.get_tool_calls_from_response(response, error_on_no_tool_call=False) or ())


def _has_tools(inner: LLM) -> bool:
    return isinstance(inner, FunctionCallingLLM) and inner.metadata.is_function_calling_model


def _with_tool(inner: LLM, messages: list[ChatMessage]) -> dict[str, Any]:
    # No call is forced: providers refuse that of a model that thinks, and words are read as well.
    assert isinstance(inner, FunctionCallingLLM)
    return inner._prepare_chat_with_tools_compat(
        [_TOOL], chat_history=messages, allow_parallel_tool_calls=False
    )


def _reply(inner: LLM, response: ChatResponse) -> ModelReply:
    text = response.message.content or ""
    for call in calls_of(inner, response):
        if call.tool_name == _TOOL.metadata.name:
            return ModelReply(text, arguments=call.tool_kwargs)
    return ModelReply(text)


def _messages(asked: Asked, user_text: str) -> list[ChatMessage]:
    """Return the conversation, begun by the person: some providers take no other.

    What the host's own program says stands before it, as in the host's call, unless that may teach
    a form that the contract does not have.
    """
    theirs = dropwhile(lambda message: message.role != "user", asked.history)
    said = [ChatMessage(role=MessageRole(m.role), content=m.content) for m in theirs]
    in_form = asked.reasoning or asked.coding or asked.in_schema
    program = () if in_form else asked.program
    return [*program, *said, ChatMessage(role=MessageRole.USER, content=user_text)]
