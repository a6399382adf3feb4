"""Sentence models that run on this computer, by folder or by name.

In: texts. Out: vectors. Needs the extra `sentence-transformers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from palace.errors import not_installed
from palace.models.local_model import LocalModel, used
from palace.models.packing import fitting, unit_vectors
from palace.ports import EmbedderIdentity, Vector

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_MAX_CHARS = 20_000
# What models call the instruction that belongs before a text of each kind.
_PROMPTS = {"query": ("query",), "passage": ("passage", "document")}


class SentenceTransformersEmbedder(LocalModel):
    """`Embedder` over a `sentence-transformers` model; it uses the prompts that the model names.

    Args:
        model: A folder, or a name such as `owner/model`.
        download: Whether a model that is not on this computer may be fetched.
    """

    _extra = "sentence-transformers"

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """The model with a fingerprint of its files."""
        (vector,) = self.embed(["."], kind="passage")
        return self._identity(len(vector) // 4)

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"]) -> list[Vector]:
        """Return one vector for each text, in order.

        Raises:
            EmbedderUnavailableError: If the package or the model cannot be used.
        """
        if not texts:
            return []
        transformer = self._loaded
        prompts = transformer.prompts or {}
        with used(self.model):
            matrix = transformer.encode(
                [fitting(text, _MAX_CHARS) for text in texts],
                prompt_name=next((name for name in _PROMPTS[kind] if prompts.get(name)), None),
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return unit_vectors(matrix)

    @cached_property
    def _loaded(self) -> SentenceTransformer:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise not_installed("sentence-transformers", self._extra) from error
        with used(self.model), _no_progress_bar():
            return SentenceTransformer(str(self._folder))


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Keep the library below from drawing on standard error; it is set for the whole process."""
    from transformers.utils import logging as drawing

    was_on = drawing.is_progress_bar_enabled()
    drawing.disable_progress_bar()
    try:
        yield
    finally:
        if was_on:
            drawing.enable_progress_bar()
