"""Posting lists: names, key order, and that reading less finds the same."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from palace.store import postings
from palace.store.postings import (
    PostingList,
    best_rows,
    keys_of,
    posting_lists,
    posting_row,
    posting_words,
)


class Lists:
    """Keys by list name, read as FTS5 reads them; counts what was asked for."""

    def __init__(self, **keys: set[int]) -> None:
        self.keys = keys
        self.asked: list[tuple[str, int]] = []

    def __call__(self, expressions: Sequence[str], limit: int) -> list[tuple[int, int]]:
        self.asked += [(expression, limit) for expression in expressions]
        found = [
            (number, row)
            for number, expression in enumerate(expressions)
            for row in sorted(self._matched(expression))
        ]
        return found if limit < 0 else found[:limit]

    def _matched(self, expression: str) -> set[int]:
        sides = [side.strip("() ").split(" OR ") for side in expression.split(" AND ")]
        return set.intersection(*(set.union(*(self.keys[n] for n in side)) for side in sides))

    def lists(self, **weights: float) -> list[PostingList]:
        return [PostingList(n, w, len(self.keys[n])) for n, w in weights.items()]


def test_names_of_lists_tell_partition_and_place() -> None:
    assert posting_words(3, ["tea", "pot", "tea"], ["pot", "room", "room"]) == "3=tea 3=pot 3~room"
    (said, place) = posting_lists("tea", [(0, 5, 0), (7, 2, 4)], 2.0)
    assert (said.expression, said.rows, said.weight) == ('("0=tea" OR "7=tea")', 7, 2.0)
    assert (place.expression, place.rows) == ('("7~tea")', 4)
    assert place.weight < said.weight


def test_shorter_memories_come_first_in_a_list() -> None:
    rows = [posting_row(10**9 - tokens, tokens) for tokens in (1, 2, 5, 9, 20, 45, 100, 5000)]
    assert rows == sorted(rows)
    assert keys_of(rows[:2]) == [10**9 - 1, 10**9 - 2]
    assert posting_row(7, 10) < posting_row(8, 10)


def test_short_lists_are_read_whole_and_summed() -> None:
    lists = Lists(a={1, 2, 3}, b={2, 3, 4}, c={3})
    found = best_rows(lists, lists.lists(a=1.0, b=1.5, c=3.0), wanted=3)
    assert found == [3, 2, 4]
    assert all(limit < 0 for _, limit in lists.asked)


def test_long_lists_are_read_where_they_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "_SCANNED_ROWS", 10)
    lists = Lists(rare={7, 500}, big=set(range(0, 1000, 2)), huge=set(range(1000)))
    found = best_rows(lists, lists.lists(rare=5.0, big=2.0, huge=1.0), wanted=4)
    assert found == [500, 7, 0, 2]  # rare + both, rare + huge, then what holds both long ones
    whole = [name for name, limit in lists.asked if limit < 0 and " AND " not in name]
    assert whole == ["rare"]


def test_long_lists_alone_are_not_read_when_enough_is_better(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postings, "_SCANNED_ROWS", 10)
    lists = Lists(rare={1, 2, 3}, huge=set(range(1000)))
    assert best_rows(lists, lists.lists(rare=5.0, huge=1.0), wanted=3) == [1, 2, 3]
    assert not any(limit > 0 for _, limit in lists.asked)


def test_a_single_long_list_gives_its_first() -> None:
    lists = Lists(huge=set(range(100, 9000)))
    assert best_rows(lists, lists.lists(huge=1.0), wanted=3) == [100, 101, 102]


def test_a_memory_written_between_two_reads_breaks_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The lists are read one after the other; another program may write in between."""
    monkeypatch.setattr(postings, "_SCANNED_ROWS", 2)
    lists = [PostingList("rare", 2.0, 1), PostingList("common", 1.0, 50)]

    def matching(expressions: Sequence[str], _limit: int) -> list[tuple[int, int]]:
        return [(0, 7), (0, 9)] if "AND" in expressions[0] else [(0, 7)]

    assert best_rows(matching, lists, wanted=5) == [7, 9]


def test_words_that_never_stand_together_find_memories_too() -> None:
    keys = {name: {number * 5 + n for number in range(1001)} for n, name in enumerate("abcde")}
    lists = Lists(**keys)
    assert len(best_rows(lists, lists.lists(a=1, b=1, c=1, d=1, e=1), wanted=16)) == 16


def test_a_light_list_fills_up_what_a_heavy_one_lacks() -> None:
    lists = Lists(a=set(range(600)), b=set(range(600, 1100)), c=set(range(2000, 4000)))
    found = best_rows(lists, lists.lists(a=5.0, b=5.0, c=1.0), wanted=1500)
    assert len(found) == 1500
    assert set(found) > set(range(1100))
