"""Every index keeps the same contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from palace.store.index_sqlite import SqliteIndex
from palace.testing import IndexContract


class TestSqliteIndexInMemory(IndexContract):
    @pytest.fixture
    def index(self) -> Iterator[SqliteIndex]:
        index = SqliteIndex(None)
        yield index
        index.close()


class TestSqliteIndexFile(IndexContract):
    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[SqliteIndex]:
        index = SqliteIndex(tmp_path / ".palace" / "index.sqlite")
        yield index
        index.close()
