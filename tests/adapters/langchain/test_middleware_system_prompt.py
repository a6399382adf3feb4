"""What the program tells the agent may be asked of the agent, where no memory answers."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain_core.messages import SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_palace import ChatPalace, PalaceMiddleware, PalaceRunnable

from palace import Mempalace
from tests.adapters.langchain.doubles import (
    CHAT,
    FALLBACK,
    HIT,
    HIT_TEXT,
    IDENTITY,
    MISS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    honest,
)

PROMPT = "You are Ada, who answers for the Nordlicht shop. Refunds are possible within 30 days."
WHO = ["Who are you?", "What is your name?", "What's your role?", "Wie heißt du?", "你是谁?"]
ONLY_TOLD = "Within how many days are refunds possible?"


def by_model(palace, model, prompt):
    return create_agent(ChatPalace(inner=model, palace=palace), [], system_prompt=prompt)


def by_middleware(palace, model, prompt):
    middleware = PalaceMiddleware(palace, system_prompt=prompt)
    return create_agent(model, [], system_prompt=prompt, middleware=[middleware])


def by_runnable(palace, model, prompt):
    asked = ChatPromptTemplate([("system", prompt), ("user", "{words}")])
    chain = PalaceRunnable(bound=model, palace=palace)
    words = RunnableLambda(lambda given: {"words": given["messages"][0][1]})
    return words | asked | chain | (lambda said: [said])


HOSTS = [by_model, by_middleware, by_runnable]


def reply(host, palace, words, prompt=PROMPT):
    model = CountingModel(persona=honest)
    made = host(palace, model, prompt).invoke({"messages": [("user", words)]})
    said = made["messages"] if isinstance(made, dict) else made
    return said[-1].text, model.calls


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("words", [*WHO, ONLY_TOLD])
def test_what_only_it_tells_is_left_to_the_model(palace, host, words):
    assert reply(host, palace, words) == (CHAT, 1)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    "words", [MISS, "Who am I?", "What is my name?", "Who are you, and what is my name?"]
)
def test_about_the_person_it_tells_nothing(palace, host, words):
    assert reply(host, palace, words) == (FALLBACK, 0)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(("words", "text"), [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT)])
def test_a_memory_answers_as_before(palace, host, words, text):
    assert text in reply(host, palace, words)[0]


@pytest.mark.parametrize("host", HOSTS)
def test_an_identity_goes_before_it(palace, host):
    (palace.root / "identity.txt").write_text(IDENTITY, encoding="utf-8")
    with Mempalace.open(palace.root) as anew:
        said, calls = reply(host, anew, "Who are you?")
    assert IDENTITY in said
    assert calls == 1


@pytest.mark.parametrize("prompt", [None, ""])
@pytest.mark.parametrize("words", [*WHO, ONLY_TOLD])
def test_without_one_the_palace_is_asked_alone(palace, prompt, words):
    assert reply(by_middleware, palace, words, prompt) == (FALLBACK, 0)


def test_it_may_be_a_message(palace):
    assert reply(by_middleware, palace, WHO[0], SystemMessage(PROMPT)) == (CHAT, 1)


def test_a_document_does_not_tell_who_the_agent_is(palace):
    model = CountingModel(persona=honest)
    chat = ChatPalace(inner=model, palace=palace)
    asked = f"Context: {PROMPT} Her name is Ada.\n\nQuestion: What is your name?"
    assert chat.invoke(asked).text == FALLBACK
    assert not model.calls
