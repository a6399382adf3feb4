"""Numbers and clock times in words: "two and a half", "vier Uhr nachmittags", "half a minute".

In: text. Out: what is said and where; English, German, French, Spanish, Portuguese,
Italian, Dutch, Russian and Turkish.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

import regex

from palace.enforce.quantity import Quantity, of_units

_LINES = {
    "en": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen",
    "de": "- zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn"
    " sechzehn siebzehn achtzehn neunzehn",
    # "seize" is an English word
    "fr": "- deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze -"
    " dix-sept dix-huit dix-neuf",
    "es": "- dos tres cuatro cinco seis siete ocho nueve diez - doce trece catorce quince dieciséis"
    " diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro"
    " veinticinco veintiséis veintisiete veintiocho veintinueve",
    "pt": "- dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze"
    " dezasseis dezassete dezoito dezanove",
    # "due" and "sei", "once" and "een" are mostly other words
    "it": "- - tre quattro cinque - sette otto nove dieci undici dodici tredici quattordici"
    " quindici sedici diciassette diciotto diciannove",
    "nl": "- twee drie vier vijf zes zeven acht negen tien - twaalf dertien veertien vijftien"
    " zestien zeventien achttien negentien",
    "ru": "- два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать"
    " четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать",
    # "on" is an English word: 11 to 19 are listed below
    "tr": "- iki üç dört beş altı yedi sekiz dokuz",
    # of so many
    "ru_of": "- двух трёх четырёх пяти шести семи восьми девяти десяти одиннадцати двенадцати",
}
_TENS_LINES = (
    "twenty thirty forty fifty sixty seventy eighty ninety",
    "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "vingt trente quarante cinquante soixante - quatre-vingt -",
    "- treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
    "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто",
    # "Elli" is a name
    "yirmi otuz kırk - altmış yetmiş seksen doksan",
)
_HUNDREDS_LINES = (
    "doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos"
    " novecientos",
    "doscientas trescientas cuatrocientas quinientas seiscientas setecientas ochocientas"
    " novecientas",
    "duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos",
    "duzentas trezentas quatrocentas quinhentas seiscentas setecentas oitocentas novecentas",
    "двести триста четыреста пятьсот шестьсот семьсот восемьсот девятьсот",
)
_PLAIN_LETTERS = str.maketrans(
    {"ö": "o", "ü": "u", "é": "e", "ê": "e", "ë": "e", "ó": "o", "ß": "ss", "ı": "i", "ş": "s"}
)


def _numbered(line: str, step: int = 1, start: int = 1) -> dict[str, int]:
    return {w: n * step for n, w in enumerate(line.split(), start) if w != "-"}


ENGLISH_NUMBERS = _numbered(_LINES["en"])
"""The numbers from one to nineteen in English."""
_SINGLE = {"zero": 0, "null": 0, "cien": 100, "duas": 2, "две": 2, "трех": 3, "четырех": 4}
_SINGLE |= {"dezesseis": 16, "dezessete": 17, "dezenove": 19}
_SINGLE |= {word: n for line in _LINES.values() for word, n in _numbered(line).items()}
_SINGLE |= {f"on {word}": 10 + n for word, n in {"bir": 1, **_numbered(_LINES["tr"])}.items()}
_WRITTEN_TENS = {
    "quatre-vingts": 80,
    **{word: n for line in _TENS_LINES for word, n in _numbered(line, 10, 2).items()},
}
# Ones and tens as they are written together: "einundzwanzig", "ventuno", "éénentwintig".
_GERMAN, _ITALIAN, _DUTCH = (_numbered(_TENS_LINES[n], 10, 2) for n in (1, 5, 6))
_GERMAN_ONES = {"ein": 1, **_numbered(_LINES["de"].split(" zehn")[0])}
_DUTCH_ONES = {"een": 1, "één": 1, **_numbered(_LINES["nl"].split(" tien")[0])}
_ITALIAN_ONES = {"due": 2, "tré": 3, "sei": 6, **_numbered(_LINES["it"].split(" dieci")[0])}
_ITALIAN_OTTO = {"uno": 1, "un": 1, "otto": _ITALIAN_ONES.pop("otto")}
_JOINED = (
    (_GERMAN_ONES, "und", _GERMAN),
    (_DUTCH_ONES, "en", _DUTCH),
    (_DUTCH_ONES, "ën", _DUTCH),
    (_ITALIAN, "", _ITALIAN_ONES),
    ({tens[:-1]: n for tens, n in _ITALIAN.items()}, "", _ITALIAN_OTTO),
)


def _plain(table: dict[str, int]) -> dict[str, int]:
    """Return a table that knows its words without their signs too ("fünf", "funf")."""
    return {**{w.translate(_PLAIN_LETTERS): n for w, n in table.items()}, **table}


_ONES = _plain(_SINGLE) | {
    f"{first}{joint}{last}".translate(_PLAIN_LETTERS): n + m
    for firsts, joint, lasts in _JOINED
    for first, n in firsts.items()
    for last, m in lasts.items()
}
_TENS = _plain(_WRITTEN_TENS)
_HUNDREDS = {
    "ciento": 100,
    "cento": 100,
    "сто": 100,
    **dict.fromkeys(("yüz", "yuz"), 100),
    **{word: n for line in _HUNDREDS_LINES for word, n in _numbered(line, 100, 2).items()},
}
# Hundreds and thousands as Italian writes them together: "duemilacinquecento", "centottanta".
_ITALIAN_PIECES = {
    **_numbered(_LINES["it"]),
    **_ITALIAN,
    **{tens[:-1]: n for tens, n in _ITALIAN.items()},
    **_ITALIAN_ONES,
    **_ITALIAN_OTTO,
}
# And as German and Dutch do: "sechshundertvierzig", "tweeduizend".
_HUNDREDS_TOGETHER = {"tausend": 1000, "duizend": 1000, "hundert": 100, "honderd": 100}
_LARGE = {"hundred": 100, "dozen": 12, "thousand": 1000, "million": 1e6, "billion": 1e9,
          "hundert": 100, "tausend": 1000, "mille": 1000, "honderd": 100, "duizend": 1000,
          "cento": 100, "mil": 1000,
          **dict.fromkeys(("тысяча", "тысячу", "тысячи", "тысяч"), 1000)}  # fmt: skip
_AFTER_ONES = {
    "cent": 100,
    "cents": 100,
    "yüz": 100,
    "yuz": 100,
    "bin": 1000,
    "milyon": 1e6,
    "mila": 1000,  # alone a name
    **_LARGE,
}  # "cent" alone is a coin


def _any_of(*tables: dict[str, int] | dict[str, float]) -> str:
    return "|".join(sorted({word for table in tables for word in table}, key=len, reverse=True))


_ITALIAN_LARGE = rf"(?:{_any_of(_ITALIAN_PIECES)}|cento?|mila|mille){{2,7}}(?!\p{{L}})"
_GERMANIC_PIECES = {
    "ein": 1,
    "een": 1,
    **_plain({**_numbered(_LINES["de"]), **_GERMAN, **_numbered(_LINES["nl"]), **_DUTCH}),
}
# Every word below a thousand, those too that are a number only beside others: "on iki".
_BELOW_THOUSAND = {
    "on": 10,
    **_GERMANIC_PIECES,
    **_ITALIAN_PIECES,
    **_HUNDREDS,
    **_TENS,
    **_ONES,
}
_GERMANIC_LARGE = (
    rf"(?=\p{{L}}*(?:{_any_of(_HUNDREDS_TOGETHER)}))"
    rf"(?:{_any_of(_GERMANIC_PIECES, _HUNDREDS_TOGETHER)}|und|en|ën){{2,9}}(?!\p{{L}})"
)
_ONE = "|".join(
    [
        _ITALIAN_LARGE,
        _GERMANIC_LARGE,
        *(
            f"(?:{_any_of(_plain(first))}){joint}(?:{_any_of(_plain(last))})"
            for first, joint, last in _JOINED
        ),
        _any_of(_plain(_SINGLE)),
    ]
)
_SMALL = (
    rf"(?:(?:{_any_of(_TENS)})(?:[\s-]+(?:(?:and|et|y|e)\s+)?(?:{_ONE})(?!\squarter))?(?!\p{{L}})"
    rf"|(?:{_ONE})(?!\p{{L}}))"
)
_BASE = (
    rf"(?:(?:(?:{_any_of(_HUNDREDS)})\s+(?:e\s+)?)?{_SMALL}|(?:{_any_of(_HUNDREDS)})(?!\p{{L}}))"
)
_ENGLISH = "|".join(w for w in (*_LINES["en"].split(), *_TENS_LINES[0].split()) if w != "six")
_MORE = (
    rf"(?:(?!bin\sich\b)(?!cents?\b(?<=\b(?:{_ENGLISH})\s+cents?))(?:{_any_of(_AFTER_ONES)})"
    rf"(?!\p{{L}})(?:[\s-]+(?:(?:and|e)\s+)?{_BASE})?)"
)
_RUN = (
    rf"(?:{_BASE}(?:[\s-]+{_MORE})*|(?:{_any_of(_LARGE)})(?!\p{{L}})(?:[\s-]+(?:(?:and|e)\s+)?{_BASE})?"
    rf"(?:[\s-]+{_MORE})*)"
)
_WORDS = regex.compile(
    rf"(?<![\p{{L}}\d'’-])(?!(?-i:Otto)(?!\p{{L}}))(?P<before>half\s+a\s+|(?P<few>a\s+few\s+|several\s+|ein\s+paar\s+|einige\s+)|a\s+)?(?P<run>{_RUN})"
    r"(?P<tail>\s+and\s+(?:a|one|three)\s+(?:half|quarters?)|-and-a-half)?(?![\p{L}\d'’]|\sbuçuk)",
    regex.IGNORECASE,
)
_TAILS = {"a quarter": 0.25, "one quarter": 0.25, "three quarter": 0.75, "three quarters": 0.75}
_JOINERS = frozenset({"and", "et", "y", "e"})
_A_QUARTER = frozenset({"a", "one", "un", "um"})
_HALVES = regex.compile(
    r"\b(?<!other\s)(?P<half>half)\s+an?\s+(?P<unit>\p{L}+)"
    r"|\b(?P<quarters>a|one|three)\s+quarters?\s+of\s+an?\s+(?P<unit>\p{L}+)"
    r"|\b(?:an?|one)\s+(?P<unit>\p{L}+)\s+"
    r"(?P<more>and\s+(?:a\s+half|(?P<fourths>(?:a|three)\s+quarters?)))\b"
    r"|\b(?P<quarters>un|um|tres|três|tre|trois)\s+(?:cuartos?|quart(?:os?|i|s)?)\s+d(?:[ei]\s+|['’])(?P<unit>\p{L}+)"
    r"|\b(?P<half>halbe[nrs]?|demi|demie|medi[ao]|mei[ao]|mezz[ao])[\s-](?P<unit>\p{L}+)"
    r"|\b(?P<half>mezz)['’](?P<unit>ora)|\b(?P<half>пол)-?(?P<unit>часа?|года|литра|минуты|месяца)\b"
    r"|\b(?P<more>anderthalb|eineinhalb|полтор[аы]|полутора)\s+(?P<unit>\p{L}+)",
    regex.IGNORECASE,
)
# "dos horas y media", "два с половиной часа"; the word before the unit may be no number.
_HALF_SAID = regex.compile(r"\s(?:demie?|medi[ao]|mei[ao]|mezz[ao]|половиной)\b", regex.IGNORECASE)
_AND_HALF = regex.compile(
    r"(?<!\p{L})(?:(?P<whole>\p{L}+|[2-9])\s+)?(?P<unit>\p{L}+)\s+"
    r"(?:et\s+demie?|y\s+medi[ao]|e\s+m(?:ei|ezz)[ao])\b"
    r"|(?<!\p{L})(?P<whole>\p{L}+|[2-9])\s+с\s+половиной\s+(?P<unit>\p{L}+)",
    regex.IGNORECASE,
)
_METRE_SAID = regex.compile(r"\sm(?:etre|eter|ètre|etro)s?\s", regex.IGNORECASE)
_METRES = regex.compile(
    rf"\b(?:an?|one|1|une?|eine?n?|(?P<whole>[2-9]|{_BASE}))\s+m(?:etre|eter|ètre|etro)s?\s+(?P<n>\d{{2}}|{_BASE})"
    r"(?!\s*(?:\p{L}*met|cm|mm|km))",
    regex.IGNORECASE,
)
# "un kilo trescientos", "due chili e duecento": and so many grams.
_GRAMS = 100
_KILO_SAID = regex.compile(r"\b(?:quilos?|kilos?|chil[oi])\s", regex.IGNORECASE)
_KILOS = regex.compile(
    rf"\b(?P<whole>uno?|um|due|[2-9]|{_BASE})\s+(?:quilos?|kilos?|chil[oi])\s+(?:(?:y|e)\s+)?"
    r"(?P<n>[1-9]\d\d(?!\d)|\p{L}*(?:ci?ent|nient|zent|hent)\p{L}*(?:\s+(?:e\s+)?cin[cq]uenta)?)(?!\p{L})",
    regex.IGNORECASE,
)
# "an hour fifty", "une heure vingt"; a unit behind makes it two spans.
_HOUR_SAID = regex.compile(r"\b(?:hours?|heures?|horas?|or[ae])\s", regex.IGNORECASE)
_HOURS_AND = (
    rf"\b(?:an|one|1|une?|una?|uma|(?P<whole>[2-9]|{_BASE}))\s+(?:hours?|heures?|horas?|or[ae])\s+"
    rf"(?:(?:y|e)\s+)?(?P<n>[1-5]\d|{_BASE})(?!\s*[-\d:.,]*\s*(?:\p{{L}}*min|m\b|sec|s\b|h\b|hour|day|%))"
)
_HOURS = {word: n for word, n in _ONES.items() if 1 <= n <= 12}
_HOURS |= {"una": 1, "due": 2, "sei": 6, "once": 11, "elf": 11}
_HOUR = (
    r"(?P<hour>(?<![\d:.,])\d{1,2}(?![\d:.,]\d)"
    rf"|(?<![\p{{L}}-])(?:{_any_of(_HOURS)})(?![\p{{L}}-]))"
)
_ARTICLE = r"\b(?:[aà]s|a\s+las?|las?|alle|le|dalle|um)\s+"
_AM = (
    r"in\s+the\s+morning|morgens|vormittags|früh|du\s+matin|de\s+la\s+ma[nñ]ana|da\s+manh[aã]"
    r"|del\s+mattino|di\s+mattina|'s\s+ochtends|'s\s+morgens"
)
_PM = (
    r"in\s+the\s+(?:afternoon|evening)|nachmittags|abends|de\s+l['’]apr[eè]s-midi|du\s+soir"
    r"|de\s+la\s+tarde|da\s+tarde|del\s+pomeriggio|di\s+sera|'s\s+middags|'s\s+avonds"
)
_NIGHT = r"at\s+night|nachts|de\s+la\s+noche|da\s+noite|di\s+notte|'s\s+nachts"
_DAYPART = rf"(?:(?P<am>{_AM})|(?P<pm>{_PM})|(?P<night>{_NIGHT}))\b"
_QUARTER = (
    r"(?P<half>et\s+demie|y\s+media|e\s+m(?:eia|ezza))"
    r"|(?P<past>et\s+quart|y\s+cuarto|e\s+(?:quinze|un\s+quarto))"
    r"|(?P<to>moins\s+le\s+quart|menos\s+cuarto|meno\s+un\s+quarto)"
)
_PAST_HOUR = regex.compile(rf"\s+(?:{_QUARTER})\b", regex.IGNORECASE)
_CLOCKS = (
    r"(?P<part>half(?=\s)(?:\s+an\s+hour)?|(?:a\s+)?quarter|(?<!\b(?:from|between)\s)(?<!-)(?:five|ten|twenty|twenty-five"
    rf"|(?:\d{{1,2}}|{_BASE})\s+min(?:ute)?s?))\s+(?P<way>past|to|after|before)\s+{_HOUR}"
    rf"(?!\s*[-%\d]|\s+(?:min|hour|sec|day|week|month|year|per|in\s+an?\b))(?:\s+{_DAYPART})?",
    rf"(?<!\b(?:from|between)\s)\b(?P<part>\d{{1,2}})\s+(?P<way>to|before|after)\s+{_HOUR}\s+{_DAYPART}",
    rf"\b(?P<part>\d{{1,2}}|{_BASE})\s+(?P<way>past)\s+{_HOUR}(?!\s*[-%\d])(?:\s+{_DAYPART})?",
    rf"\b(?P<part>viertel|fünf|zehn|zwanzig)\s+(?P<way>vor|nach)\s+{_HOUR}(?:\s+{_DAYPART})?",
    rf"\b(?P<part>halb)\s+{_HOUR}(?:\s+{_DAYPART})?",
    rf"\b(?P<part>half)(?<=\b(?:at|by|from|until|till|to|before|after|around)\shalf)\s+{_HOUR}"
    rf"(?![\w:%]|\s+(?:hours?|days?|an?|of|the)\b)(?:\s+{_DAYPART})?",
    rf"{_HOUR}\s+heures?\s+(?:(?P<way>moins)\s+)?(?P<part>{_BASE}|le quart)(?:\s+{_DAYPART})?",
    r"(?!one,|(?<=\b(?:first|second|third|last|other|next|this|that|the)\s)one\b)"  # a pronoun
    rf"{_HOUR}(?:\s+(?:uhr|heures?|o['’]clock))?(?:\s+(?:{_QUARTER}))?,?\s+{_DAYPART}",
    rf"{_HOUR}\s+(?:uhr|o['’]clock)\b",
    rf"{_ARTICLE}{_HOUR}\s+(?P<way>menos|meno|moins|y|e|et)\s+(?P<part>{_BASE}|un quarto|mezzo"
    rf"|mezza|cuarto|media|meia)(?!\s*\p{{L}}*\s*(?:de|di)\s\p{{L}}*(?:o|bre|ro)\b)(?:\s+{_DAYPART})?",
    rf"\b(?P<part>kwart|vijf|tien|twintig)\s+(?P<way>over|voor)\s+{_HOUR}(?:\s+{_DAYPART})?",
    rf"(?<!\b(?:from|between)\s)\b(?:(?P<part>half\s+an\s+hour|(?:a\s+)?quarter|{_BASE}(?:\s+min(?:ute)?s?)?)"
    r"\s+(?P<way>past|to|after|before)\s+)?(?P<noon>noon|midday|midnight|(?<!\bdel\s)mediod[ií]a|medianoche|meio-dia|meia-noite|mezzogiorno|mezzanotte"
    r"|полдень|полночь)\b",
    rf"{_HOUR}\s+час(?:а|ов)?\s+(?:(?P<am>утра)|(?P<pm>дня|вечера)|(?P<night>ночи))\b",
    rf"{_HOUR}\s+(?:(?P<am>утра)|(?P<pm>вечера))\b",
)
# A text without one of these says no time in words.
_CLOCK_WORDS = regex.compile(
    r"past|half|quarter|o['’]clock|noon|midday|midnight|mediod[ií]a|medianoche|mei[oa]-(?:dia|noite)"
    r"|mezz(?:ogiorno|anotte)"
    r"|полдень|полночь|утра|дня|вечера|ночи|[ \u00a0]Uhr|heure|viertel|halb|kwart"
    rf"|\b(?:[ao] las?|[aà]s )|alle |{_AM}|{_PM}|{_NIGHT}"
    r"|(?:five|ten|twenty|min(?:ute)?s?|fünf|zehn|zwanzig|vijf|tien|twintig)"
    r"\s(?:to|before|after|vor|nach|voor|over)\s",
    regex.IGNORECASE,
)
_PARTS = {
    "halb": -30,
    **dict.fromkeys(("half", "half an hour", "mezzo", "mezza", "media", "meia"), 30),
    **dict.fromkeys(("quarter", "a quarter", "viertel", "kwart", "cuarto"), 15),
    **dict.fromkeys(("un quarto", "le quart"), 15),
}
_MIDNIGHTS = frozenset({"midnight", "medianoche", "meia-noite", "mezzanotte", "полночь"})
_BEFORE = frozenset({"to", "before", "vor", "voor", "menos", "meno", "moins"})


@lru_cache(maxsize=512)
def spoken_numbers(text: str) -> tuple[Quantity, ...]:
    """Return numbers in words."""
    return tuple(map(_spoken_number, _WORDS.finditer(text)))


def _spoken_number(match: regex.Match[str]) -> Quantity:
    value = _value(match["run"])
    tail = (match["tail"] or "").casefold()
    value += _TAILS.get(" ".join(tail.split()[1:]), 0.5 if tail else 0.0)
    if (match["before"] or "").casefold().startswith("half"):
        value /= 2
    few = match["few"] and match["run"].casefold() in _LARGE
    values = tuple(value * n for n in range(2, 10)) if few else (value,)
    return Quantity(values, "", 1.0, *match.span(), match[0])


def spoken_parts(text: str) -> Iterator[Quantity]:
    """Yield parts of a unit: "half a minute", "an hour and a half", "a metre forty"."""
    for match in _METRES.finditer(text) if _METRE_SAID.search(text) else ():
        hundredths, metres = _amount(match["n"]), _amount(match["whole"] or "1")
        if 10 <= hundredths < 100:
            yield from of_units(match, "m", metres + hundredths / 100)
    for match in _KILOS.finditer(text) if _KILO_SAID.search(text) else ():
        kilos, grams = _amount(match["whole"]), _amount(match["n"])
        if _GRAMS <= grams < 10 * _GRAMS:
            yield from of_units(match, "kg", (kilos or 1.0) + grams / 1000)
    for match in _compiled(_HOURS_AND).finditer(text) if _HOUR_SAID.search(text) else ():
        hours = _amount(match["whole"] or "1") + _amount(match["n"]) / 60
        yield from of_units(match, "h", hours)
    for match in _AND_HALF.finditer(text) if _HALF_SAID.search(text) else ():
        yield from of_units(match, match["unit"], (_amount(match["whole"] or "") or 1.0) + 0.5)
    for match in _HALVES.finditer(text):
        value = 1.5 if match["more"] else 0.5
        if match["fourths"]:
            value = 1.75 if match["fourths"].casefold().startswith("three") else 1.25
        if match["quarters"]:
            value = 0.25 if match["quarters"].casefold() in _A_QUARTER else 0.75
        yield from of_units(match, match["unit"], value)


@cache
def _compiled(pattern: str) -> regex.Pattern[str]:
    """Return what times in words look like; compiled for the first text that may hold one."""
    return regex.compile(pattern, regex.IGNORECASE)


def spoken_clocks(text: str) -> Iterator[Quantity]:
    """Yield clock times in words, in minutes; both halves of the day where it is left open."""
    if not _CLOCK_WORDS.search(text):
        return
    for pattern in map(_compiled, _CLOCKS):
        for match in pattern.finditer(text):
            minutes = _minutes(match.groupdict())
            if minutes is not None:
                yield Quantity(minutes, "clock", 1.0, *match.span(), match[0])


def _minutes(said: dict[str, str | None]) -> tuple[float, ...] | None:
    if said.get("noon"):
        middle = 0.0 if str(said["noon"]).casefold() in _MIDNIGHTS else 720.0
        return ((middle + _shift(said)) % 1440,)
    word = str(said["hour"]).casefold()
    hour = int(word) if word.isdigit() else _HOURS[word]
    if hour > 24:
        return None
    shift = _shift(said)
    if said.get("am"):
        return (((hour % 12) * 60.0 + shift) % 1440,)
    if said.get("pm") or (said.get("night") and 6 <= hour < 12):
        return (((hour % 12 + 12) * 60.0 + shift) % 1440,)
    at = hour * 60.0 + shift
    return (at % 1440,) if hour > 12 else (at % 1440, (at + 720) % 1440)


def _shift(said: dict[str, str | None]) -> float:
    """Return the minutes past the hour that is named, below zero before it."""
    part = " ".join((said.get("part") or "").casefold().split())
    if part:
        word = regex.sub(r"\s*min(?:ute)?s?$", "", part)
        minutes = float(_PARTS.get(word) or _amount(word))
        return -minutes if (said.get("way") or "").casefold() in _BEFORE else minutes
    return (
        30.0 if said.get("half") else 15.0 if said.get("past") else -15.0 if said.get("to") else 0.0
    )


def minutes_past(text: str, end: int) -> float:
    """Return the minutes that stand behind an hour: 30 of "et demie", below 0 before it, else 0."""
    match = _PAST_HOUR.match(text, end)
    return _shift(match.groupdict()) if match else 0.0


def _amount(text: str) -> float:
    """Return the value of a number in digits or in words."""
    return float(text) if text.isdigit() else _value(text)


def _value(run: str) -> float:
    """Return the value of "two hundred and fifty", "thirty-one", "quatre-vingt-dix"."""
    total = current = 0.0
    said = regex.sub(r"quatre-vingts?", "quatrevingt", run.casefold().strip())
    for word in regex.split(r"[\s-]+", said.translate(_PLAIN_LETTERS)):
        if word in _JOINERS:
            continue
        factor = _AFTER_ONES.get(word)
        if factor is None:
            current += 80 if word == "quatrevingt" else _below_thousand(word)
        elif word in _HUNDREDS and not current:
            current = 100.0
        elif factor >= 1000:
            total, current = total + (current or 1.0) * factor, 0.0
        else:
            current = (current or 1.0) * factor
    return total + current


def _below_thousand(word: str) -> float:
    """Return the value of one word; some languages write larger ones together too."""
    if word in _BELOW_THOUSAND:
        return _BELOW_THOUSAND[word]
    for large, size in _HUNDREDS_TOGETHER.items():
        many, found, rest = word.partition(large)
        if found:
            rest = rest.removeprefix("und").removeprefix("en")
            return (_below_thousand(many) or 1) * size + _below_thousand(rest)
    thousands, mila, rest = word.partition("mila")
    if mila or word.startswith("mille"):
        value = _below_thousand(thousands) if mila else 1
        return value * 1000 + _below_thousand(rest if mila else word.removeprefix("mille"))
    hundreds, cent, rest = word.partition("cent")
    if not cent:
        return 0
    below = _below_thousand(rest) or _below_thousand(rest.removeprefix("o"))
    return (_below_thousand(hundreds) or 1) * 100 + below
