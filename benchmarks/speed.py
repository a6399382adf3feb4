"""Speed on generated palaces of any size, beside other lexical searches in the same run.

Run:
    python -m benchmarks.speed --memories 1000,10000,100000 --json OUT [--picture PNG]

In: sizes. Out: for every size what ingest, index, opening, asking, searching and remembering cost,
and what building and asking other searches over the same statements costs. Every question is asked
several times and its best time counts, so that a busy machine shows less; the first time is told
too. Every size runs in a process of its own, so that memory is its own.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.command import results_file, run, say, whole_number
from benchmarks.generated import Topic, Words, drawers, questions, statement, write_palace
from benchmarks.measures import latency_ms, report
from benchmarks.rivals import measured, timed
from palace import Mempalace, RetrievalEnforcer
from palace.recall.lexicon import load_lexicons

SEED = 20261121
BIG_DRAWER = 4000
USUAL_DRAWER = 200
_REMEMBERED = 40


def main() -> None:
    """Run all sizes and report."""
    options = _options()
    results: dict[str, Any] = {"seed": SEED, "questions": options.questions, "sizes": {}}
    for size in options.memories:
        results["sizes"][str(size)] = _size(size, options)
        if options.json is not None:  # what is measured is kept, whatever happens later
            options.json.write_text(json.dumps(results, indent=2), "utf-8")
    report(results, options.json)
    if options.picture is not None:
        picture(results, options.picture)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--memories",
        type=_sizes,
        default=[1000, 10_000],
        help="sizes of the palaces, joined by commas (default 1000,10000)",
    )
    parser.add_argument(
        "--questions",
        type=lambda text: whole_number(text, "questions"),
        default=300,
        help="asked of each palace (default 300)",
    )
    parser.add_argument("--alone", action="store_true", help="leave the other searches out")
    parser.add_argument("--folder", type=Path, help="keep the palaces here and use them again")
    parser.add_argument("--json", type=results_file, help="where results go, after each size")
    parser.add_argument("--picture", type=results_file, help="draw cost against size here")
    options = parser.parse_args()
    if options.picture is not None and importlib.util.find_spec("matplotlib") is None:
        parser.error("--picture needs matplotlib (extra bench)")
    return options


def _sizes(text: str) -> list[int]:
    return [whole_number(part, "memories") for part in text.split(",")]


def _size(size: int, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as temporary:
        root = (options.folder or Path(temporary)) / str(size)
        _say(f"{size:,} memories: writing the files")
        found: dict[str, Any] = {"written_s": _seconds(lambda: written(root, size))}
        _say(f"{size:,} memories: building the index")
        found |= _apart(ingest, root, size)
        _say(f"{size:,} memories: asking")
        found |= _apart(ask, root, size, options.questions)
        _say(f"{size:,} memories: remembering")
        found |= _apart(remember, root)
        found["ask_command_ms"] = _command_ms(root)
    if not options.alone:
        _say(f"{size:,} memories: other searches")
        found["others"] = _apart(others, size, options.questions)
    return found


def written(root: Path, size: int) -> None:
    """Write the palace of a size, unless an earlier run has, and remove what was remembered."""
    if not (root / "rooms").exists():
        # In place only when it is whole: an interrupted run leaves no palace that is too small.
        root.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root.parent, prefix="half-") as half:
            write_palace(Path(half), size, seed=SEED)
            root.mkdir(exist_ok=True)
            (Path(half) / "rooms").rename(root / "rooms")
    shutil.rmtree(root / "rooms" / "benchmark", ignore_errors=True)


def _apart(work: Callable[..., dict[str, Any]], *arguments: object) -> dict[str, Any]:
    """Run a piece of work in a fresh process."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *arguments).result()


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return round(time.perf_counter() - started, 2)


def _say(text: str) -> None:
    say(f"{time.strftime('%H:%M:%S')} {text}")


# -- pieces of work, each in a process of its own ------------------------------------------------


def ingest(root: Path, size: int) -> dict[str, Any]:
    """Open a palace that has files but no index."""
    shutil.rmtree(root / ".palace", ignore_errors=True)
    started_s = time.process_time()
    opened_s = _seconds(lambda: Mempalace.open(root).close())
    index = sum(f.stat().st_size for f in (root / ".palace").glob("index.sqlite*"))
    return {
        "index_build_s": opened_s,
        "index_build_cpu_s": round(time.process_time() - started_s, 2),
        "memories_a_second": round(size / opened_s),
        "index_mb": round(index / 1e6, 1),
        "index_bytes_a_memory": round(index / size),
    }


