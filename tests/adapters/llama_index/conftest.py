"""These tests need llama-index-core; without it there is nothing to collect."""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

collect_ignore_glob = [] if find_spec("llama_index") else ["*.py"]

if find_spec("llama_index"):
    with warnings.catch_warnings():  # older versions beside a newer pydantic warn at import
        warnings.simplefilter("ignore")
        import_module("llama_index.core.agent.workflow")
        import_module("llama_index.core.chat_engine")

    from tests.adapters.llama_index.scripted import BandPalace, ScriptedLLM, open_palace

    @pytest.fixture(autouse=True)
    def own_loop(request: pytest.FixtureRequest) -> Iterator[None]:
        """Give LlamaIndex's synchronous doors an event loop: one they make stays open for good."""
        if inspect.iscoroutinefunction(request.function):
            yield
            return
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            yield
        finally:
            asyncio.set_event_loop(None)
            loop.close()

    @pytest.fixture
    def palace(tmp_path: Path) -> Iterator[BandPalace]:
        with open_palace(tmp_path / "palace") as opened:
            yield opened

    @pytest.fixture
    def model() -> ScriptedLLM:
        return ScriptedLLM()


# What LlamaIndex itself does, not we; newest and oldest supported versions.
_OF_LLAMA_INDEX = (
    # workflows looks at every attribute of a pydantic model, the deprecated ones included
    "ignore:The `__fields__` attribute is deprecated",
    "ignore:The `__fields_set__` attribute is deprecated",
    "ignore:The `model_computed_fields` attribute",
    "ignore:The `model_fields` attribute",
    "ignore:Accessing the 'model_",
    # ReActAgent asks its own workflow whether it runs
    "ignore:is_running called from within a step",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            for line in _OF_LLAMA_INDEX:
                item.add_marker(pytest.mark.filterwarnings(line))
