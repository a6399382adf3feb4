"""A place or a person of one thing in Chinese, Japanese and Korean: another one contradicts it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.pairs import judged, load_pairs, table
from palace import Conflict, Mempalace
from palace.learn.conflict import find_conflicts
from palace.learn.held import held_in
from tests.doubles import memory

EAST = load_pairs(Path(__file__).parents[2] / "benchmarks" / "data" / "pairs_east.jsonl")


def conflicts(new: str, stored: str) -> list[str]:
    return [differs for _, differs in find_conflicts(new, [memory(stored, 1)])]


@pytest.mark.parametrize(
    ("stored", "new", "differs"),
    [
        ("我们的牙医在南京路。", "我们的牙医在北京路。", "stored: 南京路; new: 北京路"),
        ("爷爷住在苏州。", "爷爷搬到无锡了。", "stored: 苏州; new: 无锡"),
        ("房東是孫先生。", "房東換成了錢女士。", "stored: 孫先生; new: 錢女士"),
        ("田中さんは大阪に住んでいる。", "田中さんは京都に住んでいる。", "stored: 大阪; new: 京都"),
        ("妹の夫は健太という。", "妹の夫は翔太といいます。", "stored: 健太; new: 翔太"),
        ("담당자는 현우다.", "담당자는 민지다.", "stored: 현우; new: 민지"),
        ("팀장은 이수진 씨입니다.", "팀장이 박준호 씨로 바뀌었습니다.", "stored: 이수진 씨; new: 박준호 씨"),
    ],
)  # fmt: skip
def test_another_place_or_person(stored: str, new: str, differs: str) -> None:
    assert conflicts(new, stored) == [differs]
    assert len(conflicts(stored, new)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("钥匙放在抽屉。", "钥匙放在抽屉里。"),  # the same with more words
        ("爷爷住在苏州。", "爷爷在无锡上班。"),
        ("爷爷搬到无锡了。", "爷爷在苏州上班。"),
        ("我在等快递。", "我在等电话。"),
        ("店在装修。", "店在营业。"),
        ("班主任是女老师。", "班主任是陈老师。"),
        ("我不住在上海。", "我不住在杭州。"),
        ("张伟负责前端。", "张伟负责后端。"),
        ("负责人是谁？", "负责人是李明。"),
        ("担任は優しいです。", "担任は山本先生だ。"),
        ("会議は三時にある。", "会議は大会議室にある。"),
        ("兄は銀行で働いている。", "兄はカフェでも働いている。"),
        ("経理は小林さんが担当している。", "経理は加藤さんも担当している。"),
        ("歯医者は駅前にある。", "歯医者は吉田先生だ。"),
        ("수업은 월요일에 있다.", "수업은 본관에 있다."),
        ("팀장은 출근한다.", "팀장은 퇴근한다."),
        ("담당자는 바쁘다.", "담당자는 현우다."),
        ("회계는 지영 씨가 맡고 있다.", "회계는 태현 씨도 맡고 있다."),
    ],
)
def test_both_hold(one: str, other: str) -> None:
    assert conflicts(one, other) == []
    assert conflicts(other, one) == []


def test_the_labelled_pairs_of_three_languages() -> None:
    assert {pair.domain for pair in EAST} == {"zh", "ja", "ko"}
    least = {"east_dev": 1.0, "east_check": 0.95, "east_first_look": 0.95, "east_last_look": 0.6}
    assert {pair.split for pair in EAST} == set(least)
    for split, recall in least.items():
        of_split = [(p, judged(p)) for p in EAST if p.split == split]
        numbers = table(of_split)["conflict"]
        assert numbers["precision"] == 1.0, split
        assert numbers["recall"] >= recall, split


@pytest.mark.parametrize(
    "facts",
    [
        """合唱团的指挥是唐老师。合唱团在文化馆排练。合唱团成立于杭州。合唱团的成员有老人。合唱团去过北京。
        合唱团由文化局资助。合唱团的名字叫百灵。合唱团缺男高音。合唱团的服装放在北楼。合唱团唱民歌。合唱团在招人。
        合唱团的钢琴是姑姑送的。合唱团喜欢周末演出。合唱团的会计是小曹。合唱团搬到南楼了。""",
        """合唱団の指揮は岡田先生です。合唱団は公民館で練習している。合唱団は札幌にある。合唱団の会計は内田さん。
        合唱団は古い歌が好きだ。合唱団には子どももいる。合唱団は京都に行ったことがある。合唱団の楽譜は棚に入っている。
        合唱団は男声が足りない。合唱団の衣装は叔母が縫っている。合唱団はポプラという名前だ。合唱団は市が支えている。
        合唱団の会場は図書館です。合唱団は有名だ。合唱団は秋に発表会を開く。""",
        """합창단 지휘자는 문 선생님이에요. 합창단은 주민센터에서 연습한다. 합창단은 대전에 있다. 합창단 총무는 우진이다.
        합창단은 옛 노래를 좋아한다. 합창단에는 아이들도 있다. 합창단은 부산에 가 본 적이 있다. 합창단 악보는 서랍에 있다.
        합창단은 남자가 부족하다. 합창단 옷은 고모가 만든다. 합창단 이름은 종달새다. 합창단은 시가 지원한다.
        합창단 장소는 도서관이다. 합창단은 유명하다. 합창단은 가을에 공연을 한다.""",
    ],
)
def test_facts_about_one_thing_never_retire_each_other(facts: str) -> None:
    told = re.findall(r"[^\s.。][^.。]+[.。]", facts)
    assert len(told) == 15
    for fact in told:
        held = [memory(text, n) for n, text in enumerate(told) if text != fact]
        assert find_conflicts(fact, held) == []


def test_what_is_no_such_statement_holds_nothing() -> None:
    for text in ("", "The dentist is in Bath.", "谁在家？", "は", "에", "在", "是。" * 200):
        assert held_in(text) is None


def test_a_write_asks_which_of_two_places_is_so(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        palace.remember("予備の鍵は引き出しに入っている。")
        result = palace.remember("予備の鍵は玄関の棚に入っている。")
        assert isinstance(result, Conflict)
        moved = palace.remember("予備の鍵は玄関の棚に入っている。", on_conflict="supersede")
        assert palace.get(moved.memory.id).status == "active"
        assert palace.get(result.memory.id).status != "active"
