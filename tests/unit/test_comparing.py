"""How two statements stand to each other: natural pairs, at least one for each rule."""

from __future__ import annotations

import pytest

from palace.learn.comparing import Relation, compare
from palace.learn.conflict import find_conflicts
from palace.learn.dedup import says_the_same
from palace.learn.dense import with_day
from palace.learn.ending import tells_news
from palace.learn.held import held_in
from palace.learn.parsed import read_statement
from palace.learn.values import MAX_CHARS
from tests.doubles import memory

SAME = [
    ("In Kiel Ines works for Siemens.", "Ines works for Siemens in Kiel."),
    ("Mugs are on the shelf.", "The mugs stand on the shelf."),
    ("The gate is locked at night.", "Gate locked at night."),
    ("At night the gate is locked.", "Gate locked at night."),
    ("The team meets on Mondays in Cork.", "The team meets in Cork on Mondays."),
    ("We do not use Jenkins any more.", "We no longer use Jenkins."),
]

CONFLICTS = [
    ("I'm in Cork until May.", "I'm in Ghent until May."),
    ("The oven is on.", "The oven was turned off today."),
    ("The build runs on node n7 in Kiel.", "The build runs on node n9 in Ghent."),
    ("We live at 3 Garden Road.", "We live at 14 Elm Street."),
    ("The contract ends on 3 March 2026.", "The contract ends on 3 March 2027."),
    ("Version 4.1.0 was shipped on 3 March.", "Version 4.1.0 was shipped on 5 March."),
    ("The image is pinned to 5.", "The image is pinned to v5.1.0."),
    ("The tank holds 30 litres.", "The tank holds 40."),
    ("The tank holds 40.", "The tank holds 30 litres."),
    ("We pay 40 euros for 2 hours.", "We pay 50 euros for 2 hours."),
    ("Hosting costs 72 euros a month.", "Hosting went down to 64 euros a month."),
    (
        "We store the tent in the garage.",
        "We store the tent in the shed instead of the old red barn.",
    ),
    ("The course lasts 2 weeks.", "The course is 3 weeks long."),
    ("The captain is Noor.", "The captain is Elif since the summer."),
    ("The rent is 800 euros until March.", "The rent is 900 euros until April."),
    ("The code is 1998.", "The code is 4417."),
    ("We park in the garage now.", "We park on Elm Street."),
    ("Take the drops before meals.", "Take the drops after meals."),
    (
        "Up to 12 books may be borrowed by members at a time.",
        "Members may borrow up to 8 books at a time.",
    ),
    ("Ann prefers tea.", "Ann switched to coffee."),
    ("The landlord is Mr Okafor.", "Our landlord's name is Ms Petrov."),
    ("The audit ended on Tuesday.", "The audit ended on 14 May."),
    (
        "On Sundays the breakfast shift is done by Bastien.",
        "Aurelia does the breakfast shift on Sundays.",
    ),
    (
        "Aurelia does the breakfast shift on Sundays.",
        "On Sundays the breakfast shift is done by Bastien.",
    ),
    ("The fair is in Kiel on 3 May at 9:00.", "The fair is in Lyon on 4 May at 10:00."),
    ("The review is on Tuesday.", "The review is on 14 May 2026."),
    ("We have a boat.", "We sold the boat on 3 May."),
    ("We use Jenkins every day.", "We no longer use Jenkins."),
    ("We use a van.", "We switched from the van to a bike."),
    ("Bea teaches maths on Mondays.", "Bea no longer teaches."),
    ("Omar eats meat.", "Omar eats fish instead of meat."),
    ("牙医在星期二。", "牙医在星期四了。"),
    ("牙医在星期二了。", "牙医在星期四。"),
    ("瑜伽课每周二上课。", "瑜伽课每周四上课。"),
    ("他住在 北京。", "他住在 上海。"),
    ("兄は東京に住んでいます。", "兄は大阪に移りました。"),
    ("会計は田中さんが担当します。", "会計は佐藤さんに代わりました。"),
    ("健身房在南京路小学。", "健身房在南京路小区。"),
    ("우리는 남포교회에 다닌다.", "우리는 초량교회로 옮겼다."),
    ("牙医改到星期二了。", "牙医改到星期四了。"),
    ("2班的家长会在星期二。", "2班的家长会在星期四。"),
    ("会议3点30分开始。", "会议4点15分开始。"),
    ("会議は新宿になりました。", "会議は渋谷です。"),
]

