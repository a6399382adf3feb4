"""Where the question is in what a chain takes, and the same input with another one.

In: a text, messages, a prompt or a dict. Out: a `Question`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
from langchain_core.prompt_values import ChatPromptValue, PromptValue, StringPromptValue

from langchain_palace.messages import (
    asked_with,
    asking,
    asking_before,
    asking_index,
    beside_documents,
    history_before,
    is_agents,
    program_text,
    text_of,
    with_text,
)
from palace import ConfigError, Message

QUESTION_KEYS = ("input", "question", "query", "messages")
HISTORY_KEYS = ("chat_history", "history")


def _nobody() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Question:
    """A question within an input.

    Attributes:
        text: The person's own words, with all that comes with them.
        asked: What of them is asked; see `asked_with`.
        replaced: Returns the input with other words in their place.
        history: What was said before, as far as the input tells.
        before: Returns the question right before it, where that got no reply.
        by_agent: Whether another agent asks it.
        alone: What is said beside documents in parts of their own; see `beside_documents`.
        beside: What comes with it elsewhere, documents perhaps: it may ask about them.
        program: What the program itself says before it, which it may ask about as well.
        message_id: Of the message that asks.
        place: Where that stands among the messages.
    """

    text: str
    asked: str
    replaced: Callable[[str], Any] = str
    history: tuple[Message, ...] = ()
    before: Callable[[], Question | None] = _nobody
    by_agent: bool = False
    alone: str = ""
    beside: str = ""
    program: str = ""
    message_id: str | None = None
    place: int = 0

    def within(
        self,
        whole: Callable[[Any], Any],
        history: tuple[Message, ...] = (),
        beside: str = "",
    ) -> Question:
        """Return the question as one of what its input is a part of."""

        def before() -> Question | None:
            earlier = self.before()
            return earlier and earlier.within(whole, history)

        return replace(
            self,
            replaced=lambda text: whole(self.replaced(text)),
            history=self.history or history,
            before=before,
            beside=f"{self.beside}\n{beside}",
        )


def question_at(messages: Sequence[BaseMessage], index: int, *, program: str = "") -> Question:
    """Return the question that the person asks with a message.

    Args:
        messages: The conversation.
        index: Where the message stands.
        program: What the program says that does not stand among the messages.
    """

    def before() -> Question | None:
        earlier = asking_before(messages, index)
        return None if earlier is None else question_at(messages, earlier, program=program)

    message = messages[index]
    return Question(
        text_of(message),
        asked_with(messages, index),
        lambda text: asking(messages, index, text),
        history=history_before(messages, index),
        before=before,
        by_agent=is_agents(messages, index),
        alone=beside_documents(message),
        program=f"{program}\n{program_text(messages[:index])}".strip(),
        message_id=message.id,
        place=index,
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
        return Question(value, value)
    if isinstance(value, StringPromptValue):
        return Question(value.text, value.text, lambda text: StringPromptValue(text=text))
    if isinstance(value, PromptValue):
        inner = _in_messages(value.to_messages())
        return inner.within(lambda messages: ChatPromptValue(messages=messages))
    if isinstance(value, BaseMessage):
        message = value
        only = question_at([message], 0)
        return replace(only, replaced=lambda text: with_text(message, text))
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
    kept_in = next((name for name in HISTORY_KEYS if value.get(name)), "")
    past = _messages(value.get(kept_in))
    others = [other for name, other in value.items() if name not in (found, *HISTORY_KEYS)]
    beside = "\n".join(_texts(others))
    asked = inner.within(
        lambda part: {**value, found: part}, history_before(past, len(past)), beside
    )

    def before() -> Question | None:
        earlier = asked.before()
        place = asking_before([*past, HumanMessage(inner.text)], len(past))
        if earlier is not None or inner.history or place is None:
            return earlier
        return question_at(past, place).within(lambda part: {**value, kept_in: part})

    return replace(asked, before=before)


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
    return question_at(messages, index)


def _messages(past: object) -> list[BaseMessage]:
    """Return what was said before, none where it is told in another form."""
    is_told = isinstance(past, Sequence) and not isinstance(past, str)
    return convert_to_messages(past) if is_told else []  # type: ignore[arg-type]


def _unknown(what: str) -> ConfigError:
    return ConfigError(
        f"there is no question to be found in {what}",
        hint=f"name it with input_key=…; known by themselves: {', '.join(QUESTION_KEYS)}",
    )
