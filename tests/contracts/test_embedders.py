"""Every embedder keeps the same contract."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from palace.errors import EmbedderUnavailableError
from palace.models.host_embedder import HostEmbedder
from palace.models.model2vec import Model2VecEmbedder
from palace.models.sentence_transformers import SentenceTransformersEmbedder
from palace.models.wordllama import WordLlamaEmbedder
from palace.testing import EmbedderContract, HashedEmbedder
from tests.small_models import save_model2vec, save_sentence_transformer


class TestHashedEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> HashedEmbedder:
        return HashedEmbedder()


class TestHostEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> HostEmbedder:
        return HostEmbedder(HashedEmbedder())


@pytest.fixture(scope="module")
def wordllama() -> WordLlamaEmbedder:
    pytest.importorskip("wordllama")
    return WordLlamaEmbedder()


class TestWordLlamaEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, wordllama: WordLlamaEmbedder) -> WordLlamaEmbedder:
        return wordllama


@pytest.fixture(scope="module")
def model2vec(tmp_path_factory: pytest.TempPathFactory) -> Model2VecEmbedder:
    pytest.importorskip("model2vec")
    return Model2VecEmbedder(str(save_model2vec(tmp_path_factory.mktemp("small-static"))))


class TestModel2VecEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, model2vec: Model2VecEmbedder) -> Model2VecEmbedder:
        return model2vec


@pytest.fixture(scope="module")
def sentence_transformers(
    tmp_path_factory: pytest.TempPathFactory,
) -> SentenceTransformersEmbedder:
    pytest.importorskip("sentence_transformers")
    folder = save_sentence_transformer(tmp_path_factory.mktemp("small-sentences"))
    return SentenceTransformersEmbedder(str(folder))


class TestSentenceTransformersEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(
        self, sentence_transformers: SentenceTransformersEmbedder
    ) -> SentenceTransformersEmbedder:
        return sentence_transformers


@pytest.mark.parametrize("make", [Model2VecEmbedder, SentenceTransformersEmbedder])
@pytest.mark.parametrize("model", ["nobody/has-this", "no name at all", "/no/such/folder"])
def test_nothing_is_downloaded_unless_it_may_be(make, model: str) -> None:
    pytest.importorskip("huggingface_hub")
    with pytest.raises(EmbedderUnavailableError) as caught:
        make(model).embed(["a lamp"], kind="query")
    assert "is not on this computer" in caught.value.message or "installed" in caught.value.message
    assert caught.value.hint


def test_a_download_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")
    pytest.importorskip("model2vec")

    def snapshot_download(model: str, *, local_files_only: bool) -> str:
        assert not local_files_only
        raise OSError("no network")

    monkeypatch.setattr(hub, "snapshot_download", snapshot_download)
    with pytest.raises(EmbedderUnavailableError, match="cannot be downloaded") as caught:
        Model2VecEmbedder("nobody/has-this", download=True).embed(["a lamp"], kind="query")
    assert "network" in caught.value.hint


def test_a_folder_that_holds_no_model(tmp_path: Path) -> None:
    pytest.importorskip("model2vec")
    with pytest.raises(EmbedderUnavailableError, match="cannot be used"):
        Model2VecEmbedder(str(tmp_path)).embed(["a lamp"], kind="query")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("content", [b"", b"{}", b"<html>404</html>"])
@pytest.mark.parametrize(
    ("package", "save", "make"),
    [
        ("model2vec", save_model2vec, Model2VecEmbedder),
        ("sentence_transformers", save_sentence_transformer, SentenceTransformersEmbedder),
    ],
)
def test_a_folder_with_a_damaged_file(
    package: str, save, make, name: str, content: bytes, tmp_path: Path
) -> None:
    pytest.importorskip(package)
    for path in save(tmp_path / "model").rglob(name):
        path.write_bytes(content)
    embedder = make(str(tmp_path / "model"))
    with contextlib.suppress(EmbedderUnavailableError):  # without a setting some files do
        assert len(embedder.embed(["a lamp"], kind="query")) == 1


@pytest.mark.parametrize("content", [b"", b"{}"])
def test_a_damaged_package(content: bytes, tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("wordllama")
    (tmp_path / "tokenizers").mkdir()
    (tmp_path / "tokenizers" / "l2_supercat_tokenizer_config.json").write_bytes(content)
    monkeypatch.setattr("palace.models.wordllama._folder", lambda: tmp_path)
    with pytest.raises(EmbedderUnavailableError, match="cannot be read"):
        WordLlamaEmbedder().embed(["a lamp"], kind="query")


def test_identity_follows_the_weights_and_not_the_place(tmp_path: Path) -> None:
    pytest.importorskip("model2vec")
    first, second, third = (tmp_path / place / "model" for place in "abc")
    identities = [
        Model2VecEmbedder(str(save_model2vec(folder, seed=seed))).identity
        for folder, seed in ((first, 1), (second, 1), (third, 2))
    ]
    assert identities[0] == identities[1]
    assert identities[0].name == identities[2].name == "model2vec/model"
    assert identities[0].revision != identities[2].revision
