"""A question that stands in a longer query of an engine: it is decided on as in a prompt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.indices import SummaryIndex
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import RetryGuidelineQueryEngine, RetryQueryEngine
from llama_index.core.schema import Document, TextNode
from llama_index.core.utils import get_tokenizer
from llama_index_palace import PalaceLLM, PalaceMemoryBlock, PalaceQueryEngine, PalaceRetriever

from palace import Mempalace, RecallMiss
from tests.adapters.llama_index.scripted import FALLBACK, LIE, ScriptedLLM

SHIPPED = "We shipped version 4.1.0 on 2026-03-02."
HIT = "When did we ship version 4.1.0?"
MISS = "Which name did we give to the grey cat of my grandmother?"
REPORT = "Write a summary of the report about boats and translate it to French.\n\nQuestion: {}"
TASK = "You are a translator. Translate this Python code to Rust.\nUser: {}\nAssistant:"


@pytest.fixture
def palace(tmp_path: Path) -> Iterator[Mempalace]:
    """A palace with its own detector, which a longer text can mislead."""
    with Mempalace.open(tmp_path / "palace") as opened:
        opened.remember(SHIPPED, room="releases", drawer="log")
        opened.remember("The staging database listens on port 5432.", room="infra")
        yield opened


def engine_of(llm: Any) -> BaseQueryEngine:
    return SummaryIndex.from_documents([Document(text="Boats are red.")]).as_query_engine(llm=llm)


def wrapped(model: ScriptedLLM, palace: Mempalace, how: str) -> BaseQueryEngine:
    if how == "engine":
        return PalaceQueryEngine(engine_of(model), palace, llm=model)
    return engine_of(PalaceLLM(model, palace))


@pytest.mark.parametrize(
    "template",
    ["Be kind.\n{chat_history}\nHuman: {question}\nAI:", "{chat_history}\n{context}\n{question}"],
)
@pytest.mark.parametrize("streams", [False, True])
def test_a_template_with_the_conversation_in_it_is_answered(palace, template, streams):
    model = ScriptedLLM(answer=LIE)
    llm = PalaceLLM(model, palace)

    def say(question: str) -> str:
        given = {"chat_history": "Human: Hi.\nAI: Hello.", "context": "", "question": question}
        prompt = PromptTemplate(template)
        return "".join(llm.stream(prompt, **given)) if streams else llm.predict(prompt, **given)

    assert say(MISS) == FALLBACK
    assert model.calls == []
    assert say(HIT).startswith(SHIPPED)


@pytest.mark.parametrize("form", [REPORT, TASK])
@pytest.mark.parametrize("how", ["engine", "model"])
class TestLabelled:
    def test_a_miss_calls_no_model(self, palace, how, form):
        model = ScriptedLLM(answer=LIE)
        assert str(wrapped(model, palace, how).query(form.format(MISS))) == FALLBACK
        assert model.calls == []

    def test_a_hit_is_checked(self, palace, how, form):
        said = str(wrapped(ScriptedLLM(answer=LIE), palace, how).query(form.format(HIT)))
        assert said.startswith(SHIPPED)
        assert LIE not in said

    def test_what_asks_for_no_memory_passes(self, palace, how, form):
        model = ScriptedLLM(answer="Rain.")
        said = str(wrapped(model, palace, how).query(form.format("Write a haiku about rain.")))
        assert said == "Rain."
        assert len(model.calls) == 1


@pytest.mark.parametrize("form", [REPORT, TASK])
async def test_a_retriever_finds_nothing_for_a_miss(palace, form):
    retriever = PalaceRetriever(palace, raise_on_miss=True)
    with pytest.raises(RecallMiss):
        retriever.retrieve(form.format(MISS))
    with pytest.raises(RecallMiss):
        await retriever.aretrieve(form.format(MISS))
    assert [node.text for node in retriever.retrieve(form.format(HIT))] == [SHIPPED]
    assert [node.text for node in await retriever.aretrieve(form.format(HIT))] == [SHIPPED]


async def test_a_memory_block_sees_what_nobody_has_replied_to(palace):
    block = PalaceMemoryBlock(palace, raise_on_miss=True)
    thanks = ChatMessage(role="user", content="Please.")
    with pytest.raises(RecallMiss):
        await block.aget([ChatMessage(role="user", content=MISS), thanks])
    assert SHIPPED in await block.aget([ChatMessage(role="user", content=HIT), thanks])
    replied = ChatMessage(role="assistant", content="I do not know.")
    assert await block.aget([ChatMessage(role="user", content=MISS), replied, thanks]) == ""


class NeverGood(BaseEvaluator):
    """Refuses every answer, with the feedback it was given."""

    def __init__(self, feedback: str) -> None:
        self.feedback = feedback

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        pass

    async def aevaluate(self, query=None, response=None, **kwargs: Any) -> EvaluationResult:
        return EvaluationResult(response=response, passing=False, feedback=self.feedback)


class FullLLM(ScriptedLLM):
    """Takes no more than its window, as providers do."""

    def _say(self, messages: Any, tools: Any = ()) -> ChatMessage:
        used = sum(len(get_tokenizer()(m.content or "")) for m in messages)
        assert used + self.metadata.num_output <= self.context_window
        return super()._say(messages, tools)


@pytest.mark.parametrize(("words", "text"), [(HIT, SHIPPED), ("Explain boats.", LIE)])
def test_what_is_added_fits_beside_documents_that_fill_the_window(palace, words, text):
    boats = [TextNode(text=f"Boat {n} is red and lies in the harbour. " * 8) for n in range(50)]
    palace.set_identity("I am the keeper of the harbour and know all of its boats by name.")
    llm = PalaceLLM(FullLLM(answer=LIE, context_window=4_000), palace, session_id="s1")
    engine = SummaryIndex(boats).as_query_engine(llm=llm, response_mode="tree_summarize")
    assert str(engine.query(words)).startswith(text)


@pytest.mark.parametrize("feedback", ["NO", "The answer is long and rude. Say it in verse."])
@pytest.mark.parametrize("how", ["engine", "model"])
@pytest.mark.parametrize("retry", [RetryQueryEngine, RetryGuidelineQueryEngine])
class TestTriedAgain:
    """An engine that grades its answers asks again, with the bad answer beside the question."""

    @pytest.fixture(autouse=True)
    def no_other_model(self, monkeypatch):
        """Retries hold a model of the settings that they do not ask."""
        monkeypatch.setattr("llama_index.core.Settings._llm", ScriptedLLM())

    def test_a_hit_stays_checked(self, palace, retry, how, feedback):
        engine = wrapped(ScriptedLLM(answer=LIE), palace, how)
        said = str(retry(engine, NeverGood(feedback), max_retries=3).query(HIT))
        assert said.startswith(SHIPPED)
        assert LIE not in said

    def test_a_miss_calls_no_model(self, palace, retry, how, feedback):
        model = ScriptedLLM(answer=LIE)
        engine = wrapped(model, palace, how)
        assert str(retry(engine, NeverGood(feedback), max_retries=3).query(MISS)) == FALLBACK
        assert model.calls == []
