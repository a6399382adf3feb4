"""Through the facade: what a memory is worth orders near ties, shows in every trace, hides nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from palace import Mempalace, Remembered, RetrievalEnforcer

FIRST = "The staging server of the bakery is called Juniper."
SECOND = "The staging server of the bakery is called Hazel."
QUESTION = "What is the staging server of the bakery called?"


def stored(palace: Mempalace, text: str, **fields: Any) -> str:
    result = palace.remember(text, room="work", on_conflict="keep", **fields)
    assert isinstance(result, Remembered)
    return result.memory.id


def order(palace: Mempalace) -> list[str]:
    return [hit.memory.id for hit in palace.search(QUESTION, top_k=2)]


def test_feedback_changes_the_order_of_two_equal_matches(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        first, second = (stored(palace, t, confidence=0.6) for t in (FIRST, SECOND))
        assert order(palace) == [first, second]
        palace.feedback(first, False)
        assert order(palace) == [second, first]
        palace.feedback(second, False)
        palace.feedback(second, False)
        assert order(palace) == [first, second]
        verdict = RetrievalEnforcer(palace).decide(QUESTION)
        assert [e.id for e in verdict.evidence[:2]] == [first, second]
    shutil.rmtree(tmp_path / ".palace")
    with Mempalace.open(tmp_path) as again:
        assert order(again) == [first, second]


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        ({"kind": "fact"}, {"kind": "correction"}),
        ({"source": "agent"}, {"source": "user"}),
        ({"importance": 0.5}, {"importance": 0.9}),
        ({"confidence": 0.5}, {"confidence": 0.9}),
    ],
)
def test_kind_source_importance_and_confidence_order_equal_matches(
    tmp_path: Path, worse: Any, better: Any
) -> None:
    with Mempalace.open(tmp_path) as palace:
        first = stored(palace, FIRST, **worse)
        second = stored(palace, SECOND, **better)
        assert order(palace) == [second, first]
        verdict = RetrievalEnforcer(palace).decide(QUESTION)
        assert [e.id for e in verdict.evidence[:2]] == [second, first]


def test_a_clearly_worse_match_is_never_lifted(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        plain = stored(palace, FIRST, source="system", confidence=0.1, importance=0.0)
        loud = stored(
            palace, "The bakery opens at six.", kind="correction", importance=1.0, confidence=1.0
        )
        for _ in range(5):
            palace.feedback(plain, False)
            palace.feedback(loud, True)
        assert order(palace) == [plain, loud]


def test_the_prior_is_shown(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        stored(palace, FIRST)
        [hit] = palace.search(QUESTION, top_k=1)
        assert 0.4 < hit.parts["prior"] < 0.6
        verdict = RetrievalEnforcer(palace).decide(QUESTION)
        assert "ranked with +0.50 for source, strength and importance" in verdict.explain()
        kept = palace.verdict(verdict.id)
        assert kept["judgement"]["prior"] == pytest.approx(0.5, abs=0.01)


def test_feedback_is_felt_again_when_the_index_is_lost_while_it_is_open(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        first, second = (stored(palace, t, confidence=0.6) for t in (FIRST, SECOND))
        palace.feedback(first, False)
        palace.reindex()
        assert order(palace) == [second, first]
        shutil.rmtree(tmp_path / ".palace")
        palace.refresh()
        assert order(palace) == [second, first]


def test_a_journal_that_cannot_be_read_keeps_nobody_out(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        first = stored(palace, FIRST)
    shutil.rmtree(tmp_path / ".palace")
    shutil.rmtree(tmp_path / "journal")
    (tmp_path / "journal").write_text("a file where a folder should be")
    with Mempalace.open(tmp_path) as palace:
        assert order(palace) == [first]
