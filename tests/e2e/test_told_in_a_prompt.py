"""Prompts that tell the memory something, and memories that must be brought up at a prompt."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from palace import (
    Mempalace,
    Message,
    RetrievalEnforcer,
    TextRefusedError,
    Unclear,
    Verdict,
    answer_check,
    context_prompt,
    grounded_prompt,
    quote_prompt,
)
from palace.serve.cli import run

PORT = "The staging database listens on port 5432."
NEW_PORT = "The staging database listens on port 5433."
ASKED = "Which port does the staging database listen on?"
NEVER = "Never deploy on a Friday."


def switched(tmp_path: Path, setting: str) -> Mempalace:
    file = tmp_path / "palace" / "config" / "mempalace.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"write:\n  {setting}\n", encoding="utf-8")
    return Mempalace.open(tmp_path / "palace")


def say(palace: Mempalace, prompt: str, **turn: Any) -> Verdict:
    return RetrievalEnforcer(palace).decide(prompt, **{"session_id": "s1", **turn})


# -- remember this ------------------------------------------------------------------------------


def test_what_is_told_is_acknowledged_without_a_model_and_found_at_once(palace):
    verdict = say(palace, f"Remember this: {PORT}")
    assert (verdict.action, verdict.text) == ("answer", f"I will remember: {PORT}")
    (written,) = verdict.as_dict()["written"]
    assert written["status"] == "stored"
    assert palace.get(written["memory"]).trust == "user"
    assert palace.verdict(verdict.id)["written"] == [written]
    assert say(palace, ASKED).evidence[0].id == written["memory"]
    assert palace.undo().removed == (written["memory"],)


def test_the_agent_may_be_called_by_its_name(palace):
    assert say(palace, f"Timmy, remember that {PORT}").written == ()
    palace.set_identity("You are Timmy, who keeps my notes.")
    assert say(palace, f"Timmy, remember that {PORT}").text == f"I will remember: {PORT}"
    verdict = say(palace, "Timmy, which port does the staging database listen on?")
    assert (verdict.action, verdict.evidence[0].text) == ("ground", PORT)
    assert say(palace, "Timmy, no, it is 5433, not 5432.").written[0].status == "corrected"
    assert say(palace, f"Dear Ann, remember that {PORT}").written == ()


def test_an_identity_that_cannot_be_read_tells_no_name(palace):
    say(palace, f"Remember this: {PORT}")
    (palace.root / "identity.txt").mkdir()
    assert say(palace, ASKED).evidence[0].text == PORT


def test_the_rest_of_the_prompt_is_decided_as_ever(palace):
    palace.remember(PORT)
    verdict = say(palace, f"Remember this: the lamp in the hall is green. {ASKED}")
    assert (verdict.action, verdict.evidence[0].text) == ("ground", PORT)
    assert "I will remember" not in verdict.text
    assert "I will remember: the lamp in the hall is green." in grounded_prompt(ASKED, verdict)
    missed = say(palace, "Remember this: the cable is old. When did we hire Zebulon Quist?")
    assert missed.action == "fallback"
    assert missed.text.startswith("I will remember: the cable is old.\nI don't have this")
    passed = say(palace, "Remember this: the kettle is blue. Write a haiku about rain.")
    assert passed.action == "pass"
    assert "tell them in a few words" in context_prompt("x", passed)


def test_a_known_word_a_conflict_and_a_secret_are_told_as_such(palace):
    say(palace, f"Remember this: {PORT}")
    assert "already" in say(palace, f"Remember this: {PORT}").text
    conflict = say(palace, f"Remember this: {NEW_PORT}")
    assert (conflict.written[0].status, PORT in conflict.text) == ("conflict", True)
    secret = say(palace, "Remember this: my password is hunter2hunter2")
    assert secret.written[0].status == "refused"
    assert "hunter2" not in secret.text
    assert [m.text for m in palace.memories()] == [PORT]


def test_a_persons_word_takes_the_place_of_an_agents(palace):
    palace.remember(PORT, source="agent")
    say(palace, f"Remember this: {NEW_PORT}")
    assert [m.text for m in palace.memories()] == [NEW_PORT]


def test_it_can_be_switched_off(tmp_path):
    with switched(tmp_path, "remember_in_prompt: false") as palace:
        assert say(palace, f"Remember this: {PORT}").written == ()
        assert palace.memories() == []


def test_a_machine_tells_nothing(palace):
    assert say(palace, '{"text": "remember this: the lamp is green."}').written == ()
    assert palace.memories() == []


def test_the_command_line_says_what_was_kept(tmp_path, capsys):
    root = ["--root", str(tmp_path / "palace")]
    run(["init", *root])
    capsys.readouterr()
    assert run(["ask", f"Remember this: {PORT}", *root]) == 0
    assert capsys.readouterr().out == f"I will remember: {PORT}\n"
    run(["ask", f"Remember this: the lamp is green. {ASKED}", *root])
    assert capsys.readouterr().out.startswith("I will remember: the lamp is green.\n" + PORT)


# -- no, it is Z, not Y -------------------------------------------------------------------------


def test_a_correction_in_conversation_finds_the_memory_that_was_wrong(palace):
    old = palace.remember(PORT).memory
    say(palace, ASKED)
    verdict = say(palace, "No, it is 5433, not 5432.")
    assert (verdict.action, verdict.written[0].status) == ("answer", "corrected")
    assert [m.text for m in palace.memories()] == [NEW_PORT]
    assert palace.get(old.id).superseded_by == verdict.written[0].memory_id
    assert say(palace, ASKED).evidence[0].text == NEW_PORT
    palace.undo()
    assert [m.text for m in palace.memories()] == [PORT]


def test_it_is_about_what_this_session_was_just_told(palace):
    palace.remember(PORT)
    say(palace, ASKED)
    for other in ("s2", None):
        assert say(palace, "No, it is 5433, not 5432.", session_id=other).written == ()
    for _ in range(3):
        say(palace, "Write a haiku about rain.")
    assert say(palace, "No, it is 5433, not 5432.").written == ()
    assert [m.text for m in palace.memories()] == [PORT]


def test_people_contradict_other_things_too(palace):
    palace.remember(PORT)
    say(palace, ASKED)
    for prompt in ("No, it is a cat, not a dog.", "No, I do not like it.", "No, it is fine."):
        assert say(palace, prompt).written == ()
    assert [m.text for m in palace.memories()] == [PORT]


def test_the_facade_asks_where_it_is_not_plain(palace):
    palace.remember(PORT)
    assert isinstance(palace.correct_last("No, it is 5433, not 5432.", "s1"), Unclear)
    say(palace, ASKED)
    unclear = palace.correct_last("No, it is 5433, not 6000.", "s1")
    assert isinstance(unclear, Unclear)
    assert [m.text for m in unclear.candidates] == [PORT]
    assert isinstance(palace.correct_last("That is wrong", "s1"), Unclear)
    assert palace.correct_last("No, it is 5433.", "s1").memory.text == NEW_PORT


def test_corrections_in_a_prompt_can_be_switched_off(tmp_path):
    with switched(tmp_path, "correct_in_prompt: false") as palace:
        palace.remember(PORT)
        say(palace, ASKED)
        assert say(palace, "No, it is 5433, not 5432.").written == ()


def test_the_command_line_corrects_the_last_answer(tmp_path, capsys):
    root = ["--root", str(tmp_path / "palace")]
    run(["remember", PORT, *root])
    run(["ask", ASKED, "--session", "s1", *root])
    assert run(["correct", "last", "No, it is 5433, not 6000.", "--session", "s1", *root]) == 1
    assert "Which of these is wrong" in capsys.readouterr().out
    assert run(["correct", "last", "No, it is 5433, not 5432.", "--session", "s1", *root]) == 0
    assert run(["correct", "last", "No, it is 5433, not 5432.", *root]) == 2


# -- reminders ----------------------------------------------------------------------------------


def reminded(palace: Mempalace, prompt: str, **turn: Any) -> list[str]:
    return [item.text for item in say(palace, prompt, **turn).reminders]


def test_a_trigger_brings_its_memory_up_whatever_the_prompt_is(palace):
    palace.remember(PORT)
    memory = palace.remember(NEVER, kind="negative", triggers=["deploy", "/release it/"]).memory
    passed = say(palace, "Please release it now.")
    assert (passed.action, [e.id for e in passed.reminders]) == ("pass", [memory.id])
    assert NEVER in context_prompt("Please release it now.", passed)
    grounded = say(palace, f"Before we deploy: {ASKED}")
    assert grounded.action == "ground"
    assert NEVER in grounded_prompt("x", grounded)
    assert NEVER in quote_prompt("x", grounded, in_words=True)
    assert memory.id in palace.verdict(passed.id)["injected"]
    told = say(palace, "Remember this: we deploy on Mondays.")
    assert (told.action, [e.id for e in told.reminders]) == ("answer", [memory.id])
    assert "[!]" in passed.explain()
    checked = answer_check(passed, question="x", options=palace.answer_options).check(NEVER)
    assert checked.supported


def test_only_who_may_see_it_is_reminded_and_only_while_it_holds(palace):
    past = datetime(2001, 1, 1, tzinfo=timezone.utc)
    palace.remember("Never deploy site A.", triggers=["deploy"], project="site")
    palace.remember("Never deploy on Sundays.", triggers=["deploy"], session_id="s9")
    palace.remember("Never deploy in 2000.", triggers=["deploy"], valid_to=past)
    gone = palace.remember(NEVER, triggers=["deploy"]).memory
    palace.forget(gone.id)
    assert reminded(palace, "Deploy it.") == []
    assert reminded(palace, "Deploy it.", project="site") == ["Never deploy site A."]
    assert reminded(palace, "Deploy it.", session_id="s9") == ["Never deploy on Sundays."]


def test_machines_are_not_reminded(palace):
    palace.remember(NEVER, triggers=["deploy"])
    assert reminded(palace, '{"deploy": true}') == []


def test_a_pattern_that_cannot_work_is_refused_and_one_by_hand_is_named(palace):
    for trigger in ("(((", "", ".*"):
        with pytest.raises(TextRefusedError):
            palace.remember(NEVER, triggers=[trigger])
    assert palace.memories() == []
    file = palace.root / "rooms" / "ops" / "never.md"
    file.parent.mkdir(parents=True)
    file.write_text('- Never sail.\n  <!-- memory triggers=["((("] -->\n', encoding="utf-8")
    palace.refresh()
    assert reminded(palace, "Deploy (((") == []
    (fault,) = palace.faults()
    assert (fault.path, fault.line) == ("rooms/ops/never.md", 1)
    assert "never match" in fault.message
    assert not next(check for check in palace.doctor() if check.name == "files").ok


def test_what_is_brought_up_is_never_cut_by_the_budget(palace):
    palace.remember(NEVER, triggers=["deploy"])
    verdict = say(palace, "Deploy it.")
    assert NEVER in context_prompt("x", verdict, budget_tokens=10)


@pytest.mark.parametrize("stored", [True, False])
def test_a_correction_is_of_the_memory_and_not_of_a_session_that_told_it(palace, stored):
    told = f"{PORT[:-1]}, as far as I know, behind the firewall."
    if stored:
        palace.remember(PORT)
    palace.on_session_end("old", [Message("user", ASKED), Message("assistant", told)])
    assert any("as far as I know" in e.text for e in say(palace, ASKED).evidence)
    verdict = say(palace, "No, it is 5433, not 5432.")
    assert [w.status for w in verdict.written] == (["corrected"] if stored else [])
    held = [m.text for m in palace.memories() if m.status == "active"]
    assert any("as far as I know" in text and "5432" in text for text in held)
    assert (NEW_PORT in held) is stored
