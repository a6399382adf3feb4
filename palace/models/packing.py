"""Texts as a model can take them, and its numbers as the vectors that are kept and compared.

In: any text; a matrix, one row a text. Out: clean text; L2-normalised float32 rows as bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from palace.errors import EmbedderUnavailableError
from palace.ports import Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def unit_vectors(matrix: ArrayLike) -> list[Vector]:
    """Return the rows of a matrix, each of length 1; a row of zeros stays one.

    Args:
        matrix: Shape (texts, dimensions), any numeric type.

    Raises:
        EmbedderUnavailableError: If it is no matrix of finite numbers.
    """
    import numpy as np

    try:
        rows = np.asarray(matrix, dtype=np.float64)
    except OverflowError:  # whole numbers that no float holds
        rows = np.array(np.inf)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise EmbedderUnavailableError(
            "the embedder returned something else than finite numbers", hint="try another model"
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units = rows / np.where(lengths > 0, lengths, 1.0)
    return [row.tobytes() for row in units.astype("<f4")]


def fitting(text: str, max_chars: int) -> str:
    """Return at most so many characters of a text, without what is no character at all."""
    return text[:max_chars].encode("utf-8", "replace").decode("utf-8")
