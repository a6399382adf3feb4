"""An embedder of the host's own, held to the port: what breaks in it costs meaning, not the answer.

In: any object that is meant to be an `Embedder`. Out: unit vectors of the promised dimension, or
`EmbedderUnavailableError`, so that words answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from palace.errors import EmbedderUnavailableError, PalaceError, not_installed
from palace.models.packing import unit_vectors
from palace.ports import Embedder, EmbedderIdentity, Vector
from palace.secrets import redact

if TYPE_CHECKING:
    from numpy.typing import NDArray

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
_HINT = "check the embedder given to Mempalace.open with palace.testing.EmbedderContract"
_MAX_TOLD_CHARS = 200


class HostEmbedder:
    """`Embedder` around one of the host's own.

    Args:
        embedder: The host's. Rows of numbers are taken for vectors too, of any length.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def identity(self) -> EmbedderIdentity:
        """The host's model."""
        identity = _called(lambda: self._embedder.identity)
        if not isinstance(identity, EmbedderIdentity) or identity.dimension < 1:
            raise _broken("its identity is no EmbedderIdentity of one dimension or more")
        return identity

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"]) -> list[Vector]:
        """Return one unit vector for each text, in order.

        Raises:
            EmbedderUnavailableError: If the host's embedder raises anything or breaks the port.
        """
        made = _called(lambda: _rows(self._embedder.embed(texts, kind=kind)))
        dimension = self.identity.dimension
        if len(made) != len(texts) or any(len(row) != dimension for row in made):
            raise _broken(f"not one vector of {dimension} dimensions for each text")
        return unit_vectors(made) if made else []

    def close(self) -> None:
        """Close the host's; what fails then is only logged."""
        try:
            _called(lambda: self._embedder.close())
        except EmbedderUnavailableError as error:
            _log.info("closing: %s", error)


def _rows(vectors: Iterable[Any]) -> list[NDArray[Any]]:
    try:
        import numpy as np
    except ImportError as error:
        raise not_installed("numpy", "embeddings") from error
    held = (bytes, bytearray, memoryview)
    return [
        np.frombuffer(one, "<f4") if isinstance(one, held) else np.ravel(np.asarray(one, float))
        for one in vectors
    ]


def _called(call: Callable[[], _T]) -> _T:
    try:
        return call()
    except PalaceError:
        raise
    except Exception as error:  # the host's code: any library may be behind it
        said = redact(f"{type(error).__name__}: {error}".rstrip(": ")[:_MAX_TOLD_CHARS])
        raise EmbedderUnavailableError(f"the embedder failed: {said}", hint=_HINT) from error


def _broken(what: str) -> EmbedderUnavailableError:
    return EmbedderUnavailableError(f"the embedder breaks the port: {what}", hint=_HINT)
