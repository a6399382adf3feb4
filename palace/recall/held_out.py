"""A palace with one part held out, and how sure it is of a question with and without that part.

In: an index, perhaps vectors, and the candidates of a room or a page of conversation. Out: the
same ports as if the part had never been written, and the confidences of questions asked of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeVar

from palace.ports import (
    GLOBAL,
    Background,
    Candidate,
    Index,
    Scope,
    TermCounts,
    Vector,
    Vectors,
    VectorState,
)
from palace.recall.cloze import Cloze
from palace.recall.query import Analyst
from palace.recall.scoring import JUDGED
from palace.recall.search import Searcher
from palace.recall.sufficiency import Sufficiency
from palace.types.memory import Memory
from palace.types.session import Turn
from palace.types.verdict import LayerName

Kind = Literal["statement", "turn"]
_T = TypeVar("_T")
_WIDER = 4


class IndexWithout:
    """An index that has never heard of some of its candidates; an `Index`.

    Args:
        index: The whole index.
        hidden: What to hide: whole files, so that nobody's neighbours are torn apart.
    """

    def __init__(self, index: Index, hidden: Collection[Candidate]) -> None:
        self._index = index
        self._keys = frozenset(c.key for c in hidden)
        self._held = [frozenset((*c.body, *c.context)) for c in hidden]
        self._any = Counter(token for held in self._held for token in held)
        self._names = Counter(token for c in hidden for token in c.names)

    def candidates(
        self,
        terms: Sequence[str],
        *,
        layer: LayerName,
        scope: Scope,
        limit: int,
        at: datetime | None = None,
    ) -> list[Candidate]:
        """See `Index.candidates`."""
        return _asked_wider(
            lambda most: self._index.candidates(terms, layer=layer, scope=scope, limit=most, at=at),
            lambda candidate: candidate.key not in self._keys,
            limit,
        )

    def neighbours(
        self,
        candidates: Sequence[Candidate],
        *,
        distance: int,
        scope: Scope,
        known: Sequence[Candidate] = (),
    ) -> list[Candidate]:
        """See `Index.neighbours`."""
        return self._index.neighbours(candidates, distance=distance, scope=scope, known=known)

    def candidates_by_key(self, keys: Sequence[int]) -> list[Candidate]:
        """See `Index.candidates_by_key`."""
        return self._index.candidates_by_key([k for k in keys if k not in self._keys])

    def load(self, keys: Sequence[int]) -> dict[int, Memory]:
        """See `Index.load`."""
        return self._index.load([k for k in keys if k not in self._keys])

    def holds(self, layer: LayerName, *, scope: Scope = GLOBAL) -> bool:
        """See `Index.holds`; a layer that is hidden as a whole is still one."""
        return self._index.holds(layer, scope=scope)

    def together(self, terms: Sequence[str], *, scope: Scope = GLOBAL) -> int:
        """See `Vocabulary.together`."""
        hidden = sum(held.issuperset(terms) for held in self._held)
        return max(self._index.together(terms, scope=scope) - hidden, 0)

    def alike(self, token: str, *, scope: Scope = GLOBAL) -> Sequence[str]:
        """See `Vocabulary.alike`."""
        found = self.counts(self._index.alike(token, scope=scope), scope=scope)
        return [other for other, count in found.items() if count.any]

    def beginning(self, letters: str, *, most_chars: int, scope: Scope = GLOBAL) -> Sequence[str]:
        """See `Vocabulary.beginning`."""
        begun = self._index.beginning(letters, most_chars=most_chars, scope=scope)
        return [other for other, n in self.counts(begun, scope=scope).items() if n.any]

    def counts(self, terms: Iterable[str], *, scope: Scope = GLOBAL) -> Mapping[str, TermCounts]:
        """See `Vocabulary.counts`."""
        whole = self._index.counts(terms, scope=scope)
        return {
            term: TermCounts(
                any=max(count.any - self._any[term], 0),
                name=max(count.name - self._names[term], 0),
            )
            for term, count in whole.items()
        }

    def size(self, *, scope: Scope = GLOBAL) -> int:
        """See `Vocabulary.size`."""
        return max(self._index.size(scope=scope) - len(self._keys), 0)

    def state(self) -> object:
        """See `Vocabulary.state`; what is hidden stays hidden."""
        return self._index.state()

    def get(self, memory_id: str) -> Memory | None:
        """See `Index.get`; calibration asks for nothing by id."""
        return self._index.get(memory_id)


class VectorsWithout:
    """A channel of meaning that has never heard of some candidates; `Vectors`.

    Args:
        vectors: The whole channel.
        hidden: Keys to hide.
    """

    def __init__(self, vectors: Vectors, hidden: Collection[int]) -> None:
        self._vectors = vectors
        self._hidden = frozenset(hidden)

    @property
    def state(self) -> VectorState:
        """See `Vectors.state`."""
        return self._vectors.state

    def ask(self, text: str) -> Vector | None:
        """See `Vectors.ask`."""
        return self._vectors.ask(text)

    def nearest(
        self, vector: Vector, *, layer: LayerName, scope: Scope, limit: int
    ) -> list[tuple[int, float]]:
        """See `Vectors.nearest`."""
        return _asked_wider(
            lambda most: self._vectors.nearest(vector, layer=layer, scope=scope, limit=most),
            lambda item: item[0] not in self._hidden,
            limit,
        )

    def cosines(self, vector: Vector, keys: Sequence[int]) -> dict[int, float]:
        """See `Vectors.cosines`."""
        return self._vectors.cosines(vector, [k for k in keys if k not in self._hidden])

    def background(self, vector: Vector) -> Background | None:
        """See `Vectors.background`."""
        return self._vectors.background(vector)


def _asked_wider(
    ask: Callable[[int], list[_T]], keep: Callable[[_T], bool], limit: int
) -> list[_T]:
    """Ask for more until enough is left after what is hidden, or there is no more."""
    most = limit
    while True:
        found = ask(most)
        kept = [item for item in found if keep(item)]
        if len(kept) >= limit or len(found) < most:
            return kept[:limit]
        most *= _WIDER


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: how sure the palace is of its memory, and of anything once that is hidden.

    Attributes:
        kind: Which of the two models judges its memory.
        right: Confidence in the memory it was made from, 0 if that may not answer or is not found.
        wrong: The highest confidence in anything else of the kind, once the memory's part is
            hidden. A memory that holds the very fact asked for is left out: it is no wrong answer.
    """

    kind: Kind
    right: float
    wrong: float


