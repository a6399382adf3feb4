"""Numbers with their units, clock times and versions, as digits or in words.

In: text. Out: quantities with the place where they stand, comparable whatever the writing: 14 days
are two weeks, 18.5k is 18,500 and 14:30 is half past two.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from html import unescape
from typing import NamedTuple

import regex

from palace.enforce.answer_words import answer_words
from palace.enforce.dates import ORDINAL_WORDS
from palace.enforce.han import half_of_day, han_clocks, han_numbers, han_value
from palace.enforce.quantity import (
    UNITS,
    Quantity,
    before_length,
    of_units,
    times_of_day,
    unit_of,
)
from palace.enforce.spoken import spoken_clocks, spoken_numbers, spoken_parts
from palace.secrets.findings import INVISIBLE
from palace.text import fold, right_before, stem

_ORDINALS = {word: n for n, word in enumerate(ORDINAL_WORDS[:12], 1)}
_MILLION = (
    "mio million millions millionen millones milhoes milioni miljoen mln миллион миллиона"
    " миллионов млн milyon"
)
_THOUSAND = "thousand tausend mil тысяча тысячи тысяч тыс bin"
_SUFFIXES = {"k": 1e3, "m": 1e6, "bn": 1e9, "billion": 1e9,
             "hundred": 100, "dozen": 12, "lakh": 1e5, "lakhs": 1e5, "crore": 1e7, "crores": 1e7,
             **dict.fromkeys(_THOUSAND.split(), 1e3),
             **dict.fromkeys(_MILLION.split(), 1e6)}  # fmt: skip
_LARGE_BEHIND = regex.compile(
    rf"[ \u00a0]({'|'.join(word for word in _SUFFIXES if len(word) > 2)})(?!\p{{L}})",
    regex.IGNORECASE,
)
_SCALED_BEHIND = regex.compile(
    r"\s?(?:[-–]|to|bis|à|al?|até|tot|до)\s?\d{1,3}(?:[.,]\d{1,3})?[ \u00a0]?"
    rf"(?P<scale>k|{'|'.join(word for word in _SUFFIXES if len(word) > 2)})(?!\p{{L}})",
    regex.IGNORECASE,
)
_DIGIT = regex.compile(r"\d")
_NO_DIGIT = "\ufffd"
_REFERENCE = regex.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|\p{L}{2,24});")
_ON_A_DIGIT = regex.compile(r"(?<=\p{N})[\p{M}\p{Cf}]++")
_ORNATE = regex.compile(r"(?<![\w)\]⁺⁻₊₋\p{No}])\p{No}{2,}+")
_SPACES = r"[ \u00a0\u202f]"
_DIGITS = (
    rf"(?<![:/])\b\d{{1,3}}(?:{_SPACES}\d{{3}})+(?![\d/])|\d{{1,3}}(?:['’]\d{{3}})+(?!\d)"
    r"|\d+(?:[.,]\d+)*"
)
_UNGROUPED = dict.fromkeys(map(ord, " \u00a0\u202f'’"))
_IN_THOUSANDS = regex.compile(r"[1-9]\d{0,2}(?:[.,]\d{3})+")
# Letters of writing without blanks: a number stands beside them as beside a blank.
_DENSE = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\u30fc]"
_HAN_WORD = regex.compile(r"\p{Han}+")
_HAN_LETTER = regex.compile(r"[ \u00a0\u202f]?\p{Han}")
_VERSION = regex.compile(
    rf"(?:(?<![\w.])|(?<={_DENSE}))v?(\d+(?:\.\d+){{2,}})(?!(?!{_DENSE})\w|\.\d)", regex.IGNORECASE
)
_CLOCK = regex.compile(
    r"(?<![\d:.,])(?P<h>\d{1,3})(?:[:h](?P<m>\d{2})(?::(?P<s>\d{2}))?|\.(?P<dm>\d{2})(?=\s*(?:uhr|[ap]\.?m)))?"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?|\s*(?P<uhr>uhr\b|(?:時(?!間)|时(?!间)|点钟?|點鐘?|시(?!간))"
    r"(?:\s*(?P<cm>\d{1,2})\s?[分분]|(?P<half_past>半|\s?반))?))?(?![\d])",
    regex.IGNORECASE,
)
_NUMBER = regex.compile(
    rf"(?P<sign>[$€£¥]\s?|(?:EUR|USD|GBP)\s)?(?:(?<![\p{{L}}_\d]|\d[.,])|(?<=(?<![\p{{L}}_])[xX])|(?<={_DENSE}))"
    rf"(?:(?P<n>{_DIGITS})(?:\s?(?P<part>[½¼¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])|\s(?P<half>1/[234]|[23]/[34])(?![\d/]))?|(?P<part>[½¼¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]))"
    r"(?:(?P<suffix>[kKmM]|bn)(?![\p{L}\d]))?",
)
_UNIT_AFTER = regex.compile(
    r"[ \u00a0\u202f-]?(?!\p{L}/(?!\p{L}))(?:°\s?[CF]?|[%％]|[€$£¥](?!\d)"
    rf"|[かヶカヵ]月|개월|시간|유로|달러|박|원|\p{{Han}}{{1,2}}|\p{{Latin}}+(?={_DENSE})|\p{{L}}+)",
    regex.IGNORECASE,
)
_ADDRESSED = regex.compile(r"\b(?:you|we|us|they|them)\s+$", regex.IGNORECASE)  # "you two"
_COUNTED = regex.compile(r"\b(?:a|one|two|three)[ -]$", regex.IGNORECASE)
_ORDINAL_END = regex.compile(r"(?:st|nd|rd|th|er?|ste|de)\b")
_TENTH_AND = regex.compile(
    rf"\b(?P<tens>twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-(?P<one>{'|'.join(_ORDINALS)})\b",
    regex.IGNORECASE,
)
# "三个月": in front of what is no unit such a letter is a part of a word.
_HAN_COUNT = regex.compile(
    r"(?<![第一二三四五六七八九十百千])"
    r"(?P<n>[二三四五六七八九]?十[一二三四五六七八九]?|[一二两兩三四五六七八九])"
    r"(?P<unit>[个個]月|[かヶカヵ]月|天|日間|[周週](?:間)?|小时|小時|時間|分钟|分鐘|欧元|美元)"
)
# "8万5千", "14.3万", "23만": digits and what they are multiplied by.
_MYRIAD = regex.compile(
    r"(?<![\d.,])(?:\d{1,4}(?:[.,]\d{1,4})?[億亿억万萬만千천百백]+ ?)+"
    r"(?:(?<! )\d{1,4}(?![\d.,]*\d))?(?<! )"
)
_TIMES = {"twice": 2, "thrice": 3, "zweimal": 2, "dreimal": 3, "viermal": 4, "fünfmal": 5}
_TWICE = regex.compile(rf"\b({'|'.join(_TIMES)})\b", regex.IGNORECASE)
_PARTS_OF = regex.compile(
    r"\s(?:tiers|quarts|tercios|cuartos|quintos|terços|quartos|terzi|quarti|quinti|derde|vierde"
    r"|drittel|viertel|fünftel)\b",
    regex.IGNORECASE,
)
_ONE_AND = regex.compile(
    r"\b(?:an?|one)\s+(?P<unit>hour|day|week|month|year)(?=\s+(?:and\s+)?(?:\p{L}+(?:-\p{L}+)?|\d+)\s+(?:min|hour|day|week|month))",
    regex.IGNORECASE,
)
_SINGLE = regex.compile(r"(?<![-\w])(\p{L}+)(?![-\w])")
_SECOND_WORD = regex.compile(r"\s(\p{L}{4,})(?!\p{L})")
_TWICE_SAID = regex.compile(r"(\p{L}+)-\1\b", regex.IGNORECASE)  # "fifty-fifty"
_AND_A_HALF = regex.compile(r"\s+and\s+a\s+half\b", regex.IGNORECASE)
OR_SO = regex.compile(
    r"\s(?:or so|oder so|ou à peu près|o así)\b|\p{Han}?(?:左右|上下|程度|前後|ほど|くらい|ぐらい)"
    r"|\p{Hangul}?\s?(?:정도|쯤)",
    regex.IGNORECASE,
)
_I_AM = regex.compile(r"\sich\b", regex.IGNORECASE)  # behind "bin", a Turkish thousand elsewhere
_EACH = regex.compile(r"1\s?[인명]당")  # "for each": it counts nothing
_MINUS = str.maketrans("−", "-")
_POWER = regex.compile(
    r"(?<![\w.,^])(?:(?P<times>\d{1,6}(?:\.\d{1,6})?)\s?[x×*·]\s?)?(?:(?P<base>10|2)(?:\^|\*\*)"
    r"(?P<power>-?\d{1,2})(?![\w.,]*\d)|10(?P<raised>⁻?[⁰¹²³⁴-⁹]{1,2}))"
)
_IN_NEXT_UNIT = 60
_MOST_DIGITS = 40  # what has more is no number, and would not stay finite when worked on
_TWO_DIGITS = 2
_ENERGY = regex.compile(r"[ -]?(k|m)?(?:ilo|ega)?watt[ -]hours?\b", regex.IGNORECASE)
_TORQUE = regex.compile(r"[ -]?newton[ -]?met(?:re|er)s?\b", regex.IGNORECASE)
_PER_CENT = regex.compile(r"[ \u00a0](?:per|por) (?:cento?|ciento)\b", regex.IGNORECASE)
_CENTS = frozenset(
    {"ct", "p", "pence", "penny", "cent", "cents", "centimes", "centimos", "centavos"}
)
# What says that a number is not exact, or on which side of it the exact one lies.
ROUGH = (
    r"about|around|roughly|approximately|approx\.?|some|circa|ca\.|c\.|~|≈|close to|nearer|near"
    r"|or so|a good|well over|upwards of|getting on for|not quite|nearly|almost|(?:(?:just|a|well"
    r"|slightly|little|bit|touch|shade)\s+){0,3}(?:over|under|above|below|shy of|short of|past)"
    r"|(?:(?:a|slightly)\s+)?(?:little\s+|bit\s+)?(?:more|less|fewer|better) than"
    r"|at (?:least|most)"
    r"|etwa|rund|knapp|gut|ungefähr|fast|beinahe|annähernd|über|unter|mehr als|weniger als"
    r"|nicht ganz|an die|um die"
    r"|environ|presque|près de|à peu près|(?:un peu )?(?:plus|moins) de|quasi(?:ment)?|autour de"
    r"|unos|unas|casi|cerca de|alrededor de|aproximadamente|(?:un poco |poco )?(?:más|menos) de"
    r"|(?:poco )?(?:più|meno) di|intorno a|all['’]incirca"
    r"|quase|uns|umas|(?:um pouco |pouco )?(?:mais|menos) de"
    r"|ongeveer|bijna|zo['’]n|ruim|een kleine|(?:iets )?(?:meer|minder) dan|krap"
)
AROUND = regex.compile(
    rf"(?:^|(?<=[\s(—–~≈-]))(?:{ROUGH})"
    r"\s*(?:(?:the|an?|il|el|le|la|l['’]|die|der|das|de|het|o)\s+)?[$€£]?\s*$"
    r"|(?:大?[约約]|大概|差不多|将近|近|およそ|ほぼ|(?<!\p{L})약|대략)\s?$",
    regex.IGNORECASE | regex.REVERSE,  # from its end, which is known: in a quarter of the time
)


FOR_ONE = regex.compile(
    r"\s?\p{L}{1,40}+(?:\s?/\s?\p{L}|\s(?:per|pro|par|por|al|each|an?)\s)", regex.IGNORECASE
)
"""What behind a number says that so many are for one: "5 plants per m"."""


def as_seen(text: str) -> str:
    """Return text as an eye reads it: what nobody sees is gone, and digits are plain ones.

    Character references are what they stand for, and two or more ornate digits ("④⑦") are a
    number, unless they are raised or lowered behind a word. The `regex` package knows a newer
    Unicode than Python does: a digit that Python cannot read becomes one sign.
    """
    seen = _REFERENCE.sub(lambda match: unescape(match[0]), text) if "&" in text else text
    if seen.isascii():
        return seen
    seen = _ON_A_DIGIT.sub("", INVISIBLE.sub("", seen))
    seen = _ORNATE.sub(lambda match: "".join(map(_plain_digit, match[0])), seen)
    return _DIGIT.sub(lambda match: match[0] if match[0].isdecimal() else _NO_DIGIT, seen)


def _plain_digit(sign: str) -> str:
    value = unicodedata.digit(sign, None)
    return sign if value is None else str(value)


def find_quantities(text: str, taken: Sequence[tuple[int, int]] = ()) -> list[Quantity]:
    """Return the quantities of a text, in order.

    Args:
        text: Any text.
        taken: Spans that are something else (dates, identifiers, paths) and are not read.
    """
    used = bytearray(len(text) + 1)
    for start, end in taken:
        used[start:end] = b"\1" * (end - start)
    found: list[Quantity] = []
    for quantity in _readings(text):
        if not any(used[quantity.start : quantity.end]):
            found.append(quantity)
            used[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
    return _joined(sorted(found, key=lambda q: q.start), text)


@lru_cache(maxsize=512)
def _readings(text: str) -> tuple[Quantity, ...]:
    """Return what may be read as a number, the surer first; readings may overlap."""
    readers = (
        _versions,
        spoken_clocks,
        _clocks,
        han_clocks,
        _powers,
        _parts,
        _myriads,
        _digits,
        _ordinals,
        _spelled,
        _han_counts,
    )
    return tuple(quantity for read in readers for quantity in read(text))


@lru_cache(maxsize=512)
def read_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text of which nothing is something else."""
    return tuple(find_quantities(text))


