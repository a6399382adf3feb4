"""Every wrapper takes an open palace, and says so at once when it gets anything else."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_palace import (
    ChatPalace,
    PalaceChatMessageHistory,
    PalaceRetriever,
    PalaceRunnable,
    compress_history,
    palace_tools,
)
from pydantic import ValidationError

from palace import ConfigError, Mempalace
from tests.adapters.langchain.doubles import (
    FALLBACK,
    HIT,
    HIT_TEXT,
    LIARS,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    CountingModel,
    honest,
)

NOT_OPEN = ["notes/palace", Path("notes/palace"), None, Mempalace]


def middleware(palace):
    pytest.importorskip("langchain")
    from langchain_palace import PalaceMiddleware

    return PalaceMiddleware(palace)


def compression(palace):
    pytest.importorskip("langchain")
    from langchain_palace import PalaceCompression

    return PalaceCompression(palace)


WRAPPERS = {
    "chat": lambda p: ChatPalace(inner=CountingModel(persona=honest), palace=p),
    "runnable": lambda p: PalaceRunnable(bound=RunnableLambda(str), palace=p),
    "retriever": lambda p: PalaceRetriever(palace=p),
    "middleware": middleware,
    "compression": compression,
    "history": lambda p: PalaceChatMessageHistory(p, "s"),
    "compress": lambda p: compress_history(p, [], "s"),
    "tools": palace_tools,
}


@pytest.mark.parametrize("wrong", NOT_OPEN, ids=["path", "Path", "None", "class"])
@pytest.mark.parametrize("name", WRAPPERS)
def test_what_is_no_open_palace_is_refused_at_once(name, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigError, match=r"no open palace.*Mempalace\.open"):
        WRAPPERS[name](wrong)

    assert list(tmp_path.iterdir()) == []  # nothing was made at a mistyped path


@pytest.mark.parametrize("name", WRAPPERS)
def test_an_open_palace_is_taken(name, palace):
    WRAPPERS[name](palace)


@pytest.mark.parametrize("inner", ["gpt", None, RunnableLambda(str)])
def test_what_is_no_chat_model_is_refused(palace, inner):
    with pytest.raises(ConfigError, match=r"is not a chat model.*PalaceRunnable"):
        ChatPalace(inner=inner, palace=palace)


@pytest.mark.parametrize(
    ("wrapper", "wrong"), [("chat", "session"), ("runnable", "inputkey"), ("retriever", "top_k")]
)
def test_an_argument_that_does_not_exist_is_refused(palace, wrapper, wrong):
    made = WRAPPERS[wrapper](palace)
    given = {
        name: getattr(made, name) for name in ("inner", "bound", "palace") if hasattr(made, name)
    }
    with pytest.raises(ConfigError, match=rf"no argument '{wrong}' \(it takes .*session_id"):
        type(made)(**given, **{wrong: "x"})


@pytest.mark.parametrize("k", [0, -1])
async def test_less_than_one_document_is_refused(palace, k):
    retriever = PalaceRetriever(palace=palace)
    with pytest.raises(ConfigError, match="at least one"):
        retriever.invoke(MISS, k=k)
    with pytest.raises(ConfigError, match="at least one"):
        await retriever.ainvoke(MISS, k=k)


@pytest.mark.parametrize("bound", [None, "provider:model"])
def test_what_is_no_chain_is_refused(palace, bound):
    with pytest.raises(ConfigError, match=r"is no chain.*runnable"):
        PalaceRunnable(bound=bound, palace=palace)


def test_a_function_is_a_chain(palace):
    assert PalaceRunnable(bound=lambda text: text.upper(), palace=palace).invoke("hi") == "HI"


COPIED = {
    "chat": lambda p: ChatPalace(inner=FakeListChatModel(responses=["x"]), palace=p),
    "bound": lambda p: ChatPalace(inner=FakeListChatModel(responses=["x"]), palace=p).bind(stop=[]),
    **{name: WRAPPERS[name] for name in ("runnable", "retriever", "middleware", "history")},
}


@pytest.mark.parametrize("name", COPIED)
def test_a_deep_copy_shares_the_open_palace(name, palace):
    wrapper = COPIED[name](palace)

    copied = copy.deepcopy(wrapper)

    assert type(copied) is type(wrapper)
    assert palace_in(copied) is palace


def test_a_deep_copy_decides_as_the_original_does(palace):
    chat = ChatPalace(inner=FakeListChatModel(responses=["It was Mimi."]), palace=palace)
    for copied in (copy.deepcopy(chat), chat.model_copy(deep=True)):
        assert copied.invoke(MISS).text == FALLBACK
        assert copied.invoke(PASS).text == "It was Mimi."


def given_another(wrapper, palace):
    wrapper.palace = palace
    return wrapper


@pytest.mark.parametrize("name", ["chat", "runnable"])
@pytest.mark.parametrize(
    "other", [lambda wrapper, p: wrapper.model_copy(update={"palace": p}), given_another]
)
def test_a_wrapper_that_is_given_another_palace_asks_that_one(name, other, palace, other_palace):
    model = CountingModel(persona=honest)
    wrapper = {
        "chat": lambda: ChatPalace(inner=model, palace=palace),
        "runnable": lambda: PalaceRunnable(bound=model, palace=palace),
    }[name]()
    assert HIT_TEXT in wrapper.invoke(HIT).text

    asked = model.calls
    assert other(wrapper, other_palace).invoke(HIT).text == FALLBACK
    assert model.calls == asked


def test_the_palace_of_a_middleware_stays(palace, other_palace):
    made = middleware(palace)

    with pytest.raises(AttributeError):
        made.palace = other_palace


def test_a_cache_is_refused(palace):
    model = CountingModel(persona=honest)

    with pytest.raises(ConfigError, match="one session with the memories of another"):
        ChatPalace(inner=model, palace=palace, cache=InMemoryCache())
    assert ChatPalace(inner=model, palace=palace, cache=None).cache is False


@pytest.mark.parametrize("name", COPIED)
def test_pickling_says_what_to_do_instead(name, palace):
    with pytest.raises(ConfigError, match=r"cannot be pickled.*Mempalace\.open"):
        pickle.dumps(COPIED[name](palace))


def test_pickling_says_so_before_it_meets_what_a_model_holds(palace):
    model = CountingModel(persona=honest)  # with a lock, as those of providers have
    chat = ChatPalace(inner=model, palace=palace)
    schema = {"title": "Said", "description": "What is said.", "type": "object", "properties": {}}
    wrappers = [
        chat,
        chat.bind_tools([schema]),
        chat.with_structured_output(schema),
        PalaceRunnable(bound=lambda asked: asked, palace=palace),
    ]
    for wrapper in wrappers:
        with pytest.raises(ConfigError, match=r"cannot be pickled.*Mempalace\.open"):
            pickle.dumps(wrapper)
        assert type(copy.copy(wrapper)) is type(wrapper)


def palace_in(wrapper):
    places = (wrapper, getattr(wrapper, "bound", None))
    return next(p.palace for p in places if hasattr(p, "palace"))


@pytest.mark.parametrize("wrapper", [ChatPalace, PalaceRunnable, PalaceRetriever])
@pytest.mark.parametrize("value", [5, "palace", None])
def test_what_holds_no_arguments_is_refused_as_pydantic_does(wrapper, value):
    with pytest.raises(ValidationError):
        wrapper.model_validate(value)


def with_history(model):
    histories = {}
    return RunnableWithMessageHistory(
        model, lambda session_id: histories.setdefault(session_id, InMemoryChatMessageHistory())
    )


def with_checkpointer(model):
    graph = pytest.importorskip("langgraph.graph")
    saver = pytest.importorskip("langgraph.checkpoint.memory").InMemorySaver()
    built = graph.StateGraph(graph.MessagesState)
    built.add_node("node", lambda state: {"messages": [model.invoke(state["messages"])]})
    return built.add_edge(graph.START, "node").compile(checkpointer=saver)


def with_memory(model):
    chains = pytest.importorskip("langchain_classic.chains")
    memory = pytest.importorskip("langchain_classic.memory")
    return chains.ConversationChain(llm=model, memory=memory.ConversationBufferMemory())


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize("kept", [with_history, with_checkpointer, with_memory])
@pytest.mark.parametrize(
    "around",
    [
        lambda chain: chain,
        lambda chain: chain.with_retry(),
        lambda chain: RunnableLambda(str).pipe(chain),
        lambda chain: RunnableLambda(str).with_fallbacks([chain]),
    ],
)
def test_a_chain_that_keeps_what_nobody_has_checked_is_refused(palace, kept, around):
    chain = around(kept(CountingModel(persona=honest)))

    with pytest.raises(ConfigError, match=r"keeps the conversation.*around the PalaceRunnable"):
        PalaceRunnable(bound=chain, palace=palace)


@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_a_history_around_a_chain_keeps_what_was_said_and_released(palace):
    model = CountingModel(persona=LIARS[3])
    chain = with_history(PalaceRunnable(bound=model, palace=palace))
    mine = {"configurable": {"session_id": "a"}}

    for prompt in (UNCLEAR, HIT, MISS):
        chain.invoke([HumanMessage(prompt)], mine)

    kept = chain.get_session_history("a").messages
    assert [m.text for m in kept if m.type == "human"] == [UNCLEAR, HIT, MISS]
    assert not any(LIE in m.text for m in kept)
