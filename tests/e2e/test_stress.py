"""Short runs of `python -m benchmarks.stress`: real processes, threads and tasks on one palace."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks import stress
from palace import Mempalace, RetrievalEnforcer
from palace.store.files import LOCK_TIMEOUT_S
from tests.doubles import another_writer


def kept(root: Path, told: list[stress.Told], *, workers: int) -> None:
    assert len(told) == workers
    assert sum(len(one.stored) for one in told) > 0
    assert stress.broken_promises(root, told) == []


def test_many_processes_lose_nothing(tmp_path):
    told = stress.run_processes(tmp_path, processes=4, seconds=2)
    kept(tmp_path, told, workers=4)


def test_many_threads_and_tasks_lose_nothing(tmp_path):
    told = stress.run_threads(tmp_path, threads=4, seconds=0.8)
    told += stress.run_tasks(tmp_path, tasks=4, seconds=0.6)
    kept(tmp_path, told, workers=8)


def test_a_question_waits_for_no_writer(tmp_path):
    """Somebody holds every lock a writer takes, and a drawer has changed: the answer comes."""
    with Mempalace.open(tmp_path) as palace:
        file = tmp_path / palace.remember("The lathe stands in Oslo.", room="a").memory.path
        enforcer = RetrievalEnforcer(palace)
        enforcer.decide("Where does the lathe stand?")  # loads what all later ones use
        database = sqlite3.connect(tmp_path / ".palace" / "index.sqlite", isolation_level=None)
        with another_writer(tmp_path), closing(database):
            database.execute("BEGIN IMMEDIATE")
            with file.open("a", encoding="utf-8") as drawer:
                drawer.write("- The kettle stands in Bergen.\n")
            started = time.monotonic()
            verdict = enforcer.decide("Where does the lathe stand?")
            waited_s = time.monotonic() - started
            database.execute("ROLLBACK")
    assert verdict.evidence[0].text == "The lathe stands in Oslo."
    assert waited_s < LOCK_TIMEOUT_S / 10


def test_who_opens_a_palace_waits_for_no_writer(tmp_path):
    with Mempalace.open(tmp_path) as palace:
        palace.remember("The lathe stands in Oslo.")
    with another_writer(tmp_path):
        started = time.monotonic()
        with Mempalace.open(tmp_path) as palace:
            assert palace.search("lathe")
        assert time.monotonic() - started < LOCK_TIMEOUT_S / 10


@pytest.mark.parametrize("breach", ["lost", "twice", "changed", "back", "note"])
def test_a_broken_promise_is_seen(tmp_path, breach):
    [told] = stress.run_threads(tmp_path, threads=1, seconds=0.4)
    identifier, text = next(iter(told.stored.items()))
    with Mempalace.open(tmp_path) as palace:
        file = tmp_path / palace.get(identifier).path
    content = file.read_text("utf-8")
    if breach == "lost":
        file.write_text(content.replace(f"id={identifier}", "id=m-other"), "utf-8")
    elif breach == "twice":
        (tmp_path / "rooms" / "copy.md").write_text(content, "utf-8")
    elif breach == "changed":
        file.write_text(content.replace(text, "Something else."), "utf-8")
    elif breach == "back":
        told.retired.add(identifier)
    else:
        told.noted.append(("session", "never noted"))
    assert stress.broken_promises(tmp_path, [told])
