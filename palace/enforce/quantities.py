"""Numbers with their units, clock times and versions, as digits or in words.

In: text. Out: quantities with the place where they stand, comparable whatever the writing: 14 days
are two weeks, 18.5k is 18,500 and 14:30 is half past two.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import regex

from palace.enforce.answer_words import answer_words
from palace.enforce.spoken import spoken_clocks, spoken_numbers, spoken_parts
from palace.text import fold, right_before, stem

# Unit -> (family, how many of the family's smallest unit).
_UNIT_LINES = """
time 0.001 ms millisecond milliseconds millisekunden
time 1 sek
time 1 s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondo
time 1 secondi seconden 秒
time 60 min mins minute minutes minuten minuto minutos minuti minuut minutig 分 分钟 分間
time 3600 std
time 3600 h hr hrs hour hours stunde stunden heure heures hora horas ora ore uur uren 小时 時間
time 60 минута минуту минуты минут 分鐘 분
time 3600 час часа часов 小時 시간
time 86400 день дня дней
time 604800 週 週間 неделя неделю недели недель
months 1 месяц месяца месяцев 個月 개월
months 12 года лет
percent 1 процент процента процентов 퍼센트
euro 1 евро 欧元 歐元 유로
dollar 1 доллар доллара долларов 美元 달러
mass 0.001 мг 毫克
mass 1000 кг 公斤 千克
length 1000 км 公里
length 0.01 см 厘米
volume 0.001 мл 毫升
time 3600 hourly stundlich stundig
time 86400 d day days tag tage tagen jour jours dia dias giorno giorni gg dag dagen 天 日間 night
time 86400 nights nts nuits noches nacht nachte tagig
time 604800 week weeks wk wks woche wochen semaine semaines semana semanas settimana settimane
time 604800 weken wochig 周
time 1209600 fortnight fortnights
months 1 mth mths mnd
months 1 mo mos month months monat monate monaten mois mes meses mese mesi maand maanden 个月 か月
months 1 monatig ヶ月 カ月 ヵ月
months 3 quarter-year
months 12 year years yr yrs jahr jahre jahren an ans annee annees ano anos anno anni jaar jaren jr
months 12 jahrig 年間
months 120 decade decades
bits 1000 kbit kbits kbps kilobit kilobits
bits 1000000 mbit mbits mbps megabit megabits
bits 1000000000 gbit gbits gbps gigabit gigabits
bytes 1 byte bytes
bytes 1000 kb kib kilobyte kilobytes
bytes 1000000 mb mib megabyte megabytes
bytes 1000000000 gb gib gigabyte gigabytes
bytes 1000000000000 tb tib terabyte terabytes
length 0.000001 μm micron microns micrometre micrometres micrometer micrometers mikrometer
length 0.001 mm millimetre millimetres millimeter millimeters millimetri milimetros
length 0.01 cm centimetre centimetres centimeter centimeters zentimeter centimetri centimetros
length 1 m metre metres meter meters metro metros metri
length 1000 km kilometre kilometres kilometer kilometers kms kmh chilometri quilometros kilometros
length 1000 kph
length 1609.344 mile miles mi mph
length 0.3048 ft foot feet
length 0.9144 yd yard yards
length 0.0254 inch inches
mass 0.000001 μg ug mcg microgram micrograms mikrogramm microgrammes microgramos microgrammi
mass 0.001 mg milligram milligrams
mass 1 грамм грамма граммов
mass 1 g gram grams gramme grammes gramm gramos gramas grammi
mass 100 ons etto etti
mass 28.349523 oz ounce ounces
mass 453.59237 lb lbs
mass 1000 kg kilo kilos kilogram kilograms kilogramm chilo chili quilo quilos
mass 100000 quintale quintali
mass 1000000 tonne tonnes tonnen tonnellate toneladas
volume 0.1 dl
volume 0.01 cl
volume 0.001 ml millilitre millilitres milliliter milliliters
volume 1 l litre litres liter liters litro litros litri
volume 100 hl
volume 3.785412 gal gallon gallons
volume 1000 cbm kubikmeter kubikmetern
area 1 sqm qm quadratmeter quadratmetern
area 0.09290304 sqft
area 10000 ha hectare hectares hektar
percent 1 % percent percento prozent pourcent porciento porcento procent ％ pct
celsius 1 °c celsius
fahrenheit 1 °f fahrenheit
degrees 1 ° degree degrees grad degres grados gradi graus graden
euro 1 € eur euro euros
dollar 1 $ usd dollar dollars dollari dolares
pound 1 £ gbp pound pounds
yen 1 ¥ jpy yen 円
franc 1 chf sfr franken franc francs franchi
crown 1 kr sek nok dkk krona kronor krone kroner kronen
zloty 1 zl pln zloty zlotys zlotych
rupee 1 inr rupee rupees
yuan 1 cny rmb yuan
volt 1 v volt volts
volt 0.001 mv
volt 1000 kv
watt 1 w watt watts
watt 1000 kw kilowatt kilowatts
energy 1 wh
energy 1000 kwh
energy 1000000 mwh
energy 1000000000 gwh
hertz 1 hz hertz
hertz 1000 khz
hertz 1000000 mhz
hertz 1000000000 ghz
bar 1 bar bars
bar 0.001 mbar hpa
bar 0.01 kpa
bar 0.06894757 psi
torque 1 nm
"""
_UNITS = {
    word: (line.split()[0], float(line.split()[1]))
    for line in _UNIT_LINES.strip().splitlines()
    for word in line.split()[2:]
}
_ORDINALS = {
    w: n for n, w in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh"
        " twelfth".split(), 1)
}  # fmt: skip
_MILLION = "mio million millions millionen millones milhoes milioni miljoen mln"
_SUFFIXES = {"k": 1e3, "m": 1e6, "bn": 1e9, "billion": 1e9, "thousand": 1e3, "tausend": 1e3,
             "hundred": 100, "dozen": 12, "lakh": 1e5, "lakhs": 1e5, "crore": 1e7, "crores": 1e7,
             **dict.fromkeys(_MILLION.split(), 1e6)}  # fmt: skip
_LARGE_BEHIND = regex.compile(
    rf"[ \u00a0]({'|'.join(word for word in _SUFFIXES if len(word) > 2)})(?!\p{{L}})",
    regex.IGNORECASE,
)
_DIGIT = regex.compile(r"\d")
_NO_DIGIT = "\ufffd"
_SPACES = r"[ \u00a0\u202f]"
_DIGITS = (
    rf"(?<![:/])\b\d{{1,3}}(?:{_SPACES}\d{{3}})+(?![\d/])|\d{{1,3}}(?:['’]\d{{3}})+(?!\d)"
    r"|\d+(?:[.,]\d+)*"
)
# Letters of writing without blanks: a number stands beside them as beside a blank.
_DENSE = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\u30fc]"
_HAN_WORD = regex.compile(r"\p{Han}+")
_VERSION = regex.compile(
    rf"(?:(?<![\w.])|(?<={_DENSE}))v?(\d+(?:\.\d+){{2,}})(?!(?!{_DENSE})\w|\.\d)", regex.IGNORECASE
)
_CLOCK = regex.compile(
    r"(?<![\d:.,])(?P<h>\d{1,3})(?:[:h](?P<m>\d{2})(?::(?P<s>\d{2}))?|\.(?P<dm>\d{2})(?=\s*(?:uhr|[ap]\.?m)))?"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?|\s*(?P<uhr>uhr\b|(?:時(?!間)|点钟?|點鐘?|시(?!간))"
    r"(?:\s*(?P<cm>\d{1,2})\s?[分분]|(?P<half_past>半|\s?반))?))?(?![\d])",
    regex.IGNORECASE,
)
_MORNING = regex.compile(r"(?:上午|早上|凌晨|午前|오전)\s?$")
_AFTERNOON = regex.compile(r"(?:下午|晚上|傍晚|午後|오후)\s?$")
_NUMBER = regex.compile(
    rf"(?P<sign>[$€£¥]\s?|(?:EUR|USD|GBP)\s)?(?:(?<![\p{{L}}_\d]|\d[.,])|(?<=(?<![\p{{L}}_])[xX])|(?<={_DENSE}))"
    rf"(?:(?P<n>{_DIGITS})(?:\s?(?P<part>[½¼¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])|\s(?P<half>1/[234]|[23]/[34])(?![\d/]))?|(?P<part>[½¼¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]))"
    r"(?:(?P<suffix>[kKmM]|bn)(?![\p{L}\d]))?",
)
_UNIT_AFTER = regex.compile(
    r"[ \u00a0\u202f-]?(?!\p{L}/(?!\p{L}))(?:°\s?[CF]?|[%％]|[€$£¥](?!\d)"
    rf"|[かヶカヵ]月|개월|시간|유로|달러|\p{{Han}}{{1,2}}|\p{{Latin}}+(?={_DENSE})|\p{{L}}+)",
    regex.IGNORECASE,
)
_ADDRESSED = regex.compile(r"\b(?:you|we|us|they|them)\s+$", regex.IGNORECASE)  # "you two"
_COUNTED = regex.compile(r"\b(?:a|one|two|three)[ -]$", regex.IGNORECASE)
_ORDINAL_END = regex.compile(r"(?:st|nd|rd|th|er?|ste|de)\b")
_TENTH_AND = regex.compile(
    rf"\b(?P<tens>twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-(?P<one>{'|'.join(_ORDINALS)})\b",
    regex.IGNORECASE,
)
_HAN_NUMBERS = {number: value for value, number in enumerate("一二三四五六七八九", 1)} | {
    "两": 2,
    "兩": 2,
}
# "三个月": in front of what is no unit such a letter is a part of a word.
_HAN_COUNT = regex.compile(
    r"(?<![第一二三四五六七八九十百千])(?:(?P<tens>[二三四五六七八九]?)(?P<ten>十)(?P<one>[一二三四五六七八九]?)"
    r"|(?P<one>[一二两兩三四五六七八九]))"
    r"(?P<unit>[个個]月|[かヶカヵ]月|天|日間|[周週](?:間)?|小时|小時|時間|分钟|分鐘|欧元|美元)"
)
_TWICE = regex.compile(r"\b(twice|thrice)\b", regex.IGNORECASE)
_PARTS_OF = regex.compile(
    r"\s(?:tiers|quarts|tercios|cuartos|quintos|terços|quartos|terzi|quarti|quinti|derde|vierde"
    r"|drittel|viertel|fünftel)\b",
    regex.IGNORECASE,
)
_FORTNIGHT = regex.compile(r"\ba fortnight\b", regex.IGNORECASE)
_FIFTEEN_DAYS = regex.compile(
    r"\b(?:quinze|15|quince|quindici) (?:jours|d[ií]as|giorni)\b", regex.IGNORECASE
)
_ONE_AND = regex.compile(
    r"\b(?:an?|one)\s+(?P<unit>hour|day|week|month|year)(?=\s+(?:and\s+)?(?:\p{L}+(?:-\p{L}+)?|\d+)\s+(?:min|hour|day|week|month))",
    regex.IGNORECASE,
)
_SINGLE = regex.compile(r"(?<![-\w])(\p{L}+)(?![-\w])")
_SECOND_WORD = regex.compile(r"\s(\p{L}{4,})(?!\p{L})")
_TWICE_SAID = regex.compile(r"(\p{L}+)-\1\b", regex.IGNORECASE)  # "fifty-fifty"
_AND_A_HALF = regex.compile(r"\s+and\s+a\s+half\b", regex.IGNORECASE)
_OR_SO = regex.compile(r"\s(?:or so|oder so|ou à peu près|o así)\b", regex.IGNORECASE)
# What makes an area or a volume of a length, before it and behind it.
_SHAPED = regex.compile(
    r"[ \u00a0-](?:(?P<area>square|sq\.?|vierkante)|(?:cubic|cu\.?|kubieke))(?=[ \u00a0-]\p{L})",
    regex.IGNORECASE,
)
_SHAPED_BEHIND = regex.compile(
    r"(?P<area>\s?²|\^2|2(?![\w.,]*\d)|\s(?:carr[ée]s?|cuadrad[oa]s?|quadrad[oa]s?|quadrat[io])\b)"
    r"|\s?³|\^3|3(?![\w.,]*\d)|\s(?:cubes?|c[úu]bicos?|cubi)\b",
    regex.IGNORECASE,
)
_MINUS = str.maketrans("−", "-")
_LITRES = 1000.0  # in a cubic metre
_BITS = regex.compile(r"[KMGT]b")
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
DEGREES = frozenset({"celsius", "fahrenheit", "degrees"})
MONEY = frozenset({"euro", "dollar", "pound", "yen", "franc", "crown", "zloty", "rupee", "yuan"})
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
_AROUND = regex.compile(
    rf"(?:^|(?<=[\s(—–~≈-]))(?:{ROUGH})"
    r"\s*(?:(?:the|an?|il|el|le|la|l['’]|die|der|das|de|het|o)\s+)?[$€£]?\s*$",
    regex.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it is said.

    Attributes:
        values: What it may mean: more than one where a separator can be read two ways.
        unit: Family of its unit (`time`, `bytes` …), `clock`, `version`, `ordinal`, or "".
        factor: Size of the unit in the family's smallest.
        start: Place of its first character; `end` after its last.
        text: As written, unit included.
        loose: Whether it is only said about ("about 2,000").
        version: The version's digits, for a version.
        noun: Stem of the word that follows a number without a unit.
    """

    values: tuple[float, ...]
    unit: str = ""
    factor: float = 1.0
    start: int = 0
    end: int = 0
    text: str = ""
    loose: bool = False
    version: str = ""
    noun: str = ""

    @property
    def measures(self) -> tuple[float, ...]:
        """The values in the family's smallest unit."""
        return tuple(round(value * self.factor, 9) for value in self.values)


