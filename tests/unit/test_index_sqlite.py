"""The SQLite index: what it finds, how it survives, and what other processes see."""

from __future__ import annotations

import atexit
import gc
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from palace.errors import PalaceError, StoreUnavailableError
from palace.ports import GLOBAL, Index, Scope
from palace.recall.lexicon import load_lexicons
from palace.recall.query import Analyst
from palace.store import index_database
from palace.store.index_database import IndexDatabase
from palace.store.index_rows import memory_tokens
from palace.store.index_schema import SCHEMA_VERSION, Mark
from palace.store.index_seal import opening_or_closing, state_of
from palace.store.index_sqlite import SqliteIndex
from palace.store.index_stamps import StampTable
from palace.store.index_writing import WriteBatch
from palace.text.moments import utc_now
from palace.types.memory import Memory, MemoryKind
from palace.types.session import Turn
from tests.doubles import indexed, memory, paged

ROOT = Path(__file__).parents[2]
LEXICONS = load_lexicons(("en", "de", "ru", "zh", "ja"))
KETTLE = memory("The blue kettle stands by the window.")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".palace" / "index.sqlite"


@pytest.fixture
def index(path: Path) -> Iterator[SqliteIndex]:
    index = SqliteIndex(path)
    yield index
    index.close()


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Let threads take turns a thousand times as often, so that races show."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(usual)


def texts(index: SqliteIndex, *terms: str, scope: Scope | None = None) -> list[str]:
    found = index.candidates(terms, layer="L1", scope=scope or Scope(), limit=20)
    return [m.text for m in index.load([c.key for c in found]).values()]


def asked(index: SqliteIndex, prompt: str) -> list[str]:
    query = Analyst(LEXICONS, index).analyse(Turn(prompt))
    return texts(index, *query.terms)


def test_is_an_index() -> None:
    assert isinstance(SqliteIndex(None), Index)


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("我们的数据库在柏林。", "我们的数据库在哪里?"),
        ("我们的数据库在柏林。", "数据库"),
        ("A naïve cache was removed.", "What happened to the naive cache?"),
        ("A naive cache was removed.", "What happened to the naïve cache?"),
        ("Call handleWebSocketReconnect twice.", "where is handleWebSocketReconnect called"),
        ("Call handleWebSocketReconnect twice.", "what do we do on a web socket reconnect?"),
        ("Call handleWebSocketReconnect twice.", "WebSocket?"),
        ("Shipped v2.0.1 on Monday.", "When did we ship v2.0.1?"),
        ("Shipped v2.0.1 on Monday.", "When did we ship 2.0.1?"),
        ("Shipped 2.0.1 on Monday.", "When did we deliver v2.0.1?"),
        ("The worker died with ECONNREFUSED.", "why did we see econnrefused?"),
        ("The worker died with econnrefused.", "Why ECONNREFUSED?"),
        ("The Wi-Fi code hangs in the hall.", "where is the wifi code?"),
        ("The Wi-Fi repeater hangs in the hall.", "wi-fi"),
        ("The roof cost 18,000 euros.", "what did 18000 buy us?"),
        ("The roof cost 18000 euros.", "what did 18,000 buy us?"),
        ("Moved in on 2026-10-05.", "What happened in October 2026?"),
        ("Moved in on 2026-10-05.", "2026-10-05"),
        ("Am 5. Oktober umgezogen.", "what happened in October"),
        ("We went to the lake.", "Where did we go?"),
        ("Go to the lake.", "Where have we gone?"),
        ("Priya's desk is by the door.", "where does Priya sit"),
        ("Priya’s desk is by the door.", "where does Priya sit"),
        ("Переехали из старой квартиры.", "квартира"),
        ("ガギグという店で会った。", "ガギグ"),
        ("The owner is mira@example.org.", "mira@example.org?"),
        ("Set okabe_visits to 4.", "what is okabe_visits set to"),
        ("Edit src/main/app.py first.", "src/main/app.py"),
        ("İstanbul office opened.", "istanbul"),
        ("ＦＵＬＬ width sign.", "full"),
        ("The data\u00adbase\u200b is at\u2060tic.", "Where is the database?"),
        ("Die Auf\u200clage ist hoch.", "Wie hoch ist die Auflage?"),
    ],
)  # fmt: skip
def test_found_by_a_reasonable_question(text: str, prompt: str) -> None:
    index = indexed(memory(text), memory("Nothing of the sort here.", 1))
    assert text in asked(index, prompt)


def test_hyphenated_question_finds_the_joined_word() -> None:
    index = indexed(memory("The wifi code hangs in the hall."))
    assert asked(index, "Wi-Fi?") == ["The wifi code hangs in the hall."]


@pytest.mark.parametrize(
    ("text", "prompt"),
    [("ガギグという店で会った。", "カキク"), ("The color of the shed.", "The colander?")],
)
def test_not_found_by_something_else(text: str, prompt: str) -> None:
    assert asked(indexed(memory(text)), prompt) == []


