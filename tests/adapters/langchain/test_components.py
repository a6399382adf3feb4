"""Retriever, message history and tools; and what importing them costs."""

from __future__ import annotations

import subprocess
import sys
import warnings
from uuid import UUID

import langchain_palace
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_palace import (
    ChatPalace,
    PalaceChatMessageHistory,
    PalaceRetriever,
    palace_tools,
)

from palace import ConfigError, RetrievalEnforcer, StoreUnavailableError
from tests.adapters.langchain.doubles import (
    FALLBACK,
    HIT,
    HIT_TEXT,
    MISS,
    PASS,
    CountingModel,
    Recorder,
    honest,
    session,
)

# -- retriever ---------------------------------------------------------------------------------


async def test_documents_are_judged_evidence_with_its_source(palace):
    retriever = PalaceRetriever(palace=palace)

    [document] = retriever.invoke(HIT)

    assert document.page_content == HIT_TEXT
    assert document.metadata["source"].startswith("rooms/releases/log.md:")
    assert document.metadata["band"] == "sufficient"
    assert palace.get(document.id).text == HIT_TEXT
    assert await retriever.ainvoke(HIT) == [document]
    assert retriever.invoke(MISS) == []


async def test_the_retriever_stays_in_its_session(palace):
    palace.remember("The door code of the archive is 1111.", session_id="a")
    palace.note("The tunnel of the archive is number 3333.", session_id="a")
    retriever = PalaceRetriever(palace=palace, k=9)

    for query, secret in (("door code of the archive", "1111"), ("tunnel of the archive", "3333")):
        assert secret in f"{retriever.invoke(query, session('a'))}"
        assert secret in f"{await retriever.ainvoke(query, session('a'))}"
        assert secret not in f"{retriever.invoke(query, session('b'))}"
        assert secret not in f"{retriever.invoke(query)}"
        fixed = PalaceRetriever(palace=palace, session_id="a")
        assert secret in f"{(RunnableLambda(lambda q: q) | fixed).invoke(query)}"


@pytest.mark.parametrize("query", [None, 3, b"when", {"query": HIT}, [HIT]])
async def test_a_query_that_is_no_text_is_refused(palace, query):
    retriever = PalaceRetriever(palace=palace)

    with pytest.raises(ConfigError, match="the query must be text, not") as refused:
        retriever.invoke(query)
    with pytest.raises(ConfigError, match="the query must be text, not"):
        await retriever.ainvoke(query)
    assert refused.value.hint
    with pytest.raises(ConfigError, match="k is '3'"):
        retriever.invoke(HIT, k="3")


def test_what_may_not_answer_can_be_left_out(palace):
    both = PalaceRetriever(palace=palace, k=9)
    sure = PalaceRetriever(palace=palace, k=9, sufficient_only=True)

    query = "Which theme does Bob like for the dashboard?"
    bands = {d.metadata["band"] for d in both.invoke(query)}
    assert bands <= {"sufficient", "unclear"}
    assert all(d.metadata["band"] == "sufficient" for d in sure.invoke(query))


def test_a_store_that_cannot_be_read_is_an_error_and_no_empty_list(palace, monkeypatch):
    from palace import LayerReport

    broken = (LayerReport("L1", "unavailable", reason="the disk is gone"),)
    monkeypatch.setattr(
        "langchain_palace.retriever.search_evidence", lambda *args, **kwargs: broken
    )

    with pytest.raises(StoreUnavailableError, match="the disk is gone"):
        PalaceRetriever(palace=palace).invoke(HIT)


def test_retrieval_is_told_to_callbacks(palace):
    recorder = Recorder()

    PalaceRetriever(palace=palace).invoke(HIT, {"callbacks": [recorder.handler()]})

    assert recorder.events == ["retriever_start", "retriever_end:1"]


# -- message history ---------------------------------------------------------------------------


def test_messages_come_back_whole_and_in_order(palace):
    history = PalaceChatMessageHistory(palace, "a")
    call = {"name": "weather", "args": {"city": "Rome"}, "id": "1", "type": "tool_call"}
    image = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "x"}}]
    said = [
        HumanMessage("Yes."),
        AIMessage("", tool_calls=[call]),
        HumanMessage("Yes."),
        HumanMessage(image),
    ]

    history.add_messages(said)
    PalaceChatMessageHistory(palace, "b").add_messages([HumanMessage("Else.")])

    again = PalaceChatMessageHistory(palace, "a").messages
    assert [m.content for m in again] == [m.content for m in said]
    assert again[1].tool_calls == [call]


def test_cleared_messages_stay_away_and_new_ones_come(palace):
    history = PalaceChatMessageHistory(palace, "a")
    history.add_user_message("One.")
    history.clear()
    assert history.messages == []
    history.add_ai_message("Two.")
    assert [m.content for m in history.messages] == ["Two."]


def test_no_question_is_answered_from_what_was_asked_before(palace):
    history = PalaceChatMessageHistory(palace, "a")
    history.add_messages([HumanMessage(MISS), AIMessage(FALLBACK)])
    palace.refresh()

    assert RetrievalEnforcer(palace).decide(MISS, session_id="a").action == "fallback"


def test_secrets_are_not_kept(palace):
    history = PalaceChatMessageHistory(palace, "a")
    history.add_user_message("The password is hunter2-Zx9!kLm34")

    written = "".join(p.read_text("utf-8") for p in (palace.root / "journal").iterdir())
    assert "hunter2" not in written
    assert "hunter2" not in f"{history.messages}"


