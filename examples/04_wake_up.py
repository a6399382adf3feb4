"""Start a session: identity, notes and the rooms that matter, within a token budget.

Run: python examples/04_wake_up.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from palace import Mempalace, load_preset, seed


def main() -> None:
    """Print the text a session starts with, and what did not fit."""
    with tempfile.TemporaryDirectory() as folder:
        seed(load_preset("sample"), Path(folder))
        with Mempalace.open(folder) as palace:
            palace.note("Mira asked for the release notes by noon.", session_id="today")
            wake_up = palace.wake_up("today", budget_tokens=300)
    print(wake_up.text)
    print(f"\n{wake_up.used_tokens} of {wake_up.budget_tokens} tokens used")
    for reason in wake_up.left_out:
        print("left out:", reason)


if __name__ == "__main__":
    main()
