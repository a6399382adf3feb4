"""Days in a prompt are looked for in the other writings that the palace has of them."""

from __future__ import annotations

import pytest

from palace.recall.days import named_days
from palace.recall.lexicon import load_lexicons
from palace.recall.query import Analyst
from palace.recall.search import Searcher
from palace.text import words
from palace.types.query import Query
from palace.types.session import Turn
from tests.doubles import FixedVocabulary, indexed, memory

LEXICONS = load_lexicons(("en", "de"))
WRITTEN = FixedVocabulary("2026-03-02 ran", "2025-03-02 swam", "2.3 bins", "2 eggs", "March ran")


def asked(prompt: str, vocabulary: FixedVocabulary = WRITTEN) -> Query:
    return Analyst(LEXICONS, vocabulary, related=False).analyse(Turn(prompt))


def named(prompt: str) -> list[tuple[int, int, int | None]]:
    return [(day.month, day.day, day.year) for day in named_days(prompt, words(prompt))]


@pytest.mark.parametrize(
    ("prompt", "days"),
    [
        ("What did I do on 2 March?", [(3, 2, None)]),
        ("What did I do on March 2nd, 2026?", [(3, 2, 2026)]),
        ("the 2nd of March 2026", [(3, 2, 2026)]),
        ("Was war am 2. März 2026?", [(3, 2, 2026)]),
        ("Was war am 2.3.?", [(3, 2, None)]),
        ("Who came on 10/14?", [(10, 14, None)]),
        ("Who came on 14/10?", [(10, 14, None)]),
        ("Was war am 2.3.2026?", [(3, 2, 2026)]),
        ("Was war am 02.03.2026.", [(3, 2, 2026)]),
        ("Who came on 14/10/2025?", [(10, 14, 2025)]),
        ("Who came on 10/14/2025?", [(10, 14, 2025)]),
        ("2025/10/04 に誰が来た?", [(10, 4, 2025)]),
        ("2025年10月4日に誰が来た?", [(10, 4, 2025)]),
        ("10月4日谁来了?", [(10, 4, None)]),
        ("2025년 10월 4일에 누가 왔어?", [(10, 4, 2025)]),
        ("from 2 March to 4 April", [(3, 2, None), (4, 4, None)]),
        ("what did we say on 3 may", [(5, 3, None)]),
        ("what did we say may 3rd 2026", [(5, 3, 2026)]),
        ("9 jan", [(1, 9, None)]),
        ("Was war am 3. mai?", [(5, 3, None)]),
        ("qu'est-ce qu'on a dit le 1er mars", [(3, 1, None)]),
        ("o que dissemos no dia 1º de mai", [(5, 1, None)]),
        ("del 3 mar al 4 abril", [(3, 3, None), (4, 4, None)]),
    ],
)
def test_days_are_named_by_number_and_month(prompt: str, days: list[object]) -> None:
    assert named(prompt) == days


@pytest.mark.parametrize(
    "prompt",
    [
        "Who came on 4/10?",
        "Who came on 4/10/2025?",
        "Which of them runs 2.3.2026.1?",
        "What runs on 10.10.20.30?",
        "What did 4日 cost?",
        "month\u1369 2",  # a digit that is no decimal one
        "What costs 14.10 euros?",
        "30 February",
        "31.4. was a typo",
        "2 eggs in March",
        "in March 2026",
        "it may 3 times fail",
        "step 3 may fail",
        "the month of 12 eggs",
        "",
    ],
)
def test_what_may_be_something_else_names_no_day(prompt: str) -> None:
    assert named(prompt) == []


def test_the_writings_that_the_palace_has_are_near() -> None:
    near = asked("What did I do on 2 March?").related["2"]
    assert set(near) == {"2026-03-02", "2025-03-02", "2.3"}
    assert set(asked("What did I do on 2 March 2025?").related["2"]) == {"2025-03-02", "2.3"}
    assert asked("Was war am 2.3.?").related["2.3"].keys() == {"2026-03-02", "2025-03-02"}
    assert asked("Was war am 2.3.2025?").related["2.3.2025"].keys() == {"2025-03-02", "2.3"}


def test_a_day_that_nobody_wrote_otherwise_has_none() -> None:
    assert asked("What did I do on 5 March?").related == {}
    assert asked("What did I do on 2 March?", FixedVocabulary("March")).related == {}


def test_a_note_of_the_day_comes_before_one_with_the_number() -> None:
    index = indexed(
        memory("Ran 5 km.", 1, path="rooms/log/2026-03-03.md", title="2026-03-03"),
        memory("Ran 8 km.", 2, path="rooms/log/2026-03-02.md", title="2026-03-02"),
        memory("Ran 2 km in circles.", 3),
    )
    query = Analyst(LEXICONS, index).analyse(Turn("How far did I run on 2 March?"))
    assert Searcher(index).hits(query, top_k=1)[0].memory.text == "Ran 8 km."
