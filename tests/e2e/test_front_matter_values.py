"""A value at the head of a note is remembered, quoted as it is written, and changed by hand alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from palace import Mempalace, RetrievalEnforcer, TextRefusedError, Turn

NOTE = """---
title: Heron
tags: [project]
aliases: [HRN]
date created: 2025-11-03
kanban-plugin: board
status: paused   # since March
owner: "[[people/tamsin]]"
stack:
  - Go
  - NATS
# for the board
budget: 18,000 EUR

rating:
reviewer: <% tp.user.me() %>
links: []
due: {{date}}
---
# Heron

- The gateway speaks HTTP/2.
"""


@pytest.fixture
def root(here: Path) -> Path:
    return here


@pytest.fixture
def note(palace: Mempalace) -> Path:
    path = palace.root / "rooms" / "projects" / "heron.md"
    path.parent.mkdir(parents=True)
    path.write_text(NOTE, "utf-8")
    palace.refresh()
    return path


def test_values_are_memories_and_what_is_told_of_the_page_is_none(palace: Mempalace, note: Path):
    found = palace.memories(room="projects")
    assert [(m.line, m.text) for m in found] == [
        (7, "status: paused   # since March"),
        (8, 'owner: "[[people/tamsin]]"'),
        (9, "stack:\n- Go\n- NATS"),
        (13, "budget: 18,000 EUR"),
        (22, "The gateway speaks HTTP/2."),
    ]
    assert [m.provenance for m in found] == ["front matter"] * 4 + [""]
    assert found[1].links == ("people/tamsin",)
    assert {m.title for m in found} == {"Heron"}
    assert {m.tags for m in found} == {("project",)}


def test_a_question_for_a_value_is_answered_by_it(palace: Mempalace, note: Path):
    enforcer = RetrievalEnforcer(palace)
    verdict = enforcer.decide("What is the budget of Heron?")
    assert (verdict.action, verdict.evidence[0].text) == ("ground", "budget: 18,000 EUR")
    verdict = enforcer.decide("What is the status of HRN?")
    assert verdict.evidence[0].text.startswith("status: paused")
    note.write_text(NOTE.replace("18,000", "21,000"), "utf-8")
    palace.refresh()
    verdict = enforcer.decide("What is the budget of Heron?")
    assert [e.text for e in verdict.evidence if "budget" in e.text] == ["budget: 21,000 EUR"]


@pytest.mark.parametrize(
    "change",
    [
        lambda palace, identifier: palace.correct(identifier, "status: active"),
        lambda palace, identifier: palace.forget(identifier),
        lambda palace, identifier: palace.erase(identifier),
        lambda palace, identifier: palace.tag(identifier, add=["late"]),
        lambda palace, identifier: palace.link(identifier, "projects/heron"),
        lambda palace, identifier: palace.link(
            palace.remember("Heron has a board.").memory.id, identifier
        ),
    ],
)
def test_a_value_is_changed_by_hand_alone(
    change: Callable[[Mempalace, str], Any], palace: Mempalace, note: Path
):
    status = palace.memories(room="projects")[0]
    with pytest.raises(TextRefusedError, match="a value of the front matter") as refused:
        change(palace, status.id)
    assert "in line 7" in refused.value.hint
    assert note.read_text("utf-8") == NOTE


def test_what_says_the_same_as_a_value_or_otherwise_leaves_it(palace: Mempalace, note: Path):
    assert palace.remember("budget: 18,000 EUR").status == "stored"
    other = palace.remember("Budget: 19,000 EUR", on_conflict="supersede")
    assert other.status == "stored"
    assert palace.forget(other.memory.id).status == "inactive"
    assert note.read_text("utf-8") == NOTE


def test_who_says_no_to_a_value_is_not_misheard(palace: Mempalace, note: Path):
    enforcer = RetrievalEnforcer(palace)
    enforcer.decide(Turn("What is the budget of Heron?", session_id="s1"))
    enforcer.decide(Turn("No, it is 20,000 EUR, not 18,000 EUR.", session_id="s1"))
    assert note.read_text("utf-8") == NOTE


def test_a_wake_up_tells_values_last(palace: Mempalace, note: Path):
    text = palace.wake_up("s1").text
    assert text.index("speaks HTTP/2") < text.index("status: paused")


def test_a_written_memory_and_what_follows_it_are_read_as_before(palace: Mempalace, note: Path):
    added = palace.remember("Heron has 3 nodes.", room="projects", drawer="heron").memory
    head, _, body = note.read_text("utf-8").rpartition("---\n")
    assert NOTE.startswith(head)
    assert "Heron has 3 nodes." in body
    corrected = palace.correct(added.id, "Heron has 4 nodes.")
    assert len(palace.erase(corrected.memory.id).erased) == 2
    assert note.read_text("utf-8").startswith(NOTE.rstrip("\n"))


TOML = """+++
title = "Heron: a gateway"
tags = ["project", 'infra']
date = 2026-03-14T10:00:00Z
draft = false
status = "paused" # since March
stack = [
  "Go",
  "NATS",
]

