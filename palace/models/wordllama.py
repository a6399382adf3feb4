"""Static word vectors that come inside a wheel: meaning offline, without a download or a model run.

In: texts. Out: vectors of 256 dimensions. Needs the extra `semantic`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from palace.errors import EmbedderUnavailableError, not_installed
from palace.models.fingerprint import fingerprint
from palace.models.packing import fitting, unit_vectors
from palace.ports import EmbedderIdentity, Vector

if TYPE_CHECKING:
    from wordllama import WordLlamaInference

_CONFIG = "l2_supercat"
_DIMENSION = 256
# The library pads a batch to its longest text, in memory: long texts go in small batches.
_MAX_CHARS = 8000
_BATCH_CHARS = 16_000


class WordLlamaEmbedder:
    """`Embedder` over the weights that the package `wordllama` carries; it never downloads."""

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """The model with a fingerprint of its weights."""
        weights = _folder() / "weights" / f"{_CONFIG}_{_DIMENSION}.safetensors"
        try:
            revision = fingerprint([weights])
        except OSError as error:
            raise _incomplete(error) from error
        return EmbedderIdentity(f"wordllama/{_CONFIG}_{_DIMENSION}", revision, _DIMENSION)

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"]) -> list[Vector]:  # noqa: ARG002 - one space for both
        """Return one vector for each text, in order; a text without any token gets zeros.

        Raises:
            EmbedderUnavailableError: If the package or its weights are missing.
        """
        vectors: dict[int, Vector] = {}
        cut = [fitting(text, _MAX_CHARS) for text in texts]
        for places in _batches(cut):
            matrix = self._model.embed([cut[p] for p in places], batch_size=len(places))
            vectors.update(zip(places, unit_vectors(matrix), strict=True))
        return [vectors[place] for place in range(len(texts))]

    def close(self) -> None:
        """Let go of the model; it is loaded again when it is needed."""
        self.__dict__.pop("_model", None)

    @cached_property
    def _model(self) -> WordLlamaInference:
        folder = _folder()
        with _logging_left_alone():
            from wordllama import WordLlama
        try:
            return WordLlama.load(_CONFIG, dim=_DIMENSION, cache_dir=folder, disable_download=True)
        except Exception as error:  # `tokenizers` and `safetensors` raise bare ones
            raise _incomplete(error) from error


def _folder() -> Path:
    """Return the folder of the installed package."""
    from importlib.util import find_spec

    found = find_spec("wordllama")
    if found is None or found.origin is None:
        raise not_installed("wordllama", "semantic")
    return Path(found.origin).parent


def _incomplete(error: Exception) -> EmbedderUnavailableError:
    return EmbedderUnavailableError(
        f"the weights inside the package wordllama cannot be read: {error}",
        hint="install the extra again: pip install --force-reinstall 'wordllama>=0.4'",
        retryable=False,
    )


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield places of texts of about the same length, each batch small enough when padded."""
    batch: list[int] = []
    for place in sorted(range(len(texts)), key=lambda p: len(texts[p])):
        if batch and (len(batch) + 1) * len(texts[place]) > _BATCH_CHARS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


@contextmanager
def _logging_left_alone() -> Iterator[None]:
    """Keep the import from setting up logging for the whole program."""
    root = logging.getLogger()
    silent: Any = logging.NullHandler()
    root.addHandler(silent)
    try:
        yield
    finally:
        root.removeHandler(silent)