FOR_ONE = regex.compile(
    r"\s?\p{L}{1,40}+(?:\s?/\s?\p{L}|\s(?:per|pro|par|por|al|each|an?)\s)", regex.IGNORECASE
)
"""What behind a number says that so many are for one: "5 plants per m"."""


def with_known_digits(text: str) -> str:
    """Return text with one sign each for digits that patterns match and Python cannot read.

    The `regex` package knows a newer Unicode than Python does.
    """
    if text.isascii():
        return text
    return _DIGIT.sub(lambda match: match[0] if match[0].isdecimal() else _NO_DIGIT, text)


def is_unit(word: str) -> bool:
    """Whether a word is the name of a unit."""
    return fold(word) in _UNITS


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
        _clock_phrases,
        _clocks,
        _powers,
        _parts,
        _fortnights,
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
        hour, minutes, seconds = int(match["h"]), int(minute or 0), int(match["s"] or 0)
        half = match["half"] or _half_of_day(text, match.start())
        half = half if hour <= 12 else None  # "19:00 am Tor"
        if half:
            hour = hour % 12 + (12 if half.casefold() == "p" else 0)
        at = hour * 60 + minutes + seconds / 60
        exact = half is not None or hour >= 13
        values = (at,) if exact else (at, at + 720)
        yield Quantity(values, "clock", 1, *match.span(), match[0].strip())


