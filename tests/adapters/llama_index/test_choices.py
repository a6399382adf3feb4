"""Who a supervisor lets go on is read by the program: it states nothing to a person."""

from __future__ import annotations

from typing import Literal

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.prompts import ChatPromptTemplate
from llama_index_palace import PalaceLLM

from palace import RecallMiss, UngroundedAnswerError
from tests.adapters.llama_index.scripted import HIT, MISS, PASS, UNCLEAR, ScriptedLLM

SUPERVISOR = "You are a supervisor. Say who acts next: researcher or web_coder."
EXTRACTOR = "You take facts out of texts."


class Next(BaseModel):
    """Who acts next."""

    next: Literal["researcher", "web_coder"]


def chosen(palace, model, system, question):
    prompt = ChatPromptTemplate([ChatMessage(system, role="system"), ChatMessage("{query_str}")])
    return PalaceLLM(model, palace).structured_predict(Next, prompt, query_str=question).next


@pytest.mark.parametrize("question", [HIT, UNCLEAR, PASS])
def test_a_model_chooses_who_goes_on(palace, question):
    model = ScriptedLLM(tool_arguments={"next": "web_coder"})
    assert chosen(palace, model, SUPERVISOR, question) == "web_coder"


def test_nobody_is_chosen_on_a_miss(palace):
    model = ScriptedLLM(tool_arguments={"next": "web_coder"})
    with pytest.raises(RecallMiss):
        chosen(palace, model, SUPERVISOR, MISS)
    assert not model.calls


def test_elsewhere_a_value_beside_unclear_evidence_is_a_statement(palace):
    model = ScriptedLLM(tool_arguments={"next": "web_coder"})
    with pytest.raises(UngroundedAnswerError):
        chosen(palace, model, EXTRACTOR, UNCLEAR)
