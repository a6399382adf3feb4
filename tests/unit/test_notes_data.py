"""The project's own notes: every gold resolves, every verdict fits its family."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.datasets import cases_of, load_cases, open_notes
from palace import Mempalace

DATA = Path(__file__).parents[2] / "benchmarks" / "data"
PALACES = sorted(DATA.glob("notes*/palace_*"))
VERDICTS = {
    "unanswerable-near": "fallback",
    "wrong-person": "fallback",
    "unknown-entity": "fallback",
    "world-knowledge": "pass",
    "task": "pass",
    "hypothetical-and-howto-general": "pass",
    "machine-shaped": "pass",
    "chit-chat": "pass",
}


@pytest.fixture(params=PALACES, ids=lambda path: path.name)
def source(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture
def palace(source: Path, tmp_path: Path) -> Iterator[Mempalace]:
    with open_notes(source, tmp_path) as opened:
        yield opened


def test_there_are_palaces() -> None:
    assert len(PALACES) == 126


def test_every_gold_is_one_memory(source: Path, palace: Mempalace) -> None:
    cases = load_cases(cases_of(source))
    memories = [*palace.index.memories(), *palace.index.memories(layer="L4")]
    for case in cases:
        found = [m for m in memories if case.is_gold(m.text, m.source)]
        assert len(found) == len(case.gold), case.name


def test_cases_are_told_apart_and_judged_as_their_family_is(source: Path) -> None:
    cases = load_cases(cases_of(source))
    assert len({case.name for case in cases}) == len(cases)
    assert len({case.turn for case in cases}) == len(cases)
    for case in cases:
        assert case.expect == VERDICTS.get(case.family, case.expect), case.name
        assert bool(case.gold) == (case.expect == "ground"), case.name
        assert bool(case.turn.history) == (case.family == "follow-up"), case.name
