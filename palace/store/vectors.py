"""Which memories are nearest in meaning: the index's memories joined with their stored vectors.

In: a question's vector, a layer and a scope. Out: candidate keys with their cosines: the nearest of
all, exactly, or in very large palaces the nearest of those that a graph finds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from palace.errors import EmbedderMismatchError, StoreUnavailableError, not_installed
from palace.ports import Scope, Vector
from palace.store.index_sqlite import SqliteIndex
from palace.store.row_graph import RowGraph, graphs_are_available, write_graph
from palace.store.vector_file import VectorFile
from palace.types.verdict import LayerName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Table: TypeAlias = NDArray[np.int64]

# Room for candidates that turn out to be out of date before another round is needed.
_SPARE = 16
# Below this share of the rows it is cheaper to gather the rows in question first.
_SELECTIVE = 8
# Readers (layer and scope) whose mask is kept until something changes.
_READERS = 8
# Above so many rows a graph is asked first, where there is one; below, all are compared.
_EXACT_ROWS = 100_000
# A graph that lacks more than this share of the rows is extended; they are compared until then.
_TAIL = 10
# One line of the table for each property of a memory; paths, layers and scopes are numbered.
_KEY, _ROW, _PATH, _LAYER, _SCOPE, _ALIVE = range(6)


class VectorIndex:
    """Nearest neighbours among the memories that a reader may see.

    Layer and scope are a mask over the rows before the best are taken; what changed since (retired,
    expired, removed) is asked of the index for the head of the list, again until the list is full.
    Any call may raise `StoreUnavailableError`, where index, vectors or graph cannot be used, and a
    question `EmbedderMismatchError`, where the stored vectors have other dimensions by now.
    """

    def __init__(self, index: SqliteIndex, file: VectorFile) -> None:
        self._index = index
        self._file = file
        self._lock = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self._seen: tuple[int, int] | None = None
        self._start: tuple[str, tuple[str, str]] = ("", ("", ""))
        self._numbers: dict[str, int] = {}
        self._row_of: dict[bytes, int] = {}
        self._waiting: dict[int, bytes] = {}  # place -> digest of what has no vector yet
        self._table: Table | None = None
        self._allowed_before: dict[tuple[str, Scope], Table] = {}
        self._matrix: NDArray[np.float32] | None = None
        self._graph: RowGraph | None = None

    # -- questions -----------------------------------------------------------------------------

    def nearest(
        self, vector: Vector, *, layer: LayerName, scope: Scope, limit: int
    ) -> list[tuple[int, float]]:
        """Return (candidate key, cosine) of active, visible memories, nearest first.

        Ties are broken by key. Memories without a vector are left out.
        """
        with self._lock:
            table = self._synced()
            places = self._allowed(table, layer, scope)
            if limit < 1 or not len(places):
                return []
            self._require_comparable(vector)
            likely = self._likely(table, places, vector, limit)
            if likely is not None:
                found = self._best(table, likely, vector, layer=layer, scope=scope, limit=limit)
                if len(found) >= limit:
                    return found
            return self._best(table, places, vector, layer=layer, scope=scope, limit=limit)

    def _best(
        self,
        table: Table,
        places: Table,
        vector: Vector,
        *,
        layer: LayerName,
        scope: Scope,
        limit: int,
    ) -> list[tuple[int, float]]:
        """Compare the memories at these places exactly, and return the best that are visible."""
        scores = self._scores(vector, table[_ROW, places])
        taken = limit + _SPARE
        while True:
            head = _best_first(scores, taken)
            keys = table[_KEY, places[head]].tolist()
            visible = self._index.visible(keys, layer=layer, scope=scope)
            if len(visible) < len(keys):
                self._drop_vanished(set(keys) - visible)
            if len(visible) >= limit or len(keys) == len(places):
                break
            taken *= 4
        ranked = zip(keys, scores[head].tolist(), strict=True)
        return [(key, score) for key, score in ranked if key in visible][:limit]

    def _likely(self, table: Table, places: Table, vector: Vector, limit: int) -> Table | None:
        """Return the places that the graph thinks of, None where all have to be compared."""
        import numpy as np

        matrix, graph = self._matrix, self._graph
        if graph is None or matrix is None or len(places) * _SELECTIVE < len(matrix):
            return None
        marked = np.zeros(len(matrix), dtype=bool)
        marked[graph.near(vector, limit=limit)] = True
        marked[graph.rows :] = True
        return np.asarray(places[marked[table[_ROW, places]]])

    def cosines(self, vector: Vector, keys: Sequence[int]) -> dict[int, float]:
        """Return the cosine of every key that has a vector; the others are left out."""
        with self._lock:
            table = self._synced()
            import numpy as np

            if not keys or not table.shape[1]:
                return {}
            asked = np.asarray(keys, dtype=np.int64)
            places = np.searchsorted(table[_KEY], asked).clip(max=table.shape[1] - 1)
            known = (table[_KEY, places] == asked) & (table[_ROW, places] >= 0)
            if not known.any():
                return {}
            self._require_comparable(vector)
            scores = self._scores(vector, table[_ROW, places[known]])
            return dict(zip(asked[known].tolist(), scores.tolist(), strict=True))

    def _allowed(self, table: Table, layer: LayerName, scope: Scope) -> Table:
        """Return the places of memories that have a vector and belong to this layer and scope."""
        import numpy as np

        known = self._allowed_before.get((layer, scope))
        if known is not None:
            return known
        numbers = [self._numbers[s] for s in scope.names if s in self._numbers]
        places = np.flatnonzero(
            (table[_ALIVE] == 1)
            & (table[_ROW] >= 0)
            & (table[_LAYER] == self._numbers.get(layer, -1))
            & np.isin(table[_SCOPE], numbers)
        )
        if len(self._allowed_before) >= _READERS:
            self._allowed_before.clear()
        self._allowed_before[layer, scope] = places
        return places

    def _require_comparable(self, vector: Vector) -> None:
        """Refuse a question that was embedded before another model's rebuild was adopted."""
        if self._matrix is not None and len(vector) != self._matrix[0].nbytes:
            raise EmbedderMismatchError(
                "the stored vectors come from another model since the question was embedded",
                hint="ask again",
            )

    def _scores(self, vector: Vector, rows: Table) -> NDArray[np.float32]:
        import numpy as np

        assert self._matrix is not None
        asked = np.frombuffer(vector, dtype="<f4")
        if len(rows) * _SELECTIVE < len(self._matrix):
            return np.asarray(self._matrix[rows] @ asked)
        return np.asarray((self._matrix @ asked)[rows])

    def _drop_vanished(self, keys: set[int]) -> None:
        import numpy as np

        gone = keys - {c.key for c in self._index.candidates_by_key(sorted(keys))}
        if gone and self._table is not None:
            self._table[_ALIVE, np.isin(self._table[_KEY], sorted(gone))] = 0
            self._allowed_before.clear()

    # -- what is embedded ----------------------------------------------------------------------

    def counts(self) -> tuple[int, int]:
        """Return how many active memories have a vector, and how many there are."""
        with self._lock:
            table = self._synced()
            alive = table[_ALIVE] == 1
            return int((alive & (table[_ROW] >= 0)).sum()), int(alive.sum())

    def missing(self, *, limit: int | None = None) -> dict[int, bytes]:
        """Return key -> passage digest of memories that have no vector, oldest first."""
        with self._lock:
            table = self._synced()
            waiting = ((p, digest) for p, digest in self._waiting.items() if table[_ALIVE, p])
            return {int(table[_KEY, p]): digest for p, digest in islice(waiting, limit)}

    def extend_graph(self, *, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Make or extend the graph where there are so many rows that it is worth it.

        Args:
            stopped: Asked now and then; True ends the work without a result.

        Returns:
            Whether a graph was written.
        """
        with self._lock:
            self._synced()
            self._graph = self._read_graph()  # another process may have made it meanwhile
            matrix, graph, path = self._matrix, self._graph, self._graph_path()
            generation = self._file.generation()
        if matrix is None or len(matrix) <= _EXACT_ROWS or not graphs_are_available():
            return False
        if graph is not None and (len(matrix) - graph.rows) * _TAIL < len(matrix):
            return False
        try:
            written = write_graph(
                path, matrix, stopped=lambda: stopped() or self._file.generation() != generation
            )
        except OSError as error:
            raise StoreUnavailableError(
                f"the graph of vectors cannot be written: {error}",
                hint="check the free space of the palace's .palace folder",
            ) from error
        with self._lock:
            self._graph = self._read_graph()
        return written

    def recount(self) -> None:
        """Read everything anew: files that were removed left no trace to follow."""
        with self._lock:
            self._forget()

    # -- keeping up ----------------------------------------------------------------------------

    def _synced(self) -> Table:
        """Return the table of memories with everybody's changes taken in."""
        if find_spec("numpy") is None:
            raise not_installed("numpy", "embeddings")
        now = (self._index.state(), self._file.version())
        if self._table is not None and self._seen == now:
            return self._table
        self._allowed_before.clear()
        start = (self._index.epoch(), self._file.generation())
        if start != self._start or self._is_mostly_dead():
            self._forget()
            self._start = start
        self._take_in_rows()
        table = self._take_in_memories()
        self._seen = now
        return table

    def _is_mostly_dead(self) -> bool:
        table = self._table
        return table is not None and table[_ALIVE].sum() * 2 < table.shape[1]

    def _take_in_rows(self) -> None:
        new = self._file.rows(after=len(self._row_of) - 1)
        if not new:
            return
        self._row_of.update((digest, row) for row, digest in new)
        self._matrix = self._mapped(len(self._row_of))
        self._graph = self._read_graph()
        for place in [p for p, digest in self._waiting.items() if digest in self._row_of]:
            assert self._table is not None
            self._table[_ROW, place] = self._row_of[self._waiting.pop(place)]

    def _mapped(self, count: int) -> NDArray[np.float32]:
        import numpy as np

        identity = self._file.identity()
        assert identity is not None
        try:
            return np.asarray(
                np.memmap(self._file.path(), "<f4", "r", shape=(count, identity.dimension))
            )
        except (OSError, ValueError) as error:
            self._file.close()  # to open it again finds the damage, and begins anew
            raise StoreUnavailableError(
                f"the file of vectors cannot be read: {error}",
                hint="`palace embed --rebuild` makes it anew; until then words answer",
            ) from error

    def _graph_path(self) -> Path:
        return self._file.path().with_suffix(".usearch")

    def _read_graph(self) -> RowGraph | None:
        matrix = self._matrix
        if matrix is None or len(matrix) <= _EXACT_ROWS or not graphs_are_available():
            return None
        try:
            graph = RowGraph(self._graph_path(), dimension=matrix.shape[1])
        except OSError:
            return None  # none was made yet, or it is damaged; then all are compared
        return graph if graph.rows <= len(matrix) else None

    def _take_in_memories(self) -> Table:
        import numpy as np

        table = np.empty((6, 0), dtype=np.int64) if self._table is None else self._table
        known = table.shape[1]
        new = self._index.passages(after=int(table[_KEY, -1]) if known else 0)
        if new:
            numbered = [
                (key, self._row_of.get(digest, -1), *map(self._number, (path, layer, scope)), 1)
                for key, path, layer, scope, digest in new
            ]
            more = np.array(numbered, dtype=np.int64).T
            # A memory that changed got a new key; the old one is gone.
            touched = np.flatnonzero(np.isin(table[_PATH], np.unique(more[_PATH])))
            there = self._index.active_keys(sorted({path for _, path, *_ in new}))
            table[_ALIVE, touched] = np.isin(table[_KEY, touched], there)
            waiting = np.flatnonzero(more[_ROW] < 0).tolist()
            self._waiting.update((known + offset, new[offset][-1]) for offset in waiting)
            table = np.concatenate([table, more], axis=1)
        if table[_ALIVE].sum() != self._index.active():
            # Something went without anything coming in its place.
            table[_ALIVE] = np.isin(table[_KEY], self._index.active_keys())
        self._table = table
        return table

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))


def _best_first(scores: NDArray[np.float32], limit: int) -> Table:
    """Return the places of the largest scores, largest first; ties in the order of places."""
    import numpy as np

    if limit < len(scores):
        bar = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        above = np.flatnonzero(scores > bar)
        head = np.concatenate([above, np.flatnonzero(scores == bar)[: limit - len(above)]])
    else:
        head = np.arange(len(scores))
    return head[np.lexsort((head, -scores[head]))]
