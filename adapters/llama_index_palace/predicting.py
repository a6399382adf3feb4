"""Predictions of the wrapper: from templates, and structured ones.

In: a template and its arguments. Out: text or an object, under the same rules as a chat. The
template's arguments name the question, so it need not be guessed from the finished prompt.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.prompts import BasePromptTemplate, PromptTemplate
from llama_index.core.types import Model, TokenAsyncGen, TokenGen

from llama_index_palace.questions import Asked, told_by_template
from llama_index_palace.structured import (
    PreparedPrompt,
    check_object,
    demand_support,
    failed,
    miss,
    values_in,
)
from llama_index_palace.turns import Lent, Ruling, Steps
from llama_index_palace.wrapped import WrappedLLM
from palace import is_choice


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
        messages, asked = self._asked_for_object(output_cls, prompt, prompt_args)
        ruling = self._rule(asked)
        lent = ruling.lend(asked)
        ready = self._turns.run(self._object_prompt(messages, ruling, asked, lent))
        with typed_failures(ruling), self._turns.telling(ruling, lent):
            result: Model = self.inner.structured_predict(output_cls, ready, llm_kwargs=llm_kwargs)
        self._turns.run(self._object_released(result, ruling, asked))
        return result

    async def astructured_predict(
        self,
        output_cls: type[Model],
        prompt: PromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> Model:
        """Predict an object, as `structured_predict` does."""
        messages, asked = self._asked_for_object(output_cls, prompt, prompt_args)
        ruling = await self._arule(asked)
        lent = ruling.lend(asked)
        ready = await self._turns.arun(self._object_prompt(messages, ruling, asked, lent))
        with typed_failures(ruling), self._turns.telling(ruling, lent):
            result: Model = await self.inner.astructured_predict(
                output_cls, ready, llm_kwargs=llm_kwargs
            )
        await self._turns.arun(self._object_released(result, ruling, asked))
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
        messages, asked = self._asked_for_object(output_cls, prompt, prompt_args)
        ruling = self._rule(asked)
        lent = ruling.lend(asked)
        ready = self._turns.run(self._object_prompt(messages, ruling, asked, lent))
        with self._turns.telling(ruling, lent):
            source = self.inner.stream_structured_predict(output_cls, ready, llm_kwargs=llm_kwargs)
        return self._objects(source, output_cls, ruling, asked, lent)

    async def astream_structured_predict(
        self,
        output_cls: type[Model],
        prompt: PromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> AsyncGenerator[Any, None]:
        """Stream an object, as `stream_structured_predict` does."""
        messages, asked = self._asked_for_object(output_cls, prompt, prompt_args)
        ruling = await self._arule(asked)
        lent = ruling.lend(asked)
        ready = await self._turns.arun(self._object_prompt(messages, ruling, asked, lent))
        with self._turns.telling(ruling, lent):
            source = await self.inner.astream_structured_predict(
                output_cls, ready, llm_kwargs=llm_kwargs
            )
        return self._aobjects(source, output_cls, ruling, asked, lent)

    def _asked_for_object(
        self, output_cls: type[Model], prompt: BasePromptTemplate, prompt_args: dict[str, Any]
    ) -> tuple[list[ChatMessage], Asked]:
        with told_by_template(prompt, prompt_args, self._rewrites):
            messages = prompt.format_messages(llm=self.inner, **prompt_args)
            asked = self._asked(messages)
        program = [m.content or "" for m in asked.program]
        if asked.purpose == "answer" and is_choice(output_cls.model_json_schema(), program=program):
            asked = replace(asked, purpose="inner")  # who goes on is for the host to read
        return messages, asked

    def _object_prompt(
        self, messages: list[ChatMessage], ruling: Ruling, asked: Asked, lent: Lent
    ) -> Steps[PreparedPrompt]:
        if ruling.refused:
            yield from self._refused(ruling, asked)
            raise miss(ruling.text)
        return PreparedPrompt(self._sent(messages, asked, ruling, lent))

    def _object_released(self, result: Any, ruling: Ruling, asked: Asked) -> Steps[None]:
        if asked.purpose != "answer":  # for the host to read, or to ask next
            for value in values_in(result):
                self._turns.rewrote(ruling, asked, value)
            return
        if not ruling.gated:
            yield from self._turns.finish(ruling, "", calls=1)
            return
        check = ruling.check(asked)
        checked = check_object(result, check)
        yield from self._turns.finish(ruling, "", checked=checked, calls=1)
        demand_support(result, checked, check)

    def _objects(
        self,
        source: Generator[Any, None, None],
        output_cls: type[Model],
        ruling: Ruling,
        asked: Asked,
        lent: Lent,
    ) -> Generator[Any, None, None]:
        last = None
        with typed_failures(ruling), self._turns.telling(ruling, lent):
            for last in source:
                if not ruling.gated:
                    yield last
            if ruling.gated:  # what streams is partial and lenient; what is released is neither
                last = output_cls.model_validate(last.model_dump() if last is not None else None)
        self._turns.run(self._object_released(last, ruling, asked))
        if ruling.gated:
            yield last

    async def _aobjects(
        self,
        source: AsyncGenerator[Any, None],
        output_cls: type[Model],
        ruling: Ruling,
        asked: Asked,
        lent: Lent,
    ) -> AsyncGenerator[Any, None]:
        last = None
        with typed_failures(ruling), self._turns.telling(ruling, lent):
            async for last in source:
                if not ruling.gated:
                    yield last
            if ruling.gated:  # what streams is partial and lenient; what is released is neither
                last = output_cls.model_validate(last.model_dump() if last is not None else None)
        await self._turns.arun(self._object_released(last, ruling, asked))
        if ruling.gated:
            yield last


@contextmanager
def typed_failures(ruling: Ruling) -> Iterator[None]:
    """Turn the failure of a model on evidence into a typed error."""
    try:
        yield
    except ValueError as error:
        if ruling.gated:
            raise failed(error, ruling.options.fallback_text) from error
        raise
