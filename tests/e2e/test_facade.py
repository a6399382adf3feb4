"""The facade on real files: remember, ask, edit by hand, delete, promote, wake up."""

from __future__ import annotations

import shutil
import time
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from palace import (
    Conflict,
    Duplicate,
    MemoryNotFoundError,
    Mempalace,
    Remembered,
    RetrievalEnforcer,
    SecretRefusedError,
    TextRefusedError,
    UnsafeNameError,
    Verdict,
)
from palace.errors import ConfigError
from palace.text.moments import utc_now
from tests.doubles import ScriptedFetcher

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
PORT = "The staging database of the orchard listens on port 5433."
ASK_PORT = "Which port does our staging database of the orchard listen on?"


def ask(palace: Mempalace, prompt: str = ASK_PORT, **turn: Any) -> Verdict:
    return RetrievalEnforcer(palace).decide(prompt, **turn)


def told(verdict: Verdict) -> list[str]:
    return [e.text for e in verdict.evidence]


def write(root: Path, path: str, text: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


# -- remember and ask ---------------------------------------------------------------------------


def test_what_was_remembered_is_found_by_the_very_next_question(palace: Mempalace) -> None:
    assert ask(palace).outcome == "nothing_stored"
    result = palace.remember(PORT, room="infra")
    assert isinstance(result, Remembered)
    verdict = ask(palace)
    assert (verdict.action, verdict.outcome, verdict.layer) == ("ground", "hit", "L1")
    assert verdict.evidence[0].id == result.memory.id
    assert verdict.evidence[0].source == "rooms/infra/notes.md:3"


def test_a_decision_looks_twice_whether_the_index_was_changed(palace: Mempalace) -> None:
    palace.remember("Olga was hired on 2 May 2026.", room="people")
    enforcer = RetrievalEnforcer(palace)
    enforcer.decide("When did we hire Olga?")
    sent: list[str] = []
    palace.index._database._connection.set_trace_callback(sent.append)
    assert enforcer.decide("When did we hire Olga?").action == "ground"
    assert enforcer.decide("What did Olga pay for the ladder?").action == "confirm"
    assert sent.count("PRAGMA data_version") == 4  # before the walk, and for what reminds
    assert not any("memories_with_triggers" in sql for sql in sent)


def test_what_nobody_stored_is_refused_honestly(palace: Mempalace) -> None:
    palace.remember(PORT)
    verdict = ask(palace, "What did we decide about the zeppelin landing fee?")
    assert verdict.action == "fallback"
    assert "I don't have this in my memory palace." in verdict.text


def test_what_is_no_recall_passes(palace: Mempalace) -> None:
    palace.remember(PORT)
    verdict = ask(palace, "Write a haiku about rain.")
    assert (verdict.action, verdict.evidence, verdict.text) == ("pass", (), "")


async def test_async_finds_the_same(palace: Mempalace) -> None:
    palace.remember(PORT)
    verdict = await RetrievalEnforcer(palace).adecide(ASK_PORT)
    assert told(verdict) == told(ask(palace)) == [PORT]


def test_duplicate_conflict_and_supersede(palace: Mempalace) -> None:
    first = palace.remember(PORT)
    assert isinstance(palace.remember(PORT.upper()), Duplicate)
    other = PORT.replace("5433", "5434")
    conflict = palace.remember(other)
    assert isinstance(conflict, Conflict)
    assert conflict.memory.id == first.memory.id
    palace.remember(other, on_conflict="supersede")
    assert told(ask(palace)) == [other]
    assert palace.get(first.memory.id).status == "inactive"
    assert [m.text for m in palace.memories()] == [other]
    assert len(palace.memories(include_inactive=True)) == 2


def test_unknown_way_with_conflicts(palace: Mempalace) -> None:
    with pytest.raises(ConfigError):
        palace.remember(PORT, on_conflict="whatever")  # type: ignore[arg-type]


def test_the_length_of_a_note_is_not_that_of_a_memory(root: Path, monkeypatch) -> None:
    monkeypatch.setenv("PALACE_SCRATCHPAD__MAX_ENTRY_CHARS", "500")
    monkeypatch.setenv("PALACE_WRITE__MAX_CHARS", "50")
    with Mempalace.open(root) as palace:
        assert palace.note("x" * 500, session_id="s").text == "x" * 500
        with pytest.raises(TextRefusedError, match="at most 500 fit a note"):
            palace.note("x" * 501, session_id="s")


def test_a_preset_that_there_is_none_of_makes_nothing(palace: Mempalace, root: Path) -> None:
    before = sorted(root.rglob("*"))
    with pytest.raises(ConfigError, match="there is no preset"):
        palace.lay_out(preset="orchard")
    assert sorted(root.rglob("*")) == before


def test_secrets_never_reach_the_disk(palace: Mempalace, root: Path) -> None:
    for write_it in (
        lambda: palace.remember(f"our token is {TOKEN}"),
        lambda: palace.note(f"our token is {TOKEN}", session_id="s1"),
        lambda: palace.set_identity(f"my token is {TOKEN}"),
    ):
        with pytest.raises(SecretRefusedError):
            write_it()
    ask(palace, f"is {TOKEN} our token?")
    for file in root.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes()


def test_expired_memories_are_not_returned(palace: Mempalace) -> None:
    hour = timedelta(hours=1)
    east = timezone(timedelta(hours=10))
    palace.remember(PORT, valid_to=(utc_now() - hour).astimezone(east))
    assert ask(palace).outcome == "nothing_stored"
    lamp = "The lamp of the orchard gate needs a new bulb."
    palace.remember(lamp, valid_to=(utc_now() + hour).astimezone(timezone(-10 * hour)))
    assert told(ask(palace, "What does our lamp of the orchard gate need?")) == [lamp]


def test_search_returns_the_nearest(palace: Mempalace) -> None:
    palace.remember(PORT)
    palace.remember("The orchard has nine apple trees.")
    hits = palace.search("orchard database")
    assert [h.memory.text for h in hits][0] == PORT
    assert len(palace.search("orchard", top_k=1)) == 1
    assert palace.search("zeppelin") == []


def test_ids_that_begin_alike_are_named(palace: Mempalace) -> None:
    """Those of one minute do; that none has such an id would be a lie."""
    ids = [palace.remember(f"The gate number {n} is {word}.", on_conflict="keep").memory.id
           for n, word in enumerate(("red", "green"))]  # fmt: skip
    with pytest.raises(MemoryNotFoundError, match="2 memories have an id that begins") as caught:
        palace.get(ids[0][:8])
    assert all(one in caught.value.hint for one in ids)


@pytest.mark.parametrize("room", ["../x", "/etc", "a/../../b", "", "\x00", "~/x/../../.."])
def test_rooms_stay_inside(palace: Mempalace, root: Path, room: str) -> None:
    before = sorted(p for p in root.parent.rglob("*") if ".palace" not in p.parts)
    with pytest.raises(UnsafeNameError if room else ConfigError):
        palace.remember(PORT, room=room)
    with pytest.raises(UnsafeNameError):
        palace.room(room)
    assert sorted(p for p in root.parent.rglob("*") if ".palace" not in p.parts) == before


@pytest.mark.parametrize("prompt", ["", "\x00", "\ud800", "🙂", '"*^(NEAR:-', "?" * 50_000])
@pytest.mark.parametrize("session_id", [None, "", "../x", "\ud800"])
def test_any_prompt_and_session_get_a_verdict(
    palace: Mempalace, prompt: str, session_id: str | None
) -> None:
    palace.remember(PORT)
    verdict = ask(
        palace, f"{prompt} {ASK_PORT}" if prompt == "\ud800" else prompt, session_id=session_id
    )
    assert verdict.outcome != "unavailable"
    assert palace.verdict(verdict.id)["action"] == verdict.action


# -- files changed by hand ----------------------------------------------------------------------


def test_a_file_written_by_hand_is_found(palace: Mempalace, root: Path) -> None:
    file = write(root, "rooms/infra/ports.md", f"# Ports\n- {PORT}\n")
    palace.refresh()
    verdict = ask(palace)
    assert (told(verdict), verdict.evidence[0].source) == ([PORT], "rooms/infra/ports.md:2")
    file.write_text("# Ports\n- The orchard database was shut down.\n")
    palace.refresh()
    assert PORT not in told(ask(palace))
    file.unlink()
    done = palace.refresh()
    assert done.removed == ("rooms/infra/ports.md",)
    assert palace.memories() == []


def test_a_running_palace_looks_by_itself(root: Path) -> None:
    config = write(root.parent, "settings.yaml", "index:\n  refresh_s: 0.0\n")
    with Mempalace.open(root, config=config) as palace:
        assert ask(palace).outcome == "nothing_stored"
        write(root, "rooms/infra/ports.md", f"- {PORT}\n")
        assert told(ask(palace)) == [PORT]
        shutil.rmtree(root / "rooms")
        assert ask(palace).outcome == "nothing_stored"


def test_what_a_person_took_out_is_stored_again(root: Path) -> None:
    config = write(root.parent, "settings.yaml", "index:\n  refresh_s: 0.0\n")
    with Mempalace.open(root, config=config) as palace:
        drawer = root / palace.remember(PORT).memory.path
        drawer.write_text("# Notes\n", encoding="utf-8")
        assert palace.remember(PORT).status == "stored"
        assert PORT in drawer.read_text("utf-8")


def test_the_program_keeps_what_a_person_wrote(palace: Mempalace, root: Path) -> None:
    by_hand = "---\ntags: [a]\n---\n# Ports\n\n* odd   spacing \n+ another\n\n<!-- a comment -->\n"
    file = write(root, "rooms/infra/notes.md", by_hand)
    palace.refresh()
    palace.remember(PORT, room="infra")
    assert file.read_text().startswith(by_hand.rstrip("\n"))
    assert told(ask(palace)) == [PORT]


def test_the_index_may_be_deleted_at_any_time(root: Path) -> None:
    with Mempalace.open(root) as palace:
        kept = palace.remember(PORT).memory
        palace.remember("The orchard has nine apple trees.")
        ask(palace)
    shutil.rmtree(root / ".palace")
    with Mempalace.open(root) as palace:
        assert told(ask(palace)) == [PORT]
        assert palace.get(kept.id) == kept
        assert len(palace.memories()) == 2
        assert len(palace.verdicts()) == 2
        palace.reindex()
        assert told(ask(palace)) == [PORT]


def test_two_palaces_on_one_root(root: Path) -> None:
    with Mempalace.open(root) as one, Mempalace.open(root) as other:
        assert ask(other).outcome == "nothing_stored"
        one.remember(PORT)
        assert told(ask(other)) == [PORT]
        other.remember(PORT.replace("5433", "5434"), on_conflict="supersede")
        assert told(ask(one)) == [PORT.replace("5433", "5434")]
        assert [r["id"] for r in one.verdicts()] == [r["id"] for r in other.verdicts()]


def test_two_palaces_survive_a_reindex(root: Path) -> None:
    with Mempalace.open(root) as one, Mempalace.open(root) as other:
        one.remember(PORT)
        one.reindex()
        lamp = "The lamp of the orchard gate needs a new bulb."
        one.remember(lamp)
        assert lamp in told(ask(other, "What does our lamp of the orchard gate need?"))


def test_nonsense_in_a_file_is_a_fault_and_no_failure(palace: Mempalace, root: Path) -> None:
    write(root, "rooms/infra/odd.md", "---\ntags: [open\n---\n- a line\n")
    write(root, "playbooks/odd.md", "---\ntriggers: [open\n---\n# Odd\n1. a step\n")
    palace.refresh()
    palace.remember(PORT)
    assert told(ask(palace)) == [PORT]
    assert {f.path for f in palace.faults()} == {"rooms/infra/odd.md", "playbooks/odd.md"}


# -- rooms --------------------------------------------------------------------------------------


def test_rooms_and_drawers(palace: Mempalace) -> None:
    palace.room("infra").remember(PORT, drawer="ports")
    palace.room("infra").remember("The orchard has nine apple trees.", drawer="trees")
    palace.room("people/friends")
    assert [r.name for r in palace.rooms()] == ["infra", "people", "people/friends"]
    infra = palace.room("infra")
    assert infra.drawers == ("ports", "trees")
    assert [m.text for m in infra.memories()] == [PORT, "The orchard has nine apple trees."]
    assert [m.text for m in infra.memories("ports")] == [PORT]
    assert repr(infra) == "PalaceRoom('infra')"
    assert repr(palace) == f"Mempalace({str(palace.root)!r})"
    assert palace.room("people/friends").memories() == []


@pytest.mark.parametrize(
    ("make", "rooms"),
    [
        (Mempalace.for_issue_analysis, {"issues", "project"}),
        (Mempalace.for_health_check, {"systems", "incidents"}),
        (Mempalace.for_code_review, {"review", "people"}),
    ],
)
def test_ready_made_palaces(root: Path, make: Any, rooms: set[str]) -> None:
    with make(root) as palace:
        assert rooms <= {r.name for r in palace.rooms()}
        assert palace.playbooks()
        assert palace.faults() == []
        palace.remember(PORT, room=sorted(rooms)[0])
        assert PORT in told(ask(palace))
    readme = next(root.glob("playbooks/*.md"))
    readme.write_text("# Mine\n1. my own step\n")
    with make(root) as palace:
        assert readme.read_text() == "# Mine\n1. my own step\n"
        assert PORT in [m.text for m in palace.memories()]


# -- notes and promotion ------------------------------------------------------------------------


def test_a_note_answers_in_its_session_only(palace: Mempalace) -> None:
    note = palace.note(PORT, session_id="s1")
    assert palace.notes("s1") == [note]
    assert palace.notes("s2") == []
    verdict = ask(palace, session_id="s1")
    assert (verdict.layer, told(verdict)) == ("L2", [PORT])
    assert ask(palace, session_id="s2").outcome == "nothing_stored"
    assert ask(palace).outcome == "nothing_stored"


def test_what_has_outlived_its_time_goes_while_the_palace_stays_open(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write(root.parent, "settings.yaml", "index:\n  refresh_s: 0.0\n")
    with Mempalace.open(root, config=config) as palace:
        palace._expiry.join()  # the look at opening is over before there is something to find
        palace.note("The staging host is kiln.", session_id="s1", ttl_s=0.02)
        month = write(root, "journal/2019-01.jsonl", "{}\n")
        while palace.notes("s1"):
            time.sleep(0.05)
        palace.refresh(force=False)
        assert month.exists()
        monkeypatch.setattr("palace.verbs.opened._EXPIRY_S", 0.0)
        palace.refresh(force=False)
        palace._expiry.join()
    assert not month.exists()
    assert not list((root / "scratchpad").glob("*.jsonl"))


def promote(palace: Mempalace, entry: Any, **fields: Any) -> Any:
    given = {"summary": PORT, "reason": "needed at every deploy", **fields}
    return palace.promote_to_palace(entry, "infra", "ports", **given)


def test_promotion(palace: Mempalace) -> None:
    note = palace.note("psql answers on 5433 on the staging host", session_id="s1")
    result = promote(palace, note.id)
    assert isinstance(result, Remembered)
    assert palace.notes("s1")[0].promoted == result.memory.id
    verdict = ask(palace, session_id="s2")
    assert (verdict.layer, told(verdict)[0]) == ("L1", PORT)
    kept = palace.get(result.memory.id)
    assert (kept.reason, kept.session) == ("needed at every deploy", "s1")
    assert isinstance(promote(palace, note), Duplicate)


def test_promotion_is_refused_without_a_living_note_or_plain_words(palace: Mempalace) -> None:
    note = palace.note("psql answers on 5433 on the staging host", session_id="s1")
    with pytest.raises(MemoryNotFoundError):
        promote(palace, "s-nothing-like-it")
    with pytest.raises(TextRefusedError):
        promote(palace, note, reason="")
    with pytest.raises(TextRefusedError):
        promote(palace, note, summary='{"status": "ok", "port": 5433}')
    assert palace.memories() == []
    assert palace.notes("s1")[0].promoted == ""


# -- identity and wake-up -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "Who are you and what are your mandates?",
        "Who are you?",
        "What are your rules?",
        "Wer bist du?",
    ],
)
def test_identity(palace: Mempalace, question: str) -> None:
    assert palace.identity.text == ""
    palace.set_identity("I keep the orchard. I never guess.")
    verdict = ask(palace, question)
    assert (verdict.action, verdict.layer) == ("ground", "L0")
    assert told(verdict) == ["I keep the orchard. I never guess."]


