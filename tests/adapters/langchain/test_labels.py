"""Values that a schema only lets a model choose among: labels pass, statements are checked."""

from __future__ import annotations

from enum import Enum
from typing import Literal

import pytest
from langchain_core.output_parsers import PydanticOutputParser
from langchain_core.prompts import PromptTemplate
from langchain_palace import ChatPalace, PalaceRunnable
from pydantic import BaseModel
from typing_extensions import TypedDict

from palace import UngroundedAnswerError
from tests.adapters.langchain.doubles import HIT, HIT_TEXT, UNCLEAR, CountingModel, saying


class Topic(Enum):
    RELEASE = "release_date"
    STAFF = "staff_p1"


class Shipped(BaseModel):
    """When something was shipped, and what the question is about."""

    text: str
    topic: Topic
    status: Literal["in_progress", "all_done"]


class ShippedDict(TypedDict):
    """The same as plain values."""

    text: str
    topic: Literal["release_date", "staff_p1"]


class Day(BaseModel):
    """The day, of those that a form offers."""

    day: Literal["2026-03-02", "2026-03-09"]


VALUES = {"text": HIT_TEXT, "topic": "release_date", "status": "in_progress"}


@pytest.mark.parametrize("include_raw", [False, True])
def test_labels_are_no_statements(palace, include_raw):
    chat = ChatPalace(inner=saying("Shipped", **VALUES), palace=palace)

    made = chat.with_structured_output(Shipped, include_raw=include_raw).invoke(HIT)

    assert (made["parsed"] if include_raw else made) == Shipped(**VALUES)


@pytest.mark.parametrize("how", ["typed dict", "json schema"])
def test_labels_of_plain_values_are_none_either(palace, how):
    values = {"text": HIT_TEXT, "topic": "release_date"}
    name = "ShippedDict" if how == "typed dict" else "Shipped"
    schema = ShippedDict if how == "typed dict" else Shipped.model_json_schema()
    chat = ChatPalace(inner=saying(name, **values), palace=palace)

    assert chat.with_structured_output(schema).invoke(HIT) == values


def test_a_choice_beside_one_that_is_remembered_is_a_statement(palace):
    def chosen(day):
        chat = ChatPalace(inner=saying("Day", day=day), palace=palace)
        return chat.with_structured_output(Day).invoke(HIT).day

    assert chosen("2026-03-02") == "2026-03-02"
    with pytest.raises(UngroundedAnswerError):
        chosen("2026-03-09")


def test_beside_unclear_evidence_every_value_is_a_statement(palace):
    chat = ChatPalace(inner=saying("Shipped", **VALUES), palace=palace)

    with pytest.raises(UngroundedAnswerError):
        chat.with_structured_output(Shipped).invoke(UNCLEAR)


def test_labels_in_the_call_of_a_forced_tool_are_none(palace):
    chat = ChatPalace(inner=saying("Shipped", **VALUES), palace=palace)
    forced = chat.bind_tools([Shipped], tool_choice="Shipped")

    assert forced.invoke(HIT).tool_calls[0]["args"] == VALUES


def test_labels_of_an_object_that_a_chain_returns_are_none(palace):
    model = CountingModel(persona=lambda asked: Shipped(**VALUES).model_dump_json())
    parser = PydanticOutputParser(pydantic_object=Shipped)
    chain = PromptTemplate.from_template("{question}") | model | parser

    made = PalaceRunnable(bound=chain, palace=palace).invoke({"question": HIT})

    assert made == Shipped(**VALUES)


def test_labels_in_json_that_a_parser_asks_for_in_words_are_none(palace):
    def said(values, cls):
        model = CountingModel(persona=lambda asked: cls(**values).model_dump_json())
        parser = PydanticOutputParser(pydantic_object=cls)
        template = "{instructions}\n\n{question}"
        prompt = PromptTemplate.from_template(
            template, partial_variables={"instructions": parser.get_format_instructions()}
        )
        return (prompt | ChatPalace(inner=model, palace=palace) | parser).invoke({"question": HIT})

    assert said(VALUES, Shipped) == Shipped(**VALUES)
    with pytest.raises(UngroundedAnswerError):
        said({"day": "2026-03-09"}, Day)
