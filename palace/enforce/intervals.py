"""How often something is: "every other day", "alle zwei Wochen", "todos los viernes", 隔週.

In: a sentence and the texts of the memory. Out: what it says of another interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import regex

from palace.enforce.dates import find_weekdays
from palace.enforce.quantities import read_quantities
from palace.enforce.quantity import Quantity, of_units
from palace.text import fold, right_before

_EVERY = regex.compile(
    r"\b(?:every|each|jede[nrms]?|elke|iedere|chaque|cada|ogni|tous\sles|toutes\sles|tod[oa]s\sl?[oa]s"
    r"|tod[oa]|tutt[ie]\s(?:i|gli|le)|кажд(?:ый|ую|ое|ые)|varje|każd(?:y|ą|ego)"
    # "Her week" is English, and "co" is more than Polish.
    r"|her(?=\s(?:hafta|gün|ay|pazartesi|salı|çarşamba|perşembe|cuma|cumartesi|pazar)\b)"
    r"|co(?=\s(?:\p{L}+\s)?(?:tydzień|dzień|miesiąc)\b)"
    r"|(?P<alternate>om\sde|varannan|vartannat))\s(?:single\s)?"
    r"(?:(?:(?P<n2>other|second[oa]?|2nd|zweite[nrms]?|2\.|andere|tweede|segund[oa]|deuxi[eè]me|due"
    r"|втор\p{L}+|drugi|andra)"
    r"|(?P<n3>third|3rd|dritte[nrms]?|3\.|derde|ter(?:cer|ceir[oa]|z[oa])|troisi[eè]me|треть\p{L}+"
    r"|trzeci|tredje)"
    r"|(?P<n4>fourth|4th|vierte[nrms]?|4\.|vierde|четв[её]рт\p{L}+|czwarty|fjärde))"
    r"\s)?(?P<unit>\p{L}+(?:-feiras?)?)",
    regex.IGNORECASE,
)
_SO_MANY = regex.compile(
    r"(?:\b(?:every|alle|tous les|toutes les|cada|ogni|elke|om de|каждые)\s|每)$", regex.IGNORECASE
)
_OF_SO_MANY = regex.compile(r"\s?(?:ごと|毎に|마다|に[1一][回度]|一次|에\s(?:한\s번|1회))")
_ONCE = regex.compile(
    r"\b(?:once\s(?:an?|per)|einmal\s(?:pro|die|in\sder|im|am)|une\sfois\spar|una\svez\s(?:a\sla|al|por)"
    r"|una\svolta\s(?:al|alla|a|per)|uma\svez\s(?:por|ao|à|a)|(?:één|eens|één\skeer|een\skeer)\s(?:per|in\sde)"
    r"|en\sgång\si|один\sраз\sв)\s(?P<unit>\p{L}+)",
    regex.IGNORECASE,
)
# A day or a week of which the next is none: "un vendredi sur deux", "un venerdì sì e uno no".
_ALTERNATE = regex.compile(
    r"\bune?\s(?P<unit>\p{L}+)\ssur\sdeux\b"
    r"|\b(?:un[oa]?\s)?(?P<unit>\p{L}+(?:-feira)?)\s(?:sì,?\s(?:e\s)?un[oa]|sí,?\s(?:y\s)?otr[oa])\sno\b"
    r"|\b(?P<unit>\p{L}+(?:-feira)?)\ssim,?\s(?P=unit)\snão\b",
    regex.IGNORECASE,
)
_IN_ONE_WORD = {
    **dict.fromkeys(("daily", "taglich", "dagelijks", "ежедневно", "codziennie"), ("day", 1.0)),
    **dict.fromkeys(("weekly", "wochentlich", "wekelijks", "еженедельно"), ("week", 1.0)),
    **dict.fromkeys(("semanalmente", "settimanalmente"), ("week", 1.0)),
    **dict.fromkeys(("monthly", "monatlich", "maandelijks", "ежемесячно"), ("month", 1.0)),
    **dict.fromkeys(("mensualmente", "mensalmente", "mensilmente"), ("month", 1.0)),
    "fortnightly": ("week", 2.0),
}
# Where no blanks stand between words.
_WITHOUT_BLANKS = regex.compile(
    r"(?P<day>[毎每]日|每天|매일)|(?P<month>毎月|每个?月|每個月|매[월달])"
    r"|(?P<week>毎週|每个?(?:周|星期|礼拜)|每個?(?:週|星期|禮拜)|매주|曜日?ごと|요일\s?마다)"
    r"|(?P<day2>隔一?[日天]|격일)|(?P<week2>隔一?[个個]?(?:[週周]|星期)|격주)"
)
_SO_OFTEN = regex.compile(
    r"(?:\b(?:twice|times|thrice|veces|fois|volte|vezes|raz[ay]?|kez|раза?)|mal|keer|gånger|\dx|\d\s?×)\s$",
    regex.IGNORECASE,
)
# Units that no number is read with.
_OTHER_UNITS = {
    **dict.fromkeys(("vecka", "veckan", "tydzien"), "week"),
    **dict.fromkeys(("dagen", "dzien", "dnia"), "day"),
    **dict.fromkeys(("manad", "manaden", "miesiac"), "month"),
}
_WORD = regex.compile(r"\p{L}+")
# "22 euros an hour", "cuota anual: 60 euros", "400 Euro pro Saison"; "im Jahr 2025" is a date.
_RATE = regex.compile(
    r"(?:/|\b(?:an?|per|each|every|pro|je|im|am|die|par|pour\sl['’]|chaque|al?|a\sla|por|ao|cada|в|за))\s?"
    r"(?:(?P<hour>hour|hr|h|stunde|heure|hora|час)|(?P<day>day|tag|jour|d[ií]a|день)"
    r"|(?P<week>week|woche|semaine|semana|неделю)|(?P<month>month|mo|monat|mois|m[eê]s|месяц)"
    r"|(?P<year>year|yr|jahr|ann?[ée]e|an|a[nñ]o|год))\b(?!\s?\d)"
    r"|\b(?:(?P<hour>hourly)|(?P<day>daily|täglich|diari)|(?P<week>weekly|wöchentlich|hebdo|semanal)"
    r"|(?P<month>monthly|monatlich|mensu|mensa[li]|ежемесячн)"
    r"|(?P<year>yearly|annual|jährlich|annuel|anua[li]|ежегодн|годов))\p{L}*"
    r"|每(?:(?P<hour>小时)|(?P<day>[天日])|(?P<week>[周週])|(?P<month>个?月)|(?P<year>年))",
    regex.IGNORECASE,
)
_SENTENCE = regex.compile(r"[.;!?](?=\s|\Z)|[。；！？\n]")
_SPANS = ("time", "months")


@lru_cache(maxsize=512)
def find_intervals(text: str) -> tuple[Quantity, ...]:
    """Return the intervals of a text as the durations they are."""
    return tuple(every for every in _read_intervals(text) if every.unit in _SPANS)


def other_intervals(sentence: str, texts: Sequence[str]) -> list[str]:
    """Return the intervals for which the texts have another, as written."""
    said = find_intervals(sentence)
    known = [q for text in texts for q in find_intervals(text)] if said else []
    lengths = {(q.unit, q.measures[0]) for q in known}
    return [
        q.text
        for q in said
        if (q.unit, q.measures[0]) not in lengths and any(_excludes(q, other) for other in known)
    ]


def other_rates(sentence: str, texts: Sequence[str]) -> list[str]:
    """Return the amounts that the texts have by another time: by the year, and not the month.

    A time by which they have anything may be worked out.
    """
    said = [rated for rated in _rated(sentence) if rated[1]]
    if not said:
        return []
    known = [rated for text in texts for rated in _rated(text)]
    anywhere = {rate for text in texts for rate in _rates(text)}
    return [
        amount.text
        for amount, rates in said
        if anywhere.isdisjoint(rates)
        and any(other and amount.measures == there.measures for there, other in known)
    ]


@lru_cache(maxsize=512)
def _rated(text: str) -> tuple[tuple[Quantity, frozenset[str]], ...]:
    """Return the amounts that stand alone in a sentence, with the times that it has them by."""
    ends = [0, *(match.start() for match in _SENTENCE.finditer(text)), len(text)]
    rated = []
    for start, end in pairwise(ends):
        amounts = [q for q in read_quantities(text) if start <= q.start < end]
        if len(amounts) == 1:
            rated.append((amounts[0], _rates(text[start:end])))
    return tuple(rated)


def _rates(text: str) -> frozenset[str]:
    found = (match.groupdict() for match in _RATE.finditer(text))
    return frozenset(name for groups in found for name, said in groups.items() if said)


def _excludes(one: Quantity, other: Quantity) -> bool:
    """Whether what is that often is not as often as the other: texts have many spans of hours.

    Of one unit one of the two must be a single day, week or month, of two units both must; a year
    is written in too many ways ("/yr") to be another than a month.
    """
    singles = (one.values[0], other.values[0]).count(1)
    if (one.unit, one.factor) == (other.unit, other.factor):
        return singles > 0
    return singles == 2 and not any(q.unit == "months" and q.factor > 1 for q in (one, other))


def _read_intervals(text: str) -> Iterator[Quantity]:
    for match in _EVERY.finditer(text):
        once = 2 if match["alternate"] else 1
        count = next((n for n in (2, 3, 4) if match[f"n{n}"]), once)
        yield from of_units(match, _unit(match["unit"]), float(count))
    for match in _ONCE.finditer(text):
        yield from of_units(match, _unit(match["unit"]), 1.0)
    for match in _ALTERNATE.finditer(text):
        yield from of_units(match, _unit(match["unit"]), 2.0)
    for match in _WORD.finditer(text):
        often = _IN_ONE_WORD.get(fold(match[0]))
        if often and not right_before(_SO_OFTEN, text, match.start()):
            yield from of_units(match, *often)  # "twice daily" is no interval of a day
    for match in _WITHOUT_BLANKS.finditer(text):
        said = match.lastgroup or ""
        yield from of_units(match, said.rstrip("2"), 2.0 if said.endswith("2") else 1.0)
    yield from (
        q
        for q in read_quantities(text)
        if right_before(_SO_MANY, text, q.start) or _OF_SO_MANY.match(text, q.end)
    )


def _unit(word: str) -> str:
    """Return the unit that a word of an interval stands for: of a day of the week, a week."""
    unit = fold(word)
    weekday = regex.sub("s?-feiras?$|s$", "", unit)
    if any(map(find_weekdays, (word, f"{weekday}-feira"))):
        return "week"
    return _OTHER_UNITS.get(unit, unit)
