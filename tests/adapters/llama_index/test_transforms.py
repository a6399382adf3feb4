"""What a host does with a question before and after it is answered: no call on a miss either."""

from __future__ import annotations

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    CorrectnessEvaluator,
    EvaluationResult,
    GuidelineEvaluator,
    RelevancyEvaluator,
)
from llama_index.core.indices.query.query_transform import (
    DecomposeQueryTransform,
    HyDEQueryTransform,
    StepDecomposeQueryTransform,
)
from llama_index.core.indices.query.query_transform.feedback_transform import (
    FeedbackQueryTransformation,
)
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.prompts import PromptTemplate, PromptType
from llama_index.core.query_engine import (
    FLAREInstructQueryEngine,
    MultiStepQueryEngine,
    RetrieverQueryEngine,
    RetryQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_palace import PalaceLLM, PalaceQueryEngine

from palace import ConfigError, RecallMiss
from tests.adapters.llama_index.scripted import (
    FALLBACK,
    HIT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    ScriptedLLM,
    code_text,
    paint_text,
)


class Documents(BaseRetriever):
    """A person's own documents; remembers what was searched for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[str]] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle.embedding_strs)
        return [NodeWithScore(node=TextNode(text="A document about gardens."), score=0.5)]


def engine_of(llm: PalaceLLM) -> RetrieverQueryEngine:
    return RetrieverQueryEngine.from_args(Documents(), llm=llm)


class TestHyde:
    """A passage is made up to search with, for a question that its template calls context."""

    @pytest.mark.parametrize("is_async", [True, False])
    async def test_nothing_is_made_up_for_a_miss(self, palace, model, is_async):
        llm, documents = PalaceLLM(model, palace), Documents()
        engine = TransformQueryEngine(
            RetrieverQueryEngine.from_args(documents, llm=llm), HyDEQueryTransform(llm=llm)
        )
        said = await engine.aquery(MISS) if is_async else engine.query(MISS)
        assert str(said) == FALLBACK
        assert model.calls == []
        assert documents.asked == [[MISS, MISS]]

    def test_what_is_made_up_is_no_answer(self, palace):
        model = ScriptedLLM(answer=LIE)
        llm, documents = PalaceLLM(model, palace), Documents()
        engine = TransformQueryEngine(
            RetrieverQueryEngine.from_args(documents, llm=llm), HyDEQueryTransform(llm=llm)
        )
        said = str(engine.query(HIT))
        assert documents.asked == [[LIE, HIT]]
        assert LIE not in said
        assert code_text(None) in said

    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    def test_a_rewriting_stays_under_the_ruling(self, palace, words):
        llm = PalaceLLM(ScriptedLLM(answer=LIE, quote="quotes, then lies"), palace)
        engine = CondenseQuestionChatEngine.from_defaults(
            TransformQueryEngine(engine_of(llm), HyDEQueryTransform(llm=llm)),
            llm=llm,
            memory=ChatMemoryBuffer.from_defaults(chat_history=[ChatMessage("Hello.")]),
        )
        assert LIE not in str(engine.chat(words))

    def test_a_summary_is_no_question(self, palace, model):
        summary = PromptTemplate("Summarise: {context_str}", prompt_type=PromptType.SUMMARY)
        PalaceLLM(model, palace).predict(summary, context_str="The lighthouse was sold.")
        assert len(model.calls) == 1


class TestFusion:
    """Several queries are made of one question, in a prompt of its own."""

    def searched(self, llm: PalaceLLM, words: str) -> list[str]:
        documents = Documents()
        QueryFusionRetriever([documents], llm=llm, num_queries=3, use_async=False).retrieve(words)
        return [asked[0] for asked in documents.asked]

    def test_a_miss_is_searched_for_as_it_is(self, palace, model):
        assert set(self.searched(PalaceLLM(model, palace), MISS)) == {MISS}
        assert model.calls == []

    def test_queries_are_no_answer(self, palace):
        model = ScriptedLLM(answer="gate code\nnumber of the gate")
        searched = self.searched(PalaceLLM(model, palace), HIT)
        assert searched == [HIT, "gate code", "number of the gate"]


def test_no_step_is_made_of_a_miss(palace, model):
    llm = PalaceLLM(model, palace)
    engine = MultiStepQueryEngine(
        engine_of(llm),
        StepDecomposeQueryTransform(llm=llm),
        response_synthesizer=get_response_synthesizer(llm=llm),
    )
    with pytest.raises(RecallMiss, match="memory palace"):
        engine.query(MISS)
    assert model.calls == []


class TestDecomposing:
    """A model makes a new question of a question, and the engine is asked that one instead."""

    def engine(self, llm: PalaceLLM) -> TransformQueryEngine:
        transform, about = DecomposeQueryTransform(llm=llm), {"index_summary": "gardens"}
        return TransformQueryEngine(engine_of(llm), transform, transform_metadata=about)

    def test_a_miss_is_asked_as_it_is(self, palace, model):
        assert str(self.engine(PalaceLLM(model, palace)).query(MISS)) == FALLBACK
        assert model.calls == []

    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    def test_the_new_question_stays_under_the_ruling(self, palace, words):
        llm = PalaceLLM(ScriptedLLM(answer=LIE, quote="quotes, then lies"), palace)
        said = str(self.engine(llm).query(words))
        assert said.startswith((code_text(None), paint_text(None)))
        assert LIE not in said

    def test_what_asks_for_no_memory_passes(self, palace):
        model = ScriptedLLM(answer="Rain.")
        assert str(self.engine(PalaceLLM(model, palace)).query(PASS)) == "Rain."
        assert len(model.calls) == 2


@pytest.mark.parametrize("words", [HIT, UNCLEAR])
def test_a_question_made_of_feedback_stays_under_the_ruling(palace, words):
    llm = PalaceLLM(ScriptedLLM(answer=LIE, quote="quotes, then lies"), palace)
    graded = EvaluationResult(response="It is red.", feedback="That is wrong.")
    transform = FeedbackQueryTransformation(llm=llm, resynthesize_query=True)
    said = str(engine_of(llm).query(transform.run(QueryBundle(words), {"evaluation": graded})))
    assert said.startswith((code_text(None), paint_text(None)))
    assert LIE not in said


class TestFlare:
    """An answer is put together by calls of which only the first shows the question."""

    def engine(self, palace, model):
        llm = PalaceLLM(model, palace)
        return FLAREInstructQueryEngine(engine_of(llm), llm=llm, max_iterations=2)

    def test_a_miss_is_not_begun(self, palace, model):
        with pytest.raises(RecallMiss, match="memory palace"):
            self.engine(palace, model).query(MISS)
        assert model.calls == []

    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    def test_what_cannot_be_checked_is_refused(self, palace, words):
        with pytest.raises(ConfigError, match="PalaceQueryEngine"):
            self.engine(palace, ScriptedLLM(answer=LIE)).query(words)

    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    def test_the_engine_works_within_a_wrapper(self, palace, model, words):
        flare = FLAREInstructQueryEngine(engine_of(model), llm=model, max_iterations=2)
        said = str(PalaceQueryEngine(flare, palace, llm=model).query(words))
        assert said.startswith((code_text(None), paint_text(None)))

    def test_what_asks_for_no_memory_passes(self, palace):
        model = ScriptedLLM(answer="Rain. done")
        assert str(self.engine(palace, model).query(PASS)).strip() == "Rain."


@pytest.mark.parametrize(
    "evaluator", [AnswerRelevancyEvaluator, CorrectnessEvaluator, GuidelineEvaluator]
)
class TestEvaluators:
    """A grade is read by the host, so a miss is an error and a hit is no answer."""

    async def test_a_miss_is_not_graded(self, palace, model, evaluator):
        judge = evaluator(llm=PalaceLLM(model, palace))
        with pytest.raises(RecallMiss, match="memory palace"):
            await judge.aevaluate(query=MISS, response="In May.", reference="In May.")
        assert model.calls == []

    @pytest.mark.parametrize("words", [HIT, UNCLEAR, PASS])
    async def test_a_grade_is_no_answer(self, palace, evaluator, words):
        grades = {CorrectnessEvaluator: "5.0\nGood.", AnswerRelevancyEvaluator: "Good. [RESULT] 2"}
        grade = grades.get(evaluator, '{"passing": true, "feedback": "Good."}')
        judge = evaluator(llm=PalaceLLM(ScriptedLLM(answer=grade), palace))
        graded = await judge.aevaluate(query=words, response="It is 4711.", reference="4711")
        assert graded.score or graded.passing


def test_a_retry_grades_no_miss(palace, model):
    llm = PalaceLLM(model, palace)
    with pytest.raises(RecallMiss, match="memory palace"):
        RetryQueryEngine(engine_of(llm), RelevancyEvaluator(llm=llm)).query(MISS)
    assert model.calls == []


def test_a_hit_may_be_graded(palace):
    llm = PalaceLLM(ScriptedLLM(answer="YES"), palace)
    nodes = [NodeWithScore(node=TextNode(text=code_text(None)))]
    response = Response(code_text(None), source_nodes=nodes)
    assert RelevancyEvaluator(llm=llm).evaluate_response(query=HIT, response=response).passing


@pytest.mark.parametrize(
    "kind", ["JSON_PATH", "PANDAS", "TEXT_TO_GRAPH_QUERY", "VECTOR_STORE_QUERY"]
)
def test_a_query_is_not_made_of_a_miss(palace, model, kind):
    prompt = PromptTemplate("Write the query.\n{query_str}", PromptType[kind])
    with pytest.raises(RecallMiss, match="memory palace"):
        PalaceLLM(model, palace).predict(prompt, query_str=MISS)
    assert model.calls == []
