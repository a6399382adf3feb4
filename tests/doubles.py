"""Doubles that implement the ports, and small values of our own making for the tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from palace.enforce.enforcer import Enforcement, Policy
from palace.errors import FetchError, StoreUnavailableError
from palace.ports import GLOBAL, Artifact, ArtifactRef, Candidate, Journal, Layer, Scope, TermCounts
from palace.recall.logistic import LogisticModel
from palace.store.files import locked
from palace.store.index_sqlite import SqliteIndex
from palace.text import tokens
from palace.text.moments import utc_now
from palace.types.memory import Document, FileStamp, Memory
from palace.types.query import Query, RecallKind, RecallSignal
from palace.types.session import Turn
from palace.types.verdict import Evidence, Judgement, LayerName, LayerOutcome, LayerReport


def memory(text: str, number: int = 0, **fields: Any) -> Memory:
    """Return a memory of the drawer `desk/notes`, the `number`th statement of its file."""
    values: dict[str, Any] = {
        "id": f"m-{number:08d}",
        "path": "rooms/desk/notes.md",
        "line": number + 1,
        "room": "desk",
        "drawer": "notes",
        "position": number,
        **fields,
    }
    return Memory(text=text, **values)


def paged(
    *memories: Memory, path: str = "rooms/desk/notes.md", digest: str = "d"
) -> tuple[Document, FileStamp]:
    """Return a document that holds these memories, with a stamp."""
    moved = tuple(replace(m, path=path) for m in memories)
    return Document(path, digest, "notes", (), moved), FileStamp(path, 1, 1)


def indexed(*memories: Memory, layer: LayerName = "L1") -> SqliteIndex:
    """Return an index in memory that holds these memories, one file for each path."""
    index = SqliteIndex(None)
    paths = dict.fromkeys(m.path for m in memories)
    index.apply(
        [paged(*(m for m in memories if m.path == path), path=path) for path in paths], layer=layer
    )
    return index


def bar_model(weights: Mapping[str, float], *, bias: float = 0.0, **bars: float) -> LogisticModel:
    """Return a hand-made model with the bars of `Sufficiency` and `CueDetector`."""
    given = {"sufficient": 0.7, "unclear": 0.3, "recall": 0.7, "leaning": 0.5, "other": 0.3, **bars}
    return LogisticModel(weights=weights, bias=bias, bars=given, provenance="hand-made")


class FixedVocabulary:
    """Vocabulary of the given texts; each text counts as one memory."""

    def __init__(self, *texts: str, names: Iterable[str] = ()) -> None:
        self._texts = [set(tokens(text)) for text in texts]
        self._names = frozenset(names)

    @classmethod
    def of_tokens(cls, *texts: set[str]) -> FixedVocabulary:
        """Return the vocabulary of texts that are tokens already."""
        made = cls()
        made._texts = list(texts)
        return made

    def counts(self, terms: Iterable[str], *, scope: Scope = GLOBAL) -> dict[str, TermCounts]:
        found = {}
        for term in terms:
            holding = sum(term in text for text in self._texts)
            found[term] = TermCounts(any=holding, name=holding if term in self._names else 0)
        return found

    def together(self, terms: Sequence[str], *, scope: Scope = GLOBAL) -> int:
        return sum(text.issuperset(terms) for text in self._texts) if terms else 0

    def alike(self, token: str, *, scope: Scope = GLOBAL) -> list[str]:
        return sorted({t for text in self._texts for t in text if t[:1] == token[:1]} - {token})

    def beginning(self, letters: str, *, most_chars: int, scope: Scope = GLOBAL) -> list[str]:
        every = {t for text in self._texts for t in text}
        return sorted(t for t in every if t.startswith(letters) and len(t) <= most_chars)

    def size(self, *, scope: Scope = GLOBAL) -> int:
        return len(self._texts)

    def state(self) -> object:
        return len(self._texts)


class AskedIndex:
    """An index that keeps how many candidates it was asked for."""

    def __init__(self, index: SqliteIndex) -> None:
        self._index = index
        self.limits: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def candidates(self, terms: Sequence[str], *, limit: int, **given: Any) -> list[Candidate]:
        self.limits.append(limit)
        return self._index.candidates(terms, limit=limit, **given)


class VanishingIndex:
    """An index whose first candidate is gone by the time it is loaded, as after a deletion."""

    def __init__(self, index: SqliteIndex) -> None:
        self._index = index
        self._gone: int | None = None

    def candidates(
        self,
        terms: Sequence[str],
        *,
        layer: LayerName,
        scope: Scope,
        limit: int,
        at: datetime | None = None,
    ) -> list[Candidate]:
        return self._index.candidates(terms, layer=layer, scope=scope, limit=limit, at=at)

    def candidates_by_key(self, keys: Sequence[int]) -> list[Candidate]:
        return self._index.candidates_by_key(keys)

    def neighbours(
        self,
        candidates: Sequence[Candidate],
        *,
        distance: int,
        scope: Scope,
        known: Sequence[Candidate] = (),
    ) -> list[Candidate]:
        return self._index.neighbours(candidates, distance=distance, scope=scope, known=known)

    def load(self, keys: Sequence[int]) -> dict[int, Memory]:
        if self._gone is None and keys:
            self._gone = keys[0]
        return self._index.load([key for key in keys if key != self._gone])

    def together(self, terms: Sequence[str], *, scope: Scope = GLOBAL) -> int:
        return self._index.together(terms, scope=scope)

    def alike(self, token: str, *, scope: Scope = GLOBAL) -> Sequence[str]:
        return self._index.alike(token, scope=scope)

    def beginning(self, letters: str, *, most_chars: int, scope: Scope = GLOBAL) -> Sequence[str]:
        return self._index.beginning(letters, most_chars=most_chars, scope=scope)

    def counts(self, terms: Iterable[str], *, scope: Scope = GLOBAL) -> Mapping[str, TermCounts]:
        return self._index.counts(terms, scope=scope)

    def holds(self, layer: LayerName, *, scope: Scope = GLOBAL) -> bool:
        return self._index.holds(layer, scope=scope)

    def size(self, *, scope: Scope = GLOBAL) -> int:
        return self._index.size(scope=scope)

    def state(self) -> object:
        return self._index.state()

    def get(self, memory_id: str) -> Memory | None:
        return self._index.get(memory_id)


def evidence(text: str, layer: LayerName = "L1", **fields: Any) -> Evidence:
    """Return evidence of a layer."""
    values: dict[str, Any] = {
        "id": f"e-{layer}",
        "source": f"{layer}.md:1",
        "confidence": 0.5,
        **fields,
    }
    return Evidence(text=text, layer=layer, **values)


class ScriptedLayer:
    """A layer that says what it was told to say, and remembers that it was asked."""

    def __init__(
        self,
        name: LayerName,
        outcome: LayerOutcome = "none",
        *found: Evidence,
        best: float | None = None,
        reason: str = "",
        judgement: Judgement | None = None,
    ) -> None:
        self.name: LayerName = name
        self.asked = 0
        confidences = [e.confidence for e in found]
        self._report = LayerReport(
            name,
            outcome,
            candidates=len(found),
            best=best if best is not None else max(confidences, default=None),
            evidence=found,
            reason=reason,
            judgement=judgement,
        )

    def gather(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport:
        self.asked += 1
        return self._report


class ScriptedDetector:
    """A detector with one opinion."""

    def __init__(self, signal: RecallSignal) -> None:
        self._signal = signal

    def detect(self, turn: Turn, query: Query) -> RecallSignal:
        return self._signal


class PlainAnalyst:
    """An analyst that takes every token for a term; keeps the turns it saw."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    def analyse(self, turn: Turn) -> Query:
        self.turns.append(turn)
        terms = tuple(dict.fromkeys(tokens(turn.prompt)))
        return Query(turn.prompt, terms, session_id=turn.session_id, project=turn.project)


