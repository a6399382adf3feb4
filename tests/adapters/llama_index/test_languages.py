"""English memories, asked for in other languages: nothing is let through that is not checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index_palace import PalaceLLM

from palace import Mempalace
from tests.adapters.llama_index.scripted import FALLBACK, LIE, ScriptedLLM

INVOICE = "The invoice for the printer was paid by Martin."
NUTS = "Karl is allergic to peanuts."


@pytest.fixture
def english(tmp_path: Path) -> Iterator[Mempalace]:
    with Mempalace.open(tmp_path / "palace") as opened:
        for text in (INVOICE, NUTS, "The staging server listens on port 8443."):
            opened.remember(text, room="team")
        yield opened


def said(model: ScriptedLLM, palace: Mempalace, question: str) -> str:
    asked = [ChatMessage(role="user", content=question)]
    whole = PalaceLLM(model, palace).chat(asked).message.content
    pieces = PalaceLLM(model, palace).stream_chat(asked)
    assert "".join(chunk.delta or "" for chunk in pieces) == whole
    return str(whole)


@pytest.mark.parametrize(
    "question",
    [
        "Wann haben wir den Leuchtturm verkauft?",
        "Quand avons-nous vendu le phare ?",
        "我们什么时候买的灯塔？",
        "Когда мы продали маяк?",
    ],
)
def test_a_miss_calls_no_model(english, question):
    model = ScriptedLLM()
    assert said(model, english, question) == FALLBACK
    assert model.calls == []


@pytest.mark.parametrize("quote", ["honest", "invents", "ignores"])
@pytest.mark.parametrize("question", ["À quoi Karl est-il allergique ?", "Karl 对什么过敏？"])
def test_unclear_evidence_is_quoted_in_its_own_words(english, question, quote):
    answer = said(ScriptedLLM(quote=quote, answer=LIE), english, question)
    assert "Zork" not in answer
    assert "9999" not in answer
    assert NUTS in answer
    assert answer.startswith(NUTS if quote == "honest" else FALLBACK)


@pytest.mark.parametrize(
    ("question", "good", "bad"),
    [
        (
            "Wer hat die Rechnung für den Drucker bezahlt?",
            "Martin hat die Rechnung für den Drucker bezahlt.",
            "Markus hat die Rechnung für den Drucker bezahlt.",
        ),
        (
            "Qui a payé la facture de l'imprimante ?",
            "Martin a payé la facture de l'imprimante.",
            "Michel a payé la facture de l'imprimante.",
        ),
        (
            "Кто оплатил счёт за принтер?",
            "Мартин оплатил счёт за принтер.",
            "Пётр оплатил счёт за принтер.",
        ),
    ],
)
def test_an_answer_in_the_language_of_the_question_is_checked(english, question, good, bad):
    assert said(ScriptedLLM(answer=good), english, question) == good
    assert said(ScriptedLLM(answer=bad), english, question).startswith(INVOICE)
