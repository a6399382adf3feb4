"""What a memory tells of the kind that a question asks for: a day, a price, a name, a number.

In: a query and a candidate as index tokens. Out: whether it tells something of that kind which the
question did not say. What tells a kind in several words stands in `told`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, groupby, zip_longest

from palace.ports import Candidate
from palace.recall.borders import FIRST_HANGUL
from palace.recall.given_names import given_names
from palace.recall.lexicon import DENSE_FROM, is_word_of, load_lexicon, word_tokens
from palace.recall.related import NEARLY_ALL_LISTED, everyday_words, listed_set
from palace.recall.told import told
from palace.text import MONEY, tokens
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
_FEWEST_PHONE_DIGITS = 6
# What tells why, beside what is asked, takes so many words.
_FEWEST_OF_A_REASON = 3
_CODE = late(r"[^\W\d].*\d")


def answer_present(query: Query, candidate: Candidate) -> float:
    """Return whether a memory holds something of the expected kind that the question did not say.

    1 if present, 0 if absent, .5 where the kind cannot be seen in tokens.
    """
    body = candidate.body
    if query.answer_type in _TOLD:
        return _TOLD[query.answer_type](query, candidate)
    if query.answer_type in ("phone", "e_mail"):
        return max(
            (0.5 if _is_unparted(body, run) else 1.0 for run in _reached_at(query, body)),
            default=0.0,
        )
    if query.answer_type in _TELLING:
        said = _TELLING[query.answer_type](body)
    elif query.answer_type in _TELLING_BY_NUMBERS:
        said = _TELLING_BY_NUMBERS[query.answer_type](body, query.language)
    else:
        return 0.5
    if query.answer_type == "count" and not _counts_what_is_asked(query, body):
        return 0.0
    return float(any(not _is_asked(query, token) for token in said))


def _is_asked(query: Query, token: str) -> bool:
    """Whether the question says a token itself."""
    return token in query.terms or token in query.carried or token in query.numbers


def _told_who(query: Query, candidate: Candidate) -> float:
    """Return whether a memory names somebody; .5 where only its first word may be a name."""
    if candidate.session:
        return 1.0  # who speaks
    body = candidate.body
    names = [token for token in _names(candidate) if token.isalpha()]  # a code is nobody
    if not load_lexicon(query.language).capitals_mark_names:  # in German every noun has one
        words = everyday_words(query.language)
        names = [token for token in names if token not in words or token in given_names()]
    if _unasked(query, names):
        return 1.0
    return 0.5 if body and _may_name(query, body[0], capitals=bool(names)) else 0.0


def _told_what_it_is_called(query: Query, candidate: Candidate) -> float:
    """Return .5 where a memory may say what something is called, else 0.

    A name beside the thing need not be its own, so it proves nothing.
    """
    body = candidate.body
    if any(t[0] >= DENSE_FROM or is_word_of("naming_words", t) for t in body):
        return 0.5  # "the cat is called mitzi"
    # "Biscuit (springer, 6)": no capital tells that the first word is a name.
    first = [token for token in body[:1] if not _is_small_or_asked(query, token)]
    if names := _unasked(query, _names(candidate)):
        called = {token for name in query.names for token in name}
        asked = (*query.head, *(term for term in query.terms if term not in called))
        things = _near(query, [t for t in asked if not is_word_of("naming_words", t)])
        return 0.5 if not things or _stands_beside([*names, *first], things, body) else 0.0
    return 0.5 if first else 0.0


def _told_why(query: Query, candidate: Candidate) -> float:
    """Return .5 where a memory may tell why: it has a word for that, or says more than is asked.

    "The wall may not be taken down" does not say why not.
    """
    body = candidate.body
    if any(is_word_of("reason_words", token) for token in body):
        return 0.5
    asked = _near(query, query.terms)
    more = {t for t in body if not (t in asked or _is_small(t) or _tells_date(t) or t.isdigit())}
    return 0.5 if len(more) >= _FEWEST_OF_A_REASON else 0.0


def _names(candidate: Candidate) -> list[str]:
    """Return the tokens of a memory that are written like names and are some."""
    first = candidate.body[:1]
    small = first and is_word_of("stopwords", first[0])  # "The" of "The Stag is shut"
    names = (token for token in candidate.names if token in candidate.body)
    return [t for t in names if _is_name(t) and not (small and t == first[0])]


def _unasked(query: Query, tokens: Iterable[str]) -> list[str]:
    return [token for token in tokens if not _is_asked(query, token)]


def _may_name(query: Query, first: str, *, capitals: bool) -> bool:
    """Whether the first word of a memory may name somebody: "Ada owns the backups".

    At its beginning every word has a capital, and in some scripts none. That it is an everyday
    word tells something where names are written with capitals.
    """
    if first[0] >= DENSE_FROM:
        return True
    if first[0].isdigit() or _is_small_or_asked(query, first):
        return False
    return not (
        capitals
        and query.language in NEARLY_ALL_LISTED
        and first in everyday_words(query.language)
        and first not in given_names()
        and not is_word_of("everyday_names", first)
    )


def _is_small_or_asked(query: Query, token: str) -> bool:
    return token in query.terms or _is_small(token)


def _near(query: Query, terms: Iterable[str]) -> set[str]:
    """Return terms of a question, and words that come near to them."""
    near: set[str] = set()
    for term in terms:
        near.update((term,), query.related.get(term, ()), query.foreign.get(term, ()))
    return near


def _stands_beside(names: Collection[str], things: Collection[str], body: Sequence[str]) -> bool:
    """Whether a name stands right beside a thing, or one word apart that is "is" or no small one.

    "Her cat in Fargo" does not say what the cat is called.
    """
    places = [place for place, token in enumerate(body) if token in things]
    for step in (-1, 1):
        for place in places:
            near, far = _at(body, place + step), _at(body, place + 2 * step)
            if near in names or (far in names and _links(near)):
                return True
    return False


def _links(token: str) -> bool:
    return is_word_of("linking_words", token) or not is_word_of("stopwords", token)


def _at(body: Sequence[str], place: int) -> str:
    return body[place] if 0 <= place < len(body) else ""


def _is_name(token: str) -> bool:
    """Whether a token that is written like a name is one: no day of the week, no currency."""
    return not _tells_date(token) and not _tells_money(token)


def is_month(token: str) -> bool:
    """Whether a token is the index' one of a month, however that is written."""
    return token.startswith("month") and token[5:].isdigit()  # "month" is a word like any other


