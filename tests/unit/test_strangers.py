"""Answers in another language than the memory: a name in the place of another, and a denial."""

from __future__ import annotations

import pytest

from palace.enforce.grounding import AnswerCheck
from palace.types.verdict import Evidence

INVOICE = "The invoice for the printer was paid by Martin."
PAID = "Wer hat die Rechnung für den Drucker bezahlt?"
MOVE = "The office moved from Hamburg to Oslo on 3 March 2024."
MOVED = "Wann ist das Büro nach Oslo gezogen?"
CRATES = "Veldhoek takes back crates within 14 days."
NUTS = "Karl is allergic to peanuts."
PLUMBER = "The plumber comes on Tuesday at 9 am; his name is Kowalski."


def is_supported(memory: str, question: str, answer: str) -> bool:
    evidence = Evidence("m-1", memory, "L1", "rooms/team/notes.md:3", confidence=0.9)
    return AnswerCheck([evidence], question).check(answer).supported


@pytest.mark.parametrize(
    ("memory", "question", "good", "bad"),
    [
        (INVOICE, PAID, "Martin hat die Rechnung bezahlt.", "Markus hat die Rechnung bezahlt."),
        (INVOICE, PAID, "Die Rechnung zahlte Martin.", "Die Rechnung zahlte Markus."),
        (MOVE, MOVED, "Das Büro zog im März 2024 nach Oslo.", "Es zog im März 2024 nach Bergen."),
        (MOVE, MOVED, "Es zog von Hamburg nach Oslo.", "Es zog von Oslo nach Bergen."),
        (NUTS, "Wogegen ist Karl allergisch?", "Gegen Erdnüsse.", "Paul gegen Erdnüsse."),
        (  # "Verfügbarkeit" is in no list of words
            CRATES,
            "Wie viele Tage gibt uns Veldhoek für die Kisten?",
            "Wegen Verfügbarkeit dauert es 14 Tage.",
            "Bei Noordwal dauert es 14 Tage.",
        ),
        (
            "Milka arrives at 9 on Friday.",
            "¿A qué hora llega Milka el viernes?",
            "Normalmente llega a las 9.",
            "Zorka llega a las 9.",
        ),
        (
            PLUMBER,
            "Wie heißt der Klempner?",
            "Der Klempner heißt Kowalski.",
            "Der Klempner heißt Nowak.",
        ),
        (
            PLUMBER,
            "Comment s'appelle le plombier ?",
            "Kowalski vient mardi à 9 heures.",
            "Nowak vient mardi à 9 heures.",
        ),
        (
            INVOICE,
            "Qui a payé la facture de l'imprimante ?",
            "Martin a réglé la facture.",
            "Michel a réglé la facture.",
        ),
        (
            INVOICE,
            "¿Quién pagó la factura de la impresora?",
            "Pagó Martin la factura de la impresora.",
            "Miguel pagó la factura de la impresora.",
        ),
        (
            INVOICE,
            "Wie heeft de factuur van de printer betaald?",
            "Martin heeft de factuur betaald.",
            "Maarten heeft de factuur betaald.",
        ),
        (
            INVOICE,
            "Кто оплатил счёт за принтер?",
            "Счёт был оплачен Мартином.",
            "Пётр оплатил счёт за принтер.",
        ),
        (
            INVOICE,
            "谁付了打印机的发票？",
            "Martin 付了打印机的发票。",
            "Peter 付了打印机的发票。",
        ),
        (
            INVOICE,
            "プリンターの請求書は誰が払いましたか？",
            "Martinが払いました。",
            "Peterが払いました。",
        ),
    ],
)
def test_a_name_stands_in_the_place_of_no_other(memory, question, good, bad):
    assert is_supported(memory, question, good)
    assert not is_supported(memory, question, bad)


@pytest.mark.parametrize(
    ("memory", "question", "answer"),
    [
        (NUTS, "Wogegen ist Karl allergisch?", "Karl ist nicht allergisch gegen Erdnüsse."),
        (INVOICE, PAID, "Martin hat die Rechnung für den Drucker nicht bezahlt."),
        (
            INVOICE,
            "Qui a payé la facture de l'imprimante ?",
            "Martin n'a pas payé la facture de l'imprimante.",
        ),
        (
            INVOICE,
            "Wie heeft de factuur van de printer betaald?",
            "Martin heeft de factuur van de printer niet betaald.",
        ),
        (
            INVOICE,
            "Chi ha pagato la fattura della stampante?",
            "Martin non ha pagato la fattura della stampante.",
        ),
        (INVOICE, "Кто оплатил счёт за принтер?", "Мартин не оплатил счёт за принтер."),
    ],
)
def test_a_denial_is_seen_through_the_language(memory, question, answer):
    assert not is_supported(memory, question, answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Der Umzug war am 3. März 2024.",
        "Die Firma zog am 3. März 2024 um.",
        "Im Frühling, am 3. März 2024.",
        "Laut Protokoll am 3. März 2024, von Hamburg aus.",
        "Das Sekretariat zog am 3. März 2024 um.",
    ],
)
def test_german_nouns_are_no_names(answer):
    assert is_supported(MOVE, MOVED, answer)


def test_a_language_that_nobody_knows_is_left_alone():
    memory = "Verkstedet skal ha tegningene til Solveig innen den 15. mai."
    assert is_supported(memory, "Når skal tegningene leveres?", "Teppet går opp den 15. mai.")
