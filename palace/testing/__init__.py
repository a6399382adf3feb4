"""Contracts that every implementation of a port must keep, and doubles that keep them.

In: a pytest fixture that builds your implementation. Out: the tests it inherits. The module needs
pytest. An implementation is held to its contract by a subclass in a test file:

    import pytest

    from palace.testing import ManualClock, ScratchpadContract

    class TestMyScratchpad(ScratchpadContract):
        @pytest.fixture
        def scratchpad(self, clock: ManualClock) -> MyScratchpad:
            return MyScratchpad(clock=clock)

The fixture `clock` is provided by the contract and can be overridden, for example by one whose
`advance` moves the time of a server. Call `pytest.register_assert_rewrite("palace.testing")` in
your `conftest.py`, before the import, to see values in failed assertions.
"""

from palace.testing.clock import ManualClock
from palace.testing.embedders import EmbedderContract, HashedEmbedder
from palace.testing.fetchers import FetcherContract
from palace.testing.generators import ScriptedGenerator
from palace.testing.indexes import FilledIndex, IndexContract
from palace.testing.journals import JournalContract, MemoryJournal
from palace.testing.scratchpads import MemoryScratchpad, ScratchpadContract

__all__ = [
    "EmbedderContract",
    "FetcherContract",
    "FilledIndex",
    "HashedEmbedder",
    "IndexContract",
    "JournalContract",
    "ManualClock",
    "MemoryJournal",
    "MemoryScratchpad",
    "ScratchpadContract",
    "ScriptedGenerator",
]