class SaidNumber(NamedTuple):
    """A number of an answer where it is said.

    Attributes:
        number: The number.
        sentence: The sentence around it.
        before: What was asked and said before: its numbers may be worked on, as
        beside: those of the sentence that hold.
    """

    number: Quantity
    sentence: str
    before: str = ""
    beside: Sequence[Quantity] = ()

    @property
    def spoken(self) -> set[float]:
        """What the numbers of the sentence may be, whatever their units."""
        return {value for q in read_quantities(self.sentence) for value in q.values}

    def is_behind(self, pattern: regex.Pattern[str]) -> regex.Match[str] | None:
        """Return what it stands right behind, by a pattern that ends with `$`."""
        return pattern.search(self.sentence, 0, self.number.start)

    def is_before(self, pattern: regex.Pattern[str]) -> regex.Match[str] | None:
        """Return what it stands right before."""
        return pattern.match(self.sentence, self.number.end)


def _versions(text: str) -> Iterator[Quantity]:
    for match in _VERSION.finditer(text):
        if regex.fullmatch(r"\d{1,3}(?:\.\d{3})+", match[1]):
            continue
        yield Quantity((), "version", 1, *match.span(), match[0], version=match[1])


def _clocks(text: str) -> Iterator[Quantity]:
    for match in _CLOCK.finditer(text):
        minute = match["m"] or match["dm"] or match["cm"] or ("30" if match["half_past"] else None)
        if minute is None and match["half"] is None and match["uhr"] is None:
            continue
        hour, seconds = int(match["h"]), int(match["s"] or 0)
        half = match["half"] or half_of_day(text, match.start())
        half = half if hour <= 12 else None  # "19:00 am Tor"
        times = times_of_day(hour * 60 + int(minute or 0), half)
        values = tuple(at + seconds / 60 for at in times)
        yield Quantity(values, "clock", 1, *match.span(), match[0].strip())


