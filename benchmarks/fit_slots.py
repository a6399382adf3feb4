"""Fit which of several specifics fits a place of a sentence, and show what that catches.

In: the labelled answers of `benchmarks/data/answers*.jsonl`, but for the part held out. Out: the
weights that `palace/enforce/slots.py` reads, fitted on the honest answers alone: in each of their
sentences the specific that is said is the right one among those of its kind. Printed for each
author, whose answers were left out of the fit: honest answers in which another specific fits better
by more than the bar, and altered ones.

    python -m benchmarks.fit_slots [--write]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.answers import ALTERED, HELD_OUT, HONEST, Case, author, load_cases
from benchmarks.newton import Fitted, fit_choice
from palace.enforce.judging import CITATION
from palace.enforce.sentences import SentenceCutter
from palace.enforce.slots import FEATURES, Slot, Slots
from palace.enforce.specifics import is_german

WEIGHTS = Path(__file__).parents[1] / "palace" / "recall" / "weights" / "slots.json"
L2 = 15.0
BAR = 1.25


def main() -> None:
    """Print the leave-one-author-out table; write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights")
    arguments = parser.parse_args()
    rows = [(case, list(_slots(case))) for case in load_cases() if case.split not in HELD_OUT]
    for held_out in sorted({author(case) for case, _ in rows}):
        model = _fit([row for row in rows if author(row[0]) != held_out])
        own = [row for row in rows if author(row[0]) == held_out]
        counts = [
            f"{sum(_most(model, slots) > BAR for slots in group):3}/{len(group):3}"
            for labels in (HONEST, ALTERED)
            if (group := [slots for case, slots in own if case.label in labels])
        ]
        print(f"{held_out:8} honest flagged {counts[0]}  altered caught {counts[1]}")
    model = _fit(rows)
    weights = {
        name: round(float(w), 4) for name, w in zip(model.names, model.weights, strict=False)
    }
    print(weights)
    if arguments.write:
        content = {
            "provenance": "benchmarks/fit_slots.py on benchmarks/data/answers*.jsonl",
            "weights": weights,
            "bias": 0.0,
            "bars": {"misplaced": BAR},
        }
        WEIGHTS.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def _slots(case: Case) -> list[Slot]:
    cutter = SentenceCutter()
    known = Slots(case.texts, german=any(map(is_german, (case.question, *case.texts))))
    found: list[Slot] = []
    before = ""
    for sentence in (*cutter.feed(case.answer), *cutter.close()):
        bare = CITATION.sub(lambda match: " " * len(match[0]), sentence)
        found.extend(slot for slot in known.of(bare, case.question, before) if not slot.is_amount)
        before += bare
    return found


def _fit(rows: list[tuple[Case, list[Slot]]]) -> Fitted:
    groups = [
        (
            [{name: one.features[name] for name in FEATURES} for one in slot.candidates],
            [float(one.same) for one in slot.candidates],
        )
        for case, slots in rows
        if case.label in HONEST
        for slot in slots
    ]
    return fit_choice(groups, l2=L2)


def _most(model: Fitted, slots: list[Slot]) -> float:
    """Return by how much another specific fits better than the one said, at most."""
    return max((_margin(model, slot) for slot in slots), default=0.0)


def _margin(model: Fitted, slot: Slot) -> float:
    other, own = (
        max(model.log_odds(one.features) for one in slot.candidates if one.same is said)
        for said in (False, True)
    )
    return other - own


if __name__ == "__main__":
    main()
