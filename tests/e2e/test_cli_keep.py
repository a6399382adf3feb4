"""The command line: correct, forget, tag, link, undo, history, and all fields of remember."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PORT = "The staging database listens on port 5432."
NEW_PORT = "The staging database listens on port 5433."


@pytest.fixture
def palace(command: Callable[..., Any]) -> Callable[..., Any]:
    """Run a command; return its JSON document, and keep the exit code in `.code`."""

    def call(*argv: str) -> Any:
        ended = command(*argv, "--json")
        call.code = ended.code  # type: ignore[attr-defined]
        return ended.json

    return call


def test_every_field_of_a_memory_can_be_given(palace):
    memory = palace(
        "remember", PORT, "--room", "infra", "--drawer", "ports", "--kind", "negative",
        "--tag", "db", "--importance", "0.9", "--confidence", "0.8", "--project", "site",
        "--source", "agent", "--provenance", "a call with Ann", "--valid-from", "2026-01-02",
        "--valid-to", "2099-01-01T12:00", "--trigger", "deploy", "--trigger", "staging",
        "--key", "staging_port",
    )["memory"]  # fmt: skip
    expected = {
        "room": "infra", "drawer": "ports", "kind": "negative", "tags": ["db"], "importance": 0.9,
        "confidence": 0.8, "scope": "project:site", "trust": "agent", "key": "staging_port",
        "provenance": "a call with Ann", "valid_from": "2026-01-02T00:00:00+00:00",
        "valid_to": "2099-01-01T12:00:00+00:00", "triggers": ["deploy", "staging"],
    }  # fmt: skip
    assert {name: memory[name] for name in expected} == expected


def test_what_holds_until_a_date_holds_on_that_day(palace):
    day = ("--valid-from", "2026-05-01", "--valid-to", "2026-05-01")
    memory = palace("remember", PORT, *day)["memory"]
    assert memory["valid_to"] == "2026-05-01T23:59:59.999999+00:00"
    assert palace("search", "staging port", "--as-of", "2026-05-01T18:00")["hits"]
    assert not palace("search", "staging port", "--as-of", "2026-05-02T00:00")["hits"]


@pytest.mark.parametrize("option", ["--valid-from", "--valid-to"])
def test_a_span_before_now_is_not_when_a_memory_holds(command, option):
    code, _, err = command("remember", PORT, option, "2w")
    assert (code, "use 2026-05-07 or" in err) == (2, True)


def test_where_forgotten_words_still_stand_is_said(palace, command, here):
    old = palace("remember", PORT)["memory"]["id"]
    page = here / "timeline" / "2026-05-07.md"
    page.parent.mkdir()
    page.write_text(f"[2026-05-07 14:30] Ann: As I said before lunch: {PORT}\n")
    other = palace("search", "before lunch")["hits"][0]["memory"]["id"]
    assert palace("forget", old)["remaining"] == ["timeline/2026-05-07.md:1"]
    palace("undo")
    code, out, err = command("forget", old)
    assert (code, out.split()[0]) == (0, "forgotten")
    assert f"the same words still stand in timeline/2026-05-07.md:1  {other}" in err
    assert palace("forget", other)["remaining"] == []


def test_a_memory_is_corrected_shown_with_its_history_and_brought_back(palace):
    old = palace("remember", PORT)["memory"]["id"]
    new = palace("correct", old, NEW_PORT, "--reason", "it moved")["memory"]
    assert palace.code == 0
    past = palace("history", new["id"])
    assert [v["text"] for v in past["versions"]] == [PORT, NEW_PORT]
    assert palace("undo")["removed"] == [new["id"]]
    assert [h["memory"]["id"] for h in palace("search", "staging port")["hits"]] == [old]
    palace("undo")
    assert palace("undo")["error"]["type"] == "MemoryNotFoundError"
    assert palace.code == 1


def test_a_memory_is_forgotten_and_erased(palace, here):
    memory = palace("remember", PORT)["memory"]["id"]
    assert palace("forget", memory, "-r", "moved")["memory"]["status"] == "inactive"
    assert PORT in (here / "rooms" / "inbox" / "notes.md").read_text("utf-8")
    assert palace("forget", memory, "--erase")["erased"] == [memory]
    assert not [p for p in here.rglob("*") if p.is_file() and b"listens on" in p.read_bytes()]
    assert palace("forget", memory)["error"]["type"] == "MemoryNotFoundError"


def test_tags_and_links_are_shown(palace):
    port = palace("remember", PORT)["memory"]["id"]
    lamp = palace("remember", "The lamp is green.", "--room", "house")["memory"]["id"]
    assert palace("tag", port, "db", "#old")["memory"]["tags"] == ["db", "old"]
    assert palace("tag", port, "--remove", "old")["memory"]["tags"] == ["db"]
    assert palace("link", port, lamp)["memory"]["links"] == [lamp]
    assert [m["id"] for m in palace("show", port)["linked"]] == [lamp]
    assert palace("link", port, lamp, "--remove")["memory"]["links"] == []
    palace("tag", port)
    assert palace.code == 2
    palace("tag", port, "no tag")
    assert palace.code == 2


def test_a_person_reads_what_happened(command):
    memory = command("remember", PORT).out.split()[-1]
    other = command("remember", "The lamp is green.").out.split()[-1]
    assert command("link", memory, other).out.startswith(f"linked  {other}\n- ")
    assert "linked with\n- The lamp is green." in command("show", memory).out
    code, out, _ = command("history", memory)
    assert (code, out.splitlines()[0]) == (0, f"- {PORT}")
    assert "  link  c-" in out
    assert command("undo").out.startswith("undone  link")
    command("remember", PORT, "--project", "site")
    code, out, err = command("forget", memory, "--erase")
    assert (code, out.split()[0]) == (0, "erased")
    assert "the same words still stand in rooms/inbox/notes.md:" in err


def test_what_an_old_copy_overwrote_is_listed_and_recovered(palace, command, here):
    palace("remember", "The lathe stands in Oslo.", "--room", "infra")
    file = here / "rooms" / "infra" / "notes.md"
    old = file.read_bytes()
    identifier = palace("remember", PORT, "--room", "infra")["memory"]["id"]
    assert palace("recover") == {"overwritten": []}
    file.write_bytes(old)
    [lost] = palace("recover")["overwritten"]
    assert (lost["id"], lost["text"], lost["how"]) == (identifier, PORT, "missing")
    code, out, _ = command("recover")
    assert code == 0
    assert identifier in out
    code, out, _ = command("recover", identifier)
    assert (code, "recovered" in out) == (0, True)
    assert PORT in file.read_text("utf-8")
    palace("recover", identifier)
    assert palace.code == 1
    assert "What was written" in command("recover").out


def test_what_is_corrected_stays_under_its_headings(command, here):
    drawer = here / "rooms" / "house" / "heating.md"
    drawer.parent.mkdir(parents=True)
    words = (
        "# Heating\n\n## Boiler\n\nThe pressure is 1.5 bar.\n\n"
        "| part | age |\n|---|---|\n| pump | 4 |\n\n## Service\n\n- Next one in October.\n"
    )
    drawer.write_text(words)
    for asked, right in (("pressure", "The pressure is 1.8 bar."), ("pump", "The pump is new.")):
        (hit,) = command("search", asked, "-k", "1", "--json").json["hits"]
        told = command("correct", hit["memory"]["id"], right, "--json").json
        assert (told["memory"]["heading"], told["memory"]["text"]) == ("Boiler", right)
        assert command("undo").code == 0
        assert drawer.read_text() == words
