"""A palace as it was at a moment: its files of then, and nothing that is fetched or embedded now.

In: an open palace and a moment. Out: what `palace.assembly` needs of a palace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from palace.recall.as_of import retired_at, state_at
from palace.store.index_rows import Tokens
from palace.store.index_sqlite import SqliteIndex
from palace.types.memory import Document, FileStamp, Memory
from palace.types.session import Turn
from palace.types.verdict import Heard, LayerName

if TYPE_CHECKING:
    from palace.verbs.opened import OpenedPalace


class PastPalace:
    """Stands for a palace where a walk through its past is put together.

    Args:
        palace: The palace of today; its settings, identity and scratchpads are used.
        moment: The moment, aware.
    """

    fetchers = ()

    def __init__(self, palace: OpenedPalace, moment: datetime) -> None:
        self._palace = palace
        self.index = SqliteIndex(None, at=moment)
        self.retired: list[Memory] = []
        layers: tuple[LayerName, ...] = ("L1", "L4")
        for layer in layers:
            self._take(palace.index, layer, moment)

    def _take(self, present: SqliteIndex, layer: LayerName, moment: datetime) -> None:
        """Fill the index of then; the words of a memory are taken apart only once."""
        every = present.tokenised(layer)
        known = {(m.path, m.position): tokens for m, tokens in every}
        self.retired += retired_at((m for m, _ in every), moment)

        def tokens(memory: Memory, _tags: Sequence[str]) -> Tokens:
            return known[memory.path, memory.position]

        held = state_at((m for m, _ in every), moment)
        self.index.apply(_documents(held), layer=layer, tokens=tokens)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the palace of today has
        return getattr(self._palace, name)

    def refresh(self, *, force: bool = True) -> None:
        """Do nothing: the state of then does not change."""

    def heard(self, turn: Turn) -> Heard | None:  # noqa: ARG002 - the past is not written to
        """Return None: nobody tells the past anything."""
        return None


def _documents(memories: Iterable[Memory]) -> list[tuple[Document, FileStamp]]:
    by_path: dict[str, list[Memory]] = {}
    for memory in memories:
        by_path.setdefault(memory.path, []).append(memory)
    return [
        (Document(path, "", found[0].title, (), tuple(found)), FileStamp(path, 0, 0))
        for path, found in by_path.items()
    ]
