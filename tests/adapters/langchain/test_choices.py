"""A supervisor, a router or a grader has a program go on: its choice states nothing to a person."""

from __future__ import annotations

from typing import Literal

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_palace import ChatPalace
from pydantic import BaseModel
from typing_extensions import TypedDict

from palace import RecallMiss, UngroundedAnswerError
from tests.adapters.langchain.doubles import FALLBACK, HIT, LIE, MISS, PASS, UNCLEAR, saying

SUPERVISOR = "You are a supervisor. Say who acts next: researcher or web_coder, or FINISH."
ROUTER = "You route questions to the researcher or to the web coder."
GRADER = "You are a grader assessing relevance of a document to a question: 'yes' or 'no'."


class Next(TypedDict):
    """Who acts next."""

    next: Literal["researcher", "web_coder", "FINISH"]


class Reasoned(BaseModel):
    """Who acts next, and why."""

    reason: str
    next: Literal["researcher", "web_coder", "FINISH"] | None


class Grade(BaseModel):
    """Whether the document matters."""

    binary_score: str


class Year(BaseModel):
    """Who acts next, beside a number."""

    next: Literal["researcher", "web_coder"]
    year: int


@tool
def hand_over(task: str) -> str:
    """Hand a task over to the researcher."""
    return task


def asked(system, question):
    return [SystemMessage(system), HumanMessage(question)]


@pytest.mark.parametrize("question", [HIT, UNCLEAR, PASS])
@pytest.mark.parametrize("system", [SUPERVISOR, ROUTER])
def test_a_model_chooses_who_goes_on(palace, system, question):
    model = saying("Next", next="web_coder")
    chat = ChatPalace(inner=model, palace=palace).with_structured_output(Next)

    assert chat.invoke(asked(system, question)) == {"next": "web_coder"}
    assert [*chat.stream(asked(system, question))] == [{"next": "web_coder"}]
    assert "memory-context" not in model.asked[0].everything


@pytest.mark.parametrize("question", [HIT, UNCLEAR])
@pytest.mark.parametrize("include_raw", [False, True])
def test_what_it_says_beside_a_choice_is_left_out(palace, question, include_raw):
    model = saying("Reasoned", reason=LIE, next="researcher")
    chat = ChatPalace(inner=model, palace=palace)

    made = chat.with_structured_output(Reasoned, include_raw=include_raw).invoke(
        asked(SUPERVISOR, question)
    )
    assert (made["parsed"] if include_raw else made) == Reasoned(reason="", next="researcher")
    assert LIE not in str(made)


@pytest.mark.parametrize("question", [HIT, UNCLEAR])
def test_documents_are_graded_for_the_program(palace, question):
    chat = ChatPalace(inner=saying("Grade", binary_score="yes"), palace=palace)
    assert chat.with_structured_output(Grade).invoke(asked(GRADER, question)).binary_score == "yes"


@pytest.mark.parametrize("question", [HIT, UNCLEAR])
def test_a_grade_in_other_words_is_left_out(palace, question):
    chat = ChatPalace(inner=saying("Grade", binary_score=LIE), palace=palace)
    assert chat.with_structured_output(Grade).invoke(asked(GRADER, question)).binary_score == ""


@pytest.mark.parametrize("schema", [Next, Reasoned, Grade])
@pytest.mark.parametrize("system", [SUPERVISOR, GRADER])
def test_nobody_is_chosen_on_a_miss(palace, system, schema):
    model = saying(schema.__name__)
    with pytest.raises(RecallMiss, match=FALLBACK):
        ChatPalace(inner=model, palace=palace).with_structured_output(schema).invoke(
            asked(system, MISS)
        )
    assert model.calls == 0


@pytest.mark.parametrize(
    ("system", "schema", "values"),
    [
        ("You take facts out of texts.", Next, {"next": "researcher"}),
        ("You route questions.", Next, {"next": "researcher"}),
        (SUPERVISOR, Year, {"next": "researcher", "year": 1999}),
        (SUPERVISOR, Grade, {"binary_score": LIE}),
    ],
)
def test_other_values_beside_unclear_evidence_are_statements(palace, system, schema, values):
    chat = ChatPalace(inner=saying(schema.__name__, **values), palace=palace)
    with pytest.raises(UngroundedAnswerError):
        chat.with_structured_output(schema).invoke(asked(system, UNCLEAR))


@pytest.mark.parametrize("question", [HIT, UNCLEAR])
def test_a_forced_function_that_only_chooses_is_a_choice(palace, question):
    route = {
        "name": "route",
        "parameters": {"properties": {"next": {"enum": ["researcher", "web_coder"]}}},
    }
    chat = ChatPalace(inner=saying("route", next="researcher"), palace=palace)
    bound = chat.bind(functions=[route], function_call={"name": "route"})
    assert bound.invoke(asked(SUPERVISOR, question)).tool_calls[0]["args"] == {"next": "researcher"}


@pytest.mark.parametrize("question", [HIT, UNCLEAR])
def test_a_forced_tool_with_work_of_its_own_is_no_answer(palace, question):
    chat = ChatPalace(inner=saying("hand_over", task="find what is not known"), palace=palace)
    said = chat.bind_tools([hand_over], tool_choice="any").invoke(question)
    assert said.tool_calls[0]["name"] == "hand_over"
