"""`PalaceRunnable`: any chain, in any shape."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import (
    JsonOutputParser,
    PydanticOutputParser,
    StrOutputParser,
)
from langchain_core.prompt_values import StringPromptValue
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda
from langchain_palace import ChatPalace, PalaceRunnable

from palace import ConfigError, ModelError, RecallMiss, UngroundedAnswerError
from tests.adapters.langchain.doubles import (
    CHAT,
    FALLBACK,
    HIT,
    HIT_TEXT,
    LIARS,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    Recorder,
    Shipped,
    honest,
    lying_after_a_true_quote,
    out_of,
    session,
)

WAYS = ["invoke", "ainvoke", "batch", "abatch", "stream", "astream"]
ASKED = "What was our door code for the archive?"


def chain_of(model, *parts):
    prompt = ChatPromptTemplate.from_messages([("system", "Be brief."), ("human", "{question}")])
    chain = prompt | model
    for part in parts:
        chain = chain | part
    return chain


@pytest.mark.parametrize("way", WAYS)
async def test_a_chain_does_not_run_on_a_miss(palace, way):
    model = CountingModel(persona=honest)
    chain = PalaceRunnable(bound=chain_of(model, StrOutputParser()), palace=palace)

    assert await out_of(chain, way, {"question": MISS}) == FALLBACK
    assert model.calls == 0


@pytest.mark.parametrize("way", WAYS)
async def test_a_chain_runs_with_the_evidence(palace, way):
    model = CountingModel(persona=honest)
    chain = PalaceRunnable(bound=chain_of(model, StrOutputParser()), palace=palace)

    assert await out_of(chain, way, {"question": HIT}) == f"{HIT_TEXT} [1]"
    assert await out_of(chain, way, {"question": UNCLEAR}) == f"{UNCLEAR_TEXT} [1]"
    assert await out_of(chain, way, {"question": PASS}) == CHAT
    assert [a.messages[0].content for a in model.asked] == ["Be brief."] * 4
    assert model.asked[-1].text == PASS


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("liar", LIARS, ids=lambda p: p.__name__)
async def test_a_liar_gets_nothing_out(palace, way, liar):
    for parser in ([StrOutputParser()], []):
        bound = chain_of(CountingModel(persona=liar), *parser)
        chain = PalaceRunnable(bound=bound, palace=palace)
        for prompt in (UNCLEAR, HIT):
            out = await out_of(chain, way, {"question": prompt})
            text = out if isinstance(out, str) else str(out.text)
            assert "80085" not in text
            assert text.startswith((FALLBACK, UNCLEAR_TEXT, HIT_TEXT))


@pytest.mark.parametrize("way", WAYS)
async def test_messages_come_back_as_messages_with_the_verdict(palace, way):
    model = CountingModel(persona=honest)
    chain = PalaceRunnable(bound=chain_of(model), palace=palace)

    for prompt, action in ((HIT, "ground"), (MISS, "fallback"), (PASS, "pass")):
        out = await out_of(chain, way, {"question": prompt})
        assert out.response_metadata["palace"]["action"] == action


@pytest.mark.parametrize(
    ("value", "more"),
    [
        (MISS, {}),
        (HumanMessage(MISS), {}),
        ([HumanMessage(MISS)], {}),
        ([("user", MISS)], {}),
        ({"input": MISS}, {}),
        ({"query": MISS, "k": 3}, {}),
        ({"messages": [HumanMessage(MISS)]}, {}),
        ({"text": MISS}, {"input_key": "text"}),
        (f"Answer from the context.\n\nSnow is ice.\n\nQuestion: {MISS}", {}),
        (ChatPromptTemplate.from_messages([("human", "{q}")]).invoke({"q": MISS}), {}),
    ],
)
def test_questions_are_found_in_every_shape(palace, value, more):
    seen = []
    bound = RunnableLambda(lambda given: seen.append(given) or "out")

    assert PalaceRunnable(bound=bound, palace=palace, **more).invoke(value) == FALLBACK
    assert seen == []


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_asked_before_another_message_counts(palace, way):
    model = CountingModel(persona=LIARS[3])
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("input")])

    for asked, calls in ((MISS, 0), (HIT, 1), (UNCLEAR, 1)):
        said = [HumanMessage(asked), HumanMessage("Please.")]
        for bound, value in ((model, said), (prompt | model, {"input": said})):
            before = model.calls
            out = await out_of(PalaceRunnable(bound=bound, palace=palace), way, value)
            assert out.text.startswith((FALLBACK, HIT_TEXT))
            assert model.calls == before + calls


@pytest.mark.parametrize("way", WAYS)
async def test_so_does_what_is_asked_at_the_end_of_a_history(palace, way):
    model = CountingModel(persona=LIARS[3])
    prompt = ChatPromptTemplate.from_messages(
        [MessagesPlaceholder("chat_history"), ("human", "{input}")]
    )
    chain = PalaceRunnable(bound=prompt | model, palace=palace)

    for asked, calls in ((MISS, 0), (HIT, 1), (UNCLEAR, 1)):
        before = model.calls
        given = {"chat_history": [("ai", "Hello."), ("human", asked)], "input": "Please."}
        out = await out_of(chain, way, given)
        assert out.text.startswith((FALLBACK, HIT_TEXT))
        assert model.calls == before + calls
        if asked == HIT:
            assert HIT_TEXT in model.asked[-1].everything

    answered = {"chat_history": [("human", MISS), ("ai", FALLBACK)], "input": PASS}
    assert (await out_of(chain, way, answered)).response_metadata["palace"]["action"] == "pass"


@pytest.mark.parametrize("way", WAYS)
async def test_a_chain_with_a_wrapped_model_confirms_once(palace, way):
    model = CountingModel(persona=honest)
    chain = PalaceRunnable(bound=ChatPalace(inner=model, palace=palace), palace=palace)

    for prompt, calls in ((MISS, 0), (HIT, 1), (UNCLEAR, 2), (PASS, 1)):
        before = model.calls
        await out_of(chain, way, prompt)
        assert model.calls == before + calls


def test_the_shape_of_the_input_is_kept(palace):
    seen = []
    bound = RunnableLambda(lambda given: seen.append(given) or HIT_TEXT)
    chain = PalaceRunnable(bound=bound, palace=palace)

    chain.invoke({"query": HIT, "k": 3})
    chain.invoke([AIMessage("Hi."), HumanMessage(HIT, id="h")])
    chain.invoke(ChatPromptTemplate.from_messages([("human", "{q}")]).invoke({"q": HIT}))

    assert seen[0]["k"] == 3
    assert HIT_TEXT in seen[0]["query"]
    assert (seen[1][1].id, HIT_TEXT in seen[1][1].content) == ("h", True)
    assert HIT_TEXT in seen[2].to_messages()[0].content


def test_an_input_that_asks_nothing_comes_as_it_is(palace):
    seen = []
    bound = RunnableLambda(lambda given: seen.append(given) or "Rain.")
    chain = PalaceRunnable(bound=bound, palace=palace)
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    parts = [{"type": "text", "text": PASS}, image, {"type": "text", "text": "Please."}]
    inputs = [
        [HumanMessage([image])],
        {"messages": [HumanMessage(parts)], "k": 3},
        [("user", PASS)],
        StringPromptValue(text=PASS),
    ]

    for value in inputs:
        chain.invoke(value)

    assert seen == inputs
    chain.invoke(StringPromptValue(text=HIT))  # for a model that is no chat model
    assert isinstance(seen[-1], StringPromptValue)
    assert HIT_TEXT in seen[-1].text


@pytest.mark.parametrize("value", [{"k": 3}, {}, 3, [AIMessage("Hi.")], {"messages": 5}])
def test_an_input_without_a_question_is_told(palace, value):
    chain = PalaceRunnable(bound=RunnableLambda(lambda x: "out"), palace=palace)

    with pytest.raises(ConfigError, match="input_key"):
        chain.invoke(value)


def test_history_makes_a_follow_up_understood(palace):
    prompt = ChatPromptTemplate.from_messages(
        [MessagesPlaceholder("chat_history"), ("human", "{question}")]
    )
    model = CountingModel(persona=honest)
    chain = PalaceRunnable(bound=prompt | model | StrOutputParser(), palace=palace)

    past = [HumanMessage(HIT), AIMessage(HIT_TEXT)]
    chain.invoke({"question": "And when was that?", "chat_history": past})

    [record] = palace.verdicts(limit=1)
    assert record["evidence"][0]["text"] == HIT_TEXT


async def test_sessions_stay_apart(palace):
    palace.remember("The door code of the archive is 1111.", session_id="a")
    palace.remember("The door code of the archive is 2222.", session_id="b")
    model = CountingModel(persona=honest)
    chain = PalaceRunnable(bound=chain_of(model, StrOutputParser()), palace=palace)

    for way in WAYS:
        assert "1111" in await out_of(chain, way, {"question": ASKED}, session("a"))
        assert "2222" not in model.asked[-1].everything
        assert "2222" in await out_of(chain, way, {"question": ASKED}, session("b"))
        assert "1111" not in model.asked[-1].everything
    assert "session_id" in {spec.id for spec in chain.config_specs}


def test_objects_are_checked_and_missed_by_type(palace):
    def given(text):
        model = CountingModel(persona=lambda a: honest(a) if a.is_pointing else text)
        return PalaceRunnable(bound=chain_of(model, JsonOutputParser()), palace=palace)

    true = given('{"date": "2026-03-02"}')
    assert true.invoke({"question": HIT}) == {"date": "2026-03-02"}
    assert list(true.stream({"question": HIT})) == [{"date": "2026-03-02"}]
    with pytest.raises(UngroundedAnswerError):
        given('{"date": "2026-04-09"}').invoke({"question": HIT})
    with pytest.raises(RecallMiss):  # whoever reads an object cannot read a text
        true.invoke({"question": MISS})
    bound = chain_of(CountingModel(persona=honest), PydanticOutputParser(pydantic_object=Shipped))
    with pytest.raises(RecallMiss):
        PalaceRunnable(bound=bound, palace=palace).invoke({"question": MISS})
    softly = PalaceRunnable(bound=bound, palace=palace, on_miss=lambda text: {"missed": text})
    assert softly.invoke({"question": MISS}) == {"missed": FALLBACK}


def test_a_chain_that_proves_nothing_is_a_miss(palace):
    bound = RunnableLambda(lambda given: {"any": "thing"})

    out = PalaceRunnable(bound=bound, palace=palace).invoke(UNCLEAR)

    assert out.startswith(FALLBACK)


@pytest.mark.parametrize(("quote", "proves"), [(UNCLEAR_TEXT, True), (LIE, False)])
def test_a_quote_may_be_read_out_of_json_by_the_chain(palace, quote, proves):
    def persona(asked):
        pointed = {"memory": 1, "quote": quote, "answer": quote}
        return json.dumps(pointed if asked.is_pointing else {"text": asked.items[0]})

    model = CountingModel(persona=persona)
    chain = PalaceRunnable(bound=chain_of(model, JsonOutputParser()), palace=palace)

    with nullcontext() if proves else pytest.raises(RecallMiss):
        assert chain.invoke({"question": UNCLEAR}) == {"text": UNCLEAR_TEXT}
    assert model.calls == (2 if proves else 1)


def test_what_a_parser_cannot_read_proves_nothing_and_is_not_repeated(palace):
    bound = chain_of(CountingModel(persona=LIARS[3]), JsonOutputParser())
    chain = PalaceRunnable(bound=bound, palace=palace)

    for run in (chain.invoke, lambda value: list(chain.stream(value))):
        with pytest.raises(RecallMiss, match=FALLBACK):
            run({"question": UNCLEAR})
        with pytest.raises(ModelError) as caught:
            run({"question": HIT})
        assert "80085" not in str(caught.value)


@pytest.mark.parametrize("way", WAYS)
async def test_a_host_that_cannot_read_a_quote_proves_nothing(palace, way):
    def read(message):
        if "Final Answer:" not in message.text:
            raise ValueError(message.text)
        return message.text.rpartition("Final Answer:")[2].strip()

    def persona(asked):
        return honest(asked) if asked.is_pointing else f"Final Answer: {asked.items[0]}"

    bound = chain_of(CountingModel(persona=persona), RunnableLambda(read) | StrOutputParser())
    chain = PalaceRunnable(bound=bound, palace=palace)

    assert HIT_TEXT in await out_of(chain, way, {"question": HIT})
    assert (await out_of(chain, way, {"question": UNCLEAR})).startswith(FALLBACK)


def test_a_fault_of_the_program_is_told_where_a_quote_is_wanted(palace, caplog):
    def faulty(message):
        return str(int(message.text)) if "QUOTE" in message.text else message.text

    model = CountingModel(persona=honest)
    chain = PalaceRunnable(bound=chain_of(model, RunnableLambda(faulty)), palace=palace)
    parsing = PalaceRunnable(bound=chain_of(model, JsonOutputParser()), palace=palace)

    with pytest.raises(RecallMiss):
        parsing.invoke({"question": UNCLEAR})
    assert caplog.text == ""
    assert chain.invoke({"question": UNCLEAR}).startswith(FALLBACK)
    assert "ValueError" in caplog.text
    assert "test_runnable.py" in caplog.text
    assert UNCLEAR_TEXT not in caplog.text  # an error may repeat what nobody has checked


@pytest.mark.parametrize("streams", [True, False])
def test_a_graph_does_not_stream_what_is_not_checked(palace, streams):
    graph = pytest.importorskip("langgraph.graph")
    bound = chain_of(CountingModel(persona=lying_after_a_true_quote), StrOutputParser())
    chain = PalaceRunnable(bound=bound, palace=palace)

    def node(state):
        value = {"question": state["messages"][-1].text}
        said = "".join(chain.stream(value)) if streams else chain.invoke(value)
        return {"messages": [AIMessage(said)]}

    built = graph.StateGraph(graph.MessagesState).add_node("node", node)
    app = built.add_edge(graph.START, "node").compile()
    for prompt, seen in ((HIT, HIT_TEXT), (UNCLEAR, FALLBACK), (PASS, LIE)):
        asked = {"messages": [HumanMessage(prompt)]}
        pieces = list(app.stream(asked, stream_mode="messages"))
        told = "".join(m.text for m, _ in pieces)
        assert told.startswith((seen, UNCLEAR_TEXT))
        assert ("80085" in told) is (prompt == PASS)


@pytest.mark.parametrize("prompt", [PASS, HIT])
@pytest.mark.parametrize(
    "asked_for",
    [
        {"stream_mode": "messages"},
        {"stream_mode": "updates"},
        {"stream_mode": ["messages", "values"]},
        {"stream_mode": "values", "subgraphs": True},
        {"stream_mode": "values", "version": "v2"},
    ],
)
async def test_pieces_of_a_graph_are_refused_whatever_is_asked(palace, prompt, asked_for):
    graph = pytest.importorskip("langgraph.graph")
    model = CountingModel(persona=honest)
    built = graph.StateGraph(graph.MessagesState)
    built.add_node("node", lambda state: {"messages": [model.invoke(state["messages"])]})
    app = built.add_edge(graph.START, "node").compile()
    chain, asked = PalaceRunnable(bound=app, palace=palace), {"messages": [HumanMessage(prompt)]}

    with pytest.raises(ConfigError, match="PalaceMiddleware"):
        list(chain.stream(asked, **asked_for))
    with pytest.raises(ConfigError, match="PalaceMiddleware"):
        _ = [piece async for piece in chain.astream(asked, **asked_for)]
    with pytest.raises(ConfigError, match="PalaceMiddleware"):
        chain.invoke(asked, **asked_for)
    with pytest.raises(ConfigError, match="PalaceMiddleware"):
        await chain.ainvoke(asked, **asked_for)
    assert model.calls == 0
    *_, state = chain.stream(asked, stream_mode="values")
    assert state["messages"][-1].text == chain.invoke(asked)["messages"][-1].text


def test_it_is_traced_as_a_chain_with_its_retrieval(palace):
    recorder = Recorder()
    bound = chain_of(CountingModel(persona=honest), StrOutputParser())
    chain = PalaceRunnable(bound=bound, palace=palace)

    chain.invoke({"question": HIT}, {"callbacks": [recorder.handler()]})

    assert recorder.events == ["retriever_start", "retriever_end:1", "model_start", "model_end"]


def test_it_pipes(palace):
    model = CountingModel(persona=honest)
    chain = PalaceRunnable(bound=chain_of(model, StrOutputParser()), palace=palace)

    loud = chain | RunnableLambda(str.upper)

    assert loud.invoke({"question": MISS}) == FALLBACK.upper()
    assert "".join(chain.transform(iter([{"question": HIT}]))) == f"{HIT_TEXT} [1]"
