"""What a host does with a question before and after it is answered: no call on a miss either."""

from __future__ import annotations

import gc
import time
import weakref
from dataclasses import replace
from typing import Any

import pytest
from llama_index.core import TreeIndex
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.chat_engine.condense_question import DEFAULT_TEMPLATE
from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    ContextRelevancyEvaluator,
    CorrectnessEvaluator,
    EvaluationResult,
    FaithfulnessEvaluator,
    GuidelineEvaluator,
    RelevancyEvaluator,
)
from llama_index.core.extractors import (
    KeywordExtractor,
    QuestionsAnsweredExtractor,
    SummaryExtractor,
    TitleExtractor,
)
from llama_index.core.indices.query.query_transform import (
    DecomposeQueryTransform,
    HyDEQueryTransform,
)
from llama_index.core.indices.query.query_transform.feedback_transform import (
    FeedbackQueryTransformation,
)
from llama_index.core.memory import ChatMemoryBuffer, ChatSummaryMemoryBuffer
from llama_index.core.postprocessor import AutoPrevNextNodePostprocessor, LLMRerank
from llama_index.core.postprocessor.rankGPT_rerank import RankGPTRerank
from llama_index.core.prompts import PromptTemplate, PromptType
from llama_index.core.prompts.default_prompts import RANKGPT_RERANK_PROMPT_TMPL
from llama_index.core.query_engine import (
    FLAREInstructQueryEngine,
    RetrieverQueryEngine,
    RetryQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.query_engine.sql_join_query_engine import SQLAugmentQueryTransform
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index_palace import PalaceLLM, PalaceQueryEngine

from palace import ConfigError, Query, RecallMiss, RecallSignal, Turn
from tests.adapters.llama_index.scripted import (
    FALLBACK,
    HIT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    BandDetector,
    Found,
    ScriptedLLM,
    code_text,
    is_quote_call,
    open_palace,
    paint_text,
)
from tests.adapters.llama_index.test_hosts import gardens


def engine_of(llm: PalaceLLM) -> RetrieverQueryEngine:
    return RetrieverQueryEngine.from_args(gardens(), llm=llm)


def liar(palace: Any, **options: Any) -> PalaceLLM:
    return PalaceLLM(ScriptedLLM(answer=LIE, quote="quotes, then lies", **options), palace)


class TestHyde:
    """A passage is made up to search with, for a question that its template calls context."""

    @pytest.mark.parametrize("is_async", [True, False])
    async def test_nothing_is_made_up_for_a_miss(self, palace, model, is_async):
        llm, documents = PalaceLLM(model, palace), gardens()
        engine = TransformQueryEngine(
            RetrieverQueryEngine.from_args(documents, llm=llm), HyDEQueryTransform(llm=llm)
        )
        said = await engine.aquery(MISS) if is_async else engine.query(MISS)
        assert str(said) == FALLBACK
        assert model.calls == []
        assert [asked.embedding_strs for asked in documents.asked] == [[MISS, MISS]]

    def test_what_is_made_up_is_no_answer(self, palace):
        model = ScriptedLLM(answer=LIE)
        llm, documents = PalaceLLM(model, palace), gardens()
        engine = TransformQueryEngine(
            RetrieverQueryEngine.from_args(documents, llm=llm), HyDEQueryTransform(llm=llm)
        )
        said = str(engine.query(HIT))
        assert [asked.embedding_strs for asked in documents.asked] == [[LIE, HIT]]
        assert LIE not in said
        assert code_text(None) in said

    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    def test_a_rewriting_stays_under_the_ruling(self, palace, words):
        llm = liar(palace)
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
        documents = gardens()
        QueryFusionRetriever([documents], llm=llm, num_queries=3, use_async=False).retrieve(words)
        return [asked.query_str for asked in documents.asked]

    def test_a_miss_is_searched_for_as_it_is(self, palace, model):
        assert set(self.searched(PalaceLLM(model, palace), MISS)) == {MISS}
        assert model.calls == []

    def test_queries_are_no_answer(self, palace):
        model = ScriptedLLM(answer="gate code\nnumber of the gate")
        searched = self.searched(PalaceLLM(model, palace), HIT)
        assert searched == [HIT, "gate code", "number of the gate"]


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
        llm = liar(palace)
        said = str(self.engine(llm).query(words))
        assert said.startswith((code_text(None), paint_text(None)))
        assert LIE not in said

    def test_what_asks_for_no_memory_passes(self, palace):
        model = ScriptedLLM(answer="Rain.")
        assert str(self.engine(PalaceLLM(model, palace)).query(PASS)) == "Rain."
        assert len(model.calls) == 2


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
    ("evaluator", "grade"),
    [
        (AnswerRelevancyEvaluator, "Good. [RESULT] 2"),
        (ContextRelevancyEvaluator, "Good. [RESULT] 4"),
        (CorrectnessEvaluator, "5.0\nGood."),
        (GuidelineEvaluator, '{"passing": true, "feedback": "Good."}'),
    ],
)
class TestEvaluators:
    """A grade is read by the host, so a miss is an error and a hit is no answer."""

    async def graded(self, palace, evaluator, model, words):
        said = {"response": "It is 4711.", "contexts": ["x"], "reference": "4711"}
        return await evaluator(llm=PalaceLLM(model, palace)).aevaluate(query=words, **said)

    async def test_a_miss_is_not_graded(self, palace, model, evaluator, grade):
        with pytest.raises(RecallMiss, match="memory palace"):
            await self.graded(palace, evaluator, model, MISS)
        assert model.calls == []

    @pytest.mark.parametrize("words", [HIT, UNCLEAR, PASS])
    async def test_a_grade_is_no_answer(self, palace, evaluator, grade, words):
        graded = await self.graded(palace, evaluator, ScriptedLLM(answer=grade), words)
        assert graded.score or graded.passing


