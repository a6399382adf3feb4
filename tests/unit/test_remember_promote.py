"""Every explicit write: fit, unless held already or contradicted; and promotion of a note."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from palace.errors import SecretRefusedError, TextRefusedError
from palace.learn.promote import promotion_of
from palace.learn.remember import Writer, superseded_fields
from palace.privacy import PrivacyFilter
from palace.store.rooms import RoomStore
from palace.text.moments import utc_now
from palace.types.changes import Conflict, Duplicate, Remembered, WriteResult
from palace.types.memory import Draft, Memory, Trust
from palace.types.session import ScratchEntry

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
PORT = "The staging server listens on port 5432"
OTHER_PORT = "The staging server listens on port 5433"
TRACE = (
    "Traceback (most recent call last):\n"
    '  File "app.py", line 3, in run\n    start()\n'
    '  File "app.py", line 9, in start\n    raise ValueError\nValueError'
)


class Desk:
    """A writer over real files, which offers every active memory as resembling."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.store = RoomStore(root)
        self.changed: list[str] = []
        self.writer = Writer(
            store=self.store,
            resembling=self._resembling,
            written=self.changed.append,
            reinforced=self._reinforced,
            **options,
        )
        self.breadcrumbs: list[tuple[str, str, str]] = []

    def _reinforced(self, memory: Memory, draft: Draft, match: str) -> bool:
        self.breadcrumbs.append((memory.id, draft.trust, match))
        return True

    def _resembling(self, draft: Draft) -> Sequence[Memory]:
        return [m for m in self.memories() if m.status == "active" and m.scope == draft.scope]

    def memories(self) -> list[Memory]:
        return [m for stamp in self.store.scan() for m in self.store.read(stamp.path).memories]

    def texts(self) -> list[str]:
        return [m.text for m in self.memories() if m.status == "active"]

    def remember(self, text: str, **options: Any) -> WriteResult:
        names = ("scope", "kind", "trust", "valid_from", "valid_to")
        fields = {k: options.pop(k) for k in names if k in options}
        created = utc_now() - timedelta(days=options.pop("days_ago", 0))
        return self.writer.remember(
            Draft(text, created=created, **fields), room="desk", drawer="notes", **options
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# -- remember -----------------------------------------------------------------------------------


def test_a_new_statement_is_stored(desk: Desk) -> None:
    result = desk.remember(PORT)
    assert isinstance(result, Remembered)
    assert desk.texts() == [PORT]
    assert result.memory.text == PORT
    assert desk.changed == [result.memory.path]


def test_what_is_held_already_is_not_written_again(desk: Desk) -> None:
    first = desk.remember(PORT)
    again = desk.remember("the staging server listens on port 5432!")
    assert isinstance(again, Duplicate)
    assert again.memory.id == first.memory.id
    assert desk.texts() == [PORT]
    assert len(desk.changed) == 1
    assert (again.match, again.reinforced) == ("normalised", True)
    assert desk.breadcrumbs == [(first.memory.id, "user", "normalised")]


@pytest.mark.parametrize(
    ("stored_by", "said_by", "stronger", "retires"),
    [
        ("user", "user", "neither", True),
        ("user", "agent", "stored", False),
        ("user", "system", "stored", False),
        ("agent", "user", "new", True),
        ("agent", "agent", "neither", True),
        ("agent", "system", "stored", False),
        ("system", "agent", "new", True),
    ],
)
def test_a_weaker_word_never_retires_a_stronger_one(
    desk: Desk, stored_by: Trust, said_by: Trust, stronger: str, retires: bool
) -> None:
    first = desk.remember(PORT, trust=stored_by)
    asked = desk.remember(OTHER_PORT, trust=said_by)
    assert isinstance(asked, Conflict)
    assert (asked.memory.id, asked.stronger) == (first.memory.id, stronger)
    result = desk.remember(OTHER_PORT, trust=said_by, on_conflict="supersede")
    assert isinstance(result, Remembered) is retires
    assert desk.texts() == [OTHER_PORT if retires else PORT]


def test_supersede_retires_every_memory_that_says_otherwise(desk: Desk) -> None:
    desk.remember(PORT, trust="agent")
    desk.remember(OTHER_PORT, on_conflict="keep")
    third = "The staging server listens on port 5434"
    asked = desk.remember(third)
    assert isinstance(asked, Conflict)
    assert (asked.memory.text, [m.text for m in asked.others]) == (OTHER_PORT, [PORT])
    assert isinstance(desk.remember(third, on_conflict="supersede"), Remembered)
    assert desk.texts() == [third]


def test_another_value_is_asked_about(desk: Desk) -> None:
    first = desk.remember(PORT)
    result = desk.remember(OTHER_PORT)
    assert isinstance(result, Conflict)
    assert result.memory.id == first.memory.id
    assert "5432" in result.detail
    assert "5433" in result.detail
    assert desk.texts() == [PORT]


def test_going_back_to_what_was_held_before_is_no_repetition(desk: Desk) -> None:
    first = desk.remember(PORT, days_ago=60)
    other = desk.remember(OTHER_PORT, days_ago=30, on_conflict="keep")
    assert isinstance(desk.remember(PORT, days_ago=40), Duplicate)
    assert isinstance(desk.remember(PORT, on_conflict="keep"), Duplicate)
    assert isinstance(desk.remember(PORT, trust="agent"), Duplicate)
    asked = desk.remember(PORT)
    assert isinstance(asked, Conflict)
    assert asked.memory.id == other.memory.id
    again = desk.remember(PORT, on_conflict="supersede")
    assert isinstance(again, Remembered)
    gone = {m.id: m.superseded_by for m in desk.memories() if m.status == "inactive"}
    assert gone == {first.memory.id: again.memory.id, other.memory.id: again.memory.id}


@pytest.mark.parametrize(
    ("text", "days", "result"),
    [
        ("Mira is on call this year.", 400, Remembered),
        ("Mira is on call this month.", 40, Remembered),
        ("Mira is on call this week.", 7, Remembered),
        ("Mira is on call today.", 1, Remembered),
        ("Mira is on call this month.", 0, Duplicate),
        ("Mira is on call on Mondays.", 400, Duplicate),
    ],
)
def test_what_is_said_of_another_day_or_month_is_no_repetition(
    desk: Desk, text: str, days: int, result: type[WriteResult]
) -> None:
    assert isinstance(desk.remember(text, days_ago=days), Remembered)
    assert isinstance(desk.remember(text), result)


def test_keep_keeps_both(desk: Desk) -> None:
    desk.remember(PORT)
    assert isinstance(desk.remember(OTHER_PORT, on_conflict="keep"), Remembered)
    assert desk.texts() == [PORT, OTHER_PORT]


def test_supersede_retires_the_older(desk: Desk) -> None:
    first = desk.remember(PORT)
    result = desk.remember(OTHER_PORT, on_conflict="supersede")
    assert isinstance(result, Remembered)
    assert desk.texts() == [OTHER_PORT]
    (old,) = [m for m in desk.memories() if m.status == "inactive"]
    assert (old.id, old.text, old.superseded_by) == (first.memory.id, PORT, result.memory.id)
    assert desk.changed == ["rooms/desk/notes.md"] * 3


def test_supersede_retires_a_line_that_a_person_wrote(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "rooms" / "desk" / "by-hand.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"# By hand\n- {PORT}\n- another line\n")
    result = desk.remember(OTHER_PORT, on_conflict="supersede")
    assert isinstance(result, Remembered)
    assert sorted(desk.texts()) == sorted(["another line", OTHER_PORT])
    assert PORT in file.read_text()


@pytest.mark.parametrize("text", [PORT, OTHER_PORT])
def test_what_holds_at_another_time_is_neither_repetition_nor_contradiction(
    desk: Desk, text: str
) -> None:
    change = datetime(2030, 1, 1, tzinfo=timezone.utc)
    desk.remember(PORT, valid_to=change)
    later = change + timedelta(days=1)
    assert not isinstance(desk.remember(text, valid_to=later), Remembered)
    assert isinstance(desk.remember(text, valid_from=change, valid_to=later), Remembered)


def test_what_is_superseded_holds_until_the_other_begins(desk: Desk) -> None:
    soon = (utc_now() + timedelta(days=30)).replace(microsecond=0)
    first, later = desk.remember(PORT), soon + timedelta(days=30)
    result = desk.remember(OTHER_PORT, valid_from=soon, on_conflict="supersede")
    old = next(m for m in desk.memories() if m.id == first.memory.id)
    assert (old.status, old.valid_to, old.superseded_by) == ("active", soon, result.memory.id)
    # What begins no sooner would never hold.
    assert superseded_fields(replace(old, valid_from=later), result.memory)["status"] == "inactive"
    assert superseded_fields(replace(old, valid_to=later), result.memory)["valid_to"] == soon


def test_what_is_superseded_by_what_holds_already_is_retired_at_once(desk: Desk) -> None:
    first = desk.remember(PORT)
    desk.remember(OTHER_PORT, valid_from=utc_now() - timedelta(days=1), on_conflict="supersede")
    old = next(m for m in desk.memories() if m.id == first.memory.id)
    assert (old.status, old.valid_to) == ("inactive", None)


def test_what_is_over_before_the_other_begins_is_no_contradiction(desk: Desk) -> None:
    change = datetime(2030, 1, 1, tzinfo=timezone.utc)
    desk.remember(PORT, valid_from=change)
    assert isinstance(desk.remember(OTHER_PORT, valid_to=change + timedelta(days=1)), Conflict)
    assert isinstance(desk.remember(OTHER_PORT, valid_to=change), Remembered)


def test_one_stronger_word_among_weaker_ones_is_enough_to_ask(desk: Desk) -> None:
    desk.remember(PORT, trust="agent")
    desk.remember(OTHER_PORT, on_conflict="keep")
    third = "The staging server listens on port 5434"
    assert isinstance(desk.remember(third, trust="agent", on_conflict="supersede"), Conflict)
    assert sorted(desk.texts()) == [PORT, OTHER_PORT]


def test_what_is_replaced_goes_though_the_new_words_are_held_already(desk: Desk) -> None:
    old = desk.remember("The lamp is green.").memory
    held = desk.remember(PORT).memory
    result = desk.remember(PORT, replaces=[old])
    assert isinstance(result, Duplicate)
    assert desk.texts() == [PORT]
    gone = next(m for m in desk.memories() if m.id == old.id)
    assert (gone.status, gone.superseded_by) == ("inactive", held.id)


def test_what_is_about_to_be_done_is_promised_first(tmp_path: Path) -> None:
    promises: list[tuple[str, tuple[str, ...]]] = []

    def promised(new: str, retired: Sequence[str]) -> Any:
        promises.append((new, tuple(retired)))
        return nullcontext()

    desk = Desk(tmp_path, promised=promised)
    first = desk.remember(PORT).memory
    second = desk.remember(OTHER_PORT, on_conflict="supersede").memory
    assert promises == [(second.id, (first.id,))]


def test_supersede_without_a_conflict_just_stores(desk: Desk) -> None:
    assert isinstance(desk.remember(PORT, on_conflict="supersede"), Remembered)
    assert desk.texts() == [PORT]


def test_scopes_do_not_contradict_each_other(desk: Desk) -> None:
    desk.remember(PORT)
    assert isinstance(desk.remember(OTHER_PORT, scope="project:garden"), Remembered)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing"),
        (" \n\t ", "nothing"),
        ("<memory-context>our own echo</memory-context>", "nothing"),
        ("a\x00b", "NUL"),
        ("a\u202eb", "reading direction"),
        ("x" * 4001, "4001"),
    ],
)
def test_unfit_text_is_refused(desk: Desk, text: str, said: str) -> None:
    with pytest.raises(TextRefusedError) as caught:
        desk.remember(text)
    assert said in caught.value.message
    assert caught.value.hint
    assert (desk.memories(), desk.changed) == ([], [])


