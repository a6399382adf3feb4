from __future__ import annotations

from dataclasses import replace

import pytest

from palace import AnswerCheck, ConfigError, Mempalace, RetrievalEnforcer
from palace.enforce.answering import AnswerOptions, ModelReply, answer_steps, confirm_steps
from palace.enforce.prompt import DECLINE_TOKEN
from palace.enforce.wakeup import FirstTurns
from palace.types.query import RecallSignal
from palace.types.session import Turn
from palace.types.verdict import Verdict
from tests.doubles import evidence

LAMP = evidence("The lamp in the hall needs a 40 W bulb.", id="m-lamp", source="rooms/home.md:1")
DOOR = evidence("The door code is 7731 since May.", id="m-door", source="rooms/home.md:2")
FALLBACK = "Nothing known."
NEAR = "Nothing known. The closest I have: a lamp."
TWO = AnswerOptions(fallback_text=FALLBACK)
ONE = replace(TWO, quote_calls="one")
QUOTE = {"memory": 1, "quote": "The lamp in the hall needs a 40 W bulb.", "answer": "A 40 W bulb."}


def test_how_answers_are_made_is_one_of_the_known_ways():
    with pytest.raises(ConfigError, match="mode is 'Replace'") as told:
        AnswerOptions(mode="Replace")
    assert told.value.hint == "use one of off, flag, replace"
    with pytest.raises(ConfigError, match="mode is 'Replace'"):
        AnswerCheck([LAMP], "Which bulb?", mode="Replace")
    with pytest.raises(ConfigError, match="quote_calls is 'three'"):
        replace(TWO, quote_calls="three")


def verdict(action, *found, text="", outcome="hit"):
    signal = RecallSignal("fact", 0.9)
    return Verdict("v-1", action, outcome, signal, text=text, evidence=found, turn=Turn("q", "s-1"))


def confirm(*found):
    return verdict("confirm", *(found or (LAMP, DOOR)), text=NEAR, outcome="near_miss")


def run(steps, *replies):
    """Drive the steps with scripted replies; return (result, calls)."""
    calls, waiting = [], list(replies)
    try:
        call = next(steps)
        while True:
            calls.append(call)
            call = steps.send(waiting.pop(0))
    except StopIteration as end:
        assert not waiting
        return end.value, calls


def answered(given, *replies, options=TWO, question="Which bulb for the hall lamp?", **more):
    return run(answer_steps(given, question=question, options=options, **more), *replies)


@pytest.mark.parametrize("action", ["fallback", "answer"])
def test_some_verdicts_need_no_model(action):
    answer, calls = answered(verdict(action, LAMP, text="said"))
    assert (answer.text, answer.model_calls, calls) == ("said", 0, [])
    assert answered(verdict(action))[0].text == FALLBACK


@pytest.mark.parametrize("action", ["pass", "generate"])
def test_what_is_no_recall_passes_through(action):
    answer, (call,) = answered(verdict(action), ModelReply("Anything: 99."))
    assert answer.text == "Anything: 99."
    assert (answer.passed_through, answer.model_calls) == (True, 1)
    assert answer.checked is None
    assert call.user_text == "Which bulb for the hall lamp?"
    assert call.schema is None


def test_a_passing_prompt_can_carry_memories_and_the_wake_up():
    _, (call,) = answered(verdict("pass", DOOR), ModelReply("ok"), wake_up="- be brief")
    assert "7731" in call.user_text
    assert "be brief" in call.user_text


def test_a_grounded_answer_is_checked():
    answer, (call,) = answered(verdict("ground", LAMP, DOOR), ModelReply("A 40 W bulb [1]."))
    assert answer.text == "A 40 W bulb [1]."
    assert answer.checked.citations == {1: "m-lamp"}
    assert (answer.model_calls, answer.passed_through, call.purpose) == (1, False, "answer")
    assert call.user_text.startswith("<memory-context>")


def test_a_grounded_lie_is_replaced():
    answer, _ = answered(verdict("ground", LAMP), ModelReply("A 60 W bulb."))
    assert answer.text.startswith(LAMP.text)
    assert answer.checked.unsupported == ("60 W",)


def test_a_grounded_lie_is_treated_as_the_settings_say():
    lie = ModelReply("A 60 W bulb.")
    off, _ = answered(verdict("ground", LAMP), lie, options=replace(TWO, mode="off"))
    assert off.text == lie.text
    flag, _ = answered(verdict("ground", LAMP), lie, options=replace(TWO, mode="flag"))
    assert flag.text.startswith(lie.text)
    assert flag.checked.unsupported == ("60 W",)


