"""The bar from two populations: how sure a palace is of what it holds, and of what it does not.

In: confidences of questions asked with and without the answer. Out: the lowest bar that keeps a
stated rate of false hits, or the reason why there is none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from palace.recall.held_out import Asked, Kind
from palace.text import counted

# One-sided 95 %.
_Z = 1.645
KEPT_AT_LEAST = 0.5
# The band below stays wide: what is unclear is only confirmed, never presented.
_UNCLEAR_KEEPS = 0.95
_STEPS = 1000
_FEW_HINT = "write more into it first, into two rooms or more; the shipped bars stay"
_OVERLAP_HINT = "allow a higher rate with --rate, or let an embedder find what words do not"


@dataclass(frozen=True, slots=True)
class KindCalibration:
    """What the questions about one kind of memory said.

    Attributes:
        kind: `statement` or `turn`: each is judged by a model of its own.
        memories: Memories of this kind that could be asked about.
        questions: Questions made out of them, each asked twice.
        bar_now: The bar in force.
        bar_shipped: The fitted bar; no calibration goes below it.
        kept_now: Share of questions whose memory reaches the bar in force, in [0, 1].
        false_hits_now: Share that something else reaches it once the memory's part is hidden.
        bar: The lowest bar from the shipped one up that keeps the rate, None where there is none.
        kept: As `kept_now`, at `bar`.
        false_hits: As `false_hits_now`, at `bar`.
        at_most: Upper 95 % confidence bound of `false_hits`.
        unclear_at: Confidence that 95 % of the memories found reach, or the shipped bar if that is
            lower: people use other words than these questions do.
        reason: Why there is no bar, else "".
        too_few: Whether that is because there was too little to ask.
    """

    kind: Kind
    memories: int
    questions: int
    bar_now: float
    bar_shipped: float
    kept_now: float | None = None
    false_hits_now: float | None = None
    bar: float | None = None
    kept: float | None = None
    false_hits: float | None = None
    at_most: float | None = None
    unclear_at: float | None = None
    reason: str = ""
    too_few: bool = False


@dataclass(frozen=True, slots=True)
class Calibration:
    """The bars that fit a palace, or why none do.

    Attributes:
        false_hit_rate: The rate that was asked for.
        sufficient_at: For `sufficiency.sufficient_at`; None where calibration is refused.
        unclear_at: For `sufficiency.unclear_at`; None likewise.
        kinds: What statements and turns said, apart.
        reason: Why it is refused, else "".
        hint: What to do then.
        file: The settings file the bars were written to, if they were.
    """

    false_hit_rate: float
    sufficient_at: float | None
    unclear_at: float | None
    kinds: tuple[KindCalibration, ...]
    reason: str = ""
    hint: str = ""
    file: Path | None = None


def upper_bound(hits: int, total: int) -> float:
    """Return the upper 95 % bound of a share, one-sided; 1 of nothing.

    Source: the score interval of Wilson 1927.
    """
    if not total:
        return 1.0
    share, square = hits / total, _Z * _Z / total
    spread = _Z * math.sqrt(share * (1 - share) / total + square / (4 * total))
    return max(share, min((share + square / 2 + spread) / (1 + square), 1.0))


def fewest_questions(rate: float) -> int:
    """Return how many questions it takes to show a rate when not one of them goes wrong."""
    return math.ceil(_Z * _Z * (1 - rate) / rate - 1e-9)


def lowest_bar(wrong: Sequence[float], rate: float) -> float | None:
    """Return the lowest bar, in thousandths, whose false hits are shown to keep the rate.

    Args:
        wrong: Confidences in something where nothing answers.
        rate: Most false hits, in (0, 1), with 95 % confidence.

    Returns:
        A bar in (0, 1], or None if there are too few to show it.
    """
    allowed = -1
    while allowed < len(wrong) and upper_bound(allowed + 1, len(wrong)) <= rate:
        allowed += 1
    if allowed < 0:
        return None
    highest = sorted(wrong, reverse=True)[allowed:]
    return min((math.floor(highest[0] * _STEPS) + 1) / _STEPS, 1.0) if highest else 1 / _STEPS


def share_reaching(confidences: Sequence[float], bar: float) -> float:
    """Return the share of confidences at or above a bar; 0 of nothing."""
    return sum(c >= bar for c in confidences) / len(confidences) if confidences else 0.0


def calibrated_kind(
    kind: Kind,
    asked: Sequence[Asked],
    *,
    memories: int,
    parts: int,
    bar_now: float,
    shipped: tuple[float, float],
    rate: float,
) -> KindCalibration:
    """Return what the questions about one kind say.

    Args:
        kind: Which kind.
        asked: Its questions.
        memories: How many memories of the kind there are.
        parts: How many rooms or pages they stand in.
        bar_now: The bar in force for the kind, in [0, 1].
        shipped: The fitted bars of the kind, each in [0, 1]: sufficient from, unclear from.
        rate: Most false hits, in (0, 1).
    """
    right, wrong = [a.right for a in asked], [a.wrong for a in asked]
    common = KindCalibration(kind, memories, len(asked), bar_now, shipped[0])
    few = _too_few(kind, questions=len(asked), parts=parts, rate=rate)
    if few:
        return replace(common, reason=few, too_few=True)
    # A hidden room cannot show what the shipped bar was fitted on as well: questions about a thing
    # that is known, for a detail that is not.
    bar = max(lowest_bar(wrong, rate) or 1.0, shipped[0])
    hits = sum(w >= bar for w in wrong)
    kept = share_reaching(right, bar)
    found = sorted(r for r in right if r > 0)
    surest = found[math.floor((1 - _UNCLEAR_KEEPS) * len(found))] if found else 0.0
    overlap = (
        f"the populations of {kind}s overlap: the bar {bar:.3f} that keeps false hits at"
        f" {rate:.0%} keeps only {kept:.0%} of what is there"
    )
    return replace(
        common,
        kept_now=share_reaching(right, bar_now),
        false_hits_now=share_reaching(wrong, bar_now),
        bar=bar if kept >= KEPT_AT_LEAST else None,
        kept=kept,
        false_hits=hits / len(wrong),
        at_most=upper_bound(hits, len(wrong)),
        # At 0 all there is would be unclear, and nothing ever missing.
        unclear_at=min(max(math.floor(surest * _STEPS), 1) / _STEPS, shipped[1]),
        reason="" if kept >= KEPT_AT_LEAST else overlap,
    )


def _too_few(kind: Kind, *, questions: int, parts: int, rate: float) -> str:
    """Say why nothing can be measured on so little; "" where it can."""
    if parts < 2:
        place = "pages of conversation" if kind == "turn" else "rooms"
        return f"too few {kind}s: they need at least 2 {place}"
    needed = fewest_questions(rate)
    if questions < needed:
        made = counted(questions, "question")
        return f"too few {kind}s: {made} could be made and {needed} are needed"
    return ""


def calibration(
    kinds: Sequence[KindCalibration], asked: Mapping[Kind, Sequence[Asked]], *, rate: float
) -> Calibration:
    """Return the bars that serve every kind the palace holds, or the refusal.

    The settings know one bar for statements and turns, so the stricter one is taken; a kind that
    could not be measured never gets a looser bar than the shipped one.

    Args:
        kinds: What each kind said.
        asked: The questions of each kind.
        rate: Most false hits, in (0, 1).
    """

    def refused(reason: str, hint: str) -> Calibration:
        return Calibration(rate, None, None, tuple(kinds), reason, hint)

    overlapping = [k for k in kinds if k.reason and not k.too_few]
    if overlapping:
        return refused(overlapping[0].reason, _OVERLAP_HINT)
    measured = [k for k in kinds if k.bar is not None]
    if not measured:
        reasons = [k.reason for k in kinds if k.memories] or ["the palace holds no memories"]
        return refused("; ".join(reasons), _FEW_HINT)
    bar = max(k.bar if k.bar is not None else k.bar_shipped for k in kinds if k.memories)
    for kind in measured:
        kept = share_reaching([a.right for a in asked[kind.kind]], bar)
        if kept < KEPT_AT_LEAST:
            return refused(
                f"one bar cannot serve statements and turns: {bar:.3f} keeps only {kept:.0%} of"
                f" the {kind.kind}s",
                "the shipped bars, which differ, stay",
            )
    unclear = min(k.unclear_at for k in measured if k.unclear_at is not None)
    return Calibration(rate, bar, min(unclear, bar), tuple(kinds))
