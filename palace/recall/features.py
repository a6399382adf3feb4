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


class Asked:
    """A question as every candidate is measured against it: worked out once, not for each.

    Args:
        query: What is asked.
        weights: Term weights of the query.
    """

    def __init__(self, query: Query, weights: Weights) -> None:
        self.query = query
        self.weights = weights
        idf, known = weights.idf, weights.known
        self._total = sum(idf.values()) or 1.0
        self._known_total = sum([idf[t] for t in known]) or 1.0
        named = {token for name in query.names for token in name}
        # Nothing else that a memory says is looked at for most of the signals.
        self._looked_for = dict.fromkeys((*idf, *query.terms, *query.head, *named)).keys()
        self._rest = {t: weight for t, weight in idf.items() if t not in named}
        self._rest_total = sum(self._rest.values()) or 1.0
        self._most_relevance = self._rest_total * (K1 + 1)
        self._tail = [t for t in query.terms if t not in query.head]
        self._identifiers = [i for i in query.identifiers if i in idf]
        self._numbers = [n for n in query.numbers if n in idf]
        # The prompt's own terms, those of the turn before and the soft ones apart.
        self._own = [t for t in query.terms if t not in query.soft] if query.carried else []
        self._dates = [
            (is_one, asked)
            for is_one in (_is_month, _is_year)
            if (asked := [t for t in query.terms if is_one(t)])
        ]
        absent = sum([weight for t, weight in idf.items() if t not in known])
        self._absent = absent / self._total
        self._has_names = float(bool(query.names))
        self._unknown_name = _unknown_names(query, weights)
        self._one_term = float(len(query.terms) <= 1)
        self._carried = float(bool(query.carried))

    def features(
        self, candidate: Candidate, neighbours: Sequence[Candidate], *, answered: float
    ) -> dict[str, float]:
        """Return the absolute signals of one candidate, each in [0, 1].

        Args:
            candidate: What is measured.
            neighbours: The turns around it.
            answered: What `answer_present` says of it.
        """
        query, idf, known = self.query, self.weights.idf, self.weights.known
        ceiling = self.weights.ceiling
        body = self._looked_for & candidate.body
        here = body | (self._looked_for & candidate.context)
        around = [neighbour.body for neighbour in neighbours]
        matched = [weight for t, weight in idf.items() if t in here]
        lacking = [weight for t, weight in idf.items() if t not in here]
        rest_here = {t: weight for t, weight in self._rest.items() if t in here}
        covered = sum(matched)
        coverage = covered / self._total
        told = candidate.body
        return {
            "coverage": coverage,
            "coverage_body": self._coverage(body),
            "coverage_window": self._coverage(here.union(*around)) if around else coverage,
            "coverage_known": covered / self._known_total,
            "absent": self._absent,
            "distinct": min(len(matched), 4) / 4,
            "rarest": max(matched, default=0.0) / ceiling,
            "head": _share(query.head, here),
            "tail": _share(self._tail, here),
            "names": _names_present(query, here),
            "names_body": _names_present(query, body),
            "has_names": self._has_names,
            "unknown_name": self._unknown_name,
            "identifiers": _share(self._identifiers, here),
            "numbers": _share(self._numbers, body),
            "missing": max(lacking, default=0.0) / ceiling,
            "missing_known": max([idf[t] for t in known if t not in here], default=0.0) / ceiling,
            "answer_type": answered,
            "other_date": self._other_date_told(told),
            "counted": counted_present(query, told),
            "phrase": _adjacent_pairs([t for t in query.terms if t in here], told),
            "rest_body": sum([w for t, w in rest_here.items() if t in body]) / self._rest_total,
            "relevance": min(relevance(candidate, rest_here) / self._most_relevance, 1.0),
            "one_term": self._one_term,
            "carried": self._carried,
            "own": _share(self._own, here),
        }

    def _coverage(self, present: set[str]) -> float:
        """Return the weighted share of the question that is present."""
        return sum([weight for t, weight in self.weights.idf.items() if t in present]) / self._total

    def _other_date_told(self, body: Sequence[str]) -> float:
        """Return 1 if a memory tells of another month or year than the one asked about, else 0."""
        for is_one, asked in self._dates:
            told = [t for t in body if is_one(t)]
            if told and not any(t in told for t in asked):
                return 1.0
        return 0.0


def _share(terms: Sequence[str], present: set[str]) -> float:
    """Return the share of terms that are present; neutral .5 where nothing was asked."""
    return len([t for t in terms if t in present]) / len(terms) if terms else 0.5


def _names_present(query: Query, present: set[str]) -> float:
    if not query.names:
        return 0.5
    return sum([present.issuperset(name) for name in query.names]) / len(query.names)


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
    tells = _TOKEN_TELLS.get(query.answer_type)
    if tells is not None:
        telling = [t for t in candidate.body if tells(t)]
        return float(bool(set(telling).difference(query.terms, query.carried, query.numbers)))
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


def _tells_money(token: str) -> bool:
    """Whether a token names a currency, or that nothing is to pay; a bare number is no price."""
    return token == MONEY or token in word_tokens("price_words")


@lru_cache(maxsize=8192)
def _tells_date(token: str) -> bool:
    """Whether a token tells when: an hour does too."""
    return _is_day(token) or token in word_tokens("relative_dates") or _tells_clock(token)


@lru_cache(maxsize=8192)
def _tells_clock(token: str) -> bool:
    return (":" in token and token[0].isdigit()) or token in word_tokens("clock_words")


def _tell_duration(tokens: Collection[str]) -> bool:
    return _tell_number(tokens) or any(map(_tells_date, tokens))


# A time or a price is told by one token, whatever stands beside it; a number is not.
_TOKEN_TELLS: Mapping[AnswerType, Callable[[str], bool]] = {
    "clock": _tells_clock,
    "date": _tells_date,
    "money": _tells_money,
}
_TELLS: Mapping[AnswerType, Callable[[Collection[str]], bool]] = {
    "duration": _tell_duration,
    "number": _tell_number,
}