@lru_cache(maxsize=8192)
def is_day(token: str) -> bool:
    """Whether a token names a day, a month or a year."""
    if token.isascii() and token.isalpha():
        return False
    return is_month(token) or _DAY.match(token) is not None


def is_year(token: str) -> bool:
    """Whether a token is a year of this century or the last one."""
    return len(token) == 4 and token.isdigit() and token[:2] in ("19", "20")


def tells_how_to_reach(query: Query, candidate: Candidate) -> bool:
    """Whether a memory has the phone number or the e-mail address of what is asked about.

    It need not say that it is one: "Plumber: 0171 5550142". It is that of the nearest: "Dave is
    away, call Tom on 0171 5550142" has none of Dave.
    """
    body, asked = candidate.body, {t for t in query.terms if t not in query.labels}
    words = everyday_words(query.language)
    others = {t for t in _names(candidate) if t not in words or t in given_names()}
    for run in _reached_at(query, body):
        outwards = (*reversed(body[: run.start]), *body[run.stop :])
        nearest = next((t for t in outwards if t in asked or t in others), "")
        if nearest in asked and not _is_unparted(body, run):
            return True
    return False


def _reached_at(query: Query, body: Sequence[str]) -> Iterator[range]:
    """Yield where phone numbers or e-mail addresses stand, whichever is asked for."""
    if query.answer_type == "e_mail":
        yield from (range(at, at + 1) for at, token in enumerate(body) if "@" in token)
        return
    places = [p for p in _number_places(body, query.language) if body[p][0].isdigit()]
    for _, numbered in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        run = [place for _, place in numbered]
        around = (_at(body, run[0] - 1), _at(body, run[-1] + 1))
        # The index has "555-0142" and its parts behind it, but of "06.55.50.14.22" no part.
        apart = sum(len(body[place]) for place in run if body[place].isdigit())
        at_once = max(sum(map(str.isdigit, body[place])) for place in run)
        if max(apart, at_once) >= _FEWEST_PHONE_DIGITS and not any(
            _tells_money(token) or _MEASURE.match(f"1{token}") for token in around if token
        ):
            yield range(run[0], run[-1] + 1)


