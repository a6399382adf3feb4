"""Whatever happens to the derived index, nobody gets a wrong answer and nothing is lost."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palace import Mempalace, PalaceError, RetrievalEnforcer, StoreUnavailableError
from palace.enforce import enforcer
from palace.store.index_sqlite import SqliteIndex

FACTS = {
    f"We moved the {name} to Oslo on 2026-0{n % 9 + 1}-1{n % 10}.": f"When did we move the {name} to Oslo?"
    for n, name in enumerate("kettle printer lathe piano archive beehive".split())
}
NEVER = "When did we move the submarine to Oslo?"


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    random.Random(len(data)).shuffle(places := list(range(len(data))))
    for place in places[:40]:
        data[place] ^= 1 << (place % 8)
    with path.open("r+b") as file:
        file.write(data)


def newer(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 9999")
    connection.close()


def misname(path: Path) -> None:
    """Change one letter of what SQLite tells of its own columns, and nothing else."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'confidence', 'confidance')")
    connection.commit()
    connection.close()


def rewrite(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:
        file.truncate()
        file.write(data)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "deleted": lambda path: path.unlink(),
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": lambda path: os.truncate(path, 0),
    "zeroed": lambda path: rewrite(path, b"\0" * path.stat().st_size),
    "bit-flipped": flip,
    "misnamed": misname,
    "words": lambda path: rewrite(path, b"only words " * 5000),
    "newer schema": newer,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Mempalace.open(tmp_path) as palace:
        for text in FACTS:
            palace.remember(text, room="moves", on_conflict="keep")
    return tmp_path


def index_of(root: Path) -> Path:
    return root / ".palace" / "index.sqlite"


def wrong_answers(palace: Mempalace) -> tuple[list[str], int]:
    """What was answered wrongly, and how often the palace said that it could not look."""
    enforcer = RetrievalEnforcer(palace)
    wrong, unavailable = [], 0
    for text, question in {**FACTS, "": NEVER}.items():
        verdict = enforcer.decide(question)
        if verdict.outcome == "unavailable":
            unavailable += 1
        elif (
            verdict.outcome != ("hit" if text else "near_miss")
            or text
            and [e.text for e in verdict.evidence[:1]] != [text]
        ):
            wrong.append(f"{question} {verdict.outcome} {verdict.text}")
    return wrong, unavailable


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_at_rest(root: Path, damage: str) -> None:
    DAMAGE[damage](index_of(root))
    with Mempalace.open(root) as palace:
        assert wrong_answers(palace) == ([], 0)
        assert palace.index.check() is None


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_in_use(root: Path, damage: str) -> None:
    with Mempalace.open(root) as palace, Mempalace.open(root) as other:
        DAMAGE[damage](index_of(root))
        wrong, unavailable = wrong_answers(palace)
        assert wrong == []
        assert unavailable <= 2
        new = _stored(other, "We moved the anvil to Oslo on 2026-03-04.")
        assert _found(palace, new)
        assert wrong_answers(other)[0] == wrong_answers(palace)[0] == []
    with Mempalace.open(root) as palace:
        assert wrong_answers(palace) == ([], 0)
        assert palace.get(new).text == "We moved the anvil to Oslo on 2026-03-04."
        assert [c.name for c in palace.doctor() if not c.ok] == []


def _stored(palace: Mempalace, text: str) -> str:
    """Remember, once more if the palace had to mend its index first."""
    try:
        return palace.remember(text, room="moves", on_conflict="keep").memory.id
    except PalaceError:
        return palace.remember(text, room="moves", on_conflict="keep").memory.id


def _found(palace: Mempalace, identifier: str) -> bool:
    palace.refresh()
    return palace.get(identifier).id == identifier


@pytest.mark.parametrize("by", ["this", "another"])
def test_an_index_that_could_not_be_filled_is_not_asked(root: Path, by: str) -> None:
    with Mempalace.open(root) as palace:
        never = palace.settings.model_copy(
            update={"index": palace.settings.index.model_copy(update={"refresh_s": 3600.0})}
        )
        palace.loaded = replace(palace.loaded, settings=never)
        full = "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        palace.index._database.rows(f"CREATE TRIGGER full BEFORE INSERT ON memories {full}")
        if by == "this":
            with pytest.raises(StoreUnavailableError, match="full"):
                palace.reindex()
        else:
            with closing(SqliteIndex(index_of(root))) as other:
                other.clear()
        for _ in range(2):
            assert wrong_answers(palace) == ([], len(FACTS) + 1)
        palace.index._database.rows("DROP TRIGGER full")
        assert wrong_answers(palace) == ([], 0)


def fill_the_disk(palace: Mempalace) -> None:
    """Let the index take no page more."""
    pages = palace.index._database.rows("PRAGMA page_count")[0][0]
    palace.index._database.rows(f"PRAGMA max_page_count = {pages}")


LONG = " ".join(f"word{n}" for n in range(400))


def test_a_disk_that_is_full_for_the_index_hides_nothing(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Mempalace.open(root) as palace:
        fill_the_disk(palace)
        new = palace.remember(f"We moved the anvil to Oslo on 2026-03-04. {LONG}", room="moves")
        assert _found(palace, new.memory.id)
        assert wrong_answers(palace) == ([], 0)
        (root / "rooms" / "by-hand.md").write_text("- We moved the loom to Oslo on 2026-03-05.\n")
        palace.refresh()
        assert "2026-03-05" in palace.search("loom")[0].memory.text
        assert caplog.text.count("the disk is full") == 1
    with Mempalace.open(root) as palace:
        assert (palace.index.path, wrong_answers(palace)) == (index_of(root), ([], 0))
        assert _found(palace, new.memory.id)


def test_what_is_erased_on_a_full_disk_is_in_no_file(root: Path) -> None:
    with Mempalace.open(root) as palace:
        fill_the_disk(palace)
        palace.remember(f"We moved the anvil to Oslo on 2026-03-04. {LONG}", room="moves")
        palace.erase(palace.search("kettle")[0].memory.id)
        assert palace.index.path is None
    assert not any(b"kettle" in p.read_bytes() for p in root.rglob("*") if p.is_file())


@pytest.mark.parametrize(
    ("times", "expected"),
    [(1, ("ground", "hit")), (2, ("ground", "hit")), (9, ("fallback", "unavailable"))],
)
def test_an_index_that_is_thrown_away_while_it_is_asked_is_asked_again(
    root: Path, monkeypatch: pytest.MonkeyPatch, times: int, expected: tuple[str, str]
) -> None:
    walk, left = enforcer._walk, [times]
    with Mempalace.open(root) as palace, closing(SqliteIndex(index_of(root))) as other:

        def thrown_away(*arguments: Any) -> Any:  # noqa: ANN401 - passed on
            if left[0]:
                left[0] -= 1
                other.clear()
            return walk(*arguments)

        monkeypatch.setattr(enforcer, "_walk", thrown_away)
        verdict = RetrievalEnforcer(palace).decide(next(iter(FACTS.values())))
        assert (verdict.action, verdict.outcome) == expected


def test_a_palace_whose_folder_was_moved_away_says_so_and_makes_no_new_one(tmp_path):
    root = tmp_path / "disk" / "palace"
    with Mempalace.open(root) as palace:
        palace.remember("The gate code is 4711.")
        palace.note("The shed is green.", session_id="s")
        ask = RetrievalEnforcer(palace).decide
        root.rename(tmp_path / "moved")
        verdict = ask("What is the gate code?", session_id="s")
        assert (verdict.action, verdict.outcome) == ("fallback", "unavailable")
        writes = (
            lambda: palace.remember("The gate code is 5822."),
            lambda: palace.note("The shed is red.", session_id="s"),
            lambda: palace.undo(),
            lambda: palace.import_from(tmp_path / "moved"),
            lambda: palace.on_session_end("s", [{"role": "user", "content": "I prefer tea."}]),
        )
        for write in writes:
            with pytest.raises(StoreUnavailableError, match="folder of the palace is gone") as told:
                write()
            assert "put it back" in told.value.hint
        assert not root.exists()
        (tmp_path / "moved").rename(root)
        assert ask("What is the gate code?").action == "ground"
        assert palace.remember("The gate code of the yard is 5822.").status == "stored"