# Both may be true; whether they are, a judge may be asked.
BOTH_HOLD = [
    ("She prefers tea.", "He prefers tea."),
    ("Room 7 has new chairs.", "Room 12 has 7 chairs."),
    ("I live alone.", "I moved to Lyon."),
    ("The Kiel Bonn train leaves at 9:00.", "The Bonn Kiel train leaves at 9:00."),
    ("Not Ann but Ben.", "Not Ben but Ann."),
    ("Press 3, then 5.", "Press 5, then 3."),
    ("The gate is not closed at night.", "The gate is open at night."),
    ("Ann paid INV-89 with 410 euros.", "Ann paid 300 euros."),
    ("Ann paid 300 euros.", "Ann paid INV-89 with 410 euros."),
    ("I called at 9:00.", "I called at 10:00."),
    ("Ben calls today.", "Ben calls tomorrow."),
    ("Die Miete war im März 800 Euro.", "Die Miete war im April 900 Euro."),
    ("The captain in Bonn is Ann.", "The captain in Kiel is Ann."),
    ("Maria is the secretary of the club.", "Marek is paid by the secretary of the club."),
    ("I run to the lake.", "I ran to the park."),
    ("I ran to the park.", "I run to the lake."),
    ("I live in Cork near Ben.", "I live in Ghent near Ann."),
    ("Ben paid 30 euros on 3 May.", "Ben paid 40 euros."),
    ("Ben paid 40 euros.", "Ben paid 30 euros on 3 May."),
    ("Heating: gas", "Heating: works"),
    ("The path leads to Cork.", "The path leads through Kiel."),
    ("Ines moved with her dog.", "Ines lives in Kiel."),
    ("The printer is loud.", "Printer: upstairs"),
    ("Printer: upstairs", "The printer is loud."),
    ("We ship to Kiel.", "We moved to Lyon."),
    ("Priya is my manager.", "Femke is the product manager of the dockyard."),
    ("Femke is the product manager of the dockyard.", "Priya is my manager."),
    ("I stay in Kiel 3 nights.", "I stay in Lyon 5 nights."),
    ("Ieva translates from Latvian.", "Ieva proofreads the Latvian texts."),
    ("Ieva proofreads the Latvian texts.", "Ieva translates from Latvian."),
    ("Todo: buy milk", "Todo: buy bread"),
    ("Elif is the captain.", "Elif plays left wing."),
    ("The bread keeps well.", "The bread lasts well."),
    ("Room 4 is the large office.", "The office is room 4."),
    ("We need flour.", "We need more flour."),
    ("Omar owns a viola.", "Omar switched from the viola to the cello."),
    ("We keep bees.", "We no longer sell bees."),
    ("We like Jenkins.", "We no longer use Jenkins."),
    ("The barn is red.", "The barn is no longer used."),
    ("We have the tyres of the car.", "We sold the car."),
    ("We have a lock for the bike.", "We sold the bike."),
    ("We have a book about the mill.", "We sold the mill."),
    ("The boat has a red sail.", "Ben sold the boat."),
    ("We own a flat in Ghent.", "We moved from Ghent to Lyon."),
    ("We visit Ghent.", "We moved from Ghent to Lyon."),
    ("The Becks have a flat in Kiel.", "The Becks moved from Kiel to Lyon."),
    ("We use the van.", "We paint the bus instead of the van."),
    ("Omar was in Kiel.", "Omar moved from Kiel to Lyon."),
    ("점심은 김밥이다.", "점심은 라면이다."),
    ("우리는 교회에 다닌다.", "우리는 헬스장에 다닌다."),
    ("Ines wohnt in Kiel, wenn sie arbeitet.", "Ines ist nach Lyon gezogen."),
    ("班长是李。", "班长现在是李。"),
    ("The lamp has a small bulb.", "The lamp needs a large bulb."),
    ("The lamp needs a large bulb.", "The lamp has a small bulb."),
]

