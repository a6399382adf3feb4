"""How often the palace is right when it is this sure: the reliability of its confidences.

Run:
    python -m benchmarks.reliability --locomo FILE --notes DIR --out PNG --json OUT

In: conversations and notes with cases. Out: for statements and turns, held-out confidences in ten
bins against the share that is right, and the expected calibration error; a diagram where matplotlib
is installed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import results_file, run, say
from benchmarks.datasets import BadDataError, load_locomo, notes_in, open_notes
from benchmarks.embedders import add_option, embed_all, use
from benchmarks.fit_recall import (
    Judged,
    conversation_questions,
    held_out_confidences,
    notes_questions,
    ranked_out_of_fold,
)
from benchmarks.measures import mean, report

BINS = 10


def reliability(confidences: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """Return the bins that hold something, and the expected calibration error over them.

    Source: Naeini, Cooper & Hauskrecht 2015, with bins of equal width.

    Args:
        confidences: Each with whether it was right.
    """
    bins = []
    for number in range(BINS):
        inside = [(p, r) for p, r in confidences if min(int(p * BINS), BINS - 1) == number]
        if inside:
            bins.append(
                {
                    "from": number / BINS,
                    "to": (number + 1) / BINS,
                    "n": len(inside),
                    "confidence": mean([p for p, _ in inside]),
                    "right": mean([float(r) for _, r in inside]),
                }
            )
    gaps = [b["n"] * abs(b["confidence"] - b["right"]) for b in bins]
    return {"n": len(confidences), "ece": sum(gaps) / max(len(confidences), 1), "bins": bins}


def draw(results: Mapping[str, Mapping[str, Any]], path: Path) -> bool:
    """Draw the diagram, one panel for each kind; False where matplotlib is not installed."""
    try:
        import matplotlib as mpl
    except ImportError:
        return False
    mpl.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(results), figsize=(5 * len(results), 4.6))
    for panel, (kind, result) in zip(panels, results.items(), strict=True):
        panel.plot([0, 1], [0, 1], color="0.7", linestyle="--")
        panel.plot(
            [b["confidence"] for b in result["bins"]],
            [b["right"] for b in result["bins"]],
            marker="o",
        )
        for one in result["bins"]:
            place = (one["confidence"], one["right"])
            panel.annotate(one["n"], place, (4, -10), textcoords="offset points", fontsize=8)
        panel.set(
            title=f"{kind}s: calibration error {result['ece']:.3f}",
            xlabel="confidence",
            ylabel="share that is right",
            xlim=(0, 1),
            ylim=(0, 1),
        )
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    return True


def questions(locomo: Path, notes: Path, folder: Path) -> list[Judged]:
    """Return every question of conversations and notes with what was found for it.

    Raises:
        BadDataError: If there are fewer than two conversations or palaces of notes.
    """
    conversations, own = load_locomo(locomo), notes_in(notes)
    rows, palaces = conversation_questions(conversations, folder)
    for source, cases in own:
        palace = open_notes(source, folder)
        embed_all(palace)
        palaces.append(palace)
        rows.extend(notes_questions(palace, cases))
    for palace in palaces:
        palace.close()
    for kind, data in (("turn", locomo), ("statement", notes)):
        if len({row.fold for row in rows if row.kind == kind and row.gold}) < 2:
            raise BadDataError(f"{data}: nothing can be held out of fewer than two that are asked")
    return rows


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--locomo", type=Path, required=True, help="two conversations or more")
    parser.add_argument(
        "--notes", type=Path, required=True, help="folder with palace_* and cases_*, two or more"
    )
    add_option(parser)
    parser.add_argument("--out", type=results_file, help="PNG of the diagram; needs matplotlib")
    parser.add_argument("--json", type=results_file, help="where to write the results")
    arguments = parser.parse_args()
    use(arguments.embedder)
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        rows = questions(arguments.locomo, arguments.notes, Path(folder))
        ranked_out_of_fold(rows)
        for kind in ("statement", "turn"):
            told = held_out_confidences([row for row in rows if row.kind == kind])
            results[kind] = reliability([(p, right) for _, p, right in told])
    report(results, arguments.json)
    if arguments.out is not None and not draw(results, arguments.out):
        say("no diagram: matplotlib is not installed (extra bench)")


if __name__ == "__main__":
    run(main)
