"""Static word vectors distilled from a sentence model, by folder or by name.

In: texts. Out: vectors. Needs the extra `model2vec`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from palace.errors import not_installed
from palace.models.local_model import LocalModel, used
from palace.models.packing import fitting, unit_vectors
from palace.ports import EmbedderIdentity, Vector

if TYPE_CHECKING:
    from model2vec import StaticModel

_MAX_CHARS = 8000


class Model2VecEmbedder(LocalModel):
    """`Embedder` over a `model2vec` model.

    Args:
        model: A folder, or a name such as `owner/model`.
        download: Whether a model that is not on this computer may be fetched.
    """

    _extra = "model2vec"

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """The model with a fingerprint of its files."""
        return self._identity(self._loaded.dim)

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"]) -> list[Vector]:  # noqa: ARG002 - one space for both
        """Return one vector for each text, in order; a text without any known token gets zeros.

        Raises:
            EmbedderUnavailableError: If the package or the model cannot be used.
        """
        if not texts:
            return []
        # Progress and worker processes are for much more text than one batch.
        with used(self.model):
            matrix = self._loaded.encode(
                [fitting(text, _MAX_CHARS) for text in texts],
                show_progress_bar=False,
                use_multiprocessing=False,
            )
        return unit_vectors(matrix)

    @cached_property
    def _loaded(self) -> StaticModel:
        try:
            from model2vec import StaticModel
        except ImportError as error:
            raise not_installed("model2vec", self._extra) from error
        with used(self.model):
            return StaticModel.from_pretrained(str(self._folder))
