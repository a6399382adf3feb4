"""Copies of a drawer's file say what it says: they are heard once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import pytest

from palace.ports import Candidate
from palace.recall.copies import without_copies
from palace.recall.search import Searcher
from palace.text import tokens
from palace.types.memory import Memory
from palace.types.query import Query
from tests.doubles import indexed, memory

WORDS = "The blue kettle leaks."


def said(drawer: str, number: int, text: str = WORDS, **fields: Any) -> Memory:
    place = {"path": f"rooms/desk/{drawer}.md", "drawer": drawer, "line": 1, "position": 0}
    return memory(text, number, **{**place, **fields})


def heard(*memories: Memory) -> list[str]:
    asked = Query("kettle", tuple(tokens("blue kettle")))
    hits = Searcher(indexed(*memories)).hits(asked, top_k=20)
    return [hit.memory.path.removeprefix("rooms/desk/") for hit in hits]


@pytest.mark.parametrize(
    "name",
    [
        "kitchen (conflicted copy)",
        "kitchen (Ada's conflicted copy 2026-05-14)",
        "kitchen (Adas in Konflikt stehende Kopie 2026-05-14)",
        "kitchen.sync-conflict-20260514-101112-ABCDEFG",
        "kitchen_conflict-20260514-101112",
        "kitchen - Copy",
        "kitchen - Kopie (2)",
        "kitchen copy 2",
        "kitchen (1)",
    ],
)
def test_a_copied_file_is_heard_once(name: str) -> None:
    assert heard(said(name, 1), said("kitchen", 2)) == ["kitchen.md"]


@pytest.mark.parametrize("name", ["kitchen (1)", "kitchen copy", "kitchen-conflict-20260514"])
def test_what_a_copy_says_otherwise_stands_behind_the_original(name: str) -> None:
    found = heard(said(name, 1, "The blue kettle hums."), said("kitchen", 2))
    assert found == ["kitchen.md", f"{name}.md"]


def test_a_name_is_one_in_either_unicode_form() -> None:
    assert heard(said("Caf\u00e9 (1)", 1), said("cafe\u0301", 2)) == ["cafe\u0301.md"]


def test_blanks_do_not_count() -> None:
    assert heard(said("kitchen", 1), said("kitchen (1)", 2, "The blue  kettle\nleaks.")) == [
        "kitchen.md"
    ]


@pytest.mark.parametrize(
    ("drawer", "fields"),
    [
        ("2026-05-13", {}),
        ("kitchen 2", {}),
        ("cellar", {}),
        ("kitchen (1)", {"room": "cabin", "path": "rooms/cabin/kitchen (1).md"}),
        ("kitchen (1)", {"heading": "Cabin"}),
        ("kitchen (1)", {"scope": "project:cabin"}),
        ("kitchen (1)", {"trust": "agent"}),
        ("kitchen (1)", {"kind": "negative"}),
        ("kitchen (1)", {"valid_from": datetime(2026, 5, 1, tzinfo=timezone.utc)}),
        ("kitchen (1)", {"text": "The blue kettle leaks, again."}),
    ],
)
def test_what_may_be_about_something_else_is_kept(drawer: str, fields: dict[str, Any]) -> None:
    reader = Query("kettle", tuple(tokens("blue kettle")), project="cabin")
    searcher = Searcher(indexed(said("kitchen", 1), said(drawer, 2, **fields)))
    assert len(searcher.hits(reader, top_k=5)) == 2


def test_turns_of_a_conversation_are_kept() -> None:
    talks = [said(f"talk ({n})", n, session="s1", speaker="Ada") for n in range(1, 3)]
    assert len(heard(*talks)) == 2


def test_a_copy_makes_a_memory_no_less_sure() -> None:
    other = said("kitchen", 3, "The kettle is blue.", position=1)
    asked = Query("leaking kettle", tuple(tokens("blue kettle leaks")))
    alone = Searcher(indexed(said("kitchen", 1), other)).scored(asked)
    copied = Searcher(indexed(said("kitchen", 1), other, said("kitchen (1)", 2))).scored(asked)
    assert copied[0].features["margin"] == pytest.approx(alone[0].features["margin"], abs=0.1)
    assert alone[0].features["margin"] > 0.1


def test_nothing_is_loaded_where_no_words_repeat() -> None:
    def load(keys: Sequence[int]) -> dict[int, Memory]:
        raise AssertionError(keys)

    found = [Candidate(n, "a.md", n, "", (word,), ()) for n, word in enumerate(("one", "two"))]
    assert without_copies(found, load) == found
