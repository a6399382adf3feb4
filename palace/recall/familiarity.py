"""How well the palace knows what a prompt speaks of: whom it names, and its words.

In: a query, the cues of its prompt and the palace's vocabulary. Out: signals in [0, 1] for the
detector. Each counts once more by how large the palace is: of a few notes one that has a word of a
question is telling, thousands have most words.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, pairwise

from palace.ports import Scope, TermCounts, Vocabulary
from palace.recall.weighing import weights_of
from palace.types.query import Query

# So many memories that tell of something are as telling as more: of a name, of another word.
_OFTEN_TOLD, _MOST_TOLD = 4, 8
# What the second count of a signal is called, and how many memories are few and many.
_LARGE, _FEW_TO_MANY = "large_", (100, 10_000)


def familiarity(
    query: Query, cues: Mapping[str, float], vocabulary: Vocabulary, *, noted: frozenset[str]
) -> dict[str, float]:
    """Return how familiar the palace is with what a prompt asks about, each signal in [0, 1].

    Args:
        query: Of the prompt.
        cues: Of the prompt: a name in a task is told apart from one that is free of it.
        vocabulary: The palace's words.
        noted: Index tokens that the session has noted: they are familiar too.
    """
    scope = Scope(query.session_id, query.project)
    named = [token for name in query.names for token in name]
    elsewhere = query.elsewhere
    written = chain.from_iterable((*elsewhere.values(), *query.days.values()))
    counts = vocabulary.counts((*query.terms, *query.carried, *named, *written), scope=scope)
    if not query.of_day:  # that a diary has the day says nothing of tomorrow's weather
        days = chain.from_iterable(query.days.get(term, ()) for term in query.from_today)
        counts = {**counts, **dict.fromkeys((*query.from_today, *days), TermCounts())}
    size = vocabulary.size(scope=scope)
    weights = weights_of(query, counts, size=size)
    total = sum(weights.idf.values()) or 1.0
    known_terms = {*weights.known, *noted}
    known_terms.update(
        term for term, words in elsewhere.items() if any(counts[w].any for w in words)
    )
    known = sum(w for t, w in weights.idf.items() if t in known_terms) / total
    names = [all(counts[t].any or t in noted for t in name) for name in query.names]
    whole = [name for name in compress(query.names, names) if len(name) > 1]
    told = [vocabulary.together(name, scope=scope) for name in whole]
    loaded = size > 0 or bool(noted)
    known_name = float(any(names))
    tasks = max(cues.get("task", 0.0), cues.get("task_inside", 0.0))
    familiar = {
        "loaded": float(loaded),
        "known_name": known_name,
        "known_name_free": known_name * (1.0 - tasks),
        "given_name": float(query.given_name),
        "given_name_free": float(query.given_name) * (1.0 - tasks),
        "unknown_name": float(bool(names) and not any(names)) * float(loaded),
        "known_terms": known if loaded else 0.0,
        "all_known": float(loaded and known > 0.999 and len(query.terms) > 1),
        "any_name": float(bool(query.names)),
        # Of its own people and things a palace tells more than once, of the world's hardly.
        "name_told": _told(query.names, counts),
        # "Marie Curie" is no Marie of the palace, nor the Marie of one memory and the Curie of
        # another: whose whole name one of them holds is one of its own.
        "whole_name": float(any(told) or any(noted.issuperset(name) for name in whole)),
        "whole_name_told": _often(max(told, default=0)),
        "strange_name_too": float(any(names) and not all(names)),
        "run_told": _told(_runs(query.terms), counts),
        **_of_no_name(query.terms, named, counts),
    }
    large = _largeness(size)
    return familiar | ({_LARGE + name: large * familiar[name] for name in familiar if large})


def _largeness(size: int) -> float:
    """Return how large a palace of so many memories is, in [0, 1].

    Of a few notes one that has a word of a question is telling; thousands have most words.
    """
    few, many = map(math.log, _FEW_TO_MANY)
    return min(max(math.log(max(size, 1)) - few, 0.0) / (many - few), 1.0)


def _told(names: Iterable[Sequence[str]], counts: Mapping[str, TermCounts]) -> float:
    """Return how often the most told of some names is told, in [0, 1]; all of its terms must be."""
    return _often(max((min(counts[term].any for term in name) for name in names), default=0))


def _often(memories: int) -> float:
    """Return how often something is told, in [0, 1]."""
    return min(memories, _OFTEN_TOLD) / _OFTEN_TOLD


def _runs(terms: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of letters that overlap: three letters in a row, where no blank ends a word."""
    for one, two in pairwise(terms):
        if len(one) == len(two) == 2 and one[1] == two[0]:
            yield one, two


def _of_no_name(
    terms: Sequence[str], named: Collection[str], counts: Mapping[str, TermCounts]
) -> dict[str, float]:
    """Return how well the palace knows what is asked about beside names."""
    others = [counts[term].any for term in terms if term not in named]
    known = sum(1 for count in others if count)
    return {
        "other_told": min(max(others, default=0), _MOST_TOLD) / _MOST_TOLD,
        "others_known": known / len(others) if others else 0.0,
        "few_others": float(len(others) <= 1),
    }
