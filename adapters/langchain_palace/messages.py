"""Surgery on messages: which one asks, what was said before, and how its text is replaced.

In: LangChain messages. Out: new ones; a message that comes in is never changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call

from palace import Message, values_in, without_echoes

M = TypeVar("M", bound=BaseMessage)
SOURCE = "lc_source"
"""Where LangChain notes which of its parts wrote a message, or makes a call."""
IS_REPLY = "is_reply"
"""Marks, in the verdict that a message of the model tells, calls of tools that are its reply."""
# More than this much of a conversation never told a follow-up from a new question.
HISTORY_MESSAGES = 12
_ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
_ROLES |= {"user": "user", "assistant": "assistant", "developer": "system"}
_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "text-plain", "guard_content"})
# A longer part of a message beside others is something that they are said of.
_DOCUMENT_CHARS = 400
_USAGE_KEYS = frozenset({"token_usage", "usage"})
_TOOL_KEYS = frozenset({"tool_calls", "function_call"})
# What a chain begins with that has an answer refined with one document after another.
_REFINE = re.compile(
    r"We have the opportunity to refine the existing answer \(only if needed\) with some more"
    r" context below\."
)
# How a parser has a model try again whose reply it could not read.
_RETRY = "Prompt:\n"
_REPLIED = "\nCompletion:\n"
_AGAIN = "\n\nAbove, the Completion did not satisfy the constraints given in the Prompt.\n"
# Where the result of a tool tells what of it may vouch for an answer, if a model spoke there.
_FOUND = "found"
_CALL_PARTS = frozenset(
    {"tool_use", "tool_call", "tool_call_chunk", "input_json_delta", "function_call"}
)


def text_of(message: BaseMessage) -> str:
    """Return the text of a message, without its images and other parts.

    A model's parts are pieces of what it says, anybody else's stand apart. Of results of tools in
    the person's role it is what the tools answered.
    """
    if isinstance(message.content, str):
        return message.content
    role = _role_of(message)
    texts = _texts(message.content, with_results=role == "tool")
    return ("" if role in ("", "assistant") else "\n").join(texts)


def _texts(parts: Iterable[object], *, with_results: bool) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif not isinstance(part, Mapping):
            continue
        elif is_text(part):
            yield part["text"]
        elif with_results and _is_result(part):
            told = part.get("content") or ()
            yield from _texts([told] if isinstance(told, str) else told, with_results=False)


def is_text(part: object) -> bool:
    """Whether a part of a message is text, in any of the forms that providers take."""
    if not isinstance(part, Mapping):
        return isinstance(part, str)
    return part.get("type", "text") in _TEXT_PARTS and isinstance(part.get("text"), str)


def is_persons(message: BaseMessage) -> bool:
    """Whether a message is the person's; a summary is not theirs."""
    return is_users(message) and not is_summary(message)


def is_users(message: BaseMessage) -> bool:
    """Whether a message is in the role of the person, whoever wrote it."""
    return _role_of(message) == "user"


def is_agents(messages: Sequence[BaseMessage], index: int) -> bool:
    """Whether somebody else speaks in the person's role: the host itself, or another agent.

    The host marks what it puts in; an agent has a name, where the person has none.
    """
    if is_notice(messages[index]):
        return True
    if not messages[index].name:
        return False
    return any(is_persons(m) and not m.name for m in messages[:index])


def speaker_of(messages: Sequence[BaseMessage], index: int) -> str:
    """Return in which role a message is said, as the palace knows it, "" if it knows none."""
    return "assistant" if is_agents(messages, index) else _role_of(messages[index])


def is_system(message: BaseMessage) -> bool:
    """Whether a message is the program's own."""
    return _role_of(message) == "system"


def program_text(messages: Sequence[BaseMessage]) -> str:
    """Return what the program itself says in messages."""
    return "\n".join(text_of(message) for message in messages if is_system(message))


def is_tools(message: BaseMessage) -> bool:
    """Whether a message is what a tool answered."""
    return _role_of(message) == "tool"


def asking_index(
    messages: Sequence[BaseMessage], theirs: Callable[[BaseMessage], bool] = is_persons
) -> int | None:
    """Return where the last message of the person stands.

    Where no message is theirs, a system message at the end asks: some prompts hold the question.

    Args:
        messages: The conversation.
        theirs: Tells whether a message is the person's.
    """
    for index in range(len(messages) - 1, -1, -1):
        if theirs(messages[index]):
            return index
    return len(messages) - 1 if messages and is_system(messages[-1]) else None


