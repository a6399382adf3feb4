"""What stands beside a number and makes another of it: a minus, the zone of a time of day.

In: a number of an answer with its sentence, and the sources. Out: whether the memory has the number
only with another sign, and whether a time of day is one of the memory in another zone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from palace.enforce.quantities import SaidNumber
from palace.enforce.quantity import DEGREES, Quantity
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
_OFFSETS = {  # minutes
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 60, "BST": 60, "CET": 60, "MEZ": 60, "CEST": 120,
    "MESZ": 120, "EET": 120, "EEST": 180, "MSK": 180, "IST": 330, "SGT": 480, "JST": 540,
    "KST": 540, "AEST": 600, "AEDT": 660, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300,
    "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
}  # fmt: skip
_ZONE = regex.compile(
    rf"\s?\(?(?P<zone>{'|'.join(_OFFSETS)})(?:(?P<sign>[+-])(?P<h>\d{{1,2}})(?::?(?P<m>[0-5]\d))?)?(?!\w)"
)
_DAY_MINUTES = 1440


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


def has_other_zone(said: Quantity, sentence: str, sources: Sequence[Source]) -> bool:
    """Whether a time of day with its zone stands in the sources, but only in another one."""
    offset = _zone_behind(sentence, said)
    same = [known for known, clock in _clocks(sources) if not _are_apart(said.values, clock.values)]
    return offset is not None and bool(same) and not {None, offset} & set(same)


def is_in_other_zone(said: Quantity, sentence: str, sources: Sequence[Source]) -> bool:
    """Whether a time of day with its zone is one of the sources, told in another zone."""
    offset = _zone_behind(sentence, said)
    return offset is not None and any(
        known is not None
        and not _are_apart([value - offset + known for value in said.values], clock.values)
        for known, clock in _clocks(sources)
    )


def _clocks(sources: Sequence[Source]) -> Iterator[tuple[int | None, Quantity]]:
    """Yield the times of day with the minutes that their zones are ahead, if that is known."""
    for source in sources:
        for clock in source.readings:
            if clock.unit == "clock":
                yield _zone_behind(source.text, clock), clock


def _are_apart(some: Sequence[float], others: Sequence[float]) -> bool:
    return {v % _DAY_MINUTES for v in some}.isdisjoint(v % _DAY_MINUTES for v in others)


def end_of(clock: Quantity, sentence: str, sources: Sequence[Source]) -> int:
    """Return where a number ends: a time of the sources in another zone ends with that zone."""
    if clock.unit != "clock" or not is_in_other_zone(clock, sentence, sources):
        return clock.end
    zone = _ZONE.match(sentence, clock.end)
    return zone.end() if zone else clock.end


def _zone_behind(text: str, clock: Quantity) -> int | None:
    zone = _ZONE.match(text, clock.end)
    if zone is None:
        return None
    ahead = int(zone["h"] or 0) * 60 + int(zone["m"] or 0)
    return _OFFSETS[zone["zone"]] + (-ahead if zone["sign"] == "-" else ahead)