def _powers(text: str) -> Iterator[Quantity]:
    """Yield powers of ten and two: "10^6", "3 x 10⁻⁵", "2**10"."""
    for match in _POWER.finditer(text):
        raised = unicodedata.normalize("NFKC", match["power"] or match["raised"])
        power = int(raised.translate(_MINUS))
        value = float(match["times"] or 1) * float(match["base"] or 10) ** power
        yield _with_unit(text, (value,), match.start(), match.end(), "")


def _parts(text: str) -> Iterator[Quantity]:
    for said in spoken_parts(text):
        yield replace(said, loose=right_before(AROUND, text, said.start) is not None)


def _myriads(text: str) -> Iterator[Quantity]:
    for match in _MYRIAD.finditer(text):
        yield _with_unit(text, (han_value(match[0]),), *match.span(), "")
    for number in han_numbers(text):
        if number.sure:
            yield _with_unit(text, (number.value,), number.start, number.end, "")


def _digits(text: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text):
        if len(match["n"] or "") > _MOST_DIGITS or _EACH.match(text, match.start()):
            continue
        values = _values(match["n"] or "0")
        if match["part"]:
            values = tuple(value + unicodedata.numeric(match["part"]) for value in values)
        if match["half"]:  # "3 1/2"
            above, below = map(int, match["half"].split("/"))
            values = tuple(value + above / below for value in values)
        end = match.end()
        if match["suffix"]:
            if match["suffix"] == "m" and not match["sign"]:
                end -= 1  # metres, unless it is money
            else:
                values = tuple(value * _SUFFIXES[match["suffix"].lower()] for value in values)
        else:
            values = _as_behind(values, text, end)
        half = _AND_A_HALF.match(text, end)
        if half:
            values, end = tuple(value + 0.5 for value in values), half.end()
        sign = (match["sign"] or "").strip().casefold()
        ordinal = _ORDINAL_END.match(text, end)
        if ordinal:
            yield Quantity(
                values, "ordinal", 1, match.start(), ordinal.end(), match[0] + ordinal[0]
            )
        else:
            yield _with_unit(text, values, match.start(), end, sign)


