"""A word in another form than in the memory finds it; another name makes nobody of somebody else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.recall.forms import as_memories_inflect
from palace.recall.lexicon import DEFAULT_LANGUAGES, Lexicon, load_lexicon, load_lexicons
from palace.recall.query import Analyst
from palace.text import words
from palace.types.query import Query
from palace.types.session import Turn
from tests.doubles import GLOBAL, FixedVocabulary

PALACE = FixedVocabulary(
    "Antonówka w tanku 2, drożdże suche, studnia 12 m",
    "Kamil Rumcajs, Piwniczka",
    "Röntgen cihazı, dolap, belge, alarm, Doblo, Çınar",
    "Bassängen, avtal om bastu, herrar, Martin",
    "La caldera está abierta, el portero",
    "Die Kasse",
    "作品展は市民ギャラリーで開く",
    names=["kamil", "rumcaj", "piwniczka", "doblo", "cinar", "martin"],
)


def asked(prompt: str, *, related: bool = True, noted: frozenset[str] = frozenset()) -> Query:
    lexicons = load_lexicons(DEFAULT_LANGUAGES)
    analyst = Analyst(lexicons, PALACE, related=related, noted=lambda _: noted)
    query = analyst.analyse(Turn(prompt))
    assert analyst.terms(Turn(prompt)) == query.terms
    return query


@pytest.mark.parametrize(
    ("prompt", "term"),
    [
        ("gdzie są dane o tankach?", "tanku"),
        ("jak głęboka jest studni ściana", "studnia"),
        ("co robimy z drożdżami", "drozdz"),
        ("dolabın anahtarı nerede?", "dolap"),
        ("alarmın kodu ne?", "alarm"),
        ("hur kallt är det i bassängerna?", "bassangen"),
        ("när går avtalet ut?", "avtal"),
        ("¿cuándo estuvo abierto?", "abierta"),
        ("作品展はどこで開きますか?", "開く"),
        ("作品展はどこで開いたの?", "開く"),
    ],
)
def test_a_word_in_another_form_is_the_word_that_memories_have(prompt: str, term: str) -> None:
    query = asked(prompt)
    assert term in query.terms
    assert query.mended == ()


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("kiedy nastawiliśmy Antonówkę?", "antonowka"),
        ("kiedy Kamila ma urodziny?", "kamil"),
        ("co je kamilowi trzeba?", "kamil"),
        ("Doblonun muayenesi ne zaman?", "doblo"),
        ("Çınarın iğnesi nerede?", "cinar"),
    ],
)
def test_a_name_in_another_form_may_be_another_name(prompt: str, name: str) -> None:
    query = asked(prompt)
    assert name in query.terms
    assert query.mended == (name,)


@pytest.mark.parametrize(
    "prompt",
    [
        "när fyller Martina år?",  # names have no endings in Swedish
        "wo sind die Kassen?",  # German lists none
        "kiedy przyjeżdża Kamilowski?",
        "co to jest tan?",
        "where is the bassangerna?",
    ],
)
def test_what_is_no_form_of_a_word_stays_as_it_is(prompt: str) -> None:
    typed = {word.token for word in words(prompt)}
    query = asked(prompt)
    assert query.mended == ()
    assert set(query.terms) <= typed


def test_what_the_session_noted_and_what_is_off_is_left() -> None:
    assert "avtalet" in asked("när går avtalet ut?", noted=frozenset({"avtalet"})).terms
    assert "avtalet" in asked("när går avtalet ut?", related=False).terms


def test_of_several_forms_the_nearest_then_the_most_frequent_is_taken() -> None:
    memories = FixedVocabulary("tanku tankami", "tanku", "tankow tankowiec", "tan")
    (word,) = words("tanki")
    found = as_memories_inflect([word], load_lexicon("pl"), memories, scope=GLOBAL)
    assert found == {"tanki": "tanku"}


@given(st.text(max_size=12), st.lists(st.text(max_size=12), max_size=4))
def test_only_words_that_memories_have_are_returned(prompt: str, memories: list[str]) -> None:
    vocabulary = FixedVocabulary(*memories)
    for lexicon in load_lexicons(("pl", "tr", "sv")):
        unknown = [w for w in words(prompt) if not vocabulary.counts([w.token])[w.token].any]
        found = as_memories_inflect(unknown, lexicon, vocabulary, scope=GLOBAL)
        assert found.keys() <= {word.token for word in unknown}
        counts = vocabulary.counts(found.values())
        assert all(count.any for count in counts.values())


def test_pairs_that_are_none_are_refused() -> None:
    from palace.errors import ConfigError

    text = 'language: xx\nabout_somebody: "{}?"\nstopwords: a\nalternating: gkk\n---\n'
    with pytest.raises(ConfigError, match="pairs of letters"):
        Lexicon(text, "xx.yaml")


@pytest.mark.parametrize(
    ("memory", "prompt", "terms"),
    [
        ("黃小姐的婚禮在圓山飯店。", "黄小姐的婚礼在哪里？", ("婚禮",)),
        ("牙医预约改到十月三日。", "牙醫預約是什麼時候？", ("牙医", "医预", "预约")),
        ("牙医预约改到十月三日。", "牙医预约是什么时候？", ("牙医", "医预", "预约")),
    ],
)
def test_simplified_and_traditional_letters_find_each_other(
    memory: str, prompt: str, terms: tuple[str, ...]
) -> None:
    analyst = Analyst(load_lexicons(DEFAULT_LANGUAGES), FixedVocabulary(memory))
    assert set(terms) <= set(analyst.analyse(Turn(prompt)).terms)


def test_what_the_memories_have_is_left_as_it_was_asked() -> None:
    analyst = Analyst(load_lexicons(DEFAULT_LANGUAGES), FixedVocabulary("婚礼在三月", "婚禮在五月"))
    assert "婚礼" in analyst.analyse(Turn("婚礼是几月？")).terms
