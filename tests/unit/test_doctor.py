"""Doctor: it finds what does not work, and leaves nothing behind, whatever happens."""

from __future__ import annotations

import errno
import os
import sqlite3
from itertools import count
from pathlib import Path

import pytest

from palace.doctor import PROBE_ROOM, run_checks
from palace.mempalace import Mempalace
from palace.presets import load_preset, seed
from palace.recall.lexicon import DEFAULT_LANGUAGES
from palace.store.files import FileSystem
from palace.store.rooms import RoomStore
from tests.doubles import another_writer

NAMES = (
    "settings permissions files ids overwritten identity index meaning"
    " remember search rebuild retire scratchpad journal enforcer"
).split()


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    seed(load_preset("sample"), tmp_path / "palace")
    return tmp_path / "palace"


def checks_of(palace: Mempalace):
    return {check.name: check for check in run_checks(palace)}


def failed(palace: Mempalace) -> dict[str, str]:
    return {check.name: check.detail for check in run_checks(palace) if not check.ok}


def own_files(root: Path) -> dict[str, bytes]:
    """Everything in the palace that is not derived."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else b""
        for path in root.rglob("*")
        if ".palace" not in path.relative_to(root).parts
    }


def with_settings(root: Path, text: str) -> Mempalace:
    (root / "config").mkdir(exist_ok=True)
    (root / "config/mempalace.yaml").write_text(text)
    return Mempalace.open(root)


class FullDisk(FileSystem):
    def write(self, descriptor: int, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


class Interrupted(FileSystem):
    """Somebody presses Ctrl-C when the second file is in place."""

    def __init__(self) -> None:
        self.renamed = 0

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self.renamed += 1
        if self.renamed == 2:
            raise KeyboardInterrupt


_NEVER_VALID = """
CREATE TRIGGER sabotage AFTER INSERT ON memories BEGIN
  UPDATE memories SET valid_to = '1999' WHERE key = NEW.key;
END
"""
_NEVER_RETIRED = """
CREATE TRIGGER sabotage AFTER INSERT ON memories WHEN NEW.partition IS NULL BEGIN
  UPDATE memories SET partition = 1 WHERE key = NEW.key;
  INSERT INTO postings (rowid, words) VALUES (NEW.key, '1=' || replace(NEW.body, ' ', ' 1='));
  UPDATE terms SET body = body + 1;
