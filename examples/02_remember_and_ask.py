"""Remember a statement, find it with the very next question, and correct it.

Run: python examples/02_remember_and_ask.py
"""

from __future__ import annotations

import tempfile

from palace import Mempalace, RetrievalEnforcer

QUESTION = "Which port does our staging database use?"


def main() -> None:
    """Print what each write did, and what the same question finds before and after."""
    with tempfile.TemporaryDirectory() as folder, Mempalace.open(folder) as palace:
        enforcer = RetrievalEnforcer(palace)
        print("before:    ", enforcer.decide(QUESTION).text)

        first = palace.remember("The staging database uses port 5432.", room="infra")
        print("remember:  ", first.status, "in", first.memory.source)
        print("now:       ", enforcer.decide(QUESTION).text)

        again = palace.remember("The staging database uses port 5432.", room="infra")
        print("again:     ", again.status)

        other = palace.remember("The staging database uses port 6432.", room="infra")
        print("other port:", other.status, "with", other.memory.text)

        palace.remember(
            "The staging database uses port 6432.", room="infra", on_conflict="supersede"
        )
        print("corrected: ", enforcer.decide(QUESTION).text)


if __name__ == "__main__":
    main()
