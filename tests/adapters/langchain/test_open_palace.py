"""Every wrapper takes an open palace, and says so at once when it gets anything else."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda
from langchain_palace import (
    ChatPalace,
    PalaceChatMessageHistory,
    PalaceRetriever,
    PalaceRunnable,
    compress_history,
    palace_tools,
)

from palace import ConfigError, Mempalace
from tests.adapters.langchain.doubles import FALLBACK, MISS, PASS, CountingModel, honest

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


@pytest.mark.parametrize("name", COPIED)
def test_pickling_says_what_to_do_instead(name, palace):
    with pytest.raises(ConfigError, match=r"cannot be pickled.*Mempalace\.open"):
        pickle.dumps(COPIED[name](palace))


def palace_in(wrapper):
    places = (wrapper, getattr(wrapper, "bound", None))
    return next(p.palace for p in places if hasattr(p, "palace"))
