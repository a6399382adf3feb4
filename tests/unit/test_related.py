"""Related words: the table that ships, how it is searched, and what it does to a search."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from palace.recall.lexicon import load_lexicons, word_tokens
from palace.recall.query import Analyst
from palace.recall.ranking import Pool
from palace.recall.related import Table, listed_tokens, packed, related_words
from palace.recall.search import Searcher
from palace.recall.weighing import term_weights
from palace.text import tokens
from palace.types.query import Query
from palace.types.session import Turn
from tests.doubles import FixedVocabulary, indexed, memory

WORDS = listed_tokens("en")


def test_a_word_is_related_to_what_means_nearly_the_same() -> None:
    found = related_words(["dog", "kettl", "qqqq"], "en")
    assert {"pet", "puppi"} <= set(found["dog"])
    assert "qqqq" not in found
    assert all(0.4 <= near < 1.0 for words in found.values() for near in words.values())


def test_the_nearest_comes_first() -> None:
    near = list(related_words(["dog"], "en")["dog"].values())
    assert near == sorted(near, reverse=True)


@pytest.mark.parametrize("language", ["de", "ja", "xx", "../en"])
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


def test_other_languages_have_none_and_it_can_be_switched_off() -> None:
    assert _analysed("Was frisst der Hund von uns?").related == {}
    assert _analysed("What does my dog eat?", on=False).related == {}


def _searched(prompt: str, *texts: str, on: bool = True) -> list[str]:
    index = indexed(*(memory(text, number) for number, text in enumerate(texts)))
    asked = Analyst(load_lexicons(("en",)), index, related=on).analyse(Turn(prompt))
    return [hit.memory.text for hit in Searcher(index).hits(asked, top_k=9)]


def test_a_memory_in_other_words_is_found() -> None:
    texts = ("Leila's puppy is called Bruno", "the kettle is blue")
    assert _searched("what is the name of her dog", *texts) == [texts[0]]
    assert _searched("what is the name of her dog", *texts, on=False) == []


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
