"""Whether something found answers the question: one calibrated probability and three bands.

In: a scored candidate. Out: a confidence in [0, 1] and its band. Rank never enters: the best of
the bad is still bad.
"""

from __future__ import annotations

from collections.abc import Mapping

from palace.recall.logistic import LogisticModel
from palace.recall.scoring import Scored
from palace.types import Band


class Sufficiency:
    """Judges candidates, a statement and a turn of a conversation each by its own model.

    What proves an answer differs: a statement stands alone and has to hold every word of the
    question, a turn lives from the turns around it and from who spoke.

    Args:
        statement: Fitted model for statements, with the bars `sufficient` and `unclear`.
        turn: The same for turns of a conversation.
        sufficient_at: Confidence from which evidence is sufficient; None takes the fitted bars.
        unclear_at: Confidence from which it is at least unclear; None takes the fitted bars.
    """

    def __init__(
        self,
        statement: LogisticModel,
        turn: LogisticModel,
        *,
        sufficient_at: float | None = None,
        unclear_at: float | None = None,
    ) -> None:
        self._statement = statement
        self._turn = turn
        self._sufficient_at = sufficient_at
        self._unclear_at = unclear_at

    def model(self, scored: Scored) -> LogisticModel:
        """Return the model that judges this candidate."""
        return self._turn if scored.candidate.session else self._statement

    def confidence(self, scored: Scored) -> float:
        """Return the probability that this candidate answers the question."""
        return self.model(scored).probability(scored.features)

    def band(self, scored: Scored, confidence: float) -> Band:
        """Return the band.

        A name nobody in this palace has is never more than none; a statement that lacks a name of
        the question is never sufficient, one that holds them all is never less than unclear. What
        only shares words with the turn before is never sufficient either.
        """
        features = scored.features
        if not features or _asks_about_a_stranger(features):
            return "none"
        named = features["names"] if features["has_names"] else None
        alone = not scored.candidate.session
        bars = self.model(scored).bars
        sufficient_at = _or(self._sufficient_at, bars["sufficient"])
        lacks_name = alone and named is not None and named < 1.0
        if confidence >= sufficient_at and not lacks_name and features.get("own", 0.5) > 0.0:
            return "sufficient"
        unclear_at = min(_or(self._unclear_at, bars["unclear"]), sufficient_at)
        return "unclear" if confidence >= unclear_at or (alone and named == 1.0) else "none"


def _asks_about_a_stranger(features: Mapping[str, float]) -> bool:
    return bool(features["has_names"]) and features["unknown_name"] >= 1.0


def _or(given: float | None, fitted: float) -> float:
    return fitted if given is None else given
