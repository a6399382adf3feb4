"""Months: their names, their days, and words in small letters that may be one.

In: a day, or a text and the place of a word such as "may". Out: whether there is such a day, and
whether a day or a year beside the word makes it a month: "3 may" and "mar 9" are days.
"""

from __future__ import annotations

from datetime import date

import regex

from palace.text.late_patterns import late

_ROMANCE = (
    "janvier enero janeiro gennaio",
    "février febrero fevereiro febbraio",
    "mars marzo março",
    "avril abril aprile",
    "mai mayo maio maggio",
    "juin junio junho giugno",
    "juillet julio julho luglio",
    "août agosto",
    "septembre septiembre setembro settembre",
    "octobre octubre outubro ottobre",
    "novembre noviembre novembro",
    "décembre diciembre dezembro dicembre",
)
_OTHERS = (
    "january jan januar januari janv ene genn январь января январе jänner",
    "february feb februar februari févr февраль февраля феврале",
    "march mar märz maart mrt март марта марте",
    "april apr avr abr апрель апреля апреле",
    "may mei май мая мае",
    "june jun juni июнь июня июне",
    "july jul juli juil июль июля июле",
    "august aug augustus август августа августе",
    "september sep sept sett сентябрь сентября сентябре",
    "october oct oktober okt октябрь октября октябре",
    "november nov ноябрь ноября ноябре",
    "december dec dezember dez dic декабрь декабря декабре",
)
_POLISH_SWEDISH_TURKISH = (
    "styczeń stycznia styczniu ocak",
    "luty lutego lutym şubat şubatta",
    "marzec marca marcu mart martta",
    "kwiecień kwietnia kwietniu nisan nisanda",
    "maj maja maju mayıs mayısta",
    "czerwiec czerwca czerwcu haziran haziranda",
    "lipiec lipca lipcu temmuz temmuzda",
    "augusti sierpień sierpnia sierpniu ağustos ağustosta",
    "wrzesień września wrześniu eylül eylülde",
    "październik października październiku ekim ekimde",
    "listopad listopada listopadzie kasım kasımda",
    "grudzień grudnia grudniu aralık aralıkta",
)
MONTH_NAMES = tuple(
    tuple(" ".join(names).split())
    for names in zip(_ROMANCE, _OTHERS, _POLISH_SWEDISH_TURKISH, strict=True)
)
"""The names of each month, whole and cut, from January on."""
NO_MONTH = "Mei"
"""A name when written so: Dutch months have no capital."""
SMALL_MONTHS = frozenset({"may", "march", "mar", "mars", "mai", "dec", "jan", "sep"})
"""Words that are months with a capital, and in small letters only beside a day or a year."""

DATED_MONTHS = frozenset({"maj", "Maj", "maja", "Maja", "marca", "Marca", "mart", "Mart"})
"""Months that are a name or a word elsewhere in either case ("marca" is a brand, Maja a woman, MAJ
a French update): they are months only beside a day or a year."""

_BLANK = r"[ \t\u00A0\u202F]"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?:19|20)\d\d(?!\w)"
_LOOK_BACK_CHARS = 40

