"""Programs that read an object out of a model's text: typed misses, and values that are checked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.program import LLMTextCompletionProgram
from llama_index.core.prompts import ChatPromptTemplate, PromptTemplate, PromptType
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index_palace import PalaceLLM

from palace import RecallMiss, UngroundedAnswerError
from tests.adapters.llama_index.scripted import (
    HIT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    ScriptedLLM,
    code_text,
    open_palace,
    paint_text,
)


class Answer(BaseModel):
    """An answer."""

    text: str


PROMPTS = {
    "text": PromptTemplate("Answer this.\n{asked}"),
    "chat": ChatPromptTemplate(
        [ChatMessage("Be brief.", role="system"), ChatMessage("{asked}", role="user")]
    ),
}


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("chats", [True, False])
class TestTextPrograms:
    async def made(self, palace, prompt, chats, words, said, **script: Any) -> Answer:
        self.model = ScriptedLLM(answer=said, chats=chats, **script)
        program = LLMTextCompletionProgram.from_defaults(
            output_cls=Answer, prompt=PROMPTS[prompt], llm=PalaceLLM(self.model, palace)
        )
        made = program(asked=words)
        assert await program.acall(asked=words) == made
        return made

    async def test_a_miss_is_typed(self, palace, prompt, chats):
        with pytest.raises(RecallMiss, match="memory palace"):
            await self.made(palace, prompt, chats, MISS, LIE)
        assert self.model.calls == []

    @pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```"])
    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    async def test_what_the_memory_says_is_released(self, palace, prompt, chats, words, fence):
        text = code_text(None) if words == HIT else paint_text(None)
        said = fence.format(json.dumps({"text": text}))
        assert await self.made(palace, prompt, chats, words, said) == Answer(text=text)

    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    async def test_what_it_does_not_say_is_not(self, palace, prompt, chats, words):
        with pytest.raises(UngroundedAnswerError) as refused:
            await self.made(palace, prompt, chats, words, json.dumps({"text": LIE}))
        assert LIE not in str(refused.value)

    async def test_declining_is_a_miss(self, palace, prompt, chats):
        with pytest.raises(RecallMiss):
            await self.made(palace, prompt, chats, HIT, "declines")

    async def test_an_invented_quote_is_a_miss(self, palace, prompt, chats):
        with pytest.raises(RecallMiss):
            await self.made(palace, prompt, chats, UNCLEAR, "{}", quote="invents")

    async def test_what_asks_for_no_memory_passes(self, palace, prompt, chats):
        said = json.dumps({"text": LIE})
        assert await self.made(palace, prompt, chats, PASS, said) == Answer(text=LIE)


def test_one_invented_word_among_other_values_is_refused(palace):
    class Gate(BaseModel):
        code: str
        keeper: str

    def made(keeper):
        said = json.dumps({"code": "4711-all", "keeper": keeper})
        return LLMTextCompletionProgram.from_defaults(
            output_cls=Gate,
            prompt=PROMPTS["text"],
            llm=PalaceLLM(ScriptedLLM(answer=said), palace),
        )(asked=HIT)

    assert made("harbour").code == "4711-all"
    with pytest.raises(UngroundedAnswerError):
        made("Zork")


def test_flagging_lets_an_object_pass(tmp_path):
    with open_palace(tmp_path, "answers: {check: flag}") as palace:
        llm = PalaceLLM(ScriptedLLM(answer=json.dumps({"text": LIE})), palace)
        program = LLMTextCompletionProgram.from_defaults(
            output_cls=Answer, prompt=PROMPTS["text"], llm=llm
        )
        assert program(asked=HIT) == Answer(text=LIE)


def test_only_the_object_is_released(palace):
    said = f"{LIE} " + json.dumps({"text": code_text(None)})
    llm = PalaceLLM(ScriptedLLM(answer=said), palace)
    parser = LLMTextCompletionProgram.from_defaults(
        output_cls=Answer, prompt=PROMPTS["text"], llm=llm
    )._output_parser
    asked = parser.format(HIT)
    assert json.loads(llm.complete(asked).text) == {"text": code_text(None)}
    streamed = [chunk.delta for chunk in llm.stream_complete(asked)]
    assert json.loads("".join(streamed)) == {"text": code_text(None)}


# A document in whose words there is something to remember.
BLURRING = NodeWithScore(node=TextNode(text=f"{HIT} {UNCLEAR} Nobody knows."), score=0.5)


@pytest.mark.parametrize("mode", [ResponseMode.COMPACT, ResponseMode.REFINE])
@pytest.mark.parametrize("functions", [True, False])
class TestFilteringSynthesizers:
    """They have a program fill in an object, whose template no model gets to see."""

    async def replied(self, palace, mode, functions, words, **script: Any) -> str:
        self.model = ScriptedLLM(functions=functions, **script)
        speaks = get_response_synthesizer(
            llm=PalaceLLM(self.model, palace),
            response_mode=mode,
            structured_answer_filtering=True,
        )
        said = str(await speaks.asynthesize(words, [BLURRING] * 2))
        assert str(speaks.synthesize(words, [BLURRING] * 2)) == said
        return said

    async def test_a_miss_calls_no_model(self, palace, mode, functions):
        with pytest.raises(RecallMiss, match="memory palace"):
            await self.replied(palace, mode, functions, MISS)
        assert self.model.calls == []

    async def test_what_asks_for_no_memory_is_answered_from_documents(
        self, palace, mode, functions
    ):
        filled = {"answer": LIE, "query_satisfied": True}
        said = {"answer": json.dumps(filled), "tool_arguments": filled}
        assert await self.replied(palace, mode, functions, PASS, **said) == LIE
        assert set(palace.decided) == {PASS}

    @pytest.mark.parametrize(("words", "text"), [(HIT, code_text("all")), (UNCLEAR, paint_text("all"))])  # fmt: skip
    async def test_evidence_is_that_of_the_question(self, palace, mode, functions, words, text):
        filled = {"answer": text, "query_satisfied": True}
        said = {"answer": json.dumps(filled), "tool_arguments": filled}
        assert await self.replied(palace, mode, functions, words, **said) == text
        others = {code_text("all"), paint_text("all")} - {text}
        assert not any(other in prompt for other in others for prompt in self.model.prompts)

    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    async def test_a_lie_is_refused(self, palace, mode, functions, words):
        filled = {"answer": LIE, "query_satisfied": True}
        with pytest.raises(UngroundedAnswerError):
            await self.replied(palace, mode, functions, words, answer=json.dumps(filled), tool_arguments=filled)  # fmt: skip


class Choice(BaseModel):
    """A choice."""

    documents: list[int]
    reason: str


@pytest.mark.parametrize("words", [HIT, UNCLEAR])
def test_an_object_that_the_host_reads_is_no_answer(palace, words):
    said = {"documents": [88], "reason": "It tells of gardens."}
    llm = PalaceLLM(ScriptedLLM(tool_arguments=said), palace)
    prompt = PromptTemplate("{query_str}", prompt_type=PromptType.CHOICE_SELECT)
    assert llm.structured_predict(Choice, prompt, query_str=words) == Choice(**said)


def test_a_question_rewritten_in_an_object_stays_under_the_ruling(palace):
    llm = PalaceLLM(ScriptedLLM(answer=LIE, tool_arguments={"text": PASS}), palace)
    prompt = PromptTemplate("{chat_history} Rephrase as standalone question: {question}")
    given = {"chat_history": "user: Hello.", "question": HIT}
    made = llm.structured_predict(Answer, prompt, **given)
    assert made.text == PASS
    assert code_text(None) in llm.complete(made.text).text
    with pytest.raises(RecallMiss, match="memory palace"):
        llm.structured_predict(Answer, prompt, **{**given, "question": MISS})


@pytest.mark.parametrize("functions", [True, False])
class TestObjectModels:
    """A model that replies with objects shows the finished prompt of a host alone."""

    def replied(self, palace, functions, words) -> str:
        self.model = ScriptedLLM(
            functions=functions, answer=json.dumps({"text": LIE}), tool_arguments={"text": LIE}
        )
        objects = PalaceLLM(self.model, palace).as_structured_llm(Answer)
        speaks = get_response_synthesizer(llm=objects, response_mode=ResponseMode.TREE_SUMMARIZE)
        return str(speaks.synthesize(words, [BLURRING] * 2))

    def test_what_asks_for_no_memory_is_answered_from_documents(self, palace, functions):
        assert LIE in self.replied(palace, functions, PASS)
        assert palace.decided == [PASS]

    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    def test_a_lie_is_refused(self, palace, functions, words):
        with pytest.raises(UngroundedAnswerError):
            self.replied(palace, functions, words)
        assert set(palace.decided) == {words}

    def test_a_miss_calls_no_model(self, palace, functions):
        with pytest.raises(RecallMiss, match="memory palace"):
            self.replied(palace, functions, MISS)
        assert self.model.calls == []
