"""A word in small letters that may be a month is one beside a day or a year, and nowhere else."""

from __future__ import annotations

import pytest

from palace.text import tokens, words


def months(text: str) -> list[str]:
    return [word.token for word in words(text) if word.token.startswith("month")]


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("what did we say on 3 may", "month05"),
        ("what did we say on 3 may?", "month05"),
        ("on 3 may we said so", "month05"),
        ("on 3 may tom called", "month05"),
        ("the 3rd of may", "month05"),
        ("by the 3rd may the bins are out", "month05"),
        ("3 may 2026: bandsaw blade ordered", "month05"),
        ("- 3 may dentist 9:30", "month05"),
        ("dentist 3 may 9:30", "month05"),
        ("10-12 may in Porto", "month05"),
        ("10–12 may in Porto", "month05"),
        ("from 3 may to 5 june we are away", "month05"),
        ("9 jan", "month01"),
        ("9 jan boiler serviced", "month01"),
        ("dentist 9 march with mum", "month03"),
        ("24 dec dinner", "month12"),
        ("5 sep", "month09"),
        ("am 3. mai", "month05"),
        ("vom 3.-5. mai in Wien", "month05"),
        ("vom 3./4. mai", "month05"),
        ("Zahnarzt am 3. mai um 9", "month05"),
        ("qu'est-ce qu'on a dit le 3 mai", "month05"),
        ("le 1er mars Paul a appelé", "month03"),
        ("le 3\u00a0mars", "month03"),
        ("le 9 juin", "month06"),
        ("o 1º de mai", "month05"),
        ("el 3 de mar", "month03"),
        ("what did we say may 3", "month05"),
        ("what did we say may 3?", "month05"),
        ("may 3, 2026", "month05"),
        ("may 3rd was wet", "month05"),
        ("on may 3 tom called", "month05"),
        ("mar 9 dentist", "month03"),
        ("from mar 9-12 we are away", "month03"),
        ("march 20 at the lake", "month03"),
        ("jan 9 was cold", "month01"),
        ("the rent of may 2026", "month05"),
        ("le loyer de mars 2026", "month03"),
        ("en mai 2026 à Lyon", "month05"),
        ("wizyta 3 maja o 9", "month05"),
        ("do 15 marca", "month03"),
        ("tandläkare 12 maj", "month05"),
        ("maj 2026", "month05"),
        ("12 Mart 2026", "month03"),
    ],
)
def test_beside_a_day_it_is_a_month(text: str, month: str) -> None:
    assert month in months(text)


@pytest.mark.parametrize(
    "text",
    [
        "may",
        "it may 3 times fail",
        "you may 3 times a day",
        "step 3 may fail",
        "step 3 may overheat",
        "3 may be enough",
        "the 3rd may be too late",
        "the first 3 may or may not work",
        "route 12 may need a ticket",
        "see step 3. may we go on",
        "version 2.3 may change",
        "at 10:30 may",
        "3/4 may",
        "$3 may",
        "may 3.5 bar be enough",
        "may 10:30 be too late",
        "may 3% of it be lost",
        "march 20 km",
        "we march 20",
        "we walk 3 march routes",
        "we bought 3 mars bars",
        "jan 9 years old",
        "3\nmay",
        "on 32 may",
        "3 dogs may",
        "jan called, sep is unknown",
        "non lo dico mai 3 volte",
        "la mar en 2000",
        "it may 2000 times fail",
        "Maja called",
        "la marca nueva",
        "la MAJ de l'appli",
        "the data mart",
    ],
)
def test_elsewhere_it_is_what_it_was(text: str) -> None:
    assert months(text) == []


def test_a_tuesday_is_no_march() -> None:
    assert months("mar 3 mai") == months("mar. 3 mai") == ["month05"]
    assert months("mar 9 market day") == ["month03"]


def test_a_date_has_the_same_tokens_in_small_letters() -> None:
    for date in ("3 May 2026", "9 Jan", "Mar 9", "3. Mai", "3 Mars", "24 Dec", "5 Sep"):
        assert tokens(date.lower()) == tokens(date)


def test_it_is_found_where_it_stands() -> None:
    text = "caf\u0065\u0301 le 3 mai, dit-elle"
    (month,) = (word for word in words(text) if word.token == "month05")
    assert month.surface == "mai"
    assert tokens("le 3 mai")[-2:] == ["month05", "mai"]