def _half_of_day(text: str, start: int) -> str | None:
    """Return which half of the day is said right before a time, as Chinese and others do."""
    if right_before(_MORNING, text, start):
        return "a"
    return "p" if right_before(_AFTERNOON, text, start) else None


def _clock_phrases(text: str) -> Iterator[Quantity]:
    for said in spoken_clocks(text):
        yield Quantity(said.values, "clock", 1, said.start, said.end, text[said.start : said.end])


def _powers(text: str) -> Iterator[Quantity]:
    """Yield powers of ten and two: "10^6", "3 x 10⁻⁵", "2**10"."""
    for match in _POWER.finditer(text):
        raised = unicodedata.normalize("NFKC", match["power"] or match["raised"])
        power = int(raised.translate(_MINUS))
        value = float(match["times"] or 1) * float(match["base"] or 10) ** power
        yield _with_unit(text, (value,), match.start(), match.end(), "")


def _parts(text: str) -> Iterator[Quantity]:
    for said in spoken_parts(text):
        family, factor = _UNITS.get(fold(said.unit), ("", 0.0))
        if family:
            loose = right_before(_AROUND, text, said.start) is not None
            span = text[said.start : said.end]
            yield Quantity(said.values, family, factor, said.start, said.end, span, loose)


def _fortnights(text: str) -> Iterator[Quantity]:
    for match in _FORTNIGHT.finditer(text):
        yield Quantity((14.0,), "time", 86400.0, *match.span(), match[0])
    for match in _FIFTEEN_DAYS.finditer(text):  # how French and Spanish say two weeks
        yield Quantity((15.0, 14.0), "time", 86400.0, *match.span(), match[0])