def test_the_longest_text_fits(desk: Desk) -> None:
    assert isinstance(desk.remember("word " * 799 + "end"), Remembered)


def test_text_is_cleaned_before_it_is_stored(desk: Desk) -> None:
    result = desk.remember("  one \r\n two  <memory-context>echo</memory-context> ")
    assert result.memory.text.split() == ["one", "two"]


def test_a_tag_of_ours_that_frames_nothing_takes_no_words_with_it(desk: Desk) -> None:
    result = desk.remember("The tag is <memory-context> and stands in front.")
    assert result.memory.text == "The tag is [memory-context] and stands in front."


def test_secrets_are_refused_without_echo(desk: Desk) -> None:
    with pytest.raises(SecretRefusedError) as caught:
        desk.remember(f"our token is {TOKEN}")
    told = f"{caught.value} {caught.value.hint} {caught.value!r}"
    assert TOKEN not in told
    assert TOKEN[:12] not in told
    assert desk.memories() == []


def test_secrets_may_be_redacted_instead(tmp_path: Path) -> None:
    desk = Desk(tmp_path, privacy=PrivacyFilter("redact"))
    result = desk.remember(f"our token is {TOKEN}, keep it")
    assert isinstance(result, Remembered)
    assert TOKEN not in result.memory.text
    assert TOKEN not in (tmp_path / result.memory.path).read_text()
    origin = Draft("The lamp is green.", provenance=f"a mail with {TOKEN}")
    kept = desk.writer.remember(origin, room="desk", drawer="notes")
    assert kept.memory.provenance.startswith("a mail with ")
    assert TOKEN not in (tmp_path / kept.memory.path).read_text()


