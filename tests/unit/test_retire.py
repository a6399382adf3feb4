"""Correcting and forgetting: nothing is removed, nothing wrong is found again."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from palace import (
    ConversationTurn,
    MemoryNotFoundError,
    Mempalace,
    RetrievalEnforcer,
    SecretRefusedError,
    TextRefusedError,
)

PORT = "The staging database listens on port 5432."
NEW_PORT = "The staging database listens on port 5433."
LATER_PORT = "The staging database listens on port 5434."
ASKED = "Which port does the staging database listen on?"
SOON = datetime.now(tz=timezone.utc).replace(microsecond=0) + timedelta(days=30)
DAY = timedelta(days=1)


def stored(palace, text=PORT, **fields):
    return palace.remember(text, room="infra", drawer="ports", **fields).memory


def test_a_correction_is_found_by_the_next_question_and_the_old_words_are_not(palace):
    old = stored(palace)

    result = palace.correct(old.id, NEW_PORT)

    verdict = RetrievalEnforcer(palace).decide(ASKED)
    assert result.status == "stored"
    assert [e.id for e in verdict.evidence] == [result.memory.id]
    assert NEW_PORT in verdict.text
    assert all(h.memory.id != old.id for h in palace.search(PORT))


def test_a_correction_leaves_the_old_words_readable_with_what_supersedes_them(palace):
    old = stored(palace)

    result = palace.correct(old.id, NEW_PORT)

    kept = palace.get(old.id)
    assert (kept.status, kept.superseded_by) == ("inactive", result.memory.id)
    assert PORT in (palace.root / old.path).read_text(encoding="utf-8")


def test_a_correction_keeps_where_and_what_it_was(palace):
    old = stored(palace, kind="preference", project="site", tags=["db"], importance=0.9)

    new = palace.correct(old.id, NEW_PORT, reason=" it moved ").memory

    kept = (new.room, new.drawer, new.kind, new.scope, new.project, new.importance)
    assert kept == ("infra", "ports", "preference", "project:site", "site", 0.9)
    assert "db" in new.tags
    assert (new.provenance, new.reason) == ("correction", "it moved")


def test_a_correction_stays_in_its_session(palace):
    old = stored(palace, session_id="s")

    new = palace.correct(old.id, NEW_PORT, reason="  ").memory

    assert (new.scope, new.session, new.reason) == (old.scope, old.session, "")


def test_a_correction_that_rewords_is_no_duplicate_of_what_it_corrects(palace):
    old = stored(palace, "Deploys runs from main with make deploy.")

    result = palace.correct(old.id, "Deploys run from main with make deploy.")

    assert result.status == "stored"
    assert palace.get(old.id).status == "inactive"


def test_correcting_with_the_same_words_changes_nothing(palace):
    old = stored(palace)
    before = (palace.root / old.path).read_bytes()

    result = palace.correct(old.id, f"  {PORT} ")

    assert (result.status, result.memory.id) == ("duplicate", old.id)
    assert (palace.root / old.path).read_bytes() == before
    assert list(palace.journal.records(type="correction")) == []


def test_correcting_to_what_is_stored_elsewhere_retires_the_wrong_one_only(palace):
    wrong = stored(palace, "The mail relay is called hermes.")
    right = stored(palace, NEW_PORT)

    result = palace.correct(wrong.id, NEW_PORT)

    assert (result.status, result.memory.id) == ("duplicate", right.id)
    assert palace.get(wrong.id).superseded_by == right.id
    assert palace.get(right.id).status == "active"


def test_a_person_supersedes_a_third_memory_and_an_agent_meets_the_conflict(palace):
    wrong = stored(palace, "The mail relay is called hermes.")
    third = stored(palace, PORT)

    agents = palace.correct(wrong.id, NEW_PORT, source="agent")
    assert (agents.status, agents.memory.id) == ("conflict", third.id)
    assert palace.get(wrong.id).status == "active"

    persons = palace.correct(wrong.id, NEW_PORT)
    assert persons.status == "stored"
    assert palace.get(third.id).superseded_by == persons.memory.id
    assert palace.get(wrong.id).superseded_by == persons.memory.id


def test_a_hand_written_memory_can_be_corrected(palace):
    path = palace.root / "rooms" / "infra" / "hand.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"# hand\n- {PORT}\n", encoding="utf-8")
    palace.refresh()
    old = palace.memories(room="infra")[0]
    assert old.id.startswith("d-")

    new = palace.correct(old.id, NEW_PORT).memory

    assert [m.text for m in palace.memories(room="infra")] == [NEW_PORT]
    retired = [m for m in palace.memories(include_inactive=True) if m.status == "inactive"]
    assert [(m.text, m.superseded_by) for m in retired] == [(PORT, new.id)]


def test_what_was_said_is_corrected_by_a_statement(palace):
    at = datetime(2026, 3, 2, 9, 30, tzinfo=timezone.utc)
    palace.import_turns([ConversationTurn("talk", "Ada", "The relay is called hermes.", at)])
    said = palace.memories(room="timeline")[0]

    new = palace.correct(said.id, "The relay is called iris.").memory

    assert (new.room, new.session) == (palace.settings.write.default_room, "")
    assert palace.memories(room="timeline") == []


def test_correction_and_forgetting_are_in_the_journal(palace):
    old = stored(palace)
    new = palace.correct(old.id, NEW_PORT).memory
    palace.forget(new.id, reason="it was switched off")

    [correction] = palace.journal.records(type="correction")
    [forgotten] = palace.journal.records(type="forget")
    assert (correction["memory"], correction["superseded_by"]) == (old.id, new.id)
    assert (forgotten["memory"], forgotten["reason"]) == (new.id, "it was switched off")


def test_what_is_forgotten_is_not_found_but_stays_in_its_file(palace):
    old = stored(palace)

    gone = palace.forget(old.id, reason="it was switched off")

    assert (gone.status, gone.reason) == ("inactive", "it was switched off")
    assert palace.search(PORT) == []
    assert RetrievalEnforcer(palace).decide("Do you remember which port it is?").evidence == ()
    assert PORT in (palace.root / old.path).read_text(encoding="utf-8")


@pytest.mark.parametrize("retire", ["forget", "correct"])
def test_the_note_it_was_promoted_from_is_not_found_either(palace, retire):
    note = palace.note(PORT, session_id="s")
    memory = palace.promote_to_palace(note, "infra", "ports", summary=PORT, reason="asked").memory
    if retire == "forget":
        palace.forget(memory.id)
    else:
        palace.correct(memory.id, NEW_PORT)
    decided = RetrievalEnforcer(palace).decide(ASKED, session_id="s")
    assert "5432" not in decided.text + "".join(e.text for e in decided.evidence)
    assert "5432" not in palace.wake_up("s").text
    palace.undo()
    assert "5432" in RetrievalEnforcer(palace).decide(ASKED, session_id="s").text
    assert "5432" in palace.wake_up("s").text


GATE = "The gate code is 4711."


def written(palace, **drawers):
    for name, text in drawers.items():
        file = palace.root / "rooms" / "house" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    palace.refresh()
    return palace.memories(room="house")


def test_copies_are_forgotten_with_it_and_come_back_with_it(palace):
    drawers = {"x": f"- {GATE}\n\n{GATE}\n", "x (1)": f"- {GATE}\n", "X copy": f"- {GATE}\n"}
    first, *others = written(palace, **drawers)
    palace.remember(GATE, project="other")
    palace.forget(first.id)
    assert palace.memories(room="house") == []
    assert len(palace.memories()) == 1  # another project keeps its own
    palace.undo()
    assert palace.memories(room="house") == [first, *others]


@pytest.mark.parametrize(
    ("kids", "sinks"),
    [
        ("- Two.\n", "- Two.\n"),
        ("# Kids\n\n- Two.\n\n# Sinks\n\n- Two.\n", ""),
        (f"- {GATE}\n", f"# Old house\n\n- {GATE}\n"),
        ("The plants got water.\n", "- The plants got water.\n"),
    ],
)
@pytest.mark.parametrize("verb", ["forget", "correct", "erase"])
def test_the_same_words_in_another_place_stay_and_are_named(palace, kids, sinks, verb):
    first, second = written(palace, kids=kids, sinks=sinks)
    before = (palace.root / second.path).read_text().rpartition("- ")[2]
    if verb == "correct":
        assert palace.correct(first.id, "Three of them.").status == "stored"
    elif verb == "forget":
        assert [m.id for m in palace.still_said(palace.forget(first.id))] == [second.id]
    else:
        assert second.source.rpartition(":")[0] in palace.erase(first.id).remaining[0]
    assert second.text in [m.text for m in palace.memories()]
    assert (palace.root / second.path).read_text().endswith(before)


@pytest.mark.parametrize("right", ["Three.", "Deploys run from main."])
def test_the_right_words_stand_in_their_place_whatever_another_place_says(palace, right):
    first, second = written(palace, kids="- Deploys runs from main.\n", sinks=f"- {right}\n")
    new = palace.correct(first.id, right)
    assert new.status == "stored"
    assert palace.memories(room="house") == [new.memory, second]


@pytest.mark.parametrize("source", ["user", "agent"])
def test_what_the_right_words_contradict_elsewhere_goes_with_the_wrong_ones(palace, source):
    first, second = written(palace, ports=f"- {PORT}\n", runbook=f"# Start\n\n- {PORT}\n")
    new = palace.correct(first.id, NEW_PORT, source=source)
    assert new.status == "stored"
    assert palace.memories(room="house") == [new.memory]
    palace.undo()
    assert palace.memories(room="house") == [first, second]


def test_a_retired_note_elsewhere_is_not_erased_with_it(palace):
    first, second = written(palace, kids="- Two.\n", sinks="- Two.\n")
    retired = palace.forget(second.id)
    assert palace.erase(first.id).erased == (first.id,)
    assert palace.get(retired.id) == retired


def test_what_a_person_wrote_stands_beside_the_value_of_a_key(palace):
    (note,) = written(palace, sinks="- Two.\n")
    keyed = palace.remember("Two.", key="kids", drawer="kids")
    assert keyed.status == "stored"
    assert palace.memories() == [note, keyed.memory]
    assert palace.remember("Two.", key="kids").status == "duplicate"
    assert palace.remember("Three.", key="kids").status == "stored"
    assert note in palace.memories()


def test_what_is_retired_cannot_be_retired_again(palace):
    old = stored(palace)
    new = palace.correct(old.id, NEW_PORT).memory

    with pytest.raises(MemoryNotFoundError, match=new.id):
        palace.correct(old.id, "The staging database listens on port 1.")
    with pytest.raises(MemoryNotFoundError, match=new.id):
        palace.forget(old.id)


def test_what_is_forgotten_was_replaced_by_nothing(palace):
    old = palace.correct(stored(palace).id, NEW_PORT, reason="the site moved").memory

    assert palace.forget(old.id, reason="  ").reason == old.reason
    with pytest.raises(MemoryNotFoundError) as caught:
        palace.forget(old.id)
    assert "replaced" not in str(caught.value)


def test_unknown_ids_are_refused(palace):
    with pytest.raises(MemoryNotFoundError):
        palace.correct("m-unknown", NEW_PORT)
    with pytest.raises(MemoryNotFoundError):
        palace.forget("m-unknown")


@pytest.mark.parametrize("text", ["", "   ", "a\x00b"])
def test_unfit_corrections_change_nothing(palace, text):
    old = stored(palace)

    with pytest.raises(TextRefusedError):
        palace.correct(old.id, text)

    assert palace.get(old.id).status == "active"


def test_a_secret_is_refused_as_a_correction_and_as_a_reason(palace):
    old = stored(palace)
    secret = "The password is hunter2-Zx9!kLm34"  # noqa: S105 - made up

    with pytest.raises(SecretRefusedError):
        palace.correct(old.id, secret)
    with pytest.raises(SecretRefusedError):
        palace.forget(old.id, reason=secret)

    assert palace.get(old.id).status == "active"


def test_a_playbook_is_a_file_and_not_retired(tmp_path):
    with Mempalace.for_code_review(tmp_path / "palace") as palace:
        playbook = palace.playbooks()[0]

        with pytest.raises(TextRefusedError, match="playbook"):
            palace.forget(f"p-{playbook.name}")


def held(palace, moment=None):
    return [h.memory.text for h in palace.search(ASKED, as_of=moment)]


def planned(palace, text=NEW_PORT, *, begin=SOON):
    return stored(palace, text, valid_from=begin, on_conflict="supersede")


def test_a_corrected_plan_is_a_plan(palace):
    stored(palace)

    palace.correct(planned(palace).id, LATER_PORT)

    assert held(palace) == [PORT]
    assert held(palace, SOON + DAY) == [LATER_PORT]


def test_a_correction_ends_when_what_it_corrects_would_have(palace):
    palace.correct(stored(palace, valid_to=SOON).id, NEW_PORT)

    assert held(palace) == [NEW_PORT]
    assert held(palace, SOON + DAY) == []


@pytest.mark.parametrize(
    ("corrects", "begin"), [(True, None), (False, None), (False, SOON - 2 * DAY)]
)
def test_what_comes_before_a_plan_holds_until_the_plan_begins(palace, corrects, begin):
    old, plan = stored(palace), planned(palace)

    if corrects:
        new = palace.correct(old.id, LATER_PORT).memory
    else:
        new = stored(palace, LATER_PORT, valid_from=begin, on_conflict="supersede")

    assert held(palace) == [LATER_PORT if begin is None else PORT]
    assert held(palace, SOON - DAY) == [LATER_PORT]
    assert held(palace, SOON + DAY) == [NEW_PORT]
    assert [m.id for m in palace.history(old.id).versions] == [old.id, new.id, plan.id]


def test_a_new_value_of_a_key_replaces_its_plan_too(palace):
    stored(palace, key="port")
    stored(palace, NEW_PORT, key="port", valid_from=SOON)

    stored(palace, LATER_PORT, key="port")

    assert held(palace) == held(palace, SOON + DAY) == [LATER_PORT]


@pytest.mark.parametrize("verb", ["forget", "erase"])
def test_a_plan_that_is_dropped_ends_nothing(palace, verb):
    old, plan = stored(palace), planned(palace)

    getattr(palace, verb)(plan.id)

    assert held(palace) == held(palace, SOON + DAY) == [PORT]
    assert (palace.get(old.id).valid_to, palace.get(old.id).superseded_by) == (None, "")
    if verb == "forget":
        palace.undo()
        assert held(palace, SOON + DAY) == [NEW_PORT]


def test_another_plan_and_what_is_over_stay_when_a_plan_is_dropped(palace):
    old, plan = stored(palace), planned(palace)
    gate = stored(palace, "The gate code is 4711.")
    stored(palace, "The gate code is 4712.", valid_from=SOON, on_conflict="supersede")
    over = stored(palace, "The lamp in the hall is green.")
    now = palace.correct(over.id, "The lamp in the hall is red.").memory

    for gone in (plan, now):
        palace.forget(gone.id)

    assert palace.get(old.id).valid_to is None
    assert palace.get(gate.id).valid_to == SOON
    assert palace.get(over.id).superseded_by == now.id


def test_what_waited_for_a_plan_that_is_dropped_waits_for_the_next(palace):
    stored(palace)
    plan = planned(palace)
    planned(palace, LATER_PORT, begin=SOON + 10 * DAY)

    palace.forget(plan.id)

    assert held(palace, SOON + 5 * DAY) == [PORT]
    assert held(palace, SOON + 11 * DAY) == [LATER_PORT]


def test_what_began_before_it_was_told_was_the_only_value_since(palace):
    old = stored(palace)
    file = palace.root / old.path
    told = file.read_text(encoding="utf-8")
    long_ago = f"created={SOON - 90 * DAY:%Y-%m-%d}"
    file.write_text(told.replace(f"created={old.created:%Y-%m-%d}", long_ago), encoding="utf-8")
    palace.refresh(force=True)

    planned(palace, begin=SOON - 60 * DAY)

    assert held(palace, SOON - 70 * DAY) == [PORT]
    assert held(palace, SOON - 50 * DAY) == held(palace) == [NEW_PORT]
    before = RetrievalEnforcer(palace).decide("Which port did the staging database use before?")
    assert before.evidence[0].state_of == SOON - 60 * DAY