# Both are true, and nobody needs to be asked.
PLAINLY_UNRELATED = [
    ("会议\ue000", "会议5"),
    ("We no longer use Jenkins.", "We are."),
    ("We have a shop.", "We have a new shop."),
    ("Guests can enter the lab.", "Guests cannot enter the lab on Sundays."),
    ("Line U2 runs to the airport.", "Line U6 runs to the airport."),
    ("The red bus runs to the airport.", "The green bus runs to the airport."),
    ("Maria is a captain in the army.", "Marek is a captain in the army."),
    (
        "Maria is an assistant secretary of the club.",
        "Marek is an assistant secretary of the club.",
    ),
    ("The shop opens at 9:00.", "The shop opens at 10:00 on weekends."),
    ("The course costs 200 euros.", "The course costs 250 euros with books, lunch and travel."),
    ("The lamp hangs in the hall.", "The lamp does not stand in the hall."),
    ("We met Ann on 3 March 2024.", "We meet Ann on 5 June 2026."),
    ("The parcel is 5 kg.", "The parcel is 7 euros."),
    ("Ines lives in Kiel in summer.", "Ines lives in Lyon."),
    ("Ines lives in Lyon.", "Ines lives in Kiel in summer."),
    ("The internet costs 3 euros in March.", "The internet costs 4 euros from April."),
    ("The pump uses 300 litres during March.", "The pump uses 400 litres during April."),
    ("The loan is 500 euros.", "The loan is from 1998."),
    ("The shop takes Visa until 9:00.", "The shop takes cash until 10:00."),
    ("The shop takes cash until 9:00.", "The shop takes Visa until 10:00."),
    ("The van takes a driver and 6 people.", "The van takes a trailer and 8 people."),
    ("The course costs 250 euros with books, lunch and travel.", "The course costs 200 euros."),
    ("I work in Porto.", "I live in Lisbon."),
    (
        "The boiler was last serviced on 4 October 2025.",
        "The boiler was serviced on 4 October 2024.",
    ),
    ("We are.", "We no longer use Jenkins."),
    ("Mara is in Cork until May.", "I am in Ghent until May."),
    ("I am in Ghent until May.", "Mara is in Cork until May."),
    ("The internet costs 4 euros from April.", "The internet costs 3 euros in March."),
    ("The long course takes 2 weeks.", "The course takes 3 weeks."),
    ("We store the ladder in the shed.", "We do not need the ladder."),
    ("周二有瑜伽课。", "周四有瑜伽课。"),
    ("门票3张60元。", "门票2张40元。"),
    ("牙医预约在星期二。", "瑜伽课在星期四。"),
    ("The dentist is on Tuesday.", "牙医在星期四。"),
    ("牙医在星期四。", "The dentist is on Tuesday."),
]


def relation(stored: str, new: str) -> Relation:
    return compare(read_statement(stored), read_statement(new)).relation


@pytest.mark.parametrize(("stored", "new"), SAME)
def test_the_same_in_other_words(stored: str, new: str) -> None:
    assert says_the_same(stored, new)


@pytest.mark.parametrize(("stored", "new"), CONFLICTS)
def test_another_value_of_one_thing(stored: str, new: str) -> None:
    assert relation(stored, new) == "conflict"


@pytest.mark.parametrize(("stored", "new"), BOTH_HOLD)
def test_what_may_both_hold(stored: str, new: str) -> None:
    assert relation(stored, new) in ("doubtful", "unrelated")
    assert not says_the_same(stored, new)


@pytest.mark.parametrize(("stored", "new"), PLAINLY_UNRELATED)
def test_what_needs_no_judge(stored: str, new: str) -> None:
    assert relation(stored, new) == "unrelated"
    assert not says_the_same(stored, new)


def test_a_text_too_long_for_a_statement_is_unrelated_to_every_other() -> None:
    rent = "The rent is {} euros."
    long = rent.format(900) + " " * MAX_CHARS
    assert relation(rent.format(800), rent.format(900)) == "conflict"
    assert relation(rent.format(800), long) == relation(long, rent.format(800)) == "unrelated"
    assert held_in("我们的牙医在南京路。") is not None
    assert held_in("Ines zog nach Lyon, um zu studieren.") is not None
    assert held_in("我们的牙医在南京路。" + " " * MAX_CHARS) is None
    assert held_in("Ines zog nach Lyon, um zu studieren" + " und zu lesen" * MAX_CHARS) is None


@pytest.mark.parametrize(
    ("stored", "new", "detail"),
    [
        ("The prices are 12 euros.", "We raised the prices to 14 euros.",
         "stored: 12 euros; new: 14 euros"),
        ("The new checkout is live.", "The checkout is not live.",
         "stored: it is so; new: it is not so"),
        ("Take the drops before meals.", "Take the drops after meals.",
         "stored: before; new: after"),
        ("The sales increase.", "The sales decrease.", "stored: increase; new: decrease"),
    ],
)  # fmt: skip
def test_a_conflict_names_what_differs(stored: str, new: str, detail: str) -> None:
    assert [found for _, found in find_conflicts(new, [memory(stored)])] == [detail]


@pytest.mark.parametrize(
    ("text", "is_news"),
    [
        ("The rent is 900 euros now.", True),
        ("The boat is in Cork again.", True),
        ("We switched from Trello to Linear.", True),
        ("歯医者は品川に変わりました。", True),
        ("歯医者は今は品川にあります。", True),
        ("The rent is 900 euros.", False),
        ("Emil goes to school.", False),
        ("歯医者は品川にあります。", False),
    ],
)
def test_a_statement_tells_that_it_was_otherwise_before(text: str, is_news: bool) -> None:
    assert tells_news(text) is is_news


@pytest.mark.parametrize(
    ("text", "said", "right"),
    [
        ("牙医在星期二。", "星期四", "牙医在星期四。"),
        ("牙医在星期二。", "星期二", ""),
        ("牙医在星期二。", "星期四和星期五", ""),
        ("牙医在星期二或星期三。", "星期四", ""),
    ],
)
def test_the_only_day_of_a_text_is_changed(text: str, said: str, right: str) -> None:
    assert with_day(text, said) == right
