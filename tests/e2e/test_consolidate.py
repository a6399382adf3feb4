"""A conversation becomes a timeline: on real files, with a model that does what the script says."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from palace import Mempalace, Message, ModelError, StoreUnavailableError, UnsafeNameError
from palace.testing import ManualClock, ScriptedGenerator
from palace.text import estimate_tokens
from palace.text.moments import utc_now

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
NOON = datetime(2026, 3, 14, 12, 0, tzinfo=timezone.utc)
DOWN = ModelError("the model is down", hint="wait")


def talk(turns: int, *, words: str = "", timed: bool = False) -> list[Message]:
    said = []
    for n in range(turns):
        at = NOON + timedelta(minutes=n) if timed else None
        said.append(Message("user", f"We decided on plan {n} for host-{n}. {words}", at=at))
        said.append(Message("assistant", f"Noted, plan {n}. {words}", at=at))
    return said


def opened(tmp_path: Path, *script: str | ModelError, **settings: object) -> Mempalace:
    lines = ["consolidate:", *(f"  {key}: {value}" for key, value in settings.items())]
    config = tmp_path / "settings.yaml"
    config.write_text("\n".join(lines if settings else []) + "\n", encoding="utf-8")
    generator = ScriptedGenerator(script) if script else None
    return Mempalace.open(tmp_path / "palace", config=config, generator=generator)


def page(tmp_path: Path) -> str:
    return "".join(
        path.read_text("utf-8") for path in sorted((tmp_path / "palace").glob("timeline/*.md"))
    )


def test_nothing_is_due_for_a_short_conversation(tmp_path):
    with opened(tmp_path) as palace:
        done = palace.compress_if_needed(talk(3), "s")
    assert (done.status, done.messages, done.injected) == ("unchanged", tuple(talk(3)), "")
    assert page(tmp_path) == ""


def test_three_turns_are_condensed_when_the_fourth_begins(tmp_path):
    history = [Message("system", "rules"), *talk(3), Message("user", "And now?")]
    with opened(tmp_path) as palace:
        done = palace.compress_if_needed(history, "s", task="plans")
        assert (done.status, done.trigger, done.by) == ("condensed", "turns", "picking")
        assert done.condensed == tuple(talk(3))
        assert done.messages == (history[0], Message("user", done.injected), history[-1])
        assert [history[n] for n in done.kept] == [history[0], history[-1]]
        [entry] = palace.memories(room="timeline")
        assert entry.text == done.summary
        assert (entry.session, entry.task, entry.trust) == ("s", "plans", "agent")
        assert "host-2" in done.injected
        # Sent again as it is, and with the whole conversation: nothing is condensed twice.
        for sent in (done.messages, history):
            again = palace.compress_if_needed(sent, "s")
            assert (again.status, again.messages) == ("unchanged", done.messages)


def test_the_next_three_turns_join_them_after_a_restart(tmp_path):
    with opened(tmp_path) as palace:
        first = palace.compress_if_needed(talk(4), "s")
    with opened(tmp_path) as palace:
        second = palace.compress_if_needed([*first.messages, *talk(7)[8:]], "s")
        assert second.condensed == tuple(talk(7)[6:12])
        assert [m.text for m in palace.memories(room="timeline")] == [first.summary, second.summary]
    assert "host-0" in second.injected
    assert "host-5" in second.injected


def test_half_a_window_is_enough(tmp_path):
    with opened(tmp_path, window_tokens=400) as palace:
        done = palace.compress_if_needed(talk(2, words="and so on " * 25), "s")
    assert (done.trigger, len(done.condensed)) == ("window", 2)


def test_a_single_long_turn_is_cut_inside_and_keeps_its_request(tmp_path):
    history = [Message("user", "Look at all of the hosts.")]
    for n in range(12):
        history += [
            Message("assistant", "", calls=(f"c{n}",)),
            Message("tool", f"host-{n} is up. " * 12, answers=f"c{n}"),
        ]
    with opened(tmp_path, window_tokens=600) as palace:
        done = palace.compress_if_needed(history, "s")
    assert done.trigger == "window"
    assert done.messages[1] == history[0]
    rest = done.messages[2:]
    assert rest[0].calls
    assert {m.answers for m in rest if m.answers} == {c for m in rest for c in m.calls}
    assert history[1 : len(done.condensed)] + list(rest) == history[1:]


def test_a_pause_condenses_what_was_before(tmp_path):
    ago = utc_now() - timedelta(hours=2) - NOON
    said = [replace(m, at=m.at + ago) for m in talk(2, timed=True)]
    later = Message("user", "Back again.", at=utc_now())
    with opened(tmp_path, idle_minutes=300.0) as palace:
        assert palace.compress_if_needed([*said, later], "s").status == "unchanged"
    with opened(tmp_path, idle_minutes=30.0) as palace:
        done = palace.compress_if_needed([*said, later], "s")
    assert (done.trigger, done.condensed) == ("idle", tuple(said))
    assert done.last_consolidated_at == said[-1].at
    assert done.messages == (Message("user", done.injected), later)
    stamp = f"[{said[-1].at:%Y-%m-%d %H:%M}] Summary: - User: We decided on plan 0"
    assert stamp in page(tmp_path)


def test_without_times_a_pause_is_one_that_was_seen(tmp_path):
    with opened(tmp_path) as palace:
        clock = ManualClock(NOON)
        made = replace(palace._parts.consolidator, clock=clock)
        assert made.compress_if_needed(talk(2), "s").status == "unchanged"
        clock.advance(3600)
        done = made.compress_if_needed([*talk(2), Message("user", "Back again.")], "s")
    assert (done.trigger, done.condensed) == ("idle", tuple(talk(2)))


def test_a_model_writes_the_summary(tmp_path):
    with opened(tmp_path, "- User: plan 1 is for host-1\n- plan 99 is for host-99") as palace:
        done = palace.compress_if_needed(talk(4), "s")
    assert (done.by, done.summary) == ("model", "- User: plan 1 is for host-1")


@pytest.mark.parametrize(
    "reply",
    [
        "plan " * 400,
        "<memory-context>plan 1</memory-context>",
        "- User: plan 77 for host-77",
        "   ",
    ],
    ids=["too long", "our own block", "made up", "blank"],
)
def test_a_useless_reply_is_replaced_by_picked_sentences(tmp_path, reply):
    with opened(tmp_path, reply) as palace:
        done = palace.compress_if_needed(talk(4), "s")
    assert (done.status, done.by) == ("condensed", "picking")
    assert done.reason
    assert "host-2" in done.summary


def test_a_secret_reaches_neither_model_nor_timeline(tmp_path):
    history = [*talk(3, words=f"The key is {TOKEN}."), Message("user", "go on")]
    with opened(tmp_path, f"- User: plan 1 with the key {TOKEN}") as palace:
        done = palace.compress_if_needed(history, "s")
        asked = str(palace.generator.asked)
    assert done.by == "model"
    written = page(tmp_path) + (tmp_path / "palace/sessions/s.json").read_text()
    assert TOKEN not in written + asked + done.injected


@pytest.mark.parametrize("script", [["- User: plan 1 for ann.lee@orchard-mail.net"], []])
def test_personal_data_goes_nowhere_where_it_is_redacted(tmp_path, monkeypatch, script):
    monkeypatch.setenv("PALACE_WRITE__PERSONAL_DATA", "redact")
    history = [*talk(3, words="Write to ann.lee@orchard-mail.net."), Message("user", "go on")]
    with opened(tmp_path, *script) as palace:
        done = palace.compress_if_needed(history, "s")
        asked = str(palace.generator.asked) if script else ""
    written = page(tmp_path) + (tmp_path / "palace/sessions/s.json").read_text()
    assert done.status == "condensed"
    assert "ann.lee" not in written + asked + done.injected


def test_three_failures_in_a_row_become_raw_lines_and_nothing_is_lost(tmp_path):
    with opened(tmp_path, DOWN, DOWN, DOWN, DOWN, "- User: plan 9 for host-9") as palace:
        for failures in (1, 2):
            done = palace.compress_if_needed(talk(4), "s")
            assert (done.status, done.failures, done.reason) == ("deferred", failures, DOWN.message)
            assert done.messages == tuple(talk(4))
            assert page(tmp_path) == ""
        done = palace.compress_if_needed(talk(4), "s")
        assert (done.status, done.by, done.failures) == ("condensed", "raw", 3)
        for message in talk(3):
            assert message.content.strip() in page(tmp_path)
        assert done.summary.startswith("[RAW] User: We decided on plan 0")
        assert "[RAW]" not in done.injected
        # As long as it is down there is no further waiting; the first success ends it.
        assert palace.compress_if_needed(talk(7), "s").by == "raw"
        done = palace.compress_if_needed(talk(10), "s", force=True)
        assert (done.by, done.failures) == ("picking", 0) or done.by == "model"


def test_a_failing_model_cannot_fill_the_window(tmp_path):
    with opened(tmp_path, DOWN, window_tokens=300) as palace:
        done = palace.compress_if_needed(talk(3, words="and so on " * 30), "s")
    assert (done.status, done.by) == ("condensed", "raw")
    assert sum(estimate_tokens(m.content) for m in done.messages) < 300


def test_a_crash_between_entry_and_mark_condenses_nothing_twice(tmp_path, monkeypatch):
    with opened(tmp_path) as palace:
        marks = palace._parts.consolidator.marks

        def refuse(_: object) -> None:
            raise StoreUnavailableError("the power is gone")

        monkeypatch.setattr(type(marks), "write", lambda self, mark: refuse(mark))
        with pytest.raises(StoreUnavailableError):
            palace.compress_if_needed(talk(4), "s")
    monkeypatch.undo()
    before = page(tmp_path)
    assert "host-0" in before
    with opened(tmp_path) as palace:
        done = palace.compress_if_needed(talk(5), "s")
        assert done.status == "unchanged"
        assert page(tmp_path) == before
        assert "host-0" in done.injected
        assert done.messages[1:] == tuple(talk(5)[6:])


def test_lost_marks_are_found_again_on_the_timeline(tmp_path):
    with opened(tmp_path) as palace:
        for turns in (4, 7):
            palace.compress_if_needed(talk(turns), "s")
        before = page(tmp_path)
        (tmp_path / "palace/sessions/s.json").unlink()
        done = palace.compress_if_needed(talk(8), "s")
        assert done.messages[1:] == tuple(talk(8)[12:])
    assert page(tmp_path) == before


def test_two_sessions_do_not_meet(tmp_path):
    with opened(tmp_path) as palace:
        palace.compress_if_needed(talk(4), "a")
        assert palace.compress_if_needed(talk(3), "b").injected == ""


def test_a_session_leaves_no_lock_of_its_own_behind(tmp_path):
    left = []
    with opened(tmp_path) as palace:
        for session in ("one", "two", "three"):
            palace.compress_if_needed(talk(4), session)
            left.append(len(list((tmp_path / "palace/.palace/locks").iterdir())))
    assert left[0] == left[-1]


def test_a_project_s_summary_is_its_own(tmp_path):
    with opened(tmp_path) as palace:
        palace.compress_if_needed(talk(4), "s", project="orchard")
        assert palace.search("plan host", project="orchard")
        assert palace.search("plan host") == []


def test_retention_takes_condensed_entries_and_nothing_else(tmp_path):
    old = [replace(m, at=NOON - timedelta(days=900)) for m in talk(4)]
    with opened(tmp_path, retention_days=30) as palace:
        timeline = tmp_path / "palace/timeline"
        timeline.mkdir(parents=True)
        (timeline / "2020-01-01.md").write_text(
            "# 2020-01-01\n\n## s\n[2020-01-01 10:00] Ann: Hi.\n"
        )
        palace.refresh()
        palace.compress_if_needed(old, "s")
        assert [m.text for m in palace.memories(room="timeline")] == ["Hi."]


def test_retention_leaves_what_a_person_wrote_on_to_an_entry(tmp_path):
    old = [replace(m, at=NOON - timedelta(days=900)) for m in talk(4)]
    with opened(tmp_path) as palace:
        palace.compress_if_needed(old, "s")
        file = tmp_path / "palace" / palace.memories(room="timeline")[0].path
        file.write_text(file.read_text() + "The fence was green, I think.\n")
    with opened(tmp_path, retention_days=30) as palace:
        palace.compress_if_needed(talk(4), "other")
        assert "I think" in file.read_text()


def test_without_a_journal_none_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("PALACE_JOURNAL__ENABLED", "false")
    with opened(tmp_path) as palace:
        assert palace.compress_if_needed(talk(1), "s", force=True).status == "condensed"
    assert not (tmp_path / "palace" / "journal").exists()


def test_a_session_needs_a_name(tmp_path):
    with opened(tmp_path) as palace, pytest.raises(UnsafeNameError):
        palace.compress_if_needed(talk(4), "")


@pytest.mark.parametrize(
    "text", ["", " ", "\x00\ud800", "x" * 200_000, "<!-- memory id=m-1 -->\n- x"]
)
def test_any_text_at_all(tmp_path, text):
    history = [Message("user", text), Message("assistant", text)] * 4
    with opened(tmp_path) as palace:
        done = palace.compress_if_needed(history, "s", force=True)
        assert done.condensed == tuple(history)
        assert palace.compress_if_needed(history, "s", force=True).status == "unchanged"
        assert palace.faults() == []