[params]
owner = "Tamsin"
"weekly report" = 'Friday'
+++
# Heron

- The gateway speaks HTTP/2.
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_toml_of_a_site_is_front_matter_too(palace: Mempalace, note: Path, newline: str):
    note.write_bytes(TOML.replace("\n", newline).encode())
    assert palace.faults() == []
    palace.refresh()
    found = palace.memories(room="projects")
    assert [(m.line, m.is_value) for m in found] == [(6, True), (7, True), (12, True), (18, False)]
    assert [m.text for m in found] == [
        'status = "paused" # since March',
        'stack = [ "Go", "NATS", ]',
        """[params] owner = "Tamsin" "weekly report" = 'Friday'""",
        "The gateway speaks HTTP/2.",
    ]
    assert {m.title for m in found} == {"Heron: a gateway"}
    assert {m.tags for m in found} == {("project", "infra")}
    assert str(found[-1].created).startswith("2026-03-14")
    palace.remember("Heron has 3 nodes.", room="projects", drawer="heron")
    assert note.read_bytes().startswith(TOML.replace("\n", newline).encode())
    verdict = RetrievalEnforcer(palace).decide("What is the status of Heron?")
    assert verdict.evidence[0].text.startswith("status =")


@pytest.mark.parametrize(
    ("wrong", "line"), [("day = 2026-02-30\n", 3), ('text = """\nmore\n"""\n', 3), ("a = [1\n", 3)]
)
def test_what_cannot_be_read_of_toml_costs_its_key_alone(
    palace: Mempalace, note: Path, wrong: str, line: int
):
    note.write_text(f'+++\ntitle = "Heron"\n{wrong}owner = "Tamsin"\n+++\n- It hums.\n', "utf-8")
    (fault,) = palace.faults()
    assert (fault.line, "front matter cannot be read" in fault.message) == (line, True)
    palace.refresh()
    found = palace.memories(room="projects")
    assert [m.text for m in found] == ['owner = "Tamsin"', "It hums."]
    assert found[0].title == "Heron"


JSON = """{
  "title": "Heron: a gateway",
  "tags": ["project", "infra"],
  "date": "2026-03-14T10:00:00Z",
  "draft": false,
  "status": "paused",
  "stack": [
    "Go",
    "NATS"
  ],
  "params": { "owner": "Tamsin" }
}
# Heron

- The gateway speaks HTTP/2.
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_json_of_a_site_is_front_matter_too(palace: Mempalace, note: Path, newline: str):
    note.write_bytes(JSON.replace("\n", newline).encode())
    assert palace.faults() == []
    palace.refresh()
    found = palace.memories(room="projects")
    assert [(m.line, m.text) for m in found] == [
        (6, '"status": "paused",'),
        (7, '"stack": [ "Go", "NATS" ],'),
        (11, '"params": { "owner": "Tamsin" }'),
        (15, "The gateway speaks HTTP/2."),
    ]
    assert {(m.title, m.tags) for m in found} == {("Heron: a gateway", ("project", "infra"))}
    assert str(found[-1].created).startswith("2026-03-14")
    palace.remember("Heron has 3 nodes.", room="projects", drawer="heron")
    assert note.read_bytes().startswith(JSON.replace("\n", newline).encode())


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "port": 5432,\n  "host": "db"\n}\n',
        '{\n  "type": "user",\n  "id": 7\n}\n',
        '{\n  "title": "Heron",\n}\n',
        "{\n}\n- x\n",
        "{\n  a\n",
    ],
)
def test_other_json_at_the_head_of_a_note_is_a_memory(palace: Mempalace, note: Path, text: str):
    note.write_text(text, "utf-8")
    palace.refresh()
    assert [m.is_value for m in palace.memories(room="projects")][:1] == [False]
