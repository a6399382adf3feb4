"""Notes of Google Keep come in as Markdown, once, and keep every word."""

from __future__ import annotations

from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer
from tests.e2e.test_imports import put, taken

MADE = 1_700_000_000_000_000  # 2023-11-14


@pytest.fixture
def root(here: Path) -> Path:
    return here


def note(**fields: object) -> dict[str, object]:
    return {
        "color": "DEFAULT",
        "isTrashed": False,
        "isPinned": False,
        "isArchived": False,
        "title": "",
        "userEditedTimestampUsec": MADE + 86_400_000_000,
        "createdTimestampUsec": MADE,
        **fields,
    }


FURNACE = note(
    title="Furnace",
    textContent="The filter is 20x25x1.\n\nBought at Hollis, see https://hollis.example/f",
    textContentHtml="<p>…</p>",
    labels=[{"name": "home repairs"}, {"name": "winter"}],
    annotations=[{"url": "https://hollis.example/f"}, {"url": "https://hollis.example/g"}],
    attachments=[{"filePath": "a.jpg", "mimetype": "image/jpeg"}],
)
SHOPPING = note(
    isArchived=True,
    listContent=[
        {"text": "Oat milk", "isChecked": False},
        {"text": " Lamp  oil ", "isChecked": True},
        {"text": "", "isChecked": False},
    ],
)


def keep(folder: Path) -> Path:
    return put(
        folder,
        {
            "Furnace.json": FURNACE,
            "Furnace.html": "<html>",
            "Labels.txt": "winter",
            "2023-11-14T22_13_20.000Z.json": SHOPPING,
            "Old.json": note(textContent="The old code is 1.", isTrashed=True),
            "Empty.json": note(),
            "cut off.json": '{"isTrashed": ',
            "other.json": {"a": 1},
            "a.jpg": b"\xff\xd8",
        },
    )


def test_a_folder_of_keep_becomes_drawers(palace: Mempalace, tmp_path: Path):
    done = taken(palace, keep(tmp_path / "Keep"))
    assert (done.kind, done.unit, done.added) == ("keep", "files", 2)
    assert (palace.root / "rooms" / "keep" / "Furnace.md").read_text("utf-8") == (
        '---\ndate: 2023-11-14\ntags: ["home-repairs", "winter"]\n---\n\n# Furnace\n\n'
        "[image not imported]\n\nThe filter is 20x25x1.\n\nBought at Hollis, see"
        " https://hollis.example/f\n\n<https://hollis.example/g>\n"
    )
    shopping = palace.root / "rooms" / "keep" / "2023-11-14T22_13_20.000Z.md"
    assert shopping.read_text("utf-8") == (
        "---\ndate: 2023-11-14\n---\n\n- [ ] Oat milk\n- [x] Lamp oil\n"
    )
    assert {r.path_or_line: r.reason for r in done.ignored} == {
        "Old.json": "a note in the bin",
        "Empty.json": "a note without words",
        "other.json": "it is no note of Google Keep",
    }
    assert [r.path_or_line for r in done.refused] == ["cut off.json"]
    assert done.refused[0].reason.startswith("it is not JSON")
    verdict = RetrievalEnforcer(palace).decide("What size is the furnace filter?")
    assert verdict.evidence[0].text == "The filter is 20x25x1."
    assert f"{verdict.evidence[0].as_of:%Y-%m-%d}" == "2023-11-14"


def test_one_note_and_one_that_was_edited_there(palace: Mempalace, tmp_path: Path):
    file = put(tmp_path, {"Furnace.json": FURNACE}) / "Furnace.json"
    assert taken(palace, file).added == 1
    put(tmp_path, {"Furnace.json": {**FURNACE, "textContent": "The filter is 16x25x1."}})
    assert palace.import_from(file, update=True).updated == 1
    assert "16x25x1" in (palace.root / "rooms" / "keep" / "Furnace.md").read_text("utf-8")


@pytest.mark.parametrize(
    "odd", [{"labels": 7}, {"labels": [7]}, {"createdTimestampUsec": "x"}, {"listContent": {}}]
)
def test_what_keep_does_not_write_there_is_left(odd, palace: Mempalace, tmp_path: Path):
    file = put(tmp_path, {"n.json": note(textContent="A word.", **odd)}) / "n.json"
    assert palace.import_from(file).added == 1
    assert "A word." in (palace.root / "rooms" / "keep" / "n.md").read_text("utf-8")
