"""A number as it is said: what it may mean, its unit, and where it stands.

In: what a reader of digits, words or Chinese letters found. Out: values that can be compared,
whatever the writing; each unit belongs to a family and is so many of the smallest of that family,
areas and volumes included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from palace.text import fold

# Unit -> (family, how many of the family's smallest unit).
_UNIT_LINES = """
time 0.001 ms millisecond milliseconds millisekunden
time 1 sek s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondo
time 1 secondi seconden 秒
time 60 min mins minute minutes minuten minuto minutos minuti minuut minutig 分 分钟 分間 минута
time 60 минуту минуты минут 分鐘 분
time 3600 std h hr hrs hour hours stunde stunden heure heures hora horas ora ore uur uren hourly
time 3600 stundlich stundig 小时 時間 час часа часов 小時 시간
time 86400 d day days tag tage tagen jour jours dia dias giorno giorni gg dag dagen night nights nts
time 86400 nuits noches nacht nachte tagig arbeitstag arbeitstage arbeitstagen werktag werktage
time 86400 werktagen werkdag werkdagen день дня дней 天 日間 박 泊 晚
time 604800 week weeks wk wks woche wochen semaine semaines semana semanas settimana settimane weken
time 604800 wochig 週 週間 неделя неделю недели недель 周 hafta
time 60 dakika dk
time 3600 saat
time 86400 gun
time 1209600 fortnight fortnights
months 1 mth mths mnd mo mos month months monat monate monaten mois mes meses mese mesi maand
months 1 maanden monatig месяц месяца месяцев 個月 개월 个月 か月 ヶ月 カ月 ヵ月
months 12 year years yr yrs jahr jahre jahren an ans annee annees ano anos anno anni jaar jaren jr
months 12 jahrig года лет 年間 yil
months 1 ay
months 3 quarter-year
months 120 decade decades
percent 1 % percent percento prozent pourcent porciento porcento procent pct процент процента
percent 1 процентов 퍼센트 ％
euro 1 eur euro euros евро 欧元 歐元 유로 €
dollar 1 $ usd dollar dollars dollari dolares доллар доллара долларов 美元 달러
mass 0.001 mg milligram milligrams мг 毫克
mass 1000 kg kilo kilos kilogram kilograms kilogramm chilo chili quilo quilos кг 公斤 千克
mass 0.000001 ug mcg microgram micrograms mikrogramm microgrammes microgramos microgrammi μg
mass 1 g gram grams gramme grammes gramm gramos gramas grammi грамм грамма граммов
mass 100 ons etto etti
mass 28.349523 oz ounce ounces
mass 453.59237 lb lbs
mass 100000 quintale quintali
mass 1000000 tonne tonnes tonnen tonnellate toneladas
length 1000 km kilometre kilometres kilometer kilometers kms kmh chilometri quilometros kilometros
length 1000 kph км 公里
length 0.01 cm centimetre centimetres centimeter centimeters zentimeter centimetri centimetros см
length 0.01 厘米
length 0.000001 micron microns micrometre micrometres micrometer micrometers mikrometer μm
length 0.001 mm millimetre millimetres millimeter millimeters millimetri milimetros
length 1 m metre metres meter meters metro metros metri
length 1609.344 mile miles mi mph
length 0.3048 ft foot feet
length 0.9144 yd yard yards
length 0.0254 inch inches
volume 0.001 ml millilitre millilitres milliliter milliliters мл 毫升
volume 0.1 dl
volume 0.01 cl
volume 1 l litre litres liter liters litro litros litri
volume 100 hl
volume 3.785412 gal gallon gallons
volume 1000 cbm kubikmeter kubikmetern
bits 1000 kbit kbits kbps kilobit kilobits
bits 1000000 mbit mbits mbps megabit megabits
bits 1000000000 gbit gbits gbps gigabit gigabits
bytes 1 byte bytes
bytes 1000 kb kib kilobyte kilobytes
bytes 1000000 mb mib megabyte megabytes
bytes 1000000000 gb gib gigabyte gigabytes
bytes 1000000000000 tb tib terabyte terabytes
area 1 sqm qm quadratmeter quadratmetern
area 0.09290304 sqft
area 10000 ha hectare hectares hektar
celsius 1 celsius °c
fahrenheit 1 fahrenheit °f
degrees 1 degree degrees grad degres grados gradi graus graden °
pound 1 gbp pound pounds £
yen 1 jpy yen ¥ 円
franc 1 chf sfr franken franc francs franchi
crown 1 kr sek nok dkk krona kronor krone kroner kronen
zloty 1 zl pln zloty zlotys zlotych
rupee 1 inr rupee rupees
yuan 1 cny rmb yuan 元 块 塊
lira 1 tl lira liraya lirasi liradir try ₺
won 1 krw won 원
volt 1 v volt volts
volt 0.001 mv
volt 1000 kv
watt 1 w watt watts
watt 1000 kw kilowatt kilowatts
charge 1 ah
charge 0.001 mah
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
UNITS = {
    word: (line.split()[0], float(line.split()[1]))
    for line in _UNIT_LINES.strip().splitlines()
    for word in line.split()[2:]
}
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
DEGREES = frozenset({"celsius", "fahrenheit", "degrees"})
MONEY = frozenset("euro dollar pound yen franc crown zloty rupee yuan lira won".split())
DAY_SECONDS = 86_400.0
_LITRES = 1000.0  # in a cubic metre
_MOST_COUNTED = 12
# What stands behind the number of a house, a floor or a room, as "Room" does before it.
_IN_A_ROW = frozenset("동층호号號楼樓层層階室番栋棟厅廳")
_BITS = regex.compile(r"[KMGT]b")


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