def test_a_session_may_be_named_by_any_id(palace):
    session = UUID(int=7)
    PalaceChatMessageHistory(palace, session).add_user_message(PASS)

    assert [m.text for m in PalaceChatMessageHistory(palace, str(session)).messages] == [PASS]


@pytest.mark.parametrize("name", ["user-7", "a b", 'say "hi"', "C:\\mine", "tab\t", "Zoë", "客户"])
def test_a_session_may_have_any_name(palace, name):
    history = PalaceChatMessageHistory(palace, name)
    PalaceChatMessageHistory(palace, f"{name} else").add_user_message(MISS)

    history.add_user_message(PASS)
    assert [m.text for m in history.messages] == [PASS]
    history.clear()
    assert history.messages == []


def test_a_session_needs_a_name(palace):
    for name in (" ", "", None):
        with pytest.raises(ConfigError):
            PalaceChatMessageHistory(palace, name)


def test_it_serves_a_conversation_with_the_wrapped_model(palace):
    model = CountingModel(persona=honest)
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{q}")])
    with warnings.catch_warnings():
        # still the only host of message histories, though newer versions prefer checkpointers
        warnings.simplefilter("ignore", DeprecationWarning)
        chain = RunnableWithMessageHistory(
            prompt | ChatPalace(inner=model, palace=palace) | StrOutputParser(),
            lambda session_id: PalaceChatMessageHistory(palace, session_id),
            input_messages_key="q",
            history_messages_key="history",
        )

    assert HIT_TEXT in chain.invoke({"q": HIT}, session("a"))
    chain.invoke({"q": PASS}, session("a"))

    said = [m.content for m in model.asked[-1].messages]
    assert said[0] == HIT
    assert HIT_TEXT in said[1]
    assert [m.content for m in PalaceChatMessageHistory(palace, "b").messages] == []


# -- tools -------------------------------------------------------------------------------------


def tools_of(palace, *args, **kwargs):
    return {
        tool.name.removeprefix("palace_"): tool for tool in palace_tools(palace, *args, **kwargs)
    }


async def test_the_tools_work_in_the_session_of_their_call(palace):
    tools = tools_of(palace)

    noted = tools["note"].invoke({"text": "The tunnel uses port 5432."}, session("a"))
    assert noted["status"] == "noted"
    await tools["note"].ainvoke({"text": "The bridge uses port 99."}, session("b"))

    assert [n.text for n in palace.notes("a")] == ["The tunnel uses port 5432."]
    assert [n.text for n in palace.notes("b")] == ["The bridge uses port 99."]
    assert tools["note"].invoke({"text": "x"})["status"] == "invalid"
    assert tools_of(palace, "c")["note"].invoke({"text": "x"})["status"] == "noted"


async def test_the_tools_work_in_the_project_of_their_call(palace):
    tools = tools_of(palace, project="site")
    shop = {"configurable": {"project": "shop"}}
    told = {"text": "The tunnel of the archive uses port 3333.", "visible_to": "project"}
    asked = {"query": "tunnel of the archive"}

    stored = tools["remember"].invoke(told, shop)
    assert palace.get(stored["memory"]["id"]).scope == "project:shop"
    assert "3333" in f"{tools['search'].invoke(asked, shop)}"
    assert "3333" in f"{await tools['search'].ainvoke(asked, shop)}"
    assert "3333" not in f"{tools['search'].invoke(asked)}"


def test_a_model_cannot_name_the_session_and_cannot_see_one(palace):
    tools = tools_of(palace, session_id="a")

    for tool in tools.values():
        assert not {"session_id", "config", "project"} & set(tool.args)
    with pytest.raises(ValueError, match="session_id"):
        tools["note"].invoke({"text": "x", "session_id": "b"})
    assert palace.notes("b") == []


def test_the_tools_describe_themselves_to_models(palace):
    model = CountingModel(persona=honest)
    chat = ChatPalace(inner=model, palace=palace).bind_tools(palace_tools(palace))

    chat.invoke(PASS)

    assert len(model.asked[0].tools) == 8
    schema = tools_of(palace)["remember"].tool_call_schema.model_json_schema()
    assert "fact" in f"{schema['properties']['kind']}"
    assert schema["required"] == ["text"]


# -- imports -----------------------------------------------------------------------------------


def test_public_names_are_there():
    assert set(langchain_palace.__all__) <= set(dir(langchain_palace))
    for name in langchain_palace.__all__:
        if name != "PalaceMiddleware":
            assert getattr(langchain_palace, name).__doc__
    with pytest.raises(AttributeError):
        _ = langchain_palace.Nothing


def test_langchain_core_is_enough_for_all_but_the_middleware():
    code = (
        "import sys; sys.modules['langchain'] = sys.modules['langgraph'] = None\n"
        "import langchain_palace; assert 'langchain_core' not in sys.modules\n"
        "from langchain_palace import ChatPalace, PalaceChatMessageHistory, PalaceRetriever\n"
        "from langchain_palace import PalaceRunnable, palace_tools\n"
        "try:\n    from langchain_palace import PalaceMiddleware\n"
        "except ImportError:\n    print('ok')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p)},
    )
    assert done.stdout.strip() == "ok", done.stderr
