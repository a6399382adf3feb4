"""Put a palace in front of a model: the verdict says whether the model is called, and with what.

Run: python examples/07_before_a_model.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from palace import Mempalace, RetrievalEnforcer, Verdict, load_preset, seed


def call_model(prompt: str) -> str:
    """Stand for your own call of a model; it shows what it would be sent."""
    return f"[a model answers {len(prompt.split())} words]"


def reply(verdict: Verdict) -> str:
    """Act on a verdict; only three of the six actions need a model."""
    prompt = verdict.turn.prompt
    if verdict.action in ("answer", "fallback", "confirm"):
        return verdict.text
    if verdict.action == "ground":
        return call_model(f"{prompt}\n\nAnswer from these memories only:\n{verdict.text}")
    return call_model(prompt)


def main() -> None:
    """Print the reply to three prompts."""
    prompts = ("Who owns the backups?", "When did we move to Oslo?", "Write a haiku about rain.")
    with tempfile.TemporaryDirectory() as folder:
        seed(load_preset("sample"), Path(folder))
        with Mempalace.open(folder) as palace:
            enforcer = RetrievalEnforcer(palace)
            for prompt in prompts:
                verdict = enforcer.decide(prompt)
                print(f"> {prompt}\n{verdict.action}: {reply(verdict)}")


if __name__ == "__main__":
    main()
