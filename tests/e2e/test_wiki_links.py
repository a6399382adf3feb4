"""Links between notes lead to a drawer as an editor of notes would follow them."""

from __future__ import annotations

import pytest

from palace import Mempalace

BOILER = "- The boiler runs at 1.5 bar.\n"


def written(palace: Mempalace, path: str, text: str) -> None:
    file = palace.root / "rooms" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def linked(palace: Mempalace, path: str) -> list[str]:
    room, _, drawer = path.rpartition("/")
    palace.refresh()
    (memory,) = palace.memories(room=room, drawer=drawer)
    return [other.text for other in palace.linked(memory.id)]


@pytest.mark.parametrize(
    "link",
    [
        "House/Boiler",
        "Boiler",
        "house/boiler",
        "boiler",
        "House/Boiler.md",
        "House/Boiler.md|the boiler",
        "Boiler#Pressure",
    ],
)
def test_a_link_leads_to_the_drawer_it_names_and_back(palace: Mempalace, link: str) -> None:
    written(palace, "House/Boiler.md", BOILER)
    written(palace, "House/Cellar.md", "- The cellar is dry.\n")
    written(palace, "log/may.md", f"- Heinz looked at it, see [[{link}]].\n")
    assert linked(palace, "log/may") == ["The boiler runs at 1.5 bar."]
    assert linked(palace, "House/Boiler") == [f"Heinz looked at it, see [[{link}]]."]
    assert linked(palace, "House/Cellar") == []


def test_a_short_name_of_several_drawers_leads_to_all_and_a_longer_one_to_its_own(
    palace: Mempalace,
) -> None:
    written(palace, "House/Boiler.md", BOILER)
    written(palace, "Shop/Boiler.md", "- The boiler of the shop leaks.\n")
    written(palace, "log/may.md", "- See [[Boiler]].\n")
    written(palace, "log/june.md", "- See [[Shop/Boiler]].\n")
    assert linked(palace, "log/may") == [
        "The boiler runs at 1.5 bar.",
        "The boiler of the shop leaks.",
    ]
    assert linked(palace, "log/june") == ["The boiler of the shop leaks."]
    assert linked(palace, "Shop/Boiler") == ["See [[Shop/Boiler]].", "See [[Boiler]]."]


@pytest.mark.parametrize("link", ["Oiler", "ouse/Boiler", "Boiler/", "/", "House", "Boiler.txt"])
def test_what_names_no_drawer_leads_nowhere(palace: Mempalace, link: str) -> None:
    written(palace, "House/Boiler.md", BOILER)
    written(palace, "log/may.md", f"- See [[{link}]].\n")
    assert linked(palace, "log/may") == []
    assert linked(palace, "House/Boiler") == []
