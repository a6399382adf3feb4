"""Several processes and threads that write the same thing in the same moment: one of them does."""

from __future__ import annotations

import json
import multiprocessing
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from palace import Conflict, MemoryNotFoundError, Mempalace
from palace.types.changes import Relation

# A server that has imported all of it already starts each writer; without one, each starts anew.
_HAS_SERVER = "forkserver" in multiprocessing.get_all_start_methods()
_START = multiprocessing.get_context("forkserver" if _HAS_SERVER else "spawn")
if _HAS_SERVER:
    _START.set_forkserver_preload([__name__, "palace.mempalace"])
WRITERS = 4
ROUNDS = 8
NAMES = "Ada Boris Carla Dimitri Enno Freya Gustav Hana".split()


def same(palace: Mempalace, number: int, writer: int) -> str:
    room = f"room-{writer}"  # another file each: not the file's own lock decides
    return palace.remember(f"{NAMES[number]} keeps the ladder in the shed.", room=room).status


def contradicting(palace: Mempalace, number: int, writer: int) -> str:
    text = f"The meeting with {NAMES[number]} starts at {8 + writer}:00."
    return palace.remember(text, room=f"room-{writer}").status


def keyed(palace: Mempalace, number: int, writer: int) -> str:
    text = f"{NAMES[number]} wants the answers in {('Dutch', 'Polish', 'Latin', 'Greek')[writer]}."
    return palace.remember(text, key=NAMES[number], on_conflict="keep").status


def promoted(palace: Mempalace, number: int, writer: int) -> str:
    entry = palace.note(f"{NAMES[number]} was in the shed.", session_id=f"s-{writer}")
    return palace.promote_to_palace(
        entry,
        f"room-{writer}",
        "notes",
        summary=f"{NAMES[number]} keeps the rake in the attic.",
        reason="It was asked for twice.",
    ).status


def corrected(palace: Mempalace, number: int, writer: int) -> str:
    try:
        return palace.correct(f"m-{number:08d}", f"Shelf {number} holds {NAMES[writer]}.").status
    except MemoryNotFoundError:
        return "gone"


def forgotten(palace: Mempalace, number: int, writer: int) -> str:
    try:
        return palace.forget(f"m-{number:08d}", reason=NAMES[writer]).status
    except MemoryNotFoundError:
        return "gone"


def tagged(palace: Mempalace, number: int, writer: int) -> str:
    return palace.tag(f"m-{number:08d}", [f"by-{NAMES[writer].lower()}"]).status


def imported(palace: Mempalace, number: int, writer: int) -> str:
    text = f"{NAMES[number]} keeps the ladder in the shed."
    return added(palace, f"{number}-{writer}.json", [{"id": f"{number}", "memory": text}])


def heard(palace: Mempalace, number: int, writer: int) -> str:
    at = f"2026-05-0{number + 1}T09:00:00Z"
    turn = {"session": "s", "speaker": NAMES[number], "text": "The ladder is in.", "at": at}
    return added(palace, f"{number}-{writer}.jsonl", turn)


def added(palace: Mempalace, name: str, exported: object) -> str:
    """Import what another program exported; every writer has the same in a file of its own."""
    path = palace.root / ".palace" / name
    path.write_text(json.dumps(exported), "utf-8")
    return str(palace.import_from(path).added)


Act = Callable[[Mempalace, int, int], str]
FIRST_ALONE: dict[Act, tuple[str, str]] = {
    same: ("stored", "duplicate"),
    contradicting: ("stored", "conflict"),
    promoted: ("stored", "duplicate"),
    corrected: ("stored", "gone"),
    forgotten: ("inactive", "gone"),
    imported: ("1", "0"),
    heard: ("1", "0"),
}


def shelves(root: Path) -> None:
    folder = root / "rooms" / "shelves"
    folder.mkdir(parents=True)
    items = (f"- Shelf {n} is empty.\n  <!-- memory id=m-{n:08d} -->\n" for n in range(ROUNDS))
    (folder / "list.md").write_text("# List\n" + "".join(items), "utf-8")


