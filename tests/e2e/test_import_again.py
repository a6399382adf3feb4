"""Notes that are edited where they came from are brought forward when that is asked, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer
from tests.e2e.test_imports import canonical, put

FLAT = "# Flat\n\n- The rent is 1,180 EUR.\n- The bike lock says 4471.\n"
EDITED = FLAT.replace("1,180", "1,240")
DRAWER = "rooms/vault/flat.md"


@pytest.fixture
def root(here: Path) -> Path:
    return here


@pytest.fixture
def vault(tmp_path: Path, palace: Mempalace) -> Path:
    folder = put(tmp_path / "vault", {"flat.md": FLAT, "daily/2026-05-04.md": "- Ran 6 km.\n"})
    palace.import_from(folder)
    return folder


def reasons(done) -> list[str]:
    return [refusal.reason for refusal in done.refused]


def test_an_edited_note_is_refused_with_what_takes_it(palace: Mempalace, vault: Path):
    (vault / "flat.md").write_text(EDITED)
    before = canonical(palace)
    done = palace.import_from(vault)
    assert (done.added, done.unchanged, done.updated) == (0, 1, 0)
    assert reasons(done) == [
        "differs from the palace's own, which nobody touched since it was imported:"
        " --update takes it"
    ]
    assert canonical(palace) == before


def test_an_edited_note_is_taken_with_update_and_found(palace: Mempalace, vault: Path):
    (vault / "flat.md").write_text(EDITED)
    before = canonical(palace)
    tried = palace.import_from(vault, update=True, dry_run=True)
    assert canonical(palace) == before
    done = palace.import_from(vault, update=True)
    assert (done.added, done.unchanged, done.updated, reasons(done)) == (0, 1, 1, [])
    assert (tried.updated, tried.paths) == (1, done.paths)
    assert done.paths == (DRAWER,)
    assert (palace.root / DRAWER).read_text() == EDITED
    verdict = RetrievalEnforcer(palace).decide("How much is the rent?")
    assert verdict.evidence[0].text == "The rent is 1,240 EUR."
    (vault / "flat.md").write_text(FLAT)  # and once more, by another program
    with Mempalace.open(palace.root) as other:
        assert other.import_from(vault, update=True).updated == 1
    assert palace.import_from(vault, update=True).updated == 0


@pytest.mark.parametrize("touched", ["by hand", "by the program", "an export"])
def test_what_somebody_touched_here_is_never_replaced(
    touched: str, palace: Mempalace, vault: Path, tmp_path: Path
):
    if touched == "by hand":
        (palace.root / DRAWER).write_text(FLAT + "- The key is under the pot.\n")
    elif touched == "by the program":
        palace.tag(palace.search("bike lock")[0].memory.id, add=["bike"])
    else:
        palace.export(tmp_path / "e.json")
        held = (tmp_path / "e.json").read_text().replace("1,180", "1,240")
        vault = tmp_path / "e.json"
        vault.write_text(held)
    if vault.is_dir():
        (vault / "flat.md").write_text(EDITED)
    before = canonical(palace)
    done = palace.import_from(vault, update=True)
    assert (done.updated, reasons(done)) == (0, ["differs from the palace's own"])
    assert canonical(palace) == before


@pytest.mark.parametrize("content", ["", " \n"])
def test_a_note_that_was_emptied_does_not_empty_the_palaces(
    content: str, palace: Mempalace, vault: Path
):
    (vault / "flat.md").write_text(content)
    assert palace.import_from(vault, update=True).updated == 0
    assert (palace.root / DRAWER).read_text() == FLAT


def test_a_note_of_that_name_from_elsewhere_replaces_none(palace: Mempalace, tmp_path: Path):
    one, two = (put(tmp_path / name, {"notes.md": f"- In {name}.\n"}) for name in ("a", "b"))
    palace.import_from(one / "notes.md")
    done = palace.import_from(two / "notes.md", update=True)
    assert (done.updated, reasons(done)) == (0, ["differs from the palace's own"])


@pytest.mark.parametrize("lost", [None, b"", b"[1]", b'{"rooms/vault/flat.md": 7}'])
def test_where_it_is_forgotten_what_came_from_where_nothing_is_replaced(
    lost: bytes | None, palace: Mempalace, vault: Path
):
    file = palace.root / ".palace" / "imported.json"
    if lost is None:
        file.unlink()
    else:
        file.write_bytes(lost)
    (vault / "flat.md").write_text(EDITED)
    assert palace.import_from(vault, update=True).updated == 0
    (palace.root / DRAWER).write_text(EDITED)  # by hand, and so it is as it is there again
    assert palace.import_from(vault).unchanged == 2
    (vault / "flat.md").write_text(FLAT)
    assert palace.import_from(vault, update=True).updated == 1


def test_the_command_tells_what_it_brought_forward(command, palace: Mempalace, vault: Path):
    (vault / "flat.md").write_text(EDITED)
    told = command("import", str(vault), "--update", "--dry-run")
    assert "1 file would be updated" in told.out
    told = command("--json", "import", str(vault), "--update")
    assert (told.code, told.json["updated"], told.json["unchanged"]) == (0, 1, 1)
