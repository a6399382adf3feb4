"""The same thing twice is a duplicate, another value is a conflict, anything else is neither."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from palace.errors import ModelError
from palace.learn.conflict import MAX_JUDGED, find_conflicts
from palace.learn.dedup import find_duplicate, says_the_same
from palace.types.changes import Relation
from tests.doubles import memory

LONG = (
    "The spare key of the garden shed hangs on the second hook behind the blue door in the hall next"
    " to the old mirror that {} brought home from the market in Lisbon"
)  # fmt: skip


def duplicate(new: str, *stored: str) -> str | None:
    found = find_duplicate(new, [memory(text, n) for n, text in enumerate(stored)])
    return None if found is None else found[0].text


def conflict(new: str, *stored: str) -> tuple[str, str] | None:
    found = find_conflicts(new, [memory(text, n) for n, text in enumerate(stored)])
    return (found[0][0].text, found[0][1]) if found else None


# -- duplicates ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "stored"),
    [
        ("The kettle is blue.", "The kettle is blue."),
        ("the KETTLE is blue", "The kettle is blue!"),
        ("The roof cost 18,000 euros", "The roof cost 18000 euros."),
        ("Die Straße ist gesperrt", "die strasse ist gesperrt"),
        ("数据库在柏林", "数据库在柏林。"),
        (LONG.format("Mira"), LONG.format("Mira") + " indeed"),
    ],
)
def test_the_same_statement(new: str, stored: str) -> None:
    assert duplicate(new, "something else", stored) == stored


@pytest.mark.parametrize(
    ("new", "stored"),
    [
        ("The deposit is EUR 1,200.", "The deposit is 1200 euros."),
        ("The deposit is GBP 40.", "The deposit is £40."),
        ("The deposit is 40 francs.", "The deposit is CHF 40."),
        ("The fee is 5 per cent.", "The fee is 5%."),
        ("The parcel weighs 5 kilograms.", "The parcel weighs 5 kg."),
        ("The hall opens on 14 June 2026.", "The hall opens on 2026-06-14."),
        ("The hall opens on June 14, 2026.", "The hall opens on 2026-06-14."),
        ("Die Halle öffnet am 14.6.2026.", "Die Halle öffnet am 2026-06-14."),
        ("The meeting starts at 3:30 p.m.", "The meeting starts at 15:30."),
        ("The meeting starts at 12 a.m.", "The meeting starts at 0:00."),
        ("Das Treffen ist um 15 Uhr 30.", "Das Treffen ist um 15:30."),
        ("Das Treffen ist um 15 Uhr.", "Das Treffen ist um 15:00."),
        ("Das Treffen ist um 19:30 Uhr.", "Das Treffen ist um 19:30."),
        ("Hello Tom, the gate code is 4417.", "The gate code is 4417."),
        ("La réunion est à 15 h 30.", "La réunion est à 15:30."),
        ("The meeting is at noon.", "The meeting is at 12:00."),
        ("The meeting is on 2026-06-14 at 3 p.m.", "The meeting is on 14 June 2026 at 15:00."),
        ("Le loyer est de 1 200 €.", "Le loyer est de 1200 euros."),
    ],
)
def test_the_same_value_in_another_writing(new: str, stored: str) -> None:
    assert duplicate(new, stored) == stored
    assert duplicate(stored, new) == new
    assert conflict(new, stored) is None


@pytest.mark.parametrize(
    ("new", "stored"),
    [
        ("The deposit is EUR 40.", "The deposit is 50 euros."),
        ("The meeting starts at 9 a.m. sharp.", "The meeting starts at 9 p.m. sharp."),
        ("The hall opens on 14.6.2026.", "The hall opens on 2026-06-15."),
        ("Invoice 2026-114 was paid on 3 March.", "Invoice 2026-114 was paid on 4 March."),
    ],
)
def test_another_value_in_another_writing(new: str, stored: str) -> None:
    assert conflict(new, stored) is not None


def test_another_invoice_is_paid_on_another_day() -> None:
    stored = "Invoice 2026-114 was paid on 3 March."
    assert conflict("Invoice 2026-115 was paid on 4 March.", stored) is None
    assert duplicate("Invoice 2026-115 was paid on 3 March.", stored) is None


@pytest.mark.parametrize(
    ("new", "stored"),
    [
        ("The kettle is blue.", "The lamp is blue."),
        ("The server listens on port 5432", "The server listens on port 5433"),
        ("We ship on 2026-03-14", "We ship on 2026-03-15"),
        ("We ship in March", "We ship in April"),
        ("We do deploy on Fridays", "We do not deploy on Fridays"),
        (LONG.format("Mira") + " in 2020", LONG.format("Mira") + " in 2021"),
        ("", "The kettle is blue."),
        # a false duplicate loses what a person wanted to keep:
        ("Mira reports to Jonas", "Jonas reports to Mira"),
        ("The red cable goes before the blue one", "The blue cable goes before the red one"),
        (LONG.format("Mira"), LONG.format("Jonas")),
        ("The parser is written in C++", "The parser is written in C"),
        ("The parser is written in C#", "The parser is written in C++"),
        ("The offset is -5", "The offset is 5"),
        ("Keep replicas >= 3", "Keep replicas <= 3"),
        ("The fee is 5 €", "The fee is 5 $"),
        ("🙂", "🎉"),
        ("The wiki is at doc.acme.example.", "The wiki is at docs.acme.example."),
        ("The staging server is stage.acme.example", "The staging server is staging.acme.example"),
        ("Settings are read from feature_flag.yaml", "Settings are read from feature_flags.yaml"),
    ],
)
def test_another_statement(new: str, stored: str) -> None:
    assert duplicate(new, stored) is None


def test_nothing_resembles() -> None:
    assert duplicate("The kettle is blue.") is None


def test_the_closest_match_wins() -> None:
    held = ("on Fridays the kettle is blue", "The kettle is blue on Fridays!")
    new = "the kettle is blue on Fridays"
    for texts, match in (((*held, new), "exact"), (held, "normalised"), (held[:1], "near")):
        found = find_duplicate(new, [memory(text, n) for n, text in enumerate(texts)])
        assert found is not None
        assert (found[0].text, found[1]) == (texts[-1], match)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # a word more, another word in a long statement, the same words elsewhere
        ("The band plays on Mondays at 19:30.", "The youth band plays on Mondays at 19:30."),
        ("Bills above 500 euros need two names.", "Bills above 500 euros from us need two names."),
        (LONG.format("Mira"), LONG.format("Mira").replace("blue", "red")),
        ("Hints are in the green binder, not in the blue one",
         "Hints are in the blue binder, not in the green one"),
        # small words that tell something
        ("Children under 12 pay half.", "Children over 12 pay half."),
        ("The shop is open from 9.", "The shop is open until 9."),
        ("The letter is from Mira.", "The letter is to Mira."),
        ("Parking is allowed inside the yard.", "Parking is allowed outside the yard."),
        ("Die Probe ist vor dem Essen.", "Die Probe ist nach dem Essen."),
        ("Mira was the treasurer.", "Mira is the treasurer."),
        ("Mira will be the treasurer.", "Mira is the treasurer."),
        ("I worked at the mill.", "I work at the mill."),
        ("Members can bring guests.", "Members must bring guests."),
        ("She prefers tea.", "He prefers tea."),
        ("I paid Mira.", "Mira paid me."),
        ("We take cash or cards.", "We take cash and cards."),
        ("My desk is by the window.", "Your desk is by the window."),
        ("Her blood group is A+.", "Her blood group is A-."),
    ],
)  # fmt: skip
def test_what_differs_in_a_word_that_tells_something_is_another_statement(
    one: str, other: str
) -> None:
    assert duplicate(one, other) is None
    assert duplicate(other, one) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I have three kids", "I've got 3 kids"),
        ("The gate is always locked at night.", "At night the gate's always locked."),
        ("Members may borrow up to 12 books.", "Up to 12 books may be borrowed by members."),
        ("The boiler must be checked every year.", "The boiler has to be checked every year."),
        ("The mugs are on the shelf.", "The mugs are now on that shelf."),
    ],
)
def test_what_only_sounds_otherwise_is_the_same(one: str, other: str) -> None:
    assert duplicate(one, other) == other
    assert duplicate(other, one) == one


@pytest.mark.parametrize(
    ("said", "stored", "now", "new", "same"),
    [
        ("2026-03-01", "The form is due on 31 July.", "2026-03-02", "31 July 2027", False),
        ("2026-03-01", "The form is due on 31 July 2027.", "2026-03-02", "31 July", False),
        ("2026-03-01", "The form is due on 31 July.", "2026-03-02", "31 July 2026", True),
        ("2025-12-01", "The form is due on 31 July.", "2026-01-02", "31 July 2026", True),
        ("2026-03-01", "The form is due on 31 July.", "2026-03-02", "31 July 2025", True),
        ("2025-12-01", "The form is due on 31 July.", "2026-01-02", "31 July", True),
        ("2026-03-01", "The form is due on 31 July 2029.", "2026-03-02", "31 July 2029", True),
        ("2026-07-31", "The form is due on 31 July.", "2026-08-01", "31 July 2027", False),
        ("2026-03-01", "The form is due on 1 May.", "2026-03-02", "31 July", False),
    ],
)
def test_a_day_without_its_year_is_one_of_the_time_it_is_said_in(
    said: str, stored: str, now: str, new: str, same: bool
) -> None:
    held = replace(memory(stored), created=datetime.fromisoformat(said + "T09:00:00+00:00"))
    at = datetime.fromisoformat(now + "T09:00:00+00:00")
    found = find_duplicate(f"The form is due on {new}.", [held], at=at)
    assert (found is not None) is same


@pytest.mark.parametrize(
    ("period", "said", "now", "same"),
    [
        ("today", "2026-03-02", "2026-03-02", True),
        ("today", "2026-03-02", "2026-03-03", False),
        ("this week", "2026-03-02", "2026-03-06", True),
        ("this week", "2026-03-06", "2026-03-09", False),
        ("this month", "2026-03-02", "2026-03-30", True),
        ("this month", "2026-03-30", "2026-04-02", False),
        ("this year", "2026-03-02", "2026-11-02", True),
        ("this year", "2026-11-02", "2027-01-02", False),
    ],
)
def test_a_day_or_period_means_the_one_it_is_said_in(
    period: str, said: str, now: str, same: bool
) -> None:
    text = f"Mira is on call {period}."
    held = replace(memory(text), created=datetime.fromisoformat(said + "T09:00:00+00:00"))
    at = datetime.fromisoformat(now + "T09:00:00+00:00")
    assert (find_duplicate(text, [held], at=at) is not None) is same
    assert find_duplicate(text, [held]) is not None
    assert find_duplicate(text, [memory(text)], at=at) is not None


def test_a_number_without_its_unit_is_no_day_without_its_year() -> None:
    at = datetime.fromisoformat("2026-03-02T09:00:00+00:00")
    held = replace(memory("The fee is 30."), created=at)
    assert find_duplicate("The fee is 30 euros.", [held], at=at) is not None


# -- conflicts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "stored", "detail"),
    [
        (
            "The staging server listens on port 5432",
            "The staging server listens on port 5433",
            "stored: 5433; new: 5432",
        ),
        (
            "We ship the big release in March",
            "We ship the big release in April",
            None,
        ),
        (
            "We do not deploy the website on Fridays",
            "We do deploy the website on Fridays",
            "stored: it is so; new: it is not so",
        ),
        (
            "We do deploy the website on Fridays",
            "We do not deploy the website on Fridays",
            "stored: it is not so; new: it is so",
        ),
        (
            "The worker image is pinned to v2.0.1 today",
            "The worker image is pinned to v2.0.2 today",
            None,
        ),
        ("We shipped 4.1.0 on 2026-03-05.", "We shipped 4.1.0 on 2026-03-02.", None),
        ("The lease expires on 10 May.", "The lease expires on 17 May.", None),
        ("I moved to Porto", "I live in Lisbon", None),
        ("We live at Garden Road 3", "We live at Elm Street 14, second floor", None),
        ("We switched from Trello to Linear for tasks", "We track our tasks in Trello", None),
        ("We switched from Trello to Linear", "We use Trello for the roadmap", None),
        ("The upload limit is 2 GB", "The upload limit is 20 MB", None),
        ("Remote work is mandatory", "Remote work is optional", None),
        ("The offsite is on 17 June in Dresden", "The offsite is on 3 June in Leipzig", None),
        ("My sister's name is Ilse, not Ilka", "My sister's name is Ilka", None),
        ("The heater is off", "The heater is on", None),
        ("Take the drops after meals", "Take the drops before meals", None),
        ("The fuse box is below the sink", "The fuse box is above the sink", None),
        ("Always book it to 1400", "Never book it to 1400", None),
        ("The hall is 12 ft wide", "The hall is 12 m wide", None),
        ("The wiki is at doc.acme.example.", "The wiki is at docs.acme.example.", None),
        # what changes is told in other words than what held:
        ("We moved the deploys to Thursdays", "Deploys are on Tuesdays", None),
        ("We raised the prices to 14 euros", "The prices are 12 euros", None),
        ("Our sprints are three weeks long now", "Our sprints last two weeks", None),
        ("Photos stay for 30 days", "Photos are kept for 90 days", None),
        ("Hosting went up to 72 euros a month", "Hosting costs 64 euros a month at Acme", None),
        ("Pull requests need two approvals", "Pull requests need one approval", None),
        ("The new checkout is switched off", "The new checkout is enabled", None),
        ("We agreed to write the minutes in English", "We write the minutes in German", None),
        # … and what ends or is so again:
        ("We no longer use Jenkins", "We build with Jenkins", None),
        ("Bea no longer cleans for us", "Bea cleans the flat on Mondays", None),
        ("We stopped getting the newspaper", "We get the newspaper on weekends", None),
        ("I gave up coffee", "I drink coffee in the morning", None),
        ("We sold the caravan", "We own a caravan", None),
        ("We cancelled the Economist", "We subscribe to the Economist", None),
        ("Invoices go to Jens again", "Invoices go to Marta instead of Jens", None),
        ("We're using Trello again", "We've moved from Trello to Linear", None),
        ("We're back to slate for the tiles", "We switched the tiles from slate to oak", None),
    ],
)  # fmt: skip
def test_another_value_for_the_same_thing(new: str, stored: str, detail: str | None) -> None:
    found = conflict(new, "an unrelated text", stored)
    assert found is not None
    assert found[0] == stored
    assert found[1] == detail or detail is None


def test_months_are_named_for_a_person() -> None:
    found = conflict("We ship the big release in March", "We ship the big release in April")
    assert found is not None
    assert "month" not in found[1]


@pytest.mark.parametrize(
    ("new", "stored"),
    [
        ("The kettle is blue.", "The kettle is blue."),
        ("The staging server listens on port 5432", "The garden hose is 20 metres long"),
        ("Room 4 has a blue lamp", "Room 5 has a green rug"),
        ("Mira is 34 years old today", "Jonas is 36 years old today"),
        ("We met Mira Holt 3 times here", "We met Jonas Quill 4 times here"),
        ("Port 5432", "Port 5433"),
        ("The kettle holds 10 litres", "The kettle listens on port 11"),
        ("I like tea", "I like coffee"),
        ("The oven broke down on 30 May", "The oven broke down on 2 May"),
        ("In 2024 I lived in Porto", "In 2019 I lived in Ghent"),
        ("I live 3 km from Porto", "I live 5 km from Ghent"),
        ("I stay at home in the mornings", "I stay at the office in the afternoons"),
        ("My boss is on holiday until Monday", "My boss is Katrin"),
        ("Invoices are due in 14 days unless agreed otherwise", "Invoices are due in 30 days"),
        ("The parallel class has 26 pupils", "Our class has 24 pupils"),
        ("Mira's sister is called Ilse", "My sister is called Ilka"),
        ("Ann paid invoice INV-89 with 410 euros", "Ann paid invoice INV-88 with 300 euros"),
        ("Tom moved server hn-2 to rack 5", "Tom moved server hn-1 to rack 4"),
        ("", "The kettle is blue."),
        ("5432", "5433"),
        ("The staging server listens on port 5432", "The staging server listens on port 5432 too"),
        ("Emil goes to the kindergarten", "Emil is allergic to hazelnuts"),
        ("The room is 3 m wide", "The room is 4 m long"),
        ("The course is 50 euros cheaper for members", "The course costs 200 euros"),
        ("I quit the Saturday bank shifts", "Nel swims on Saturdays"),
        ("We no longer use Jenkins", "We keep the Jenkins logs for a year"),
        ("We no longer use Jenkins", "We know Jenkins well"),
        ("We no longer buy flour", "We sell bread"),
        ("We sold the van", "We bought winter tyres for the van"),
        ("I dropped the kids at school", "We have two kids"),
        ("The Friday deploy failed again", "Deploys moved from Friday to Monday"),
        # What is over is not all that a word of it stands in, nor of somebody else.
        (
            "The boat race was cancelled because Joan broke the keys of the piano.",
            "Joan keeps the keys of the boat house.",
        ),
        (
            "Ben's mother sold the farm in spring and moved to Wells.",
            "The caravan farm near Wells is open in spring.",
        ),
    ],
)
def test_no_conflict(new: str, stored: str) -> None:
    assert conflict(new, stored) is None


# -- a judge ------------------------------------------------------------------------------------

DOUBTFUL = ("I take my coffee with oat milk", "I take my coffee black")
CERTAIN = ("The rent is 900 euros", "The rent is 950 euros")


class ScriptedJudge:
    """Answers as it is told, and keeps what it was asked."""

    def __init__(self, said: Relation | None | ModelError) -> None:
        self.said = said
        self.asked: list[tuple[str, str]] = []

    def judge(self, stored: str, new: str) -> Relation | None:
        self.asked.append((stored, new))
        if isinstance(self.said, ModelError):
            raise self.said
        return self.said


@pytest.mark.parametrize(
    ("pair", "said", "found"),
    [
        (CERTAIN, "conflict", True),
        (CERTAIN, "unrelated", False),
        (CERTAIN, "duplicate", False),
        (CERTAIN, None, True),
        (CERTAIN, ModelError("no answer", hint="try later"), True),
        (DOUBTFUL, "conflict", True),
        (DOUBTFUL, "unrelated", False),
        (DOUBTFUL, None, False),
        (DOUBTFUL, ModelError("no answer", hint="try later"), False),
    ],
)
def test_a_judge_has_the_last_word(
    pair: tuple[str, str], said: Relation | None | ModelError, found: bool
) -> None:
    judge = ScriptedJudge(said)
    assert bool(find_conflicts(pair[0], [memory(pair[1], 0)], judge=judge)) is found
    assert judge.asked == [(pair[1], pair[0])]


def test_what_a_judge_alone_sees_has_no_value_to_name() -> None:
    stored, new = memory("She prefers tea."), "He prefers tea."
    found = find_conflicts(new, [stored], judge=ScriptedJudge("conflict"))
    assert found == [(stored, "stored: no such value; new: no such value")]


def test_a_judge_is_not_asked_about_what_is_plain() -> None:
    judge = ScriptedJudge("conflict")
    plain = ["The garden hose is 20 metres long", "I have a parrot", "We met in Cork"]
    assert find_conflicts("The rent is 900 euros", [memory(t, n) for n, t in enumerate(plain)],
                          judge=judge) == []  # fmt: skip
    assert judge.asked == []


def test_a_judge_is_asked_a_few_times_only() -> None:
    judge = ScriptedJudge("unrelated")
    held = [memory(f"The rent is {n} euros", n) for n in range(100, 100 + MAX_JUDGED + 2)]
    assert len(find_conflicts("The rent is 900 euros", held, judge=judge)) == 2
    assert len(judge.asked) == MAX_JUDGED


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("Room B12 has a projector.", "Room B14 has a projector."),
        ("Room B12 has 20 chairs.", "Room B14 has 24 chairs."),
        ("Flight LH123 leaves at 9:10.", "Flight LH125 leaves at 10:20."),
        ("Line U2 runs every 5 minutes.", "Line U6 runs every 10 minutes."),
        ("Team 1 plays on Saturday.", "Team 2 plays on Sunday."),
        ("Locker 1 belongs to person number 7.", "Locker 7 belongs to person number 49."),
        ("Room 12 has 7 chairs.", "Room 7 has 5 chairs."),
        ("web01 runs Debian 11.", "web02 runs Debian 12."),
        ("Maria likes tea.", "Marek likes tea."),
        ("Maria lives in Gdansk.", "Marek lives in Tartu."),
        ("Maria is a teacher at the school.", "Marek is a teacher at the school."),
        ("Maria is the treasurer of the club.", "Marek is the secretary of the club."),
    ],
)
def test_a_number_or_name_that_says_which_one_is_no_value(stored: str, new: str) -> None:
    for one, other in ((stored, new), (new, stored)):
        assert find_conflicts(one, [memory(other)]) == []
        assert find_duplicate(one, [memory(other)]) is None


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("Room B12 has 20 chairs.", "Room B12 has 24 chairs."),
        ("Flight LH123 leaves at 9:10.", "Flight LH123 leaves at 9:40."),
        ("The build runs on node n7.", "The build runs on node n9."),
        ("Maria lives in Gdansk.", "Maria lives in Tartu."),
        ("Maria is the treasurer of the club.", "Marek is the treasurer of the club."),
    ],
)
def test_the_same_one_with_another_value_is_a_conflict(stored: str, new: str) -> None:
    for one, other in ((stored, new), (new, stored)):
        assert len(find_conflicts(one, [memory(other)])) == 1


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("The kitchen is above the garage.", "The garage is above the kitchen.", False),
        ("The parser depends on the lexer.", "The lexer depends on the parser.", False),
        ("The dog ate before the cat.", "The cat ate before the dog.", False),
        ("Post goes from the shop to the office.", "Post goes from the office to the shop.", False),
        ("Mira pays Jonas.", "Jonas pays Mira.", False),
        ("Mira lent Jonas 5 euros.", "Jonas lent Mira 5 euros.", False),
        ("Before the demo, run the migration.", "Run the migration before the demo.", True),
        ("On Thursdays the bins are collected.", "The bins are collected on Thursdays.", True),
    ],
)
def test_what_relates_the_other_way_round_is_not_the_same(text, other, same):
    assert says_the_same(text, other) is same
    assert says_the_same(other, text) is same


@pytest.mark.parametrize(
    ("stored", "new", "differs"),
    [
        ("The internet cost 3 euros in March.", "The internet cost 4 euros in April.", False),
        ("The water bill is 30 euros in 2024.", "The water bill is 40 euros in 2025.", False),
        ("The shop opens at 9 in March.", "The shop opens at 8 in April.", False),
        ("The internet cost 3 euros in March.", "The internet cost 4 euros in March.", True),
        ("The water bill is 30 euros.", "The water bill is 40 euros.", True),
        ("The release is planned for 3 March.", "The release is planned for 4 April.", True),
    ],
)
def test_what_is_told_of_one_month_does_not_contradict_another(
    stored: str, new: str, differs: bool
) -> None:
    assert bool(conflict(new, stored)) is differs


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("牙医预约在星期二。", "牙医预约在星期四。"),
        ("牙医预约在星期二。", "牙医预约改到星期四了。"),
        ("房租是3000元。", "房租现在是3500元。"),
        ("家賃は8万円です。", "家賃は今は9万円です。"),
        ("회의는 3시에 시작한다.", "회의는 이제 4시에 시작한다."),
        ("房租每月四千二百元", "房租每月四千五百元"),
        ("车险二〇二六年五月到期", "车险二〇二七年五月到期"),
        ("会议15:00开始。", "会议16:30开始。"),
        ("歯医者は火曜日です。", "歯医者は木曜日に変わった。"),
        ("歯医者の予約は10月3日。", "歯医者の予約は10月5日に変更になりました。"),
        ("치과는 화요일이다.", "치과는 목요일로 바뀌었다."),
        ("지우는 세 살이다.", "지우는 네 살이다."),
        ("Dişçi salı günü.", "Dişçi perşembe günü."),
    ],
)
def test_another_value_without_blanks(stored: str, new: str) -> None:
    assert conflict(new, stored) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("会议室3在二楼", "会议室5在二楼"),
        ("公交3路到学校", "公交5路到学校"),
        ("10月3日去看了牙医", "10月5日去看了牙医"),
        ("第3课讲动词", "第4课讲动词"),
        ("房租是3万元", "房租是30000元"),
        ("周一健身房，周三游泳", "周二健身房，周四游泳"),
        ("3月に日本へ行った。", "5月に日本へ行った。"),
        ("나는 3월에 일본에 갔다", "나는 5월에 일본에 갔다"),
        ("월세는 3만 원이다.", "월세는 30000원이다."),
    ],
)
def test_both_hold_without_blanks(one: str, other: str) -> None:
    assert conflict(other, one) is None
    assert conflict(one, other) is None


@pytest.mark.parametrize(
    ("stored", "denied"),
    [
        ("Guests can enter the lab.", "Guests can't enter the lab."),
        ("Guests can enter the lab.", "Guests cannot enter the lab."),
        ("The shop will open on Sundays.", "The shop won’t open on Sundays."),
        ("The printer works.", "The printer doesnt work."),
        ("I eat meat.", "I dont eat meat."),
        ("The dog is allowed upstairs.", "The dog isnt allowed upstairs."),
    ],
)
def test_a_denial_is_one_however_it_is_written(stored: str, denied: str) -> None:
    assert conflict(denied, stored) is not None
    spelt = denied.replace("’", "'").replace("cannot", "can not").replace("can't", "can not")
    spelt = spelt.replace("won't", "will not").replace("nt ", " not ")
    assert duplicate(spelt, denied) is not None


def test_a_word_of_another_language_denies_nothing() -> None:
    assert conflict("La maison dont elle parle est bleue.", "La maison est bleue.") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The gate code was 4417.", "The gate code is 9921."),
        ("Our landlord was Mr. Fox.", "Our landlord is Mr. Bear."),
        ("We lived in Bath.", "We live in Cork."),
        ("Ann works at Acme.", "Ann worked at Initech."),
        ("Die Miete war 800 Euro.", "Die Miete ist 900 Euro."),
    ],
)
def test_how_it_was_does_not_contradict_how_it_is(one: str, other: str) -> None:
    assert conflict(one, other) is None
    assert conflict(other, one) is None


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("The office is in Bath.", "The office was moved to Cork."),
        ("The budget is 900 euros.", "The budget was set to 700 euros."),
        ("The price is 25 euros.", "The price increased to 30 euros."),
        ("Room A is reserved for Ben.", "Room A is reserved for Kai."),
        # What is done to something else tells nothing of when it opens.
        ("The bakery opens at 6:00.", "The bakery opens at 8:00 for invited guests."),
        # "Red" and "Wed" are no past.
        ("The red team meets on Monday.", "The red team meets on Tuesday."),
        ("Choir rehearsal: Tue 19:30", "Choir rehearsal: Wed 19:30"),
    ],
)
def test_a_change_is_told_in_the_past(stored: str, new: str) -> None:
    assert conflict(new, stored) is not None


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("Vivo en Madrid.", "Vivo en Sevilla."),
        ("Mi hermana vive en Madrid.", "Mi hermana vive en Sevilla."),
        ("J'habite à Lyon.", "J'habite à Paris."),
        ("Meine Schwester wohnt in Bonn.", "Meine Schwester wohnt in Kiel."),
    ],
)
def test_where_somebody_lives_in_other_languages(stored: str, new: str) -> None:
    assert conflict(new, stored) is not None


@pytest.mark.parametrize(
    ("stored", "new", "ended"),
    [
        ("We have a boat.", "We sold the boat.", True),
        ("We have a boat.", "We sold the boat in May.", True),
        ("We use Trello.", "We cancelled Trello last week.", True),
        ("We use Jenkins.", "We stopped using Jenkins in 2024.", True),
        ("We have a boat.", "We sold the boat trailer.", False),
        ("We have bread.", "We sold bread on Fridays.", False),
        ("We have a cat.", "We left the cat with Ann for a week.", False),
        ("I have a car.", "I left the car in Bath.", False),
    ],
)
def test_what_we_end_is_over_and_what_we_only_leave_is_not(
    stored: str, new: str, ended: bool
) -> None:
    assert bool(conflict(new, stored)) is ended


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mara is on leave until May.", "Mara is in Cork until May."),
        ("Mara is on holiday until May.", "Mara is in Cork until May."),
        ("Mara is on holiday.", "Mara is at home."),
        ("The car is under warranty.", "The car is in the garage."),
        ("The report is in German.", "The report is in the drawer."),
        ("The server is in maintenance.", "The server is in Frankfurt."),
        ("The boat is at anchor.", "The boat is in Cork."),
        ("I work at Siemens.", "I work in Cork."),
        ("I live in Cork.", "I live near the station."),
        ("The club meets in Cork.", "The club meets in the library."),
        ("The site is hosted at Hetzner.", "The site is hosted in Frankfurt."),
    ],
)
def test_where_and_how_something_is_do_not_contradict_each_other(one: str, other: str) -> None:
    assert conflict(one, other) is None
    assert conflict(other, one) is None


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("Mara is in Cork until May.", "Mara is in Ghent until May."),
        ("Mara works at Siemens.", "Mara works at Bosch."),
        ("The report is in German.", "The report is in English."),
        ("The key is under the mat.", "The key is in the drawer."),
        ("The key is in drawer 3.", "The key is in the cupboard."),
        ("We park on Elm Street.", "We park in the garage now."),
    ],
)
def test_two_places_told_alike_are_a_conflict(stored: str, new: str) -> None:
    assert conflict(new, stored) is not None


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("Ines wohnt in Kiel.", "Ines ist nach Lyon gezogen."),
        ("Ines lebt seit 2019 in Kiel.", "Ines ist im Mai nach Lyon umgezogen."),
        ("Ines lebt in Kiel.", "Ines zog nach Lyon, um zu studieren."),
        ("Ich wohne in Kiel.", "Ich bin nach Lyon gezogen."),
        ("Ines vive en Kiel.", "Ines se ha mudado a Lyon."),
        ("Vivo en Kiel.", "Me he mudado a Lyon."),
        ("Ines habite à Kiel.", "Ines a déménagé à Lyon."),
        ("J'habite à Kiel.", "Je me suis installée en Italie."),
        ("Ines abita a Kiel.", "Ines si è trasferita a Lyon."),
        ("Abito a Kiel.", "Mi sono trasferito a Lyon."),
        ("Ines mora em Kiel.", "Ines mudou-se para Lyon."),
        ("Moro em Kiel.", "Me mudei para Lyon."),
        ("Ines woont in Kiel.", "Ines is naar Lyon verhuisd."),
        ("Ines bor i Kiel.", "Ines har flyttat till Lyon."),
        ("Ines mieszka w Kilonii.", "Ines przeprowadziła się do Lyonu."),
        ("Инес живёт в Киле.", "Инес переехала в Лион."),
        ("Ines Kiel'de yaşıyor.", "Ines Lyon'a taşındı."),
        ("Kiel’de oturuyorum.", "Geçen yıl Lyon’a taşındım."),
    ],
)
def test_who_moves_lives_where_they_did_no_more(stored: str, new: str) -> None:
    assert conflict(new, stored) is not None
    assert conflict(stored, new) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ines wohnt in Lyon.", "Ines ist nach Lyon gezogen."),
        ("Ines mieszka w Krakowie.", "Ines przeprowadziła się do Krakowa."),
        ("Инес живёт в Москве.", "Инес переехала в Москву."),
        ("Ines Ankara'da yaşıyor.", "Ines Ankara'ya taşındı."),
        ("Ines wohnt in Kiel.", "Mara ist nach Lyon gezogen."),
        ("Ines wohnt in Kiel.", "Ines ist nicht nach Lyon gezogen."),
        ("Ines wohnt in Kiel.", "Vielleicht ist Ines nach Lyon gezogen."),
        ("Ines arbeitet in Kiel.", "Ines ist nach Lyon gezogen."),
        ("Ines habite à Kiel.", "Ines a déménagé son bureau à Lyon."),
        ("Vivo en Kiel.", "Mara vive en Lyon."),
        ("Vivo con mi madre.", "Me he mudado a Lyon."),
    ],
)
def test_who_moves_elsewhere_contradicts_nobody_else(one: str, other: str) -> None:
    assert conflict(one, other) is None
    assert conflict(other, one) is None


def test_what_moved_in_a_year_may_have_moved_again_since() -> None:
    moved, lives = "Ines se mudó a Lyon en 2010.", "Ines vive en Kiel."
    assert conflict(moved, lives) is not None
    assert conflict(lives, moved) is None


@pytest.mark.parametrize(
    ("change", "other"),
    [
        ("Ines moved to Lyon.", "Ines lives in Kiel."),
        ("The piano has been moved to the study.", "The piano stands in the living room."),
        ("Builds moved to Buildkite.", "Builds run on Jenkins."),
        ("We switched from Trello to Linear.", "We use Trello."),
        ("We stopped using Jenkins.", "We use Jenkins."),
        ("I quit smoking.", "I smoke."),
        ("We sold the boat.", "We have a boat."),
        ("The screening is in the gym, not in the hall.", "The screening is in the hall."),
    ],
)
def test_a_change_and_what_it_ends_are_a_conflict_whichever_is_told_first(
    change: str, other: str
) -> None:
    assert conflict(change, other) is not None
    assert conflict(other, change) is not None


@pytest.mark.parametrize(
    ("change", "other"),
    [
        ("We sold the boat.", "We painted the boat."),
        ("We switched from Trello to Linear.", "We use Linear."),
        ("We switched from Trello to Linear.", "The old Trello board is archived."),
        ("I stopped eating meat.", "I eat fish."),
        ("I sold the Volvo.", "The Volvo was red."),
    ],
)
def test_what_is_told_beside_a_change_stands_in_either_order(change: str, other: str) -> None:
    assert conflict(change, other) is None
    assert conflict(other, change) is None


@pytest.mark.parametrize(
    ("one", "other", "contradict"),
    [
        ("Ines was born in Kiel.", "Ines moved from Kiel to Lyon.", False),
        ("Ines was brought up in Kiel.", "Ines moved from Kiel to Lyon.", False),
        ("Ines has a flat in Kiel.", "Ines moved from Kiel to Lyon.", False),
        ("Ines owns a flat in Kiel.", "Ines has moved from Kiel to Lyon.", False),
        ("Ines works in Kiel.", "Ines moved from Kiel to Lyon.", True),
        ("Omar owns a viola.", "Omar plays the cello instead of the viola.", False),
        ("Omar plays the viola.", "Omar plays the cello instead of the viola.", True),
        ("Omar owns a viola.", "Omar sold the viola and plays the cello now.", True),
        ("Ines lives in Kiel in summer.", "Ines lives in Lyon in winter.", False),
        ("Ines lives in Kiel in summer.", "Ines lives in Lyon in summer.", True),
        ("The stall opens at 9 in summer.", "The stall opens at 10 in winter.", False),
        ("The fair is in summer.", "The fair is in winter.", True),
        ("The captain is Noor.", "The captain is Elif since the summer.", True),
    ],
)
def test_a_change_ends_what_it_leaves_and_nothing_that_holds_beside_it(
    one: str, other: str, contradict: bool
) -> None:
    assert (conflict(other, one) is not None) is contradict
    assert (conflict(one, other) is not None) is contradict
