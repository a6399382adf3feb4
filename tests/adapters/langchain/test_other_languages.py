"""What a person asks in another language than the notes', in that language's templates too."""

from __future__ import annotations

from typing import Literal

import pytest
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_palace import ChatPalace
from pydantic import BaseModel

from palace import UngroundedAnswerError
from tests.adapters.langchain.doubles import (
    FALLBACK,
    HIT_TEXT,
    CountingModel,
    calling,
    honest,
    ignoring,
)

TEMPLATES = {
    "de": "Beantworte die Frage.\n\nKontext: Es regnet.\n\nFrage: {question}\nAntwort:",
    "fr": "Réponds à la question.\n\nContexte : il pleut.\n\nQuestion : {question}\nRéponse :",
    "ru": "Ответь на вопрос.\n\nКонтекст: идёт дождь.\n\nВопрос: {question}\nОтвет:",
    "zh": "请回答问题。\n\n上下文：下雨了。\n\n问题：{question}\n回答：",
}
HITS = {
    "de": "Wann haben wir Version 4.1.0 ausgeliefert?",
    "fr": "Quand avons-nous livré la version 4.1.0 ?",
    "ru": "Когда мы выпустили версию 4.1.0?",
}
MISSES = {
    "de": "Wie hieß der Hund meines Bruders?",
    "fr": "Comment s'appelle le chien de mon frère ?",
    "ru": "Как зовут собаку моего брата?",
    "zh": "我弟弟的狗叫什么名字？",
}


def templated(model, palace, language):
    prompt = ChatPromptTemplate.from_template(TEMPLATES[language])
    return prompt | ChatPalace(inner=model, palace=palace) | StrOutputParser()


@pytest.mark.parametrize("language", MISSES)
def test_a_miss_in_a_template_of_its_language_asks_no_model(palace, language):
    model = CountingModel(persona=ignoring)
    chain = templated(model, palace, language)
    assert chain.invoke({"question": MISSES[language]}) == FALLBACK
    assert model.calls == 0


@pytest.mark.parametrize("language", HITS)
def test_a_hit_in_a_template_of_its_language_is_grounded(palace, language):
    model = CountingModel(persona=honest)
    assert HIT_TEXT in templated(model, palace, language).invoke({"question": HITS[language]})


class Thema(BaseModel):
    """Ein Thema."""

    farbe: Literal["blau", "rot", "grün"]


@pytest.mark.parametrize("colour", ["blau", "rot"])
def test_a_choice_in_another_language_is_held_against_the_memory(palace, colour):
    model = CountingModel(persona=lambda asked: calling("Thema", {"farbe": colour}))
    structured = ChatPalace(inner=model, palace=palace).with_structured_output(Thema)
    question = "Welches Theme mag Alice für das Dashboard?"
    if colour == "blau":
        assert structured.invoke(question) == Thema(farbe="blau")
    else:
        with pytest.raises(UngroundedAnswerError):
            structured.invoke(question)


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("Version 4.1.0 wurde am 2. März 2026 ausgeliefert.", True),
        ("Version 4.1.0 wurde am 3. März 2026 ausgeliefert.", False),
        ("3. März 2026.", False),
        ("Version 4.1.1 wurde am 2. März 2026 ausgeliefert.", False),
    ],
)
def test_an_answer_in_another_language_is_checked_as_it_streams(palace, said, holds):
    model = CountingModel(persona=lambda asked: said)
    chat = ChatPalace(inner=model, palace=palace)
    for released in (
        chat.invoke(HITS["de"]).text,
        "".join(chunk.text for chunk in chat.stream(HITS["de"])),
    ):
        assert (released == said) is holds
        assert holds or HIT_TEXT in released
