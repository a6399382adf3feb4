"""One piece of logic, run with and without an event loop, at once and in pieces."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from copy import copy
from types import SimpleNamespace
from typing import Any

import pytest

from palace import hosting


class StepError(Exception):
    """What goes wrong in a step."""


def fails() -> Any:
    raise StepError


async def afails() -> Any:
    raise StepError


async def letters() -> AsyncIterator[str]:
    for letter in "abc":
        yield letter


def where() -> str:
    return threading.current_thread().name


def whole(seen: list[Any]) -> hosting.Steps[str]:
    seen.append((yield hosting.in_thread(where)))
    try:
        yield hosting.Step(fails, afails)
    except StepError:
        seen.append("stopped")
    return "done"


def pieces(source: Any, seen: list[Any]) -> hosting.Pieces[str]:
    try:
        yield hosting.Shown("first")
        begun = yield source
        yield from hosting.relay(begun, lambda came: map(hosting.Shown, [came, came.upper()]))
        yield hosting.Shown((yield hosting.in_thread(lambda: "last")))
    except GeneratorExit:
        seen.append("left")
        raise


SOURCE = hosting.begin_stream(lambda: iter("abc"), letters)
SHOWN = ["first", "a", "A", "b", "B", "c", "C", "last"]


async def test_both_ways_do_the_same_and_raise_where_the_step_was_asked_for():
    now: list[Any] = []
    later: list[Any] = []
    assert hosting.run(whole(now)) == await hosting.arun(whole(later)) == "done"
    assert now == [where(), "stopped"]
    assert later[0] != where()
    assert later[1] == "stopped"


async def test_what_nobody_catches_goes_on():
    def steps() -> hosting.Steps[None]:
        yield hosting.Step(fails, afails)

    with pytest.raises(StepError):
        hosting.run(steps())
    with pytest.raises(StepError):
        await hosting.arun(steps())
    with pytest.raises(StepError):
        list(hosting.stream(steps()))
    with pytest.raises(StepError):
        [piece async for piece in hosting.astream(steps())]


async def test_a_stream_shows_the_same_both_ways():
    assert list(hosting.stream(pieces(SOURCE, []))) == SHOWN
    assert [piece async for piece in hosting.astream(pieces(SOURCE, []))] == SHOWN


async def test_what_cannot_stream_comes_as_a_list_with_an_event_loop_too():
    async def begun() -> list[str]:
        return ["a", "b", "c"]

    source = hosting.Step(lambda: ["a", "b", "c"], begun)
    assert list(hosting.stream(pieces(source, []))) == SHOWN
    assert [piece async for piece in hosting.astream(pieces(source, []))] == SHOWN


async def test_who_stops_reading_leaves_at_once():
    seen: list[Any] = []
    shown: Iterator[str] = hosting.stream(pieces(SOURCE, seen))
    next(shown)
    shown.close()  # type: ignore[attr-defined]
    coming = hosting.astream(pieces(SOURCE, seen))
    await anext(coming)
    await coming.aclose()
    assert seen == ["left", "left"]


async def test_a_call_of_one_kind_is_made_as_it_is():
    def steps(call: Any) -> hosting.Steps[str]:
        return (yield hosting.host_call(call))

    async def later() -> str:
        return "later"

    assert hosting.run(steps(lambda: "now")) == "now"
    assert await hosting.arun(steps(later)) == "later"


class Made:
    def __init__(self, palace: object) -> None:
        self.palace = palace


def test_what_is_made_of_a_palace_is_made_once_and_anew_for_another_palace():
    wrapper = SimpleNamespace(palace=object())
    made = hosting.of_palace(wrapper, Made)
    assert hosting.of_palace(wrapper, Made) is made
    assert hosting.of_palace(copy(wrapper), Made) is made

    wrapper.palace = object()
    assert hosting.of_palace(wrapper, Made).palace is wrapper.palace