class ScriptedFetcher:
    """Recognises words that begin with `thing:`; fetches those it has, fails for the rest."""

    host = "things"

    def __init__(self, **texts: str) -> None:
        self._texts = texts
        self.fetched: list[str] = []

    def recognise(self, prompt: str) -> list[ArtifactRef]:
        words = prompt.replace("?", " ").split()
        return [
            ArtifactRef("file", self.host, word.partition(":")[2], {})
            for word in words
            if word.startswith("thing:")
        ]

    def fetch(self, ref: ArtifactRef) -> Artifact:
        self.fetched.append(ref.target)
        if ref.target not in self._texts:
            raise FetchError(f"{ref.target} did not answer", hint="try again")
        return Artifact(
            ref=f"things:{ref.target}",
            title=ref.target,
            text=self._texts[ref.target],
            url=f"https://things.example/{ref.target}",
            fetched_at=utc_now(),
        )


@contextmanager
def another_writer(root: Path) -> Iterator[None]:
    """Let somebody else hold the palace's lock meanwhile."""
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(root):
            held.set()
            let_go.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert held.wait(10)
        yield
    finally:
        let_go.set()
        thread.join()


class BrokenJournal:
    """A journal on a full disk."""

    def append(self, record: Mapping[str, Any]) -> None:
        raise StoreUnavailableError("the disk is full", hint="free some space")

    def records(self, **bounds: object) -> Any:
        raise StoreUnavailableError("the disk cannot be read", hint="check the disk")

    def find(self, record_id: str) -> None:
        raise StoreUnavailableError("the disk cannot be read", hint="check the disk")


def signal(kind: RecallKind = "fact", band: Any = "recall", **fields: Any) -> RecallSignal:
    """Return a signal with a score that fits its band."""
    score = {"recall": 0.9, "unsure": 0.5, "other": 0.1}[band]
    return RecallSignal(kind, score, ("question",), band=band, **fields)


class ScriptedPalace:
    """What an enforcer needs of a palace, from doubles."""

    def __init__(
        self,
        *layers: Layer,
        signal: RecallSignal,
        journal: Journal | None = None,
        refresh: Callable[[], object] = lambda: None,
        previous: Callable[[str | None, str | None], Iterable[Mapping[str, Any]]] = (
            lambda _session, _project: ()
        ),
        reminders: Callable[[Turn], Sequence[Evidence]] = lambda _: (),
        at: Callable[[datetime], Enforcement] | None = None,
        beside: Callable[[Turn, Query], LayerReport] | None = None,
        contradicts: Callable[[str, str], bool] = lambda _told, _since: False,
        named_in: Callable[[str], Collection[str]] = lambda _text: (),
        wants_artifact: Callable[[Turn], bool] = lambda _turn: False,
        **policy: Any,
    ) -> None:
        self.analyst = PlainAnalyst()
        self._enforcement = Enforcement(
            analyst=self.analyst,
            detector=ScriptedDetector(signal),
            layers=layers,
            policy=Policy(**policy),
            journal=journal,
            refresh=refresh,
            previous=previous,
            reminders=reminders,
            at=at,
            beside=beside,
            contradicts=contradicts,
            named_in=named_in,
            wants_artifact=wants_artifact,
        )

    @property
    def enforcement(self) -> Enforcement:
        return self._enforcement
