"""Counts of use beside the index: kept for the next start, joined to candidates, disposable."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from palace.ports import UNUSED, UseCounts
from palace.store.index_sqlite import SqliteIndex
from tests.doubles import indexed, memory

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
COUNTS = {"m-a": UseCounts(1, 2, 3, 4, NOON), "m-b": UseCounts(unhelpful=1)}


def test_counts_survive_a_restart_and_are_told_for_some_or_all(tmp_path: Path) -> None:
    index = SqliteIndex(tmp_path / "index.sqlite")
    assert (index.uses.mark(), index.uses.counts()) == ({}, {})
    assert index.uses.keep(COUNTS, {"2026-05.jsonl": 7}, since={})
    index.close()
    again = SqliteIndex(tmp_path / "index.sqlite")
    assert again.uses.mark() == {"2026-05.jsonl": 7}
    assert again.uses.counts() == COUNTS
    assert again.uses.counts(["m-b", "m-none"]) == {"m-b": COUNTS["m-b"]}
    many = {f"m-{n}": UseCounts(uses=n) for n in range(1200)}
    assert again.uses.keep(many, {"2026-05.jsonl": 9}, since={"2026-05.jsonl": 7}, anew=True)
    assert again.uses.counts(many) == many
    again.close()


def test_what_another_process_counted_meanwhile_is_not_counted_twice() -> None:
    uses = SqliteIndex(None).uses
    assert uses.keep(COUNTS, {"a": 1}, since={})
    assert not uses.keep({"m-a": UseCounts(uses=99)}, {"a": 1}, since={})
    assert uses.counts() == COUNTS


def test_an_index_that_is_cleared_counts_anew() -> None:
    index = SqliteIndex(None)
    epoch = index.epoch()
    index.uses.keep(COUNTS, {"a": 1}, since={})
    index.clear()
    assert (index.uses.mark(), index.uses.counts(), index.epoch()) == ({}, {}, epoch)


def test_candidates_have_what_they_are_worth() -> None:
    fields = {"kind": "correction", "trust": "agent", "confidence": 0.7, "importance": 0.9}
    index = indexed(memory("The kettle is blue.", 1, created=NOON, **fields), memory("A lamp.", 2))
    first, second = index.active_keys()
    index.uses.keep({"m-00000001": COUNTS["m-a"]}, {"a": 1}, since={})
    found = index.uses.worths([first, second, 99])
    assert set(found) == {first, second}
    assert {name: getattr(found[first], name) for name in fields} == fields
    assert (found[first].dated, found[first].counts) == (NOON, COUNTS["m-a"])
    assert (found[second].dated, found[second].counts) == (None, UNUSED)