def test_a_thousand_terms_are_bounded() -> None:
    terms = ["kettl", *(f"t{n}" for n in range(1000))]
    assert texts(indexed(KETTLE), *terms) == [KETTLE.text]


def test_heading_room_tags_and_triggers_are_found() -> None:
    fields: Any = {"heading": "Kitchen > Tea", "tags": ("ritual",), "triggers": ("thirsty",)}
    index = indexed(memory("Blue one.", **fields), memory("Green one.", 1))
    for term in ("kitchen", "tea", "ritual", "thirsti"):
        assert texts(index, term) == ["Blue one."]


def test_words_of_the_text_beat_words_of_its_place() -> None:
    index = indexed(
        memory("Shelf one is here.", heading="Kettle"), memory("Kettle one is here.", 1)
    )
    assert texts(index, "kettl")[0] == "Kettle one is here."


def test_timeline_memories_are_found_by_their_day() -> None:
    moment = utc_now().replace(year=2026, month=3, day=14)
    body, context, names, asks = memory_tokens(
        memory("we planted beans", room="timeline", created=moment, heading="Mira")
    )
    assert {"2026-03-14", "2026", "month03", "mira"} <= set(context.split())
    assert body.split() == ["we", "plant", "bean"]
    assert names.split() == asks.split() == []


def test_what_is_asked_is_kept(index: SqliteIndex) -> None:
    index.apply([paged(memory("Nice kettle. Is it blue? And whose?"), memory("A kettle.", 1))])
    asking, told = index.candidates(["kettl"], layer="L1", scope=GLOBAL, limit=5)[::-1]
    assert [asking.body[start:end] for start, end in asking.asks] == [
        ("be", "it", "blue"),
        ("and", "whose"),
    ]
    assert told.asks == ()
    assert index.candidates_by_key([asking.key]) == [asking._replace(bm25=0.0)]


def test_a_speaker_is_a_name() -> None:
    said = memory("we planted beans", room="timeline", speaker="Mira")
    assert memory_tokens(said)[2].split() == ["mira"]


def test_unsayable_ids_find_nothing(index: SqliteIndex) -> None:
    index.apply([paged(memory("secret kettle", scope="session:s1"))])
    assert texts(index, "kettl", scope=Scope(session_id="\ud800", project="\udfff")) == []
    assert index.get("\ud800\ud800\ud800\ud800\ud800\ud800\ud800\ud800") is None


def test_get_by_prefix(index: SqliteIndex) -> None:
    index.apply([paged(memory("one", id="m-aaaa1111"), memory("two", 1, id="m-aaaa2222"))])
    assert index.get("m-aaaa11") == index.get("m-aaaa1111")
    assert index.get("m-aaaa1") is None  # seven characters are no prefix
    assert index.get("m-aaaa22%") is None
    assert index.get("") is None
    index.apply([paged(memory("three", 2, id="m-aaaa1199"), path="rooms/desk/b.md")])
    assert index.get("m-aaaa11") is None  # two begin so


def test_a_whole_id_wins_over_a_prefix(index: SqliteIndex) -> None:
    index.apply([paged(memory("one", id="m-aaaa11"), memory("two", 1, id="m-aaaa1122"))])
    found = index.get("m-aaaa11")
    assert found is not None
    assert found.text == "one"


def test_what_stands_in_copies_of_a_file_is_that_of_the_file(index: SqliteIndex) -> None:
    copied = memory("one", id="m-aaaa1111")
    for path in ("rooms/desk/a (copy).md", "rooms/desk/a.md", "rooms/desk/a (copy 2).md"):
        index.apply([paged(copied, path=path)])
        for asked in ("m-aaaa1111", "m-aaaa11"):
            found = index.get(asked)
            assert found is not None
            assert found.path == min(index.digests(), key=len)


def test_memories_in_file_order(index: SqliteIndex) -> None:
    index.apply([paged(memory("b0", 0), memory("b1", 1, status="inactive"), path="rooms/b/x.md")])
    index.apply([paged(memory("a0", 2, room="attic"), path="rooms/a/x.md")])
    index.apply([paged(memory("p", 3), path="playbooks/p.md")], layer="L4")
    assert [m.text for m in index.memories()] == ["a0", "b0", "b1"]
    assert [m.text for m in index.memories(room="attic")] == ["a0"]
    assert [m.text for m in index.memories(path="rooms/b/x.md")] == ["b0", "b1"]
    assert [m.text for m in index.memories(layer="L4")] == ["p"]
    assert index.rooms() == {"attic": 1, "desk": 1}


def test_stamps_and_digests(index: SqliteIndex) -> None:
    document, stamp = paged(KETTLE, digest="abc")
    assert index.apply([(document, stamp)]) == 1
    assert index.stamps() == {document.path: (stamp, False)}
    assert index.digests() == {document.path: "abc"}
    later = type(stamp)(stamp.path, 5, time.time_ns())
    index.touch([later])
    assert index.stamps() == {document.path: (later, True)}


