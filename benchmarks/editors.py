"""Programs that save drawers as a person's editors do, beside programs that use the palace.

In: a palace, how long, and how many of each. Out: what was typed and what was acknowledged, and a
list of broken promises: a typed line that is gone or there twice, an acknowledged write that
neither stands nor can be recovered.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import stress
from palace import MemoryNotFoundError, Mempalace, WriteConflictError

_ROOM = "desk"
_PAUSE_S = 0.02
_SPAWN = multiprocessing.get_context("spawn")
_BETWEEN_SAVES_S = 0.1
# An editor overwrote what was asked for, or saved without a pause: a refusal, and no loss.
_EXPECTED = re.compile("MemoryNotFoundError|WriteConflictError")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Edited:
    """What editors and writers did on one palace.

    Attributes:
        told: What the writers were told.
        typed: Every line that was typed and saved.
        broken: The broken promises.
    """

    told: list[stress.Told]
    typed: list[str]
    broken: list[str]


def renamed(path: Path, data: bytes) -> None:
    """Save to a new file and put it over the old one, as most editors do."""
    new = path.with_suffix(".swp")
    new.write_bytes(data)
    new.replace(path)


def with_backup(path: Path, data: bytes) -> None:
    """Keep the old file under another name and save a new one: for an instant there is none."""
    path.replace(path.with_suffix(".md~"))
    path.write_bytes(data)


def in_place(path: Path, data: bytes) -> None:
    """Empty the file and write it."""
    path.write_bytes(data)


def in_two_halves(path: Path, data: bytes) -> None:
    """Empty the file, write one half, and the other one later."""
    with path.open("wb", buffering=0) as file:
        file.write(data[: len(data) // 2])
        time.sleep(_PAUSE_S)
        file.write(data[len(data) // 2 :])


def over_the_old(path: Path, data: bytes) -> None:
    """Write over the old bytes from the beginning, and cut what is left of them."""
    with path.open("r+b", buffering=0) as file:
        file.write(data)
        file.truncate()


def _lf(text: str) -> bytes:
    return re.sub(r"\r\n?", "\n", text).encode()


def _crlf(text: str) -> bytes:
    return _lf(text).replace(b"\n", b"\r\n")


def _bom(text: str) -> bytes:
    return _BOM + _lf(text)


def _unended(text: str) -> bytes:
    return _lf(text).rstrip(b"\n")


SAVES: dict[str, tuple[Callable[[Path, bytes], None], Callable[[str], bytes]]] = {
    "renamed": (renamed, _lf),
    "with a backup": (with_backup, _lf),
    "in place": (in_place, _lf),
    "in two halves": (in_two_halves, _lf),
    "over the old bytes": (over_the_old, _lf),
    "with CRLF": (renamed, _crlf),
    "with a BOM": (in_place, _bom),
    "without a final newline": (renamed, _unended),
}


def _edit_each(root: str, drawers: Sequence[str], hows: Sequence[str], seconds: float) -> list[str]:
    """Be one editor for each way to save, on a drawer of its own; return what was typed."""
    typed: list[str] = []
    editors = [
        threading.Thread(target=_edit, args=(Path(root), drawer, how, seconds, typed))
        for drawer, how in zip(drawers, hows, strict=True)
    ]
    for editor in editors:
        editor.start()
    for editor in editors:
        editor.join()
    return typed


def _edit(root: Path, drawer: str, how: str, seconds: float, typed: list[str]) -> None:
    """Read the drawer, add a line, save it, and again until the time is over."""
    save, form = SAVES[how]
    path = root / "rooms" / _ROOM / f"{drawer}.md"
    path.write_text("# Desk\n", "utf-8")
    ends, count = time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        text = path.read_bytes().removeprefix(_BOM).decode()
        gap = "" if text.endswith(("\n", "\r")) else "\n"
        count += 1
        line = f"Typed {drawer} {stress.spelled(count)}."
        save(path, form(f"{text}{gap}- {line}\n"))
        typed.append(line)
        time.sleep(_BETWEEN_SAVES_S * random.random() * 2)


def _edit_all(
    root: str, drawers: Sequence[str], hows: Sequence[str], seconds: float, out: str
) -> None:
    typed = _edit_each(root, drawers, hows, seconds)
    Path(out).write_text(json.dumps(typed), "utf-8")


class CarefulWorker(stress.Worker):
    """A program that looks whether what it wrote was overwritten, and recovers it."""

    drawers: Sequence[str] = ()

    def act(self) -> None:
        """Do one thing; what an editor overwrote in the meantime is put back and done again."""
        self.changing = ""
        super().act()
        if self.told.errors:
            # Refused because an editor saved behind the write: it may have happened all the same.
            self.told.stored.pop(self.changing, None)
        if self.told.unfound or self.told.errors:
            self.told.unfound.clear()
            self.told.errors = [e for e in self.told.errors if not _EXPECTED.search(e)]
            self.told.done["recover"] += recover_all(self.palace)

    def _place(self) -> tuple[str, str]:
        return _ROOM, self._random.choice(self.drawers)


def recover_all(palace: Mempalace) -> int:
    """Put back what was overwritten; return how much it was."""
    lost = palace.overwritten()
    for one in lost:
        try:
            palace.recover(one.id)
        except (MemoryNotFoundError, WriteConflictError):
            continue  # another program was faster, or an editor saves without a pause
    return len(lost)


def work(root: str, name: str, *, drawers: Sequence[str], seconds: float, out: str) -> None:
    """Be one writing process in the drawers that are edited by hand."""
    with Mempalace.open(root) as palace:
        worker = CarefulWorker(palace, name, seed=sum(name.encode()))
        worker.drawers = drawers
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            worker.act()
    stress.write_told(worker.told, Path(out))


def run_editors(
    root: Path, *, writers: int, seconds: float, hows: Sequence[str] = tuple(SAVES)
) -> Edited:
    """Let one editor for each way to save work beside writers, each on a drawer of its own."""
    drawers = [stress.spelled(n) for n in range(len(hows))]
    with tempfile.TemporaryDirectory(prefix="palace-editors-") as folder:
        told_in = [Path(folder) / f"w{n}.json" for n in range(writers)]
        typed_in = Path(folder) / "typed.json"
        Mempalace.open(root).close()
        (root / "rooms" / _ROOM).mkdir(parents=True, exist_ok=True)
        processes = [
            _SPAWN.Process(
                target=work,
                args=(str(root), f"hand{stress.spelled(n)}"),
                kwargs={"drawers": drawers, "seconds": seconds, "out": str(out)},
            )
            for n, out in enumerate(told_in)
        ]
        args = (str(root), drawers, hows, seconds, str(typed_in))
        with stress.running(
            [*processes, _SPAWN.Process(target=_edit_all, args=args)], within_s=seconds + 60
        ):
            pass
        told = [stress.read_told(out) for out in told_in if out.exists()]
        typed = json.loads(typed_in.read_bytes()) if typed_in.exists() else []
        died = sum(not out.exists() for out in [*told_in, typed_in])
    broken = [f"{died} processes died or hung"] if died else []
    with Mempalace.open(root) as palace:
        recover_all(palace)
    return Edited(told, typed, [*broken, *broken_promises(root, told, typed)])


def broken_promises(root: Path, told: Sequence[stress.Told], typed: Sequence[str]) -> list[str]:
    """Open the palace as the next program would, and return every promise that was not kept."""
    with Mempalace.open(root) as palace:
        left = [f"not recovered: {one.id} ({one.how})" for one in palace.overwritten()]
        found = Counter(memory.text for memory in palace.memories())
    broken = [f"typed and there {found[line]} times: {line}" for line in typed if found[line] != 1]
    return [*broken, *left, *stress.broken_promises(root, told)]
