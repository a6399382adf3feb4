"""Numbers, dates, times and names of people as Chinese, Japanese and Korean write them."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from palace.enforce.dates import find_dates
from palace.enforce.grounding import AnswerCheck
from palace.enforce.han import han_value
from palace.enforce.quantities import find_quantities
from tests.doubles import evidence

DAY = datetime(2026, 12, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("十", 10),
        ("二十八", 28),
        ("一百二十", 120),
        ("两千", 2000),
        ("两千五", 2500),
        ("三千零五", 3005),
        ("八万五千", 85_000),
        ("十四万三千", 143_000),
        ("4万5", 45_000),
        ("8万5千", 85_000),
        ("14.3万", 143_000),
        ("1万2000", 12_000),
        ("3億2千万", 320_000_000),
        ("二〇二七", 2027),
    ],
)
def test_a_number_in_chinese_letters_has_its_value(text, value):
    assert han_value(text) == value


@pytest.mark.parametrize("text", ["十分好", "千万不要", "万一", "三点建议", "第三百", "一时"])
def test_letters_of_other_words_are_no_number(text):
    assert find_quantities(text) == []


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("十二月二十八日", (None, 12, 28)),
        ("二月二号", (None, 2, 2)),
        ("二〇二七年五月一日", (2027, 5, 1)),
        ("2027年五月1日", (2027, 5, 1)),
    ],
)
def test_a_date_in_chinese_letters_is_read(text, day):
    assert [(d.year, d.month, d.day) for d in find_dates(text)] == [day]


@pytest.mark.parametrize(
    ("memory", "good", "bad"),
    [
        (
            "引っ越しは来年2月12日。見積もり143,000円。",
            ["二月十二日に引っ越します。", "見積もりは十四万三千円です。", "14万3千円です。"],
            ["引っ越しは二月二日です。", "見積もりは十四万二千円です。"],
        ),
        (
            "王医生12月17日下午3:30复诊,门诊三楼。",
            ["12月17号下午三点半在门诊3楼找王医生。", "复诊是十二月十七日15:30。"],
            ["12月17号下午四点半复诊。", "12月17日找汪医生。"],
        ),
        (
            "预算14.3万元,厨房4万5,卫生间2.8万。工期约70天。",
            ["厨房45,000元。", "厨房和卫生间一共7.3万元。", "总预算是十四万三千元,工期七十天。"],
            ["总预算是十三万四千元。", "厨房是5万4。", "工期七十五天。"],
        ),
        (
            "饺子馅:猪肉400克。四个人吃,大约60个。",
            ["能包六十个,平均一人十五个左右。"],
            ["能包八十个。"],
        ),
        ("工期7天内完成。", ["一周内完成。"], ["两周内完成。"]),
        (
            "부산 출장 12월 3일~5일, 1박 13만 원. 담당자 김민수 과장.",
            ["숙박비는 2박에 총 26만 원입니다.", "담당자는 김민수 과장님입니다."],
            ["부산 출장은 12월 4일부터 5일까지입니다.", "담당자는 김민호 과장님입니다."],
        ),
        (
            "冷蔵庫の修理、担当は中村和夫さん。",
            ["担当は中村和夫さんです。", "担当中村さんです。", "和夫さんです。"],
            ["担当は中田和夫さんです。", "担当は中村一夫さんです。"],
        ),
        (
            "검수는 10월 3일 오후 3시, 담당자는 정수진. 견적은 68만 원.",
            [
                "담당자는 정수진 씨이고 10월 3일 오후 세 시입니다.",
                "육십팔만 원입니다.",
                "680,000원입니다.",
                "1인당 68만 원입니다.",
            ],
            [
                "오후 네 시입니다.",
                "칠십팔만 원입니다.",
                "만 원입니다.",
                "담당자는 정수민 씨입니다.",
                "담당자는 김수진 님입니다.",
            ],
        ),
        (
            "项目验收定在11月20日，负责人是周敏，房东陈阿姨。",
            ["负责人是周敏。", "负责人是周敏，房东是陈阿姨。"],
            ["负责人是王敏。", "验收负责人：李伟。"],
        ),
        ("Zhou Min is in charge of the audit.", ["负责人是周敏。"], []),
        (
            "土地は8千万円、頭金は5百万円。",
            ["八千万円です。", "80,000,000円で、頭金は500万円です。"],
            ["8千円です。", "頭金は5千万円です。"],
        ),
        (
            "営業中村さんに電話する。",
            ["担当中村さんに電話します。"],
            ["担当中田さんに電話します。"],
        ),
    ],
)
def test_dense_writing_holds_and_its_neighbours_do_not(memory, good, bad):
    check = AnswerCheck([evidence(memory, as_of=DAY)], memory[:4])
    for answer, holds in [*((a, True) for a in good), *((a, False) for a in bad)]:
        assert check.check(answer).supported == holds, answer
