"""Laws of duplicates and conflicts, for any text and for statements made of slots."""

from __future__ import annotations

import time
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from palace import Duplicate, Mempalace
from palace.learn import parsed, values
from palace.learn.comparing import compare, may_be_same
from palace.learn.conflict import find_conflicts
from palace.learn.dedup import find_duplicate, says_the_same
from palace.learn.parsed import read_statement
from palace.learn.word_classes import ANTONYMS, opposites_of
from tests.doubles import memory

THINGS = "kettle archive greenhouse printer boathouse orchard canteen telescope".split()
ATTRIBUTES = (
    "costs {} euros a month",
    "weighs {} kilos",
    "holds {} litres",
    "is {} years old",
    "runs version {}.0.1",
    "expires on {} May",
    "listens on port {}",
    "opens at {}:15",
)
# Few enough that two statements often share most of them.
WORDS = (
    "the|my|a|printer|pritner|kettle|Kettle|port|Mira|Jonas|stands|lives|hold|new|in|on|at|to|from"
    "|not|no longer|isn't|cannot|now|switched|last year|this week|read only|twenty-five|over night"
    "|hi,|note:|half past six|seven|7|7:00|7pm|7.30|7:30|5432|5,432|2024|v2.1.0|14|14th|May|may|€"
    "|2026-05-14|Monday|second|kilos|litres|.|,"
).split("|")
plain = settings(deadline=None, max_examples=60)
texts = st.text(max_size=200)
sayings = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7)
facts = st.tuples(
    st.sampled_from(THINGS), st.sampled_from(ATTRIBUTES), st.integers(min_value=10, max_value=23)
)


def said(fact: tuple[str, str, int]) -> str:
    thing, attribute, value = fact
    return f"The {thing} {attribute.format(value)}."


def contradicts(stored: str, new: str) -> bool:
    return bool(find_conflicts(new, [memory(stored, 0)]))


@plain
@given(facts, facts)
def test_another_value_conflicts_and_nothing_else_does(
    one: tuple[str, str, int], other: tuple[str, str, int]
) -> None:
    expected = one[:2] == other[:2] and one[2] != other[2]
    assert contradicts(said(one), said(other)) is expected
    assert says_the_same(said(one), said(other)) is (one == other)


@plain
@given(texts, texts)
def test_comparing_never_fails_and_sameness_is_symmetric(one: str, other: str) -> None:
    assert says_the_same(one, other) is says_the_same(other, one)
    compare(read_statement(one), read_statement(other))


@st.composite
def resembling(draw: st.DrawFn) -> tuple[str, str]:
    """Two statements, the second the first one with something moved, added, left out or changed."""
    one = draw(sayings)
    other = list(one)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(other)))
        put = draw(st.lists(st.sampled_from(WORDS), max_size=1))
        other[at : at + draw(st.integers(0, 1))] = put
        cut = draw(st.integers(0, len(other)))
        other = draw(st.sampled_from([other, other[cut:] + other[:cut], swapped(other, cut)]))
    return " ".join(one), " ".join(other)


def swapped(words: list[str], at: int) -> list[str]:
    """Swap two letters of one word."""
    return [w[:2] + w[3:4] + w[2:3] + w[4:] if n == at else w for n, w in enumerate(words)]


@settings(deadline=None, max_examples=500)
@given(resembling())
def test_what_is_passed_by_at_a_glance_is_not_the_same(pair: tuple[str, str]) -> None:
    one, other = map(read_statement, pair)
    for a, b in ((one, other), (other, one)):
        assert may_be_same(a, b) or compare(a, b).relation != "same"
        for term, handles in zip(a.terms, a.handles, strict=True):
            if handles.isdisjoint(b.known):
                assert not any(values.are_equal(term, t) for t in b.terms)


@settings(deadline=None, max_examples=300)
@given(sayings.map(" ".join) | texts)
def test_what_is_not_looked_for_is_not_there(text: str) -> None:
    plain_words = text
    for _, pattern, instead in values._PHRASES:
        plain_words = pattern.sub(instead, plain_words)
    assert values._in_plain_words(text) == plain_words
    pieces = values.cut(text)
    for at, piece in enumerate(pieces):
        if values.read_value(pieces, at) is None:
            readers = (values._date, values._told_clock, values._clock_after, values._number)
            assert not any(reader(pieces, at) for reader in readers), piece


@settings(deadline=None, max_examples=500)
@given(
    sayings.map(" ".join) | texts | st.text(alphabet="17 apm:.,h-/v€\t\n\u2009\x1cAé²", max_size=30)
)
def test_a_text_is_cut_at_its_blanks_as_it_is_as_a_whole(text: str) -> None:
    text = values._in_plain_words(text.replace("\u00a0", " "))
    whole = [values._piece(m[0], values._kind_of(m)) for m in values._PIECE.finditer(text)]
    chunks = values._CHUNK.findall(text)
    assert [piece for chunk in chunks for piece in values._pieces_of(chunk)] == whole


@settings(deadline=None, max_examples=300)
@given(sayings.map(" ".join) | texts)
def test_what_a_word_says_by_itself_it_says_everywhere(text: str) -> None:
    pieces = values.cut(text)
    for at, piece in enumerate(pieces):
        alone = parsed._alone(piece)
        if alone is not None and piece.kind == "word":
            assert values.read_value(pieces, at) is None
            assert alone == (parsed._word(pieces, at), 1)


@plain
@given(st.sampled_from(sorted(ANTONYMS)), st.sampled_from(("", "un", "dis", "non", "unun")))
def test_opposites_are_mutual(stem: str, prefix: str) -> None:
    assert all(stem in opposites_of(other) for other in opposites_of(stem))
    prefixed = prefix + stem
    assert (prefixed in opposites_of(stem)) is (stem in opposites_of(prefixed))
    assert stem not in opposites_of(stem)


@plain
@given(texts)
def test_nothing_contradicts_itself(text: str) -> None:
    assert find_duplicate(text, [memory(text, 0)]) is not None
    assert not contradicts(text, text)


@settings(deadline=None, max_examples=12)
@given(st.lists(facts, min_size=1, max_size=4))
def test_saying_it_twice_never_stores_it_twice(
    tmp_path_factory: object, told: list[tuple[str, str, int]]
) -> None:
    root = tmp_path_factory.mktemp("palace")  # type: ignore[attr-defined]
    with Mempalace.open(Path(root)) as palace:
        for fact in told:
            palace.remember(said(fact), on_conflict="keep")
        before = len(palace.memories())
        assert before == len(set(told))
        for fact in told:
            assert isinstance(palace.remember(said(fact), on_conflict="keep"), Duplicate)
        assert len(palace.memories()) == before


def test_long_texts_are_cheap() -> None:
    for shape in (
        "word ",
        "x",
        "17 ",
        "not no ",
        "Mira pays Jonas 5 euros. ",
        "a-",
        "../",
        "\u6f22",
    ):
        text = (shape * 20_000)[:20_000]
        held = [memory(text[: -number - 2] + "y", number) for number in range(16)]
        started = time.process_time()
        find_duplicate(text, held)
        find_conflicts(text, held)
        assert time.process_time() - started < 4.0
