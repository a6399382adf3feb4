"""L2, what did I learn in this session: the living notes of the scratchpad.

In: a query and the session of its turn. Out: a report of judged notes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from palace.errors import PalaceError
from palace.layers.judging import judge, timed, trusted
from palace.ports import Candidate, Vocabulary
from palace.recall.apart import sentences_in
from palace.recall.blocks import strip_own_markers
from palace.recall.scoring import score
from palace.recall.shape import QUESTION_MARKS
from palace.recall.sufficiency import Sufficiency
from palace.recall.weighing import Weights, term_weights
from palace.text import name_tokens, tokens
from palace.text.echoes import without_replies
from palace.text.moments import utc_now
from palace.types.memory import Trust
from palace.types.query import Query, RecallSignal
from palace.types.session import ScratchEntry, Turn
from palace.types.verdict import Evidence, LayerName, LayerReport

# Of a longer text beside a question the rest is not read.
_BESIDE_CHARS = 100_000


class ScratchpadLayer:
    """The session's own notes; other sessions' notes cannot be reached from here.

    Args:
        notes: Returns the living notes of a session.
        vocabulary: The palace's term weights, which the few notes alone could not give.
        sufficiency: The calibrated bar.
        max_evidence: Most pieces of evidence, >= 1.
        min_trust: Notes of lower trust never make evidence.
        contradicts: Whether the second of two texts tells another value for the same thing.
    """

    name: LayerName = "L2"

    def __init__(
        self,
        notes: Callable[[str], Sequence[ScratchEntry]],
        *,
        vocabulary: Vocabulary,
        sufficiency: Sufficiency,
        max_evidence: int = 8,
        min_trust: Trust = "system",
        contradicts: Callable[[str, str], bool] = lambda _told, _since: False,
    ) -> None:
        self._notes = notes
        self._vocabulary = vocabulary
        self._sufficiency = sufficiency
        self._max_evidence = max_evidence
        self._trusted = trusted(min_trust)
        self._contradicts = contradicts

    def gather(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport:  # noqa: ARG002 - notes are asked the same way for every kind
        """Return what this session noted about the question."""
        return timed(self.name, lambda: self._report(turn, query))

    def tokens_of(self, turn: Turn) -> frozenset[str]:
        """Return the index tokens of everything the session of a turn has noted."""
        if turn.session_id is None:
            return frozenset()
        try:
            entries = self._notes(turn.session_id)
        except PalaceError:
            return frozenset()  # the walk reports it when it comes to this layer
        return frozenset[str]().union(*(_candidate_of(entry.text).body for entry in entries))

    def beside(self, turn: Turn, query: Query) -> LayerReport:
        """Return a report on the text beside a question, whose sentences are judged as notes are.

        A question tells nothing, nor does what the model said in a conversation that is written
        down there, and what a memory tells was asked for already.
        """
        told_beside = without_replies(strip_own_markers(turn.beside)[:_BESIDE_CHARS])
        beside = sentences_in(told_beside)
        told = (s for s in beside if not s.endswith(QUESTION_MARKS))
        entries = [ScratchEntry("", "", text, utc_now(), 0.0, "user") for text in told]
        return self._judged(query, entries)

    def _report(self, turn: Turn, query: Query) -> LayerReport:
        if turn.session_id is None:
            return LayerReport(self.name, "skipped", reason="the turn belongs to no session")
        return self._judged(query, self._notes(turn.session_id), taken_back=self._taken_back)

    def _judged(
        self,
        query: Query,
        entries: Sequence[ScratchEntry],
        *,
        taken_back: Callable[[Sequence[Evidence]], set[str]] = lambda _found: set(),
    ) -> LayerReport:
        asked = {*query.terms, *query.carried}
        candidates = [
            candidate._replace(key=number, position=number)
            for number, entry in enumerate(entries)
            if not asked.isdisjoint((candidate := _candidate_of(entry.text)).body)
        ]
        if not candidates:
            return LayerReport(self.name, "none")
        return judge(
            self.name,
            score(query, candidates, weights=self._weights(query, candidates)),
            evidence_of=lambda some: self._evidence(entries, [s.candidate.key for s in some]),
            sufficiency=self._sufficiency,
            max_evidence=self._max_evidence,
            retired=taken_back,
        )

    def _taken_back(self, found: Sequence[Evidence]) -> set[str]:
        """Return the ids of notes that a later one contradicts."""
        by_time = sorted(found, key=lambda note: (note.as_of or utc_now(), note.id))
        return {
            note.id
            for number, note in enumerate(by_time)
            if any(self._contradicts(note.text, since.text) for since in by_time[number + 1 :])
        }

    def _evidence(
        self, entries: Sequence[ScratchEntry], numbers: Sequence[int]
    ) -> dict[int, Evidence]:
        return {n: _evidence(entries[n]) for n in numbers if entries[n].source in self._trusted}

    def _weights(self, query: Query, candidates: Sequence[Candidate]) -> Weights:
        """Return the palace's weights; a term the notes hold is not unknown."""
        palace = term_weights(query, self._vocabulary)
        noted = {token for c in candidates for token in c.body}
        return palace._replace(known=palace.known | (noted & palace.idf.keys()))


def _evidence(entry: ScratchEntry) -> Evidence:
    return Evidence(
        id=entry.id,
        text=entry.text,
        layer="L2",
        source=f"scratchpad:{entry.session_id}",
        as_of=entry.at,
        trust=entry.source,
    )


@lru_cache(maxsize=4096)
def _candidate_of(text: str) -> Candidate:
    """Return a note as a candidate; which of its session it is, is told later."""
    return Candidate(0, "scratchpad", 0, "", tuple(tokens(text)), (), frozenset(name_tokens(text)))
