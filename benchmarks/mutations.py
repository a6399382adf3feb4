"""Altered answers made from honest ones: one number, month, weekday or name is another.

In: a labelled answer and the text it rests on. Out: copies of the answer, each with one specific
changed to one that does not stand in that text. Hand-written alterations are few and get tuned on;
these are many, and the same every time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import regex

_DIGITS = regex.compile(r"(?<!\[\^?|[\d\p{L}_])(?<!\A|\n)\d{1,9}(?![\d\]]|[.)]\s)")
_WORD = regex.compile(r"(?<![\p{L}-])\p{L}{3,}(?![\p{L}-])")
_NAME = regex.compile(r"(?<=[\p{Ll},] )\p{Lu}\p{Ll}{2,}(?![\p{L}\p{N}_./-])")
_ENGLISH = regex.compile(r"\b(?:the|of|is|and|you|with)\b")  # German nouns look like names
_COUNTS = "two three four five six seven eight nine ten eleven twelve".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_CYCLES = {word: cycle for cycle in (_COUNTS, _TENS, _MONTHS, _WEEKDAYS) for word in cycle}
_KINDS = {id(_COUNTS): "word", id(_TENS): "word", id(_MONTHS): "month", id(_WEEKDAYS): "weekday"}
_NAMES = "Bertrand Yolanda Ottokar Philippa Cedric Henrike Lorcan Wilma Zbigniew Rosamund".split()
_SMALL = 100


def mutations(answer: str, known: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, altered answer) pairs, one or two for each specific of an answer.

    Args:
        answer: An honest answer.
        known: Evidence and question; what stands there is no alteration.
    """
    chance = random.Random(answer)
    folded = known.casefold()
    runs = set(regex.findall(r"\d+", known))
    for match in _DIGITS.finditer(answer):
        for digits in dict.fromkeys(_other_digits(match[0], chance)):
            if digits not in runs and digits.lstrip("0") not in runs and digits != match[0]:
                kind = "digits" if len(match[0]) > 1 else "one digit"
                yield kind, _put(answer, match, digits)
    for match in _WORD.finditer(answer):
        cycle = _CYCLES.get(match[0]) or _CYCLES.get(match[0].casefold())
        if cycle is not None:
            place = [word.casefold() for word in cycle].index(match[0].casefold())
            word = (
                cycle[place + chance.choice((-1, 1))]
                if 0 < place < len(cycle) - 1
                else cycle[abs(place - 1)]
            )
            if not _stands(word, cycle, folded, runs):
                word = word.capitalize() if match[0][0].isupper() else word
                yield _KINDS[id(cycle)], _put(answer, match, word)
    for match in _NAME.finditer(answer):
        if match[0] not in _CYCLES and match[0] in known and _ENGLISH.search(answer):
            name = chance.choice([n for n in _NAMES if n not in known])
            yield "name", _put(answer, match, name)


def _other_digits(digits: str, chance: random.Random) -> Iterator[str]:
    value = int(digits)
    if value < _SMALL:
        yield f"{max(1, value + chance.choice((-3, -2, -1, 1, 2, 3))):0{len(digits)}d}"
        return
    place = chance.randrange(1, len(digits))
    other = chance.choice([d for d in "0123456789" if d != digits[place]])
    yield digits[:place] + other + digits[place + 1 :]
    yield digits[: place - 1] + digits[place] + digits[place - 1] + digits[place + 1 :]


def _stands(word: str, cycle: list[str], folded: str, runs: set[str]) -> bool:
    """Whether a word of a cycle stands in a text, cut to three letters or in digits."""
    place = cycle.index(word)
    number = {id(_COUNTS): place + 2, id(_TENS): 10 * place + 20}.get(id(cycle), place + 1)
    by_number = cycle is not _WEEKDAYS and not runs.isdisjoint({str(number), f"{number:02d}"})
    cut = word if cycle in (_COUNTS, _TENS) else word[:3]
    return by_number or regex.search(rf"(?<!\p{{L}}){cut.casefold()}", folded) is not None


def _put(answer: str, match: regex.Match[str], text: str) -> str:
    return answer[: match.start()] + text + answer[match.end() :]
