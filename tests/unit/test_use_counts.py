"""Counts of use: what counts, and that a look reads only what is new."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from palace.learn.use_counts import UseTally, counted
from palace.ports import UseCounts
from palace.store.index_sqlite import SqliteIndex
from palace.store.journal import FileJournal

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)


def record(type: str, *, days: int = 0, **fields: Any) -> dict[str, Any]:
    return {"id": "r-1", "at": (NOON + timedelta(days=days)).isoformat(), "type": type, **fields}


RECORDS = [
    record("verdict", injected=["m-a", "m-b", "m-a"], retrieved=["m-c"]),
    record("reinforced", memory="m-a", days=2),
    record("feedback", memories=["m-b"], helpful=False, days=3),
    record("feedback", memories=["m-a", "m-c"], helpful=True, days=1),
    record("answer", cited=["m-d"]),
]
EXPECTED = {
    "m-a": UseCounts(uses=1, said_again=1, helpful=1, last=NOON + timedelta(days=2)),
    "m-b": UseCounts(uses=1, unhelpful=1, last=NOON),
    "m-c": UseCounts(helpful=1, last=NOON + timedelta(days=1)),
}


def test_what_counts_is_use_saying_again_and_feedback_in_any_order() -> None:
    assert counted(RECORDS) == EXPECTED
    assert counted(reversed(RECORDS)) == EXPECTED


def test_damaged_records_count_as_far_as_they_can_be_read() -> None:
    torn = [
        {"type": "verdict", "injected": "m-a", "at": "2026-05-01T12:00:00Z"},
        {"type": "verdict", "injected": [7, "", "m-b"], "at": "yesterday"},
        {"type": "reinforced", "memory": None, "at": 5},
        {"type": "feedback", "memories": {"m-a": 1}},
        {},
    ]
    assert counted(torn) == {"m-b": UseCounts(uses=1)}


def test_a_look_reads_only_what_was_appended(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path)
    read: list[int] = []

    def appended(mark: Mapping[str, int], **limits: Any) -> Any:
        news = journal.appended(mark, **limits)
        read.append(len(news[0]) if news else -1)
        return news

    tally = UseTally(appended, SqliteIndex(None).uses)
    assert tally.counts() == {}
    for one in RECORDS:
        journal.append(one)
    assert tally.counts() == EXPECTED
    assert tally.counts() == EXPECTED
    journal.append(record("verdict", injected=["m-b"], days=40))
    assert tally.counts()["m-b"].uses == 2
    assert read == [0, 4, 0, 1]  # one of the five is of a type that counts nothing


def test_of_each_type_only_the_newest_are_read(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path)
    journal.append(record("feedback", memories=["m-a"], helpful=True))
    for _ in range(2005):
        journal.append(record("verdict", injected=["m-a"], days=1))
    uses = SqliteIndex(None).uses
    UseTally(journal.appended, uses).renew()
    assert (uses.counts()["m-a"].uses, uses.counts()["m-a"].helpful) == (2000, 1)


def test_two_processes_count_every_record_once(tmp_path: Path) -> None:
    journal, uses = FileJournal(tmp_path), SqliteIndex(None).uses
    one, other = (UseTally(journal.appended, uses) for _ in range(2))
    journal.append(RECORDS[0])
    assert one.counts()["m-a"].uses == other.counts()["m-a"].uses == 1
    journal.append(RECORDS[0])
    assert other.counts()["m-a"].uses == one.counts()["m-a"].uses == 2


def test_a_line_without_an_end_is_read_when_it_is_whole(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path)
    tally = UseTally(journal.appended, SqliteIndex(None).uses)
    journal.append(RECORDS[0])
    file = tmp_path / "2026-05.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:-20])
    assert tally.counts()["m-a"].uses == 1
    file.write_bytes(whole + whole)
    assert tally.counts()["m-a"].uses == 2


def test_after_a_month_was_deleted_the_rest_is_counted_anew(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path, retention_days=10)
    tally = UseTally(journal.appended, SqliteIndex(None).uses)
    journal.append(record("verdict", injected=["m-a"]))
    journal.append(record("verdict", injected=["m-a"], days=40))
    assert tally.counts()["m-a"].uses == 2
    assert journal.apply_retention(NOON + timedelta(days=45)) == ("2026-05.jsonl",)
    assert tally.counts()["m-a"].uses == 1