def times_of_day(minutes: float, half: str | None = None) -> tuple[float, ...]:
    """Return what a time in minutes may mean: before 13:00 either half of the day if none is said.

    Args:
        minutes: After midnight, or after noon.
        half: "a", "p" or nothing.
    """
    if half:
        return (minutes % 720 + (720 if half.casefold() == "p" else 0),)
    return (minutes,) if minutes >= 780 else (minutes, minutes + 720)


def is_unit(word: str) -> bool:
    """Whether a word is the name of a unit."""
    return fold(word) in UNITS


def is_small(said: Quantity) -> bool:
    """Whether a number may be the count of a reader: whole, at most a dozen, of things or days."""
    whole = said.values[0].is_integer() and said.values[0] <= _MOST_COUNTED
    return whole and said.noun[:1] not in _IN_A_ROW and (not said.unit or is_of_days(said))


def is_of_days(said: Quantity) -> bool:
    """Whether a number is one of days, weeks, months or years."""
    return said.unit == "months" or (said.unit == "time" and said.factor >= DAY_SECONDS)


def before_length(text: str, end: int) -> regex.Match[str] | None:
    """Return the word behind a number that makes an area or a volume of a length."""
    return _SHAPED.match(text, end)


def unit_of(
    word: str, written: str, text: str, end: int, before: regex.Match[str] | None
) -> tuple[str, float, int]:
    """Return the family of a unit, its size in the smallest of that and its end in the text.

    Args:
        word: As the table has it.
        written: As it is written: "Gb" are bits.
        text: The text.
        end: Where the word ends in it.
        before: What `before_length` found before the word.
    """
    family, factor = UNITS[word]
    if _BITS.fullmatch(written):
        return "bits", factor, end
    behind = None if before else _SHAPED_BEHIND.match(text, end)
    shape = before or behind
    if family != "length" or shape is None:
        return family, factor, end
    end = behind.end() if behind else end
    return ("area", factor**2, end) if shape["area"] else ("volume", factor**3 * _LITRES, end)


def of_units(match: regex.Match[str], unit: str, *values: float) -> Iterator[Quantity]:
    """Yield so many of a unit where they are said, if the word for it is one."""
    family, factor = UNITS.get(fold(unit), ("", 0.0))
    if family:
        yield Quantity(values, family, factor, *match.span(), match[0])
