"""Kill a writing process again and again, and look at what is left of its palace.

In: how many kills. Out: how many acknowledged writes there were, and every broken promise: an
acknowledged memory that is gone or there twice, a memory that nobody wrote so, a torn note or
record, a temporary file left behind, a palace that does not open.

`python -m benchmarks.crash --kills 500 --json out.json`

Half of the kills come at a file-system step: the n-th call that opens, writes, syncs, renames,
deletes or makes something, n rising from one; a write is cut in its middle first. The other half
come at random moments, also inside SQLite. POSIX only: every life is a fork.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.command import results_file, whole_number
from palace import ConversationTurn, Mempalace, PalaceError, RetrievalEnforcer
from palace.store.files import FileSystem

STEPS = ("open", "write", "fsync", "replace", "rename", "unlink", "mkdir")
SESSION = "crash"
_ID = re.compile(r"<!-- memory id=(\S+)")
_RECORD = re.compile(rb'(?!^)\{"(?:id|type)":')
_MOST_STEPS = 400
_LONGEST_LIFE_S = 0.4
_SHOWN = 20
_START = datetime(2026, 3, 1, tzinfo=timezone.utc)


@dataclass
class Promises:
    """What the killed processes had been told, and what they were about to do.

    Attributes:
        memories: Id -> (words, status) of acknowledged writes.
        intended: Words of every memory anybody tried to write.
        notes: Words of acknowledged notes.
        verdicts: Ids of verdicts that were returned.
        turns: Words of acknowledged turns of a conversation.
        identity: The words of the identity: acknowledged last, and those tried since.
        doubtful: Ids of which nobody was told whether they are retired.
    """

    memories: dict[str, tuple[str, str]] = field(default_factory=dict)
    intended: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)
    identity: list[str] = field(default_factory=lambda: [""])
    doubtful: set[str] = field(default_factory=set)

    def take(self, line: Sequence[str]) -> None:
        """Add what a process wrote down: before an act what it tries, after it what it was told."""
        kind, *values = line
        if kind == "tries":
            self.intended.add(values[0])
        elif kind == "retires":
            self.doubtful.add(values[0])
        elif kind == "stored":
            self.memories[values[0]] = (values[1], "active")
        elif kind == "retired":
            self.memories[values[0]] = (self.memories[values[0]][0], "inactive")
            self.doubtful.discard(values[0])
        elif kind == "names":
            self.identity.append(values[0])
        elif kind == "named":
            self.identity = [values[0]]
        else:
            {"noted": self.notes, "decided": self.verdicts, "said": self.turns}[kind].append(
                values[0]
            )


class Life:
    """What one process does until it is killed; every act is announced and reported in a file.

    Args:
        root: The palace.
        diary: Descriptor of the file; a line written there outlives the process.
        promises: What earlier lives were told.
        number: Of this life; makes its words its own.
    """

    def __init__(self, root: Path, *, diary: int, promises: Promises, number: int) -> None:
        self._palace = Mempalace.open(root)
        self._diary = diary
        self._random = random.Random(number)
        self._number, self._count = number, 0
        self._active = [i for i, (_, status) in promises.memories.items() if status == "active"]
        self._active = [i for i in self._active if i not in promises.doubtful]

    def go_on(self) -> None:
        """Act until somebody kills this process."""
        acts: Sequence[Callable[[], None]] = (
            self._remember, self._correct, self._forget, self._promote, self._ask, self._import,
            self._name,
        )  # fmt: skip
        while True:
            for act in acts:
                act()

    def _tell(self, *line: str) -> None:
        _real_write(self._diary, (json.dumps(line) + "\n").encode())

    def _words(self) -> str:
        self._count += 1
        name = f"Unit{_spelled(self._number)}{_spelled(self._count)}".capitalize()
        text = f"We moved {name} to rack {self._random.randrange(900)} at noon."
        self._tell("tries", text)
        return text

    def _place(self) -> tuple[str, str]:
        room = self._random.choice(["racks", f"racks/{self._number % 7}"])
        return room, f"drawer{self._random.randrange(3)}"

    def _stored(self, identifier: str, text: str) -> None:
        self._tell("stored", identifier, text)
        self._active.append(identifier)

    def _remember(self) -> None:
        text, (room, drawer) = self._words(), self._place()
        result = self._palace.remember(text, room=room, drawer=drawer, on_conflict="keep")
        self._stored(result.memory.id, text)

    def _correct(self) -> None:
        old, text = self._random.choice(self._active), self._words()
        self._tell("retires", old)
        result = self._palace.correct(old, text)
        self._tell("retired", old)
        self._active.remove(old)
        self._stored(result.memory.id, text)

    def _forget(self) -> None:
        if len(self._active) > 3:
            old = self._random.choice(self._active)
            self._tell("retires", old)
            self._palace.forget(old)
            self._tell("retired", old)
            self._active.remove(old)

    def _promote(self) -> None:
        text, (room, drawer) = self._words(), self._place()
        entry = self._palace.note(f"Seen: {text}", session_id=SESSION)
        self._tell("noted", entry.text)
        result = self._palace.promote_to_palace(
            entry, room, drawer, summary=text, reason="It was asked for.", on_conflict="keep"
        )
        self._stored(result.memory.id, text)

    def _ask(self) -> None:
        verdict = RetrievalEnforcer(self._palace).decide("When did we move the unit to a rack?")
        self._tell("decided", verdict.id)

    def _import(self) -> None:
        text = self._words()
        at = _START + timedelta(minutes=self._number * 60 + self._count)
        self._palace.import_turns([ConversationTurn(SESSION, "user", text, at)])
        self._tell("said", text)

    def _name(self) -> None:
        text = f"I look after racks, for the {self._number}th time."
        self._tell("names", text)
        self._palace.set_identity(text)
        self._tell("named", text)


_real_write = os.write


def _spelled(number: int) -> str:
    return "".join("bdfghjklmn"[int(d)] + "aeiouaeiou"[int(d)] for d in str(number)) + "x"


def kill_at_step(number: int) -> None:
    """Let this process kill itself at its n-th file-system step; a write is cut in its middle."""
    steps = iter(range(1, sys.maxsize))

    def killing(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as the real one
            if next(steps) == number:
                if name == "write":
                    data = bytes(arguments[1])
                    real(arguments[0], data[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **named)

        return step

    for name in STEPS:
        setattr(os, name, killing(name, getattr(os, name)))
    # Names are exchanged by a call of the system that Python does not know.
    FileSystem.rename = killing("rename", FileSystem.rename)  # type: ignore[method-assign]


def live_and_die(root: Path, promises: Promises, *, number: int, step: int | None) -> bool:
    """Let a process live on a palace until it is killed, and take over what it was told.

    Args:
        root: The palace.
        promises: Grow by what this process was told.
        number: Of this life.
        step: The file-system step at which it dies; None for a random moment.

    Returns:
        Whether it was killed, and did not end by itself.
    """
    with tempfile.TemporaryFile() as diary:
        child = os.fork()
        if child == 0:
            _live(root, diary.fileno(), promises, number=number, step=step)
        if step is None:
            time.sleep(random.Random(number).random() * _LONGEST_LIFE_S)
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        diary.seek(0)
        lines = diary.read().split(b"\n")
        for line in lines[:-1]:
            promises.take(json.loads(line))
    return os.WIFSIGNALED(status)


def _live(root: Path, diary: int, promises: Promises, *, number: int, step: int | None) -> None:
    try:
        if step is not None:
            kill_at_step(step)
        Life(root, diary=diary, promises=promises, number=number).go_on()
    finally:  # never back into the parent's code
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def broken_promises(root: Path, promises: Promises) -> list[str]:
    """Open the palace as the next program would, and return every promise that was not kept."""
    try:
        with Mempalace.open(root) as palace:
            return [*_memories(palace, promises), *_records(palace, promises), *_files(root)]
    except PalaceError as error:
        return [f"the palace does not open: {error}"]


def _memories(palace: Mempalace, promises: Promises) -> Iterator[str]:
    ids = Counter(
        found
        for path in (palace.root / "rooms").rglob("*.md")
        for found in _ID.findall(path.read_text("utf-8"))
    )
    yield from (f"id {name} stands in {n} places" for name, n in ids.items() if n > 1)
    everything = palace.memories(include_inactive=True)
    found = {m.id: m for m in everything}
    for identifier, (text, status) in promises.memories.items():
        memory = found.get(identifier)
        if memory is None or memory.text != text:
            yield f"acknowledged and gone: {identifier} {text}"
        elif memory.status != status and identifier not in promises.doubtful:
            yield f"acknowledged as {status}: {identifier} is {memory.status}"
    words = Counter((m.room == "timeline", m.text) for m in everything)
    yield from (f"there twice: {text}" for (_, text), n in words.items() if n > 1)
    yield from (f"half a memory: {t!r}" for _, t in words if t not in promises.intended)
    said = {text for is_said, text in words if is_said}
    yield from (f"said and gone: {text}" for text in promises.turns if text not in said)
    yield from (f"{f.path}:{f.line}: {f.message}" for f in palace.faults())
    if palace.identity.text not in promises.identity:
        yield f"the identity is neither the old nor the new one: {palace.identity.text!r}"


def _records(palace: Mempalace, promises: Promises) -> Iterator[str]:
    noted = [entry.text for entry in palace.notes(SESSION)]
    yield from (f"noted and gone: {text}" for text in promises.notes if text not in noted)
    whole = {f"Seen: {text}" for text in promises.intended}
    yield from (f"half a note: {text!r}" for text in noted if text not in whole)
    yield from (f"noted twice: {t}" for t, n in Counter(noted).items() if n > 1)
    kept = {record["id"] for record in palace.journal.records()}
    yield from (f"decided and gone: {name}" for name in promises.verdicts if name not in kept)


def _files(root: Path) -> Iterator[str]:
    yield from (f"left behind: {path.name}" for path in root.rglob(".*.tmp"))
    for path in [*root.glob("scratchpad/*.jsonl"), *root.glob("journal/*.jsonl")]:
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            if not _is_json(line) and any(
                _is_json(line[m.start() :]) for m in _RECORD.finditer(line)
            ):
                yield f"two records on one line: {path.name}:{number}"


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def run(root: Path, *, kills: int, seed: int = 0) -> dict[str, Any]:
    """Kill so many processes on one palace, look after each, and return what was seen."""
    promises, broken, at_step = Promises(), list[str](), 0
    for number in range(kills):
        step = None if number % 2 else 1 + (number // 2 + seed) % _MOST_STEPS
        at_step += step is not None
        if not live_and_die(root, promises, number=number + seed, step=step):
            broken.append(f"life {number} ended by itself")
        broken += [f"after kill {number}: {text}" for text in broken_promises(root, promises)]
        if len(broken) > _SHOWN:
            break
    with Mempalace.open(root) as palace:
        broken += [f"doctor: {c.name}: {c.detail}" for c in palace.doctor() if not c.ok]
    return {
        "kills": number + 1,
        "at_a_file_system_step": at_step,
        "acknowledged_memories": len(promises.memories),
        "acknowledged_notes": len(promises.notes),
        "acknowledged_turns": len(promises.turns),
        "returned_verdicts": len(promises.verdicts),
        "unfinished_corrections_and_retirements": len(promises.doubtful),
        "broken": len(broken),
        "first_broken": broken[:_SHOWN],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; exit code 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.crash")
    parser.add_argument("--kills", type=partial(whole_number, of="kills"), default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=results_file)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="palace-crash-") as folder:
        result = run(Path(folder) / "palace", kills=options.kills, seed=options.seed)
    text = json.dumps({"python": sys.version.split()[0], **result}, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", "utf-8")
    return 1 if result["broken"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