@pytest.mark.parametrize("said", [MISS, HIT, PASS])
async def test_an_answer_that_is_graded_asks_nothing(palace, said):
    """An answer is held against its contexts as if it were the question."""
    judge = FaithfulnessEvaluator(PalaceLLM(ScriptedLLM(answer="YES"), palace))
    assert (await judge.aevaluate(response=said, contexts=[said])).passing
    assert palace.decided == []


@pytest.mark.parametrize(
    ("extractor", "name"),
    [
        (SummaryExtractor, "section_summary"),
        (QuestionsAnsweredExtractor, "questions_this_excerpt_can_answer"),
        (TitleExtractor, "document_title"),
        (KeywordExtractor, "excerpt_keywords"),
    ],
)
@pytest.mark.parametrize("words", [MISS, HIT, UNCLEAR])
async def test_what_documents_say_asks_nothing(palace, extractor, name, words):
    palace.set_identity("I am the keeper of the harbour.")
    model = ScriptedLLM(answer="Boats.")
    extracted = extractor(llm=PalaceLLM(model, palace, session_id="s1"), show_progress=False)
    (found,) = await extracted.aextract([TextNode(text=f"A talk.\n\nQuestion: {words}")])
    assert found[name] == "Boats."
    assert palace.decided == []
    assert not any("keeper" in prompt for prompt in model.prompts)  # that is for the person's turn


@pytest.mark.parametrize("words", [MISS, HIT, UNCLEAR])
def test_a_document_that_is_put_into_a_tree_asks_nothing(palace, words):
    llm = PalaceLLM(ScriptedLLM(answer="ANSWER: 1"), palace)
    index = TreeIndex([TextNode(text=f"Boats {n}.") for n in range(3)], llm=llm, num_children=2)
    index.insert_nodes([TextNode(text=f"A talk.\n\nQuestion: {words}")])
    assert palace.decided == []


@pytest.mark.parametrize("words", [MISS, HIT, UNCLEAR])
def test_a_conversation_that_is_condensed_asks_nothing(palace, words):
    model = ScriptedLLM(answer="They talked.")
    memory = ChatSummaryMemoryBuffer.from_defaults(
        llm=PalaceLLM(model, palace),
        token_limit=3,
        tokenizer_fn=str.split,
        chat_history=[ChatMessage(words), ChatMessage("No.", role="assistant"), ChatMessage("Oh.")],
    )
    assert [message.content for message in memory.get()] == ["They talked.", "Oh."]
    assert palace.decided == []
    assert len(model.calls) == 1


