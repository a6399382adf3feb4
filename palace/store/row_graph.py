"""A graph over rows of vectors, for palaces that are too large to compare with every row.

In: the matrix of rows. Out: the numbers of rows that are probably nearest; who asks compares those
exactly. Needs the extra `ann`; without it, or without the file, everything is compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from palace.ports import Vector

_CHUNK_ROWS = 1000
# So many rows are asked for, for each that is wanted: readers do not see all of them.
_SPREAD = 4
_LEAST = 256


def graphs_are_available() -> bool:
    """Whether graphs can be made and read here."""
    return find_spec("usearch") is not None


class RowGraph:
    """The rows of one file as a graph that is read from disk as it is needed.

    Args:
        path: The file that `write_graph` wrote.

    Raises:
        OSError: If there is no such file, or it is no graph of this dimension.
    """

    def __init__(self, path: Path, *, dimension: int) -> None:
        self.path = path
        self._graph = _opened(path, dimension=dimension, view=True)
        self.rows = len(self._graph)

    def near(self, vector: Vector, *, limit: int) -> NDArray[np.int64]:
        """Return rows that are probably nearest, more than `limit` of them, in no order."""
        import numpy as np

        asked = np.frombuffer(vector, dtype="<f4")
        found = self._graph.search(asked, max(limit * _SPREAD, _LEAST))
        return np.asarray(found.keys, dtype=np.int64)


def write_graph(
    path: Path, matrix: NDArray[np.float32], *, stopped: Callable[[], bool] = lambda: False
) -> bool:
    """Add the rows that a graph does not have yet, and put it in the place of the old one.

    Args:
        path: The file of the graph; it need not exist.
        matrix: All rows.
        stopped: Asked between chunks and at the end; True leaves everything as it was.

    Returns:
        Whether a graph was written.

    Raises:
        OSError: If it cannot be written.
    """
    import numpy as np

    dimension = matrix.shape[1]
    try:
        graph = _opened(path, dimension=dimension, view=False)
    except OSError:
        from usearch.index import Index

        graph = Index(ndim=dimension, metric="ip", dtype="f16")
    for start in range(len(graph), len(matrix), _CHUNK_ROWS):
        if stopped():
            return False
        end = min(start + _CHUNK_ROWS, len(matrix))
        graph.add(np.arange(start, end, dtype=np.uint64), np.ascontiguousarray(matrix[start:end]))
    written = path.with_name(f"{path.name}.{os.getpid()}.new")
    graph.save(str(written))
    if stopped():  # what was erased meanwhile must not come back with it
        written.unlink(missing_ok=True)
        return False
    written.chmod(0o600)
    written.replace(path)
    return True


def _opened(path: Path, *, dimension: int, view: bool) -> Any:  # noqa: ANN401 - the library has no types
    from usearch.index import Index

    try:
        graph = Index.restore(str(path), view=view)
    except (RuntimeError, ValueError) as error:
        raise OSError(f"{path.name} is no graph") from error
    if graph is None or graph.ndim != dimension:
        raise OSError(f"{path.name} is no graph of {dimension} dimensions")
    return graph
