"""The command line through its own door: every verb as text and as JSON, and every exit code."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from palace import load_settings
from palace.learn.remember import OnConflict
from palace.presets import preset_names
from palace.serve import commands_write
from palace.serve.cli import main, program
from palace.types.memory import MemoryKind

ANSWERED = "When did we ship version 4.1.0?"
NEARLY = "Which database do we use?"
UNKNOWN = "Who is our CFO?"
TASK = "Translate this sentence into French: good morning"


Palace = Callable[..., Any]


@pytest.fixture
def palace(command: Palace) -> Palace:
    return command


@pytest.fixture
def filled(palace: Palace) -> Palace:
    """The same with a few memories."""
    statements = [
        ("We shipped version 4.1.0 on 2026-03-02.", "releases"),
        ("Tomas owns the database and the backups.", "people"),
        ("Mira prefers tea over coffee.", "people"),
        ("The office in Zürich opens at 08:30, 日本語.", "office"),
    ]
    for text, room in statements:
        assert palace("remember", text, "--room", room).code == 0
    return palace


# ask


def test_ask_quotes_with_source_and_date(filled: Palace) -> None:
    ended = filled("ask", ANSWERED)
    assert ended.code == 0
    assert "We shipped version 4.1.0 on 2026-03-02." in ended.out
    assert "rooms/releases/notes.md:" in ended.out
    assert "as of 20" in ended.out
    assert ended.err == ""


def test_ask_quotes_only_what_is_nearly_as_sure_as_the_best(palace: Palace) -> None:
    for text in ("The launch of the site is on 15 June 2026.", "The site has a blue header."):
        assert palace("remember", text, "--room", "site", "--on-conflict", "keep").code == 0
    ended = palace("ask", "When is the launch of the site?")
    evidence = palace("ask", "When is the launch of the site?", "--json").json["evidence"]
    assert len(evidence) == 2
    assert evidence[1]["confidence"] < evidence[0]["confidence"] / 2
    assert evidence[0]["text"] in ended.out
    assert evidence[1]["text"] not in ended.out


def test_ask_json_is_the_verdict(filled: Palace) -> None:
    ended = filled("ask", ANSWERED, "--json")
    verdict = ended.json
    keys = {"id", "action", "outcome", "layer", "text", "signal", "evidence", "walk"}
    assert verdict.keys() == keys
    assert (verdict["action"], verdict["outcome"], verdict["layer"]) == ("ground", "hit", "L1")
    assert verdict["evidence"][0]["text"] == "We shipped version 4.1.0 on 2026-03-02."
    assert filled("why", verdict["id"], "--json").json["id"] == verdict["id"]


def test_ask_falls_back_with_code_1(filled: Palace) -> None:
    ended = filled("ask", UNKNOWN)
    assert ended.code == 1
    assert ended.out.startswith("I don't have this in my memory palace.")
    as_json = filled("ask", UNKNOWN, "--json")
    assert as_json.code == 1
    assert as_json.json["action"] == "fallback"


def test_ask_shows_a_near_miss_and_says_so(filled: Palace) -> None:
    ended = filled("ask", NEARLY)
    assert ended.code == 1
    assert "which may not answer it" in ended.out
    assert "Tomas owns the database" in ended.out
    assert "near miss" in ended.out
    assert filled("ask", NEARLY, "--json").json["action"] == "confirm"


def test_ask_lets_a_task_pass(filled: Palace) -> None:
    ended = filled("ask", TASK)
    assert ended.code == 0
    assert "no recall question" in ended.out
    assert filled("ask", TASK, "--json").json["action"] == "pass"


def test_ask_passes_with_context_when_the_settings_say_so(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALACE_CONTEXT__INJECT", "always")
    ended = filled("ask", "Write a haiku about Mira and her tea")
    assert ended.code == 0
    assert "attached" in ended.out
    assert "Mira prefers tea over coffee." in ended.out


def test_ask_may_generate_when_the_settings_say_so(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALACE_ENFORCE__ON_MISS", "generate")
    monkeypatch.setenv("PALACE_ENFORCE__ON_UNCLEAR", "fallback")
    ended = filled("ask", UNKNOWN)
    assert ended.code == 0
    assert "ungrounded" in ended.out


def test_ask_reads_standard_input(filled: Palace) -> None:
    ended = filled("ask", "-", "--json", stdin=f"{ANSWERED}\n".encode())
    assert ended.json["action"] == "ground"
    assert filled("why", "--json").json["prompt"] == ANSWERED


def test_ask_session_and_project_reach_the_journal(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled("ask", ANSWERED, "--session", "one", "--project", "site")
    record = filled("why", "--json").json
    assert (record["session"], record["project"]) == ("one", "site")
    monkeypatch.setenv("PALACE_SESSION", "two")
    monkeypatch.setenv("PALACE_PROJECT", "shop")
    filled("ask", ANSWERED)
    record = filled("why", "--json").json
    assert (record["session"], record["project"]) == ("two", "shop")


def test_ask_takes_a_history(filled: Palace, tmp_path: Path) -> None:
    file = tmp_path / "history.json"
    file.write_text(json.dumps([{"role": "user", "content": "Tell me of version 4.1.0."}]))
    ended = filled("ask", "And when did we ship it?", "--history", str(file), "--json")
    assert ended.code in (0, 1)
    assert ended.json["id"]
    file.write_text('{"role": "user", "content": "Tell me of version 4.1.0."}\n\n')
    by_line = filled("ask", "And when did we ship it?", "--history", str(file), "--json")
    assert by_line.json["outcome"] == ended.json["outcome"]


@pytest.mark.parametrize("text", ["{", "{}", '[{"role": 1}]', '["x"]', "\udcff"])
def test_ask_refuses_a_history_that_is_none(filled: Palace, tmp_path: Path, text: str) -> None:
    file = tmp_path / "history.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    ended = filled("ask", "x", "--history", str(file), "--json")
    assert ended.code == 2
    assert "role" in ended.json["error"]["hint"]


def test_ask_names_a_missing_history(filled: Palace) -> None:
    ended = filled("ask", "x", "--history", "nowhere.json")
    assert ended.code == 2
    assert "nowhere.json" in ended.err


# remember


def test_what_is_not_kept_of_a_text_is_told(palace: Palace) -> None:
    block = "<memory-context>old</memory-context>"
    ended = palace("remember", f"The gate {block} is green.")
    assert "kept in these words" in ended.out
    assert "is green." in ended.out
    assert "in these words" in palace("note", f"The shed {block} is red.", "--session", "s").out
    assert "in these words" not in palace("remember", "The well  is\ndeep.").out


def test_remember_stores_and_says_where(palace: Palace) -> None:
    ended = palace("remember", "The tunnel uses port 5432.", "--room", "infra", "--drawer", "net")
    assert ended.code == 0
    assert ended.out.startswith("stored  rooms/infra/net.md:")


def test_remember_json_has_every_field(palace: Palace) -> None:
    ended = palace(
        "remember",
        "Nobody deploys on Fridays.",
        *("--room", "rules", "--kind", "preference", "--importance", "0.9"),
        *("--tag", "deploy", "--tag", "friday", "--project", "site", "--json"),
    )
    document = ended.json
    memory = document["memory"]
    assert document["status"] == "stored"
    assert memory["source"] == f"{memory['path']}:{memory['line']}"
    assert (memory["room"], memory["kind"], memory["importance"]) == ("rules", "preference", 0.9)
    assert (memory["scope"], set(memory["tags"])) == ("project:site", {"deploy", "friday"})
    assert memory["trust"] == "user"


def test_remember_twice_is_a_duplicate_and_no_failure(filled: Palace) -> None:
    ended = filled("remember", "We shipped version 4.1.0 on 2026-03-02.", "--room", "releases")
    assert ended.code == 0
    assert ended.out.startswith("duplicate  rooms/releases/notes.md:")
    again = filled("remember", "We shipped version 4.1.0 on 2026-03-02.", "--json")
    assert again.json["status"] == "duplicate"


def test_remember_shows_a_conflict_and_how_to_decide(filled: Palace) -> None:
    new = "We shipped version 4.1.0 on 2026-03-05."
    ended = filled("remember", new, "--room", "releases")
    assert ended.code == 1
    assert ended.out.startswith("conflict  rooms/releases/notes.md:")
    assert "--on-conflict supersede" in ended.out
    as_json = filled("remember", new, "--json")
    assert (as_json.code, as_json.json["status"]) == (1, "conflict")
    assert as_json.json["detail"]
    decided = filled("remember", new, "--room", "releases", "--on-conflict", "supersede", "--json")
    assert (decided.code, decided.json["status"]) == (0, "stored")
    active = filled("list", "releases", "--json").json["memories"]
    every = filled("list", "releases", "--all", "--json").json["memories"]
    assert [m["text"] for m in active] == [new]
    assert {m["status"] for m in every} == {"active", "inactive"}
    assert "superseded by" in filled("list", "releases", "--all").out


def test_a_conflict_names_no_way_that_leads_nowhere(filled: Palace) -> None:
    """What a person said, an agent cannot replace: the same advice again would go in a circle."""
    said = ("We shipped version 4.1.0 on 2026-03-05.", "--source", "agent")
    ended = filled("remember", *said, "--on-conflict", "supersede")
    assert ended.code == 1
    assert "--on-conflict supersede" not in ended.out
    assert "--source user" in ended.out
    assert "--on-conflict keep" in ended.out
    assert filled("remember", *said, "--on-conflict", "keep").code == 0


def test_a_conflict_over_a_key_cannot_be_kept(filled: Palace) -> None:
    assert filled("remember", "Answers go out in German.", "--key", "language").code == 0
    agent = ("remember", "Answers go out in Dutch.", "--key", "language", "--source", "agent")
    ended = filled(*agent)
    assert ended.code == 1
    assert "--source user" in ended.out
    assert "--on-conflict" not in ended.out


def test_a_refused_correction_names_no_option_it_does_not_have(filled: Palace) -> None:
    mine = filled("remember", "The rent is 950 euros.", "--source", "agent", "--json").json
    assert filled("remember", "The deposit is 500 euros.").code == 0
    ended = filled(
        "correct", mine["memory"]["id"], "The deposit is 700 euros.", "--source", "agent"
    )
    assert ended.code == 1
    assert "--source user" in ended.out
    assert "--on-conflict" not in ended.out


def test_a_search_reads_memories_of_a_session_and_no_notes(palace: Palace) -> None:
    palace("remember", "The draft is called Otter.", "--session", "monday")
    palace("note", "The tunnel listens on port 5432.", "--session", "monday")
    assert palace("search", "Otter", "--session", "monday").code == 0
    assert palace("search", "tunnel", "--session", "monday", "-k", "9").out.count("tunnel") == 0


def test_import_says_what_to_do_with_a_secret(palace: Palace, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('- password = "hunter2hunter2X9!"\n', encoding="utf-8")
    ended = palace("import", str(page))
    assert "PALACE_WRITE__SECRETS=redact" in ended.out


def test_remember_reads_standard_input(palace: Palace) -> None:
    ended = palace("remember", "-", "--json", stdin="\ufeffGrüße aus Köln: 日本語 🙂\n".encode())
    assert ended.json["memory"]["text"] == "Grüße aus Köln: 日本語 🙂"


def test_remember_does_not_take_its_scope_from_the_environment(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALACE_SESSION", "one")
    monkeypatch.setenv("PALACE_PROJECT", "site")
    ended = palace("remember", "The tunnel uses port 5432.", "--json")
    assert ended.json["memory"]["scope"] == "global"


def test_a_text_may_begin_with_a_dash(palace: Palace) -> None:
    ended = palace("remember", "--room", "x", "--", "--force is never used on main.")
    assert ended.code == 0
    refused = palace("remember", "--force is never used on main.")
    assert refused.code == 2
    assert "put `--` before" in refused.err


# notes


def test_note_list_and_promote(palace: Palace) -> None:
    noted = palace("note", "The tunnel uses port 5432.", "--session", "one", "--json").json
    assert noted["status"] == "noted"
    entry = noted["note"]["id"]
    listed = palace("note", "--list", "--session", "one")
    assert "The tunnel uses port 5432." in listed.out
    assert entry in listed.out
    ended = palace(
        *("promote", entry, "--room", "infra", "--drawer", "net"),
        *("-s", "The tunnel to the database uses port 5432.", "-r", "asked twice"),
    )
    assert ended.code == 0
    assert ended.out.startswith("stored  rooms/infra/net.md:")
    (kept,) = palace("note", "--list", "--session", "one", "--json").json["notes"]
    assert kept["promoted"].startswith("m-")
    assert "promoted to m-" in palace("note", "--list", "--session", "one").out


def test_note_takes_its_session_from_the_environment(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALACE_SESSION", "two")
    palace("note", "-", "--ttl", "60", stdin=b"from a pipe\n")
    (note,) = palace("note", "--list", "--json").json["notes"]
    assert (note["session_id"], note["text"], note["ttl_s"]) == ("two", "from a pipe", 60)


def test_note_list_of_nothing(filled: Palace) -> None:
    ended = filled("note", "--list", "--session", "nobody")
    assert (ended.code, ended.out) == (0, "")
    assert "no living notes" in ended.err


@pytest.mark.parametrize(
    "argv", [("note", "--session", "s"), ("note", "x", "--list", "--session", "s"), ("note", "x")]
)
def test_note_wants_a_text_or_list_and_a_session(palace: Palace, argv: tuple[str, ...]) -> None:
    assert palace(*argv).code == 2


def test_promote_of_an_unknown_note(filled: Palace) -> None:
    ended = filled(
        "promote", "s-none", "--room", "a", "--drawer", "b", "-s", "x", "-r", "y", "--json"
    )
    assert ended.code == 1
    assert ended.json["error"]["type"] == "MemoryNotFoundError"


# list, show, search


def test_list_counts_rooms(filled: Palace) -> None:
    rooms = {r["name"]: r for r in filled("list", "--json").json["rooms"]}
    assert rooms.keys() == {"releases", "people", "office"}
    assert rooms["people"]["memories"] == 2
    assert rooms["people"]["drawers"] == ["notes"]
    text = filled("list").out
    assert "people" in text
    assert "2 memories" in text
    assert "1 memory " in text


def test_list_of_an_empty_palace(palace: Palace) -> None:
    palace("init")
    ended = palace("list")
    assert ended.code == 0
    assert "no rooms yet" in ended.out
    assert "palace list timeline" in ended.out  # what an import of conversations fills
    assert palace("list", "--json").json == {"rooms": []}


def test_list_shows_a_room_and_a_drawer(filled: Palace) -> None:
    filled("remember", "Ines is on call in even weeks.", "--room", "people", "--drawer", "duty")
    assert len(filled("list", "people", "--json").json["memories"]) == 3
    (memory,) = filled("list", "people", "--drawer", "duty", "--json").json["memories"]
    assert memory["text"] == "Ines is on call in even weeks."
    assert "- Ines is on call" in filled("list", "people", "--drawer", "duty").out


def test_list_names_the_nearest_room(filled: Palace) -> None:
    ended = filled("list", "peple")
    assert ended.code == 1
    assert "'peple'" in ended.err
    assert "did you mean 'people'?" in ended.err
    error = filled("list", "peple", "--json").json["error"]
    assert error["type"] == "MemoryNotFoundError"
    assert "people" in error["hint"]
    assert "did you mean 'notes'?" in filled("list", "people", "--drawer", "note").err


def test_list_of_an_unknown_room_makes_none(filled: Palace, tmp_path: Path) -> None:
    filled("list", "elsewhere")
    assert not (tmp_path / "p" / "rooms" / "elsewhere").exists()


def test_show_prints_text_and_metadata(filled: Palace) -> None:
    memory = filled("remember", "The gate code changed.", "--tag", "gate", "--json").json["memory"]
    ended = filled("show", memory["id"])
    assert ended.out.startswith("The gate code changed.\n")
    for piece in (memory["id"], memory["source"], "gate", "importance", "created"):
        assert piece in ended.out
    shown = filled("show", memory["id"], "--json").json
    assert 0.99 < shown.pop("strength") <= 1.0
    assert shown == {**memory, "linked": []}
    assert filled("show", memory["id"][:20], "--json").json["id"] == memory["id"]


def test_show_of_nothing(filled: Palace) -> None:
    ended = filled("show", "m-00000000000")
    assert ended.code == 1
    assert ended.out == ""
    assert "palace list" in ended.err


def test_show_identity_and_playbook(palace: Palace) -> None:
    palace("init", "--sample")
    assert palace("show", "identity").out.strip()
    identity = palace("show", "identity", "--json").json
    assert identity["chars"] == len(identity["text"])
    ended = palace("show", "deploy-to-production")
    assert ended.out.startswith("Deploy to production\nplaybooks/deploy-to-production.md")
    assert palace("show", "deploy-to-production", "--json").json["steps"]


def test_show_of_a_playbook_tells_what_it_needs_and_warns_of(palace: Palace) -> None:
    palace("init")
    file = Path(os.environ["PALACE_ROOT"]) / "playbooks" / "queue.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text("---\nprerequisites: [a key]\nwarnings: [Not at noon.]\n---\n1. Stop it.\n")
    shown = palace("show", "queue").out
    assert "prerequisites: a key\nwarnings: Not at noon.\n\n1. Stop it." in shown


def test_search_ranks_with_scores_and_sources(filled: Palace) -> None:
    ended = filled("search", "Zürich office", "-k", "1")
    assert ended.code == 0
    assert "The office in Zürich opens at 08:30, 日本語." in ended.out
    assert "rooms/office/notes.md:" in ended.out
    (hit,) = filled("search", "Zürich office", "-k", "1", "--json").json["hits"]
    assert hit["score"] > 0
    assert hit["parts"]
    assert hit["memory"]["room"] == "office"


def test_search_without_a_hit_is_code_1(filled: Palace) -> None:
    ended = filled("search", "xylophone quartet")
    assert ended.code == 1
    assert ended.out == ""
    as_json = filled("search", "xylophone quartet", "--json")
    assert (as_json.code, as_json.json) == (1, {"hits": []})


def test_json_is_not_escaped(filled: Palace) -> None:
    assert "Zürich" in filled("search", "Zürich", "--json").out
    assert "日本語" in filled("list", "office", "--json").out


# wakeup, journal, why


def test_wakeup_says_what_it_left_out(palace: Palace) -> None:
    palace("init", "--sample")
    ended = palace("wakeup", "--session", "one", "--budget", "120")
    assert ended.code == 0
    assert ended.out.strip()
    assert "of 120 tokens used" in ended.err
    assert "left out:" in ended.err
    document = palace("wakeup", "--session", "one", "--budget", "120", "--json").json
    assert document["text"].splitlines() == ended.out.splitlines()
    assert document["used_tokens"] <= document["budget_tokens"] == 120
    assert document["left_out"]


def test_wakeup_wants_a_session(filled: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert filled("wakeup").code == 2
    monkeypatch.setenv("PALACE_SESSION", "one")
    assert filled("wakeup").code == 0


def test_journal_lists_newest_first(filled: Palace) -> None:
    for prompt in (ANSWERED, UNKNOWN, TASK):
        filled("ask", prompt)
    records = filled("journal", "--json").json["records"]
    assert [r["prompt"] for r in records] == [TASK, UNKNOWN, ANSWERED]
    text = filled("journal", "-n", "2").out.splitlines()
    assert len(text) == 2
    assert "pass" in text[0]
    assert "fallback" in text[1]


@pytest.mark.parametrize("since", ["1h", "7d", "2w", "30M", "2020-01-01", "2020-01-01T00:00:00Z"])
def test_journal_since_keeps_the_late(filled: Palace, since: str) -> None:
    filled("ask", TASK)
    assert len(filled("journal", "--since", since, "--json").json["records"]) == 1


def test_journal_since_drops_the_early(filled: Palace) -> None:
    filled("ask", TASK)
    assert filled("journal", "--since", "2999-01-01", "--json").json == {"records": []}
    assert "no verdicts" in filled("journal", "--since", "2999-01-01").err


@pytest.mark.parametrize("since", ["yesterday", "7", "d", "7y", "999999w", "2026-13-01"])
def test_journal_refuses_what_is_no_time(filled: Palace, since: str) -> None:
    ended = filled("journal", "--since", since)
    assert ended.code == 2
    assert "7d" in ended.err


def test_why_explains_the_last_verdict(filled: Palace) -> None:
    identifier = filled("ask", ANSWERED, "--json").json["id"]
    ended = filled("why")
    assert ended.code == 0
    assert ended.out.startswith(identifier)
    assert "L1" in ended.out
    assert "confidence" in ended.out


def test_why_without_a_verdict(filled: Palace) -> None:
    assert filled("why").code == 1
    ended = filled("why", "v-unknown", "--json")
    assert (ended.code, ended.json["error"]["type"]) == (1, "MemoryNotFoundError")


# import, export


def test_export_and_import_carry_a_palace(filled: Palace, tmp_path: Path) -> None:
    ended = filled("export", "backup.json")
    assert ended.code == 0
    assert "4 memories" in ended.out
    other = str(tmp_path / "other")
    taken = filled("import", "backup.json", "--root", other, "--json").json
    assert (taken["kind"], taken["added"], taken["refused"]) == ("export", 3, [])
    again = filled("import", "backup.json", "--root", other)
    assert again.code == 0
    assert "0 files added" in again.out
    assert "3 files unchanged" in again.out
    assert filled("ask", ANSWERED, "--root", other).code == 0


def test_records_are_left_behind_on_demand(filled: Palace, tmp_path: Path) -> None:
    filled("ask", ANSWERED)
    filled("export", "backup.json")
    other = ("--root", str(tmp_path / "other"))
    taken = filled("import", "backup.json", "--no-records", *other, "--json").json
    assert (taken["added"], taken["records"]) == (3, 0)
    assert filled("journal", *other, "--json").json == {"records": []}
    assert "records added" in filled("import", "backup.json", *other).out
    assert ANSWERED in filled("journal", *other).out


def test_export_to_standard_output_is_one_document(filled: Palace) -> None:
    plain = filled("export", "-")
    assert plain.json["format"] == "mempalace-export"
    assert len(plain.json["memories"]) == 4
    assert "Zürich" in plain.out
    assert filled("export", "-", "--json").json == plain.json


def test_export_as_markdown(filled: Palace, tmp_path: Path) -> None:
    ended = filled("export", "copy", "--format", "markdown", "--json")
    assert ended.json["memories"] == 4
    assert (tmp_path / "copy" / "rooms" / "people" / "notes.md").is_file()
    assert filled("export", "-", "--format", "markdown").code == 2


def test_export_overwrites_nothing(filled: Palace, tmp_path: Path) -> None:
    (tmp_path / "backup.json").write_text("mine")
    ended = filled("export", "backup.json", "--json")
    assert (ended.code, ended.json["error"]["type"]) == (2, "ConfigError")
    assert (tmp_path / "backup.json").read_text() == "mine"


def test_import_lists_what_it_refused(palace: Palace, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "good.md").write_text("- The gate is green.\n")
    (notes / "bad.md").write_bytes(b"\xff\xfe\x00")
    ended = palace("import", "notes")
    assert ended.code == 0
    assert "1 file added" in ended.out
    assert "bad.md: " in ended.out
    (notes / "good.md").unlink()
    refused = palace("import", "notes", "--json")
    assert refused.code == 2
    assert len(refused.json["refused"]) == 1


def test_turns_are_shown_with_who_says_them(palace: Palace, tmp_path: Path) -> None:
    said = {"session": "a", "speaker": "Kim", "text": "I moved the press to the cellar."}
    (tmp_path / "turns.jsonl").write_text(json.dumps(said | {"at": "2026-03-02T10:00:00Z"}) + "\n")
    assert "1 turn added" in palace("import", "turns.jsonl").out
    for shown in (palace("search", "press"), palace("ask", "Where did Kim move the press?")):
        assert "Kim: I moved the press to the cellar." in shown.out


# init, care


def test_init_makes_a_private_palace_and_overwrites_nothing(palace: Palace, tmp_path: Path) -> None:
    ended = palace("init", str(tmp_path / "new"))
    root = tmp_path / "new"
    assert ended.code == 0
    assert "Next:\n  say who the agent is" in ended.out
    assert f"palace --root {root} ask" in ended.out
    for name in ("rooms", "playbooks", "config"):
        assert stat.S_IMODE((root / name).stat().st_mode) == 0o700
    for name in ("identity.txt", "config/mempalace.yaml"):
        assert stat.S_IMODE((root / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    (root / "identity.txt").write_text("I am mine.\n")
    (root / "config" / "mempalace.yaml").write_text("preset: none\n")
    again = palace("init", str(root), "--sample", "--preset", "issue_analysis", "--json")
    assert (root / "identity.txt").read_text() == "I am mine.\n"
    assert (root / "config" / "mempalace.yaml").read_text() == "preset: none\n"
    assert "identity.txt" in again.json["kept"]
    assert again.json["advice"]
    assert palace("ask", "x", "--root", str(root)).code == 0


def test_init_among_notes_says_that_they_are_not_read(palace: Palace, tmp_path: Path) -> None:
    for name in ("Trips/Oslo.md", "Trips/Rome.md", ".trash/old.md", "config/help.md"):
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_text("- The ferry left at 9.\n")
    assert "outside rooms/ are not read, such as Trips/Oslo.md" in palace("init").err
    assert "are not read, such as Trips/Oslo.md" in palace("doctor").out
    (tmp_path / "p" / "Trips").rename(tmp_path / "p" / "rooms" / "Trips")
    assert "not read" not in palace("init").err


def test_init_lists_no_thousands_of_files(palace: Palace, tmp_path: Path) -> None:
    (tmp_path / "p" / "rooms").mkdir(parents=True)
    for number in range(30):
        (tmp_path / "p" / "rooms" / f"{number}.md").touch()
    ended = palace("init")
    assert (ended.out.count("kept rooms/"), "kept 10 more" in ended.out) == (20, True)


@pytest.mark.parametrize("preset", get_args(commands_write.PresetName))
def test_init_with_a_preset_switches_its_cues_on(
    palace: Palace, tmp_path: Path, preset: str
) -> None:
    ended = palace("init", "--preset", preset, "--json")
    assert ended.code == 0
    assert any(path.startswith("playbooks/") for path in ended.json["made"])
    assert ended.json["advice"] == []
    loaded = load_settings(root=tmp_path / "p")
    assert loaded.settings.preset == preset
    assert loaded.root == tmp_path / "p"


def test_init_settings_do_not_pin_the_root(palace: Palace, tmp_path: Path) -> None:
    palace("init")
    (tmp_path / "p").rename(tmp_path / "moved")
    moved = tmp_path / "moved"
    assert load_settings(root=moved, env={}).root == moved


def test_reindex_counts(filled: Palace) -> None:
    assert "4 memories read from 3 files" in filled("reindex").out
    assert filled("reindex", "--json").json["memories"] == 4
    assert filled("ask", ANSWERED).code == 0


def test_commands_that_are_shown_can_be_typed_whatever_the_folder_is_called(
    palace: Palace, tmp_path: Path
) -> None:
    root = tmp_path / "my palace"
    assert f"palace init '{root}'" in palace("--root", str(root), "list").err
    assert f"palace --root '{root}' ask" in palace("init", str(root)).out
    root.chmod(0o755)
    assert f"chmod 700 '{root}'" in palace("--root", str(root), "doctor").out


def test_doctor_reports_each_check(filled: Palace) -> None:
    ended = filled("doctor", "--json")
    checks = ended.json["checks"]
    assert len(checks) > 3
    assert ended.json["ok"] == all(c["ok"] for c in checks)
    assert ended.code == (0 if ended.json["ok"] else 3)
    assert all(c["hint"] for c in checks if not c["ok"])
    text = filled("doctor").out
    assert all(c["name"] in text for c in checks)


def test_doctor_fails_with_a_hint(filled: Palace, tmp_path: Path) -> None:
    (tmp_path / "p" / "identity.txt").write_text("x" * 1500)
    ended = filled("doctor")
    assert ended.code == 3
    assert "FAIL  identity  1500 of 1000 characters (150 %), 500 too many" in ended.out
    assert not filled("doctor", "--json").json["ok"]


def test_config_explain_names_origins(palace: Palace, tmp_path: Path) -> None:
    (tmp_path / "mempalace.yaml").write_text("search:\n  top_k: 7\n")
    rows = {r["key"]: r for r in palace("config", "explain", "--json").json["settings"]}
    assert rows["search.top_k"]["value"] == "7"
    assert rows["search.top_k"]["origin"] == f"file {tmp_path / 'mempalace.yaml'}:2"
    assert rows["root"]["origin"] == "env PALACE_ROOT"
    assert "search.top_k" in palace("config", "explain").out


def test_config_explain_hides_tokens(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITEA_TOKEN", "abcdefghij0123456789")
    for argv in (("config", "explain"), ("config", "explain", "--json")):
        assert "abcdefghij" not in palace(*argv).out


def test_config_default_can_be_used(palace: Palace, tmp_path: Path) -> None:
    text = palace("config", "default").out
    (tmp_path / "d.yaml").write_text(text)
    assert palace("config", "path", "--config", "d.yaml").code == 0
    assert palace("config", "default", "--json").json == {"yaml": text}


def test_config_path(palace: Palace, tmp_path: Path) -> None:
    assert palace("config", "path", "--json").json == {
        "file": None,
        "root": str(tmp_path / "p"),
        "ignored": [],
    }
    (tmp_path / "mempalace.yaml").write_text("preset: none\n")
    assert str(tmp_path / "mempalace.yaml") in palace("config", "path").out


# global options


@pytest.mark.parametrize("where", ["before", "after"])
def test_global_options_on_both_sides(filled: Palace, tmp_path: Path, where: str) -> None:
    (tmp_path / "c.yaml").write_text("search:\n  top_k: 1\n")
    options = ["--root", str(tmp_path / "p"), "--config", "c.yaml", "--json"]
    verb = ["search", "Mira tea"]
    ended = filled(*options, *verb) if where == "before" else filled(*verb, *options)
    assert len(ended.json["hits"]) == 1


def test_option_after_the_verb_wins(filled: Palace, tmp_path: Path) -> None:
    ended = filled("--root", "nowhere", "list", "--root", str(tmp_path / "p"), "--json")
    assert len(ended.json["rooms"]) == 3
    inner = filled("config", "--json", "path")
    assert inner.json["root"] == str(tmp_path / "p")


def test_version(palace: Palace) -> None:
    from palace import __version__

    assert palace("--version").out.strip() == __version__
    assert palace("--version", "--json").json == {"version": __version__}


@pytest.mark.parametrize("argv", [(), ("config",)])
def test_no_command_shows_help(palace: Palace, argv: tuple[str, ...]) -> None:
    ended = palace(*argv)
    assert ended.code == 2
    assert ended.out == ""
    assert "Usage: palace" in ended.err
    as_json = palace(*argv, "--json")
    assert as_json.code == 2
    assert as_json.json["error"]["type"] == "UsageError"


def test_main_exits_with_the_code(palace: Palace) -> None:
    for argv, code in (["--version"], 0), (["nonsense"], 2), (["list"], 2):
        with pytest.raises(SystemExit) as ended:
            main(argv)
        assert ended.value.code == code


def _commands() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, command in program.commands.items():
        below = getattr(command, "commands", {})
        found += [(name, inner) for inner in below] or [(name,)]
    return found


@pytest.mark.parametrize("verb", _commands(), ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_has_help_with_an_example(
    palace: Palace, verb: tuple[str, ...], option: str
) -> None:
    ended = palace(*verb, option)
    assert ended.code == 0
    assert f"Usage: palace {' '.join(verb)}" in ended.out
    assert f"Example: palace {' '.join(verb)}" in ended.out
    for shared in ("--root", "--config", "--json"):
        assert shared in ended.out


@pytest.mark.parametrize("verb", _commands(), ids=" ".join)
def test_every_argument_says_what_it_is_for(palace: Palace, verb: tuple[str, ...]) -> None:
    usage, _, rest = palace(*verb, "--help").out.partition("\n")
    names = usage.partition("[OPTIONS]")[2].split()
    told = rest.partition("\nArguments:\n")[2].partition("\nOptions:\n")[0]
    assert re.findall(r"^  (\S+)  +\S", told, re.MULTILINE) == names


def test_shells_can_complete(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    def offered(words: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        ended = palace()
        assert (ended.code, ended.err) == (0, "")
        return [line.partition(",")[2] for line in ended.out.splitlines()]

    monkeypatch.setenv("_PALACE_COMPLETE", "bash_complete")
    assert offered("palace re") == ["remember", "report", "reindex", "recover"]
    assert offered("palace --root x config ") == ["explain", "default", "path"]
    assert offered("palace remember x --kind p") == ["preference", "procedure"]
    assert "--json" in offered("palace ask --")
    monkeypatch.setenv("_PALACE_COMPLETE", "zsh_source")
    assert "compdef" in palace().out


def test_short_help_is_not_cut(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = palace("--help").out.partition("Commands:")[2]
    assert "remember" in listed
    assert "..." not in listed


def test_choices_are_the_facade_s() -> None:
    assert get_args(MemoryKind) == commands_write.KINDS
    assert get_args(OnConflict) == commands_write.WAYS
    assert {*get_args(commands_write.PresetName), "sample"} == set(preset_names())


# counts


def test_one_is_said_as_one(palace: Palace, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "pump.md").write_text("# Pump\n\nThe pump is green.\n", "utf-8")
    said = [
        palace("import", str(tmp_path / "in")).out,
        palace("list").out,
        palace("reindex").out,
        palace("doctor").out,
        palace("ask", "What colour is the pump?").out,
        palace("why").out,
        palace("export", str(tmp_path / "out.json")).out,
        palace("report").out,
    ]
    wanted = [
        "1 file added",
        "1 memory",
        "1 memory read from 1 file",
        "1 file, all understood",
        "The pump is green.",
        "1 candidate",
        "1 memory in 1 file",
        "0 entries of 0 sessions",
    ]
    for text, words in zip(said, wanted, strict=True):
        assert words in text
        assert not re.search(r"(?<![\w.])1 (?:of \w+ )?(?!times|was)[a-z]+s\b", text), text
