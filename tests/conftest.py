"""Every test starts in a home of its own, with no settings of the person who runs it."""

from __future__ import annotations

import gc
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from palace import Mempalace

pytest.register_assert_rewrite("palace.testing")

_TOKENS = ("GITEA_TOKEN", "GITHUB_TOKEN")
_ELSEWHERE = ("PALACE_", "EMBEDDING_")


_homes = itertools.count()


def pytest_collection_finish() -> None:
    """Spare the collector what stays to the end: thousands of tests and all that they import."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    # counted here: `mktemp` looks through all of its folder for the next number
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_homes))
    home.mkdir(parents=True)
    for name in list(os.environ):
        if name.startswith(_ELSEWHERE) or name in _TOKENS:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where `palace` stands; a module that has its own puts something there first."""
    return tmp_path / "palace"


@pytest.fixture
def palace(root: Path) -> Iterator[Mempalace]:
    from palace import Mempalace

    with Mempalace.open(root) as opened:
        yield opened
