"""How words and meaning are joined into one order.

In: candidates in the order of the fitted ranking, and cosines. Out: the order a setting asks for.
The default is the fitted ranking itself: it looks at how much of the question the words cover, and
trusts the cosine where they do not. Fixed weights and reciprocal ranks cannot do that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from palace.recall.scoring import Scored

# Cormack, Clarke & Buettcher 2009.
_RRF_K = 60


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the channels are joined.

    Attributes:
        method: `question`: the fitted ranking; `weighted`: fixed shares of both channels, each
            scaled to [0, 1] among the candidates; `rrf`: reciprocal rank fusion.
        vector_share: Share of meaning in `weighted`, in [0, 1]; words have the rest.
    """

    method: Literal["question", "weighted", "rrf"] = "question"
    vector_share: float = 0.7


QUESTION = Fusion()


def fused(ranked: Sequence[Scored], cosines: Mapping[int, float], fusion: Fusion) -> list[Scored]:
    """Return the candidates in the order of the fusion; a candidate of one channel is kept.

    Args:
        ranked: All candidates, best first by the fitted ranking.
        cosines: Candidate key -> cosine.
        fusion: What is asked for.
    """
    if fusion.method == "question" or not ranked:
        return list(ranked)
    words = {s.candidate.key: s.candidate.bm25 for s in ranked}
    meaning = {s.candidate.key: cosines.get(s.candidate.key, 0.0) for s in ranked}
    if fusion.method == "rrf":
        words, meaning = _reciprocal(words), _reciprocal(meaning)
        share = 0.5
    else:
        words, meaning = _scaled(words), _scaled(meaning)
        share = fusion.vector_share
    joined = {key: share * meaning[key] + (1 - share) * words[key] for key in words}
    order = sorted(ranked, key=lambda s: -joined[s.candidate.key])
    return [s._replace(rank=joined[s.candidate.key]) for s in order]


def _scaled(values: Mapping[int, float]) -> dict[int, float]:
    low, high = min(values.values()), max(values.values())
    spread = high - low
    return {key: (value - low) / spread if spread else 0.0 for key, value in values.items()}


def _reciprocal(values: Mapping[int, float]) -> dict[int, float]:
    """Return 1 / (k + rank); what a channel did not find has no share of it."""
    found = sorted((key for key, value in values.items() if value > 0), key=lambda k: -values[k])
    ranks = {key: 1.0 / (_RRF_K + rank) for rank, key in enumerate(found, 1)}
    return {key: ranks.get(key, 0.0) for key in values}
