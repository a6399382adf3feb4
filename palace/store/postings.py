"""Which memories hold the words of a question: posting lists, read only as far as they matter.

In: words of memories by partition; the lists a question could use, with their lengths. Out: the
rows of the memories that hold the most of it, best first.

A *partition* is everything one layer holds in one scope. It is part of every list's name, so a
reader never touches the lists of others, and their lengths are counted for each partition too. A
word that stands in the place of a memory only (its heading, title, room …) has a list of its own,
because it weighs less. The row of a memory is its key with its length in front, the shorter the
smaller: among memories that hold the same words once, the first of a list are the best by BM25.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

# BM25's usual constants, as FTS5 has them: saturation of repetitions, weight of length.
_K1, _B = 1.2, 0.75
_PLACE_FREQUENCY = 0.5
"""How often a word counts as said that only stands in a memory's place."""

_PLACE_SHARE = _PLACE_FREQUENCY * (_K1 + 1) / (_PLACE_FREQUENCY + _K1)
_SCANNED_ROWS = 1000
_JOINED_LISTS = 5
_JOINED_SHARE = 0.4
_JOINS = 16
_KEY_BITS = 40
_KEY_MASK = (1 << _KEY_BITS) - 1
_CLASSES_PER_OCTAVE = 4


class PostingList(NamedTuple):
    """One list, or several read as one.

    Attributes:
        expression: What FTS5 is asked for.
        weight: What holding it is worth.
        rows: How many memories it has.
    """

    expression: str
    weight: float
    rows: int


Matching = Callable[[Sequence[str], int], Iterable[tuple[int, int]]]
"""Returns (number of an expression, row it matches), in order, at most so many (-1: all).

All expressions are asked in one call, because a call costs more than the rows of a short list.
"""


def posting_words(partition: int, body: Iterable[str], context: Iterable[str]) -> str:
    """Return the names of all lists that one memory belongs to, space-joined."""
    own = dict.fromkeys(body)
    place = (token for token in dict.fromkeys(context) if token not in own)
    return " ".join(
        (*(f"{partition}={token}" for token in own), *(f"{partition}~{token}" for token in place))
    )


def posting_lists(
    term: str, counts: Sequence[tuple[int, int, int]], weight: float
) -> Iterable[PostingList]:
    """Yield the lists of one term.

    Args:
        term: An index token.
        counts: (partition, memories that say it, memories whose place alone has it).
        weight: The term's inverse document frequency.
    """
    for mark, column, share in (("=", 1, 1.0), ("~", 2, _PLACE_SHARE)):
        held = [row for row in counts if row[column]]
        if held:
            expression = " OR ".join([f'"{row[0]}{mark}{term}"' for row in held])
            rows = sum([row[column] for row in held])
            yield PostingList(f"({expression})", share * weight, rows)


def holding_all(terms: Iterable[str], partitions: Sequence[int]) -> str:
    """Return the expression for the memories of some partitions that hold all terms anywhere."""
    held = ([f'"{number}{mark}{term}"' for number in partitions for mark in "=~"] for term in terms)
    return " AND ".join(f"({' OR '.join(lists)})" for lists in held)


def posting_row(key: int, tokens: int) -> int:
    """Return the row of a memory in all its lists.

    Args:
        key: Of the memory, positive.
        tokens: How long it is, its place included.
    """
    return int(_CLASSES_PER_OCTAVE * math.log2(tokens + 1)) << _KEY_BITS | key


def keys_of(rows: Iterable[int]) -> list[int]:
    """Return the keys of the memories of some rows, in their order."""
    return [row & _KEY_MASK for row in rows]


def best_rows(matching: Matching, lists: Sequence[PostingList], *, wanted: int) -> list[int]:
    """Return the rows of the memories that hold the most of what is asked, best first.

    Short lists are read to their end. A long one is only read where it meets them, and by itself
    only for memories that could still be among the best: where it meets other long ones, and its
    first rows.

    Args:
        matching: Reads the lists.
        lists: The lists of all terms.
        wanted: How many rows, >= 1.

    Source: the idea of MaxScore (Turtle & Flood 1995), with whole lists instead of blocks.
    """
    short, long = _split(lists)
    scores: dict[int, float] = {}
    worth = [one.weight for one in short]
    for number, row in matching([one.expression for one in short], -1) if short else ():
        scores[row] = scores.get(row, 0.0) + worth[number]
    if short and long:
        met = " OR ".join(one.expression for one in short)
        for number, row in matching([f"({met}) AND {one.expression}" for one in long], -1):
            # Another program may have written the memory since the short lists were read.
            scores[row] = scores.get(row, 0.0) + long[number].weight
    _add_long(matching, long, scores, wanted)
    bar = sorted(scores.values(), reverse=True)[:wanted][-1] if scores else 0.0
    above = [row for row, score in scores.items() if score > bar]
    level = [row for row, score in scores.items() if score == bar]
    return [*sorted(above, key=lambda row: (-scores[row], row)), *sorted(level)][:wanted]


def _split(lists: Sequence[PostingList]) -> tuple[list[PostingList], list[PostingList]]:
    """Return the lists that are read whole, shortest first, and the others, most telling first."""
    ordered = sorted(lists, key=lambda one: one.rows)
    rows = 0
    for number, one in enumerate(ordered):
        rows += one.rows
        if rows > _SCANNED_ROWS:
            return ordered[:number], sorted(ordered[number:], key=lambda one: -one.weight)
    return ordered, []


def _add_long(
    matching: Matching, long: Sequence[PostingList], scores: dict[int, float], wanted: int
) -> None:
    """Add memories that only long lists know, as long as they could be among the best."""
    if not long:
        return
    telling = [one for one in long if one.weight >= _JOINED_SHARE * long[0].weight]
    telling = telling[:_JOINED_LISTS]
    several = (join for size in range(2, len(telling) + 1) for join in combinations(telling, size))
    joins = sorted(several, key=_weight, reverse=True)[:_JOINS]
    known, added = sorted(scores.values()), 0
    # Each by itself as well: where enough memories are held, enough are found.
    for join in sorted([*joins, *((one,) for one in long)], key=_weight, reverse=True):
        weight = _weight(join)
        # What was added scores no less, because the heaviest join came first.
        if len(known) - bisect_left(known, weight) + added >= wanted:
            return
        for _, row in matching([" AND ".join(one.expression for one in join)], wanted):
            if row not in scores:
                scores[row] = weight
                added += 1


def _weight(join: Iterable[PostingList]) -> float:
    return sum(one.weight for one in join)


def bm25(
    weights: Mapping[str, float],
    places: Mapping[str, int],
    average_tokens: float,
    body: Sequence[str],
    context: Sequence[str],
) -> float:
    """Return the relevance of a memory from the weights of the words asked and its own tokens.

    Args:
        weights: Of the words asked.
        places: Of these words in the question: in its order sums come out the same.
        average_tokens: How long memories are.
        body: Of the memory.
        context: Of its place.

    Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
    """
    length = (len(body) + len(context)) / average_tokens
    norm = _K1 * (1 - _B + _B * length)
    held, around = weights.keys() & body, weights.keys() & context
    held = held | around if around else held  # mostly a place says nothing of it
    total = 0.0
    for term in sorted(held, key=places.__getitem__) if len(held) > 1 else held:
        frequency = float(body.count(term))
        if around:
            frequency += _PLACE_FREQUENCY * context.count(term)
        total += weights[term] * frequency * (_K1 + 1) / (frequency + norm)
    return total
