"""What documents tell that a host sends with a question is asked of them, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.indices.query.query_transform import (
    HyDEQueryTransform,
    StepDecomposeQueryTransform,
)
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import (
    MultiStepQueryEngine,
    RetrieverQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index_palace import PalaceLLM

from palace import Mempalace
from tests.adapters.llama_index.scripted import FALLBACK, HAIKU, Found, ScriptedLLM

MINUTES = "Present: Karim, Ulla.\nBudget: Ulla prepares a new budget until 20 June."
OF_MINUTES = "Who prepares the new budget?"
OWN = "Who prepares my budget for the garden?"
EARLIER = [ChatMessage(role="user", content="Hi."), ChatMessage(role="assistant", content="Hi!")]


def compact(llm: PalaceLLM) -> Any:
    synthesizer = get_response_synthesizer(llm=llm)
    return RetrieverQueryEngine(retriever=Found(MINUTES), response_synthesizer=synthesizer).query


def hyde(llm: PalaceLLM) -> Any:
    synthesizer = get_response_synthesizer(llm=llm)
    engine = RetrieverQueryEngine(retriever=Found(MINUTES), response_synthesizer=synthesizer)
    return TransformQueryEngine(engine, HyDEQueryTransform(llm=llm)).query


def context(llm: PalaceLLM) -> Any:
    memory = ChatMemoryBuffer.from_defaults(token_limit=3000)
    return ContextChatEngine.from_defaults(retriever=Found(MINUTES), llm=llm, memory=memory).chat


def condensing(llm: PalaceLLM) -> Any:
    memory = ChatMemoryBuffer.from_defaults(token_limit=3000, chat_history=EARLIER)
    return CondensePlusContextChatEngine.from_defaults(
        retriever=Found(MINUTES), llm=llm, memory=memory
    ).chat


@pytest.fixture
def palace(tmp_path: Path) -> Iterator[Mempalace]:
    with Mempalace.open(tmp_path / "palace") as opened:
        opened.remember("Our accountant prepares the tax return every spring.", room="money")
        yield opened


@pytest.mark.parametrize("host", [compact, hyde, context, condensing])
@pytest.mark.parametrize("near", ["", "Boats are prepared for the new season by Tom."])
def test_what_retrieved_documents_tell_is_asked_of_them(
    palace: Mempalace, host: Callable[[PalaceLLM], Any], near: str
) -> None:
    if near:  # a model is asked to point at it, and declines
        palace.remember(near, room="boats")
    model = ScriptedLLM(answer=HAIKU, quote="declines")

    assert str(host(PalaceLLM(model, palace))(OF_MINUTES)) == HAIKU
    model.calls.clear()
    assert FALLBACK in str(host(PalaceLLM(model, palace))(OWN))
    assert all("Point to the memory item" in prompt for prompt in model.prompts)


def test_a_finished_prompt_is_read_with_its_documents(palace: Mempalace) -> None:
    llm = PalaceLLM(ScriptedLLM(answer=HAIKU, quote="declines"), palace)

    assert str(llm.complete(f"{MINUTES}\n\nQuestion: {OF_MINUTES}")) == HAIKU
    assert FALLBACK in str(llm.complete(f"{MINUTES}\n\nQuestion: {OWN}"))
    assert FALLBACK in str(llm.complete(f"Boats are red.\n\nQuestion: {OF_MINUTES}"))


def test_what_a_model_said_before_is_no_document(palace: Mempalace) -> None:
    model = ScriptedLLM(answer=HAIKU, quote="declines")
    bad = f"Here is a previous bad answer.\n{MINUTES}\nNow answer the question.\n"

    assert FALLBACK in str(PalaceLLM(model, palace).complete(f"{bad}{OF_MINUTES}"))
    asked = f"{OF_MINUTES}\n----------\nHere is a previous bad answer.\n{MINUTES}"
    assert FALLBACK in str(PalaceLLM(model, palace).complete(f"Boats.\n\nQuestion: {asked}"))


def test_a_document_is_a_source_where_a_memory_answers_too(palace: Mempalace) -> None:
    palace.remember("Karim prepares the new budget.", room="money")
    asked = f"{MINUTES}\n\nQuestion: {OF_MINUTES}"
    for answer, released in (
        ("Ulla prepares a new budget until 20 June.", True),
        ("Zora prepares the new budget until 9 May.", False),
    ):
        said = str(PalaceLLM(ScriptedLLM(answer=answer), palace).complete(asked))
        assert (said == answer) is released


SHOWN = [
    f"user: Hi.\nassistant: {MINUTES}\nuser: {{}}\nassistant: ",
    f"Conversation:\nuser: Hi.\nassistant: {MINUTES}\n\nQuestion: {{}}",
]


@pytest.mark.parametrize("shown", SHOWN)
def test_nor_is_what_it_said_in_a_conversation_that_is_written_down(
    palace: Mempalace, shown: str
) -> None:
    asked, model = shown.format(OF_MINUTES), ScriptedLLM(quote="declines")
    assert FALLBACK in str(PalaceLLM(model, palace).complete(asked))

    palace.remember("Karim prepares the new budget.", room="money")
    liar = ScriptedLLM(answer="Ulla prepares a new budget until 20 June.")
    assert "Karim prepares" in str(PalaceLLM(liar, palace).complete(asked))


def test_nor_is_a_question_that_it_made_of_the_first_one(palace: Mempalace) -> None:
    """An engine shows each of them with its answer, as a document."""
    palace.remember("Karim prepares the new budget.", room="money")
    llm = PalaceLLM(ScriptedLLM(answer="Zora prepares the new budget until 9 May."), palace)
    synthesizer = get_response_synthesizer(llm=llm)
    engine = RetrieverQueryEngine(retriever=Found(MINUTES), response_synthesizer=synthesizer)
    steps = StepDecomposeQueryTransform(llm=llm)
    summary = "minutes"

    said = MultiStepQueryEngine(engine, steps, synthesizer, num_steps=2, index_summary=summary)

    assert "Zora" not in str(said.query(OF_MINUTES))
