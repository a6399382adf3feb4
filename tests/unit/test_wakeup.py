"""Wake-up: the right rooms, within the budget, saying what was left out."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from palace.enforce.wakeup import RoomDigest, WakeUpSources, compose_wake_up, select_rooms
from palace.text import estimate_tokens
from palace.text.moments import utc_now
from palace.types.session import ScratchEntry, WakeUp
from tests.doubles import memory

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def room(name: str, *texts: str, uses: int = 0, recency: float = 0.0, **fields: Any) -> RoomDigest:
    ranked = [(f"m-{name}-{n}", partial(str, text)) for n, text in enumerate(texts)]
    return RoomDigest(name, len(texts), lambda: ranked, uses, recency, **fields)


def note(text: str, number: int = 0) -> ScratchEntry:
    return ScratchEntry(f"s-{number}", "s1", text, utc_now(), 60.0)


def composed(sources: WakeUpSources, budget_tokens: int = 1000, **options: Any) -> WakeUp:
    return compose_wake_up("s1", sources, budget_tokens=budget_tokens, **options)


SOURCES = WakeUpSources(
    identity="I keep the house.",
    rooms=(room("kitchen", "the kettle is blue", "the pan is red", uses=3), room("attic", "dust")),
    promoted=(memory("the lamp was repaired", id="m-lamp"),),
    notes=(note("the tunnel uses port 5432"),),
)


def test_the_whole_page() -> None:
    page = composed(SOURCES)
    assert page.text == (
        "# Identity\nI keep the house.\n"
        "# Notes of this session\n- the tunnel uses port 5432\n"
        "# Learned last session\n- the lamp was repaired\n"
        "# Room kitchen\n- the kettle is blue\n- the pan is red"
    )
    assert page.session_id == "s1"
    assert page.rooms == ("kitchen",)
    assert page.included == ("identity", "s-0", "m-lamp", "m-kitchen-0", "m-kitchen-1")
    assert page.used_tokens == estimate_tokens(page.text) <= page.budget_tokens == 1000
    assert page.left_out == ("rooms not active in this context: attic (1)",)


def test_of_a_thousand_quiet_rooms_some_are_named_and_all_counted() -> None:
    rooms = tuple(room(f"room{number:04}", "dust") for number in range(1000))
    (told,) = composed(WakeUpSources(rooms=rooms)).left_out
    assert told.startswith("rooms not active in this context: room0000 (1), room0001 (1)")
    assert told.endswith(", room0019 (1) and 980 more")


def test_nothing_to_say() -> None:
    page = composed(WakeUpSources())
    assert (page.text, page.used_tokens, page.included, page.left_out) == ("", 0, (), ())


@pytest.mark.parametrize("budget", range(60))
def test_the_budget_is_never_exceeded(budget: int) -> None:
    page = composed(SOURCES, budget)
    assert page.used_tokens == estimate_tokens(page.text) <= budget


def test_what_does_not_fit_is_said() -> None:
    notes = tuple(note(f"note number {n} of the session", n) for n in range(20))
    page = composed(WakeUpSources(notes=notes), 40)
    shown = len(page.included)
    assert 0 < shown < 20
    assert page.left_out == (f"Notes of this session: {20 - shown} did not fit the budget",)


def test_an_identity_that_does_not_fit_is_said() -> None:
    page = composed(WakeUpSources(identity="x" * 900), 3)
    assert (page.text, page.included) == ("", ())
    assert page.left_out == ("Identity: 1 did not fit the budget",)


@pytest.mark.parametrize(
    "text", ["每次部署之前都要先问我。" * 80, "Ask me before any deploy. " * 40]
)
@pytest.mark.parametrize("budget", [20, 100, 200])
def test_of_an_identity_that_does_not_fit_the_beginning_is_told(text: str, budget: int) -> None:
    page = composed(WakeUpSources(identity=text), budget)
    told = page.text.removeprefix("# Identity\n")
    assert told.endswith("…")
    assert text.startswith(told[:-1])
    assert budget * 0.8 <= page.used_tokens <= budget
    assert page.included == ("identity",)
    assert page.left_out == ("Identity: its end did not fit the budget",)


def test_the_latest_notes_come_first() -> None:
    notes = tuple(note(f"note {n} " + "word " * 20, n) for n in range(20))
    page = composed(WakeUpSources(notes=notes), 100)
    assert page.included[:2] == ("s-19", "s-18")
    assert "s-0" not in page.included


def test_a_room_that_did_not_fit_is_not_called_inactive() -> None:
    page = composed(WakeUpSources(rooms=(room("kitchen", "x" * 300, uses=1),)), 10)
    assert page.rooms == ()
    assert page.left_out == ("Room kitchen: 1 did not fit the budget",)


def test_a_heading_never_stands_alone() -> None:
    for budget in range(80):
        lines = composed(SOURCES, budget).text.split("\n")
        headings = [n for n, line in enumerate(lines) if line.startswith("# ")]
        assert all(n + 1 < len(lines) and not lines[n + 1].startswith("# ") for n in headings)


def test_what_was_told_is_not_told_again() -> None:
    kept = memory("the kettle is blue", id="m-kitchen-0")
    page = composed(WakeUpSources(promoted=(kept,), rooms=(room("kitchen", kept.text, uses=5),)))
    assert page.text.count("the kettle is blue") == 1


def test_bounds_of_rooms_and_memories() -> None:
    rooms = tuple(room(f"r{n}", *(f"text {n} {m}" for m in range(9)), uses=9 - n) for n in range(6))
    page = composed(WakeUpSources(rooms=rooms), max_rooms=2, memories_per_room=3)
    assert page.rooms == ("r0", "r1")
    assert len(page.included) == 6


def test_long_and_many_lined_memories_take_one_line() -> None:
    page = composed(WakeUpSources(rooms=(room("kitchen", "one\ntwo " + "word " * 400, uses=1),)))
    line = page.text.split("\n")[1]
    assert line.startswith("- one two word")
    assert len(line) <= 402


def test_secrets_are_removed() -> None:
    sources = WakeUpSources(
        identity=f"My token is {TOKEN}.",
        rooms=(room("kitchen", f"the token is {TOKEN}", uses=1),),
        promoted=(memory(f"the token is {TOKEN}"),),
        notes=(note(f"the token is {TOKEN}"),),
    )
    assert TOKEN not in composed(sources).text


# -- which rooms --------------------------------------------------------------------------------


def test_only_what_is_shown_is_read() -> None:
    read = []

    def digest(name: str, uses: int) -> RoomDigest:
        def told(number: int) -> str:
            read.append((name, number))
            return f"memory {number}"

        return RoomDigest(name, 9, lambda: [(f"m-{n}", partial(told, n)) for n in range(9)], uses)

    sources = WakeUpSources(rooms=(digest("kitchen", 2), digest("cellar", 1)))
    page = composed(sources, max_rooms=1, memories_per_room=2)
    assert page.text == "# Room kitchen\n- memory 0\n- memory 1"
    assert read == [("kitchen", 0), ("kitchen", 1)]


def chosen(*rooms: RoomDigest, project: str | None = None, limit: int = 9) -> list[str]:
    return [r.name for r in select_rooms(rooms, project=project, limit=limit)]


def test_rooms_that_do_not_matter_are_not_chosen() -> None:
    assert chosen(room("quiet", "x"), room("used", "x", uses=1), room("empty", uses=9)) == ["used"]


def test_use_then_recency_then_name() -> None:
    rooms = (
        room("c", "x", uses=1), room("b", "x", uses=1), room("fresh", "x", recency=1.0),
        room("stale", "x", recency=0.2), room("busy", "x", uses=4),
    )  # fmt: skip
    assert chosen(*rooms) == ["busy", "b", "c", "fresh", "stale"]


def test_a_project_brings_its_rooms_forward() -> None:
    rooms = (
        room("garden/beds", "x"), room("busy", "x", uses=3), room("own", "x", is_of_project=True),
        room("other", "x"),
    )  # fmt: skip
    assert chosen(*rooms, project="garden") == ["garden/beds", "own", "busy"]
    assert chosen(*rooms) == ["busy"]


def test_a_project_is_found_in_drawer_names() -> None:
    drawer = room("plans", "x", drawers=frozenset({"garden-beds"}))
    assert chosen(drawer, room("other", "x"), project="Garden Beds") == ["plans"]


def test_a_name_of_two_words_needs_both() -> None:
    assert chosen(room("garden", "x"), project="garden shed") == []


def test_limit() -> None:
    assert chosen(*(room(n, "x", uses=1) for n in "abc"), limit=2) == ["a", "b"]
    assert chosen(room("a", "x", uses=1), limit=0) == []


def test_memories_keep_their_order() -> None:
    page = composed(WakeUpSources(rooms=(room("kitchen", "zeta", "alpha", uses=1),)))
    assert page.text.index("zeta") < page.text.index("alpha")
