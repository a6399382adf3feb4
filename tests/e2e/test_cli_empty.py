"""What is given to the command line and empty: a script's variable that was never set."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from palace.serve.cli import run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment of its own for commands in this process; returns the palace's root."""
    for name in [n for n in os.environ if n.startswith("PALACE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PALACE_ROOT", str(tmp_path / "p"))
    return tmp_path / "p"


@pytest.mark.parametrize("empty", ["", " \t"])
@pytest.mark.parametrize(
    "argv",
    [
        *(
            ["remember", "The gate is red.", option, None]
            for option in (
                *("--room", "--drawer", "--tag", "--project", "--session", "--provenance"),
                *("--valid-from", "--valid-to", "--trigger", "--key"),
            )
        ),
        *([name, None] for name in ("remember", "ask", "search", "list", "recover", "undo")),
        *([name, None] for name in ("show", "forget", "why", "history")),
        ["note", None, "--session", "s"],
        ["note", "The gate is red.", "--session", None],
        ["ask", "x", "--session", None],
        ["ask", "x", "--as-of", None],
        ["ask", "x", "--project", None],
        ["search", "x", "--session", None],
        ["search", "x", "--as-of", None],
        ["list", "--drawer", None],
        ["correct", None, "The gate is red."],
        ["correct", "last", "The gate is red.", "--session", None],
        ["forget", "m-01JB2Q7Z", "--reason", None],
        ["tag", "m-01JB2Q7Z", None],
        ["link", "m-01JB2Q7Z", None],
        ["feedback", None, "--helpful"],
        ["finish-task", "gate", "--done", "Red.", "--decision", None],
        ["finish-task", "gate", "--done", "Red.", "--project", None],
        *([name, "--since", None] for name in ("gaps", "report", "journal")),
        *(["list", option, None] for option in ("--root", "--config")),
        ["--root", None, "list"],
        ["import", None],
        ["report", "--out", None],
    ],
)
def test_what_is_given_and_empty_is_an_error(
    here: Path, capsys: pytest.CaptureFixture[str], argv: list[str | None], empty: str
) -> None:
    assert run(["remember", "The gate is blue."]) == 0
    before = [p.read_bytes() for p in sorted((here / "rooms").rglob("*.md"))]
    capsys.readouterr()

    assert run([*(empty if given is None else given for given in argv), "--json"]) == 2

    error = json.loads(capsys.readouterr().out)["error"]
    assert "is empty; give one" in error["message"]
    assert error["hint"]
    assert [p.read_bytes() for p in sorted((here / "rooms").rglob("*.md"))] == before


@pytest.mark.parametrize("verb", ["ask", "search", "remember"])
@pytest.mark.parametrize("stdin", [b"", b" \n"])
def test_nothing_on_standard_input_is_an_error(
    here: Path,  # noqa: ARG001 - where it runs
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    stdin: bytes,
) -> None:
    assert run(["remember", "The gate is blue."]) == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    assert run([verb, "-"]) == 2
    assert "hint: give a" in capsys.readouterr().err


def test_an_empty_variable_of_the_environment_is_none(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALACE_SESSION", "")
    assert run(["remember", "The gate is blue."]) == 0
    assert run(["search", "gate"]) == 0
    assert here.exists()