@pytest.mark.parametrize("is_async", [True, False])
class TestRanking:
    """Passages are put in order by a model that is told of them message by message."""

    async def ranked(self, llm: PalaceLLM, words: str, is_async: bool) -> list[NodeWithScore]:
        ranks, nodes = RankGPTRerank(llm=llm), Found("Gardens.", "Gardens.").nodes
        if is_async:
            return await ranks.apostprocess_nodes(nodes, query_str=words)
        return ranks.postprocess_nodes(nodes, query_str=words)

    async def test_nothing_is_put_in_order_for_a_miss(self, palace, model, is_async):
        with pytest.raises(RecallMiss, match="memory palace"):
            await self.ranked(PalaceLLM(model, palace), MISS, is_async)
        assert model.calls == []
        assert palace.decided == [MISS]

    @pytest.mark.parametrize("words", [HIT, UNCLEAR, PASS])
    async def test_an_order_is_no_answer(self, palace, words, is_async):
        llm = PalaceLLM(ScriptedLLM(answer="[2] > [1]"), palace)
        assert len(await self.ranked(llm, words, is_async)) == 2
        assert palace.decided == [words]

    async def test_the_answer_is_of_the_same_turn(self, palace, is_async):
        model = ScriptedLLM(answer="[2] > [1]")
        llm = PalaceLLM(model, palace)
        ranked = RetrieverQueryEngine.from_args(
            Found("Gardens.", "Gardens."), llm=llm, node_postprocessors=[RankGPTRerank(llm=llm)]
        )
        answer = await ranked.aquery(UNCLEAR) if is_async else ranked.query(UNCLEAR)
        assert paint_text(None) in str(answer)
        assert palace.decided == [UNCLEAR]
        assert [is_quote_call(prompt) for prompt in model.prompts] == [True, False, False]
        assert "Gardens" not in model.prompts[0]  # what is put in order was said by nobody

    async def test_who_only_speaks_like_it_is_answered(self, palace, is_async):
        asked = ChatMessage(RANKGPT_RERANK_PROMPT_TMPL.format(query=HIT, num=2))
        llm = PalaceLLM(ScriptedLLM(answer=LIE), palace)
        reply = await llm.achat([asked]) if is_async else llm.chat([asked])
        assert "9999" not in reply.message.content


class TestPreviousAndNext:
    """A model says whether to look at the documents around one that was found."""

    def looked(self, llm: PalaceLLM, words: str) -> list[NodeWithScore]:
        around = AutoPrevNextNodePostprocessor(docstore=SimpleDocumentStore(), llm=llm)
        return around.postprocess_nodes(gardens().nodes, query_str=words)

    def test_of_a_miss_nothing_is_asked(self, palace, model):
        with pytest.raises(RecallMiss, match="memory palace"):
            self.looked(PalaceLLM(model, palace), MISS)
        assert model.calls == []

    @pytest.mark.parametrize("words", [HIT, UNCLEAR, PASS])
    def test_where_to_look_is_no_answer(self, palace, words):
        assert len(self.looked(PalaceLLM(ScriptedLLM(answer="NONE"), palace), words)) == 1


class TestAfterTables:
    """A question is made of what a database answered, for the documents."""

    def made(self, llm: PalaceLLM, words: str) -> str:
        known = {"sql_query": "SELECT 1", "sql_query_response": "1"}
        return SQLAugmentQueryTransform(llm).run(QueryBundle(words), known).query_str

    def test_a_miss_is_asked_as_it_is(self, palace, model):
        assert self.made(PalaceLLM(model, palace), MISS) == MISS
        assert model.calls == []

    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    def test_the_new_question_stays_under_the_ruling(self, palace, words):
        llm = liar(palace)
        assert self.made(llm, words) == LIE
        assert "9999" not in str(engine_of(llm).query(LIE))


@pytest.mark.parametrize("words", [HIT, UNCLEAR])
@pytest.mark.parametrize("way", ["predict", "complete"])
def test_a_question_rewritten_into_nothing_stays_what_it_is(palace, words, way):
    llm = PalaceLLM(ScriptedLLM(answer=" ", quote="honest"), palace)
    template = PromptTemplate(DEFAULT_TEMPLATE)
    told = {"question": words, "chat_history": "user: Hello."}
    if way == "predict":
        assert llm.predict(template, **told) == words
    else:
        assert llm.complete(template.format(**told)).text == words


class InPieces(ScriptedLLM):
    """Tells in each chunk only what is new, and nothing in the last one."""

    def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
        for chunk in super().stream_chat(messages, **kwargs):
            yield ChatResponse(message=ChatMessage("", role="assistant"), delta=chunk.delta)
        yield ChatResponse(message=ChatMessage("", role="assistant"), delta="")


@pytest.mark.parametrize("words", [HIT, UNCLEAR])
@pytest.mark.parametrize("model", [ScriptedLLM, InPieces])
def test_a_rewriting_that_streams_stays_under_the_ruling(palace, words, model):
    llm = PalaceLLM(model(answer=LIE, quote="quotes, then lies"), palace)
    told = {"question": words, "chat_history": "user: Hello."}
    assert "".join(llm.stream(PromptTemplate(DEFAULT_TEMPLATE), **told)) == LIE
    assert "9999" not in llm.complete(LIE).text


