"""Messages on their way to a model and replies on their way back.

In: the host's messages, the model's chunks, a ruling. Out: messages with the evidence in the
user's one, and replies of which only verified text is left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from llama_index.core.agent.react.output_parser import (
    extract_tool_use,
    parse_action_reasoning_step,
)
from llama_index.core.agent.workflow.multi_agent_workflow import handoff
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    MessageRole,
    TextBlock,
)
from llama_index.core.llms.llm import LLM, ToolSelection
from llama_index.core.output_parsers.utils import extract_json_str

from llama_index_palace.events import KEY, message_note, verdict_metadata
from llama_index_palace.held import HeldBack
from llama_index_palace.observed import held_in
from llama_index_palace.questions import CODE, Asked, is_program
from llama_index_palace.structured import check_object, demand_support
from llama_index_palace.turns import Lent, Ruling
from palace import AnswerCheck, CheckedAnswer, SentenceGate, values_in

_R = TypeVar("_R", ChatResponse, CompletionResponse)
_USAGE_KEYS = ("usage", "usage_metadata")
# What tells a reply from others, who made it, and why it ended; in the parts of some the last.
_MADE_KEYS = (
    "id",
    "response_id",
    "model",
    "model_version",
    "status",
    "finish_reason",
    "stop_reason",
    "done_reason",
    "stopReason",
)
_PARTS_KEYS = ("choices", "candidates")
# A name and no sentence, also where a model of somebody's own names its words so.
_NAME = re.compile(r"[\w.:/@+-]{1,200}")
_REACT_ANSWER = "Thought: I can answer from memory.\nAnswer: "
_REACT_STEP = "Thought: I need a tool.\nAction: {action}\nAction Input: {arguments}"


# -- to the model --------------------------------------------------------------------------------


def prepared_messages(
    messages: Sequence[ChatMessage], asked: Asked, ruling: Ruling, lent: Lent
) -> list[ChatMessage]:
    """Return messages as the model gets them: with the evidence in the user's message.

    Args:
        messages: As the host sends them, without what is noted in them.
        asked: What they ask.
        ruling: Of the turn.
        lent: What this call has of the wake-up.
    """
    sent = list(messages)
    if asked.purpose != "answer":
        return sent
    if asked.place < 0 or sent[asked.place].role != MessageRole.USER:
        words = asked.words or ruling.words
        text = ruling.prompt(words, lent.wake_up)
        if text != words:  # behind what the tools answered it would be asked once more
            begun = (n for n, message in enumerate(sent) if not is_program(message))
            place = asked.place + 1 if asked.place >= 0 else next(begun, len(sent))
            sent.insert(place, ChatMessage(role=MessageRole.USER, content=text))
        return sent
    sent[asked.place] = _with_prompt(sent[asked.place], ruling, lent)
    return sent


def _with_prompt(message: ChatMessage, ruling: Ruling, lent: Lent) -> ChatMessage:
    """Return the message with its last text made the prompt; other blocks, e.g. images, stay."""
    blocks = list(message.blocks)
    for place in range(len(blocks) - 1, -1, -1):
        block = blocks[place]
        if isinstance(block, TextBlock):
            text = ruling.prompt(block.text, lent.wake_up)
            if text == block.text:  # nothing to add, so nothing to copy
                return message
            blocks[place] = TextBlock(text=text)
            return message.model_copy(update={"blocks": blocks})
    blocks.append(TextBlock(text=ruling.prompt(ruling.words, lent.wake_up)))
    return message.model_copy(update={"blocks": blocks})


# -- back to the host ----------------------------------------------------------------------------


class Said:
    """The words of one model reply, taken in as the chunks of a stream tell them.

    Some models tell in each chunk all that was said so far, some only what is new.
    """

    def __init__(self) -> None:
        self.text = ""

    def add(self, text: str | None, delta: str | None) -> str:
        """Take in the text so far or the next piece of it; return what is new."""
        so_far = text if text != delta else None  # only a piece, which may begin like what was said
        if so_far and len(so_far) > len(self.text) and so_far.startswith(self.text):
            new = so_far[len(self.text) :]
        else:
            new = delta or ""
        self.text += new
        return new


class Screen:
    """Lets the words of one model reply through as they are verified.

    Of a ReAct step the thought is replaced by a neutral one, an action goes on, and only what
    follows `Answer:` is checked and released. Code that a host would run nobody can check, and who
    watches would read it: a reply with some is left out, and the memory answers. Where an object of
    a schema will be read out of the reply, that alone is released, whole or not at all. What is
    written to a tool whose call is an answer is checked as one.

    Args:
        check: What they are held against.
        asked: What the host does with the reply.
        memory: What is said in its place where it may not be made.

    Attributes:
        released: What was let through so far.
        checked: The check of the answer, once there is one.
        lets_calls: Whether the reply calls tools, and may.
        shown: What it writes to those of them whose result may be the reply, with their names.
        handed_to: The agents to which it hands over.
    """

    def __init__(self, check: AnswerCheck, asked: Asked, memory: str) -> None:
        self.released = ""
        self.checked: CheckedAnswer | None = None
        self.lets_calls = False
        self.shown: list[tuple[str, Any]] = []
        self.handed_to: list[str] = []
        self._gate: SentenceGate = check.gate()
        self._check = check
        self._asked = asked
        self._memory = memory
        self._reasoning = asked.reasoning
        self._object: Any = None
        self._name = "answer"
        self._held = ""
        self._said = Said()

    def feed(self, text: str | None, delta: str | None) -> str:
        """Take in the text so far or the next piece of it; return what may be released now."""
        new = self._said.add(text, delta)
        if self._asked.in_schema or self._asked.coding:
            self._held += new
            return ""
        if not self._reasoning:
            return self._let("".join(self._gate.feed(new)))
        self._held += new
        thought, mark, answer = self._held.partition("Answer:")
        if not mark or "Action:" in thought:
            return ""
        self._reasoning, self._held = False, ""
        return self._let(_REACT_ANSWER + "".join(self._gate.feed(answer.lstrip())))

    def close(self, calls: Sequence[ToolSelection] = ()) -> str:
        """End the reply; return the rest that may be released.

        Args:
            calls: The tools that it calls: then its further words are dropped.
        """
        if calls:
            return self._close_calls(calls)
        if self._asked.in_schema:
            return self._close_object()
        if self._asked.coding:
            return self._rest([] if CODE in self._held else self._gate.feed(self._held))
        if self._reasoning and self._held:
            return self._close_step()
        return self._rest([])

    def _close_calls(self, calls: Sequence[ToolSelection]) -> str:
        schemas, direct, *_ = self._asked.answers
        called = [(call.tool_name, call.tool_kwargs) for call in calls]
        wrong = self._shown_wrongly(called)
        if wrong is not None:  # the memory answers instead
            self.checked, self.released = wrong, wrong.text
            return wrong.text
        self.lets_calls = True
        self.shown = [call for call in called if call[0] in direct]
        self.handed_to = _handed_to(called)
        made = [call for call in calls if call.tool_name in schemas]
        if made:
            self._object, self._name = [call.tool_kwargs for call in made], made[0].tool_name
            self.checked = check_object(self._object, self._check, [*schemas.values()])
        return ""

    def _close_step(self) -> str:
        called = self._called()
        self.checked = self._shown_wrongly(called)
        if self.checked:
            return self._let(_REACT_ANSWER + self.checked.text)
        step = _react_step(self._held)
        if step:  # for the host to read and run, not for anybody who watches the stream
            self.shown = called  # which of its tools give the reply, such a host does not say
            self.handed_to = _handed_to(called)
            self._let(step)
            return ""
        self._let(_REACT_ANSWER)
        return _REACT_ANSWER + self._rest(self._gate.feed(self._held))

    def _called(self) -> list[tuple[str, Any]]:
        """Return the tool that a ReAct step calls."""
        try:
            step = parse_action_reasoning_step(self._held)
        except ValueError:  # no step, or one that the host cannot read either
            return []
        return [(step.action, step.action_input)]

    def _shown_wrongly(self, calls: Sequence[tuple[str, Any]]) -> CheckedAnswer | None:
        """Return the check of what tools would show for the model, if that is not remembered."""
        answers = self._asked.answers
        unseen = tuple(name for name, _ in calls if name in answers.never)
        if unseen and self._check.mode == "replace":
            return CheckedAnswer(self._memory, supported=False, unsupported=unseen)
        shown = [given for name, given in calls if name in answers.direct]
        return self._check.shown_wrongly(values_in(shown)) if shown else None

    def demand_support(self) -> None:
        """Refuse an object that says what the evidence does not; see `structured`."""
        checked = self.checked
        is_wanted = self._asked.in_schema or self._asked.demanded
        if checked and (self._object is not None or (checked.declined and is_wanted)):
            demand_support(self._object, checked, self._check, name=self._name)

    def _close_object(self) -> str:
        try:
            text = extract_json_str(self._held)
            self._object = json.loads(text)
        except ValueError:  # no object, so nobody can read it as one
            return self._rest(self._gate.feed(self._held))
        self.checked = check_object(self._object, self._check, self._asked.schema)
        return self._let(text)

    def _rest(self, pieces: list[str]) -> str:
        rest = "".join([*pieces, *self._gate.close()])
        self.checked = self._gate.result
        return self._let(rest)

    def _let(self, text: str) -> str:
        self.released += text
        return text


class Spent(NamedTuple):
    """What a checked reply tells of the call that made it: its raw form and its extras."""

    raw: dict[str, Any] | None = None
    extras: Mapping[str, Any] = MappingProxyType({})


NOTHING_SPENT = Spent()


class Chunks(Generic[_R]):
    """The chunks of one reply, shown as far as they may be."""

    reply: ClassVar[Callable[..., Any]]
    """Makes a reply of verified text alone."""
    noted: ClassVar[Callable[..., Any]]
    """Notes the verdict in a reply of the model's own."""

    def __init__(self, ruling: Ruling, asked: Asked) -> None:
        self.ruling = ruling
        self.asked = asked
        self.last: _R | None = None
        self.said = Said()
        self._made: dict[str, Any] = {}

    @property
    def spent(self) -> Spent:
        """What is told of the model's reply beside its words; a stream tells it bit by bit."""
        told, extras = _usage_of(self.last)
        return Spent({**self._made, **told} or None, extras)

    def text_in(self, chunk: _R) -> str | None:
        """Return the text of a chunk."""
        raise NotImplementedError

    def take(self, chunk: _R) -> Iterator[_R]:
        """Yield what of a chunk of the model may be shown."""
        if self.ruling.gates(self.asked):
            self._note(chunk)
            piece = self.screen.feed(self.text_in(chunk), chunk.delta)
            if piece:
                yield self.reply(self.screen.released, self.metadata, delta=piece)
        else:
            self.last = chunk
            self.said.add(self.text_in(chunk), chunk.delta)
            is_answer = self.asked.purpose == "answer"
            yield self.noted(chunk, self.metadata) if is_answer else chunk

    def _note(self, chunk: _R) -> None:
        """Keep a chunk of a checked reply until the next one."""
        self.last = chunk
        self._made.update(_made_in(chunk.raw))

    def calls(self, inner: LLM) -> list[ToolSelection]:  # noqa: ARG002 - for subclasses
        """Return the tools that the model calls in its reply."""
        return []

    def step(self, rest: str, inner: LLM, held: HeldBack) -> _R:  # noqa: ARG002 - for subclasses
        """Return the last chunk of a checked reply that is no answer yet.

        Args:
            rest: What is left of its text.
            inner: The model.
            held: Keeps what is shown to nobody.
        """
        chunk: _R = self.reply(self.screen.released, self.metadata, delta=rest, spent=self.spent)
        return chunk

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """What is told of the verdict before the reply is checked."""
        ruling = self.ruling
        return verdict_metadata(ruling.verdict, model_calls=ruling.model_calls + 1)

    @cached_property
    def screen(self) -> Screen:
        """What the words of a gated reply go through; made only where there is one."""
        return Screen(self.ruling.check(self.asked), self.asked, self.ruling.reply)


