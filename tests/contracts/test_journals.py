"""Every journal keeps the same contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from palace.store.journal import FileJournal
from palace.testing import JournalContract, MemoryJournal


class TestMemoryJournal(JournalContract):
    @pytest.fixture
    def journal(self) -> MemoryJournal:
        return MemoryJournal()


class TestFileJournal(JournalContract):
    @pytest.fixture
    def journal(self, tmp_path: Path) -> FileJournal:
        return FileJournal(tmp_path / "journal")
