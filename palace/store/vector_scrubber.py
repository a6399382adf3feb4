"""Vectors of words that are gone: they are overwritten when a memory is erased.

In: an index and the file of vectors. Out: no vector whose passage no memory has.
"""

from __future__ import annotations

from palace.store.index_sqlite import SqliteIndex
from palace.store.vector_file import VectorFile


class VectorScrubber:
    """Implements the port `Scrubbable` for stored vectors.

    Args:
        index: What memories there are.
        file: Their vectors; nothing is made where there are none.
    """

    def __init__(self, index: SqliteIndex, file: VectorFile) -> None:
        self._index = index
        self._file = file

    def scrub(self) -> None:
        """Overwrite what no memory has any more."""
        for file in (self._file, self._file.beside()):
            try:
                file.scrub(self._index.passage_digests())
            finally:
                file.close()
