"""Answers in a schema that rest on memory, or a typed miss: never a silent `None`.

In: the inner model's own structured chain. Out: a runnable that looks first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from pydantic import ConfigDict, Field, TypeAdapter

from langchain_palace.gate import ReplyGate, canned, check_values
from langchain_palace.messages import asking, released, text_of, tool_texts
from langchain_palace.session import call_of, unseen
from langchain_palace.steps import Step, Steps, arun, caught, run
from langchain_palace.turns import Plan, unreadable
from palace import RecallMiss

if TYPE_CHECKING:
    from langchain_palace.chat_model import ChatPalace


class StructuredPalace(RunnableSerializable[LanguageModelInput, Any]):
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

    def invoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Answer in the schema."""
        return run(self._steps(input, config, kwargs))

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Answer in the schema."""
        return await arun(self._steps(input, config, kwargs))

    def _steps(
        self, input: LanguageModelInput, config: RunnableConfig | None, kwargs: Mapping[str, Any]
    ) -> Steps[Any]:
        model: ChatPalace = self.model
        bound: Runnable[Any, Any] = self.bound
        messages = model._turns.whole(model._convert_input(input).to_messages())
        call = call_of(config, session_id=model.session_id, project=model.project)
        plan = yield from model.plan(messages, call, alone=False, chooses=True)
        if plan is None:
            return (yield _invoked(bound, messages, config, kwargs))
        if plan.stops:
            return self._missed(plan.reply) if plan.answer is None else self._chosen(plan)
        index = plan.place_in(messages)
        said = plan.question if index is None else text_of(messages[index])
        sent = asking(messages, index, plan.user_text(said))
        seen = unseen(config) if plan.is_checked else config
        step = model._turns.told_by(plan, _invoked(bound, sent, seen, kwargs))
        made = yield caught(step, RecallMiss)
        if isinstance(made, RecallMiss):
            return self._missed(made.message)
        model._turns.replied(plan)
        if not plan.is_checked:
            return self._noted(made, plan.metadata())
        try:
            return (yield from self._checked(made, plan, tool_texts(messages, index)))
        except RecallMiss as declined:
            return self._missed(declined.message)

    def _checked(self, made: Any, plan: Plan, texts: tuple[str, ...]) -> Steps[Any]:
        parsed = made.get("parsed") if self.include_raw and isinstance(made, Mapping) else made
        if parsed is None and self.include_raw and made.get("parsing_error"):
            raise unreadable(plan, made["parsing_error"])
        if parsed is None:
            return self._missed(plan.options.fallback_text)
        checked = check_values(plan.check(texts), parsed, self.answer_schema)
        if self.include_raw:
            made = {**made, "raw": self._raw(made["raw"], plan, texts)}
        yield self.model._turns.record(plan, checked.text, checked, 1)
        return made

    def _raw(self, raw: AIMessage, plan: Plan, texts: tuple[str, ...]) -> AIMessage:
        """Return the model's message with all its values checked and no words beside them."""
        said = released(raw, "", {}) if raw.tool_calls else raw
        gate = ReplyGate(plan, tool_texts=texts, structured=(), schema=self.answer_schema)
        return gate.message(said)

    def _noted(self, made: Any, metadata: Mapping[str, Any]) -> Any:
        if not self.include_raw:
            return made
        raw = made["raw"]
        told = {**raw.response_metadata, "palace": metadata}
        return {**made, "raw": raw.model_copy(update={"response_metadata": told})}

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


def _invoked(
    bound: Runnable[Any, Any],
    messages: list[BaseMessage],
    config: RunnableConfig | None,
    kwargs: Mapping[str, Any],
) -> Step[Any]:
    return Step(
        lambda: bound.invoke(messages, config, **kwargs),
        lambda: bound.ainvoke(messages, config, **kwargs),
    )
