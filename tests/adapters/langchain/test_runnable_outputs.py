"""A chain that returns more than its answer: its input, documents, a whole conversation."""

from __future__ import annotations

import pytest
from langchain_core.agents import AgentActionMessageLog
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, FunctionMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_palace import PalaceRunnable

from palace import RecallMiss, UngroundedAnswerError
from tests.adapters.langchain.doubles import (
    CHAT,
    HIT,
    HIT_TEXT,
    IDENTITY,
    LIARS,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    honest,
    ignoring,
    out_of,
)

FOUND = "The build took 321 seconds."
DOCUMENTS = [Document("Gardens are green, and 17 of them are ours.")]
EARLIER = [HumanMessage("How many gardens?"), AIMessage("There are 17 gardens in all.")]


def rag(model):
    """Return a chain as `create_retrieval_chain` builds it: everything it had, and the answer."""
    answer = ChatPromptTemplate.from_template("{context}\n\n{input}") | model | StrOutputParser()
    return RunnablePassthrough.assign(context=lambda _: DOCUMENTS).assign(answer=answer)


def conversation(model):
    """Return a chain that takes and returns messages, as graphs do."""

    def run(state):
        return {"messages": [*state["messages"], model.invoke(state["messages"])]}

    return RunnableLambda(run)


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream", "astream"])
class TestEchoes:
    """Whoever asked gets the own words back, and only what the model said is checked."""

    @pytest.mark.parametrize("words", [HIT, UNCLEAR])
    async def test_an_answer_beside_its_input_is_released(self, palace, how, words):
        model = CountingModel(persona=honest)
        given = {"input": words, "chat_history": EARLIER}
        told = await out_of(PalaceRunnable(bound=rag(model), palace=palace), how, given)
        answer = HIT_TEXT if words == HIT else UNCLEAR_TEXT
        assert told == {**given, "context": DOCUMENTS, "answer": f"{answer} [1]"}

    async def test_an_invented_answer_is_not(self, palace, how):
        chain = PalaceRunnable(bound=rag(CountingModel(persona=ignoring)), palace=palace)
        with pytest.raises(UngroundedAnswerError, match="1 of 1 values"):
            await out_of(chain, how, {"input": HIT})

    @pytest.mark.parametrize("liar", LIARS)
    async def test_unclear_evidence_is_quoted_or_missed(self, palace, how, liar):
        chain = PalaceRunnable(bound=rag(CountingModel(persona=liar)), palace=palace)
        with pytest.raises((RecallMiss, UngroundedAnswerError)):
            await out_of(chain, how, {"input": UNCLEAR})

    async def test_a_miss_runs_nothing(self, palace, how):
        model = CountingModel(persona=honest)
        with pytest.raises(RecallMiss):
            await out_of(PalaceRunnable(bound=rag(model), palace=palace), how, {"input": MISS})
        assert model.calls == 0

    async def test_the_wake_up_is_not_told_to_the_caller(self, palace, how):
        palace.root.joinpath("identity.txt").write_text(IDENTITY, encoding="utf-8")
        model = CountingModel(persona=honest)
        chain = PalaceRunnable(bound=rag(model), palace=palace, session_id="s")
        told = await out_of(chain, how, {"input": PASS})
        assert IDENTITY in model.asked[0].text
        assert told == {"input": PASS, "context": DOCUMENTS, "answer": CHAT}


class TestConversations:
    """Messages of the model pass the gate; those of earlier turns and the person's stay."""

    def told(self, palace, persona, words, messages=()):
        chain = PalaceRunnable(bound=conversation(CountingModel(persona=persona)), palace=palace)
        return chain.invoke({"messages": [*messages, HumanMessage(words)]})["messages"]

    def test_the_answer_is_released(self, palace):
        told = self.told(palace, honest, HIT, EARLIER)
        assert [m.text for m in told] == [*(m.text for m in EARLIER), HIT, f"{HIT_TEXT} [1]"]
        assert told[-1].response_metadata["palace"]["action"] == "ground"

    @pytest.mark.parametrize("texts", [["Look:", HIT], [HIT]])
    def test_parts_of_a_message_come_back_as_they_were(self, palace, texts):
        image = {"type": "image", "url": "https://example.org/a.png"}
        said = HumanMessage([{"type": "text", "text": text} for text in texts] + [image])
        chain = PalaceRunnable(bound=conversation(CountingModel(persona=honest)), palace=palace)
        told = chain.invoke({"messages": [said]})["messages"]
        assert told[0].content == said.content
        assert told[1].text == f"{HIT_TEXT} [1]"

    def test_a_lie_is_replaced_by_the_memory(self, palace):
        told = self.told(palace, ignoring, HIT, EARLIER)
        assert [m.text for m in told[:3]] == [*(m.text for m in EARLIER), HIT]
        assert told[-1].text.startswith(HIT_TEXT)

    def test_the_newest_may_come_first(self, palace):
        chain = conversation(CountingModel(persona=ignoring)) | (lambda d: d["messages"][::-1])
        told = PalaceRunnable(bound=chain, palace=palace).invoke({"messages": [("user", HIT)]})
        assert not any(LIE in m.text for m in told)

    def test_a_lie_in_the_role_of_a_person_is_refused(self, palace):
        model = CountingModel(persona=ignoring)
        chain = conversation(model) | (
            lambda d: [d["messages"][0], HumanMessage(d["messages"][-1].text, name="researcher")]
        )
        with pytest.raises(UngroundedAnswerError):
            PalaceRunnable(bound=chain, palace=palace).invoke({"messages": [("user", HIT)]})

    @pytest.mark.parametrize(
        "found",
        [
            ToolMessage(FOUND, tool_call_id="c"),
            FunctionMessage(FOUND, name="builds"),
            HumanMessage([{"type": "tool_result", "tool_use_id": "c", "content": FOUND}]),
        ],
    )
    def test_results_of_tools_are_evidence(self, palace, found):
        def run(state):
            return {"messages": [*state["messages"], found, AIMessage("It took 321 seconds.")]}

        chain = PalaceRunnable(bound=RunnableLambda(run), palace=palace)
        told = chain.invoke({"messages": [("user", HIT)]})["messages"]
        assert told[1].content == found.content
        assert told[2].text == "It took 321 seconds."


def test_two_answers_to_the_quote_contract_prove_nothing(palace):
    model = CountingModel(persona=honest)
    chain = RunnableParallel(a=model | StrOutputParser(), b=model | StrOutputParser())
    with pytest.raises(RecallMiss):
        PalaceRunnable(bound=chain, palace=palace).invoke(UNCLEAR)


@pytest.mark.parametrize("words", [HIT, UNCLEAR])
def test_steps_of_an_agent_beside_its_answer_claim_nothing(palace, words):
    """As an `AgentExecutor` returns them that is asked for its intermediate steps."""
    model = CountingModel(persona=honest)

    def run(given):
        call = {"tool": "weather", "tool_input": {"city": "Oslo"}}
        step = AgentActionMessageLog(**call, log=LIE, message_log=[AIMessage(LIE)])
        answer = model.invoke(given["input"]).text
        return {**given, "output": answer, "intermediate_steps": [(step, "It rains in Oslo.")]}

    told = PalaceRunnable(bound=RunnableLambda(run), palace=palace).invoke({"input": words})

    assert told["output"] == f"{HIT_TEXT if words == HIT else UNCLEAR_TEXT} [1]"
    ((step, result),) = told["intermediate_steps"]
    assert (step.tool_input, result) == ({"city": "Oslo"}, "It rains in Oslo.")
    assert LIE not in str(told)
