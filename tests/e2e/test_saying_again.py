"""What is said twice is stored once, and the journal knows that it was said again."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from palace import Conflict, Duplicate, Mempalace, Remembered, RetrievalEnforcer
from palace.types.changes import Relation


def test_a_duplicate_leaves_a_breadcrumb_without_the_text(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        first = palace.remember("The kettle in the office is blue.")
        again = palace.remember("the kettle in the office is blue", source="agent")
        assert isinstance(again, Duplicate)
        assert (again.match, again.reinforced) == ("normalised", True)
        (record,) = palace.journal.records(type="reinforced")
        assert (record["memory"], record["source"]) == (first.memory.id, "agent")
        assert "kettle" not in str(record)


@pytest.mark.parametrize("key", [None, "friday"])
def test_triggers_of_what_is_said_again_are_kept(tmp_path: Path, key: str | None) -> None:
    text = "Never deploy on a Friday."
    with Mempalace.open(tmp_path) as palace:
        palace.remember(text, triggers=["deploy"], kind="negative", key=key)
        again = palace.remember(text, triggers=["release"], kind="negative", key=key)
        assert isinstance(again, Duplicate)
        assert again.memory.triggers == ("deploy", "release")
        enforcer = RetrievalEnforcer(palace)
        verdict = enforcer.decide("Write a poem about the release")
        assert [e.text for e in verdict.reminders] == [text]
        palace.undo()
        assert palace.get(again.memory.id).triggers == ("deploy",)


def test_what_an_agent_stored_is_a_persons_word_once_a_person_says_it(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        palace.remember("The rent is 240 euros.", source="agent")
        assert palace.remember("The rent is 240 euros.", source="system").memory.trust == "agent"
        again = palace.remember("the rent is 240 euros")
        assert (again.status, again.memory.trust) == ("duplicate", "user")
        other = palace.remember("The rent is 260 euros.", source="agent", on_conflict="supersede")
        assert isinstance(other, Conflict)


@pytest.mark.parametrize("text", ["🙂", "It is what it is.", "- [ ]", "word " * 60 + "end"])
def test_no_text_is_stored_twice(tmp_path: Path, text: str) -> None:
    with Mempalace.open(tmp_path) as palace:
        assert isinstance(palace.remember(text), Remembered)
        assert isinstance(palace.remember(text), Duplicate)
        assert len(palace.memories()) == 1


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("Our server is called heron.", "Our server is called heron, as you know."),
        ("Our server is called heron.", "You know that our server is called heron."),
        ("Our server is called heron.", "Like I said before, our server is called heron."),
        ("Unser Server heißt Falke.", "Unser Server heißt Falke, wie du weißt."),
    ],
)
def test_what_is_told_as_known_is_stored_once(tmp_path: Path, text: str, again: str) -> None:
    with Mempalace.open(tmp_path) as palace:
        palace.remember(text)
        assert isinstance(palace.remember(again), Duplicate)


NOW = datetime.now(timezone.utc).replace(microsecond=0)
YEAR = timedelta(days=365)


@pytest.mark.parametrize(
    ("begin", "end"),
    [(NOW + YEAR, None), (NOW + YEAR, NOW + 2 * YEAR), (NOW - 2 * YEAR, NOW - YEAR), (None, NOW)],
)
def test_what_holds_at_another_time_is_stored_once_too(
    tmp_path: Path, begin: datetime | None, end: datetime | None
) -> None:
    with Mempalace.open(tmp_path) as palace:
        first = palace.remember("The rent is 900 euros.", valid_from=begin, valid_to=end)
        again = palace.remember("The rent is 900 euros.", valid_from=begin, valid_to=end)
        assert isinstance(again, Duplicate)
        other = palace.remember("The rent is 950 euros.", valid_from=begin, valid_to=end)
        assert isinstance(other, Conflict)
        assert (again.memory.id, other.memory.id) == (first.memory.id, first.memory.id)
        # What holds now is another matter.
        assert isinstance(palace.remember("The rent is 800 euros."), Remembered)


def test_no_breadcrumb_without_a_journal(tmp_path: Path) -> None:
    settings = tmp_path / "config" / "mempalace.yaml"
    settings.parent.mkdir()
    settings.write_text("journal:\n  enabled: false\n")
    with Mempalace.open(tmp_path) as palace:
        palace.remember("The kettle is blue.")
        again = palace.remember("The kettle is blue.")
        assert isinstance(again, Duplicate)
        assert again.reinforced is False
        assert list(palace.journal.records()) == []


def test_a_journal_that_cannot_be_written_fails_no_write(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Mempalace.open(tmp_path) as palace:
        palace.remember("The kettle is blue.")
        shutil.rmtree(tmp_path / "journal")
        (tmp_path / "journal").write_text("a file where the folder should be")
        again = palace.remember("The kettle is blue.")
        assert isinstance(again, Duplicate)
        assert again.reinforced is False
        assert "no note could be taken" in caplog.text


def test_the_conflict_is_found_behind_a_long_conversation(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        stored = palace.remember("The staging server listens on port 5432.", project="relay")
        for number in range(30):
            palace.remember(f"The staging server listens, port, take {number}: {'la ' * number}")
        result = palace.remember("The staging server listens on port 5433.", project="relay")
        assert isinstance(result, Conflict)
        assert result.memory.id == stored.memory.id


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("I live in Lisbon", "I moved to Porto"),
        ("my favourite colour is green", "My favorite color is red"),
    ],
)
def test_other_words_for_the_same_thing_are_searched_for(
    tmp_path: Path, stored: str, new: str
) -> None:
    with Mempalace.open(tmp_path) as palace:
        palace.remember(stored)
        assert isinstance(palace.remember(new), Conflict)


def test_a_judge_of_the_host_decides_through_the_front_door(tmp_path: Path) -> None:
    class Lenient:
        def judge(self, stored: str, new: str) -> Relation | None:
            return "unrelated"

    with Mempalace.open(tmp_path, judge=Lenient()) as palace:
        palace.remember("The rent is 900 euros.")
        assert isinstance(palace.remember("The rent is 950 euros."), Remembered)
    with Mempalace.open(tmp_path) as palace:
        assert isinstance(palace.remember("The rent is 990 euros."), Conflict)


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("Ich wohne in Kiel.", "Ich bin nach Lyon gezogen."),
        ("Vivo en Kiel.", "Me he mudado a Lyon."),
        ("J'habite à Kiel.", "J'ai déménagé à Lyon."),
        ("Abito a Kiel.", "Mi sono trasferita a Lyon."),
        ("Mieszkam w Kilonii.", "Przeprowadziłam się do Lyonu."),
        ("Я живу в Киле.", "Я переехала в Лион."),
        ("Kiel'de yaşıyorum.", "Lyon'a taşındım."),
    ],
)
def test_a_move_is_held_against_where_somebody_lives(tmp_path: Path, stored: str, new: str) -> None:
    with Mempalace.open(tmp_path) as palace:
        home = palace.remember(stored).memory
        asked = palace.remember(new)
        assert isinstance(asked, Conflict)
        assert asked.memory.id == home.id
