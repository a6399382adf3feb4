"""Two statements in writing without blanks that are the same but for a value: 10月3日, 10月5日.

In: a text. Out: what it says around its values, and these; and whether two of them contradict each
other. Only what follows a value closely may follow: of "会议室3在二楼" the number says which room.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import NamedTuple

from palace.text.late_patterns import late

_DENSE = late(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_WEEKDAY = r"(?:星期|礼拜|禮拜|[周週])[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일"
_UNITS = (
    r"年|月|日|[号號](?![\p{Han}])|[点點](?!\p{Han}*[是在])|[时時](?!代)|分|[岁歲歳才]|元|円|[块塊圆圓]|人|名|[个個]|度"
    r"|[%％]|公里|公斤|米|キロ|センチ|년|월|일|시(?!간?에서)|분|살|원|명|개|번(?!째)|퍼센트|센티|킬로"
)
_DAY = late(_WEEKDAY)
_HAN_NUMBER = (
    rf"(?<![第一二三四五六七八九十百千])[〇零一二两兩三四五六七八九十百千万萬億亿]+(?={_UNITS})"
)
_KOREAN_NUMBER = (
    r"(?<!\p{Hangul})(?:한|두|세|네|다섯|여섯|일곱|여덟|아홉|열(?:한|두)?)"
    r"(?=\s?(?:시|살|명|개|번)(?!째))"
)
VALUE = late(
    rf"(?P<day>{_WEEKDAY})|(?<![第제]|\p{{Latin}})\d+(?:[.,:/-]\d+)*\s?[万萬億亿千百만억천]*"
    rf"|{_HAN_NUMBER}|{_KOREAN_NUMBER}"
)
_MARK, _DAY_MARK = "\ue000", "\ue001"
_BLANKS = late(r"\s+")
_ENDS = " 。.!！"
# What is over, unless it tells of a change that lasts.
_TOLD = late(r"[了过過]|(?:た|だ)(?:よ|ね)?$|[았었였했됐갔왔]\p{Hangul}{0,3}$")
_CHANGED = late(
    r"[改换換变變推提移]\p{Han}{0,2}[到至成为為在]|定[在为為于]|変わ[っり]|なっ|なりまし|決ま[っり]|変更|延期"
    r"|바뀌었|변경|정했|정해졌|미뤄졌|하기로"
)
# What may stand behind the last value that differs: its unit and a word or two, no new topic.
_BEHIND = late(
    rf"(?:(?:{_UNITS})+(?:\ue000(?:{_UNITS})+)*|[楼樓层層階층](?=$)|(?=$|です|だ$|である|이다|입니다|이에요|예요|야$|[^\p{{L}}\p{{N}}]))"
    r"(?![はがも是在有은는]|가[^\p{L}])[^\ue000\ue001]{0,8}$"
)
_CLOCK_BEHIND = late(r"[^はが是在은는\ue000\ue001]{0,8}$")
_BETWEEN = late(rf"(?:{_UNITS}|[上下]午|午[前後]|오[전후]|[^\p{{L}}\p{{N}}]){{0,4}}")
# What joins a value to what it is told of, and says the same: "在星期二", "改到星期四了".
_JOINS = late(
    r"(?:[改换換变變推提移][为為成到在迟遲前]?[到至]?|定[在为為于]|[是在为為])(?=[\ue000\ue001])|(?<=[\ue000\ue001]\p{Han}{0,2})了$"
    r"|(?:に(?:変わっ|なっ|決まっ|変更\p{Hiragana}{1,3}|延期\p{Hiragana}{1,3}|なり)(?:た|ました)|です|だ|である)$"
    r"|(?:으?로(?:바뀌었|변경됐|변경되었|미뤄졌|정했|정해졌)(?:다|습니다|어요)|이다|입니다|이에요|예요)$"
)
NOW = late(
    r"现在|現在は?、?|目前|如今|(?<=[はが])(?:今|いま)は?、?|^(?:今|いま)は?、|(?:(?<=\s)|^)(?:지금|현재|이제|요즘)[은는]?\s"
)
"""What says that it was otherwise before, and else nothing."""

_LEAST_LETTERS = 2


class Frame(NamedTuple):
    """What a statement says around its values.

    Attributes:
        around: Its words with a mark in the place of each value.
        values: The values in order, as written.
        told: Whether it tells what happened once.
    """

    around: str
    values: tuple[str, ...]
    told: bool


def frame_of(text: str) -> Frame | None:
    """Return what a statement says around its values; None without such letters or values."""
    if text.isascii() or not _DENSE.search(text):
        return None
    plain = NOW.sub("", unicodedata.normalize("NFKC", text)).strip(_ENDS)
    values = tuple(match[0].strip() for match in VALUE.finditer(plain))
    if not values:
        return None
    marked = VALUE.sub(lambda match: _DAY_MARK if match["day"] else _MARK, plain)
    told = bool(_TOLD.search(plain)) and not _CHANGED.search(plain)
    return Frame(_JOINS.sub("", _BLANKS.sub("", marked)), values, told)


def differing(stored: Frame, new: Frame) -> tuple[str, str] | None:
    """Return the values in which two statements contradict each other, None where they do not.

    They say the same around them, and the values stand together, behind what they are told of and
    close to the end.
    """
    if stored.around != new.around or stored.told or new.told:
        return None
    pairs = list(zip(stored.values, new.values, strict=True))
    others = [n for n, (old, now) in enumerate(pairs) if old != now]
    if not others or any(_is_written_otherwise(*pairs[n]) for n in others):
        return None
    places = [n for n, sign in enumerate(new.around) if sign in (_MARK, _DAY_MARK)]
    first, last = others[0], others[-1]
    before, behind = new.around[: places[first]], new.around[places[last] + 1 :]
    between = (new.around[a + 1 : b] for a, b in pairwise(places[first : last + 1]))
    is_day = new.around[places[last]] == _DAY_MARK or ":" in pairs[last][1]
    follows = _CLOCK_BEHIND if is_day else _BEHIND
    if (
        sum(sign.isalpha() for sign in before) < _LEAST_LETTERS
        or not follows.match(behind)
        or not all(map(_BETWEEN.fullmatch, between))
    ):
        return None
    return " ".join(pairs[n][0] for n in others), " ".join(pairs[n][1] for n in others)


def with_day(text: str, new: str) -> str:
    """Return a text with its only day of the week changed to the one that was said, or ""."""
    told, held = (list(_DAY.finditer(said)) for said in (new, text))
    if len(told) != 1 or len(held) != 1 or told[0][0] == held[0][0]:
        return ""
    return f"{text[: held[0].start()]}{told[0][0]}{text[held[0].end() :]}"


def both_hold(stored: Frame, new: Frame) -> bool:
    """Whether statements that say the same around other values may both be true.

    Both tell what happened once, or one value is in digits and the other is not: 3万, 30000.
    """
    if stored.around != new.around or stored.values == new.values:
        return False
    pairs = zip(stored.values, new.values, strict=True)
    return stored.told or new.told or any(_is_written_otherwise(*pair) for pair in pairs)


def _is_written_otherwise(one: str, other: str) -> bool:
    return bool(_DENSE.search(one)) != bool(_DENSE.search(other))
