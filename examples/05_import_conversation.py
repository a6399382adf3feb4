"""Import a conversation and ask about it; importing it again adds nothing.

Run: python examples/05_import_conversation.py
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from palace import Mempalace, RetrievalEnforcer

TURNS = (
    ("Rosa", "I have found a flat in Lisbon, the lease starts in June.", "2026-03-02T18:20:00Z"),
    ("Emil", "Good news! I adopted a grey cat last week, her name is Ada.", "2026-03-02T18:21:00Z"),
    ("Rosa", "Then bring Ada along when you visit.", "2026-03-02T18:22:00Z"),
)


def write_conversation(path: Path) -> None:
    """Write the turns as JSON lines: session, speaker, text, at."""
    lines = (
        json.dumps({"session": "spring", "speaker": speaker, "text": text, "at": at})
        for speaker, text, at in TURNS
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Print what the import did, and what two questions find."""
    with tempfile.TemporaryDirectory() as folder:
        conversation = Path(folder, "conversation.jsonl")
        write_conversation(conversation)
        with Mempalace.open(Path(folder, "palace")) as palace:
            for attempt in ("first", "second"):
                done = palace.import_from(conversation)
                print(f"{attempt} import: {done.added} added, {done.unchanged} unchanged")
            enforcer = RetrievalEnforcer(palace)
            for prompt in ("What is the name of Emil's cat?", "What did Olga say about Lisbon?"):
                verdict = enforcer.decide(prompt)
                print(f"> {prompt}\n{verdict.action}: {verdict.text}")


if __name__ == "__main__":
    main()
