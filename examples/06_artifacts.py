"""Let the palace read a file that a prompt names, live and only from an allowed folder.

Run: python examples/06_artifacts.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from palace import Mempalace, RetrievalEnforcer

SETTINGS = """\
artifacts:
  files:
    roots: [../project]
"""


def main() -> None:
    """Print what is found in an allowed file, and after the file has changed."""
    with tempfile.TemporaryDirectory() as folder:
        project, root = Path(folder, "project"), Path(folder, "palace")
        project.mkdir()
        root.mkdir()
        plan = project / "plan.md"
        settings = root / "mempalace.yaml"
        settings.write_text(SETTINGS, encoding="utf-8")
        with Mempalace.open(root, config=settings) as palace:
            enforcer = RetrievalEnforcer(palace)
            for date in ("2026-06-23", "2026-06-30"):
                plan.write_text(f"Release 2.5.0 is planned for {date}.\n", encoding="utf-8")
                verdict = enforcer.decide("When did we plan release 2.5.0, see plan.md?")
                print(f"{verdict.layer} {verdict.action}: {verdict.text}")
            outside = enforcer.decide("What did we write in /etc/hostname?")
            print(f"{outside.action} ({outside.outcome}): {outside.text}")


if __name__ == "__main__":
    main()
