"""A palace with known answers, near misses and gaps; without LangChain nothing is collected."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from palace import Mempalace, RetrievalEnforcer

collect_ignore_glob = []
if find_spec("langchain_core") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    if find_spec("langchain") is None:
        collect_ignore_glob += ["test_middleware*.py", "test_examples.py"]
    if find_spec("langchain_tests") is None:
        collect_ignore_glob += ["test_standard.py"]
    if find_spec("opentelemetry.sdk" if find_spec("opentelemetry") else "opentelemetry") is None:
        collect_ignore_glob += ["test_spans.py"]


@pytest.fixture
def palace(tmp_path):
    from tests.adapters.langchain.doubles import stock

    with Mempalace.open(tmp_path / "palace") as opened:
        stock(opened)
        yield opened


@pytest.fixture
def other_palace(tmp_path):
    with Mempalace.open(tmp_path / "other") as opened:
        yield opened


@pytest.fixture(autouse=True)
def known_actions(request):
    """The prompts mean what the tests say they mean; a refit that changes it is told here."""
    if "palace" not in request.fixturenames:
        return
    from tests.adapters.langchain.doubles import HIT, MISS, PASS, UNCLEAR

    decide = RetrievalEnforcer(request.getfixturevalue("palace")).decide
    actions = [decide(prompt).action for prompt in (HIT, UNCLEAR, MISS, PASS)]
    assert actions == ["ground", "confirm", "fallback", "pass"]
