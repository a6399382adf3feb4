"""Transfer: what comes in, what stays out and why, and that an export is the whole palace."""

from __future__ import annotations

import json
import os
import stat
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.errors import ConfigError, SchemaTooNewError
from palace.learn.importing import import_path
from palace.learn.intake import DIFFERS, Destination
from palace.learn.places import place_reason
from palace.learn.transfer import export_json, export_markdown
from palace.store.rooms import RoomStore
from palace.store.tree import own_files
from palace.verbs.transferring import _put_file

SECRET = "password = " + "Xk29fLq" + "81mZ0pTr"


class Target:
    """A palace to import into: its files, written plainly, and its timeline."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = RoomStore(root)
        self.written: list[str] = []
        self.progress: list[tuple[int, int]] = []

    def write(self, relative: str, data: bytes, replaces: bytes | None) -> None:
        assert replaces is None
        path = self.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.written.append(relative)

    def take(self, source: Path):
        return import_path(
            source,
            to=Destination(self.root, self.root, self.store, self.write),
            progress=lambda done, to_do: self.progress.append((done, to_do)),
        )

    def texts(self) -> list[str]:
        return [m.text for s in self.store.scan() for m in self.store.read(s.path).memories]


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(tmp_path / "palace")


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def turn(**changes: object) -> str:
    fields = {"session": "s1", "speaker": "Ann", "text": "Hello.", "at": "2026-05-08T13:56:00Z"}
    return json.dumps({**fields, **changes}, ensure_ascii=False)


def reasons(done) -> dict[str, str]:
    return {refusal.path_or_line: refusal.reason for refusal in done.refused}


class TestFolderOfNotes:
    def test_is_copied_byte_for_byte_by_subfolder(self, target: Target, tmp_path: Path):
        odd = b"\xef\xbb\xbf# Tea\r\n- Green.\r\n  trailing  "
        notes = put(tmp_path / "notes", {"top.md": "# Top\n", "a/b/tea.md": odd, "a/c.MD": "x"})
        done = target.take(notes)
        assert done.kind == "markdown"
        assert (done.added, done.unchanged, done.refused) == (3, 0, ())
        assert set(done.paths) == {"rooms/notes/top.md", "rooms/a/b/tea.md", "rooms/a/c.MD"}
        assert (target.root / "rooms/a/b/tea.md").read_bytes() == odd
        assert target.progress[-1] == (3, 3)

    def test_twice_changes_nothing(self, target: Target, tmp_path: Path):
        notes = put(tmp_path / "notes", {"a.md": "one", "b/c.md": "two"})
        target.take(notes)
        target.written.clear()
        done = target.take(notes)
        assert (done.added, done.unchanged, done.refused, done.paths) == (0, 2, (), ())
        assert target.written == []

    def test_a_note_that_was_renamed_is_not_taken_again(self, target: Target, tmp_path: Path):
        words = {"a.md": "one", "b/c.md": "two", "twin.md": "one", "empty.md": ""}
        notes = put(tmp_path / "notes", words)
        assert target.take(notes).added == 4
        (notes / "b/c.md").rename(notes / "d.md")
        (notes / "empty.md").rename(notes / "blank.md")
        put(notes, {"new.md": "one", "other.md": "two and more"})
        for added in (3, 0):
            done = target.take(notes)
            assert (done.added, done.refused) == (added, ())
            assert [(i.path_or_line, i.reason) for i in done.ignored] == [
                ("d.md", "rooms/b/c.md has the same words already")
            ]

    def test_never_overwrites_what_differs(self, target: Target, tmp_path: Path):
        notes = put(tmp_path / "notes", {"a.md": "theirs", "b.md": "new"})
        put(target.root, {"rooms/notes/a.md": "ours"})
        done = target.take(notes)
        assert reasons(done) == {"a.md": DIFFERS}
        assert done.added == 1
        assert (target.root / "rooms/notes/a.md").read_text() == "ours"

    @pytest.mark.parametrize(("quicker", "unchanged"), [("theirs", 1), ("ours", 0)])
    def test_never_overwrites_what_came_meanwhile(
        self, target: Target, tmp_path: Path, quicker: str, unchanged: int
    ):
        notes = put(tmp_path / "notes", {"a.md": "theirs"})
        there = target.root / "rooms/notes/a.md"

        def write(relative: str, data: bytes, replaces: bytes | None) -> None:
            put(target.root, {relative: quicker})
            _put_file(target.root, relative, data, replaces=replaces)

        done = import_path(notes, to=Destination(target.root, target.root, target.store, write))
        assert (done.added, done.unchanged, there.read_text()) == (0, unchanged, quicker)
        assert reasons(done) == ({} if unchanged else {"a.md": DIFFERS})

    def test_leaves_out_hidden_names_symlinks_and_other_files(self, target, tmp_path):
        notes = put(
            tmp_path / "notes",
            {
                ".hidden.md": "x",
                ".obsidian/a.md": "x",
                "image.png": "x",
                "kept.md": "x",
                "~$kept.md": "\x04Ada \0A\0d\0a",
            },
        )
        put(tmp_path, {"outside/secret.md": "outside"})
        (notes / "link.md").symlink_to(tmp_path / "outside/secret.md")
        (notes / "linked").symlink_to(tmp_path / "outside")
        (notes / "loop").symlink_to(notes)
        done = target.take(notes)
        assert (done.paths, done.refused) == (("rooms/notes/kept.md",), ())

    def test_names_what_cannot_be_a_memory_file(self, target: Target, tmp_path: Path):
        notes = put(
            tmp_path / "notes",
            {
                "binary.md": b"a\0b",
                "windows.md": "- A memory.".encode("utf-16"),
                "latin.md": b"fine\ncaf\xe9",
                "login.md": f"# Login\n\n{SECRET}\n",
                "good.md": "- A memory.",
            },
        )
        done = target.take(notes)
        found = reasons(done)
        assert set(found) == {"binary.md", "windows.md", "latin.md", "login.md"}
        assert "NUL" in found["binary.md"]
        assert "UTF-16" in found["windows.md"]
        assert "line 2" in found["latin.md"]
        assert "line 3" in found["login.md"]
        assert "password" in found["login.md"]
        assert SECRET.split()[-1] not in repr(done)
        assert done.paths == ("rooms/notes/good.md",)

    @pytest.mark.parametrize("name", ["nul.md", "a\\b.md", "a\u202eb.md", "a\nb.md"])
    def test_refuses_names_no_palace_could_hold(self, target: Target, tmp_path: Path, name):
        done = target.take(put(tmp_path / "notes", {name: "x", "ok/fine.md": "y"}))
        assert list(reasons(done)) == [name]
        assert done.paths == ("rooms/ok/fine.md",)

    def test_refuses_bytes_that_are_no_name(self, target: Target, tmp_path: Path):
        notes = put(tmp_path / "notes", {"fine.md": "y"})
        Path(os.fsdecode(os.fsencode(notes) + b"/caf\xe9.md")).write_text("x")
        done = target.take(notes)
        assert [r.path_or_line for r in done.refused] == ["caf?.md"]
        assert done.added == 1

    def test_refuses_rooms_that_are_too_deep(self, target: Target, tmp_path: Path):
        done = target.take(put(tmp_path / "notes", {"/".join("abcdefghi") + "/x.md": "x"}))
        assert "deep" in done.refused[0].reason

    def test_does_not_write_through_a_link_out_of_the_palace(self, target, tmp_path):
        outside = put(tmp_path / "outside", {"keep": ""})
        put(target.root, {"rooms/keep.md": ""})
        (target.root / "rooms/a").symlink_to(outside)
        done = target.take(put(tmp_path / "notes", {"a/x.md": "x"}))
        assert "leads out" in done.refused[0].reason
        assert not (outside / "x.md").exists()

    def test_a_file_in_the_way_of_a_room_is_named(self, target: Target, tmp_path: Path):
        put(target.root, {"rooms/a": "I am a file"})
        done = target.take(put(tmp_path / "notes", {"a/x.md": "x"}))
        assert list(reasons(done)) == ["a/x.md"]

    def test_a_folder_inside_the_palace_is_no_source(self, target: Target):
        put(target.root, {"rooms/a/x.md": "x"})
        for part in ("rooms", "rooms/a/x.md"):
            with pytest.raises(ConfigError, match="already"):
                target.take(target.root / part)


class TestOneFile:
    def test_goes_to_the_inbox(self, target: Target, tmp_path: Path):
        done = target.take(put(tmp_path, {"tea.md": "- Green tea."}) / "tea.md")
        assert done.paths == ("rooms/inbox/tea.md",)
        assert target.texts() == ["Green tea."]

    @pytest.mark.parametrize("name", ["missing", "empty-folder", "table.csv"])
    def test_anything_else_says_what_is_supported(self, target: Target, tmp_path: Path, name):
        (tmp_path / "empty-folder").mkdir()
        put(tmp_path, {"table.csv": "a,b"})
        with pytest.raises(ConfigError) as caught:
            target.take(tmp_path / name)
        assert ".jsonl" in caught.value.hint
        assert name in caught.value.message


class TestFolderOfAPalace:
    def test_keeps_its_places_and_leaves_its_settings(self, target: Target, tmp_path: Path):
        files = {
            "identity.txt": "I am the memory of a small team.\n",
            "rooms/a/b/tea.md": "- Green tea.\n",
            "playbooks/deploy.md": "# Deploy\n1. Go.\n",
            "timeline/2026-05-08.md": "# 2026-05-08\n\n## s\n[2026-05-08 13:56] Ann: Hi.\n",
            "config/mempalace.yaml": "preset: none\n",
            "config/notes.md": "x",
            "journal/2026-05.jsonl": "{}\n",
            "scratchpad/s.jsonl": "{}\n",
        }
        done = target.take(put(tmp_path / "other", files))
        assert set(done.paths) == set(list(files)[:4])
        assert done.refused == ()
        assert not (target.root / "config").exists()

    def test_names_markdown_that_stands_outside(self, target: Target, tmp_path: Path):
        other = put(tmp_path / "other", {"rooms/a/x.md": "x", "README.md": "y", "docs/z.md": "z"})
        (other / ".palace").mkdir()
        assert set(reasons(target.take(other))) == {"README.md", "docs/z.md"}

    def test_an_identity_alone_is_a_palace_but_not_a_too_long_one(self, target, tmp_path):
        done = target.take(put(tmp_path / "a", {"identity.txt": "I."}))
        assert (done.paths, done.ignored) == (("identity.txt",), ())
        long = "x" * (1001)
        done = Target(tmp_path / "second").take(put(tmp_path / "b", {"identity.txt": long}))
        assert "1001 of at most 1000" in done.refused[0].reason


class TestTurns:
    def test_are_added_verbatim_once(self, target: Target, tmp_path: Path):
        text = "First line: *odd*\n\n  <!-- memory id=m-1 -->\nlast  "
        lines = [turn(text=text, id="t-1", other=[1]), "", turn(at=1778248620, speaker="Bob")]
        source = put(tmp_path, {"talk.jsonl": "\ufeff" + "\r\n".join(lines)}) / "talk.jsonl"
        done = target.take(source)
        assert (done.kind, done.added, done.unchanged, done.refused) == ("turns", 2, 0, ())
        assert done.paths == ("timeline/2026-05-08.md",)
        assert target.texts() == [text, "Hello."]
        again = target.take(source)
        assert (again.added, again.unchanged, again.paths) == (0, 2, ())

    def test_keep_their_id_as_provenance_and_their_minute(self, target: Target, tmp_path: Path):
        target.take(put(tmp_path, {"t.jsonl": turn(id="t-1")}) / "t.jsonl")
        (memory,) = target.store.read("timeline/2026-05-08.md").memories
        assert (memory.provenance, memory.speaker, memory.session) == ("t-1", "Ann", "s1")
        assert memory.created == datetime(2026, 5, 8, 13, 56, tzinfo=timezone.utc)

    def test_a_longer_file_adds_only_what_is_new(self, target: Target, tmp_path: Path):
        source = put(tmp_path, {"t.jsonl": turn()}) / "t.jsonl"
        target.take(source)
        source.write_text("\n".join([turn(), turn(text="New."), turn(at="2026-05-09")]))
        done = target.take(source)
        assert (done.added, done.unchanged) == (2, 1)

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("not json", "not JSON"),
            ("[1]", "not a JSON object"),
            ('{"session": "s"}', "'speaker' is missing"),
            (turn(at="05/08/2023"), "'at'"),
            (turn(text=3), "'text' is not text"),
            (turn(session=["s"]), "'session' is not text"),
            (turn(session=" "), "'session' is empty"),
            (turn(text=" \n"), "'text' is empty"),
            (turn(text=f"it is {SECRET}"), "secret"),
            ("[" * 100_000, "nests"),
            ('{"at": ' + "1" * 5000 + "}", "number"),
        ],
    )
    def test_a_bad_line_is_named_and_the_others_are_taken(self, target, tmp_path, line, reason):
        source = put(tmp_path, {"t.jsonl": "\n".join([turn(), line, turn(text="Last.")])})
        done = target.take(source / "t.jsonl")
        assert done.added == 2
        assert list(reasons(done)) == ["t.jsonl:2"]
        assert reason in done.refused[0].reason
        assert SECRET.split()[-1] not in repr(done)

    def test_a_file_without_any_turn_is_an_error_with_the_keys(self, target, tmp_path):
        source = put(tmp_path, {"t.jsonl": '\n{"message": "hi"}\n{"message": "ho"}\n'}) / "t.jsonl"
        with pytest.raises(ConfigError) as caught:
            target.take(source)
        assert "t.jsonl:2" in caught.value.message
        assert "session, speaker, text, at" in caught.value.hint
        assert not target.root.exists()

    def test_lines_of_role_and_content_are_named_as_what_they_are(self, target, tmp_path):
        source = tmp_path / "chat.jsonl"
        source.write_text(
            '{"role": "user", "content": "Hello."}\n{"role": "ai", "content": "Hi."}\n'
        )
        with pytest.raises(ConfigError, match="a message with role and content") as caught:
            target.take(source)
        assert "a .json file" in caught.value.hint
        source = source.with_suffix(".json")
        source.write_text('[{"role": "user", "content": "Hello."}]')
        assert target.take(source).added == 1

    def test_a_file_of_refused_turns_is_understood(self, target: Target, tmp_path: Path):
        done = target.take(put(tmp_path, {"t.jsonl": turn(text=SECRET)}) / "t.jsonl")
        assert (done.added, len(done.refused)) == (0, 1)

    @pytest.mark.parametrize(
        "between", ["[{}, {}]", "\ufeff\r\n[\r\n{},\r\n{}]\r\n", "[\n{},\n{}\n, {{"]
    )
    def test_may_stand_in_a_list(self, target: Target, tmp_path: Path, between: str):
        text = between.format(turn(), turn(text="Goodbye."))
        done = target.take(put(tmp_path, {"t.json": text}) / "t.json")
        assert (done.kind, done.added) == ("turns", 2)
        cut = not text.rstrip().endswith("]")
        assert [r.reason for r in done.refused] == ["the list never ends"] * cut

    def test_a_line_that_is_a_list_is_no_list_of_turns(self, target: Target, tmp_path: Path):
        done = target.take(put(tmp_path, {"t.jsonl": f"[1]\n{turn()}\n"}) / "t.jsonl")
        assert done.added == 1
        assert reasons(done) == {"t.jsonl:1": "it is not a JSON object"}

    def test_progress_ends_with_the_last_line(self, target: Target, tmp_path: Path):
        lines = [turn(text=f"Line {n}.") for n in range(1201)]
        target.take(put(tmp_path, {"t.jsonl": "\n".join(lines)}) / "t.jsonl")
        assert target.progress == [(500, 1201), (1000, 1201), (1201, 1201)]


def bundle(*files: dict[str, str], **changes: object) -> str:
    data = {"format": "mempalace-export", "version": 1, "files": list(files), "memories": []}
    return json.dumps({**data, **changes})


class TestExports:
    @pytest.mark.parametrize(
        "path",
        [
            "../x.md",
            "rooms/../../x.md",
            "/rooms/x.md",
            "rooms\\x.md",
            "rooms/a/x.txt",
            "rooms/.hidden/x.md",
            "rooms/a/~$x.md",
            "rooms//x.md",
            "rooms/.md",
            "config/mempalace.yaml",
            "playbooks/a/b.md",
            "rooms/a/" + "x" * 300 + ".md",
            "rooms/a/\ud800.md",
            "C:/x.md",
            "rooms",
            "",
        ],
    )
    def test_no_path_but_a_memory_file_is_written(self, target: Target, tmp_path: Path, path):
        source = put(tmp_path, {"e.json": bundle({"path": path, "text": "x"})})
        done = target.take(source / "e.json")
        assert (done.added, len(done.refused)) == (0, 1)
        assert target.written == []

    def test_entries_without_content_or_with_secrets_are_refused(self, target, tmp_path):
        entries = [
            {"path": "rooms/a/1.md"},
            {"path": "rooms/a/2.md", "base64": "%%%"},
            {"path": "rooms/a/3.md", "text": "\ud800"},
            {"path": "rooms/a/4.md", "text": SECRET},
            {"text": "x"},
            "rooms/a/5.md",
            {"path": "rooms/a/6.md", "text": "- Good."},
        ]
        done = target.take(put(tmp_path, {"e.json": bundle(*entries)}) / "e.json")
        assert (done.added, len(done.refused)) == (1, 6)
        assert SECRET.split()[-1] not in repr(done)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "e.json:1"),
            ("[1]", "no form I know"),
            ('{"format": "other"}', "no form I know"),
            (bundle(version="2"), "no export of a palace"),
            (bundle(files={}), "list of files"),
            ("[" * 100_000, "the list never ends"),
            (b"\xff\xfe", "is written in UTF-16"),
            (b"\xff\xff", "it is not JSON"),
        ],
    )
    def test_other_json_is_an_error_with_a_hint(self, target: Target, tmp_path, text, message):
        source = put(tmp_path, {"e.json": text}) / "e.json"
        with pytest.raises(ConfigError) as caught:
            target.take(source)
        assert message in caught.value.message
        assert caught.value.hint

    def test_an_export_of_a_newer_version_is_told_apart(self, target: Target, tmp_path):
        source = put(tmp_path, {"e.json": bundle(version=2)}) / "e.json"
        with pytest.raises(SchemaTooNewError, match="version 2") as caught:
            target.take(source)
        assert caught.value.hint

    def test_json_holds_files_and_readable_memories(self, target: Target, tmp_path: Path):
        put(
            target.root,
            {
                "rooms/a/x.md": "- One.\n  <!-- memory id=m-1 created=2026-05-08 -->\n",
                "rooms/a/latin.md": b"- caf\xe9\n",
                "rooms/a/picture.png": "x",
                "playbooks/p.md": "# P\n",
                "identity.txt": "I.",
                "journal/2026-05.jsonl": "{}",
                ".palace/index.md": "x",
            },
        )
        memories = target.store.read("rooms/a/x.md").memories
        done = export_json(
            target.root, tmp_path / "e.json", files=own_files(target.root), memories=memories
        )
        data = json.loads((tmp_path / "e.json").read_text("utf-8"))
        assert (done.files, done.memories) == (4, 1)
        assert [entry["path"] for entry in data["files"]] == [
            "identity.txt",
            "playbooks/p.md",
            "rooms/a/latin.md",
            "rooms/a/x.md",
        ]
        (memory,) = data["memories"]
        assert memory["id"] == "m-1"
        assert memory["created"] == "2026-05-08T00:00:00+00:00"
        assert memory["valid_to"] is None
        assert stat.S_IMODE((tmp_path / "e.json").stat().st_mode) == 0o600
        assert sorted(p.name for p in tmp_path.iterdir()) == ["e.json", "palace"]

    def test_nothing_is_overwritten(self, target: Target, tmp_path: Path):
        put(target.root, {"rooms/a/x.md": "x"})
        put(tmp_path, {"e.json": "mine", "full/x": "mine"})
        for export, name in ((export_json, "e.json"), (export_markdown, "full")):
            with pytest.raises(ConfigError) as caught:
                export(target.root, tmp_path / name, files=own_files(target.root), memories=())
            assert caught.value.hint
        assert (tmp_path / "e.json").read_text() == "mine"
        with pytest.raises(ConfigError, match="no folder"):
            export_json(
                target.root, tmp_path / "missing/e.json", files=own_files(target.root), memories=()
            )
        with pytest.raises(ConfigError, match="part of the palace"):
            export_markdown(
                target.root, target.root / "rooms/copy", files=own_files(target.root), memories=()
            )

    def test_what_a_link_leads_to_is_there_once_and_by_its_own_name(self, target, tmp_path):
        put(target.root, {"rooms/a/x.md": "x"})
        put(tmp_path, {"outside/y.md": "y"})
        (target.root / "rooms/z").symlink_to("a")
        (target.root / "rooms/a/same.md").symlink_to("x.md")
        (target.root / "rooms/a/loop").symlink_to(".")
        (target.root / "rooms/out").symlink_to(tmp_path / "outside")
        (target.root / "identity.txt").symlink_to(tmp_path / "outside/y.md")
        assert own_files(target.root) == ["rooms/a/x.md"]


_NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12
).filter(lambda name: not place_reason(f"rooms/{name}/x.md"))
_CONTENT = st.binary(max_size=60) | st.text(max_size=60).map(str.encode)
_PLACES = st.one_of(
    st.just("identity.txt"),
    st.builds("rooms/{}/{}.md".format, _NAMES, _NAMES),
    st.builds("timeline/2026-05-{:02}.md".format, st.integers(1, 28)),
    st.builds("playbooks/{}.md".format, _NAMES),
)


@given(files=st.dictionaries(_PLACES, _CONTENT, max_size=6))
@settings(deadline=None, max_examples=60)
def test_an_empty_palace_becomes_equal_to_what_was_exported(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("law")
    first, second = Target(put(folder / "first", files)), Target(folder / "second")
    export_json(first.root, folder / "e.json", files=own_files(first.root), memories=())
    done = second.take(folder / "e.json")
    assert done.refused == ()
    read = {p: (second.root / p).read_bytes() for p in files}
    assert read == files
    assert second.texts() == first.texts()
