"""A statement taken apart: values, what it is about, denial, and what it calls over."""

from __future__ import annotations

import pytest

from palace.learn.parsed import read_statement
from palace.learn.values import MAX_TERMS, cut, read_value


def value(text: str) -> tuple[str, str, str] | None:
    pieces = cut(text)
    for number in range(len(pieces)):
        found = read_value(pieces, number)
        if found is not None:
            return found[0].kind, found[0].key, found[0].unit
    return None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 2026-05-14", ("date", "05-14", "2026")),
        ("on 14 May", ("date", "05-14", "")),
        ("on May 14th, 2026", ("date", "05-14", "2026")),
        ("on 14.5.2026", ("date", "05-14", "2026")),
        ("on 14/5/2026", ("date", "05-14", "2026")),
        ("on 05/14/2026", ("date", "05-14", "2026")),
        ("Invoice 2026-114", ("code", "2026-114", "")),
        ("in 2019-2021", ("year", "2019", "")),
        ("on 14 May 2026", ("date", "05-14", "2026")),
        ("on the second of May", ("date", "05-02", "")),
        ("am 12. Juli", ("date", "07-12", "")),
        ("at half past six", ("clock", "6:30", "")),
        ("at ten to eight", ("clock", "7:50", "")),
        ("until seven", ("clock", "7:00", "")),
        ("at 7 pm", ("clock", "19:00", "")),
        ("at 09:40", ("clock", "9:40", "")),
        ("at 17h30", ("clock", "17:30", "")),
        ("1,020 euros", ("number", "1020", "money:euro")),
        ("twenty five euros", ("number", "25", "money:euro")),
        ("fifty-seven ewes", ("number", "57", "ewe:ewe")),
        ("four four one seven", ("number", "4417", "")),
        ("-18 °C", ("number", "-18", "degrees:°")),
        ("20 MB", ("number", "20", "bytes:mb")),
        ("six shelves", ("number", "6", "shelf:shelf")),
        ("one month", ("number", "1", "time:month")),
        ("in 2024", ("year", "2024", "")),
        ("the 3rd", ("ordinal", "3", "")),
        ("v2.0.1", ("version", "2.0.1", "")),
        ("/etc/relay/conf.toml", ("path", "/etc/relay/conf.toml", "")),
        ("the blue one", None),
        ("nothing here", None),
    ],
)
def test_values(text: str, expected: tuple[str, str, str] | None) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("The rental car costs 45 euros", ["rental", "car"]),
        ("log format: json", ["log", "format"]),
        ("The lease expires on 10 May", ["lease"]),
        ("The print room costs 5 euros", ["print", "room"]),
        ("The cold store sends reports", ["cold", "store"]),
        ("locker 12 belongs to Noor", ["locker", "12"]),
        ("training in the north hall", ["training"]),
        ("I live in Lisbon", []),
        ("use butyl gloves for it", []),
        ("Mira's sister is here", ["Mira", "sister"]),
    ],
)
def test_what_it_is_about(text: str, subject: list[str]) -> None:
    assert [t.surface for t in read_statement(text).terms if t.subject] == subject


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("I don't eat meat", True),
        ("We cannot reach it", True),
        ("There is no longer a train", True),
        ("It is not never open", False),
        ("Her name is Ilse, not Ilka", False),
        ("No, it is Ilse", False),
        ("Milk goes to Bergland, no longer to Alpina", False),
        ("Wir liefern nicht", True),
    ],
)
def test_denial(text: str, negated: bool) -> None:
    assert read_statement(text).negated is negated


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("We switched from Trello to Linear", ["Trello"]),
        ("I sold the Volvo and drive a Fiat", ["Volvo"]),
        ("Joost works instead of Malin", ["Malin"]),
        ("Her name is Ilse, not Ilka", ["Ilka"]),
        ("We left for Cork", []),
        ("The letter is from Anna", []),
    ],
)
def test_what_it_calls_over(text: str, over: list[str]) -> None:
    assert [t.surface for t in read_statement(text).terms if t.retired] == over


def test_a_long_text_is_no_statement() -> None:
    assert read_statement("The kettle is blue.").whole
    long = read_statement("word " * 5000)
    assert not long.whole
    assert len(long.terms) <= MAX_TERMS
