"""What asks of a kind of thing: a bare common noun in a frame that asks what it is or does."""

from __future__ import annotations

import time
from typing import Any

import pytest

from palace.recall.detector import CueDetector
from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicons
from palace.recall.logistic import LogisticModel
from palace.recall.of_a_kind import asks_of_a_kind
from palace.recall.query import Analyst
from palace.types.query import RecallSignal
from palace.types.session import Message, Turn
from tests.doubles import FixedVocabulary, bar_model

LEXICONS = load_lexicons(DEFAULT_LANGUAGES)
# Whatever is asked of it sounds like recall.
SURE = bar_model({}, bias=3.0)
PALACE = FixedVocabulary(
    "the notary keeps the deed", "Zephyr and Берёза are projects", names=["zephyr", "берез"]
)


def of_a_kind(prompt: str) -> bool:
    return Analyst(LEXICONS, PALACE).analyse(Turn(prompt)).of_a_kind


def detected(
    prompt: str, *history: Message, model: LogisticModel = SURE, **options: Any
) -> RecallSignal:
    analyse = Analyst(LEXICONS, PALACE).analyse
    turn = Turn(prompt, history=history)
    detector = CueDetector(LEXICONS, PALACE, analyse=analyse, model=model, **options)
    return detector.detect(turn, analyse(turn))


@pytest.mark.parametrize(
    "prompt",
    [
        "What is a notary?",
        "so what's a boiler used for",
        "What does a notary do all day?",
        "What do dentists do?",
        "How does a heat pump work?",
        "Was macht eigentlich eine Notarin?",
        "Was machen Zahnärzte?",
        "Wozu dient ein Heizkessel?",
        "Qu'est-ce qu'un dentiste ?",
        "Que fait un notaire ?",
        "Un notaire, c'est quoi ?",
        "¿Qué hace una notaria?",
        "Cos'è una caldaia?",
        "O que faz um dentista?",
        "Waar dient een ketel voor?",
        "Vad är en panna?",
        "Co to jest piec?",
        "Kto to jest dentysta?",
        "Кто такой нотариус?",
        "А что такое котёл?",
        "Diş hekimi nedir?",
        "Diş hekimleri ne yapar?",
        "歯医者は何をする人？",
        "公証人とは何ですか？",
        "ボイラーとは？",
        "看護師は何をしますか？",
        "치과의사란?",
        "공증인이 뭐야?",
        "치과의사는 무슨 일을 해?",
        "牙医是做什么的？",
        "什么是锅炉？",
        "公证人是什么？",
    ],
)
def test_the_kind_is_asked_of(prompt: str) -> None:
    assert of_a_kind(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "What does our notary do?",
        "What does the notary do?",
        "Who is the notary?",
        "What is a notary in our family called?",
        "What do they do?",
        "What is a good time?",
        "What does Zephyr do?",
        "What is a Zephyr?",
        "what is a zephyr?",
        "What do the kids do on Mondays?",
        "Was machen Müllers?",
        "Wer ist die Notarin?",
        "Que font les voisins ?",
        "¿Qué hace la notaria?",
        "Кто такой Керн?",
        "Что такое Берёза?",
        "что такое берёза?",
        "Что такое «Берёза»?",
        "Кто наш нотариус?",
        "Plaka nedir?",
        "İkinci nedir?",
        "Noterimiz ne yapar?",
        "「ボイラー」とは？",
        "ゼファーとは？",
        "会員番号って何？",
        "妻は何をしている？",
        "公証人は誰？",
        "비밀번호가 뭐야?",
        "지원은 무슨 일을 해?",
        "공증인이 누구야?",
        "密码是什么？",
        "邻居是做什么的？",
        "公证人是谁？",
    ],
)
def test_what_only_the_notes_can_tell_is_no_kind(prompt: str) -> None:
    assert not of_a_kind(prompt)


def test_what_stands_around_it_changes_nothing() -> None:
    for prompt in ("Hi! What is a notary?", "What is a notary? Thanks!", "**What is a notary?**"):
        assert of_a_kind(prompt)


def test_who_asks_of_a_kind_asks_for_no_memory_however_it_sounds() -> None:
    signal = detected("What is a notary?")
    assert (signal.band, signal.kind, signal.cues[0]) == ("other", "none", "of_a_kind")
    assert detected("What does the notary keep?").band == "recall"


# A question for a time is recall to it, and a short one that leans on it.
@pytest.mark.parametrize("model", [SURE, bar_model({"typed_question": 6.0}, bias=-3.0)])
def test_it_leans_on_nothing_that_was_asked_before(model: LogisticModel) -> None:
    asked = Message("user", "Когда встреча с нотариусом?")
    assert detected("Что такое котёл?", asked, model=model).band == "other"
    assert detected("Что он сказал?", asked, model=model).band != "other"


def test_a_phrase_of_ones_own_counts_more() -> None:
    signal = detected("What is a notary?", own_cues=[("what is a notary", "fact")])
    assert (signal.band, signal.kind) == ("recall", "fact")


@pytest.mark.parametrize("lexicon", LEXICONS, ids=lambda lexicon: lexicon.language)
def test_every_language_has_frames_and_none_is_slow(lexicon) -> None:
    assert lexicon.requests["of_a_kind"]
    hostile = (
        "a " * 50,
        "un " * 33,
        "what is a " * 10,
        "-" * 100,
        "何" * 100,
        "이란" * 50,
        "师" * 100,
    )
    started = time.process_time()
    for text in hostile:
        assert not asks_of_a_kind(text, (), lexicon, timeout_ms=50.0)
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize(
    ("prompt", "known"),
    [
        ("Who is the notary?", True),
        ("Who's Zephyr?", True),
        ("Where is the deed?", True),
        ("Wer ist Zephyr?", True),
        ("Кто такая Берёза?", True),
        ("Who is the president?", False),
        ("Who is Zephyr Notary?", False),
        ("Who is the notary of Kiel?", False),
        ("Who is she?", False),
        ("Why is the notary late?", False),
    ],
)
def test_who_somebody_is_of_whom_memories_tell_the_evidence_decides(
    prompt: str, known: bool
) -> None:
    signal = detected(prompt, model=bar_model({}, bias=-3.0))
    assert (signal.band, signal.leaning) == (("unsure", True) if known else ("other", False))
