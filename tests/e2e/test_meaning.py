"""Meaning through the facade: what is embedded, when, and what happens without it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from palace import ConfigError, Mempalace, RetrievalEnforcer, StoreUnavailableError
from palace.ports import Scope
from palace.recall.logistic import load_model
from palace.store.passages import passage_of
from palace.testing import HashedEmbedder
from tests.e2e.fake_embeddings import FakeEmbeddings


def nearest(palace: Mempalace, text: str) -> list[str]:
    assert palace.vectors is not None
    vector = palace.vectors.ask(text)
    assert vector is not None
    found = palace.vectors.nearest(vector, layer="L1", scope=Scope(), limit=5)
    return [m.text for m in palace.index.load([key for key, _ in found]).values()]


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


def test_static_vectors_are_weighed_apart(tmp_path, monkeypatch):
    def weights(palace):
        parts = palace._parts
        return parts.searcher.with_meaning, parts.sufficiency._meaning

    with Mempalace.open(tmp_path / "host", embedder=HashedEmbedder()) as palace:
        reads = weights(palace)
    with Mempalace.open(tmp_path / "off") as palace:
        assert weights(palace) == (None, None)
    monkeypatch.setenv("PALACE_EMBEDDINGS__PROVIDER", "wordllama")
    with Mempalace.open(tmp_path / "static") as palace:
        static = weights(palace)
    assert static == (load_model("ranking_static"), load_model("sufficiency_statement_static"))
    assert reads == (load_model("ranking_semantic"), load_model("sufficiency_statement_semantic"))


def test_a_server_by_the_usual_variables(tmp_path, monkeypatch):
    with FakeEmbeddings(dimension=64, key="k") as server:
        monkeypatch.setenv("EMBEDDING_BASE_URL", server.url)
        monkeypatch.setenv("EMBEDDING_MODEL_NAME", "small")
        monkeypatch.setenv("EMBEDDING_API_KEY", "k")
        with Mempalace.open(tmp_path) as palace:
            palace.remember("The kettle is blue.")
            assert palace.embed().identity.name == "openai/small"
            assert nearest(palace, "kettle") == ["The kettle is blue."]
        sent = len(server.requests)
        with Mempalace.open(tmp_path) as palace:
            assert nearest(palace, "kettle") == ["The kettle is blue."]
        assert len(server.requests) == sent  # what was embedded once is on the disk
    with Mempalace.open(tmp_path) as palace:
        assert palace.vectors is not None
        assert palace.vectors.ask("something else") is None
        assert palace.vectors.state.status == "unavailable"
        told = RetrievalEnforcer(palace).decide("What colour is my kettle?")
        assert told.evidence[0].text == "The kettle is blue."
        assert "words answered alone: the embeddings server failed" in told.explain()
        assert palace.search("Which kettle?")[0].memory.text == "The kettle is blue."


@pytest.mark.parametrize("dimension", [8, 12])
def test_a_rebuild_asks_the_server_again(tmp_path, monkeypatch, dimension):
    """Another model stands behind the same name."""
    with FakeEmbeddings() as server:
        monkeypatch.setenv("EMBEDDING_BASE_URL", server.url)
        monkeypatch.setenv("EMBEDDING_MODEL_NAME", "small")
        with Mempalace.open(tmp_path) as palace:
            palace.remember("The kettle is blue.")
            palace.embed()
        server.dimension = dimension
        sent = len(server.requests)
        with Mempalace.open(tmp_path) as palace:
            done = palace.embed(rebuild=True)
            assert (done.identity.dimension, done.embedded) == (dimension, 1)
            assert nearest(palace, "kettle") == ["The kettle is blue."]
        assert "notes: The kettle is blue." in str(server.requests[sent:])


def test_a_killed_run_goes_on(tmp_path):
    """A process is killed between two batches, and once in the middle of a write."""
    with Mempalace.open(tmp_path) as palace:
        for n in range(60):
            palace.remember(f"Shelf {n} holds kettle {n}.", on_conflict="keep")
    code = f"""