def _is_unparted(body: Sequence[str], run: range) -> bool:
    """Whether a phone number is one of digits alone: as well that of an order, or how many."""
    return len(run) == 1 and body[run.start].isdigit()


def counted_present(query: Query, body: Sequence[str]) -> float:
    """Return whether a number stands beside the thing whose number is asked ("how many eggs").

    1 if it does, 0 if not, .5 where nothing is counted.
    """
    if query.answer_type not in ("number", "count") or not query.head:
        return 0.5
    return float(_is_counted({query.head[0]}, body, query.language))


def _counts_what_is_asked(query: Query, body: Sequence[str]) -> bool:
    """Whether a number stands beside the thing that is counted, or a word near to it.

    Where only soft words say what is counted ("how many people"), a memory need not say it.
    """
    if all(thing in query.soft for thing in query.head):
        return True
    return _is_counted(_near(query, query.head), body, query.language)


def _is_counted(things: Collection[str], body: Sequence[str], language: str) -> bool:
    """Whether a number stands beside one of some things."""
    places = [place for place, token in enumerate(body) if token in things]
    numbers = _number_places(body, language) if places else []
    return any(abs(place - number) <= _BESIDE for place in places for number in numbers)


@cache
def _number_words(language: str) -> frozenset[str]:
    """Return the index tokens that are words for numbers where a question is in a language.

    A number of another language may be a word of it: Polish "ten" is no ten, French "dos" a back.
    """
    lexicon = load_lexicon(language)
    listed = (*lexicon.listed("number_words"), *lexicon.listed("own_number_words"))
    own = frozenset(t for t in chain.from_iterable(map(tokens, listed)) if not is_month(t))
    others = word_tokens("number_words") - lexicon.stopwords - lexicon.soft
    return own | (others - listed_set(language))


def _number_places(body: Sequence[str], language: str) -> list[int]:
    """Return where numbers and words for them stand; dates, years and times of day are none.

    Args:
        body: Index tokens, in order.
        language: Of the question, whose words for numbers count.
    """
    words = _number_words(language)
    places: list[int] = []
    of_a_time: list[str] = []
    for place, token in enumerate(body):
        if token in of_a_time:  # the index has a 12 and a 30 behind "12:30", and they count nothing
            del of_a_time[: of_a_time.index(token) + 1]
            continue
        of_a_time = []
        if token in words:
            if not _is_part_of_another_word(body, place):
                places.append(place)
        elif ":" in token or is_day(token):
            of_a_time = [*_DIGITS.findall(token), token.rpartition(".")[0]]
        elif token[0].isdigit():
            places.append(place)
    return places


def _is_part_of_another_word(body: Sequence[str], place: int) -> bool:
    """Whether a letter that may be a number is one of a day (周二) or of a Korean word (세탁기).

    The index has the pairs that it makes with its neighbours at most three places before it.
    """
    letter = body[place]
    if letter < DENSE_FROM or len(letter) > 1:
        return False
    pairs = [t for t in body[max(place - 3, 0) : place] if len(t) > 1 and letter in t]
    return any(map(_tells_date, pairs)) or (letter >= FIRST_HANGUL and bool(pairs))


