"""Templates that have other questions or queries made of one."""

from __future__ import annotations

import pytest

from palace import rewritten_question
from tests.clock import seconds


@pytest.mark.parametrize(
    "template",
    [
        "Look at the input.\nHere is the initial question:\n ------- \n{}\n ------- \n"
        "Formulate an improved question:",
        "Here is the initial question: \n\n {} \n Formulate an improved question.",
        "Provide a better search query for a search engine, end it with '**'.\n\nQuestion: {}\n\n"
        "Answer:",
        "You are a helpful assistant that generates several sub-questions.\nKeep them short.\n"
        "Generate multiple search queries related to: {}\nOutput (3 queries):",
        "Rewrite the user question for a search engine.\n\nQuestion: {}\nRewritten question:",
        "You generate 4 queries, one on each line.\nQuery: {}\nQueries:",
    ],
)
def test_the_question_is_found(template: str) -> None:
    assert rewritten_question(template.format("When was it?")) == "When was it?"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "When was it?",
        "Rewrite this question more politely: When was it?",
        "Question: did we rewrite the query planner?\nAnswer:",
        "Answer from the context.\n\nContext:\nIt generates multiple queries.\n\nQuestion: when?",
        "Context:\nGenerate multiple queries related to: rain\n\nQuestion: When was it?\nAnswer:",
        "Generate three search queries about rain.",
    ],
)
def test_other_texts_have_none_rewritten(text: str) -> None:
    assert rewritten_question(text) == ""


@pytest.mark.parametrize("piece", ["rewrite ", "generate search ", "query", "\n", "generate:"])
def test_looking_for_it_takes_no_time(piece: str) -> None:
    text = piece * 20_000
    assert seconds(lambda: rewritten_question(f"{text}\nQuestion: a query"), tries=2) < 1
