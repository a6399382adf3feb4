"""What is given to the command line and empty: a script's variable that was never set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


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
    here: Path, command: Command, argv: list[str | None], empty: str
) -> None:
    assert command("remember", "The gate is blue.").code == 0
    before = [p.read_bytes() for p in sorted((here / "rooms").rglob("*.md"))]

    ended = command(*(empty if given is None else given for given in argv), "--json")

    assert ended.code == 2
    assert "is empty; give one" in ended.json["error"]["message"]
    assert ended.json["error"]["hint"]
    assert [p.read_bytes() for p in sorted((here / "rooms").rglob("*.md"))] == before


@pytest.mark.parametrize("verb", ["ask", "search", "remember"])
@pytest.mark.parametrize("stdin", [b"", b" \n"])
def test_nothing_on_standard_input_is_an_error(command: Command, verb: str, stdin: bytes) -> None:
    assert command("remember", "The gate is blue.").code == 0
    code, _, err = command(verb, "-", stdin=stdin)
    assert (code, "hint: give a" in err) == (2, True)


def test_an_empty_variable_of_the_environment_is_none(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALACE_SESSION", "")
    assert command("remember", "The gate is blue.").code == 0
    assert command("search", "gate").code == 0
