"""Put a palace in front of a model: when it is called, with what, and what of its reply gets out.

Run: python examples/07_before_a_model.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from palace import (
    Answer,
    Mempalace,
    ModelCall,
    ModelReply,
    RetrievalEnforcer,
    answer_steps,
    load_preset,
    seed,
)

REPLIES = {
    "Who owns the backups?": "Tomas owns the backups [1].",
    "When did we move to PostgreSQL 16?": "On 2025-01-01, after 3 hours of downtime.",
    "When did we move to Oslo?": "You moved to Oslo in May.",
    "Write a haiku about rain.": "Rain taps the window.",
}


def call_model(prompt: str, call: ModelCall) -> ModelReply:
    """Stand for your own call of a model; this one ignores `call.user_text` and makes things up."""
    print(f"  the model is called with {len(call.user_text)} characters")
    return ModelReply(REPLIES[prompt])


def answer(palace: Mempalace, prompt: str) -> Answer:
    """Run the steps of one turn; the palace decides, and checks what the model said."""
    verdict = RetrievalEnforcer(palace).decide(prompt)
    steps = answer_steps(verdict, question=prompt, options=palace.answer_options)
    try:
        call = next(steps)
        while True:
            call = steps.send(call_model(prompt, call))
    except StopIteration as end:
        released: Answer = end.value
        return released


def main() -> None:
    """Print what a person gets to read for each prompt."""
    with tempfile.TemporaryDirectory() as folder:
        seed(load_preset("sample"), Path(folder))
        with Mempalace.open(folder) as palace:
            for prompt in REPLIES:
                print(f"> {prompt}")
                released = answer(palace, prompt)
                print(f"  {released.verdict.action}, {released.model_calls} calls: {released.text}")


if __name__ == "__main__":
    main()
