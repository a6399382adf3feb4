"""What `PalaceLLM` costs beyond the decision itself, in milliseconds per call.

In: nothing; a small palace and a model that replies at once are made here. Out: a table;
`benchmarks.overhead` says what is taken off.

Run: python -m benchmarks.adapter_overhead_llama [--processor]
"""

# ruff: noqa: ANN401, ARG002 - the model's signatures are those of LlamaIndex

from __future__ import annotations

import tempfile
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

from benchmarks.command import run
from benchmarks.overhead import Calls, Plan, Row, measure, parse_plan, report
from palace import Mempalace

MEMORIES = (
    "The nightly backup runs at 02:30 on the server Juniper.",
    "The billing service moved to PostgreSQL 16 on 2026-03-04.",
    "Ines prefers tea over coffee in the morning.",
)
SAID = f"{MEMORIES[0]} [1]"
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
        return CompletionResponse(text=SAID)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Say it in one piece."""
        return (x for x in [self.complete(prompt)])


def measure_turn(palace: Mempalace, turn: str, plan: Plan) -> list[Row]:
    """Return the rows of one kind of turn."""
    bare = Parrot()
    wrapped = PalaceLLM(bare, palace)
    messages = [ChatMessage(role="user", content=TURNS[turn])]
    calls = Calls(
        wrapped=lambda: wrapped.chat(messages),
        bare=lambda: bare.chat(messages),
        awrapped=lambda: wrapped.achat(messages),
        abare=lambda: bare.achat(messages),
    )
    return measure(turn, TURNS[turn], SAID, calls, palace=palace, plan=plan)


def main() -> None:
    """Measure and print."""
    plan = parse_plan("Overhead of the LlamaIndex adapter.")
    with tempfile.TemporaryDirectory() as folder, Mempalace.open(Path(folder)) as palace:
        for text in MEMORIES:
            palace.remember(text)
        report([row for turn in TURNS for row in measure_turn(palace, turn, plan)])


if __name__ == "__main__":
    run(main)
