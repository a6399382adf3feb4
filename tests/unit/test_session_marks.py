"""How far a session is condensed survives a restart."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

import pytest

from palace import StoreUnavailableError, UnsafeNameError
from palace.store.files import locked
from palace.store.session_marks import FileSessionMarks
from palace.types.session import SessionMark, SessionSummary

AT = datetime(2026, 3, 14, 9, 30, 5, tzinfo=timezone.utc)
MARK = SessionMark("S 1/ü", AT, 7, ("aa", "bb"), (SessionSummary(AT, "- Ünder \ud800 -->"),), 2)


def test_a_mark_survives(tmp_path):
    FileSessionMarks(tmp_path).write(MARK)
    assert FileSessionMarks(tmp_path).read("S 1/ü") == MARK
    assert FileSessionMarks(tmp_path).read("s 1/ü") == SessionMark("s 1/ü")
    [file] = (tmp_path / "sessions").iterdir()
    assert os.name == "nt" or file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b"\xff", b'{"session_id": "s", "count": "x"}', b"[" * 9999]
)
def test_a_broken_mark_is_an_empty_one(tmp_path, content):
    marks = FileSessionMarks(tmp_path)
    marks.write(SessionMark("s", count=3))
    (tmp_path / "sessions" / "s.json").write_bytes(content)
    assert marks.read("s") == SessionMark("s")


def test_a_session_has_a_name(tmp_path):
    with pytest.raises(UnsafeNameError):
        FileSessionMarks(tmp_path).read("")


def test_the_marks_are_held_by_one_at_a_time(tmp_path):
    marks = FileSessionMarks(tmp_path)
    with marks.locked(), ThreadPoolExecutor() as pool:
        other = pool.submit(lambda: locked(tmp_path, "sessions", timeout_s=0).__enter__())
        with pytest.raises(StoreUnavailableError):
            other.result()
