"""A palace that was opened before its process was forked, as servers with workers do."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer
from palace.store.files import FileSystem, atomic_write
from palace.store.swapping import is_being_written

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


class SlowDisk(FileSystem):
    """A disk that is in the middle of a write until it may go on."""

    def __init__(self) -> None:
        self.writing, self.go_on = threading.Event(), threading.Event()

    def write(self, descriptor: int, data: bytes) -> None:
        self.writing.set()
        self.go_on.wait(20)
        super().write(descriptor, data)


@pytest.fixture
def palace(tmp_path: Path) -> Iterator[Mempalace]:
    with Mempalace.open(tmp_path / "palace") as opened:
        opened.remember("The blue ladder is in the shed.")
        yield opened


def forked(act: Callable[[], bool]) -> int:
    """Begin a process that ends with whether the act was true; one that hangs is ended."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        with suppress(BaseException):
            os._exit(0 if act() else 3)
        os._exit(4)
    return child


def was_true(child: int) -> bool:
    return os.waitpid(child, 0)[1] == 0


def test_what_it_held_in_another_thread_keeps_no_forked_process_waiting(palace: Mempalace) -> None:
    enforcer = RetrievalEnforcer(palace)
    holding, done = threading.Event(), threading.Event()

    def hold() -> None:
        with palace.journal._lock, palace.scratchpad._states_lock, palace._refresh_lock:
            holding.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait(20)
    child = forked(
        lambda: (
            palace.remember("The red ladder is in the attic.").status == "stored"
            and "attic" in enforcer.decide("Where is the red ladder?").evidence[0].text
        )
    )
    done.set()
    thread.join()

    assert was_true(child)
    assert "attic" in enforcer.decide("Where is the red ladder?").evidence[0].text


def test_a_forked_process_writes_the_index_of_all_after_its_parent_has_closed_it(
    palace: Mempalace,
) -> None:
    read, write = os.pipe()

    def remember_later() -> bool:
        palace.memories()
        os.read(read, 1)
        return bool(palace.remember("The red ladder is in the attic.").memory)

    child = forked(remember_later)
    index = palace.index.path
    assert index is not None
    palace.close()
    os.write(write, b"x")
    assert was_true(child)

    with closing(sqlite3.connect(index)) as connection:
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (2,)


def test_a_fork_waits_for_what_a_thread_is_writing_to_the_index(palace: Mempalace) -> None:
    writing, written = threading.Event(), threading.Event()

    def write() -> None:
        with palace.index._database.transaction() as connection:
            connection.execute("DELETE FROM uses")
            writing.set()
            written.wait(0.2)

    thread = threading.Thread(target=write)
    thread.start()
    writing.wait(20)
    child = forked(lambda: palace.remember("The red ladder is in the attic.").status == "stored")
    thread.join()
    assert was_true(child)


def test_threads_of_a_forked_process_may_use_it_first_all_at_once(palace: Mempalace) -> None:
    enforcer = RetrievalEnforcer(palace)

    def ask_at_once() -> bool:
        threads = threading.Barrier(4)

        def ask(number: int) -> bool:
            threads.wait()
            palace.remember(f"The crate {number} is in hall {number}0.")
            return bool(enforcer.decide("Where is the blue ladder?").evidence)

        with ThreadPoolExecutor(4) as pool:
            return all(pool.map(ask, range(4)))

    for _ in range(5):
        assert was_true(forked(ask_at_once))


def test_what_a_thread_is_saving_is_not_kept_open_by_a_forked_process(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    begun, begin = os.pipe()
    read, write = os.pipe()
    disk = SlowDisk()
    thread = threading.Thread(
        target=atomic_write,
        args=(path, b"- A line.\n"),
        kwargs={"replaces": "anything", "file_system": disk},
    )
    thread.start()
    disk.writing.wait(20)
    child = forked(lambda: bool(os.write(begin, b"x") and os.read(read, 1)))
    os.read(begun, 1)
    disk.go_on.set()
    thread.join()

    assert not is_being_written(path)
    os.write(write, b"x")
    assert was_true(child)


def test_a_palace_that_was_closed_stays_closed_in_a_forked_process(palace: Mempalace) -> None:
    palace.close()
    with pytest.raises(Exception, match="closed"):
        palace.memories()

    def is_refused() -> bool:
        with pytest.raises(Exception, match="closed"):
            palace.memories()
        return True

    assert was_true(forked(is_refused))


def test_a_forked_process_may_close_what_it_never_used_and_fork_again(palace: Mempalace) -> None:
    assert was_true(forked(lambda: palace.close() is None))
    assert was_true(forked(lambda: was_true(forked(lambda: len(palace.memories()) == 1))))
    assert len(palace.memories()) == 1
    with pytest.raises(AttributeError):
        palace.no_such_thing  # type: ignore[attr-defined]  # noqa: B018
