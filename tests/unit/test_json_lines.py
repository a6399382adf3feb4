"""Lines that are whole or skipped, and never glued to one another."""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from pathlib import Path
from types import MappingProxyType

import pytest

from palace.errors import ConfigError, StoreUnavailableError
from palace.store.json_lines import (
    append_line,
    decode_line,
    encode_line,
    end_of_lines,
    overwrite_lines,
    read_newest_first,
)


def test_encoding_is_one_line_of_json():
    line = encode_line({"a": "x\ny\u2028z", "n": MappingProxyType({"b": (1, 2.5, None, True)})})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"a": "x\ny\u2028z", "n": {"b": [1, 2.5, None, True]}}


def test_encoding_keeps_other_scripts_readable():
    assert "日本語".encode() in encode_line({"a": "日本語"})


def test_lone_surrogate_survives():
    assert decode_line(encode_line({"a": "x\ud800"})) == {"a": "x\ud800"}


def test_moment_becomes_text():
    at = datetime(2026, 3, 14, 9, 30, tzinfo=timezone.utc)
    assert decode_line(encode_line({"at": at})) == {"at": "2026-03-14T09:30:00+00:00"}


@pytest.mark.parametrize("value", [object(), float("inf"), float("nan"), {1}, b"x"])
def test_unsayable_value_is_refused(value):
    with pytest.raises(ConfigError) as caught:
        encode_line({"a": value})
    assert caught.value.hint


def test_endless_value_is_refused():
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(ConfigError):
        encode_line({"a": loop})


@pytest.mark.parametrize(
    "line",
    [b"", b" ", b"{", b'{"a": 1', b"[1]", b"null", b"7", b"\xff\xfe", b"[" * 100_000, b"\x00"],
)
def test_damaged_line_is_none(line):
    assert decode_line(line) is None


def test_lines_come_back_newest_first(tmp_path):
    path = tmp_path / "deep" / "x.jsonl"
    for number in range(3):
        append_line(path, encode_line({"n": number}), durable=number == 1)
    assert [decode_line(line) for line in read_newest_first(path)] == [{"n": 2}, {"n": 1}, {"n": 0}]


def test_missing_file_has_no_lines(tmp_path):
    assert list(read_newest_first(tmp_path / "x.jsonl")) == []
    assert end_of_lines(tmp_path / "x.jsonl") == 0


@pytest.mark.parametrize("content", [b"", b"\n", b"a", b"a\n", b"a\nb", b"a\nb\n", b"\n\na\n\n"])
def test_reading_backwards_is_reading_forwards_reversed(tmp_path, content):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    assert list(read_newest_first(path)) == content.split(b"\n")[:-1][::-1]
    assert end_of_lines(path) == len(content.rpartition(b"\n")[0]) + (b"\n" in content)


@pytest.mark.parametrize("length", [1, 63, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 200_000])
def test_reading_backwards_across_blocks(tmp_path, length):
    lines = [bytes([65 + n]) * length for n in range(4)]
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\ntorn")
    assert list(read_newest_first(path)) == lines[::-1]
    place = length + 1
    some = read_newest_first(path, behind=place, end=3 * place)
    assert (list(some), end_of_lines(path)) == ([lines[2], lines[1]], 4 * place)
    assert list(read_newest_first(path, behind=4 * place, end=4 * place)) == []


def test_torn_tail_is_closed_before_the_next_line(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n":0}\n{"n":1')
    append_line(path, encode_line({"n": 2}), durable=False)
    assert path.read_bytes() == b'{"n":0}\n{"n":1\n{"n":2}\n'


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_modes_are_private(tmp_path):
    path = tmp_path / "folder" / "x.jsonl"
    append_line(path, b"{}\n", durable=True)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="needs O_NOFOLLOW")
def test_symbolic_link_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (tmp_path / "x.jsonl").symlink_to(outside)
    with pytest.raises(StoreUnavailableError):
        append_line(tmp_path / "x.jsonl", b"{}\n", durable=False)
    assert outside.read_text() == "mine"


def test_folder_in_place_of_the_file_is_unavailable(tmp_path):
    (tmp_path / "x.jsonl").mkdir()
    with pytest.raises(StoreUnavailableError) as caught:
        append_line(tmp_path / "x.jsonl", b"{}\n", durable=False)
    assert caught.value.hint
    with pytest.raises(StoreUnavailableError):
        list(read_newest_first(tmp_path / "x.jsonl"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_unavailable():
    with pytest.raises(StoreUnavailableError) as caught:
        append_line(Path("/dev/full"), b"{}\n", durable=False)
    assert caught.value.retryable


def test_a_disk_that_takes_half_a_line_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "write", lambda _descriptor, line: len(line) - 1)
    with pytest.raises(StoreUnavailableError, match="No space left") as caught:
        append_line(tmp_path / "x.jsonl", b"{}\n", durable=False)
    assert "free some disk space" in caught.value.hint


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_never_ends_is_refused_and_not_read(tmp_path, kind):
    path = tmp_path / "x.jsonl"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    for read in (end_of_lines, lambda p: list(read_newest_first(p))):
        with pytest.raises(StoreUnavailableError, match="a pipe or a device"):
            read(path)
    with pytest.raises(StoreUnavailableError, match="a pipe or a device"):
        overwrite_lines(path, lambda line: line)
