"""Fit the shipped models: the recall detector and the two sufficiency models.

Run:
    python -m benchmarks.fit --locomo FILE --prompts FILE --notes DIR --out palace/recall/weights

In: conversations, labelled prompts and notes with cases. Out: weights as JSON, and the scores on
held-out folds (by conversation, by palace, and for prompts by text), from which the bars are read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import (
    ADVERSARIAL,
    Case,
    Conversation,
    load_cases,
    load_locomo,
    load_prompts,
    open_conversation,
    open_notes,
)
from palace import Mempalace, Turn
from palace.recall.scoring import Scored
from palace.recall.shape import machine_reason

SEED = 20261001
JUDGED = 10
FOREIGN_PER_CONVERSATION = 25
PROMPTS_PER_PALACE = 150
PROMPT_FOLDS = 5
DETECTOR_L2 = 2.0
SUFFICIENCY_L2 = 1.0
BARS = {
    "detector": {"recall": 0.55, "other": 0.2},
    "sufficiency_statement": {"sufficient": 0.4, "unclear": 0.05},
    "sufficiency_turn": {"sufficient": 0.35, "unclear": 0.1},
}
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """One labelled feature vector; `fold` is what it is held out with."""

    fold: str
    family: str
    features: dict[str, float]
    label: float
    weight: float = 1.0
    query: str = ""


@dataclass(frozen=True)
class Fitted:
    """A logistic model over named features."""

    names: list[str]
    weights: Array

    def probability(self, features: dict[str, float]) -> float:
        """Return the probability of a positive."""
        row = np.array([*(features.get(n, 0.0) for n in self.names), 1.0])
        return float(_sigmoid(row @ self.weights))


def _sigmoid(z: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(z, -40, 40))))


def fit(examples: Sequence[Example], *, l2: float) -> Fitted:
    """Fit by Newton's method with an L2 penalty on all weights but the bias."""
    names = sorted({name for e in examples for name in e.features})
    x = np.array([[*(e.features.get(n, 0.0) for n in names), 1.0] for e in examples])
    y = np.array([e.label for e in examples])
    w = np.array([e.weight for e in examples])
    penalty = np.eye(len(names) + 1) * l2
    penalty[-1, -1] = 1e-3
    beta = np.zeros(len(names) + 1)
    for _ in range(60):
        p = _sigmoid(x @ beta)
        gradient = x.T @ (w * (p - y)) + penalty @ beta
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x + penalty
        step = np.linalg.solve(hessian, gradient)
        beta -= step
        if np.abs(step).max() < 1e-8:
            break
    return Fitted(names, beta)


# -- sufficiency -----------------------------------------------------------------------------------


@dataclass
class Judged:
    """One question with the features of its best candidates and which of them answer it."""

    fold: str
    family: str
    question: str
    candidates: list[tuple[dict[str, float], float]] = field(default_factory=list)


def judged_question(
    palace: Mempalace, turn: Turn, is_gold: Callable[[Scored], bool], *, layer: str = "L1"
) -> list[tuple[dict[str, float], float]]:
    """Return (features, answers it) of the candidates the enforcer would judge."""
    parts = palace._parts  # the fit reads what the walk reads; nothing public exposes features
    scored = parts.searcher.scored(palace.analyse(turn), layer="L4" if layer == "L4" else "L1")
    return [(dict(s.features), float(is_gold(s))) for s in scored[:JUDGED]]


def conversation_questions(
    conversations: Sequence[Conversation], folder: Path
) -> tuple[list[Judged], list[Mempalace]]:
    """Return judged questions of every conversation: its own, foreign ones and swapped names."""
    rng = random.Random(SEED)
    rows: list[Judged] = []
    palaces = []
    for conversation in conversations:
        palace = open_conversation(conversation, folder)
        palaces.append(palace)

        def add(text: str, family: str, gold: frozenset[str], palace: Mempalace = palace) -> None:
            def is_gold(scored: Scored) -> bool:
                return palace.index.load([scored.candidate.key])[0].provenance in gold

            rows.append(
                Judged(palace.root.name, family, text, judged_question(palace, Turn(text), is_gold))
            )

        for question in conversation.questions:
            if question.category == ADVERSARIAL:
                add(question.text, "adversarial", frozenset())
            elif question.evidence:
                add(question.text, f"category {question.category}", question.evidence)
        for other in conversations:
            if other.name == conversation.name:
                continue
            answerable = [q for q in other.questions if q.category != ADVERSARIAL]
            for question in rng.sample(answerable, FOREIGN_PER_CONVERSATION):
                swapped = question.text
                for theirs, ours in zip(other.speakers, conversation.speakers, strict=True):
                    swapped = swapped.replace(theirs, ours)
                add(question.text, "foreign", frozenset())
                add(swapped, "foreign swapped", frozenset())
    return rows, palaces


