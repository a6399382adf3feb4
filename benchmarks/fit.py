"""Fit the shipped models: ranking, the recall detector, sufficiency and attribution.

Run:
    python -m benchmarks.fit --locomo FILE --prompts FILE --notes DIR --notes benchmarks/data/notes \\
        --out palace/recall/weights
    python -m benchmarks.fit … --embedder wordllama --embedder sentence-transformers:PATH

In: conversations, labelled prompts and notes with cases. Out: weights as JSON, and the scores on
held-out folds (by conversation, by palace, and for prompts by text), from which the bars are read.
With embedders the models that also see meaning are fitted, on the questions of all together.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.datasets import Case, load_cases, load_locomo, load_prompts, open_notes
from benchmarks.embedders import embed_all, use
from benchmarks.fit_recall import (
    Judged,
    conversation_questions,
    fit_attribution,
    fit_ranking,
    fit_sufficiency,
    notes_questions,
    ranked_out_of_fold,
    report_attribution,
    report_confidences,
    report_ranking,
)
from benchmarks.newton import Fitted, fit_logistic
from palace import Mempalace, Turn
from palace.recall.shape import machine_reason

SEED = 20261001
PROMPTS_PER_PALACE = 150
PROMPT_FOLDS = 5
DETECTOR_L2 = 2.0
# What people ask of their own notes is what the detector is for, and the rarest thing in the data.
NOTES_WEIGHT = 3.0
BARS = {
    "detector": {"recall": 0.55, "other": 0.2},
    "sufficiency_statement": {"sufficient": 0.4, "unclear": 0.02},  # with meaning: unclear alone
    "sufficiency_turn": {"sufficient": 0.2, "unclear": 0.05},
    "attribution": {},
    "ranking": {},
}


@dataclass(frozen=True)
class Example:
    """One labelled feature vector; `fold` is what it is held out with."""

    fold: str
    family: str
    features: dict[str, float]
    label: float
    weight: float = 1.0
    query: str = ""


def fit(examples: Sequence[Example], *, l2: float) -> Fitted:
    """Fit the detector's model."""
    return fit_logistic(
        [e.features for e in examples],
        [e.label for e in examples],
        weights=[e.weight for e in examples],
        l2=l2,
    )


# -- detector --------------------------------------------------------------------------------------


def detector_examples(
    empty: Mempalace,
    loaded: Sequence[tuple[Mempalace, Sequence[str]]],
    notes: Sequence[tuple[Mempalace, Sequence[Case]]],
    prompts: Sequence[tuple[str, int, str]],
) -> list[Example]:
    """Return prompts on an empty palace, and questions mixed with negatives on loaded ones."""
    rng = random.Random(SEED)
    negatives = [p for p in prompts if p[1] == 0]
    found: list[Example] = []

    def add(palace: Mempalace, turn: Turn, label: int, family: str, fold: str) -> None:
        if machine_reason(turn.prompt):
            return
        features = palace._parts.detector.features(turn, palace.analyse(turn))
        found.append(Example(fold, family, features, float(label), query=turn.prompt))

    for text, label, source in prompts:
        add(empty, Turn(text), label, f"{source} / empty palace", _text_fold(text))
    for palace, questions in loaded:
        name = palace.root.name
        for question in rng.sample(list(questions), min(len(questions), PROMPTS_PER_PALACE)):
            add(palace, Turn(question), 1, "conversation questions / loaded", name)
        for text, _, source in rng.sample(negatives, PROMPTS_PER_PALACE):
            add(palace, Turn(text), 0, f"{source} / loaded", _text_fold(text))
    for palace, cases in notes:
        name = palace.root.name
        for case in cases:
            label = int(case.expect != "pass")
            add(palace, case.turn, label, f"notes: {case.family}", name)
            if not label or _is_personal(case.turn.prompt):
                add(empty, case.turn, label, "notes / empty palace", name)
        for text, _, source in rng.sample(negatives, PROMPTS_PER_PALACE):
            add(palace, Turn(text), 0, f"{source} / loaded", _text_fold(text))
    return _balanced(found)


def _text_fold(text: str) -> str:
    return f"prompts {int(hashlib.sha256(text.encode()).hexdigest(), 16) % PROMPT_FOLDS}"


def _is_personal(prompt: str) -> bool:
    return bool({"our", "my", "we", "i", "us", "me", "did"} & set(prompt.lower().split()))


def _balanced(examples: Sequence[Example]) -> list[Example]:
    """Weight families so that none drowns the others, and questions about notes the most."""
    sizes = Counter((e.family.partition(":")[0], e.label) for e in examples)
    return [
        replace(
            e,
            weight=400
            / max(sizes[e.family.partition(":")[0], e.label], 120)
            * (NOTES_WEIGHT if e.family.startswith("notes:") else 1.0),
        )
        for e in examples
    ]


