"""Questions typed in a hurry: one slip in a word, and the right memory is still brought up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer, Turn, Verdict

MEMORIES = {
    "rent": "Die Warmmiete für die Werkstatt beträgt 780 Euro im Monat.",
    "expert": "Als Zweitgutachter hat Professor Lindemann im Oktober zugesagt.",
    "insurer": "Die Hausratversicherung läuft bei der Concordia.",
    "fair": "La kermesse aura lieu le 14 juin dans la cour.",
    "boiler": "La chaudière est révisée par Delmas chaque automne.",
    "vet": "Le vaccin du hamster coûte 42 euros.",
    "knives": "Jakub sharpened the planer knives on 3 March.",
    "tent": "Then Imogen said that the marquee goes back to Farrelly on Friday.",
    "stairs": "We painted the staircase in the colour Slipper Satin.",
    "proxy": "The gateway listens on port 8443.",
    "honey": "The honeycomb boxes stand behind the greenhouse.",
    "maria": "Then Mariah said the trampoline belongs to the school.",
}


@pytest.fixture(scope="module")
def palace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mempalace]:
    with Mempalace.open(Path(tmp_path_factory.mktemp("slips")) / "palace") as opened:
        for text in MEMORIES.values():
            opened.remember(text)
        yield opened


def decided(palace: Mempalace, prompt: str) -> Verdict:
    return RetrievalEnforcer(palace).decide(prompt)


@pytest.mark.parametrize(
    ("prompt", "right"),
    [
        ("wie hoch ist unsere warmmite", "rent"),
        ("Wie hoch ist unsere Wamrmiete?", "rent"),
        ("wer ist unser zweitgutacher", "expert"),
        ("wo läuft die hausratsversicherung", "insurer"),
        ("Wo läuft die Hausratverischerung?", "insurer"),
        ("quand est la kermese ?", "fair"),
        ("quand est la kermmesse ?", "fair"),
        ("qui révise la chaudiere", "boiler"),
        ("qui révise la chuadière ?", "boiler"),
        ("combien coûte le vaccin du hamstre", "vet"),
        ("who sharpend the planer knives", "knives"),
        ("who shaprened the planer knifes", "knives"),
        ("what did imogne say", "tent"),
        ("What did Imogne say about the marqueee?", "tent"),
        ("when does the marqee go back", "tent"),
        ("what colour is the staicrase", "stairs"),
        ("what colour is the stairrcase", "stairs"),
        ("which port does the gatewya listen on", "proxy"),
        ("which port does the gatewqy listen on", "proxy"),
        ("where are the honeycom boxes", "honey"),
        ("where are the honeyocmb boxes", "honey"),
    ],
)
def test_one_slip_hides_no_memory(palace: Mempalace, prompt: str, right: str) -> None:
    verdict = decided(palace, prompt)
    assert verdict.action in {"ground", "confirm"}
    assert MEMORIES[right] in {item.text for item in verdict.evidence}


@pytest.mark.parametrize(
    "prompt",
    [
        "What did Marta say?",
        "What did Mariam say about the trampoline?",
        "what did mariam say",
        "What did Imogan say about the marquee?",
        "Wat zei Mariam?",
        "Was hat Mariam gesagt?",
        "Qu'a dit Mariam ?",
    ],
)
def test_another_name_is_never_taken_for_one_that_is_known(palace: Mempalace, prompt: str) -> None:
    assert decided(palace, prompt).action != "ground"


def test_what_rests_on_a_mended_name_is_never_presented(palace: Mempalace) -> None:
    asked = "Did {} say that the marquee goes back to Farrelly on Friday?"
    assert decided(palace, asked.format("Imogen")).action == "ground"
    verdict = decided(palace, asked.format("Imogne"))
    assert verdict.action == "confirm"
    assert verdict.judgement is not None
    assert verdict.judgement.rule == "mended word"
    assert "a word that was misspelt" in verdict.explain()


def test_a_slip_in_one_word_of_several_takes_nothing_from_the_others(palace: Mempalace) -> None:
    asked = "Who {} the planer knives on 3 March?"
    assert decided(palace, asked.format("sharpened")).action == "ground"
    assert decided(palace, asked.format("shaprened")).action == "ground"


def test_what_the_session_noted_is_no_slip(palace: Mempalace) -> None:
    palace.note("The marquex is the new printer.", session_id="s1")
    assert palace.analyse(Turn("where is the marquex", session_id="s1")).mended == ()
    assert palace.analyse(Turn("where is the marquex", session_id="s2")).mended == ("marque",)
