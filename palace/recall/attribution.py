"""Who said it, and of whom: whether what a conversation holds is about the person asked about.

In: a query and the turns that were found. Out: for each turn, whether the person asked about says
it or is spoken to; and for all of them, how much of it is that person's own. Relevance cannot see
this: a true fact asked of the wrong person matches as well as the right one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, get_args

from palace.ports import Candidate
from palace.recall.lexicon import word_tokens
from palace.types.query import Query

Standing = Literal["own", "named", "addressed", "other", ""]
Voice = Literal["self", "addressed", "plain"]

# How many words away a word for a person may stand from what is said of him.
_NEAR = 3
# Keeps the masses of a question that matched next to nothing near zero.
_PRIOR = 0.1


def people_asked(query: Query, candidates: Sequence[Candidate]) -> frozenset[str]:
    """Return the name tokens of the query that say who spoke in some turn that was found."""
    asked = {token for name in query.names for token in name}
    if not asked:
        return frozenset()
    return frozenset(name for c in candidates if c.session for name in asked if speaks(c, name))


def speaks(candidate: Candidate, name: str) -> bool:
    """Whether a name is that of who says a turn, and not of what its conversation is about.

    Who speaks comes first of what stands around a turn, and is one of its names though nobody says
    it there.
    """
    context = candidate.context
    if name not in context:
        return False
    return context[0] == name or (name in candidate.names and name not in candidate.body)


def standing(candidate: Candidate, people: AbstractSet[str]) -> Standing:
    """Return how a turn stands to the people asked about; "" where nobody is, or no one speaks.

    Args:
        candidate: The turn.
        people: Name tokens, as of `people_asked`.
    """
    if not candidate.session or not people:
        return ""
    if any(speaks(candidate, name) for name in people):
        return "own"
    if not people.isdisjoint(candidate.body):
        return "named"
    return "other" if word_tokens("address").isdisjoint(candidate.body) else "addressed"


def voices(
    candidate: Candidate, terms: Collection[str], addressed: Collection[str]
) -> dict[Voice, set[str]]:
    """Return the terms of a turn by whom they are said of; one that stands twice may be in two.

    A term is said of the speaker where the nearest word for a person is "I" or the like; of the
    listener where it is "you" or the term stands in a question; and of nobody where neither or both
    hold.

    Args:
        candidate: The turn.
        terms: Those of its body that count.
        addressed: Names by which somebody is spoken to, beside the words of the languages.
    """
    found: dict[Voice, set[str]] = {}
    body = candidate.body
    for term in terms:
        place = -1
        for _ in range(body.count(term)):
            place = body.index(term, place + 1)
            found.setdefault(_voice(candidate, place, addressed), set()).add(term)
    return found


def _voice(candidate: Candidate, place: int, addressed: Collection[str]) -> Voice:
    body, last = candidate.body, len(candidate.body) - 1
    first_person, address = word_tokens("first_person"), word_tokens("address")
    to_self = to_other = False
    for step in range(1, _NEAR + 1):
        for token in (body[max(place - step, 0)], body[min(place + step, last)]):
            to_self = to_self or token in first_person
            to_other = to_other or token in address or token in addressed
        if to_self or to_other:
            break
    to_other = to_other or any(start <= place < end for start, end in candidate.asks)
    return "plain" if to_self == to_other else "self" if to_self else "addressed"


def attribution_features(turns: Iterable[tuple[bool, Mapping[Voice, float]]]) -> dict[str, float]:
    """Return how much of what was found is said by the asked person, and of whom; in [0, 1].

    All are 0 when nothing is said by anybody; `attributed` tells the two apart.

    Args:
        turns: Of everything found in conversations: whether the asked person says it, and the
            share of the question it says in each voice, in [0, 1].
    """
    best = dict.fromkeys(_SIDES, 0.0)
    mass = dict.fromkeys(_SIDES, 0.0)
    attributed = False
    for is_own, shares in turns:
        attributed = True
        for voice, share in shares.items():
            side = (is_own, voice)
            best[side] = max(best[side], share)
            mass[side] += share**3
    total = sum(mass.values()) + _PRIOR
    values = [float(attributed), *best.values(), *(m / total for m in mass.values())]
    return dict(zip(ATTRIBUTION_FEATURES, values, strict=True))


_SIDES = [(is_own, voice) for is_own in (True, False) for voice in get_args(Voice)]
_NAMES = [f"{'own' if is_own else 'other'}_{voice}" for is_own, voice in _SIDES]
ATTRIBUTION_FEATURES = ("attributed", *_NAMES, *(f"{name}_mass" for name in _NAMES))