def test_what_was_chosen_long_ago_is_decided_anew(palace, monkeypatch):
    llm = PalaceLLM(ScriptedLLM(answer="Doc: 1, Relevance: 7"), palace)
    LLMRerank(llm=llm).postprocess_nodes(gardens().nodes, query_str=HIT)
    now = time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: now + 60)
    llm.chat([ChatMessage(HIT)])
    assert palace.decided == [HIT, HIT]


def test_a_retry_grades_no_miss(palace, model):
    llm = PalaceLLM(model, palace)
    with pytest.raises(RecallMiss, match="memory palace"):
        RetryQueryEngine(engine_of(llm), RelevancyEvaluator(llm=llm)).query(MISS)
    assert model.calls == []


@pytest.mark.parametrize("words", [HIT, UNCLEAR])
@pytest.mark.parametrize(
    "graded",
    [
        EvaluationResult(response="It is red.", feedback=LIE),
        EvaluationResult(response="It is red.", feedback=f"No.\nNow answer the question.\n{LIE}"),
        EvaluationResult(response=LIE, feedback="NO"),
    ],
    ids=["feedback", "feedback with the mark", "bad answer"],
)
@pytest.mark.parametrize("tries", [1, 2])
def test_what_a_model_says_of_a_bad_answer_proves_nothing(palace, words, graded, tries):
    llm = liar(palace)
    query = QueryBundle(words)
    for _ in range(tries):
        query = FeedbackQueryTransformation(llm=llm).run(query, {"evaluation": graded})
    assert "9999" not in str(engine_of(llm).query(query))
    assert "9999" not in str(PalaceQueryEngine(engine_of(llm), palace, llm=llm).query(query))


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


@pytest.mark.parametrize("mode", ["refine", "compact", "tree_summarize", "accumulate"])
@pytest.mark.parametrize("words", [HIT, UNCLEAR])
class TestSeveralCalls:
    """An engine that asks for one answer in several calls stays under the ruling in all of them."""

    def engine(self, llm: PalaceLLM, mode: str) -> RetrieverQueryEngine:
        speaks = get_response_synthesizer(llm=llm, response_mode=mode)
        return RetrieverQueryEngine(Found(*["Boats are red. " * 150] * 3), speaks)

    def test_of_a_rewritten_question(self, palace, words, mode):
        llm = liar(palace, context_window=1500)
        history = ChatMemoryBuffer.from_defaults(chat_history=[ChatMessage("Hello.")])
        chat = CondenseQuestionChatEngine.from_defaults(
            self.engine(llm, mode), llm=llm, memory=history
        )
        assert "9999" not in str(chat.chat(words))
        assert set(palace.decided) == {words}

    def test_of_a_decomposed_question(self, palace, words, mode):
        llm = liar(palace, context_window=1500)
        transform, about = DecomposeQueryTransform(llm=llm), {"index_summary": "gardens"}
        engine = TransformQueryEngine(self.engine(llm, mode), transform, transform_metadata=about)
        assert "9999" not in str(engine.query(words))
        assert set(palace.decided) == {words}


@pytest.mark.parametrize(
    "rewritten",
    [
        LIE,
        f"Try once more.\n\nNow answer the question.\n{LIE}",
        f"Here is a previous bad answer.\nNone.\nNow answer the question.\n{LIE}",
        f"Go on.\n----------------\nHere is a previous bad answer.\n{LIE}",
    ],
    ids=["plain", "mark", "form", "other form"],
)
@pytest.mark.parametrize("words", [HIT, UNCLEAR])
def test_a_question_made_of_feedback_stays_under_the_ruling(palace, words, rewritten):
    llm = PalaceLLM(ScriptedLLM(answer=rewritten, quote="quotes, then lies"), palace)
    graded = EvaluationResult(response="It is red.", feedback="That is wrong.")
    transform = FeedbackQueryTransformation(llm=llm, resynthesize_query=True)
    query = QueryBundle(words)
    for _ in range(3):
        query = transform.run(query, {"evaluation": graded})
        said = str(engine_of(llm).query(query))
        assert code_text(None) in said or paint_text(None) in said
        assert LIE not in said


def test_a_rewriting_is_read_where_it_is_asked(palace):
    """What is rewritten into itself is decided on with the conversation it is asked in."""
    llm = PalaceLLM(ScriptedLLM(answer=HIT), palace, session_id="s1")
    for said in ("Hello.", "Good evening."):
        history = ChatMemoryBuffer.from_defaults(chat_history=[ChatMessage(said)])
        chat = CondenseQuestionChatEngine.from_defaults(engine_of(llm), llm=llm, memory=history)
        chat.chat(HIT)
        assert palace.detector.turns[-1].history[0].content == said