def test_a_grounded_call_without_words_is_no_answer():
    answer, _ = answered(verdict("ground", LAMP), ModelReply(""))
    assert answer.checked is not None
    assert not answer.passed_through


def test_a_grounded_call_can_decline():
    answer, _ = answered(verdict("ground", LAMP), ModelReply(DECLINE_TOKEN))
    assert answer.text == FALLBACK
    assert answer.checked.declined


def test_the_wake_up_may_be_used_by_the_answer():
    answer, (call,) = answered(
        verdict("ground", LAMP),
        ModelReply("A 40 W bulb, says Ottokar."),
        wake_up="You are Ottokar.",
    )
    assert answer.checked.supported
    assert "Ottokar" in call.user_text


def test_the_identity_may_be_used_by_the_answer():
    reply = ModelReply("A 40 W bulb, says Ottokar.")
    for identity, supported in (("I am Ottokar.", True), ("", False)):
        options = replace(TWO, identity=identity)
        answer, _ = answered(verdict("ground", LAMP), reply, options=options)
        assert answer.checked.supported == supported


def test_calls_of_the_hosts_tools_go_on_with_checked_text():
    silent, _ = answered(verdict("ground", LAMP), ModelReply(has_tool_calls=True))
    assert (silent.text, silent.passed_through, silent.checked) == ("", True, None)
    assert silent.model_calls == 1
    chatty, _ = answered(verdict("ground", LAMP), ModelReply("It is 60 W.", has_tool_calls=True))
    assert chatty.passed_through
    assert chatty.text.startswith(LAMP.text)


def test_results_of_tools_may_be_used():
    answer, _ = answered(
        verdict("ground", LAMP), ModelReply("The shop has 12 bulbs."), also=["12 bulbs in the shop"]
    )
    assert answer.checked.supported


def test_a_verified_quote_is_answered_in_a_second_call_from_that_memory_alone():
    answer, (quote, call) = answered(
        confirm(), ModelReply(arguments=QUOTE), ModelReply("You need a 40 W bulb [1].")
    )
    assert (quote.purpose, quote.schema["name"]) == ("quote", "point_to_memory")
    assert "MEMORY: <number>" in quote.user_text
    assert call.purpose == "answer"
    assert "7731" not in call.user_text
    assert answer.text == "You need a 40 W bulb [1]."
    assert answer.model_calls == 2
    assert (answer.verdict.action, answer.verdict.evidence) == ("ground", (LAMP,))


SEVERAL = {**QUOTE, "also": [{"memory": 2, "quote": "The door code is 7731"}]}


def test_a_question_for_several_things_may_be_answered_from_several_memories():
    near = confirm(LAMP, DOOR)
    several = replace(near, signal=replace(near.signal, several=True))
    said = "The lamp needs a 40 W bulb and the door code is 7731."
    answer, calls = answered(several, ModelReply(arguments=SEVERAL), ModelReply(said))
    assert "\n- also: " in calls[0].user_text
    assert all(shown in calls[1].user_text for shown in (LAMP.text, DOOR.text))
    assert (answer.verdict.evidence, answer.text) == ((LAMP, DOOR), said)


def test_a_question_for_one_thing_is_answered_from_the_one_memory():
    answer, calls = answered(
        confirm(LAMP, DOOR), ModelReply(arguments=SEVERAL), ModelReply("A 40 W bulb.")
    )
    assert "also" not in calls[0].user_text
    assert DOOR.text not in calls[1].user_text
    assert answer.verdict.evidence == (LAMP,)


def test_one_call_is_enough_where_it_is_set():
    answer, calls = answered(confirm(), ModelReply(arguments=QUOTE), options=ONE)
    assert (answer.text, answer.model_calls, len(calls)) == ("A 40 W bulb.", 1, 1)


@pytest.mark.parametrize("mode", ["off", "flag", "replace"])
@pytest.mark.parametrize("options", [ONE, TWO])
def test_after_unclear_evidence_lies_are_replaced_in_every_mode(options, mode):
    options = replace(options, mode=mode)
    lie = {**QUOTE, "answer": "A 60 W bulb."}
    replies = [ModelReply(arguments=lie), ModelReply("A 60 W bulb.")]
    answer, _ = answered(
        confirm(), *replies[: 1 if options.quote_calls == "one" else 2], options=options
    )
    assert "60" not in answer.text
    assert LAMP.text in answer.text


