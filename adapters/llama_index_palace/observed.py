"""What tools of the host answered in a turn, as far as an answer may rest on it.

In: the messages since the person asked. Out: the texts of the tools, without what the model itself
wrote to them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from llama_index.core.agent.react.output_parser import parse_action_reasoning_step
from llama_index.core.agent.workflow.prompts import DEFAULT_HANDOFF_OUTPUT_PROMPT
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from llama_index_palace.events import KEY
from llama_index_palace.templates import pattern_of
from palace import values_in, without_echoes

# The tool that hands over to another agent repeats what the model itself gave as the reason.
_HANDED_OFF = re.compile(
    pattern_of(DEFAULT_HANDOFF_OUTPUT_PROMPT, to_agent=".*?", reason=".*"), re.DOTALL
)

# How a host hands over a conversation to have an object made of it.
CONVERSATION = "<current_conversation>"


def tool_texts(since: Sequence[ChatMessage]) -> tuple[str, ...]:
    """Return what tools answered.

    What they repeat of what the model wrote to them is left out, as a tool does that takes down a
    thought or hands over to another agent: else the model could vouch for itself.

    Args:
        since: The messages since the person asked.
    """
    roles = (MessageRole.TOOL, MessageRole.FUNCTION)
    observed = (m.content for m in since if m.role in roles or is_observation(m))
    texts = [text for text in observed if text and not _HANDED_OFF.search(text)]
    if not texts:
        return ()
    return without_echoes(texts, written=(value for m in since for value in _written(m)))


def retold(message: ChatMessage) -> str:
    """Return what a message tells of a conversation since the person asked, "" if it tells none."""
    texts = [b.text for b in message.blocks if isinstance(b, TextBlock)]
    is_conversation = bool(texts) and texts[0].startswith(CONVERSATION)
    return "".join(texts).rpartition("\t</user>\n")[2] if is_conversation else ""


def is_observation(message: ChatMessage) -> bool:
    """Whether a message is in the form in which `ReActAgent` tells what a tool answered."""
    is_users = message.role == MessageRole.USER
    return is_users and (message.content or "").startswith("Observation: ")


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