def kind_of(candidate: Candidate) -> Kind:
    """Return which model judges a candidate."""
    return "turn" if candidate.session else "statement"


def ask_twice(
    question: Cloze,
    asked: Candidate,
    *,
    whole: Searcher,
    without: Searcher,
    analysts: tuple[Analyst, Analyst],
    sufficiency: Sufficiency,
) -> Asked:
    """Ask with and without the part that holds the answer, as the enforcer would.

    Args:
        question: What to ask.
        asked: The candidate it was made from.
        whole: Searches everything.
        without: Searches what is left.
        analysts: The same two, as readers of questions.
        sufficiency: Judges; only its models and rules count here, not its bars.
    """
    kind = kind_of(asked)

    def sure(analyst: Analyst, searcher: Searcher) -> list[tuple[Candidate, float]]:
        scored = searcher.scored(analyst.analyse(Turn(question.text)))[:JUDGED]
        # At full confidence only the rules stand in the way.
        return [
            (s.candidate, sufficiency.confidence(s))
            for s in scored
            if kind_of(s.candidate) == kind and sufficiency.band(s, 1.0) == "sufficient"
        ]

    with_it = sure(analysts[0], whole)
    left = sure(analysts[1], without)
    return Asked(
        kind,
        right=max((p for c, p in with_it if c.key == asked.key), default=0.0),
        wrong=max((p for c, p in left if not question.answer.issubset(c.body)), default=0.0),
    )


def searcher_without(searcher: Searcher, hidden: Collection[Candidate]) -> Searcher:
    """Return a searcher of everything but what is hidden."""
    index = IndexWithout(searcher.index, hidden)
    vectors = searcher.vectors and VectorsWithout(searcher.vectors, [c.key for c in hidden])
    return replace(searcher, index=index, vectors=vectors)
