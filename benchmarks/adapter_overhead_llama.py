"""What `PalaceLLM` costs beyond the decision itself, in milliseconds per call.

In: nothing; a small palace and a model that replies at once are made here. Out: a table. For each
kind of turn: the whole call, `decide()` alone, and the difference, from which the model's own time
is taken; medians and 95th percentiles, in wall time or, on a busy machine, in processor time. What
the palace does besides deciding (check and record of an answer) is measured apart, because it is
not the adapter's.

Run: python -m benchmarks.adapter_overhead_llama [--processor]
"""

# ruff: noqa: ANN401, ARG002 - the model's signatures are those of LlamaIndex

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM
from llama_index_palace import PalaceLLM

from palace import Mempalace, RetrievalEnforcer, answer_check

Clock = Callable[[], float]
GOAL_MS = 1.0
MEMORIES = (
    "The nightly backup runs at 02:30 on the server Juniper.",
    "The billing service moved to PostgreSQL 16 on 2026-03-04.",
    "Ines prefers tea over coffee in the morning.",
)
TURNS = {
    "no recall": "Translate 'good morning' into French.",
    "miss": "When did we move the office to Oslo?",
    "hit": "When does the nightly backup run on Juniper?",
}


class Parrot(CustomLLM):
    """A model that says the first memory at once."""

    @property
    def metadata(self) -> LLMMetadata:
        """A plain chat model."""
        return LLMMetadata(is_chat_model=True)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Say it."""
        return CompletionResponse(text=f"{MEMORIES[0]} [1]")

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Say it in one piece."""
        return (x for x in [self.complete(prompt)])


def milliseconds(call: Callable[[], Any], clock: Clock) -> float:
    """Return the time of one call in milliseconds."""
    started = clock()
    call()
    return (clock() - started) * 1000


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def measure(palace: Mempalace, words: str, repeats: int, clock: Clock) -> dict[str, list[float]]:
    """Return times in milliseconds by name; the calls alternate, so that drift hits all alike."""
    inner = Parrot()
    llm = PalaceLLM(inner, palace)
    enforcer = RetrievalEnforcer(palace)
    messages = [ChatMessage(role="user", content=words)]
    calls: dict[str, Callable[[], Any]] = {
        "chat": lambda: llm.chat(messages),
        "decide": lambda: enforcer.decide(words),
        "model": lambda: inner.chat(messages),
        "answer": lambda: check_and_record(palace, enforcer, words),
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(repeats + 20):
        for name, call in calls.items():
            took = milliseconds(call, clock)
            if number >= 20:  # the first ones warm up
                times[name].append(took)
    times["answer"] = [a - d for a, d in zip(times["answer"], times["decide"], strict=True)]
    return times


def check_and_record(palace: Mempalace, enforcer: RetrievalEnforcer, words: str) -> None:
    """Decide, check the memory's own words as an answer and record it, without any adapter."""
    verdict = enforcer.decide(words)
    options = palace.answer_options
    if verdict.action == "ground":
        check = answer_check(verdict, question=words, options=options)
        palace.record_answer(check.check(f"{verdict.evidence[0].text} [1]"), verdict)


async def measure_async(palace: Mempalace, words: str, repeats: int, clock: Clock) -> list[float]:
    """Return `achat` minus `adecide` in milliseconds, one call each in turn."""
    llm = PalaceLLM(Parrot(), palace)
    enforcer = RetrievalEnforcer(palace)
    messages = [ChatMessage(role="user", content=words)]
    differences = []
    for number in range(repeats + 20):
        started = clock()
        await llm.achat(messages)
        between = clock()
        await enforcer.adecide(words)
        ended = clock()
        if number >= 20:
            differences.append(((between - started) - (ended - between)) * 1000)
    return differences


def main() -> None:
    """Print the table and whether the goal is met."""
    parser = argparse.ArgumentParser(description="Overhead of the LlamaIndex adapter.")
    parser.add_argument("--repeats", type=int, default=300, help="calls of each kind")
    parser.add_argument("--processor", action="store_true", help="processor time, not wall time")
    options = parser.parse_args()
    repeats = options.repeats
    clock = time.process_time if options.processor else time.perf_counter
    worst = 0.0
    print("ms per call          chat   decide    model   answer | adapter p50    p95  async p50")
    with tempfile.TemporaryDirectory() as folder, Mempalace.open(Path(folder)) as palace:
        for text in MEMORIES:
            palace.remember(text)
        for name, words in TURNS.items():
            times = measure(palace, words, repeats, clock)
            answered = name == "hit"
            model = times["model"] if name != "miss" else [0.0] * repeats
            rest = [
                chat - decide - called - (answer if answered else 0.0)
                for chat, decide, called, answer in zip(
                    times["chat"], times["decide"], model, times["answer"], strict=True
                )
            ]
            shown = {k: statistics.median(v) for k, v in times.items()}
            median = statistics.median(rest)
            worst = max(worst, median)
            waiting = statistics.median(asyncio.run(measure_async(palace, words, repeats, clock)))
            waiting -= statistics.median(model) + (shown["answer"] if answered else 0.0)
            print(
                f"{name:14} {shown['chat']:10.3f} {shown['decide']:8.3f} {shown['model']:8.3f}"
                f" {shown['answer'] if answered else 0.0:8.3f} | {median:11.3f}"
                f" {percentile(rest, 0.95):6.3f} {waiting:10.3f}"
            )
    print(f"worst median {worst:.3f} ms; goal <= {GOAL_MS:.0f} ms: {worst <= GOAL_MS}")


if __name__ == "__main__":
    main()
