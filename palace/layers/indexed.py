"""L1 and L4, what the index knows: memories of rooms and timeline, and playbooks.

In: a query. Out: a report of judged memories with their sources and as-of times.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from palace.layers.judging import judge, timed, trusted
from palace.recall.scoring import Scored
from palace.recall.search import Searcher
from palace.recall.sufficiency import Sufficiency
from palace.text import utc_now
from palace.types.memory import TIMELINE, Memory, Trust
from palace.types.query import Query, RecallSignal
from palace.types.session import Turn
from palace.types.verdict import Evidence, LayerName, LayerReport, Rule

# The cues of "how do I …", of the world in general unless a playbook tells it, and of what one is
# to do: "what pressure do I set it to?".
_ASKS_HOW = frozenset({"howto_general", "ask_i"})


class IndexedLayer:
    """A layer whose memories live in the index.

    Args:
        name: `L1` for rooms and timeline, `L4` for playbooks.
        searcher: Where to look.
        sufficiency: The calibrated bar.
        max_evidence: Most pieces of evidence, >= 1.
        min_trust: Memories of lower trust never make evidence.
        stale_after_days: A status older than this many days is labelled stale.
        superseded: Returns the memories that others replaced, for what was the case before.
    """

    def __init__(
        self,
        name: LayerName,
        *,
        searcher: Searcher,
        sufficiency: Sufficiency,
        max_evidence: int = 8,
        min_trust: Trust = "system",
        stale_after_days: float = 7.0,
        superseded: Callable[[], Iterable[Memory]] = tuple,
    ) -> None:
        self.name: LayerName = name
        self._searcher = searcher
        self._sufficiency = sufficiency
        self._max_evidence = max_evidence
        self._trusted = trusted(min_trust)
        self._superseded = superseded
        self._stale_after = timedelta(days=stale_after_days)

    def gather(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport:
        """Return what the index holds for this query."""
        return timed(self.name, lambda: self._report(query, signal, turn.as_of))

    def _report(self, query: Query, signal: RecallSignal, moment: datetime | None) -> LayerReport:
        is_status = signal.kind == "status"
        report = judge(
            self.name,
            self._searcher.scored(query, layer=self.name),
            evidence_of=lambda some: self._evidence(some, moment, is_status=is_status),
            sufficiency=self._sufficiency,
            max_evidence=self._max_evidence,
        )
        is_how = "procedure" in (signal.kind, signal.runner_up)
        asks_how = is_how or not _ASKS_HOW.isdisjoint(signal.cues)
        if self.name == "L4" and not asks_how:
            # A playbook tells how a thing is done; it proves nothing about what was the case.
            report = _at_most_unclear(report, "procedure")
        if query.former:
            known = {item.id for item in report.evidence}
            report = replace(report, evidence=tuple(self._with_former(report.evidence)))
            if report.evidence and report.evidence[0].id in known:
                report = _at_most_unclear(report, "former")
        else:
            report = replace(report, evidence=self._today_first(report.evidence))
        reason = self._searcher.words_alone
        return replace(report, reason=reason) if reason else report

    def _evidence(
        self, some: Sequence[Scored], moment: datetime | None, *, is_status: bool
    ) -> dict[int, Evidence]:
        # What was retired by somebody else since the search is not loaded.
        found = self._searcher.index.load([scored.candidate.key for scored in some])
        return {
            key: self._evidence_in(memory, moment, is_status=is_status)
            for key, memory in found.items()
            if memory.trust in self._trusted
        }

    def _with_former(self, evidence: Sequence[Evidence]) -> Iterator[Evidence]:
        """Yield each piece behind what it replaced, as that stood until then."""
        replaced: dict[str, dict[str, Memory]] = {}
        for old in self._superseded():
            replaced.setdefault(old.superseded_by, {})[old.text] = old
        for item in evidence:
            now = self._searcher.index.get(item.id) if item.id in replaced else None
            if now is not None:
                for old in replaced[item.id].values():
                    if old.scope == now.scope and old.trust in self._trusted:
                        ends = (old.retired or old.valid_to or now.created, now.valid_from)
                        ended = min((end for end in ends if end is not None), default=None)
                        told = self._evidence_in(old, ended)
                        yield replace(told, confidence=item.confidence)
            yield item

    def _today_first(self, evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        """Return evidence with today's value first, not a turn that repeats what it replaced.

        The words answer the question, and so does what was said to be right instead.
        """
        kept = {item.id for item in evidence if not _is_spoken(item)}
        if not kept or not _is_spoken(evidence[0]):
            return evidence
        replaced = {old.id: old for old in self._superseded()}
        spoken = evidence[0].text.casefold()
        right = {
            _held_now(old, replaced, kept)
            for old in replaced.values()
            if old.text.casefold().rstrip(" .!") in spoken
        }
        return tuple(sorted(evidence, key=lambda item: item.id not in right))

    def _evidence_in(
        self, memory: Memory, state_of: datetime | None, *, is_status: bool = False
    ) -> Evidence:
        as_of = memory.as_of
        return Evidence(
            id=memory.id,
            # Whose "I" it is nobody can tell from the words of a turn alone.
            text=memory.said,
            layer=self.name,
            source=memory.source,
            as_of=as_of,
            trust=memory.trust,
            stale=is_status and as_of is not None and utc_now() - as_of > self._stale_after,
            state_of=state_of,
        )


def _is_spoken(item: Evidence) -> bool:
    return item.source.startswith(f"{TIMELINE}/")


def _held_now(old: Memory, replaced: Mapping[str, Memory], kept: Collection[str]) -> str:
    """Return which of these memories replaced an old one, perhaps through others; "" if none."""
    seen = {old.id}
    while old.superseded_by not in kept:
        following = replaced.get(old.superseded_by)
        if following is None or following.id in seen:
            return ""
        old = following
        seen.add(old.id)
    return old.superseded_by


def _at_most_unclear(report: LayerReport, rule: Rule) -> LayerReport:
    """Return a report whose evidence is no proof, by a rule."""
    if report.outcome != "sufficient":
        return report
    judged = report.judgement
    judged = judged and replace(judged, band="unclear", rule=rule)
    return replace(report, outcome="unclear", judgement=judged)
