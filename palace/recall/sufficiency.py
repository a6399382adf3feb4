"""Whether something found answers the question: one calibrated probability and three bands.

In: a scored candidate. Out: a confidence in [0, 1] and its band. Rank never enters: the best of
the bad is still bad.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from palace.recall.logistic import LogisticModel
from palace.recall.scoring import Scored
from palace.types.verdict import Band, Judgement, Rule

# What is about somebody else is wrong however well it matches. The powers are chosen on held-out
# conversations: they part true questions from those about the wrong person, and keep the product
# what it says, a probability.
_ANSWERS_POWER = 0.6
_OWN_POWER = 3.0
_PROVES_NOTHING: Mapping[str, Rule] = {
    "mended": "mended word",
    "near_only": "near only",
    "dangling": "dangling",
}


def attributed(probability: float, own: float) -> float:
    """Return the probability that a turn answers a question about a person.

    Args:
        probability: That it answers, whoever is meant.
        own: That what was found is the asked person's own.
    """
    return float(probability**_ANSWERS_POWER * own**_OWN_POWER)


class Weighed(NamedTuple):
    """What was made of one candidate.

    Attributes:
        confidence: Probability that it answers; 0 for questions about strangers.
        promise: The same with meaning counted in; the confidence where there is none.
        band: What it amounts to.
        rule: What decided the band.
    """

    confidence: float
    promise: float
    band: Band
    rule: Rule


class Topic(NamedTuple):
    """Whether what was found has to do with the question at all.

    Attributes:
        probability: That the first of it has.
        bar: From which it has.
    """

    probability: float
    bar: float

    @property
    def is_missed(self) -> bool:
        """Whether it has nothing to do with the question."""
        return self.probability < self.bar


class Sufficiency:
    """Judges candidates, a statement and a turn of a conversation each by its own model.

    What proves an answer differs: a statement stands alone and has to hold every word of the
    question, a turn lives from the turns around it and from who spoke.

    Where a conversation is asked about a person, a turn has to hold the answer *and* to be that
    person's: two questions, two models, and the confidence joins both.

    Args:
        statement: Fitted model for statements, with the bars `sufficient` and `unclear`.
        turn: The same for turns of a conversation.
        attribution: Fitted model for whether what was found is the asked person's own.
        meaning: Fitted model for statements that also sees how close they are in meaning. It can
            make evidence unclear, never sufficient: what is near may still lack what is asked.
        topic: Fitted model for whether the first of what was found, if it is a statement, has to
            do with the question at all; with the bar `on_topic`. In any palace something is
            nearest.
        topic_in_meaning: The same that also sees how close it is in meaning.
        sufficient_at: Confidence from which evidence is sufficient; None takes the fitted bars.
        unclear_at: Confidence from which it is at least unclear; None takes the fitted bars.
        on_topic_at: Probability from which it is on topic; None takes the fitted bar.
    """

    def __init__(
        self,
        statement: LogisticModel,
        turn: LogisticModel,
        *,
        attribution: LogisticModel | None = None,
        meaning: LogisticModel | None = None,
        topic: LogisticModel | None = None,
        topic_in_meaning: LogisticModel | None = None,
        sufficient_at: float | None = None,
        unclear_at: float | None = None,
        on_topic_at: float | None = None,
    ) -> None:
        self._statement = statement
        self._turn = turn
        self._attribution = attribution
        self._meaning = meaning
        self._topic = topic
        self._topic_in_meaning = topic_in_meaning or topic
        self._sufficient_at = sufficient_at
        self._unclear_at = unclear_at
        self._on_topic_at = on_topic_at
        self._turn_bars, self._statement_bars = self.bars_of("turn"), self.bars_of("statement")

    def model(self, scored: Scored) -> LogisticModel:
        """Return the model that judges this candidate."""
        return self._turn if scored.candidate.session else self._statement

    def bars_of(self, kind: Literal["statement", "turn"]) -> tuple[float, float]:
        """Return the bars in force for a kind of memory: sufficient from, unclear from."""
        fitted = self.fitted_bars(kind)
        sufficient_at = _or(self._sufficient_at, fitted[0])
        return sufficient_at, min(_or(self._unclear_at, fitted[1]), sufficient_at)

    def fitted_bars(self, kind: Literal["statement", "turn"]) -> tuple[float, float]:
        """Return the bars of `bars_of` as they were fitted, whatever the settings say."""
        bars = (self._turn if kind == "turn" else self._statement).bars
        return bars["sufficient"], bars["unclear"]

    def confidence(self, scored: Scored) -> float:
        """Return the probability that this candidate answers; 0 for questions about strangers."""
        features = scored.features
        if not features or asks_about_a_stranger(features):
            return 0.0
        probability = self.model(scored).probability(features)
        own = self._own(features)
        return probability if own is None else attributed(probability, own)

    def _own(self, features: Mapping[str, float]) -> float | None:
        if self._attribution is None or not features.get("attributed"):
            return None
        return self._attribution.probability(features)

    def bars(self, scored: Scored) -> tuple[float, float]:
        """Return the bars in force for this candidate: sufficient from, unclear from."""
        return self._turn_bars if scored.candidate.session else self._statement_bars

    def weighed(self, scored: Scored) -> Weighed:
        """Return confidence, promise and band of a candidate."""
        confidence = self.confidence(scored)
        promise = self._promise(scored, confidence)
        return Weighed(confidence, promise, *self._decided(scored, confidence, promise))

    def topic(self, first: Scored) -> Topic | None:
        """Return whether what was found has to do with the question, going by the first of it.

        None where that is a turn, or where nobody judges it.
        """
        model = self._topic_in_meaning if "beyond_chance" in first.features else self._topic
        features = first.features
        if model is None or first.candidate.session or not features or "of_day" in features:
            return None
        return Topic(model.probability(features), _or(self._on_topic_at, model.bars["on_topic"]))

    def band(self, scored: Scored, confidence: float) -> Band:
        """Return the band of a candidate as if it had this confidence.

        A name nobody in this palace has is never more than none; a statement that lacks a name of
        the question, tells no date, hour or number where one is asked for, or tells of another
        month or year, is never sufficient, nor is anything where an unknown name stands in front of
        the question; one that holds all names is never less than unclear, and neither is what is of
        a day where all that is asked is what that day holds. What only shares words with the turn
        before is never sufficient either, nor what holds a word of the question only if that was
        misspelt, nor a statement that says none of them, only words near to them in the same
        language, nor what meets a question that goes on with something nobody said.
        """
        return self._decided(scored, confidence, self._promise(scored, confidence))[0]

    def _meaning_for(self, scored: Scored) -> LogisticModel | None:
        """Return the model that sees meaning, where there is any to be seen."""
        seen = not scored.candidate.session and "closeness" in scored.features
        return self._meaning if seen else None

    def _promise(self, scored: Scored, confidence: float) -> float:
        meaning = self._meaning_for(scored)
        if meaning is None:
            return confidence
        features = scored.features
        return 0.0 if asks_about_a_stranger(features) else meaning.probability(features)

    def _decided(self, scored: Scored, confidence: float, promise: float) -> tuple[Band, Rule]:
        features = scored.features
        if not features:
            return "none", "bars"
        if asks_about_a_stranger(features):
            return "none", "stranger"
        sufficient_at, unclear_at = self.bars(scored)
        alone = not scored.candidate.session
        named = features["names"] if features["has_names"] and alone else None
        rule: Rule = "bars"
        if confidence >= sufficient_at:
            rule = _unproved(features, alone=alone, named=named)
            if rule == "bars":
                return "sufficient", rule
        meaning = self._meaning_for(scored)
        if confidence >= unclear_at:
            return "unclear", rule
        if named == 1.0:
            rule = "names present"
        elif "of_day" in features:
            rule = "of the day"
        elif meaning is not None and promise >= meaning.bars["unclear"]:
            rule = "meaning"
        else:
            return "none", rule
        return "unclear", rule

    def judgement(self, scored: Scored, weighed: Weighed) -> Judgement:
        """Return how this candidate was judged, feature by feature."""
        features, model = scored.features, self.model(scored)
        probability, own = model.probability(features), self._own(features)
        sufficient_at, unclear_at = self.bars(scored)
        whose = self._attribution if own is not None else None
        return Judgement(
            source=scored.candidate.path,
            model="turn" if scored.candidate.session else "statement",
            bias=model.bias,
            parts=_parts(model, features),
            probability=probability,
            attribution=None if own is None else attributed(probability, own) / probability,
            attribution_parts=_parts(whose, features) if whose else {},
            confidence=weighed.confidence,
            sufficient_at=sufficient_at,
            unclear_at=unclear_at,
            band=weighed.band,
            rule=weighed.rule,
            prior=scored.prior,
        )


def _parts(model: LogisticModel, features: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    return {name: (features[name], share) for name, share in model.contributions(features).items()}


def _unproved(features: Mapping[str, float], *, alone: bool, named: float | None) -> Rule:
    """Return why evidence over the bar proves nothing all the same; `bars` if it does."""
    if (named is not None and named < 1.0) or features.get("fronted"):
        return "name missing"
    if alone and features.get("answer_type") == 0.0:
        return "answer missing"
    if alone and features.get("other_date"):
        return "other date"
    if alone and features.get("other_number"):
        return "other number"
    for feature, rule in _PROVES_NOTHING.items():
        if features.get(feature):
            return rule
    return "own words" if features.get("own", 0.5) <= 0.0 else "bars"


def asks_about_a_stranger(features: Mapping[str, float]) -> bool:
    """Return whether nobody named is known; in a conversation also where only a place or thing is.

    "What did Olga say about Lisbon?" is about Olga; whoever else spoke of Lisbon is not asked.
    """
    if not features["has_names"]:
        return False
    unknown = features["unknown_name"]
    return unknown >= 1.0 or (unknown > 0 and features.get("attributed") == 0.0)


def _or(given: float | None, fitted: float) -> float:
    return fitted if given is None else given
