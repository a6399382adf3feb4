"""These tests need llama-index-core; without it there is nothing to collect."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

collect_ignore_glob = [] if find_spec("llama_index") else ["*.py"]

if find_spec("llama_index"):
    from tests.adapters.llama_index.scripted import BandPalace, ScriptedLLM, open_palace

    @pytest.fixture
    def palace(tmp_path: Path) -> Iterator[BandPalace]:
        with open_palace(tmp_path / "palace") as opened:
            yield opened

    @pytest.fixture
    def model() -> ScriptedLLM:
        return ScriptedLLM()
