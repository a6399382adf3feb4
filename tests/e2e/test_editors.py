"""Editors that save a drawer beside the palace: what was typed stays, what was stored is not lost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import editors
from palace import MemoryNotFoundError, Mempalace, PalaceError, RetrievalEnforcer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no exchange of names elsewhere")

OLD = "The lathe stands in Oslo."
NEW = "We moved the kettle to Bergen on 2026-05-06."
HERS = "\n- The weir was painted blue.\n"


def test_every_way_to_save_loses_nothing_and_a_loss_is_seen(tmp_path):
    done = editors.run_editors(tmp_path, writers=1, seconds=1.5)
    told, typed = done.told, done.typed
    assert done.broken == []
    assert len(typed) > len(editors.SAVES)
    assert len(told[0].stored) > 0
    assert editors.broken_promises(tmp_path, told, [*typed, "Never typed."])
    for file in (tmp_path / "rooms" / "desk").glob("*.md"):
        file.write_bytes(file.read_bytes().replace(typed[0].encode(), b"cut"))
    assert editors.broken_promises(tmp_path, told, typed)


@pytest.fixture(params=["lf", "crlf", "bom", "unended"])
def form(request: pytest.FixtureRequest) -> Callable[[str], bytes]:
    """How an editor puts what it read into bytes, with a line of hers."""
    if request.param == "crlf":
        return lambda text: (text + HERS).replace("\n", "\r\n").encode()
    if request.param == "bom":
        return lambda text: b"\xef\xbb\xbf" + (text + HERS).encode()
    return lambda text: (
        text + HERS.rstrip() if request.param == "unended" else text + HERS
    ).encode()


def stale(palace: Mempalace, form: Callable[[str], bytes], act: Callable[[], object]) -> Path:
    """An editor reads, the palace acts, the editor saves what it read."""
    file = palace.root / "rooms" / "a" / "notes.md"
    read = file.read_text("utf-8")
    act()
    file.write_bytes(form(read))
    palace.refresh()
    return file


def texts(palace: Mempalace) -> list[str]:
    return sorted(memory.text for memory in palace.memories())


def test_what_an_old_copy_overwrote_is_named_and_put_back(tmp_path, form):
    with Mempalace.open(tmp_path) as palace:
        palace.remember(OLD, room="a")
        file = stale(palace, form, lambda: palace.remember(NEW, room="a"))
        assert texts(palace) == [OLD, HERS.strip()[2:]]
        [lost] = palace.overwritten()
        assert (lost.text, lost.path, lost.how) == (NEW, "rooms/a/notes.md", "missing")
        check = next(check for check in palace.doctor() if check.name == "overwritten")
        assert check.ok
        assert lost.id in check.detail
        before = file.read_bytes()
        recovered = palace.recover(lost.id)
        assert (recovered.id, recovered.text) == (lost.id, NEW)
        assert file.read_bytes().startswith(before)
        assert texts(palace) == sorted([OLD, NEW, HERS.strip()[2:]])
        found = RetrievalEnforcer(palace).decide("When did we move the kettle?").evidence
        assert found[0].text == NEW
        assert palace.overwritten() == ()
        with pytest.raises(MemoryNotFoundError):
            palace.recover(lost.id)


def test_a_correction_that_is_gone_is_named_though_what_it_corrected_points_at_it(tmp_path):
    with Mempalace.open(tmp_path) as palace:
        old = palace.remember(OLD, room="a").memory
        new = palace.correct(old.id, "The lathe stands in Bergen.").memory
        file = tmp_path / "rooms" / "a" / "notes.md"
        kept = [line for line in file.read_text("utf-8").splitlines() if f"id={new.id}" not in line]
        file.write_text("\n".join(line for line in kept if "Bergen" not in line), "utf-8")
        palace.refresh()
        assert f"superseded_by={new.id}" in file.read_text("utf-8")
        assert [(lost.id, lost.how) for lost in palace.overwritten()] == [(new.id, "missing")]
        assert palace.recover(new.id).text == "The lathe stands in Bergen."
        assert texts(palace) == ["The lathe stands in Bergen."]
        assert palace.overwritten() == ()


def test_a_retirement_that_an_old_copy_took_back_is_named_and_made_again(tmp_path, form):
    with Mempalace.open(tmp_path) as palace:
        stored = palace.remember(OLD, room="a").memory
        stale(palace, form, lambda: palace.forget(stored.id))
        assert OLD in texts(palace)
        assert [(lost.id, lost.how) for lost in palace.overwritten()] == [(stored.id, "older")]
        assert palace.recover(stored.id).status == "inactive"
        assert OLD not in texts(palace)


def test_a_retired_line_of_hers_that_lost_its_comment_is_retired_again(tmp_path, form):
    (tmp_path / "rooms" / "a").mkdir(parents=True)
    (tmp_path / "rooms" / "a" / "notes.md").write_text(f"- {OLD}\n- {NEW}\n", "utf-8")
    with Mempalace.open(tmp_path) as palace:
        first = next(memory for memory in palace.memories() if memory.text == OLD)
        stale(palace, form, lambda: palace.forget(first.id))
        [lost] = palace.overwritten()
        palace.recover(lost.id)
        assert texts(palace) == sorted([NEW, HERS.strip()[2:]])


def test_an_erased_memory_that_came_back_is_named_and_erased_again(tmp_path, form):
    with Mempalace.open(tmp_path) as palace:
        palace.remember(NEW, room="a")
        stored = palace.remember(OLD, room="a").memory
        file = stale(palace, form, lambda: palace.erase(stored.id))
        assert [(lost.text, lost.how) for lost in palace.overwritten()] == [("", "back")]
        assert palace.recover(stored.id) is None
        assert OLD not in file.read_text("utf-8")
        assert palace.overwritten() == ()


def test_what_a_person_moved_or_reworded_is_not_named(tmp_path):
    with Mempalace.open(tmp_path) as palace:
        palace.remember(OLD, room="a")
        file = tmp_path / "rooms" / "a" / "notes.md"
        file.replace(file.with_name("other.md"))
        assert palace.overwritten() == ()
        moved = file.with_name("other.md")
        moved.write_text(moved.read_text("utf-8").replace("Oslo", "Bergen"), "utf-8")
        palace.refresh()
        assert palace.overwritten() == ()
        assert palace.memories()[0].text == "The lathe stands in Bergen."


def _copied(root: Path, copied: str) -> None:
    """Copy a drawer as synced folders do, or a memory in it with its comment."""
    drawer = root / "rooms/yard/notes.md"
    words = drawer.read_text()
    if copied == "file":
        (root / "rooms/yard/notes (conflicted copy).md").write_text(words)
    else:
        drawer.write_text(words + words[words.index("- ") :])


@pytest.mark.parametrize("copied", ["file", "lines"])
@pytest.mark.parametrize("verb", ["forget", "correct"])
def test_copies_with_the_same_id_go_with_what_is_retired(tmp_path, copied, verb):
    with Mempalace.open(tmp_path) as palace:
        memory = palace.remember(OLD, room="yard").memory
        _copied(tmp_path, copied)
        palace.refresh()
        assert [m.text for m in palace.memories()] == [OLD, OLD]
        if verb == "forget":
            palace.forget(memory.id)
        else:
            palace.correct(memory.id, NEW)
        assert [m.text for m in palace.memories()] == [NEW] * (verb == "correct")
        palace.undo()
        assert [m.text for m in palace.memories()] == [OLD, OLD]


def test_what_is_changed_beside_a_copy_is_taken_back(tmp_path):
    with Mempalace.open(tmp_path) as palace:
        memory = palace.remember(OLD, room="yard").memory
        _copied(tmp_path, "file")
        palace.refresh()
        files = sorted((tmp_path / "rooms/yard").iterdir())
        before = [file.read_bytes() for file in files]
        begun = memory.id[:12]
        for change in (
            lambda: palace.tag(begun, ["iron"]),
            lambda: palace.tag(begun, ["heavy"]),
            lambda: palace.link(begun, "yard/notes"),
            lambda: palace.forget(begun),
        ):
            assert change().path == memory.path
        for _ in range(4):
            palace.undo()
        assert [file.read_bytes() for file in files] == before


def test_the_new_value_of_a_key_goes_to_no_copy(tmp_path):
    with Mempalace.open(tmp_path) as palace:
        memory = palace.remember(OLD, room="yard", key="lathe").memory
        _copied(tmp_path, "file")
        palace.refresh()
        assert palace.remember(NEW, key="lathe").memory.path == memory.path
        assert [m.text for m in palace.memories()] == [NEW]


def test_a_drawer_made_out_of_another_one_is_not_taken_for_it(tmp_path):
    with Mempalace.open(tmp_path) as palace:
        memory = palace.remember(OLD, room="yard", drawer="2025").memory
        drawer = tmp_path / memory.path
        made = drawer.with_name("2026.md")
        made.write_text(drawer.read_text().replace(OLD, NEW))
        palace.refresh()
        before = made.read_bytes(), drawer.read_bytes()
        for change in (
            lambda: palace.forget(memory.id),
            lambda: palace.erase(memory.id),
            lambda: palace.correct(memory.id, "The lathe is sold."),
            lambda: palace.tag(memory.id, ["iron"]),
            lambda: palace.link(memory.id, "yard/2025"),
        ):
            with pytest.raises(MemoryNotFoundError, match=r"2025\.md.*2026\.md") as refused:
                change()
            assert "comment" in refused.value.hint
        assert (made.read_bytes(), drawer.read_bytes()) == before
        made.write_text(made.read_text().partition("  <!--")[0])
        palace.refresh()
        assert palace.forget(memory.id).text == OLD
        assert [m.text for m in palace.memories()] == [NEW]


@pytest.mark.parametrize("copied", ["file", "lines"])
def test_copies_with_the_same_id_are_erased_with_it(tmp_path, copied):
    with Mempalace.open(tmp_path) as palace:
        memory = palace.remember(OLD, room="yard").memory
        _copied(tmp_path, copied)
        erased = palace.erase(memory.id)
        left = [p for p in (tmp_path / "rooms").rglob("*.md") if OLD in p.read_text()]
        assert bool(left) == bool(erased.remaining)


@pytest.mark.parametrize("instead", ["folder", "link"])
def test_a_file_that_became_something_else_hides_no_other_write(tmp_path, instead):
    with Mempalace.open(tmp_path / "palace") as palace:
        stored = palace.remember(OLD, room="a", drawer="x").memory
        kept = palace.remember(NEW, room="a", drawer="y").memory
        file, other = palace.root / stored.path, palace.root / kept.path
        file.unlink()
        other.unlink()
        if instead == "folder":
            file.mkdir()
        else:
            (tmp_path / "outside.md").write_text("- x\n", "utf-8")
            file.symlink_to(tmp_path / "outside.md")
        lost = {one.id: one.how for one in palace.overwritten()}
        assert lost == {stored.id: "missing", kept.id: "missing"}
        assert palace.recover(kept.id).text == NEW
        with pytest.raises(PalaceError):
            palace.recover(stored.id)
