"""Feedback and strength through real doors: noted, shown, felt at wake-up, never hiding."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from palace import ConfigError, MemoryNotFoundError, Mempalace, Remembered, RetrievalEnforcer

PORT = "The staging database listens on port 5432."
LAMP = "The lamp in the hall is green."


def stored(palace: Mempalace, text: str, **fields: Any) -> str:
    result = palace.remember(text, room="house", **fields)
    assert isinstance(result, Remembered)
    return result.memory.id


def test_feedback_on_a_memory_moves_its_strength_and_is_in_its_history(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        lamp = stored(palace, LAMP, confidence=0.6)
        before = palace.strength(lamp)
        noted = palace.feedback(lamp[:10], False, reason="it is blue")
        assert palace.strength(lamp) == pytest.approx(before * 5 / 6, abs=1e-4)
        assert noted.strengths == {lamp: pytest.approx(palace.strength(lamp), abs=1e-4)}
        [event] = [e for e in palace.history(lamp).events if e["type"] == "feedback"]
        assert (event["id"], event["reason"]) == (noted.event, "it is blue")
        palace.feedback(lamp, True)
        palace.feedback(lamp, True)
        assert palace.strength(lamp) > before
    with Mempalace.open(tmp_path) as again:
        assert again.strength(lamp) > before


def test_feedback_on_a_hand_written_memory_stays_when_it_gets_an_id(tmp_path: Path) -> None:
    drawer = tmp_path / "rooms" / "house" / "notes.md"
    drawer.parent.mkdir(parents=True)
    text = f"- {LAMP}\n  <!-- memory confidence=0.6 created=2026-04-26 -->\n- {PORT}\n"
    drawer.write_text(text, encoding="utf-8")
    with Mempalace.open(tmp_path) as palace:
        lamp = palace.memories(room="house")[0].id
        noted = palace.feedback(lamp, True)
        for _ in range(2):
            palace.feedback(lamp, True)
        told = palace.strength(lamp)
        tagged = palace.tag(lamp, ["light"]).id
        assert tagged != lamp
        assert palace.strength(tagged) == pytest.approx(told, abs=1e-3)
        assert noted.event in [event["id"] for event in palace.history(tagged).events]
    shutil.rmtree(tmp_path / ".palace")
    with Mempalace.open(tmp_path) as again:
        assert again.strength(tagged) == pytest.approx(told, abs=1e-3)
        again.undo()
        assert again.strength(lamp) == pytest.approx(told, abs=1e-3)


def test_feedback_on_a_verdict_is_for_all_that_it_used(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        port, lamp = stored(palace, PORT), stored(palace, LAMP)
        verdict = RetrievalEnforcer(palace).decide(
            "Which port does the staging database listen on?"
        )
        noted = palace.feedback(verdict.id, False)
        assert port in noted.strengths
        assert lamp not in noted.strengths
        missed = RetrievalEnforcer(palace).decide("What is the name of our accountant?")
        with pytest.raises(MemoryNotFoundError, match="put no memory"):
            palace.feedback(missed.id, True)


def test_the_most_disliked_and_oldest_memory_is_still_found(tmp_path: Path) -> None:
    port = "m-01KQ3J7M00D6S9F2V5B8K1P4R3"
    drawer = tmp_path / "rooms" / "house" / "notes.md"
    drawer.parent.mkdir(parents=True)
    drawer.write_text(f"- {PORT}\n  <!-- memory id={port} created=2001-04-26T08:30:00Z -->\n")
    with Mempalace.open(tmp_path) as palace:
        for _ in range(5):
            palace.feedback(port, False)
        assert palace.strength(port) < 0.01
        assert [h.memory.id for h in palace.search("staging database port")] == [port]
        verdict = RetrievalEnforcer(palace).decide(
            "Which port does the staging database listen on?"
        )
        assert port in [e.id for e in verdict.evidence]
        assert port in palace.wake_up("s1").included


def test_wake_up_tells_the_strongest_first_and_what_is_important_before_that(
    tmp_path: Path,
) -> None:
    with Mempalace.open(tmp_path) as palace:
        weak = stored(palace, LAMP)
        strong = stored(palace, PORT)
        vital = stored(palace, "The gas tap is under the sink.", importance=0.9)
        assert list(palace.wake_up("s1").included) == [vital, weak, strong]
        palace.feedback(weak, False)
        palace.feedback(vital, False)
        assert list(palace.wake_up("s1").included) == [vital, strong, weak]


def test_without_a_journal_feedback_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALACE_JOURNAL__ENABLED", "false")
    with Mempalace.open(tmp_path) as palace:
        lamp = stored(palace, LAMP)
        with pytest.raises(ConfigError, match="journal"):
            palace.feedback(lamp, True)
        assert palace.strength(lamp) == pytest.approx(1.0, abs=1e-3)


def test_an_erased_memory_leaves_no_reason_behind(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        lamp = stored(palace, LAMP)
        palace.feedback(lamp, False, reason="the hall lamp was painted yellow")
        palace.erase(lamp)
    assert "yellow" not in "".join(p.read_text() for p in (tmp_path / "journal").iterdir())


def test_the_command_notes_feedback_and_show_and_history_tell_the_strength(command: Any) -> None:
    lamp = command("remember", LAMP, "--json").json["memory"]["id"]
    ended = command("feedback", lamp, "--not-helpful", "--json")
    noted = ended.json
    assert (ended.code, noted["helpful"], list(noted["strengths"])) == (0, False, [lamp])
    assert command("show", lamp, "--json").json["strength"] == pytest.approx(5 / 6, abs=1e-3)
    assert "strength 0.83" in command("history", lamp).out
    assert "0.83" in command("show", lamp).out
    assert "strength 1.00" in command("feedback", lamp, "--helpful").out
    assert command("feedback", lamp).code == 2
    assert command("feedback", "m-nothing00", "--helpful").code == 1
    assert command("feedback", "v-nothing00", "--helpful").code == 1
