"""Full stops: which of them end a sentence, and which an abbreviation, an initial or a day.

In: a text and the place of a full stop in it. Out: whether a sentence ends there.
"""

from __future__ import annotations

import regex

from palace.text import month_token

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st vs e.g i.e eg ie cf al approx dept est jan feb mar apr jun jul aug "
    "sep sept oct nov dec mon tue wed thu fri sat sun z.b d.h u.a bzw ca str inkl ggf p.ex ed "
    "rev gen col capt lt sgt hon messrs mme mlle sra dra pag av dott dott.ssa sig sigg sig.ra "
    "prof.ssa dr.ssa avv dhr mevr".split()
)
MAY_END = frozenset("etc inc ltd co corp jr sr a.m p.m am pm u.s u.k usw gmbh ave blvd rd".split())
"""Abbreviations that may as well end a sentence: the next word decides."""
# Abbreviations only before a number: "no. 2".
_NUMBERED = frozenset("no nos nr op vol fig sec ch art pp p".split())
_FOLLOWING = regex.compile(r"[\"'”’»)\]]*+\s*+(\p{L}+)")


def ends_sentence(text: str, stop: int) -> bool:
    """Whether the full stop at `stop` ends a sentence, as far as the whole text tells."""
    word = last_word(text, stop)
    following = _FOLLOWING.match(text, stop + 1)
    if following is not None:
        goes_on = following[1][0].islower()
        if word.isdigit() and len(word) <= 2 and (goes_on or month_token(following[1])):
            return False  # "am 3. Juni"
        if word in MAY_END and goes_on:
            return False
    return is_full_stop(text, stop)


def is_full_stop(text: str, stop: int) -> bool:
    """Whether a full stop ends more than an abbreviation, an initial or the number of an item.

    What may be either, see `MAY_END`, is one.
    """
    word = last_word(text, stop)
    if word in MAY_END:
        return True
    if word in _NUMBERED:
        return not text[stop + 1 : stop + 10].lstrip(" ")[:1].isdigit()
    if len(word) == 1 and text[stop - 1].isupper():
        return text[: stop - 1][-1:] not in ("", " ", "(", "\n")  # else an initial
    line = text.rfind("\n", 0, stop) + 1
    numbers_item = word.isdigit() and not text[line : stop - len(word)].strip(" \t*_-")
    return not numbers_item and word not in _ABBREVIATIONS


def last_word(text: str, stop: int) -> str:
    """Return the word before a place, with the full stops in it and case folded; "" if none is."""
    start = stop
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "."):
        start -= 1
    return text[start:stop].casefold()
