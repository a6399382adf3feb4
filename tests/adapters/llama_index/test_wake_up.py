"""The wake-up of a session: once, however many first calls are under way at the same time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.query_engine import CustomQueryEngine
from llama_index_palace import PalaceLLM, PalaceQueryEngine, palace_session

from tests.adapters.llama_index.scripted import HIT, PASS, BandPalace, ScriptedLLM

AT_ONCE = 4
IDENTITY = "I am the keeper of the harbour."
CALLS = ("chat", "stream_chat", "complete", "stream_complete")


class Meeting(ScriptedLLM):
    """Answers only when so many calls have reached it."""

    _barrier: Any = PrivateAttr(default_factory=lambda: threading.Barrier(AT_ONCE))

    def _say(self, messages: Sequence[ChatMessage], tools: Sequence[Any] = ()) -> ChatMessage:
        said = super()._say(messages, tools)
        self._barrier.wait(20)
        return said

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return await asyncio.to_thread(self.chat, messages, **kwargs)


class Failing(ScriptedLLM):
    """Cannot be reached the first time."""

    _is_reached: bool = PrivateAttr(default=False)

    def _say(self, messages: Sequence[ChatMessage], tools: Sequence[Any] = ()) -> ChatMessage:
        said = super()._say(messages, tools)
        if not self._is_reached:
            self._is_reached = True
            raise ConnectionError
        return said


class Breaking(ScriptedLLM):
    """Begins its first stream and says nothing in it."""

    _is_reached: bool = PrivateAttr(default=False)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        whole = super().stream_chat(messages, **kwargs)

        def chunks() -> Any:
            if not self._is_reached:
                self._is_reached = True
                raise ConnectionError
            yield from whole

        return chunks()


class Echo(CustomQueryEngine):
    """An engine that asks its model as it is asked."""

    model: Any

    def custom_query(self, query_str: str) -> str:
        return str(self.model.complete(query_str).text)


def made(llm: PalaceLLM, call: str, words: str) -> None:
    given: Any = words if "complete" in call else [ChatMessage(role="user", content=words)]
    result = getattr(llm, call)(given)
    if "stream" in call:
        list(result)


def woken(model: ScriptedLLM) -> list[bool]:
    return [IDENTITY in prompt for prompt in model.prompts]


@pytest.mark.parametrize("words", [PASS, HIT])
@pytest.mark.parametrize("call", CALLS)
def test_of_first_calls_at_once_one_wakes_up(palace, call, words):
    palace.set_identity(IDENTITY)
    model = Meeting()
    llm = PalaceLLM(model, palace, session_id="s1")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda _: made(llm, call, words), range(AT_ONCE)))
    assert sorted(woken(model)) == [False] * (AT_ONCE - 1) + [True]


async def test_of_first_calls_awaited_at_once_one_wakes_up(palace):
    palace.set_identity(IDENTITY)
    model = Meeting()
    llm = PalaceLLM(model, palace, session_id="s1")
    asked = [ChatMessage(role="user", content=PASS)]
    await asyncio.gather(*(llm.achat(asked) for _ in range(AT_ONCE)))
    assert sorted(woken(model)) == [False] * (AT_ONCE - 1) + [True]


def test_of_first_queries_at_once_one_wakes_up(palace):
    palace.set_identity(IDENTITY)
    model = Meeting()
    engine = PalaceQueryEngine(Echo(model=model), palace, llm=model, session_id="s1")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda _: engine.query(PASS), range(AT_ONCE)))
    assert sorted(woken(model)) == [False] * (AT_ONCE - 1) + [True]


@pytest.mark.parametrize("words", [PASS, HIT])
@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_fails_leaves_the_wake_up_to_the_retry(palace, call, words):
    palace.set_identity(IDENTITY)
    model = Failing()
    llm = PalaceLLM(model, palace, session_id="s1")
    with pytest.raises(ConnectionError):
        made(llm, call, words)
    made(llm, call, words)
    made(llm, call, words)
    assert woken(model) == [True, True, False]


def test_a_stream_that_breaks_leaves_the_wake_up_and_one_that_is_left_does_not(palace):
    palace.set_identity(IDENTITY)
    model = Breaking()
    llm = PalaceLLM(model, palace, session_id="s1")
    with pytest.raises(ConnectionError):
        made(llm, "stream_chat", PASS)
    stream = llm.stream_chat([ChatMessage(role="user", content=HIT)])
    next(stream)
    stream.close()
    made(llm, "stream_chat", PASS)
    assert woken(model) == [True, True, False]


def test_a_query_that_fails_leaves_the_wake_up_to_the_retry(palace):
    palace.set_identity(IDENTITY)
    model = Failing()
    engine = PalaceQueryEngine(Echo(model=model), palace, llm=model, session_id="s1")
    with pytest.raises(ConnectionError):
        engine.query(PASS)
    engine.query(PASS)
    engine.query(PASS)
    assert woken(model) == [True, True, False]


def test_the_retry_may_stand_in_a_block_of_its_own(palace):
    palace.set_identity(IDENTITY)
    model = Failing()
    llm = PalaceLLM(model, palace)
    with palace_session("s1"), pytest.raises(ConnectionError):
        made(llm, "chat", PASS)
    with palace_session("s2"):
        made(llm, "chat", PASS)
    with palace_session("s1"):
        made(llm, "chat", PASS)
    assert woken(model) == [True, True, True]


class Slow(BandPalace):
    """Takes its time for the wake-up of a session."""

    def session_wake_up(self, *args: Any, **kwargs: Any) -> str:
        self.is_asked.set()
        self.may_go_on.wait(20)
        return super().session_wake_up(*args, **kwargs)

    def begin_session(self, *args: Any, **kwargs: Any) -> None:
        super().begin_session(*args, **kwargs)
        self.is_done.set()


async def test_who_stops_waiting_leaves_the_wake_up_to_the_next_call(palace):
    palace.set_identity(IDENTITY)
    with Slow.open(palace.root) as slow:
        slow.is_asked, slow.may_go_on, slow.is_done = (threading.Event() for _ in range(3))
        model = ScriptedLLM()
        llm = PalaceLLM(model, slow, session_id="s1")
        asked = [ChatMessage(role="user", content=PASS)]
        call = asyncio.create_task(llm.achat(asked))
        await asyncio.to_thread(slow.is_asked.wait, 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        slow.may_go_on.set()
        await asyncio.to_thread(slow.is_done.wait, 20)
        await llm.achat(asked)
    assert woken(model) == [True]
