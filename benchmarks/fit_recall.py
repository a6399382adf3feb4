"""Questions with everything that was found for them, and the models fitted on them.

In: conversations and notes. Out: ranking, sufficiency, topic and attribution models, and what they
do on questions of palaces they were not fitted on.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.command import say
from benchmarks.datasets import ADVERSARIAL, Case, Conversation, open_conversation, swapped
from benchmarks.embedders import embed_all
from benchmarks.linear_models import Fitted, fit_choice, fit_logistic
from benchmarks.measures import auroc, false_hits_at, mean
from palace import Mempalace, Turn
from palace.ports import Candidate
from palace.recall.attribution import ATTRIBUTION_FEATURES
from palace.recall.logistic import LogisticModel
from palace.recall.ranking import Pool
from palace.recall.scoring import JUDGED, Scored, score
from palace.recall.search import Found
from palace.recall.sufficiency import asks_about_a_stranger, attributed
from palace.types.query import Query

SEED = 20261001
LEARNED_FROM = 5
FOREIGN_PER_CONVERSATION = 50
RANKING_L2 = 3.0
SUFFICIENCY_L2 = 1.0
ATTRIBUTION_L2 = 5.0
TOPIC_L2 = 1.0
OTHERS_PER_PALACE = 100
# What tells whether anything has to do with a question at all; more brings nothing.
TOPIC_FEATURES = ("distinct", "comes_near", "home_best", "names", "unknown_name", "beyond_chance")
# Judged apart, or by a rule alone.
NOT_OF_SUFFICIENCY = (*ATTRIBUTION_FEATURES, "comes_near", "beyond_chance", "fronted")


@dataclass
class Judged:
    """One question with what was found for it, what of it is right, and, once ranked, its head."""

    fold: str
    family: str
    kind: str
    question: str
    query: Query
    found: Found
    gold: frozenset[int]
    all_gold: int = 0
    head: list[tuple[dict[str, float], float]] = field(default_factory=list)
    order: list[int] = field(default_factory=list)

    @property
    def group(self) -> tuple[list[dict[str, float]], list[float]]:
        """The ranking features of all candidates, and which are right."""
        pool = Pool(
            self.query,
            self.found.candidates,
            weights=self.found.weights,
            cosines=self.found.cosines,
        )
        return (
            [pool.ranking_features(c) for c in self.found.candidates],
            [float(c.key in self.gold) for c in self.found.candidates],
        )

    @property
    def stranger(self) -> bool:
        """Whether nobody the question is about is known."""
        return bool(self.head) and asks_about_a_stranger(self.head[0][0])


def _asked(
    palace: Mempalace,
    turn: Turn,
    *,
    family: str,
    kind: str,
    layer: str = "L1",
    is_gold: Callable[[Candidate], bool],
    all_gold: int = 0,
) -> Judged:
    parts = palace._parts  # the fit reads what the walk reads; nothing public exposes features
    query = palace.analyse(turn)
    found = parts.searcher.found(query, layer="L4" if layer == "L4" else "L1")
    gold = frozenset(c.key for c in found.candidates if is_gold(c))
    return Judged(
        palace.root.name,
        family,
        kind,
        turn.prompt,
        query,
        found,
        gold,
        all_gold=max(all_gold, len(gold)),
    )


def conversation_questions(
    conversations: Sequence[Conversation], folder: Path
) -> tuple[list[Judged], list[Mempalace]]:
    """Return the questions of every conversation: its own, foreign ones and swapped names."""
    rng = random.Random(SEED)
    rows: list[Judged] = []
    palaces = []
    for number, conversation in enumerate(conversations, 1):
        say(f"{conversation.name} ({number} of {len(conversations)})")
        palace = open_conversation(conversation, folder)
        embed_all(palace)
        palaces.append(palace)

        def add(text: str, family: str, gold: frozenset[str], palace: Mempalace = palace) -> None:
            def is_gold(candidate: Candidate) -> bool:
                return palace.index.load([candidate.key])[candidate.key].provenance in gold

            rows.append(
                _asked(
                    palace,
                    Turn(text),
                    family=family,
                    kind="turn",
                    is_gold=is_gold if gold else lambda _: False,
                    all_gold=len(gold),
                )
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
            for question in rng.sample(answerable, min(len(answerable), FOREIGN_PER_CONVERSATION)):
                text = swapped(question.text, other.speakers, conversation.speakers)
                add(question.text, "foreign", frozenset())
                add(text, "foreign swapped", frozenset())
    return rows, palaces


def notes_questions(palace: Mempalace, cases: Sequence[Case]) -> list[Judged]:
    """Return the cases of one palace of notes, rooms and playbooks apart."""
    rows: list[Judged] = []
    for case in cases:
        if case.family == "machine-shaped":
            continue

        def is_gold(candidate: Candidate, case: Case = case) -> bool:
            memory = palace.index.load([candidate.key])[candidate.key]
            return case.is_gold(memory.text, memory.source)

        rows.extend(
            _asked(
                palace,
                case.turn,
                family=f"{case.family} {layer}",
                kind="statement",
                layer=layer,
                is_gold=is_gold,
            )
            for layer in ("L1", "L4")
        )
    return rows


def others_questions(notes: Sequence[tuple[Mempalace, Sequence[Case]]]) -> list[Judged]:
    """Return questions asked of every palace of notes that only other people's notes answer."""
    rng = random.Random(SEED)
    rows: list[Judged] = []
    for palace, own in notes:
        turns = [
            case.turn
            for _, cases in notes
            for case in cases
            if cases is not own and _is_answered_by_rooms(case.family) and not case.turn.history
        ]
        rows.extend(
            _asked(palace, turn, family="others'", kind="other", is_gold=lambda _: False)
            for turn in rng.sample(turns, min(len(turns), OTHERS_PER_PALACE))
        )
    return rows


