"""The gate between a model and whoever reads it: nothing unchecked passes.

In: a model's message, whole or in chunks, and the plan of its turn. Out: what may be released,
with the verdict in `response_metadata["palace"]`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall
from langchain_core.messages.ai import add_usage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.json import parse_json_markdown

from langchain_palace.messages import (
    IS_REPLY,
    call_parts,
    calls_of,
    chunk_of,
    labelled,
    of_calls,
    released,
    spoken,
    text_of,
    told,
)
from langchain_palace.turns import Plan
from palace import (
    AnswerCheck,
    CheckedAnswer,
    RecallMiss,
    SentenceGate,
    UngroundedAnswerError,
    values_in,
)

NOTHING_TO_FIT = "the caller wants an answer in a schema, and there is none to give"


class ReplyGate:
    """Lets one reply through, as far as it is checked.

    Text of a checked turn is released sentence by sentence, so the first token comes when the
    first sentence is complete and verified. Turns that are not checked pass at once.

    Args:
        plan: The settled plan of the turn.
        tool_texts: What tools of the host answered in this turn.
        structured: Set where the reply is an answer in a schema: names of the host's tools, whose
            arguments are no answer. Such a reply is released whole or not at all.
        must_fit: Whether a reply in words would not be understood, so that declining is a miss.
        schema: What a reply in a schema has to fit, or what holds that; see
            `AnswerCheck.without_labels`.
        direct: Tools whose result is the reply: what the model states to one may reach the person.
        never: Those of them that are not called where the reply is checked, for nobody could check
            what they say.

    Attributes:
        checked: The check of what was said, once it is over.
        text: What was released.
        said: What the model said, where that is checked; for the model alone.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        tool_texts: Sequence[str] = (),
        structured: Collection[str] | None = None,
        must_fit: bool = False,
        schema: object = None,
        direct: Collection[str] = (),
        never: Collection[str] = (),
    ) -> None:
        self.plan = plan
        self.direct = direct
        self._never = never
        self._schema = schema
        self._must_fit = must_fit
        self.checked: CheckedAnswer | None = None
        self.text = ""
        self.said: AIMessage | None = None
        self._structured = structured
        self._check: AnswerCheck | None = None
        if plan.is_checked:
            self._check = plan.check(tool_texts)

    @property
    def is_open(self) -> bool:
        """Whether everything passes unchanged."""
        return self._check is None

    def expect_object(self, host_tools: Collection[str]) -> None:
        """Take the reply for an answer in a schema, which nobody knew of when the gate was made."""
        if self._structured is None:
            self._structured = host_tools

    def message(self, reply: AIMessage) -> AIMessage:
        """Return what may be released of a whole message.

        Raises:
            UngroundedAnswerError: If a structured answer claims what the evidence does not hold.
            RecallMiss: If the model declines where only a structured answer is understood.
        """
        if self._check is None:
            return self._with_usage(labelled(reply, self.plan.metadata()))
        self.said = reply
        if self._structured is not None:
            values, text = _structured_values(reply, self._structured)
            if values is not None:
                self.checked = check_values(self._check, values, self._schema)
                told = self.metadata(calls_of(reply))
                return self._with_usage(released(reply, text, told))
        self.checked = self._check.check(text_of(reply)) if text_of(reply).strip() else None
        calling = bool(calls_of(reply))
        wrong = self.shown_wrongly(reply)
        if wrong is not None:
            self.checked, self.text = wrong, wrong.text
            return self._with_usage(spoken(wrong.text, self.plan.metadata(wrong)))
        if self.checked is None and not calling:
            self.checked = self.nothing_said()
        text = self.checked.text if self.checked else ""
        if not calling:
            self.demand_answer()
        if calling and self.checked and not _is_clean(self.checked):
            text = ""
        self.text = text
        return self._with_usage(released(reply, text, self.metadata(calls_of(reply))))

    def metadata(self, calls: Sequence[ToolCall]) -> dict[str, Any]:
        """Return what the host gets to see of a checked reply.

        Args:
            calls: The tools that it calls.
        """
        names = {call["name"] for call in calls}
        is_object = self._structured is not None and not names.issubset(self._structured)
        is_reply = {IS_REPLY: True} if names and (is_object or names.issubset(self.direct)) else {}
        return {**self.plan.metadata(self.checked), **is_reply}

    def result(self, result: ChatResult) -> ChatResult:
        """Return a result whose every generation went through the gate.

        The first one is the reply, and tells what the calls before it cost; the others are spare.
        """
        passed = []
        for number, generation in enumerate(result.generations):
            gate = self if number == 0 else self._spare()
            message = gate._passed(generation.message)
            info = generation.generation_info or {}
            passed.append(
                ChatGeneration(
                    message=message, generation_info=info if self.is_open else told(info)
                )
            )
        output = result.llm_output
        return ChatResult(
            generations=passed, llm_output=output if self.is_open or not output else told(output)
        )

    def shown_wrongly(self, reply: AIMessage) -> CheckedAnswer | None:
        """Return the check of what a tool would show for the model, if that is not remembered."""
        if self._check is None or not self.direct:
            return None
        calls = [call for call in calls_of(reply) if call["name"] in self.direct]
        unseen = tuple(call["name"] for call in calls if call["name"] in self._never)
        if unseen and self._check.mode == "replace":
            return CheckedAnswer(self.plan.reply, supported=False, unsupported=unseen)
        return self._check.shown_wrongly(values_in([call["args"] for call in calls]))

    def nothing_said(self) -> CheckedAnswer:
        """Return what stands in for an empty reply: saying nothing is declining."""
        return CheckedAnswer(self.plan.options.fallback_text, declined=True)

    def demand_answer(self) -> None:
        """Refuse a reply in words that declines, where only a structured answer is understood.

        Raises:
            RecallMiss: If the reply is such a one.
        """
        if self._must_fit and self.checked and self.checked.declined:
            raise RecallMiss(self.checked.text, hint=NOTHING_TO_FIT)

    def stream(self) -> ChunkGate:
        """Return the gate for a reply in chunks."""
        return ChunkGate(self, self._check, whole=self._structured is not None)

    def _spare(self) -> ReplyGate:
        spare = copy(self)
        spare.plan = replace(self.plan, usage=None)
        return spare

    def _passed(self, message: BaseMessage) -> AIMessage:
        if isinstance(message, AIMessage):
            return self.message(message)
        return self.message(AIMessage(text_of(message)))

    def _with_usage(self, message: AIMessage) -> AIMessage:
        if self.plan.usage is None:
            return message
        usage = add_usage(message.usage_metadata, self.plan.usage)
        return message.model_copy(update={"usage_metadata": usage})


