"""Who the agent is called, and that speaking to it asks nothing about it."""

from __future__ import annotations

import time

import pytest

from palace.recall.addressee import agent_name, behind_agent
from palace.recall.lexicon import load_lexicons
from palace.recall.query import Analyst
from palace.types.query import Query
from palace.types.session import Turn
from tests.doubles import FixedVocabulary

LEXICONS = load_lexicons(("en", "de", "fr", "es", "pt", "it", "nl", "ru", "pl", "sv", "tr"))
EMPTY = FixedVocabulary()


def analysed(prompt: str, *, agent: str = "Timmy", vocabulary: FixedVocabulary = EMPTY) -> Query:
    analyst = Analyst(LEXICONS, vocabulary, identity=lambda: f"I am {agent}.")
    return analyst.analyse(Turn(prompt))


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        ("I am Timmy, the memory of a small team.", ("Timmy",)),
        ("You’re **Timmy**.", ("Timmy",)),
        ("Name: Timmy", ("Timmy",)),
        ("I am Ann. You are Timmy, who keeps my notes.", ("Timmy",)),
        ("You are a helpful assistant called Timmy.", ("Timmy",)),
        ("Du bist Timmy, das Gedächtnis der Familie.", ("Timmy",)),
        ("Je m’appelle Zoé.", ("Zoé",)),
        ("Soy Timmy.", ("Timmy",)),
        ("Você é Timmy.", ("Timmy",)),
        ("Sono Timmy.", ("Timmy",)),
        ("Ik heet Timmy.", ("Timmy",)),
        ("Я — Тимми.", ("Тимми",)),
        ("Jestem Timmy.", ("Timmy",)),
        ("Jag heter Timmy.", ("Timmy",)),
        ("Benim adım Timmy.", ("Timmy",)),
        ("You are The Blue Kettle", ("Blue", "Kettle")),
        ("I am the memory of the Harbour team.", ()),
        ("I am Ann Lee's memory.", ()),
        ("I keep what I learn.", ()),
        ("", ()),
    ],
)
def test_the_identity_tells_the_name(identity: str, name: tuple[str, ...]) -> None:
    assert agent_name(identity) == name


@pytest.mark.parametrize(
    "prompt",
    [
        "Timmy, when did we move?",
        "timmy when did we move",
        "Timmy! When did we move?",
        "Timmy: when did we move?",
        "Timmy - when did we move?",
        "Timmy did we move",
        "Timmy, could you tell me when we moved?",
        "ok timmy when did we move",
        "hey there timmy did we move",
        "Tell me, Timmy, when did we move?",
        "tell me timmy when did we move",
        "When did we move, Timmy?",
        "When did we move? Timmy",
        "Timmy, when did she move?",
        "Timmy, wann war der move?",
        "Hello Timmy, this is Margaret. When did we move?",
        "My name is Margaret, when did we move?",
        "Hi, it's Margaret here. When did we move?",
        "hi its margaret when did we move",
        "Hello! Margaret here, when did we move?",
        "hi margaret here when did we move",
        "It’s Margaret again, when did we move?",
        "hello timmy this is margaret when did we move",
        "Margarete hier, wann war der move?",
        "C'est Margaux, quand a move ?",
    ],
)
def test_who_speaks_to_the_agent_asks_nothing_about_it(prompt: str) -> None:
    query = analysed(prompt)
    assert (query.names, query.terms, query.unheard, query.fronted) == ((), ("move",), (), False)


@pytest.mark.parametrize("prompt", ["when did we move timmy", "timmy the keys when did we move"])
def test_a_name_without_a_comma_may_be_asked_about(prompt: str) -> None:
    query = analysed(prompt)
    assert "timmi" not in query.terms
    assert query.fronted
    known = analysed(prompt, vocabulary=FixedVocabulary("We met Timmy.", names=["timmi"]))
    assert "timmi" in known.terms


@pytest.mark.parametrize(
    "prompt",
    [
        "What did Timmy say about the move?",
        "Timmy's keys, where are they?",
        "Where is the timmy-tool kettle?",
        "This is Margaret. When did she move?",
        "This is Terraform. When did we move?",
        "Terraform here, when did we move?",
        "Margaret here, when did she move?",
        "Is Margaret here when we move?",
    ],
)
def test_what_is_asked_about_stays(prompt: str) -> None:
    query = analysed(prompt)
    assert len(query.terms) > 1
    assert not query.fronted


def test_a_known_namesake_may_be_meant_where_somebody_is_asked_about() -> None:
    known = FixedVocabulary("Our cat is Timmy.", names=["timmi"])
    assert analysed("Timmy, when did he move?", vocabulary=known).names == (("timmi",),)
    assert analysed("Timmy, when did we move?", vocabulary=known).names == ()


@pytest.mark.parametrize("prompt", ["May we move?", "Will we move?"])
def test_a_small_word_speaks_to_nobody(prompt: str) -> None:
    assert analysed(prompt, agent=prompt.split()[0]) == analysed(prompt)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("Timmy, remember that it moved.", "remember that it moved."),
        ("hey timmy remember that it moved", "remember that it moved"),
        ("ok Timmy: no, it is blue", "no, it is blue"),
        ("Hi Ann, remember that it moved.", "Hi Ann, remember that it moved."),
        ("Timmy's kettle moved.", "Timmy's kettle moved."),
    ],
)
def test_what_is_said_behind_the_name_of_the_agent(prompt: str, said: str) -> None:
    assert behind_agent(prompt, ("Timmy",)) == said


@pytest.mark.parametrize("text", ["timmy ", "timmy, ", "Timmy's ", "I am ", "this is Ann ", " "])
def test_hostile_names_are_read_quickly(text: str) -> None:
    analysed("Where?")
    started = time.process_time()
    agent_name(text * 1000)
    analysed(text * 1000)
    assert time.process_time() - started < 1.0
