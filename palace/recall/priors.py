"""What is known of memories beside their words, after the fitted ranking: near ties are ordered.

In: ranked candidates, and a prior in log-odds for each. Out: the same, the head in a new order.
What is judged of a candidate, whether it answers, does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from palace.recall.scoring import JUDGED, Scored

Priors = Callable[[Sequence[int]], Mapping[int, float]]
"""From candidate keys to log-odds, none below 0; a key that is missing has none."""


def with_priors(ranked: Sequence[Scored], priors: Priors) -> list[Scored]:
    """Return the candidates with the priors of the head added to their ranks.

    Args:
        ranked: Best first, ranks in log-odds.
        priors: Asked once, for the head alone: what stands below was never the answer.
    """
    head = ranked[:JUDGED]
    if not head:
        return []
    known = priors([s.candidate.key for s in head])
    moved = [_moved(s, known.get(s.candidate.key, 0.0)) for s in head]
    return [*sorted(moved, key=lambda s: -s.rank), *ranked[JUDGED:]]


def _moved(scored: Scored, prior: float) -> Scored:
    return scored._replace(rank=scored.rank + prior, prior=prior)
