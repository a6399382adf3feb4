"""Related words: the table that ships, how it is searched, and what it does to a search."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from benchmarks import written_words
from palace.recall.lexicon import load_lexicons, word_tokens
from palace.recall.query import Analyst
from palace.recall.ranking import Pool
from palace.recall.related import (
    Table,
    compound_parts,
    listed_tokens,
    packed,
    related_words,
    translated,
)
from palace.recall.search import Searcher
from palace.recall.weighing import term_weights
from palace.text import tokens
from palace.types.query import Query
from palace.types.session import Turn
from tests.doubles import FixedVocabulary, indexed, memory

WORDS = listed_tokens("en")
LISTS = sorted(written_words.LISTS.glob("*.txt"))


def test_a_word_is_related_to_what_means_nearly_the_same() -> None:
    found = related_words(["dog", "kettl", "qqqq"], "en")
    assert {"pet", "puppi"} <= set(found["dog"])
    assert "qqqq" not in found
    assert all(0.4 <= near < 1.0 for words in found.values() for near in words.values())


def test_the_nearest_comes_first() -> None:
    near = list(related_words(["dog"], "en")["dog"].values())
    assert near == sorted(near, reverse=True)


@pytest.mark.parametrize("language", ["pl", "xx", "", "../en"])
def test_a_language_without_a_table_has_no_related_words(language: str) -> None:
    assert related_words(["dog"], language) == {}


def test_the_table_is_sorted_and_has_every_word_once() -> None:
    assert len(WORDS) > 20_000
    assert all(one < other for one, other in pairwise(WORDS))


def test_every_word_is_found_wherever_it_stands() -> None:
    found = related_words(WORDS, "en")
    assert list(found) == WORDS
    assert all(near and word not in near for word, near in found.items())


def test_a_table_is_read_as_it_was_packed() -> None:
    rows = {"lamp": [("bulb", 91), ("desk", 91), ("cup", 40)], "bulb": [("lamp", 91)]}
    rows |= {"cup": [("desk", 55), ("lamp", 40)], "desk": [("lamp", 91)]}
    table = Table(packed(rows))
    assert table.tokens == ["bulb", "cup", "desk", "lamp"]
    read = {token: table.near(token) for token in table.tokens}
    assert [(token, list(near)) for token, near in read.items()] == [
        (token, [other for other, _ in rows[token]]) for token in table.tokens
    ]
    assert read["lamp"] == {"bulb": 0.91, "desk": 0.91, "cup": 0.4}
    with pytest.raises(ValueError, match="two bytes"):
        packed({str(number): [] for number in range(65_537)})


def test_threads_may_ask_at_once() -> None:
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(lambda start: related_words(WORDS[start::97], "en"), range(8))
    assert [list(one) for one in found] == [WORDS[start::97] for start in range(8)]


@pytest.mark.parametrize("word", ["", "a", "0", "zzzzzz", "dog ", "dogs", "dog=", "\n", "é", "犬"])
def test_what_is_no_word_of_the_table_is_not_found(word: str) -> None:
    assert related_words([word], "en") == {}


def test_words_that_count_or_tell_a_day_are_not_in_it() -> None:
    times = {*word_tokens("number_words"), *tokens("Monday Saturday"), *tokens("yesterday")}
    assert times.isdisjoint(WORDS)
    near = related_words(WORDS, "en").values()
    assert all(times.isdisjoint(tokens_near) for tokens_near in near)


def _analysed(prompt: str, *, on: bool = True) -> Query:
    lexicons = load_lexicons(("en", "de"))
    return Analyst(lexicons, FixedVocabulary(), related=on).analyse(Turn(prompt))


def test_a_query_carries_what_is_related_to_its_words() -> None:
    assert "canin" in _analysed("What does my dog eat?").related["dog"]


def test_a_query_is_still_a_key() -> None:
    query = _analysed("What does my dog eat?")
    assert {query: 1}[_analysed("What does my dog eat?")] == 1


def test_names_have_no_related_words() -> None:
    assert "rose" in related_words(["rose"], "en") or "rose" in WORDS
    assert "rose" not in _analysed("What did we give Rose for the wedding?").related


def test_it_can_be_switched_off() -> None:
    for prompt in ("What does my dog eat?", "Was frisst der Hund von uns?"):
        asked = _analysed(prompt, on=False)
        assert (asked.related, asked.translated, asked.glossed) == ({}, {}, prompt)


def _searched(prompt: str, *texts: str, on: bool = True) -> list[str]:
    index = indexed(*(memory(text, number) for number, text in enumerate(texts)))
    lexicons = load_lexicons(("en", *(path.stem for path in LISTS if path.stem != "en")))
    asked = Analyst(lexicons, index, related=on).analyse(Turn(prompt))
    return [hit.memory.text for hit in Searcher(index).hits(asked, top_k=9)]


def test_a_memory_in_other_words_is_found() -> None:
    texts = ("Leila's puppy is called Bruno", "the kettle is blue")
    assert _searched("what is the name of her dog", *texts) == [texts[0]]
    assert _searched("what is the name of her dog", *texts, on=False) == []


QUESTIONS = {
    "de": "Wann muss der Hund zum Tierarzt?",
    "es": "¿Cuándo va el perro al veterinario?",
    "fr": "Quand le chien doit-il aller chez le vétérinaire ?",
    "it": "Quando deve andare dal veterinario il cane?",
    "ja": "犬の獣医の予約はいつだった？",
    "ko": "우리 강아지 동물병원 예약이 언제였지?",
    "nl": "Wanneer moet de hond naar de dierenarts?",
    "pt": "Quando é que o cão vai ao veterinário?",
    "ru": "Когда собаке нужно к ветеринару?",
    "zh": "我们家小狗什么时候看兽医？",
}


def test_a_question_in_another_language_finds_an_english_memory() -> None:
    texts = ("The dog goes to the vet on 3 May", "the kettle is blue", "Rent is due on the first")
    assert [*QUESTIONS] == [path.stem for path in LISTS if path.stem != "en"]
    for language, question in QUESTIONS.items():
        assert _searched(question, *texts)[:1] == [texts[0]], language
        assert texts[0] not in _searched(question, *texts, on=False), language


def test_a_question_in_another_language_finds_other_words_of_its_own() -> None:
    texts = ("Die Handwerker wurden am 3. Mai bezahlt", "Der Kessel ist blau")
    assert _searched("Wann zahlte ich die Maler?", *texts)[:1] == [texts[0]]


def test_a_model_that_knows_english_alone_is_told_english_words() -> None:
    asked = _analysed("Was frisst der Hund von uns?")
    assert asked.translated["hund"][0] == "dog"
    assert asked.glossed.startswith("Was frisst der Hund von uns? ")
    assert "dog" in asked.glossed.split()
    assert _analysed("What does my dog eat?").glossed == "What does my dog eat?"


@pytest.mark.parametrize(
    ("language", "compound", "both"),
    [
        ("de", "zahnarztrechnung", {"dentist", "invoic"}),
        ("de", "waschmaschinenreparatur", {"machin", "repair"}),
        ("de", "hochzeitskuchen", {"wed", "cake"}),
        ("de", "kindesvater", {"child", "father"}),
        ("nl", "schoonmaakschema", {"clean", "schedul"}),
    ],
)
def test_a_compound_that_no_list_has_means_what_its_parts_do(language, compound, both) -> None:
    [english] = translated([compound], language).values()
    assert both <= set(english)
    near = related_words([compound], language)[compound]
    assert all(near[word] == 0.7 for word in both)


@pytest.mark.parametrize(
    ("term", "language", "parts"),
    [
        ("qwrtzpsd", "de", {"qwrt", "qwrtz", "tzpsd", "zpsd"}),
        ("qwrtz-psd", "de", set()),
        ("qwrtzpsd", "fr", set()),
        ("wohnung", "de", set()),  # a word of its own
    ],
)
def test_a_part_of_a_compound_has_four_letters_and_leaves_three(term, language, parts) -> None:
    assert compound_parts(term, language) == parts


def test_other_languages_write_no_compounds_as_one_word() -> None:
    assert translated(["zahnarztrechnung", "rendezvousdentiste"], "fr") == {}


@pytest.mark.parametrize(
    ("question", "compound", "note", "near"),
    [
        ("Wie viel Geld ist noch im Laborbudget?", "laborbudget", "Budget: 900", {"budget"}),
        ("Wer gießt die Tomatenstauden?", "tomatenstauden", "Tomaten gießt Eda", {"tomaten"}),
        ("Hoeveel kost de torenkamer?", "torenkam", "Toren: 900 euro", {"toren"}),
        ("Wo ist das Laborbudget?", "laborbudget", "Das Laborbudget, ein Budget", set()),
        ("Wer ist der nachbestellte Gast?", "nachbestellt", "nach dem Gast", set()),
        ("Where is the labbudget?", "labbudget", "Budget: 900", set()),
    ],
)
def test_a_compound_that_nobody_knows_is_looked_for_by_what_notes_have_of_it(
    question, compound, note, near
) -> None:
    index = indexed(memory(note, 0), memory("Sonst nichts", 1))
    analysed = Analyst(load_lexicons(["en", "de", "nl"]), index).analyse(Turn(question))
    assert compound in analysed.terms
    assert {*tokens(note)} & {*analysed.related.get(compound, ())} == near


def test_a_word_of_another_language_is_as_rare_as_the_english_one() -> None:
    texts = ("the dog is called Rex", "the cat sleeps", "the cat eats", "the cat is old")
    index = indexed(*(memory(text, number) for number, text in enumerate(texts)))
    german = Query("", ("hund", "katz"), translated={"hund": ("dog",), "katz": ("cat",)})
    english = Query("", ("dog", "cat"))
    told, said = term_weights(german, index), term_weights(english, index)
    assert [*told.idf.values()] == [*said.idf.values()]
    assert (told.known, said.known) == (frozenset(), {"dog", "cat"})


def test_the_nearest_of_a_translation_is_the_translation() -> None:
    [english] = translated(["hund"], "de").values()
    near = related_words(["hund"], "de")["hund"]
    assert next(iter(near)) == english[0] == "dog"
    assert near["dog"] > near["pet"] > 0.4


def test_the_tables_that_ship_are_those_of_the_lists() -> None:
    names = set()
    for name, rows in written_words.tables(written_words.LISTS):
        names.add(f"{name}.zlib")
        shipped = Table((written_words.TABLES / f"{name}.zlib").read_bytes())
        assert shipped.tokens == sorted(rows), "run `python -m benchmarks.written_words`"
        assert all(
            shipped.near(token) == {other: near / 100 for other, near in row}
            for token, row in rows.items()
        ), "run `python -m benchmarks.written_words`"
    assert names | {"en.zlib"} == {path.name for path in written_words.TABLES.iterdir()}


def test_a_list_names_each_word_once() -> None:
    for path in LISTS:
        said = [re.split(r" \||:", line)[0] for line in path.read_text("utf-8").splitlines()]
        assert len(said) > 1500
        assert said == sorted(set(said)), path.name


def test_how_near_two_words_are_has_no_direction() -> None:
    lines = (written_words.LISTS / "en.txt").read_text("utf-8").splitlines()
    rows = written_words.english(lines)
    assert all(
        rows[other][token] == near
        for token, row in rows.items()
        for other, near in row.items()
        if other.isalpha() and len(other) > 1
    )
    assert related_words(["bday"], "en")["bday"]["birthday"] == 0.75


@pytest.mark.parametrize("line", ["dog | like: puppy", "dog | puppy"])
def test_a_line_of_the_english_list_that_is_none_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="names no group"):
        written_words.english([line])


def test_a_line_of_another_list_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no colon"):
        written_words.foreign(["dog Hund"])


def test_the_word_itself_stands_before_a_related_one() -> None:
    texts = ("the puppy sleeps in the hall", "the dog sleeps in the hall")
    assert _searched("where does the dog sleep", *texts) == [texts[1], texts[0]]


def test_what_is_related_counts_less_the_farther_it_is_and_not_beside_the_word_itself() -> None:
    texts = ("canine", "cat", "dog canine", "lamp")
    index = indexed(*(memory(text, number) for number, text in enumerate(texts)))
    asked = Query("dog", ("dog",), related={"dog": {"canin": 0.9, "cat": 0.6}})
    searcher = Searcher(index)
    found = searcher.found(asked)
    pool = Pool(asked, found.candidates, weights=term_weights(asked, index))
    shares = {
        " ".join(candidate.body): pool.ranking_features(candidate)["reach"]
        for candidate in found.candidates
    }
    assert shares["dog canin"] == 1.0 > shares["canin"] > 1.5 * shares["cat"] > 0.0
