from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from palace.errors import StoreError
from palace.store.markdown import parse
from palace.store.recovery import recovered, what_happened, written_to
from palace.store.written_log import KEPT_S, MAX_BYTES, Written, WrittenLog

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


def _written(name, *, at=NOW, words="words"):
    return Written(at.timestamp(), "rooms/a.md", name, before="", lines=(f"- {words}",))


def test_writes_are_kept_for_a_day(tmp_path):
    clock = Clock()
    log = WrittenLog(tmp_path, clock=clock)
    assert log.all() == []
    assert not log.expires()
    log.trim()
    assert not (tmp_path / ".palace").exists()
    log.add([_written("m-1")])
    clock.now += timedelta(seconds=KEPT_S / 2)
    log.add([_written("m-2", at=clock.now)])
    assert not log.expires()
    assert [written.id for written in log.all()] == ["m-1", "m-2"]
    clock.now += timedelta(seconds=KEPT_S / 2 + 1)
    assert [written.id for written in log.all()] == ["m-2"]
    assert log.expires()
    log.trim()
    assert not log.expires()
    assert b"m-1" not in (tmp_path / ".palace" / "written.jsonl").read_bytes()
    assert log.all() == [_written("m-2", at=NOW + timedelta(seconds=KEPT_S / 2))]


def test_the_log_stays_small_and_keeps_the_newest(tmp_path):
    log = WrittenLog(tmp_path, clock=Clock())
    for number in range(30):
        log.add([_written(f"m-{number}", words="x" * (MAX_BYTES // 20))])
        assert (tmp_path / ".palace" / "written.jsonl").stat().st_size <= MAX_BYTES
    assert log.all()[-1].id == "m-29"
    assert len(log.all()) > 5
    log.add([_written("m-large", words="x" * MAX_BYTES)])
    assert log.all()[-1].id == "m-29"


def test_ids_and_files_are_forgotten(tmp_path):
    log = WrittenLog(tmp_path, clock=Clock())
    log.add([_written("m-1"), _written("m-2")])
    log.trim(without=lambda entry: entry.id == "m-1")
    assert [written.id for written in log.all()] == ["m-2"]
    log.trim(without=lambda entry: entry.path == "rooms/a.md")
    assert log.all() == []


def test_a_torn_or_foreign_line_is_passed_over(tmp_path):
    log = WrittenLog(tmp_path, clock=Clock())
    log.add([_written("m-1")])
    with (tmp_path / ".palace" / "written.jsonl").open("ab") as file:
        file.write(b'{"at":1}\n{"at":')
    log.add([_written("m-2")])
    assert [written.id for written in log.all()] == ["m-1", "m-2"]


@pytest.mark.parametrize("at", ['"noon"', "1e30", "null"])
@pytest.mark.parametrize("lines", ["null", "[1]", '["- a"]'])
def test_a_line_of_other_values_is_passed_over_and_expires(tmp_path, at, lines):
    file = tmp_path / ".palace" / "written.jsonl"
    file.parent.mkdir()
    file.write_text(f'{{"at":{at},"path":"a.md","id":"m-0","before":"","lines":{lines}}}\n')
    log = WrittenLog(tmp_path, clock=Clock())
    assert log.all() == []
    assert log.expires()
    log.add([_written("m-1")])
    log.trim()
    assert [written.id for written in log.all()] == ["m-1"]
    assert not log.expires()


def test_a_write_by_a_clock_that_was_ahead_is_not_kept_for_longer(tmp_path):
    log = WrittenLog(tmp_path, clock=Clock())
    log.add([_written("m-1", at=NOW + timedelta(days=400))])
    assert log.expires()
    assert log.all() == []


COMMENT = "<!-- memory id=m-1 kind=fact -->"
ITEM = f"- ours\n  {COMMENT}\n"


@pytest.mark.parametrize(
    "now",
    [
        "",
        "# Title\n",
        "- hers",
        "hers",
        "> hers\n",
        "```\nopen",
        "---\ntitle: x\n---\n",
        "a\r\nb\r\n",
    ],
)
@pytest.mark.parametrize("block", [ITEM, f"ours\n{COMMENT}\n", f"  1) ours\n     {COMMENT}\n"])
def test_a_memory_is_put_back_into_any_file(now, block):
    before = parse("rooms/a.md", block)
    written = written_to(before, None, "m-1", at=0.0)
    page = parse("rooms/a.md", now)
    assert what_happened(page, written) == "missing"
    text = recovered(page, written)
    after = parse("rooms/a.md", text)
    assert text.startswith(now)
    assert [m.text for m in after.memories] == [*(m.text for m in page.memories), "ours"]
    assert after.memories[-1].id == "m-1"
    assert what_happened(after, written) is None


def test_what_a_person_changed_since_stands():
    page = parse("rooms/a.md", ITEM)
    retired = parse("rooms/a.md", page.with_memory_fields(0, {"status": "inactive"}))
    written = written_to(retired, page, "m-1", at=0.0)
    earlier = {written.before}
    assert what_happened(page, written, earlier=earlier) == "older"
    own = parse("rooms/a.md", page.with_memory_fields(0, {"importance": 0.9}))
    assert what_happened(own, written, earlier=earlier) is None
    assert recovered(page, written) == retired.render()


def test_what_cannot_stand_without_changing_others_is_refused():
    written = Written(0.0, "rooms/a.md", "m-1", before="", lines=("```", "open"))
    with pytest.raises(StoreError):
        recovered(parse("rooms/a.md", "- hers\n"), written)