def asked_with(messages: Sequence[BaseMessage], index: int) -> str:
    """Return what the person asks with a message.

    A chain that has an answer refined says so in the person's role: what is asked is the question
    before that answer. A parser that has a model try again repeats what was asked.
    """
    text = text_of(messages[index])
    if text.startswith(_RETRY) and _AGAIN in text:
        return text.removeprefix(_RETRY).partition(_REPLIED)[0]
    if not _REFINE.match(text):
        return text
    earlier = (text_of(m) for m in reversed(messages[:index]) if is_persons(m))
    return next(earlier, text)


def beside_documents(message: BaseMessage) -> str:
    """Return what is said in the short parts of a message beside long ones, "" if it has not both.

    A host puts a file that comes with a question into a part of its own.
    """
    parts = [] if isinstance(message.content, str) else message.content
    texts = [*_texts(parts, with_results=False)]
    short = [text for text in texts if len(text) <= _DOCUMENT_CHARS]
    return "\n".join(short).strip() if len(short) < len(texts) else ""


def asking_before(messages: Sequence[BaseMessage], index: int) -> int | None:
    """Return where the person asked before a message and got no reply, None if they did not.

    What another agent says replies to an agent, and so does what that one said: the person's
    question before it is still open. It is before a notice of the host unless it has its answer.
    """
    if is_agents(messages, index):
        own = next((n for n in range(index - 1, -1, -1) if _is_own(messages, n)), None)
        is_answered = is_notice(messages[index]) and any(map(_is_answer, messages[own:index]))
        return None if is_answered else own
    has_reply = has_result = False
    for earlier in range(index - 1, -1, -1):
        message = messages[earlier]
        if is_persons(message):
            return None if has_reply else earlier
        if is_tools(message):
            has_result = has_result or not has_failed(message)
        elif _calls_on_evidence(message, replied=has_result):
            # Such a loop may be broken off, and what the host itself says then, as of a limit, is
            # no reply. What is called in any other turn may have done what was asked.
            has_reply = has_result = False
        elif _is_hosts(message):
            has_reply = True
        elif not (is_system(message) or _says_nothing(message)):
            return None
    return None


def _calls_on_evidence(message: BaseMessage, *, replied: bool) -> bool:
    """Whether a message calls tools in a turn that rests on a memory, and these gave no reply.

    Args:
        message: The message.
        replied: Whether one of them answered, so that it replied if it is one that does.
    """
    verdict = message.response_metadata.get("palace")
    if not isinstance(message, AIMessage) or not isinstance(verdict, Mapping):
        return False
    rests = verdict.get("action") == "ground" and not (replied and verdict.get(IS_REPLY))
    return rests and bool(calls_of(message))


def _is_hosts(message: BaseMessage) -> bool:
    """Whether a message is in the model's role though neither a model nor a palace tells of it."""
    told = message.response_metadata or getattr(message, "usage_metadata", None) or message.name
    return not told and _is_answer(message)


def _is_own(messages: Sequence[BaseMessage], index: int) -> bool:
    return is_persons(messages[index]) and not is_agents(messages, index)


def is_summary(message: BaseMessage) -> bool:
    """Whether a summarising middleware wrote this message in place of others."""
    return message.additional_kwargs.get(SOURCE) == "summarization"


def is_notice(message: BaseMessage) -> bool:
    """Whether the host marked a message in the person's role as one that it put in itself."""
    return isinstance(message.additional_kwargs.get(SOURCE), str) and not is_summary(message)


def _is_answer(message: BaseMessage) -> bool:
    is_models = isinstance(message, AIMessage) and not calls_of(message)
    return is_models and not _says_nothing(message)


def _says_nothing(message: BaseMessage) -> bool:
    """Whether a message is a model's without words, parts or calls: it replies to nobody."""
    content = message.content
    is_blank = not (content.strip() if isinstance(content, str) else content)
    return isinstance(message, AIMessage) and is_blank and not calls_of(message)


def history_before(messages: Sequence[BaseMessage], index: int) -> tuple[Message, ...]:
    """Return what was said before, oldest first, as the palace reads it."""
    earlier = range(max(0, index - HISTORY_MESSAGES), index)
    said = ((speaker_of(messages, n), text_of(messages[n])) for n in earlier)
    return tuple(Message(role, text) for role, text in said if role and text)


