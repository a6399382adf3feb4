"""Catch an answer that says the opposite of what is remembered, or two numbers the other way round.

In: a sentence and the evidence. Out: whether one denies what the other affirms; judged only where
both use the same words, so a paraphrase is never called a contradiction. And what it has the other
way round: "from 410 to 230", "230 (was 410)", 128/83.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

import regex

from palace.enforce.answer_words import answer_words, is_content, is_framing, read_words
from palace.enforce.han import without_negation
from palace.enforce.quantities import read_quantities
from palace.enforce.specifics import is_negated
from palace.recall.lexicon import is_hiragana
from palace.recall.related import translated
from palace.text import Word, fold, month_token, right_before

_CLAUSE = regex.compile(
    r"(?<![.!?;:,—()\n。！？；：，、])[.!?;:,—()\n。！？；：，、]+(?=\s|$|\p{Han})"
    r"|[。！？；：，、—()\n]+|(?:(?<!\s)\s++)?+(?:->|→|=>)\s*"
    r"|\s(?:but|because|(?<!\bha(?:s|ve|d)\s)since|while|whereas|although|so|and|or|when|which|who|if|aber|weil|und|mais|et|pero|y"
    r"|denn|obwohl|parce\sque?|puisque|porque|aunque|perché|mas|maar|omdat|но|а|и|потому\sчто|так\sкак)\s",
    regex.IGNORECASE,
)
_SENTENCE = regex.compile(r"(?<=[.!?。！？])\s+")
_NUMERO = regex.compile(r"\bno\.?\s*(?=\d)", regex.IGNORECASE)
# "No, it is not", not "No screens at meals".
_REPLY = regex.compile(
    r"\A\W*(?:no|nope|nein|non|não|нет)(?:\s*[,.!:;–—-]|\s+(?=(?:i|you|we|he|she|it|they|that|this|there)\b)|\s*\Z)",
    regex.IGNORECASE,
)
_PORTUGUESE = regex.compile(
    r"\b(?:às|aos?|não|é|são|você|uma|pel[oa]s?|maio|d[oa]s)\b(?!.*\b(?:the|is|are)\b)",
    regex.IGNORECASE,
)
_IN_THE = regex.compile(r"\bno\b", regex.IGNORECASE)
# "one tablet, not with coffee": what is denied of the rest of its sentence.
_DENIED_BEHIND = regex.compile(
    r"\b(?:not|never|nicht|nie|pas|niet|non|no|nunca)\s(?P<phrase>(?:with|in|on|at|during|after|before|from|near"
    r"|under|mit|bei|im|am|auf|an|nach|vor|avec|dans|pendant|apres|con|en|durante|com|em|met|bij"
    r"|tijdens)\s(?:\p{L}+\s){0,2}\p{L}+)(?=\s*(?:[.,;:!()\n]|\Z))"
)
_LEAST_SHARED = 0.7
_LEAST_OF_KNOWN = 0.7
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


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence.

    Attributes:
        tokens: Its content.
        negated: Whether it has a negation.
        beside: Content of the clauses of its sentence that are negated where it is not, or the
            reverse: "not paid: Felix" denies something of Felix.
    """

    tokens: frozenset[str]
    negated: bool
    beside: frozenset[str] = frozenset()


def clauses(text: str) -> list[Clause]:
    """Cut a text into clauses that have content."""
    found = []
    if _PORTUGUESE.search(text):
        text = _IN_THE.sub("em", text)
    for sentence in _SENTENCE.split(_NUMERO.sub("", text)):
        parts = [(_content(part), is_negated(part)) for part in _CLAUSE.split(sentence)]
        for content, negated in _answered(parts):
            others = (c for c, denied in parts if denied != negated)
            if content:
                beside = frozenset().union(*others)
                found.append(Clause(content, negated, beside))
    return found


def _answered(parts: list[tuple[frozenset[str], bool]]) -> list[tuple[frozenset[str], bool]]:
    """Return clauses; one without content denies the one before, as in "Bay window: no"."""
    found: list[tuple[frozenset[str], bool]] = []
    for content, negated in parts:
        if found and not content and negated:
            found[-1] = (found[-1][0], True)
        else:
            found.append((content, negated))
    return found