def _react_step(text: str) -> str:
    """Return the action of a ReAct step without the model's thought, "" if there is none."""
    if "Action:" not in text:
        return ""
    try:
        _, action, arguments = extract_tool_use(text)
    except ValueError:
        return ""
    return _REACT_STEP.format(action=action, arguments=arguments)


def is_step(text: str, asked: Asked, *, calls_tools: bool) -> bool:
    """Whether the host will call the model again in this turn."""
    if asked.coding and CODE in text:
        return True
    return calls_tools or (asked.reasoning and "Action:" in text.partition("Answer:")[0])


def refusal_text(ruling: Ruling, asked: Asked) -> str:
    """Return the reply of a turn that needs no model, as the host can read it."""
    if asked.purpose == "rewrite":
        return ruling.words
    return _REACT_ANSWER + ruling.reply if asked.reasoning else ruling.reply


def chat_reply(
    text: str,
    metadata: Mapping[str, Any],
    *,
    delta: str | None = None,
    spent: Spent = NOTHING_SPENT,
) -> ChatResponse:
    """Return a reply of verified text alone.

    Args:
        text: The text.
        metadata: The verdict.
        delta: What of the text is new.
        spent: What is told of the model's reply.
    """
    noted = {KEY: message_note(metadata)}
    message = ChatMessage(role=MessageRole.ASSISTANT, content=text, additional_kwargs=noted)
    extra = {**spent.extras, KEY: dict(metadata)}
    return ChatResponse(message=message, delta=delta, raw=spent.raw, additional_kwargs=extra)


