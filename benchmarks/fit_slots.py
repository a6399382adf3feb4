"""Fit when a specific of an answer stands in the place of another, and show what that catches.

In: the labelled answers of `benchmarks/data/answers*.jsonl`, but for the parts held out. Out: the
weights that `palace/enforce/slots.py` reads. How well a specific fits a place is fitted on the
honest answers alone: in each of their sentences the one that is said is the right one among those
of its kind. Whether it was swapped is fitted on honest and altered answers that nothing else
flags; of an altered one, the place where another fits best is taken for the altered one. Printed
for each author, whose answers were left out of both fits: honest answers that are flagged, and
altered ones; then both over all authors for several bars.

    python -m benchmarks.fit_slots [--write]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from benchmarks.answers import ALTERED, HELD_OUT, HONEST, Case, author, load_cases
from benchmarks.linear_models import Fitted, fit_choice, fit_logistic
from palace.enforce.slots import FEATURES, Slot, Slots
from palace.recall.logistic import LogisticModel

WEIGHTS = Path(__file__).parents[1] / "palace" / "recall" / "weights"
L2_FIT = 15.0
L2_SWAP = 3.0
BAR = -0.75
BARS = (1.0, 0.5, 0.0, -0.5, -0.75, -1.0, -1.5)


@dataclass(frozen=True)
class Row:
    """An answer that nothing else flags, and its slots."""

    case: Case
    slots: tuple[Slot, ...]

    @property
    def honest(self) -> bool:
        """Whether it is labelled honest; else it is altered."""
        return self.case.label in HONEST


def main() -> None:
    """Print the leave-one-author-out tables; write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights")
    arguments = parser.parse_args()
    rows = list(_rows(c for c in load_cases() if c.split not in HELD_OUT))
    odds: list[tuple[Row, float]] = []
    for held_out in sorted({author(row.case) for row in rows}):
        fitting, swapped = _fit([row for row in rows if author(row.case) != held_out])
        own = [(r, _most(fitting, swapped, r)) for r in rows if author(r.case) == held_out]
        print(f"{held_out:8} {_counted(own, BAR)}")
        odds += own
    for bar in BARS:
        print(f"all, bar {bar:5} {_counted(odds, bar)}")
    fitting, swapped = _fit(rows)
    for name, model, bars in (("slots", fitting, {}), ("swaps", swapped, {"misplaced": BAR})):
        print(name, model.weights, model.bias)
        if arguments.write:
            content = {
                "provenance": "benchmarks/fit_slots.py on benchmarks/data/answers*.jsonl",
                "weights": model.weights,
                "bias": model.bias,
                "bars": bars,
            }
            path = WEIGHTS / f"{name}.json"
            path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def _rows(cases: Iterable[Case]) -> Iterable[Row]:
    found: list[Slot] = []

    def record(slots: Slots, sentence: str, asked: str = "", before: str = "") -> list[str]:
        found.extend(slots.of(sentence, asked, before))
        return []

    with patch.object(Slots, "misplaced", record):
        for case in cases:
            found.clear()
            if case.label in (*HONEST, *ALTERED) and case.check.check(case.answer).supported:
                yield Row(case, tuple(found))


def _fit(rows: Sequence[Row]) -> tuple[LogisticModel, LogisticModel]:
    """Return how well a candidate fits a place, and whether another one was meant."""
    groups = [
        (
            [{name: one.features[name] for name in FEATURES} for one in slot.candidates],
            [float(one.same) for one in slot.candidates],
        )
        for row in rows
        if row.honest
        for slot in row.slots
    ]
    fitting = _rounded(fit_choice(groups, l2=L2_FIT))
    features: list[dict[str, float]] = []
    labels: list[float] = []
    for row in rows:
        found = [slot.features(fitting) for slot in row.slots]
        if not row.honest:
            found = sorted(found, key=lambda one: one["other"] - one["own"])[-1:]
        features += found
        labels += [float(not row.honest)] * len(found)
    swapped = fit_logistic(features, labels, weights=[1.0] * len(labels), l2=L2_SWAP)
    return fitting, _rounded(swapped)


def _rounded(model: Fitted) -> LogisticModel:
    weights = [round(float(weight), 4) for weight in model.weights]
    return LogisticModel(dict(zip(model.names, weights, strict=False)), weights[-1], {})


def _most(fitting: LogisticModel, swapped: LogisticModel, row: Row) -> float:
    """Return the log-odds that a specific of an answer was swapped, at most."""
    odds = (swapped.log_odds(slot.features(fitting)) for slot in row.slots)
    return max(odds, default=-float("inf"))


def _counted(odds: Sequence[tuple[Row, float]], bar: float) -> str:
    honest, altered = (
        f"{sum(most > bar for _, most in group):3}/{len(group):4}"
        for is_honest in (True, False)
        for group in ([one for one in odds if one[0].honest is is_honest],)
    )
    return f"honest flagged {honest}  altered caught {altered}"


if __name__ == "__main__":
    main()