@pytest.mark.parametrize(
    "reply",
    [
        ModelReply("A 40 W bulb, of course."),
        ModelReply(arguments={**QUOTE, "quote": "The lamp in the hall needs a 60 W bulb."}),
        ModelReply(arguments={**QUOTE, "memory": 2}),
        ModelReply(arguments={"memory": None, "quote": "", "answer": "40 W"}),
        ModelReply(DECLINE_TOKEN),
        ModelReply(""),
        ModelReply("40 W", has_tool_calls=True),
    ],
)
def test_without_a_verified_quote_there_is_only_the_fallback(reply):
    answer, calls = answered(confirm(), reply)
    assert answer.text == NEAR
    assert (answer.verdict.action, answer.model_calls, len(calls)) == ("fallback", 1, 1)
    assert answer.checked is None


def test_a_fallback_without_words_uses_the_set_ones():
    answer, _ = answered(replace(confirm(), text=""), ModelReply("no idea"))
    assert answer.text == FALLBACK


def test_confirming_alone_returns_a_verdict():
    proved, calls = run(
        confirm_steps(confirm(), question="q", options=TWO),
        ModelReply("MEMORY: 1\nQUOTE: The lamp in the hall\nANSWER: x"),
    )
    assert (proved.action, proved.evidence, proved.outcome) == ("ground", (LAMP,), "near_miss")
    assert (proved.layer, proved.text) == ("L1", f"{LAMP.text} (rooms/home.md:1)")
    assert len(calls) == 1
    refused, _ = run(confirm_steps(confirm(), question="q", options=TWO), ModelReply("x"))
    assert (refused.action, refused.text) == ("fallback", NEAR)
    given = verdict("ground", LAMP)
    assert run(confirm_steps(given, question="q", options=TWO)) == (given, [])


@pytest.mark.parametrize("liar", ["Green.", "The shade is green."])
def test_a_true_quote_is_no_licence_for_other_words(liar):
    pointed = ModelReply("MEMORY: 1\nQUOTE: The lamp in the hall needs a 40 W bulb.")
    asked = "Which colour has the lamp in the hall?"
    told, _ = answered(confirm(), pointed, ModelReply(liar), question=asked)
    assert liar not in told.text
    assert LAMP.text in told.text


def test_after_unclear_evidence_an_answer_adds_no_words_of_its_own():
    told = ModelReply("A 40 W bulb, brighter and cheaper than all others.")
    sure, _ = answered(verdict("ground", LAMP), told)
    unsure, _ = answered(confirm(), ModelReply(arguments=QUOTE), told)
    assert (sure.text, unsure.text) == (told.text, f"{LAMP.text} (rooms/home.md:1)")


@pytest.mark.parametrize("action", ["ground", "confirm", "pass"])
def test_evidence_keeps_to_its_budget(action):
    many = [evidence(f"Note {n}: " + "word " * 60) for n in range(9)]
    _, (call,) = answered(
        verdict(action, *many), ModelReply("x"), options=replace(TWO, context_budget_tokens=200)
    )
    assert "left out for want of room" in call.user_text


# -- the facade ----------------------------------------------------------------------------------


@pytest.fixture
def palace(tmp_path):
    with Mempalace.open(tmp_path / "palace") as opened:
        opened.remember("The lamp in the hall needs a 40 W bulb.", room="home")
        yield opened


def test_options_come_from_the_settings(palace, tmp_path):
    palace.set_identity("I am Ottokar.")
    options = palace.answer_options
    assert (options.mode, options.quote_calls) == ("replace", "two")
    assert options.identity == "I am Ottokar."
    assert options.context_budget_tokens == palace.settings.context.budget_tokens
    config = tmp_path / "own.yaml"
    config.write_text("answers:\n  check: flag\n  quote_calls: one\n", "utf-8")
    with Mempalace.open(tmp_path / "other", config=config) as other:
        assert (other.answer_options.mode, other.answer_options.quote_calls) == ("flag", "one")


def test_an_answer_is_recorded_with_what_it_cited(palace):
    given = RetrievalEnforcer(palace).decide(
        "Which bulb does the lamp in the hall need?", session_id="s-1"
    )
    found = replace(given, action="ground", evidence=given.evidence or (LAMP,))
    answer, _ = answered(found, ModelReply("A 40 W bulb [1]. It cost 12 euros."))
    identifier = palace.record_answer(answer, answer.verdict)
    record = palace.journal.find(identifier)
    assert record["type"] == "answer"
    assert (record["verdict"], record["session"]) == (given.id, "s-1")
    assert record["cited"] == [found.evidence[0].id]
    assert record["unsupported"] == ["12 euros"]
    assert (record["supported"], record["model_calls"]) == (False, 1)
    bare = palace.journal.find(palace.record_answer(answer.checked, given))
    assert (bare["model_calls"], bare["unsupported_count"]) == (None, 1)


