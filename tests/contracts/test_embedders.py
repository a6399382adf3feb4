"""Every embedder keeps the same contract."""

from __future__ import annotations

import pytest

from palace.models.wordllama import WordLlamaEmbedder
from palace.testing import EmbedderContract, HashedEmbedder


class TestHashedEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> HashedEmbedder:
        return HashedEmbedder()


@pytest.fixture(scope="module")
def wordllama() -> WordLlamaEmbedder:
    pytest.importorskip("wordllama")
    return WordLlamaEmbedder()


class TestWordLlamaEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, wordllama: WordLlamaEmbedder) -> WordLlamaEmbedder:
        return wordllama
