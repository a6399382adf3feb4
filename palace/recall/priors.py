"""Near ties of the fitted ranking, ordered by what a memory is worth beside its words.

In: ranked candidates, and a prior in log-odds for each. Out: the same, the head in a new order.
Whether a candidate answers is judged without it.
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
        priors: Asked once, for the head of the ranking alone: nothing below it is judged.
    """
    head = ranked[:JUDGED]
    if not head:
        return []
    known = priors([s.candidate.key for s in head])
    moved = [_moved(s, known.get(s.candidate.key, 0.0)) for s in head]
    return [*sorted(moved, key=lambda s: -s.rank), *ranked[JUDGED:]]


def _moved(scored: Scored, prior: float) -> Scored:
    return scored._replace(rank=scored.rank + prior, prior=prior)
