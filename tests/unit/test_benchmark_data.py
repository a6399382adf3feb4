"""Data of the benchmarks: what other people's files may hold, and what is told of a wrong one."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from benchmarks.datasets import (
    BadDataError,
    Case,
    Conversation,
    load_cases,
    load_locomo,
    load_prompts,
    open_conversation,
    open_notes,
    swapped,
    take_back,
)
from palace import Mempalace, RetrievalEnforcer, Turn

SAID = ("I adopted a cat.", "Lovely!", "Her name is Måns.", "And mine is Ada.", "Good night.")


def entry(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "sample_id": "one",
        "conversation": {
            "speaker_a": "Zoë",
            "speaker_b": "Tim",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Zoë", "dia_id": f"D1:{number}", "text": text}
                for number, text in enumerate(SAID, 1)
            ],
        },
        "qa": [{"question": "What is the cat called?", "evidence": ["D1:3"], "category": 4}],
    }
    return made | changes


def asked(**changes: Any) -> list[dict[str, Any]]:
    return [{"question": "What is the cat called?", "evidence": ["D1:3"], "category": 4} | changes]


def spoken(*changes: dict[str, Any]) -> dict[str, Any]:
    """Return a session of one message for each of the changes to an ordinary one."""
    messages = [
        {"speaker": "Zoë", "dia_id": f"D1:{number}", "text": "Hi!"} | change
        for number, change in enumerate(changes, 1)
    ]
    return entry()["conversation"] | {"session_1": messages}


def read_all(folder: Path, data: object) -> list[Conversation]:
    path = folder / "talk.json"
    path.write_text(json.dumps(data), "utf-8")
    return load_locomo(path)


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        (["D1:3"], {"D1:3"}),
        (["D1:2; D1:4"], {"D1:2", "D1:4"}),
        (["D:1:3"], {"D1:3"}),
        (["D1:03", "D01:4"], {"D1:3", "D1:4"}),
        (["d1:3", "D1: 4", "D 1 :5"], {"D1:3", "D1:4", "D1:5"}),
        (["D9:99", "D"], set()),
        ("D1:3, D1:4", {"D1:3", "D1:4"}),
        ([["D1:3"], ["D1:5"]], {"D1:3", "D1:5"}),
        (None, set()),
    ],
)
def test_evidence_is_repaired(tmp_path: Path, evidence: object, found: set[str]) -> None:
    (conversation,) = read_all(tmp_path, [entry(qa=asked(evidence=evidence))])
    assert conversation.questions[0].evidence == found


def test_a_question_may_have_no_evidence(tmp_path: Path) -> None:
    (conversation,) = read_all(tmp_path, [entry(qa=[{"question": "Who?", "category": "5"}])])
    assert (conversation.questions[0].evidence, conversation.questions[0].category) == (set(), 5)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([], "holds no conversation"),
        ({"sample_id": "one"}, "no list of conversations"),
        ([{"sample_id": "one"}], "conversation 1: 'conversation' is missing"),
        ([entry(qa=[{"question": "Who?"}])], "'one', question 1: 'category' is missing"),
        ([entry(qa=asked(category=7))], "'one', question 1: category 7 is none of 1 to 5"),
        ([entry(qa=asked(category=None))], "'one', question 1: "),
        ([entry(), entry()], "two conversations are called 'one'"),
        ([entry(conversation=[])], "'one': "),
        (["talk"], "conversation 1: "),
        ([entry(sample_id=7)], "conversation 1: sample_id is no text: 7"),
        (
            [entry(conversation=spoken({"speaker": None}))],
            "'one', session_1, turn 1: speaker is no",
        ),
        ([entry(conversation=spoken({"text": None}))], "'one', session_1, turn 1: text is no text"),
        (
            [entry(conversation=spoken({}, {"dia_id": 1}))],
            "session_1, turn 2: dia_id is no text: 1",
        ),
        (
            [entry(conversation=spoken({"dia_id": "1"}))],
            "session_1, turn 1: '1' is no id of a turn",
        ),
    ],
)
def test_a_wrong_conversation_is_named(tmp_path: Path, data: object, told: str) -> None:
    with pytest.raises(BadDataError, match=r"talk\.json") as raised:
        read_all(tmp_path, data)
    assert told in str(raised.value)


@pytest.mark.parametrize("text", [{}, {"text": None}, {"text": ""}])
def test_a_picture_may_stand_alone(tmp_path: Path, text: dict[str, Any]) -> None:
    talk = spoken(text | {"blip_caption": "a red bike"}, {"text": "Nice.", "blip_caption": None})
    if not text:
        del talk["session_1"][0]["text"]
    (conversation,) = read_all(tmp_path, [entry(conversation=talk)])
    assert [turn.text for turn in conversation.turns] == ["[a red bike]", "Nice."]


@pytest.mark.parametrize("name", ["a/b", "../up", "/tmp", ".", "", "a\0b", "x" * 300, "\ud800"])
def test_any_text_may_name_a_conversation(tmp_path: Path, name: str) -> None:
    (conversation,) = read_all(tmp_path, [entry(sample_id=name)])
    folder = tmp_path / "palaces"
    with open_conversation(conversation, folder) as palace:
        assert palace.root.parent == folder
        assert len(palace.search("What is the cat called?")) > 0


def test_a_secret_in_a_turn_costs_the_secret_alone(tmp_path: Path) -> None:
    talk = spoken({"text": "My password: hunter2hunter2"}, {"text": "Mine is no secret."})
    (conversation,) = read_all(tmp_path, [entry(conversation=talk)])
    with open_conversation(conversation, tmp_path / "palaces") as palace:
        texts = [memory.text for memory in palace.memories()]
    assert not any("hunter2" in text for text in texts)
    assert "Mine is no secret." in texts


@pytest.mark.parametrize(
    ("day", "read"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56)),
        ("2023/05/08 (Mon) 13:56", datetime(2023, 5, 8, 13, 56)),
        ("8 May, 2023", datetime(2023, 5, 8)),
    ],
)
def test_a_session_may_be_dated_in_any_form(tmp_path: Path, day: str, read: datetime) -> None:
    talk = entry()
    talk["conversation"]["session_1_date_time"] = day
    (conversation,) = read_all(tmp_path, [talk])
    assert {turn.at for turn in conversation.turns} == {read.replace(tzinfo=timezone.utc)}
    assert conversation.undated == ()


@pytest.mark.parametrize("day", [None, "some time in spring", "05/08/2023"])
def test_a_session_without_a_date_is_of_the_day_of_the_one_before(
    tmp_path: Path, day: str | None
) -> None:
    said = entry()["conversation"]["session_1"]
    talk: dict[str, Any] = {"speaker_a": "Zoë", "speaker_b": "Tim"}
    for number, date in ((10, day), (9, "8 May, 2023"), (2, day)):  # the first, of that after it
        talk[f"session_{number}"] = [m | {"dia_id": f"D{number}:{m['dia_id'][3:]}"} for m in said]
        talk[f"session_{number}_date_time"] = date
    (conversation,) = read_all(tmp_path, [entry(conversation=talk)])
    assert [turn.session for turn in conversation.turns[::5]] == [
        "session_2",
        "session_9",
        "session_10",
    ]
    assert {turn.at.date().isoformat() for turn in conversation.turns} == {"2023-05-08"}
    assert conversation.undated == ("session_2", "session_10")


@pytest.mark.parametrize("named", [{}, {"speaker_a": "", "speaker_b": None}, {"speaker_a": "Zoë"}])
def test_whoever_speaks_is_a_speaker(tmp_path: Path, named: dict[str, Any]) -> None:
    talk = spoken({}, {"speaker": "Tim"}, {"speaker": "Priya"}, {"speaker": ""})
    del talk["speaker_a"], talk["speaker_b"]
    (conversation,) = read_all(tmp_path, [entry(conversation=talk | named)])
    assert conversation.speakers == ("Zoë", "Tim", "Priya")


def test_a_session_in_which_nothing_was_said_needs_no_date(tmp_path: Path) -> None:
    talk = entry()
    talk["conversation"]["session_2"] = []
    (conversation,) = read_all(tmp_path, [talk])
    assert len(conversation.turns) == len(SAID)


@pytest.mark.parametrize("asked", [None, 5, {"question": "What is the cat called?"}])
def test_questions_that_are_no_list_are_named(tmp_path: Path, asked: object) -> None:
    with pytest.raises(BadDataError, match="'one': qa is no list of questions"):
        read_all(tmp_path, [entry(qa=asked)])


@pytest.mark.parametrize("content", [b"", b"{nope", "é".encode("latin-1")])
def test_a_file_that_is_no_json_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "talk.json"
    path.write_bytes(content)
    with pytest.raises(BadDataError, match=r"talk\.json"):
        load_locomo(path)
    if content:
        with pytest.raises(BadDataError, match=r"talk\.json"):
            list(load_prompts(path))


def test_a_mark_of_byte_order_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([entry()]), "utf-8-sig")
    assert load_locomo(path)[0].name == "one"


def test_prompts_may_hold_ends_of_lines_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    text = "What did\u2028we\x85 say?"
    line = json.dumps({"text": text, "label": 1, "source": "own"}, ensure_ascii=False)
    path.write_text(f"\n{line}\r\n\n", "utf-8")
    assert list(load_prompts(path)) == [(text, 1, "own")]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"text": "hi"}', "line 2: 'label' is missing"),
        ('{"text": "hi", "label": 2, "source": "own"}', "line 2: label 2 is neither 0 nor 1"),
        ('{"text": "hi", "label": "recall", "source": "own"}', "line 2: "),
        ('{"text": "hi", "label": 0.9, "source": "own"}', "line 2: label 0.9 is neither"),
        ('{"text": "hi", "label": 0, "source": ["own"]}', "line 2: source is no text"),
        ('{"text": null, "label": 0, "source": "own"}', "line 2: "),
        ('{"text": "hi"', "line 2: "),
        ("[]", "line 2: is no JSON object"),
    ],
)
def test_a_wrong_prompt_is_named_by_its_line(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text(f'{{"text": "hi", "label": 0, "source": "own"}}\n{line}\n', "utf-8")
    with pytest.raises(BadDataError, match=r"prompts\.jsonl") as raised:
        list(load_prompts(path))
    assert told in str(raised.value)


def test_cases_need_neither_history_nor_gold(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    line = {"id": 1, "prompt": "Who?", "history": None, "expect": "pass", "gold": None}
    path.write_text(json.dumps(line | {"family": "own"}) + "\n", "utf-8")
    (case,) = load_cases(path)
    assert (case.name, case.turn.history, case.gold) == ("1", (), ())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"expect": "grounded"}, "line 1: expect 'grounded' is none of ground, fallback, pass"),
        ({"gold": "rooms/a.md: It is"}, "line 1: gold is no list of texts"),
        ({"gold": [1]}, "line 1: gold is no list of texts"),
        ({"family": None}, "line 1: family is no text"),
        ({"history": ["Who?"]}, "line 1: is no JSON object"),
        ({"history": [{"role": "user", "content": None}]}, "line 1: content is no text"),
        ({"history": [{"role": "user"}]}, "line 1: 'content' is missing"),
    ],
)
def test_a_wrong_case_is_named_by_its_line(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    path = tmp_path / "cases.jsonl"
    case = {"id": "a", "prompt": "Who?", "expect": "ground", "family": "own", "gold": []}
    path.write_text(json.dumps(case | changes), "utf-8")
    with pytest.raises(BadDataError, match=r"cases\.jsonl") as raised:
        load_cases(path)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("written", "gold"),
    [
        ("- The keys:\n  - of the shed,\n    on a hook\n", "The keys: - of the shed, on a "),
        ("1. The keys hang in the shed.\n2. On a hook.\n", "1. The keys hang in the shed."),
        ("- The keys.\n  <!-- memory id=m-1 kind=fact -->\n", "The keys. <!-- memory id=m-1 kin"),
        ("- The keys:\n\n  they hang in the shed\n", "they hang in the shed"),
    ],
)
def test_a_gold_is_found_however_its_memory_is_written(
    tmp_path: Path, written: str, gold: str
) -> None:
    room = tmp_path / "notes" / "rooms" / "house"
    room.mkdir(parents=True)
    (room / "keys.md").write_text(f"{written}\n- The lamp.\n", "utf-8")
    case = Case("a", Turn("Where?"), "ground", "own", (f"rooms/house/keys.md: {gold}",))
    with open_notes(tmp_path / "notes", tmp_path / "copy") as palace:
        assert sum(case.is_gold(m.text, m.source) for m in palace.memories()) == 1
        assert not any(case.is_gold(m.text, "rooms/other.md:1") for m in palace.memories())


@pytest.mark.parametrize(
    ("theirs", "ours", "made"),
    [
        (("Tim", "John"), ("John", "Maria"), "Did John tell Maria's timer of Timothy?"),
        (("Tim", "John"), ("Zoë", "Tim"), "Did Zoë tell Tim's timer of Timothy?"),
        (("Ada", "Tim", "John"), ("Zoë", "Cem"), "Did Cem tell Zoë's timer of Timothy?"),
        (("Tim",), ("Zoë", "Cem"), "Did Zoë tell John's timer of Timothy?"),
        ((), ("Zoë",), "Did Tim tell John's timer of Timothy?"),
        (("Tim",), (), "Did Tim tell John's timer of Timothy?"),
    ],
)
def test_names_are_swapped_at_once_and_as_whole_words(
    theirs: tuple[str, ...], ours: tuple[str, ...], made: str
) -> None:
    assert swapped("Did Tim tell John's timer of Timothy?", theirs, ours) == made


def test_links_to_nowhere_are_left_out(tmp_path: Path) -> None:
    room = tmp_path / "notes" / "rooms" / "house"
    room.mkdir(parents=True)
    (room / "keys.md").write_text("- The spare key hangs in the shed.\n", "utf-8")
    (room / "gone.md").symlink_to(tmp_path / "nowhere.md")
    with open_notes(tmp_path / "notes", tmp_path / "copy") as palace:
        assert [m.text for m in palace.memories()] == ["The spare key hangs in the shed."]


def test_notes_of_others_are_kept_beside_and_are_no_gold(tmp_path: Path) -> None:
    for name, key in (("mine", "shed"), ("theirs", "cellar")):
        room = tmp_path / name / "rooms" / "house"
        room.mkdir(parents=True)
        told = f"---\ntags: [{key}]\n---\n- The keys are in the {key}.\n"
        (room / "keys.md").write_text(told, "utf-8")
        (tmp_path / name / "timeline").mkdir()
        page = tmp_path / name / "timeline" / "2026-03-14.md"
        page.write_text(f"[2026-03-14 10:00] Cleaned the {key}.\n", "utf-8")
    case = Case("a", Turn("Where are the keys?"), "ground", "own", ("rooms/house/keys.md: The k",))
    with open_notes(tmp_path / "mine", tmp_path / "copy", among=[tmp_path / "theirs"]) as palace:
        kept = {memory.text: memory for memory in palace.memories()}
    assert set(kept) == {
        "The keys are in the shed.",
        "The keys are in the cellar.",
        "Cleaned the shed.",
        "Cleaned the cellar.",
    }
    golds = [text for text, memory in kept.items() if case.is_gold(text, memory.source)]
    assert golds == ["The keys are in the shed."]
    assert kept["The keys are in the cellar."].tags == ("cellar",)


def test_only_notes_can_be_kept_beside(tmp_path: Path) -> None:
    (tmp_path / "mine" / "rooms").mkdir(parents=True)
    (tmp_path / "none").mkdir()
    with pytest.raises(BadDataError, match="is no palace"):
        open_notes(tmp_path / "mine", tmp_path / "copy", among=[tmp_path / "none"])


@pytest.mark.parametrize("journal", ["true", "false"])
def test_what_a_prompt_told_the_memory_is_taken_back(tmp_path: Path, journal: str) -> None:
    (tmp_path / "config").mkdir()
    settings = f"journal:\n  enabled: {journal}\n"
    (tmp_path / "config" / "mempalace.yaml").write_text(settings, "utf-8")
    with Mempalace.open(tmp_path) as palace:
        palace.remember("The rent of the shed is 90 euros.")
        enforcer = RetrievalEnforcer(palace)
        asked = "What did Kessler pay for the sofa?"
        before = enforcer.decide(asked).signal
        verdict = enforcer.decide("Note: Kessler paid cash for the sofa, 400.")
        assert [write.status for write in verdict.written] == ["stored"]
        take_back(palace, verdict)
        assert enforcer.decide(asked).signal == before
        assert [m.text for m in palace.memories()] == ["The rent of the shed is 90 euros."]


def test_what_a_prompt_put_right_is_taken_back(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        palace.remember("The staging database listens on port 5432.")
        enforcer = RetrievalEnforcer(palace)
        enforcer.decide("Which port does the staging database listen on?", session_id="s1")
        verdict = enforcer.decide("No, it is 5433, not 5432.", session_id="s1")
        assert [write.status for write in verdict.written] == ["corrected"]
        take_back(palace, verdict)
        active = [m.text for m in palace.memories() if m.status == "active"]
        assert active == ["The staging database listens on port 5432."]
