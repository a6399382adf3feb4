"""Numbers in Chinese letters, as Chinese and Japanese write them: 十四万三千, 二十八, 两点半.

Korean ones in Hangul too: 칠십팔만 원, 오후 세 시 반.

In: text. Out: numbers and clock times with the place where they stand, and what is negated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from palace.enforce.quantity import UNITS, Quantity, times_of_day
from palace.text import fold, right_before

_ONES = {letter: value for value, letter in enumerate("零一二三四五六七八九")}
_ONES |= {"〇": 0, "两": 2, "兩": 2}
_KOREAN_ONES = "일이삼사오육칠팔구"
_ONES |= {letter: value for value, letter in enumerate(_KOREAN_ONES, 1)}
_TENS = {"十": 10, "십": 10, **dict.fromkeys("百백", 100), **dict.fromkeys("千천", 1000)}
_MYRIADS = {**dict.fromkeys("万萬만", 10**4), **dict.fromkeys("億亿억", 10**8)}
_ONE = "一二三四五六七八九"
_ANY = "".join(letter for letter in {**_ONES, **_TENS, **_MYRIADS} if letter < "가")
_PIECE = regex.compile(r"\d+(?:[.,]\d+)?|\S")
_THOUSANDS = regex.compile(r",(?=\d{3}(?!\d))")
MONTH = f"(?<![{_ANY}第])(?:十[一二]?|[{_ONE}])"
"""Pattern of the number of a month."""
DAY = f"(?:[二三]?十[{_ONE}]?|[{_ONE}])"
"""Pattern of the number of a day of a month."""
YEAR = f"[〇零{_ONE}]{{4}}"
"""Pattern of a year, letter by letter."""
_NUMBER = regex.compile(f"(?<![{_ANY}第])[{_ONE}两兩十百千][{_ANY}]*")
# What is counted by more than ten; "十分" is very much, and days and months are those of dates.
_COUNTERS = frozenset(
    "元块塊円人名个個件本枚冊册页頁台臺回次歳岁歲层層階楼樓号號倍杯箱袋瓶斤张張片粒颗顆只隻条條双雙匹盒包"
)
_CLOCK = regex.compile(
    rf"(?<![{_ANY}\d])(?P<h>二?十[{_ONE}]?|[{_ONE}两兩])(?P<mark>[点點時时])(?![间間])"
    rf"(?:(?P<full>[钟鐘整])|(?P<m>[二三四五]?十[{_ONE}]?|零?[{_ONE}]|\d{{1,2}})分"
    rf"|(?P<half>半)|(?P<quarter>[一三])刻)?"
)
_KOREAN_PIECE = f"[{_KOREAN_ONES}]?[십백천만억]"
# "만 원" is ten thousand, but 만일 is "if".
_KOREAN = regex.compile(
    rf"(?<![\p{{Hangul}}\d])(?:{_KOREAN_PIECE}(?:{_KOREAN_PIECE}| (?=[{_KOREAN_ONES}]))*"
    rf"[{_KOREAN_ONES}]?(?= ?(?:원|명|달러|유로))"
    rf"|(?=[{_KOREAN_ONES}십백천만억]{{2}})(?![십백천만억]일)(?:{_KOREAN_PIECE}){{1,8}}[{_KOREAN_ONES}]?"
    r"(?= ?(?:개|년|월|일|분|살|세|층|권|회|번|퍼센트|킬로|미터)))"
)
_KOREAN_HOURS = "한 두 세 네 다섯 여섯 일곱 여덟 아홉 열 열한 열두".split()
_KOREAN_CLOCK = regex.compile(
    rf"(?<!\p{{Hangul}})(?P<h>{'|'.join(sorted(_KOREAN_HOURS, key=len, reverse=True))}) ?시(?! ?간)"
    rf"(?: ?(?:(?P<m>\d{{1,2}}|[{_KOREAN_ONES}]?십?[{_KOREAN_ONES}]?) ?분|(?P<half>반)))?"
)
# "不做", "没有", "まだ来ていない"; 不过 is "but", 不到 "less than", and しかない leaves one thing.
_NEGATION = regex.compile(
    r"(?<![对對差])不(?!过(?![敏期来去])|過(?![敏期来去])|[同仅僅久错錯少便管断斷但然如止料锈论論到超足满滿]|好意思)"
    r"|[没沒]有?(?![关關错錯问問])|未(?![来來婚])|(?<=\p{Hiragana})(?:ません|なかった|ない(?!\p{Han}))"
)
_NO_NEGATION = regex.compile(
    r"(?:なければ|なくては|ないと|なきゃ)(?:なり|なら|いけ)(?:ません|ない)"
    r"|かもしれ(?:ません|ない)|しか\p{L}{0,8}?(?:ません|ない)|すみません|違いない"
)
_HOURS = 24
_MORNING = regex.compile(r"(?:上午|早上|凌晨|午前|오전|새벽|아침)\s?$")
_AFTERNOON = regex.compile(r"(?:下午|晚上|傍晚|午後|오후|저녁|밤)\s?$")


@dataclass(frozen=True, slots=True)
class HanNumber:
    """A number in Chinese letters.

    Attributes:
        value: The number.
        start: Place of its first character; `end` after its last.
        sure: Whether it can hardly be anything else: of "十分" it is not.
        counts: Whether it stands before what is counted.
    """

    value: float
    start: int
    end: int
    sure: bool
    counts: bool = False


def han_value(text: str) -> float:
    """Return the value of a number in Chinese letters, digits or both: 4万5 is 45,000.

    Args:
        text: A number and nothing else.
    """
    pieces = _PIECE.findall(text)
    if all(piece in _ONES for piece in pieces):
        return float("".join(str(_ONES[piece]) for piece in pieces))
    total = section = current = 0.0
    last, said = 1, False
    for piece in pieces:
        if piece in _TENS:
            section, last = section + (current if said else 1) * _TENS[piece], _TENS[piece]
            current, said = 0.0, False
        elif piece in _MYRIADS:
            many = section + current or float(not total)  # a bare 만 are ten thousand
            total, last = total + many * _MYRIADS[piece], _MYRIADS[piece]
            section = current = 0.0
            said = False
        elif piece in "零〇":
            last = 1
        else:
            digits = _THOUSANDS.sub("", piece).replace(",", ".")  # "2,300万"
            current, said = float(_ONES.get(piece, 0) or digits), True
    tail = pieces[-1] in _ONES or (len(pieces[-1]) == 1 and pieces[-1].isdigit())
    if said and tail and last > 1:  # "两千五" are 2,500
        current *= last / 10
    return round(total + section + current, 6)


def han_numbers(text: str) -> Iterator[HanNumber]:
    """Yield numbers in Chinese letters, those of dates and times too."""
    for match in _NUMBER.finditer(text):
        written, end = match[0], match.end()
        large = len(written) > 1 and written[0] not in "百千" and written[-1] not in "十零〇"
        large &= not {*written}.isdisjoint({*"百千", *_MYRIADS})
        counts = _is_counted(written, text[end : end + 2])
        sure = large or (counts and written != "一")
        yield HanNumber(han_value(written), match.start(), end, sure, counts)
    for match in _KOREAN.finditer(text):
        yield HanNumber(han_value(match[0].replace(" ", "")), *match.span(), sure=True, counts=True)


def _is_counted(written: str, behind: str) -> bool:
    if behind[:1] in _COUNTERS:
        return True
    is_unit = any(fold(unit) in UNITS for unit in {behind, behind[:1]})
    return is_unit and not (written == "十" and behind[:1] == "分")


def han_clocks(text: str, *, all_day: bool = False) -> Iterator[Quantity]:
    """Yield times of day that can hardly be anything else: "三点" alone may be three points.

    Args:
        text: Any text.
        all_day: Whether those are yielded too, and either half of the day is meant by all.
    """
    for match in _CLOCK.finditer(text):
        hour = han_value(match["h"])
        minutes = 30.0 if match["half"] else han_value(match["m"]) if match["m"] else 0.0
        if match["quarter"]:
            minutes = 15 * han_value(match["quarter"])
        half = None if all_day else half_of_day(text, match.start())
        sure = half or (match["mark"] == "時" and match["h"] != "一")
        more = any(match[part] for part in ("full", "m", "half", "quarter"))
        if hour <= _HOURS and (all_day or sure or more):
            yield Quantity(
                times_of_day(hour * 60 + minutes, half), "clock", 1, *match.span(), match[0]
            )
    for match in _KOREAN_CLOCK.finditer(text):
        hour = float(_KOREAN_HOURS.index(match["h"]) + 1)
        minutes = 30.0 if match["half"] else han_value(match["m"]) if match["m"] else 0.0
        half = None if all_day else half_of_day(text, match.start())
        yield Quantity(times_of_day(hour * 60 + minutes, half), "clock", 1, *match.span(), match[0])


def is_negated_there(text: str) -> bool:
    """Whether a clause in Chinese or Japanese has a sign that turns it into its opposite."""
    return not text.isascii() and _NEGATION.search(_NO_NEGATION.sub("", text)) is not None


def without_negation(text: str) -> str:
    """Return a text without those signs, and the 了 in whose place 没 stands: 没做, 做了."""
    return text if text.isascii() else _NEGATION.sub("", text).replace("了", "")


def half_of_day(text: str, start: int) -> str | None:
    """Return which half of the day is said right before a time, as Chinese and others do."""
    if right_before(_MORNING, text, start):
        return "a"
    return "p" if right_before(_AFTERNOON, text, start) else None
