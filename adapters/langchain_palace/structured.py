"""Answers in a schema that rest on memory, or a typed miss: never a silent `None`.

In: the inner model's own structured chain. Out: a runnable that looks first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from pydantic import ConfigDict, Field, TypeAdapter

from langchain_palace.asking import Asker, streamed_run, whole_run
from langchain_palace.gate import NOTHING_TO_FIT, ReplyGate, canned, check_values
from langchain_palace.messages import labelled, released, tool_texts
from langchain_palace.own_run import OwnRun
from langchain_palace.streams import quiet
from langchain_palace.turns import Plan, unreadable
from palace import RecallMiss, choice_alone, hosting

if TYPE_CHECKING:
    from langchain_palace.chat_model import ChatPalace


class StructuredPalace(OwnRun[LanguageModelInput, Any]):
    """What `ChatPalace.with_structured_output` returns.

    Raises, when it runs:
        RecallMiss: If nothing is remembered, or the model declines, and there is no `on_miss`.
        UngroundedAnswerError: If a value of the answer is not in the memory it rests on.
        ModelError: If the model gives no such object from the evidence.
    """

    model: Any = Field(exclude=True)
    bound: Any = Field(exclude=True)
    answer_schema: Any = Field(default=None, exclude=True)
    answer_class: type | None = Field(default=None, exclude=True)
    include_raw: bool = False
    on_miss: Callable[[str], Any] | None = Field(default=None, exclude=True)

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def _pieces(
        self, input: LanguageModelInput, config: RunnableConfig, kwargs: Mapping[str, Any]
    ) -> hosting.Pieces[Any]:
        """Yield the answer: in pieces as the inner model does, whole where it is checked."""
        ready = yield from self._ready(input, config)
        if not ready.is_open:
            yield hosting.Shown((yield from self._answered(ready, config, kwargs)))
            return
        noted = self._noting(ready.plan)
        try:
            with self._telling(ready.plan):
                begun = yield streamed_run(self.bound, ready.messages, config, kwargs)
                yield from hosting.relay(begun, lambda chunk: [hosting.Shown(noted(chunk))])
        except RecallMiss as missed:
            yield hosting.Shown(self._missed(missed.message))

    def _whole(
        self, input: LanguageModelInput, config: RunnableConfig, kwargs: Mapping[str, Any]
    ) -> hosting.Steps[Any]:
        ready = yield from self._ready(input, config)
        return (yield from self._answered(ready, config, kwargs))

    def _ready(self, input: LanguageModelInput, config: RunnableConfig) -> hosting.Steps[_Ready]:
        """Return the settled plan of the turn and what the model is sent in it."""
        model: ChatPalace = self.model
        messages = model._turns.whole(model._convert_input(input).to_messages())
        call = model.call_of(config)
        asker = partial(Asker, model.inner)
        plan = yield from model.plan(
            messages, call, asker, alone=False, chooses=True, schema=self.answer_schema
        )
        if plan is None or plan.stops:
            return _Ready(plan, messages)
        index = plan.place_in(messages)
        told = tool_texts(messages, index, model.model_tools)
        return _Ready(plan, plan.sent(messages, index), told)

    def _answered(
        self, ready: _Ready, config: RunnableConfig, kwargs: Mapping[str, Any]
    ) -> hosting.Steps[Any]:
        """Return the answer, whole."""
        plan, turns = ready.plan, self.model._turns
        if plan is None:
            return (yield whole_run(self.bound, ready.messages, config, kwargs))
        if plan.stops:
            return self._missed(plan.reply) if plan.answer is None else self._chosen(plan)
        seen = quiet(config) if plan.is_checked or plan.chooses else config
        try:
            with turns.telling(plan):
                made = yield whole_run(self.bound, ready.messages, seen, kwargs)
            turns.replied(plan)
            if plan.chooses:
                made = self._chosen_only(made)
            if not plan.is_checked:
                return self._noting(plan)(made)
            return (yield from self._checked(made, plan, ready.texts))
        except RecallMiss as missed:
            yield turns.declined(plan, missed)
            return self._missed(missed.message)

    def _checked(self, made: Any, plan: Plan, texts: tuple[str, ...]) -> hosting.Steps[Any]:
        parsed = made.get("parsed") if self.include_raw and isinstance(made, Mapping) else made
        if parsed is None and self.include_raw and made.get("parsing_error"):
            raise unreadable(plan, made["parsing_error"])
        if parsed is None:
            raise RecallMiss(plan.options.fallback_text, hint=NOTHING_TO_FIT)
        checked = check_values(plan.check(texts), parsed, self.answer_schema)
        if self.include_raw:
            made = {**made, "raw": self._raw(made["raw"], plan, texts)}
        yield self.model._turns.record(plan, checked.text, checked, 1)
        return made

    def _chosen_only(self, made: Any) -> Any:
        """Return a choice without words beside it."""
        if not self.include_raw:
            return choice_alone(made, self.answer_schema)
        raw = released(made["raw"], "", {})
        calls = [{**c, "args": choice_alone(c["args"], self.answer_schema)} for c in raw.tool_calls]
        alone = {"content": "", "tool_calls": calls, "additional_kwargs": {}}
        raw = raw.model_copy(update=alone)
        return {**made, "raw": raw, "parsed": choice_alone(made["parsed"], self.answer_schema)}

    def _raw(self, raw: AIMessage, plan: Plan, texts: tuple[str, ...]) -> AIMessage:
        """Return the model's message with all its values checked and no words beside them."""
        said = released(raw, "", {}) if raw.tool_calls else raw
        gate = ReplyGate(plan, tool_texts=texts, structured=(), schema=self.answer_schema)
        return gate.message(said)

    def _noting(self, plan: Plan | None) -> Callable[[Any], Any]:
        """Return what puts the verdict into the first raw message of an answer that passes."""
        left = [plan.metadata()] if plan and self.include_raw else []

        def noted(made: Any) -> Any:
            if not left or "raw" not in made:
                return made
            return {**made, "raw": labelled(made["raw"], left.pop())}

        return noted

    @contextmanager
    def _telling(self, plan: Plan | None) -> Iterator[None]:
        """Take what is streamed within for the reply of a turn, where anybody asked."""
        if plan is None:
            yield
            return
        with self.model._turns.telling(plan):
            yield
        self.model._turns.replied(plan)

    def _chosen(self, plan: Plan) -> Any:
        """Return the choice that stands for the model's, as it would come from the model."""
        value = json.loads(plan.reply)
        if self.answer_class is not None:
            value = TypeAdapter(self.answer_class).validate_python(value)
        if not self.include_raw:
            return value
        return {"raw": canned(plan), "parsed": value, "parsing_error": None}

    def _missed(self, text: str) -> Any:
        if self.on_miss is not None:
            return self.on_miss(text)
        raise RecallMiss(text, hint="pass on_miss=… to get a value instead")


@dataclass(frozen=True, slots=True)
class _Ready:
    """A turn that is settled.

    Attributes:
        plan: The plan; None if nobody asks the model anything.
        messages: What the model is sent, if it is called.
        texts: What tools of the host answered.
    """

    plan: Plan | None
    messages: list[BaseMessage]
    texts: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether what the model says passes as it comes."""
        plan = self.plan
        return plan is None or not (plan.stops or plan.is_checked or plan.chooses)
