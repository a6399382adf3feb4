"""A short run of `python -m benchmarks.crash`, and a disk that refuses at every single step."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks import crash
from palace import ConversationTurn, Mempalace, PalaceError, RetrievalEnforcer
from palace.store.files import FileSystem

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="every life is a fork")


def test_killed_processes_keep_their_promises(tmp_path):
    result = crash.run(tmp_path, kills=20, seed=20)
    assert result["first_broken"] == []
    assert result["kills"] == 20
    assert result["acknowledged_memories"] > 5


@pytest.mark.parametrize("breach", ["lost", "twice", "half", "identity", "note", "verdict", "tmp"])
def test_a_broken_promise_is_seen(tmp_path, breach):
    promises = crash.Promises()
    while not (promises.notes and len(promises.memories) > 2 and promises.verdicts):
        crash.live_and_die(tmp_path, promises, number=1, step=300)
    assert crash.broken_promises(tmp_path, promises) == []
    if breach == "lost":
        promises.take(("stored", "m-unknown", "We moved it."))
    elif breach == "twice":
        file = next((tmp_path / "rooms").rglob("*.md"))
        (tmp_path / "rooms" / "copy.md").write_text(file.read_text("utf-8"), "utf-8")
    elif breach == "half":
        promises.intended.clear()  # one alone may be of a memory that was never stored
    elif breach == "identity":
        promises.identity = ["I am somebody else."]
    elif breach == "note":
        promises.take(("noted", "Seen: nothing"))
    elif breach == "verdict":
        promises.take(("decided", "v-unknown"))
    else:
        (tmp_path / "rooms" / ".fresh.tmp").write_text("")
    assert crash.broken_promises(tmp_path, promises)


@contextmanager
def refusing(number: int, error: int) -> Iterator[list[str]]:
    """Let the n-th file-system step of this process fail; lists the steps that were taken."""
    taken: list[str] = []
    homes: dict[str, Any] = {**dict.fromkeys(crash.STEPS, os), "rename": FileSystem}
    real = {name: getattr(home, name) for name, home in homes.items()}

    def refused(name: str) -> Callable[..., Any]:
        def step(*arguments: Any, **named: Any) -> Any:
            taken.append(name)
            if len(taken) == number:
                if name == "write":
                    real[name](arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                raise OSError(error, os.strerror(error))
            return real[name](*arguments, **named)

        return step

    for name, home in homes.items():
        setattr(home, name, refused(name))
    try:
        yield taken
    finally:
        for name, home in homes.items():
            setattr(home, name, real[name])


KEPT = "We moved the lathe to Oslo on 2026-03-04."
NEW = "We moved the kettle to Bergen on 2026-05-06."
TURN = ConversationTurn("s", "user", "The kettle is in Bergen.", crash._START)
VERBS: dict[str, Callable[[Mempalace, str], object]] = {
    "remember": lambda palace, _: palace.remember(NEW, room="new", drawer="fresh"),
    "correct": lambda palace, kept: palace.correct(kept, NEW),
    "note": lambda palace, _: palace.note(NEW, session_id="s"),
    "import_turns": lambda palace, _: palace.import_turns([TURN]),
    "set_identity": lambda palace, _: palace.set_identity("I am new."),
    "ask": lambda palace, _: RetrievalEnforcer(palace).decide("When did we move the lathe?"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_disk_that_refuses_loses_nothing_and_says_so(tmp_path, verb):
    refusals, number, taken = 0, 0, [""]
    while len(taken) >= number:
        number += 1
        root = tmp_path / str(number)
        error = errno.EIO if number % 2 else errno.ENOSPC
        with Mempalace.open(root) as palace:
            kept = palace.remember(KEPT, room="old").memory.id
            palace.set_identity("I am old.")
            with refusing(number, error) as taken:
                refusals += said_so(VERBS[verb], palace, kept, error)
        whole(root, kept)
    assert refusals or verb == "ask"
    assert number > 3 or verb == "ask"


def said_so(
    verb: Callable[[Mempalace, str], object], palace: Mempalace, kept: str, error: int
) -> bool:
    """Whether the verb was refused; then with the system's reason and with advice."""
    try:
        verb(palace, kept)
    except PalaceError as caught:
        refusal = caught
    else:
        return False
    assert os.strerror(error) in refusal.message
    assert refusal.hint
    return True


def whole(root: Path, kept: str) -> None:
    """The palace opens again with all that was there, nothing half, and can be written."""
    with Mempalace.open(root) as palace:
        assert palace.get(kept).text == KEPT
        assert {m.text for m in palace.memories(include_inactive=True)} <= {KEPT, NEW, TURN.text}
        assert palace.identity.text in ("I am old.", "I am new.")
        assert palace.faults() == []
        assert list(root.rglob(".*.tmp")) == []
        assert {e.text for e in palace.notes("s")} <= {NEW}
        again = palace.note("Written after the failure.", session_id="t")
        assert [e.text for e in palace.notes("t")] == [again.text]
        stored = palace.remember("The weir was painted blue.", room="old")
        assert palace.get(stored.memory.id).status == "active"
        assert palace.get(kept).path == "rooms/old/notes.md"
