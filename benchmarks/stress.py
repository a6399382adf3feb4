"""Many processes, threads, tasks and editors on one palace: what was acknowledged must be there.

In: how long, and how many of each. Out: what was done and how long it took, and a list of broken
promises: an acknowledged write that is missing, twice or not findable, a duplicate id, a torn
drawer, an error that reached a caller, a reader that waited for writers.

`python -m benchmarks.stress --seconds 60 --processes 8 --json out.json`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.command import results_file, whole_number
from benchmarks.measures import latency_ms
from palace import Mempalace, PalaceError, RetrievalEnforcer

DRAWERS = 6
_ROOMS = ("fleet", "fleet/racks", "people")
_ID = re.compile(r"<!-- memory id=(\S+)")
_SCHEDULED = Path("/proc/thread-self/schedstat")
_KEPT_ERRORS = 20
_MOST_SHOWN = 10
_RATE = 2.0
_SPAWN = multiprocessing.get_context("spawn")


@dataclass
class Told:
    """What one worker was told by the palace, and what it saw.

    Attributes:
        stored: Id -> words of every write that was acknowledged and not taken back since.
        retired: Ids whose retirement was acknowledged.
        noted: (session, words) of every acknowledged note.
        errors: What reached the caller as an exception.
        unfound: Own acknowledged writes that the very next question did not find.
        asked_s: How long each question took, in seconds.
        asked_cpu_s: The same without waiting: processor time of the asking thread.
        asked_wait_s: What is left of it without the time it was ready and no processor was free:
            waiting for locks and disks. Empty where the system does not tell.
    """

    stored: dict[str, str] = field(default_factory=dict)
    retired: set[str] = field(default_factory=set)
    noted: list[tuple[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    unfound: list[str] = field(default_factory=list)
    asked_s: list[float] = field(default_factory=list)
    asked_cpu_s: list[float] = field(default_factory=list)
    asked_wait_s: list[float] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)


class Worker:
    """One writer and reader with an open palace, and a memory of what it was told.

    Args:
        palace: The palace; several workers may share one object.
        name: A word of its own, that no other worker has.
        seed: Of its choices.
    """

    def __init__(self, palace: Mempalace, name: str, *, seed: int) -> None:
        self.palace = palace
        self.enforcer = RetrievalEnforcer(palace)
        self.name = name
        self.told = Told()
        self.changing = ""  # the memory that is being corrected or retired
        self._random = random.Random(seed)
        self._count = 0

    def act(self) -> None:
        """Do one thing that a program does with its memory."""
        acts: Sequence[Callable[[], object]] = (
            self.remember, self.remember, self.correct, self.promote, self.forget, self.ask,
            self.ask, self.ask,
        )  # fmt: skip
        act = self._random.choice(acts)
        try:
            act()
        except PalaceError as error:
            self.told.errors.append(f"{act.__name__}: {type(error).__name__}: {error}")
        else:
            self.told.done[act.__name__] += 1

    def pause(self, rate: float) -> float:
        """Return how long to wait, in seconds, to act so many times a second on average."""
        return self._random.random() * 2 / rate

    def remember(self) -> None:
        """Store a statement, and ask for it."""
        text = self._statement()
        room, drawer = self._place()
        result = self.palace.remember(text, room=room, drawer=drawer, on_conflict="keep")
        if result.status == "stored":
            self._acknowledged(result.memory.id, text)

    def correct(self) -> None:
        """Replace an own statement."""
        if not self.told.stored:
            return
        old = self._random.choice(list(self.told.stored))
        text = self._statement()
        self.changing = old
        result = self.palace.correct(old, text)
        self._gone(old)
        if result.status == "stored":
            self._acknowledged(result.memory.id, text)

    def forget(self) -> None:
        """Retire an own statement."""
        if len(self.told.stored) < 5:
            return
        old = self._random.choice(list(self.told.stored))
        self.changing = old
        self.palace.forget(old)
        self._gone(old)

    def promote(self) -> None:
        """Note something and turn it into a memory."""
        session = f"session-{self.name}"
        text = self._statement()
        entry = self.palace.note(f"Seen: {text}", session_id=session)
        self.told.noted.append((session, entry.text))
        room, drawer = self._place()
        result = self.palace.promote_to_palace(
            entry,
            room,
            drawer,
            summary=text,
            reason="It was asked for twice.",
            on_conflict="keep",
        )
        if result.status == "stored":
            self._acknowledged(result.memory.id, text)

    def ask(self) -> None:
        """Ask for an own statement, as a person would, and time it."""
        if not self.told.stored:
            return
        self._ask_for(self._random.choice(list(self.told.stored)))

    def _ask_for(self, identifier: str) -> None:
        unit = self.told.stored[identifier].split()[2]
        ready, started, started_cpu = _ready_s(), time.perf_counter(), time.thread_time()
        verdict = self.enforcer.decide(f"When did we move {unit} to another rack?")
        wall_s = time.perf_counter() - started
        cpu_s = time.thread_time() - started_cpu
        self.told.asked_s.append(wall_s)
        self.told.asked_cpu_s.append(cpu_s)
        if ready is not None:
            self.told.asked_wait_s.append(max(wall_s - cpu_s - ((_ready_s() or 0.0) - ready), 0.0))
        if verdict.outcome == "unavailable":
            self.told.errors.append(f"ask: unavailable: {verdict.text}")

    def _search_for(self, identifier: str) -> None:
        """Look for an own statement as the very next thing that is done."""
        unit = self.told.stored[identifier].split()[2]
        if identifier not in {hit.memory.id for hit in self.palace.search(unit, top_k=3)}:
            self.told.unfound.append(f"{identifier} ({unit})")

    def _statement(self) -> str:
        self._count += 1
        unit = f"{self.name}{spelled(self._count)}".capitalize()
        rack = self._random.randrange(900)
        return f"We moved {unit} to rack {rack} on 2026-0{rack % 9 + 1}-1{rack % 10}."

    def _place(self) -> tuple[str, str]:
        return self._random.choice(_ROOMS), f"drawer{self._random.randrange(DRAWERS)}"

    def _acknowledged(self, identifier: str, text: str) -> None:
        self.told.stored[identifier] = text
        self._search_for(identifier)

    def _gone(self, identifier: str) -> None:
        self.told.stored.pop(identifier)
        self.told.retired.add(identifier)


def _ready_s() -> float | None:
    """Return how long this thread was ready to run while no processor was free, in seconds."""
    try:
        return int(_SCHEDULED.read_text("ascii").split()[1]) / 1e9
    except OSError:
        return None


def spelled(number: int) -> str:
    """Return a number as letters: digits would look like a value, and endings be stemmed."""
    return "".join(
        "bdfghjklmn"[int(d)] + "aeiouaeiou"[int(d)] + "xk"[number % 2] for d in str(number)
    )


def work(root: str, name: str, *, seconds: float, seed: int, rate: float, out: str) -> None:
    """Be one writing process: act until the time is over, then write down what was told.

    Args:
        root: The palace.
        name: Of the worker.
        seconds: How long.
        seed: Of its choices.
        rate: Acts a second, on average; 0 means as many as there can be.
        out: The file to write to.
    """
    with Mempalace.open(root) as palace:
        worker = Worker(palace, name, seed=seed)
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            worker.act()
            if rate:
                time.sleep(worker.pause(rate))
    write_told(worker.told, Path(out))


def read(root: str, seconds: float, known: str, out: str) -> None:
    """Be one reading process: ask for what is known until the time is over."""
    with Mempalace.open(root) as palace:
        worker = Worker(palace, "reader", seed=99)
        worker.told.stored.update(json.loads(known))
        worker.ask()  # the first question loads what all later ones use
        worker.told = Told(stored=worker.told.stored)
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            worker.ask()
    write_told(worker.told, Path(out))


def write_told(told: Told, path: Path) -> None:
    """Write down what a worker was told."""
    values = {**told.__dict__, "retired": sorted(told.retired), "done": dict(told.done)}
    path.write_text(json.dumps(values), "utf-8")


def read_told(path: Path) -> Told:
    """Return what `write_told` wrote."""
    values = json.loads(path.read_text("utf-8"))
    values["retired"] = set(values["retired"])
    values["noted"] = [(session, text) for session, text in values["noted"]]
    values["done"] = Counter(values["done"])
    return Told(**values)


def burn(seconds: float) -> None:
    """Use a processor without touching a palace: the load that is no load of ours."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        sum(range(10_000))


