"""The law of transfer: what is exported and imported into an empty palace is the same palace."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace import ConversationTurn, Mempalace, RetrievalEnforcer, load_preset, seed

_WORDS = st.text(st.sampled_from("abc dé漢 #*_-`[]<>!:\n\t1"), min_size=1, max_size=40).filter(
    lambda text: any(char.isalnum() for char in text)
)
_NAMES = st.from_regex(r"[a-z][a-z0-9 ]{0,8}[a-z]", fullmatch=True)


@pytest.fixture(autouse=True)
def _no_settings_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


def canonical(palace: Mempalace) -> dict[str, bytes]:
    return {
        path.relative_to(palace.root).as_posix(): path.read_bytes()
        for path in palace.root.rglob("*")
        if path.is_file() and (path.suffix == ".md" or path.name == "identity.txt")
    }


def assert_equal(first: Mempalace, second: Mempalace) -> None:
    assert canonical(second) == canonical(first)
    assert second.memories(include_inactive=True) == first.memories(include_inactive=True)
    names = [(p.name, p.title, p.steps, p.body) for p in second.playbooks()]
    assert names == [(p.name, p.title, p.steps, p.body) for p in first.playbooks()]
    assert second.identity == first.identity


def test_both_forms_of_an_export_are_the_whole_palace(tmp_path: Path):
    seed(load_preset("sample"), tmp_path / "first")
    with Mempalace.open(tmp_path / "first") as first:
        first.remember("The blue boat has 12 seats.", room="fleet", tags=["boats"])
        first.import_turns(
            [ConversationTurn("s1", "Ann", "Two\nlines.", datetime.now(tz=timezone.utc))]
        )
        (first.root / "rooms/fleet/by hand.md").write_bytes(b"\xef\xbb\xbf- \xe9?\r\n- Same.\r\n")
        first.refresh()
        as_json = first.export(tmp_path / "all.json")
        as_folder = first.export(tmp_path / "all", form="markdown")
        assert as_json.files == as_folder.files == len(canonical(first))
        assert as_json.memories == as_folder.memories == len(first.memories(include_inactive=True))
        with Mempalace.open(tmp_path / "second") as second:
            done = second.import_from(tmp_path / "all.json")
            assert (done.added, done.refused) == (as_json.files, ())
            assert_equal(first, second)
            assert second.import_from(tmp_path / "all.json").unchanged == as_json.files
            verdict = RetrievalEnforcer(second).decide("How many seats has the blue boat?")
            assert "12 seats" in verdict.evidence[0].text
        with Mempalace.open(tmp_path / "third") as third:
            # Bytes that are no text only come back from an export that vouches for them.
            done = third.import_from(tmp_path / "all")
            assert [r.path_or_line for r in done.refused] == ["rooms/fleet/by hand.md"]
            assert done.added == as_folder.files - 1


@pytest.mark.skipif(os.name == "nt", reason="such names cannot be made")
def test_what_an_export_leaves_out_is_not_read_either_and_told_of(tmp_path: Path):
    files = ["rooms/a/x.md", "rooms/top.md", "rooms/a/deep/er/y.md", "rooms/a/b\\c.md"]
    files += ["timeline/note.md", "timeline/sub/z.md", "playbooks/UP.MD", "playbooks/sub/q.md"]
    with Mempalace.open(tmp_path / "p") as palace:
        for number, name in enumerate(files):
            file = palace.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# Lamp\n\n1. Lamp {number} is red.\n", encoding="utf-8")
        palace.refresh(force=True)
        read = {m.path for m in palace.memories()} | {p.path for p in palace.playbooks()}
        palace.export(tmp_path / "full", form="markdown")
        full = tmp_path / "full"
        exported = {p.relative_to(full).as_posix() for p in full.rglob("*") if p.is_file()}
        assert exported == read
        assert {fault.path for fault in palace.faults()} == set(files) - read
        assert set(files) - read == {"rooms/a/b\\c.md", "playbooks/sub/q.md"}


@given(
    statements=st.lists(st.tuples(_NAMES, _NAMES, _WORDS), max_size=5),
    said=st.lists(st.tuples(_NAMES, _NAMES, _WORDS, st.integers(0, 5000)), max_size=4),
)
@settings(deadline=None, max_examples=15)
def test_any_palace_survives_the_journey(statements, said, tmp_path_factory):
    folder = tmp_path_factory.mktemp("journey")
    start = datetime(2026, 5, 8, tzinfo=timezone.utc)
    with Mempalace.open(folder / "first") as first, Mempalace.open(folder / "second") as second:
        for room, drawer, text in statements:
            first.remember(text, room=room, drawer=drawer, on_conflict="keep")
        first.import_turns(
            ConversationTurn(session, speaker, text, start + timedelta(minutes=minutes))
            for session, speaker, text, minutes in said
        )
        first.export(folder / "all.json")
        assert second.import_from(folder / "all.json").refused == ()
        assert_equal(first, second)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When did we move the database to PostgreSQL 16?", "2026-03-14"),
        ("How do we deploy to production?", "make deploy ENV=production"),
    ],
)
def test_the_sample_answers_what_the_manual_asks_it(tmp_path: Path, question, words):
    seed(load_preset("sample"), tmp_path / "palace")
    with Mempalace.open(tmp_path / "palace") as palace:
        verdict = RetrievalEnforcer(palace).decide(question)
    assert (verdict.action, verdict.outcome) == ("ground", "hit")
    assert words in verdict.evidence[0].text


@pytest.mark.parametrize(
    ("opened", "cue"),
    [
        (Mempalace.for_issue_analysis, "Have we seen this before: the queue stops at midnight?"),
        (Mempalace.for_health_check, "What is normal for the ferry timetable?"),
        (Mempalace.for_code_review, "Our convention for error messages, please."),
    ],
)
def test_a_preset_hears_its_cues_and_invents_nothing(tmp_path: Path, opened, cue):
    with opened(tmp_path / "palace") as palace:
        verdict = RetrievalEnforcer(palace).decide(cue)
        assert verdict.signal.band == "recall"
        assert verdict.signal.cues[0].startswith("own:")
        assert verdict.action in ("fallback", "confirm")
        assert palace.memories() == []