def notes_questions(palace: Mempalace, cases: Sequence[Case]) -> list[Judged]:
    """Return judged cases of one palace of notes, rooms and playbooks apart."""
    rows = []
    for case in cases:
        if case.family == "machine-shaped":
            continue

        def is_gold(scored: Scored, case: Case = case) -> bool:
            memory = palace.index.load([scored.candidate.key])[0]
            return case.is_gold(memory.text, memory.source)

        for layer in ("L1", "L4"):
            candidates = judged_question(palace, case.turn, is_gold, layer=layer)
            rows.append(
                Judged(palace.root.name, f"{case.family} {layer}", case.turn.prompt, candidates)
            )
    return rows


def sufficiency_examples(rows: Sequence[Judged]) -> list[Example]:
    """Return the head of every ranking as examples; lower candidates count less."""
    return [
        Example(row.fold, row.family, features, label, 1.0 if rank == 0 or label else 0.4)
        for row in rows
        for rank, (features, label) in enumerate(row.candidates[:5])
    ]


def held_out_confidences(rows: Sequence[Judged], *, l2: float) -> list[tuple[Judged, float, bool]]:
    """Return each question with its best confidence and whether that candidate answers it."""
    examples = sufficiency_examples(rows)
    result = []
    for fold in sorted({row.fold for row in rows}):
        model = fit([e for e in examples if e.fold != fold], l2=l2)
        for row in (r for r in rows if r.fold == fold):
            scored = [(model.probability(f), bool(label)) for f, label in row.candidates]
            best, right = max(scored, default=(0.0, False))
            strange = bool(row.candidates) and row.candidates[0][0]["unknown_name"] >= 1.0
            result.append((row, 0.0 if strange else best, right))
    return result


def report_confidences(
    title: str, results: Sequence[tuple[Judged, float, bool]], bars: Sequence[float]
) -> None:
    """Print, per family, the share at or above each bar (and of those, the share that is right)."""
    print(f"\n{title}, held out; share at or above the bar (right memory first)")
    print(f"{'family':34}{'n':>6}" + "".join(f"{bar:>15.2f}" for bar in bars))
    for family in sorted({row.family for row, _, _ in results}):
        mine = [(p, right) for row, p, right in results if row.family == family]
        cells = []
        for bar in bars:
            above = [right for p, right in mine if p >= bar]
            share = len(above) / len(mine)
            cells.append(f"{share:>8.2f} ({sum(above) / len(mine):.2f})")
        print(f"{family:34}{len(mine):>6}" + "".join(f"{cell:>15}" for cell in cells))


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
    """Weight families so that none drowns the others."""
    sizes = Counter((e.family.split(":")[0], e.label) for e in examples)
    return [
        Example(
            e.fold,
            e.family,
            e.features,
            e.label,
            400 / max(sizes[e.family.split(":")[0], e.label], 120),
            e.query,
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
        "--notes", type=Path, required=True, help="folder with palace_* and cases_*"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        conversations = load_locomo(arguments.locomo)
        turns, palaces = conversation_questions(conversations, folder)
        notes = [
            (
                open_notes(source, folder),
                load_cases(arguments.notes / f"cases_{source.name[-1]}.jsonl"),
            )
            for source in sorted(arguments.notes.glob("palace_*"))
        ]
        statements = [row for palace, cases in notes for row in notes_questions(palace, cases)]
        asked = [[q.text for q in c.questions] for c in conversations]
        examples = detector_examples(
            Mempalace.open(folder / "empty"),
            list(zip(palaces, asked, strict=True)),
            notes,
            list(load_prompts(arguments.prompts)),
        )
        provenance = (
            f"python -m benchmarks.fit, seed {SEED}; data: {arguments.locomo.name},"
            f" {arguments.prompts.name}, {arguments.notes.name}"
        )
        report_detector(examples, (0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.7))
        write_model(
            arguments.out / "detector.json",
            fit(examples, l2=DETECTOR_L2),
            bars=BARS["detector"],
            provenance=provenance,
        )
        for kind, rows in (("statement", statements), ("turn", turns)):
            name = f"sufficiency_{kind}"
            results = held_out_confidences(rows, l2=SUFFICIENCY_L2)
            report_confidences(name, results, (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
            write_model(
                arguments.out / f"{name}.json",
                fit(sufficiency_examples(rows), l2=SUFFICIENCY_L2),
                bars=BARS[name],
                provenance=provenance,
            )


if __name__ == "__main__":
    main()
