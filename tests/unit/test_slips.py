"""One wrong letter in a question hides no memory, and makes nobody of somebody else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.recall.lexicon import load_lexicons
from palace.recall.query import Analyst
from palace.types.query import Query
from palace.types.session import Turn
from tests.doubles import FixedVocabulary

LEXICONS = load_lexicons(("en", "de", "fr", "ru"))
PALACE = FixedVocabulary(
    "Jakub sharpened the planer knives at the boat on 4711 v2.0.1 kettlx7",
    "Imogen and Farrelly told Karen about the tent, the boat and the marquees",
    "Variation 7, the retention and the painting of the gate",
    "Die Warmmiete, der Zweitgutachter, der Kasten, Maria",
    "La kermesse et la chaudière",
    names=["imogen", "farrelli", "karen", "maria", "jakub", "warmmiet", "zweitgutacht"],
)


def asked(prompt: str, *, related: bool = True, noted: frozenset[str] = frozenset()) -> Query:
    analyst = Analyst(LEXICONS, PALACE, related=related, noted=lambda _: noted)
    query = analyst.analyse(Turn(prompt))
    assert analyst.terms(Turn(prompt)) == query.terms
    assert set(query.mended) <= set(query.terms)
    return query


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("who sharpend the planer knives", ("sharpen",)),
        ("who shapren the knives", ("sharpen",)),
        ("where is the marqueee", ("marque",)),
        ("where is the marquxe", ("marque",)),
        ("where is the marqee", ("marque",)),
        ("where is the amrquee", ("marque",)),
        ("wie hoch ist die warmmite", ("warmmiet",)),
        ("wer ist der zweitgutacher", ("zweitgutacht",)),
        ("quand est la kermese", ("kermess",)),
        ("quand est la kremesse", ("kermess",)),
        ("what did imogne say", ("imogen",)),
        ("What did Imogne say?", ("imogen",)),
        ("What did Imoggen say?", ("imogen",)),
        ("what did farelly say", ("farrelli",)),
        # In an ending, which the slip keeps on the word.
        ("what was the variaton for", ("variat",)),
        ("is the retenton paid", ("retent",)),
        ("when is the paintig", ("paint",)),
    ],
)
def test_a_word_with_one_slip_is_the_word_that_is_meant(
    prompt: str, meant: tuple[str, ...]
) -> None:
    query = asked(prompt)
    assert query.mended == meant
    assert set(meant) <= set(query.terms)


def test_a_name_with_two_letters_swapped_is_that_name() -> None:
    assert asked("What did Imogne say?").names == (("imogen",),)
    assert asked("what did imogne say").unheard == ()


def test_a_mended_word_is_looked_up_in_the_tables() -> None:
    assert asked("who sharpend the knives").related["sharpen"]


@pytest.mark.parametrize(
    "prompt",
    [
        "where is the boat",  # the palace has it
        "where is the planet",  # the language knows it
        "where is the goat",
        "where is the tnet",  # too short
        "where is the mar-quxe",
        "Marquxe is where?",  # it may be a name
        "where is the zarquee",  # the first letter is seldom wrong
        "where is the maqree",  # two slips
        "what is 4712",
        "what is v2.0.2",
        "what is kettly7",
        "What did Imxogen say?",
        "What did Imogan say?",  # another name is another person
        "what did imogan say",
        "What did Marta say?",
        "What did Karel say?",
        "what did karel say",
        "where is 'karel', \"marquxe\" and `marquxe`",
        "marquxe zyzzyq wrtlbr qqzzop",  # nobody knows what language that is
        "wo ist der Kesten und die kirmesse",  # where few words are listed it may be another one
        "quand est la kermesze",
        "wo ist der kastn",  # too short for a language of which few words are listed
        "Was hat Marta gesagt?",
        "",
    ],
)
def test_in_doubt_a_word_is_what_it_is(prompt: str) -> None:
    assert asked(prompt).mended == ()


def test_where_two_words_can_be_meant_neither_is() -> None:
    vocabulary = FixedVocabulary("the marquee", "the marquese")
    near = Analyst(LEXICONS, vocabulary).analyse(Turn("where is the marquxe"))
    assert near.mended == ("marque",)
    vocabulary = FixedVocabulary("the zorkmid", "the zorkmix")
    assert Analyst(LEXICONS, vocabulary).analyse(Turn("where is the zorkmiq")).mended == ()


@pytest.mark.parametrize(
    ("held", "typed"),
    [
        ("the night", "where is the nicht"),  # German: not
        ("the domain", "where is the demain"),  # French: tomorrow
        ("de boot plaatst", "waar is de plaats van de boot"),  # it tells no memory apart
        ("der Schrankt", "wo ist der schrank"),  # listed in German alone
        ("the logs are there", "are the logs kept for three weeks"),  # a number, which no table has
    ],
)
def test_a_small_or_a_known_word_of_any_language_is_no_slip(held: str, typed: str) -> None:
    lexicons = load_lexicons(("en", "de", "fr", "nl"))
    assert Analyst(lexicons, FixedVocabulary(held)).analyse(Turn(typed)).mended == ()


def test_a_question_with_three_unknown_words_is_still_one() -> None:
    assert asked("where is the marquxe of zyzzyq and wrtlbr").mended == ("marque",)


def test_what_the_session_noted_is_no_slip() -> None:
    (typed,) = asked("where is the marquxe", related=False).terms
    assert asked("where is the marquxe", noted=frozenset({typed})).mended == ()


def test_without_the_tables_nothing_is_mended() -> None:
    assert asked("who sharpend the knives", related=False).mended == ()


def test_what_is_known_costs_no_look_at_what_is_alike() -> None:
    class Counting(FixedVocabulary):
        asked = 0

        def alike(self, *args: object, **kwargs: object) -> list[str]:
            self.asked += 1
            return super().alike(*args, **kwargs)  # type: ignore[arg-type]

    vocabulary = Counting("the marquee is at the boat")
    Analyst(LEXICONS, vocabulary).analyse(Turn("where is the marquee, the boat and the goat?"))
    assert vocabulary.asked == 0
    Analyst(LEXICONS, vocabulary).analyse(Turn("where is the marquxe?"))
    assert vocabulary.asked == 1


@given(st.text(max_size=80))
def test_any_text_gives_a_query(text: str) -> None:
    query = asked(text)
    assert len(query.mended) <= 3


@given(st.lists(st.sampled_from("where who marquee sharpened knives boat goat tent 4711".split())))
def test_what_the_palace_or_the_language_knows_is_never_mended(prompt: list[str]) -> None:
    assert asked(" ".join(prompt)).mended == ()
