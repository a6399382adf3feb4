"""What leads to a question, or follows it, is no content of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer, Turn
from palace.recall.lexicon import load_lexicon


@pytest.fixture(scope="module")
def palace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mempalace]:
    with Mempalace.open(tmp_path_factory.mktemp("framing") / "palace") as palace:
        for text in (
            "We hired Olga on 3 May 2024.",
            "The doctor found a polyp, the check is due in June.",
            "The wifi password of the cabin is bluebell77.",
            "Wir haben Olga am 3. Mai 2024 eingestellt.",
            "Nous avons embauché Olga le 3 mai 2024.",
            "Мы наняли Ольгу 3 мая 2024 года.",
            "Vi anställde Olga den 3 maj 2024.",
            "牙医预约改到10月3日下午三点。",
            "歯医者の予約は10月3日の午後3時に変わった。",
            "치과 예약은 10월 3일 오후 3시로 바뀌었다.",
            "Dişçi randevusu 3 Ekim saat 15.00'e alındı.",
            "我的笔记本电脑是三月买的。",
        ):
            palace.remember(text, room="home")
        yield palace


@pytest.mark.parametrize(
    "prompt",
    [
        "Do you remember when we hired Olga?",
        "According to my notes, when did we hire Olga?",
        "Check my notes: when did we hire Olga?",
        "any idea when we hired Olga",
        "Do we have it written down when we hired Olga?",
        "I keep forgetting when we hired Olga.",
        "Quick check: did we hire Olga?",
        "In my notes, when did we hire Olga?",
        "Sorry, when did we hire Olga?",
        "When did we hire Olga? Any idea?",
        "When did we hire Olga, do you remember?",
        "I looked it up, I forgot: when did we hire Olga?",
        "By the way, when did we hire Olga?",
        "Incidentally, when did we hire Olga?",
    ],
)
def test_a_frame_is_no_content(palace: Mempalace, prompt: str) -> None:
    assert palace.analyse(Turn(prompt)).terms == ("hire", "olga")


QUESTIONS = {
    "en": "when did we hire Olga?",
    "de": "wann haben wir Olga eingestellt?",
    "fr": "quand avons-nous embauché Olga ?",
    "es": "¿cuándo contratamos a Olga?",
    "it": "quando abbiamo assunto Olga?",
    "nl": "wanneer hebben we Olga aangenomen?",
    "pt": "quando contratamos a Olga?",
    "pl": "kiedy zatrudniliśmy Olgę?",
    "ru": "когда мы наняли Ольгу?",
    "sv": "när anställde vi Olga?",
}


@pytest.mark.parametrize(
    ("phrase", "question"),
    [
        (phrase, question)
        for language, question in QUESTIONS.items()
        for phrase in load_lexicon(language).phrases("framing_phrases")
    ],
)
def test_a_phrase_that_frames_is_no_content(palace: Mempalace, phrase: str, question: str) -> None:
    plain = palace.analyse(Turn(question)).terms
    assert palace.analyse(Turn(f"{phrase.capitalize()}, {question}")).terms == plain
    assert palace.analyse(Turn(f"{question} {phrase.capitalize()}.")).terms == plain


@pytest.mark.parametrize(
    ("prompt", "term"),
    [
        ("What did the doctor find?", "find"),
        ("Where did I note the wifi password?", "note"),
        ("Find the invoice of the doctor", "find"),
        ("When is the check of the doctor due?", "check"),
        ("Check my notes", "check"),
        ("The check, when is it due?", "check"),
        ("My head: where did I hit it?", "head"),
        ("For the search, who is on duty?", "search"),
        ("For search: who is on duty?", "search"),
    ],
)
def test_elsewhere_these_words_are_content(palace: Mempalace, prompt: str, term: str) -> None:
    assert term in palace.analyse(Turn(prompt)).terms


@pytest.mark.parametrize(
    "prompt",
    [
        "When did we hire Olga?",
        "Do you remember when we hired Olga?",
        "According to my notes, when did we hire Olga?",
        "Laut meinen Notizen, wann haben wir Olga eingestellt?",
        "Übrigens, wann haben wir Olga eingestellt?",
        "Кстати, когда мы наняли Ольгу?",
        "Förresten, när anställde vi Olga?",
        "Bu arada, dişçi randevusu ne zaman?",
        "Keine Ahnung mehr, wann haben wir Olga eingestellt?",
        "Selon mes notes, quand avons-nous embauché Olga ?",
        "J'ai oublié quand nous avons embauché Olga.",
        "Проверь заметки: когда мы наняли Ольгу?",
        "Kolla mina anteckningar: när anställde vi Olga?",
        "牙医预约是什么时候？",
        "根据我的笔记，牙医预约是什么时候？",
        "你还记得牙医预约是什么时候吗？",
        "我一时想不起来了，牙医预约是什么时候？",
        "牙医预约是什么时候？我之前跟你说过的。",
        "歯医者の予約はいつ？",
        "前に書いたメモを見て、歯医者の予約はいつ？",
        "私のメモでは歯医者の予約はいつ？",
        "何度もごめん、歯医者の予約はいつ？",
        "치과 예약이 언제야?",
        "내 메모에 따르면 치과 예약이 언제야?",
        "또 물어봐서 미안해, 치과 예약이 언제야?",
        "치과 예약이 언제야? 기억나?",
        "Dişçi randevusu ne zaman?",
        "Notlarıma göre dişçi randevusu ne zaman?",
        "NOTLARIMA GÖRE dişçi randevusu ne zaman?",
        "Hatırlayamıyorum, dişçi randevusu ne zaman?",
    ],
)
def test_the_answer_is_grounded_whatever_leads_to_the_question(
    palace: Mempalace, prompt: str
) -> None:
    assert RetrievalEnforcer(palace).decide(prompt).action == "ground"


@pytest.mark.parametrize(
    ("prompt", "term"),
    [
        ("我的笔记，什么时候写的？", "笔记"),
        ("妈妈提醒我什么？", "提醒"),
        ("我的笔记本，什么时候买的？", "记本"),
        ("医生的记录在哪里？", "记录"),
        ("私のノート、いつ買った？", "ノー"),
        ("ノートパソコンはいつ買った？", "ノー"),
        ("내 노트북, 언제 샀지?", "노트"),
        ("우리 메모, 누가 썼어?", "메모"),
        ("Doktorun notlarını kim sakladı?", "notlarini"),
    ],
)
def test_without_blanks_or_openers_too(palace: Mempalace, prompt: str, term: str) -> None:
    assert term in palace.analyse(Turn(prompt)).terms


def test_a_stranger_in_a_frame_stays_one(palace: Mempalace) -> None:
    verdict = RetrievalEnforcer(palace).decide("According to my notes, when did we hire Gustav?")

    assert verdict.action == "fallback"


@pytest.mark.parametrize(
    "prompt",
    [
        "根据我的笔记，理发预约是什么时候？",
        "Notlarıma göre kuaför randevusu ne zaman?",
        "기억나? 미용실 예약이 언제야?",
    ],
)
def test_what_is_near_in_a_frame_is_not_presented(palace: Mempalace, prompt: str) -> None:
    assert RetrievalEnforcer(palace).decide(prompt).action != "ground"


def test_a_palace_that_holds_the_framing_word_is_not_misled(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path / "palace") as palace:
        palace.remember("The notes of the choir are in the blue folder.", room="home")
        verdict = RetrievalEnforcer(palace).decide("According to my notes, when did we hire Olga?")

    assert verdict.action == "fallback"