def tool_texts(
    messages: Sequence[BaseMessage], index: int | None, models: Collection[str] = ()
) -> tuple[str, ...]:
    """Return what tools of the host answered since the person asked, or at all.

    What they repeat of what the model wrote to them is left out, as a tool does that keeps a list
    or takes down a thought: else the model could vouch for itself. So are errors, which repeat
    the least word of it, and what another model says behind a tool.

    Args:
        messages: The conversation.
        index: Where the person asks.
        models: Names of tools behind which a model answers.
    """
    since = messages if index is None else messages[index + 1 :]
    results = [message for message in since if is_tools(message)]
    if not results:
        return ()
    said = [m for m in since if isinstance(m, AIMessage)]
    asked = {c["id"] for m in said for c in calls_of(m) if c["name"] in models} if models else ()
    texts = [t for m in results if not _answers(m, models, asked) for t in _evidence_in(m)]
    written = (value for m in said for call in _written_in(m) for value in values_in(call))
    return without_echoes(texts, written=written)


def _answers(message: BaseMessage, models: Collection[str], asked: Collection[str | None]) -> bool:
    """Whether a message is the result of one of these tools, or of one of these calls."""
    if not models:
        return False
    parts = () if isinstance(message.content, str) else filter(_is_result, message.content)
    ids = {part.get("tool_use_id") for part in parts if isinstance(part, Mapping)}
    return message.name in models or not {getattr(message, "tool_call_id", None), *ids}.isdisjoint(
        asked
    )


def _evidence_in(message: BaseMessage) -> Sequence[str]:
    """Return what of a result may vouch for an answer; see `heard_behind`."""
    verdict = message.response_metadata.get("palace")
    noted: Sequence[str] | None = verdict.get(_FOUND) if isinstance(verdict, Mapping) else None
    if noted is not None:
        return noted
    if has_failed(message):
        return []
    if isinstance(message.content, str):
        return [message.content]
    parts = [p for p in message.content if not (isinstance(p, Mapping) and p.get("is_error"))]
    return [text_of(message.model_copy(update={"content": parts}))]


def has_failed(result: object) -> bool:
    """Whether a tool answered with an error, which repeats what the model wrote to it."""
    return isinstance(result, ToolMessage) and result.status == "error"


def heard_behind(message: BaseMessage, found: Sequence[str]) -> BaseMessage:
    """Return the result of a tool behind which a model spoke: only what was found there vouches."""
    verdict = message.response_metadata.get("palace")
    noted = {**(verdict if isinstance(verdict, Mapping) else {}), _FOUND: list(found)}
    return labelled(message, noted)


def _written_in(message: AIMessage) -> Iterator[object]:
    """Yield what the model wrote in calls of tools; a host may keep them as its provider says."""
    yield from (call["args"] for call in calls_of(message))
    yield from call_parts(message)


def with_text(message: BaseMessage, text: str) -> BaseMessage:
    """Return a message with its text replaced; its images and other parts, and its id, stay.

    Where the person's text comes in several parts, it stays too and the new text goes first:
    what stands between two images means something.
    """
    if isinstance(message.content, str):
        return message.model_copy(update={"content": text})
    parts = list(message.content)
    places = [n for n, part in enumerate(parts) if is_text(part)]
    if len(places) == 1:
        part = parts[places[0]]
        kept = part if isinstance(part, Mapping) else {"type": "text"}
        parts[places[0]] = {**kept, "text": text}
    else:
        parts.insert(0, {"type": "text", "text": text})
    return message.model_copy(update={"content": parts})


def saying(message: M, text: str) -> M:
    """Return a message that says a text in place of all of its own; its images stay."""
    parts = [] if isinstance(message.content, str) else message.content
    others = [part for part in parts if not is_text(part) and not _is_result(part)]
    return message.model_copy(update={"content": _as_content(text, others)})


def asking(messages: Sequence[BaseMessage], index: int | None, text: str) -> list[BaseMessage]:
    """Return the messages with the text of the asking one replaced.

    Args:
        messages: The conversation.
        index: Where the person asks; None if that message is gone, for example summarised. Then
            the text is added to the summary, or goes before all but the program's own messages.
            Right behind a system message it goes into one of its own.
        text: What the model is asked.
    """
    if index is not None and is_system(messages[index]):
        own = [HumanMessage(text)] if text != text_of(messages[index]) else []
        return [*messages[: index + 1], *own, *messages[index + 1 :]]
    if index is not None:
        return [*messages[:index], with_text(messages[index], text), *messages[index + 1 :]]
    last = next((n for n in range(len(messages) - 1, -1, -1) if is_users(messages[n])), None)
    if last is None:
        first = next((n for n, m in enumerate(messages) if not is_system(m)), len(messages))
        return [*messages[:first], HumanMessage(text), *messages[first:]]
    added = with_text(messages[last], f"{text_of(messages[last])}\n\n{text}")
    return [*messages[:last], added, *messages[last + 1 :]]


def spoken(text: str, metadata: Mapping[str, Any]) -> AIMessage:
    """Return a reply that no model wrote."""
    return AIMessage(text, response_metadata={"palace": dict(metadata)})


