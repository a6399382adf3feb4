"""Meaning through the facade: what is embedded, when, and what happens without it."""

from __future__ import annotations

import pytest

from palace import ConfigError, Mempalace
from palace.ports import Scope
from palace.store.passages import passage_of
from palace.testing import HashedEmbedder


def nearest(palace: Mempalace, text: str) -> list[str]:
    assert palace.vectors is not None
    vector = palace.vectors.ask(text)
    assert vector is not None
    found = palace.vectors.nearest(vector, layer="L1", scope=Scope(), limit=5)
    return [m.text for m in palace.index.load([key for key, _ in found])]


def texts_embedded(palace: Mempalace) -> list[str]:
    return [passage_of(m) for m in palace.memories()]


def test_off_by_default(tmp_path):
    with Mempalace.open(tmp_path) as palace:
        palace.remember("The kettle is blue.")
        assert palace.vectors is None
        with pytest.raises(ConfigError, match=r"embeddings\.provider"):
            palace.embed()
    assert not list((tmp_path / ".palace").glob("vectors*"))


def test_a_memory_is_found_by_the_very_next_question(tmp_path):
    with Mempalace.open(tmp_path, embedder=HashedEmbedder()) as palace:
        palace.remember("The kettle is blue.")
        assert nearest(palace, "kettle") == ["The kettle is blue."]
        kept = palace.remember("The new kettle is green.", on_conflict="keep").memory
        assert nearest(palace, "new kettle")[0] == "The new kettle is green."
        palace.forget(kept.id)
        assert nearest(palace, "new kettle") == ["The kettle is blue."]


def test_nothing_is_embedded_twice(tmp_path):
    texts = [f"Shelf {n} holds kettle {n}." for n in range(50)]
    with Mempalace.open(tmp_path, embedder=HashedEmbedder()) as palace:
        for text in texts:
            palace.remember(text, on_conflict="keep")
        assert palace.embed().embedded == 50
    again = HashedEmbedder()
    with Mempalace.open(tmp_path, embedder=again) as palace:
        palace.reindex()
        assert palace.embed().added == 0
        assert again.embedded == []
        assert palace.embed(rebuild=True).embedded == 50
        assert sorted(again.embedded) == sorted(texts_embedded(palace))


def test_wordllama_by_setting(tmp_path, monkeypatch):
    pytest.importorskip("wordllama")
    monkeypatch.setenv("PALACE_EMBEDDINGS__PROVIDER", "wordllama")
    with Mempalace.open(tmp_path) as palace:
        palace.remember("The physician prescribed new medicine.")
        palace.remember("The roof of the shed leaks.")
        done = palace.embed()
        assert (done.embedded, done.identity.dimension) == (2, 256)
        assert nearest(palace, "Which drugs did the doctor give?")[0].startswith("The physician")