def _content(part: str) -> frozenset[str]:
    """Return what a clause says; a day alone says nothing that could be denied."""
    read = read_words(without_negation(part))
    listed = [w for w in read if is_content(w) and not is_framing(w) and not _is_ending(w)]
    if all(w.surface.isdigit() or month_token(w.surface) for w in listed):
        return frozenset()
    return frozenset(w.token for w in listed)


def _is_ending(word: Word) -> bool:
    """Whether two letters are how a Japanese word ends: "ない" is said as "ません" too."""
    return word.shape == "dense" and any(map(is_hiragana, word.surface))


def has_opposites(text: str) -> bool:
    """Whether a text has words that imply an opposite, which are not compared."""
    return any(word.token in answer_words().opposites for word in read_words(text))


def contradicts(sentence: str, known: Iterable[Clause], language: str = "en") -> bool:
    """Whether a clause of the sentence denies what the same words affirm there, or the reverse.

    Args:
        sentence: A sentence of an answer; an opening "No," is a reply, not a negation.
        known: Clauses of the evidence.
        language: Of the question, and so of the sentence: its words may stand there in English.
    """
    listed = list(known)
    if any(_is_antonym(said, listed) for said in clauses(sentence)):
        return True
    if has_opposites(sentence):
        return False
    found = clauses(answer_words().reminders.sub("", _REPLY.sub("", sentence)))
    if language != "en":
        found = [_as_known(said, listed, language) for said in found]
    return any(_denies(said, listed) for said in found)


def affirms_denied(sentence: str, texts: Iterable[str]) -> bool:
    """Whether a sentence says "with coffee" of what the texts have "not with coffee" of."""
    if is_negated(sentence) or has_opposites(sentence):
        return False
    said, words = fold(sentence), _content(sentence)
    for text in map(fold, texts):
        for part in _SENTENCE.split(text):
            for denied in _DENIED_BEHIND.finditer(part):
                phrase = regex.compile(rf"\b{denied['phrase']}\b")
                rest = _content(part[: denied.start()]) & words
                if rest and phrase.search(said) and len(phrase.findall(text)) == 1:
                    return True
    return False


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


def _as_known(said: Clause, known: list[Clause], language: str) -> Clause:
    """Return a clause with the English words for its own, where they are known."""
    there = frozenset[str]().union(*(clause.tokens for clause in known))
    english = translated(said.tokens - there, language)
    meant = (there.intersection(english.get(token, ())) or {token} for token in said.tokens)
    return replace(said, tokens=frozenset().union(*meant))


def _is_antonym(said: Clause, known: list[Clause]) -> bool:
    """Whether a clause says "open" where only "closed" is known, both without a negation."""
    for one, other in answer_words().antonyms:
        for mine, theirs in ((one, other), (other, one)):
            if said.negated or not said.tokens & mine or said.tokens & theirs:
                continue
            rest = said.tokens - mine
            same = [c for c in known if c.tokens & mine]
            opposite = [c for c in known if c.tokens & theirs]
            if rest:  # of the same thing
                same = [c for c in same if c.tokens & rest]
                numbers = {token for token in rest if any(map(str.isdigit, token))}
                opposite = [c for c in opposite if c.tokens & rest and numbers <= c.tokens]
            if opposite and not same and not any(c.negated for c in opposite):
                return True
    return False


def _denies(said: Clause, known: list[Clause]) -> bool:
    best, same = 0.0, False
    for clause in known:
        shared = len(said.tokens & clause.tokens)
        part = shared / len(said.tokens)
        same_thing = shared >= _LEAST_OF_KNOWN * len(clause.tokens)
        if part < _LEAST_SHARED or shared < 2 or not same_thing:
            continue
        agrees = (
            clause.negated == said.negated
            or not clause.beside.isdisjoint(said.tokens)
            or not said.beside.isdisjoint(clause.tokens)
        )
        if part > best or (part == best and agrees):
            best, same = part, agrees
    return best > 0 and not same


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
