"""What one thing holds at a time, where words are not cut: a place or a person.

In: a Chinese, Japanese or Korean statement, or one that tells of a home in any language. Out: of
what it tells which place or person, or None; and whether two of them contradict each other. How
such a statement looks is told in `holds` of the lexicons, and in `homes`; any other tells nothing.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple

import regex

from palace.learn.cues import filled, holding
from palace.learn.dense import NOW, VALUE
from palace.learn.word_classes import HOMES
from palace.text import fold
from palace.text.late_patterns import late

_DENSE = late(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_HANGUL, _KANA = late(r"\p{Hangul}"), late(r"[\p{Hiragana}\p{Katakana}]")
_BLANKS = late(r"\s+")
_AROUND_DENSE = late(r"(?<=[\p{Han}\p{Hiragana}\p{Katakana}、,:])\s|\s(?=[\p{Han}\p{Hiragana}])")
_ENDS = " 。.!"
_MAX_CHARS = 100
# A name of so few letters is told from another one by each of them.
_SHORT = 4
# In Korean a bare "다" makes a statement only of a word that ends in a vowel: 현우다, but 간다.
_OPEN = "".join(map(chr, range(0xAC00, 0xD7A4, 28)))
_BUILT_IN = {
    "of": r"(?P<of>[^。.!?\n]{1,60}?)",
    "held": r"(?P<held>[\p{L}\p{N}][\p{L}\p{N}\p{M}·・ー -]{0,24}?)",
    "open": f"[{_OPEN}]",
}
_WORD = late(r"[\p{L}\p{M}]+")
_YEAR = late(r"\b(?:19|20)\d\d\b")
_NAME = r"(?-i:\p{Lu})[\p{L}.-]*+"
_OF_HOMES = {
    "of": r"(?P<of>\p{L}[\p{L}'’. -]{0,40}?)",
    "aside": r"(?:(?:<now>|\d{4}) ){0,2}?",
    "held": rf"(?:(?:der|die|dem|den|das|la|el|il|o|de) )?(?P<held>{_NAME}(?: {_NAME}){{0,3}})",
    # "… seit 2019", "…, um zu studieren"; any other word may tell of another time.
    "behind": r"(?:,.*| \p{Ll}+ (?:\p{L}+ )?\d{4})?",
}
# What a change of a kind can end, beside another change of its kind.
_CHANGES = {"becomes": ("is", "is_like", "at", "at_like", "lives", "by"), "moves": ("lives", "at")}

# Kinds of statements of which two tell of one thing only if their values do: two teachers.
_ALIKE = frozenset({"is_like", "at_like"})


class Held(NamedTuple):
    """What a statement says one thing holds.

    Attributes:
        kind: `is`, `at`, `lives`, `by`, or `is_like`, `at_like`, which are told of one thing only
            where the values end alike; or a change: `becomes`, `moves`.
        of: What it is told of, all that leads up to the value and no more than a "now".
        does: What is done there, where that tells apart: to work, to keep something. Of a move the
            year.
        value: The place or person, as written.
        is_news: Whether it says that it was otherwise before: a change, or a "now".
    """

    kind: str
    of: str
    does: str
    value: str
    is_news: bool = False


def held_in(text: str) -> Held | None:
    """Return the place or person that a statement tells of one thing; None if it does not."""
    if text.isascii() or not _DENSE.search(text):
        return _home_in(text)
    if len(text) > _MAX_CHARS:
        return None
    said = _BLANKS.sub(" ", unicodedata.normalize("NFKC", text)).strip(_ENDS)
    language = "ko" if _HANGUL.search(said) else "ja" if _KANA.search(said) else "zh"
    rules = _rules(language)
    said = _AROUND_DENSE.sub("", said)
    plain = said.translate(rules.written)
    if rules.unless.search(plain):
        return None
    nows = list(NOW.finditer(plain))
    for now in reversed(nows):
        said, plain = (f"{text[: now.start()]}{text[now.end() :]}" for text in (said, plain))
    for kind, patterns in rules.patterns:
        for pattern in patterns:
            found = pattern.match(plain)
            if found and not (rules.describes.search(found["held"]) or VALUE.search(found["held"])):
                does = found.groupdict().get("does") or ""
                value = said[found.start("held") : found.end("held")].strip()
                is_news = bool(nows) or kind in _CHANGES
                return Held(kind, _plain(found["of"]), does, value, is_news)
    return None


def _home_in(text: str) -> Held | None:
    """Return who lives or moved where, in a writing with blanks; a question tells nothing."""
    said = text.strip(" .!")
    if len(said) > _MAX_CHARS:
        return None
    present = frozenset(_WORD.findall(fold(said)))
    for language, telling, unless in _homes():
        if telling.isdisjoint(present) or not unless.isdisjoint(present):
            continue
        plain = "".join(sign if sign.isupper() else (fold(sign) or sign)[:1] for sign in said)
        for kind, pattern in _home_patterns(language):
            if found := pattern.match(plain):
                year = _YEAR.search(plain) if kind == "moves" else None
                place = said[found.start("held") : found.end("held")]
                return Held(
                    kind, fold(found["of"]), year[0] if year else "", place, kind == "moves"
                )
    return None


def contradicting(stored: Held, new: Held) -> tuple[str, str] | None:
    """Return the values in which two statements contradict each other, None where they do not.

    A value within the other says the same with more words: 抽屉, 抽屉里.
    """
    old, now = _plain(stored.value), _plain(new.value)
    if stored.of != new.of or _are_one(old, now):
        return None
    if stored.kind == new.kind and new.kind in _ALIKE and old[-1] != now[-1]:
        return None
    # What moved in 2010 may have moved again since.
    if _may_end(stored, new) or (not stored.does and _may_end(new, stored)):
        return stored.value, new.value
    return None


def _are_one(one: str, other: str) -> bool:
    """Whether two values may be one, told with more words or in another case: Kraków, Krakowie."""
    stem_chars = max(_SHORT, min(len(one), len(other)) - 1)
    is_inflected = not _DENSE.match(one) and one[:stem_chars] == other[:stem_chars]
    return is_inflected or _is_within(one, other) or _is_within(other, one)


def _is_within(one: str, other: str) -> bool:
    return one in other and (len(one) > 1 or len(one) == len(other))


def _may_end(one: Held, other: Held) -> bool:
    if one.kind == other.kind:
        return one.does == other.does
    if other.kind == "moves" and one.does:
        return False  # who moves may work where he did
    return one.kind in _CHANGES.get(other.kind, ())


def _plain(said: str) -> str:
    return _BLANKS.sub("", said.casefold())


class _Rules(NamedTuple):
    """The rules of a language, compiled."""

    written: dict[int, str]
    unless: regex.Pattern[str]
    describes: regex.Pattern[str]
    patterns: tuple[tuple[str, tuple[regex.Pattern[str], ...]], ...]


@lru_cache(maxsize=3)
def _rules(language: str) -> _Rules:
    told = holding(language)
    words = {name: one for name, one in told.items() if isinstance(one, str)}
    written = {ord(pair[0]): pair[1] for pair in words.pop("written", "").split()}
    words = _BUILT_IN | {name: f"(?:{one})" for name, one in words.items()}

    def compiled(pattern: str) -> regex.Pattern[str]:
        return regex.compile(filled(pattern, words), regex.IGNORECASE)

    unless, describes = (compiled(words[name]) for name in ("unless", "describes"))
    listed = ((kind, rules) for kind, rules in told.items() if not isinstance(rules, str))
    patterns = tuple((kind, tuple(compiled(rf"^{r}$") for r in rules)) for kind, rules in listed)
    return _Rules(written, unless, describes, patterns)


@lru_cache(maxsize=1)
def _homes() -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
    """Return each language with the words that tell of a home, and those that deny or doubt it."""
    return tuple(
        (
            language,
            frozenset(f"{told['live']}|{told['move']}".split("|")),
            frozenset(told["unless"].split("|")),
        )
        for language, told in HOMES.items()
    )


@lru_cache(maxsize=16)
def _home_patterns(language: str) -> list[tuple[str, regex.Pattern[str]]]:
    told = HOMES[language]
    words = _OF_HOMES | {name: f"(?:{one})" for name, one in told.items() if isinstance(one, str)}
    return [
        (kind, regex.compile(filled(rf"{pattern}<behind>\Z", words), regex.IGNORECASE))
        for kind in ("moves", "lives")
        for pattern in told[kind]
    ]
