"""Fit logistic models, of few features or of many words, and conditional logits.

In: feature rows with labels, or groups of rows of which some are right. Out: weights by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

try:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix
except ModuleNotFoundError as error:
    raise SystemExit(f"error: {error.name} is not installed (extra bench)") from error

Array = NDArray[np.float64]
_BIAS_L2 = 1e-3


@dataclass(frozen=True)
class Fitted:
    """A linear model over named features; the last weight is the bias."""

    names: list[str]
    weights: Array

    def log_odds(self, features: dict[str, float]) -> float:
        """Return the log-odds of a positive."""
        known = self._weight_of
        told = sum(value * known.get(name, 0.0) for name, value in features.items())
        return told + float(self.weights[-1])

    @cached_property
    def _weight_of(self) -> dict[str, float]:
        return dict(zip(self.names, self.weights[:-1].tolist(), strict=True))

    def probability(self, features: dict[str, float]) -> float:
        """Return the probability of a positive."""
        return float(sigmoid(np.array(self.log_odds(features))))


def sigmoid(z: Array) -> Array:
    """Return 1 / (1 + exp(-z))."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(z, -40, 40))))


def fit_logistic(
    rows: Sequence[dict[str, float]],
    labels: Sequence[float],
    *,
    weights: Sequence[float],
    l2: float,
    start: Fitted | None = None,
) -> Fitted:
    """Fit p(label) with an L2 penalty on all weights but the bias, if given from near weights.

    Source: L-BFGS (Liu & Nocedal 1989), as scipy has it.
    """
    names = sorted({name for row in rows for name in row})
    columns = {name: column for column, name in enumerate(names)}
    held = [[*(columns[name] for name in row), len(names)] for row in rows]
    values = [value for row in rows for value in (*row.values(), 1.0)]
    starts = np.cumsum([0, *(len(row) for row in held)])
    x = csr_matrix((values, [c for row in held for c in row], starts))
    y, w = np.array(labels), np.array(weights)
    penalty = np.full(len(names) + 1, l2)
    penalty[-1] = _BIAS_L2
    beta = np.zeros(len(names) + 1)
    if start is not None:
        near = dict(zip(start.names, start.weights, strict=False))
        beta[:] = [*(near.get(name, 0.0) for name in names), start.weights[-1]]

    def loss(beta: Array) -> tuple[float, Array]:
        z = x @ beta
        likelihood = w @ (np.logaddexp(0.0, z) - y * z)
        return likelihood + 0.5 * penalty @ beta**2, x.T @ (w * (sigmoid(z) - y)) + penalty * beta

    options = {"maxiter": 10_000, "ftol": 1e-12, "gtol": 1e-6}
    found = minimize(loss, beta, jac=True, method="L-BFGS-B", options=options)
    return Fitted(names, found.x)


def fit_choice(
    groups: Sequence[tuple[Sequence[dict[str, float]], Sequence[float]]],
    *,
    l2: float,
    weights: Sequence[float] | None = None,
    rounds: int = 25,
) -> Fitted:
    """Fit which candidates of a group are right: a softmax over each group, gold sharing evenly.

    Source: the conditional logit of McFadden 1974; for ranking, ListNet (Cao et al. 2007).
    The penalty acts on standardised features, so that units do not matter.
    """
    names = sorted({name for rows, _ in groups for row in rows for name in row})
    made = [
        (np.array([[row.get(n, 0.0) for n in names] for row in rows]), np.array(gold), weight)
        for (rows, gold), weight in zip(groups, weights or [1.0] * len(groups), strict=True)
        if len(rows) > 1 and any(gold)
    ]
    spread = np.concatenate([x for x, *_ in made]).std(axis=0) + 1e-6
    scaled = [(x / spread, gold / gold.sum(), weight) for x, gold, weight in made]
    beta = np.zeros(len(names))
    loss, gradient, hessian = _choice_loss(scaled, beta, l2)
    for _ in range(rounds):
        step = np.linalg.solve(hessian, gradient)
        # Halved until it helps: a full Newton step may jump to where the softmax is flat.
        moved = _choice_loss(scaled, beta - step, l2)
        while moved[0] > loss and np.abs(step).max() > 1e-9:
            step = step / 2
            moved = _choice_loss(scaled, beta - step, l2)
        beta = beta - step
        loss, gradient, hessian = moved
        if np.abs(step).max() < 1e-6:
            break
    return Fitted(names, np.array([*(beta / spread), 0.0]))


def _choice_loss(
    groups: Sequence[tuple[Array, Array, float]], beta: Array, l2: float
) -> tuple[float, Array, Array]:
    """Return the penalised negative log-likelihood, its gradient and its Hessian."""
    loss = 0.5 * l2 * float(beta @ beta)
    gradient = l2 * beta
    hessian = l2 * np.eye(len(beta))
    for x, gold, weight in groups:
        z = x @ beta
        shifted = np.exp(z - z.max())
        p = shifted / shifted.sum()
        loss += weight * float(z.max() + np.log(shifted.sum()) - gold @ z)
        mean = p @ x
        gradient = gradient + weight * (x.T @ (p - gold))
        hessian = hessian + weight * ((x * p[:, None]).T @ x - np.outer(mean, mean))
    return loss, gradient, hessian