def _as_behind(values: tuple[float, ...], text: str, end: int) -> tuple[float, ...]:
    """Return values also in the thousands of the end of their range: "18 to 20 thousand"."""
    scale = _SCALED_BEHIND.match(text, end)
    return values + tuple(v * _SUFFIXES[fold(scale["scale"])] for v in values) if scale else values


def _spelled(text: str) -> Iterator[Quantity]:
    for said in spoken_numbers(text):
        if right_before(_ADDRESSED, text, said.start) or _TWICE_SAID.match(text, said.start):
            continue
        if _PARTS_OF.match(text, said.end):  # "dois terços"
            continue
        quantity = _with_unit(text, said.values, said.start, said.end, "")
        if len(said.values) > 1:
            quantity = replace(quantity, loose=True)
        if said.values[0] == 1 and quantity.unit not in ("time", "months", "euro", "dollar"):
            continue  # "one" is mostly a pronoun
        yield quantity
    for match in _TWICE.finditer(text):
        count = float(_TIMES[match[1].casefold()])
        yield Quantity((count,), "", 1, *match.span(), match[0], noun="time")
    for match in _ONE_AND.finditer(text):
        yield from of_units(match, match["unit"], 1.0)


def _han_counts(text: str) -> Iterator[Quantity]:
    for match in _HAN_COUNT.finditer(text):
        yield from of_units(match, match["unit"], han_value(match["n"]))


