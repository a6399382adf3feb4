"""Predictions of the wrapper: from templates, and structured ones.

In: a template and its arguments. Out: text or an object, under the same rules as a chat. The
template's arguments name the question, so it need not be guessed from the finished prompt.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from llama_index.core.prompts import BasePromptTemplate, PromptTemplate
from llama_index.core.types import Model, TokenAsyncGen, TokenGen

from llama_index_palace.heard import unheard, unheard_stream
from llama_index_palace.pointing import call_step
from llama_index_palace.questions import Asked, told_by_template
from llama_index_palace.structured import PreparedPrompt, check_object, demand_support, failed, miss
from llama_index_palace.turns import Lent, Ruling
from llama_index_palace.wrapped import WrappedLLM
from palace import hosting, is_choice, values_in


class PredictingLLM(WrappedLLM):
    """The predictions of `PalaceLLM`."""

    # -- text ----------------------------------------------------------------------------------

    def predict(self, prompt: BasePromptTemplate, **prompt_args: Any) -> str:
        """Predict for a template, decided on the question among its arguments."""
        with told_by_template(prompt, prompt_args, self._rewrites):
            return super().predict(prompt, **prompt_args)

    def stream(self, prompt: BasePromptTemplate, **prompt_args: Any) -> TokenGen:
        """Stream for a template, decided on the question among its arguments."""
        with told_by_template(prompt, prompt_args, self._rewrites):
            return super().stream(prompt, **prompt_args)

    async def apredict(self, prompt: BasePromptTemplate, **prompt_args: Any) -> str:
        """Predict for a template, decided on the question among its arguments."""
        with told_by_template(prompt, prompt_args, self._rewrites):
            return await super().apredict(prompt, **prompt_args)

    async def astream(self, prompt: BasePromptTemplate, **prompt_args: Any) -> TokenAsyncGen:
        """Stream for a template, decided on the question among its arguments."""
        with told_by_template(prompt, prompt_args, self._rewrites):
            return await super().astream(prompt, **prompt_args)

    # -- objects -------------------------------------------------------------------------------

    def structured_predict(
        self,
        output_cls: type[Model],
        prompt: PromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> Model:
        """Predict an object.

        Raises:
            RecallMiss: On a miss, when the model declines, or without a verified quote.
            UngroundedAnswerError: If a value is not supported by the evidence.
            ModelError: If the model gives no such object from the evidence.
        """
        predicted = self._predicted(output_cls, prompt, llm_kwargs, prompt_args)
        result: Model = hosting.run(predicted)
        return result

    async def astructured_predict(
        self,
        output_cls: type[Model],
        prompt: PromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> Model:
        """Predict an object, as `structured_predict` does."""
        predicted = self._predicted(output_cls, prompt, llm_kwargs, prompt_args)
        result: Model = await hosting.arun(predicted)
        return result

    def stream_structured_predict(
        self,
        output_cls: type[Model],
        prompt: PromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> Generator[Any, None, None]:
        """Stream an object; on evidence only the finished, checked one is released.

        Raises:
            RecallMiss: As `structured_predict`, before anything is streamed.
            UngroundedAnswerError: If a value is not supported by the evidence.
        """
        begun = self._begun_object(output_cls, prompt, llm_kwargs, prompt_args)
        return hosting.stream(hosting.run(begun))

    async def astream_structured_predict(
        self,
        output_cls: type[Model],
        prompt: PromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> AsyncGenerator[Any, None]:
        """Stream an object, as `stream_structured_predict` does."""
        begun = self._begun_object(output_cls, prompt, llm_kwargs, prompt_args)
        return hosting.astream(await hosting.arun(begun))

    def _predicted(self, *wanted: Any) -> hosting.Steps[Any]:
        result, ruling, asked, _ = yield from self._made("structured_predict", *wanted)
        yield from self._object_released(result, ruling, asked)
        return result

    def _begun_object(
        self, output_cls: type[Model], *wanted: Any
    ) -> hosting.Steps[hosting.Pieces[Any]]:
        made = yield from self._made("stream_structured_predict", output_cls, *wanted)
        source, ruling, asked, lent = made
        if ruling.gates(asked):
            source = unheard_stream(source)
        return self._objects(source, output_cls, ruling, asked, lent)

    def _made(
        self,
        method: str,
        output_cls: type[Model],
        prompt: PromptTemplate,
        llm_kwargs: dict[str, Any] | None,
        prompt_args: dict[str, Any],
    ) -> hosting.Steps[tuple[Any, Ruling, Asked, Lent]]:
        """Decide what an object is asked for, and have the wrapped model make it.

        Raises:
            RecallMiss: On a miss.
        """
        with told_by_template(prompt, prompt_args, self._rewrites):
            messages = prompt.format_messages(llm=self.inner, **prompt_args)
            asked = self._asked(messages)
        program = [m.content or "" for m in asked.program]
        if asked.purpose == "answer" and is_choice(output_cls.model_json_schema(), program=program):
            asked = replace(asked, purpose="inner")  # who goes on is for the host to read
        ruling = yield from self._rule(asked)
        if ruling.stops:
            yield from self._refused(ruling, asked)
            raise miss(ruling.reply)
        lent = ruling.lend(asked)
        sent = PreparedPrompt(self._sent(messages, asked, ruling, lent))
        with typed_failures(ruling), self._turns.telling(ruling, lent):
            step = call_step(self.inner, method, output_cls, sent, llm_kwargs=llm_kwargs)
            made = yield unheard(step) if ruling.gates(asked) else step
        return made, ruling, asked, lent

    def _object_released(self, result: Any, ruling: Ruling, asked: Asked) -> hosting.Steps[None]:
        if asked.purpose != "answer":  # for the host to read, or to ask next
            for value in values_in(result):
                self._turns.rewrote(ruling, asked, value)
            return
        if not ruling.is_checked:
            yield from self._turns.finish(ruling, "", calls=1)
            return
        check = ruling.check(asked)
        checked = check_object(result, check)
        yield from self._turns.finish(ruling, "", checked=checked, calls=1)
        demand_support(result, checked, check)

    def _objects(
        self, source: Any, output_cls: type[Model], ruling: Ruling, asked: Asked, lent: Lent
    ) -> hosting.Pieces[Any]:
        last = None

        def take(part: Any) -> Iterator[hosting.Shown[Any]]:
            nonlocal last
            last = part
            if not ruling.is_checked:
                yield hosting.Shown(part)

        with typed_failures(ruling), self._turns.telling(ruling, lent):
            yield from hosting.relay(source, take)
            if ruling.is_checked:  # what streams is partial and lenient; what is released is not
                last = output_cls.model_validate(last.model_dump() if last is not None else None)
        yield from self._object_released(last, ruling, asked)
        if ruling.is_checked:
            yield hosting.Shown(last)


@contextmanager
def typed_failures(ruling: Ruling) -> Iterator[None]:
    """Turn the failure of a model on evidence into a typed error."""
    try:
        yield
    except ValueError as error:
        if ruling.is_checked:
            raise failed(error, ruling.options.fallback_text) from error
        raise
