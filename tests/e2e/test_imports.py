"""What people have elsewhere comes in through the real doors, once, and says what it left out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from palace import ConfigError, Mempalace

KEY = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def root(here: Path) -> Path:
    return here


def put(folder: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, (str, bytes)) else json.dumps(content)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def canonical(palace: Mempalace) -> dict[str, bytes]:
    files = (path for path in palace.root.rglob("*.md") if ".palace" not in path.parts)
    return {str(path.relative_to(palace.root)): path.read_bytes() for path in files}


def taken(palace: Mempalace, source: Path, **options: Any):
    """Import three times: dry, for real, again; the first writes nothing, the last adds nothing."""
    before = canonical(palace)
    tried = palace.import_from(source, dry_run=True, **options)
    assert canonical(palace) == before
    steps: list[tuple[int, int]] = []
    done = palace.import_from(source, progress=lambda *step: steps.append(step), **options)
    assert (tried.dry_run, tried.added, tried.unchanged) == (True, done.added, done.unchanged)
    assert (tried.refused, tried.redacted, tried.ignored) == (
        (done.refused, done.redacted, done.ignored)
    )
    after = canonical(palace)
    again = palace.import_from(source, **options)
    assert (again.added, again.paths) == (0, ())
    assert again.unchanged == done.added + done.unchanged
    assert canonical(palace) == after
    assert steps
    assert all(done <= to_do for done, to_do in steps)
    return done


# ChatGPT


def message(role: str, *parts: object, at: float | None = 1_778_248_560.0, **more: object) -> dict:
    kind = "text" if all(isinstance(part, str) for part in parts) else "multimodal_text"
    return {
        "id": f"msg-{role}-{len(str(parts))}",
        "author": {"role": role},
        "create_time": at,
        "content": {"content_type": kind, "parts": list(parts)},
        "recipient": "all",
        **more,
    }


def conversation(**changes: object) -> dict:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file://1"}
    nodes = {
        "root": (None, None),
        "a": ("root", message("system", "You are helpful.")),
        "b": ("a", message("user", "Our ferry to Samsø leaves at 06:40.")),
        "old": ("b", message("assistant", "An answer that was thrown away.")),
        "c": ("b", message("assistant", "Noted: the ferry to Samsø leaves at 06:40.", at=None)),
        "d": ("c", message("user", picture, "This is the ticket.", at=1_778_248_700)),
        "e": ("d", message("assistant", "search()", recipient="browser")),
        "f": ("e", message("tool", "results")),
        "g": ("f", message("assistant", "Safe travels.", at=1_778_248_800)),
    }
    mapping = {
        key: {
            "id": key,
            "message": said,
            "parent": parent,
            "children": [k for k, (p, _) in nodes.items() if p == key],
        }
        for key, (parent, said) in nodes.items()
    }
    return {
        "title": "Ferry plans",
        "create_time": 1_778_248_500.0,
        "conversation_id": "6820aaaa-bbbb",
        "mapping": mapping,
        "current_node": "g",
        **changes,
    }


def test_a_chatgpt_export_becomes_timeline(palace: Mempalace, tmp_path: Path):
    more = [conversation(title="", mapping={}), {"title": "broken"}]
    source = put(tmp_path, {"conversations.json": [conversation(), *more]})
    done = taken(palace, source / "conversations.json")
    assert (done.kind, done.unit, done.added) == ("chatgpt", "turns", 4)
    assert [r.reason for r in done.refused] == ["it is no conversation: it has no mapping"]
    assert {r.reason for r in done.ignored} == {"a message of a tool or the system"}
    turns = palace.memories(room="timeline")
    assert [(m.speaker, m.text) for m in turns] == [
        ("user", "Our ferry to Samsø leaves at 06:40."),
        ("assistant", "Noted: the ferry to Samsø leaves at 06:40."),
        ("user", "[image not imported]\n\nThis is the ticket."),
        ("assistant", "Safe travels."),
    ]
    assert {m.session for m in turns} == {"Ferry plans (chatgpt 6820aaaa)"}
    assert {f"{m.created:%Y-%m-%d %H:%M}" for m in turns} == {
        *("2026-05-08 13:56", "2026-05-08 13:58", "2026-05-08 14:00")
    }
    assert turns[0].provenance == "chatgpt:msg-user-40"
    assert "06:40" in palace.search("ferry to Samsø")[0].memory.text


def test_a_file_that_was_attached_leaves_a_mark(palace: Mempalace, tmp_path: Path):
    files = [{"name": "a.pdf", "mime_type": "application/pdf"}, {"mime_type": "image/png"}]
    nodes = {
        "a": message("user", "Sum this up.", metadata={"attachments": files}),
        "b": message("user", "", metadata={"attachments": [*files, 7]}),
    }
    mapping = {
        key: {"message": said, "parent": "a" if key == "b" else None, "children": []}
        for key, said in nodes.items()
    }
    exported = [conversation(mapping=mapping, current_node="b")]
    taken(palace, put(tmp_path, {"conversations.json": exported}) / "conversations.json")
    mark = "[file not imported]"
    assert [m.text for m in palace.memories(room="timeline")] == [
        f"{mark}\n\nSum this up.",
        f"{mark}\n\n{mark}",
    ]


def test_a_chatgpt_folder_and_a_loop_in_its_tree(palace: Mempalace, tmp_path: Path):
    looped = conversation()
    looped["mapping"]["root"]["parent"] = "g"
    put(tmp_path / "export", {"conversations.json": [looped], "chat.html": "<html>"})
    assert taken(palace, tmp_path / "export").added == 4


def test_a_folder_of_conversations_in_another_form_is_not_taken_for_chatgpts(command, tmp_path):
    exported = [{"uuid": "c1", "name": "Party", "turns": [{"text": "At seven."}]}]
    told = command("import", str(put(tmp_path / "export", {"conversations.json": exported})))
    assert told.code == 2
    assert "conversations.json:1: it is JSON of no form I know" in told.err
    assert "supported are" in told.err


def test_what_is_missing_in_a_folder_is_named(palace: Mempalace, tmp_path: Path):
    with pytest.raises(ConfigError, match=r"conversations\.json cannot be read"):
        palace.import_from(tmp_path, form="chatgpt")


def test_a_conversation_that_was_renamed_and_went_on_is_continued(
    palace: Mempalace, tmp_path: Path
):
    taken(palace, put(tmp_path, {"old.json": [conversation()]}) / "old.json")
    later = conversation(title="To Samsø")
    later["mapping"]["more"] = {
        "message": message("user", "We sit on deck 5.", create_time=1_778_350_000.0),
        "parent": "g",
        "children": [],
    }
    later["current_node"] = "more"
    done = taken(palace, put(tmp_path, {"new.json": [later]}) / "new.json")
    assert (done.added, done.unchanged) == (1, 4)
    sessions = {m.session for m in palace.memories(room="timeline")}
    assert sessions == {"Ferry plans (chatgpt 6820aaaa)"}


def test_a_conversation_that_stands_twice_in_an_export_is_taken_once(
    palace: Mempalace, tmp_path: Path
):
    source = put(tmp_path, {"twice.json": [conversation(), conversation()]})
    done = taken(palace, source / "twice.json")
    assert (done.added, len(palace.memories(room="timeline"))) == (4, 4)
    assert "a message that stands there twice" in {r.reason for r in done.ignored}


def test_conversations_without_an_id_are_told_apart_by_their_titles(
    palace: Mempalace, tmp_path: Path
):
    for title in ("First", "Second"):
        exported = conversation(title=title, conversation_id="")
        taken(palace, put(tmp_path, {f"{title}.json": [exported]}) / f"{title}.json")
    assert len({m.session for m in palace.memories(room="timeline")}) == 2


def test_a_cut_off_export_gives_what_is_whole(palace: Mempalace, tmp_path: Path):
    text = json.dumps([conversation(), conversation(conversation_id="2")])
    put(tmp_path, {"cut.json": text[: len(text) - 200]})
    done = taken(palace, tmp_path / "cut.json")
    assert done.added == 4
    assert done.refused[0].reason == "the list never ends"
    assert done.refused[0].path_or_line.startswith("cut.json:")


# LangChain

HUMAN = {"type": "human", "data": {"content": "The boiler code is E9.", "id": "1", "name": None}}
PARTS = [{"type": "text", "text": "Reset it for"}, {"type": "image_url", "image_url": "x"}]
LANGCHAIN = {
    "to_dict": [
        HUMAN,
        {"type": "ai", "data": {"content": [*PARTS, "ten seconds."], "type": "ai"}},
        {"type": "tool", "data": {"content": "{}", "type": "tool"}},
        {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "x"}]}},
    ],
    "dumpd": [
        {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "The boiler code is E9.", "type": "human"}},
        {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessageChunk"], "kwargs": {"content": [*PARTS, "ten seconds."]}},
        {"lc": 1, "type": "constructor", "id": ["langchain", "SystemMessage"], "kwargs": {"content": "Be kind."}},
    ],
    "chosen roles": [
        {"type": "chat", "data": {"content": "The boiler code is E9.", "type": "chat", "role": "user"}},
        {"lc": 1, "type": "constructor", "id": ["langchain", "ChatMessageChunk"], "kwargs": {"content": [*PARTS, "ten seconds."], "role": "assistant"}},
        {"type": "chat", "data": {"content": "Be kind.", "type": "chat", "role": "critic"}},
    ],
    "state": {"messages": [{"role": "user", "content": "The boiler code is E9."}, {"role": "assistant", "content": [*PARTS, "ten seconds."]}]},
}  # fmt: skip


@pytest.mark.parametrize("name", LANGCHAIN)
def test_langchain_messages_become_timeline(palace: Mempalace, tmp_path: Path, name: str):
    file = put(tmp_path, {"chat.json": LANGCHAIN[name]}) / "chat.json"
    os.utime(file, (1_778_248_560, 1_778_248_560))
    done = taken(palace, file)
    assert (done.kind, done.added, done.refused) == ("langchain", 2, ())
    turns = palace.memories(room="timeline")
    assert [(m.speaker, m.text) for m in turns] == [
        ("user", "The boiler code is E9."),
        ("assistant", "Reset it for\n\n[image not imported]\n\nten seconds."),
    ]
    assert {m.session for m in turns} == {"chat (langchain)"}
    # A history that grew has another time; what was said before is still known.
    os.utime(file, (1_778_348_560, 1_778_348_560))
    assert palace.import_from(file).added == 0


def test_messages_keep_their_own_time_and_lose_our_echo(palace: Mempalace, tmp_path: Path):
    echo = '<memory-context note="x">\n[1] old\n</memory-context>'
    said = [
        {"type": "human", "data": {"content": "Hello.", "additional_kwargs": {"timestamp": "2025-01-02T03:04:00Z"}}},
        {"type": "ai", "data": {"content": f"{echo}\nHi.", "response_metadata": {"created_at": 1_735_787_050}}},
        {"type": "human", "data": {"content": echo}},
        {"type": "human"},
    ]  # fmt: skip
    done = taken(palace, put(tmp_path, {"h.json": said}) / "h.json", form="langchain")
    assert [m.text for m in palace.memories(room="timeline")] == ["Hello.", "Hi."]
    assert done.paths == ("timeline/2025-01-02.md",)
    assert [r.reason for r in done.ignored] == ["nothing but our own evidence"]
    assert len(done.refused) == 1


# mem0

MEM0 = {
    "results": [
        {"id": "aa-1", "memory": "Prefers trains to planes", "hash": "x", "metadata": {"category": "travel plans"}, "categories": ["habits"], "created_at": "2025-03-01T10:00:00-08:00", "updated_at": "2025-04-01T10:00:00-08:00", "user_id": "ann@lee"},
        {"id": "aa-2", "memory": "Is allergic to walnuts", "hash": "y", "metadata": None, "created_at": "2025-03-02T10:00:00Z", "updated_at": None, "agent_id": "helper", "run_id": "r7"},
        {"id": "aa-3", "memory": "prefers  TRAINS to planes", "user_id": "ann@lee"},
        {"id": "aa-4", "memory": ""},
        {"id": "aa-5", "memory": "Rings the bell\u202e twice", "user_id": "ann@lee"},
        {"id": "aa-6", "memory": "x" * 5000, "user_id": "ann@lee"},
    ],
    "relations": [],
}  # fmt: skip


def test_a_memory_of_mem0_that_says_something_else_by_now_is_told_of(
    palace: Mempalace, tmp_path: Path
):
    old = {"id": "aa-1", "memory": "Lives in Bern", "user_id": "ann"}
    palace.import_from(put(tmp_path, {"old.json": [old]}) / "old.json")
    source = put(tmp_path, {"new.json": [{**old, "memory": "Lives in Basel"}]}) / "new.json"
    done = palace.import_from(source)
    assert (done.added, done.unchanged) == (0, 0)
    assert [r.reason for r in done.refused] == ["differs from the palace's own"]
    assert [m.text for m in palace.memories(room="mem0")] == ["Lives in Bern"]
    palace.correct(palace.memories(room="mem0")[0].id, "Lives in Basel")
    assert palace.import_from(tmp_path / "old.json").unchanged == 1
    assert palace.import_from(source).unchanged == 1


@pytest.mark.parametrize("data", [MEM0, MEM0["results"], {"results": MEM0}])
def test_a_mem0_export_becomes_a_room(palace: Mempalace, tmp_path: Path, data: object):
    done = taken(palace, put(tmp_path, {"m.json": data}) / "m.json")
    assert (done.kind, done.unit, done.added, done.unchanged) == ("mem0", "memories", 2, 1)
    assert [r.reason.split(":")[0] for r in done.refused] == [
        "it is no memory",
        "it holds a character that reverses the reading direction (U+202E at character 15)",
        "the text has 5000 characters, at most 4000 fit a memory",
    ]
    trains = palace.memories(room="mem0", drawer="ann-lee")[0]
    walnuts = palace.memories(room="mem0", drawer="helper")[0]
    assert (trains.text, trains.trust) == ("Prefers trains to planes", "agent")
    assert set(trains.tags) == {"travel-plans", "habits"}
    assert trains.provenance == "mem0:aa-1"
    assert trains.created
    assert trains.created.isoformat() == "2025-03-01T18:00:00+00:00"
    assert trains.valid_from
    assert trains.valid_from.isoformat() == "2025-04-01T18:00:00+00:00"
    assert (walnuts.session, walnuts.scope) == ("r7", "global")


@pytest.mark.parametrize("owner", ["CON", "nul.txt", "@", "__", "..", "🦀"])
def test_an_owner_that_names_no_drawer_stops_no_import(palace, tmp_path, owner):
    data = [{"id": "1", "memory": "Likes tea", "user_id": owner}]
    done = taken(palace, put(tmp_path, {"m.json": data}) / "m.json")
    assert (done.added, done.refused) == (1, ())
    assert [m.drawer for m in palace.memories()] == ["memories"]


def test_what_two_owners_say_is_taken_for_each(palace, tmp_path):
    owners = ["ann", "bob", "Bob"]
    data = [{"id": o, "memory": "Is a vegetarian", "user_id": o} for o in owners]
    source = put(tmp_path, {"m.json": data}) / "m.json"
    assert taken(palace, source).added == 2
    assert [m.drawer for m in palace.memories()] == ["ann", "bob"]
    assert palace.import_from(source).unchanged == 3


# Markdown


VAULT: dict[str, object] = {
    ".obsidian/app.json": "{}",
    ".obsidian/templates.json": '{"folder": "Templates"}',
    ".obsidian/plugins/x/readme.md": "- Hidden.\n",
    "Garden.md": "---\ntags: [garden]\naliases: [Yard]\n---\n- The hose hangs in the shed. #tools [[Places/Shed|the shed]]\n",
    "Places/Shed.md": "# Shed\n\n> [!warning] Door\n> The door sticks in winter.\n\n```sh\nrake --all\n```\n\n![[roof.png]]\n",
    "Places/Deep/Attic.md": "- Skis are in the attic.\r\n",
    "Templates/Daily.md": "- {{date}}\n",
    "Sketch.excalidraw.md": "- drawing\n",
    "roof.png": b"\x89PNG",
    "Bad.md": b"- caf\xe9\n",
}


def test_a_vault_keeps_its_notes_byte_for_byte(palace: Mempalace, tmp_path: Path):
    source = put(tmp_path / "Home", VAULT)
    done = taken(palace, source)
    assert (done.kind, done.added) == ("obsidian", 3)
    assert [(r.path_or_line, r.reason) for r in done.refused] == [
        (
            "Bad.md",
            "it is not UTF-8 text, first at line 1; save it as UTF-8 in your editor, then import it"
            " again",
        )
    ]
    assert {r.path_or_line: r.reason for r in done.ignored} == {
        "Sketch.excalidraw.md": "it is a drawing",
        "Templates/Daily.md": "it is a template",
    }
    for name, place in {
        "Garden.md": "rooms/Home/Garden.md",
        "Places/Shed.md": "rooms/Places/Shed.md",
        "Places/Deep/Attic.md": "rooms/Places/Deep/Attic.md",
    }.items():
        assert (palace.root / place).read_bytes() == (source / name).read_bytes()
    hose = palace.memories(room="Home")[0]
    assert set(hose.tags) == {"tools", "garden"}
    assert hose.links == ("Places/Shed",)
    texts = [m.text for m in palace.memories(room="Places")]
    assert any("[!warning] Door" in text for text in texts)
    assert any("rake --all" in text for text in texts)


@pytest.mark.parametrize(
    ("settings", "content"),
    [
        ("templates.json", {"folder": "/Extras/Templates/"}),
        ("plugins/templater-obsidian/data.json", {"templates_folder": "Extras/Templates"}),
        ("daily-notes.json", {"folder": "Daily", "template": "Extras/Templates/Daily"}),
        (
            "plugins/periodic-notes/data.json",
            {"daily": {"enabled": True, "template": "Extras/Templates/Daily.md"}, "weekly": {}},
        ),
    ],
)
def test_a_vaults_templates_are_no_notes(palace: Mempalace, tmp_path: Path, settings, content):
    files: dict[str, object] = {
        f".obsidian/{settings}": content,
        "Daily/2026-05-04.md": "- Ran 6 km.\n",
        "Extras/Templates/Daily.md": "---\ndate: {{date}}\n---\n- [ ] \n",
        "Extras/Packing.md": "- The tent.\n",
    }
    done = taken(palace, put(tmp_path / "Home", files))
    assert (done.added, [(r.path_or_line, r.reason) for r in done.ignored]) == (
        (2, [("Extras/Templates/Daily.md", "it is a template")])
    )


@pytest.mark.parametrize("folder", ["Templates", "Extras/templates/daily", "99 - Template"])
@pytest.mark.parametrize(
    "text",
    ["- Mood of {{date:YYYY-MM-DD}}:\n", "- Written on <% tp.date.now() %>\n", "- {{ title }}\n"],
)
def test_templates_are_known_by_folder_and_placeholder_too(
    palace: Mempalace, tmp_path: Path, folder: str, text: str
):
    files: dict[str, object] = {
        f"{folder}/Day.md": text,
        f"{folder}/How.md": "- Our letters use the blue template.\n",
        "Sites/Hugo.md": "- In Hugo, {{ .Title }} is the title.\n",
    }
    done = taken(palace, put(tmp_path / "Home", files))
    assert (done.added, [(r.path_or_line, r.reason) for r in done.ignored]) == (
        (2, [(f"{folder}/Day.md", "it is a template")])
    )


def test_old_versions_that_logseq_keeps_are_left_out(palace: Mempalace, tmp_path: Path):
    files: dict[str, object] = {
        "logseq/config.edn": "{:meta/version 1}",
        "logseq/bak/pages/Pia/2026-05-01.md": "- Works in sales\n",
        "pages/Pia.md": "- Works in marketing\n",
        "journals/2026_05_04.md": "- Ran 6 km\n",
    }
    done = taken(palace, put(tmp_path / "graph", files))
    assert (done.added, [(r.path_or_line, r.reason) for r in done.ignored]) == (
        (2, [("logseq/bak/pages/Pia/2026-05-01.md", "it is an old version that Logseq keeps")])
    )
    other = put(tmp_path / "other", {"logseq/bak/a.md": "- How Logseq keeps old versions.\n"})
    assert taken(palace, other).added == 1


def test_a_vault_that_a_palace_was_made_in_is_taken_when_it_is_called_one(
    palace: Mempalace, tmp_path: Path
):
    source = put(tmp_path / "Home", {**VAULT, "identity.txt": "I keep notes.\n"})
    assert taken(palace, source).added == 1
    assert taken(palace, source, form="obsidian").added == 3
    assert (palace.root / "rooms/Home/Garden.md").is_file()


def test_folders_of_any_name_are_taken(palace: Mempalace, tmp_path: Path):
    source = put(
        tmp_path / "House",
        {
            "rooms/kitchen.md": "- The kitchen tap was fixed on 2026-03-04.\n",
            "timeline/plans.md": "- The roof is due in May.\n",
            "Playbooks/fire.md": "- The extinguisher hangs by the stairs.\n",
            "یادداشت\u200cها.md": "- The plumber is called Navid.\n",
            "👨\u200d👩\u200d👧/aunts.md": "- Aunt Vera lives in Porto.\n",
        },
    )
    done = taken(palace, source)
    assert (done.added, done.refused) == (5, ())
    held = {m.room: m for m in palace.memories()}
    assert set(held) == {"rooms", "./timeline", "Playbooks", "House", "👨\u200d👩\u200d👧"}
    for memory in held.values():
        told = palace.correct(memory.id, f"{memory.text.rstrip('.')}, they say.")
        assert told.memory.path == memory.path
    assert "roof" in palace.wake_up("s").text
    roof = palace.search("roof")[0].memory
    assert palace.forget(roof.id).status == "inactive"


def test_a_folder_that_may_not_be_read_stops_no_import(palace, command, tmp_path, monkeypatch):
    notes = put(tmp_path / "notes", {"a.md": "- The lamp is green.\n", "shut/b.md": "- No.\n"})
    listed = Path.iterdir

    def refusing(folder: Path):
        if folder.name == "shut":
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", refusing)
    done = taken(palace, notes)
    assert (done.added, [(r.path_or_line, r.reason) for r in done.refused]) == (
        (1, [("shut/", "it cannot be read: Permission denied")])
    )
    told = command("import", str(notes / "shut"))
    assert told.code == 2
    assert "hint: check its permissions" in told.err


def test_a_palace_among_the_notes_does_not_take_itself_in(palace: Mempalace, tmp_path: Path):
    palace.remember("The ladder is at Kim's.")
    put(tmp_path, {"garden/tools.md": "- The rake is at Ole's.\n"})
    done = taken(palace, tmp_path)
    assert (done.added, done.paths) == (1, ("rooms/garden/tools.md",))
    assert [(r.path_or_line, r.reason) for r in done.ignored] == [("p", "it is this palace")]
    assert len(palace.memories()) == 2


def test_links_and_notes_of_other_endings_are_told(palace: Mempalace, tmp_path: Path):
    source = put(
        tmp_path / "notes",
        {
            "a.md": "- A.\n",
            "b.markdown": "- B.\n",
            "sub/c.TXT": "C.\n",
            "Packing.csv": "Item,Done\n",
            "Board.canvas": "{}",
            "photo.jpg": "",
            ".x.txt": "",
        },
    )
    put(tmp_path / "elsewhere", {"d.md": "- D.\n"})
    (source / "d.md").symlink_to(tmp_path / "elsewhere/d.md")
    (source / "more").symlink_to(tmp_path / "elsewhere")
    done = taken(palace, source)
    assert done.added == 1
    assert {r.path_or_line: r.reason for r in done.ignored} == {
        "b.markdown": "its name does not end in .md",
        "sub/c.TXT": "its name does not end in .md",
        "Packing.csv": "its name does not end in .md",
        "Board.canvas": "its name does not end in .md",
        "d.md": "it is a link",
        "more": "it is a link",
    }


def test_ignored_files_stay_out(palace: Mempalace, tmp_path: Path):
    source = put(
        tmp_path / "notes",
        {
            ".gitignore": "drafts/\n*.tmp.md\n!keep.tmp.md\n[\n",
            ".secretsignore": "private.md\n",
            "sub/.gitignore": "!private.md\nlocal.md\n",
            "a.md": "- A.\n",
            "b.tmp.md": "- B.\n",
            "keep.tmp.md": "- Keep.\n",
            "private.md": "- P.\n",
            "drafts/d.md": "- D.\n",
            "sub/private.md": "- P.\n",
            "sub/local.md": "- L.\n",
            "sub/open.md": "- O.\n",
            ".env.md": "- E.\n",
        },
    )
    done = taken(palace, source)
    assert {r.path_or_line: r.reason for r in done.ignored} == {
        "b.tmp.md": ".gitignore names it",
        "drafts/d.md": ".gitignore names it",
        "private.md": ".secretsignore names it",
        "sub/local.md": ".gitignore names it",
        "sub/private.md": ".secretsignore names it",
    }
    assert done.added == 3
    # A folder that a person names is read, also where the repository around it ignores it.
    (source / ".git").mkdir()
    assert palace.import_from(source / "drafts").added == 1


def test_a_file_of_secrets_is_not_read(palace: Mempalace, tmp_path: Path):
    put(tmp_path, {".env": '{"type": "human", "content": "x"}'})
    with pytest.raises(ConfigError, match="usually hold secrets"):
        palace.import_from(tmp_path / ".env", form="langchain")


# Secrets


def secret_sources(folder: Path) -> list[Path]:
    put(
        folder,
        {
            "n/a.md": f"- Fine.\n- The token is {KEY}\n",
            "t.jsonl": json.dumps({"session": "s", "speaker": "Ann", "text": f"use {KEY}", "at": 1_778_248_560}),
            "c.json": [{"role": "user", "content": f"use {KEY}"}],
            "m.json": [{"id": "1", "memory": f"use {KEY}", "user_id": "u"}],
        },
    )  # fmt: skip
    return [folder / name for name in ("n", "t.jsonl", "c.json", "m.json")]


def test_secrets_are_refused_by_line(palace: Mempalace, tmp_path: Path):
    for source in secret_sources(tmp_path):
        done = taken(palace, source)
        assert done.added == 0
        (refusal,) = done.refused
        assert "github-token at line" in refusal.reason
        assert KEY not in repr(done)


def test_secrets_are_redacted_where_the_settings_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PALACE_WRITE__SECRETS", "redact")
    monkeypatch.setenv("PALACE_WRITE__PERSONAL_DATA", "redact")
    with Mempalace.open(tmp_path / "palace") as palace:
        for source in secret_sources(tmp_path):
            done = taken(palace, source)
            assert (done.added, len(done.redacted), done.refused) == (1, 1, ())
        assert not any(KEY.encode() in data for data in canonical(palace).values())
        assert sum(data.count(b"[secret removed") for data in canonical(palace).values()) == 4


# The command


def test_the_command_shows_what_it_would_do(palace: Mempalace, tmp_path: Path, command):
    source = str(put(tmp_path / "Home", VAULT))
    ended = command("import", source, "--dry-run")
    assert (ended.code, "3 files would be added" in ended.out) == (0, True)
    assert "2 left out" in ended.out
    assert "1 x it is a template: Templates/Daily.md" in ended.out
    assert palace.memories() == []
    document = command("import", source, "--json", "--format", "markdown").json
    assert (document["kind"], document["unit"], document["added"]) == ("markdown", "files", 4)
    assert command("import", source, "--format", "pdf").code == 2


def test_of_many_files_that_are_left_out_the_first_are_named(tmp_path: Path, command):
    put(tmp_path / "Home", {"a.md": "words", **{f"{n}.txt": "words" for n in range(5)}})
    told = command("import", str(tmp_path / "Home")).out
    assert "  5 x its name does not end in .md: 0.txt, 1.txt, 2.txt, …\n" in told


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.json", "", "is empty"),
        ("x.json", "[]", "there is nothing in it"),
        ("x.json", "[{]", "x.json:1"),
        ("x.json", '{"a": 1}', "no form I know"),
        ("x.json", "[\n\n 3]", "x.json:3"),
        ("x.bin", b"\x00\x01", "no form I know"),
        ("chat.txt", "[12 March 2026] Ines: At seven.\n", "chat.txt cannot be imported"),
        ("chat.txt", "[12 March 2026] Ines: At seven.\n", ".jsonl turns"),
        ("diary.txt", "4 May 2026\nRan 6 km.\n", "a name that ends in .md"),
        (
            "general.json",
            '[{"type": "message", "user": "U01", "text": "At 9:45", "ts": "1768300000.0001"}]',
            "no form I know",
        ),
        ("x.md", b"\x00\x01", "NUL bytes"),
        ("export.json", '{"format": "mempalace-export", "version": 9}', "version 9"),
    ],
)
def test_what_is_nothing_of_this_is_said(palace, tmp_path, command, name, content, said):
    put(tmp_path, {name: content})
    code, out, err = command("import", str(tmp_path / name))
    assert (code, said in out + err) == (2, True)


def test_a_dry_run_makes_no_palace(here: Path, command, tmp_path: Path):
    put(tmp_path, {"a.md": "- A."})
    assert command("import", str(tmp_path / "a.md"), "--dry-run").code == 2
    assert not here.exists()


def test_a_refusal_names_the_line_inside_an_object(palace: Mempalace, tmp_path: Path):
    text = json.dumps({"note": '"results": [', **MEM0}, indent=1)
    source = put(tmp_path, {"m.json": text}) / "m.json"
    refused = palace.import_from(source, dry_run=True).refused
    lines = [int(refusal.path_or_line.rpartition(":")[2]) for refusal in refused]
    items = [n for n, line in enumerate(text.splitlines(), 1) if line == "  {"]
    assert lines == items[3:]


def test_who_has_an_alias_is_known_by_it(command, here: Path):
    put(
        here / "rooms" / "people",
        {"Oda.md": "---\naliases: [Oda Lindqvist]\n---\n- Favourite wine: Riesling, dry\n"},
    )
    told = command("ask", "What is Oda Lindqvist's favourite wine?", "--json").json
    assert [e["source"] for e in told["evidence"]] == ["rooms/people/Oda.md:4"]
    assert command("ask", "What is Oda Novak's favourite wine?").out.strip() == (
        "I don't have this in my memory palace."
    )


def test_a_folder_of_plain_text_says_what_it_needs_to_be_notes(command, tmp_path):
    told = command("import", str(put(tmp_path / "notes", {"recipe.txt": "200 g of butter.\n"})))
    assert told.code == 2
    assert "holds no Markdown files" in told.err
    assert "a name that ends in .md" in told.err