import os, sys
from palace import Mempalace
from palace.testing import HashedEmbedder
class Dying(HashedEmbedder):
    def embed(self, texts, *, kind):
        if len(self.embedded) >= 32:
            next(palace.root.glob(".palace/*.f32")).open("ab").write(b"half a row")
            os.kill(os.getpid(), 9)
        return super().embed(texts, kind=kind)
palace = Mempalace.open({str(tmp_path)!r}, embedder=Dying())
palace.embed()
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=50)
    assert done.returncode == -9
    embedder = HashedEmbedder()
    with Mempalace.open(tmp_path, embedder=embedder) as palace:
        assert palace.embed().embedded == 60
        assert len(embedder.embedded) == 28
        assert nearest(palace, "Shelf 41 kettle 41")[0] == "Shelf 41 holds kettle 41."


def test_several_processes_embed_together(tmp_path):
    """Two at once embed everything, and nothing twice."""
    with Mempalace.open(tmp_path) as palace:
        for n in range(80):
            palace.remember(f"Shelf {n} holds kettle {n}.", on_conflict="keep")
    code = f"""
from palace import Mempalace
from palace.testing import HashedEmbedder
embedder = HashedEmbedder()
with Mempalace.open({str(tmp_path)!r}, embedder=embedder) as palace:
    assert palace.embed().embedded == 80
    print(len(embedder.embedded))
"""
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(2)
    ]
    counts = [int(process.communicate(timeout=50)[0]) for process in running]
    assert sum(counts) == 80
    with Mempalace.open(tmp_path, embedder=HashedEmbedder()) as palace:
        assert len(nearest(palace, "Shelf 41")) == 5


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_palace_keeps_its_vectors(tmp_path):
    with Mempalace.open(tmp_path, embedder=HashedEmbedder()) as palace:
        palace.remember("The kettle is blue.")
        palace.embed()
    places = [tmp_path / ".palace", tmp_path]
    for place in places:
        place.chmod(0o500)
    try:
        with Mempalace.open(tmp_path, embedder=HashedEmbedder()) as palace:
            assert nearest(palace, "kettle") == ["The kettle is blue."]
    finally:
        for place in places:
            place.chmod(0o700)


def test_where_nothing_can_be_kept_embedding_says_so(tmp_path, monkeypatch):
    with Mempalace.open(tmp_path) as palace:
        palace.remember("The kettle is blue.")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with Mempalace.open(tmp_path, embedder=HashedEmbedder()) as palace:
        with pytest.raises(StoreUnavailableError, match="read-only"):
            palace.embed()
        assert RetrievalEnforcer(palace).decide("What colour is my kettle?").evidence


def test_the_command(here, command, monkeypatch):
    with Mempalace.open(here) as palace:
        palace.remember("The kettle is blue.")
    ended = command("embed")
    assert (ended.code, "PALACE_EMBEDDINGS__PROVIDER=wordllama" in ended.err) == (2, True)
    with FakeEmbeddings() as server:
        monkeypatch.setenv("EMBEDDING_BASE_URL", server.url)
        monkeypatch.setenv("EMBEDDING_MODEL_NAME", "small")
        document = command("embed", "--json").json
        assert document["identity"] == {"name": "openai/small", "revision": "", "dimension": 8}
        assert (document["embedded"], document["total"]) == (1, 1)
        monkeypatch.setenv("EMBEDDING_MODEL_NAME", "large")
        ended = command("embed")
        assert (ended.code, "palace embed --rebuild" in ended.err) == (3, True)
        ended = command("doctor", "--json")
        failing = [check["name"] for check in ended.json["checks"] if not check["ok"]]
        assert (ended.code, failing) == (3, ["meaning"])
        assert "1 of 1 memory embedded" in command("embed", "--rebuild").out
        assert command("doctor").code == 0
    ended = command("doctor")
    assert (ended.code, "the embeddings server failed" in ended.out) == (3, True)
    # The server is gone, and words still find what comes near: the memory names no colour as one.
    ended = command("ask", "What colour did we say the kettle is?")
    assert (ended.code, "The kettle is blue." in ended.out) == (1, True)