def _is_answered_by_rooms(family: str) -> bool:
    return family.startswith("answerable") and "procedure" not in family


# -- ranking ---------------------------------------------------------------------------------------


def fit_ranking(rows: Sequence[Judged]) -> Fitted:
    """Fit which of the candidates is right, on questions that something answers."""
    answered = [row for row in rows if row.gold]
    return fit_choice([row.group for row in answered], weights=_balance(answered), l2=RANKING_L2)


def _balance(rows: Sequence[Judged]) -> list[float]:
    """Weight questions so that statements and turns count alike, whatever their numbers."""
    sizes = Counter(row.kind for row in rows)
    return [len(rows) / (len(sizes) * sizes[row.kind]) for row in rows]


def ranked_out_of_fold(rows: Sequence[Judged]) -> None:
    """Rank every question by a model that has not seen its palace; fills `head` and `order`."""
    groups = {id(row): row.group for row in rows if row.gold}
    for fold in sorted({row.fold for row in rows}):
        say(f"ranking {fold} by all others")
        others = [r for r in rows if r.gold and r.fold != fold]
        model = fit_choice([groups[id(r)] for r in others], weights=_balance(others), l2=RANKING_L2)
        shipped = LogisticModel(dict(zip(model.names, model.weights, strict=False)), 0.0, {})
        for row in (r for r in rows if r.fold == fold):
            ranked: list[Scored] = score(
                row.query,
                row.found.candidates,
                weights=row.found.weights,
                cosines=row.found.cosines,
                background=row.found.background,
                ranking=shipped,
            )
            row.order = [s.candidate.key for s in ranked[:20]]
            row.head = [
                (dict(s.features), float(s.candidate.key in row.gold)) for s in ranked[:JUDGED]
            ]


def report_ranking(rows: Sequence[Judged]) -> None:
    """Print the share of what answers among the first 1, 3, 5, 10 and 20."""
    depths = (1, 3, 5, 10, 20)
    print("\nranking, held out; recall at" + "".join(f"{k:>8}" for k in depths))
    for family in sorted({row.family for row in rows if row.all_gold}):
        mine = [row for row in rows if row.family == family and row.all_gold]
        shares = [
            mean([len(row.gold.intersection(row.order[:k])) / row.all_gold for row in mine])
            for k in depths
        ]
        print(f"{family:22}{len(mine):>6}" + "".join(f"{share:>8.3f}" for share in shares))


# -- sufficiency -----------------------------------------------------------------------------------


def fit_sufficiency(rows: Sequence[Judged]) -> Fitted:
    """Fit whether a candidate of the head answers; lower candidates count less."""
    examples = [
        (features, label, 1.0 if rank == 0 or label else 0.4)
        for row in rows
        for rank, (features, label) in enumerate(row.head[:LEARNED_FROM])
    ]
    own = [
        {n: v for n, v in features.items() if n not in NOT_OF_SUFFICIENCY}
        for features, _, _ in examples
    ]
    return fit_logistic(
        own, [e[1] for e in examples], weights=[e[2] for e in examples], l2=SUFFICIENCY_L2
    )


