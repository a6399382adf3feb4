"""A backup is everything: journal and notes travel with an export and come back record for record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from palace import Mempalace, RetrievalEnforcer

QUESTION = "How many seats has the blue boat?"
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.fixture
def first(tmp_path: Path) -> Any:
    with Mempalace.open(tmp_path / "first") as palace:
        boat = palace.remember("The blue boat has 12 seats.", room="fleet").memory
        palace.correct(boat.id, "The blue boat has 14 seats.")
        verdict = RetrievalEnforcer(palace).decide(QUESTION)
        palace.feedback(verdict.id, True)
        kept = palace.note("The mast is on loan.", session_id="Monday, 8:00", ttl_s=9000)
        palace.promote_to_palace(
            kept, "fleet", "loans", summary="The mast is on loan.", reason="it lasts"
        )
        yield palace


def records(palace: Mempalace) -> dict[str, bytes]:
    folders = (palace.root / "journal", palace.root / "scratchpad")
    return {
        f.relative_to(palace.root).as_posix(): f.read_bytes()
        for folder in folders
        for f in folder.glob("*.jsonl")
    }


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_an_empty_palace_becomes_the_same_byte_for_byte(
    tmp_path: Path, first: Mempalace, form: Literal["json", "markdown"]
) -> None:
    done = first.export(tmp_path / "backup", form=form)
    assert done.records == len(records(first)) == 2
    with Mempalace.open(tmp_path / "second") as second:
        taken = second.import_from(tmp_path / "backup")
        assert taken.refused == ()
        assert taken.records == sum(data.count(b"\n") for data in records(first).values())
        assert records(second) == records(first)
        assert second.notes("Monday, 8:00") == first.notes("Monday, 8:00")
        [boat] = [m for m in second.memories() if "14 seats" in m.text]
        assert second.strength(boat) == pytest.approx(first.strength(boat), abs=1e-3)
        assert second.history(boat.id).events == first.history(boat.id).events
        again = second.import_from(tmp_path / "backup")
        assert (again.added, again.records) == (0, 0)
        assert records(second) == records(first)


def test_what_the_palace_has_noted_itself_stays_and_nothing_comes_twice(
    tmp_path: Path, first: Mempalace
) -> None:
    first.export(tmp_path / "backup.json")
    RetrievalEnforcer(first).decide("Which boat is blue?")
    before = records(first)
    assert first.import_from(tmp_path / "backup.json").records == 0
    assert records(first) == before


def test_what_was_erased_since_the_export_stays_erased(tmp_path: Path, first: Mempalace) -> None:
    first.export(tmp_path / "backup.json")
    [boat] = [m for m in first.memories() if "14 seats" in m.text]
    first.erase(boat.id)
    first.import_from(tmp_path / "backup.json")
    assert not any(b"blue boat has" in data for data in records(first).values())


def test_a_dry_run_writes_nothing(tmp_path: Path, first: Mempalace) -> None:
    first.export(tmp_path / "backup.json")
    with Mempalace.open(tmp_path / "second") as second:
        told = second.import_from(tmp_path / "backup.json", dry_run=True)
        assert told.records > 0
        assert records(second) == {}
        assert second.import_from(tmp_path / "backup.json").records == told.records


def test_an_export_to_give_away_holds_no_prompts(tmp_path: Path, first: Mempalace) -> None:
    assert first.export(tmp_path / "gift.json", records=False).records == 0
    assert QUESTION not in (tmp_path / "gift.json").read_text()


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_records_need_not_be_taken_in(
    tmp_path: Path, first: Mempalace, form: Literal["json", "markdown"]
) -> None:
    first.export(tmp_path / "backup", form=form)
    with Mempalace.open(tmp_path / "second") as second:
        for dry_run in (True, False):
            taken = second.import_from(tmp_path / "backup", records=False, dry_run=dry_run)
            assert (taken.records, taken.refused) == (0, ())
            assert taken.added > 0
        assert records(second) == {}
        assert [m.text for m in second.memories()] == [m.text for m in first.memories()]
        assert second.import_from(tmp_path / "backup").records > 0  # it can still be done


@pytest.mark.parametrize(
    "path",
    [
        *("journal/../../outside.jsonl", "journal/2026-13.jsonl", "journal/x/2026-01.jsonl"),
        *("scratchpad/../x.jsonl", "scratchpad/.x.jsonl", "scratchpad/x.md", "config/x.jsonl"),
    ],
)
def test_records_go_nowhere_else(tmp_path: Path, path: str) -> None:
    line = json.dumps({"id": "v-1", "type": "verdict", "at": "2026-01-01T00:00:00Z"})
    backup = {"format": "mempalace-export", "version": 1, "files": []}
    backup["records"] = [{"path": path, "text": f"{line}\n"}]
    (tmp_path / "backup.json").write_text(json.dumps(backup))
    with Mempalace.open(tmp_path / "palace") as palace:
        done = palace.import_from(tmp_path / "backup.json")
        assert [r.path_or_line for r in done.refused] == [path]
        assert records(palace) == {}
    assert not (tmp_path / "outside.jsonl").exists()


def test_a_record_with_a_secret_is_left_out_and_told_of(tmp_path: Path) -> None:
    good = '{"id":"v-1","type":"verdict","at":"2026-01-01T00:00:00Z"}'
    bad = good[:-1] + f',"prompt":"{SECRET}"}}'
    bad = bad.replace("v-1", "v-2")
    entry = {"path": "journal/2026-01.jsonl", "text": f"{good}\n{bad}\n"}
    backup = {"format": "mempalace-export", "version": 1, "files": [], "records": [entry]}
    (tmp_path / "backup.json").write_text(json.dumps(backup))
    with Mempalace.open(tmp_path / "palace") as palace:
        done = palace.import_from(tmp_path / "backup.json")
        assert done.records == 1
        assert len(done.refused) == 1
        assert records(palace) == {"journal/2026-01.jsonl": f"{good}\n".encode()}
