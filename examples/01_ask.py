"""Ask the sample palace: an answer with its source, a near miss, an honest no, and no question.

Run: python examples/01_ask.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from palace import Mempalace, RetrievalEnforcer, load_preset, seed

PROMPTS = (
    "When did we move to PostgreSQL 16?",
    "What is Tomas allergic to?",
    "When did we move to Oslo?",
    "Translate 'good morning' into French.",
)


def main() -> None:
    """Print what may happen with each prompt, before any model is called."""
    with tempfile.TemporaryDirectory() as folder:
        seed(load_preset("sample"), Path(folder))
        with Mempalace.open(folder) as palace:
            enforcer = RetrievalEnforcer(palace)
            for prompt in PROMPTS:
                verdict = enforcer.decide(prompt)
                print(f"> {prompt}")
                print(f"{verdict.action} ({verdict.outcome}): {verdict.text or 'left as it is'}\n")


if __name__ == "__main__":
    main()