def one_process(root: str, act: Act, writer: int, barrier: Any, told: Any) -> None:
    with Mempalace.open(root) as palace:
        for number in range(ROUNDS):
            barrier.wait(30)
            told.put((number, act(palace, number, writer)))


def in_processes(root: Path, act: Act) -> list[Counter[str]]:
    """Return for each round how often the writers were told what."""
    barrier, told = _START.Barrier(WRITERS), _START.Queue()
    started = [
        _START.Process(target=one_process, args=(str(root), act, writer, barrier, told))
        for writer in range(WRITERS)
    ]
    for process in started:
        process.start()
    found = [Counter[str]() for _ in range(ROUNDS)]
    for _ in range(ROUNDS * WRITERS):
        number, status = told.get(timeout=50)
        found[number][status] += 1
    for process in started:
        process.join(30)
    return found


def in_threads(root: Path, act: Act) -> list[Counter[str]]:
    """Do the same with threads that share one palace."""
    barrier = threading.Barrier(WRITERS)

    def loop(writer: int) -> list[str]:
        told = []
        for number in range(ROUNDS):
            barrier.wait(30)
            told.append(act(palace, number, writer))
        return told

    with Mempalace.open(root) as palace, ThreadPoolExecutor(WRITERS) as pool:
        told = list(pool.map(loop, range(WRITERS)))
    return [Counter(statuses) for statuses in zip(*told, strict=True)]


@pytest.mark.parametrize("run", [in_processes, in_threads])
@pytest.mark.parametrize("act", FIRST_ALONE)
def test_one_writer_alone_is_the_first(
    tmp_path: Path, act: Act, run: Callable[[Path, Act], Sequence[Counter[str]]]
) -> None:
    shelves(tmp_path)
    first, later = FIRST_ALONE[act]
    assert run(tmp_path, act) == [Counter({first: 1, later: WRITERS - 1})] * ROUNDS
    with Mempalace.open(tmp_path) as palace:
        active = Counter(m.room == "shelves" for m in palace.memories())
    assert active[False] == (0 if act in (corrected, forgotten) else ROUNDS)


def test_a_key_has_one_value_whoever_sets_it(tmp_path: Path) -> None:
    assert sum(in_processes(tmp_path, keyed), Counter()) == {"stored": ROUNDS * WRITERS}
    with Mempalace.open(tmp_path) as palace:
        assert Counter(m.key for m in palace.memories()) == dict.fromkeys(NAMES, 1)


def test_no_tag_undoes_another(tmp_path: Path) -> None:
    shelves(tmp_path)
    in_processes(tmp_path, tagged)
    with Mempalace.open(tmp_path) as palace:
        assert {len(m.tags) for m in palace.memories()} == {WRITERS}


class SlowJudge:
    """A judge during whose thinking somebody else writes."""

    def __init__(self, write: Callable[[], object]) -> None:
        self._write = write
        self.asked: list[tuple[str, str]] = []

    def judge(self, stored: str, new: str) -> Relation | None:
        self.asked.append((stored, new))
        thread = threading.Thread(target=self._write)
        thread.start()
        thread.join(10)
        assert not thread.is_alive(), "the judge thinks while others wait"
        return "unrelated"


@pytest.mark.parametrize("arrives", ["The bakery opens at 9:00.", "The kettle stands in Bergen."])
def test_nobody_waits_for_a_judge_and_what_came_meanwhile_is_left_to_the_rules(
    tmp_path: Path, arrives: str
) -> None:
    new = "The bakery opens at 7:00."
    with Mempalace.open(tmp_path) as other:
        other.remember("The bakery opens at 6:00.")
        judge = SlowJudge(lambda: other.remember(arrives, on_conflict="keep"))
        with Mempalace.open(tmp_path, judge=judge) as palace:
            result = palace.remember(new)
    assert judge.asked == [("The bakery opens at 6:00.", new)]
    if "bakery" in arrives:
        assert isinstance(result, Conflict)
        assert (result.memory.text, result.others) == (arrives, ())
    else:
        assert result.status == "stored"
