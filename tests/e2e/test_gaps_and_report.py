"""What was asked and not found, and the report of a period: from real journals and files."""

from __future__ import annotations

import json
import re
import time
from datetime import datetime, timedelta, timezone

import pytest

from palace import ConfigError, Mempalace, Message, RetrievalEnforcer
from palace.learn.gaps import find_gaps
from palace.text import tokens
from palace.text.moments import utc_now

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=timezone.utc)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def verdict(number, prompt, outcome="nothing_stored", **more):
    at = (NOON - timedelta(hours=number)).isoformat()
    return {
        "id": f"v-{number}",
        "type": "verdict",
        "at": at,
        "outcome": outcome,
        "prompt": prompt,
        **more,
    }


def found(*records):
    return find_gaps(records, terms=tokens)


def test_similar_questions_count_together():
    gaps = found(
        verdict(1, "Who is our new CFO?"),
        verdict(2, "What is the door code?", "near_miss", evidence=[{"source": "rooms/a.md:3"}]),
        verdict(3, "Who is our CFO?"),
        verdict(4, "Make a haiku", "not_recall"),
    )
    assert [(g.question, g.count, g.near) for g in gaps.gaps] == [
        ("Who is our new CFO?", 2, ""),
        ("What is the door code?", 1, "rooms/a.md:3"),
    ]
    first = gaps.gaps[0]
    assert (first.last_asked - first.first_asked, first.verdicts) == (
        timedelta(hours=2),
        ("v-1", "v-3"),
    )


def test_a_number_makes_another_question():
    gaps = found(
        verdict(1, "Who reviewed issue 17 last week?"),
        verdict(2, "Who reviewed issue 18 last week?"),
    )
    assert len(gaps.gaps) == 2


def test_what_a_new_value_superseded_is_told_as_corrected(tmp_path):
    with Mempalace.open(tmp_path) as palace:
        palace.remember("The rent is 240 euros.")
        palace.remember("The rent is 260 euros.", on_conflict="supersede")
        palace.remember("Answers go out in French.", key="language")
        palace.remember("Answers go out in German.", key="language")
        palace.remember("Answers go out in Dutch.", key="language")
        palace.undo()
        report = palace.report(since=utc_now() - timedelta(hours=1))
    assert "- Memories: 4 added, 2 corrected, 0 forgotten" in report
    assert "- The rent is 240 euros. → The rent is 260 euros. (`rooms/inbox/notes.md:5`)" in report
    assert "- Answers go out in French. → Answers go out in German." in report


def test_of_equally_similar_questions_the_newest_counts():
    gaps = found(
        verdict(1, "blue van old"),
        verdict(2, "blue van red"),
        verdict(3, "blue van"),
    )
    assert [gap.verdicts for gap in gaps.gaps] == [("v-1", "v-3"), ("v-2",)]


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+10:00", "some day"])
def test_a_record_of_no_moment_is_passed_over(tmp_path, at):
    with Mempalace.open(tmp_path / "p") as palace:
        RetrievalEnforcer(palace).decide("When did we hire Zebulon Quark?")
        (journal,) = (tmp_path / "p" / "journal").iterdir()
        with journal.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({**verdict(1, "Who is our CFO?"), "at": at}) + "\n")
        assert [g.question for g in palace.gaps().gaps] == ["When did we hire Zebulon Quark?"]


def test_what_was_answered_later_is_no_gap():
    miss, hit = verdict(2, "Who is our CFO?"), verdict(1, "Who is our CFO?", "hit")
    assert found(hit, miss).gaps == ()
    assert len(found({**miss, "at": NOON.isoformat()}, hit).gaps) == 1


def test_a_near_miss_that_a_quote_confirmed_is_no_gap():
    near = verdict(2, "Who is our CFO?", "near_miss")
    answer = {
        "id": "a",
        "type": "answer",
        "at": NOON.isoformat(),
        "verdict": "v-2",
        "cited": ["m-1"],
    }
    assert found(answer, near).gaps == ()
    assert len(found({**answer, "cited": []}, near).gaps) == 1
    assert len(found({**answer, "declined": True}, near).gaps) == 1