def report_detector(examples: Sequence[Example], bars: Sequence[float]) -> None:
    """Print, per family, the share detected on held-out folds."""
    scored: list[tuple[Example, float]] = []
    for fold in sorted({e.fold for e in examples}):
        model = fit([e for e in examples if e.fold != fold], l2=DETECTOR_L2)
        scored.extend((e, model.probability(e.features)) for e in examples if e.fold == fold)
    print("\ndetector, held out; share at or above the bar")
    print(f"{'family':44}{'label':>6}{'n':>6}" + "".join(f"{bar:>8.2f}" for bar in bars))
    for family, label in sorted({(e.family, e.label) for e in examples}):
        mine = [p for e, p in scored if (e.family, e.label) == (family, label)]
        shares = "".join(f"{sum(p >= bar for p in mine) / len(mine):>8.3f}" for bar in bars)
        print(f"{family:44}{label:>6.0f}{len(mine):>6}{shares}")


# -- all of it -------------------------------------------------------------------------------------


def write_model(path: Path, model: Fitted, *, bars: dict[str, float], provenance: str) -> None:
    """Write a model as the package reads it."""
    weights = {n: round(float(w), 4) for n, w in zip(model.names, model.weights, strict=False)}
    data = {
        "provenance": provenance,
        "bars": bars,
        "bias": round(float(model.weights[-1]), 4),
        "weights": {n: w for n, w in weights.items() if w},
    }
    path.write_text(json.dumps(data, indent=2) + "\n", "utf-8")


def main() -> None:
    """Fit, report and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--locomo", type=Path, required=True, help="conversations")
    parser.add_argument("--prompts", type=Path, required=True, help="labelled prompts, JSONL")
    parser.add_argument(
        "--notes",
        type=Path,
        action="append",
        required=True,
        help="folder with palace_X and cases_X.jsonl; may be repeated",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights")
    parser.add_argument(
        "--embedder", action="append", default=[], help="fit with meaning; may be repeated"
    )
    arguments = parser.parse_args()
    provenance = (
        f"python -m benchmarks.fit, seed {SEED}; data: {arguments.locomo.name},"
        f" {', '.join([arguments.prompts.name, *(folder.name for folder in arguments.notes)])}"
    )
    if arguments.embedder:
        provenance += "; embedders: " + ", ".join(e.partition(":")[0] for e in arguments.embedder)
    rows: list[Judged] = []
    with tempfile.TemporaryDirectory() as name:
        for number, embedder in enumerate(arguments.embedder or ["off"]):
            folder = Path(name) / str(number)
            folder.mkdir()
            rows += fit_detector_and_ask(arguments, embedder, folder, provenance)
    suffix = "_semantic" if arguments.embedder else ""

    def write(kind: str, model: Fitted) -> None:
        path = arguments.out / f"{kind}{suffix}.json"
        write_model(path, model, bars=BARS[kind], provenance=provenance)

    write("ranking", fit_ranking(rows))
    ranked_out_of_fold(rows)
    report_ranking(rows)
    attribution = fit_attribution(rows)
    report_attribution(rows)
    if not suffix:
        write("attribution", attribution)
    # A turn is judged by its words and by who spoke, whether meaning is on or not.
    for kind in ("statement",) if suffix else ("statement", "turn"):
        mine = [row for row in rows if row.kind == kind]
        report_confidences(f"sufficiency_{kind}", mine, (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
        write(f"sufficiency_{kind}", fit_sufficiency(mine))


def notes_of(palace: Path) -> Path:
    """Return the cases that belong to a folder of notes."""
    return palace.parent / f"cases_{palace.name.removeprefix('palace_')}.jsonl"


def fit_detector_and_ask(
    arguments: argparse.Namespace, embedder: str, folder: Path, provenance: str
) -> list[Judged]:
    """Open everything, fit the detector where words answer alone, and return the questions."""
    use(embedder)
    conversations = load_locomo(arguments.locomo)
    turns, palaces = conversation_questions(conversations, folder)
    notes = [
        (open_notes(source, folder), load_cases(notes_of(source)))
        for given in arguments.notes
        for source in sorted(given.glob("palace_*"))
    ]
    for palace, _ in notes:
        embed_all(palace)
    statements = [row for palace, cases in notes for row in notes_questions(palace, cases)]
    if embedder == "off":
        asked = [[q.text for q in c.questions] for c in conversations]
        examples = detector_examples(
            Mempalace.open(folder / "empty"),
            list(zip(palaces, asked, strict=True)),
            notes,
            list(load_prompts(arguments.prompts)),
        )
        report_detector(examples, (0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.7))
        write_model(
            arguments.out / "detector.json",
            fit(examples, l2=DETECTOR_L2),
            bars=BARS["detector"],
            provenance=provenance,
        )
    for palace in (*palaces, *(palace for palace, _ in notes)):
        palace.close()
    return [*turns, *statements]


if __name__ == "__main__":
    main()