@contextmanager
def running(processes: Sequence[Any], *, within_s: float) -> Iterator[None]:
    """Start processes, and wait for their end; those that hang are killed."""
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.join(within_s)
            if process.is_alive():
                process.kill()
                process.join()


def run_processes(root: Path, *, processes: int, seconds: float, seed: int = 1) -> list[Told]:
    """Let processes write, correct, promote, forget and ask on one palace at the same time.

    Returns:
        What each of them was told; one that died or hung is missing.
    """
    with tempfile.TemporaryDirectory(prefix="palace-stress-") as folder:
        outs = [Path(folder) / f"{n}.json" for n in range(processes)]
        workers = [
            _SPAWN.Process(
                target=work,
                args=(str(root), f"proc{spelled(n)}"),
                kwargs={"seconds": seconds, "seed": seed + n, "rate": 0.0, "out": str(out)},
            )
            for n, out in enumerate(outs)
        ]
        with running(workers, within_s=seconds + 60):
            pass
        return [read_told(out) for out in outs if out.exists()]


def run_threads(root: Path, *, threads: int, seconds: float, seed: int = 1) -> list[Told]:
    """Let threads of one process do the same through one shared palace object."""
    with Mempalace.open(root) as palace:
        workers = [Worker(palace, f"thre{spelled(n)}", seed=seed + n) for n in range(threads)]
        ends = time.monotonic() + seconds

        def loop(worker: Worker) -> None:
            while time.monotonic() < ends:
                worker.act()

        started = [threading.Thread(target=loop, args=(worker,)) for worker in workers]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join(seconds + 60)
        return [worker.told for worker in workers]