# -- promotion ----------------------------------------------------------------------------------


def entry(text: str = "the tunnel on the staging host uses port 5432") -> ScratchEntry:
    return ScratchEntry("s-1", "session-1", text, utc_now(), 60.0)


def promoted(desk: Desk, note: ScratchEntry | None = None, **fields: Any) -> WriteResult:
    how = {"on_conflict": fields.pop("on_conflict", "ask")}
    given: dict[str, Any] = {"summary": PORT, "reason": "needed at every deploy", **fields}
    draft = promotion_of(note or entry(), desk.writer, **given)
    return desk.writer.remember(draft, room="desk", drawer="ops", **how)


def test_a_promoted_note_is_a_memory_that_names_where_it_comes_from(desk: Desk) -> None:
    result = promoted(desk, kind="preference")
    assert isinstance(result, Remembered)
    kept = result.memory
    assert (kept.text, kept.reason, kept.kind) == (PORT, "needed at every deploy", "preference")
    assert (kept.provenance, kept.session, kept.trust) == ("scratchpad:s-1", "session-1", "agent")
    assert (kept.scope, kept.path) == ("global", "rooms/desk/ops.md")
    (read,) = desk.memories()
    assert (read.text, read.reason, read.provenance) == (PORT, kept.reason, kept.provenance)


