from __future__ import annotations

import errno
import os
import stat
import sys
import threading
import time
from contextlib import suppress

import pytest

from palace.errors import MemoryNotFoundError, StoreUnavailableError, WriteConflictError
from palace.store import swapping
from palace.store.files import (
    ANYTHING,
    FileSystem,
    atomic_write,
    locked,
    read_bytes,
    sweep,
    wait_for_save,
)
from tests.doubles import another_writer

STEPS = ("create", "write", "fsync", "rename", "fsync_dir")


class FailingDisk(FileSystem):
    """A disk on which one step fails; remembers the steps taken."""

    def __init__(self, step: str, error: int) -> None:
        self.step, self.error, self.taken = step, error, []

    def _maybe(self, step):
        self.taken.append(step)
        if step == self.step:
            raise OSError(self.error, os.strerror(self.error))

    def create(self, path, mode):
        self._maybe("create")
        return super().create(path, mode)

    def write(self, descriptor, data):
        super().write(descriptor, data[: len(data) // 2])
        self._maybe("write")
        super().write(descriptor, data[len(data) // 2 :])

    def fsync(self, descriptor):
        self._maybe("fsync")
        super().fsync(descriptor)

    def rename(self, source, target):
        self._maybe("rename")
        super().rename(source, target)

    def fsync_dir(self, folder):
        self._maybe("fsync_dir")
        super().fsync_dir(folder)


def test_a_write_takes_its_steps_in_the_durable_order(tmp_path):
    disk = FailingDisk("none", 0)
    atomic_write(tmp_path / "a.md", b"new", replaces=None, file_system=disk)
    assert disk.taken == list(STEPS)
    assert (tmp_path / "a.md").read_bytes() == b"new"


@pytest.mark.parametrize("regardless", [True, False])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("before", [None, b"old old old"])
def test_a_failure_leaves_the_old_or_the_new_file_whole(tmp_path, step, before, regardless):
    path = tmp_path / "a.md"
    if before is not None:
        path.write_bytes(before)
    expected = ANYTHING if regardless else before
    disk = FailingDisk(step, errno.EIO)
    with pytest.raises(StoreUnavailableError):
        atomic_write(path, b"new", replaces=expected, file_system=disk)
    found = path.read_bytes() if path.exists() else None
    assert found == (b"new" if step == "fsync_dir" else before)
    assert [entry.name for entry in tmp_path.iterdir()] == (["a.md"] if found else [])


def test_every_new_folder_is_recorded_in_the_one_above_it(tmp_path):
    recorded = []

    class Disk(FileSystem):
        def fsync_dir(self, folder):
            recorded.append(folder)

    atomic_write(tmp_path / "a" / "b" / "f.md", b"x", replaces=None, file_system=Disk())
    assert recorded == [tmp_path, tmp_path / "a", tmp_path / "a" / "b"]


@pytest.mark.parametrize(
    ("error", "advice", "retryable"),
    [
        (errno.ENOSPC, "free some disk space", True),
        (errno.EACCES, "permission", False),
        (errno.EROFS, "read-only", False),
        (errno.EIO, "check the disk", True),
    ],
)
def test_a_refusal_says_what_to_do(tmp_path, error, advice, retryable):
    with pytest.raises(StoreUnavailableError) as caught:
        atomic_write(
            tmp_path / "a.md", b"x", replaces=ANYTHING, file_system=FailingDisk("write", error)
        )
    assert advice in caught.value.hint
    assert caught.value.retryable is retryable
    assert "a.md" in caught.value.message


def test_a_changed_file_is_never_overwritten(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"hers")
    for expected in (b"mine", None):
        with pytest.raises(WriteConflictError):
            atomic_write(path, b"mine too", replaces=expected)
    assert path.read_bytes() == b"hers"
    with pytest.raises(WriteConflictError):
        atomic_write(tmp_path / "gone.md", b"x", replaces=b"was")
    atomic_write(path, b"new", replaces=b"hers")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("a.md", b"new")]


class InstantDisk(FileSystem):
    """A disk on which a person saves the file in the last instant, just before the exchange."""

    def __init__(self, save):
        self.save = save

    def rename(self, source, target):
        if self.save:
            self.save(target)
            self.save = None
        super().rename(source, target)


def _renamed_over(path):
    path.with_suffix(".new").write_bytes(b"hers")
    path.with_suffix(".new").replace(path)


def _in_place(path):
    path.write_bytes(b"hers")


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="no exchange of names elsewhere")


@LINUX
@pytest.mark.parametrize("save", [_renamed_over, _in_place])
@pytest.mark.parametrize("before", [None, b"old"])
def test_a_save_in_the_last_instant_is_kept(tmp_path, save, before):
    path = tmp_path / "a.md"
    if before:
        path.write_bytes(before)
    with pytest.raises(WriteConflictError):
        atomic_write(path, b"ours", replaces=before, file_system=InstantDisk(save))
    assert path.read_bytes() == b"hers"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.md"]


@LINUX
def test_a_save_that_is_not_finished_is_kept(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    opened = []
    disk = InstantDisk(lambda target: opened.append(target.open("r+b", buffering=0)))
    with pytest.raises(WriteConflictError):
        atomic_write(path, b"ours", replaces=b"old", file_system=disk)
    with pytest.raises(WriteConflictError, match=r"open for writing for 0\.05 seconds"):
        wait_for_save(path, timeout_s=0.05)
    opened[0].write(b"hers")
    opened[0].close()
    wait_for_save(path, timeout_s=0.05)
    assert path.read_bytes() == b"hers"


@LINUX
def test_the_latest_of_two_saves_in_one_instant_is_kept(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"old")

    class Twice(InstantDisk):
        times = 0

        def rename(self, source, target):
            self.times += 1
            if self.times < 3:
                path.with_suffix(".new").write_bytes(f"hers {self.times}".encode())
                path.with_suffix(".new").replace(path)
            FileSystem.rename(self, source, target)

    with pytest.raises(WriteConflictError):
        atomic_write(path, b"ours", replaces=b"old", file_system=Twice(None))
    assert path.read_bytes() == b"hers 2"


def test_a_system_without_exchange_renames(tmp_path, monkeypatch):
    monkeypatch.setattr(swapping, "_renameat2", lambda: None)
    path = tmp_path / "a.md"
    for old, new in ((None, b"1"), (b"1", b"2")):
        atomic_write(path, new, replaces=old)
    assert path.read_bytes() == b"2"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.md"]


@pytest.mark.skipif(os.name == "nt", reason="no modes there")
def test_modes_are_private_for_new_files_and_kept_for_old_ones(tmp_path):
    path = tmp_path / "rooms" / "a" / "b.md"
    atomic_write(path, b"x", replaces=None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700
    path.chmod(0o664)
    atomic_write(path, b"y", replaces=ANYTHING)
    assert stat.S_IMODE(path.stat().st_mode) == 0o664


def test_reading_tells_missing_from_broken(tmp_path):
    with pytest.raises(MemoryNotFoundError):
        read_bytes(tmp_path / "none.md")
    with pytest.raises(StoreUnavailableError):
        read_bytes(tmp_path)


def test_a_held_lock_times_out_and_a_released_one_does_not(tmp_path):
    with another_writer(tmp_path):
        with (
            pytest.raises(StoreUnavailableError, match="0.05 seconds"),
            locked(tmp_path, timeout_s=0.05),
        ):
            pass
        with locked(tmp_path, "other", timeout_s=0.05):
            pass
    with locked(tmp_path, timeout_s=1):
        assert (tmp_path / ".palace" / "locks" / "palace.lock").exists()


def test_a_lock_is_had_soon_after_it_is_free(tmp_path):
    held, free_again = threading.Event(), []

    def hold() -> None:
        with locked(tmp_path):
            held.set()
            time.sleep(0.2)
            free_again.append(time.monotonic())

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(10)
    with locked(tmp_path, timeout_s=10):
        had = time.monotonic()
    holder.join()
    assert 0 <= had - free_again[0] < 2


def test_whoever_holds_a_lock_may_take_it_again_and_keeps_it_to_the_end(tmp_path):
    def others_may():
        found = []

        def attempt():
            with suppress(StoreUnavailableError), locked(tmp_path, timeout_s=0):
                found.append(True)

        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
        return bool(found)

    with locked(tmp_path, timeout_s=0):
        with locked(tmp_path, timeout_s=0):
            assert not others_may()
        assert not others_may()
        with pytest.raises(KeyError), locked(tmp_path, timeout_s=0):
            raise KeyError
        assert not others_may()
    assert others_may()
    with locked(tmp_path, timeout_s=0):
        assert not others_may()


def test_a_lock_that_cannot_be_made_says_so(tmp_path):
    (tmp_path / ".palace").write_text("in the way")
    with pytest.raises(StoreUnavailableError), locked(tmp_path):
        pass


def test_what_a_dead_writer_left_is_swept_but_never_what_a_living_one_writes(tmp_path):
    left = [
        tmp_path / f"{folder}.0123456789abcdef.tmp" for folder in ("", "rooms/a/b/", "timeline/")
    ]
    others = [
        tmp_path / name
        for name in (
            "rooms/a.md",
            "rooms/.short.tmp",
            "rooms/.git/x.tmp",
            "elsewhere/.0123456789abcdef.tmp",
        )
    ]
    for path in (*left, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "rooms" / "loop").symlink_to(tmp_path)
    with another_writer(tmp_path), pytest.raises(StoreUnavailableError):
        sweep(tmp_path, ("rooms", "timeline", "missing"))
    assert all(path.exists() for path in left)
    assert sweep(tmp_path, ("rooms", "timeline", "missing")) == 3
    assert [path.exists() for path in left] == [False] * 3
    assert all(path.exists() for path in others)
    assert sweep(tmp_path, ("rooms", "timeline", "missing")) == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "notes.md")
    with pytest.raises(StoreUnavailableError, match="a pipe or a device and no file"):
        read_bytes(tmp_path / "notes.md")


@LINUX
def test_a_pipe_is_not_waited_for_before_a_write_either(tmp_path):
    os.mkfifo(tmp_path / "notes.md")
    wait_for_save(tmp_path / "notes.md", timeout_s=0.05)


def test_a_file_that_somebody_made_read_only_is_left_as_it_is(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(StoreUnavailableError, match="it is marked read-only") as refused:
        atomic_write(path, b"new", replaces=b"old")
    assert "make the file writable" in refused.value.hint
    assert not refused.value.retryable
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("a.md", b"old")]


def test_a_file_is_compared_with_the_content_that_is_known(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    atomic_write(path, b"new", replaces=b"old")
    for other in (b"newer", b"", b"ne"):
        path.write_bytes(other)
        with pytest.raises(WriteConflictError):
            atomic_write(path, b"ours", replaces=b"new")
        assert path.read_bytes() == other
    path.unlink()
    with pytest.raises(WriteConflictError):
        atomic_write(path, b"ours", replaces=b"new")
    assert not path.exists()


@LINUX
def test_an_empty_file_that_appears_in_the_last_instant_is_no_missing_one(tmp_path):
    path = tmp_path / "a.md"
    disk = InstantDisk(lambda _path: path.write_bytes(b""))
    with pytest.raises(WriteConflictError):
        atomic_write(path, b"ours", replaces=None, file_system=disk)
    assert path.read_bytes() == b""
