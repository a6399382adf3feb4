"""`palace list` counts every room that is there, however it is named and however many there are."""

from __future__ import annotations

import json
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from palace import Mempalace, agent_tools
from palace.serve.cli import run


@pytest.fixture
def root(here: Path) -> Path:
    with Mempalace.open(here) as palace:
        palace.remember("Deploys run from main.", room="deploy")
        palace.remember("The boiler is serviced in May.", room="house/cellar", drawer="boiler")
    return here


@pytest.fixture
def listed(root: Path, capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ARG001 - made before
    def call(*more: str) -> Any:
        assert run(["list", "--json", *more]) == 0
        return json.loads(capsys.readouterr().out)

    return call


def test_rooms_in_rooms_and_empty_ones_are_listed(root: Path, listed: Any) -> None:
    (root / "rooms" / "empty").mkdir()
    assert listed()["rooms"] == [
        {"name": "deploy", "memories": 1, "drawers": ["notes"]},
        {"name": "empty", "memories": 0, "drawers": []},
        {"name": "house", "memories": 0, "drawers": []},
        {"name": "house/cellar", "memories": 1, "drawers": ["boiler"]},
    ]


def test_what_stands_in_no_folder_is_listed(root: Path, listed: Any) -> None:
    (root / "rooms" / "loose.md").write_text("- The gate opens at seven.\n")
    assert listed()["rooms"][0] == {"name": ".", "memories": 1, "drawers": ["loose"]}
    (memory,) = listed(".")["memories"]
    assert run(["forget", memory["id"]]) == 0


def test_what_was_retired_is_only_counted_when_asked_for(root: Path, listed: Any) -> None:
    (memory,) = listed("deploy")["memories"]
    with Mempalace.open(root) as palace:
        palace.forget(memory["id"])
    assert listed()["rooms"][0] == {"name": "deploy", "memories": 0, "drawers": []}
    assert listed("--all")["rooms"][0] == {"name": "deploy", "memories": 1, "drawers": ["notes"]}


def test_a_thousand_rooms_are_listed_at_once(root: Path, listed: Any) -> None:
    for number in range(1000):
        (root / "rooms" / f"client-{number}").mkdir()
    before = time.process_time()
    assert len(listed()["rooms"]) == 1003
    assert time.process_time() - before < 3  # each by itself would be looked for among all
    with Mempalace.open(root) as palace:
        read = next(tool for tool in agent_tools(palace) if tool.name == "palace_read")
        before = time.process_time()
        assert len(read()["rooms"]) == 1003
        assert time.process_time() - before < 1.5


@pytest.mark.parametrize("name", ["restart the queue", "Restart-the-Queue.md", "RESTART-THE-QUEUE"])
def test_a_playbook_is_shown_whatever_the_case_of_its_name(
    root: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (root / "playbooks").mkdir(exist_ok=True)
    (root / "playbooks" / "restart-the-queue.md").write_text("# Restart the queue\n\n1. Stop it.\n")
    assert run(["show", name]) == 0
    assert "Stop it." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("on_disk", "typed"),
    [
        (unicodedata.normalize("NFD", "café"), "café"),
        ("Recipes", "recipes"),
        ("Été/Nord", "été/nord"),
    ],
)
def test_a_room_is_read_by_the_name_it_is_written_by(
    root: Path, listed: Any, on_disk: str, typed: str
) -> None:
    folder = root / "rooms" / on_disk
    folder.mkdir(parents=True)
    name = on_disk.rpartition("/")[2]
    (folder / f"{name}.md").write_text("- The oven needs ten minutes.\n", "utf-8")
    drawer = typed.rpartition("/")[2]
    with Mempalace.open(root) as palace:
        written = palace.remember("The spoons are above it.", room=typed, drawer=drawer).memory
        assert written.path == f"rooms/{on_disk}/{name}.md"
        palace.link(written.id, f"{typed}/{drawer}")
        assert palace.get(written.id).links == (f"{on_disk}/{name}",)
    assert len(listed(typed, "--drawer", drawer)["memories"]) == 2
    assert len(listed(typed)["memories"]) == 2


def test_of_rooms_that_differ_in_case_alone_the_one_that_is_meant_is_read(
    root: Path, listed: Any
) -> None:
    for name in ("Shed", "shed"):
        (root / "rooms" / name).mkdir(exist_ok=True)
        (root / "rooms" / name / "notes.md").write_text(f"- Told in {name}.\n", "utf-8")
    if len({entry.name for entry in (root / "rooms").iterdir()} & {"Shed", "shed"}) < 2:
        pytest.skip("the file system has one name for both")
    for name in ("Shed", "shed"):
        assert [m["text"] for m in listed(name)["memories"]] == [f"Told in {name}."]
