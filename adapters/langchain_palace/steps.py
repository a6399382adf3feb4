"""One piece of logic, run with or without an event loop.

In: a generator that yields `Step`s, pieces of work it wants done. Out: what it returns. The sync
and the async driver differ in nothing but how they do a step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
E = TypeVar("E", bound=Exception)


@dataclass(frozen=True, slots=True)
class Step(Generic[T]):
    """A piece of work.

    Attributes:
        now: Does it, blocking.
        later: Does it without blocking the event loop.
    """

    now: Callable[[], T]
    later: Callable[[], Awaitable[T]]


Steps = Generator[Step[Any], Any, T]


def in_thread(work: Callable[[], T]) -> Step[T]:
    """Return blocking work as a step; with an event loop it runs in a thread."""
    return Step(work, lambda: asyncio.to_thread(work))


def within(context: Callable[[], AbstractContextManager[None]], step: Step[T]) -> Step[T]:
    """Return a step that is done within a context of its own."""

    def now() -> T:
        with context():
            return step.now()

    async def later() -> T:
        with context():
            return await step.later()

    return Step(now, later)


def caught(step: Step[T], *errors: type[E]) -> Step[T | E]:
    """Return a step that returns errors of these kinds instead of raising them."""

    def now() -> T | E:
        try:
            return step.now()
        except errors as error:
            return error

    async def later() -> T | E:
        try:
            return await step.later()
        except errors as error:
            return error

    return Step(now, later)


def run(steps: Steps[T]) -> T:
    """Run the steps, blocking, and return their result."""
    try:
        step = next(steps)
        while True:
            step = steps.send(step.now())
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def arun(steps: Steps[T]) -> T:
    """Run the steps without blocking the event loop and return their result."""
    try:
        step = next(steps)
        while True:
            step = steps.send(await step.later())
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
