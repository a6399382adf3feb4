"""What tools of the host answered in a turn, as far as an answer may rest on it.

In: the messages since the person asked. Out: the texts of the tools, without what the model itself
wrote to them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import Any

from llama_index.core.agent.react.output_parser import parse_action_reasoning_step
from llama_index.core.agent.workflow.prompts import DEFAULT_HANDOFF_OUTPUT_PROMPT
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from llama_index_palace.events import KEY
from llama_index_palace.heard import evidence_in
from llama_index_palace.templates import pattern_of
from palace import values_in, without_echoes

# The tool that hands over to another agent repeats what the model itself gave as the reason.
_HANDED_OFF = re.compile(
    pattern_of(DEFAULT_HANDOFF_OUTPUT_PROMPT, to_agent=".*?", reason=".*"), re.DOTALL
)
# What hosts say of a tool or an agent that is not there repeats what the model named so.
_NOT_THERE = re.compile(
    r"Tool .* not found\. Please select a tool|Agent .* Please select a valid agent to hand off to",
    re.DOTALL,
)

_ROLES = (MessageRole.TOOL, MessageRole.FUNCTION)
_OBSERVATION = "Observation: "
# How providers call what tells one call from another.
_CALL_IDS = ("tool_call_id", "id", "tool_id", "toolUseId", "call_id")
# How a host hands over a conversation to have an object made of it.
CONVERSATION = "<current_conversation>"


def tool_texts(since: Sequence[ChatMessage], models: Collection[str] = ()) -> tuple[str, ...]:
    """Return what tools answered.

    What they repeat of what the model wrote to them is left out, as a tool does that takes down a
    thought or hands over to another agent: else the model could vouch for itself. So are errors,
    which repeat the least word of it, and what another model says behind a tool.

    Args:
        since: The messages since the person asked.
        models: Names of tools behind which a model answers.
    """
    results = [n for n, m in enumerate(since) if is_result(m) or is_observation(m)]
    if not results:
        return ()
    called = dict(call for message in since for call in calls_in(message))
    texts: list[str] = []
    for place in results:
        text, tool = _observed(since[place]), _tool_of(since, place, called)
        if not text or tool in models or _HANDED_OFF.search(text) or _NOT_THERE.match(text):
            continue
        texts += evidence_in(text, tool)
    return without_echoes(texts, written=(value for m in since for value in _written(m)))


def _observed(message: ChatMessage) -> str:
    return (message.content or "").removeprefix(_OBSERVATION if is_observation(message) else "")


def calls_in(message: ChatMessage) -> Iterator[tuple[str, str]]:
    """Yield the calls of a message, as objects, mappings or blocks hold them: their ids and tools.

    A provider that gives a call no id knows it by its tool.
    """
    listed = message.additional_kwargs.get("tool_calls")
    for call in (*message.blocks, *(listed if isinstance(listed, (list, tuple)) else ())):
        held = held_in(call)
        names = (held.get("tool_name"), held.get("name"), held_in(held.get("function")).get("name"))
        name = str(next(filter(None, names), ""))
        made = next((held[key] for key in _CALL_IDS if held.get(key)), name)
        if made:
            yield str(made), name


def held_in(value: object) -> Mapping[str, Any]:
    """Return what a value of a provider holds, by name, as a mapping or an object has it."""
    if isinstance(value, Enum):  # a word of the provider's, with numbers of Python's own
        return {}
    return value if isinstance(value, Mapping) else getattr(value, "__dict__", {})


def _tool_of(since: Sequence[ChatMessage], place: int, called: Mapping[str, str]) -> str:
    """Return the tool whose result a message is, "" if nobody knows it."""
    message = since[place]
    if is_observation(message):
        step = since[place - 1].content if place else ""
        with suppress(ValueError):  # no step
            return str(parse_action_reasoning_step(step or "").action)
        return ""
    told = message.additional_kwargs
    return called.get(str(told.get("tool_call_id")), str(told.get("name") or ""))


def retold(message: ChatMessage) -> str:
    """Return what a message tells of a conversation since the person asked, "" if it tells none."""
    texts = [b.text for b in message.blocks if isinstance(b, TextBlock)]
    is_conversation = bool(texts) and texts[0].startswith(CONVERSATION)
    return "".join(texts).rpartition("\t</user>\n")[2] if is_conversation else ""


def is_result(message: ChatMessage) -> bool:
    """Whether a message is what a tool answered, in a role of its own."""
    return message.role in _ROLES


def is_observation(message: ChatMessage) -> bool:
    """Whether a message is in the form in which `ReActAgent` tells what a tool answered.

    It does so in the person's role, or in that of a tool, where others tell of which call it is.
    """
    is_bare = message.role == MessageRole.USER or (
        is_result(message) and not message.additional_kwargs
    )
    return is_bare and (message.content or "").startswith(_OBSERVATION)


def _written(message: ChatMessage) -> Iterator[str]:
    """Yield what a model wrote in its calls: in blocks, in extras, as JSON, or in a ReAct step."""
    if message.role != MessageRole.ASSISTANT:
        return
    extras = [value for name, value in message.additional_kwargs.items() if name != KEY]
    told = [extras, [b for b in message.blocks if not isinstance(b, TextBlock)]]
    if "Action Input:" in (message.content or ""):
        with suppress(ValueError):  # no step
            told.append([parse_action_reasoning_step(message.content or "").action_input])
    for value in values_in(told):
        yield value
        with suppress(ValueError):  # no JSON
            yield from values_in(json.loads(value))
