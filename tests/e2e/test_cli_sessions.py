"""Conversations on the command line: consolidate, end-session, finish-task."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from palace import Message, read_history

CHAT = [
    {"role": "user", "content": "My name is Ada Novak."},
    {"role": "assistant", "content": "Hello Ada."},
    {"session": "s", "speaker": "Ada", "text": "We use Redis 7.", "at": "2026-03-14T10:00:00Z"},
    {"role": "ai", "content": "", "calls": ["c1"]},
    {"role": "tool", "content": "7.2.4", "answers": "c1"},
    {"session": "other", "speaker": "Bob", "text": "I live in Rotterdam.", "at": 1778248560},
]


@pytest.fixture
def call(command: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    lines = "\n".join(map(json.dumps, CHAT))
    (tmp_path / "chat.jsonl").write_text(f"{lines}\n\n", encoding="utf-8")
    return command


def test_history(call, tmp_path):
    history = read_history(tmp_path / "chat.jsonl", session="s")
    assert [m.role for m in history] == ["user", "assistant", "user", "assistant", "tool"]
    assert (history[3].calls, history[4].answers) == (("c1",), "c1")
    assert history[2] == Message("user", "We use Redis 7.", at=history[2].at)
    assert history[2].at.hour == 10


def test_consolidate(call):
    code, out, _ = call("consolidate", "chat.jsonl", "--session", "s")
    assert code == 0
    assert out.startswith("condensed  3 messages (idle), by picking\n- User: My name is Ada Novak.")
    code, out, _ = call("consolidate", "chat.jsonl", "--session", "s")
    assert (code, out) == (0, "Nothing is due; the conversation is sent as it is.\n")
    code, out, _ = call("consolidate", "chat.jsonl", "--session", "s", "--force")
    assert out.startswith("condensed  2 messages (asked), by picking\n")
    code, out, _ = call("consolidate", "chat.jsonl", "--session", "s", "--force", "--json")
    assert json.loads(out)["status"] == "unchanged"


def test_end_session(call):
    code, out, _ = call("end-session", "chat.jsonl", "--session", "s")
    assert code == 0
    assert "stored      fact: My name is Ada Novak.\n" in out
    assert "stored      fact: We use Redis 7.\n" in out
    assert "Rotterdam" not in out
    code, out, _ = call("end-session", "chat.jsonl", "--session", "s", "--json")
    assert [fill["status"] for fill in json.loads(out)["filled"]] == ["duplicate", "duplicate"]


def test_a_model_that_is_not_there_is_tried_again(call, monkeypatch):
    monkeypatch.setenv("PALACE_GENERATOR__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PALACE_GENERATOR__MODEL", "small")
    for expected in (1, 1, 0):
        code, out, _ = call("consolidate", "chat.jsonl", "--session", "s", "--force")
        assert code == expected
    assert "[RAW] Tool: 7.2.4" in out


def test_half_a_model_is_a_mistake(call, monkeypatch):
    monkeypatch.setenv("PALACE_GENERATOR__MODEL", "small")
    code, _, err = call("consolidate", "chat.jsonl", "--session", "s")
    assert code == 2
    assert "base_url and model go together" in err


def test_finish_task(call):
    code, out, _ = call("finish-task", "Move", "--done", "Moved.", "--decision", "Keep links.")
    assert (code, out.startswith("archived  timeline/")) == (0, True)
    code, out, _ = call(
        "finish-task", "Move", "--done", "Moved.", "--decision", "Keep links.", "--json"
    )
    assert json.loads(out)["memory"]["text"] == "Move\nDone: Moved.\nDecisions: Keep links."
    code, _, err = call("finish-task", "Empty")
    assert (code, "say what was done" in err) == (2, True)


LINES = ["x", "[]", "{}", '{"role": "user"}', '{"role": 1, "content": "x"}']


@pytest.mark.parametrize(
    ("name", "begins", "rest", "said"),
    [
        *(("bad.jsonl", "", f"\n{line}\n", "bad.jsonl:2 is no message") for line in LINES),
        ("bad.json", "[", ",\n5]", "bad.json:2 is no message"),
        ("bad.json", "[", ',\n{"role": "user"}]', "bad.json:2 is no message"),
        ("bad.json", "[", ',\n{"role": "us', "bad.json:"),
    ],
)
def test_what_is_no_message_is_named(call, tmp_path, name, begins, rest, said):
    (tmp_path / name).write_text(f'{begins}{{"role": "user", "content": "a"}}{rest}')
    code, _, err = call("end-session", name, "--session", "s")
    assert (code, said in err) == (2, True)


def test_a_conversation_with_tools_is_read_as_hosts_write_it(tmp_path):
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}
    said = {"role": "user", "content": [{"type": "text", "text": "We use Redis 7."}]}
    answered = {"role": "tool", "tool_call_id": "c1", "content": "7.2.4"}
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(map(json.dumps, [said, called, answered])))
    assert read_history(path) == [
        Message("user", "We use Redis 7."),
        Message("assistant", "", calls=("c1",)),
        Message("tool", "7.2.4", answers="c1"),
    ]
    listed = tmp_path / "chat.json"
    listed.write_text("\ufeff\n" + json.dumps([said, called, answered], indent=1), "utf-8")
    assert read_history(listed) == read_history(path)


def test_a_conversation_in_another_encoding_is_named(call, tmp_path):
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "Hi."}\n', "utf-16")
    for arguments in (("import",), ("end-session", "--session", "s")):
        code, _, err = call(*arguments, "chat.jsonl")
        assert (code, "chat.jsonl is written in UTF-16" in err) == (2, True)


def test_what_is_no_file_that_can_be_read_is_named(call, tmp_path):
    (tmp_path / "talks").mkdir()
    for name, hint in (("none.jsonl", "check its name"), ("talks", "it is a folder")):
        for verb in ("consolidate", "end-session"):
            code, _, err = call(verb, name, "--session", "s")
            assert (code, "cannot be read" in err, f"hint: {hint}" in err) == (2, True, True)
