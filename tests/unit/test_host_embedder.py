"""An embedder of the host's own that raises what it likes, or returns something else than vectors."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from palace import EmbedderUnavailableError, Mempalace, RetrievalEnforcer
from palace.models.host_embedder import HostEmbedder
from palace.ports import EmbedderIdentity

HALF = struct.pack("<4f", 0.5, 0.5, 0.5, 0.5)


class OwnEmbedder:
    """Answers with whatever the given function makes of the texts."""

    def __init__(self, answer: Callable[[Sequence[str]], Any], *, kind: str | None = None) -> None:
        self.identity: Any = EmbedderIdentity("own", "", 4)
        self._answer = answer
        self._kind = kind

    def embed(self, texts: Sequence[str], *, kind: str) -> Any:
        if self._kind in (None, kind):
            return self._answer(texts)
        return [HALF for _ in texts]

    def close(self) -> None:
        raise RuntimeError("it is closed already")


class OwnLibraryError(Exception):
    """An error of a library that nobody here knows."""


def failing(error: Exception) -> Callable[[Sequence[str]], Any]:
    def answer(texts: Sequence[str]) -> Any:
        raise error

    return answer


BROKEN: list[tuple[Callable[[Sequence[str]], Any], str]] = [
    (failing(RuntimeError("out of memory")), "RuntimeError: out of memory"),
    (failing(OwnLibraryError("key sk-proj-0123456789abcdefghij0123")), "OwnLibraryError"),
    (failing(MemoryError()), "MemoryError"),
    (lambda texts: None, "TypeError"),
    (lambda texts: ["words"] * len(texts), "ValueError"),
    (lambda texts: [HALF] * (len(texts) + 1), "one vector of 4 dimensions for each text"),
    (lambda texts: [], "one vector of 4 dimensions for each text"),
    (lambda texts: [HALF[:12] for _ in texts], "one vector of 4 dimensions for each text"),
    (lambda texts: [HALF + b"!" for _ in texts], "ValueError"),
    (lambda texts: [1.0 for _ in texts], "one vector of 4 dimensions for each text"),
    (lambda texts: [struct.pack("<4f", 1, 1, 1, float("nan")) for _ in texts], "finite"),
]


@pytest.mark.parametrize("kind", [None, "query"])
@pytest.mark.parametrize(("answer", "told"), BROKEN)
def test_words_answer_and_the_walk_says_why(
    tmp_path: Path, answer: Callable[[Sequence[str]], Any], told: str, kind: str | None
) -> None:
    with Mempalace.open(tmp_path, embedder=OwnEmbedder(answer, kind=kind)) as palace:
        palace.remember("The boat is called Orca.")
        verdict = RetrievalEnforcer(palace).decide("What is our boat called?")
        (rooms,) = [report for report in verdict.walk if report.layer == "L1"]
        assert [item.text for item in verdict.evidence] == ["The boat is called Orca."]
        assert rooms.reason.startswith("words answered alone: ")
        assert told in rooms.reason
        assert "sk-proj" not in rooms.reason
        (meaning,) = [check for check in palace.doctor() if check.name == "meaning"]
        assert not meaning.ok
        if kind is None:
            with pytest.raises(EmbedderUnavailableError):
                palace.embed()


@pytest.mark.parametrize("identity", [None, "own", EmbedderIdentity("own", "", 0)])
def test_an_identity_must_be_one(identity: object) -> None:
    own = OwnEmbedder(lambda texts: [HALF for _ in texts])
    own.identity = identity
    with pytest.raises(EmbedderUnavailableError, match="identity"):
        HostEmbedder(own).embed(["a lamp"], kind="query")


@pytest.mark.parametrize("row", [[3.0, 4.0, 0.0, 0.0], struct.pack("<4f", 3, 4, 0, 0)])
def test_rows_of_numbers_become_unit_vectors(row: object) -> None:
    held = HostEmbedder(OwnEmbedder(lambda texts: (row for _ in texts)))
    assert struct.unpack("<4f", held.embed(["a lamp"], kind="passage")[0]) == pytest.approx(
        (0.6, 0.8, 0, 0)
    )
    held.close()


def test_a_missing_numpy_is_no_fault_of_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(EmbedderUnavailableError, match="numpy is not installed") as refused:
        HostEmbedder(OwnEmbedder(lambda texts: [HALF])).embed(["a lamp"], kind="query")
    assert "[embeddings]" in refused.value.hint
