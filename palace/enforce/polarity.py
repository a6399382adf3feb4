"""Catch an answer that says the opposite of what is remembered.

In: a sentence and the evidence. Out: whether one denies what the other affirms; judged only where
both use the same words, so a paraphrase is never called a contradiction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import regex

from palace.enforce.answer_words import answer_words, is_content, is_framing, read_words
from palace.enforce.han import without_negation
from palace.enforce.specifics import is_negated
from palace.recall.lexicon import is_hiragana
from palace.recall.related import translated
from palace.text import Word, fold, month_token

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
    """Whether clauses say the same of the same thing, and all of them with the other sign."""
    alike = [
        clause
        for clause in known
        if (shared := len(said.tokens & clause.tokens)) >= 2
        and shared >= _LEAST_SHARED * max(len(said.tokens), len(clause.tokens))
    ]
    return bool(alike) and not any(
        clause.negated == said.negated
        or not clause.beside.isdisjoint(said.tokens)
        or not said.beside.isdisjoint(clause.tokens)
        for clause in alike
    )