# "3", "3rd", "1er", "1º", "3.", "10-12" and "3./4." before a month, perhaps with "of" or "de".
_DAY_BEFORE = late(
    rf"(?<![\w.,:/@+$€£#-])(?:\d{{1,2}}\.?-|\d{{1,2}}\./)?{_DAY}"
    rf"(?:(?P<ordinal>st|nd|rd|th|er|º)|(?P<point>\.))?"
    rf"(?P<link>{_BLANK}(?:of|de))?{_BLANK}{{1,3}}$"
)
# What tells that a day follows; before its number a line or a sentence may begin, too.
_INTRODUCING = (
    r"(?<!\w)(?:on|since|until|till|by|before|after|from|dated|mon|tue|wed|thu|fri|sat|sun|\w+day)"
    rf",?{_BLANK}+$"
)
_DAY_INTRODUCED = late(
    rf"{_INTRODUCING}|(?:^|[\n.!?;:(|>#*•]|(?:^|\n)[ \t]*-){_BLANK}*$", regex.IGNORECASE
)
_MONTH_INTRODUCED = late(_INTRODUCING, regex.IGNORECASE)
_SUBJECT_BEFORE = late(
    rf"(?<!\w)(?:i|we|you|he|she|it|they|that|which|who){_BLANK}+$", regex.IGNORECASE
)
_DAY_OR_YEAR_BEHIND = late(
    rf"{_BLANK}{{1,3}}(?:(?P<year>{_YEAR})|{_DAY}(?P<ordinal>st|nd|rd|th)?(?:[-–]{_DAY})?)"
    r"(?![\w%€£$/'’+-]|[.,:]\d)"
)
# With or without their accents; some of the cut ones are other words elsewhere.
_WHOLE_BEHIND = "|".join(" ".join(_ROMANCE).split()).translate(
    {ord("é"): "[eé]", ord("û"): "[uû]", ord("ç"): "[cç]"}
)
_MONTH_BEHIND = late(
    rf"{_BLANK}*(?:de )?(?:{_WHOLE_BEHIND}"
    r"|ene|feb|mar|abr|apr|may|mag|jun|giu|jul|lug|ago|sep|set|oct|ott|nov|dic)(?!\w)",
    regex.IGNORECASE,
)
# The sentence goes on with no word, or with one that nothing is counted or done by.
_NO_WORD = late(rf"{_BLANK}*(?!{_BLANK})(?![\p{{L}}'’])")
_SMALL_WORD = late(
    rf"{_BLANK}+(?:on|in|at|for|and|with|from|the|this|my|our|his|her|their|i|we|he|she|they|you|it"
    r"|was|were|is|did|do|does|had|when|what|who|where|how|why|which|about|because|but|so|last"
    r"|next|until|till|before|after|since|of)(?!\w)",
    regex.IGNORECASE,
)
_JOINING_WORD = late(rf"{_BLANK}+(?:to|or)(?!\w)(?! (?:may|might)(?!\w))", regex.IGNORECASE)
_DONE = late(
    rf"{_BLANK}+(?:be|not|have|also|well|still|even|only|just|never|now|yet|soon|require|need|take"
    r"|come|go|get|want|fail|break|seem|look|sound|suffice|apply|help|cause|include|contain|change"
    r"|differ|happen|become|cost|work|use|make|do)(?!\w)",
    regex.IGNORECASE,
)
_BARS = late(rf"{_BLANK}+bars?(?!\w)", regex.IGNORECASE)


def exists(year: int | None, month: int, day: int | None) -> bool:
    """Whether there is such a day, or such a month; without a year, in a leap year."""
    try:
        date(2000 if year is None else year, month, 1 if day is None else day)
    except ValueError:
        return False
    return True


def is_dated(text: str, start: int, end: int) -> bool:
    """Whether one of these words, from `start` to `end` of a text, is the month of a day.

    Behind a day it is one, but "may" and "march" are words of English and have to be told from
    "step 3 may fail" and "3 march routes". Before a day it is one where nothing is counted: "may 3"
    and "march 20, 2026" are, "it may 3 times fail" and "march 20 km" are not.
    """
    word = text[start:end].lower()
    if day := _DAY_BEFORE.search(text, max(0, start - _LOOK_BACK_CHARS), start):
        return _is_behind_day(text, word, day, end)
    found = _DAY_OR_YEAR_BEHIND.match(text, end)
    if found is None:
        return False
    if (
        word in {"mai", "mars"} or word in DATED_MONTHS
    ):  # no language that has these puts the day behind them
        return bool(found["year"])
    behind = found.end()
    if word in {"mar", "sep", "dec"}:  # "mar 3 mars" is a Tuesday
        return not _MONTH_BEHIND.match(text, behind)
    if word in {"may", "march"} and _stands_before(_SUBJECT_BEFORE, text, start):
        return False
    return bool(
        _NO_WORD.match(text, behind)
        or _SMALL_WORD.match(text, behind)
        or (found["ordinal"] and not text.startswith(" part", behind))
        or _stands_before(_MONTH_INTRODUCED, text, start)
    )


def _is_behind_day(text: str, word: str, day: regex.Match[str], end: int) -> bool:
    if word not in {"may", "march"}:
        return word != "mars" or not _BARS.match(text, end)
    if day["point"]:  # the end of a sentence, or the number of an item
        return False
    if day["link"] or _NO_WORD.match(text, end):
        return True
    if word == "may" and _DONE.match(text, end):
        return False
    return bool(
        _SMALL_WORD.match(text, end)
        or _JOINING_WORD.match(text, end)
        or day["ordinal"]
        or _stands_before(_DAY_INTRODUCED, text, day.start())
    )


def _stands_before(pattern: regex.Pattern[str], text: str, place: int) -> bool:
    return pattern.search(text, max(0, place - _LOOK_BACK_CHARS), place) is not None
