from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from datetime import datetime, timedelta, timezone

import pytest

from palace.errors import (
    MemoryNotFoundError,
    StoreError,
    StoreUnavailableError,
    UnsafeNameError,
    WriteConflictError,
)
from palace.ports import DrawerStore
from palace.store.rooms import RoomStore
from palace.types.memory import Draft
from palace.types.session import ConversationTurn

NOW = datetime(2026, 5, 7, 14, 30, tzinfo=timezone.utc)


def _store(root, **options) -> DrawerStore:
    return RoomStore(root, clock=lambda: NOW, **options)


@pytest.fixture
def store(tmp_path):
    return _store(tmp_path / "palace")


def _put(store, path, text):
    file = store.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())


def _turn(text, *, minute=0, session="s-1", speaker="Ann", day=8):
    at = datetime(2023, 5, day, 13, tzinfo=timezone.utc) + timedelta(minutes=minute)
    return ConversationTurn(session=session, speaker=speaker, text=text, at=at)


def test_an_added_memory_is_in_its_drawer(store):
    draft = Draft(
        "Deploys run from main. #deploy", tags=("deploy", "ci"), confidence=0.9, task="T 1"
    )
    memory = store.add(draft, room="work/fleet", drawer="My Config")
    file = store.root / "rooms" / "work" / "fleet" / "My-Config.md"
    assert file.read_text() == (
        "# My Config\n\n- Deploys run from main. #deploy\n"
        f"  <!-- memory id={memory.id} kind=fact source=user tags=ci confidence=0.9"
        ' created=2026-05-07T14:30:00Z task="T 1" -->\n'
    )
    assert memory.id.startswith("m-")
    assert len(memory.id) == 28
    assert (memory.path, memory.line) == ("rooms/work/fleet/My-Config.md", 3)
    assert (memory.room, memory.drawer, memory.title) == ("work/fleet", "My-Config", "My Config")
    assert memory.tags == ("ci", "deploy")
    assert store.read(memory.path).memories == (memory,)


def test_every_field_of_a_draft_is_kept(store):
    draft = Draft(
        text="x", kind="negative", scope="project:p", trust="agent", provenance="a chat", tags=("t",),
        importance=0.75, confidence=0.25, created=NOW - timedelta(days=1), valid_from=NOW,
        valid_to=NOW + timedelta(days=1), triggers=("deploy now",), project="p", task="t", session="s",
        reason="because -- so", id="m-01M80G4BGG9P4VXKNJXS6QET6M",
    )  # fmt: skip
    memory = store.add(draft, room="a", drawer="b")
    for name in set(Draft.__slots__) - {"behind"}:
        assert getattr(memory, name) == getattr(draft, name)


def test_a_name_means_what_is_there_whatever_its_case(store):
    _put(store, "rooms/Work Notes/Über.MD", "- by hand\n")
    for room, drawer in (
        ("work notes", "über"),
        ("Work Notes", "U\u0308ber.md"),
        ("WORK NOTES", "ÜBER"),
    ):
        memory = store.add(Draft("x"), room=room, drawer=drawer)
        assert memory.path == "rooms/Work Notes/Über.MD"
    assert len(store.read("rooms/Work Notes/Über.MD").memories) == 4
    assert store.rooms() == ["Work Notes"]
    assert store.drawers("work notes") == ["Über"]


def test_unsafe_names_are_refused_before_anything_is_written(store):
    for room, drawer in (
        ("../x", "a"),
        ("a", "../x"),
        ("a", ""),
        ("/a", "b"),
        ("a", "CON"),
        (".palace", "x"),
    ):
        with pytest.raises(UnsafeNameError, match=r"^the (room|drawer) name"):
            store.add(Draft("x"), room=room, drawer=drawer)
    assert store.scan() == []
    with pytest.raises(StoreError, match="empty"):
        store.add(Draft("  "), room="a", drawer="b")


@pytest.mark.parametrize(
    "path",
    [
        "rooms/top.md",
        "rooms/timeline/plans.md",
        "rooms/playbooks/plays.md",
        "rooms/a/b/c/d/e/f/g/h/i/deep.md",
        "rooms/aux/con.md",
        "rooms/so\u00adft/hy\u00adphen.md",
        "rooms/① first/Ⅳ.md",
        "rooms/a blank behind /  before.md",
        "rooms/ before/x.md",
    ],
)
def test_what_a_person_named_is_written_to_as_it_is_named(store, path):
    _put(store, path, "- The gate is green.\n")
    memory = store.read(path).memories[0]
    assert memory.room in store.rooms()
    assert memory.room not in {"", "timeline", "playbooks"}
    assert store.drawers(memory.room) == [memory.drawer]
    assert store.add(Draft("The gate is red."), room=memory.room, drawer=memory.drawer).path == path
    assert store.create_room(memory.room) == memory.room


