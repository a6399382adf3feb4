"""What `ChatPalace` costs beyond the decision itself, in milliseconds per call.

In: nothing; a small palace and a model that replies at once are made here. Out: a table;
`benchmarks.overhead` says what is taken off.

Run: python -m benchmarks.adapter_overhead [--processor]
"""

# ruff: noqa: ANN401, ARG002 - the model's signatures are those of LangChain

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_palace import ChatPalace

from benchmarks.command import run
from benchmarks.overhead import Calls, Plan, Row, measure, parse_plan, report
from palace import Mempalace

MEMORY = "We shipped version 4.1.0 on 2026-03-02."
SAID = f"{MEMORY} [1]"
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
        return ChatResult(generations=[ChatGeneration(message=AIMessage(SAID))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages)


def measure_turn(palace: Mempalace, turn: str, plan: Plan) -> list[Row]:
    """Return the rows of one kind of turn."""
    asked = TURNS[turn]
    bare = Parrot()
    wrapped = ChatPalace(inner=bare, palace=palace)
    calls = Calls(
        wrapped=lambda: wrapped.invoke(asked),
        bare=lambda: bare.invoke(asked),
        awrapped=lambda: wrapped.ainvoke(asked),
        abare=lambda: bare.ainvoke(asked),
    )
    return measure(turn, asked, SAID, calls, palace=palace, plan=plan)


def main() -> None:
    """Measure and print."""
    plan = parse_plan("Overhead of the LangChain adapter.")
    with tempfile.TemporaryDirectory() as folder, Mempalace.open(Path(folder)) as palace:
        palace.remember(MEMORY, room="releases")
        palace.remember("The staging database listens on port 5432.", room="infra")
        report([row for turn in TURNS for row in measure_turn(palace, turn, plan)])


if __name__ == "__main__":
    run(main)
