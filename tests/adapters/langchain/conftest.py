"""A palace with known answers, near misses and gaps; skipped whole without LangChain."""

from __future__ import annotations

import pytest

pytest.importorskip("langchain_core", reason="the LangChain adapter needs langchain-core")

from palace import Mempalace, RetrievalEnforcer  # noqa: E402

HIT = "When did we ship version 4.1.0?"
HIT_TEXT = "We shipped version 4.1.0 on 2026-03-02."
UNCLEAR = "What did we decide about the colour of the dashboard?"
UNCLEAR_TEXT = "Alice prefers the blue theme for the dashboard."
MISS = "What is my cat called?"
PASS = "Write a haiku about rain."
IDENTITY = "I am Robin, keeper of the staging systems."


def stock(palace: Mempalace) -> None:
    palace.remember(HIT_TEXT, room="releases", drawer="log")
    palace.remember("The staging database listens on port 5432.", room="infra")
    palace.remember(UNCLEAR_TEXT, room="people", kind="preference")
    palace.remember("Deploys run from main with make deploy.", room="infra", drawer="deploys")


@pytest.fixture
def palace(tmp_path):
    with Mempalace.open(tmp_path / "palace") as opened:
        stock(opened)
        yield opened


@pytest.fixture
def decide(palace):
    """What the palace itself decides, so that no test rests on a guess."""
    return RetrievalEnforcer(palace).decide


@pytest.fixture(autouse=True)
def known_actions(request):
    """The prompts mean what the tests say they mean; a refit that changes it is told here."""
    if "palace" not in request.fixturenames:
        return
    palace = request.getfixturevalue("palace")
    decide = RetrievalEnforcer(palace).decide
    actions = [decide(prompt).action for prompt in (HIT, UNCLEAR, MISS, PASS)]
    assert actions == ["ground", "confirm", "fallback", "pass"]
