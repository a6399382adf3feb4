"""What holds for any text: tokens are safe, short and the same twice."""

from __future__ import annotations

import unicodedata

import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from palace import text as palace_text
from palace.text import (
    MAX_TOKEN_CHARS,
    MONEY,
    canonical_number,
    clip,
    estimate_tokens,
    fold,
    labels,
    name_tokens,
    numbers,
    tokens,
    words,
)
from palace.text.moments import id_time, new_id
from tests.properties.strategies import any_text

LIGHT = settings(deadline=None, max_examples=60)
scripts = st.text(
    alphabet=st.one_of(
        st.characters(codec="utf-8", categories=("L", "M", "N")),
        st.sampled_from(list("aZ09_.-:/@+,'’ …ﬁ½数がﾞКй\u0301\u200d")),
    ),
    max_size=60,
)
texts = st.one_of(any_text, scripts)
ascii_texts = st.one_of(
    st.text(alphabet=[chr(code) for code in range(128)], max_size=60),
    st.text(alphabet=list("aZ_9 .-:/@+,#'C"), max_size=60),
)


@settings(deadline=None, max_examples=300)
@given(ascii_texts)
def test_plain_letters_are_cut_as_any_others(text: str) -> None:
    one, other = (
        [(match[0], match.lastgroup, match.start()) for match in pattern.finditer(text)]
        for pattern in (palace_text._CHUNK, palace_text._ASCII_CHUNK)
    )
    assert one == other


@LIGHT
@given(texts)
@example("0£")
def test_tokens_are_short_and_of_letters_digits_and_inner_punctuation(text: str) -> None:
    for token in tokens(text):
        assert 1 <= len(token) <= MAX_TOKEN_CHARS
        # `regex` knows the letters of newer Unicode versions than the interpreter may.
        others = set(regex.sub(r"[\p{L}\p{M}\p{N}]", "", token))
        assert token == MONEY or others <= set("._:/@+,#-'’"), (token, others)


@LIGHT
@given(texts)
def test_tokens_are_the_same_every_time_and_in_any_normal_form(text: str) -> None:
    assert tokens(text) == tokens(text)
    assert tokens(text) == tokens(unicodedata.normalize("NFC", text))
    assert tokens(text) == tokens(unicodedata.normalize("NFD", text))


@LIGHT
@given(texts, texts)
def test_tokens_of_separate_lines_are_separate(one: str, other: str) -> None:
    assert tokens(f"{one}\n\n{other}") == [*tokens(one), *tokens(other)]


@LIGHT
@given(texts)
def test_names_are_tokens(text: str) -> None:
    assert set(name_tokens(text)) <= set(tokens(text))


@LIGHT
@example("ำำ")  # folded, each is two characters
@example("¯\uff000")  # composed, the first is two
@given(texts)
def test_words_stand_in_order_inside_the_text(text: str) -> None:
    starts = [w.start for w in words(text)]
    assert starts == sorted(starts)
    assert all(0 <= start < max(len(text), 1) for start in starts)


@LIGHT
@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=80))
def test_words_know_their_place(text: str) -> None:
    assert all(text.startswith(w.surface, w.start) for w in words(text))


@LIGHT
@given(texts)
def test_fold_is_idempotent(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@LIGHT
@given(texts)
def test_numbers_and_dates_never_fail(text: str) -> None:
    assert all(canonical_number(n) == n for n in numbers(text))


@LIGHT
@given(texts, texts)
def test_estimate_grows_with_the_text(one: str, other: str) -> None:
    assert 0 <= estimate_tokens(one) <= estimate_tokens(one + other)
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)


@LIGHT
@given(texts, st.integers(min_value=1, max_value=80))
def test_clip_fits_one_line(text: str, limit: int) -> None:
    cut = clip(text, limit)
    assert len(cut) <= limit
    assert "\n" not in cut
    assert clip(cut, limit) == cut


@LIGHT
@given(texts)
def test_only_ids_tell_a_time(text: str) -> None:
    assert id_time(text) is None
    assert id_time(new_id("m")) is not None


labelled_texts = st.lists(
    st.sampled_from(
        ["Question:", "question :", "User:", "Answer:", "Helpful Answer:", "follow-up: it", "what is x",
         ". original question: ", "new query:", "> ", "\n", "\n\n", "\r\n", "\x1c", "\u2028", " ", "?", ":"]
    ),
    max_size=12,
).map("".join)  # fmt: skip


@given(labelled_texts)
@LIGHT
def test_a_label_is_found_where_only_the_last_lines_are_read(text: str) -> None:
    whole = labels._LABELLED_TAIL.search(text)
    found = labels._LABELLED_TAIL.search(text, labels._last_lines(text))
    assert (found and found.span()) == (whole and whole.span())


HIDDEN = ["\u00ad", "\u200b", "\u200e", "\u202c", "\u2060", "\u2063", "\ufeff"]


@settings(deadline=None, max_examples=300)
@given(texts, st.data())
def test_what_shows_nothing_changes_no_token(text: str, data: st.DataObject) -> None:
    shown = palace_text.HIDDEN.sub("", text)
    shown = palace_text.HIDDEN.sub("", shown)
    letters = list(shown)
    for _ in range(data.draw(st.integers(min_value=1, max_value=4))):
        place = data.draw(st.integers(min_value=0, max_value=len(letters)))
        letters.insert(place, data.draw(st.sampled_from(HIDDEN)))
    written = "".join(letters)
    assert tokens(written) == tokens(shown)
    found = words(written)
    assert [w.surface for w in found] == [w.surface for w in words(shown)]
    assert all(0 <= w.start < len(written) for w in found)
