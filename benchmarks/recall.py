"""Recall and honesty on long conversations.

Run:
    python -m benchmarks.recall --locomo FILE [--merged] [--embedder NAME] --json OUT

In: conversations in LoCoMo's format, ingested through the public API (one palace each, or one for
all). Out: retrieval per category, honesty towards questions that nothing answers, and timings.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.command import results_file, run, say
from benchmarks.datasets import (
    ADVERSARIAL,
    Conversation,
    load_locomo,
    marked,
    open_for_turns,
    place_of,
    swapped,
    take_back,
)
from benchmarks.embedders import add_option, embed_all, use
from benchmarks.measures import (
    auroc,
    false_hits_at,
    hit_at,
    latency_ms,
    mean,
    recall_at,
    reciprocal_rank,
    report,
)
from palace import Mempalace, RetrievalEnforcer

SEED = 20261001
DEPTH = 20


@dataclass
class Asked:
    """What was measured for one question: its ranking, best confidence, verdict and evidence."""

    family: str
    ranked: list[str]
    relevant: frozenset[str]
    confidence: float
    action: str
    evidence: frozenset[str]


@dataclass
class Timings:
    """Durations in seconds."""

    search_s: list[float] = field(default_factory=list)
    decide_s: list[float] = field(default_factory=list)
    ingest_s: float = 0.0
    turns: int = 0


def ask(
    palace: Mempalace, question: str, relevant: frozenset[str], family: str, t: Timings
) -> Asked:
    """Ask one question twice: the search alone, then the whole walk."""
    started = time.perf_counter()
    hits = palace.search(question, top_k=DEPTH)
    t.search_s.append(time.perf_counter() - started)
    enforcer = RetrievalEnforcer(palace)
    started = time.perf_counter()
    verdict = enforcer.decide(question)
    t.decide_s.append(time.perf_counter() - started)
    take_back(palace, verdict)
    dialogue_id = {hit.memory.id: hit.memory.provenance for hit in hits}
    best = [r.best for r in verdict.walk if r.layer == "L1" and r.best is not None]
    return Asked(
        family=family,
        ranked=[hit.memory.provenance for hit in hits],
        relevant=relevant,
        confidence=max(best, default=0.0),
        action=verdict.action,
        evidence=frozenset(dialogue_id.get(item.id, "") for item in verdict.evidence),
    )


def questions_for(
    conversation: Conversation, others: Sequence[Conversation]
) -> list[tuple[str, str, frozenset[str]]]:
    """Return (family, question, relevant ids): its own, foreign ones, and with names swapped."""
    rng = random.Random(SEED)
    asked = []
    for question in conversation.questions:
        relevant = frozenset(f"{conversation.name}/{e}" for e in question.evidence)
        if question.category == ADVERSARIAL:
            asked.append(("adversarial", question.text, relevant))
        elif relevant:
            asked.append((f"cat{question.category}", question.text, relevant))
    for other in others:
        answerable = [q for q in other.questions if q.category != ADVERSARIAL and q.evidence]
        for question in rng.sample(answerable, min(len(answerable), 50)):
            asked.append(("foreign", question.text, frozenset()))
            text = swapped(question.text, other.speakers, conversation.speakers)
            asked.append(("foreign_swapped", text, frozenset()))
    return asked


def measure(
    conversations: Sequence[Conversation], folder: Path, opened: ExitStack, *, merged: bool
) -> dict[str, Any]:
    """Ingest, ask everything and return the results; the palaces are closed with `opened`."""
    timings = Timings()
    asked: list[Asked] = []
    together = opened.enter_context(open_for_turns(folder / "merged")) if merged else None
    palaces = {}
    for conversation in conversations:
        say(f"{conversation.name}: {len(conversation.turns)} turns")
        place = place_of(conversation, folder)
        palace = together or opened.enter_context(open_for_turns(place))
        started = time.perf_counter()
        palace.import_turns(marked(conversation))
        timings.ingest_s += time.perf_counter() - started
        timings.turns += len(conversation.turns)
        palaces[conversation.name] = palace
        answerable = [q for q in conversation.questions if q.category != ADVERSARIAL]
        if conversation.undated:
            undated = ", ".join(conversation.undated)
            say(f"{conversation.name}: no date of {undated}; that of the session before is taken")
        if left_out := sum(not question.evidence for question in answerable):
            say(f"{conversation.name}: {left_out} questions name no turn of it and are left out")
    embedded = [
        made
        for palace in {id(p): p for p in palaces.values()}.values()
        if (made := embed_all(palace))
    ]
    for number, conversation in enumerate(conversations, 1):
        say(f"{conversation.name} ({number} of {len(conversations)})")
        others = [] if merged else [c for c in conversations if c.name != conversation.name]
        for family, text, relevant in questions_for(conversation, others):
            asked.append(ask(palaces[conversation.name], text, relevant, family, timings))
    return {
        "data": {"conversations": len(conversations), "turns": timings.turns, "merged": merged},
        "embedder": embedded,
        "retrieval": retrieval(asked),
        "honesty": honesty(asked),
        "timings": {
            "ingest_turns_per_s": timings.turns / timings.ingest_s,
            "search_ms": latency_ms(timings.search_s),
            "decide_ms": latency_ms(timings.decide_s),
        },
    }


def retrieval(asked: Sequence[Asked]) -> dict[str, Any]:
    """Return the ranking measures, overall and per category."""
    groups = {
        "overall": [a for a in asked if a.relevant],
        **{f"cat{n}": [a for a in asked if a.family == f"cat{n}"] for n in range(1, 5)},
        "cat5": [a for a in asked if a.family == "adversarial" and a.relevant],
        "cat1_4": [a for a in asked if a.family.startswith("cat")],
    }
    return {name: _ranking(group) for name, group in groups.items()}


def _ranking(group: Sequence[Asked]) -> dict[str, float]:
    def sessions(ids: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(identifier.rpartition(":")[0] for identifier in ids))

    session_of = [(sessions(a.ranked), frozenset(sessions(sorted(a.relevant)))) for a in group]
    return {
        "n": len(group),
        **{
            f"recall@{k}": mean([recall_at(a.ranked, a.relevant, k) for a in group])
            for k in (1, 5, 10, 20)
        },
        **{f"hit@{k}": mean([hit_at(a.ranked, a.relevant, k) for a in group]) for k in (1, 5, 10)},
        "mrr": mean([reciprocal_rank(a.ranked, a.relevant) for a in group]),
        **{
            f"session_recall@{k}": mean([recall_at(r, relevant, k) for r, relevant in session_of])
            for k in (5, 10)
        },
    }


def honesty(asked: Sequence[Asked]) -> dict[str, Any]:
    """Return how well confidence tells answerable from not, and what the shipped bar does."""
    answerable = [a for a in asked if a.family.startswith("cat")]
    kept = [a.confidence for a in answerable]
    result: dict[str, Any] = {
        "shipped_bar": {
            "answerable": _actions(answerable),
            "answerable_grounded_right": mean(
                [float(a.action == "ground" and bool(a.evidence & a.relevant)) for a in answerable]
            ),
        }
    }
    for family in ("foreign", "foreign_swapped", "adversarial"):
        group = [a for a in asked if a.family == family]
        scores = [a.confidence for a in group]
        result[family] = {
            "n": len(group),
            "auroc": auroc(kept, scores),
            "false_hit@90": false_hits_at(kept, scores, 0.9),
            "false_hit@95": false_hits_at(kept, scores, 0.95),
        }
        result["shipped_bar"][family] = _actions(group)
    return result


def _actions(group: Sequence[Asked]) -> dict[str, float]:
    names = ("ground", "confirm", "fallback", "pass")
    return {name: mean([float(a.action == name) for a in group]) for name in names}


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--locomo", type=Path, required=True, help="conversations")
    parser.add_argument("--merged", action="store_true", help="one palace for all of them")
    parser.add_argument("--json", type=results_file, help="where to write the results")
    add_option(parser)
    arguments = parser.parse_args()
    use(arguments.embedder)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        conversations = load_locomo(arguments.locomo)
        results = measure(conversations, Path(folder), opened, merged=arguments.merged)
    report(results, arguments.json)


if __name__ == "__main__":
    run(main)
