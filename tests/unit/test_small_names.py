"""A name typed in small letters is a name all the same, where nothing else can be meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.recall.lexicon import load_lexicons
from palace.recall.query import Analyst
from palace.types.session import Turn
from tests.doubles import FixedVocabulary

LEXICONS = load_lexicons(("en", "de"))
PALACE = FixedVocabulary("Dr Farrelly is at the clinic", "Imogen has the tent", "the timpani")


@pytest.mark.parametrize("prompt", ["did zainab call", "did jack call"])
def test_whom_the_session_has_noted_is_no_stranger(prompt: str) -> None:
    noted = frozenset({"zainab", "jack"})
    analyst = Analyst(LEXICONS, PALACE, noted=lambda _: noted)
    assert analyst.analyse(Turn(prompt)).unheard == ()


def test_a_word_of_every_day_that_a_memory_has_is_a_name_too() -> None:
    query = Analyst(LEXICONS, FixedVocabulary("a bill")).analyse(Turn("when did bill call"))
    assert (query.unheard, query.names) == ((), (("bill",),))  # a memory without it proves nothing


def unheard(prompt: str, *, related: bool = True) -> tuple[str, ...]:
    return Analyst(LEXICONS, PALACE, related=related).analyse(Turn(prompt)).unheard


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("did dr mulqueen ever come back to me", ("mulqueen",)),
        ("when did dr. okonjo see my knee", ("okonjo",)),
        ("has zainab given the tent back", ("zainab",)),
        ("what was whelan's number again", ("whelan",)),
        ("what was whelan’s number again", ("whelan",)),
        ("whelan's number please", ("whelan",)),
        ("when did zainab morozova start", ("zainab", "morozova")),
        ("how did the interview with youssef go", ("youssef",)),
        ("what did we hear from zainab about the tent", ("zainab",)),
        ("where did odhrán put the tent", ("odhran",)),
        # a given name is one wherever it stands, and in any language
        ("zainab morozova", ("zainab", "morozova")),
        ("did zainab speak to morozova", ("zainab",)),
        ("what did zainab okonjo morozova mulqueen say", ("zainab", "okonjo", "morozova")),
        ("wo hat zainab das zelt hingelegt", ("zainab",)),
        ("does philippa eat gluten", ("philippa",)),
        ("when is lotte's school play", ("lott",)),
        # a word of every day, where no memory has it
        ("when did jack collect the timpani", ("jack",)),
        ("what is daisy's number", ("daisi",)),
        ("what does frank owe us", ("frank",)),
    ],
)
def test_a_word_that_can_only_be_a_name_is_one(prompt: str, name: tuple[str, ...]) -> None:
    assert unheard(prompt) == name


@pytest.mark.parametrize(
    "prompt",
    [
        "is the rose by the clinic",
        "what is the price of rose oil",
        "who had to mark the boxes",
        "did imogen jack the tent up",
        "did the landlord give the tent back",  # words that the language knows
        "what did farrelly say",  # the palace knows it
        "what did farelly say",  # and one slip away from it too
        "what did imogne say about the tent",
        "what did we recieve from dr farrelly",  # a slip in a word of the language
        "where do the kettledrums stand",  # rare, but behind an article
        "is our zamboni sold",
        "is seventeen enough",  # a number, which no table has
        "who came with twenty to the clinic",
        "are they at the clinic for summer",
        "the zamboni's keys, where are they",
        "what did Zainab say",  # a capital is seen elsewhere
        "kettledrums?",
        "what did zai say",  # too short to tell
        "what did zainab42 say",
        "what did imogenn say about the tent",
        "has ladnlord come",  # a slip in the only word that could be a name
        "has farrely come",
        "has omogen come",
        "did mulqueen speak to morozova",  # two runs: who writes so may write in another language
        "co powiedziała karolcia o namiocie",
        "var ligger nycklarna till stugan",
        "what did okonjo morozova mulqueen whelan say",
        "wo hat mulqueen das zelt hingelegt",  # a language that lists no such words
        "",
        "did",
    ],
)
def test_in_doubt_a_word_is_a_word(prompt: str) -> None:
    assert unheard(prompt) == ()


def test_without_the_tables_nobody_can_tell() -> None:
    assert unheard("has zainab given the tent back", related=False) == ()


@given(st.text(max_size=200))
def test_any_text_has_such_a_name_or_none(text: str) -> None:
    assert len(unheard(f"has zainab {text}")) <= 3