def _digits(text: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text):
        if len(match["n"] or "") > _MOST_DIGITS:
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
        count = {"twice": 2.0, "thrice": 3.0}[match[1].casefold()]
        yield Quantity((count,), "", 1, *match.span(), match[0], noun="time")
    for match in _ONE_AND.finditer(text):
        family, factor = _UNITS[match["unit"].casefold()]
        yield Quantity((1.0,), family, factor, *match.span(), match[0])


def _han_counts(text: str) -> Iterator[Quantity]:
    for match in _HAN_COUNT.finditer(text):
        tens = (_HAN_NUMBERS.get(match["tens"], 1) * 10) if match["ten"] else 0
        value = tens + _HAN_NUMBERS.get(match["one"], 0)
        family, factor = _UNITS[fold(match["unit"])]
        yield Quantity((float(value),), family, factor, *match.span(), match[0])


def _ordinals(text: str) -> Iterator[Quantity]:
    for match in _TENTH_AND.finditer(text):  # "eighty-third" is no eighty
        tens = next(spoken_numbers(match["tens"])).values[0]
        value = tens + _ORDINALS[match["one"].casefold()]
        yield Quantity((value,), "ordinal", 1, *match.span(), match[0])
    for match in _SINGLE.finditer(text):
        number = _ORDINALS.get(match[1].casefold(), 0)
        if number > 2 and not _is_fraction(text, match.start()):
            yield Quantity((float(number),), "ordinal", 1, *match.span(), match[0])


