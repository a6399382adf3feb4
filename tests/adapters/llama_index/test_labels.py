"""Values that a schema only lets a model choose among: labels pass, statements are checked."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Literal

import pytest
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.program import FunctionCallingProgram, LLMTextCompletionProgram
from llama_index.core.prompts import PromptTemplate
from llama_index_palace import PalaceLLM

from palace import UngroundedAnswerError
from tests.adapters.llama_index.scripted import HIT, UNCLEAR, ScriptedLLM

PROMPT = PromptTemplate("Extract: {query_str}")


class Topic(Enum):
    ACCESS = "gate_access"
    STAFF = "staff_p1"


class Code(BaseModel):
    """A code, and what the question is about."""

    code: str
    topic: Topic
    status: Literal["in_progress", "all_done"]


class Painter(Enum):
    RUTH = "Ruth"
    ZORK = "Captain Zork"


class Painted(BaseModel):
    """Who paints, of those that a form offers."""

    painter: Painter


class Chosen(BaseModel):
    """The code, of those that a form offers."""

    code: Literal["4711-all", "9999"]


def predicted(palace, cls: type[BaseModel], words: str, **values: Any) -> BaseModel:
    llm = PalaceLLM(ScriptedLLM(tool_arguments=values), palace)
    return llm.structured_predict(cls, PROMPT, query_str=words)


def programmed(palace, cls: type[BaseModel], words: str, **values: Any) -> BaseModel:
    llm = PalaceLLM(ScriptedLLM(tool_arguments=values), palace)
    return FunctionCallingProgram.from_defaults(output_cls=cls, prompt=PROMPT, llm=llm)(
        query_str=words
    )


def worded(palace, cls: type[BaseModel], words: str, **values: Any) -> BaseModel:
    llm = PalaceLLM(ScriptedLLM(answer=json.dumps(values), functions=False), palace)
    return LLMTextCompletionProgram.from_defaults(output_cls=cls, prompt=PROMPT, llm=llm)(
        query_str=words
    )


@pytest.mark.parametrize("made", [predicted, programmed, worded])
class TestLabels:
    def test_they_are_no_statements(self, palace, made):
        values = {"code": "4711-all", "topic": "gate_access", "status": "in_progress"}
        assert made(palace, Code, HIT, **values) == Code(**values)

    def test_a_choice_beside_one_that_is_remembered_is_a_statement(self, palace, made):
        assert made(palace, Chosen, HIT, code="4711-all").code == "4711-all"
        with pytest.raises(UngroundedAnswerError):
            made(palace, Chosen, HIT, code="9999")

    def test_beside_unclear_evidence_every_value_is_a_statement(self, palace, made):
        assert made(palace, Painted, UNCLEAR, painter="Ruth").painter is Painter.RUTH
        with pytest.raises(UngroundedAnswerError):
            made(palace, Painted, UNCLEAR, painter="Captain Zork")
