"""What a model says beside a tool call: shown to nobody, and given back to the model later.

In: a checked turn's reply that calls tools. Out: the calls alone, for the host; and the calls with
all that was said beside them when the host sends them back, because some models refuse a call of
theirs without its signed reasoning.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, TextBlock
from llama_index.core.llms.llm import LLM

from llama_index_palace.events import KEY
from llama_index_palace.pointing import calls_of
from palace import Kept

# A person may take a while to approve a call.
_HELD_S = 3600.0
_MOST_HELD = 256
_NAME = "held"


class _Said(NamedTuple):
    """A message of a model without its words: its blocks, those that call, and its other extras."""

    blocks: list[Any]
    calls: list[Any]
    extras: dict[str, Any]


class HeldBack:
    """What was taken out of messages, by a name that is noted in them."""

    def __init__(self) -> None:
        self._said: Kept[str, _Said] = Kept(_MOST_HELD, kept_s=_HELD_S)

    def take_out(
        self, inner: LLM, message: ChatMessage, text: str, note: Mapping[str, Any]
    ) -> ChatMessage:
        """Return a message with its calls alone, and these words.

        Whatever else a model says beside a call (its reasoning, above all) is checked by nobody.
        Where a model puts its calls, its own reader knows.

        Args:
            inner: The model.
            message: As it said it.
            text: What of its words may be released.
            note: What is noted in the message.
        """
        blocks = [b for b in message.blocks if not isinstance(b, TextBlock)]
        calls = [b for b in blocks if _calls(inner, message, blocks=[b])]
        told = message.additional_kwargs
        extras = {k: v for k, v in told.items() if _calls(inner, message, extras={k: v})}
        rest = {k: v for k, v in told.items() if k not in extras}
        noted = dict(note)
        if rest or len(calls) < len(blocks):
            noted[_NAME] = uuid.uuid4().hex
            self._said.put(noted[_NAME], _Said(blocks, calls, rest))
        shown = [TextBlock(text=text), *calls] if text else calls
        return message.model_copy(
            update={"blocks": shown, "additional_kwargs": {**extras, KEY: noted}}
        )

    def put_back(self, message: ChatMessage) -> ChatMessage:
        """Return a message as its model gets it: with what was taken out, and without our note.

        Providers refuse keys that they do not know. Calls that somebody has changed stay changed.
        """
        note = message.additional_kwargs.get(KEY)
        if note is None:
            return message
        extras = {k: v for k, v in message.additional_kwargs.items() if k != KEY}
        said = self._said.get(str(note.get(_NAME))) if isinstance(note, Mapping) else None
        own = [b for b in message.blocks if not isinstance(b, TextBlock)]
        if said is None or own != said.calls:
            return message.model_copy(update={"additional_kwargs": extras})
        words = [b for b in message.blocks if isinstance(b, TextBlock)]
        first = said.blocks.index(own[0]) if own else len(said.blocks)
        blocks = [*said.blocks[:first], *words, *said.blocks[first:]]
        return message.model_copy(
            update={"blocks": blocks, "additional_kwargs": {**said.extras, **extras}}
        )


def _calls(
    inner: LLM,
    message: ChatMessage,
    *,
    blocks: list[Any] | None = None,
    extras: dict[str, Any] | None = None,
) -> list[Any]:
    """Return the calls that a model's reader finds in a part of a message."""
    part = {"blocks": blocks or [], "additional_kwargs": extras or {}}
    return calls_of(inner, ChatResponse(message=message.model_copy(update=part)))
