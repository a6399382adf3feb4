"""What `ChatPalace` costs beyond the decision itself, in milliseconds per call.

In: nothing; a small palace and a model that replies at once are made here. Out: a table. For each
kind of turn: the wrapped call; `decide()` alone; the bare model's calls; what the palace does
besides deciding (prompt, check, journal), which every host pays; and what is left, the adapter's
own, without and with an event loop. Medians of paired rounds, in wall time or, on a busy machine,
in processor time of all threads.

Run: python -m benchmarks.adapter_overhead [--processor]
"""

# ruff: noqa: ANN401, ARG002 - the model's signatures are those of LangChain

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_palace import ChatPalace

from palace import Answer, Mempalace, RetrievalEnforcer, Verdict, answer_check, grounded_prompt

Clock = Callable[[], float]
GOAL_MS = 1.0
MEMORY = "We shipped version 4.1.0 on 2026-03-02."
TURNS = {
    "no recall": "Write a haiku about rain.",
    "miss": "Which name did we give to the grey cat of my grandmother?",
    "hit": "When did we ship version 4.1.0?",
}


class Parrot(BaseChatModel):
    """A model that says one thing at once."""

    @property
    def _llm_type(self) -> str:
        return "parrot"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(f"{MEMORY} [1]"))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages)


@dataclass(frozen=True)
class Row:
    """Medians of one kind of turn, in milliseconds."""

    turn: str
    wrapped_ms: float
    decide_ms: float
    model_ms: float
    palace_ms: float
    adapter_ms: float
    async_ms: float


def measure(folder: Path, *, rounds: int, clock: Clock = time.perf_counter) -> list[Row]:
    """Return a row for each kind of turn."""
    with Mempalace.open(folder) as palace:
        palace.remember(MEMORY, room="releases")
        palace.remember("The staging database listens on port 5432.", room="infra")
        return [_row(palace, turn, prompt, rounds, clock) for turn, prompt in TURNS.items()]


def _row(palace: Mempalace, turn: str, prompt: str, rounds: int, clock: Clock) -> Row:
    model = Parrot()
    chat = ChatPalace(inner=model, palace=palace)
    enforcer = RetrievalEnforcer(palace)
    verdict = enforcer.decide(prompt)
    is_called = verdict.action in ("pass", "ground")
    whole: list[float] = []
    parts: list[tuple[float, float, float]] = []
    for _ in range(rounds):
        whole.append(_timed(lambda: chat.invoke(prompt), clock))
        decide = _timed(lambda: enforcer.decide(prompt), clock)
        bare = _timed(lambda: model.invoke(prompt), clock) if is_called else 0.0
        parts.append((decide, bare, _timed(lambda: _besides(palace, verdict, prompt), clock)))
    own = [w - sum(p) for w, p in zip(whole, parts, strict=True)]
    middle = statistics.median
    return Row(
        turn,
        middle(whole),
        middle(p[0] for p in parts),
        middle(p[1] for p in parts),
        middle(p[2] for p in parts),
        middle(own),
        asyncio.run(_async_ms(chat, enforcer, prompt, rounds, clock))
        - middle(p[1] + p[2] for p in parts),
    )


def _besides(palace: Mempalace, verdict: Verdict, prompt: str) -> None:
    """Do what any host has to do for a grounded answer."""
    if verdict.action != "ground":
        return
    options = palace.answer_options
    grounded_prompt(prompt, verdict, budget_tokens=options.context_budget_tokens)
    check = answer_check(verdict, question=prompt, options=options)
    checked = check.check(f"{MEMORY} [1]")
    palace.record_answer(Answer(checked.text, verdict, checked, 1), verdict)


async def _async_ms(
    chat: ChatPalace, enforcer: RetrievalEnforcer, prompt: str, rounds: int, clock: Clock
) -> float:
    """Return the median of `ainvoke` beyond `adecide`; hopping to threads is part of both."""
    own: list[float] = []
    for _ in range(rounds):
        started = clock()
        await chat.ainvoke(prompt)
        between = clock()
        await enforcer.adecide(prompt)
        own.append((2 * between - started - clock()) * 1000)
    return statistics.median(own)


def _timed(work: Callable[[], object], clock: Clock) -> float:
    started = clock()
    work()
    return (clock() - started) * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=400, help="Paired calls for each turn.")
    parser.add_argument("--processor", action="store_true", help="Processor time, not wall time.")
    options = parser.parse_args()
    clock = time.process_time if options.processor else time.perf_counter
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), rounds=options.rounds, clock=clock)
    print("ms, median     wrapped  decide   model  palace  adapter  adapter, async")
    for row in rows:
        print(
            f"{row.turn:<13} {row.wrapped_ms:>8.3f} {row.decide_ms:>7.3f} {row.model_ms:>7.3f}"
            f" {row.palace_ms:>7.3f} {row.adapter_ms:>8.3f} {row.async_ms:>8.3f}"
        )
    worst = max(row.adapter_ms for row in rows)
    verdict = "kept" if worst <= GOAL_MS else "missed"
    print(f"goal: adapter <= {GOAL_MS} ms: {verdict} (worst {worst:.3f} ms)")


if __name__ == "__main__":
    main()