def _is_fraction(text: str, start: int) -> bool:
    return right_before(_COUNTED, text, start) is not None


def _with_unit(text: str, values: tuple[float, ...], start: int, end: int, sign: str) -> Quantity:
    loose = bool(right_before(_AROUND, text, start) or _OR_SO.match(text, end))
    if sign:
        return _with_sign(text, values, start, end, sign, loose=loose)
    energy = _ENERGY.match(text, end)
    torque = _TORQUE.match(text, end)
    shaped = _SHAPED.match(text, end)
    after = energy or torque or _PER_CENT.match(text, end)
    after = after or _UNIT_AFTER.match(text, shaped.end() if shaped else end)
    if after is None:
        return Quantity(values, "", 1, start, end, text[start:end], loose)
    written = after[0].lstrip(" \u00a0\u202f-").replace(" ", "")
    # In notes "28 C" is a temperature; a lower-case letter may be anything.
    word = f"°{written.lower()}" if written in ("C", "F") else fold(written)
    if energy:
        word = f"{(energy[1] or '').lower()}wh"
    elif torque:
        word = "nm"
    if word in _SUFFIXES and word not in ("k", "m"):
        scaled = tuple(value * _SUFFIXES[word] for value in values)
        return _with_unit(text, scaled, start, after.end(), "")
    if word not in _UNITS:  # "600 Metern", "13 flying hours"
        word = word.removesuffix("n") if word.removesuffix("n") in _UNITS else word
        second = _SECOND_WORD.match(text, after.end())
        described = word not in _UNITS and word not in answer_words().function  # no rate "a day"
        if described and second and fold(second[1]) in _UNITS:
            after, word = second, fold(second[1])
    if word in _UNITS and not (word == "an" and values != (1.0,)):  # the French year
        family, factor = ("bits", _UNITS[word][1]) if _BITS.fullmatch(written) else _UNITS[word]
        stop = after.end()
        if family == "length":
            family, factor, stop = _shaped(text, factor, stop, shaped)
        return Quantity(values, family, factor, start, stop, text[start:stop], loose)
    if word in _CENTS:
        hundredths = tuple(value / 100 for value in values)
        return Quantity(hundredths, "", 1, start, after.end(), text[start : after.end()], loose)
    word = word[:1] if _HAN_WORD.fullmatch(word) else word  # "2枚だけで"
    noun = stem(word) if word.isalpha() else ""
    return Quantity(values, "", 1, start, end, text[start:end], loose, noun=noun)


def _shaped(
    text: str, factor: float, end: int, before: regex.Match[str] | None
) -> tuple[str, float, int]:
    """Return the unit that a length is part of (m², cubic metres), its size and its end."""
    behind = None if before else _SHAPED_BEHIND.match(text, end)
    shape = before or behind
    if shape is None:
        return "length", factor, end
    end = behind.end() if behind else end
    return ("area", factor**2, end) if shape["area"] else ("volume", factor**3 * _LITRES, end)


def _with_sign(
    text: str, values: tuple[float, ...], start: int, end: int, sign: str, *, loose: bool
) -> Quantity:
    """Return an amount of money, scaled by the word behind it: "€1.5 million"."""
    family, factor = _UNITS[sign]
    large = _LARGE_BEHIND.match(text, end)
    if large:
        scale = _SUFFIXES[fold(large[1])]
        values, end = tuple(value * scale for value in values), large.end()
    return Quantity(values, family, factor, start, end, text[start:end].strip(), loose)


def _values(digits: str) -> tuple[float, ...]:
    """Return what digits may mean: `1.260` is 1260 or 1.26, `18,500` is 18500, `2,5` is 2.5."""
    plain = regex.sub(r"[ \u00a0\u202f'’]", "", digits)
    readings = []
    if regex.fullmatch(r"[1-9]\d{0,2}(?:[.,]\d{3})+", plain):
        readings.append(regex.sub(r"[.,]", "", plain))
    if regex.fullmatch(r"\d+", plain):
        readings.append(plain)
    elif regex.fullmatch(r"\d+[.,]\d+", plain):
        if not (readings and "," in plain):
            readings.append(plain.replace(",", "."))
    elif not readings:
        last = max(plain.rfind("."), plain.rfind(","))
        readings.append(f"{regex.sub(r'[.,]', '', plain[:last])}.{plain[last + 1 :]}")
    return tuple(dict.fromkeys(float(reading) for reading in readings))


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
