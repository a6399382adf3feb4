"""What a chain returns, read and released part by part: text, messages, documents, dicts of them.

In: an output, and what the chain was given. Out: the same with the person's own words where the
chain repeats its input, with messages that went through the gate, and the values left to check.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from langchain_core.agents import AgentAction
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage

from langchain_palace.gate import ReplyGate
from langchain_palace.heard import HeardTools
from langchain_palace.messages import (
    heard_behind,
    is_tools,
    labelled,
    saying,
    text_of,
    tool_texts,
    with_text,
)
from langchain_palace.turns import Plan


@dataclass(frozen=True, slots=True)
class Given:
    """What a chain was given in place of a person's input.

    Attributes:
        input: What the person's program passed in.
        said: The person's words in it.
        sent_input: The same, as the chain got it.
        sent: The text that stood for the words there.
    """

    input: object
    said: str
    sent_input: object
    sent: str

    def undone(self, value: Any) -> Any:
        """Return a value with the person's input wherever the chain repeats what it was given."""
        if isinstance(value, BaseMessage) and self._is_put_before(value):
            return value.model_copy(update={"content": value.content[1:]})
        if self.is_asking(value):
            return with_text(value, self.said) if isinstance(value, BaseMessage) else self.said
        if isinstance(value, dict):
            return self.mapped(value, self.undone)
        if type(value) in (list, tuple):
            return type(value)(self.undone(v) for v in value)
        return value

    def mapped(self, value: dict[Any, Any], change: Callable[[Any], Any]) -> dict[Any, Any]:
        """Return a dict of its kind, with the person's input where it is passed through."""
        own = self.input if isinstance(self.input, Mapping) else {}
        sent = self.sent_input if isinstance(self.sent_input, Mapping) else {}
        made = copy(value)  # chunks of a stream are dicts that can be added
        for key, part in value.items():
            is_passed = key in own and part is sent.get(key)
            made[key] = own[key] if is_passed else change(part)
        return made

    def asking_index(self, values: Sequence[object]) -> int | None:
        """Return where in a conversation the chain repeats what it was asked."""
        places = (n for n in range(len(values) - 1, -1, -1) if self.is_asking(values[n]))
        return next(places, None)

    def is_asking(self, value: object) -> bool:
        """Whether a value is what stood for the person's words, as text or as a message."""
        if isinstance(value, BaseMessage):
            return text_of(value) == self.sent or self._is_put_before(value)
        return isinstance(value, str) and value == self.sent

    def _is_put_before(self, message: BaseMessage) -> bool:
        """Whether the text stands before the person's own, which came in several parts."""
        first = message.content[0] if isinstance(message.content, list) and message.content else ""
        text = first.get("text") if isinstance(first, dict) else first
        return text == self.sent != text_of(message)


class Output:
    """An output of a turn that is checked.

    What the input held already, retrieved documents, results and calls of tools claim nothing.
    Messages of the model pass the gate one by one; a message in another role may be its words all
    the same.

    Args:
        value: What the chain returned.
        given: What it was given.
        plan: The settled plan of the turn.
        models: Names of tools behind which a model answers.
        heard: What was heard behind tools.

    Attributes:
        gate: What messages went through.
        claims: The other values that the model may have made up.
        texts: Every text among the claims and in messages of the model, blank ones left out.
    """

    def __init__(
        self,
        value: object,
        given: Given,
        plan: Plan,
        models: Collection[str] = (),
        heard: HeardTools | None = None,
    ) -> None:
        self.gate = ReplyGate(plan)
        self.claims: list[object] = []
        self.texts: list[str] = []
        self._plan = plan
        self._given = given
        self._models = models
        self._heard = heard or HeardTools()
        self.value = self._read(value)

    def _read(self, value: Any) -> Any:
        given = self._given
        if isinstance(value, AIMessage):
            self._say(text_of(value))
            return self.gate.message(value)
        if is_result(value) or isinstance(value, Document) or given.is_asking(value):
            return given.undone(value)
        if isinstance(value, AgentAction):
            return _called(value)
        if isinstance(value, dict):
            return given.mapped(value, self._read)
        if type(value) in (list, tuple):
            return type(value)(self._read_all(value))
        self._claim(text_of(value) if isinstance(value, BaseMessage) else value)
        return value

    def _read_all(self, values: Sequence[Any]) -> list[Any]:
        if isinstance(values, tuple) and values and isinstance(values[0], AgentAction):
            return [_called(values[0]), *values[1:]]  # with what its tool answered
        index = self._given.asking_index(values)
        if index is None or not any(isinstance(v, AIMessage) for v in values[index:]):
            return [self._read(value) for value in values]
        # A conversation: what stands before the question was said in earlier turns.
        since = [self._noted(m) for m in values[index:] if isinstance(m, BaseMessage)]
        self.gate = ReplyGate(self._plan, tool_texts=tool_texts(since, 0, self._models))
        earlier = [self._given.undone(value) for value in values[: index + 1]]
        last = len(values)
        while last > index + 1 and is_result(values[last - 1]):
            last -= 1
        read = [self._read(value) for value in values[index + 1 : last]]
        return [*earlier, *read, *map(self._shown, values[last:])]

    def _noted(self, message: BaseMessage) -> BaseMessage:
        """Return a message with what may vouch of it, where a model spoke behind a tool."""
        found = self._heard.behind(message) if is_tools(message) else None
        return message if found is None else heard_behind(message, found)

    def _shown(self, message: BaseMessage) -> BaseMessage:
        """Return the result of a tool that is the reply: a model's words in it are checked."""
        is_heard = self._heard.behind(message) is not None
        if not (is_heard or message.name in self._models) or not text_of(message).strip():
            return message
        self._say(text_of(message))
        checked = self.gate.message(AIMessage(text_of(message)))
        return labelled(saying(message, text_of(checked)), checked.response_metadata["palace"])

    def _claim(self, value: object) -> None:
        self.claims.append(value)
        if isinstance(value, str):
            self._say(value)

    def _say(self, text: str) -> None:
        if text.strip():
            self.texts.append(text)


def _called(action: AgentAction) -> AgentAction:
    """Return a step of an agent without the model's thoughts: nobody has checked them."""
    thoughts = {"log": "", "message_log": []}
    return action.model_copy(update={n: v for n, v in thoughts.items() if hasattr(action, n)})


def is_result(value: object) -> bool:
    """Whether a value is a message with what a tool answered."""
    return isinstance(value, BaseMessage) and is_tools(value)