def run_tasks(root: Path, *, tasks: int, seconds: float, seed: int = 1) -> list[Told]:
    """Let tasks of one event loop do the same; asking is awaited, writing runs in threads."""

    async def loop(worker: Worker, ends: float) -> None:
        while time.monotonic() < ends:
            await asyncio.to_thread(worker.act)
            if worker.told.stored:
                identifier = next(iter(worker.told.stored))
                unit = worker.told.stored[identifier].split()[2]
                verdict = await worker.enforcer.adecide(f"When did we move {unit} to another rack?")
                if verdict.outcome == "unavailable":
                    worker.told.errors.append(f"adecide: unavailable: {verdict.text}")

    async def together(workers: Sequence[Worker]) -> None:
        ends = time.monotonic() + seconds
        await asyncio.gather(*(loop(worker, ends) for worker in workers))

    with Mempalace.open(root) as palace:
        workers = [Worker(palace, f"task{spelled(n)}", seed=seed + n) for n in range(tasks)]
        asyncio.run(together(workers))
        return [worker.told for worker in workers]


def broken_promises(root: Path, told: Sequence[Told]) -> list[str]:
    """Open the palace as the next program would, and return every promise that was not kept."""
    broken = [f"error: {text}" for t in told for text in t.errors]
    broken += [f"not found by the next question: {text}" for t in told for text in t.unfound]
    written = Counter(
        found
        for path in (root / "rooms").rglob("*.md")
        for found in _ID.findall(path.read_text("utf-8"))
    )
    broken += [f"id {name} stands in {n} places" for name, n in written.items() if n > 1]
    with Mempalace.open(root) as palace:
        for t in told:
            broken += _missing(palace, t, written)
        broken += [f"{f.path}:{f.line}: {f.message}" for f in palace.faults()]
        broken += [f"doctor: {c.name}: {c.detail}" for c in palace.doctor() if not c.ok]
    left = [p.name for p in root.rglob(".*.tmp")]
    return [*broken, *(f"left behind: {name}" for name in left)]


def _missing(palace: Mempalace, told: Told, written: Counter[str]) -> Iterator[str]:
    everything = {m.id: m for m in palace.memories(include_inactive=True)}
    for identifier, text in told.stored.items():
        memory = everything.get(identifier)
        if written[identifier] != 1 or memory is None:
            yield f"acknowledged and gone: {identifier} {text}"
        elif (memory.text, memory.status) != (text, "active"):
            yield f"acknowledged and changed: {identifier} {memory.status} {memory.text}"
        elif identifier not in {hit.memory.id for hit in palace.search(text.split()[2], top_k=3)}:
            yield f"acknowledged and not findable: {identifier} {text}"
    for identifier in told.retired:
        memory = everything.get(identifier)
        if memory is None or memory.status != "inactive":
            yield f"retired and back: {identifier}"
    sessions = {session for session, _ in told.noted}
    noted = {(s, entry.text) for s in sessions for entry in palace.notes(s)}
    yield from (f"noted and gone: {text}" for s, text in told.noted if (s, text) not in noted)