def test_wake_up_tells_what_the_last_session_promoted(palace: Mempalace) -> None:
    old = palace.note("an old one", session_id="s0")
    promote(palace, old, summary="The press was cleaned in autumn.")
    note = palace.note("psql answers on 5433 on the staging host", session_id="s1")
    promoted = promote(palace, note).memory
    page = palace.wake_up("s2")
    assert promoted.id in page.included
    learned = page.text.partition("# Learned last session")[2].partition("\n# ")[0]
    assert PORT in learned
    assert "press" not in learned


def test_wake_up_knows_the_project(palace: Mempalace) -> None:
    palace.remember("The hedge is two metres high.", project="orchard", room="plans")
    assert "hedge" in palace.wake_up("s1", project="orchard").text
    assert "hedge" not in palace.wake_up("s1").text
    assert "hedge" not in palace.wake_up("s1", project="garden").text


def test_rooms_of_the_project_wake_up_first_and_the_others_are_counted(palace: Mempalace) -> None:
    palace.remember("The hedge is two metres high.", project='the "old" yard', room="plans")
    for number in range(5):
        palace.remember(f"Tree {number} is an apple tree.", room=f"row{number}", on_conflict="keep")
    gone = palace.remember("The plum in row 0 was felled.", room="row0").memory
    assert palace.wake_up("s1", project='the "old" yard').rooms[0] == "plans"
    palace.forget(gone.id)
    page = palace.wake_up("s1")
    assert "plans" not in " ".join((*page.rooms, *page.left_out))
    assert page.left_out == ("rooms not active in this context: row1 (1)",)


