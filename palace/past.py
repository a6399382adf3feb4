"""What a palace held at a moment: an index of then, in memory, made of the history of today's.

In: the index of today, which knows retired memories too, and a moment. Out: a `PastState`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from palace.recall.as_of import retired_at, state_at
from palace.store.index_rows import Tokens
from palace.store.index_sqlite import SqliteIndex
from palace.store.left_copies import is_left_in_copy
from palace.types.memory import Document, FileStamp, Memory
from palace.types.verdict import LayerName

_LAYERS: tuple[LayerName, ...] = ("L1", "L4")


@dataclass(frozen=True, slots=True)
class PastState:
    """The memories of a moment.

    Attributes:
        index: Those that held then.
        retired: Those that had begun by then and held no more.
        moment: Which one it is, aware.
    """

    index: SqliteIndex
    retired: tuple[Memory, ...]
    moment: datetime


def past_state(present: SqliteIndex, moment: datetime) -> PastState:
    """Return the state of a moment, which is aware; the files of today are not read for it."""
    index = SqliteIndex(None, at=moment)
    retired = chain.from_iterable([_take(index, present, layer, moment) for layer in _LAYERS])
    return PastState(index, tuple(retired), moment)


def _take(
    index: SqliteIndex, present: SqliteIndex, layer: LayerName, moment: datetime
) -> list[Memory]:
    """Put into the index of then what held in a layer, and return what held there no more."""
    every = present.tokenised(layer)
    memories = [memory for memory, _ in every]
    known = {(memory.path, memory.position): tokens for memory, tokens in every}

    def tokens(memory: Memory, _tags: Sequence[str]) -> Tokens:
        return known[memory.path, memory.position]  # words are taken apart only once

    retired = retired_at(memories, moment)
    held = (m for m in state_at(memories, moment) if not is_left_in_copy(m, retired))
    index.apply(_documents(held), layer=layer, tokens=tokens)
    return retired


def _documents(memories: Iterable[Memory]) -> list[tuple[Document, FileStamp]]:
    by_path: dict[str, list[Memory]] = {}
    for memory in memories:
        by_path.setdefault(memory.path, []).append(memory)
    return [
        (Document(path, "", found[0].title, (), tuple(found)), FileStamp(path, 0, 0))
        for path, found in by_path.items()
    ]
