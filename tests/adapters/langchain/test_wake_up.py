"""The wake-up of a session: once, however many first calls are under way at the same time."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda
from langchain_palace import ChatPalace, PalaceRunnable

from palace import Mempalace, UnsafeNameError
from tests.adapters.langchain.doubles import (
    CHAT,
    HIT,
    IDENTITY,
    PASS,
    CountingModel,
    failing,
    honest,
)

AT_ONCE = 4
SESSION = {"configurable": {"session_id": "a"}}


def meeting():
    """Return a model that answers only when so many calls have reached it."""
    barrier = threading.Barrier(AT_ONCE)

    def persona(asked):
        barrier.wait(20)
        return honest(asked)

    return CountingModel(persona=persona)


def chat_of(model, palace):
    return ChatPalace(inner=model, palace=palace)


def chain_of(model, palace):
    return PalaceRunnable(bound=RunnableLambda(str) | model | StrOutputParser(), palace=palace)


def agent_of(model, palace):
    agents = pytest.importorskip("langchain.agents")
    from langchain_palace import PalaceMiddleware

    agent = agents.create_agent(model, [], middleware=[PalaceMiddleware(palace)])
    return RunnableLambda(lambda text: {"messages": [("user", text)]}) | agent


HOSTS = [chat_of, chain_of, agent_of]


def woken(model):
    return [IDENTITY in asked.everything for asked in model.asked]


@pytest.mark.parametrize("prompt", [PASS, HIT])
@pytest.mark.parametrize("host_of", HOSTS)
def test_of_first_calls_at_once_one_wakes_up(palace, host_of, prompt):
    palace.set_identity(IDENTITY)
    model = meeting()
    host = host_of(model, palace)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda _: host.invoke(prompt, SESSION), range(AT_ONCE)))

    assert sorted(woken(model)) == [False] * (AT_ONCE - 1) + [True]


@pytest.mark.parametrize("host_of", HOSTS)
async def test_of_first_calls_awaited_at_once_one_wakes_up(palace, host_of):
    palace.set_identity(IDENTITY)
    model = meeting()
    host = host_of(model, palace)

    await asyncio.gather(*(host.ainvoke(PASS, SESSION) for _ in range(AT_ONCE)))

    assert sorted(woken(model)) == [False] * (AT_ONCE - 1) + [True]


@pytest.mark.parametrize("fails", [1, 2])
@pytest.mark.parametrize("host_of", HOSTS)
def test_a_call_that_fails_leaves_the_wake_up_to_any_later_one(palace, host_of, fails):
    palace.set_identity(IDENTITY)
    model = CountingModel(persona=failing(fails))
    host = host_of(model, palace)

    for _ in range(fails):
        with pytest.raises(ConnectionError):
            host.invoke(PASS, SESSION)
    for prompt in (HIT, PASS, HIT):
        host.invoke(prompt, SESSION)

    assert woken(model) == [True] * fails + [True, False, False]


class Slow(Mempalace):
    """Takes its time for the wake-up of a session."""

    def session_wake_up(self, *args, **kwargs):
        self.is_asked.set()
        self.may_go_on.wait(20)
        return super().session_wake_up(*args, **kwargs)

    def begin_session(self, *args, **kwargs):
        super().begin_session(*args, **kwargs)
        self.is_done.set()


@pytest.mark.parametrize("host_of", HOSTS)
async def test_who_stops_waiting_leaves_the_wake_up_to_the_next_call(palace, host_of):
    palace.set_identity(IDENTITY)
    with Slow.open(palace.root) as slow:
        slow.is_asked, slow.may_go_on, slow.is_done = (threading.Event() for _ in range(3))
        model = CountingModel(persona=honest)
        host = host_of(model, slow)
        call = asyncio.create_task(host.ainvoke(PASS, SESSION))
        await asyncio.to_thread(slow.is_asked.wait, 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        slow.may_go_on.set()
        await asyncio.to_thread(slow.is_done.wait, 20)
        await host.ainvoke(PASS, SESSION)

    assert woken(model) == [True]


@pytest.mark.parametrize("host_of", [chat_of, chain_of])
def test_a_stream_that_breaks_before_its_first_word_leaves_the_wake_up(palace, host_of):
    palace.set_identity(IDENTITY)
    model = CountingModel(persona=failing(1))
    host = host_of(model, palace)

    with pytest.raises(ConnectionError):
        list(host.stream(PASS, SESSION))
    stream = host.stream(PASS, SESSION)
    next(stream)
    stream.close()  # it was told: who stops reading has begun all the same
    list(host.stream(HIT, SESSION))

    assert woken(model) == [True, True, False]


@pytest.mark.parametrize("host_of", [chat_of, chain_of])
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_model_that_stands_in_for_one_that_fails_tells_the_wake_up(
    palace, host_of, is_async
):
    palace.set_identity(IDENTITY)
    failed, stand_in = CountingModel(persona=failing(1)), CountingModel(persona=honest)
    host = host_of(failed, palace).with_fallbacks([host_of(stand_in, palace)])

    for prompt in (PASS, HIT):
        await host.ainvoke(prompt, SESSION) if is_async else host.invoke(prompt, SESSION)

    assert (woken(failed), woken(stand_in)) == ([True, False], [True])


def test_a_wake_up_that_cannot_be_read_keeps_nobody_from_an_answer(palace):
    palace.set_identity(IDENTITY)
    journal, moved = palace.root / "journal", palace.root / "moved"
    journal.mkdir(exist_ok=True)
    journal.rename(moved)
    journal.write_text("in the way", encoding="utf-8")
    model = CountingModel(persona=honest)
    chat = ChatPalace(inner=model, palace=palace, session_id="a")

    assert chat.invoke(PASS).text == CHAT
    journal.unlink()
    moved.rename(journal)
    assert chat.invoke(PASS).text == CHAT

    assert [IDENTITY in asked.everything for asked in model.asked] == [False, True]


def test_a_session_that_cannot_be_named_is_refused(palace):
    chat = ChatPalace(inner=CountingModel(persona=honest), palace=palace, session_id="x" * 5000)

    with pytest.raises(UnsafeNameError, match="512"):
        chat.invoke(PASS)
