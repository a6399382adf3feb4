"""Measures shared by the benchmarks: ranking, honesty and latency.

In: ranked ids, scores, durations. Out: plain numbers, rounded for people and JSON alike.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def recall_at(ranked: Sequence[str], relevant: frozenset[str], k: int) -> float:
    """Return the share of relevant ids among the first k."""
    return len(relevant & set(ranked[:k])) / len(relevant)


def hit_at(ranked: Sequence[str], relevant: frozenset[str], k: int) -> float:
    """Return 1 if a relevant id is among the first k, else 0."""
    return float(bool(relevant & set(ranked[:k])))


def reciprocal_rank(ranked: Sequence[str], relevant: frozenset[str]) -> float:
    """Return 1 / rank of the first relevant id, 0 if there is none."""
    return next((1 / n for n, name in enumerate(ranked, 1) if name in relevant), 0.0)


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """Return the probability that a positive scores above a negative; ties count half."""
    ordered = sorted([(s, 1) for s in positives] + [(s, 0) for s in negatives])
    wins = below = 0.0
    start = 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and ordered[end][0] == ordered[start][0]:
            end += 1
        ups = sum(label for _, label in ordered[start:end])
        downs = end - start - ups
        wins += ups * (below + downs / 2)
        below += downs
        start = end
    pairs = len(positives) * len(negatives)
    return wins / pairs if pairs else math.nan


def false_hits_at(positives: Sequence[float], negatives: Sequence[float], kept: float) -> float:
    """Return the share of negatives at or above the bar that keeps a share of the positives."""
    if not positives:
        return math.nan
    bar = sorted(positives, reverse=True)[max(math.ceil(kept * len(positives)) - 1, 0)]
    return mean([float(score >= bar) for score in negatives])


def mean(values: Sequence[float]) -> float:
    """Return the mean, NaN of nothing."""
    return sum(values) / len(values) if values else math.nan


def latency_ms(durations_s: Sequence[float]) -> dict[str, float]:
    """Return p50, p95 and p99 in milliseconds."""
    ordered = sorted(durations_s)

    def at(share: float) -> float:
        return round(ordered[min(int(share * len(ordered)), len(ordered) - 1)] * 1000, 3)

    return {"p50": at(0.5), "p95": at(0.95), "p99": at(0.99)} if ordered else {}


def rounded(value: object, digits: int = 4) -> Any:  # noqa: ANN401 - mirrors what it is given
    """Return a structure with every float rounded."""
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, digits)
    if isinstance(value, Mapping):
        return {key: rounded(item, digits) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item, digits) for item in value]
    return value


def report(results: Mapping[str, Any], path: Path | None) -> None:
    """Write the results as JSON where a path is given, and print them."""
    if path is not None:
        path.write_text(_as_json(results, "utf-8") + "\n", "utf-8")
    print(_as_json(results, sys.stdout.encoding or "utf-8"))


def _as_json(results: Mapping[str, Any], encoding: str) -> str:
    """Return JSON that an encoding can take: names in the data may hold half a character."""
    made = rounded(results)
    text = json.dumps(made, indent=2, ensure_ascii=False)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(made, indent=2)
    return text
