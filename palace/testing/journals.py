"""What every journal must keep, and one in memory that keeps it.

In: a fixture `journal`. Out: inherited tests.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from palace.errors import PalaceError
from palace.ports import Journal


class MemoryJournal:
    """Journal that lives in memory only; keeps `JournalContract`."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def append(self, record: Mapping[str, Any]) -> None:
        """Keep one record.

        Raises:
            PalaceError: If `id`, `at` or `type` is missing, or JSON cannot say the record.
        """
        moment = record.get("at")
        at = moment.isoformat() if isinstance(moment, datetime) else moment
        if not (at and record.get("id") and record.get("type")):
            raise PalaceError("a record needs id, at and type", hint="give all three")
        try:
            self._lines.append(json.dumps({**record, "at": at}, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise PalaceError("a record must be JSON", hint="use plain values") from error

    def records(
        self,
        *,
        since: datetime | None = None,
        type: str | None = None,
        among: int | None = None,
        holding: Collection[str] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield records, newest first, as the port says."""
        for line in self._lines[::-1][:among]:
            if holding is not None and not any(text in line for text in holding):
                continue
            record: dict[str, Any] = json.loads(line)
            is_late = since is None or datetime.fromisoformat(record["at"]) >= since
            if is_late and type in (None, record["type"]):
                yield record

    def find(self, record_id: str) -> dict[str, Any] | None:
        """Return the record with this id, or the only one that begins with 6 characters or more."""
        similar = [r for r in self.records() if record_id and r["id"].startswith(record_id)]
        exact = [r for r in similar if r["id"] == record_id]
        if exact:
            return exact[0]
        is_unique = len({r["id"] for r in similar}) == 1
        return similar[0] if is_unique and len(record_id) >= 6 else None


class JournalContract:
    """What every `Journal` promises; give a fixture `journal` that returns an empty one."""

    def record(self, record_id: str, *, day: int = 1, type: str = "verdict") -> dict[str, Any]:
        """Return a small record of March or, beyond day 31, of a later month of 2026."""
        at = datetime(2026, 3, 1, 12, tzinfo=timezone.utc) + timedelta(days=day - 1)
        return {"id": record_id, "at": at.isoformat(), "type": type}

    def test_empty_journal(self, journal: Journal) -> None:
        """Nothing written, nothing found."""
        assert list(journal.records()) == []
        assert journal.find("v-000001") is None

    def test_record_comes_back_whole(self, journal: Journal) -> None:
        """Nested values, other scripts, line ends and unknown fields survive."""
        record = {
            **self.record("v-000001"),
            "prompt": 'what did "we"\n\tdecide? 日本語 \u2028 🙂',
            "walk": [{"layer": "L1", "best": 0.25, "reason": None, "ok": True}],
        }
        journal.append(record)
        assert list(journal.records()) == [record]
        assert journal.find("v-000001") == record

    def test_newest_first(self, journal: Journal) -> None:
        """Records come newest first, within a day and across months."""
        days = [1, 1, 2, 30, 31, 32, 33, 70]
        for number, day in enumerate(days):
            journal.append(self.record(f"v-00000{number}", day=day))
        found = [r["id"] for r in journal.records()]
        assert found == [f"v-00000{n}" for n in reversed(range(len(days)))]

    def test_since_includes_its_moment(self, journal: Journal) -> None:
        """`since` keeps records at or after it, across months."""
        for day in (1, 31, 32, 70):
            journal.append(self.record(f"v-0000{day:02}", day=day))
        since = datetime(2026, 3, 31, 12, tzinfo=timezone.utc)
        assert [r["id"] for r in journal.records(since=since)] == [
            "v-000070",
            "v-000032",
            "v-000031",
        ]
        later = since + timedelta(seconds=1)
        assert [r["id"] for r in journal.records(since=later)] == ["v-000070", "v-000032"]

    def test_since_is_a_moment_and_no_text(self, journal: Journal) -> None:
        """Records of other time zones are compared by when they were, not by how it is written."""
        journal.append({**self.record("v-000001"), "at": "2026-03-01T12:00:00+05:00"})
        since = datetime(2026, 3, 1, 7, tzinfo=timezone.utc)
        assert [r["id"] for r in journal.records(since=since)] == ["v-000001"]
        assert list(journal.records(since=since + timedelta(hours=1))) == []

    def test_nothing_is_dropped_or_cut(self, journal: Journal) -> None:
        """However many and however long: what was written is there, for `find` too."""
        long = {**self.record("u-long", type="use"), "text": "word " * 20_000}
        journal.append(long)
        for number in range(300):
            journal.append(self.record(f"v-{number:06}"))
        assert [r["id"] for r in journal.records()][-2:] == ["v-000000", "u-long"]
        assert journal.find("u-long") == long

    def test_type_filters(self, journal: Journal) -> None:
        """`type` keeps records of that type, and combines with `since`."""
        journal.append(self.record("v-000001"))
        journal.append(self.record("u-000001", type="use"))
        journal.append(self.record("u-000002", type="use", day=40))
        assert [r["id"] for r in journal.records(type="use")] == ["u-000002", "u-000001"]
        since = datetime(2026, 4, 1, tzinfo=timezone.utc)
        assert [r["id"] for r in journal.records(type="use", since=since)] == ["u-000002"]
        assert list(journal.records(type="feedback")) == []

    def test_only_so_many_of_the_newest_are_looked_at(self, journal: Journal) -> None:
        """`among` counts records of every type."""
        for number in range(4):
            journal.append(self.record(f"v-{number:06}"))
            journal.append(self.record(f"u-{number:06}", type="use"))
        found = journal.records(type="use", among=3)
        assert [r["id"] for r in found] == ["u-000003", "u-000002"]
        assert list(journal.records(among=0)) == []
        assert list(journal.records(holding=["u-000001"], among=3)) == []
        assert [r["id"] for r in journal.records(holding=["u-000001"], among=5)] == ["u-000001"]

    def test_only_what_holds_one_of_some_texts(self, journal: Journal) -> None:
        """`holding` looks for ids and names of fields, at any depth, and combines with `type`."""
        journal.append({**self.record("v-000001"), "evidence": [{"id": "m-000001"}]})
        journal.append({**self.record("u-000001", type="use"), "memory": "m-000001"})
        journal.append({**self.record("u-000002", type="use"), "steps": ["m-000002"]})
        found = journal.records(holding=["m-000001", "m-000009"])
        assert [r["id"] for r in found] == ["u-000001", "v-000001"]
        assert [r["id"] for r in journal.records(holding=["steps"])] == ["u-000002"]
        found = journal.records(type="use", holding={"m-000001"})
        assert [r["id"] for r in found] == ["u-000001"]
        assert list(journal.records(holding=[])) == []

    def test_moment_may_be_a_datetime(self, journal: Journal) -> None:
        """An aware datetime is accepted as `at` and comes back as ISO 8601 text."""
        at = datetime(2026, 3, 2, tzinfo=timezone.utc)
        journal.append({"id": "v-000001", "at": at, "type": "verdict"})
        (record,) = journal.records(since=at)
        assert datetime.fromisoformat(record["at"]) == at

    def test_find_by_unique_prefix(self, journal: Journal) -> None:
        """Six characters or more are enough if only one id begins so; a whole id always wins."""
        for record_id in ("v-aaaa11", "v-aaaa22", "v-aaaa2"):
            journal.append(self.record(record_id))
        assert _id_of(journal.find("v-aaaa1")) == "v-aaaa11"
        assert _id_of(journal.find("v-aaaa2")) == "v-aaaa2"
        assert journal.find("v-aaaa") is None
        assert journal.find("v-aaaa3") is None
        assert journal.find("aaaa11") is None

    def test_short_prefix_finds_nothing(self, journal: Journal) -> None:
        """Fewer than six characters are an id or nothing."""
        journal.append(self.record("v-aaaa11"))
        assert journal.find("v-aaa") is None
        assert journal.find("") is None
        journal.append(self.record("v-9"))
        assert _id_of(journal.find("v-9")) == "v-9"

    @pytest.mark.parametrize("missing", ["id", "at", "type"])
    def test_incomplete_record_is_refused(self, journal: Journal, missing: str) -> None:
        """A record without id, moment or type is an error, and nothing is written."""
        record = self.record("v-000001")
        del record[missing]
        with pytest.raises(PalaceError):
            journal.append(record)
        assert list(journal.records()) == []

    @pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}])
    def test_unsayable_record_is_refused(self, journal: Journal, value: object) -> None:
        """A value JSON cannot say is an error, and nothing is written."""
        with pytest.raises(PalaceError):
            journal.append({**self.record("v-000001"), "value": value})
        assert list(journal.records()) == []

    def test_later_change_of_the_argument_changes_nothing(self, journal: Journal) -> None:
        """The journal keeps what it was given, not a reference to it."""
        record = {**self.record("v-000001"), "cues": ["past"]}
        journal.append(record)
        record["cues"].clear()
        assert _found(journal, "v-000001")["cues"] == ["past"]


def _id_of(record: dict[str, Any] | None) -> str:
    return "" if record is None else str(record["id"])


def _found(journal: Journal, record_id: str) -> dict[str, Any]:
    record = journal.find(record_id)
    assert record is not None
    return record