def test_what_the_journal_does_not_keep_is_only_counted():
    hashed = [{**verdict(n, None), "prompt_sha256": digest} for n, digest in enumerate("aab")]
    gaps = found(*hashed, verdict(9, None))
    assert [(g.question, g.count) for g in gaps.gaps] == [("", 2), ("", 1)]
    assert gaps.not_kept == 4


@pytest.fixture
def lived(tmp_path):
    """A palace that somebody used for a while."""
    with Mempalace.open(tmp_path / "p") as palace:
        ask = RetrievalEnforcer(palace).decide
        for question in (
            "When did we hire Zebulon Quark?",
            "When did we hire Zebulon Quark again?",
        ):
            ask(question)
        wrong = palace.remember("The nightly build starts at 02:30.").memory
        palace.correct(wrong.id, "The nightly build starts at 03:30.")
        gone = palace.remember("The guest network is called finch.").memory
        palace.forget(gone.id, reason="it was switched off")
        ask("When does the nightly build start?")
        palace.compress_if_needed(
            [Message("user", "We decided to move to Outline."), Message("assistant", "ok")],
            "monday",
            task="Wiki",
            force=True,
        )
        palace.finish_task("Wiki", decisions=["We keep the old links."], session_id="monday")
        yield palace


def test_report(lived):
    text = lived.report(since=utc_now() - timedelta(days=2))
    today = f"{utc_now():%Y-%m-%d, %A}"
    assert f"\n## {today}\n" in text
    for line in (
        "- Prompts: 3 (1 answered, 2 not found)",
        "- Memories: 3 added, 1 corrected, 1 forgotten",
        "  - User: We decided to move to Outline.",
        "  - Decisions: We keep the old links.",
        "- The nightly build starts at 02:30. → The nightly build starts at 03:30. (`",
        ": it was switched off",
        "## Asked and not found",
        "- 2× When did we hire Zebulon Quark again?, last ",
    ):
        assert line in text, text
    forgotten = text.partition("### Forgotten")[2].partition("\n## ")[0]
    assert "finch" not in forgotten


def test_what_was_imported_is_told_on_the_day_it_came(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "flat.md").write_text("# Flat\n\n- The rent is 950 euros.\n- It has two rooms.\n")
    with Mempalace.open(tmp_path / "p") as palace:
        palace.remember("The guest network is called finch.")
        palace.import_from(notes, dry_run=True)
        for _ in range(2):  # the second brings nothing
            palace.import_from(notes)
        text = palace.report(since=utc_now() - timedelta(days=2))
        (notes / "flat.md").write_text("# Flat\n\n- The rent is 990 euros.\n- It has a cellar.\n")
        palace.import_from(notes, update=True)
        again = palace.report(since=utc_now() - timedelta(days=2))
    assert "- Memories: 3 added (2 of them imported), 0 corrected, 0 forgotten" in text
    assert text.endswith("### Imported\n\n- 2 memories (markdown)\n")
    assert "- Memories: 3 added (2 of them imported), 0 corrected, 0 forgotten" in again
    assert again.endswith("- 1 file brought up to date (markdown)\n- 2 memories (markdown)\n")


def test_of_imported_memories_those_with_a_date_of_their_own_are_told_once(tmp_path):
    with Mempalace.open(tmp_path / "from") as palace:
        palace.remember("The guest network is called finch.")
        palace.export(tmp_path / "export.json")
    with Mempalace.open(tmp_path / "p") as palace:
        palace.import_from(tmp_path / "export.json")
        text = palace.report(since=utc_now() - timedelta(days=2))
    assert "- Memories: 1 added, 0 corrected" in text


def test_a_task_that_ended_in_no_session_is_told_once(tmp_path):
    with Mempalace.open(tmp_path / "p") as palace:
        palace.finish_task("Move the wiki", decisions=["We keep the old links."])
        text = palace.report(since=utc_now() - timedelta(days=2))
    assert text.count("Move the wiki") == 1
    assert "- Timeline: 1 entry of 0 sessions" in text
    assert re.search(r"\n- \d\d:\d\d task Move the wiki\n  - Decisions: We keep", text)