class ChunkGate:
    """Lets a streaming reply through as it is verified; made by `ReplyGate.stream`."""

    def __init__(self, gate: ReplyGate, check: AnswerCheck | None, *, whole: bool) -> None:
        self._gate = gate
        self._sentences: SentenceGate | None = check.gate() if check and not whole else None
        self._is_whole = whole and check is not None
        self._held: AIMessageChunk | None = None
        self._said: AIMessageChunk | None = None
        self._calls: list[AIMessageChunk] = []
        self._has_calls = False
        self._is_first = True
        self._has_text = False
        self._info: dict[str, Any] = {}
        self._id: str | None = None

    def feed(self, chunk: ChatGenerationChunk) -> list[ChatGenerationChunk]:
        """Take in a chunk; return what may be released now."""
        message = chunk.message
        if not isinstance(message, AIMessageChunk):
            message = AIMessageChunk(content=text_of(message))
        if self._is_whole:
            self._held = message if self._held is None else self._held + message
            return []
        if self._sentences is None:
            return [self._labelled(chunk)]
        self._id = self._id or message.id
        self._info.update(told(chunk.generation_info or {}))
        self._info.update(told(message.response_metadata))
        return [_chunk(m) for m in self._checked(message, self._sentences)]

    def close(self) -> list[ChatGenerationChunk]:
        """End the reply; return the rest that may be released.

        Raises:
            UngroundedAnswerError: If a structured answer claims what the evidence does not hold.
            RecallMiss: If the model declines where only a structured answer is understood.
        """
        if self._is_whole:
            if self._held is None:
                return []
            return [_chunk(chunk_of(self._gate.message(self._held)))]
        if self._sentences is None:
            return []
        rest, checked = self._rest(self._sentences)
        wrong = self._gate.shown_wrongly(self._said) if self._said else None
        if wrong is not None:
            rest, checked, self._calls, self._has_calls = [wrong.text], wrong, [], False
        self._gate.checked = checked
        self._gate.text = checked.text if checked else ""
        self._gate.said = self._said
        if not self._has_calls:
            self._gate.demand_answer()
        calls = calls_of(self._said) if self._said and self._has_calls else []
        last = AIMessageChunk(
            content="",
            id=self._id,
            response_metadata={**self._info, "palace": self._gate.metadata(calls)},
            usage_metadata=self._gate.plan.usage,
            chunk_position="last",
        )
        said = (AIMessageChunk(content=piece, id=self._id) for piece in rest)
        return [_chunk(message) for message in (*said, *self._calls, last)]

    def _rest(self, sentences: SentenceGate) -> tuple[list[str], CheckedAnswer | None]:
        """Return what is left to release, and the check of everything."""
        rest = sentences.close()
        if self._has_text:
            checked = sentences.result
            return ([] if self._has_calls and not _is_clean(checked) else rest), checked
        if self._has_calls:
            return [], None
        nothing = self._gate.nothing_said()
        return [nothing.text], nothing

    def _labelled(self, chunk: ChatGenerationChunk) -> ChatGenerationChunk:
        """Return a chunk as it is; the first one also carries the verdict."""
        if not self._is_first or not isinstance(chunk.message, AIMessageChunk):
            return chunk
        self._is_first = False
        message = labelled(chunk.message, self._gate.plan.metadata())
        return ChatGenerationChunk(message=message, generation_info=chunk.generation_info)

    def _checked(self, chunk: AIMessageChunk, sentences: SentenceGate) -> list[AIMessageChunk]:
        text = text_of(chunk)
        self._has_text = self._has_text or bool(text.strip())
        out = [AIMessageChunk(content=piece, id=self._id) for piece in sentences.feed(text)]
        self._said = chunk if self._said is None else self._said + chunk
        calls = call_parts(chunk)
        function = chunk.additional_kwargs.get("function_call")
        calling = bool(chunk.tool_call_chunks or calls or function)
        self._has_calls = self._has_calls or calling
        if calling or chunk.usage_metadata:
            # What is said before a call may still be held, and comes before it all the same.
            is_held = calling and (self._has_text or bool(self._gate.direct))
            shown = self._calls if is_held else out
            shown.append(
                chunk.model_copy(
                    update={
                        "content": calls or "",
                        "additional_kwargs": of_calls(chunk.additional_kwargs),
                        "response_metadata": {},
                        "chunk_position": None,
                    }
                )
            )
        return out


