"""What stands beside a number and makes another of it: a minus.

In: a number of an answer with its sentence, and the sources. Out: whether the memory has the number
only with another sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from palace.enforce.quantities import SaidNumber
from palace.enforce.quantity import DEGREES
from palace.enforce.source import Source
from palace.text import right_before

_MINUS = regex.compile(
    r"(?:(?:^|(?<=[\s(:=|~]))[-−–]|\b(?:minus|negative|moins|menos|meno)\s)$", regex.IGNORECASE
)
# What says in words that a number lies below another one, or is taken off.
_BELOW = regex.compile(
    r"\b(?:minus|negative|below|under|frosts?|freezing|less|fewer|off|drop\w*|f[ae]ll\w*|down|los[st]\w*"
    r"|short|debit\w*|overdrawn|refund\w*|discount\w*|deduct\w*|credit\w*|back|behind|reduc\w*|cut"
    r"|unter|weniger|abz\w*|rabatt\w*|gutschrift\w*|gefallen|moins|sous|remise|menos|bajo"
    r"|descuento|meno|sotto|sconto|abaixo|desconto|onder|korting)\b|\bzu viel\b",
    regex.IGNORECASE,
)


def has_other_sign(said: SaidNumber, sources: Sequence[Source]) -> bool:
    """Whether a number stands in the sources, but only with the other sign.

    Only of degrees is a missing minus told: "-3 kg" is three kilos less, and a list may have one
    before each item.
    """
    number, sentence = said.number, said.sentence
    measures = set(number.measures)
    in_degrees = number.unit in DEGREES
    negative = said.is_behind(_MINUS) and (in_degrees or sentence[: number.start - 1].strip())
    if not (negative or in_degrees):
        return False
    same = [
        right_before(_MINUS, source.text, known.start)
        or (bool(negative) and _BELOW.search(source.text))
        for source in sources
        for known in source.readings
        if not measures.isdisjoint(known.measures)
        and (known.unit in ("", number.unit) or {known.unit, number.unit} <= DEGREES)
    ]
    if negative:
        return bool(same) and not any(same)
    return bool(same) and all(same) and not _BELOW.search(sentence)
