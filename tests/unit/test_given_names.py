"""Who is called by a given name alone, and which names ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import written_words
from palace.recall.given_names import (
    LISTED,
    as_listed,
    calls_by_given_name,
    given_names,
    is_given_name,
)
from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicon, load_lexicons
from palace.text import words

EN = load_lexicon("en")


def called(prompt: str, language: str = "en") -> bool:
    return calls_by_given_name(prompt, words(prompt), load_lexicon(language))


@pytest.mark.parametrize(
    "prompt",
    [
        "What did Dorothy ask to be left out?",
        "Ask Kirsty about the keys",
        "Helen's kids: what can't they eat",
        "did Marjorie's son collect the chairs",
        "MARJORIE'S CHAIRS",
        "who recommended it to me, you or Ayesha?",
        "Who was executor for Aunt Dorothy?",
    ],
)
def test_who_is_called_by_a_given_name_alone_is_known(prompt: str) -> None:
    assert called(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "What did Dorothy Parker write?",
        "What did Mulqueen Lothar say?",
        "How old is Taylor Swift now?",
        "When did Princess Diana die?",
        "who plays emma in the series",
        "Who will mark the exam in may?",
        "What rose is that?",
        "When is the school play?",
        "",
    ],
)
def test_a_full_name_or_a_word_is_no_given_name_alone(prompt: str) -> None:
    assert not called(prompt)


@pytest.mark.parametrize(
    ("language", "prompt"),
    [
        ("de", "Wann hat Lotte Geburtstag?"),
        ("fr", "Elle est née quand, la fille de Margaux ?"),
        ("es", "¿Qué le gusta a Joaquín?"),
        ("ru", "Что любит Наташа?"),
        ("ru", "Когда у Наташи день рождения?"),
    ],
)
def test_a_name_is_one_in_every_language(language: str, prompt: str) -> None:
    assert called(prompt, language)


def test_what_ships_is_what_the_lists_say() -> None:
    assert written_words.given_names(written_words.NAMES) == LISTED.read_text("utf-8").split(), (
        "run `python -m benchmarks.written_words`"
    )


@pytest.mark.parametrize(
    ("language", "word", "expected"),
    [
        ("en", "dorothy", True),
        ("en", "Max", True),
        ("en", "max", False),
        ("pt", "tom", False),
        ("de", "lotte", True),
        ("en", "school", False),
    ],
)
def test_in_small_letters_an_everyday_word_is_no_name(
    language: str, word: str, expected: bool
) -> None:
    assert is_given_name(words(word)[0], load_lexicon(language)) is expected


def test_no_name_is_a_function_word_of_a_language() -> None:
    for lexicon in load_lexicons(DEFAULT_LANGUAGES):
        assert given_names().isdisjoint(lexicon.function_words)


@pytest.mark.parametrize("listed", sorted(written_words.NAMES.glob("*.txt")), ids=lambda p: p.stem)
def test_a_list_is_of_names_a_line_each(listed: Path) -> None:
    lines = listed.read_text("utf-8").splitlines()
    assert lines == sorted(set(lines))
    assert all(line.strip() == line and line[0].isupper() for line in lines)
    assert all(len(words(line)) == 1 for line in lines)


def test_most_names_of_the_lists_are_told() -> None:
    lines = [
        line for path in written_words.NAMES.glob("*.txt") for line in path.read_text().split()
    ]
    told = [line for line in lines if is_given_name(words(line)[0], EN)]
    assert len(told) > 0.97 * len(lines)
    assert as_listed(words("Joaquín")[0]) == "joaquin"
