"""The prior of a memory: what it is worth beside its words, as log-odds that order near ties.

In: a memory's worth and a moment. Out: what is added to its rank, in [0, `LARGEST`].
"""

from __future__ import annotations

from datetime import datetime

from palace.learn.strength import faded
from palace.ports import Worth

STRENGTH_SHARE = 0.4
"""Log-odds between a memory that has faded away and one at full strength: trust, confidence, age,
use and feedback."""

IMPORTANCE_SHARE = 0.2
"""Log-odds between what is not important and what is most important."""

CORRECTION_SHARE = 0.1
"""Log-odds of what was said to put something right: corrections and negative memories."""

LARGEST = STRENGTH_SHARE + IMPORTANCE_SHARE + CORRECTION_SHARE


def prior(worth: Worth, *, at: datetime) -> float:
    """Return the prior of a memory, log-odds in [0, `LARGEST`].

    The shares are chosen, not fitted: enough to order what matches equally well, too little to lift
    what matches clearly worse. docs/decisions/0013 has what other sizes would cost.
    """
    corrects = worth.kind in ("correction", "negative")
    counts = worth.counts
    # Being shown alone makes nothing younger here: what was asked for before it changed would go
    # before what was told since.
    used = counts.last if counts.said_again or counts.helpful else None
    value = (
        STRENGTH_SHARE * faded(worth, used=used, at=at)
        + IMPORTANCE_SHARE * min(1.0, max(0.0, worth.importance))
        + CORRECTION_SHARE * corrects
    )
    # What was written together stays in the order of its file.
    return round(value, 2)
