"""Who said it, and of whom: whether what a conversation holds is about the person asked about.

In: a query and the turns that were found. Out: how each turn stands to the person, and how the
whole of what was found does. Relevance cannot see this: a true fact asked of the wrong person
matches as well as the right one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from palace.ports import Candidate
from palace.recall.lexicon import word_tokens
from palace.types.query import Query

Standing = Literal["own", "named", "addressed", "other", ""]

# Keeps the shares of a question that matched next to nothing near one half.
_PRIOR = 0.01


def people_asked(query: Query, candidates: Sequence[Candidate]) -> frozenset[str]:
    """Return the name tokens of the query that say who spoke in some turn that was found."""
    asked = {token for name in query.names for token in name}
    if not asked:
        return frozenset()
    spoke = (asked.intersection(c.context) for c in candidates if c.session)
    return frozenset().union(*spoke)


def standing(candidate: Candidate, people: Set[str], said: Set[str]) -> Standing:
    """Return how a turn stands to the people asked about; "" where nobody is, or no one speaks.

    Args:
        candidate: The turn.
        people: Name tokens, as of `people_asked`.
        said: Its body as a set.
    """
    if not candidate.session or not people:
        return ""
    if not people.isdisjoint(candidate.context):
        return "own"
    if not people.isdisjoint(said):
        return "named"
    return "addressed" if not word_tokens("address").isdisjoint(said) else "other"


@dataclass(frozen=True, slots=True)
class Said:
    """One turn as evidence of who is meant: its words, how it stands, what it covers in [0, 1]."""

    words: frozenset[str]
    standing: Standing
    coverage: float

    @property
    def of_oneself(self) -> bool:
        """Whether its speaker speaks of himself and to nobody."""
        return not (self.to_somebody or word_tokens("first_person").isdisjoint(self.words))

    @property
    def to_somebody(self) -> bool:
        """Whether it speaks to somebody."""
        return not word_tokens("address").isdisjoint(self.words)


def attribution_features(turns: Sequence[Said], weights: Mapping[str, float]) -> dict[str, float]:
    """Return how much of what was found is the asked person's own, each in [-1, 1].

    All are 0 when the turns do not stand to anybody; `attributed` tells the two apart.

    Args:
        turns: Everything that was found in conversations.
        weights: Term -> weight of the question without the person's name.
    """
    mine = [t for t in turns if t.standing == "own"]
    others = [t for t in turns if t.standing not in ("own", "")]
    if not mine and not others:
        return dict.fromkeys(ATTRIBUTION_FEATURES, 0.0)
    mass, rival = (sum(t.coverage**3 for t in side) for side in (mine, others))
    return {
        "attributed": 1.0,
        "own_mass": (mass + _PRIOR) / (mass + rival + 2 * _PRIOR) - 0.5,
        "own_best": _best(mine) - _best(others),
        "own_of_self": _best([t for t in mine if t.of_oneself])
        - _best([t for t in others if t.of_oneself]),
        "own_addressed": _best([t for t in others if t.to_somebody])
        - _best([t for t in mine if t.to_somebody]),
        "own_terms": _term_share(mine, others, weights) - 0.5,
    }


ATTRIBUTION_FEATURES = (
    "attributed",
    "own_mass",
    "own_best",
    "own_of_self",
    "own_addressed",
    "own_terms",
)


def _best(turns: Sequence[Said]) -> float:
    return max((t.coverage for t in turns), default=0.0)


def _term_share(
    mine: Sequence[Said], others: Sequence[Said], weights: Mapping[str, float]
) -> float:
    """Return the weighted share of each term's turns that are the person's own."""
    share = total = 0.0
    for term, weight in weights.items():
        own, theirs = (sum(term in t.words for t in side) for side in (mine, others))
        if own or theirs:
            share += weight * (own + 0.5) / (own + theirs + 1)
            total += weight
    return share / total if total else 0.5
