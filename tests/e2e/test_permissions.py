"""A palace is private: whatever is made in it belongs to its user alone, and doctor says if not."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from palace import ConversationTurn, Mempalace, RetrievalEnforcer, load_preset, seed
from palace.text.moments import utc_now

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no modes there")


@pytest.fixture(autouse=True)
def open_handed():
    """A user whose new files are readable and writable by everybody unless a program says else."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(root: Path) -> dict[str, str]:
    wrong = {}
    for path in [root, *root.rglob("*")]:
        mode = stat.S_IMODE(path.lstat().st_mode)
        if mode != (0o700 if path.is_dir() else 0o600):
            wrong[str(path.relative_to(root))] = oct(mode)
    return wrong


def test_everything_that_is_made_is_private(tmp_path):
    root = tmp_path / "made" / "palace"
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("- The lamp is green.\n")
    with Mempalace.open(root) as palace:
        palace.lay_out(preset="health_check", sample=True)
        stored = palace.remember("The kettle is blue.", room="house/kitchen").memory
        palace.correct(stored.id, "The kettle is red.")
        entry = palace.note("The lathe hums.", session_id="s")
        palace.promote_to_palace(entry, "shed", "tools", summary="The lathe hums.", reason="why")
        palace.import_turns([ConversationTurn("s", "user", "Hello there.", utc_now())])
        palace.import_from(notes)
        palace.set_identity("I look after lamps.")
        RetrievalEnforcer(palace).decide("What colour is the kettle?")
        palace.doctor()
        assert modes(root) == {}
        exported = tmp_path / "export.json"
        palace.export(exported)
        assert stat.S_IMODE(exported.stat().st_mode) == 0o600
    assert modes(root) == {}
    assert stat.S_IMODE(root.parent.stat().st_mode) == 0o700


def test_seeded_palaces_are_private(tmp_path):
    seed(load_preset("sample"), tmp_path / "palace")
    assert modes(tmp_path / "palace") == {}


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701])
def test_what_others_can_enter_is_reported(tmp_path, mode):
    with Mempalace.open(tmp_path / "palace") as palace:
        assert not said(palace).hint
        (tmp_path / "palace").chmod(mode)
        check = said(palace)
    assert check.ok
    assert "other users" in check.detail
    assert "chmod 700" in check.hint
    assert f"{mode:o}" in check.detail


def test_a_scratchpad_elsewhere_is_looked_at_too(tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv("PALACE_SCRATCHPAD__DIR", str(elsewhere))
    with Mempalace.open(tmp_path / "palace") as palace:
        palace.note("The lathe hums.", session_id="s")
        assert not said(palace).hint
        elsewhere.chmod(0o755)
        assert str(elsewhere) in said(palace).detail


def said(palace):
    [check] = [c for c in palace.doctor() if c.name == "permissions"]
    return check
