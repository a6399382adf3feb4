"""What is said to acknowledge an answer, and what only begins so."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.recall.courtesies import is_courtesy, without_courtesies


@pytest.mark.parametrize(
    "prompt",
    ["Thanks!", "thank you so much", "OK, merci.", "Vielen Dank für alles!", "C’est noté", "谢谢你", "👍 thanks"],
)  # fmt: skip
def test_a_courtesy_says_nothing_else(prompt: str) -> None:
    assert is_courtesy(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "", "?", "ok?", "谢谢？", "thanks, and the price", "no milk", "fine print", "danke an Mira", "okapi", "merci à Paul",
        "谢谢信", "Thanksgiving", "good boiler",
    ],
)  # fmt: skip
def test_what_says_more_is_none(prompt: str) -> None:
    assert not is_courtesy(prompt)


@given(st.text(max_size=200))
def test_a_question_is_none_whatever_it_says(text: str) -> None:
    assert not is_courtesy(f"thanks {text}?")


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("Hey Jarvis, when did we move?", "when did we move?"),
        ("Hello, Jarvis! When did we move?", "When did we move?"),
        ("hey jarvis when did we move", "when did we move"),
        ("Good morning Jarvis! When did we move?", "When did we move?"),
        ("Bonjour Jarvis, quand est-ce ?", "quand est-ce ?"),
        ("Hi, when did Mira move?", "when did Mira move?"),
        ("When did we move? Thx!", "When did we move?"),
        ("When did we move? Thanks Jarvis", "When did we move?"),
        ("Thanks Mira! When did we move?", "When did we move?"),
        ("haha when did we move", "when did we move"),
        ("Hahahaha, when did we move", "when did we move"),
        ("hmmmm when did we move", "when did we move"),
        ("Hej Jarvis när flyttade vi", "när flyttade vi"),
        ("hey when did we move", "when did we move"),
        ("hey what did we pay", "what did we pay"),
        ("Salut Paul qu’est-ce qu’on a payé", "qu’est-ce qu’on a payé"),
        ("Hi, good morning Mira! When did we move?", "When did we move?"),
        ("Buonasera Signora Rossi, quando è?", "quando è?"),
        ("¡Hola! ¿Cuándo fue?", "¿Cuándo fue?"),
        ("gunaydin, ne zaman taşındık", "ne zaman taşındık"),
        ("İyi günler, ne zaman taşındık", "ne zaman taşındık"),
        ("Hello\nwhen did we move", "when did we move"),
        ("Hi 👋 when did we move", "when did we move"),
        ("早上好,钥匙在哪里?", "钥匙在哪里?"),
        ("おはよう、鍵はどこ？", "鍵はどこ？"),
        ("鍵はどこ？笑", "鍵はどこ？"),
        ("안녕! 열쇠는 어디 있지? ㅋㅋㅋㅋ", "열쇠는 어디 있지?"),
        ("When did we move, thx", "When did we move"),
        ("鍵はどこ？ありがとう。", "鍵はどこ？"),
        ("@jarvis when did we move?", "when did we move?"),
        ("Dear Jarvis, when did we move?", "when did we move?"),
        ("Dear Sir or Madam, when did we move?", "when did we move?"),
        ("My dear friend, when did we move?", "when did we move?"),
        ("Excuse me, when did we move?", "when did we move?"),
        ("Entschuldigen Sie, wann war das?", "wann war das?"),
        ("Sehr geehrte Frau Rossi, wann war das?", "wann war das?"),
        ("omg when did we move", "when did we move"),
        ("hey Jarvis remind me when we moved", "remind me when we moved"),
        ("When did we move? Thanks in advance, Mira", "When did we move?"),
        ("When did we move? Best, Mira", "When did we move?"),
        ("When did we move?\n\nKind regards\nMira Rossi", "When did we move?"),
        ("When did we move\nThanks!", "When did we move"),
        ("Yours sincerely, Mira Rossi. When did we move?", "When did we move?"),
        ("Wann war das? Mit freundlichen Grüßen Mira Rossi", "Wann war das?"),
        ("Quand était-ce ? Cordialement, Mira", "Quand était-ce ?"),
        ("¡Hola Jarvis, cuándo fue!", "cuándo fue!"),
        ("When did we move?\nKind regards\nMira Rossi\n", "When did we move?"),
        ("Thanks. When did we move? And to where?", "When did we move? And to where?"),
        ("When did we move? Thanks Mira Rossi Kim", "When did we move?"),
        ("Hi! Hello! Hey! when did we move", "when did we move"),
        ("When did we move? Thanks. Ok. Great.", "When did we move?"),
        ("Thanks. Ok. Great. When did we move?", "When did we move?"),
    ],
)
def test_greetings_and_thanks_around_a_question_are_left_out(prompt: str, asked: str) -> None:
    assert without_courtesies(prompt) == asked


@pytest.mark.parametrize(
    "prompt",
    [
        "Hi!", "Hi Jarvis", "Thanks!", "lol", "haha", "", "Morning walk: when did we go?", "Hello World: when did we ship it?",
        "Selam sözleşmeyi ne zaman imzaladık?", "Morning run, how far was it?", "哈哈镜在哪里?", "Was läuft im MDR",
        "Mira, when did we move?", "Did Mira say thanks?", "Hi-fi, when did we buy it?", "@mira has the keys",
        "When did we move?\nMira says thanks to Tom", "What is best, Mira?",
    ],
)  # fmt: skip
def test_what_is_said_is_left_as_it_is(prompt: str) -> None:
    assert without_courtesies(prompt) == prompt


@pytest.mark.parametrize(
    "text",
    ["! ", "ok. ", ", ", "hi ", "haha", "thx ", "a! ", "hi A ", "hi\n", "hi, ", "ha ", "(哈哈"],
)
def test_hostile_courtesies_are_read_quickly(text: str) -> None:
    without_courtesies("Thanks. Where?")  # the phrases are compiled once
    started = time.process_time()
    without_courtesies(text * 2000)
    assert time.process_time() - started < 0.5


@given(st.text(max_size=200))
def test_something_is_left_of_what_says_something(text: str) -> None:
    assert bool(without_courtesies(text)) == bool(text)
