"""Days of the week in a prompt are asked for as the palace writes them."""

from __future__ import annotations

import pytest

from palace.recall.lexicon import load_lexicons
from palace.recall.query import Analyst
from palace.types.session import Turn
from tests.doubles import FixedVocabulary

LEXICONS = load_lexicons(("en", "de"))
WHOLE = FixedVocabulary(
    *("Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    *("Mittwoch", "Donnerstag", "Sonntag", "bin", "swim"),
)
SHORT = FixedVocabulary("Thu: bins", "Fri: swim", "Sun screen", "so wie immer")


def terms(prompt: str, vocabulary: FixedVocabulary) -> tuple[str, ...]:
    return Analyst(LEXICONS, vocabulary, related=False).analyse(Turn(prompt)).terms


@pytest.mark.parametrize(
    ("prompt", "day"),
    [
        ("Who do we swim with on Wed?", "wednesday"),
        ("What did we do last Thu?", "thursday"),
        ("Tues, what did we swim?", "tuesday"),
        ("Where were we on Sat?", "saturday"),
        ("Where were we on Sun?", "sunday"),
        ("Was machen wir am Do mit den Kindern?", "donnerstag"),
        ("Wer kommt denn nächsten So zu uns?", "sonntag"),
    ],
)
def test_a_short_day_is_the_whole_one(prompt: str, day: str) -> None:
    assert day in terms(prompt, WHOLE)


@pytest.mark.parametrize(
    "prompt",
    [
        "Who wed Olga last summer?",
        "Where do we sit, we sat on the left?",
        "What did we pay for the Sun licence?",
        "Was machen wir so mit den Kindern?",
        "Wer war Do?",
    ],
)
def test_what_is_no_day_is_none(prompt: str) -> None:
    assert not [term for term in terms(prompt, WHOLE) if term.endswith(("day", "tag", "woch"))]


def test_what_the_palace_writes_stays() -> None:
    assert "thu" in terms("What goes out on Thu?", SHORT)
    assert "thu" in terms("What goes out on Thursday?", SHORT)
    assert "thursday" in terms("What goes out on Thursday?", WHOLE)


def test_a_short_day_that_means_something_else_stands_for_no_whole_one() -> None:
    assert "sunday" in terms("What do we do on Sunday?", SHORT)
    assert "sonntag" in terms("Was machen wir denn am Sonntag?", SHORT)


def test_a_day_that_nobody_wrote_is_asked_for_by_its_whole_name() -> None:
    assert terms("What is on Tue?", FixedVocabulary("bins")) == ("tuesday",)


def test_a_day_that_nobody_wrote_is_no_stranger() -> None:
    analyst = Analyst(LEXICONS, FixedVocabulary("standup"), related=False)
    assert analyst.analyse(Turn("When is the standup on Friday?")).names == ()
    assert analyst.analyse(Turn("When is the standup with Olga?")).names == (("olga",),)
    known = Analyst(LEXICONS, FixedVocabulary("Friday"), related=False)
    assert known.analyse(Turn("When is the standup on Friday?")).names == (("friday",),)


def test_a_name_that_follows_soon_is_no_part_of_a_short_day() -> None:
    vocabulary = FixedVocabulary("we swam on Wednesday", "with Mira")
    analyst = Analyst(LEXICONS, vocabulary, related=False)
    whole = analyst.analyse(Turn("Who came on Wednesday at Mira's?"))
    short = analyst.analyse(Turn("Who came on Wed at Mira's?"))
    assert short.names == whole.names
