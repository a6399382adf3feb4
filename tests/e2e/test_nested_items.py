"""An item that is put under another one in an editor stays the memory that it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from palace import Mempalace, StoreError

BOILER, SHED, CAT = (
    "The boiler of Olaf runs at 1.5 bar.",
    "The shed of Ines has two doors.",
    "The cat of Ada is called Momo.",
)


def edited(palace: Mempalace, edit: Callable[[str], str]) -> str:
    file = palace.root / "rooms/r/x.md"
    file.write_text(edit(file.read_text("utf-8")), "utf-8")
    palace.refresh()
    return file.read_text("utf-8")


def held(palace: Mempalace) -> dict[str, tuple[str, str]]:
    found = palace.memories(room="r", include_inactive=True)
    return {memory.text: (memory.id, memory.status) for memory in found}


def line_alone(text: str, words: str) -> str:
    return text.replace(f"- {words}", f"\t- {words}")


def with_comment(text: str, words: str) -> str:
    before, after = text.split(f"- {words}\n")
    return f"{before}\t- {words}\n\t{after}"


@pytest.fixture
def three(palace: Mempalace) -> Mempalace:
    for words in (BOILER, SHED, CAT):
        palace.remember(words, room="r", drawer="x")
    palace.forget(next(m.id for m in palace.memories(room="r") if m.text == SHED))
    return palace


@pytest.mark.parametrize("tab", [line_alone, with_comment])
@pytest.mark.parametrize("words", [SHED, CAT])
def test_what_is_nested_keeps_its_metadata_and_hands_none_on(
    three: Mempalace, tab: Callable[[str, str], str], words: str
) -> None:
    before = held(three)
    edited(three, lambda text: tab(text, words))
    assert held(three) == before
    assert three.faults() == []
    edited(three, lambda text: text.replace("\t", ""))
    assert held(three) == before


@pytest.mark.parametrize("tab", [line_alone, with_comment])
def test_under_an_item_without_a_comment_too(
    palace: Mempalace, tab: Callable[[str, str], str]
) -> None:
    edited_by_hand = palace.root / "rooms/r/x.md"
    edited_by_hand.parent.mkdir(parents=True)
    edited_by_hand.write_text(f"# X\n\n- {BOILER}\n", "utf-8")
    palace.refresh()
    palace.remember(SHED, room="r", drawer="x")
    palace.forget(next(m.id for m in palace.memories(room="r") if m.text == SHED))
    before = held(palace)
    edited(palace, lambda text: tab(text, SHED))
    assert held(palace) == before
    again = edited(palace, lambda text: text + "\n")
    assert held(palace) == before
    assert again.count("<!--") == 1


def test_it_is_changed_and_erased_by_itself(three: Mempalace) -> None:
    edited(three, lambda text: with_comment(text, CAT))
    cat, shed = (next(m for m in held(three).items() if m[0] == t)[1][0] for t in (CAT, SHED))
    three.tag(cat, ["pets"])
    assert [m.tags for m in three.memories(room="r") if m.id == cat] == [("pets",)]
    with pytest.raises(StoreError, match="cannot go without changing others"):
        three.erase(shed)
    three.erase(cat)
    assert held(three).keys() == {BOILER, SHED}
    three.erase(shed)
    assert held(three).keys() == {BOILER}


def test_the_item_above_is_what_it_is_about(palace: Mempalace) -> None:
    file = palace.root / "rooms/r/x.md"
    file.parent.mkdir(parents=True)
    file.write_text(
        "# X\n\n- Olaf's boiler\n  - runs at 1.8 bar <!-- memory kind=fact -->\n  - is loud\n"
        "  <!-- memory id=m-olaf -->\n",
        "utf-8",
    )
    palace.refresh()
    whole, nested = palace.memories(room="r")
    assert (whole.id, whole.text) == ("m-olaf", "Olaf's boiler\n- is loud")
    assert (nested.text, nested.heading) == ("runs at 1.8 bar", "Olaf's boiler")
