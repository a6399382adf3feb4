"""Pure text: tokens, names, numbers and dates."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from snowballstemmer.english_stemmer import EnglishStemmer

from palace.text import (
    MAX_TOKEN_CHARS,
    MONEY,
    canonical_number,
    clip,
    counted,
    estimate_tokens,
    fold,
    month_token,
    name_tokens,
    numbers,
    question_ranges,
    starts_sentence,
    stem,
    tokens,
    tokens_of,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("🙂 — …", []),
        ("数据库", ["数据", "数", "据库", "据", "库"]),
        ("库", ["库"]),
        ("naïve", ["naiv"]),
        ("nai\u0308ve", ["naiv"]),
        ("Straße", ["strass"]),
        ("Øresund", ["oresund"]),
        ("handleWebSocketReconnect", ["handlewebsocketreconnect", "handl", "web", "socket", "reconnect"]),
        ("HTTPServerError", ["httpservererror", "http", "server", "error"]),
        ("okabe_visits", ["okabe_visits", "okab", "visit"]),
        ("v2.0.1", ["v2.0.1", "2", "0", "1", "2.0.1"]),
        ("2.0.1", ["2.0.1", "2.0"]),
        ("ECONNREFUSED", ["econnrefus"]),
        ("Wi-Fi", ["wifi", "wi", "fi"]),
        ("T-shirts", ["tshirt", "t", "shirt"]),
        ("18,000", ["18000"]),
        ("18.000", ["18000"]),
        ("1,234,567", ["1234567"]),
        ("3,5", ["3.5"]),
        ("2026-10-05", ["2026-10-05", "2026", "month10"]),
        ("2026-10", ["2026-10", "2026", "month10"]),
        ("14:30", ["14:30", "14", "30"]),
        ("went", ["go"]),
        ("children", ["child"]),
        ("Priya's", ["priya"]),
        ("Priya’s", ["priya"]),
        ("don't", ["don", "t"]),
        ("12,000원이야", ["12000", MONEY, "이야", "이", "야"]),
        ("5만 원", ["5", "만", MONEY]),
        ("병원", ["병원", "병", "원"]),
        ("October", ["month10", "octob"]),
        ("Oktober", ["month10", "oktob"]),
        ("октября", ["month10", "октябр"]),
        ("may", ["may"]),
        ("May", ["month05", "may"]),
        ("2.11.2026", ["2.11.2026", "2.11", "2026", "month11"]),
        ("2026/3/3", ["2026/3/3", "2026", "3", "3", "month03"]),
        ("2.13.2026", ["2.13.2026", "2.13"]),
        ("02/11/2026", ["02/11/2026", "02", "11", "2026"]),
        ("maart", ["month03", "maart"]),
        ("mei", ["month05", "mei"]),
        ("Mei", ["mei"]),
        ("ottobre", ["month10", "ottobr"]),
        ("października", ["month10", "pazdziernika"]),
        ("augusti", ["month08", "augusti"]),
        ("Ağustos", ["month08", "agusto"]),
        ("базы данных", ["баз", "дан"]),
        ("ёлка", ["елк"]),
        ("がぎぐ", ["がぎ", "が", "ぎぐ", "ぎ", "ぐ"]),
        ("ﾃﾞｰﾀ", ["デー", "デ", "ータ", "ー", "タ"]),
        ("#142", ["142"]),
        ("a.b", ["a", "b"]),
        ("x" * 100, ["x" * MAX_TOKEN_CHARS]),
    ],
)  # fmt: skip
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Квартира", "квартиры"),
        ("Cafe", "CAFÉ"),
        ("ＡＢＣ", "abc"),
        ("deploys", "Deployed"),
        ("ﬁle", "file"),
        ("2026-10-05", "2026-10-05."),
        ("e\u0301tude", "étude"),
        ("Miraʼs", "Mira's"),
        ("O‘Neil", "O’Neil"),
        ("dʼété", "d'été"),
    ],
)
def test_same_tokens(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


@pytest.mark.parametrize(
    ("one", "other"), [("か", "が"), ("ハ", "パ"), ("universe", "unicorn"), ("v2.0.1", "v2.0.2")]
)
def test_different_tokens(one: str, other: str) -> None:
    assert tokens(one)[0] != tokens(other)[0]


@pytest.mark.parametrize("text", ["1." * 100 + "1", "9" * 200 + "-5", "9" * 200 + "-" + "8" * 200])
def test_long_numbers_are_cut(text: str) -> None:
    assert max(map(len, tokens(text))) <= MAX_TOKEN_CHARS


def test_language_names_with_signs_are_no_letter() -> None:
    assert len({tuple(tokens(name)) for name in ("C", "C++", "C#")}) == 3


def test_words_know_their_place() -> None:
    text = "  Hello, Mira's Wi-Fi is v2.0!"
    found = {w.surface: w for w in words(text)}
    assert list(found) == ["Hello", "Mira", "Wi-Fi", "is", "v2.0"]
    assert all(text[w.start :].startswith(surface) for surface, w in found.items())
    assert found["v2.0"].shape == "identifier"


@pytest.mark.parametrize("text", ["Well… Mira", "ﬁve ﬂags for Mira", "１２３ Mira", "½ Mira"])
def test_words_know_their_place_in_text_that_is_not_normal(text: str) -> None:
    last = words(text)[-1]
    assert text[last.start :] == "Mira"


@pytest.mark.parametrize("hidden", ["\u00ad", "\u200b", "\u2060", "\u2063", "\ufeff", "\u200c"])
def test_what_shows_nothing_inside_cuts_no_word(hidden: str) -> None:
    text = f"Ol{hidden}ga moved the data{hidden}base?"
    assert tokens(text) == ["olga", "move", "the", "databas"]
    assert [text[w.start :][: len(hidden) + 2] for w in words(text)] == [
        f"Ol{hidden}",
        "mov",
        "the",
        "dat",
    ]
    assert list(question_ranges(text, words(text))) == [(0, 4)]


def test_joiners_part_the_words_of_other_scripts() -> None:
    assert len(tokens("می\u200cخواهم")) == 2


def test_marks_of_direction_before_a_sentence_make_no_name() -> None:
    assert list(name_tokens("\u200eMoved to Oslo.\n\ufeffMoved back.")) == ["oslo"]


def test_shapes() -> None:
    shapes = {w.surface: w.shape for w in words("Mira fixed app.py 14 数据 x_y a@b.example")}
    assert shapes == {
        "Mira": "word",
        "fixed": "word",
        "app.py": "identifier",
        "14": "number",
        "数据": "dense",
        "x_y": "identifier",
        "a@b.example": "identifier",
    }


@pytest.mark.parametrize(
    "text", ["48 €", "€48", "48\u00a0€", "$48", "£ 48", "￥48", "48 € für 2", "1.250,-", "35,–"]
)
def test_the_sign_of_a_currency_is_indexed_whichever_it_is(text: str) -> None:
    assert MONEY in tokens(text)


@pytest.mark.parametrize("text", ["$HOME", "C$", "in €", "48 km", "£", "3,-a", "x,-"])
def test_a_sign_without_an_amount_is_none(text: str) -> None:
    assert MONEY not in tokens(text)


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "a-" * 100_000, "数" * 100_000, "1," * 100_000, "A" * 9 + " '" * 90_000]
)
def test_words_are_linear(text: str) -> None:
    started = time.process_time()
    words(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Mira Holt at the lake.", ["mira", "holt"]),
        ("Mira Holt met us.", ["mira", "holt"]),
        ("Today we met nobody.", []),
        ("Yes. Then we left.", []),
        ("it is in app_config now", ["app_config"]),
        ("- Call Mira", ["call", "mira"]),
        ("", []),
    ],
)
def test_name_tokens(text: str, expected: list[str]) -> None:
    assert list(name_tokens(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("It went well.", []),
        ("How did it go? Well. And you?!", ["how do it go", "and you"]),
        ("Really? (Was it v2.0.1?) Yes", ["realli", "be it v2.0.1 2 0 1 2.0.1"]),
        ('He said "why?" and left', ["he say whi"]),
        ("see http://a.b/?q=1 now", []),
        ("你好吗？好。", ["你好 你 好吗 好 吗"]),
        ("one line\nand what\nelse?", ["els"]),
        ("?", []),
        ("e\u0301te\u0301 e\u0301te\u0301? e\u0301te\u0301", ["ete ete"]),
    ],
)
def test_question_ranges(text: str, expected: list[str]) -> None:
    found = words(text)
    cut = tokens_of(found)
    assert [" ".join(cut[a:b]) for a, b in question_ranges(text, found)] == expected


@pytest.mark.parametrize("before", ["👋 ", "🐝🐝 ", "- 👋 ", "** ", "🙂, "])
def test_a_small_picture_before_the_first_word_says_nothing(before: str) -> None:
    assert starts_sentence(f"{before}Queens are marked.", len(before))
    assert not starts_sentence(f"We like 👋 {before}Queens", len(f"We like 👋 {before}"))


def test_sentence_starts() -> None:
    text = "One. Two (Three) *Four*: Five, Six"
    starts = {w: starts_sentence(text, text.index(w)) for w in text.replace(",", "").split()}
    assert starts == {
        "One.": True,
        "Two": True,
        "(Three)": False,
        "*Four*:": False,
        "Five": True,
        "Six": False,
    }


@pytest.mark.parametrize(
    ("word", "expected"),
    [("went", "go"), ("gone", "go"), ("bought", "buy"), ("children", "child"), ("kettles", "kettl"),
     ("added", "ad"), ("universities", "univers"), ("emergency", "emerg"), ("paste", "past"),
     ("квартиры", "квартир"), ("数据", "数据"), ("v2", "v2"), ("", "")],
)  # fmt: skip
def test_stem(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_threads_stem_side_by_side() -> None:
    # New words: those known are looked up.
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            given = [f"{'ab' * n}{end}" for n in range(1, 60) for end in ("ationally", "ing", "s")]
            found = list(threads.map(lambda _: [stem.__wrapped__(w) for w in given], range(4)))
    finally:
        sys.setswitchinterval(before)
    assert found == [[EnglishStemmer().stemWord(w) for w in given]] * 4


def test_fold() -> None:
    assert fold("ÀÉÎ ﬁ Ⅷ ß Ł") == "aei fi viii ss l"
    assert fold("が") == "が"
    assert fold("한국") == "한국"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("18,000", "18000"),
        ("18.000", "18000"),
        ("1,234,567", "1234567"),
        ("3,5", "3.5"),
        ("3.5", "3.5"),
        ("42", "42"),
        ("1,234.56", "1234.56"),
        ("1.234,56", "1234.56"),
    ],
)
def test_canonical_number(text: str, expected: str) -> None:
    assert canonical_number(text) == expected


def test_numbers() -> None:
    assert numbers("18,000 for 3 at 3,5 and 3") == ("18000", "3", "3.5", "3")
    assert numbers("none") == ()


@pytest.mark.parametrize(
    ("word", "token"),
    [("October", "month10"), ("märz", "month03"), ("Décembre", "month12"), ("мая", "month05"),
     ("mei", "month05"), ("Mei", None), ("stycznia", "month01"), ("Şubat", "month02"), ("maja", None),
     ("febbraio", "month02"), ("sept", "month09"), ("smarch", None), ("", None)],
)  # fmt: skip
def test_month_token(word: str, token: str | None) -> None:
    assert month_token(word) == token


@pytest.mark.parametrize(
    ("text", "tokens_"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("数据库", 3), ("数ab", 2)]
)
def test_estimate_tokens(text: str, tokens_: int) -> None:
    assert estimate_tokens(text) == tokens_


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 10, "short"),
        (" a \n b ", 10, "a b"),
        ("one two three", 9, "one two…"),
        ("abcdefghij", 5, "abcd…"),
        ("a bcdefghijkl", 8, "a bcdef…"),
        ("", 5, ""),
    ],
)
def test_clip(text: str, limit: int, expected: str) -> None:
    assert clip(text, limit) == expected


@pytest.mark.parametrize(("text", "token"), [("⑽", "10"), ("⒜", "a"), ("㈠", "一")])
def test_brackets_inside_one_character_are_no_part_of_a_word(text: str, token: str) -> None:
    assert fold(text) == token
    assert not {"(", ")"} & set("".join(tokens(f"see {text} there")))


@pytest.mark.parametrize(
    ("said", "number"), [("0 memories", 0), ("1 memory", 1), ("2 memories", 2), ("-1 memories", -1)]
)
def test_one_is_said_as_one(said, number):
    assert counted(number, "memory", "memories") == said


def test_most_words_for_many_end_in_s():
    assert (counted(1, "file"), counted(2, "file")) == ("1 file", "2 files")