def test_report_by_week_and_of_nothing(lived, tmp_path):
    assert "## Week of " in lived.report(since=utc_now() - timedelta(days=2), by="week")
    old = NOON - timedelta(days=900)
    text = lived.report(since=old, until=old + timedelta(days=3))
    assert text.splitlines()[2:] == [
        "- Prompts: 0",
        "- Memories: 0 added, 0 corrected, 0 forgotten",
        "- Timeline: 0 entries of 0 sessions",
    ]


def test_a_report_of_all_time_costs_what_happened_not_the_days(lived):
    began = time.process_time()
    text = lived.report(since=datetime.min.replace(tzinfo=timezone.utc))
    assert time.process_time() - began < 2
    assert text.count("\n## 20") == 1


def test_a_secret_written_by_hand_is_not_reported(lived):
    day = f"{utc_now():%Y-%m-%d}"
    page = lived.root / "timeline" / f"{day}.md"
    page.write_text(
        page.read_text("utf-8")
        + f"[{day} 00:01] Task: the key {TOKEN}\n  <!-- memory provenance=task -->\n"
    )
    lived.refresh()
    text = lived.report(since=utc_now() - timedelta(days=2))
    assert "the key" in text
    assert TOKEN not in text


def test_on_the_command_line(lived, command, monkeypatch, tmp_path):
    monkeypatch.setenv("PALACE_ROOT", str(lived.root))
    ended = command("gaps", "--since", "7d")
    assert ended.code == 0
    assert ended.out.startswith("  2×  When did we hire Zebulon Quark again?\n")
    assert command("gaps", "--json").json["gaps"][0]["count"] == 2
    assert command("gaps", "--since", "0s") == (0, "", "Nothing was asked that was not found.\n")
    assert command("report", "--since", "2d").out.startswith("# Report ")
    assert command("report", "--weekly", "--out", "week.md").code == 0
    assert (tmp_path / "week.md").read_text("utf-8").startswith("# Report ")
    ended = command("report", "--out", "week.md")
    assert (ended.code, "exists already" in ended.err) == (2, True)
    assert command("report", "--daily", "--weekly").code == 2
    assert command("report", "--since", "soon").code == 2
    assert command("report", "--json").json["markdown"].startswith("# Report ")


def test_a_report_begins_before_it_ends(lived):
    with pytest.raises(ConfigError, match="begin at .* and end before that"):
        lived.report(since=utc_now() + timedelta(days=1))
    with pytest.raises(ConfigError, match="^by is 'month'"):
        lived.report(since=NOON, by="month")


def test_what_was_written_by_hand_is_told_when_it_is_retired(tmp_path):
    page = tmp_path / "p" / "rooms" / "flat" / "notes.md"
    page.parent.mkdir(parents=True)
    page.write_text("- The rent is 950 euros.\n- The guest network is called finch.\n")
    with Mempalace.open(tmp_path / "p") as palace:
        rent, network = palace.memories(room="flat")
        palace.correct(rent.id, "The rent is 1,020 euros.")
        palace.forget(network.id)
        report = palace.report(since=utc_now() - timedelta(days=1))
    assert "- The rent is 950 euros. → The rent is 1,020 euros." in report
    assert "### Forgotten\n\n- `rooms/flat/notes.md:" in report
    assert "gone" not in report


def test_what_was_taken_back_is_not_told(tmp_path):
    with Mempalace.open(tmp_path / "p") as palace:
        kept = palace.remember("The rent is 950 euros.", room="flat").memory
        palace.correct(kept.id, "The rent is 1,020 euros.")
        palace.undo()
        palace.forget(kept.id)
        palace.undo()
        report = palace.report(since=utc_now() - timedelta(days=1))
    assert "1 added, 0 corrected, 0 forgotten" in report
    assert "### Corrected" not in report
    assert "### Forgotten" not in report
