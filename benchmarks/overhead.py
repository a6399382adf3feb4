"""What an adapter costs beyond what every host pays: calls made in turn, and what is left.

In: the calls of a wrapped and of the bare model of a framework, which replies at once; a small
palace is made here. Out: a table of medians in milliseconds, without and with an event loop, and
whether the goal is kept.

A round makes each call once, beginning with another one each time, so that neither drift of the
machine nor what a call leaves in its caches favours one. What is left of a round is the adapter's:
the wrapped call less the decision, the bare model's call with all that the framework does around
it, and what any host of the palace has to do for an answer (prompt, check, record). Of the hops to
a thread only that of `adecide` is taken off.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.command import whole_number
from palace import Answer, Mempalace, RetrievalEnforcer, Verdict, answer_check, grounded_prompt

MEMORIES = (
    "We shipped version 4.1.0 on 2026-03-02.",
    "The staging database listens on port 5432.",
    "Ines prefers tea over coffee in the morning.",
)
SAID = f"{MEMORIES[0]} [1]"
TURNS = {
    "no recall": "Write a haiku about rain.",
    "miss": "Which name did we give to the grey cat of my grandmother?",
    "hit": "When did we ship version 4.1.0?",
}
GOAL_MS = 1.0
_WARM_UP = 20
_PARTS = ("decide", "model", "palace")

Times = dict[str, list[float]]


@dataclass(frozen=True)
class Plan:
    """How many rounds are made, and the clock that times them, in seconds."""

    rounds: int
    clock: Callable[[], float]


@dataclass(frozen=True)
class Calls:
    """One call of the wrapped and of the bare model through the same method, and both awaited."""

    wrapped: Callable[[], Any]
    bare: Callable[[], Any]
    awrapped: Callable[[], Awaitable[Any]]
    abare: Callable[[], Awaitable[Any]]


@dataclass(frozen=True)
class Row:
    """Times of one kind of turn, in milliseconds.

    Attributes:
        turn: What kind of turn.
        wrapped_ms: Median of the wrapped call.
        parts_ms: Medians of what is taken off, by name.
        own_ms: What is left for the adapter, round by round.
    """

    turn: str
    wrapped_ms: float
    parts_ms: Mapping[str, float]
    own_ms: Sequence[float]

    @property
    def adapter_ms(self) -> float:
        """Median of what is left for the adapter."""
        return statistics.median(self.own_ms)


def main(framework: str, calls: Callable[[Mempalace, str], Calls]) -> None:
    """Measure what the adapter of a framework costs, and print it.

    Args:
        framework: Its name.
        calls: Return the calls that ask for something, the wrapped ones through a palace. The model
            says `SAID`.
    """
    plan = _plan(f"Overhead of the {framework} adapter.")
    rows = []
    with tempfile.TemporaryDirectory() as folder, Mempalace.open(Path(folder)) as palace:
        for text in MEMORIES:
            palace.remember(text)
        for turn, asked in TURNS.items():
            rows += _measured(turn, asked, calls(palace, asked), palace=palace, plan=plan)
    _report(rows)


def _plan(description: str) -> Plan:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--rounds",
        type=lambda text: whole_number(text, "rounds"),
        default=400,
        help="Calls of each kind for each turn.",
    )
    parser.add_argument("--processor", action="store_true", help="Processor time, not wall time.")
    options = parser.parse_args()
    return Plan(options.rounds, time.process_time if options.processor else time.perf_counter)


def _measured(turn: str, asked: str, calls: Calls, *, palace: Mempalace, plan: Plan) -> list[Row]:
    """Return the rows of one kind of turn."""
    enforcer = RetrievalEnforcer(palace)
    verdict = enforcer.decide(asked)

    async def adecide() -> None:
        await enforcer.adecide(asked)

    async def aserve() -> None:
        _serve(palace, verdict, asked)

    plain: dict[str, Callable[[], Any]] = {
        "wrapped": calls.wrapped,
        "decide": lambda: enforcer.decide(asked),
    }
    awaited: dict[str, Callable[[], Awaitable[Any]]] = {
        "wrapped": calls.awrapped,
        "decide": adecide,
    }
    if verdict.action in ("pass", "ground"):
        plain["model"] = calls.bare
        awaited["model"] = calls.abare
    if verdict.action == "ground":
        plain["palace"] = lambda: _serve(palace, verdict, asked)
        awaited["palace"] = aserve
    return [
        _row(turn, _times(plain, plan)),
        _row(f"{turn}, async", asyncio.run(_atimes(awaited, plan))),
    ]


def _report(rows: Sequence[Row]) -> None:
    """Print the table and whether the goal is kept."""
    names = ("wrapped", *_PARTS, "adapter", "p95")
    print(f"{'ms, median':<17}" + "".join(f"{name:>9}" for name in names))
    for row in rows:
        parts = [row.parts_ms.get(part, 0.0) for part in _PARTS]
        slow = sorted(row.own_ms)[int(len(row.own_ms) * 0.95)]
        times = (row.wrapped_ms, *parts, row.adapter_ms, slow)
        print(f"{row.turn:<17}" + "".join(f"{ms:>9.3f}" for ms in times))
    worst = max(row.adapter_ms for row in rows)
    verdict = "kept" if worst <= GOAL_MS else "missed"
    print(f"goal: adapter <= {GOAL_MS} ms: {verdict} (worst median {worst:.3f} ms)")


def _serve(palace: Mempalace, verdict: Verdict, asked: str) -> None:
    """Do what any host has to do for a grounded answer: show the evidence, check, record."""
    options = palace.answer_options
    grounded_prompt(asked, verdict, budget_tokens=options.context_budget_tokens)
    checked = answer_check(verdict, question=asked, options=options).check(SAID)
    palace.record_answer(Answer(checked.text, verdict, checked, 1), verdict)


def _times(calls: Mapping[str, Callable[[], Any]], plan: Plan) -> Times:
    times: Times = {name: [] for name in calls}
    for name in _in_turn(list(calls), plan.rounds):
        started = plan.clock()
        calls[name]()
        times[name].append((plan.clock() - started) * 1000)
    return times


async def _atimes(calls: Mapping[str, Callable[[], Awaitable[Any]]], plan: Plan) -> Times:
    times: Times = {name: [] for name in calls}
    for name in _in_turn(list(calls), plan.rounds):
        started = plan.clock()
        await calls[name]()
        times[name].append((plan.clock() - started) * 1000)
    return times


def _in_turn(names: Sequence[str], rounds: int) -> Iterator[str]:
    for number in range(_WARM_UP + rounds):
        first = number % len(names)
        yield from (*names[first:], *names[:first])


def _row(turn: str, times: Times) -> Row:
    counted = {name: taken[_WARM_UP:] for name, taken in times.items()}
    wrapped = counted.pop("wrapped")
    taken_off = map(sum, zip(*counted.values(), strict=True))
    return Row(
        turn,
        statistics.median(wrapped),
        {part: statistics.median(taken) for part, taken in counted.items()},
        [whole - off for whole, off in zip(wrapped, taken_off, strict=True)],
    )
