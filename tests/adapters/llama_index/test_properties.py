"""Whatever is interleaved with whatever: a miss costs no call, sessions stay apart, no lie gets out."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.agent.workflow import AgentStream, FunctionAgent, ReActAgent
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine import CondensePlusContextChatEngine, SimpleChatEngine
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index_palace import PalaceLLM, PalaceQueryEngine, palace_session, palace_tools

from palace import ModelError, RecallMiss, UngroundedAnswerError
from tests.adapters.llama_index.scripted import (
    CLOCK,
    FALLBACK,
    HIT,
    LIE,
    MISS,
    PASS,
    QUOTES,
    UNCLEAR,
    BandPalace,
    ScriptedLLM,
    open_palace,
)
from tests.adapters.llama_index.test_hosts import TOLD, gardens, remembering
from tests.adapters.llama_index.test_llm import CALLS, made


class Answer(BaseModel):
    """An answer."""

    text: str


def calling(call: str) -> Any:
    """Return one of the eight calls as a way to ask."""

    async def way(llm: PalaceLLM, words: str) -> str:
        text, deltas, _ = await made(llm, call, words)
        return "".join(deltas) if "stream" in call else text

    return way


async def structured(llm: PalaceLLM, words: str) -> str:
    try:
        told = await llm.astructured_predict(Answer, PromptTemplate("{query_str}"), query_str=words)
    except RecallMiss as miss:
        return miss.message
    except (ModelError, UngroundedAnswerError):
        return FALLBACK
    except ValueError:  # what LlamaIndex raises when a model without functions writes no JSON
        return ""
    return told.text


async def agent(host: Any, words: str) -> str:
    handler = host.run(user_msg=words)
    streamed = [e.delta async for e in handler.stream_events() if isinstance(e, AgentStream)]
    return f"{(await handler).response.content}\n{''.join(streamed)}"


async def function_agent(llm: PalaceLLM, words: str) -> str:
    return await agent(FunctionAgent(llm=llm, tools=[CLOCK, *palace_tools(llm.palace)]), words)


async def react_agent(llm: PalaceLLM, words: str) -> str:
    return await agent(ReActAgent(llm=llm, tools=[CLOCK]), words)


async def simple_engine(llm: PalaceLLM, words: str) -> str:
    return str(await SimpleChatEngine.from_defaults(llm=llm, memory=remembering()).achat(words))


async def condensing_engine(llm: PalaceLLM, words: str) -> str:
    engine = CondensePlusContextChatEngine.from_defaults(
        retriever=gardens(), llm=llm, memory=remembering(TOLD)
    )
    return str(await engine.achat(words))


async def query_engine(llm: PalaceLLM, words: str) -> str:
    return str(await RetrieverQueryEngine.from_args(gardens(), llm=llm).aquery(words))


async def palace_query_engine(llm: PalaceLLM, words: str) -> str:
    inner = RetrieverQueryEngine.from_args(gardens(), llm=llm.inner)
    return str(await PalaceQueryEngine(inner, llm.palace).aquery(words))


WAYS = (
    *map(calling, CALLS),
    structured,
    function_agent,
    react_agent,
    simple_engine,
    condensing_engine,
    query_engine,
    palace_query_engine,
)
SESSIONS = ("s1", "s2", "s3")
MARK = re.compile(r"4711-(s\d)|team (s\d)|quay (s\d)")

turns = st.tuples(
    st.sampled_from(WAYS), st.sampled_from(SESSIONS), st.sampled_from([HIT, UNCLEAR, MISS, PASS])
)
rounds = st.lists(st.lists(turns, min_size=1, max_size=4), min_size=1, max_size=3)
models = st.builds(
    ScriptedLLM,
    quote=st.sampled_from(sorted(QUOTES)),
    answer=st.sampled_from(["honest", LIE, "declines", f"Thought: {LIE}\nAnswer: {LIE}"]),
    tool=st.sampled_from(["", "clock"]),
    chatter=st.sampled_from(["", LIE]),
    functions=st.booleans(),
    tool_arguments=st.just({"text": LIE}),
)


@pytest.fixture(scope="module")
def shared() -> Iterator[BandPalace]:
    with tempfile.TemporaryDirectory() as folder, open_palace(Path(folder)) as opened:
        yield opened


async def serve(llm: PalaceLLM, way: Any, session: str, question: str) -> tuple[str, str]:
    if way is function_agent and not llm.inner.functions:
        way = react_agent
    if way is react_agent and llm.inner.functions:
        way = function_agent
    with palace_session(session):
        return question, await way(llm, f"{question} ({session} asks)")


@given(rounds=rounds, model=models)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_any_interleaving(shared: BandPalace, rounds: list[Any], model: ScriptedLLM) -> None:
    llm = PalaceLLM(model, shared)

    async def all_rounds() -> list[tuple[str, str]]:
        said: list[tuple[str, str]] = []
        for together in rounds:
            said += await asyncio.gather(*(serve(llm, *turn) for turn in together))
        return said

    said = asyncio.run(all_rounds())
    for prompt in model.prompts:
        assert MISS not in prompt  # no call on a miss
        asking = set(re.findall(r"\((s\d) asks\)", prompt))
        shown = {mark for found in MARK.findall(prompt) for mark in found if mark}
        assert len(asking) == 1
        assert shown <= asking  # nobody's evidence in anybody else's prompt
    for question, text in said:
        if question == MISS:
            assert FALLBACK in text
        if question in (HIT, UNCLEAR):
            assert "9999" not in text
            assert "Zork" not in text
        if question == UNCLEAR:
            assert FALLBACK in text or "painted by Ruth" in text
