"""Words by what they do in a statement: what joins, what negates, what changes, what excludes what.

In: `statement_words.yaml`. Out: sets and maps of index stems or folded words, made once.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

from palace.text import fold, stem

_TEXT = (resources.files("palace.learn") / "statement_words.yaml").read_text("utf-8")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
WRITTEN = yaml.load(_TEXT, Loader=_LOADER)  # noqa: S506 - one of the two safe loaders
"""The word lists by name, as written."""


def _stems(name: str) -> frozenset[str]:
    return frozenset(map(_stem, WRITTEN[name].split()))


def folded(name: str) -> frozenset[str]:
    """Return the words of a list, folded."""
    return frozenset(map(fold, WRITTEN[name].split()))


def _classes(name: str) -> dict[str, str]:
    """Return stem -> the first stem of its line."""
    lines = (line.split() for line in WRITTEN[name].splitlines())
    return {_stem(word): _stem(line[0]) for line in lines for word in line}


def _stem(word: str) -> str:
    return stem(fold(word))


PREPOSITIONS, PLACES = folded("prepositions"), folded("places")
ARTICLES, FIRST_PERSON = folded("articles"), folded("first_person")
OWNERS = {fold(w): owner for owner, words in WRITTEN["owners"].items() for w in words.split()}
BEFORE_THINGS = ARTICLES | OWNERS.keys() | folded("other_articles")
COPULAS, WAS, IS = folded("copulas"), folded("was"), folded("is")
AUXILIARIES = COPULAS | folded("auxiliaries")
FUNCTION_WORDS = (
    PREPOSITIONS | ARTICLES | AUXILIARIES | FIRST_PERSON | OWNERS.keys()
) | folded("other_function_words")  # fmt: skip
MEANINGFUL, TELLING, NEGATIONS = folded("meaningful"), folded("telling"), folded("negations")
CHANGE_VERBS, LEAVING = _stems("change_verbs"), folded("leaving")
LEAVING_VERBS, QUITTING = _stems("leaving_verbs"), _stems("quitting")
NO_MORE, HAVING, REGARDING = folded("no_more"), _stems("having"), _stems("regarding")
HOW_OFTEN, SINCE_NOW = _stems("how_often"), folded("since_now")
EXCLUSIVE_VERBS, ROLE_VERBS = _stems("exclusive_verbs"), _stems("role_verbs")
LIST_VERBS, DWELLING = _stems("list_verbs"), _stems("dwelling")
VERBS = (EXCLUSIVE_VERBS | LIST_VERBS | _stems("other_verbs") | CHANGE_VERBS | LEAVING_VERBS) - (
    _stems("nouns")
)
VERB_FORMS: dict[str, str] = WRITTEN["verb_forms"]
PAST_FORMS, NO_PAST = folded("past_forms"), folded("no_past")
ATTRIBUTES, OFFICES, LABELS = _stems("attributes"), _stems("offices"), _stems("labels")
LASTING = _stems("lasting")
LIGHT, LIGHT_BESIDE_OPPOSITES = _stems("light"), folded("light_beside_opposites")
QUALIFIERS, FORMER, SEASONS = folded("qualifiers"), folded("former"), _stems("seasons")
SYNONYMS, CLOSED_CLASSES = _classes("synonyms"), _classes("closed_classes")
SAME_UNITS = _classes("same_units")
_MEASURED = {_stem(w): name for name, words in WRITTEN["units"].items() for w in words.split()}
UNITS = {**{unit: _MEASURED[same] for unit, same in SAME_UNITS.items()}, **_MEASURED}
WEEKDAYS = {fold(w): str(n) for n, day in enumerate(WRITTEN["weekdays"]) for w in day.split()}
AMBIGUOUS_DAYS, DEICTIC, VALUES = folded("ambiguous_days"), folded("deictic"), folded("values")
NUMBER_WORDS = {
    w: n for n, words in enumerate(WRITTEN["numbers"].split("|")) for w in words.split()
}
NUMBER_WORDS |= {w: n * 10 for n, w in enumerate(WRITTEN["tens"].split(), 3)}
ORDINALS = {w: n for n, w in enumerate(WRITTEN["ordinals"].split(), 1)}

ANTONYMS: dict[str, frozenset[str]] = {}
for _pair in WRITTEN["antonyms"].split("|"):
    _one, _other = map(_stem, _pair.split())
    ANTONYMS[_one] = ANTONYMS.get(_one, frozenset()) | {_other}
    ANTONYMS[_other] = ANTONYMS.get(_other, frozenset()) | {_one}
_PREFIXES = ("un", "in", "im", "il", "dis", "non")
# What is left of "into" without its beginning is no word.
_SHORT = 3

HOMES: dict[str, dict[str, Any]] = WRITTEN["homes"]
_SAME: dict[str, tuple[str, ...]] = {
    one: tuple(other for other, first in SYNONYMS.items() if first == SYNONYMS[one])
    for one in SYNONYMS
}
_SAME |= {
    _stem(one): tuple(map(_stem, others.split())) for one, others in WRITTEN["said_instead"].items()
}
for _told in HOMES.values():
    _live, _move = ([*map(stem, _told[key].split("|"))] for key in ("live", "move"))
    for _words, _others in ((_live, _move), (_move, _live)):
        for _one in _words:
            _SAME[_one] = tuple(dict.fromkeys((*_SAME.get(_one, ()), *_others)))


def searched_for(terms: Iterable[str]) -> tuple[str, ...]:
    """Return index terms and the terms that a memory of the same thing may use instead."""
    found = {t: None for term in terms for t in (term, *_SAME.get(term, ()))}
    return tuple(found)


@lru_cache(maxsize=8192)
def opposites_of(one: str) -> frozenset[str]:
    """Return the stems that a stem excludes, and that exclude it: `open` and `close`, `unlock`."""
    found = set(ANTONYMS.get(one, ()))
    for prefix in _PREFIXES:
        if len(one) > _SHORT:
            found.add(prefix + one)
        if one.startswith(prefix) and len(one) - len(prefix) > _SHORT:
            found.add(one.removeprefix(prefix))
    return frozenset(found)
