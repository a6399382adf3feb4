from __future__ import annotations

import time
from pathlib import Path

import pytest

from palace.errors import IdentityTooLongError
from palace.store.identity_file import IdentityFile


def test_no_file_is_an_empty_identity(tmp_path):
    identity = IdentityFile(tmp_path).read()
    assert (identity.text, identity.chars, identity.used_percent, identity.over) == ("", 0, 0, 0)


def test_an_identity_of_the_full_length_fits(tmp_path):
    store = IdentityFile(tmp_path)
    written = store.write("語" * 1000 + "\n")
    assert written == store.read()
    assert (written.chars, written.limit, written.used_percent, written.over) == (
        1000,
        1000,
        100,
        0,
    )
    assert (tmp_path / "identity.txt").read_text("utf-8").endswith("語\n")


def test_a_longer_one_is_refused_with_what_to_merge(tmp_path):
    store = IdentityFile(tmp_path)
    store.write("I am brief.")
    long_text = "short\n" + "I like long walks by the sea " * 40
    with pytest.raises(IdentityTooLongError) as caught:
        store.write(long_text)
    assert str(len(long_text)) in caught.value.message
    assert "of at most 1000" in caught.value.message
    assert caught.value.hint.index("line 2") < caught.value.hint.index("line 1")
    assert store.read().text == "I am brief."


def test_a_person_may_have_made_it_too_long(tmp_path):
    (tmp_path / "identity.txt").write_bytes(b"\xef\xbb\xbf" + b"x" * 1500 + b"\r\n\xff")
    identity = IdentityFile(tmp_path).read()
    assert identity.over == 502
    assert identity.used_percent == 150
    assert identity.text.startswith("xxx")


@pytest.mark.parametrize(("mark", "encoding"), [("", "utf-16"), ("\ufeff", "utf-16-be")])
def test_a_windows_program_may_have_written_it_in_utf16(tmp_path, mark, encoding):
    file = tmp_path / "identity.txt"
    file.write_bytes(f"{mark}I am Zoë.\r\n".encode(encoding))
    identity = IdentityFile(tmp_path)
    assert (identity.read().text, identity.faults()) == ("I am Zoë.", [])
    file.write_bytes(file.read_bytes() + b"x")
    assert len(identity.faults()) == 1


def test_one_that_stays_as_it_is_is_read_once(tmp_path, monkeypatch):
    file = tmp_path / "identity.txt"
    file.write_text("I am Timmy.")
    identity = IdentityFile(tmp_path)
    monkeypatch.setattr(time, "time_ns", lambda: file.stat().st_ctime_ns + 10**10)
    first = identity.read()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", lambda _: b"nobody reads this")
        assert identity.read() == first
    file.write_text("I am Tommy.")  # as long as it was
    assert identity.read().text == "I am Tommy."
    file.unlink()
    assert identity.read().text == ""


def test_one_that_was_just_written_is_read_again(tmp_path, monkeypatch):
    file = tmp_path / "identity.txt"
    file.write_text("I am Timmy.")
    written = file.stat()
    identity = IdentityFile(tmp_path)
    # Where a clock ticks slowly, a change at once leaves no trace but the words.
    monkeypatch.setattr(Path, "lstat", lambda _: written)
    monkeypatch.setattr(time, "time_ns", lambda: written.st_ctime_ns + 10**6)
    assert identity.read().text == "I am Timmy."
    file.write_text("I am Tommy.")
    assert identity.read().text == "I am Tommy."


def test_one_that_git_could_not_merge_is_named(tmp_path):
    (tmp_path / "identity.txt").write_bytes(
        b"You are Timmy.\r\n<<<<<<< HEAD\r\nAsk.\r\n=======\r\nTell.\r\n>>>>>>> phone\r\n"
    )
    (fault,) = IdentityFile(tmp_path).faults()
    assert (fault.path, fault.line) == ("identity.txt", 2)
    assert "a conflict of git's" in fault.message
