"""L1 and L4, what the index knows: memories of rooms and timeline, and playbooks.

In: a query. Out: a report of judged memories with their sources and as-of times; where the question
is about the past, with what held then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from palace.layers.judging import judge, timed, trusted
from palace.layers.retired import Retired
from palace.recall.scoring import Scored
from palace.recall.search import Searcher
from palace.recall.sufficiency import Sufficiency
from palace.recall.triggers import matching_trigger
from palace.text.moments import utc_now
from palace.types.memory import SUPERSEDED, Fault, Memory, Trust, is_below
from palace.types.query import Query, RecallSignal, Sort
from palace.types.session import Turn
from palace.types.verdict import Evidence, LayerName, LayerReport, Rule

# Of files that cannot be read so many are named at most.
_NAMED = 3
_GATHERED: Mapping[Sort, str] = {
    "last_talk": "all that the timeline tells of the last conversation",
    "open_tasks": "all tasks that are open",
    "told": "all that was told then",
    "of_asker": "all that was told of who asks",
}
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
        retired: Returns the memories that were replaced or forgotten by a moment; None stands for
            the moment of the index.
        named_end: Returns the last instant of a past period that a prompt names.
        unread: Returns the files and folders of this layer that cannot be read; what the index
            holds of them may be out of date.
        gathered: Returns the memories that a prompt asks for as a whole.
        timeout_ms: Bound on each pattern that a trigger is, in milliseconds.
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
        retired: Callable[[datetime | None], Iterable[Memory]] = lambda _moment: (),
        named_end: Callable[[str], datetime | None] = lambda _prompt: None,
        unread: Callable[[], Sequence[Fault]] = tuple,
        gathered: Callable[[Query], Sequence[Memory]] = lambda _query: (),
        timeout_ms: float = 50.0,
    ) -> None:
        self.name: LayerName = name
        self._searcher = searcher
        self._sufficiency = sufficiency
        self._max_evidence = max_evidence
        self._trusted = trusted(min_trust)
        self._retired = retired
        self._named_end = named_end
        self._unread = unread
        self._gathered = gathered
        self._timeout_ms = timeout_ms
        self._stale_after = timedelta(days=stale_after_days)

    def gather(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport:
        """Return what the index holds for this query."""
        return timed(self.name, lambda: self._report(turn, query, signal))

    def _report(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport:
        report = self._whole(turn, query, signal) or self._judged(turn, query, signal)
        unread = self._unread()
        reasons = [
            report.reason,
            *(fault.message for fault in unread[:_NAMED]),
            f"and {len(unread) - _NAMED} more: see `palace doctor`" if unread[_NAMED:] else "",
            "" if report.is_whole else self._searcher.words_alone,
        ]
        return replace(report, reason="; ".join(filter(None, reasons)), is_partial=bool(unread))

    def _judged(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport:
        """Return what the search found, judged."""
        moment = turn.as_of
        retired = Retired(
            self._retired, lambda: self._named_end(turn.prompt) if moment is None else None
        )

        def over(evidence: Sequence[Evidence]) -> set[str]:
            # Asked about the past, what was superseded since may be right.
            is_now = moment is None and retired.end is None and not query.former
            superseded = {item.id for item in evidence if item.superseded} if is_now else set()
            return retired.over(query, evidence) | superseded

        is_status = signal.kind == "status"
        asked = query.of_playbooks if self.name == "L4" else query
        report = judge(
            self.name,
            self._searcher.scored(asked, layer=self.name),
            evidence_of=lambda some: self._evidence(some, moment, is_status=is_status),
            sufficiency=self._sufficiency,
            max_evidence=self._max_evidence,
            retired=over,
        )
        is_how = "procedure" in (signal.kind, signal.runner_up)
        asks_how = is_how or not _ASKS_HOW.isdisjoint(signal.cues)
        if self.name == "L4" and asks_how:
            # Of the world in general a trigger proves nothing: "how do I deploy to Heroku?"
            report = self._with_triggered(report, turn) if signal.band == "recall" else report
        elif self.name == "L4":
            # A playbook tells how a thing is done; it proves nothing about what was the case.
            report = _at_most_unclear(report, "procedure")
        if report.evidence and query.former:
            known = {item.id for item in report.evidence}
            former = self._with_former(report.evidence, retired.replaced())
            report = replace(report, evidence=tuple(former))
            if report.evidence[0].id in known:
                report = _at_most_unclear(report, "former")
        elif report.evidence:
            report = self._with_then(report, retired)
        return report

    def _whole(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport | None:
        """Return the report of what is asked for as a whole; None where nothing is."""
        told = self._gathered(query) if query.gathers else ()
        if not (query.gathers and told):
            return None
        is_status = signal.kind == "status"
        evidence = (self._evidence_in(m, turn.as_of, is_status=is_status) for m in told)
        return LayerReport(
            self.name,
            "sufficient",
            candidates=len(told),
            best=1.0,
            evidence=tuple(replace(item, confidence=1.0) for item in evidence),
            reason=_GATHERED[query.gathers.sort],
            is_whole=True,
        )

    def _with_triggered(self, report: LayerReport, turn: Turn) -> LayerReport:
        """Return a report in which the playbook answers whose trigger the prompt says."""
        if report.outcome != "unclear":
            return report
        for item in report.evidence:
            playbook = self._searcher.index.get(item.id)
            triggers = playbook.triggers if playbook else ()
            if matching_trigger(triggers, turn.prompt, timeout_ms=self._timeout_ms):
                others = (other for other in report.evidence if other is not item)
                judged = report.judgement
                return replace(
                    report,
                    outcome="sufficient",
                    evidence=(item, *others),
                    judgement=judged and replace(judged, band="sufficient", rule="trigger"),
                )
        return report

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

    def _with_then(self, report: LayerReport, retired: Retired) -> LayerReport:
        """Return a report with what holds first; asked about a past period, with what held then.

        What held at its end comes in only where nothing sufficient is known of the period itself.
        """
        if retired.end is None or report.outcome == "sufficient":
            first = retired.first(report.evidence)
            return report if first is report.evidence else replace(report, evidence=first)
        then = retired.held_then(report.evidence)
        known = {item.id for item in report.evidence}
        surest = max(item.confidence for item in report.evidence)
        held = (
            replace(item, confidence=surest)
            for item in self._with_former(report.evidence, then, until=retired.end)
            if item.id not in known
        )
        return replace(report, evidence=(*held, *report.evidence))

    def _with_former(
        self,
        evidence: Sequence[Evidence],
        replaced: Mapping[str, Sequence[Memory]],
        *,
        until: datetime | None = None,
    ) -> Iterator[Evidence]:
        """Yield each piece of evidence after what it replaced, as that stood until it ended."""
        for item in evidence:
            now = self._searcher.index.get(item.id) if item.id in replaced else None
            if now is not None:
                for old in replaced[item.id]:
                    if old.scope == now.scope and old.trust in self._trusted:
                        ends = (old.retired or old.valid_to or now.created, now.valid_from)
                        ended = min((end for end in ends if end is not None), default=None)
                        told = self._evidence_in(old, until or ended)
                        yield replace(told, confidence=item.confidence)
            yield item

    def _evidence_in(
        self, memory: Memory, state_of: datetime | None, *, is_status: bool = False
    ) -> Evidence:
        as_of, is_over = memory.as_of, SUPERSEDED in memory.tags
        return Evidence(
            id=memory.id,
            # Whose "I" it is nobody can tell from the words of a turn alone.
            text=memory.said,
            layer=self.name,
            source=memory.source,
            as_of=as_of,
            trust=memory.trust,
            stale=is_over
            or is_below(memory.path, self._unread())
            or (is_status and as_of is not None and utc_now() - as_of > self._stale_after),
            state_of=state_of,
            superseded=is_over,
        )


def _at_most_unclear(report: LayerReport, rule: Rule) -> LayerReport:
    """Return a report whose evidence is no proof, by a rule."""
    if report.outcome != "sufficient":
        return report
    judged = report.judgement
    judged = judged and replace(judged, band="unclear", rule=rule)
    return replace(report, outcome="unclear", judgement=judged)
