"""Questions out of memories: what is asked, what is left out, in which language."""

from __future__ import annotations

import random

import pytest

from palace.recall.cloze import cloze_question
from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicon, load_lexicons
from palace.recall.query import Analyst
from palace.types.session import Turn
from tests.doubles import FixedVocabulary, memory

NOTE = memory("The boiler in the cellar was serviced by Holt on 3 May for 140 euros at 9:30.")


def questions(lexicon: str = "en", note=NOTE) -> set[str]:
    made = (
        cloze_question(note, load_lexicon(lexicon), FixedVocabulary(), rng=random.Random(seed))
        for seed in range(60)
    )
    return {one.text for one in made if one is not None}


def test_every_kind_of_fact_is_asked_for() -> None:
    asked = questions()
    for opening in ("What time", "When", "How much", "Who", "What"):
        assert any(q.startswith(f"{opening} ") for q in asked), opening
    assert not any(q.startswith("Who") and "Holt" in q for q in asked)
    assert not any(q.startswith(("What time", "At what time")) and "9:30" in q for q in asked)


def test_small_words_are_kept_or_left_out() -> None:
    assert any(" by " in q or " in the " in q for q in questions())


def test_of_a_turn_the_speaker_is_named() -> None:
    assert all(" Mira " in q for q in questions(note=memory(NOTE.text, speaker="Mira")))


def test_the_same_chance_asks_the_same() -> None:
    assert questions() == questions()


@pytest.mark.parametrize(
    "text", ["", "ok", "the of and", "blue kettle", "データベースの移行は来週"]
)
def test_too_little_to_ask_for(text: str) -> None:
    assert questions(note=memory(text)) == set()
    assert questions("ja", memory(text)) == set()


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_the_lexicons_know_the_openings(language: str) -> None:
    analyst = Analyst(load_lexicons([language]), FixedVocabulary())
    for fact, openings in load_lexicon(language).openings.items():
        for opening in openings:
            query = analyst.analyse(Turn(f"{opening} Holt Lindau?"))
            if fact != "thing":
                assert query.answer_type == fact, opening
