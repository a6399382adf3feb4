"""The examples for both frameworks run by themselves, offline, and show what they promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MISSED = "> When did we move to Oslo?\nI don't have this in my memory palace.\n"
SHOWN = {
    "20_langchain_chain.py": [
        "> When did we move to PostgreSQL 16?\nWe moved the database",
        "> What is Tomas allergic to?\nI don't have this in my memory palace.",
        MISSED,
        "> Write a haiku about rain.\nRain on the window",
        "model calls: 3",
    ],
    "21_langchain_agent.py": [
        MISSED,
        '  tool: {"status": "stored"',
        "Noted for good.",
        "The staging database listens on port 6432. [1]",
        "model calls: 3",
    ],
    "22_llama_index_query_engine.py": [
        "on 2026-03-14, with 11 minutes of downtime. #postgres [1]\n  ground, 1 model calls",
        f"{MISSED}  fallback, 0 model",
        "Ferns grow in the shade.\n  pass, 1 model calls",
    ],
    "23_llama_index_agent.py": [
        f"{MISSED}  fallback, 0 model",
        "It is kept.\n",
        "The harvest party starts at 18:00 on the terrace. [1]\n  ground, 1 model calls",
    ],
}


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}
    paths = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize("name", SHOWN)
def test_example(name, tmp_path):
    of_langchain = "langchain" in name
    pytest.importorskip("langchain" if of_langchain else "llama_index")
    warnings = "error" if of_langchain else "ignore"
    done = run("-W", warnings, str(ROOT / "examples" / name), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" or not of_langchain
    assert [line for line in SHOWN[name] if line not in done.stdout] == []


def test_the_benchmark_runs():
    pytest.importorskip("llama_index")
    benchmark = "benchmarks.adapter_overhead_llama"
    done = run("-W", "ignore", "-m", benchmark, "--rounds", "5", folder=ROOT)
    assert done.returncode == 0, done.stderr
    assert "goal: adapter <=" in done.stdout
