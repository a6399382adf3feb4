"""What every embedder must keep, and one made of hashed words.

In: a fixture `embedder`. Out: inherited tests, and `HashedEmbedder` for tests of your own.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Sequence
from typing import Literal

import pytest

from palace.errors import EmbedderUnavailableError
from palace.ports import Embedder, EmbedderIdentity, Vector
from palace.text import tokens

Kind = Literal["query", "passage"]
_KINDS: tuple[Kind, ...] = ("query", "passage")


class HashedEmbedder:
    """`Embedder` without a model: texts are near when they share words. Deterministic.

    Args:
        name: Its name; two of different names do not match.
        dimension: Numbers in a vector, >= 1.

    Attributes:
        embedded: Every text it was asked for, in order.
        broken: Set to True, it fails as a server does that is down.
    """

    def __init__(self, name: str = "hashed", *, dimension: int = 64) -> None:
        self.identity = EmbedderIdentity(name, "", dimension)
        self.embedded: list[str] = []
        self.broken = False

    def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:  # noqa: ARG002 - one space for both
        """Return one vector for each text, in order."""
        if self.broken:
            raise EmbedderUnavailableError("the embedder is down", hint="start it")
        self.embedded.extend(texts)
        return [self._vector(text) for text in texts]

    def close(self) -> None:
        """Nothing is open."""

    def _vector(self, text: str) -> Vector:
        numbers = [0.0] * self.identity.dimension
        for word in tokens(text) or [""]:
            digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
            place = int.from_bytes(digest[:4], "big") % self.identity.dimension
            numbers[place] += 1.0 if digest[4] % 2 else -1.0
        length = math.sqrt(sum(n * n for n in numbers)) or 1.0
        return array("f", [n / length for n in numbers]).tobytes()


class EmbedderContract:
    """What every `Embedder` promises; give a fixture `embedder` that returns one that works."""

    def values(self, vector: Vector) -> array[float]:
        """Return a vector's numbers."""
        return array("f", vector)

    def nearness(self, first: Vector, second: Vector) -> float:
        """Return the cosine of two vectors."""
        return sum(a * b for a, b in zip(self.values(first), self.values(second), strict=True))

    def test_identity_is_named_and_stays(self, embedder: Embedder) -> None:
        """It has a name and a dimension, and is the same afterwards."""
        identity = embedder.identity
        assert identity.name
        assert identity.dimension >= 1
        embedder.embed(["a lamp"], kind="query")
        assert embedder.identity == identity

    @pytest.mark.parametrize("kind", _KINDS)
    def test_one_unit_vector_a_text(self, embedder: Embedder, kind: Kind) -> None:
        """Vectors are float32 of length 1 and of the promised dimension."""
        texts = ["a blue kettle", "a lamp", "a blue kettle"]
        vectors = embedder.embed(texts, kind=kind)
        assert len(vectors) == len(texts)
        for vector in vectors:
            assert len(vector) == 4 * embedder.identity.dimension
            assert self.nearness(vector, vector) == pytest.approx(1.0, abs=1e-4)
        assert self.nearness(vectors[0], vectors[2]) == pytest.approx(1.0, abs=1e-4)

    def test_order_is_kept(self, embedder: Embedder) -> None:
        """A text has the same vector alone, in company, and among texts of other lengths."""
        texts = [f"number {n} " + "and so on " * (n % 7) for n in range(150)]
        together = embedder.embed(texts, kind="passage")
        for place in (0, 17, 149):
            (alone,) = embedder.embed([texts[place]], kind="passage")
            assert self.nearness(alone, together[place]) == pytest.approx(1.0, abs=1e-3)

    def test_nothing_in_nothing_out(self, embedder: Embedder) -> None:
        """No texts are no vectors."""
        assert embedder.embed([], kind="query") == []

    def test_any_sequence_of_texts(self, embedder: Embedder) -> None:
        """A tuple is as good as a list."""
        texts = ("a lamp", "a kettle")
        assert embedder.embed(texts, kind="passage") == embedder.embed([*texts], kind="passage")

    @pytest.mark.parametrize(
        "text", ["", " ", "\n", "\0", "🦊", "我们什么时候见面", "\ud800", "word " * 20_000]
    )
    def test_any_text_at_all(self, embedder: Embedder, text: str) -> None:
        """Empty, foreign, broken and very long texts have vectors of finite numbers too."""
        first, second = embedder.embed([text, "a lamp"], kind="passage")
        assert len(first) == len(second) == 4 * embedder.identity.dimension
        assert self.nearness(first, first) <= 1.0001  # not so for NaN

    def test_closed_is_not_the_end(self, embedder: Embedder) -> None:
        """What is closed opens again, with the same vectors."""
        before = embedder.embed(["a lamp"], kind="query")
        embedder.close()
        embedder.close()
        assert embedder.embed(["a lamp"], kind="query") == before

    def test_shared_words_are_near(self, embedder: Embedder) -> None:
        """A question is nearer to its answer than to something else."""
        (asked,) = embedder.embed(["Where is the blue kettle?"], kind="query")
        near, far = embedder.embed(
            ["The blue kettle stands in the kitchen.", "Taxes are due in May."], kind="passage"
        )
        assert self.nearness(asked, near) > self.nearness(asked, far)
