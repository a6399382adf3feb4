"""An engine that asks in several steps: its questions are a model's, and their answers are shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.indices.query.query_transform import StepDecomposeQueryTransform
from llama_index.core.query_engine import (
    MultiStepQueryEngine,
    RetrieverQueryEngine,
    SubQuestionQueryEngine,
)
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.tools import QueryEngineTool
from llama_index_palace import PalaceLLM

from palace import RecallMiss
from tests.adapters.llama_index.scripted import (
    HAIKU,
    HIT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    ScriptedLLM,
    code_text,
    paint_text,
)
from tests.adapters.llama_index.test_hosts import gardens

STEP = "What is the colour of the boats?"


class Steps(ScriptedLLM):
    """Makes one step of a question, in the words that each engine reads."""

    step: str = STEP

    def _answer(self, text: str) -> str:
        if "sub_question" in text:
            items = [{"sub_question": self.step, "tool_name": "docs"}]
            return f"```json\n{json.dumps({'items': items})}\n```"
        return self.step if "New question" in text else super()._answer(text)


def sub_questions(llm: Any) -> BaseQueryEngine:
    docs = QueryEngineTool.from_defaults(
        RetrieverQueryEngine.from_args(gardens(), llm=llm), name="docs", description="Documents."
    )
    return SubQuestionQueryEngine.from_defaults(
        [docs],
        llm=llm,
        question_gen=LLMQuestionGenerator.from_defaults(llm=llm),
        use_async=False,
        verbose=False,
    )


def multi_step(llm: Any) -> BaseQueryEngine:
    return MultiStepQueryEngine(
        RetrieverQueryEngine.from_args(gardens(), llm=llm),
        StepDecomposeQueryTransform(llm=llm),
        response_synthesizer=get_response_synthesizer(llm=llm),
        index_summary="boats",
        num_steps=2,
    )


@pytest.mark.parametrize("engine", [sub_questions, multi_step])
class TestSteps:
    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    async def test_their_answers_stay_under_the_ruling(self, palace, engine, words):
        model = Steps(answer=LIE, quote="quotes, then lies")
        made = await engine(PalaceLLM(model, palace, session_id="s1")).aquery(words)
        assert str(made).startswith((code_text("s1"), paint_text("s1")))
        shown = [node.get_content() for node in made.source_nodes]
        assert any(STEP in text for text in shown)
        assert LIE not in f"{shown} {made.metadata}"
        assert set(palace.decided) == {words}

    def test_none_is_made_of_a_miss(self, palace, engine):
        model = Steps()
        with pytest.raises(RecallMiss, match="memory palace"):
            engine(PalaceLLM(model, palace)).query(MISS)
        assert model.calls == []

    async def test_what_asks_for_no_memory_is_asked_in_steps(self, palace, engine):
        made = await engine(PalaceLLM(Steps(), palace)).aquery(PASS)
        assert str(made) == HAIKU
        assert set(palace.decided) == {PASS, STEP}

    @pytest.mark.parametrize("word", ["None", "docs"])
    async def test_a_word_that_a_person_may_say_is_no_step(self, palace, engine, word):
        llm = PalaceLLM(Steps(step="None"), palace, session_id="s1")
        await engine(llm).aquery(HIT)
        assert llm.complete(word).text == HAIKU


@pytest.mark.parametrize("step", ["On [2026-99-99]?", "Is it {red?", "[]", ""])
async def test_steps_in_any_words(palace, step):
    model = Steps(step=step, answer=LIE)
    assert LIE not in str(await multi_step(PalaceLLM(model, palace)).aquery(HIT))
