"""Every test starts in a home of its own, with no settings of the person who runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.register_assert_rewrite("palace.testing")

_TOKENS = ("GITEA_TOKEN", "GITHUB_TOKEN")
_ELSEWHERE = ("PALACE_", "EMBEDDING_")


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(_ELSEWHERE) or name in _TOKENS:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home
