"""What was retired in a drawer is in no posting list from its copy, whichever is written first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from palace.ports import GLOBAL
from palace.store.index_sqlite import SqliteIndex
from palace.types.memory import Document, FileStamp, Memory
from tests.doubles import memory

OWN, COPY = "rooms/r/House.md", "rooms/r/house (Ada's conflicted copy).md"


@pytest.fixture
def index() -> Iterator[SqliteIndex]:
    with_rows = SqliteIndex(None)
    yield with_rows
    assert with_rows.check() is None
    with_rows.close()


def page(path: str, *, status: str = "active") -> tuple[Document, FileStamp]:
    found = [
        memory("The boiler hums.", id=f"m-1{path}", path=path, status=status, position=0),
        memory("The lamp is green.", id=f"m-2{path}", path=path, position=1, triggers=("lamp",)),
    ]
    stem = path.rpartition("/")[2][:-3]
    held = tuple(replace(m, room="r", drawer=stem, path=path) for m in found)
    return Document(path, status + path, "t", (), held), FileStamp(path, 1, 1)


def found(index: SqliteIndex, term: str = "boiler") -> list[str]:
    return [c.path for c in index.candidates([term], layer="L1", scope=GLOBAL, limit=9)]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(
    ("own", "copy"),
    [(OWN, COPY), ("rooms/r/Cafe\u0301.md", "rooms/r/Caf\u00e9 (Ada's conflicted copy).md")],
)
def test_a_copy_is_without_what_was_retired(
    index: SqliteIndex, own: str, copy: str, first: int
) -> None:
    pages = [page(own, status="inactive"), page(copy)]
    index.apply([pages.pop(first)])
    index.apply(pages)
    assert found(index) == []
    assert sorted(found(index, "lamp")) == sorted([own, copy])
    copies = [m for m in index.memories(path=copy) if m.status == "active"]
    assert [m.text for m in copies] == ["The boiler hums.", "The lamp is green."]


def test_both_in_one_write_and_back_again(index: SqliteIndex) -> None:
    index.apply([page(COPY), page(OWN, status="inactive")])
    assert found(index) == []
    index.apply([page(OWN)])
    assert sorted(found(index)) == sorted([OWN, COPY])
    index.apply([page(OWN, status="inactive")])
    assert found(index) == []
    index.apply((), removed=[OWN])
    assert found(index) == [COPY]
    index.apply((), removed=[COPY])
    assert found(index) == []


def test_another_folder_holds_no_original(index: SqliteIndex) -> None:
    elsewhere = "rooms/s/house.md"
    index.apply([page(COPY), page(elsewhere, status="inactive")])
    assert found(index) == [COPY]


def test_what_reminds_is_not_brought_up_out_of_a_copy(index: SqliteIndex) -> None:
    def told(path: str, status: str) -> tuple[Document, FileStamp]:
        document, stamp = page(path)
        kept: list[Memory] = [replace(document.memories[1], status=status, position=0)]
        return replace(document, memories=tuple(kept), digest=status), stamp

    index.apply([told(COPY, "active"), told(OWN, "active")])
    assert len(index.marked("triggers")) == 2
    index.apply([told(OWN, "inactive")])
    assert [m.path for m in index.marked("triggers")] == [OWN]


def test_what_is_left_out_or_back_has_another_key(index: SqliteIndex) -> None:
    index.apply([page(COPY), page(OWN)])
    keys = {key for key, path, *_ in index.passages() if path == COPY}
    index.apply([page(OWN, status="inactive")])
    index.apply([page(OWN)])
    later = {key for key, path, *_ in index.passages(after=max(keys)) if path == COPY}
    assert len(keys) == 2
    assert len(later) == 1
    assert len({key for key, path, *_ in index.passages() if path == COPY}) == 2