def completion_reply(
    text: str,
    metadata: Mapping[str, Any],
    *,
    delta: str | None = None,
    spent: Spent = NOTHING_SPENT,
) -> CompletionResponse:
    """Return a completion of verified text alone, as `chat_reply` does."""
    extra = {**spent.extras, KEY: dict(metadata)}
    return CompletionResponse(text=text, delta=delta, raw=spent.raw, additional_kwargs=extra)


def tool_reply(
    message: ChatMessage,
    metadata: Mapping[str, Any],
    *,
    delta: str | None = None,
    spent: Spent = NOTHING_SPENT,
) -> ChatResponse:
    """Return a reply that calls tools, as `chat_reply` does one of text."""
    reply = chat_reply("", metadata, delta=delta, spent=spent)
    return reply.model_copy(update={"message": message})


def _usage_of(
    response: ChatResponse | CompletionResponse | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a model's reply cost, where providers and hosts look for it: numbers alone.

    The rest holds what the model said, numbers too, which nobody has checked.
    """
    if response is None:
        return {}, {}
    extras = response.additional_kwargs or {}
    return _usage_in(response.raw), {**_numbers(extras), **_usage_in(extras)}


def _made_in(raw: Any) -> dict[str, Any]:
    """Return which reply this is, of which model, and why it ended, where providers tell it."""
    told = held_in(raw)
    made: dict[str, Any] = {
        name: value for name in _MADE_KEYS if (value := _name_of(told.get(name)))
    }
    for name in _PARTS_KEYS:
        parts = told.get(name)
        reasons = [_reason_of(part) for part in parts] if isinstance(parts, (list, tuple)) else []
        if any(reasons):
            made[name] = reasons
    return made


def _reason_of(part: Any) -> dict[str, str]:
    reason = _name_of(held_in(part).get("finish_reason"))
    return {"finish_reason": reason} if reason else {}


def _name_of(value: Any) -> str:
    name = value.value if isinstance(value, Enum) else value
    return str(name) if isinstance(name, str) and _NAME.fullmatch(name) else ""


def _usage_in(value: Any) -> dict[str, Any]:
    """Return the usage that a reply tells, with its details."""
    usages = {name: held_in(value).get(name) for name in _USAGE_KEYS}
    told = {name: _numbers(usage, details=True) for name, usage in usages.items()}
    return {name: numbers for name, numbers in told.items() if numbers}


def _numbers(value: Any, *, details: bool = False) -> dict[str, Any]:
    """Return the numbers of a mapping or an object, by name; with details those of its parts."""
    parts = held_in(value).items()
    found = {k: v for k, v in parts if isinstance(v, (int, float)) and not isinstance(v, bool)}
    if not details:
        return found
    return {**found, **{name: inner for name, part in parts if (inner := _numbers(part))}}


def noted_chat(response: ChatResponse, metadata: Mapping[str, Any]) -> ChatResponse:
    """Return the model's own reply with the verdict noted in it."""
    noted = {**response.message.additional_kwargs, KEY: message_note(metadata)}
    message = response.message.model_copy(update={"additional_kwargs": noted})
    extra = {**response.additional_kwargs, KEY: dict(metadata)}
    return response.model_copy(update={"message": message, "additional_kwargs": extra})


def noted_completion(
    response: CompletionResponse, metadata: Mapping[str, Any]
) -> CompletionResponse:
    """Return the model's own completion with the verdict noted in it."""
    extra = {**(response.additional_kwargs or {}), KEY: dict(metadata)}
    return response.model_copy(update={"additional_kwargs": extra})


def _handed_to(calls: Sequence[tuple[str, Any]]) -> list[str]:
    """Return the agents to which calls of the tool of an `AgentWorkflow` hand over."""
    given = [given for name, given in calls if name == handoff.__name__]
    return [str(one["to_agent"]) for one in given if isinstance(one, dict) and "to_agent" in one]