def _numbers(body: Sequence[str], language: str) -> list[str]:
    return [body[place] for place in _number_places(body, language)]


def _counts(body: Sequence[str], language: str) -> list[str]:
    """Return what can say how many: numbers that are no price and no day of a month."""
    return [
        body[place]
        for place in _number_places(body, language)
        if not any(map(_tells_money, _beside(body, place))) and not _is_day_of_month(body, place)
    ]


def _prices(body: Sequence[str], language: str) -> Iterable[str]:
    """Yield what tells a price: a currency, a rate, or a bare number behind a word of paying.

    "Wants 40 for the hall" and "40 a month" tell one, "wants 3 chairs" and "paid 5 May" do not.
    """
    yield from filter(_tells_money, body)
    yield from told(body, "money")
    paying = [at for at, token in enumerate(body) if is_word_of("paying_words", token)]
    places = _number_places(body, language) if paying else []
    bare = {place for place in places if body[place][0].isdigit()}
    for at in paying:
        first = at + 2 if _is_small(_at(body, at + 1)) else at + 1  # "pays me 40"
        end = first
        while end in bare:
            end += 1
        if end > first and (end == len(body) or _is_small(body[end])):
            yield from body[first:end]


def _is_small(token: str) -> bool:
    return is_word_of("stopwords", token)


def _labels(body: Sequence[str], language: str) -> set[str]:
    """Return what can be the number, code or address that something has."""
    measures = [found for token in body if (found := _MEASURE.match(token))]
    measured = {said for found in measures for said in (found[0], found[1])}
    numbers = {t for t in _counts(body, language) if t[0].isdigit() and t not in measured}
    return numbers.union(t for t in body if "@" in t or (_CODE.match(t) and not is_month(t)))


def _beside(body: Sequence[str], place: int) -> tuple[str, ...]:
    return (*body[max(place - 1, 0) : place], *body[place + 1 : place + 2])


def _is_day_of_month(body: Sequence[str], place: int) -> bool:
    """Whether a number stands before or after a month: "May 12", "12 May", "12 to 14 May"."""
    if not _DAY_NUMBER.match(body[place]):
        return False
    for following in body[place + 1 : place + 1 + _MOST_DAYS]:
        if is_month(following):
            return True
        if not _DAY_NUMBER.match(following):
            break
    return any(map(is_month, body[max(place - 2, 0) : place]))  # its name stands behind it


def _tells_money(token: str) -> bool:
    """Whether a token names a currency, or that nothing is to pay; a bare number is no price."""
    if priced := _PRICED.match(token):
        token = priced["unit"]
    return token == MONEY or token in word_tokens("price_words")


@lru_cache(maxsize=65_536)  # it is asked of every word of a candidate
def _tells_date(token: str) -> bool:
    """Whether a token tells when: an hour does too."""
    return is_day(token) or is_word_of("relative_dates", token) or _tells_clock(token)


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


def _durations(body: Sequence[str], language: str) -> list[str]:
    return [*_numbers(body, language), *filter(_tells_date, body)]


_TOLD: Mapping[AnswerType, Callable[[Query, Candidate], float]] = {
    "person": _told_who,
    "name": _told_what_it_is_called,
    "reason": _told_why,
}
# What of a memory, in its order, is of the kind that is asked for.
_TELLING: Mapping[AnswerType, Callable[[Sequence[str]], Iterable[str]]] = {
    "clock": _clocks,
    "date": _dates,
}
_TELLING_BY_NUMBERS: Mapping[AnswerType, Callable[[Sequence[str], str], Iterable[str]]] = {
    "money": _prices,
    "duration": _durations,
    "number": _numbers,
    "count": _counts,
    "label": _labels,
}
