"""Whatever the hosts, ways, sessions and liars do together: the promises hold."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware, SummarizationMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_palace import ChatPalace, PalaceMiddleware, PalaceRunnable
from pydantic import BaseModel

from palace import Mempalace, RecallMiss, RetrievalEnforcer, UngroundedAnswerError
from tests.adapters.langchain.doubles import (
    FALLBACK,
    HIT,
    LIARS,
    MISS,
    PASS,
    UNCLEAR,
    CountingModel,
    calling,
    calling_once,
    declining,
    flaky,
    honest,
    ignoring,
    stock,
    weather,
)

SECRET = "What was our door code for the archive?"
PROMPTS = (HIT, UNCLEAR, MISS, PASS, SECRET)
CODES = {"alpha": "1111", "beta": "2222", "gamma": ""}
LIES = ("80085", "Mallory")
WAYS = ("invoke", "ainvoke", "stream", "astream", "batch")
HOSTS = ("chat", "loop", "structured", "runnable", "agent", "retrying", "summarised", "answering")


class Told(BaseModel):
    """What is told."""

    words: str


@tool
def gossip(query: str) -> str:
    """Ask a model that lies."""
    return CountingModel(persona=ignoring).invoke(query).text


@tool(return_direct=True)
def gossiping(query: str) -> str:
    """Have a model that lies answer the person."""
    return CountingModel(persona=ignoring).invoke(query).text


def repeating(asked):
    """Say what the last tool answered."""
    return str(asked.messages[-1].text) if asked.is_after_tool else honest(asked)


def telling(asked):
    """Answer in the schema, with what the first memory says."""
    if asked.is_pointing:
        return honest(asked)
    return calling("Told", {"words": asked.items[0] if asked.items else "rain"}, id="c9")


def telling_lies(asked):
    if asked.is_pointing:
        return honest(asked)
    return calling("Told", {"words": "The code is 80085 says Mallory"}, id="c9")


PERSONAS = {
    "honest": honest,
    "declining": declining,
    "calling": calling_once("weather", {"city": "Rome"}),
    "asking": calling_once("gossip", {"query": "Rome?"}, then=repeating),
    "handing over": calling_once("gossiping", {"query": "Rome?"}),
    **{liar.__name__: liar for liar in LIARS},
}


@dataclass(frozen=True)
class Move:
    """One turn somebody takes."""

    host: str
    way: str
    session: str
    prompt: str
    persona: str


MOVES = st.builds(
    Move,
    host=st.sampled_from(HOSTS),
    way=st.sampled_from(WAYS),
    session=st.sampled_from(sorted(CODES)),
    prompt=st.sampled_from(PROMPTS),
    persona=st.sampled_from(sorted(PERSONAS)),
)


class Scene:
    """A palace with three sessions, and what stands in front of it, shared by all turns."""

    def __init__(self, palace: Mempalace) -> None:
        self.palace = palace
        stock(palace)
        for name, code in CODES.items():
            if code:
                palace.remember(f"The door code of the archive is {code}.", session_id=name)
        self.middleware = PalaceMiddleware(palace)
        enforcer = RetrievalEnforcer(palace)
        self.action = {
            (prompt, name): enforcer.decide(prompt, session_id=name).action
            for prompt in PROMPTS
            for name in CODES
        }
        self.personas: dict[str, Any] = {}
        self.shared = CountingModel(persona=self._dispatch)
        self.chat = ChatPalace(inner=self.shared, palace=palace)
        self.runnable = PalaceRunnable(bound=self.shared, palace=palace)

    def _dispatch(self, asked):
        """Play the persona of the turn that the system message names."""
        return self.personas[asked.messages[0].content](asked)


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    with Mempalace.open(tmp_path_factory.mktemp("scene") / "palace") as palace:
        yield Scene(palace)


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(moves=st.lists(MOVES, min_size=1, max_size=6))
def test_the_promises_hold_under_any_interleaving(scene, moves):
    asyncio.run(play(scene, moves))


def test_every_action_is_played(scene):
    assert set(scene.action.values()) == {"ground", "confirm", "fallback", "pass"}
    assert scene.action[SECRET, "gamma"] == "fallback"
    assert scene.action[SECRET, "alpha"] in {"ground", "confirm"}


async def play(scene, moves):
    names = [f"turn {number}" for number in range(len(moves))]
    before = scene.shared.calls
    outcomes = await asyncio.gather(
        *(turn(scene, move, name) for move, name in zip(moves, names, strict=True))
    )
    shared = scene.shared.asked[before:]
    for move, name, (shown, own) in zip(moves, names, outcomes, strict=True):
        calls = [a for a in shared if a.messages[0].content == name] + own
        hold(scene, move, shown, calls)


def hold(scene, move, shown, calls):
    """Check the promises for one turn: what was shown, and what a model was asked."""
    action = scene.action[move.prompt, move.session]
    others = [code for name, code in CODES.items() if code and name != move.session]
    for asked in calls:
        assert not any(code in asked.everything for code in others), move
    text = "\n".join(shown)
    assert not any(code in text for code in others), move
    if action == "fallback":
        assert calls == [], move
        assert text.startswith((FALLBACK, "RecallMiss")), move
    if action in ("confirm", "ground"):
        assert not any(lie in text for lie in LIES), move
    if action == "confirm":
        assert calls, move
        assert calls[0].is_pointing, move


async def turn(scene, move, name):
    """Take a turn; return every text that was shown and the calls of models of its own."""
    persona = PERSONAS[move.persona]
    if move.host in ("structured", "answering"):
        persona = telling if move.persona in ("honest", "calling", "declining") else telling_lies
    scene.personas[name] = persona
    config = {"configurable": {"session_id": move.session}, "recursion_limit": 30}
    messages = [SystemMessage(name), HumanMessage(move.prompt)]
    own: list[CountingModel] = []
    try:
        if move.host == "loop":
            shown = await tool_loop(scene, messages, config)
        elif move.host in ("chat", "runnable", "structured"):
            host = {
                "chat": scene.chat,
                "runnable": scene.runnable,
                "structured": scene.chat.with_structured_output(Told),
            }[move.host]
            shown = await run(host, move.way, messages, config)
        else:
            shown = await agent_turn(scene, move, persona, messages, config, own)
    except (RecallMiss, UngroundedAnswerError) as error:
        shown = [f"{type(error).__name__}: {error}"]
    return shown, [asked for model in own for asked in model.asked]


async def run(host, way, given, config):
    if way == "invoke":
        return [bare(await asyncio.to_thread(host.invoke, given, config))]
    if way == "batch":
        return [bare(o) for o in await asyncio.to_thread(host.batch, [given], [config])]
    if way == "stream":
        return [bare(c) for c in await asyncio.to_thread(lambda: list(host.stream(given, config)))]
    if way == "astream":
        return [bare(c) async for c in host.astream(given, config)]
    return [bare(await host.ainvoke(given, config))]


async def tool_loop(scene, messages, config):
    bound = scene.chat.bind_tools([weather])
    shown = []
    for _ in range(3):
        reply = await bound.ainvoke(messages, config)
        shown.append(bare(reply))
        if not reply.tool_calls:
            break
        answers = [
            ToolMessage(weather(c["args"].get("city", "")), tool_call_id=c["id"])
            for c in reply.tool_calls
        ]
        messages = [*messages, reply, *answers]
    return shown


async def agent_turn(scene, move, persona, messages, config, own):
    model = CountingModel(persona=flaky(persona) if move.host == "retrying" else persona)
    own.append(model)
    middleware = [scene.middleware]
    more = {}
    if move.host == "retrying":
        middleware.insert(0, ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False))
    if move.host == "summarised":
        summariser = CountingModel(persona=lambda asked: "They talked.")
        trigger = {"trigger": ("messages", 3), "keep": ("messages", 1)}
        middleware.insert(0, SummarizationMiddleware(model=summariser, **trigger))
    if move.host == "answering":
        more["response_format"] = ToolStrategy(Told)
    agent = create_agent(model, [weather, gossip, gossiping], middleware=middleware, **more)
    given = {"messages": messages}
    if move.way in ("stream", "astream"):
        if move.way == "stream":
            pieces = await asyncio.to_thread(
                lambda: list(agent.stream(given, config, stream_mode="messages"))
            )
        else:
            pieces = [p async for p in agent.astream(given, config, stream_mode="messages")]
        return [bare(m) for m, told in pieces if is_shown(m)]
    states = [await agent.ainvoke(given, config)] if move.way == "ainvoke" else None
    if states is None and move.way == "batch":
        states = await asyncio.to_thread(agent.batch, [given], [config])
    elif states is None:
        states = [await asyncio.to_thread(agent.invoke, given, config)]
    shown = [bare(m) for s in states for m in s["messages"] if is_shown(m)]
    return [
        *shown,
        *(f"{s['structured_response']}" for s in states if s.get("structured_response")),
    ]


def is_shown(message):
    """Whether a host shows a message: a model says it, or a tool that answers the person."""
    return message.type in ("ai", "AIMessageChunk") or message.name == "gossiping"


def bare(shown):
    """Return everything that was shown but the metadata, which names what was dropped."""
    if hasattr(shown, "response_metadata"):
        calls = [c for c in getattr(shown, "tool_calls", []) if c["name"] != "weather"]
        return f"{shown.content}{shown.additional_kwargs or ''}{calls or ''}"
    return f"{shown}"
