"""How long the nearest memories take to find among many, exactly, filter and all.

Run:
    python -m benchmarks.vectors [--memories 100000] [--dimension 384] [--questions 500]

In: generated memories of three scopes with random vectors. Out: median and worst durations of a
question (mask, dot products, best 60, check against the index), of joining at first use, of
making the graph where there are more than 100,000 (extra `ann`), and of taking in one memory that
was written meanwhile. `processor_ms` is processor time of all threads, for machines that are busy
with other things.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.command import results_file, run, whole_number
from benchmarks.measures import latency_ms, report
from palace.ports import EmbedderIdentity, Scope
from palace.store.index_sqlite import SqliteIndex
from palace.store.passages import passage_digest, passage_of
from palace.store.vector_file import VectorFile
from palace.store.vectors import VectorIndex
from palace.types.memory import Document, FileStamp, Memory

if TYPE_CHECKING:
    import numpy as np

SEED = 20261001
PAGE = 1000
BEST = 60
_SCOPES = ("global", "project:garden", "session:s1")


def pages(memories: int) -> Iterator[Document]:
    """Yield generated files; every third memory belongs to a project, every third to a session."""
    for number, first in enumerate(range(0, memories, PAGE)):
        path = f"rooms/made/page-{number}.md"
        made = tuple(
            Memory(
                f"m-{n:08}",
                f"word{n} stands by word{n // 7}",
                path=path,
                line=n,
                room="made",
                drawer=f"page-{number}",
                position=n - first,
                scope=_SCOPES[n % 3],
            )
            for n in range(first, min(first + PAGE, memories))
        )
        yield Document(path, path, "", (), made)


def filled(folder: Path, memories: int, dimension: int) -> tuple[SqliteIndex, VectorFile]:
    """Return an index of generated memories and a random vector for each."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    index, file = SqliteIndex(folder / "index.sqlite"), VectorFile(folder)
    for page in pages(memories):
        take_in(page, index, file, rng=rng, dimension=dimension)
    return index, file


def meanwhile(number: int) -> Document:
    """Return a file of one memory that was written while questions were asked."""
    path = f"rooms/made/written-{number}.md"
    text = f"word{number} was written meanwhile"
    made = Memory(f"m-w{number:08}", text, path=path, line=1, room="made", drawer=f"w{number}")
    return Document(path, path, "", (), (made,))


def take_in(
    page: Document,
    index: SqliteIndex,
    file: VectorFile,
    *,
    rng: np.random.Generator,
    dimension: int,
) -> None:
    """Take the memories of a file into the index, each with a random vector."""
    import numpy as np

    index.apply([(page, FileStamp(page.path, 1, 1))])
    rows = rng.standard_normal((len(page.memories), dimension), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    digests = [passage_digest(passage_of(m)) for m in page.memories]
    vectors = [row.tobytes() for row in rows]
    identity = EmbedderIdentity("random", "", dimension)
    file.add(list(zip(digests, vectors, strict=True)), identity=identity)


def measure(memories: int, dimension: int, questions: int) -> dict[str, object]:
    """Return durations in milliseconds."""
    import numpy as np

    scope = Scope(session_id="s1", project="garden")
    rng = np.random.default_rng(SEED + 1)
    with tempfile.TemporaryDirectory() as folder:
        index, file = filled(Path(folder), memories, dimension)
        vectors = VectorIndex(index, file)
        started = time.perf_counter()
        vectors.counts()
        joined_s = time.perf_counter() - started
        started = time.perf_counter()
        graphed = vectors.extend_graph()
        graphed_s = time.perf_counter() - started
        durations: dict[str, list[float]] = {"all": [], "a third": [], "after a write": []}
        processor: dict[str, list[float]] = {"all": [], "a third": []}
        for number in range(questions):
            asked = rng.standard_normal(dimension).astype("<f4")
            asked /= np.linalg.norm(asked)
            for name, reader in (("all", scope), ("a third", Scope())):
                started = time.perf_counter()
                busy = time.process_time()
                found = vectors.nearest(asked.tobytes(), layer="L1", scope=reader, limit=BEST)
                durations[name].append(time.perf_counter() - started)
                processor[name].append(time.process_time() - busy)
                assert found, "nothing was found"
            if number % 10 == 0:
                take_in(meanwhile(number), index, file, rng=rng, dimension=dimension)
                started = time.perf_counter()
                vectors.nearest(asked.tobytes(), layer="L1", scope=scope, limit=BEST)
                durations["after a write"].append(time.perf_counter() - started)
        index.close()
        file.close()
    return {
        "memories": memories,
        "dimension": dimension,
        "joined_ms": joined_s * 1000,
        "graph_s": graphed_s if graphed else None,
        "nearest_ms": {name: latency_ms(times) for name, times in durations.items()},
        "processor_ms": {name: latency_ms(times) for name, times in processor.items()},
    }


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    for name, usual, of in (
        ("memories", 100_000, "memories to generate"),
        ("dimension", 384, "numbers in a vector"),
        ("questions", 500, "questions to ask"),
    ):
        parser.add_argument(
            f"--{name}", type=partial(whole_number, of=of), default=usual, help=f"number of {of}"
        )
    parser.add_argument("--json", type=results_file, help="where to write the results")
    arguments = parser.parse_args()
    report(measure(arguments.memories, arguments.dimension, arguments.questions), arguments.json)


if __name__ == "__main__":
    run(main)
