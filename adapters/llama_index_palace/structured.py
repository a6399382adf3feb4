"""Structured prediction under the same rules: typed misses, and values that are checked.

In: a prompt and a ruling; the model's object. Out: a prompt whose messages carry the evidence, and
the object if everything it says is supported.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel, PrivateAttr
from llama_index.core.program.function_program import get_function_tool
from llama_index.core.prompts import ChatPromptTemplate
from llama_index.core.tools.types import BaseTool

from palace import (
    DECLINE_TOKEN,
    AnswerCheck,
    CheckedAnswer,
    ModelError,
    PalaceError,
    RecallMiss,
    StoreUnavailableError,
    UngroundedAnswerError,
    Verdict,
    values_in,
)

# As the workflow of agents itself tells that tool from others.
_HANDOFF = "handoff"


class PreparedPrompt(ChatPromptTemplate):  # type: ignore[no-redef]
    """Messages that are ready: nothing in them is a variable, braces included.

    Args:
        messages: What the model gets.
    """

    _ready: list[ChatMessage] = PrivateAttr(default_factory=list)

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        super().__init__(message_templates=[ChatMessage(role="user", content="")])
        self._ready = list(messages)

    def format_messages(
        self,
        llm: BaseLLM | None = None,  # noqa: ARG002 - the name is the host's
        **_variables: Any,
    ) -> list[ChatMessage]:
        """Return the messages, with the output parser's instructions if a host set one."""
        messages = list(self._ready)
        if self.output_parser is not None:
            return self.output_parser.format_messages(messages)
        return messages


def miss(text: str) -> RecallMiss:
    """Return the error that a typed caller gets instead of an invented object."""
    return RecallMiss(
        text, hint="catch RecallMiss and show its message; no model has answered this question"
    )


def unsupported(name: str) -> UngroundedAnswerError:
    """Return the error that a typed caller gets instead of what the model made up."""
    return UngroundedAnswerError(
        f"the memory does not say what the model put into its {name}",
        hint="see the journal for what was not supported; answers.check: flag lets it pass",
    )


def demand_looked(verdict: Verdict) -> None:
    """Refuse to show as nothing what could not be read: nobody would see the difference.

    Raises:
        StoreUnavailableError: If the palace was closed, or part of it failed.
    """
    if verdict.outcome == "unavailable":
        reason = next((r.reason for r in verdict.walk if r.outcome == "unavailable"), "")
        raise StoreUnavailableError(
            f"the memory could not be read: {reason}" if reason else verdict.text,
            hint="open a closed palace again; `palace doctor` says what else is wrong",
        )


def failed(error: ValueError, fallback_text: str) -> PalaceError:
    """Return what a failed prediction on evidence means; the model's words stay out of it."""
    if DECLINE_TOKEN in str(error):
        return miss(fallback_text)
    return ModelError("the model did not return the object it was asked for", hint="ask again")


def check_object(result: Any, check: AnswerCheck, schema: object = None) -> CheckedAnswer:
    """Hold the text and numbers of an object against the evidence.

    Truth values and labels state nothing and are not checked.

    Args:
        result: The object.
        check: The check of the turn.
        schema: What it has to fit, if not its own type; see `AnswerCheck.without_labels`.
    """
    values = list(values_in(result))
    if DECLINE_TOKEN in values:
        return CheckedAnswer(check.fallback_text, declined=True)
    values = check.without_labels(values, result if schema is None else schema)
    judged = [check.check(value) for value in values]  # each is an answer of its own
    return CheckedAnswer(
        "\n".join(checked.text for checked in judged),
        supported=all(checked.supported for checked in judged),
        unsupported=tuple(piece for checked in judged for piece in checked.unsupported),
        citations={n: i for checked in judged for n, i in checked.citations.items()},
    )


def demand_support(
    result: Any, checked: CheckedAnswer, check: AnswerCheck, *, name: str = ""
) -> None:
    """Let an object pass, or refuse it; an error never repeats what the model made up.

    Args:
        result: The object.
        checked: The check of its values.
        check: What made the check.
        name: What the object is called, if not after its type.

    Raises:
        RecallMiss: If the object declines.
        UngroundedAnswerError: If a value is not supported and the mode is `replace`.
    """
    if checked.declined:
        raise miss(check.fallback_text)
    if not checked.supported and check.mode == "replace":
        raise unsupported(name or type(result).__name__)


class Answers(NamedTuple):
    """Tools whose call is an answer.

    Attributes:
        schemas: Those that only build an object of a schema, by name.
        direct: Names of those whose result is the reply.
        never: Names of those of them that are not called where the reply is checked, for nobody
            could check what they say.
        are_all: Whether only an object is asked for.
    """

    schemas: Mapping[str, type[BaseModel] | None] = MappingProxyType({})
    direct: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    are_all: bool = False


NO_ANSWERS = Answers()


def answers_among(
    tools: Sequence[BaseTool], direct: Collection[str], models: Collection[str] = ()
) -> Answers:
    """Return the tools whose call is an answer: those of a schema, and those that show a reply.

    LlamaIndex makes a tool of a schema for its programs, and the one that hands over to another
    agent, whose result is no reply; every other tool does work, and its arguments claim nothing.

    Args:
        tools: All that the model may call.
        direct: Names of those whose result is the reply though they do not say so.
        models: Names of those behind which a model answers.
    """
    schemas = {
        str(tool.metadata.name): tool.metadata.fn_schema
        for tool in tools
        if getattr(getattr(tool, "fn", None), "__module__", None) == get_function_tool.__module__
    }
    told = {str(t.metadata.name) for t in tools if t.metadata.return_direct}
    shown = frozenset(told.union(direct)) - {_HANDOFF, *schemas}
    never = shown.intersection(models)
    return Answers(schemas, shown, never, are_all=bool(schemas) and len(schemas) == len(tools))