# -- looking back -------------------------------------------------------------------------------


def test_every_verdict_is_in_the_journal(palace: Mempalace) -> None:
    palace.remember(PORT)
    verdicts = [ask(palace, session_id="s1"), ask(palace, "Write a haiku about rain.")]
    assert [r["id"] for r in palace.verdicts()] == [v.id for v in reversed(verdicts)]
    assert palace.verdict()["id"] == verdicts[-1].id
    record = palace.verdict(verdicts[0].id)
    assert record["prompt"] == ASK_PORT
    assert record["injected"] == [e.id for e in verdicts[0].evidence]
    assert len(palace.verdicts(limit=1)) == 1
    assert palace.verdicts(since=utc_now() + timedelta(days=1)) == []


def test_no_such_verdict(palace: Mempalace) -> None:
    for asked in (None, "v-nothing-like-it"):
        with pytest.raises(MemoryNotFoundError):
            palace.verdict(asked)


@pytest.mark.parametrize(
    "question", ["Which memories did you use?", "Where did you get that?", "How do you know that?"]
)
def test_a_meta_question_is_answered_from_the_journal(palace: Mempalace, question: str) -> None:
    memory = palace.remember(PORT).memory
    ask(palace, session_id="s1")
    verdict = ask(palace, question, session_id="s1")
    assert (verdict.action, [e.id for e in verdict.evidence]) == ("answer", [memory.id])


