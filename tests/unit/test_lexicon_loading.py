"""Lexicons load, compile and are matched within time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import get_args

import pytest
import regex

from palace.errors import ConfigError
from palace.recall.detector import KIND_OF_CUE, PERSONAL_CUES
from palace.recall.lexicon import (
    DEFAULT_LANGUAGES,
    MATCHED_CHARS,
    Lexicon,
    WordKind,
    compiled,
    folded_words,
    is_word_of,
    load_lexicon,
    load_lexicons,
    matchable,
    matches,
    word_tokens,
)
from palace.text import tokens
from palace.types.query import AnswerType

HOSTILE = [
    "a" * 1300,
    "did we " * 200,
    "((((" * 300,
    "? " * 600,
    "\n" * 1200,
    "the " * 300 + "?",
    "'" * 1200,
]


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_every_shipped_language_is_whole(language: str) -> None:
    lexicon = load_lexicon(language)
    assert lexicon.language == language
    assert len(lexicon.stopwords) > 20
    assert lexicon.cues
    assert set(lexicon.cues) <= set(load_lexicon("en").cues)
    assert {*KIND_OF_CUE, "question", "task"} <= set(lexicon.cues)
    assert set(PERSONAL_CUES) & set(lexicon.cues)
    assert set(lexicon.question_types) <= set(get_args(AnswerType))


def test_lexicons_come_in_the_order_asked() -> None:
    assert [x.language for x in load_lexicons(("ru", "en"))] == ["ru", "en"]
    assert load_lexicons(()) == ()


def test_a_file_in_another_encoding_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "oo.yaml").write_bytes("language: oo\nstopwords: på".encode("latin-1"))
    monkeypatch.setattr("palace.recall.lexicon._FOLDER", tmp_path)
    with pytest.raises(ConfigError, match=r"oo\.yaml is not UTF-8"):
        load_lexicon("oo")


@pytest.mark.parametrize(
    "language", ["xx", "", "EN", "../en", "en.yaml", "en\x00", "e n", "/etc/passwd"]
)
def test_an_unknown_language_names_the_known_ones(language: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_lexicon(language)
    assert all(known in caught.value.hint for known in DEFAULT_LANGUAGES)


def test_stop_words_are_known_as_written_and_as_tokens() -> None:
    stop = load_lexicon("en").stopwords
    assert {"does", "do", "the", "was", "be"} <= stop
    assert "kettle" not in stop


def test_function_words_are_those_that_people_write() -> None:
    written = load_lexicon("en").function_words
    assert {"because", "during", "was"} <= written
    assert "dure" not in written
    assert {"我们", "们的"} <= load_lexicon("zh").function_words


def test_german_capitals_mark_no_names() -> None:
    assert not load_lexicon("de").capitals_mark_names
    assert load_lexicon("en").capitals_mark_names


def test_matchable_text_is_folded_and_straightened() -> None:
    assert matchable("What’s “Café”?") == 'what\'s "cafe"?'


def test_of_a_long_prompt_head_and_tail_are_matched() -> None:
    text = matchable("start " + "x" * 10_000 + " end")
    assert text.startswith("start ")
    assert text.endswith(" end")
    assert len(text) == 2 * MATCHED_CHARS + 1


def test_a_match_is_found_and_a_slow_pattern_is_none() -> None:
    assert matches("b+", "abc", timeout_ms=50)
    assert not matches("x", "abc", timeout_ms=50)
    slow = r"(?:a|aa|aaa)+(?:a|aa|aaa)+(?:a|aa|aaa)+c"
    started = time.perf_counter()
    assert not matches(slow, "a" * 300, timeout_ms=20)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_shipped_patterns_are_quick_on_hostile_text(language: str) -> None:
    lexicon = load_lexicon(language)
    kinds = (*lexicon.question_types.values(), *lexicon.labels.values())
    patterns = [*lexicon.cues.values(), *kinds, lexicon.follow_up]
    for text in HOSTILE:
        for pattern in patterns:
            regex.search(pattern, matchable(text), timeout=0.5)  # raises TimeoutError when slow


# -- kinds of words ----------------------------------------------------------------------------------

MEMORY_KINDS: tuple[WordKind, ...] = (
    "relative_dates",
    "clock_words",
    "number_words",
    "first_person",
    "address",
)


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
@pytest.mark.parametrize("kind", MEMORY_KINDS)
def test_every_language_tells_days_hours_numbers_and_people(language: str, kind: WordKind) -> None:
    assert load_lexicon(language).listed(kind)


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_every_language_greets_and_a_greeting_is_listed_once(language: str) -> None:
    lexicon = load_lexicon(language)
    greetings, courtesies = lexicon.phrases("greetings"), lexicon.phrases("courtesies")
    assert greetings
    assert not set(greetings) & set(courtesies)
    assert lexicon.phrases("interjections")
    assert lexicon.phrases("closings")
    # In these a question word stands anywhere, so it does not tell where a name ends.
    anywhere = language in ("zh", "ja", "ko", "tr")
    assert bool(lexicon.phrases("question_openers")) is not anywhere


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("relative_dates", "we moved last Tuesday"),
        ("relative_dates", "der Umzug war vorgestern"),
        ("relative_dates", "on déménage jeudi"),
        ("relative_dates", "nos mudamos anoche"),
        ("relative_dates", "a mudança foi anteontem"),
        ("relative_dates", "переехали в понедельник"),
        ("relative_dates", "abbiamo traslocato l'altroieri"),
        ("relative_dates", "we zijn afgelopen dinsdag verhuisd"),
        ("relative_dates", "지난주에 이사했다"),
        ("relative_dates", "我们上周搬家了"),
        ("relative_dates", "先週引っ越した"),
        ("clock_words", "es war Mitternacht"),
        ("clock_words", "встретимся в полдень"),
        ("number_words", "wir haben fünf Katzen"),
        ("number_words", "the room seats fourteen"),
        ("number_words", "der Saal fasst vierzig"),
        ("number_words", "la salle fait quarante places"),
        ("number_words", "in de zaal is plek voor twintig"),
        ("number_words", "i salen finns plats för femton"),
        ("number_words", "у нас три кошки"),
        ("number_words", "abbiamo cinque gatti"),
        ("number_words", "we hebben vijf katten"),
        ("first_person", "mijn thee is koud"),
        ("first_person", "우리는 차를 좋아한다"),
        ("number_words", "我们有三只猫"),
        ("first_person", "мне нравится чай"),
        ("first_person", "我喜欢茶"),
        ("address", "hast du deinen Schlüssel"),
        ("address", "я дам тебе ключ"),
        ("address", "la tua chiave è qui"),
    ],
)
def test_words_of_memories_are_known_as_tokens(kind: WordKind, text: str) -> None:
    assert not word_tokens(kind).isdisjoint(tokens(text))


def test_a_token_is_told_from_the_words_that_begin_like_it() -> None:
    # Of these it is not asked, because they count in one language; some are written like a month.
    kinds = {*get_args(WordKind)} - {"own_number_words", "counted_ago"}
    every = frozenset[str]().union(*map(word_tokens, kinds), {"", "qx", "month05"})
    for kind in kinds:
        assert {token for token in every if is_word_of(kind, token)} == word_tokens(kind)


@pytest.mark.parametrize("kind", MEMORY_KINDS)
def test_no_word_of_another_language_is_a_small_word_or_a_month_in_english(kind: WordKind) -> None:
    english = load_lexicon("en")
    own = {token for word in english.listed(kind) for token in tokens(word)}
    foreign = word_tokens(kind) - own
    assert not foreign & english.stopwords
    assert not [token for token in foreign if token.startswith("month")]


def test_question_words_of_every_language_are_folded() -> None:
    assert {"which", "welche", "quelle", "cual", "какои", "quali", "welk"} <= folded_words(
        "question_words"
    )


# -- what is wrong with a lexicon --------------------------------------------------------------------

ASKED = "language: xx\nabout_somebody: who is {}?\n"
WORDS = f"{ASKED}stopwords: the of\n"
PATTERNS = (
    'question_types:\n  date: ["when"]\nfollow_up: ["^and"]\n'
    'cues:\n  question: ["^who"]\n  task: ["^write"]\n'
)


def test_a_lexicon_needs_few_keys() -> None:
    lexicon = Lexicon(f"{WORDS}---\n{PATTERNS}", "xx.yaml")
    assert lexicon.function_words == {"the", "of"}
    assert lexicon.capitals_mark_names
    assert not any((lexicon.openings, lexicon.requests, lexicon.scripts, lexicon.soft))
    assert lexicon.script_letter is None
    assert set(lexicon.cues) == {"question", "task"}
    assert lexicon.labels == {}


def test_a_mark_alone_among_the_words_is_no_word() -> None:
    lexicon = Lexicon(f"{ASKED}stopwords: the \u0301 of\n---\n{PATTERNS}", "xx.yaml")
    assert {"the", "of"} <= lexicon.function_words


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "holds no keys"),
        ("- a\n- b\n", "holds no keys"),
        ("a: [", "is no YAML"),
        (ASKED, "`stopwords`"),
        ("language: xx\nabout_somebody: who is it?\nstopwords: the\n", "`about_somebody`"),
        (WORDS + "stop_words: the\n", "`stop_words`"),
        (WORDS + "number_words: 7\n", "`number_words`"),
        (WORDS + 'soft: ["size"]\n', "`soft`"),
        (WORDS + "greetings: hi\n", "`greetings`"),
        (WORDS + 'surname_particles: ["van"]\n', "`surname_particles`"),
        (WORDS + "scripts: Han\n", "`scripts`"),
        (WORDS + "capitals_mark_names: perhaps\n", "`capitals_mark_names`"),
        (WORDS + 'openings:\n  when: ["When"]\n', "`when`"),
        (WORDS + 'openings:\n  date: ["When"]\n', "`clock`"),
        (WORDS + "requests:\n  keep: note\n", "`requests`"),
        (WORDS + 'requests:\n  kept: ["note"]\n', "`kept`"),
        (WORDS + "stopwords: and\n", "`stopwords` twice, again in line 4"),
        (WORDS + 'requests:\n  former: ["was"]\n  former: ["were"]\n', "`former` twice"),
        (WORDS + 'requests:\n  as_of: ["(?P<cut>on) .+"]\n', "`when`"),
        (WORDS + 'requests:\n  believed: ["thought"]\n', "`belief`"),
        (WORDS + 'requests:\n  keep_whole: ["keep .+"]\n', "`statement`"),
        (WORDS + 'requests:\n  correct: ["no, .+"]\n', "`new`"),
        (WORDS + 'cues:\n  remember: ["recall"]\n', "`cues`"),
    ],
)
def test_what_is_wrong_in_the_first_document_is_named(text: str, named: str) -> None:
    with pytest.raises(ConfigError, match="xx.yaml") as caught:
        Lexicon(text, "xx.yaml")
    assert named in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "holds no keys"),
        ('question_types:\n  date: ["when"]\n', "`follow_up`"),
        (PATTERNS.replace("date", "day"), "`day`"),
        (PATTERNS.replace("task", "tasks"), "`task`"),
        (PATTERNS.replace('["^and"]', "and"), "`follow_up`"),
    ],
)
def test_what_is_wrong_in_the_second_document_is_named_when_it_is_needed(
    text: str, named: str
) -> None:
    lexicon = Lexicon(f"{WORDS}---\n{text}", "xx.yaml")
    with pytest.raises(ConfigError, match="xx.yaml") as caught:
        _ = lexicon.cues
    assert named in str(caught.value)
    assert caught.value.hint


def test_a_pattern_that_is_none_is_named() -> None:
    with pytest.raises(ConfigError, match="is no pattern"):
        compiled("(unclosed")
