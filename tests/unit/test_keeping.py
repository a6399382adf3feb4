"""Tags, links, keys, undo, history: what can be done with memories that are there."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from palace import (
    ConfigError,
    Conflict,
    Memory,
    MemoryNotFoundError,
    Mempalace,
    RetrievalEnforcer,
    TextRefusedError,
    WriteConflictError,
    agent_tools,
)

PORT = "The staging database listens on port 5432."
NEW_PORT = "The staging database listens on port 5433."
ASKED = "Which port does the staging database listen on?"


def stored(palace: Mempalace, text: str = PORT, **fields: Any) -> Memory:
    return palace.remember(text, **{"room": "infra", "drawer": "ports", **fields}).memory


def by_hand(palace: Mempalace, text: str, path: str = "rooms/infra/hand.md") -> Path:
    file = palace.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    palace.refresh()
    return file


# -- tags ---------------------------------------------------------------------------------------


def test_tags_come_and_go_beside_the_words(palace):
    memory = stored(palace, tags=["draft"])
    tagged = palace.tag(memory.id, ["#db", "release/4"], remove=["draft"])
    assert (set(tagged.tags), tagged.text) == ({"db", "release/4"}, PORT)
    assert palace.tag(memory.id, ["db"]) == palace.get(memory.id)


def test_a_tag_in_the_words_or_of_the_drawer_is_not_removed(palace):
    by_hand(palace, "---\ntags: [all]\n---\n- The lamp is green. #light\n")
    (memory,) = palace.memories(room="infra")
    assert set(memory.tags) == {"light", "all"}
    for tag in ("light", "all", "never"):
        with pytest.raises(ConfigError):
            palace.tag(memory.id, remove=[tag])


def test_what_stands_in_code_is_no_part_of_the_words(palace):
    memory = stored(palace, "Write `an #deploy and [[infra/ports]]` into the title.")
    palace.tag(memory.id, ["deploy"])
    assert palace.link(memory.id, "infra/ports").links == ("infra/ports",)
    assert palace.link(memory.id, "infra/ports", remove=True).links == ()
    assert palace.tag(memory.id, remove=["deploy"]).tags == ()


@pytest.mark.parametrize("tag", ["", "#", "a b", "123", "a,b", "--"])
def test_what_is_no_tag_is_refused(palace, tag):
    memory = stored(palace)
    with pytest.raises(ConfigError):
        palace.tag(memory.id, [tag])


# -- links --------------------------------------------------------------------------------------


def test_a_link_is_followed_in_both_directions_and_to_what_replaced_its_target(palace):
    port, lamp = stored(palace), stored(palace, "The lamp in the hall is green.")
    palace.link(port.id, lamp.id)
    assert [m.id for m in palace.linked(port.id)] == [lamp.id]
    assert [m.id for m in palace.linked(lamp.id)] == [port.id]
    new = palace.correct(lamp.id, "The lamp in the hall is red.").memory
    assert [m.id for m in palace.linked(port.id)] == [new.id]
    palace.link(port.id, lamp.id, remove=True)
    assert palace.linked(port.id) == []


def test_what_replaces_a_memory_has_its_links_in_both_directions(palace):
    port, lamp = stored(palace), stored(palace, "The lamp in the hall is green.")
    hall = stored(palace, "The hall is cold, see [[inbox/notes]].")
    for source, target in ((port, lamp), (lamp, hall)):
        palace.link(source.id, target.id)
    new = palace.correct(lamp.id, "The lamp in the hall is red.").memory
    assert new.links == (hall.id,)
    assert {m.id for m in palace.linked(new.id)} == {port.id, hall.id}
    assert palace.correct(hall.id, "The hall is warm, see [[inbox/notes]].").memory.links == (
        "inbox/notes",
    )
    palace.undo()
    palace.undo()
    assert {m.id for m in palace.linked(lamp.id)} == {port.id, hall.id}


def test_a_new_value_of_a_key_keeps_what_stands_beside_the_words(palace):
    lamp = stored(palace)
    first = palace.remember("Wages are paid on the 25th.", key="wages", triggers=["wages"])
    palace.tag(first.memory.id, ["office"])
    palace.link(first.memory.id, lamp.id)
    second = palace.remember("Wages are paid on the 26th.", key="wages").memory
    assert (second.triggers, second.tags, second.links) == (("wages",), ("office",), (lamp.id,))
    third = palace.remember("Wages are paid on the 27th.", key="wages", triggers=["pay"]).memory
    assert (third.triggers, third.tags) == (("pay",), ("office",))


def test_a_drawer_is_linked_by_its_name_in_the_words_or_beside_them(palace):
    lamp = stored(palace, "The lamp is green.", room="house", drawer="light")
    said = stored(palace, "The cable is old, see [[house/light]].")
    beside = palace.link(stored(palace).id, "house/light")
    assert beside.links == ("house/light",)
    for memory in (said, beside):
        assert [m.id for m in palace.linked(memory.id)] == [lamp.id]
    assert {m.id for m in palace.linked(lamp.id)} == {said.id, beside.id}
    with pytest.raises(ConfigError, match="words"):
        raise_hint(lambda: palace.link(said.id, "house/light", remove=True))
    with pytest.raises(MemoryNotFoundError):
        palace.link(beside.id, "house/nowhere")
    with pytest.raises(ConfigError):
        palace.link(beside.id, beside.id)


def test_a_link_leads_to_a_memory_that_is_there_by_any_id_it_had(palace: Mempalace) -> None:
    by_hand(palace, "- The lamp is green.\n- The cable is old.\n")
    lamp, cable = palace.memories(room="infra")
    now = palace.tag(lamp.id, ["hall"])  # a change writes a lasting id to the file
    assert palace.link(cable.id, lamp.id).links == (now.id,)
    with pytest.raises(MemoryNotFoundError, match="no memory has the id 'm-nowhere'"):
        palace.link(now.id, "m-nowhere")


def raise_hint(call: Any) -> None:
    try:
        call()
    except ConfigError as error:
        raise ConfigError(f"{error}") from None


def test_linking_a_hand_written_memory_gives_it_an_id_and_changes_nothing_else(palace):
    file = by_hand(palace, "# Hall\r\n\r\n- The lamp is green.\r\n- The cable is old.\r\n")
    lamp, cable = palace.memories(room="infra")
    linked = palace.link(cable.id, lamp.id)
    assert linked.links[0].startswith("m-")
    kept = [s for s in file.read_bytes().split(b"\r\n") if b"<!-- memory" not in s]
    assert kept == [b"# Hall", b"", b"- The lamp is green.", b"- The cable is old.", b""]


# -- keys ---------------------------------------------------------------------------------------


def test_a_key_holds_one_value_and_the_older_ones_stay_readable(palace):
    first = palace.remember("The user wants answers in German.", key="user_language_pref").memory
    second = palace.remember("Answers go out in French.", key="user_language_pref").memory
    active = [m for m in palace.memories() if m.key == "user_language_pref"]
    assert [m.id for m in active] == [second.id]
    assert palace.get(first.id).superseded_by == second.id
    assert [m.id for m in palace.history(second.id).versions] == [first.id, second.id]
    assert (second.room, second.drawer) == (first.room, first.drawer)


def test_a_new_value_stands_where_the_old_one_stood_unless_told_otherwise(palace):
    stored(palace, key="port")
    assert palace.remember("It listens on 6000.", key="port").memory.path == "rooms/infra/ports.md"
    moved = palace.remember("It listens on 6001.", key="port", room="attic").memory
    assert moved.room == "attic"
    assert [m.text for m in palace.memories() if m.key] == ["It listens on 6001."]


def test_the_same_value_again_is_a_duplicate_and_scopes_are_apart(palace):
    stored(palace, key="port")
    assert palace.remember(PORT, key="port").status == "duplicate"
    assert palace.remember(NEW_PORT, key="port", project="site").status == "stored"
    assert {m.text for m in palace.memories() if m.key == "port"} == {PORT, NEW_PORT}


def test_an_agent_does_not_overwrite_the_value_a_person_set(palace):
    stored(palace, key="port")
    result = palace.remember(NEW_PORT, key="port", source="agent")
    assert isinstance(result, Conflict)
    assert [m.text for m in palace.memories()] == [PORT]
    result = palace.remember(NEW_PORT, key="port", source="agent", on_conflict="supersede")
    assert isinstance(result, Conflict)
    palace.remember(NEW_PORT, key="port", source="user")
    assert [m.text for m in palace.memories()] == [NEW_PORT]


@pytest.mark.parametrize(
    ("holder", "newer", "stored_text"),
    [
        ("agent", "system", PORT),
        ("system", "system", NEW_PORT),
        ("system", "agent", NEW_PORT),
        ("agent", "agent", NEW_PORT),
        ("agent", "user", NEW_PORT),
    ],
)
def test_a_key_goes_to_a_word_that_counts_as_much(palace, holder, newer, stored_text):
    stored(palace, key="port", source=holder)
    result = palace.remember(NEW_PORT, key="port", source=newer)
    assert [m.text for m in palace.memories()] == [stored_text]
    assert getattr(result, "stronger", "new") == ("stored" if stored_text == PORT else "new")


def test_a_key_that_two_hold_by_hand_has_one_value_again(palace):
    file = palace.root / "rooms" / "infra" / "hand.md"
    file.parent.mkdir(parents=True)
    held = "- Port {0} is open.\n  <!-- memory id=m-{0} key=port -->\n"
    file.write_text(held.format(80) + held.format(81), encoding="utf-8")
    palace.refresh()
    value = palace.remember("Port 80 is open.", key="port").memory
    assert [m.id for m in palace.memories()] == [value.id]


def test_blanks_around_a_key_are_none_of_it(palace):
    stored(palace, key=" port ")
    assert palace.remember(PORT, key="port").memory.key == "port"
    assert len(palace.memories()) == 1


def test_a_keyed_value_takes_over_the_same_words_without_a_key(palace):
    plain = stored(palace)
    other = stored(palace, "The staging database is backed up on port days.")
    keyed = palace.remember(PORT, key="port").memory
    assert {m.id for m in palace.memories()} == {keyed.id, other.id}
    assert palace.get(plain.id).superseded_by == keyed.id


@pytest.mark.parametrize(
    "key", ["", " ", "a b", "-x", "x-", "a--b", "ab-", "k" * 81, "a\nb", 'a"b']
)
def test_what_is_no_key_is_refused(palace, key):
    with pytest.raises(ConfigError):
        palace.remember(PORT, key=key)
    assert palace.memories() == []


def test_a_correction_keeps_the_key(palace):
    memory = stored(palace, key="port")
    assert palace.correct(memory.id, NEW_PORT).memory.key == "port"


# -- corrections and copies ---------------------------------------------------------------------


def test_a_correction_takes_the_copies_of_the_wrong_words_with_it(palace):
    by_hand(palace, f"- {PORT}\n", "rooms/infra/a.md")
    by_hand(palace, f"- {PORT.upper()}\n", "rooms/infra/b.md")
    old = palace.memories(room="infra", drawer="a")[0]
    new = palace.correct(old.id, NEW_PORT).memory
    assert [m.id for m in palace.memories()] == [new.id]
    assert {m.superseded_by for m in palace.memories(include_inactive=True)} == {"", new.id}
    assert "5432" not in RetrievalEnforcer(palace).decide(ASKED).text


# -- undo ---------------------------------------------------------------------------------------


def test_undo_takes_back_the_last_change_and_then_the_one_before(palace):
    old = stored(palace)
    palace.correct(old.id, NEW_PORT)
    done = palace.undo()
    assert (done.verb, [m.text for m in palace.memories()]) == ("correction", [PORT])
    assert palace.get(old.id).retired is None
    assert palace.undo().removed == (old.id,)
    assert palace.memories() == []
    with pytest.raises(MemoryNotFoundError):
        palace.undo()


def test_undo_takes_back_what_was_done_last_though_the_clock_was_set_back(palace, monkeypatch):
    days = iter(datetime(2026, *day, tzinfo=timezone.utc) for day in ((12, 1), (11, 30), (11, 30)))
    monkeypatch.setattr("palace.store.journal.utc_now", lambda: next(days))
    stored(palace)
    last = stored(palace, "The lift is repaired in May.")
    assert palace.undo().removed == (last.id,)


def test_undo_goes_on_behind_what_was_erased(palace):
    first = stored(palace)
    second = stored(palace, "The lift is repaired in May.")
    palace.correct(second.id, "The lift is repaired in June.")
    palace.erase(second.id)
    assert palace.undo().removed == (first.id,)
    with pytest.raises(MemoryNotFoundError, match="no change to take back"):
        palace.undo()


@pytest.mark.parametrize("end", ["\n", ""])
def test_undo_makes_a_hand_written_file_what_it_was_byte_for_byte(palace, end):
    text = f"# Hall\n\n- The lamp is green.\n\nThe cable is old.{end}"
    file = by_hand(palace, text)
    lamp, cable = palace.memories(room="infra")
    palace.forget(lamp.id)
    palace.tag(cable.id, ["old"])
    palace.undo()
    palace.undo()
    assert file.read_text("utf-8") == text
    assert palace.memories(room="infra") == [lamp, cable]


@pytest.mark.parametrize("text", ["- The lamp is green.", "# Hall\r\n\r\nThe lamp is green."])
def test_undo_of_what_was_added_leaves_no_line_end_behind(palace, text):
    file = by_hand(palace, text)
    for words in ("The cable is old.", "The stairs creak."):
        palace.remember(words, room="infra", drawer=file.stem)
    palace.undo()
    palace.undo()
    assert file.read_bytes().decode() == text


def test_undo_of_what_was_added_parts_what_was_written_below_it(palace):
    file = by_hand(palace, "- The lamp is green.")
    palace.remember("The cable is old.", room="infra", drawer=file.stem)
    with file.open("a") as end:
        end.write("- The stairs creak.\n")
    palace.undo()
    assert file.read_text() == "- The lamp is green.\n- The stairs creak.\n"


@pytest.mark.parametrize(
    "text",
    [
        "# Hall\n\nThe lamp is green.\n",
        "# Hall\n\nThe lamp is green.",
        "- The lamp is green.",
        "The lamp is green.\r\n\r\nThe cable is old.\r\n",
        "- The lamp is green.\n\n## Cellar\n\nThe cable is old.\n",
        "The lamp is green.\n\n- The cable is old.\n\n",
    ],
)
def test_undo_of_a_correction_leaves_no_line_behind(palace, text):
    file = by_hand(palace, text)
    lamp = palace.memories(room="infra")[0]
    palace.correct(lamp.id, "The lamp is red.")
    palace.undo()
    assert file.read_bytes().decode() == text


def test_undo_goes_on_behind_what_was_taken_out_by_hand(palace):
    port, lamp = stored(palace), stored(palace, "The lamp is green.")
    palace.forget(lamp.id)
    file = palace.root / lamp.path
    file.write_text(file.read_text("utf-8").partition("- The lamp")[0], encoding="utf-8")
    palace.refresh()
    done = [palace.undo() for _ in range(3)]
    assert [(d.verb, d.removed, d.restored) for d in done] == [
        ("forget", (), ()),
        ("remember", (lamp.id,), ()),
        ("remember", (port.id,), ()),
    ]


def test_a_correction_whose_new_words_were_taken_out_by_hand_is_taken_back(palace):
    old = stored(palace)
    new = palace.correct(old.id, NEW_PORT).memory
    file = palace.root / new.path
    file.write_text(file.read_text("utf-8").partition(f"- {NEW_PORT}")[0], encoding="utf-8")
    palace.refresh()
    done = palace.undo()
    assert (done.removed, [m.id for m in done.restored]) == ((new.id,), [old.id])
    assert [m.text for m in palace.memories()] == [PORT]


def test_a_correction_of_what_was_taken_out_by_hand_is_refused_with_what_to_do(palace):
    first = stored(palace, "The lamp is green.")
    new = palace.correct(stored(palace).id, NEW_PORT).memory
    file = palace.root / new.path
    before, _, _ = file.read_text("utf-8").partition(f"- {PORT}")
    _, mark, after = file.read_text("utf-8").partition(f"- {NEW_PORT}")
    file.write_text(before + mark + after, encoding="utf-8")
    palace.refresh()
    with pytest.raises(MemoryNotFoundError, match="by hand") as refused:
        palace.undo()
    assert "palace history" in str(refused.value.hint)
    assert [m.text for m in palace.memories()] == [first.text, NEW_PORT]


def test_a_change_that_was_built_upon_is_not_taken_back_halfway(palace):
    old = stored(palace)
    palace.correct(old.id, NEW_PORT)
    correction = palace.history(old.id).events[-1]["id"]
    new = palace.memories()[0]
    palace.tag(old.id, ["seen"])
    before = (palace.root / old.path).read_bytes()
    with pytest.raises(WriteConflictError):
        palace.undo(correction)
    assert (palace.root / old.path).read_bytes() == before
    palace.undo()
    palace.undo(correction)
    assert [m.id for m in palace.memories()] == [old.id]
    with pytest.raises(MemoryNotFoundError, match="already"):
        palace.undo(correction)
    with pytest.raises(MemoryNotFoundError):
        palace.get(new.id)


def test_words_a_person_edited_since_are_not_taken_away(palace):
    memory = stored(palace)
    file = palace.root / memory.path
    file.write_text(file.read_text("utf-8").replace("5432", "7000"), encoding="utf-8")
    with pytest.raises(WriteConflictError):
        palace.undo()
    assert "7000" in file.read_text("utf-8")


def test_undo_of_a_key_brings_the_old_value_back(palace):
    first = stored(palace, key="port")
    palace.remember(NEW_PORT, key="port")
    palace.undo()
    assert [m.id for m in palace.memories()] == [first.id]


def test_the_doctor_leaves_nothing_to_take_back(palace):
    memory = stored(palace)
    palace.doctor()
    assert palace.undo().removed == (memory.id,)


# -- history ------------------------------------------------------------------------------------


def test_history_is_the_same_from_every_version(palace):
    first = stored(palace)
    second = palace.correct(first.id, NEW_PORT, reason="moved").memory
    third = palace.correct(second.id, "The staging database listens on port 5434.").memory
    for memory in (first, second, third):
        past = palace.history(memory.id)
        assert [m.id for m in past.versions] == [first.id, second.id, third.id]
        assert [e["type"] for e in past.events] == ["remember", "correction", "correction"]
    assert all(m.retired is not None for m in past.versions[:2])


# -- agents -------------------------------------------------------------------------------------


def test_an_agent_tags_links_and_keys_with_the_tools_there_are(palace):
    tools = {tool.name: tool for tool in agent_tools(palace, session_id="s1")}
    assert len(tools) == 8
    lamp = tools["palace_remember"](text="The lamp is green.", key="lamp", tags=["light"])
    port = tools["palace_remember"](text=PORT)["memory"]["id"]
    done = tools["palace_correct"](memory_id=port, add_tags=["db"], link_to=lamp["memory"]["id"])
    assert (done["status"], done["memory"]["tags"]) == ("changed", ["db"])
    read = tools["palace_read"](memory_id=port)
    assert [m["text"] for m in read["linked"]] == ["The lamp is green."]
    assert tools["palace_correct"](memory_id=port)["status"] == "invalid"
    assert tools["palace_correct"](memory_id=port, add_tags="db")["status"] == "invalid"
    assert tools["palace_correct"](memory_id=port, add_tags=[1])["status"] == "invalid"


def test_an_agent_cannot_link_to_what_it_may_not_see(palace):
    hidden = stored(palace, project="other")
    port = stored(palace, NEW_PORT)
    tools = {tool.name: tool for tool in agent_tools(palace)}
    result = tools["palace_correct"](memory_id=port.id, link_to=hidden.id)
    assert result["status"] == "not_found"
    palace.link(port.id, hidden.id)
    assert tools["palace_read"](memory_id=port.id)["linked"] == []


def test_playbooks_are_left_alone(palace):
    file = palace.root / "playbooks" / "deploy.md"
    file.parent.mkdir()
    file.write_text("# Deploy\n\n1. Push.\n", encoding="utf-8")
    palace.refresh()
    (found,) = palace.search("deploy", layer="L4")
    for call in (palace.tag, palace.erase):
        with pytest.raises(TextRefusedError):
            call(found.memory.id, **({"add": ["x"]} if call == palace.tag else {}))
    assert file.exists()


def test_a_derived_id_is_known_after_a_change_wrote_another_one(tmp_path: Path) -> None:
    drawer = tmp_path / "p" / "rooms" / "desk" / "notes.md"
    drawer.parent.mkdir(parents=True)
    drawer.write_text("- The port is 80.\n- The lamp is red.\n- The lamp is red.\n", "utf-8")
    with Mempalace.open(tmp_path / "p") as palace:
        port, *lamps = palace.memories()
        palace.tag(lamps[1].id, add=["light"])
        palace.correct(port.id, "The port is 81.")
        retired, tagged = palace.get(port.id), palace.get(lamps[1].id)
        assert (retired.text, retired.status) == ("The port is 80.", "inactive")
        assert (tagged.line, tagged.tags) == (lamps[1].line + 3, ("light",))
        moved = replace(lamps[0], line=lamps[0].line + 3, position=lamps[0].position + 1)
        assert palace.get(lamps[0].id) == moved
        texts = [m.text for m in palace.history(port.id).versions]
        assert texts == ["The port is 80.", "The port is 81."]
        with pytest.raises(MemoryNotFoundError):
            palace.get("d-0123456789abcdef")
