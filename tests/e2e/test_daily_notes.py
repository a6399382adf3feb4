"""Daily notes and diaries: what was written under a day is asked and answered by it."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from palace import AnswerCheck, Mempalace, RetrievalEnforcer

NOTES = {
    "daily/2026-05-04.md": "# Monday\n\n- Ran along the canal, 38 minutes.\n- The crown is loose.\n",
    "daily/2026-05-19.md": "# Tuesday\n\n- The dentist fixed the crown, 145 euros.\n",
    "journals/2026_06_02.md": "- Broke the left pane of the greenhouse door with the rake.\n",
    "notes/plain.md": (
        "3 January 2026\nA walk around the lake.\n\nUncle Odili sold me his bicycle.\n\n"
        "9 January 2026\n\nBettina resigned.\n"
    ),
    "notes/diary.md": "# Diary\n\n## 2026-02-09\n\nThe plaster cast of Tom's wrist came off.\n",
}


@pytest.fixture
def palace(tmp_path: Path):
    for name, text in NOTES.items():
        file = tmp_path / "p" / "rooms" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with Mempalace.open(tmp_path / "p") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("When did the dentist fix the crown?", "On 19 May 2026.", "On 20 May 2026."),
        ("When did I break the left pane with the rake?", "On June 2.", "On June 12."),
        ("When did Uncle Odili sell his bicycle?", "On 3 January 2026.", "On 9 January 2026."),
        ("When did Tom's plaster cast come off?", "It came off on 2026-02-09.", "On 2026-02-10."),
    ],
)
def test_the_day_of_a_note_answers_when(palace, question, right, wrong):
    verdict = RetrievalEnforcer(palace).decide(question)
    assert verdict.action in ("ground", "confirm")
    check = AnswerCheck(verdict.evidence, question)
    assert (check.check(right).supported, check.check(wrong).supported) == (True, False)


@pytest.mark.parametrize("day", ["on 2026-05-04", "on 4 May 2026", "on 4 May", "am 4. Mai 2026"])
def test_a_day_finds_its_note(palace, day):
    found = [hit.memory.path for hit in palace.search(f"What did I write {day}?")[:2]]
    assert found == ["rooms/daily/2026-05-04.md"] * 2


def test_a_note_is_not_known_before_its_day(palace):
    question = "Who fixed the crown?"
    enforcer = RetrievalEnforcer(palace)
    before = enforcer.decide(question, as_of=datetime(2026, 5, 10, tzinfo=timezone.utc))
    assert "dentist" not in " ".join(item.text for item in before.evidence)
    after = enforcer.decide(question, as_of=datetime(2026, 5, 20, tzinfo=timezone.utc))
    assert "dentist" in after.evidence[0].text


def test_a_period_is_reported_by_its_notes(palace):
    text = palace.report(since=datetime(2026, 5, 1, tzinfo=timezone.utc))
    assert "## 2026-05-19, Tuesday" in text
    assert "2026-02-09" not in text
