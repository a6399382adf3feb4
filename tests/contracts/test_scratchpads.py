"""Every scratchpad keeps the same contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from palace.store.scratchpad_file import FileScratchpad
from palace.testing import ManualClock, MemoryScratchpad, ScratchpadContract


class TestMemoryScratchpad(ScratchpadContract):
    @pytest.fixture
    def scratchpad(self, clock: ManualClock) -> MemoryScratchpad:
        return MemoryScratchpad(clock=clock)


class TestFileScratchpad(ScratchpadContract):
    @pytest.fixture
    def scratchpad(self, clock: ManualClock, tmp_path: Path) -> FileScratchpad:
        return FileScratchpad(tmp_path / "scratchpad", clock=clock)


class _Reopened:
    """Opens the folder anew for every call, as separate processes would."""

    def __init__(self, folder: Path, clock: ManualClock) -> None:
        self._open = lambda: FileScratchpad(folder, clock=clock)

    def append(self, session_id, text, *, ttl_s=None):
        return self._open().append(session_id, text, ttl_s=ttl_s)

    def entries(self, session_id):
        return self._open().entries(session_id)


class TestReopenedFileScratchpad(ScratchpadContract):
    @pytest.fixture
    def scratchpad(self, clock: ManualClock, tmp_path: Path) -> _Reopened:
        return _Reopened(tmp_path / "scratchpad", clock)
