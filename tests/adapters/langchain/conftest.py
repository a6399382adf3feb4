"""A palace with known answers, near misses and gaps; without LangChain nothing is collected."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import pytest

from palace import Mempalace, RetrievalEnforcer

collect_ignore_glob = []
if find_spec("langchain_core") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    if find_spec("langchain") is None:
        collect_ignore_glob += ["test_middleware*.py"]
    if find_spec("langchain_tests") is None:
        collect_ignore_glob += ["test_standard.py"]
    if find_spec("opentelemetry.sdk" if find_spec("opentelemetry") else "opentelemetry") is None:
        collect_ignore_glob += ["test_spans.py"]


@pytest.fixture(scope="session")
def stocked(tmp_path_factory):
    """The folder of a stocked palace, closed: to be copied, which is quicker than to stock anew.

    The prompts mean what the tests say they mean; a refit that changes it is told here.
    """
    from tests.adapters.langchain.doubles import HIT, MISS, PASS, UNCLEAR, stock

    folder = tmp_path_factory.mktemp("stocked")
    with Mempalace.open(folder / "palace") as opened:
        stock(opened)
    shutil.copytree(folder / "palace", folder / "asked")
    with Mempalace.open(folder / "asked") as opened:
        decide = RetrievalEnforcer(opened).decide
        actions = [decide(prompt).action for prompt in (HIT, UNCLEAR, MISS, PASS)]
    assert actions == ["ground", "confirm", "fallback", "pass"]
    return folder / "palace"


@pytest.fixture
def palace(stocked, tmp_path):
    shutil.copytree(stocked, tmp_path / "palace")
    with Mempalace.open(tmp_path / "palace") as opened:
        yield opened


@pytest.fixture
def other_palace(tmp_path):
    with Mempalace.open(tmp_path / "other") as opened:
        yield opened
