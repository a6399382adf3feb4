"""Bringing the index up to date: only what changed is read."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from palace.errors import MemoryNotFoundError, StoreUnavailableError
from palace.ports import Scope
from palace.store.index_sqlite import SqliteIndex
from palace.store.playbook_files import PlaybookFiles, as_memory
from palace.store.refresh import Refreshed, refresh
from palace.store.rooms import RoomStore
from palace.types.memory import Document, Fault, FileStamp, Playbook
from palace.types.verdict import LayerName
from tests.doubles import memory, paged

A_DAY_NS = 86_400 * 10**9


@dataclass
class ScriptedFiles:
    """Readable files in memory: path -> (size, mtime_ns, digest, text)."""

    files: dict[str, tuple[int, int, str, str]] = field(default_factory=dict)
    read_paths: list[str] = field(default_factory=list)
    unread: list[Fault] = field(default_factory=list)

    def put(self, path: str, text: str, *, mtime_ns: int = 1, digest: str | None = None) -> None:
        self.files[path] = (len(text), mtime_ns, digest or text, text)

    def scan(self) -> list[FileStamp]:
        return [FileStamp(p, size, mtime) for p, (size, mtime, _, _) in sorted(self.files.items())]

    def look(self) -> tuple[list[FileStamp], list[Fault]]:
        return self.scan(), self.unread

    def read(self, path: str) -> Document:
        self.read_paths.append(path)
        _, _, digest, text = self.files[path]
        document, _ = paged(memory(text, id=f"m-{path}"), path=path, digest=digest)
        faults = (Fault(path, 1, "odd"),) if text.startswith("!") else ()
        return Document(path, digest, "", (), document.memories, faults)


@pytest.fixture
def index() -> Iterator[SqliteIndex]:
    index = SqliteIndex(None)
    yield index
    index.close()


@pytest.fixture
def files() -> ScriptedFiles:
    return ScriptedFiles()


def texts(index: SqliteIndex, layer: LayerName = "L1") -> list[str]:
    return [m.text for m in index.memories(layer=layer)]


def test_nothing_to_do(index: SqliteIndex, files: ScriptedFiles) -> None:
    assert refresh(index, [("L1", files)]) == Refreshed()
    assert refresh(index, []) == Refreshed()


def test_new_changed_and_removed_files(index: SqliteIndex, files: ScriptedFiles) -> None:
    files.put("a.md", "one")
    files.put("b.md", "two")
    assert refresh(index, [("L1", files)]) == Refreshed(("a.md", "b.md"), (), 2)
    files.put("a.md", "three!")
    del files.files["b.md"]
    files.put("c.md", "four")
    assert refresh(index, [("L1", files)]) == Refreshed(("a.md", "c.md"), ("b.md",), 2)
    assert texts(index) == ["three!", "four"]
    assert refresh(index, [("L1", files)]) == Refreshed()


def test_unchanged_files_are_not_read(index: SqliteIndex, files: ScriptedFiles) -> None:
    for name in ("a.md", "b.md"):
        files.put(name, name)
    refresh(index, [("L1", files)])
    files.read_paths.clear()
    files.put("b.md", "b.md changed", mtime_ns=2)
    refresh(index, [("L1", files)])
    assert files.read_paths == ["b.md"]


def test_a_touched_file_is_read_once_and_not_written(
    index: SqliteIndex, files: ScriptedFiles
) -> None:
    files.put("a.md", "same")
    refresh(index, [("L1", files)])
    files.put("a.md", "same", mtime_ns=2)
    files.read_paths.clear()
    assert refresh(index, [("L1", files)]) == Refreshed()
    assert refresh(index, [("L1", files)]) == Refreshed()
    assert files.read_paths == ["a.md"]


def test_a_file_written_just_now_is_read_again(index: SqliteIndex, files: ScriptedFiles) -> None:
    """The same size and time do not prove that a file written this very moment did not change."""
    now = time.time_ns()
    files.put("a.md", "one", mtime_ns=now)
    refresh(index, [("L1", files)])
    files.put("a.md", "two", mtime_ns=now)
    assert refresh(index, [("L1", files)]).read == ("a.md",)
    assert texts(index) == ["two"]


@pytest.mark.parametrize(("age_s", "found"), [(0.9, "two"), (1000, "one")])
def test_a_disk_that_keeps_whole_seconds_says_less(
    index: SqliteIndex, files: ScriptedFiles, age_s: float, found: str
) -> None:
    second = int(time.time() - age_s) * 10**9
    files.put("a.md", "one", mtime_ns=second)
    refresh(index, [("L1", files)])
    files.put("a.md", "two", mtime_ns=second)
    refresh(index, [("L1", files)])
    assert texts(index) == [found]


def test_files_of_another_day_that_is_to_come_are_not_read_again(
    index: SqliteIndex, files: ScriptedFiles
) -> None:
    files.put("a.md", "one", mtime_ns=time.time_ns() + 30 * A_DAY_NS)
    files.put("b.md", "one", mtime_ns=time.time_ns() + A_DAY_NS // 24)
    refresh(index, [("L1", files)])
    files.read_paths.clear()
    refresh(index, [("L1", files)])
    assert files.read_paths == ["b.md"]


def test_a_file_with_an_older_time_is_read_again(index: SqliteIndex, files: ScriptedFiles) -> None:
    files.put("a.md", "one", mtime_ns=5)
    refresh(index, [("L1", files)])
    files.put("a.md", "old", mtime_ns=4)
    refresh(index, [("L1", files)])
    assert texts(index) == ["old"]


def test_faults_of_the_files_read(index: SqliteIndex, files: ScriptedFiles) -> None:
    files.put("a.md", "! odd one")
    files.put("b.md", "fine")
    assert refresh(index, [("L1", files)]).faults == (Fault("a.md", 1, "odd"),)
    assert texts(index) == ["! odd one", "fine"]


def test_layers_keep_apart(index: SqliteIndex, files: ScriptedFiles) -> None:
    playbooks = ScriptedFiles()
    files.put("rooms/a.md", "room")
    playbooks.put("playbooks/b.md", "steps")
    refresh(index, [("L1", files), ("L4", playbooks)])
    assert (texts(index), texts(index, "L4")) == (["room"], ["steps"])
    playbooks.files.clear()
    assert refresh(index, [("L1", files), ("L4", playbooks)]).removed == ("playbooks/b.md",)
    assert (texts(index), texts(index, "L4")) == (["room"], [])


def test_progress_counts_files(index: SqliteIndex, files: ScriptedFiles) -> None:
    for number in range(130):
        files.put(f"{number:03}.md", f"text {number}")
    seen: list[tuple[int, int]] = []
    done = refresh(index, [("L1", files)], progress=lambda *pair: seen.append(pair))
    assert seen == [(64, 130), (128, 130), (130, 130)]
    assert done.memories == 130
    assert index.size() == 130


# -- with real files ----------------------------------------------------------------------------


def sources(root: Path) -> list[tuple[LayerName, RoomStore | PlaybookFiles]]:
    return [("L1", RoomStore(root)), ("L4", PlaybookFiles(root))]


def write(root: Path, path: str, text: str | bytes) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_same_size_and_time_within_the_racy_window(tmp_path: Path, index: SqliteIndex) -> None:
    file = write(tmp_path, "rooms/desk/notes.md", "- one\n")
    refresh(index, sources(tmp_path))
    before = file.stat()
    file.write_text("- two\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    refresh(index, sources(tmp_path))
    assert texts(index) == ["two"]


@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_file_put_back_with_its_size_and_time_of_long_ago(
    tmp_path: Path, index: SqliteIndex, is_replaced: bool
) -> None:
    file = write(tmp_path, "rooms/desk/notes.md", "- one\n")
    os.utime(file, ns=(1, 10**18 + 1))
    refresh(index, sources(tmp_path))
    restored = write(tmp_path, "backup.md", "- two\n") if is_replaced else file
    restored.write_text("- two\n")
    os.utime(restored, ns=(1, 10**18 + 1))
    restored.replace(file)
    assert refresh(index, sources(tmp_path)).read == ("rooms/desk/notes.md",)
    assert texts(index) == ["two"]
    assert refresh(index, sources(tmp_path)) == Refreshed()


@pytest.mark.parametrize(
    "content",
    [
        b"---\ntriggers: [open\n---\n# Broken\n1. a step\n",
        b"\xff\xfe\x00 not text",
        b"",
        b"---\n---\n",
        b"\x00" * 50,
        b"- " * 5000,
    ],
)  # fmt: skip
def test_a_file_of_nonsense_does_not_stop_the_others(
    tmp_path: Path, index: SqliteIndex, content: bytes
) -> None:
    write(tmp_path, "rooms/desk/notes.md", "- a blue kettle\n")
    write(tmp_path, "rooms/desk/odd.md", content)
    write(tmp_path, "playbooks/odd.md", content)
    write(tmp_path, "playbooks/tea.md", "# Tea\n1. boil water\n")
    refresh(index, sources(tmp_path))
    assert "a blue kettle" in texts(index)
    assert "Tea\n1. boil water" in texts(index, "L4")


def test_a_playbook_is_found_by_title_triggers_and_steps(
    tmp_path: Path, index: SqliteIndex
) -> None:
    text = (
        "---\ntriggers: [roll back]\nprerequisites: [a key]\nwarnings: [slow]\n---\n"
        "# Undo a release\n\nSome words.\n\n1. stop the queue\n2. deploy the old tag\n"
    )
    write(tmp_path, "playbooks/undo.md", text)
    refresh(index, sources(tmp_path))
    for term in ("undo", "roll", "queue", "deploy"):
        assert index.candidates([term], layer="L4", scope=Scope(), limit=5)
    (found,) = index.memories(layer="L4")
    assert found.text == (
        "Undo a release\nPrerequisites: a key\nWarnings: slow\nSome words.\n\n"
        "1. stop the queue\n2. deploy the old tag"
    )
    assert (found.id, found.kind, found.room) == ("p-undo", "procedure", "playbooks")
    assert found.source == "playbooks/undo.md:6"
    assert found.updated is None  # a file time says when it was copied, not since when it holds


def test_a_playbook_without_steps_gives_its_body() -> None:
    playbook = Playbook("tea", "Tea", (), (), (), (), "\nBoil, then wait.\n", "playbooks/tea.md")
    assert as_memory(playbook).text == "Tea\nBoil, then wait."


class MeddledFiles(ScriptedFiles):
    """Files that another program changes and indexes right after we have read one of them."""

    def __init__(self, other: SqliteIndex) -> None:
        super().__init__()
        self.other = other
        self.meddler: threading.Thread | None = None

    def read(self, path: str) -> Document:
        document = super().read(path)
        if self.meddler is None:
            self.put(path, "newer", mtime_ns=2)
            newer, stamp = super().read(path), self.scan()[0]
            self.meddler = threading.Thread(target=self.other.apply, args=([(newer, stamp)],))
            self.meddler.start()
            self.meddler.join(0.3)
        return document


def test_an_older_version_never_replaces_a_newer_one(tmp_path: Path) -> None:
    mine, other = (SqliteIndex(tmp_path / "index.sqlite") for _ in range(2))
    files = MeddledFiles(other)
    files.put("a.md", "older")
    refresh(mine, [("L1", files)])
    assert files.meddler
    files.meddler.join()
    assert texts(mine) == ["newer"]
    mine.close()
    other.close()


class BrokenFiles(ScriptedFiles):
    """Files of which one is on a broken sector."""

    def read(self, path: str) -> Document:
        if path == "broken.md":
            raise StoreUnavailableError("could not read broken.md", hint="check the disk")
        return super().read(path)


def test_a_file_that_cannot_be_read_is_tried_at_every_look(index: SqliteIndex) -> None:
    files = BrokenFiles()
    files.put("broken.md", "lost")
    files.put("here.md", "here")
    done = refresh(index, [("L1", files)])
    assert done.read == ("here.md",)
    assert [(f.path, f.is_unread) for f in done.faults] == [("broken.md", True)]
    assert "check the disk" in done.faults[0].message
    assert refresh(index, [("L1", files)]).faults == done.faults


@pytest.mark.parametrize(("path", "kept"), [("a/b.md", "a/b.md"), ("a", "a/b.md"), ("a/b", "")])
def test_what_stands_in_an_unread_place_is_not_forgotten(
    index: SqliteIndex, path: str, kept: str
) -> None:
    files = ScriptedFiles()
    files.put("a/b.md", "kept")
    refresh(index, [("L1", files)])
    del files.files["a/b.md"]
    files.unread = [Fault(path, 1, "no permission", is_unread=True)]
    done = refresh(index, [("L1", files)])
    assert done.removed == (() if kept else ("a/b.md",))
    assert texts(index) == ["kept"] * bool(kept)
    assert list(done.faults) == files.unread


class VanishingFiles(ScriptedFiles):
    """Files that somebody deletes after they were listed."""

    def read(self, path: str) -> Document:
        if path == "gone.md":
            raise MemoryNotFoundError("gone")
        return super().read(path)


def test_a_file_that_vanishes_after_it_was_listed_stops_nothing(index: SqliteIndex) -> None:
    files = VanishingFiles()
    files.put("gone.md", "gone")
    files.put("here.md", "here")
    assert refresh(index, [("L1", files)]).read == ("here.md",)
    assert texts(index) == ["here"]


class ReturningFiles(ScriptedFiles):
    """Files of which one is missing in the first listing only."""

    listed = 0

    def scan(self) -> list[FileStamp]:
        self.listed += 1
        return [s for s in super().scan() if self.listed > 1 or s.path != "a.md"]


def test_a_file_that_came_back_is_not_forgotten(index: SqliteIndex) -> None:
    files = ReturningFiles()
    files.put("a.md", "back")
    files.listed = 1
    refresh(index, [("L1", files)])
    files.listed = 0
    assert refresh(index, [("L1", files)]).removed == ()
    assert texts(index) == ["back"]


def test_who_must_not_wait_looks_another_time(tmp_path: Path) -> None:
    mine, other = (SqliteIndex(tmp_path / "index.sqlite") for _ in range(2))
    files = ScriptedFiles()
    files.put("a.md", "one")

    def while_writing() -> Iterator[tuple[Document, FileStamp]]:
        started = time.monotonic()
        assert refresh(mine, [("L1", files)], wait=False) == Refreshed(complete=False)
        assert time.monotonic() - started < 1
        yield from ()

    other.apply(while_writing())
    assert refresh(mine, [("L1", files)], wait=False).read == ("a.md",)
    mine.close()
    other.close()
