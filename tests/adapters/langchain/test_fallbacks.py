"""`with_fallbacks` and `with_retry` of a wrapper act behind the palace: a miss is no failure."""

from __future__ import annotations

import pytest
from langchain_core.messages import BaseMessage
from langchain_palace import ChatPalace, PalaceRunnable
from pydantic import BaseModel

from palace import EnforcementError, RecallMiss
from tests.adapters.langchain.doubles import (
    CHAT,
    FALLBACK,
    HIT,
    HIT_TEXT,
    LIE,
    MISS,
    PASS,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    calling,
    declining,
    failing,
    flaky,
    honest,
    ignoring,
    out_of,
)


class Told(BaseModel):
    """What is told."""

    words: str


def telling(asked):
    """Say in words or in the schema what the first memory says."""
    if asked.is_pointing or "Told" not in asked.tools:
        return honest(asked)
    return calling("Told", {"words": asked.items[0] if asked.items else CHAT})


def telling_lies(asked):
    return calling("Told", {"words": LIE}) if "Told" in asked.tools else ignoring(asked)


def chat(palace, main, other):
    return ChatPalace(inner=main, palace=palace).with_fallbacks([other])


def in_schema_alone(palace, main):
    return ChatPalace(inner=main, palace=palace).with_structured_output(Told)


def chain_alone(palace, main):
    return PalaceRunnable(bound=main.with_structured_output(Told), palace=palace)


def structured(palace, main, other):
    asking = in_schema_alone(palace, main)
    return asking.with_fallbacks([other.with_structured_output(Told)])


def in_schema(palace, main, other):
    return chat(palace, main, other).with_structured_output(Told)


def chain(palace, main, other):
    asking = chain_alone(palace, main)
    return asking.with_fallbacks([other.with_structured_output(Told)])


HOSTS = [chat, structured, in_schema, chain]
WAYS = ["invoke", "ainvoke", "stream"]


async def said(host, way, prompt):
    """Return what is said in a way, or the miss."""
    try:
        made = await out_of(host, way, prompt)
    except EnforcementError as error:
        return str(error)
    return made.text if isinstance(made, BaseMessage) else made.words


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("host", HOSTS)
async def test_a_miss_asks_nobody(palace, host, way):
    main, other = CountingModel(persona=telling), CountingModel(persona=telling_lies)
    assert (await said(host(palace, main, other), way, MISS)).startswith(FALLBACK)
    assert main.calls == other.calls == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("prompt", [HIT, UNCLEAR])
@pytest.mark.parametrize("host", HOSTS)
async def test_what_stands_in_is_checked(palace, host, prompt, way):
    main, other = CountingModel(persona=flaky(honest, 9)), CountingModel(persona=telling_lies)
    text = await said(host(palace, main, other), way, prompt)
    assert text
    assert LIE not in text
    assert other.calls or prompt is UNCLEAR  # where no quote is read the chain runs no more


@pytest.mark.parametrize("host", HOSTS)
async def test_what_stands_in_gets_the_evidence(palace, host):
    main, other = CountingModel(persona=flaky(honest, 9)), CountingModel(persona=telling)
    assert HIT_TEXT in await said(host(palace, main, other), "ainvoke", HIT)


async def test_what_stands_in_for_a_model_points_for_it_too(palace):
    main, other = CountingModel(persona=failing(99)), CountingModel(persona=telling)
    assert UNCLEAR_TEXT in await said(chat(palace, main, other), "ainvoke", UNCLEAR)
    assert main.calls == other.calls


@pytest.mark.parametrize("host", HOSTS)
async def test_what_asks_for_no_memory_is_answered_by_who_stands_in(palace, host):
    main, other = CountingModel(persona=failing(1)), CountingModel(persona=telling)
    assert await said(host(palace, main, other), "invoke", PASS) == CHAT


def test_settings_stay(palace):
    host = PalaceRunnable(
        bound=CountingModel(persona=honest), palace=palace, session_id="s1", on_miss=str.upper
    ).with_fallbacks([CountingModel(persona=honest)])
    assert host.session_id == "s1"
    assert host.invoke(MISS) == FALLBACK.upper()


def test_a_model_that_declines_has_not_failed(palace):
    main, other = CountingModel(persona=declining), CountingModel(persona=telling_lies)
    with pytest.raises(RecallMiss):
        structured(palace, main, other).invoke(HIT)
    assert other.calls == 0
    (record,) = palace.journal.records(type="answer")
    assert record["declined"]


@pytest.mark.parametrize("host", [in_schema_alone, chain_alone])
async def test_what_fails_is_run_again_and_a_miss_is_not(palace, host):
    main = CountingModel(persona=flaky(telling))
    asking = host(palace, main).with_retry(wait_exponential_jitter=False)

    assert (await said(asking, "ainvoke", MISS)).startswith(FALLBACK)
    assert main.calls == 0
    assert HIT_TEXT in await said(asking, "ainvoke", HIT)
    assert main.calls == 2
    assert len(palace.verdicts(limit=9)) == 2
