"""A change of several writes, killed at every file-system step: never two values, never none."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from palace import Mempalace, Remembered

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="every life is a fork")

OLD = "The staging database listens on port 5432."
NEW = "The staging database listens on port 5433."
STEPS = ("open", "write", "fsync", "replace", "rename", "unlink", "mkdir")


def correct(palace: Mempalace) -> object:
    [old] = [m for m in palace.memories() if m.room == "first"]
    return palace.correct(old.id, NEW)


def _keyed(palace: Mempalace) -> object:
    return palace.remember(NEW, room="third", key="port", on_conflict="supersede")


CHANGES: dict[str, tuple[dict[str, Any], Callable[[Mempalace], object]]] = {
    "correct": ({}, correct),
    "supersede": ({}, lambda p: p.remember(NEW, room="third", on_conflict="supersede")),
    "key": ({"key": "port"}, _keyed),
}


def built(root: Path, **fields: Any) -> None:
    with Mempalace.open(root) as palace:
        assert isinstance(palace.remember(OLD, room="first", **fields), Remembered)
        copy = root / "rooms" / "second" / "notes.md"
        copy.parent.mkdir(parents=True)
        copy.write_text(f"- {OLD}\n")


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Do something in a process that is killed at its n-th step; tell whether it was."""
    child = os.fork()
    if child == 0:
        taken = 0

        def counted(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **named: Any) -> Any:
                nonlocal taken
                taken += 1
                if taken == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*arguments, **named)

            return call

        for name in STEPS:
            setattr(os, name, counted(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("change", CHANGES)
def test_a_killed_change_leaves_one_value_alone(tmp_path: Path, change: str) -> None:
    fields, act = CHANGES[change]
    built(tmp_path / "0", **fields)
    step, was_killed, outcomes = 0, True, set()
    while was_killed:
        step += 1
        root = tmp_path / str(step)
        shutil.copytree(tmp_path / "0", root)

        def work(root: Path = root) -> None:
            with Mempalace.open(root) as palace:
                act(palace)

        was_killed = killed_at(step, work)
        with Mempalace.open(root) as palace:
            values = {m.text for m in palace.memories()}
            assert values in ({OLD}, {NEW}), f"killed at step {step}"
            outcomes |= values
            retired = [m for m in palace.memories(include_inactive=True) if m.status != "active"]
            if values == {NEW}:
                [new] = palace.memories()
                assert [m.superseded_by for m in retired] == [new.id] * 2
            assert [h.memory.text for h in palace.search("staging database port")][:1] == [*values]
            assert list((root / ".palace" / "pending").glob("*")) == []
    assert outcomes == {OLD, NEW}
    assert step > 10


def test_a_change_under_way_is_left_to_its_own_process(tmp_path: Path) -> None:
    built(tmp_path)
    with Mempalace.open(tmp_path) as writer:
        [first, second] = writer.memories()
        with writer.pending.promised(second.id, [first.id]):
            with Mempalace.open(tmp_path) as reader:
                assert len(reader.memories()) == 2
            assert list((tmp_path / ".palace" / "pending").glob("*.json"))
    with Mempalace.open(tmp_path) as later:
        assert len(later.memories()) == 2


@pytest.mark.parametrize("torn", [b"", b'{"new": "m-', b"[]", b'{"new": "m-x", "retired": 7}'])
def test_a_torn_promise_promises_nothing(tmp_path: Path, torn: bytes) -> None:
    built(tmp_path)
    folder = tmp_path / ".palace" / "pending"
    folder.mkdir(exist_ok=True)
    (folder / "m-x.json").write_bytes(torn)
    with Mempalace.open(tmp_path) as palace:
        assert len(palace.memories()) == 2
    assert list(folder.glob("*.json")) == []