def test_two_rooms_that_look_alike_are_two(store):
    for room in ("x2", "x²"):
        _put(store, f"rooms/{room}/notes.md", f"- In {room}.\n")
    assert store.add(Draft("New."), room="x²", drawer="notes").path == "rooms/x²/notes.md"
    assert store.add(Draft("New."), room="x2", drawer="notes").path == "rooms/x2/notes.md"


def test_rooms_and_drawers_are_made_once(store):
    assert store.create_room("Big Plans/2026") == "Big-Plans/2026"
    assert store.create_room("big plans/2026") == "Big-Plans/2026"
    path = "rooms/ideas/first.md"
    _put(store, path, '---\ntitle: "My: first"\ntags: [a b, c]\n---\n')
    for room, drawer in (("ideas", "first"), ("Ideas", "First")):
        assert store.add(Draft("x"), room=room, drawer=drawer).path == path
    document = store.read(path)
    assert (document.title, document.tags) == ("My: first", ("a b", "c"))
    assert document.memories[0].tags == ("a b", "c")
    assert store.rooms() == ["Big-Plans", "Big-Plans/2026", "ideas"]
    assert store.drawers("ideas") == ["first"]
    with pytest.raises(MemoryNotFoundError):
        store.drawers("none")


def test_scan_finds_memory_files_only(store, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("- secret\n")
    for path in ("rooms/a/b.md", "rooms/top.md", "rooms/a/c/d.MD", "timeline/2023-05-08.md"):
        _put(store, path, "- x\n")
    for path in (
        "rooms/a/.hidden.md",
        "rooms/a/~$b.md",
        "rooms/.git/x.md",
        "rooms/a/x.txt",
        "playbooks/p.md",
        "rooms/a/e\\f.md",
    ):
        _put(store, path, "- x\n")
    (store.root / "rooms" / "out.md").symlink_to(outside)
    (store.root / "rooms" / "gone.md").symlink_to(store.root / "nothing.md")
    (store.root / "rooms" / "loop").symlink_to(store.root / "rooms")
    (store.root / "rooms" / "linked.md").symlink_to(store.root / "rooms" / "a" / "b.md")
    assert [stamp.path for stamp in store.scan()] == [
        "rooms/a/b.md", "rooms/a/c/d.MD", "rooms/top.md", "timeline/2023-05-08.md",
    ]  # fmt: skip
    stamp = store.scan()[0]
    assert (stamp.size, stamp.mtime_ns) == (4, (store.root / stamp.path).stat().st_mtime_ns)
    assert {fault.path for fault in store.faults()} == {
        "rooms/a/e\\f.md",
        "rooms/gone.md",
        "rooms/out.md",
    }
    assert store.read("rooms/top.md").memories[0].room == "."
    with pytest.raises(UnsafeNameError):
        store.read("rooms/out.md")
    with pytest.raises(MemoryNotFoundError):
        store.read("rooms/none.md")


def test_nonsense_in_a_file_is_a_fault(store):
    _put(store, "rooms/a/b.md", b"---\ntitle: [\n---\n- caf\xe9 <!-- memory kind=x -->\n")
    document = store.read("rooms/a/b.md")
    assert len(document.memories) == 1
    assert [fault.line for fault in document.faults] == [4, 2, 4]
    assert store.faults() == list(document.faults)


def test_a_hand_written_memory_gets_an_id_when_it_is_updated(store):
    _put(store, "rooms/a/b.md", "- one\r\n- two\r\n")
    second = store.read("rooms/a/b.md").memories[1]
    done = store.update(second, status="inactive", superseded_by="m-new", trust="agent")
    assert done.id.startswith("m-")
    assert (done.text, done.status, done.superseded_by, done.trust) == (
        "two",
        "inactive",
        "m-new",
        "agent",
    )
    assert (store.root / "rooms/a/b.md").read_bytes().decode() == (
        f"- one\r\n- two\r\n  <!-- memory id={done.id} source=agent status=inactive superseded_by=m-new"
        " retired=2026-05-07T14:30:00Z -->\r\n"
    )
    again = store.update(done, status="active", superseded_by="", tags=["x"])
    assert (again.id, again.status, again.tags) == (done.id, "active", ("x",))
    assert store.update(second, confidence=0.5).id == done.id
    for bad in ({"text": "x"}, {"id": "m-2"}, {"confidence": 2}):
        with pytest.raises(ValueError, match=r"\w"):
            store.update(done, **bad)


def test_memories_are_erased(store):
    _put(store, "rooms/a/b.md", "# t\n\npara\n\n- item\n")
    para, item = store.read("rooms/a/b.md").memories
    store.erase(item)
    with pytest.raises(MemoryNotFoundError):
        store.erase(item)
    assert store.read("rooms/a/b.md").memories == (para,)


def test_what_was_reworded_just_now_is_not_erased(store):
    told = store.add(Draft("The lamp is green."), room="a", drawer="b")
    file = store.root / told.path
    words = file.read_text().replace("green.", "green, and Ines has the spare bulb.")
    file.write_text(words)
    with pytest.raises(WriteConflictError, match="just now"):
        store.erase(told)
    assert file.read_text() == words


def test_writers_at_the_same_time_lose_nothing(store):
    def write(name):
        mine = _store(store.root)
        for number in range(10):
            mine.add(Draft(f"{name} {number}"), room="a", drawer="b")

    threads = [threading.Thread(target=write, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memories = store.read("rooms/a/b.md").memories
    assert len(memories) == len({memory.id for memory in memories}) == 30
    assert [m.text for m in memories if m.text[0] == "x"] == [f"x {n}" for n in range(10)]


def test_the_timeline_is_grouped_by_day_and_session(store):
    said = [
        _turn("a"),
        _turn("b", session="s-2", minute=1),
        _turn("c", minute=2),
        _turn("d", day=9),
    ]
    assert store.append_timeline(said) == ["timeline/2023-05-08.md", "timeline/2023-05-09.md"]
    assert (store.root / "timeline/2023-05-08.md").read_text() == (
        "# 2023-05-08\n\n## s-1\n[2023-05-08 13:00] Ann: a\n[2023-05-08 13:02] Ann: c\n"
        "\n## s-2\n[2023-05-08 13:01] Ann: b\n"
    )
    assert store.append_timeline(said) == []
    assert store.append_timeline([_turn("e", minute=3), *said]) == ["timeline/2023-05-08.md"]
    found = store.read("timeline/2023-05-08.md").memories
    assert [(m.session, m.text) for m in found] == [
        ("s-1", "a"),
        ("s-1", "c"),
        ("s-1", "e"),
        ("s-2", "b"),
    ]
    assert {m.kind for m in found} == {"event"}


def test_equal_turns_are_counted(store):
    assert store.append_timeline([_turn("yes"), _turn("yes")]) == ["timeline/2023-05-08.md"]
    assert store.append_timeline([_turn("yes")]) == []
    assert store.append_timeline([_turn("yes")] * 3) == ["timeline/2023-05-08.md"]
    found = store.read("timeline/2023-05-08.md").memories
    assert [m.text for m in found] == ["yes"] * 3
    assert len({m.id for m in found}) == 3
    assert store.append_timeline([_turn("  \n")]) == []


def test_a_persons_timeline_page_is_only_added_to(store):
    page = "# A day\r\n\r\nSomething happened.\r\n\r\n## s-1\r\n- a summary\r\n\r\n  ## indented"
    _put(store, "timeline/2023-05-08.md", page)
    said = [
        _turn("a"),
        _turn("b", session="indented"),
        _turn("c", session=""),
        _turn("d", session="x #"),
    ]
    store.append_timeline(said)
    assert store.append_timeline(said) == []
    text = (store.root / "timeline/2023-05-08.md").read_bytes().decode()
    for line in page.split("\r\n"):
        assert line in text
    found = store.read("timeline/2023-05-08.md").memories
    assert {("s-1", "a"), ("indented", "b"), ("", "c"), ("x #", "d")} <= {
        (m.session, m.text) for m in found
    }
    assert "\n" not in text.replace("\r\n", "")


def test_a_long_history_is_written_in_seconds(store):
    said = [
        _turn(
            f"turn number {n}\nwith a second line",
            minute=n % 600,
            session=f"s-{n % 50}",
            day=1 + n % 28,
        )
        for n in range(6000)
    ]
    began = time.process_time()
    assert len(store.append_timeline(said)) == 28
    assert store.append_timeline(said) == []
    assert time.process_time() - began < 8
    found = [m for stamp in store.scan() for m in store.read(stamp.path).memories]
    assert Counter(m.text for m in found) == Counter(turn.text for turn in said)


def test_a_thousand_files_are_scanned_at_once(store):
    folder = store.root / "rooms" / "many"
    folder.mkdir(parents=True)
    for number in range(1000):
        (folder / f"{number}.md").write_text("- x\n")
    began = time.process_time()
    assert len(store.scan()) == 1000
    assert time.process_time() - began < 0.5


def test_a_stamp_is_what_a_scan_says(tmp_path):
    store = RoomStore(tmp_path)
    memory = store.add(Draft("The kettle is blue."), room="desk", drawer="notes")
    assert [store.stamp(memory.path)] == store.scan()
    (tmp_path / memory.path).unlink()
    assert store.stamp(memory.path) is None
    with pytest.raises(UnsafeNameError):
        store.stamp("../elsewhere.md")


@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need rights there")
def test_a_room_keeps_its_own_name_beside_links_to_it(store):
    rooms = store.root / "rooms"
    rooms.mkdir(parents=True)
    for number in range(12):  # made before and after it: a folder is listed in no order
        (rooms / f"before-{number}").symlink_to("pets")
    _put(store, "rooms/pets/deep/cat.md", "- The cat is called Minka.\n")
    for number in range(12):
        (rooms / f"after-{number}").symlink_to("pets")
    assert [stamp.path for stamp in store.scan()] == ["rooms/pets/deep/cat.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need rights there")
def test_a_drawer_keeps_its_own_name_beside_links_to_it(store):
    _put(store, "rooms/pets/cat.md", "- The cat is called Minka.\n")
    _put(store, "shared/dog.md", "- The dog is called Bello.\n")
    (store.root / "rooms/a.md").symlink_to("pets/cat.md")
    for name in ("rooms/pets/e.md", "rooms/pets/d.md"):
        (store.root / name).symlink_to("../../shared/dog.md")
    assert [stamp.path for stamp in store.scan()] == ["rooms/pets/cat.md", "rooms/pets/d.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need rights there")
def test_what_is_written_through_a_link_stands_in_the_file_by_its_own_name(store):
    _put(store, "rooms/pets/cat.md", "- The cat is called Minka.\n")
    _put(store, "shared/dog.md", "- The dog is called Bello.\n")
    (store.root / "rooms/pets/tom.md").symlink_to("cat.md")
    (store.root / "rooms/beasts").symlink_to("pets")
    (store.root / "rooms/pets/dog.md").symlink_to("../../shared/dog.md")
    for room, drawer, path in (
        ("pets", "tom", "rooms/pets/cat.md"),
        ("beasts", "cat", "rooms/pets/cat.md"),
        ("beasts", "new", "rooms/pets/new.md"),
        ("pets", "dog", "rooms/pets/dog.md"),
    ):
        added = store.add(Draft(f"Said of {drawer} in {room}."), room=room, drawer=drawer)
        assert added.path == path
        assert added.path in [stamp.path for stamp in store.scan()]


@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need rights there")
def test_a_link_that_leads_to_itself_is_named_and_stops_nothing_else(store):
    _put(store, "rooms/pets/cat.md", "- The cat is called Minka.\n")
    for name in ("Dog.md", "birds"):
        (store.root / "rooms/pets" / name).symlink_to(name)
    for room, drawer in (("pets", "Dog"), ("pets/birds", "coco")):
        with pytest.raises(StoreUnavailableError, match="symbolic links") as refused:
            store.add(Draft("x"), room=room, drawer=drawer)
        assert refused.value.hint == "a link leads to itself: remove it"
    assert store.add(Draft("The cat sleeps."), room="Pets", drawer="CAT").path.endswith("cat.md")


def test_a_drawer_is_meant_by_the_name_it_is_listed_by(store):
    """Some programs hide the suffix of a file, and people write it once more."""
    _put(store, "rooms/a/b.md.md", "- The kettle costs 40 euros.\n")
    _put(store, "rooms/a/b.md", "- The cat is called Minka.\n")
    assert store.drawers("a") == ["b", "b.md"]
    for drawer, path in (("b.md", "b.md.md"), ("b", "b.md"), ("c.md", "c.md")):
        added = store.add(Draft(f"Said in {drawer}."), room="a", drawer=drawer)
        assert added.path == f"rooms/a/{path}"


def test_a_note_that_is_in_the_cloud_alone_is_named(store):
    _put(store, "rooms/a/b.md", "- x\n")
    _put(store, "rooms/a/.c.md.icloud", b"bplist00")
    _put(store, "rooms/a/.d.txt.icloud", b"bplist00")
    assert [stamp.path for stamp in store.scan()] == ["rooms/a/b.md"]
    (fault,) = store.faults()
    assert (fault.path, "download it" in fault.message) == ("rooms/a/c.md", True)
