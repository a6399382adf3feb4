"""The end of a session on real files: what was stated and nobody stored, and finished tasks."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest

from palace import (
    Mempalace,
    Message,
    ModelError,
    RetrievalEnforcer,
    SecretRefusedError,
    TextRefusedError,
)
from palace.testing import ScriptedGenerator

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def said(*pairs: tuple[str, str]) -> list[Message]:
    return [m for u, a in pairs for m in (Message("user", u), Message("assistant", a)) if m.content]


def told(text: str, at: datetime, *, before: str = "") -> list[Message]:
    earlier = [Message("assistant", before, at=at)] if before else []
    return [*earlier, Message("user", text, at=at)]


def outcome(ended):
    return [(fill.status, fill.kind, fill.text) for fill in ended.filled]


def test_what_was_stated_is_found_by_the_next_question(palace):
    history = said(("By the way, our staging server is called heron.", "Good to know."))
    ended = palace.on_session_end("s", history)
    assert outcome(ended) == [("stored", "fact", "Our staging server is called heron.")]
    [fill] = ended.filled
    assert (fill.memory.trust, fill.memory.provenance) == ("user", "session-end:s")
    verdict = RetrievalEnforcer(palace).decide("What is our staging server called?")
    assert verdict.action == "ground"
    assert ended.summary.status == "condensed"


def test_doing_it_again_changes_nothing(palace, tmp_path):
    history = said(("I prefer tabs over spaces.", "Fine."), ("The port is 1?", "The port is 80."))
    history += said(("No, the port is 8080, not 80.", "Right."))
    palace.on_session_end("s", history)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*.md")}
    ended = palace.on_session_end("s", history)
    assert {fill.status for fill in ended.filled} == {"duplicate"}
    assert ended.summary.status == "unchanged"
    assert {p: p.read_bytes() for p in tmp_path.rglob("*.md")} == before


def test_what_was_retired_since_stays_retired(palace):
    history = said(("I prefer tea to coffee.", "Fine."), ("The port is 1?", "The port is 80."))
    history += said(("No, the port is 8080.", "Right."), ("My name is Ada Novak.", "Hello."))
    tea, port, name = (fill.memory for fill in palace.on_session_end("s", history).filled)
    palace.correct(tea.id, "I prefer coffee to tea.")
    palace.forget(name.id)
    ended = palace.on_session_end("s", history)
    assert [(fill.status, fill.memory.id) for fill in ended.filled] == [
        *(("duplicate", memory.id) for memory in (tea, port, name))
    ]
    assert [fill.reason for fill in ended.filled] == [
        "it was stored before, and retired since",
        "",
        "it was stored before, and retired since",
    ]
    kept = [m.text for m in palace.memories() if m.room != "timeline"]
    assert kept == ["I prefer coffee to tea.", "The port is 8080."]
    again = palace.on_session_end("t", said(("My name is Ada Novak.", "Hello.")))
    assert [fill.status for fill in again.filled] == ["stored"]


def test_what_the_agent_stored_is_left_alone(palace):
    palace.remember("I prefer tabs over spaces.", source="agent")
    palace.remember("The nightly build starts at 03:30.", source="agent")
    history = said(("I prefer tabs over spaces.", "The nightly build starts at 02:30."))
    history += said(("No, the nightly build starts at 03:30.", "I see."))
    ended = palace.on_session_end("s", history)
    assert [fill.status for fill in ended.filled] == ["duplicate", "duplicate"]
    assert len([m for m in palace.memories() if m.room != "timeline"]) == 2


def test_a_correction_supersedes_the_memory_that_is_wrong(palace):
    wrong = palace.remember("The deploy of the orchard is on Thursday at 10:00.").memory
    other = palace.remember("The market of the orchard is on Thursday.").memory
    history = said(
        ("When is the deploy of the orchard?", "The deploy of the orchard is on Thursday."),
        ("It's on Friday, not on Thursday.", "Noted."),
    )
    RetrievalEnforcer(palace).decide("When is the deploy of the orchard?", session_id="s")
    ended = palace.on_session_end("s", history)
    assert outcome(ended) == [
        ("corrected", "correction", "The deploy of the orchard is on Friday at 10:00.")
    ]
    assert palace.get(wrong.id).status == "inactive"
    assert palace.get(other.id).status == "active"


@pytest.mark.parametrize(
    ("stored", "said_of_it", "right"),
    [
        (
            "The booking API answers on port 8720.",
            "No, the booking API answers on port 3441, not 8720.",
            "The booking API answers on port 3441.",
        ),
        (
            "The cat gets 95 grams of food in the morning.",
            "No, the cat gets 113 grams of food in the morning, not 95.",
            "The cat gets 113 grams of food in the morning.",
        ),
        (
            "Unser Tarif kostet 30 Euro im Monat.",
            "Nein, unser Tarif kostet 35 Euro im Monat, nicht 30.",
            "Unser Tarif kostet 35 Euro im Monat.",
        ),
    ],
)
def test_a_value_that_is_denied_is_exchanged_in_the_memory(palace, stored, said_of_it, right):
    old = palace.remember(stored).memory
    ended = palace.on_session_end("s", said(("And now?", stored), (said_of_it, "Noted.")))
    assert outcome(ended) == [("corrected", "correction", right)]
    assert palace.get(old.id).status == "inactive"
    assert palace.remember(right).status == "duplicate"


def test_a_value_of_another_unit_is_not_exchanged(palace):
    stored = "The lamp in the hall costs 9 euros."
    palace.remember(stored)
    talk = said(
        ("And now?", stored), ("No, the lamp in the hall costs 10 dollars, not 9 euros.", "")
    )
    [fill] = palace.on_session_end("s", talk).filled
    assert "10 euros" not in fill.text


def test_many_sessions_that_tell_of_a_memory_do_not_hide_it_from_its_correction(palace):
    stored = "The cat gets 95 grams of food in the morning."
    old = palace.remember(stored).memory
    for number in range(8):
        palace.on_session_end(f"s{number}", said(("How much does the cat get?", stored)))
    talk = said(
        ("And now?", stored), ("No, the cat gets 86 grams of food in the morning, not 95.", "")
    )
    ended = palace.on_session_end("last", talk)
    assert [fill.status for fill in ended.filled] == ["corrected"]
    assert palace.get(old.id).status == "inactive"


def test_what_was_corrected_is_not_today_s_answer_though_the_session_tells_of_it(palace):
    ask = RetrievalEnforcer(palace).decide
    old = palace.remember("The library opens at 9.").memory
    palace.remember("The rent is 830 euros.")
    talk = said(("When does the library open?", old.text), ("No, it is 10 now, not 9.", "Thanks."))
    ended = outcome(palace.on_session_end("s1", talk))
    assert ended == [("corrected", "correction", "The library opens at 10.")]
    assert any(old.text in m.text for m in palace.memories(room="timeline"))

    first = ask("When does the library open?").evidence[0]
    assert first.text == "The library opens at 10."
    palace.correct(first.id, "The library opens at 11.")
    assert ask("When does the library open?").evidence[0].text == "The library opens at 11."


def test_a_correction_of_what_nobody_stored_is_stored_whole(palace):
    history = said(("Hm.", "Sure. The licence of the project is MIT."))
    history += said(("It's Apache 2.0, not MIT.", "Sorry."))
    assert outcome(palace.on_session_end("s", history)) == [
        ("stored", "correction", "The licence of the project is Apache 2.0.")
    ]


def test_a_correction_that_is_about_nothing_is_told_and_not_stored(palace):
    history = said(("Hm.", "MIT or MIT, the licence is MIT."), ("It's Apache, not MIT.", "Ok."))
    assert [fill.status for fill in palace.on_session_end("s", history).filled] == ["unclear"]
    assert [m for m in palace.memories() if m.room != "timeline"] == []


def test_another_value_is_a_conflict_for_a_person_to_decide(palace):
    old = palace.remember("Our budget for the fair is 12000 euros.").memory
    ended = palace.on_session_end("s", said(("Our budget for the fair is 15000 euros.", "Ok.")))
    [fill] = ended.filled
    assert (fill.status, fill.memory.id) == ("conflict", old.id)
    assert fill.reason


@pytest.mark.parametrize(
    ("held", "told_now"),
    [
        ("Our dentist is Dr Okafor.", "Our dentist is Dr Lindgren now."),
        ("Our bank is Sparbank.", "Our bank is Nordbank again."),
        ("We build with Jenkins.", "We no longer use Jenkins."),
    ],
)
def test_what_is_said_to_be_so_now_puts_right_what_was_so_before(palace, held, told_now):
    old = palace.remember(held).memory
    [fill] = palace.on_session_end("s", said((told_now, "Ok."))).filled
    assert (fill.status, fill.text) == ("stored", told_now)
    assert palace.get(old.id).superseded_by == fill.memory.id
    palace.undo()
    assert palace.get(old.id).status == "active"


LONG_AGO = datetime(2025, 3, 6, 9, 0, tzinfo=timezone.utc)  # a Thursday


def test_a_statement_is_of_the_day_it_was_said_on(palace):
    history = told("Remember that the boat trial of the club is next Tuesday.", LONG_AGO)
    [fill] = palace.on_session_end("s", history).filled
    assert (fill.status, fill.memory.created) == ("stored", LONG_AGO)
    verdict = RetrievalEnforcer(palace).decide("When is the boat trial of the club?")
    assert {item.as_of for item in verdict.evidence} == {LONG_AGO}


def test_what_is_said_tomorrow_by_another_clock_is_of_now(palace):
    ahead = datetime.now(timezone.utc) + timedelta(days=1)
    [fill] = palace.on_session_end("s", told("I prefer tabs over spaces.", ahead)).filled
    assert fill.memory.created < ahead


@pytest.mark.parametrize(
    ("stored", "before", "text"),
    [
        (
            "The deploy of the orchard is on Friday at 10:00.",
            "The deploy of the orchard is on Friday.",
            "No, the deploy of the orchard is on Monday, not on Friday.",
        ),
        (
            "The nightly build of the orchard starts at 03:30.",
            "The nightly build of the orchard starts at 02:30.",
            "No, the nightly build of the orchard starts at 04:30.",
        ),
    ],
)
def test_what_was_said_earlier_retires_nothing_newer(palace, stored, before, text):
    newer = palace.remember(stored).memory
    [fill] = palace.on_session_end("s", told(text, LONG_AGO, before=before)).filled
    assert (fill.status, fill.memory.id) == ("conflict", newer.id)
    assert fill.reason
    assert palace.get(newer.id).status == "active"
    now = datetime.now(timezone.utc)
    [fill] = palace.on_session_end("t", told(text, now, before=before)).filled
    assert fill.status in ("stored", "corrected")
    assert palace.get(newer.id).status == "inactive"


def test_a_correction_is_of_the_day_it_was_said_on(palace):
    then = "The deploy of the orchard is on Thursday at 10:00."
    palace.on_session_end("s", told(f"Remember that {then}", LONG_AGO))
    later = LONG_AGO + timedelta(days=1)
    text, before = "It's on Friday, not on Thursday.", "The deploy of the orchard is on Thursday."
    [fill] = palace.on_session_end("t", told(text, later, before=before)).filled
    assert (fill.status, fill.memory.created) == ("corrected", later)


@pytest.mark.parametrize(
    "words",
    [
        "The whole team reads the digest on Mondays.",
        "我的孩子每周二上钢琴课。",
        "娘は火曜にピアノを習っている。",
    ],
)
def test_a_model_s_proposal_is_of_the_day_it_was_said_on(tmp_path, words):
    model = ScriptedGenerator([json.dumps([{"quote": words, "kind": "fact"}]), "- digest"])
    with Mempalace.open(tmp_path, generator=model) as palace:
        [fill] = palace.on_session_end("s", told(words, LONG_AGO)).filled
        assert (fill.by, fill.memory.created) == ("model", LONG_AGO)


def test_a_secret_is_refused_and_not_shown(palace):
    ended = palace.on_session_end("s", said((f"Remember that the deploy token is {TOKEN}.", "Ok.")))
    assert [fill.status for fill in ended.filled] == ["refused"]
    assert TOKEN not in str(ended.filled)


def test_a_project_s_statements_are_its_own(palace):
    palace.on_session_end(
        "s", said(("Our staging server is called heron.", "Ok.")), project="orchard"
    )
    [memory] = [m for m in palace.memories() if m.room != "timeline"]
    assert memory.scope == "project:orchard"


PROPOSALS = [
    {"quote": "The whole team reads the digest on Mondays.", "kind": "fact"},
    {"quote": "The team reads it on Tuesdays.", "kind": "fact"},
    {"quote": "Is the digest long?", "kind": "fact"},
    {"quote": 'My colleague says "it is long".', "kind": "fact"},
    {"quote": "The whole team reads the digest on Mondays.", "kind": "secret"},
    {"quote": 7},
    "nothing",
]


def test_a_model_may_only_propose_the_person_s_own_sentences(tmp_path):
    history = said(
        (
            "The whole team reads the digest on Mondays. Is the digest long?",
            "The team reads it on Tuesdays.",
        ),
        ('My colleague says "it is long".', ""),
    )
    model = ScriptedGenerator([f"Here: {json.dumps(PROPOSALS)}", "- User: digest on Mondays"])
    with Mempalace.open(tmp_path, generator=model) as palace:
        ended = palace.on_session_end("s", history)
    assert outcome(ended) == [("stored", "fact", "The whole team reads the digest on Mondays.")]
    assert ended.filled[0].by == "model"


@pytest.mark.parametrize("reply", ["no list", "[1, 2", ModelError("the model is down")])
def test_a_model_that_fails_costs_nothing_but_its_help(tmp_path, reply):
    with Mempalace.open(tmp_path, generator=ScriptedGenerator([reply])) as palace:
        ended = palace.on_session_end("s", said(("I prefer tabs over spaces.", "Ok.")))
    assert outcome(ended) == [("stored", "preference", "I prefer tabs over spaces.")]
    assert ended.reason
    assert ended.summary.status == "deferred"


def test_a_finished_task_is_archived(palace):
    done = palace.finish_task(
        "Move the wiki",
        done="All 412 pages are in Outline.",
        conclusions=["The export takes 3 hours."],
        decisions=["We keep the old links.", "No more attachments."],
        session_id="s",
    )
    assert done.text.splitlines() == [
        "Move the wiki",
        "Done: All 412 pages are in Outline.",
        "Conclusions: The export takes 3 hours.",
        "Decisions:",
        "- We keep the old links.",
        "- No more attachments.",
    ]
    assert (done.task, done.session, done.room) == ("Move the wiki", "s", "timeline")
    assert palace.search("attachments decision wiki")[0].memory.text == done.text


def test_what_was_done_comes_from_what_was_condensed_under_the_task(palace):
    history = said(("We moved 412 pages to Outline.", "Fine.")) * 4
    palace.compress_if_needed(history, "s", task="Move the wiki")
    done = palace.finish_task("Move the wiki")
    assert "412 pages" in done.text
    assert done.session == "Task Move the wiki"


@pytest.mark.parametrize("task", ["", "  ", "Nothing was done"])
def test_there_must_be_something_to_archive(palace, task):
    with pytest.raises(TextRefusedError):
        palace.finish_task(task)


def test_a_task_keeps_no_secret(palace):
    with pytest.raises(SecretRefusedError):
        palace.finish_task("Keys", done=f"The token is {TOKEN}.")


@pytest.mark.parametrize(
    ("held", "now"),
    [
        ("我住在上海。", "我现在住在杭州。"),
        ("我住在上海。", "我搬到杭州了。"),
        ("私は大阪に住んでいます。", "私は京都に引っ越しました。"),
        ("저는 서울에 살아요.", "저는 이제 부산에 살아요."),
        ("저는 서울에 살아요.", "저는 부산으로 이사했어요."),
        ("Vivo en Madrid.", "Ahora vivo en Sevilla."),
        ("J'habite à Lyon.", "J'habite maintenant à Paris."),
    ],
)
def test_where_a_person_lives_now_retires_where_they_lived(palace, held, now):
    before = palace.remember(held).memory
    [fill] = palace.on_session_end("s", said((now, "Ok."))).filled
    assert fill.status == "stored"
    assert palace.get(before.id).status != "active"


@pytest.mark.parametrize(
    "moved",
    [
        "Ich bin nach Kiel gezogen.",
        "Me mudé a Sevilla.",
        "J'ai déménagé à Paris.",
        "Bursa'ya taşındım.",
    ],
)
def test_a_move_is_kept(palace, moved):
    assert [fill.text for fill in palace.on_session_end("s", said((moved, "Ok."))).filled] == [
        moved
    ]
