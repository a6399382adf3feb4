"""A file that cannot be read costs its own memories alone, and nobody is told that they are none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer, StoreUnavailableError, UnsafeNameError
from palace.types.verdict import Verdict

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no modes there")

HELD, OTHER = "The boiler of Olaf runs at 1.8 bar.", "The harbour master is called Ines."
OF_HELD, OF_OTHER = "What pressure does the boiler of Olaf run at?", "Who is the harbour master?"
OF_NEITHER = "When did we move to Oslo?"


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A palace of a person whom modes stop, whoever runs the tests, and wherever."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.chdir(folder)
    owner = os.geteuid()
    if owner == 0:
        with Mempalace.open(folder / "first") as palace:  # what is imported late must be there
            palace.remember(HELD, room="house", drawer="boiler")
            palace.doctor()
            palace.export(folder / "first.json")
            palace.set_identity("I look after boats.")
            palace.erase(palace.remember(OTHER).memory.id)
            palace.wake_up("s")
            asked(palace, OF_HELD).explain()
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    yield folder / "palace"
    os.seteuid(owner)
    shutil.rmtree(folder)


@pytest.fixture
def files(palace: Mempalace) -> tuple[Path, Path]:
    palace.remember(HELD, room="house", drawer="boiler")
    palace.remember(OTHER, room="people", drawer="harbour")
    return palace.root / "rooms/house/boiler.md", palace.root / "rooms/people/harbour.md"


def asked(palace: Mempalace, prompt: str) -> Verdict:
    return RetrievalEnforcer(palace).decide(prompt)


def closed(file: Path) -> Callable[[], None]:
    """Take the right to read a file or folder away; return what gives it back."""
    before = file.stat().st_mode
    file.chmod(0)
    return lambda: file.chmod(before)


@pytest.fixture(params=["file", "folder"])
def shut(request: pytest.FixtureRequest, files: tuple[Path, Path]) -> Iterator[Path]:
    place = files[0] if request.param == "file" else files[0].parent
    reopen = closed(place)
    yield place
    reopen()


def opened_anew(palace: Mempalace) -> Mempalace:
    """Open a palace whose index is gone."""
    palace.close()
    shutil.rmtree(palace.root / ".palace")
    return Mempalace.open(palace.root)


def test_what_is_asked_for_as_a_whole_is_told_to_be_a_part(palace: Mempalace, shut: Path) -> None:
    palace.remember("[ ] Call the roofer.", room="tasks")
    with opened_anew(palace) as again:
        report = asked(again, "What are my open tasks?").walk[1]
    assert (report.outcome, report.is_partial) == ("sufficient", True)
    assert report.reason.startswith("all tasks that are open; ")
    assert shut.name in report.reason


def test_all_others_answer(palace: Mempalace, shut: Path) -> None:
    with opened_anew(palace) as again:
        verdict = asked(again, OF_OTHER)
        assert (verdict.action, verdict.evidence[0].text) == ("ground", OTHER)
        again.remember("The ferry has two decks.", room="people", drawer="harbour")
        assert "ferry" in asked(again, "How many decks does the ferry have?").evidence[0].text


@pytest.mark.parametrize("prompt", [OF_HELD, OF_NEITHER])
def test_a_miss_is_not_told_as_absence(palace: Mempalace, shut: Path, prompt: str) -> None:
    with opened_anew(palace) as again:
        verdict = asked(again, prompt)
    assert verdict.action in ("fallback", "confirm")
    assert str(shut) in verdict.text
    assert "Permission denied" in verdict.text
    if not verdict.evidence:
        assert verdict.outcome == "unavailable"


def test_what_was_read_of_it_before_is_kept_and_labelled(palace: Mempalace, shut: Path) -> None:
    palace.refresh()
    verdict = asked(palace, OF_HELD)
    assert [(e.text, e.stale) for e in verdict.evidence] == [(HELD, True)]
    assert str(shut) in verdict.explain()
    assert [e.stale for e in asked(palace, OF_OTHER).evidence] == [False]


def test_it_is_read_once_it_can_be(palace: Mempalace, files: tuple[Path, Path]) -> None:
    reopen = closed(files[0])
    with opened_anew(palace) as again:
        assert asked(again, OF_HELD).outcome != "hit"
        reopen()
        again.refresh()
        assert asked(again, OF_HELD).evidence[0].text == HELD
        assert asked(again, OF_NEITHER).outcome == "nothing_stored"


def test_doctor_and_reindex_name_it(palace: Mempalace, shut: Path) -> None:
    checks = {check.name: check for check in palace.doctor()}
    assert not checks["files"].ok
    assert str(shut) in checks["files"].detail
    assert "permission" in checks["files"].hint
    assert checks["remember"].ok
    (fault,) = palace.reindex().faults
    assert fault.is_unread
    assert str(shut) in fault.message


def test_nothing_is_written_over_it_and_no_export_leaves_it_out(
    palace: Mempalace, shut: Path
) -> None:
    with pytest.raises(StoreUnavailableError, match="Permission denied"):
        palace.remember("The attic is dry.", room="house", drawer="boiler")
    target = palace.root.parent / "export.json"
    with pytest.raises(StoreUnavailableError, match="Permission denied"):
        palace.export(target)
    assert not target.exists()


def test_one_playbook_keeps_no_other_back(palace: Mempalace) -> None:
    folder = palace.root / "playbooks"
    folder.mkdir(exist_ok=True)
    for name in ("descale", "bleed"):
        (folder / f"{name}.md").write_text(f"# How to {name}\n\n1. Open the valve.\n", "utf-8")
    closed(folder / "descale.md")
    palace.refresh()
    assert [playbook.name for playbook in palace.playbooks()] == ["bleed"]
    assert "descale.md" in asked(palace, OF_NEITHER).text


def test_an_unread_identity_is_said_and_all_else_goes_on(palace: Mempalace) -> None:
    palace.set_identity("I look after lamps.")
    held = palace.remember(HELD, room="house").memory
    identity = palace.root / "identity.txt"
    closed(identity)
    woken = palace.wake_up("s")
    assert HELD in woken.text
    assert str(identity) in woken.left_out[0]
    assert palace.answer_options.identity == ""
    assert asked(palace, OF_HELD).action == "ground"
    assert [(fault.path, fault.is_unread) for fault in palace.faults()] == [("identity.txt", True)]
    erased = palace.erase(held.id)
    assert str(identity) in erased.remaining[0]
    assert palace.memories() == []


def test_an_identity_that_leads_out_of_the_palace_is_said(palace: Mempalace) -> None:
    (palace.root / "identity.txt").symlink_to("/etc/hostname")
    assert palace.wake_up("s").left_out == ("'identity.txt' leads out of the palace",)
    with pytest.raises(UnsafeNameError):  # what the caller named is the caller's
        palace.wake_up("s" * 600)


def test_unread_notes_of_a_session_are_said_at_its_start(palace: Mempalace) -> None:
    palace.remember(HELD, room="house")
    palace.note("The tunnel is closed.", session_id="s")
    (notes,) = (palace.root / "scratchpad").glob("s*")
    closed(notes)
    woken = palace.wake_up("s")
    assert HELD in woken.text
    assert str(notes) in woken.left_out[0]


def test_what_moved_to_icloud_is_kept_and_not_written_beside(
    palace: Mempalace, files: tuple[Path, Path]
) -> None:
    files[0].rename(files[0].with_name(".boiler.md.icloud"))
    palace.refresh()
    assert asked(palace, OF_HELD).evidence[0].text == HELD
    assert "download it" in asked(palace, OF_NEITHER).text
    with pytest.raises(StoreUnavailableError, match="iCloud"):
        palace.remember("The attic is dry.", room="house", drawer="boiler")
    assert not files[0].exists()


def test_what_is_written_in_another_encoding_is_not_told_as_absence(palace: Mempalace) -> None:
    file = palace.root / "rooms/house/wide.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(f"- {HELD}\n".encode("utf-16"))
    palace.refresh()
    assert palace.memories() == []
    assert "rooms/house/wide.md is written in UTF-16" in asked(palace, OF_HELD).text
    file.write_text(f"- {HELD}\n", "utf-8")
    palace.refresh()
    assert asked(palace, OF_HELD).evidence[0].text == HELD


def test_doctor_reports_where_no_room_can_be_read(
    palace: Mempalace, files: tuple[Path, Path]
) -> None:
    reopen = closed(palace.root / "rooms")
    checks = {check.name: check.ok for check in palace.doctor()}
    reopen()
    assert (checks["files"], checks["remember"], checks["journal"]) == (False, False, True)


def test_a_session_starts_without_the_journal(
    palace: Mempalace, files: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    asked(palace, OF_OTHER)
    reopen = closed(palace.root / "journal")
    assert OTHER in palace.wake_up("monday").text
    reopen()
    assert "Permission denied" in caplog.text
