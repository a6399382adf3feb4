"""The examples for LlamaIndex run by themselves, offline, and show what they promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SHOWN = {
    "22_llama_index_query_engine.py": [
        "on 2026-03-14, with 11 minutes of downtime. #postgres [1]\n  ground, 1 model calls",
        "> When did we move to Oslo?\nI don't have this in my memory palace.\n  fallback, 0 model",
        "Ferns grow in the shade.\n  pass, 1 model calls",
    ],
    "23_llama_index_agent.py": [
        "> When did we move to Oslo?\nI don't have this in my memory palace.\n  fallback, 0 model",
        "It is kept.\n",
        "The harvest party starts at 18:00 on the terrace. [1]\n  ground, 1 model calls",
    ],
}


def run(name: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}
    return subprocess.run(
        [sys.executable, "-W", "ignore", str(ROOT / "examples" / name)],
        cwd=folder,
        env={**kept, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_example(name, tmp_path):
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line for line in SHOWN[name] if line not in done.stdout] == []


def test_the_benchmark_runs(tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "benchmarks.adapter_overhead_llama",
            "--rounds",
            "5",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "adapters")])},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "goal: adapter <=" in done.stdout