def check_values(check: AnswerCheck, value: object, schema: object = None) -> CheckedAnswer:
    """Hold every value of a structured answer against the evidence, labels left out.

    Args:
        check: The check of the turn.
        value: The answer.
        schema: What it has to fit, or what holds that; see `AnswerCheck.without_labels`.

    Raises:
        RecallMiss: If the model declines in a value, the only place where a forced tool lets it.
        UngroundedAnswerError: If a value is unsupported and such text is to be replaced: half an
            object cannot be.
    """
    said = check.without_labels(values_in(value), schema)
    judged = [(leaf, check.check(leaf)) for leaf in said]
    declined = next((checked for _, checked in judged if checked.declined), None)
    if declined is not None:
        raise RecallMiss(declined.text, hint=NOTHING_TO_FIT)
    wrong = tuple(leaf for leaf, checked in judged if not checked.supported)
    if wrong and check.mode == "replace":
        raise UngroundedAnswerError(
            f"{len(wrong)} of {len(judged)} values of the structured answer are not in the memory",
            hint="catch it and use the memory's own words, or set answers.check to flag",
        )
    text = json.dumps([leaf for leaf, _ in judged], ensure_ascii=False)
    return CheckedAnswer(text, supported=not wrong, unsupported=wrong)


def canned(plan: Plan) -> AIMessage:
    """Return the reply of a turn that stops, as a message."""
    message = spoken(plan.reply, plan.metadata())
    return message.model_copy(update={"usage_metadata": plan.usage}) if plan.usage else message


def _structured_values(reply: AIMessage, host_tools: Collection[str]) -> tuple[object | None, str]:
    """Return the values of a structured reply, and its text; None if it is plain or a host's tool.

    What a model says around an object in its text is read by nobody, and left out.
    """
    said = text_of(reply)
    calls = calls_of(reply)
    answers = [call["args"] for call in calls if call["name"] not in host_tools]
    if answers:
        return [*answers, said], said
    value = None if calls else _object_in(said)
    if not isinstance(value, (dict, list)):
        return None, said
    return value, json.dumps(value, ensure_ascii=False)


def _object_in(text: str) -> object:
    """Return what parsers of LangChain read out of a text, fenced or among words."""
    try:
        return parse_json_markdown(text)
    except ValueError:
        return None


def _is_clean(checked: CheckedAnswer) -> bool:
    return checked.supported and not checked.declined


def _chunk(message: AIMessageChunk) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=message)
