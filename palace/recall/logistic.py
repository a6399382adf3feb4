"""A logistic model kept as a data file: named weights, a bias, and the bars set on it.

In: features by name. Out: a probability, and how much each feature contributed to it. A model that
knows many words has a second file, with a weight a line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from palace.recall.listed_weights import ListedWeights


@dataclass(frozen=True, slots=True, eq=False)
class LogisticModel:
    """p = 1 / (1 + exp(-(bias + sum of weight * value))); equal to itself alone, so that it hashes.

    Attributes:
        weights: Feature name -> weight; features without a weight do not count.
        bars: Named thresholds in [0, 1] that were set when the model was fitted.
        provenance: Which script and data fitted it.
        words: The words that the names of its features are made of, where that is kept.
    """

    weights: Mapping[str, float]
    bias: float
    bars: Mapping[str, float]
    provenance: str = ""
    words: frozenset[str] = frozenset()

    @property
    def known(self) -> Mapping[str, float]:
        """The weights as they are found most quickly."""
        weights = self.weights
        return weights.quickest() if type(weights) is ListedWeights else weights

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the probability in (0, 1)."""
        return probability_of(self.log_odds(features))

    def log_odds(self, features: Mapping[str, float]) -> float:
        """Return bias + sum of weight * value."""
        weights = self.known
        return self.bias + sum([weights[n] * v for n, v in features.items() if v and n in weights])

    def contributions(self, features: Mapping[str, float]) -> dict[str, float]:
        """Return each feature's share of the log-odds, largest first."""
        weights = self.known
        parts = {n: weights[n] * v for n, v in features.items() if v and n in weights}
        return dict(sorted(parts.items(), key=lambda item: -abs(item[1])))


def probability_of(log_odds: float) -> float:
    """Return 1 / (1 + exp(-log odds)), in (0, 1)."""
    return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, log_odds))))


def log_odds_of(probability: float) -> float:
    """Return the log odds of a probability, in [-40, 40]; the reverse of `probability_of`."""
    if not 0.0 < probability < 1.0:
        return 40.0 if probability >= 1.0 else -40.0
    return math.log(probability / (1.0 - probability))


@lru_cache(maxsize=16)
def load_model(name: str) -> LogisticModel:
    """Return a shipped model, by name."""
    folder = resources.files("palace.recall") / "weights"
    data = json.loads((folder / f"{name}.json").read_text("utf-8"))
    weights, words = data["weights"], data.get("words")
    if words:
        weights = ListedWeights((folder / f"{name}.txt").read_bytes(), weights)
    return LogisticModel(
        weights=weights,
        bias=data["bias"],
        bars=data["bars"],
        provenance=data.get("provenance", ""),
        words=frozenset(words.split(" ") if words else ()),
    )
