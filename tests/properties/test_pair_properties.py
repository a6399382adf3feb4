"""Laws of duplicates and conflicts, for any text and for statements made of slots."""

from __future__ import annotations

import time
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from palace import Duplicate, Mempalace
from palace.learn.comparing import compare
from palace.learn.conflict import find_conflicts
from palace.learn.dedup import find_duplicate, says_the_same
from palace.learn.statement import read_statement
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
plain = settings(deadline=None, max_examples=60)
texts = st.text(max_size=200)
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