def test_a_live_artifact(root: Path) -> None:
    with Mempalace.open(root, fetchers=[ScriptedFetcher(press="state: closed")]) as palace:
        verdict = ask(palace, "What is the status of our thing:press ?")
        assert (verdict.layer, told(verdict)) == ("L3", ["state: closed"])
        gone = ask(palace, "What is the status of our thing:gone ?")
        assert (gone.action, gone.outcome, gone.evidence) == ("fallback", "unavailable", ())


# -- life ---------------------------------------------------------------------------------------


def test_a_closed_palace_fails_closed(root: Path) -> None:
    with Mempalace.open(root) as palace:
        palace.remember(PORT)
    verdict = ask(palace)
    assert (verdict.action, verdict.outcome, verdict.evidence) == ("fallback", "unavailable", ())
    palace.close()


def test_a_root_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "palace").write_text("in the way")
    for create in (True, False):
        with pytest.raises(ConfigError, match="is no folder") as caught:
            Mempalace.open(tmp_path / "palace", create=create)
        assert caught.value.hint


def test_the_root_comes_from_the_environment(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALACE_ROOT", str(root))
    with Mempalace.open() as palace:
        palace.remember(PORT)
        assert palace.root == root
    assert (root / "rooms").is_dir()


def test_a_whole_question_does_not_lean_on_the_turn_before(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path / "palace") as palace:
        palace.remember("We shipped version 4.1.0 on 2026-03-02.", room="releases")
        history = [
            {"role": "user", "content": "When did we ship version 4.1.0?"},
            {"role": "assistant", "content": "Version 4.1.0 shipped on 2026-03-02."},
        ]
        enforcer = RetrievalEnforcer(palace)
        alone = enforcer.decide("What is my cat called?", history=history)
        assert (alone.action, alone.evidence) == ("fallback", ())
        leaning = enforcer.decide("and what is its colour?", history=history)
        assert leaning.action != "ground"


@pytest.mark.parametrize("filled", [False, True])
def test_a_note_of_this_session_makes_its_words_familiar(tmp_path: Path, filled: bool) -> None:
    with Mempalace.open(tmp_path / "palace") as palace:
        if filled:
            palace.remember("Backups are kept for 35 days.", room="systems")
        palace.note("The staging disk is 81 percent full", session_id="s1")
        enforcer = RetrievalEnforcer(palace)
        mine = enforcer.decide("How full is the staging disk?", session_id="s1")
        assert (mine.action, mine.layer) == ("ground", "L2")
        other = enforcer.decide("How full is the staging disk?", session_id="s2")
        assert other.evidence == ()


def test_a_project_named_none_is_a_project(palace: Mempalace) -> None:
    palace.remember("The hedge is cut in March.", room="garden", project="None", triggers=("saw",))
    assert "hedge" not in palace.wake_up("s1").text
    assert "hedge" in palace.wake_up("s1", project="None").text
    enforcer = RetrievalEnforcer(palace)
    assert not enforcer.decide("Sharpen the saw").reminders
    assert enforcer.decide("Sharpen the saw", project="None").reminders


def test_wake_up_tells_only_what_holds_now(palace: Mempalace) -> None:
    now = utc_now()
    palace.remember("The lift is out of order.", valid_to=now - timedelta(days=1))
    palace.remember("The new lift is blue.", valid_from=now + timedelta(days=1))
    palace.remember("The stairs are lit.", valid_from=now - timedelta(days=1))
    text = palace.wake_up("today").text
    assert "stairs" in text
    assert "lift" not in text


def test_what_happened_in_another_month_is_not_presented(root: Path) -> None:
    write(root, "rooms/home/boiler.md", "- Nora Lindt repaired the boiler in April.\n")
    with Mempalace.open(root) as palace:
        assert ask(palace, "Who repaired our boiler in April?").action == "ground"
        other = ask(palace, "Who repaired our boiler in May?")
    assert other.action == "confirm"
    assert told(other) == ["Nora Lindt repaired the boiler in April."]


def test_a_day_is_no_hour(root: Path) -> None:
    write(root, "rooms/health/leo.md", "- Leo's next oral test with Dr. Campos: 2027-04-22.\n")
    with Mempalace.open(root) as palace:
        assert ask(palace, "When is Leo's next oral test with Dr. Campos?").action == "ground"
        hour = ask(palace, "At what time is Leo's next oral test with Dr. Campos?")
    assert hour.action == "confirm"


def test_git_leaves_the_index_alone_unless_told_otherwise(palace: Mempalace, root: Path) -> None:
    told_git = root / ".palace" / ".gitignore"
    assert "*" in told_git.read_text().splitlines()
    told_git.write_text("")
    palace.close()
    Mempalace.open(root).close()
    assert told_git.read_text() == ""
