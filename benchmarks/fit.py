"""Fit the shipped models: ranking, the recall detector, sufficiency, topic and attribution.

Run:
    python -m benchmarks.fit --locomo FILE --prompts FILE --notes DIR --out palace/recall/weights
    python -m benchmarks.fit … --embedder wordllama
    python -m benchmarks.fit … --embedder sentence-transformers:PATH

In: conversations, labelled prompts and notes with cases. Out: weights as JSON, and the scores on
held-out folds (by conversation, by palace, and for prompts by text and by source), from which the
bars are read. The project's own prompts and notes, `benchmarks/data`, are fitted on as well;
`notes_detector` by the detector alone.
With an embedder the models that also see meaning are fitted: those for static vectors, or those for
all others; several embedders of one kind are fitted on together.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.command import results_folder, run
from benchmarks.datasets import (
    Case,
    load_locomo,
    load_prompts,
    notes_in,
    open_notes,
    open_together,
)
from benchmarks.embedders import embed_all, use
from benchmarks.fit_detector import SEED, detector_examples, fit, report_detector
from benchmarks.fit_recall import (
    Judged,
    conversation_questions,
    fit_attribution,
    fit_ranking,
    fit_sufficiency,
    fit_topic,
    notes_questions,
    others_questions,
    ranked_out_of_fold,
    report_attribution,
    report_confidences,
    report_ranking,
    report_topic,
)
from benchmarks.linear_models import Fitted
from palace import ConfigError, Mempalace
from palace.recall.listed_weights import listed
from palace.recall.phrasing import ABOUT, HERE, SAYS, words_of
from palace.recall.scoring import STATIC_VECTORS

OWN_DATA = Path(__file__).parent / "data"
A_DOZEN = 12
BARS = {
    "detector": {"recall": 0.65, "leaning": 0.425, "other": 0.1},
    "sufficiency_statement": {"sufficient": 0.5, "unclear": 0.003},  # with meaning: unclear alone
    "sufficiency_turn": {"sufficient": 0.28, "unclear": 0.07},
    "attribution": {},
    "ranking": {},
    "topic": {"on_topic": 0.14},
    "topic_static": {"on_topic": 0.08},
    "topic_semantic": {"on_topic": 0.08},
}


def write_model(path: Path, model: Fitted, *, bars: dict[str, float], provenance: str) -> None:
    """Write a model as the package reads it: what it knows of words in a file beside the rest."""
    rounded = {n: round(float(w), 4) for n, w in zip(model.names, model.weights, strict=False)}
    weights = {n: w for n, w in rounded.items() if w}
    of_words = {n: weights.pop(n) for n in [*weights] if n.startswith((SAYS, HERE, ABOUT))}
    data = {
        "provenance": provenance,
        "bars": bars,
        "bias": round(float(model.weights[-1]), 4),
        "weights": weights,
    }
    if of_words:
        data["words"] = " ".join(sorted(words_of(of_words)))
        path.with_suffix(".txt").write_bytes(listed(of_words).encode())
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    """Fit, report and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--locomo", type=Path, required=True, help="conversations")
    parser.add_argument("--prompts", type=Path, required=True, help="labelled prompts, JSONL")
    parser.add_argument(
        "--notes", type=Path, required=True, help="folder with palace_* and cases_*"
    )
    parser.add_argument("--out", type=results_folder, required=True, help="folder for the weights")
    parser.add_argument(
        "--embedder", action="append", default=[], help="fit with meaning; may be repeated"
    )
    arguments = parser.parse_args()
    suffix = _suffix(arguments.embedder)
    _look_at(arguments)
    provenance = (
        f"python -m benchmarks.fit, seed {SEED}; data: {arguments.locomo.name},"
        f" {arguments.prompts.name}, {arguments.notes.name}, benchmarks/data"
    )
    if arguments.embedder:
        provenance += "; embedders: " + ", ".join(e.partition(":")[0] for e in arguments.embedder)
    rows: list[Judged] = []
    with tempfile.TemporaryDirectory() as name:
        for number, embedder in enumerate(arguments.embedder or ["off"]):
            folder = Path(name) / str(number)
            folder.mkdir()
            rows += fit_detector_and_ask(arguments, embedder, folder, provenance)

    def write(kind: str, model: Fitted) -> None:
        name = f"{kind}{suffix}"
        bars = BARS.get(name, BARS[kind])
        write_model(arguments.out / f"{name}.json", model, bars=bars, provenance=provenance)

    write("ranking", fit_ranking(rows))
    ranked_out_of_fold(rows)
    report_ranking(rows)
    attribution = fit_attribution(rows)
    report_attribution(rows)
    if not suffix:
        write("attribution", attribution)
    report_topic(rows, (0.05, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3))
    write("topic", fit_topic(rows))
    # A turn is judged by its words and by who spoke, whether meaning is on or not.
    for kind in ("statement",) if suffix else ("statement", "turn"):
        mine = [row for row in rows if row.kind == kind]
        report_confidences(f"sufficiency_{kind}", mine, (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
        write(f"sufficiency_{kind}", fit_sufficiency(mine))


def _suffix(embedders: Sequence[str]) -> str:
    """Return what the names of weights end in.

    Raises:
        ConfigError: If embedders of both kinds are given.
    """
    if not embedders:
        return ""
    static = {name.partition(":")[0] in STATIC_VECTORS for name in embedders}
    if len(static) > 1:
        raise ConfigError(
            "static vectors and those of models that read are not fitted together",
            hint="call it once for each",
        )
    return "_static" if static.pop() else "_semantic"


def _look_at(arguments: argparse.Namespace) -> None:
    """Read everything once, so that what is wrong is told before the long work."""
    for embedder in arguments.embedder:
        use(embedder)
    load_locomo(arguments.locomo)
    deque(load_prompts(arguments.prompts), maxlen=0)
    notes_in(arguments.notes)


def fit_detector_and_ask(
    arguments: argparse.Namespace, embedder: str, folder: Path, provenance: str
) -> list[Judged]:
    """Open everything, fit the detector where words answer alone, and return the questions."""
    use(embedder)
    conversations = load_locomo(arguments.locomo)
    turns, palaces = conversation_questions(conversations, folder)
    notes = _notes_in((arguments.notes, OWN_DATA / "notes"), folder)
    for palace, _ in notes:
        embed_all(palace)
    statements = [row for palace, cases in notes for row in notes_questions(palace, cases)]
    statements += others_questions(notes)
    if embedder == "off":
        asked = [{c.name: [q.text for q in c.questions]} for c in conversations]
        more = _notes_in((OWN_DATA / "notes_detector",), folder)
        sources = (arguments.notes, OWN_DATA / "notes", OWN_DATA / "notes_detector")
        together = open_together(conversations, folder / "together")
        all_asked = {name: texts for own in asked for name, texts in own.items()}
        of_many = merged([*notes, *more], sources, folder / "merged")
        empty = Mempalace.open(folder / "empty")
        examples = detector_examples(
            empty,
            [*zip(palaces, asked, strict=True), (together, all_asked)],
            [*((palace, {palace.root.name: cases}) for palace, cases in (*notes, *more)), *of_many],
            [p for f in (arguments.prompts, OWN_DATA / "prompts.jsonl") for p in load_prompts(f)],
        )
        model = fit(examples)
        path = arguments.out / "detector.json"
        write_model(path, model, bars=BARS["detector"], provenance=provenance)
        report_detector(examples, model, (0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7))
        for palace in (empty, together, *(palace for palace, _ in (*more, *of_many))):
            palace.close()
    for palace in (*palaces, *(palace for palace, _ in notes)):
        palace.close()
    return [*turns, *statements]


def merged(
    notes: Sequence[tuple[Mempalace, Sequence[Case]]], sources: Iterable[Path], folder: Path
) -> list[tuple[Mempalace, dict[str, Sequence[Case]]]]:
    """Open what several people of one language keep as one palace: a dozen of them, then all.

    Nobody here has written thousands of notes; those of many people are as many as one may have.
    """
    places = {path.name: path for source in sources for path, _ in notes_in(source)}
    speaking: defaultdict[str, dict[str, Sequence[Case]]] = defaultdict(dict)
    for palace, cases in notes:
        languages = Counter(palace.analyse(case.turn).language for case in cases)
        speaking[languages.most_common(1)[0][0]][palace.root.name] = cases
    opened = []
    for language, kept in sorted(speaking.items()):
        groups = len(kept) // A_DOZEN
        parts = [list(kept)[part::groups] for part in range(groups)] if groups > 1 else []
        together = [list(kept)] if len(kept) > 1 else []
        for number, names in enumerate([*parts, *together]):
            first, *others = names
            place = folder / f"{language} {number}"
            place.mkdir(parents=True)
            palace = open_notes(places[first], place, among=[places[name] for name in others])
            opened.append((palace, {name: kept[name] for name in names}))
    return opened


def _notes_in(sources: Iterable[Path], folder: Path) -> list[tuple[Mempalace, list[Case]]]:
    """Open the palaces of some folders as they are in a folder of their own, with their cases."""
    found = [item for source in sources for item in notes_in(source)]
    # Wherever the folders lie, the same examples are drawn.
    found.sort(key=lambda item: item[0].name)
    return [(open_notes(path, folder), cases) for path, cases in found]


if __name__ == "__main__":
    run(main)
