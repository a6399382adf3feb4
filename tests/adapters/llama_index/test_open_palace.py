"""Every wrapper takes an open palace, and every call what it is for; anything else is refused by name."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import QueryBundle
from llama_index_palace import (
    PalaceLLM,
    PalaceMemoryBlock,
    PalaceQueryEngine,
    PalaceRetriever,
    PalaceSummaryBlock,
    compress_history,
    palace_session,
    palace_tools,
)

from palace import ConfigError, Mempalace, RecallMiss, StoreUnavailableError
from tests.adapters.llama_index.scripted import FALLBACK, HIT, MISS, ScriptedLLM, code_text

NOT_OPEN = ["notes/palace", Path("notes/palace"), None, Mempalace]


class Echo(CustomQueryEngine):
    """An engine that says what it is asked."""

    def custom_query(self, query_str: str) -> str:
        return query_str


WRAPPERS: dict[str, Any] = {
    "llm": lambda p: PalaceLLM(ScriptedLLM(), p),
    "query engine": lambda p: PalaceQueryEngine(Echo(), p),
    "retriever": PalaceRetriever,
    "memory block": PalaceMemoryBlock,
    "summary block": PalaceSummaryBlock,
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


@pytest.mark.parametrize("wrapper", [PalaceLLM, PalaceQueryEngine])
def test_what_is_wrapped_comes_first(wrapper, palace):
    for wrong in (palace, None, "gpt"):
        with pytest.raises(ConfigError, match=r"of LlamaIndex.*first"):
            wrapper(wrong, palace)


def test_a_structured_model_is_wrapped_from_the_inside(palace, model):
    with pytest.raises(ConfigError, match="as_structured_llm"):
        PalaceLLM(model.as_structured_llm(BaseModel), palace)


NAMED: dict[str, Any] = {
    "llm": lambda p, **named: PalaceLLM(ScriptedLLM(), p, **named),
    "query engine": lambda p, **named: PalaceQueryEngine(Echo(), p, **named),
    "retriever": PalaceRetriever,
    "memory block": PalaceMemoryBlock,
    "summary block": PalaceSummaryBlock,
    "block of a session": lambda _, session_id=None, project=None: palace_session(
        session_id, project=project
    ).__enter__(),
}


@pytest.mark.parametrize("argument", ["session_id", "project"])
@pytest.mark.parametrize("name", NAMED)
def test_a_session_is_named_by_text(palace, name, argument):
    with pytest.raises(ConfigError, match=f"{argument} must be text, not int"):
        NAMED[name](palace, **{argument: 7})


@pytest.mark.parametrize("name", WRAPPERS)
def test_an_open_palace_is_taken(name, palace):
    WRAPPERS[name](palace)


@pytest.mark.parametrize("name", ["llm", "query engine", "retriever", "memory block"])
def test_a_deep_copy_shares_the_open_palace(name, palace):
    copied = copy.deepcopy(WRAPPERS[name](palace))
    place = copied._turns if name == "query engine" else copied
    assert (place._palace if name == "retriever" else place.palace) is palace


def test_a_deep_copy_decides_as_the_original_does(palace, model):
    llm = PalaceLLM(model, palace)
    for copied in (copy.deepcopy(llm), llm.model_copy(deep=True)):
        assert copied.complete(MISS).text == FALLBACK
    assert model.calls == []


def given_another(wrapper, palace):
    wrapper.palace = palace
    return wrapper


def copied_for_another(wrapper, palace):
    return wrapper.model_copy(update={"palace": palace})


@pytest.mark.parametrize("other", [copied_for_another, given_another])
def test_a_wrapper_that_is_given_another_palace_asks_that_one(other, palace, model, tmp_path):
    llm, block = PalaceLLM(model, palace), PalaceMemoryBlock(palace)
    asked = [ChatMessage(role="user", content=HIT)]
    llm.chat(asked)
    assert code_text(None) in f"{model.calls}"
    assert code_text(None) in asyncio.run(block.aget(asked))

    model.calls.clear()
    with Mempalace.open(tmp_path / "another") as another:
        other(llm, another).chat(asked)
        shown = asyncio.run(other(block, another).aget(asked))
    assert code_text(None) not in f"{model.calls}{shown}"


@pytest.mark.parametrize("name", ["llm", "query engine", "retriever", "memory block"])
def test_pickling_says_what_to_do_instead(name, palace):
    with pytest.raises(ConfigError, match="cannot be pickled"):
        pickle.dumps(WRAPPERS[name](palace))


def test_what_was_written_down_is_made_again_with_its_model_and_palace(palace, model):
    told = PalaceLLM(model, palace, session_id="s1", project="p1").to_dict()
    again = PalaceLLM.from_dict(told, inner=model, palace=palace)
    assert (again.session_id, again.project) == ("s1", "p1")
    assert again.complete(MISS).text == FALLBACK
    with pytest.raises(TypeError, match="'inner' and 'palace'"):
        PalaceLLM.from_dict(told)


@pytest.mark.parametrize("prompts", [["Say it in other words."], "Rewrite: {question}"])
def test_a_rewrite_prompt_without_the_question_is_refused(palace, model, prompts):
    with pytest.raises(ConfigError, match="a list of templates"):
        PalaceLLM(model, palace, rewrite_prompts=prompts)


def test_an_argument_that_does_not_exist_is_refused(palace):
    with pytest.raises(ConfigError, match=r"no argument 'raise_on_mis'.*raise_on_miss"):
        PalaceMemoryBlock(palace, raise_on_mis=True)
    with pytest.raises(ConfigError, match=r"no argument 'sesion_id'.*session_id"):
        PalaceSummaryBlock(palace, sesion_id="s1")


@pytest.mark.parametrize("wrong", ["gpt", Echo()])
def test_the_model_of_a_query_engine_is_a_model(palace, wrong):
    with pytest.raises(ConfigError, match=r"no model of LlamaIndex.*llm="):
        PalaceQueryEngine(Echo(), palace, llm=wrong)


async def called(llm: PalaceLLM, call: str, wrong: object) -> None:
    made = getattr(llm, call)(wrong)
    if inspect.isawaitable(made):
        await made


@pytest.mark.parametrize(
    "wrong", [HIT, ChatMessage(HIT), [{"role": "user", "content": HIT}], [HIT], None]
)
@pytest.mark.parametrize("call", ["chat", "stream_chat", "achat", "astream_chat"])
async def test_what_is_no_list_of_messages_is_refused_by_name(palace, model, call, wrong):
    with pytest.raises(ConfigError, match="no list of ChatMessage"):
        await called(PalaceLLM(model, palace), call, wrong)


@pytest.mark.parametrize("wrong", [[ChatMessage(HIT)], PromptTemplate(HIT), None])
@pytest.mark.parametrize("call", ["complete", "stream_complete", "acomplete", "astream_complete"])
async def test_what_is_no_text_is_refused_by_name(palace, model, call, wrong):
    with pytest.raises(ConfigError, match="is no text"):
        await called(PalaceLLM(model, palace), call, wrong)


@pytest.mark.parametrize("call", ["predict", "stream", "apredict", "astream"])
async def test_what_is_no_template_is_refused_by_name(palace, model, call):
    llm = PalaceLLM(model, palace)
    with pytest.raises(ConfigError, match="no prompt template"):
        await called(llm, call, HIT)
    with pytest.raises(ConfigError, match="no prompt template"):
        llm.structured_predict(ChatMessage, HIT)


SHOWS: dict[str, Any] = {
    "retriever": lambda p: PalaceRetriever(p).retrieve(HIT),
    "nearest": lambda p: PalaceRetriever(p, gate="off").retrieve(HIT),
    "retrieving engine": lambda p: PalaceQueryEngine(Echo(), p).retrieve(QueryBundle(HIT)),
    "memory block": lambda p: shown(PalaceMemoryBlock(p)),
    "summary block": lambda p: shown(PalaceSummaryBlock(p)),
}


def shown(block: BaseMemoryBlock[str]) -> str:
    return asyncio.run(block.aget([ChatMessage(HIT)], session_id="s1"))


@pytest.mark.parametrize("name", SHOWS)
def test_a_closed_palace_is_no_empty_one(name, tmp_path):
    with Mempalace.open(tmp_path) as palace:
        pass
    with pytest.raises(StoreUnavailableError, match=r"the palace was closed.*open .* again"):
        SHOWS[name](palace)


async def test_a_caller_who_wants_misses_raised_is_told_so_too(tmp_path):
    with Mempalace.open(tmp_path) as palace:
        pass
    with pytest.raises(RecallMiss, match="the palace was closed"):
        await PalaceRetriever(palace, raise_on_miss=True).aretrieve(HIT)
    with pytest.raises(RecallMiss, match="the palace was closed"):
        await PalaceMemoryBlock(palace, raise_on_miss=True).aget([ChatMessage(HIT)])
