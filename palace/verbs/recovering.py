"""The verbs against an editor's old copy: what it overwrote, and putting that back.

In: ids of memories. Out: what does not stand as it was written, and memories that do again.
"""

from __future__ import annotations

from palace.types.checks import Overwritten
from palace.types.memory import Memory
from palace.verbs.reading import ReadingVerbs


class RecoveringVerbs(ReadingVerbs):
    """What an editor that saved an older copy took away is listed, and put back when asked."""

    def overwritten(self) -> tuple[Overwritten, ...]:
        """Return what this palace wrote within a day and a file does not have as it was written.

        Nothing tells an old copy saved over it from a deletion by hand: both are listed.

        Raises:
            StoreUnavailableError: If a file cannot be read.
        """
        return tuple(self.store.overwritten())

    def recover(self, memory_id: str) -> Memory | None:
        """Put a memory back as it was written; the very next question finds it.

        Args:
            memory_id: Of one that `overwritten()` lists.

        Returns:
            The memory; None if it had been erased, came back, and is gone again.

        Raises:
            MemoryNotFoundError: If nothing of it was overwritten.
            StoreError: If it cannot stand in its file without changing others.
            StoreUnavailableError: If the file system refuses.
        """
        path = next((one.path for one in self.overwritten() if one.id == memory_id), None)
        memory = self.store.recover(memory_id)
        if path is not None:
            self.index_file(path)
        return memory
