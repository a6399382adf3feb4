"""Catch an answer that has two things the other way round: "slates, not tiles", "from B to A".

In: a sentence and the texts of the memory. Out: whether the sentence denies what they affirm and
affirms what they deny, or goes to where they come from. Only both together are no accident.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from palace.enforce.answer_words import content_tokens
from palace.text import fold

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