def test_words_are_recorded_no_further_than_prompts_are(tmp_path):
    config = tmp_path / "own.yaml"
    config.write_text("journal:\n  prompts: hash\n", "utf-8")
    answer, _ = answered(verdict("ground", LAMP), ModelReply("12 euros."))
    with Mempalace.open(tmp_path / "palace", config=config) as opened:
        record = opened.journal.find(opened.record_answer(answer, answer.verdict))
    assert (record["unsupported"], record["unsupported_count"]) == ([], 1)


def test_a_journal_that_cannot_be_written_loses_no_answer(palace, caplog):
    answer, _ = answered(verdict("ground", LAMP), ModelReply("A 40 W bulb [1]."))
    palace.root.joinpath("journal").rename(palace.root / "moved")
    palace.root.joinpath("journal").write_text("in the way", "utf-8")

    assert palace.record_answer(answer, answer.verdict) == ""
    assert answer.verdict.id in caplog.text


def test_without_a_journal_nothing_is_recorded(tmp_path):
    config = tmp_path / "own.yaml"
    config.write_text("journal:\n  enabled: false\n", "utf-8")
    with Mempalace.open(tmp_path / "palace", config=config) as opened:
        assert opened.record_answer(None, verdict("fallback")) == ""
        assert opened.session_wake_up("s-1") != "x"
        assert opened.session_wake_up("s-1") == ""
        assert not list(opened.journal.records())


def test_only_the_first_turn_of_a_session_wakes_up(palace, tmp_path):
    palace.set_identity("I am Ottokar.")
    assert not palace.has_begun("s-1")
    first = palace.session_wake_up("s-1")
    assert "Ottokar" in first
    assert palace.has_begun("s-1")
    assert not palace.has_begun("s-2")
    assert palace.session_wake_up("s-1") == ""
    assert "Ottokar" in palace.session_wake_up("s-2")
    assert palace.session_wake_up(None) == ""
    assert palace.session_wake_up("") == ""
    with Mempalace.open(palace.root) as later:
        assert not later.has_begun("s-1")  # it has not asked the journal
        assert later.session_wake_up("s-1") == ""
        assert later.has_begun("s-1")
        assert "Ottokar" in later.session_wake_up("s-3")


def test_a_wake_up_that_nobody_was_told_is_returned_once_more(palace):
    palace.set_identity("I am Ottokar.")
    first = palace.session_wake_up("s-1", "site")

    palace.leave_wake_up("s-1", first, "site")

    assert palace.session_wake_up("s-1") == ""  # what was left is of a project
    assert palace.session_wake_up("s-1", "site") == first
    assert palace.session_wake_up("s-1", "site") == ""


def test_a_wake_up_waits_until_it_is_taken(palace):
    palace.set_identity("I am Ottokar.")
    assert palace.take_wake_up("s-1") == ""

    palace.begin_session("s-1")
    palace.begin_session("s-2", "site")

    assert palace.has_begun("s-1")
    assert "Ottokar" in palace.take_wake_up("s-1")
    assert palace.take_wake_up("s-1") == ""
    assert palace.take_wake_up("s-2") == ""
    assert "Ottokar" in palace.take_wake_up("s-2", "site")


def test_a_session_that_has_begun_keeps_the_wake_up_that_waits(palace):
    palace.leave_wake_up("s-1", "I am Ottokar.")
    palace.leave_wake_up("s-1", "")
    assert palace.take_wake_up("s-1") == "I am Ottokar."


def test_a_session_in_use_is_known_however_many_begin_beside_it(monkeypatch):
    monkeypatch.setattr("palace.enforce.wakeup._KEPT_BEGUN", 4)
    turns = FirstTurns(None)
    assert turns.begin("asked of")
    assert turns.begin("spoken in")
    for number in range(20):
        assert turns.begin(f"s-{number}")
        assert turns.knows("asked of")
        assert not turns.begin("spoken in")
    assert [turns.knows(f"s-{number}") for number in range(20)].count(True) == 2


def test_only_so_many_wake_ups_are_left():
    turns = FirstTurns(None)
    for number in range(600):
        turns.leave(f"s-{number}", None, "I am Ottokar.")
    assert [turns.take(name, None) for name in ("s-0", "s-599")] == ["", "I am Ottokar."]


def test_deciding_before_waking_up_changes_nothing(palace):
    palace.set_identity("I am Ottokar.")
    RetrievalEnforcer(palace).decide("Which bulb does the lamp need?", session_id="s-9")
    assert "Ottokar" in palace.session_wake_up("s-9")


def test_a_session_begins_once_without_a_journal():
    turns = FirstTurns(None)
    assert [turns.begin("a"), turns.begin("a"), turns.begin("b")] == [True, False, True]
