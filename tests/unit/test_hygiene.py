"""What is refused as a memory by its form, and what must pass."""

from __future__ import annotations

import base64
import json
import time

import pytest

from palace.learn.hygiene import (
    control_character_reason,
    normalise_statement,
    raw_output_reason,
)

_BLOB = base64.b64encode(bytes(range(256)) * 2).decode()

RAW = {
    "json object": '{"status": "ok", "count": 3}',
    "json array": "[1, 2, 3]",
    "json pretty": json.dumps({"a": {"b": [1, 2, {"c": None}]}}, indent=2),
    "json in a fence": '```json\n{"name": "alpha"}\n```',
    "json lines": '{"id": 1}\n{"id": 2}',
    "json with a lead": "Result: " + json.dumps({f"key{n}": n for n in range(20)}),
    "json cut off": '{\n  "name": "alpha",\n  "size": 3,\n  "tags": ["x"],\n  "owner": "som',
    "html page": "<!DOCTYPE html>\n<html><body>Hi</body></html>",
    "html fragment": "<div class='x'><p>One</p><p>Two</p></div>",
    "xml": '<?xml version="1.0"?>\n<a><b>1</b></a>',
    "xml without prologue": "<build><step>one</step><step>two</step></build>",
    "iso log": "\n".join(f"2026-03-14T09:30:0{n}Z worker started task {n}" for n in range(4)),
    "bracket log": "\n".join(f"[2026-03-14 09:30:0{n},123] INFO app: step" for n in range(3)),
    "two stamped lines": "2026-03-14 09:30:01 ERROR no route\n2026-03-14 09:30:02 INFO retrying",
    "level log": "INFO: started\nWARN: slow\nERROR: failed\n",
    "lower level log": "info: started\nwarn: slow\nerror: failed",
    "syslog": "\n".join(f"Mar 14 09:30:0{n} host sshd[12]: closed" for n in range(3)),
    "access log": "\n".join(
        f'10.0.0.{n} - - [14/Mar/2026:09:30:01 +0000] "GET /x HTTP/1.1" 200 5' for n in range(3)
    ),
    "npm log": "npm ERR! code E404\nnpm ERR! 404 Not Found\nnpm ERR! 404 x",
    "python trace": (
        "Traceback (most recent call last):\n"
        '  File "app.py", line 3, in <module>\n    main()\nValueError: no'
    ),
    "python frames": '  File "a.py", line 3, in f\n    x\n  File "b.py", line 4, in g\n    y',
    "java trace": (
        "java.lang.IllegalStateException: closed\n"
        "\tat com.acme.Pool.get(Pool.java:41)\n\tat com.acme.Main.main(Main.java:7)\n\t... 3 more"
    ),
    "js trace": (
        "TypeError: x is not a function\n    at run (/srv/app.js:10:5)\n"
        "    at Object.<anonymous> (/srv/main.js:3:1)"
    ),
    "js trace of one frame": "TypeError: x is undefined\n    at /srv/app.js:10:5",
    "csharp trace": (
        "System.Exception: no\n   at A.B.C(String s) in /x/B.cs:line 4\n   at A.D.Main() in /x/D.cs:line 9"
    ),
    "go trace": "panic: oops\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:12 +0x1d",
    "rust trace": (
        "thread 'main' panicked at src/main.rs:4:5:\nboom\n"
        "note: run with `RUST_BACKTRACE=1` environment variable"
    ),
    "rust backtrace": (
        "thread 'main' panicked at src/main.rs:4:5:\nstack backtrace:\n   0: 0x55d0 - std::x"
    ),
    "git diff": "diff --git a/x.py b/x.py\nindex 12..34 100644\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,3 @@\n+a",
    "hunk": "@@ -10,6 +10,7 @@ def f():\n context\n+added\n-removed",
    "plain diff": "--- old.txt\n+++ new.txt\n-a\n+b",
    "base64 block": "\n".join(_BLOB[n : n + 76] for n in range(0, len(_BLOB), 76)),
    "base64 run": _BLOB,
    "data uri": "![x](data:image/png;base64," + _BLOB + ")",
    "hex dump": "00000000: 4865 6c6c 6f20 776f 726c 640a  Hello\n00000010: 4865 6c6c 6f20 776f 726c 640a  World",
    "hex run": "ab12" * 60,
    "ls": "total 8\n-rw-r--r-- 1 a a 12 Mar 14 09:30 x\ndrwxr-xr-x 2 a a 40 Mar 14 09:30 y",
    "kubectl": "NAME        READY   STATUS\nweb-1       1/1     Running\nweb-2       0/1     Pending",
    "docker ps": (
        "CONTAINER ID   IMAGE     STATUS\n1a2b3c         web:1     Up 2 hours\n4d5e6f         db:2      Exited"
    ),
    "ps without header": "\n".join(f"root    {n}    0.{n}    /bin/x" for n in range(5)),
    "ascii table": "+----+----+\n| a  | b  |\n+----+----+\n| 1  | 2  |\n+----+----+",
    "psql": " id | name \n----+------\n  1 | a\n(1 row)",
    "shell session": "me@host:~$ ls\nx y\nme@host:~$ pwd\n/home/me",
    "test report": "=== test session starts ===\ncollected 3 items\n=== 3 passed in 0.1s ===",
    "ansi": "\x1b[31mfailed\x1b[0m",
}

