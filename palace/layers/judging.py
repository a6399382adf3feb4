"""From scored candidates to a layer's report: confidences, bands and evidence.

In: scored candidates with their memories. Out: a `LayerReport` that only speaks of what it proved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from palace.errors import PalaceError
from palace.recall.logistic import log_odds_of
from palace.recall.scoring import JUDGED, Scored
from palace.recall.sufficiency import Sufficiency, Weighed
from palace.types.memory import Trust
from palace.types.verdict import Evidence, LayerName, LayerReport

EvidenceOf = Callable[[Sequence[Scored]], Mapping[int, Evidence]]
"""Loads candidates as evidence, by key. Left out is what vanished meanwhile, and what comes from a
source that is not trusted enough."""

# Unclear evidence below this is left out beside sufficient evidence: no model is asked to point.
_BESIDE_SUFFICIENT = 0.01
_LEFT_OUT = "what would answer is left out: it is below enforce.min_trust, or gone meanwhile"

TRUST_ORDER: tuple[Trust, ...] = ("user", "agent", "system")


def judge(
    layer: LayerName,
    scored: Sequence[Scored],
    *,
    evidence_of: EvidenceOf,
    sufficiency: Sufficiency,
    max_evidence: int,
    retired: Callable[[Sequence[Evidence]], Collection[str]] = lambda _evidence: (),
) -> LayerReport:
    """Judge the head of a ranking and report.

    Unclear evidence is dropped where nothing is sufficient and the first of the ranking has nothing
    to do with the question. Evidence that repeats the words of another piece stands behind all
    others, so that it takes no place from what says something else.

    Args:
        layer: Whose report this is.
        scored: Candidates, best rank first.
        evidence_of: Loads the words of candidates.
        sufficiency: The calibrated bar.
        max_evidence: Most pieces of evidence to hand on, >= 1.
        retired: Returns the ids of evidence that tells nothing of the time asked about; it stands
            behind all other evidence and proves nothing.
    """
    judged = [(sufficiency.weighed(one), one) for one in scored[:JUDGED]]
    judged.sort(key=lambda item: (item[1].place, -_order(item[0].promise, item[1])))
    sure = [item for item in judged if item[0].band == "sufficient"]
    sure.sort(key=lambda item: (item[1].place, -_order(item[0].confidence, item[1])))
    topic = sufficiency.topic(scored[0]) if scored and not sure else None
    off_topic = topic is not None and topic.is_missed
    least = _BESIDE_SUFFICIENT if sure else 0.0
    unclear = [i for i in judged if i[0].band == "unclear" and i[0].promise >= least]
    found = _loaded(sure if off_topic else [*sure, *unclear], evidence_of, most=max_evidence)
    over = retired([item for *_, item in found])
    found = _behind(found, over)
    if any(one.place for _, one, _ in found):
        ordered = no_surer_behind([item for *_, item in found])
        found = [(*each[:2], item) for each, item in zip(found, ordered, strict=True)]
    is_over = bool(found) and found[0][2].id in over
    first = found[0][:2] if found else judged[0] if judged else None
    judgement = sufficiency.judgement(first[1], first[0]) if first else None
    if judgement and not found and judgement.band != "none":
        judgement = replace(judgement, band="none", rule="off topic" if off_topic else "left out")
    if judgement and is_over:
        judgement = replace(judgement, band="unclear", rule="retired")
    is_left_out = bool(sure) and not is_over and not (found and found[0][0].band == "sufficient")
    if judgement and topic:
        judgement = replace(judgement, topic=topic.probability, on_topic_at=topic.bar)
    return LayerReport(
        layer,
        "unclear" if is_over else found[0][0].band if found else "none",
        candidates=len(scored),
        best=max((weighed.confidence for weighed, _ in judged), default=None),
        evidence=tuple(item for *_, item in found),
        judgement=judgement,
        reason=_LEFT_OUT if is_left_out else "",
    )


def _loaded(
    kept: Sequence[tuple[Weighed, Scored]], evidence_of: EvidenceOf, *, most: int
) -> list[tuple[Weighed, Scored, Evidence]]:
    """Return the first `most` that may be evidence, loaded; repetitions stand behind the rest."""
    found: list[tuple[Weighed, Scored, Evidence]] = []
    again: list[tuple[Weighed, Scored, Evidence]] = []
    said: set[Hashable] = set()
    while kept and len(found) < most:
        wanted = most - len(found)
        some, kept = kept[:wanted], kept[wanted:]
        bare = evidence_of([one for _, one in some])
        for weighed, one in some:
            if (item := bare.get(one.candidate.key)) is not None:
                item = replace(item, confidence=weighed.confidence, scores=one.features)
                words = _words(item)
                (again if words in said else found).append((weighed, one, item))
                said.add(words)
    return found + again[: most - len(found)]


def _behind(
    found: Sequence[tuple[Weighed, Scored, Evidence]], over: Collection[str]
) -> list[tuple[Weighed, Scored, Evidence]]:
    """Return what was found with some of it behind all others, and no surer than they are."""
    first = [each for each in found if each[2].id not in over]
    least = min((item.confidence for *_, item in first), default=1.0)
    last = [
        (weighed, one, replace(item, confidence=min(item.confidence, least)))
        for weighed, one, item in found
        if item.id in over
    ]
    return first + last


def no_surer_behind(evidence: Sequence[Evidence]) -> Iterator[Evidence]:
    """Yield evidence whose order tells more than its confidence, none surer than the one before."""
    least = 1.0
    for item in evidence:
        least = min(least, item.confidence)
        yield replace(item, confidence=least)


def _words(item: Evidence) -> Hashable:
    """Return what evidence says: by whom, of which day."""
    return " ".join(item.text.split()), item.trust, item.as_of and item.as_of.date()


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
