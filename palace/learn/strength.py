"""How strong a memory is at a moment: what it was worth, faded by age and held up by use.

In: a memory, how it was used, a moment. Out: a number in [0, 1]; nothing is changed or hidden.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

from palace.ports import UNUSED, UseCounts, Worth
from palace.types.memory import Memory, MemoryKind, Trust

HALF_LIFE_DAYS: Mapping[MemoryKind, float] = {
    "correction": 365.0,
    "negative": 365.0,
    "preference": 90.0,
    "procedure": 60.0,
    "fact": 30.0,
    "event": math.inf,
}
"""Days until half of a memory's strength is gone, if nobody uses it; an event stays what it was."""

INFERRED_HALF_LIFE_DAYS = 7.0
"""Half-life in days of what nobody said: every memory whose source is `system`."""

TRUST_FACTORS: Mapping[Trust, float] = {"user": 1.0, "agent": 0.8, "system": 0.6}
"""What a source's word is worth beside a person's."""

_DAY_S = 86400.0
_FEEDBACK_SHARE = 0.5
_FEEDBACK_PRIOR = 2.0


def half_life_days(memory: Memory | Worth) -> float:
    """Return the half-life of an unused memory in days; infinite for an event."""
    own = HALF_LIFE_DAYS[memory.kind]
    inferred = memory.trust == "system" and math.isfinite(own)
    return min(own, INFERRED_HALF_LIFE_DAYS) if inferred else own


def feedback_factor(helpful: int, unhelpful: int) -> float:
    """Return the factor of feedback, between 0.5 and 1.5; 1 without any.

    `1 + 0.5 * (helpful - unhelpful) / (helpful + unhelpful + 2)`: one voice moves it by a sixth.

    Args:
        helpful: Times it was called helpful, >= 0.
        unhelpful: Times it was called not helpful, >= 0.
    """
    balance = (helpful - unhelpful) / (helpful + unhelpful + _FEEDBACK_PRIOR)
    return 1.0 + _FEEDBACK_SHARE * balance


def strength(memory: Memory, counts: UseCounts = UNUSED, *, at: datetime) -> float:
    """Return how strong a memory is at a moment, in [0, 1].

    `confidence * trust * feedback * 0.5 ** (age / (half_life * (1 + ln(1 + n))))`, cut off at 1.

    `age` is the time in days since the memory was last written, used, said again or called
    helpful; `n` is how often it was used or said again. A memory without any date has no age.

    Memories fade exponentially (H. Ebbinghaus, "Über das Gedächtnis", 1885), and the half-life
    grows with repetition, as in the half-life regression of B. Settles and B. Meeder ("A Trainable
    Spaced Repetition Model for Language Learning", ACL 2016). There it is fitted and doubles with
    each success; here nobody tests the reader, so it grows with the logarithm only.

    Args:
        memory: The memory.
        counts: How it was used.
        at: The moment, aware.
    """
    dates = [moment for moment in (memory.created, memory.updated) if moment is not None]
    worth = Worth(
        kind=memory.kind,
        trust=memory.trust,
        confidence=memory.confidence,
        importance=memory.importance,
        dated=max(dates, default=None),
        counts=counts,
    )
    return faded(worth, used=counts.last, at=at)


def faded(worth: Worth, *, used: datetime | None, at: datetime) -> float:
    """Return the strength of what is worth so much; see `strength`.

    Args:
        worth: Of a memory.
        used: When a use last made it younger; None if none did.
        at: The moment, aware.
    """
    counts = worth.counts
    moments = [m for m in (worth.dated, used) if m is not None]
    age_days = max(0.0, (at - max(moments)).total_seconds() / _DAY_S) if moments else 0.0
    lasting = half_life_days(worth) * (1.0 + math.log1p(counts.uses + counts.said_again))
    value = worth.confidence * TRUST_FACTORS[worth.trust]
    value *= feedback_factor(counts.helpful, counts.unhelpful) * math.pow(0.5, age_days / lasting)
    return min(1.0, max(0.0, value))
