"""How many memories hold a term, by what a reader may see of them: the vocabulary of the index.

In: a scope and terms. Out: partitions of the index, counts and weights of terms. What was read is
kept until any process changes the database.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from string import ascii_lowercase

from palace.ports import Scope, TermCounts
from palace.store.index_database import IndexDatabase, State
from palace.store.index_rows import sayable
from palace.types.verdict import LayerName

_KEPT_TERMS = 100_000
_READ_AT_ONCE = 400
_LAST_CHARACTER = "\U0010ffff"
# Of thousands of words that are asked for at once, nearly all are in no memory.
_NO_ROW, _NOBODY = (0, 0, 0), TermCounts(0, 0)


@dataclass(frozen=True, slots=True)
class Partition:
    """What the index holds of one layer in one scope, and how much it is."""

    number: int
    layer: str
    memories: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Visible:
    """What a reader of one scope may see, as long as nothing changes the database.

    Attributes:
        partitions: What it is.
        counts: How many memories hold a term, of those terms that were asked.
    """

    partitions: list[Partition]
    counts: dict[str, TermCounts] = field(default_factory=dict)

    @property
    def memories(self) -> int:
        """How many active memories there are."""
        return sum(p.memories for p in self.partitions)

    @property
    def numbers(self) -> list[int]:
        """The numbers of the partitions."""
        return [p.number for p in self.partitions]

    def of_layer(self, layer: LayerName) -> list[int]:
        """Return the numbers of the partitions of a layer."""
        return [p.number for p in self.partitions if p.layer == layer]


class _Thread(threading.local):
    """Whether this thread takes the database to be as it was last."""

    is_steady = False


class TermTable:
    """The tables `partitions` and `terms` of an index."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        self._as_of: State | None = None
        self._rows: dict[int, dict[str, tuple[int, int, int]]] = {}
        self._visible: dict[Scope, Visible] = {}
        self._kept = 0
        self._renewals = 0
        self._thread = _Thread()

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Look once whether anything has changed, and not at every call of this thread."""
        with self._database.held():
            self._renew()
        self._thread.is_steady = True
        try:
            yield
        finally:
            self._thread.is_steady = False

    def state(self) -> int:
        """Return what differs after any process changed the database, or it is another one."""
        with self._database.held():
            self._renew()
            return self._renewals

    def visible(self, scope: Scope) -> Visible:
        """Return what a reader of this scope may see."""
        with self._database.held():
            self._renew()
            if scope not in self._visible:
                rows = self._database.rows(
                    "SELECT number, layer, memories, tokens FROM partitions"
                    " WHERE scope IN ('global', ?, ?)",
                    _scopes(scope),
                )
                self._visible[scope] = Visible([Partition(*row) for row in rows])
            return self._visible[scope]

    def counts(self, terms: Iterable[str], visible: Visible) -> dict[str, TermCounts]:
        """Return how many of the visible memories hold each term."""
        terms, known = dict.fromkeys(terms), visible.counts
        unknown = [term for term in terms if term not in known]
        if unknown:
            self._kept += len(unknown)
            self._read(unknown, visible.numbers)
            known.update(dict.fromkeys(unknown, _NOBODY))
            for rows in (self._rows[number] for number in visible.numbers):
                for term in unknown:
                    if (row := rows[term]) != _NO_ROW:
                        body, place, names = row
                        count = known[term]
                        known[term] = TermCounts(count.any + body + place, count.name + names)
        return {term: known[term] for term in terms}

    def alike(self, token: str, visible: Visible) -> list[str]:
        """Return the visible tokens, with its first letter, that may be one slip away from one.

        A slip in the second letter makes one of a few tokens of it. Any other leaves the first two
        as they are, and what stands before the middle or what stands behind it.
        """
        token = sayable(token)
        if not token:
            return []
        middle, numbers, few = len(token) // 2, visible.numbers, _slips_in_the_second(token)
        begin, head, tail = token[:2], token[:middle], token[middle + 1 :]
        held = f"SELECT term FROM terms WHERE partition IN ({marks(numbers)}) AND body + place > 0"
        found = self._database.rows(
            f"{held} AND term >= ? AND term < ? AND length(term) BETWEEN ? AND ?"
            " AND (substr(term, 1, ?) = ? OR substr(term, -?) = ?)"
            f" UNION {held} AND term IN ({marks(few)})",
            (
                *(*numbers, begin, begin + _LAST_CHARACTER, len(token) - 1, len(token) + 1),
                *(middle, head, len(tail), tail),
                *(*numbers, *few),
            ),
        )
        return sorted(term for (term,) in found if term != token)

    def beginning(self, letters: str, most_chars: int, visible: Visible) -> list[str]:
        """Return the visible tokens that begin with some letters and have at most so many."""
        letters, numbers = sayable(letters), visible.numbers
        if not letters:
            return []
        found = self._database.rows(
            f"SELECT DISTINCT term FROM terms WHERE partition IN ({marks(numbers)})"
            " AND body + place > 0 AND term >= ? AND term < ? AND length(term) <= ? ORDER BY term",
            (*numbers, letters, letters + _LAST_CHARACTER, most_chars),
        )
        return [term for (term,) in found]

    def rows(
        self, terms: Iterable[str], visible: Visible, layer: LayerName
    ) -> dict[str, list[tuple[int, int, int]]]:
        """Return of each term (partition, memories that say it, memories whose place has it)."""
        terms = list(terms)
        searched = visible.of_layer(layer)
        self._read(terms, searched)
        read = [(number, self._rows[number]) for number in searched]
        return {t: [(number, *rows[t][:2]) for number, rows in read] for t in terms}

    def weights(self, terms: Iterable[str], visible: Visible) -> dict[str, float]:
        """Return the inverse document frequency of each term among the visible memories."""
        size = visible.memories
        return {
            term: math.log(1.0 + (size - count.any + 0.5) / (count.any + 0.5))
            for term, count in self.counts(terms, visible).items()
        }

    def _read(self, terms: Sequence[str], numbers: Sequence[int]) -> None:
        """Read how many memories of each partition say a term, only stand where it is, name it.

        What is known already is not read again; of all the rest a few statements tell.
        """
        read = [self._rows.setdefault(number, {}) for number in numbers]
        unknown = list(dict.fromkeys([t for rows in read for t in terms if t not in rows]))
        for start in range(0, len(unknown), _READ_AT_ONCE):
            some = unknown[start : start + _READ_AT_ONCE]
            asked = {sayable(term): term for term in some}
            for rows in read:
                rows.update(dict.fromkeys(some, _NO_ROW))
            found = self._database.rows(
                "SELECT partition, term, body, place, names FROM terms"
                f" WHERE partition IN ({marks(numbers)}) AND term IN ({marks(asked)})",
                (*numbers, *asked),
            )
            for number, term, body, place, names in found:
                self._rows[number][asked[term]] = (body, place, names)

    def _renew(self) -> None:
        """Drop what is remembered when any process changed the database."""
        if self._thread.is_steady:
            return
        state = self._database.state()
        if state != self._as_of or self._kept > _KEPT_TERMS:
            self._kept = 0
            self._rows.clear()
            self._visible.clear()
            self._as_of = state
            self._renewals += 1


def _slips_in_the_second(token: str) -> set[str]:
    """Return what a slip in the second letter makes of a token: letters of "a" to "z" alone."""
    first, second, third, rest = token[:1], token[1:2], token[2:3], token[3:]
    changed = (first + letter + third + rest for letter in ascii_lowercase)
    more = (first + letter + token[1:] for letter in ascii_lowercase)
    return {*changed, *more, first + third + rest, first + third + second + rest}


def marks(values: Collection[object]) -> str:
    """Return a place in a statement for each of some values."""
    return ", ".join("?" * len(values))


def average_tokens(visible: Visible) -> float:
    """Return the mean length of the visible memories, in tokens."""
    return sum(p.tokens for p in visible.partitions) / max(visible.memories, 1)


def _scopes(scope: Scope) -> tuple[str, str]:
    return (
        sayable(f"session:{scope.session_id}") if scope.session_id else "",
        sayable(f"project:{scope.project}") if scope.project else "",
    )
