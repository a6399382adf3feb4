"""Note something for one session, and promote it to the palace on purpose.

Run: python examples/03_session_scratchpad.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from palace import Mempalace, RetrievalEnforcer, load_preset, seed

QUESTION = "Which branch did we use for the hotfix?"


def main() -> None:
    """Print who can see a note before and after it is promoted."""
    with tempfile.TemporaryDirectory() as folder:
        seed(load_preset("sample"), Path(folder))
        with Mempalace.open(folder) as palace:
            enforcer = RetrievalEnforcer(palace)
            entry = palace.note("The hotfix uses the branch release-2.4.", session_id="monday")

            monday = enforcer.decide(QUESTION, session_id="monday")
            print(f"monday, {monday.layer}:", monday.text)
            tuesday = enforcer.decide(QUESTION, session_id="tuesday")
            print("tuesday:", tuesday.text)

            palace.promote_to_palace(
                entry,
                "deploy",
                "hotfixes",
                summary="We used the branch release-2.4 for the hotfix.",
                reason="the next hotfix starts from it",
            )
            tuesday = enforcer.decide(QUESTION, session_id="tuesday")
            print(f"tuesday, {tuesday.layer}:", tuesday.text)


if __name__ == "__main__":
    main()