FIT = [
    "ECONNREFUSED on port 5432 means the tunnel is down",
    "`make deploy` runs from `main` only.",
    'The health endpoint answers {"ok": true} when everything is up.',
    'Send {"retry": false} in the body, or the gateway retries for ever.',
    "ERROR: relation does not exist means that the migration was not run",
    "2026-03-14 09:30:01 was when the outage began, says the pager",
    "On 2026-03-14 we chose SQLite over a server.",
    "2026-03-14: dentist\n2026-04-14: dentist again\n2026-05-14: last one",
    "Milestones:\n- 2026-03-14 alpha\n- 2026-04-01 beta\n- 2026-05-01 release",
    "[2026-03-14 09:30] Alice: shall we move the review to Friday?",
    "Traceback (most recent call last) in the nightly job is harmless if it ends in Timeout",
    "TypeError in the importer: pass bytes, not text",
    "The panic: nil map comes from the cache that was never made",
    "thread 'main' panicked at means the config file is missing",
    "The fix is in app.py at line 40, function load",
    "Use <b>bold</b> for the titles of reports.",
    "Put the badge <img src=x> at the top",
    "Type List<String> is meant, not String[]",
    "a < b and c > d are both checked",
    "Run `diff --git` output through the colour filter",
    "We diff --- and +++ files by hand",
    "- buys oat milk\n- never peanut butter\n- Thursdays off",
    "1. Stop the worker\n2. Drain the queue\n3. Start the worker",
    "| room | key |\n|---|---|\n| attic | blue |\n| cellar | red |",
    "Pinned to commit 9fceb02d0ae598e95dc970b74767f19372d61af8 because of the crash.",
    "The checksum is e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.",
    "Dashboard: https://example.org/d/abcdef0123456789/overview?from=now-6h&to=now&var=all",
    "Prefers  double  spaces.  Really.  Always.",
    "First sentence.  Second one.\nThird.  Fourth.\nFifth.  Sixth.\nSeventh.  Eighth.",
    "Warning signs: he stops replying, then he cancels",
    "info desk is on floor 3",
    "Errors are shown in red, warnings in yellow, info in blue",
    "WARNING: the back stairs are slippery",
    "[draft] The talk is about memory",
    "[x] done means merged and deployed",
    "{name} is replaced by the user's first name in the mail template",
    "Set retries=3 and timeout=20 in config.yaml",
    "The regex is ^a+$ and it must stay",
    "Wi-Fi at the cabin: network Bluebird, ask the owner for the rest",
    "Der Zug fährt um 09:30:00 ab, nicht früher",
    "会議は金曜日の午後三時に変更された。",
    "Reunión con Ana el martes; llevar el informe.",
    "Deploy order: web -> worker -> cron",
    "He answered at (roughly) noon",
    "at the office (second floor) nobody picks up\nat home (after six) she does",
    "Host      build-1\nOwner     Alice",
    "export PATH must include ~/bin",
    "$ make deploy is the only command that works on Mondays",
    "A status of 503 from the proxy means nobody is listening behind it.",
    "```\nmake deploy\n```",
    "from utils:3 import nothing, he joked",
    "Size [5m is enough for the log",
    "",
]


@pytest.mark.parametrize("text", RAW.values(), ids=RAW.keys())
def test_raw_output_is_refused_with_a_reason(text):
    reason = raw_output_reason(text)
    assert reason
    assert reason.startswith("it ")


@pytest.mark.parametrize("text", FIT)
def test_statement_passes(text):
    assert raw_output_reason(text) is None


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("json pretty", "JSON"),
        ("html page", "HTML"),
        ("iso log", "log"),
        ("java trace", "stack trace"),
        ("hunk", "diff"),
        ("base64 run", "encoded"),
        ("kubectl", "table"),
        ("ansi", "terminal"),
    ],
)
def test_reason_names_the_form(name, word):
    assert word in raw_output_reason(RAW[name])


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        '{"a":',
        "<a ",
        "<a>",
        "a  b\n",
        "0" * 40 + " ",
        "at x(",
        '"a": 1,\n',
        "+--",
        "A" * 60 + "\n",
    ],
)
def test_hostile_text_takes_linear_time(piece):
    text = piece * (200_000 // len(piece))
    started = time.perf_counter()
    raw_output_reason(text)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a\x00b", "NUL"),
        ("a\x07b", "control"),
        ("a\x1b[0m", "control"),
        ("a\x7f", "control"),
        ("a\x85b", "control"),
        ("a\rb", "control"),
        ("a\u202eb", "direction"),
        ("a\u2066b\u2069", "direction"),
        ("a\u200b\u200bb", "invisible"),
        ("a\u200d\u200c\ufeffb", "invisible"),
        ("a\U000e0041\U000e0042", "tag"),
        ("a\U000e0100\U000e0101", "invisible"),
        ("a\ud800", "surrogate"),
    ],
)
def test_invisible_characters_are_refused(text, word):
    assert word in control_character_reason(text)


@pytest.mark.parametrize(
    "text",
    [
        "plain\n\ttext\r\n",
        "family 👨\u200d👩\u200d👧",
        "می\u200cخواهم",
        "שלום\u200f!",
        "flag 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "heart ❤\ufe0f",
        "日本語",
        "\ufeffbyte order mark",
    ],
)
def test_ordinary_text_of_any_script_passes(text):
    assert control_character_reason(text) is None


def test_position_is_named():
    assert "U+0007 at character 3" in control_character_reason("ab\x07")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  a  ", "a"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a  \n  b\t\n", "a\n  b"),
        ("a\n\nb", "a\n\nb"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_statement_is_normalised(text, normal):
    assert normalise_statement(text) == normal
    assert normalise_statement(normal) == normal