def verdict_id(message: AIMessage) -> str | None:
    """Return the id of the verdict that a message tells; whoever sends one can write any."""
    verdict = message.response_metadata.get("palace")
    told = verdict.get("id") if isinstance(verdict, Mapping) else None
    return told if isinstance(told, str) else None


def labelled(message: M, metadata: Mapping[str, Any]) -> M:
    """Return a message as it is, with the verdict for the host to see."""
    told = {**message.response_metadata, "palace": dict(metadata)}
    return message.model_copy(update={"response_metadata": told})


def released(message: AIMessage, text: str, metadata: Mapping[str, Any]) -> AIMessage:
    """Return a model's message with nothing in it but checked text and calls of tools.

    Reasoning and other parts are text that nobody checked, and so are calls that cannot be read.
    What a provider wants back beside a call, it gets back; see `with_thoughts`.
    """
    calling = bool(calls_of(message))
    calls = call_parts(message)
    update: dict[str, Any] = {
        "invalid_tool_calls": [],
        "content": _as_content(text, calls) if calling else text,
        "additional_kwargs": of_calls(message.additional_kwargs) if calling else {},
        "response_metadata": {**told(message.response_metadata), "palace": dict(metadata)},
    }
    return message.model_copy(update=update)


def chunk_of(message: AIMessage) -> AIMessageChunk:
    """Return a whole message as the only chunk of a stream."""
    return AIMessageChunk(
        content=message.content,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
        id=message.id,
        name=message.name,
        tool_calls=message.tool_calls,
        invalid_tool_calls=message.invalid_tool_calls,
        chunk_position="last",
    )


def told(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return a provider's metadata without what holds words of the model, as log probabilities."""
    return {
        key: value
        for key, value in metadata.items()
        if value is None or isinstance(value, (str, int, float)) or key in _USAGE_KEYS
    }


def with_thoughts(message: AIMessage, said: AIMessage) -> AIMessage:
    """Return a released message with all that the model said beside its text, in its order.

    Args:
        message: What was released.
        said: What the model said.
    """
    extras = {**said.additional_kwargs, **message.additional_kwargs}
    if isinstance(said.content, str):
        return message.model_copy(update={"additional_kwargs": extras})
    texts = [n for n, part in enumerate(said.content) if is_text(part)]
    place = texts[0] if texts else 0
    content = [p for p in said.content if not is_text(p)]
    own = said.content[place] if texts else None  # its id: what is thought belongs to what is said
    text = _as_parts(text_of(message))
    content[place:place] = [{**own, **part} for part in text] if isinstance(own, dict) else text
    return message.model_copy(update={"content": content, "additional_kwargs": extras})


def _is_result(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "tool_result"


def _is_call(part: object) -> bool:
    """Whether a part of a message is the call of a tool, whole or a piece of it."""
    return isinstance(part, Mapping) and part.get("type") in _CALL_PARTS


def call_parts(message: BaseMessage) -> list[Any]:
    """Return the parts of a message that are calls of tools."""
    return [] if isinstance(message.content, str) else [*filter(_is_call, message.content)]


def of_calls(extras: Mapping[str, Any]) -> dict[str, Any]:
    """Return the extras that are calls, or what a provider signs them with, as no one can read."""
    return {key: v for key, v in extras.items() if key in _TOOL_KEYS or "signature" in key}


def _as_parts(text: str) -> list[Any]:
    return [{"type": "text", "text": text}] if text else []


def _as_content(text: str, parts: Sequence[Any]) -> str | list[Any]:
    return [*_as_parts(text), *parts] if parts else text


def calls_of(message: AIMessage) -> list[ToolCall]:
    """Return the tools that a message calls, a function of the older kind among them.

    A call that nobody can read is none.
    """
    called = message.additional_kwargs.get("function_call")
    if message.tool_calls or not isinstance(called, Mapping) or not called.get("name"):
        return message.tool_calls
    arguments = called.get("arguments") or "{}"
    try:
        read = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return []
    return [tool_call(name=called["name"], args=read, id=None)] if isinstance(read, dict) else []


def _role_of(message: BaseMessage) -> str:
    """Return the role that the palace knows, "" if it knows none.

    Some providers take results of tools in the person's role: alone they are none of their words.
    """
    if isinstance(message, HumanMessage):
        parts = message.content
        only_results = isinstance(parts, list) and parts and all(map(_is_result, parts))
        return "tool" if only_results else "user"
    role = message.role if isinstance(message, ChatMessage) else message.type
    return _ROLES.get(role.strip().lower().removesuffix("messagechunk"), "")
