"""Recall detection through the enforcer: who is looked up, who is left alone.

Run:
    python -m benchmarks.detector --prompts FILE [--locomo FILE] --json OUT

In: labelled prompts, asked on an empty palace, and short ones again in frames that nothing was
fitted on; and conversations, whose questions are mixed with the negative prompts on their loaded
palaces. Out: recall and false alarms by source, and latency.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import results_file, run, say
from benchmarks.datasets import load_locomo, load_prompts, open_conversation, take_back
from benchmarks.frames import in_unseen_frame
from benchmarks.measures import latency_ms, mean, report
from palace import Mempalace, RetrievalEnforcer, Turn

SEED = 20261001
NEGATIVES_PER_PALACE = 200
# What is longer brings its own context along.
FRAMED_WORDS = 40


def is_recall(palace: Mempalace, prompt: str, durations_s: list[float]) -> float:
    """Return 1 if the enforcer treats the prompt as recall, whatever it then found.

    A prompt that only tells the memory something is none, and what it told is taken back.
    """
    enforcer = RetrievalEnforcer(palace)
    started = time.perf_counter()
    verdict = enforcer.decide(prompt)
    durations_s.append(time.perf_counter() - started)
    take_back(palace, verdict)
    return float(verdict.outcome != "not_recall")


def shares(found: dict[tuple[int, str], list[float]]) -> dict[str, Any]:
    """Return the share of all and by source, recall and false alarms apart."""
    sides = {}
    for side, wanted in (("recall", 1), ("false_alarms", 0)):
        by_source = {source: v for (label, source), v in sorted(found.items()) if label == wanted}
        groups: dict[str, list[float]] = {"all": []} | by_source
        groups["all"] = [value for values in by_source.values() for value in values]
        sides[side] = {name: {"n": len(v), "share": mean(v)} for name, v in groups.items()}
    return sides


def _is_short(prompt: str) -> bool:
    return "\n" not in prompt.strip() and 0 < len(prompt.split()) <= FRAMED_WORDS


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--prompts", type=Path, required=True, help="labelled prompts, JSONL")
    parser.add_argument("--locomo", type=Path, help="conversations for loaded palaces")
    parser.add_argument("--json", type=results_file, help="where to write the results")
    arguments = parser.parse_args()
    prompts: Sequence[tuple[str, int, str]] = list(load_prompts(arguments.prompts))
    negatives = [p for p in prompts if p[1] == 0]
    conversations = load_locomo(arguments.locomo) if arguments.locomo else []
    rng, frames = random.Random(SEED), random.Random(SEED)
    results: dict[str, Any] = {}
    durations_s: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        say(f"{len(prompts)} prompts, asked of an empty palace, short ones in frames too")
        found: dict[tuple[int, str], list[float]] = defaultdict(list)
        short: dict[tuple[int, str], list[float]] = defaultdict(list)
        framed: dict[tuple[int, str], list[float]] = defaultdict(list)
        with Mempalace.open(Path(name) / "empty") as empty:
            for text, label, source in prompts:
                recall = is_recall(empty, text, durations_s)
                found[label, source].append(recall)
                if _is_short(text):
                    put = in_unseen_frame(text, empty.analyse(Turn(text)).language, frames)
                    short[label, source].append(recall)
                    framed[label, source].append(is_recall(empty, put, []))
        results["empty"] = shares(found)
        results["framed"] = {"as they are": shares(short), "in frames": shares(framed)}
        if conversations:
            found = defaultdict(list)
            for number, conversation in enumerate(conversations, 1):
                say(f"{conversation.name} ({number} of {len(conversations)})")
                mixed = [(q.text, 1, "conversation questions") for q in conversation.questions]
                mixed += rng.sample(negatives, min(NEGATIVES_PER_PALACE, len(negatives)))
                rng.shuffle(mixed)
                with open_conversation(conversation, Path(name)) as palace:
                    for text, label, source in mixed:
                        found[label, source].append(is_recall(palace, text, durations_s))
            results["loaded"] = shares(found)
    results["decide_ms"] = latency_ms(durations_s)
    report(results, arguments.json)


if __name__ == "__main__":
    run(main)
