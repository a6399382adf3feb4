"""The absolute signals of one candidate, from which `sufficiency` judges whether it answers.

In: a query, a candidate and the turns around it as index tokens. Out: features in [0, 1]; they
never depend on what else was found, so the best of the bad stays bad.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, pairwise, zip_longest

from palace.ports import Candidate
from palace.recall.given_names import given_names
from palace.recall.lexicon import is_word_of, word_tokens
from palace.recall.related import NEARLY_ALL_LISTED, everyday_words
from palace.recall.told import told
from palace.recall.weighing import K1, Weights, relevance
from palace.text import MONEY
from palace.text.late_patterns import late
from palace.types.query import AnswerType, Query

# A token that names a day, a month or a year: 2026-05-07, 2026, 7/5, 7.5.2026, 3rd, 3-го, 五月.
_DAY = late(
    r"\d{4}-\d\d(?:-\d\d)?$|(?:19|20)\d\d$|\d{1,2}/\d{1,2}(?:/\d{2,4})?$|\d{1,2}\.\d{1,2}\.\d{2,4}$"
    r"|\d{1,2}(?:st|nd|rd|th|-го|-е)$|.*[年月号曜]"
)
_DIGITS = late(r"\d+")
_DAY_NUMBER = late(r"(?:[012]?\d|3[01])$")
_MOST_DAYS = 3
# So many tokens apart, a number counts a thing.
_BESIDE = 3
# "30k", "12mm": how much of something, and no label of it.
_MEASURE = late(r"(\d[\d.,]*)(?:k|[kcm]?m|k?g|mg|[mc]?l|h|min|s|[gtm]b|k?wh?|x)$")
_HOUR = late(r"(?:[01]?\d|2[0-4])[hu](?:[0-5]\d)?$")  # 17h30, Flemish 17u30
# 7.30 and 0752 tell an hour where one is asked for, and may be a price and a number elsewhere.
_BARE_HOUR = late(r"(?:[01]?\d|2[0-3])\.[0-5]\d$|0\d[0-5]\d$")
_PRICED = late(r"\d[\d.,]*+(?P<unit>\D+)$")  # "75EUR", "500р"
_CODE = late(r"[^\W\d].*\d")
_FIRST_WITHOUT_CAPITALS = "\u2e80"  # Chinese, Japanese and Korean letters stand behind it


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
        self._known_total = sum([weight for t, weight in idf.items() if t in known]) or 1.0
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
        self._names = _count_names(query)
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
            "names": self._names_present(here),
            "names_body": self._names_present(body),
            "has_names": float(self._names > 0),
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

    def rests_on_mended(self, candidate: Candidate) -> float:
        """Return which share of what a candidate covers are misspelt words of the question.

        All of it where one is a name, or may be a word that no list of its language holds.
        """
        if not self.query.mended:
            return 0.0
        here = self._looked_for & {*candidate.body, *candidate.context}
        mended = here.intersection(self.query.mended)
        named = any(not mended.isdisjoint(name) for name in self.query.names)
        if mended and (named or self.query.language not in NEARLY_ALL_LISTED):
            return 1.0
        return self._coverage(mended) / (self._coverage(here) or 1.0)

    def _coverage(self, present: set[str]) -> float:
        """Return the weighted share of the question that is present."""
        return sum([weight for t, weight in self.weights.idf.items() if t in present]) / self._total

    def _names_present(self, present: set[str]) -> float:
        """Return the share of the names that are present; neutral .5 where there is none."""
        if not self._names:
            return 0.5
        return sum([present.issuperset(name) for name in self.query.names]) / self._names

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


def _unknown_names(query: Query, weights: Weights) -> float:
    names = _count_names(query)
    if not names:
        return 0.0
    known = sum(all(t not in weights.idf or t in weights.known for t in n) for n in query.names)
    return (names - known) / names


def _count_names(query: Query) -> int:
    return len(query.names) + bool(query.unheard)


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
    if query.answer_type in ("person", "name"):
        return _named(query, candidate)
    telling = _TELLING.get(query.answer_type)
    if telling is None:
        return 0.5
    return float(any(not _is_asked(query, token) for token in telling(candidate.body)))


def _is_asked(query: Query, token: str) -> bool:
    """Whether the question says a token itself."""
    return token in query.terms or token in query.carried or token in query.numbers


def _named(query: Query, candidate: Candidate) -> float:
    """Return whether a memory names somebody, or whether it can say what something is called.

    A name that stands there need not be the one that is asked for, so of a thing it proves nothing.
    """
    body = candidate.body
    names = {token for token in candidate.names if _is_name(token)}
    if body and is_word_of("stopwords", body[0]):
        names.discard(body[0])  # "The" of "The Stag is shut"
    if query.answer_type == "person":
        names = set(filter(str.isalpha, names))  # a code is nobody
    named = any(token in body and not _is_asked(query, token) for token in names)
    if query.answer_type == "name":
        # "the cat is called mitzi"
        if named or any(t in query.soft or t[0] >= _FIRST_WITHOUT_CAPITALS for t in body):
            return 0.5
    elif named or candidate.session:
        return 1.0  # who speaks
    return 0.5 if body and _may_name(query, body[0], capitals=bool(names)) else 0.0


def _may_name(query: Query, first: str, *, capitals: bool) -> bool:
    """Whether the first word of a memory may be a name: "Ada owns the backups".

    At its beginning every word has a capital, and in some scripts none. That it is an everyday
    word tells something where names are written with capitals.
    """
    if first[0] >= _FIRST_WITHOUT_CAPITALS:
        return True
    if first in query.terms or is_word_of("stopwords", first):
        return False
    if query.answer_type == "name":
        return True
    return not first[0].isdigit() and not (
        capitals
        and query.language in NEARLY_ALL_LISTED
        and first in everyday_words(query.language)
        and first not in given_names()
        and not is_word_of("everyday_names", first)
    )


def _is_name(token: str) -> bool:
    """Whether a token that is written like a name is one: no day of the week, no currency."""
    return not _tells_date(token) and not _tells_money(token)


def _is_month(token: str) -> bool:
    return token.startswith("month") and token[5:].isdigit()  # "month" is a word like any other


@lru_cache(maxsize=8192)
def _is_day(token: str) -> bool:
    """Whether a token names a day, a month or a year."""
    if token.isascii() and token.isalpha():
        return False
    return _is_month(token) or _DAY.match(token) is not None


def _is_year(token: str) -> bool:
    return len(token) == 4 and token.isdigit() and token[:2] in ("19", "20")


def counted_present(query: Query, body: Sequence[str]) -> float:
    """Return whether a number stands beside the thing whose number is asked ("how many eggs").

    1 if it does, 0 if not, .5 where nothing is counted.
    """
    if query.answer_type not in ("number", "count") or not query.head:
        return 0.5
    thing = query.head[0]
    places = [i for i, token in enumerate(body) if token == thing]
    numbers = _number_places(body) if places else []
    return float(any(abs(i - j) <= _BESIDE for i in places for j in numbers))


def _number_places(body: Sequence[str]) -> list[int]:
    """Return where numbers and words for them stand; dates, years and times of day are none."""
    words = word_tokens("number_words")
    places: list[int] = []
    of_a_time: list[str] = []
    for place, token in enumerate(body):
        if token in of_a_time:  # the index has a 12 and a 30 behind "12:30", and they count nothing
            del of_a_time[: of_a_time.index(token) + 1]
            continue
        of_a_time = []
        if token in words:
            places.append(place)
        elif ":" in token or _is_day(token):
            of_a_time = [*_DIGITS.findall(token), token.rpartition(".")[0]]
        elif token[0].isdigit():
            places.append(place)
    return places


def _numbers(body: Sequence[str]) -> list[str]:
    return [body[place] for place in _number_places(body)]


def _counts(body: Sequence[str]) -> list[str]:
    """Return what can say how many: numbers that are no price and no day of a month."""
    return [
        body[place]
        for place in _number_places(body)
        if not any(map(_tells_money, _beside(body, place))) and not _is_day_of_month(body, place)
    ]


def _labels(body: Sequence[str]) -> set[str]:
    """Return what can be the number, code or address that something has."""
    measures = [found for token in body if (found := _MEASURE.match(token))]
    measured = {said for found in measures for said in (found[0], found[1])}
    numbers = {t for t in _counts(body) if t[0].isdigit() and t not in measured}
    return numbers.union(t for t in body if "@" in t or (_CODE.match(t) and not _is_month(t)))


def _beside(body: Sequence[str], place: int) -> tuple[str, ...]:
    return (*body[max(place - 1, 0) : place], *body[place + 1 : place + 2])


def _is_day_of_month(body: Sequence[str], place: int) -> bool:
    """Whether a number stands before or after a month: "May 12", "12 May", "12 to 14 May"."""
    if not _DAY_NUMBER.match(body[place]):
        return False
    for following in body[place + 1 : place + 1 + _MOST_DAYS]:
        if _is_month(following):
            return True
        if not _DAY_NUMBER.match(following):
            break
    return any(map(_is_month, body[max(place - 2, 0) : place]))  # its name stands behind it


def _tells_money(token: str) -> bool:
    """Whether a token names a currency, or that nothing is to pay; a bare number is no price."""
    if priced := _PRICED.match(token):
        token = priced["unit"]
    return token == MONEY or token in word_tokens("price_words")


@lru_cache(maxsize=65_536)  # it is asked of every word of a candidate
def _tells_date(token: str) -> bool:
    """Whether a token tells when: an hour does too."""
    return _is_day(token) or is_word_of("relative_dates", token) or _tells_clock(token)


@lru_cache(maxsize=8192)
def _tells_clock(token: str) -> bool:
    return (
        (":" in token and token[0].isdigit())
        or is_word_of("clock_words", token)
        or _HOUR.match(token) is not None
    )


def _clocks(body: Sequence[str]) -> Iterable[str]:
    """Return what tells an hour: "17 h" and "4 Uhr" too, which are two words."""
    at_once = (
        token
        for place, (token, behind) in enumerate(zip_longest(body, body[1:], fillvalue=""))
        if _tells_clock(token)
        or (behind == "h" and _HOUR.match(f"{token}h"))
        or (token.isdigit() and behind in word_tokens("clock_words"))
        or (
            _BARE_HOUR.match(token)
            and not _MEASURE.match(f"1{behind}")
            and not any(map(_tells_money, _beside(body, place)))
        )
    )
    return chain(at_once, told(body, "clock"))


def _dates(body: Sequence[str]) -> Iterable[str]:
    return chain(filter(_tells_date, body), told(body, "clock", "date"))


def _durations(body: Sequence[str]) -> list[str]:
    return [*_numbers(body), *filter(_tells_date, body)]


# What of a memory, in its order, is of the kind that is asked for.
_TELLING: Mapping[AnswerType, Callable[[Sequence[str]], Iterable[str]]] = {
    "clock": _clocks,
    "date": _dates,
    "money": partial(filter, _tells_money),
    "duration": _durations,
    "number": _numbers,
    "count": _counts,
    "label": _labels,
}