def _ordinals(text: str) -> Iterator[Quantity]:
    for match in _TENTH_AND.finditer(text):  # "eighty-third" is no eighty
        tens = spoken_numbers(match["tens"])[0].values[0]
        value = tens + _ORDINALS[match["one"].casefold()]
        yield Quantity((value,), "ordinal", 1, *match.span(), match[0])
    for match in _SINGLE.finditer(text):
        number = _ORDINALS.get(match[1].casefold(), 0)
        if number > 2 and not right_before(_COUNTED, text, match.start()):  # "two thirds"
            yield Quantity((float(number),), "ordinal", 1, *match.span(), match[0])


def _with_unit(text: str, values: tuple[float, ...], start: int, end: int, sign: str) -> Quantity:
    loose = bool(right_before(AROUND, text, start) or OR_SO.match(text, end))
    if sign:
        return _with_sign(text, values, start, end, sign, loose=loose)
    shaped = before_length(text, end)
    after = _behind(text, end, shaped)
    if after is None:
        return Quantity(values, "", 1, start, end, text[start:end], loose)
    written = after[0].lstrip(" \u00a0\u202f-").replace(" ", "")
    if _HAN_WORD.fullmatch(written) and written not in UNITS and written[0] in UNITS:
        after = _HAN_LETTER.match(text, end) or after  # "7天内"
        written = written[0]
    word = _unit_word(after, written)
    german = word == "bin" and _I_AM.match(text, after.end())
    if word in _SUFFIXES and word not in ("k", "m") and not german:
        scaled = tuple(value * _SUFFIXES[word] for value in values)
        return _with_unit(text, scaled, start, after.end(), "")
    if word not in UNITS:  # "600 Metern", "13 flying hours"
        word = word.removesuffix("n") if word.removesuffix("n") in UNITS else word
        second = _SECOND_WORD.match(text, after.end())
        described = word not in UNITS and word not in answer_words().function  # no rate "a day"
        if described and second and fold(second[1]) in UNITS:
            after, word = second, fold(second[1])
    if word in UNITS and not (word == "an" and values != (1.0,)):  # the French year
        family, factor, stop = unit_of(word, written, text, after.end(), shaped)
        return Quantity(values, family, factor, start, stop, text[start:stop], loose)
    if word in _CENTS:
        hundredths = tuple(value / 100 for value in values)
        return Quantity(hundredths, "", 1, start, after.end(), text[start : after.end()], loose)
    word = word[:1] if _HAN_WORD.fullmatch(word) else word  # "2枚だけで"
    return Quantity(values, "", 1, start, end, text[start:end], loose, noun=stem(word))


