"""The scratchpad's files: bounds, torn lines, promotion, purging, several writers."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from dataclasses import replace

import pytest

from palace.errors import ConfigError, MemoryNotFoundError, StoreError, StoreUnavailableError
from palace.store import scratchpad_file
from palace.store.scratchpad_file import FileScratchpad
from palace.testing import ManualClock


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "scratchpad"


@pytest.fixture
def pad(folder, clock):
    return FileScratchpad(folder, clock=clock)


def texts(entries):
    return [e.text for e in entries]


def the_file(folder):
    (path,) = folder.glob("*.jsonl")
    return path


def test_nothing_is_touched_before_the_first_write(pad, folder):
    assert pad.entries("one") == []
    assert pad.sessions() == []
    assert pad.get("s-x") is None
    assert pad.purge_expired() == 0
    assert not folder.exists()


def test_one_line_for_each_note(pad, folder):
    pad.append("one", "first\nof two lines")
    pad.append("one", "second")
    lines = the_file(folder).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["first\nof two lines", "second"]


def test_hostile_session_id_stays_inside_the_folder(pad, folder, tmp_path):
    for session in ("../../evil", "/etc/passwd", "a\x00b", "..", "con", "x" * 300):
        pad.append(session, session)
        assert texts(pad.entries(session)) == [session]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["scratchpad"]
    assert all(p.is_file() for p in folder.iterdir())


def test_torn_line_is_skipped_and_never_glued(pad, folder, clock):
    pad.append("one", "first")
    with the_file(folder).open("ab") as out:
        out.write(b'{"type":"note","id":"s-torn","sess')
    assert texts(pad.entries("one")) == ["first"]
    pad.append("one", "second")
    assert texts(pad.entries("one")) == ["first", "second"]
    assert texts(FileScratchpad(folder, clock=clock).entries("one")) == ["first", "second"]


@pytest.mark.parametrize(
    "change",
    [
        {"at": "yesterday"},
        {"at": "2026-03-14T09:30:00"},
        {"at": None},
        {"ttl_s": "soon"},
        {"ttl_s": -1},
        {"ttl_s": 1e999},
        {"text": 5},
        {"id": ""},
        {"session": "another"},
        {"type": "other"},
    ],
)
def test_damaged_or_foreign_line_is_skipped(pad, folder, change):
    pad.append("one", "whole")
    path = the_file(folder)
    damaged = {**json.loads(path.read_text()), "id": "s-damaged", **change}
    with path.open("a") as out:
        out.write(json.dumps(damaged) + "\n")
    assert texts(pad.entries("one")) == ["whole"]


def test_default_time_to_live(folder, clock):
    pad = FileScratchpad(folder, ttl_s=5, clock=clock)
    assert pad.append("one", "text").ttl_s == 5
    clock.advance(5)
    assert pad.entries("one") == []


def test_clock_set_back_is_tolerated(pad, clock):
    pad.append("one", "first", ttl_s=10)
    clock.advance(-86_400)
    pad.append("one", "second", ttl_s=10)
    assert texts(pad.entries("one")) == ["first", "second"]
    clock.advance(10)
    assert texts(pad.entries("one")) == ["first"]
    assert pad.purge_expired() == 0


@pytest.mark.parametrize("bounds", [{"ttl_s": 0}, {"max_entry_chars": 0}, {"max_entries": 0}])
def test_bounds_are_checked(folder, bounds):
    with pytest.raises(ConfigError):
        FileScratchpad(folder, **bounds)


def test_full_session_refuses_until_a_note_expires(folder, clock):
    pad = FileScratchpad(folder, max_entries=2, clock=clock)
    pad.append("one", "a", ttl_s=10)
    pad.append("one", "b")
    with pytest.raises(StoreError) as caught:
        pad.append("one", "c")
    assert "promote" in caught.value.hint
    pad.append("two", "c")
    clock.advance(10)
    pad.append("one", "d")
    assert texts(pad.entries("one")) == ["b", "d"]


def test_source_is_kept(pad, folder, clock):
    for source in ("user", "agent", "system"):
        pad.append("one", source, source=source)
    reopened = FileScratchpad(folder, clock=clock)
    assert [e.source for e in reopened.entries("one")] == ["user", "agent", "system"]


def test_sessions_with_living_notes_latest_first(pad, clock):
    pad.append("short", "x", ttl_s=1)
    pad.append("A b", "x")
    clock.advance(1)
    pad.append("c", "x")
    assert pad.sessions() == ["c", "A b"]
    clock.advance(1)
    pad.append("A b", "again")
    assert pad.sessions() == ["A b", "c"]


def test_get_returns_a_living_note(pad, clock):
    pad.append("one", "a")
    entry = pad.append("two", "b", ttl_s=10)
    assert pad.get(entry.id) == entry
    assert pad.get("s-unknown") is None
    clock.advance(10)
    assert pad.get(entry.id) is None


def test_promotion_is_an_appended_line(pad, folder, clock):
    entry = pad.append("one", "a")
    before = the_file(folder).read_bytes()
    assert pad.mark_promoted(entry.id, "m-1") == replace(entry, promoted="m-1")
    after = the_file(folder).read_bytes()
    assert after.startswith(before)
    assert len(after.splitlines()) == 2
    for reader in (pad, FileScratchpad(folder, clock=clock)):
        assert [e.promoted for e in reader.entries("one")] == ["m-1"]
        assert reader.get(entry.id).promoted == "m-1"
    pad.mark_promoted(entry.id, "m-1")
    assert the_file(folder).read_bytes() == after


def test_last_promotion_counts(pad):
    entry = pad.append("one", "a")
    pad.mark_promoted(entry.id, "m-1")
    pad.mark_promoted(entry.id, "m-2")
    assert pad.get(entry.id).promoted == "m-2"


def test_expired_note_can_still_be_marked(pad, clock):
    entry = pad.append("one", "a", ttl_s=1)
    clock.advance(5)
    assert pad.mark_promoted(entry.id, "m-1").promoted == "m-1"
    assert pad.entries("one") == []


def test_unknown_note_cannot_be_marked(pad):
    pad.append("one", "a")
    with pytest.raises(MemoryNotFoundError) as caught:
        pad.mark_promoted("s-unknown", "m-1")
    assert caught.value.hint


def test_promotion_needs_a_memory(pad):
    entry = pad.append("one", "a")
    with pytest.raises(ConfigError):
        pad.mark_promoted(entry.id, "")


def test_purge_deletes_wholly_expired_files_only(pad, folder, clock):
    pad.append("gone", "a", ttl_s=10)
    pad.append("mixed", "b", ttl_s=10)
    pad.append("mixed", "c", ttl_s=100)
    (folder / "damaged.jsonl").write_text("not json\n")
    (folder / "notes.txt").write_text("mine")
    mixed = (folder / "mixed.jsonl").read_bytes()
    clock.advance(10)
    assert pad.purge_expired() == 1
    assert pad.purge_expired() == 0
    assert (folder / "mixed.jsonl").read_bytes() == mixed
    left = {p.name for p in folder.iterdir()} - {".lock"}
    assert left == {"damaged.jsonl", "mixed.jsonl", "notes.txt"}
    assert texts(pad.entries("mixed")) == ["c"]
    pad.append("gone", "new")
    assert texts(pad.entries("gone")) == ["new"]


def test_a_purge_looks_at_the_newest_note_first(pad, clock, monkeypatch):
    for number in range(20):
        pad.append("one", f"note {number}", ttl_s=10 + number)
    clock.advance(20)
    read = []
    decoded = scratchpad_file.decode_line
    monkeypatch.setattr(
        scratchpad_file, "decode_line", lambda line: read.append(line) or decoded(line)
    )
    assert pad.purge_expired() == 0
    assert len([line for line in read if line]) == 1


def test_a_purge_that_is_stopped_goes_on_another_time(pad, clock):
    for number in range(3):
        pad.append(f"session-{number}", "a", ttl_s=10)
    clock.advance(10)
    stops = iter([False, True])
    assert pad.purge_expired(stopped=lambda: next(stops)) == 1
    assert pad.purge_expired() == 2


def test_what_is_noted_during_a_purge_stays(pad, folder, clock, monkeypatch):
    other = FileScratchpad(folder, clock=clock)
    for session in ("one", "two"):
        pad.append(session, "old", ttl_s=10)
    clock.advance(10)
    is_over = scratchpad_file._is_over

    def noted_beside(data, now):
        over = is_over(data, now)
        if over and not other.entries("one"):
            other.append("one", "new")
        return over

    monkeypatch.setattr(scratchpad_file, "_is_over", noted_beside)
    assert pad.purge_expired() == 1
    assert texts(pad.entries("one")) == ["new"]


def test_another_scratchpad_is_seen_at_once(pad, folder, clock):
    other = FileScratchpad(folder, clock=clock)
    pad.append("one", "a", ttl_s=10)
    assert texts(other.entries("one")) == ["a"]
    other.append("one", "b", ttl_s=10)
    assert texts(pad.entries("one")) == ["a", "b"]


@pytest.mark.parametrize("number", [0, 1])
def test_what_another_scratchpad_erased_is_gone_at_once(pad, folder, clock, number):
    other = FileScratchpad(folder, clock=clock)
    notes = [pad.append("one", f"note {n}") for n in range(2)]
    assert texts(other.entries("one")) == ["note 0", "note 1"]
    assert pad.erase(lambda e: e.id == notes[number].id) == (notes[number].id,)
    assert texts(pad.entries("one")) == texts(other.entries("one")) == [f"note {1 - number}"]
    assert f"note {number}".encode() not in the_file(folder).read_bytes()


def test_a_look_that_is_interrupted_hides_no_note(pad, folder, clock, monkeypatch):
    pad.append("one", "first")
    assert texts(pad.entries("one")) == ["first"]
    FileScratchpad(folder, clock=clock).append("one", "second")

    def interrupted(_line):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("palace.store.scratchpad_file.decode_line", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pad.entries("one")
    assert texts(pad.entries("one")) == ["first", "second"]


def test_notes_of_many_sessions_are_not_all_kept_in_memory(folder, monkeypatch):
    monkeypatch.setattr("palace.store.scratchpad_file._KEPT_STATES", 3)
    pad = FileScratchpad(folder)
    for number in range(9):
        pad.append(f"session-{number}", f"note {number}")
    assert len(pad.sessions()) == 9
    assert len(pad._states) == 3
    assert texts(pad.entries("session-0")) == ["note 0"]


def test_file_that_was_purged_and_made_anew_is_read_anew(pad, folder, clock):
    other = FileScratchpad(folder, clock=clock)
    pad.append("one", "old", ttl_s=10)
    assert texts(other.entries("one")) == ["old"]
    clock.advance(10)
    assert pad.purge_expired() == 1
    pad.append("one", "new", ttl_s=10)
    assert texts(other.entries("one")) == ["new"]


@pytest.mark.parametrize("first_ttl_s", [10, 1e9])
def test_the_file_of_a_session_that_never_ends_stays_small(
    pad, folder, clock, monkeypatch, first_ttl_s
):
    monkeypatch.setattr("palace.store.scratchpad_file._KEPT_EXPIRED", 8)
    other = FileScratchpad(folder, clock=clock)
    first = pad.append("daily", "first", ttl_s=first_ttl_s)
    lasting = pad.append("daily", "lasting", ttl_s=1e9)
    pad.mark_promoted(lasting.id, "m-1")
    sizes = []
    for number in range(100):
        pad.mark_promoted(pad.append("daily", f"note {number}", ttl_s=10).id, "m-2")
        living = [f"note {n}" for n in range(max(0, number - 1), number + 1)]
        for reader in (pad, other):
            notes = [e for e in reader.entries("daily") if e.id != first.id]
            assert texts(notes) == ["lasting", *living]
            assert [e.promoted for e in notes] == ["m-1", *(["m-2"] * len(living))]
        sizes.append(the_file(folder).stat().st_size)
        if number == 50:
            with the_file(folder).open("ab") as file:
                file.write(b"a line of hers\n")
        clock.advance(5)
    assert b"a line of hers" in the_file(folder).read_bytes()
    assert max(sizes[50:]) < 2 * max(sizes[:20])
    assert the_file(folder).read_bytes().count(b'"rewritten"') == 1


def test_shrunk_file_is_read_anew(pad, folder):
    pad.append("one", "a")
    pad.append("one", "b")
    path = the_file(folder)
    first = pad.entries("one")[:1]
    assert len(pad.entries("one")) == 2
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert pad.entries("one") == first


def test_folder_in_place_of_a_file_is_unavailable(pad, folder):
    folder.mkdir()
    (folder / "one.jsonl").mkdir()
    with pytest.raises(StoreUnavailableError):
        pad.entries("one")
    with pytest.raises(StoreUnavailableError):
        pad.append("one", "a")


def test_file_in_place_of_the_folder_is_unavailable(tmp_path):
    (tmp_path / "scratchpad").write_text("")
    pad = FileScratchpad(tmp_path / "scratchpad")
    for call in (lambda: pad.append("one", "a"), lambda: pad.entries("one"), pad.sessions):
        with pytest.raises(StoreUnavailableError) as caught:
            call()
        assert caught.value.hint


def _write(folder, writer):
    pad = FileScratchpad(folder)
    for number in range(10):
        pad.append("shared", f"{writer}-{number} " + "x" * 3000)


def test_processes_never_mix_lines(folder):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(folder, n)) for n in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = {e.text.split()[0] for e in FileScratchpad(folder).entries("shared")}
    assert found == {f"{w}-{n}" for w in range(2) for n in range(10)}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_place_of_the_notes_is_refused_instead_of_waited_for(pad, folder):
    folder.mkdir(exist_ok=True)
    os.mkfifo(folder / "s.jsonl")
    with pytest.raises(StoreUnavailableError, match="a pipe or a device"):
        pad.entries("s")


def test_a_disk_that_stays_read_only_is_not_tried_again(pad, monkeypatch):
    def refuse(*_arguments, **_options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreUnavailableError, match="read-only") as caught:
        pad.append("one", "a")
    assert not caught.value.retryable


def test_a_disk_without_locks_says_so(pad, monkeypatch):
    def refuse(*_arguments, **_options):
        raise NotImplementedError("no flock here")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with pytest.raises(StoreUnavailableError, match="no file locks") as caught:
        pad.append("one", "a")
    assert "local disk" in caught.value.hint