def measure_readers(
    root: Path, told: Sequence[Told], *, seconds: float, writers: int
) -> tuple[dict[str, Any], list[Told]]:
    """Time the questions of one reading process, alone and beside others.

    Beside processes that only use the processors, beside writers that write now and then, and
    beside writers that never pause: what the first adds to the idle time is the processors' doing,
    and none of the palace's. What the palace adds shows in the processor time of a question, and
    in the time it waited for anything but a processor.

    Returns:
        The timings by what ran beside, and what the writers were told.
    """
    known = dict(list({k: v for t in told for k, v in t.stored.items()}.items())[:200])
    timed: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="palace-stress-") as folder:
        for label, rate in (("idle", -1.0), ("busy", -1.0), ("writing", _RATE), ("flooded", 0.0)):
            out = Path(folder) / f"{label}.json"
            beside = _beside(
                label, str(root), folder, seconds=seconds + 3, count=writers, rate=rate
            )
            reader = _SPAWN.Process(
                target=read, args=(str(root), seconds, json.dumps(known), str(out))
            )
            with running([*beside, reader], within_s=seconds + 60):
                pass
            timed[label] = _timings(read_told(out))
        for found in timed.values():
            found["p99_to_idle"] = round(found["p99"] / timed["idle"]["p99"], 2)
        return timed, [read_told(path) for path in Path(folder).glob("*-w*.json")]


def _beside(
    label: str, root: str, folder: str, *, seconds: float, count: int, rate: float
) -> list[Any]:
    if label == "idle":
        return []
    if label == "busy":
        return [_SPAWN.Process(target=burn, args=(seconds,)) for _ in range(count)]
    return [
        _SPAWN.Process(
            target=work,
            args=(root, f"{label}{spelled(n)}"),
            kwargs={
                "seconds": seconds,
                "seed": n,
                "rate": rate,
                "out": f"{folder}/{label}-w{n}.json",
            },
        )
        for n in range(count)
    ]


def _timings(told: Told) -> dict[str, Any]:
    return {
        "asked": len(told.asked_s),
        **latency_ms(told.asked_s),
        "processor": latency_ms(told.asked_cpu_s),
        "waited_for_locks_and_disks": latency_ms(told.asked_wait_s) if told.asked_wait_s else None,
        "errors": told.errors[:_MOST_SHOWN],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything and print it; exit code 1 if a promise was broken."""
    from benchmarks import editors  # built upon this module

    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.stress")
    parser.add_argument("--seconds", type=float, default=60.0, help="of the processes")
    parser.add_argument("--processes", type=partial(whole_number, of="processes"), default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=results_file)
    options = parser.parse_args(arguments)
    part_s = max(options.seconds / 4, 2.0)
    with tempfile.TemporaryDirectory(prefix="palace-stress-") as folder:
        root = Path(folder) / "palace"
        count, seed = options.processes, options.seed
        told = run_processes(root, processes=count, seconds=options.seconds, seed=seed)
        lost = count - len(told)
        told += run_threads(root, threads=count, seconds=part_s, seed=seed)
        told += run_tasks(root, tasks=count, seconds=part_s, seed=seed)
        edited = editors.run_editors(root, writers=2, seconds=part_s)
        told += edited.told
        readers, extra = measure_readers(root, told, seconds=part_s, writers=count)
        told += extra
        broken = [f"{lost} processes died or hung"] if lost else []
        broken += [*edited.broken, *broken_promises(root, told)]
        broken += [f"reader: {text}" for timed in readers.values() for text in timed["errors"]]
    result = {
        "seconds": options.seconds,
        "processes": options.processes,
        "processors": os.cpu_count(),
        "python": sys.version.split()[0],
        "done": dict(sum((t.done for t in told), Counter())),
        "acknowledged": sum(len(t.stored) + len(t.retired) for t in told),
        "typed_by_editors": len(edited.typed),
        "asked": sum(len(t.asked_s) for t in told),
        "readers": readers,
        "broken": len(broken),
        "first_broken": broken[:_KEPT_ERRORS],
    }
    text = json.dumps(result, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", "utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
