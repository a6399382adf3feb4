"""What one question, statement or search takes before it is answered: patterns, modules, weights.

Counted, not timed: each of these was a part of the processor time of the whole command.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from palace import Mempalace

ROOT = Path(__file__).parents[2]
# Counts the patterns that our modules have compiled, by the library that does it: one takes .1 to
# 10 ms, and with `regex` three times as long.
COUNTED = """
import atexit, json, re, regex, sys
counts = {"regex": 0, "re": 0}

def counted(library):
    compile = library.compile
    def count(*given, **named):
        if sys._getframe(1).f_globals["__name__"].startswith("palace"):
            counts[library.__name__] += 1
        return compile(*given, **named)
    library.compile = count

def tell():
    import gc
    from palace.recall.listed_weights import ListedWeights
    from palace.recall.logistic import load_model
    read = not isinstance(load_model("detector").known, ListedWeights)
    told = {"patterns": counts, "modules": sorted(sys.modules), "frozen": gc.get_freeze_count()}
    print(json.dumps({**told, "all_weights_read": read}), file=sys.stderr)

counted(re), counted(regex)
atexit.register(tell)
from palace.__main__ import main
main()
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("palace")
    with Mempalace.open(root) as palace:
        palace.lay_out()
        palace.remember("We shipped the parser on a Monday.")
    return root


def told_by(root: Path, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-c", COUNTED, "--root", str(root), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    return told


@pytest.mark.parametrize(
    ("words", "by_regex", "by_re"),
    [
        (("ask", "When did we ship the parser?"), 120, 110),
        (("search", "parser"), 75, 75),
        (("remember", "Mia painted the shed green."), 115, 60),
    ],
)
def test_few_patterns_are_compiled(
    root: Path, words: tuple[str, ...], by_regex: int, by_re: int
) -> None:
    told = told_by(root, *words)
    assert told["patterns"]["regex"] <= by_regex
    assert told["patterns"]["re"] <= by_re


def test_a_question_reads_and_imports_only_what_it_needs(root: Path) -> None:
    told = told_by(root, "ask", "When did we ship the parser?")
    assert not told["all_weights_read"]
    modules = set(told["modules"])
    assert "palace.recall.detector" in modules
    assert modules.isdisjoint(f"palace.learn.{name}" for name in ("turns", "foreign", "moment"))


def test_nothing_is_looked_through_at_the_end(root: Path) -> None:
    assert told_by(root, "search", "parser")["frozen"] > 10_000