def test_stamps_follow_what_is_written_without_being_read_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path)
    index = SqliteIndex(path)
    index.stamps()
    asked: list[str] = []
    rows = index._database.rows
    monkeypatch.setattr(
        index._database, "rows", lambda sql, *given: asked.append(sql) or rows(sql, *given)
    )
    document, stamp = paged(KETTLE, path="rooms/0.md")
    index.apply([(document, stamp)], removed=["rooms/1.md"])
    index.touch([stamp._replace(path="rooms/2.md"), stamp._replace(path="rooms/gone.md")])
    followed = dict(index.stamps())
    assert not any("indexed_ns" in sql for sql in asked)
    fresh = SqliteIndex(path)
    assert followed == fresh.stamps()
    assert followed.keys() == {f"rooms/{n}.md" for n in (0, 2, 3, 4, 5, 6, 7, 8, 9)}
    fresh.close()
    index.close()


@pytest.mark.parametrize("when", ["before", "beside", "after"])
def test_stamps_tell_what_another_program_wrote_beside_ours(
    path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    fill(path)
    index, other = SqliteIndex(path), SqliteIndex(path)
    index.stamps()
    if when == "before":
        other.apply([paged(KETTLE, path="rooms/new.md")])
    take = StampTable._take

    def beside(table: StampTable, stamped: Any) -> None:
        if when == "beside":  # behind our commit, and before anything else
            other.clear()
        take(table, stamped)

    monkeypatch.setattr(StampTable, "_take", beside)
    index.apply([paged(KETTLE, path="rooms/0.md")])
    if when == "after":
        other.apply((), removed=["rooms/0.md"])
    assert index.stamps() == other.stamps()
    index.close()
    other.close()


def test_stamps_are_those_of_before_where_a_write_failed(index: SqliteIndex) -> None:
    index.apply([paged(KETTLE, path="rooms/0.md")])
    before = dict(index.stamps())

    def documents() -> Iterator[object]:
        yield paged(memory("other"), path="rooms/1.md")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.apply(documents())
    assert index.stamps() == before


def test_a_failed_apply_changes_nothing(index: SqliteIndex) -> None:
    index.apply([paged(KETTLE)])

    def documents() -> Iterator[object]:
        yield paged(memory("other"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.apply(documents())  # type: ignore[arg-type]
    assert texts(index, "kettl") == [KETTLE.text]
    assert index.check() is None
    index.apply([paged(memory("other"))])
    assert texts(index, "other") == ["other"]


# -- other processes and threads ----------------------------------------------------------------


def test_another_process_sees_new_rows_at_once(index: SqliteIndex, path: Path) -> None:
    other = SqliteIndex(path)
    assert other.size() == 0
    assert other.counts(["kettl"])["kettl"].any == 0
    index.apply([paged(KETTLE)])
    assert (texts(other, "kettl"), other.size()) == ([KETTLE.text], 1)
    assert other.counts(["kettl"])["kettl"].any == 1
    other.apply((), removed=[KETTLE.path])
    assert (texts(index, "kettl"), index.size()) == ([], 0)
    assert index.counts(["kettl"])["kettl"].any == 0
    other.close()


def test_another_process_sees_what_is_written_after_a_clear(index: SqliteIndex, path: Path) -> None:
    index.apply([paged(KETTLE)])
    other = SqliteIndex(path)
    index.clear()
    assert index.size() == 0
    index.apply([paged(memory("a green lamp"))])
    assert texts(other, "lamp", "kettl") == ["a green lamp"]
    other.close()


def test_many_processes_open_a_new_index_at_once(tmp_path: Path) -> None:
    failures: list[BaseException] = []
    for attempt in range(24):
        path = tmp_path / str(attempt) / "index.sqlite"
        path.parent.mkdir()
        together = threading.Barrier(6)

        def write(number: int, path: Path = path, together: threading.Barrier = together) -> None:
            together.wait()
            try:
                index = SqliteIndex(path)
                index.apply([paged(memory(f"word{number}", number), path=f"rooms/{number}.md")])
                index.close()
            except (PalaceError, sqlite3.Error, OSError) as error:
                failures.append(error)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        reopened = SqliteIndex(path)
        assert reopened.size() == 6
        reopened.close()
    assert failures == []


@pytest.mark.usefixtures("hasty_threads")
def test_threads_share_one_index(index: SqliteIndex) -> None:
    index.apply([paged(KETTLE)])
    stop = threading.Event()
    failures: list[BaseException] = []

    def read() -> None:
        try:
            while not stop.is_set():
                index.counts(["kettl", "lamp", *(f"w{n}" for n in range(20))])
                texts(index, "kettl")
                index.size()
        except (PalaceError, LookupError) as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(300):
        index.apply([paged(memory(f"w{number}", number), path=f"rooms/{number}.md")])
    stop.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert index.size() == 301


# -- damage -------------------------------------------------------------------------------------


def fill(path: Path) -> None:
    index = SqliteIndex(path)
    index.apply(
        paged(*(memory(f"kettle {n} of {f}", n) for n in range(20)), path=f"rooms/{f}.md")
        for f in range(10)
    )
    index.close()


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "zeroed": lambda data: b"\0" * len(data),
    "first half": lambda data: data[: len(data) // 2],
    "first page": lambda data: data[:4096],
    "a piece of a page": lambda data: data[:100],
    "last byte gone": lambda data: data[:-1],
    "not a database": lambda data: b"this was never a database, only words" * 200,
    "header only spoiled": lambda data: b"XX" + data[2:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_rebuilt_at_open(path: Path, damage: str) -> None:
    fill(path)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    index = SqliteIndex(path)
    index.apply([paged(memory("a fresh kettle"))])
    assert "a fresh kettle" in texts(index, "fresh")
    assert index.check() is None
    index.close()


def spoil(path: Path, start: int = 12288) -> None:
    """Zero the middle of a database without making a new file of it."""
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\0" * (path.stat().st_size - start))


def test_a_full_disk_is_told_with_what_helps(path: Path) -> None:
    database = index_database.IndexDatabase(path)
    pages = database.rows("PRAGMA page_count")[0][0]
    database.rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreUnavailableError, match="full") as caught:
        database.rows("CREATE TABLE filler AS SELECT randomblob(100000)")
    assert "free some space" in caught.value.hint
    database.close()


@pytest.mark.parametrize("said", ["database or disk is full", "disk I/O error"])
def test_a_full_disk_can_be_read_and_keeps_its_index(
    path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    fill(path)
    before, connect = path.read_bytes(), sqlite3.connect

    def refuse(database: Path | str, **options: Any) -> sqlite3.Connection:
        if database == path:
            raise sqlite3.OperationalError(said)
        return connect(database, **options)

    monkeypatch.setattr(index_database.sqlite3, "connect", refuse)
    monkeypatch.setattr(
        index_database.shutil, "disk_usage", lambda _folder: SimpleNamespace(free=0)
    )
    index = SqliteIndex(path)
    assert (index.path, index.renew(), index.size()) == (None, False, 200)
    index.apply([paged(KETTLE)])
    assert texts(index, "window") == [KETTLE.text]
    index.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize("left", ["changed", "of another version", "gone"])
def test_only_a_whole_index_of_ours_is_taken_along_from_a_full_disk(
    path: Path, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    fill(path)
    if left == "changed":
        path.write_bytes(path.read_bytes().replace(b"kettle", b"bottle"))
    elif left == "of another version":
        newer = "palace.store.index_database.SCHEMA_VERSION"
        monkeypatch.setattr(newer, SCHEMA_VERSION + 1)
    else:
        path.unlink()
    connect = sqlite3.connect

    def refuse(database: Path | str, **options: Any) -> sqlite3.Connection:
        if database == path:
            raise sqlite3.OperationalError("database or disk is full")
        return connect(database, **options)

    monkeypatch.setattr(index_database.sqlite3, "connect", refuse)
    index = SqliteIndex(path)
    assert (index.path, index.size(), index.stamps()) == (None, 0, {})
    index.close()


@pytest.mark.parametrize(("free", "damaged"), [(0, False), (1 << 30, True), (None, True)])
def test_a_full_disk_is_no_damage(
    path: Path, monkeypatch: pytest.MonkeyPatch, free: int | None, damaged: bool
) -> None:
    def disk_usage(folder: Path) -> SimpleNamespace:
        if free is None:
            raise FileNotFoundError(folder)
        return SimpleNamespace(free=free)

    monkeypatch.setattr(index_database.shutil, "disk_usage", disk_usage)
    database = index_database.IndexDatabase(path)
    database.failed(sqlite3.OperationalError("disk I/O error"))
    assert database.damaged is damaged
    database.close()


def test_only_a_full_disk_is_left(path: Path) -> None:
    fill(path)
    index = SqliteIndex(path)
    locked, full = StoreUnavailableError("refused", hint="wait"), StoreUnavailableError("", hint="")
    locked.__cause__ = sqlite3.OperationalError("database is locked")
    full.__cause__ = sqlite3.OperationalError("database or disk is full")
    before = index.state(), index.size(), texts(index, "kettl"), index.stamps(), index.generation()
    assert not index.leave_full_disk(locked)
    assert index.path == path
    assert index.leave_full_disk(full)
    assert (index.path, index.renew()) == (None, False)
    after = index.state(), index.size(), texts(index, "kettl"), index.stamps(), index.generation()
    assert (after[0] != before[0], after[1:]) == (True, before[1:])
    index.apply([paged(KETTLE)])
    assert texts(index, "kettl")
    assert index.leave_full_disk(full)
    index.close()
    assert state_of(path) == "whole"
    assert not SqliteIndex(None).leave_full_disk(full)


@pytest.mark.parametrize("kept", ["in memory", "in a file", "in a file opened anew"])
def test_an_index_is_closed_with_the_last_who_holds_it(path: Path, kept: str) -> None:
    database = IndexDatabase(None if kept == "in memory" else path)
    if kept == "in a file opened anew":
        database.remake()
    with database.transaction() as connection:
        connection.execute("SELECT 1")
    del database
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")
    if kept != "in memory":
        assert state_of(path) == "whole"


def test_what_is_let_go_of_while_its_file_is_opened_is_not_waited_for(path: Path) -> None:
    database, began = IndexDatabase(path), time.monotonic()
    with opening_or_closing(path):
        del database
        gc.collect()
    assert time.monotonic() - began < 5
    assert state_of(path) == "whole"


def test_an_index_in_memory_leaves_nothing_to_do_at_the_end(index: SqliteIndex) -> None:
    before = atexit._ncallbacks()
    others = [SqliteIndex(None) for _ in range(3)]
    assert atexit._ncallbacks() == before
    for other in others:
        other.close()


def test_an_index_that_another_writes_is_not_thrown_away(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_database, "_BUSY_TIMEOUT_MS", 10)
    fill(path)
    index = SqliteIndex(path)
    size = index.size()
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="locked"):
        index.clear()
    writer.close()
    assert (index.size(), index.renew()) == (size, False)
    index.close()


def test_a_spoilt_row_with_triggers_is_an_error_that_renewing_repairs(path: Path) -> None:
    index = SqliteIndex(path)
    index.apply([paged(memory("The oven is hot.", triggers=("oven",)))])
    index._database.rows("""UPDATE memories SET data = replace(data, '{', '')""")
    with pytest.raises(StoreUnavailableError):
        index.marked("triggers")
    assert index.renew()
    index.close()


def test_damage_in_use_is_an_error_that_renewing_repairs(path: Path) -> None:
    fill(path)
    user = SqliteIndex(path)
    spoil(path)
    index = SqliteIndex(path)
    assert index.check()
    with pytest.raises(StoreUnavailableError) as caught:
        index.apply([paged(KETTLE)])
    assert "reindex" in caught.value.hint
    assert index.renew()
    assert (index.check(), index.renew()) == (None, False)
    index.apply([paged(KETTLE)])
    assert texts(index, "kettl") == [KETTLE.text]
    assert user.renew()
    assert texts(user, "kettl") == [KETTLE.text]
    index.close()
    user.close()


@pytest.mark.parametrize("place", [30, 5000, 20_000, -2000, -1])
def test_a_flipped_bit_is_noticed_at_open(path: Path, place: int) -> None:
    fill(path)
    data = bytearray(path.read_bytes())
    data[place] ^= 0x10
    path.write_bytes(data)
    index = SqliteIndex(path)
    assert index.stamps() == {}
    index.close()


def test_a_flipped_bit_that_kept_the_time_is_noticed_too(path: Path) -> None:
    fill(path)
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    index = SqliteIndex(path)
    assert index.stamps() == {}
    index.close()


def test_a_copy_with_another_time_is_the_same_index(path: Path, tmp_path: Path) -> None:
    fill(path)
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in (path, path.with_suffix(".seal")):
        (copy / file.name).write_bytes(file.read_bytes())
    os.utime(copy / path.name, ns=(1, 1))
    for _ in range(2):
        index = SqliteIndex(copy / path.name)
        assert len(index.stamps()) == 10
        index.close()


def test_two_versions_take_the_index_from_each_other_never(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fill(path)
    old = SqliteIndex(path)
    newer = "palace.store.index_database.SCHEMA_VERSION"
    monkeypatch.setattr(newer, SCHEMA_VERSION + 1)
    new = SqliteIndex(path)
    assert (new.path, new.size(), len(caplog.records)) == (None, 0, 1)
    new.apply([paged(KETTLE)])
    new.close()
    assert (old.renew(), old.size()) == (False, 200)
    old.close()
    new = SqliteIndex(path)
    assert (new.path, new.size()) == (path, 0)
    new.close()


def test_a_version_that_was_killed_holds_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import os, sys; from palace.store.index_sqlite import *; i = SqliteIndex(Path(sys.argv[1]));"
        " i.clear(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, cwd=ROOT)
    assert state_of(path) == "in use"
    newer = "palace.store.index_database.SCHEMA_VERSION"
    monkeypatch.setattr(newer, SCHEMA_VERSION + 1)
    new = SqliteIndex(path)
    assert new.path == path
    new.close()


def test_a_closed_index_is_used_again(path: Path) -> None:
    fill(path)
    for _ in range(2):
        first, second = SqliteIndex(path), SqliteIndex(path)
        assert len(first.stamps()) == len(second.stamps()) == 10
        first.close()
        second.close()
        second.close()


def test_an_index_nobody_closed_is_sealed_at_the_end(path: Path) -> None:
    code = "import sys; from palace.store.index_sqlite import *; i = SqliteIndex(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, cwd=ROOT)
    assert state_of(path) == "whole"


@pytest.mark.parametrize("gone", [("",), ("", "-wal"), ("", "-wal", "-shm")])
def test_an_index_deleted_while_it_is_open_is_left_alone(path: Path, gone: tuple[str, ...]) -> None:
    fill(path)
    lost = SqliteIndex(path)
    lost.apply([paged(memory("the old one"), path="old.md")])
    for suffix in gone:
        path.with_name(path.name + suffix).unlink()
    new = SqliteIndex(path)
    assert new.stamps() == {}
    new.apply([paged(KETTLE)])
    lost.apply([paged(memory("into the void"), path="void.md")])
    assert lost.renew()
    assert not lost.renew()
    assert texts(lost, "kettl") == texts(new, "kettl") == [KETTLE.text]
    assert texts(new, "void") == []
    assert new.check() is None
    lost.close()
    new.close()
    assert state_of(path) == "whole"


def test_who_lost_its_file_does_not_spoil_the_next_one_by_closing(path: Path) -> None:
    fill(path)
    lost = SqliteIndex(path)
    lost.apply([paged(memory("the old one"), path="old.md")])
    path.unlink()
    new = SqliteIndex(path)
    new.apply([paged(KETTLE)])
    lost.close()
    third = SqliteIndex(path)
    assert texts(third, "kettl") == texts(new, "kettl") == [KETTLE.text]
    assert third.check() is None
    new.close()
    third.close()


def test_another_process_learns_that_the_index_was_emptied(path: Path) -> None:
    fill(path)
    mine, other = SqliteIndex(path), SqliteIndex(path)
    other.clear()
    assert mine.renew()
    assert not mine.renew()
    mine.close()
    other.close()


def test_a_row_that_is_no_memory_is_damage(path: Path) -> None:
    fill(path)
    index = SqliteIndex(path)
    index._database.rows('UPDATE memories SET data = \'{"id": "m-1", "tex\'')
    with pytest.raises(StoreUnavailableError):
        list(index.memories())
    assert index.renew()
    index.close()


FOREIGN = {
    "newer schema": ["CREATE TABLE files (a)", f"PRAGMA user_version = {SCHEMA_VERSION + 1}"],
    "own version, other tables": ["CREATE TABLE files (a)", f"PRAGMA user_version = {SCHEMA_VERSION}"],
    "own version, no tables": [f"PRAGMA user_version = {SCHEMA_VERSION}"],
    "a table in the way": ["CREATE TABLE meta (a)", "CREATE TABLE files (b)"],
    "other tables": ["CREATE TABLE visitors (a)"],
}  # fmt: skip


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_database_is_rebuilt_at_open(path: Path, kind: str) -> None:
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    for statement in FOREIGN[kind]:
        connection.execute(statement)
    connection.commit()
    connection.close()
    index = SqliteIndex(path)
    index.apply([paged(KETTLE)])
    assert texts(index, "kettl") == [KETTLE.text]
    index.close()


def test_a_locked_database_is_no_damaged_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_database, "_BUSY_TIMEOUT_MS", 50)
    path.parent.mkdir()
    owner = sqlite3.connect(path, isolation_level=None)
    owner.execute("CREATE TABLE kept (a)")
    owner.execute("BEGIN EXCLUSIVE")
    owner.execute("INSERT INTO kept VALUES (1)")
    with pytest.raises(StoreUnavailableError):
        SqliteIndex(path).close()
    owner.execute("COMMIT")
    owner.close()


def test_a_folder_in_its_place_is_unavailable(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreUnavailableError) as caught:
        SqliteIndex(path)
    assert caught.value.hint


def test_a_file_in_place_of_its_folder_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / ".palace").write_text("in the way")
    with pytest.raises(StoreUnavailableError) as caught:
        SqliteIndex(tmp_path / ".palace" / "index.sqlite")
    assert caught.value.hint


def test_a_closed_index_is_unavailable(path: Path) -> None:
    index = SqliteIndex(path)
    index.close()
    with pytest.raises(StoreUnavailableError, match="the palace was closed") as caught:
        index.size()
    assert caught.value.hint == "open it again to use it"
    with pytest.raises(StoreUnavailableError, match="the palace was closed"):
        index.apply([paged(KETTLE)])
    with pytest.raises(StoreUnavailableError, match="the palace was closed"):
        index.clear()
    assert path.exists()
    path.unlink()
    with pytest.raises(StoreUnavailableError, match="the palace was closed"):
        index.renew()


def test_rows_survive_closing(path: Path) -> None:
    fill(path)
    index = SqliteIndex(path)
    assert (index.size(), index.check()) == (200, None)
    index.clear()
    assert (index.size(), index.stamps()) == (0, {})
    index.close()


def test_in_memory_index_can_be_cleared() -> None:
    index = indexed(KETTLE)
    index.clear()
    assert (index.size(), texts(index, "kettl")) == (0, [])
    index.apply([paged(KETTLE)])
    assert texts(index, "kettl") == [KETTLE.text]


def test_an_index_of_an_older_program_is_made_anew(path: Path) -> None:
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE memories (key INTEGER PRIMARY KEY, body TEXT)")
    connection.execute("INSERT INTO memories VALUES (1, 'kettl')")
    connection.execute("PRAGMA user_version = 2")
    connection.commit()
    connection.close()
    index = SqliteIndex(path)
    assert (index.size(), index.stamps()) == (0, {})
    index.apply([paged(KETTLE)])
    assert texts(index, "kettl") == [KETTLE.text]
    index.close()


@pytest.mark.parametrize("at", [0, 4, 28, 30])
def test_what_only_comes_later_keeps_its_row(index: SqliteIndex, at: int) -> None:
    many = [memory(f"word{n} stands here", n) for n in range(30)]
    index.apply([paged(*many)])
    rows = dict(index._database.rows("SELECT id, key FROM memories"))
    added = replace(memory("a lamp stands here", 99), position=at, line=many[0].line + 2 * at)
    moved = [
        replace(m, line=m.line + 2, position=m.position + 1) if m.position >= at else m
        for m in many
    ]
    for now, later in (([*moved[:at], added, *moved[at:]], 1), (many, -1)):
        with index._database.transaction() as connection:
            document, stamp = paged(*now)
            batch = WriteBatch(connection, index._written)
            same = batch._same(batch._file(document, stamp)[1], document)
            assert (same.head, same.tail) == (at, max(28 - at, 0))
            assert (same.later, same.lower) == ((later, 2 * later) if same.tail else (0, 0))
        index.apply([paged(*now)])
        anew = indexed(*now)
        assert list(index.memories()) == list(anew.memories()) == now
        assert rows.items() <= dict(index._database.rows("SELECT id, key FROM memories")).items()
        assert sorted(index.passage_digests()) == sorted(anew.passage_digests())
        anew.close()


def test_a_write_touches_only_the_rows_that_changed(index: SqliteIndex) -> None:
    many = [memory(f"word{n} stands here", n) for n in range(50)]

    def keys() -> dict[int, int]:
        found = index.candidates(["stand"], layer="L1", scope=Scope(), limit=99)
        return {c.position: c.key for c in found}

    index.apply([paged(*many)])
    before = keys()
    index.apply([paged(*many, memory("the last one stands here", 50))])
    assert {n: keys()[n] for n in before} == before
    document, stamp = paged(*many, memory("the last one stands here", 50))
    index.touch([stamp])  # looked at and found the same: that is no write
    with index._database.transaction() as connection:
        batch = WriteBatch(connection, index._written)
        _, written_ns, _ = batch._file(document, stamp)
        assert batch._same(written_ns, document) == (51, 0, 51, 0, 0)
    changed = [*many[:20], memory("another stands here", 20), *many[21:]]
    index.apply([paged(*many)])
    with index._database.transaction() as connection:
        batch = WriteBatch(connection, index._written)
        document, stamp = paged(*changed)
        _, written_ns, _ = batch._file(document, stamp)
        assert batch._same(written_ns, document) == (20, 27, 47, 0, 0)  # two more may reply to it
    index.apply([paged(*changed)])
    after = keys()
    assert [n for n in before if after[n] != before[n]] == [20]
    assert index.size() == 50
    other = SqliteIndex(index.path)  # knows nothing of what was written before
    moved = [memory(m.text, m.position + 1, id=m.id) for m in changed]
    other.apply([paged(memory("first stands here"), *moved)])
    assert {n + 1: key for n, key in after.items()}.items() <= keys().items()
    other.close()


def test_what_another_process_wrote_is_never_taken_for_ones_own(index: SqliteIndex) -> None:
    ours, theirs = memory("our kettle"), memory("their kettle")
    other = SqliteIndex(index.path)
    index.apply([paged(ours)])
    other.apply([paged(theirs)])
    index.apply([paged(ours)])
    assert texts(other, "kettl") == ["our kettle"]
    other.close()


@pytest.mark.parametrize("field", get_args(Mark))
def test_marked_memories_are_found_without_reading_the_others(
    index: SqliteIndex, path: Path, field: Any
) -> None:
    index.apply([paged(KETTLE)])
    sent: list[str] = []
    index._database._connection.set_trace_callback(sent.append)  # what is asked, word for word
    assert index.marked(field) == []
    (asked_for,) = [sql for sql in sent if sql.startswith("SELECT f.path")]
    with closing(sqlite3.connect(path)) as reader:
        plan = [row[3] for row in reader.execute(f"EXPLAIN QUERY PLAN {asked_for}")]
    assert plan[0].startswith("SCAN m USING INDEX memories_"), plan
    assert not any(step.startswith("SCAN f") for step in plan), plan


def dated(text: str, day: int, **fields: Any) -> Memory:
    return memory(text, day, created=datetime(2026, 5, day, 12, tzinfo=timezone.utc), **fields)


def test_what_was_written_last_comes_first_and_of_its_days(index: SqliteIndex) -> None:
    index.apply(
        [
            paged(
                memory("nobody knows when", 0),
                dated("tea is preferred", 1, kind="preference"),
                dated("the kettle is blue", 2),
                dated("the talk was long", 3, kind="event"),
                dated("over and done", 4, status="inactive"),
                dated("of another project", 5, scope="project:other"),
            )
        ]
    )

    def latest(*kinds: MemoryKind, **asked: Any) -> list[str]:
        found = index.latest(kinds, **{"scope": GLOBAL, "limit": 9, **asked})
        return [m.text for m in found]

    assert latest("preference", "fact") == ["the kettle is blue", "tea is preferred"]
    assert latest("preference", "fact", limit=1) == ["the kettle is blue"]
    noon = datetime(2026, 5, 2, 12, tzinfo=timezone.utc)
    assert latest("preference", "fact", since=noon) == ["the kettle is blue"]
    assert latest("preference", "fact", until=noon) == ["tea is preferred"]
    assert latest("event") == ["the talk was long"]
    assert latest("fact", scope=Scope(project="other"))[0] == "of another project"


def test_the_last_written_are_found_without_reading_the_others(
    index: SqliteIndex, path: Path
) -> None:
    index.apply([paged(dated("the kettle is blue", 2))])
    sent: list[str] = []
    index._database._connection.set_trace_callback(sent.append)
    index.latest(("fact",), scope=GLOBAL, limit=5, since=datetime.now(timezone.utc))
    (asked_for,) = [sql for sql in sent if "memories_by_day" in sql]
    with closing(sqlite3.connect(path)) as reader:
        plan = [row[3] for row in reader.execute(f"EXPLAIN QUERY PLAN {asked_for}")]
    assert plan[0].startswith("SEARCH m USING INDEX memories_by_day (kind=? AND dated>"), plan
    assert not any("TEMP B-TREE" in step for step in plan), plan


def test_pages_of_a_room_come_last_name_first(index: SqliteIndex) -> None:
    pages = ("timeline/2026-05-01.md", "timeline/2026-06-01.md", "rooms/notes/a.md")
    for page in pages:
        room = page.split("/")[0] if page.startswith("timeline") else "notes"
        index.apply([paged(memory("said here", path=page, room=room), path=page)])
    gone = "timeline/2026-07-01.md"
    over = memory("over", path=gone, room="timeline", status="inactive")
    index.apply([paged(over, path=gone)])
    assert index.pages("timeline") == ["timeline/2026-06-01.md", "timeline/2026-05-01.md"]


def test_terms_are_counted_in_one_statement_and_only_once(index: SqliteIndex) -> None:
    index.apply([paged(KETTLE, memory("secret kettle", 1, scope="session:s1"))])
    sent: list[str] = []
    index._database._connection.set_trace_callback(sent.append)
    ours, many = Scope(session_id="s1"), [f"word{n}" for n in range(300)]

    def read() -> int:
        counting = [sql for sql in sent if "FROM terms" in sql]
        sent.clear()
        return len(counting)

    counts = index.counts(["kettl", "blue", *many, "\ud800"], scope=ours)
    assert (counts["kettl"].any, counts["blue"].any, counts["\ud800"].any) == (2, 1, 0)
    assert read() == 1
    assert index.counts(["kettl", "word7"], scope=ours)["kettl"].any == 2
    assert read() == 0
    assert index.counts(["kettl"])["kettl"].any == 1
    assert len(index.counts([f"more{n}" for n in range(900)], scope=ours)) == 900
    assert read() == 3
    index.apply([paged(KETTLE)])
    assert index.counts(["kettl"], scope=ours)["kettl"].any == 1
    assert read() == 1


def test_a_steady_index_looks_once_whether_it_was_changed(index: SqliteIndex, path: Path) -> None:
    other = SqliteIndex(path)
    sent: list[str] = []
    other._database._connection.set_trace_callback(sent.append)
    with other.steady():
        state, size = other.state(), other.size()
        index.apply([paged(KETTLE)])
        assert (other.state(), other.size()) == (state, size) == (state, 0)
        assert other.counts(["kettl"])["kettl"].any == 0
        assert sent.count("PRAGMA data_version") == 1
        seen = []
        thread = threading.Thread(target=lambda: seen.append(other.size()))
        thread.start()
        thread.join()
        assert seen == [1]  # of any other thread nothing is kept
    assert (other.size(), other.counts(["kettl"])["kettl"].any) == (1, 1)
    with pytest.raises(ZeroDivisionError), other.steady():
        _ = 1 / 0
    index.apply((), removed=[KETTLE.path])
    assert other.size() == 0
    other.close()


@pytest.mark.parametrize("number", ["12'500", "5'10", "0'0"])
def test_an_apostrophe_inside_a_number_is_a_sign_like_others(number: str) -> None:
    index = indexed(memory(f"The boat costs {number} all in all", 0))
    query = Analyst(LEXICONS, index).analyse(Turn(f"What costs {number}?"))
    assert number in query.terms
    assert len(index.candidates([number], layer="L1", scope=GLOBAL, limit=3)) == 1
