"""The command in this process: where it runs, and what it answers."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from palace.serve.cli import run


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with a palace that is not made yet below it; returns its root."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PALACE_ROOT", str(tmp_path / "p"))
    return tmp_path / "p"


@pytest.fixture
def command(
    here: Path,  # where it runs
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Ended]:
    """Run `palace` with these arguments; its terminal is 100 characters wide."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(*argv: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        return Ended(run(argv), *capsys.readouterr())

    return call