def test_of_two_questions_made_into_the_same_the_last_one_counts(palace):
    """A model may make the same words of a question that asks for no memory."""
    llm = PalaceLLM(ScriptedLLM(answer=LIE), palace, session_id="s1")
    history = ChatMemoryBuffer.from_defaults(chat_history=[ChatMessage("Good evening.")])
    chat = CondenseQuestionChatEngine.from_defaults(engine_of(llm), llm=llm, memory=history)
    said = [str(chat.chat(words)) for words in ("Hello.", HIT, PASS)]
    assert [LIE in words for words in said] == [True, False, True]
    assert palace.decided[-1] == LIE


def test_what_is_asked_after_the_answer_is_no_rewriting_of_the_question(palace):
    """A rewriting that only searched is answered by nobody: a person may say it later."""
    llm = PalaceLLM(ScriptedLLM(answer=PASS), palace, session_id="s1")
    llm.predict(PromptTemplate(DEFAULT_TEMPLATE), question=HIT, chat_history="user: Hello.")
    said = [ChatMessage(HIT), ChatMessage("It is 4711-s1.", role="assistant"), ChatMessage(PASS)]
    assert llm.chat(said).additional_kwargs["palace"]["action"] == "pass"
    assert palace.decided == [HIT, PASS]


class TestSeveralWrappers:
    """One wrapper has a question rewritten, another one is asked what came of it."""

    def chat(self, asked: BaseQueryEngine, condenses: PalaceLLM) -> CondenseQuestionChatEngine:
        history = ChatMemoryBuffer.from_defaults(chat_history=[ChatMessage("Hello.")])
        return CondenseQuestionChatEngine.from_defaults(asked, llm=condenses, memory=history)

    @pytest.mark.parametrize("asked", ["s1", None])
    @pytest.mark.parametrize("condensed", ["s1", None])
    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    def test_the_rewriting_stays_under_the_ruling(self, palace, words, condensed, asked):
        model = ScriptedLLM(answer=LIE, quote="quotes, then lies")
        condenses = PalaceLLM(model, palace, session_id=condensed)
        for engine in (
            engine_of(PalaceLLM(model, palace, session_id=asked)),
            PalaceQueryEngine(engine_of(model), palace, llm=model, session_id=asked),
        ):
            assert "9999" not in str(self.chat(engine, condenses).chat(words))
        assert set(palace.decided) == {words}
        assert {t.session_id for t in palace.detector.turns} == {condensed, asked}

    def test_the_words_of_two_sessions_never_meet(self, palace):
        model = ScriptedLLM(answer="Rain.")
        one, other = (PalaceLLM(model, palace, session_id=name) for name in ("s1", "s2"))
        self.chat(engine_of(one), one).chat(HIT)
        palace.detector.turns.clear()
        other.complete("Rain.")
        assert palace.decided == ["Rain."]
        assert code_text("s1") not in model.prompts[-1]
        nobodys = PalaceLLM(model, palace)
        nobodys.complete("Rain.")
        assert palace.decided[-1] == HIT
        assert palace.detector.turns[-1].history == ()
        assert code_text("s1") not in model.prompts[-1]

    def test_what_somebody_else_asked_does_not_let_a_question_through(self, palace):
        """Of a session's question its conversation is not told: without that it may ask nothing."""

        class FollowsUp(BandDetector):
            def detect(self, turn: Turn, query: Query) -> RecallSignal:
                asked_before = turn if turn.history else replace(turn, prompt="Hello.")
                return super().detect(turn if "harbour" in turn.prompt else asked_before, query)

        palace.detector = FollowsUp()
        one = PalaceLLM(ScriptedLLM(answer=UNCLEAR), palace, session_id="s1")
        template, said = PromptTemplate(DEFAULT_TEMPLATE), "user: Hello."
        assert one.predict(template, question="And the code of the gate?", chat_history=said)

        model = ScriptedLLM(answer=LIE, quote="declines")
        assert PalaceLLM(model, palace).complete(UNCLEAR).text.startswith(FALLBACK)
        assert len(model.calls) == 1  # for a quote


def test_what_is_under_way_goes_with_its_palace(tmp_path, model):
    palace = open_palace(tmp_path / "other")
    gone = weakref.ref(palace)
    PalaceLLM(model, palace).complete(HIT)
    palace.close()
    del palace
    gc.collect()
    assert gone() is None
