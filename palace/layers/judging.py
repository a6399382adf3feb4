"""From scored candidates to a layer's report: confidences, bands and evidence.

In: scored candidates with their memories. Out: a `LayerReport` that only speaks of what it proved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from palace.errors import PalaceError
from palace.recall.logistic import log_odds_of
from palace.recall.scoring import Scored
from palace.recall.sufficiency import Sufficiency
from palace.types import Band, Evidence, LayerName, LayerReport, Trust

TRUST_ORDER: tuple[Trust, ...] = ("user", "agent", "system")

# Only the head of a ranking is judged: what stands below never was the answer in any measurement.
JUDGED = 10


def judge(
    layer: LayerName,
    scored: Sequence[Scored],
    *,
    evidence_of: Callable[[Scored], Evidence | None],
    sufficiency: Sufficiency,
    max_evidence: int,
) -> LayerReport:
    """Judge the head of a ranking and report.

    Args:
        layer: Whose report this is.
        scored: Candidates, best rank first.
        evidence_of: Turns a scored candidate into bare evidence, or None where it may not be one
            (it vanished, or its source is not trusted enough).
        sufficiency: The calibrated bar.
        max_evidence: Most pieces of evidence to hand on, >= 1.
    """
    head = sorted(scored[:JUDGED], key=lambda s: -_order(sufficiency.promise(s), s))
    judged = [(sufficiency.confidence(s), s) for s in head]
    bands = [(sufficiency.band(s, c), c, s) for c, s in judged]
    kept = [item for item in bands if item[0] != "none"]
    kept.sort(
        key=lambda item: (
            item[0] != "sufficient",
            -_order(item[1], item[2]) if item[0] == "sufficient" else 0,
        )
    )
    found: list[tuple[Band, Scored, Evidence]] = []
    for band, confidence, one in kept:
        bare = evidence_of(one) if len(found) < max_evidence else None
        if bare is not None:
            found.append((band, one, replace(bare, confidence=confidence, scores=one.features)))
    told = found[0][1] if found else judged[0][1] if judged else None
    return LayerReport(
        layer,
        found[0][0] if found else "none",
        candidates=len(scored),
        best=max((c for c, _ in judged), default=None),
        evidence=tuple(item for *_, item in found),
        judgement=sufficiency.judgement(told) if told else None,
    )


def _order(probability: float, scored: Scored) -> float:
    """Return what orders evidence: near ties by what the memories are worth."""
    return log_odds_of(probability) + scored.prior


def timed(layer: LayerName, gather: Callable[[], LayerReport]) -> LayerReport:
    """Run a gathering, note how long it took, and turn a failure into `unavailable`."""
    started = time.perf_counter()
    try:
        report = gather()
    except PalaceError as error:
        report = LayerReport(layer, "unavailable", reason=error.message)
    return replace(report, elapsed_ms=(time.perf_counter() - started) * 1000)


def trusted(min_trust: Trust) -> frozenset[Trust]:
    """Return whose word may make evidence: this trust and every higher one."""
    return frozenset(TRUST_ORDER[: TRUST_ORDER.index(min_trust) + 1])
