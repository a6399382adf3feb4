"""Catch an answer that has something the other way round: "slates, not tiles", "from B to A".

In: a sentence and the texts of the memory. Out: whether the sentence denies what they affirm and
affirms what they deny, or goes to where they come from: only both together are no accident. And
numbers in another order ("from 410 to 230", "230 (was 410)", 128/83), left for right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

import regex

from palace.enforce.answer_words import answer_words, content_tokens
from palace.enforce.quantities import read_quantities
from palace.text import fold, right_before

_NAMED = r"(?<![\w.+-])(?P<{0}>\p{{Lu}}\w*+(?:[.+-]\w++)*+)"
_ARTICLE = r"(?:(?:the|de[nrm]|die|das|l[aeo]s?|el|[ao]s?)\s)?"
_FROM_TO = regex.compile(
    rf"\b(?:from|von|vom|de|du|d[ao]s?|dal?|van|с|из)\s{_ARTICLE}{_NAMED.format('one')}"
    rf"\s(?:to|auf|zu|nach|à|vers|a|ao|para|naar|на|в)\s{_ARTICLE}{_NAMED.format('two')}"
    rf"|{_NAMED.format('one')}\s(?:durch|par|por|pel[oa])\s{_ARTICLE}{_NAMED.format('two')}"
)
# Where there is a way back, both ways may be true.
_BACK = regex.compile(
    r"back|return|zurück|rück|retour|vuelta|regres|volta|ritorn|terug|обратно|назад",
    regex.IGNORECASE,
)
_NOT_THIS = regex.compile(
    r"(?:(?:[,;—–]|\s(?:and|und|et|y|e|и))\s?(?:а\s)?(?:not|nicht|non|pas|não|niet|не)"
    r"|\b(?:instead\sof|rather\sthan|(?:an)?statt|au\slieu\sd[eu]|en\s(?:lugar|vez)\sdel?"
    r"|em\svez\sd[eoa]|invece\sdi|in\splaats\svan|вместо))"
    r"\s(?:(?:for|on|with|the|für|auf|mit|de[nrm]|die|das|pour|par|avec|l[aeo]s?|el|con|com|por|à)"
    r"\s){0,2}(?P<this>[\p{L}\d][\w-]*)",
    regex.IGNORECASE,
)
_FROM = regex.compile(r"\b(?:from|von|de|da|van)\s$", regex.IGNORECASE)
# "from 14 pages to 10", but "from 230 back to 410" undoes what is remembered.
_TO = regex.compile(
    r"(?:\s(?!(?:back|zurück)\b)\p{L}+)?,?\s(?:up |down )?(?:to|auf|à|a|naar)\s", regex.IGNORECASE
)
_ARROW = regex.compile(r"\s?(?:-+>|→|=>)\s?")
_BEFORE = regex.compile(
    r"[^\d.\n]{0,24}(?:[,(;:–—]\s?(?:it\s)?(?:was|were|war|vorher|zuvor|avant|antes|prima)"
    r"|\b(?:from|instead of|rather than|statt|au lieu de|en vez de|invece di))\s",
    regex.IGNORECASE,
)
_OVER = regex.compile(r"\s?/\s?|\s(?:over|zu|sur|sobre|su|op)\s", regex.IGNORECASE)
_LARGEST_OF_DATES = 31
# "left knee", "front right", "rodilla izquierda"; no "left for Rome", and nothing alone.
_SIDES = regex.compile(
    r"\b(?P<thing>front|rear|upper|lower|top|bottom)\s(?:(?P<left>left)|right)\b"
    r"|\b(?:(?P<left>left)|right)\s(?P<thing>of|side|hand|\p{L}{3,})\b"
    r"|\b(?P<thing>\p{L}{3,})\s(?:(?P<left>gauche|izquierd[oa]|sinistr[oa]|esquerd[oa])"
    r"|droite?|derech[oa]|destr[oa]|direit[oa])\b",
    regex.IGNORECASE,
)


def swapped(sentence: str, texts: Sequence[str]) -> bool:
    """Whether a sentence has two things the other way round than the texts, and no text as it."""
    return _swaps_denied(sentence, texts) or _swaps_ends(sentence, texts)


def _swaps_denied(sentence: str, texts: Sequence[str]) -> bool:
    denied = _denied(sentence)
    if not denied:
        return False
    known = {token for text in texts for token in _denied(text)}
    affirmed = {token for text in texts for token in content_tokens(text)} - known
    return not (
        denied.isdisjoint(affirmed) or known.isdisjoint({*content_tokens(sentence)} - denied)
    )


def _denied(text: str) -> set[str]:
    return {t for match in _NOT_THIS.finditer(text) for t in content_tokens(match["this"])}


def _swaps_ends(sentence: str, texts: Sequence[str]) -> bool:
    said = _ends(sentence)
    if not said or any(map(_BACK.search, (sentence, *texts))):
        return False
    known = {pair for text in texts for pair in _ends(text)}
    return any((two, one) in known for one, two in said - known)


def _ends(text: str) -> set[tuple[str, str]]:
    return {(fold(found["one"]), fold(found["two"])) for found in _FROM_TO.finditer(text)}


def other_sides(sentence: str, texts: Sequence[str]) -> list[str]:
    """Return what a sentence calls left and the texts only call right, or the reverse."""
    known = {found for text in texts for found, _ in _sides(text)}
    return [
        written
        for (left, thing), written in _sides(sentence)
        if (left, thing) not in known and (not left, thing) in known
    ]


@lru_cache(maxsize=512)
def _sides(text: str) -> tuple[tuple[tuple[bool, str], str], ...]:
    """Return what is left or right: whether left, of what, and as it is written."""
    return tuple(
        ((match["left"] is not None, fold(match["thing"])), match[0])
        for match in _SIDES.finditer(text)
        if match["thing"] == "of" or fold(match["thing"]) not in answer_words().function
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two numbers in an order: what changed from one to the other, or a ratio of two measures."""

    first: float
    second: float
    is_ratio: bool
    text: str = field(compare=False)


def turned_round(sentence: str, texts: Sequence[str]) -> list[str]:
    """Return the pairs of numbers that the texts have in the other order alone, as written."""
    said = _pairs(sentence)
    known = {pair for text in texts for pair in _pairs(text)} if said else set()
    return [
        pair.text
        for pair in said
        if replace(pair, first=pair.second, second=pair.first) in known and pair not in known
    ]


@lru_cache(maxsize=512)
def _pairs(text: str) -> tuple[_Pair, ...]:
    return tuple(_read_pairs(text))


def _read_pairs(text: str) -> Iterator[_Pair]:
    for one, two in pairwise(read_quantities(text)):
        if not one.values or not two.values or "clock" in (one.unit, two.unit):
            continue
        between, written = text[one.end : two.start], text[one.start : two.end]
        first, second = one.values[0], two.values[0]
        led = right_before(_FROM, text, one.start) and _TO.fullmatch(between)
        if led or _ARROW.fullmatch(between):
            yield _Pair(first, second, is_ratio=False, text=written)
        elif _BEFORE.fullmatch(between):
            yield _Pair(second, first, is_ratio=False, text=written)
        elif _OVER.fullmatch(between) and max(first, second) > _LARGEST_OF_DATES:
            yield _Pair(first, second, is_ratio=True, text=written)