END
"""


class TestSoundPalace:
    def test_passes_every_check_in_a_fixed_order(self, palace: Mempalace):
        checks = palace.doctor()
        assert [check.name for check in checks] == NAMES
        assert [check for check in checks if not check.ok] == []
        assert all(check.detail for check in checks)

    def test_keeps_no_trace(self, palace: Mempalace, root: Path):
        before, size = own_files(root), palace.index.size()
        run_checks(palace)
        assert own_files(root) == before
        assert palace.index.size() == size
        assert all(room.name != PROBE_ROOM for room in palace.rooms())
        assert [p.name for p in (root / ".palace").iterdir() if p.name.startswith("doctor")] == []
        assert list(palace.journal.records()) == []

    def test_an_empty_palace_is_sound_and_stays_empty(self, tmp_path: Path):
        with Mempalace.open(tmp_path / "empty") as palace:
            assert failed(palace) == {}
            assert own_files(tmp_path / "empty") == {}

    def test_a_room_of_the_same_name_is_kept(self, palace: Mempalace, root: Path):
        palace.remember("Somebody works here.", room=PROBE_ROOM)
        before = own_files(root)
        assert failed(palace) == {}
        assert own_files(root) == before

    def test_living_notes_and_records_of_others_are_kept(self, palace: Mempalace, root: Path):
        palace.note("Mine.", session_id="s1")
        palace.journal.append({"id": "x-1", "type": "note", "at": "2026-05-08T10:00:00Z"})
        before = own_files(root)
        assert "2026-05-08" in checks_of(palace)["journal"].detail
        assert own_files(root) == before

    @pytest.mark.parametrize(
        "text",
        [
            "enforce: {on_miss: generate}",
            "enforce: {on_hit: answer, on_unclear: fallback}",
            "layers: [L0, L1]",
            "journal: {enabled: false}",
            "context: {inject: always}",
            "index: {refresh_s: 3600.0}",
            "search: {top_k: 1, candidates: 1}",
            "write: {secrets: redact}",
            *(f"detector: {{languages: [{code}]}}" for code in DEFAULT_LANGUAGES),
        ],
    )
    def test_settings_that_are_allowed_break_nothing(self, root: Path, text):
        with with_settings(root, text) as palace:
            assert failed(palace) == {}


class TestInspections:
    def test_the_settings_file_in_force_is_named(self, root: Path, tmp_path: Path):
        (tmp_path / "work/mempalace.yaml").write_text("preset: none\n")
        with with_settings(root, "preset: none\n") as palace:
            check = checks_of(palace)["settings"]
        assert str(tmp_path / "work/mempalace.yaml") in check.detail
        assert str(root / "config/mempalace.yaml") in check.hint

    def test_what_the_settings_name_and_is_not_there_is_named(self, root: Path, tmp_path: Path):
        (tmp_path / "src").mkdir()
        (tmp_path / "plan.md").write_text("It is planned.")
        roots = [str(tmp_path / name) for name in ("src", "srk", "plan.md")]
        text = f"artifacts: {{files: {{roots: {roots}}}, logs: {{paths: [app.log, {root}]}}}}\n"
        with with_settings(root, text) as palace:
            check = checks_of(palace)["settings"]
        assert check.ok
        assert f"there is no folder {tmp_path / 'srk'}" in check.hint
        assert f"there is no folder {tmp_path / 'plan.md'}" in check.hint
        assert f"there is no file {root / 'config' / 'app.log'}" in check.hint
        assert f"there is no file {root}" in check.hint.split("; ")[-1]
        assert f"{tmp_path / 'src'};" not in check.hint

    def test_faults_are_named_with_their_place(self, palace: Mempalace, root: Path):
        path = root / "rooms/people/broken.md"
        path.write_text("# Broken\n\n- A.\n  <!-- memory kind=nonsense -->\n\n```\nnever closed\n")
        (root / "playbooks/odd.md").write_text("---\ntriggers: [\n---\n# Odd\n")
        detail = failed(palace)["files"]
        assert "rooms/people/broken.md:4:" in detail
        assert "rooms/people/broken.md:6:" in detail
        assert "playbooks/odd.md:" in detail
        assert detail.startswith("3 ")

    def test_copies_of_files_are_named(self, palace: Mempalace, root: Path):
        folder = root / "rooms" / "yard"
        folder.mkdir()
        for name in ("notes.md", "notes (conflicted copy).md", "list (1).md", "copy.md"):
            (folder / name).write_text("- The kettle leaks.\n", "utf-8")
        check = checks_of(palace)["files"]
        assert check.ok
        assert (
            check.hint
            == "copies of other files, read as well: rooms/yard/notes (conflicted copy).md"
        )

    @pytest.mark.skipif(os.name == "nt", reason="names that Windows does not allow")
    def test_names_that_no_import_takes_are_named(self, palace: Mempalace, root: Path):
        deep = root / "rooms/a/b/c/d/e/f/g/h/i/deep.md"
        deep.parent.mkdir(parents=True)
        for path in (deep, root / "rooms/people/aux.md"):
            path.write_text("- The kettle leaks.\n", "utf-8")
        check = checks_of(palace)["files"]
        assert check.ok
        assert "rooms/people/aux.md is a reserved device name" in check.hint
        assert "deep.md is more than 8 rooms deep" in check.hint

    def test_headings_with_nothing_below_are_counted(self, palace: Mempalace, root: Path):
        (root / "rooms" / "boiler.md").write_text(
            "---\ntitle: Boiler\n---\n# Boiler\n\n## Pressure 1.5 bar\n\n## Service\n\n### In May\n\n"
            "- Ines came.\n\n### Paid 120 in June\n\n```\n## no heading\n```\n\n## Sold\n<!-- why? -->\n",
            "utf-8",
        )
        (root / "rooms" / "empty.md").write_text("# Empty\n", "utf-8")
        check = checks_of(palace)["files"]
        assert check.ok
        assert check.hint == "2 headings with no text below: a heading alone is no memory"

    def test_a_long_list_is_cut(self, palace: Mempalace, root: Path):
        (root / "rooms/people/broken.md").write_text("- A.\n  <!-- memory kind=nonsense -->\n" * 9)
        assert failed(palace)["files"].endswith("and 4 more")

    def test_ids_of_several_memories_are_named(self, palace: Mempalace, root: Path):
        (root / "rooms/people/a.md").write_text("- One.\n  <!-- memory id=m-twice -->\n")
        (root / "rooms/people/b.md").write_text("- Two.\n  <!-- memory id=m-twice -->\n")
        palace.refresh()
        detail = failed(palace)["ids"]
        assert "m-twice in rooms/people/a.md:1" in detail
        assert "m-twice in rooms/people/b.md:1" in detail

    def test_an_identity_of_another_encoding_is_named(self, palace: Mempalace, root: Path):
        (root / "identity.txt").write_bytes("I look after the café.".encode("latin-1"))
        assert "identity.txt:1: bytes that are not UTF-8 text" in failed(palace)["files"]

    def test_a_drawer_in_latin1_is_named_with_what_helps(self, palace: Mempalace, root: Path):
        (root / "rooms/people/cafe.md").write_bytes("# Ort\n\n- Das Café.\n".encode("latin-1"))
        told = failed(palace)["files"]
        assert "rooms/people/cafe.md:3: bytes that are not UTF-8 text" in told
        assert "save the file as UTF-8 in your editor" in told

    def test_a_drawer_in_utf16_is_named_with_what_helps(self, palace: Mempalace, root: Path):
        (root / "rooms/people/wide.md").write_bytes("- The fish is called Nemo.".encode("utf-16"))
        assert "rooms/people/wide.md is written in UTF-16" in failed(palace)["files"]

    def test_a_damaged_index_is_found_and_hides_nothing_else(self, palace: Mempalace, root: Path):
        before = own_files(root)
        palace.index._database.rows("DROP TABLE postings_data")
        found = checks_of(palace)
        assert not found["index"].ok
        assert "reindex" in found["index"].hint
        assert [found[n].ok for n in ("files", "ids", "identity", "scratchpad", "journal")] == [
            True
        ] * 5
        assert own_files(root) == before

    def test_an_index_that_forgot_a_file_is_found(self, palace: Mempalace):
        palace.index._database.rows("UPDATE memories SET data = replace(data, 'Mira', 'Mara')")
        assert "not the same in files" in failed(palace)["rebuild"]

    def test_what_others_write_meanwhile_is_no_difference(self, palace, root, monkeypatch):
        refresh, numbers = palace.refresh, count()

        def written_beside(**options):
            with (root / "rooms/people/guests.md").open("a") as file:
                file.write(f"- Guest {next(numbers)} came.\n")
            return refresh(**options)

        monkeypatch.setattr(palace, "refresh", written_beside)
        assert failed(palace) == {}

    def test_an_index_that_is_being_written_is_not_called_damaged(
        self, palace: Mempalace, root: Path
    ):
        palace.index._database.rows("PRAGMA busy_timeout = 10")
        writer = sqlite3.connect(root / ".palace" / "index.sqlite", isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        told = failed(palace)["index"]
        writer.close()
        assert "locked" in told
        assert "damaged" not in told


class TestTrials:
    def test_a_full_disk_is_told_and_the_rest_is_tried(self, palace: Mempalace, root: Path):
        palace.store = RoomStore(root, file_system=FullDisk())
        before = own_files(root)
        found = checks_of(palace)
        assert "No space left" in found["remember"].detail
        assert found["remember"].hint
        assert [found[n].detail for n in ("search", "rebuild", "retire")] == [
            "not tried: nothing could be stored"
        ] * 3
        assert found["scratchpad"].ok
        assert found["enforcer"].ok
        assert own_files(root) == before

    def test_where_nothing_was_stored_there_is_nothing_to_tidy(self, palace: Mempalace, root: Path):
        palace.store = RoomStore(root, lock_timeout_s=0.0)
        with another_writer(root):
            found = failed(palace)
        assert list(found) == ["remember", "search", "rebuild", "retire"]

    def test_a_search_that_finds_nothing_is_told_and_the_probe_removed(self, palace, root):
        before = own_files(root)
        palace.index._database.rows(_NEVER_VALID)
        assert "not found" in failed(palace)["search"]
        assert own_files(root) == before

    def test_a_retired_memory_that_is_still_found_is_told(self, palace, root):
        before = own_files(root)
        palace.index._database.rows(_NEVER_RETIRED)
        assert failed(palace) == {"retire": "a memory that was retired is still found by a search"}
        assert own_files(root) == before

    def test_an_interruption_leaves_nothing_behind(self, palace, root):
        before, size = own_files(root), palace.index.size()
        palace.store = RoomStore(root, file_system=Interrupted())
        with pytest.raises(KeyboardInterrupt):
            run_checks(palace)
        assert own_files(root) == before
        assert palace.index.size() == size

    def test_a_scratchpad_that_cannot_be_written_is_told(self, palace: Mempalace, root: Path):
        (root / "scratchpad").write_text("I am a file")
        assert list(failed(palace)) == ["scratchpad"]

    def test_a_journal_that_cannot_be_read_is_told(self, palace: Mempalace, root: Path):
        (root / "journal").write_text("I am a file")
        assert "journal" in failed(palace)

    def test_a_bar_that_lets_everything_pass_is_told(self, root: Path):
        with with_settings(root, "detector: {recall_at: 1.0, other_below: 1.0}") as palace:
            assert "unknown name" in failed(palace)["enforcer"]
