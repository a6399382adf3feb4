"""What was retired in a drawer does not come back out of a copy that a synchronisation left."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from palace import Mempalace, Remembered, RetrievalEnforcer
from palace.text.moments import utc_now
from palace.types.verdict import Verdict

OLD, NEW = "The boiler of Olaf runs at 1.5 bar.", "The boiler of Olaf runs at 1.8 bar."
ASKED = "What pressure does the boiler of Olaf run at?"


def asked(palace: Mempalace, prompt: str = ASKED) -> Verdict:
    return RetrievalEnforcer(palace).decide(prompt)


def evidence(palace: Mempalace) -> list[str]:
    return [item.text for item in asked(palace).evidence]


def left(
    palace: Mempalace, data: bytes, name: str = "house (Ada's conflicted copy 2026-05-14)"
) -> None:
    (palace.root / "rooms/r" / f"{name}.md").write_bytes(data)
    palace.refresh()


@pytest.fixture(params=["written", "by hand"])
def drawer(palace: Mempalace, request: pytest.FixtureRequest) -> Path:
    file = palace.root / "rooms/r/house.md"
    if request.param == "written":
        palace.remember(OLD, room="r", drawer="house", triggers=["heating"])
    else:
        file.parent.mkdir(parents=True)
        file.write_text(f"# House\n\n- {OLD}\n  <!-- memory triggers=heating -->\n", "utf-8")
        palace.refresh()
    return file


def retired(palace: Mempalace, retire: Callable[[str], object]) -> None:
    retire(next(m.id for m in palace.memories(room="r") if m.text == OLD))


def test_what_was_corrected_answers_nothing(palace: Mempalace, drawer: Path) -> None:
    data = drawer.read_bytes()
    retired(palace, lambda name: palace.correct(name, NEW))
    left(palace, data)
    assert evidence(palace) == [NEW]


def test_what_was_forgotten_is_not_brought_up_either(palace: Mempalace, drawer: Path) -> None:
    data = drawer.read_bytes()
    assert evidence(palace) == [hit.memory.text for hit in palace.search(ASKED)] == [OLD]
    assert "boiler" in palace.wake_up("monday").text
    assert [r.text for r in asked(palace, "Write a poem about heating").reminders] == [OLD]
    retired(palace, palace.forget)
    left(palace, data)
    assert evidence(palace) == []
    assert asked(palace, "Write a poem about heating").reminders == ()
    assert palace.search(ASKED) == []
    assert "boiler" not in palace.wake_up("monday").text


def test_what_is_said_again_is_stored_and_found(palace: Mempalace, drawer: Path) -> None:
    data = drawer.read_bytes()
    retired(palace, palace.forget)
    left(palace, data)
    assert isinstance(palace.remember(OLD, room="r", drawer="house"), Remembered)
    assert evidence(palace) == [OLD]


def test_what_was_said_in_a_copy_since_holds(palace: Mempalace, drawer: Path) -> None:
    retired(palace, palace.forget)
    comment = "<!-- memory id=m-later created=2999-01-01T00:00:00Z -->"
    left(palace, f"# House\n\n- {OLD}\n  {comment}\n".encode())
    assert evidence(palace) == [OLD]


@pytest.mark.parametrize("name", ["garage", "house 2"])
def test_another_drawer_is_no_copy(palace: Mempalace, drawer: Path, name: str) -> None:
    data = drawer.read_bytes()
    retired(palace, palace.forget)
    left(palace, data.replace(b"id=m-", b"id=m-x"), name)
    assert evidence(palace) == [OLD]


def test_nor_where_a_moment_since_is_asked_about(palace: Mempalace, drawer: Path) -> None:
    data = drawer.read_bytes()
    retired(palace, palace.forget)
    left(palace, data)
    assert palace.search(ASKED, as_of=utc_now() + timedelta(seconds=1)) == []
