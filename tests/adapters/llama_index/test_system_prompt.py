"""What the program tells the agent may be asked of the agent, where no memory answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index_palace import PalaceLLM

from palace import Mempalace
from tests.adapters.llama_index.scripted import FALLBACK, HAIKU, Found, ScriptedLLM

PROMPT = "You are Ada, who answers for the Nordlicht shop."
WHO = ["Who are you?", "What is your name?", "What's your role?", "Wie heißt du?", "你是谁?"]
OF_THE_PERSON = ["Who am I?", "What is my name?", "Who are you, and what is my name?"]


def by_messages(llm: PalaceLLM, prompt: str, words: str) -> str:
    told = ChatMessage(role="system", content=prompt)
    return str(llm.chat([told, ChatMessage(role="user", content=words)]).message.content)


def by_engine(llm: PalaceLLM, prompt: str, words: str) -> str:
    memory = ChatMemoryBuffer.from_defaults(token_limit=4000)
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt=prompt)
    return str(engine.chat(words))


def by_agent(llm: PalaceLLM, prompt: str, words: str) -> str:
    async def run() -> str:
        memory = ChatMemoryBuffer.from_defaults(token_limit=4000)
        agent = FunctionAgent(llm=llm, tools=[], system_prompt=prompt)
        return str(await agent.run(words, memory=memory))

    return asyncio.run(run())


@pytest.fixture
def palace(tmp_path: Path) -> Iterator[Mempalace]:
    with Mempalace.open(tmp_path / "p") as made:
        made.remember("The dentist is Dr. Pell, Market Street.")
        yield made


@pytest.mark.parametrize("host", [by_messages, by_engine, by_agent])
@pytest.mark.parametrize("words", WHO)
def test_who_it_is_is_left_to_the_model(palace, host, words):
    model = ScriptedLLM()
    assert host(PalaceLLM(model, palace), PROMPT, words) == HAIKU
    assert len(model.calls) == 1


@pytest.mark.parametrize("host", [by_messages, by_engine, by_agent])
@pytest.mark.parametrize("words", OF_THE_PERSON)
def test_about_the_person_it_tells_nothing(palace, host, words):
    model = ScriptedLLM()
    assert host(PalaceLLM(model, palace), PROMPT, words) == FALLBACK
    assert not model.calls


@pytest.mark.parametrize("words", WHO)
def test_without_one_the_palace_is_asked_alone(palace, words):
    model = ScriptedLLM()
    assert PalaceLLM(model, palace).chat([ChatMessage(content=words)]).message.content == FALLBACK
    assert not model.calls


def test_what_a_query_engine_tells_its_model_is_no_instruction_of_an_agent(palace):
    model = ScriptedLLM()
    engine = RetrieverQueryEngine.from_args(
        Found("Ada is the name of a shop."), llm=PalaceLLM(model, palace)
    )
    assert str(engine.query("What is your name?")) == FALLBACK
    assert not model.calls


def test_an_identity_goes_before_it(tmp_path):
    with Mempalace.open(tmp_path / "p") as palace:
        (palace.root / "identity.txt").write_text("I am Timmy of the harbour.", "utf-8")
    with Mempalace.open(tmp_path / "p") as palace:
        by_messages(PalaceLLM(model := ScriptedLLM(), palace), PROMPT, "Who are you?")
    assert "Timmy" in model.prompts[-1]