def _topic_examples(rows: Sequence[Judged]) -> list[tuple[Judged, dict[str, float], float]]:
    """Return the first candidate of questions that these notes answer, or only other notes."""
    asked = [(r, r.family.endswith("L1") and _is_answered_by_rooms(r.family)) for r in rows]
    return [
        (row, {n: v for n, v in row.head[0][0].items() if n in TOPIC_FEATURES}, float(is_own))
        for row, is_own in asked
        if row.head and (is_own or row.kind == "other")
    ]


def fit_topic(rows: Sequence[Judged]) -> Fitted:
    """Fit whether the first of what was found has to do with the question at all."""
    examples = _topic_examples(rows)
    return fit_logistic(
        [features for _, features, _ in examples],
        [label for *_, label in examples],
        weights=[1.0] * len(examples),
        l2=TOPIC_L2,
    )


def report_topic(rows: Sequence[Judged], bars: Sequence[float]) -> None:
    """Print which share of own questions and of other people's reaches each bar."""
    own: list[float] = []
    others: list[float] = []
    for fold in sorted({row.fold for row, *_ in _topic_examples(rows)}):
        model = fit_topic([r for r in rows if r.fold != fold])
        for _, features, label in _topic_examples([r for r in rows if r.fold == fold]):
            (own if label else others).append(model.probability(features))
    print(f"\ntopic, held out: AUROC {auroc(own, others):.3f}; share at or above the bar")
    for name, found in (("own", own), ("others'", others)):
        shares = "".join(f"{mean([float(p >= bar) for p in found]):>8.3f}" for bar in bars)
        print(f"{name:10}{len(found):>6}{shares}")


def _attribution_examples(rows: Sequence[Judged]) -> list[tuple[Judged, dict[str, float], float]]:
    """Return the first candidate of questions that are true of the person, or of another one."""
    return [
        (row, {n: row.head[0][0][n] for n in ATTRIBUTION_FEATURES}, float(row.family[:3] == "cat"))
        for row in rows
        if row.kind == "turn" and row.head and row.head[0][0].get("attributed")
        if row.family == "adversarial" or row.family.startswith("category")
    ]


def fit_attribution(rows: Sequence[Judged]) -> Fitted:
    """Fit whether what was found is the asked person's own."""
    examples = _attribution_examples(rows)
    return fit_logistic(
        [features for _, features, _ in examples],
        [label for *_, label in examples],
        weights=[1.0] * len(examples),
        l2=ATTRIBUTION_L2,
    )


def report_attribution(rows: Sequence[Judged]) -> None:
    """Print how well attribution alone tells true questions from those about the wrong person."""
    right: list[float] = []
    wrong: list[float] = []
    for fold in sorted({row.fold for row in rows if row.kind == "turn"}):
        model = fit_attribution([r for r in rows if r.fold != fold])
        for _, features, label in _attribution_examples([r for r in rows if r.fold == fold]):
            (right if label else wrong).append(model.probability(features))
    print(
        f"\nattribution, held out: AUROC {auroc(right, wrong):.3f}, wrong person kept at 90 %"
        f" {false_hits_at(right, wrong, 0.9):.3f} ({len(right)} true, {len(wrong)} false)"
    )


def held_out_confidences(rows: Sequence[Judged]) -> list[tuple[Judged, float, bool]]:
    """Return each question with its best confidence and whether that candidate answers it."""
    result = []
    for fold in sorted({row.fold for row in rows}):
        others = [r for r in rows if r.fold != fold]
        model = fit_sufficiency(others)
        spoken = _attribution_examples(others)
        attribution = fit_attribution(others) if spoken else None
        for row in (r for r in rows if r.fold == fold):
            scored = [(_confidence(f, model, attribution), bool(label)) for f, label in row.head]
            best, right = max(scored, default=(0.0, False))
            result.append((row, 0.0 if row.stranger else best, right))
    return result


def _confidence(features: dict[str, float], model: Fitted, attribution: Fitted | None) -> float:
    probability = model.probability(features)
    if attribution is None or not features.get("attributed"):
        return probability
    return attributed(probability, attribution.probability(features))


def report_confidences(title: str, rows: Sequence[Judged], bars: Sequence[float]) -> None:
    """Print, per family, the share at or above each bar (and of those, the share that is right)."""
    results = held_out_confidences(rows)
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
    kept = [p for row, p, _ in results if row.family.startswith("category")]
    for family in ("foreign", "foreign swapped", "adversarial"):
        other = [p for row, p, _ in results if row.family == family]
        if kept and other:
            print(
                f"{family:16} AUROC {auroc(kept, other):.3f}, false at 90 % kept"
                f" {false_hits_at(kept, other, 0.9):.3f}, at 95 %"
                f" {false_hits_at(kept, other, 0.95):.3f}"
            )
