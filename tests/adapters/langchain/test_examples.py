"""The examples run by themselves, offline, and show what they promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SHOWN = {
    "20_langchain_chain.py": [
        "> When did we move to PostgreSQL 16?\nWe moved the database",
        "> What is Tomas allergic to?\nI don't have this in my memory palace.",
        "> When did we move to Oslo?\nI don't have this in my memory palace.\n",
        "> Write a haiku about rain.\nRain on the window",
        "model calls: 3",
    ],
    "21_langchain_agent.py": [
        "> When did we move to Oslo?\nI don't have this in my memory palace.\n",
        '  tool: {"status": "stored"',
        "Noted for good.",
        "The staging database listens on port 6432. [1]",
        "model calls: 3",
    ],
}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_example(name, tmp_path):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name)],
        cwd=tmp_path,
        env={**kept, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'adapters'}"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stderr == ""
    assert [line for line in SHOWN[name] if line not in done.stdout] == []
