"""Every example runs by itself, from anywhere, and shows what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHOWN = {
    "01_ask.py": ["ground (hit): We moved the database", "fallback (nothing_stored): I don't have"],
    "02_remember_and_ask.py": [
        "before:     I don't have this",
        "now:        The staging database uses port 5432.",
        "again:      duplicate",
        "other port: conflict",
        "corrected:  The staging database uses port 6432.",
    ],
    "03_session_scratchpad.py": [
        "monday, L2: The hotfix uses the branch release-2.4.",
        "tuesday: I don't have this",
        "tuesday, L1: We used the branch release-2.4",
    ],
    "04_wake_up.py": ["# Identity", "Mira asked for the release notes by noon.", "left out: "],
    "05_import_conversation.py": [
        "first import: 3 added, 0 unchanged",
        "second import: 0 added, 3 unchanged",
        "her name is Ada",
        "fallback: I don't have this",
    ],
    "06_artifacts.py": [
        "L3 ground: Release 2.5.0 is planned for 2026-06-23.",
        "L3 ground: Release 2.5.0 is planned for 2026-06-30.",
        "fallback (nothing_stored)",
    ],
    "07_before_a_model.py": [
        "ground, 1 calls: Tomas owns the backups [1].",
        "ground, 1 calls: We moved the database",
        "fallback, 0 calls: I don't have this",
        "pass, 1 calls: Rain taps the window.",
    ],
}


def test_every_example_is_tested():
    assert sorted(path.name for path in (ROOT / "examples").glob("0*.py")) == sorted(SHOWN)


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_example(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert [line for line in SHOWN[name] if line not in done.stdout] == []
    assert list(tmp_path.iterdir()) == []
