"""The absolute signals of one candidate, from which `sufficiency` judges whether it answers.

In: a query, a candidate and the turns around it as index tokens. Out: features in [0, 1]; they
never depend on what else was found, so the best of the bad stays bad.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

import regex

from palace.ports import Candidate
from palace.recall.lexicon import word_tokens
from palace.recall.weighing import K1, Weights, relevance
from palace.text import MONEY
from palace.types.query import AnswerType, Query

# A token that names a day, a month or a year: 2026-05-07, 2026, 7/5, 7.5.2026, 3rd, 五月.
_DAY = regex.compile(
    r"\d{4}-\d\d(?:-\d\d)?$|(?:19|20)\d\d$|\d{1,2}/\d{1,2}(?:/\d{2,4})?$|\d{1,2}\.\d{1,2}\.\d{2,4}$"
    r"|\d{1,2}(?:st|nd|rd|th)$|.*[年月号曜]"
)
_PARTS = regex.compile("[:/.-]")


def features(
    query: Query,
    candidate: Candidate,
    neighbours: Sequence[Candidate],
    *,
    weights: Weights,
) -> dict[str, float]:
    """Return the absolute signals of one candidate, each in [0, 1]."""
    body, context = set(candidate.body), set(candidate.context)
    here = body | context
    window = here.union(*(n.body for n in neighbours)) if neighbours else here
    idf = weights.idf
    total = sum(idf.values()) or 1.0
    matched = [t for t in idf if t in here]
    own = [t for t in query.terms if t in here]
    known_total = sum([idf[t] for t in weights.known]) or 1.0
    asked = {token for name in query.names for token in name}
    rest = {t: weight for t, weight in idf.items() if t not in asked}
    rest_total = sum(rest.values()) or 1.0
    rest_here = {t: weight for t, weight in rest.items() if t in here}
    return {
        "coverage": sum([idf[t] for t in matched]) / total,
        "coverage_body": sum([idf[t] for t in idf if t in body]) / total,
        "coverage_window": sum([idf[t] for t in idf if t in window]) / total,
        "coverage_known": sum([idf[t] for t in matched]) / known_total,
        "absent": sum([idf[t] for t in idf if t not in weights.known]) / total,
        "distinct": min(len(matched), 4) / 4,
        "rarest": max([idf[t] for t in matched], default=0.0) / weights.ceiling,
        "head": _share(query.head, here),
        "tail": _share([t for t in query.terms if t not in query.head], here),
        "names": _names_present(query, here),
        "names_body": _names_present(query, body),
        "has_names": float(bool(query.names)),
        "unknown_name": _unknown_names(query, weights),
        "identifiers": _share([i for i in query.identifiers if i in idf], here),
        "numbers": _share([n for n in query.numbers if n in idf], body),
        "missing": max([idf[t] for t in idf if t not in here], default=0.0) / weights.ceiling,
        "missing_known": max([idf[t] for t in weights.known if t not in here], default=0.0)
        / weights.ceiling,
        "answer_type": answer_present(query, candidate),
        "other_date": other_date_told(query, candidate.body),
        "counted": counted_present(query, candidate.body),
        "phrase": _adjacent_pairs(own, candidate.body),
        "rest_body": sum([rest[t] for t in rest_here if t in body]) / rest_total,
        "relevance": min(relevance(candidate, rest_here) / (rest_total * (K1 + 1)), 1.0),
        "one_term": float(len(query.terms) <= 1),
        "carried": float(bool(query.carried)),
        "own": _own_share(query, here),
    }


def _share(terms: Sequence[str], present: set[str]) -> float:
    """Return the share of terms that are present; neutral .5 where nothing was asked."""
    return len([t for t in terms if t in present]) / len(terms) if terms else 0.5


def _own_share(query: Query, present: set[str]) -> float:
    """Return the share of the prompt's own terms that are present, those of the turn before apart.

    Neutral .5 where the prompt stands alone or only says what sort of thing it asks for.
    """
    own = [t for t in query.terms if t not in query.soft] if query.carried else []
    return _share(own, present)


def _names_present(query: Query, present: set[str]) -> float:
    if not query.names:
        return 0.5
    return sum(all(t in present for t in name) for name in query.names) / len(query.names)


def _unknown_names(query: Query, weights: Weights) -> float:
    if not query.names:
        return 0.0
    unknown = sum(any(t in weights.idf and t not in weights.known for t in n) for n in query.names)
    return unknown / len(query.names)


def _adjacent_pairs(terms: Sequence[str], body: Sequence[str]) -> float:
    """Return the share of neighbouring query terms that stand within three tokens of each other."""
    pairs = list(pairwise(terms))
    if not pairs:
        return 0.5
    places: dict[str, list[int]] = {term: [] for term in terms}
    for number, token in enumerate(body):
        if token in places:
            places[token].append(number)
    close = sum(any(abs(i - j) <= 3 for i in places[a] for j in places[b]) for a, b in pairs)
    return close / len(pairs)


def answer_present(query: Query, candidate: Candidate) -> float:
    """Return whether a memory holds something of the expected kind that the question did not say.

    1 if present, 0 if absent, .5 where the kind cannot be seen in tokens.
    """
    if query.answer_type != "person" and query.answer_type not in _TELLS:
        return 0.5
    if query.answer_type == "person" and candidate.session:
        return 1.0  # who speaks
    fresh = set(candidate.body).difference(query.terms, query.carried, query.numbers)
    if query.answer_type == "person":
        if not candidate.names.isdisjoint(fresh):
            return 1.0
        # "Ada owns the backups": at its beginning every word has a capital.
        common = not candidate.body or candidate.body[0] in word_tokens("stopwords")
        return 0.0 if common else 0.5
    return float(_TELLS[query.answer_type](fresh))


def other_date_told(query: Query, body: Sequence[str]) -> float:
    """Return 1 if a memory tells of another month or year than the one asked about, else 0."""
    for is_one in (_is_month, _is_year):
        asked = [t for t in query.terms if is_one(t)]
        told = [t for t in body if is_one(t)] if asked else []
        if told and not any(t in told for t in asked):
            return 1.0
    return 0.0


def _is_month(token: str) -> bool:
    return token.startswith("month") and token[5:].isdigit()  # "month" is a word like any other


@lru_cache(maxsize=8192)
def _is_day(token: str) -> bool:
    """Whether a token names a day, a month or a year."""
    return _is_month(token) or _DAY.match(token) is not None


def _is_year(token: str) -> bool:
    return len(token) == 4 and token.isdigit() and token[:2] in ("19", "20")


def counted_present(query: Query, body: Sequence[str]) -> float:
    """Return whether a number stands beside the thing whose number is asked ("how many eggs").

    1 if it does, 0 if not, .5 where nothing is counted.
    """
    if query.answer_type != "number" or not query.head:
        return 0.5
    thing = query.head[0]
    places = [i for i, token in enumerate(body) if token == thing]
    near = {token for i in places for token in body[max(i - 3, 0) : i + 4]}
    return float(_tell_number(near))


def _tell_number(tokens: Collection[str]) -> bool:
    """Whether one of the tokens is a number; a date, a year or a time of day is none."""
    times = {t for t in tokens if ":" in t or _is_day(t)}
    parts = {part for t in times for part in _PARTS.split(t)}
    plain = any(t[0].isdigit() and t not in times and t not in parts for t in tokens)
    return plain or not word_tokens("number_words").isdisjoint(tokens)


def _tell_money(tokens: Collection[str]) -> bool:
    """Whether a currency is named, or that nothing is to pay; a bare number is no price."""
    return MONEY in tokens or not word_tokens("price_words").isdisjoint(tokens)


def _tell_date(tokens: Collection[str]) -> bool:
    """Whether one of the tokens tells when: an hour does too."""
    said = any(map(_is_day, tokens)) or not word_tokens("relative_dates").isdisjoint(tokens)
    return said or _tell_clock(tokens)


def _tell_clock(tokens: Collection[str]) -> bool:
    clocks = any(":" in t and t[0].isdigit() for t in tokens)
    return clocks or not word_tokens("clock_words").isdisjoint(tokens)


def _tell_duration(tokens: Collection[str]) -> bool:
    return _tell_number(tokens) or _tell_date(tokens)


_TELLS: Mapping[AnswerType, Callable[[Collection[str]], bool]] = {
    "clock": _tell_clock,
    "date": _tell_date,
    "duration": _tell_duration,
    "money": _tell_money,
    "number": _tell_number,
}
