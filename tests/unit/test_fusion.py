"""How words and meaning are joined."""

from __future__ import annotations

import pytest

from palace.ports import Candidate
from palace.recall.fusion import QUESTION, Fusion, fused
from palace.recall.scoring import Scored


def scored(key: int, bm25: float, rank: float = 0.0) -> Scored:
    return Scored(Candidate(key, "a.md", key, "", (), (), bm25=bm25), rank, {})


RANKED = [scored(1, 9.0, 3.0), scored(2, 4.0, 2.0), scored(3, 0.0, 1.0)]
COSINES = {1: 0.1, 2: 0.5, 3: 0.9}


def keys(found: list[Scored]) -> list[int]:
    return [s.candidate.key for s in found]


def test_the_fitted_ranking_is_left_alone() -> None:
    assert fused(RANKED, COSINES, QUESTION) == RANKED
    assert fused([], COSINES, Fusion("rrf")) == []


def test_fixed_shares() -> None:
    assert keys(fused(RANKED, COSINES, Fusion("weighted", vector_share=1.0))) == [3, 2, 1]
    assert keys(fused(RANKED, COSINES, Fusion("weighted", vector_share=0.0))) == [1, 2, 3]
    assert keys(fused(RANKED, COSINES, Fusion("weighted", vector_share=0.7)))[0] == 3


def test_reciprocal_ranks_reward_agreement() -> None:
    ranked = [scored(1, 9.0), scored(2, 8.0), scored(3, 0.0)]
    assert keys(fused(ranked, {1: 0.2, 2: 0.9, 3: 0.8}, Fusion("rrf")))[0] == 2


@pytest.mark.parametrize("method", ["question", "weighted", "rrf"])
def test_a_candidate_of_one_channel_is_kept(method: str) -> None:
    fusion = Fusion(method)  # type: ignore[arg-type]
    only_words, only_meaning = scored(1, 9.0), scored(2, 0.0)
    assert set(keys(fused([only_words, only_meaning], {2: 0.9}, fusion))) == {1, 2}


@pytest.mark.parametrize("method", ["weighted", "rrf"])
def test_equal_values_keep_the_order(method: str) -> None:
    fusion = Fusion(method)  # type: ignore[arg-type]
    assert keys(fused([scored(1, 0.0), scored(2, 0.0)], {}, fusion)) == [1, 2]