def test_promotion_for_a_project(desk: Desk) -> None:
    kept = promoted(desk, project="garden").memory
    assert (kept.scope, kept.project) == ("project:garden", "garden")


@pytest.mark.parametrize("missing", ["summary", "reason"])
@pytest.mark.parametrize("blank", ["", "  \n"])
def test_summary_and_reason_are_required(desk: Desk, missing: str, blank: str) -> None:
    with pytest.raises(TextRefusedError) as caught:
        promoted(desk, None, **{missing: blank})
    assert missing in caught.value.message
    assert caught.value.hint
    assert desk.memories() == []


@pytest.mark.parametrize("raw", [TRACE, '{"status": "ok", "count": 3}', "x" * 5000])
def test_raw_tool_output_is_refused_as_a_note(desk: Desk, raw: str) -> None:
    with pytest.raises(TextRefusedError) as caught:
        promoted(desk, entry(raw))
    assert "note" in caught.value.message
    assert desk.memories() == []


def test_raw_tool_output_is_refused_as_a_summary(desk: Desk) -> None:
    with pytest.raises(TextRefusedError) as caught:
        promoted(desk, summary=TRACE)
    assert "summary" in caught.value.message


@pytest.mark.parametrize("where", ["note", "summary", "reason"])
def test_a_secret_anywhere_is_refused_without_echo(desk: Desk, where: str) -> None:
    secret = f"the token is {TOKEN}"
    note = entry(secret) if where == "note" else entry()
    words: Any = {} if where == "note" else {where: secret}
    with pytest.raises(SecretRefusedError) as caught:
        promoted(desk, note, **words)
    assert TOKEN not in f"{caught.value} {caught.value!r}"
    assert desk.memories() == []


def test_promoting_twice_is_a_duplicate(desk: Desk) -> None:
    first = promoted(desk)
    again = promoted(desk)
    assert isinstance(again, Duplicate)
    assert again.memory.id == first.memory.id


def test_a_contradicting_promotion_is_a_conflict(desk: Desk) -> None:
    first = promoted(desk)
    result = promoted(desk, summary=OTHER_PORT)
    assert isinstance(result, Conflict)
    assert result.memory.id == first.memory.id
    assert isinstance(promoted(desk, summary=OTHER_PORT, on_conflict="supersede"), Remembered)
    assert desk.texts() == [OTHER_PORT]
