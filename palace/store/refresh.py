"""Bring the index up to date with the files: only what changed is read.

In: the canonical store, the playbooks and the index. Out: what was added, changed and removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from palace.store.index_sqlite import SqliteIndex
from palace.types import Document, Fault, FileStamp, LayerName

_BATCH_FILES = 64
Progress = Callable[[int, int], object]


class Readable(Protocol):
    """Memory files that can be listed and parsed."""

    def scan(self) -> list[FileStamp]:
        """Return a stamp for every file, sorted by path."""

    def read(self, path: str) -> Document:
        """Parse one file."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did.

    Attributes:
        read: Paths that were read again.
        removed: Paths that are gone.
        memories: How many memories were written.
        faults: What could not be understood in the files that were read.
    """

    read: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    memories: int = 0
    faults: tuple[Fault, ...] = ()


def refresh(
    index: SqliteIndex,
    sources: Sequence[tuple[LayerName, Readable]],
    *,
    progress: Progress | None = None,
) -> Refreshed:
    """Index every file whose size, time or content changed, and forget files that are gone.

    Args:
        index: The derived index.
        sources: Layer and the files that belong to it.
        progress: Called with (files done, files to do).
    """
    known = index.stamps()
    scanned = [(layer, source, source.scan()) for layer, source in sources]
    present = {stamp.path for _, _, stamps in scanned for stamp in stamps}
    gone = tuple(sorted(known.keys() - present))
    dirty = [
        (layer, source, stamp)
        for layer, source, stamps in scanned
        for stamp in stamps
        if _suspect(stamp, known.get(stamp.path))
    ]
    if not dirty and not gone:
        return Refreshed()
    return _apply(index, dirty, gone, progress)


def _suspect(stamp: FileStamp, known: tuple[FileStamp, bool] | None) -> bool:
    """Whether a file is new, changed, or was read too soon after it was written to tell."""
    if known is None:
        return True
    before, racy = known
    return racy or before.mtime_ns != stamp.mtime_ns or before.size != stamp.size


def _apply(
    index: SqliteIndex,
    dirty: Sequence[tuple[LayerName, Readable, FileStamp]],
    gone: tuple[str, ...],
    progress: Progress | None,
) -> Refreshed:
    digests = index.digests()
    read: list[str] = []
    faults: list[Fault] = []
    memories = 0
    if gone:
        index.apply((), removed=gone)
    for start, batch in _batches(dirty):
        same: list[FileStamp] = []
        changed: dict[LayerName, list[tuple[Document, FileStamp]]] = {}
        for layer, source, stamp in batch:
            document = source.read(stamp.path)
            if digests.get(stamp.path) == document.digest:
                same.append(stamp)
            else:
                changed.setdefault(layer, []).append((document, stamp))
                read.append(stamp.path)
                faults.extend(document.faults)
        for layer, documents in changed.items():
            memories += index.apply(documents, layer=layer)
        if same:
            index.touch(same)
        if progress is not None:
            progress(min(start + len(batch), len(dirty)), len(dirty))
    index.settle(memories)
    return Refreshed(tuple(read), gone, memories, tuple(faults))


def _batches(
    items: Sequence[tuple[LayerName, Readable, FileStamp]],
) -> Iterator[tuple[int, Sequence[tuple[LayerName, Readable, FileStamp]]]]:
    for start in range(0, len(items), _BATCH_FILES):
        yield start, items[start : start + _BATCH_FILES]
