"""The command line as a process: bad bytes, closed pipes, odd locales, and every kind of failure."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from palace.serve.cli import run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="bytes and pipes of POSIX")

Command = Callable[..., Any]
Start = Callable[..., "subprocess.CompletedProcess[bytes]"]
_COMMAND = (sys.executable, "-m", "palace")
_SOURCES = str(Path(__file__).parents[2])


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PALACE_", "PYTHON"))}
    kept |= {"PALACE_ROOT": str(tmp_path / "p"), "HOME": str(tmp_path), "PYTHONPATH": _SOURCES}
    return {k: v for k, v in kept.items() if k not in {"NO_COLOR", "FORCE_COLOR", "TERM"}}


@pytest.fixture
def start(tmp_path: Path, environment: dict[str, str]) -> Start:
    """The command in a process of its own."""

    def call(
        *argv: str | bytes, stdin: bytes = b"", **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        ended = subprocess.run(
            [*_COMMAND, *argv],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env=environment | variables,
            timeout=50,
        )
        assert b"Traceback" not in ended.stderr
        return ended

    return call


# texts


def test_bytes_that_are_no_text_are_not_stored(start: Start) -> None:
    ended = start("remember", b"caf\xe9 au lait", "--json")
    assert ended.returncode == 2
    assert "not valid UTF-8" in json.loads(ended.stdout)["error"]["message"]
    piped = start("remember", "-", "--json", stdin=b"caf\xe9 au lait")
    assert piped.returncode == 2
    assert "byte 3" in json.loads(piped.stdout)["error"]["message"]
    tagged = start("remember", "ok", "--tag", b"\xff")
    assert tagged.returncode == 2
    assert b"TAG is not valid UTF-8" in tagged.stderr


def test_any_bytes_at_all_can_be_asked(start: Start) -> None:
    start("init")
    for ended in (
        start("ask", b"what is \xff\xfe?", "--json"),
        start("ask", "-", "--json", stdin=b"\xff\x00\x1b[2J" * 50),
        start("search", b"\xc3\x28", "--json"),
    ):
        assert ended.returncode in (0, 1)
        assert isinstance(json.loads(ended.stdout), dict)


@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "no_SUCH.locale", "PYTHONUTF8": "0"},
    ],
    ids=["C", "ascii", "unknown"],
)
def test_utf8_whatever_the_locale_says(start: Start, variables: dict[str, str]) -> None:
    text = "Grüße aus Köln: 日本語 🙂"
    assert start("init", **variables).returncode == 0
    ended = start("remember", text.encode(), "--room", "Küche".encode(), "--json", **variables)
    assert ended.returncode == 0
    assert json.loads(ended.stdout.decode("utf-8"))["memory"]["text"] == text
    found = start("search", "Köln".encode(), **variables)
    assert text in found.stdout.decode("utf-8")
    assert "Küche" in start("list", **variables).stdout.decode("utf-8")
    assert start("doctor", **variables).returncode == 0


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        (["remember"], "it holds a secret"),
        (["remember", "--json"], "SecretRefusedError"),
        (["note", "--session", "s"], "it holds a secret"),
        (["remember", "The gate is green.", "--kind"], "is not one of"),
        (["remember", "The gate is green.", "--json", "--valid-to"], "is no time"),
    ],
)
def test_a_secret_is_refused_and_not_repeated(command: Command, verb: list[str], said: str) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    code, out, err = command(*verb, f"the token is {secret}")
    assert (code, said in out + err) == (2, True)
    assert secret not in out + err


@pytest.mark.parametrize("room", ["../up", "/etc", "a/../b", "a\x1bb", "CON", ".hidden"])
def test_unsafe_rooms_are_refused(here: Path, command: Command, room: str) -> None:
    ended = command("remember", "The gate is green.", "--room", room, "--json")
    assert (ended.code, ended.json["error"]["type"]) == (2, "UnsafeNameError")
    assert not here.exists()


# pipes and terminals


@pytest.mark.parametrize(
    "argv",
    [
        ("config", "default"),
        ("config", "default", "--json"),
        ("--help",),
        ("ask", "--help"),
        ("--version",),
        ("list",),
        ("nonsense",),
    ],
    ids=" ".join,
)
def test_a_closed_pipe_is_no_error(
    tmp_path: Path, environment: dict[str, str], argv: tuple[str, ...]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [*_COMMAND, *argv],
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment,
        timeout=50,
    )
    os.close(writer)
    assert b"Broken" not in ended.stderr
    assert b"Exception" not in ended.stderr
    wrong = argv[0] in ("list", "nonsense")  # they say so on standard error, which is open
    assert ended.returncode == (2 if wrong else 0)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_breakage(tmp_path: Path, environment: dict[str, str]) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*_COMMAND, "config", "default"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=environment,
            timeout=50,
        )
    assert ended.returncode == 3
    assert ended.stderr.count(b"\n") == 2
    assert b"cannot be written" in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("argv", ["nonsense", "config default >/dev/full"])
def test_nothing_can_be_said(tmp_path: Path, environment: dict[str, str], argv: str) -> None:
    line = f'"{sys.executable}" -m palace {argv} 2>/dev/full'
    ended = subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, env=environment, timeout=50)
    assert ended.returncode == 3


def test_closed_standard_streams(tmp_path: Path, environment: dict[str, str]) -> None:
    def close(command: str) -> subprocess.CompletedProcess[bytes]:
        line = f'"{sys.executable}" -m palace {command}'
        return subprocess.run(
            ["/bin/sh", "-c", line], capture_output=True, cwd=tmp_path, env=environment, timeout=50
        )

    assert close("config path >&-").returncode == 0
    assert close("--help >&-").returncode == 0
    ended = close("remember - <&-")
    assert ended.returncode == 2
    assert b"standard input is closed" in ended.stderr
    assert close("nonsense 2>&-").returncode == 2


def _on_terminal(
    argv: tuple[str, ...], *, cwd: Path, environment: dict[str, str], err_too: bool = False
) -> tuple[bytes, bytes]:
    """Return what a terminal gets to see, and what goes to a standard output that is a pipe."""
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*_COMMAND, *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if err_too else theirs,
        stderr=theirs,
        cwd=cwd,
        env=environment,
    ) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux: the other end is closed
                break
            if not piece:
                break
            seen += piece
        out = process.stdout.read() if process.stdout else b""
    os.close(ours)
    return seen, out


def test_colours_only_on_a_terminal(
    start: Start, tmp_path: Path, environment: dict[str, str]
) -> None:
    assert b"\x1b" not in start("remember", "The gate is green.", "--room", "yard").stdout
    colourful = environment | {"TERM": "xterm-256color"}
    seen, _ = _on_terminal(("list",), cwd=tmp_path, environment=colourful)
    assert b"yard" in seen
    assert b"\x1b[" in seen
    for variables in ({"NO_COLOR": "1", "TERM": "xterm-256color"}, {"TERM": "dumb"}):
        plain, _ = _on_terminal(("list",), cwd=tmp_path, environment=environment | variables)
        assert b"yard" in plain
        assert b"\x1b" not in plain


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_a_memory_cannot_steer_the_terminal(
    start: Start, tmp_path: Path, environment: dict[str, str], no_colour: str
) -> None:
    room = tmp_path / "p" / "rooms" / "yard"
    room.mkdir(parents=True)
    (room / "notes.md").write_text("- evil \x1b]0;owned\x07\x1b[2J text\n")
    assert b"evil" in start("list", "yard").stdout
    variables = environment | {"TERM": "xterm", "NO_COLOR": no_colour}
    seen, _ = _on_terminal(("list", "yard"), cwd=tmp_path, environment=variables)
    assert b"evil" in seen
    assert b"\x1b]0;" not in seen
    assert b"\x1b[2J" not in seen
    assert b"\x07" not in seen


def test_progress_goes_to_the_terminal_and_json_stays_pure(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(20):
        (notes / f"n{number}.md").write_text(f"- Gate {number} is green.\n")
    variables = environment | {"TERM": "xterm"}
    seen, out = _on_terminal(
        ("import", "notes", "--json"), cwd=tmp_path, environment=variables, err_too=True
    )
    assert b"importing" in seen
    assert json.loads(out)["added"] == 20


def test_the_progress_bar_leaves_nothing_behind(
    start: Start, tmp_path: Path, environment: dict[str, str]
) -> None:
    start("remember", "The gate is green.", "--room", "yard")
    steerable, dumb = ({"TERM": "xterm"}, {"TERM": "dumb"})
    seen, _ = _on_terminal(("reindex",), cwd=tmp_path, environment=environment | steerable)
    drawn, _, left = seen.rpartition(b"\x1b[A\x1b[2K")
    assert b"reading files" in drawn
    assert b"100%" in drawn
    assert left == b"1 memory read from 1 file\r\n"
    seen, _ = _on_terminal(("reindex",), cwd=tmp_path, environment=environment | dumb)
    assert seen == left


def test_a_long_memory_is_not_broken_on_a_terminal(
    start: Start, tmp_path: Path, environment: dict[str, str]
) -> None:
    words = " ".join(f"gate{number}" for number in range(40)) + " are green."
    start("remember", words, "--room", "yard")
    variables = environment | {"TERM": "xterm", "COLUMNS": "60"}
    seen, _ = _on_terminal(("list", "yard"), cwd=tmp_path, environment=variables)
    assert words.encode() in seen


# failures


@pytest.mark.parametrize(
    "argv",
    [
        ("ask", "x"),
        ("search", "x"),
        ("list",),
        ("show", "identity"),
        ("wakeup", "--session", "s"),
        ("export", "-"),
        ("reindex",),
        ("doctor",),
        ("journal",),
        ("why",),
        ("note", "--list", "--session", "s"),
        ("promote", "s-1", "--room", "a", "--drawer", "b", "-s", "x", "-r", "y"),
    ],
    ids=lambda argv: argv[0],
)
def test_reading_makes_no_palace(here: Path, command: Command, argv: tuple[str, ...]) -> None:
    ended = command(*argv, "--json")
    error = ended.json["error"]
    assert (ended.code, error["type"]) == (2, "ConfigError")
    assert error["message"] == f"there is no palace at {here}"
    assert "palace init" in error["hint"]
    assert not here.exists()


@pytest.mark.parametrize(
    "argv",
    [
        ("import", "nowhere"),
        ("remember", " "),
        ("note", "\0", "--session", "s"),
        ("finish-task", " "),
    ],
    ids=lambda argv: argv[0],
)
def test_a_write_that_is_refused_leaves_no_palace_behind(
    here: Path, command: Command, argv: tuple[str, ...]
) -> None:
    assert command(*argv).code == 2
    assert not here.exists()
    assert command("remember", "We shipped 4.1.0 on 2026-03-02.").code == 0
    assert command(*argv).code == 2
    assert (here / "rooms").is_dir()


@pytest.mark.parametrize(
    "argv",
    [
        ("nonsense",),
        ("rememer", "x"),
        ("ask",),
        ("ask", "one", "two"),
        ("ask", "x", "--nonsense"),
        ("ask", "x", "--history"),
        ("remember", "x", "--kind", "poem"),
        ("remember", "x", "--importance", "2"),
        ("remember", "x", "--importance", "much"),
        ("remember", "x", "--confidence", "-0.1"),
        ("remember", "x", "--on-conflict", "fight"),
        ("search", "x", "-k", "0"),
        ("search", "x", "-k", "many"),
        ("journal", "-n", "0"),
        ("export", "x", "--format", "xml"),
        ("import", "x", "--format", "xml"),
        ("init", "--preset", "poetry"),
        ("note", "x"),
        ("promote", "s-1"),
        ("feedback", "m-1"),
        ("config", "nonsense"),
        ("--nonsense",),
    ],
    ids=" ".join,
)
def test_usage_errors(here: Path, command: Command, argv: tuple[str, ...]) -> None:
    ended = command("--json", *argv)
    error = ended.json["error"]
    assert (ended.code, ended.err) == (2, "")
    assert error.keys() == {"type", "message", "hint"}
    assert error["type"] == "UsageError"
    assert "--help" in error["hint"]
    assert "Value error" not in error["message"]
    code, out, err = command(*argv)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert not here.exists()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["rememer", "x"], "'remember'"),  # mistyped, and guessed
        (["config", "defualt"], "'default'"),
        (["remember", "The gate is green.", "--importance", "nan"], "nan"),
        (["remember", "The gate is green.", "--confidence", "nan"], "nan"),
        (["--config", "nowhere.yaml", "config", "path"], "nowhere.yaml"),
        (["ask", "When", "did", "we", "ship?"], "in quotes"),
        (["feedback", "m-01JB2Q7Z"], "--helpful or --not-helpful"),
        (["list", "--root", "~nobody-of-this-name/p"], "nobody-of-this-name"),
    ],
)
def test_what_is_wrong_is_told(command: Command, argv: list[str], said: str) -> None:
    code, _, err = command(*argv)
    assert (code, said in err) == (2, True), err


@pytest.mark.parametrize(
    ("yaml", "said"),
    [("search:\n  top_q: 3\n", "top_q"), ("search: [\n", "mempalace.yaml"), ("wing: x\n", "wing")],
)
def test_bad_settings(here: Path, tmp_path: Path, command: Command, yaml: str, said: str) -> None:
    (tmp_path / "mempalace.yaml").write_text(yaml)
    for argv in (["ask", "x"], ["remember", "x"], ["config", "path"], ["config", "explain"]):
        ended = command(*argv, "--json")
        assert (ended.code, ended.json["error"]["type"]) == (2, "ConfigError")
        assert said in ended.json["error"]["message"]
    assert not here.exists()


def test_a_root_that_is_a_file(here: Path, command: Command) -> None:
    here.write_text("not a folder")
    for argv in (["list"], ["remember", "x"], ["init"], ["init", str(here)]):
        ended = command(*argv)
        assert (ended.code, f"{here} is no folder" in ended.err) == (2, True)
    ended = command("remember", "x", "--root", str(here / "below"), "--json")
    assert (ended.code, bool(ended.json["error"]["message"])) == (3, True)
    assert here.read_text() == "not a folder"


def test_what_cannot_be_read_is_breakage(here: Path, command: Command) -> None:
    (here / "identity.txt").mkdir(parents=True)
    ended = command("show", "identity", "--json")
    assert (ended.code, ended.json["error"]["type"]) == (3, "StoreUnavailableError")
    assert ended.json["error"]["hint"]


class _Interrupted(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        raise KeyboardInterrupt


@pytest.mark.parametrize("as_json", [False, True])
def test_interrupted(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(_Interrupted())))
    assert run(["remember", "-", *(["--json"] if as_json else [])]) == 130
    out, err = capsys.readouterr()
    if as_json:
        assert json.loads(out)["error"]["type"] == "Interrupted"
    else:
        assert (out, err) == ("", "error: interrupted\n")


def test_interrupted_while_it_loads(start: Start, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    ended = start("list", PYTHONPATH=os.pathsep.join([str(tmp_path), _SOURCES]))
    assert (ended.returncode, ended.stderr) == (130, b"error: interrupted\n")


def test_a_fault_of_the_program_is_one_line_and_its_trace_is_for_debugging(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("a stream that has no bytes"))
    assert run(["remember", "-"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: AttributeError: ")
    assert "--debug" in err
    assert "Traceback" not in err
    assert run(["remember", "-", "--debug"]) == 3
    assert "Traceback" in capsys.readouterr().err
    assert run(["--debug", "remember", "-", "--json"]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["type"] == "AttributeError"
    assert "Traceback" in err


def test_help_and_version_need_no_heavy_import(tmp_path: Path, environment: dict[str, str]) -> None:
    code = (
        "import sys\nfrom palace.serve.cli import run\n"
        "assert run(['--version']) == 0\nassert run(['ask', '--help']) == 0\n"
        "late = {'palace.mempalace', 'palace.settings', 'sqlite3', 'snowballstemmer', 'yaml'}\n"
        "print(sorted(late & set(sys.modules)), file=sys.stderr)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=tmp_path, env=environment, timeout=50
    )
    assert ended.returncode == 0
    assert ended.stderr.strip() == b"[]"
