"""What leads to a question, or follows it, is no content of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer, Turn


@pytest.fixture(scope="module")
def palace(tmp_path_factory: pytest.TempPathFactory) -> Mempalace:
    palace = Mempalace.open(tmp_path_factory.mktemp("framing") / "palace")
    for text in (
        "We hired Olga on 3 May 2024.",
        "The doctor found a polyp, the check is due in June.",
        "The wifi password of the cabin is bluebell77.",
        "Wir haben Olga am 3. Mai 2024 eingestellt.",
        "Nous avons embauché Olga le 3 mai 2024.",
        "Мы наняли Ольгу 3 мая 2024 года.",
        "Vi anställde Olga den 3 maj 2024.",
    ):
        palace.remember(text, room="home")
    return palace


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
    ],
)
def test_a_frame_is_no_content(palace: Mempalace, prompt: str) -> None:
    assert palace.analyse(Turn(prompt)).terms == ("hire", "olga")


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
        "Keine Ahnung mehr, wann haben wir Olga eingestellt?",
        "Selon mes notes, quand avons-nous embauché Olga ?",
        "J'ai oublié quand nous avons embauché Olga.",
        "Проверь заметки: когда мы наняли Ольгу?",
        "Kolla mina anteckningar: när anställde vi Olga?",
    ],
)
def test_the_answer_is_grounded_whatever_leads_to_the_question(
    palace: Mempalace, prompt: str
) -> None:
    assert RetrievalEnforcer(palace).decide(prompt).action == "ground"


def test_a_stranger_in_a_frame_stays_one(palace: Mempalace) -> None:
    verdict = RetrievalEnforcer(palace).decide("According to my notes, when did we hire Gustav?")

    assert verdict.action == "fallback"


def test_a_palace_that_holds_the_framing_word_is_not_misled(tmp_path: Path) -> None:
    palace = Mempalace.open(tmp_path / "palace")
    palace.remember("The notes of the choir are in the blue folder.", room="home")
    verdict = RetrievalEnforcer(palace).decide("According to my notes, when did we hire Olga?")

    assert verdict.action == "fallback"
