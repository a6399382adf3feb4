"""The same thing twice is a duplicate, another value is a conflict, anything else is neither."""

from __future__ import annotations

import pytest

from palace.learn.conflict import find_conflicts
from palace.learn.dedup import differs, find_duplicate
from tests.doubles import memory

LONG = (
    "The spare key of the garden shed hangs on the second hook behind the blue door in the hall next"
    " to the old mirror that {} brought home from the market in Lisbon"
)  # fmt: skip


def duplicate(new: str, *stored: str) -> str | None:
    found = find_duplicate(new, [memory(text, n) for n, text in enumerate(stored)])
    return None if found is None else found[0].text


def conflict(new: str, *stored: str) -> tuple[str, str] | None:
    found = find_conflicts(new, [memory(text, n) for n, text in enumerate(stored)])
    return (found[0][0].text, found[0][1]) if found else None


# -- duplicates ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "stored"),
    [
        ("The kettle is blue.", "The kettle is blue."),
        ("the KETTLE is blue", "The kettle is blue!"),
        ("The roof cost 18,000 euros", "The roof cost 18000 euros."),
        ("Die Straße ist gesperrt", "die strasse ist gesperrt"),
        ("数据库在柏林", "数据库在柏林。"),
        (LONG.format("Mira"), LONG.format("Mira") + " indeed"),
    ],
)
def test_the_same_statement(new: str, stored: str) -> None:
    assert duplicate(new, "something else", stored) == stored


@pytest.mark.parametrize(
    ("new", "stored"),
    [
        ("The kettle is blue.", "The lamp is blue."),
        ("The server listens on port 5432", "The server listens on port 5433"),
        ("We ship on 2026-03-14", "We ship on 2026-03-15"),
        ("We ship in March", "We ship in April"),
        ("We do deploy on Fridays", "We do not deploy on Fridays"),
        (LONG.format("Mira") + " in 2020", LONG.format("Mira") + " in 2021"),
        ("", "The kettle is blue."),
        # a false duplicate loses what a person wanted to keep:
        ("Mira reports to Jonas", "Jonas reports to Mira"),
        ("The red cable goes before the blue one", "The blue cable goes before the red one"),
        (LONG.format("Mira"), LONG.format("Jonas")),
        ("The parser is written in C++", "The parser is written in C"),
        ("The parser is written in C#", "The parser is written in C++"),
        ("The offset is -5", "The offset is 5"),
        ("Keep replicas >= 3", "Keep replicas <= 3"),
        ("The fee is 5 €", "The fee is 5 $"),
        ("🙂", "🎉"),
    ],
)
def test_another_statement(new: str, stored: str) -> None:
    assert duplicate(new, stored) is None


def test_nothing_resembles() -> None:
    assert duplicate("The kettle is blue.") is None


def test_the_first_one_wins() -> None:
    assert duplicate("the kettle is blue", "The kettle is blue!", "the kettle is blue") == (
        "The kettle is blue!"
    )


@pytest.mark.parametrize(
    ("token", "expected"),
    [("5432", True), ("v2", True), ("month03", True), ("not", True), ("nicht", True), ("没", True),
     ("kettl", False), ("", False)],
)  # fmt: skip
def test_what_differs(token: str, expected: bool) -> None:
    assert differs(token) is expected


# -- conflicts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "stored", "detail"),
    [
        (
            "The staging server listens on port 5432",
            "The staging server listens on port 5433",
            "stored: 5433; new: 5432",
        ),
        (
            "We ship the big release in March",
            "We ship the big release in April",
            None,
        ),
        (
            "We do not deploy the website on Fridays",
            "We do deploy the website on Fridays",
            "stored: no such value; new: not",
        ),
        (
            "We do deploy the website on Fridays",
            "We do not deploy the website on Fridays",
            "stored: not; new: no such value",
        ),
        (
            "The worker image is pinned to v2.0.1 today",
            "The worker image is pinned to v2.0.2 today",
            None,
        ),
    ],
)  # fmt: skip
def test_another_value_for_the_same_thing(new: str, stored: str, detail: str | None) -> None:
    found = conflict(new, "an unrelated text", stored)
    assert found is not None
    assert found[0] == stored
    assert found[1] == detail or detail is None


def test_months_are_named_for_a_person() -> None:
    found = conflict("We ship the big release in March", "We ship the big release in April")
    assert found is not None
    assert "month" not in found[1]


@pytest.mark.parametrize(
    ("new", "stored"),
    [
        ("The kettle is blue.", "The kettle is blue."),
        ("The staging server listens on port 5432", "The garden hose is 20 metres long"),
        ("Room 4 has a blue lamp", "Room 5 has a green rug"),
        ("Mira is 34 years old today", "Jonas is 36 years old today"),
        ("We met Mira Holt 3 times here", "We met Jonas Quill 4 times here"),
        ("Port 5432", "Port 5433"),
        ("", "The kettle is blue."),
        ("5432", "5433"),
        ("The staging server listens on port 5432", "The staging server listens on port 5432 too"),
    ],
)
def test_no_conflict(new: str, stored: str) -> None:
    assert conflict(new, stored) is None
