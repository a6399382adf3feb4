"""Where the question is in what a chain takes, and the same input with another one.

In: a text, messages, a prompt or a dict. Out: a `Question`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.prompt_values import ChatPromptValue, PromptValue, StringPromptValue

from langchain_palace.messages import (
    asking,
    asking_before,
    asking_index,
    history_before,
    is_agents,
    program_text,
    text_of,
    with_text,
)
from palace import ConfigError, Message

QUESTION_KEYS = ("input", "question", "query", "messages")
HISTORY_KEYS = ("chat_history", "history")


@dataclass(frozen=True, slots=True)
class Question:
    """A question within an input.

    Attributes:
        text: The person's own words.
        replaced: Returns the input with other words in their place.
        history: What was said before, as far as the input tells.
        before: The question right before it, where it got no reply.
        by_agent: Whether another agent asks it.
        beside: What comes with it, documents perhaps.
        program: What the program itself says before it.
    """

    text: str
    replaced: Callable[[str], Any]
    history: tuple[Message, ...] = ()
    before: Question | None = None
    by_agent: bool = False
    beside: str = ""
    program: str = ""

    def within(
        self,
        whole: Callable[[Any], Any],
        history: tuple[Message, ...] = (),
        beside: str = "",
    ) -> Question:
        """Return the question as one of what its input is a part of."""
        return replace(
            self,
            replaced=lambda text: whole(self.replaced(text)),
            history=self.history or history,
            before=self.before and self.before.within(whole, history),
            beside=f"{self.beside}\n{beside}",
        )


def question_in(value: object, key: str | None = None) -> Question:
    """Find the question.

    Args:
        value: What a chain takes.
        key: Where it is, if the input is a dict.

    Raises:
        ConfigError: If there is none to be found.
    """
    if isinstance(value, str):
        return Question(value, lambda text: text)
    if isinstance(value, StringPromptValue):
        return Question(value.text, lambda text: StringPromptValue(text=text))
    if isinstance(value, PromptValue):
        inner = _in_messages(value.to_messages())
        return inner.within(lambda messages: ChatPromptValue(messages=messages))
    if isinstance(value, BaseMessage):
        message = value
        return Question(text_of(message), lambda text: with_text(message, text))
    if isinstance(value, Mapping):
        return _in_mapping(value, key)
    if isinstance(value, Sequence):
        return _in_messages(convert_to_messages(value))
    raise _unknown(f"a {type(value).__name__}")


def _in_mapping(value: Mapping[str, Any], key: str | None) -> Question:
    found = key or next((name for name in QUESTION_KEYS if value.get(name)), None)
    if found is None or found not in value:
        raise _unknown(f"a dict with the keys {', '.join(map(str, value)) or 'none'}")
    inner = question_in(value[found])
    past = next((value[name] for name in HISTORY_KEYS if value.get(name)), ())
    others = [other for name, other in value.items() if name not in (found, *HISTORY_KEYS)]
    beside = "\n".join(_texts(others))
    return inner.within(lambda part: {**value, found: part}, _history(past), beside)


def _texts(value: object) -> Iterator[str]:
    """Yield the texts and the documents in a value."""
    if isinstance(value, (str, Document)):
        yield value if isinstance(value, str) else value.page_content
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)


def _in_messages(messages: list[BaseMessage]) -> Question:
    index = asking_index(messages)
    if index is None:
        raise _unknown("messages without one of a person")
    return _at(messages, index)


def _at(messages: list[BaseMessage], index: int) -> Question:
    before = asking_before(messages, index)
    return Question(
        text_of(messages[index]),
        lambda text: asking(messages, index, text),
        history_before(messages, index),
        None if before is None else _at(messages, before),
        is_agents(messages, index),
        program=program_text(messages[:index]),
    )


def _history(past: object) -> tuple[Message, ...]:
    if not isinstance(past, Sequence) or isinstance(past, str):
        return ()
    messages = convert_to_messages(past)
    return history_before(messages, len(messages))


def _unknown(what: str) -> ConfigError:
    return ConfigError(
        f"there is no question to be found in {what}",
        hint=f"name it with input_key=…; known by themselves: {', '.join(QUESTION_KEYS)}",
    )