def _behind(text: str, end: int, shaped: regex.Match[str] | None) -> regex.Match[str] | None:
    """Return what stands behind a number and may be its unit."""
    for pattern in (_ENERGY, _TORQUE, _PER_CENT):
        found = pattern.match(text, end)
        if found:
            return found
    return _UNIT_AFTER.match(text, shaped.end() if shaped else end)


def _unit_word(after: regex.Match[str], written: str) -> str:
    """Return the word for a unit as the table of units has it."""
    if after.re is _ENERGY:
        return f"{(after[1] or '').lower()}wh"
    if after.re is _TORQUE:
        return "nm"
    # In notes "28 C" is a temperature; a lower-case letter may be anything.
    return f"°{written.lower()}" if written in ("C", "F") else fold(written)


def _with_sign(
    text: str, values: tuple[float, ...], start: int, end: int, sign: str, *, loose: bool
) -> Quantity:
    """Return an amount of money, scaled by the word behind it: "€1.5 million"."""
    family, factor = UNITS[sign]
    large = _LARGE_BEHIND.match(text, end)
    if large:
        scale = _SUFFIXES[fold(large[1])]
        values, end = tuple(value * scale for value in values), large.end()
    return Quantity(values, family, factor, start, end, text[start:end].strip(), loose)


@lru_cache(maxsize=1024)
def _values(digits: str) -> tuple[float, ...]:
    """Return what digits may mean: `1.260` is 1260 or 1.26, `18,500` is 18500, `2,5` is 2.5."""
    plain = digits.translate(_UNGROUPED)
    *whole, last = plain.replace(",", ".").split(".")
    readings = []
    if _IN_THOUSANDS.fullmatch(plain):
        readings.append("".join((*whole, last)))
    if not whole:
        readings.append(plain)
    elif not readings or (len(whole) == 1 and "," not in plain):
        readings.append(f"{''.join(whole)}.{last}")
    return tuple(dict.fromkeys(map(float, readings)))


def _joined(found: list[Quantity], text: str) -> list[Quantity]:
    """Add what neighbouring durations come to: "1 hour, 52 minutes and 40 seconds", "3 h 20"."""
    joined: list[Quantity] = []
    for quantity in found:
        last = joined[-1] if joined else None
        factor = _factor_behind(last, quantity, text) if last else 0.0
        if last is None or not factor:
            joined.append(quantity)
            continue
        total = last.measures[0] / factor + quantity.values[0]
        span = text[last.start : quantity.end]
        joined[-1] = Quantity((total,), "time", factor, last.start, quantity.end, span)
    return joined


def _factor_behind(last: Quantity, quantity: Quantity, text: str) -> float:
    """Return the seconds of the unit of a number that goes on with a duration, or 0."""
    between = text[last.end : quantity.start]
    if last.unit != "time" or not quantity.values:
        return 0.0
    if quantity.unit == "time":
        follows = regex.fullmatch(r"\s*,?\s*(?:and|und|et|y|e)?\s*", between) is not None
        return quantity.factor if follows and quantity.factor < last.factor else 0.0
    # "3 h 10 since then": what follows two digits behind "h" is not what is counted.
    written = last.text[-1:].casefold() == "h" and len(quantity.text) == _TWO_DIGITS
    noun = "" if written or quantity.noun in answer_words().function else quantity.noun
    bare = not quantity.unit and not noun
    small = quantity.values[0] < _IN_NEXT_UNIT and quantity.values[0].is_integer()
    follows = last.factor in (60.0, 3600.0) and not between.strip()
    return last.factor / _IN_NEXT_UNIT if bare and small and follows else 0.0


def decimals(size: float) -> int:
    """Return how many decimals a number is said to, at most three."""
    return next((n for n in range(3) if math.isclose(size, round(size, n), rel_tol=1e-9)), 3)
