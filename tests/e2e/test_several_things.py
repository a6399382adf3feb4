"""Who asks for several things is told of all that is known of them, not only of the surest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from palace import AnswerCheck, Mempalace, RetrievalEnforcer
from palace.recall.own_replies import CLOSEST, PERHAPS_MORE, without_own_words

DINNERS = (
    "We had dinner at Trattoria Roma on 3 May, loved the gnocchi.",
    "Dinner at Chez Anna on 5 June with the Bakers, too loud.",
    "On 2 July we had dinner at the Blue Door, great fish.",
    "Dinner with mum at Golden Wok, 12 August.",
)
WALKS = (
    "Hiked the Crag trail with Tom in May.",
    "Hiked Blackwater loop alone in June, 14 km.",
    "In September we hiked up Old Man's Hill.",
)
OTHERS = ("The dentist is Dr. Pell, Market Street.", "The boiler is serviced each October.")
WHERE = "Which restaurants did we have dinner at?"
TRAILS = "What trails have we hiked?"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Mempalace.open(tmp_path / "p") as palace:
        for text in (*DINNERS, *WALKS, *OTHERS):
            palace.remember(text, room="diary")
    return tmp_path / "p"


@pytest.fixture
def enforcer(root: Path) -> Iterator[RetrievalEnforcer]:
    with Mempalace.open(root) as palace:
        yield RetrievalEnforcer(palace)


def test_all_that_is_close_is_named_where_several_things_are_asked_for(enforcer):
    several, one = enforcer.decide(WHERE), enforcer.decide("Where did we have dinner?")
    assert (several.action, one.action) == ("confirm", "confirm")
    assert [text in several.text for text in (*DINNERS, *OTHERS)] == [True] * 4 + [False] * 2
    assert sum(text in one.text for text in DINNERS) == 2


def test_beside_what_answers_stands_what_may_belong_to_it(enforcer):
    verdict = enforcer.decide(TRAILS)
    assert verdict.action == "ground"
    assert [item.text for item in verdict.quoted] == [WALKS[0]]
    assert {item.text for item in verdict.perhaps_more} == set(WALKS[1:])
    sure, _, more = verdict.text.partition(f"\n{PERHAPS_MORE}\n")
    assert WALKS[0] in sure
    assert all(text in more for text in WALKS[1:])


def test_a_reply_without_a_model_says_so_too(root):
    (root / "config").mkdir()
    (root / "config" / "mempalace.yaml").write_text("enforce: {on_hit: answer}\n", "utf-8")
    with Mempalace.open(root) as palace:
        enforcer = RetrievalEnforcer(palace)
        verdict, alone = enforcer.decide(TRAILS), enforcer.decide("Which trail did we hike?")
        assert verdict.action == alone.action == "answer"
        assert [text in verdict.text for text in WALKS] == [True] * 3
        assert alone.text.startswith(WALKS[0])
        assert WALKS[1] not in alone.text
        assert not alone.perhaps_more


def test_the_command_line_shows_them_apart(command):
    for text in (*WALKS, *OTHERS):
        command("remember", text)
    ended = command("ask", TRAILS)
    assert "asks for several things" in command("why").out
    first, _, rest = ended.out.partition("What may belong to it as well:\n")
    assert WALKS[0] in first
    assert all(text in rest for text in WALKS[1:])


def test_our_own_words_are_no_memory():
    said = f"Crag trail. (rooms/diary.md:1)\n{PERHAPS_MORE}\nBlackwater loop. (rooms/diary.md:2)"
    assert without_own_words(said, "Nothing.").split() == "Crag trail. Blackwater loop.".split()
    assert CLOSEST not in without_own_words(f"Nothing. {CLOSEST} x", "Nothing.")


@pytest.mark.parametrize(
    ("answer", "honest"),
    [
        ("Trattoria Roma, Chez Anna, the Blue Door and Golden Wok.", True),
        ("We had dinner at Chez Anna, the Blue Door and Trattoria Roma.", True),
        ("Four times: at Trattoria Roma, Chez Anna, the Blue Door and Golden Wok.", True),
        ("- Trattoria Roma (3 May)\n- Chez Anna (5 June)\n- the Blue Door (2 July)", True),
        ("Trattoria Roma, Chez Anna, the Old Mill and Golden Wok.", False),
        ("Trattoria Roma (5 June) and Chez Anna (3 May).", False),
    ],
)
def test_what_is_gathered_from_several_memories_is_checked_as_a_list(enforcer, answer, honest):
    check = AnswerCheck(enforcer.decide(WHERE).evidence, WHERE, strict=True, mode="flag")
    assert check.check(answer).supported is honest


def test_who_stands_in_another_memory_does_not_belong_to_a_list(tmp_path):
    with Mempalace.open(tmp_path / "p") as palace:
        for text in (
            "Rehearsal on 3 May: Ann Bell, Ben Carr and Dora Finch came.",
            "Rehearsal on 9 June: Cara Holt came alone.",
        ):
            palace.remember(text, room="band")
        asked = "Who came to the rehearsal on 3 May?"
        check = AnswerCheck(RetrievalEnforcer(palace).decide(asked).evidence, asked, mode="flag")
        assert check.check("Ann Bell, Ben Carr and Dora Finch.").supported
        assert not check.check("Ann Bell, Ben Carr and Cara Holt.").supported