def ask(root: Path, size: int, number: int) -> dict[str, Any]:
    """Ask the walk and the search, and look for files changed by hand."""
    asked = questions(_sample(size), number, seed=SEED)
    opened_s = _seconds(lambda: Mempalace.open(root).close())
    with Mempalace.open(root) as palace:
        enforcer = RetrievalEnforcer(palace)
        started = time.perf_counter()
        enforcer.decide(asked[0])
        first_s = time.perf_counter() - started
        once: list[float] = []
        for question in asked:
            started = time.perf_counter()
            enforcer.decide(question)
            once.append(time.perf_counter() - started)
        return {
            "open_ms": round(opened_s * 1000),
            "first_question_ms": round(first_s * 1000, 1),
            "walk_ms": timed(enforcer.decide, asked),
            "walk_asked_once_ms": latency_ms(once),
            "search_ms": timed(lambda q: palace.search(q, top_k=10), asked),
            "look_for_changes_ms": round(min(_look(palace) for _ in range(5)) * 1000, 2),
            "rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        }


def _look(palace: Mempalace) -> float:
    started = time.perf_counter()
    palace.refresh()
    return time.perf_counter() - started


def remember(root: Path) -> dict[str, Any]:
    """Remember until it is found, in an empty drawer and in a big one; correct in a usual one."""
    words = Words(SEED, size=50_000)
    rng = random.Random(SEED)
    topic = Topic(words, rng)
    room = root / "rooms" / "benchmark"
    room.mkdir(parents=True)
    for drawer, number in (("big", BIG_DRAWER), ("usual", USUAL_DRAWER)):
        lines = (f"- {statement(words, topic, rng)}\n" for _ in range(number))
        (room / f"{drawer}.md").write_text(f"# {drawer}\n\n" + "".join(lines), "utf-8")
    with Mempalace.open(root) as palace:

        def found_ms(drawer: str) -> dict[str, Any]:
            taken = []
            for number in range(_REMEMBERED):
                text = f"{statement(words, topic, rng)} It is {drawer}qx{number}."
                started = time.perf_counter()
                # All that a write looks at is looked at, and it is stored whatever is found.
                palace.remember(text, room="benchmark", drawer=drawer, on_conflict="supersede")
                hits = palace.search(f"{drawer}qx{number}", top_k=1)
                taken.append(time.perf_counter() - started)
                assert hits, "what was remembered was not found"
            return _with_best(taken)

        def corrected_ms() -> dict[str, Any]:
            taken = []
            written = palace.index.memories(path="rooms/benchmark/usual.md")
            for memory in list(written)[:: USUAL_DRAWER // _REMEMBERED]:
                text = statement(words, topic, rng)
                started = time.perf_counter()
                palace.correct(memory.id, text)
                taken.append(time.perf_counter() - started)
            return _with_best(taken)

        return {
            "remember_found_ms": found_ms("small"),
            "remember_found_big_drawer_ms": found_ms("big"),
            "correct_ms": corrected_ms(),
            "fsync_ms": _fsync_ms(root),
        }


def _with_best(taken: Sequence[float]) -> dict[str, Any]:
    return {**latency_ms(taken), "best": round(min(taken) * 1000, 2)}


def _fsync_ms(root: Path) -> float:
    """Return the median time that the disk takes for a small durable file, in ms."""
    taken = []
    for _ in range(20):
        started = time.perf_counter()
        descriptor = os.open(root / ".palace" / "probe", os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(descriptor, b"probe")
        os.fsync(descriptor)
        os.close(descriptor)
        taken.append(time.perf_counter() - started)
    (root / ".palace" / "probe").unlink()
    return round(statistics.median(taken) * 1000, 2)


def others(size: int, number: int) -> dict[str, Any]:
    """Build and ask the other searches over the same statements."""
    statements = [text for _, found in drawers(size, seed=SEED) for text in found]
    stop = load_lexicons(("en",))[0].stopwords
    asked = [
        " ".join(w for w in question.lower().replace("?", " ").split() if w not in stop)
        for question in questions(_sample(size), number, seed=SEED)
    ]
    return dict(measured(statements, asked))


def _sample(size: int) -> list[str]:
    every = max(size // 2000, 1)
    return [text for _, found in drawers(size, seed=SEED) for text in found[::every]]


def _command_ms(root: Path, *, runs: int = 7) -> dict[str, float]:
    """Return what the whole command `palace ask` takes, in ms."""
    command = ["-m", "palace", "--root", str(root), "ask", "What did we decide about the plan?"]
    taken = []
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run([sys.executable, *command], check=False, capture_output=True)  # noqa: S603 - our own words
        taken.append((time.perf_counter() - started) * 1000)
    return {"median": round(statistics.median(taken)), "best": round(min(taken))}


# -- the picture ---------------------------------------------------------------------------------


def picture(results: dict[str, Any], path: Path) -> None:
    """Draw the p99 of searches against the number of memories, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    sizes = sorted(int(size) for size in results["sizes"])
    lines: dict[str, list[tuple[int, float]]] = {}
    for size in sizes:
        found = results["sizes"][str(size)]
        lines.setdefault("whole walk (this project)", []).append((size, found["walk_ms"]["p99"]))
        lines.setdefault("search (this project)", []).append((size, found["search_ms"]["p99"]))
        for name, other in found.get("others", {}).items():
            if "search_ms" in other:
                lines.setdefault(name, []).append((size, other["search_ms"]["p99"]))
    figure, axes = plt.subplots(figsize=(6.4, 3.8), dpi=100)
    for name, points in lines.items():
        ours = "this project" in name
        axes.plot(*zip(*points, strict=True), marker="o", label=name, linewidth=2.5 if ours else 1)
    axes.set(xscale="log", yscale="log", xlabel="memories", ylabel="p99, milliseconds")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    run(main)
