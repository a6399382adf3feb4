"""The walk: from a prompt to a verdict, layer by layer, before any model is called.

In: a turn. Out: a `Verdict` with the whole trace; the journal keeps it. In an asynchronous program
the whole walk runs in one thread: it is short, and every hop between threads costs as much as a
layer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from palace.arguments import check_given, check_texts, messages_in, moment_in, require_palace
from palace.enforce.newer import (
    Contradicts,
    NamedIn,
    contradicting,
    with_memories,
    with_newer,
)
from palace.enforce.record import verdict_record
from palace.enforce.replies import (
    NEAR_MISSES_NAMED,
    quote_evidence,
    quote_several,
    reply_for_miss,
    reply_for_near_miss,
)
from palace.errors import PalaceError, StoreError, StoreUnavailableError
from palace.ports import Detector, Journal, Layer
from palace.recall.blocks import asked_words
from palace.secrets import redact
from palace.text import estimate_tokens
from palace.text.moments import new_id
from palace.types.query import Query, RecallKind, RecallSignal
from palace.types.session import Message, Turn
from palace.types.verdict import (
    FALLBACK_TEXT,
    SEVERAL_NAMED,
    Action,
    Evidence,
    Heard,
    LayerName,
    LayerReport,
    Verdict,
)

if TYPE_CHECKING:
    from palace.recall.query import Analyst

_log = logging.getLogger(__name__)
# Kinds whose answer has a home: a hit in an earlier layer is kept, but the home is asked first.
HOME_LAYER: Mapping[RecallKind, LayerName] = {"procedure": "L4", "status": "L3"}
# Confidence of unclear evidence from which a prompt that only leans to recall is taken for it.
_PROMISING = 0.1
_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do with what the walk finds; see the `enforce:` and `context:` settings."""

    on_hit: str = "ground"
    on_unclear: str = "confirm"
    on_miss: str = "fallback"
    answer_kinds: frozenset[str] = frozenset()
    fallback_text: str = FALLBACK_TEXT
    name_near_misses: bool = True
    max_evidence: int = 8
    inject_always: bool = False
    context_budget_tokens: int = 1200
    journal_prompts: str = "text"


@dataclass(frozen=True, slots=True)
class Enforcement:
    """Everything a walk needs, assembled by the palace.

    Attributes:
        layers: In the order of the walk; the first is L0.
        refresh: Brings the index up to date with files changed by hand; cheap when nothing changed.
        previous: Returns the last verdict records of a session in a project, newest first, for
            meta questions.
        shown: Returns a text as it may be shown and kept: without secrets, at least.
        heard: Does what the prompt tells the memory to keep or to put right; None if nothing.
        reminders: Returns the memories whose triggers match the prompt.
        meant: Returns a turn as it is judged: an insisting one as the turn it insists on, and one
            about the past with its moment.
        at: Returns the parts for a walk through the state of a past moment; None if there are none.
        generation: Returns a number that changes when the whole index was thrown away.
        steady: Has the index look once, and not at every call, whether it was changed meanwhile.
        beside: Reports on the text beside the question of a turn (`Turn.beside`); None if nobody
            reads it.
        contradicts: Whether the second of two texts tells another value for the same thing.
        named_in: Returns the ids of the artifacts that a text names.
        wants_artifact: Whether a prompt asks for an artifact though a memory answers it.
    """

    analyst: Analyst
    detector: Detector
    layers: tuple[Layer, ...]
    policy: Policy
    journal: Journal | None
    refresh: Callable[[], object]
    previous: Callable[[str | None, str | None], Iterable[Mapping[str, Any]]]
    shown: Callable[[str], str] = redact
    heard: Callable[[Turn], Heard | None] = lambda _turn: None
    reminders: Callable[[Turn], Sequence[Evidence]] = lambda _turn: ()
    meant: Callable[[Turn], Turn] = lambda turn: turn
    at: Callable[[datetime], Enforcement] | None = None
    generation: Callable[[], int] = lambda: 0
    steady: Callable[[], AbstractContextManager[None]] = nullcontext
    beside: Callable[[Turn, Query], LayerReport] | None = None
    contradicts: Contradicts = lambda _told, _since: False
    named_in: NamedIn = lambda _text: ()
    wants_artifact: Callable[[Turn], bool] = lambda _turn: False


class Enforceable(Protocol):
    """What a palace offers to its enforcer."""

    @property
    def enforcement(self) -> Enforcement:
        """Return the assembled parts."""


class RetrievalEnforcer:
    """Looks before anybody answers.

    Args:
        palace: An open `Mempalace`.

    Raises:
        ConfigError: If it is anything else, such as the path of one.

    Example:
        >>> verdict = RetrievalEnforcer(palace).decide("When did we ship 4.1.0?")  # doctest: +SKIP
        >>> verdict.action  # doctest: +SKIP
        'ground'
    """

    def __init__(self, palace: Enforceable) -> None:
        self._palace = require_palace(palace)

    def decide(
        self,
        prompt: str | Turn,
        *,
        session_id: str | None = None,
        project: str | None = None,
        history: Iterable[Mapping[str, Any] | Message] | None = None,
        as_of: datetime | None = None,
    ) -> Verdict:
        """Decide what may happen with a prompt, without calling any model.

        Args:
            prompt: The raw prompt, or a whole `Turn` (then the other arguments are ignored).
            session_id: The session, whose scratchpad and scoped memories may be read.
            project: The project whose scoped memories may be read.
            history: Earlier messages as `{"role", "content"}`, oldest first, if there are any.
            as_of: Asks for the state of this moment instead of today's.

        Returns:
            The verdict. A failing store is an `unavailable` outcome, not an exception.

        Raises:
            ConfigError: If the prompt, the session, the project or a message is no text.
        """
        if not isinstance(prompt, Turn):
            prompt = Turn(prompt, session_id, project, history, as_of)  # type: ignore[arg-type]
        check_texts(prompt=prompt.prompt)
        check_given(session=prompt.session_id, project=prompt.project)
        turn = replace(
            prompt, history=messages_in(prompt.history), as_of=moment_in("as_of", prompt.as_of)
        )
        parts = self._palace.enforcement
        started = time.perf_counter()
        heard = parts.heard(turn)
        if heard is not None and not heard.rest:
            verdict = _acknowledged(turn, heard)
        else:
            asked = asked_words(heard.rest if heard else turn.prompt)
            as_asked = turn if asked == turn.prompt else replace(turn, prompt=asked)
            verdict = _decided(parts, parts.meant(as_asked))
            verdict = verdict.with_writes(heard.writes) if heard else verdict
        verdict = replace(
            verdict,
            turn=turn,
            reminders=_reminders(parts, verdict),
            elapsed_ms=(time.perf_counter() - started) * 1000,
        )
        if parts.journal is not None:
            _keep(parts.journal, verdict, parts)
        return verdict

    async def adecide(
        self,
        prompt: str | Turn,
        *,
        session_id: str | None = None,
        project: str | None = None,
        history: Iterable[Mapping[str, Any] | Message] | None = None,
        as_of: datetime | None = None,
    ) -> Verdict:
        """Decide as `decide` does, in a thread, off the event loop."""
        import asyncio  # whoever awaits has it; nobody else need wait for it

        return await asyncio.to_thread(
            self.decide,
            prompt,
            session_id=session_id,
            project=project,
            history=messages_in(history),  # as it is now: the host may add to its list meanwhile
            as_of=as_of,
        )


# -- the walk --------------------------------------------------------------------------------------


def _decided(parts: Enforcement, turn: Turn) -> Verdict:
    """Look, as far as the prompt asks for it; a palace that cannot be read fails closed.

    If the index was thrown away and made anew during the walk, a miss means nothing: look again.
    """
    try:
        for _ in range(_LOOKS):
            parts.refresh()
            generation = parts.generation()
            with parts.steady():
                verdict = _looked(parts, turn)
            if verdict.outcome == "hit" or parts.generation() == generation:
                return verdict
    except PalaceError as error:
        return _unreadable(parts, turn, error)
    failure = StoreUnavailableError("the index is made anew all the time", hint="try again")
    return _unreadable(parts, turn, failure)


def _looked(parts: Enforcement, turn: Turn) -> Verdict:
    parts = _parts_of_then(parts, turn)
    query = parts.analyst.analyse(turn)
    signal = parts.detector.detect(turn, query)
    reports = _walk(parts, turn, query, signal)
    verdict = _verdict(turn, signal, reports, parts)
    if _is_missed(verdict) and (
        _asks_the_agent(verdict)
        or (turn.beside and parts.beside and _is_surer(parts.beside(turn, query), reports))
    ):
        cues = (*signal.cues, "asked_beside")
        signal = replace(signal, band="unsure", leaning=False, cues=cues)
        verdict = _verdict(turn, signal, reports, parts)
    if signal.kind == "meta" and signal.band == "recall":
        return _meta_verdict(verdict, _previous(parts, turn), parts.policy)
    # A person wrote this, and no evidence was asked for.
    may_carry = verdict.action == "pass" and not _is_machine(verdict)
    if (parts.policy.inject_always or query.fills_in) and may_carry:
        return _with_context(parts, verdict, query)
    return verdict


def _is_missed(verdict: Verdict) -> bool:
    """Whether no memory answers, and the question may be about something else beside it."""
    return verdict.outcome in ("near_miss", "nothing_stored") and not verdict.signal.own


def _asks_the_agent(verdict: Verdict) -> bool:
    """Whether a question is who the agent is, whom only its program has told that."""
    is_unknown = verdict.outcome == "nothing_stored" and verdict.signal.kind == "identity"
    return is_unknown and bool(verdict.turn.instructions)


def _is_surer(beside: LayerReport, reports: Sequence[LayerReport]) -> bool:
    """Whether the text beside a question may answer it, and is surer than any memory."""
    return beside.outcome != "none" and (beside.best or 0.0) > _promise(reports)


def _parts_of_then(parts: Enforcement, turn: Turn) -> Enforcement:
    """Return the parts for the moment that the turn asks about; today's if it asks about none."""
    if turn.as_of is None or parts.at is None:
        return parts
    # The detector stays today's: whether this is recall depends on what the palace knows now.
    return replace(parts.at(turn.as_of), detector=parts.detector)


def _unreadable(parts: Enforcement, turn: Turn, failure: PalaceError) -> Verdict:
    """Return the verdict on a palace that cannot be read: the prompt is taken for recall."""
    signal = RecallSignal("fact", 1.0, ("unreadable_palace",), "none", "recall")
    reports = [LayerReport(x.name, "unavailable", reason=failure.message) for x in parts.layers]
    return _verdict(turn, signal, reports, parts)


def _acknowledged(turn: Turn, heard: Heard) -> Verdict:
    """Return the verdict on a prompt that only tells the memory something: no model is called."""
    return Verdict(
        id=new_id("v"),
        action="answer",
        outcome="not_recall",
        signal=RecallSignal("none", 0.0, ("told",)),
        text="\n".join(write.text for write in heard.writes),
        turn=turn,
        written=heard.writes,
    )


def _reminders(parts: Enforcement, verdict: Verdict) -> tuple[Evidence, ...]:
    """Return the memories whose triggers match the prompt; none for a prompt of a machine."""
    if _is_machine(verdict):
        return ()
    try:
        found = parts.reminders(verdict.turn)
    except PalaceError as error:
        _log.warning("the triggers could not be read: %s", error)
        return ()
    # Also what is evidence already: evidence may be narrowed to a quote or cut by the budget.
    return tuple(replace(e, text=parts.shown(e.text)) for e in found)


def _is_machine(verdict: Verdict) -> bool:
    return any(cue.startswith("machine:") for cue in verdict.signal.cues)


def _keep(journal: Journal, verdict: Verdict, parts: Enforcement) -> None:
    """Write the record; a journal that cannot be written must not silence a palace that reads."""
    try:
        journal.append(
            verdict_record(verdict, prompts=parts.policy.journal_prompts, shown=parts.shown)
        )
    except StoreError as error:
        _log.warning("verdict %s is not in the journal: %s", verdict.id, error)


def _walk(parts: Enforcement, turn: Turn, query: Query, signal: RecallSignal) -> list[LayerReport]:
    """Ask the layers in order until one is sufficient; a prompt that is no recall meets L0 only.

    Then only those are asked that may know better: the home of what is asked for, an artifact that
    the prompt names, and the notes of the session, of which what contradicts no memory is left out.
    """
    reports: list[LayerReport] = []
    found: LayerReport | None = None
    for layer in parts.layers:
        if layer.name != "L0" and signal.band == "other":
            continue
        if found and not _may_know_better(
            layer.name, found, parts, turn=turn, query=query, signal=signal
        ):
            continue
        report = _as_shown(layer.gather(turn, query, signal), parts)
        if (
            found
            and layer.name == "L2"
            and not contradicting(report.evidence, found.evidence[0], parts.contradicts)
        ):
            continue
        reports.append(report)
        if found is None and report.outcome == "sufficient":
            found = report
    return reports


def _may_know_better(
    name: LayerName,
    found: LayerReport,
    parts: Enforcement,
    *,
    turn: Turn,
    query: Query,
    signal: RecallSignal,
) -> bool:
    """Whether a layer is asked though an earlier one was sufficient."""
    if name == "L2":
        return turn.session_id is not None and turn.as_of is None and not query.former
    if name == "L3" and found.evidence and parts.wants_artifact(turn):
        return True
    return name == _home(signal)


def _verdict(
    turn: Turn, signal: RecallSignal, reports: Sequence[LayerReport], parts: Enforcement
) -> Verdict:
    """Read the reports: the one place where an outcome is decided."""
    verdict = Verdict(
        id=new_id("v"),
        action="pass",
        outcome="not_recall",
        signal=signal,
        walk=tuple(reports),
        turn=turn,
    )
    policy = parts.policy
    found = _best_sufficient(reports, signal, parts)
    if found is not None:
        return _hit(verdict, found, policy)
    unclear = [r for r in reports if r.outcome == "unclear"]
    # What names an artifact asks for it: nobody may make up what could not be fetched.
    if signal.band != "recall" and not _live_failed(reports):
        return _near_miss(verdict, unclear, policy) if _is_promising(verdict, policy) else verdict
    if signal.kind == "identity" and reports and reports[0].outcome == "loaded":
        return _hit(verdict, reports[0], policy)
    if unclear:
        return _near_miss(verdict, unclear, policy)
    if broken := _broken(reports):
        return replace(
            verdict,
            action="fallback",
            outcome="unavailable",
            text=reply_for_miss(policy.fallback_text, broken),
        )
    return _nothing(verdict, policy)


def _broken(reports: Sequence[LayerReport]) -> list[LayerReport]:
    """Return the reports of layers that could not be read, or not wholly."""
    return [r for r in reports if r.outcome == "unavailable" or r.is_partial]


def _is_promising(verdict: Verdict, policy: Policy) -> bool:
    """Whether a prompt leans to recall and has evidence that is worth asking a model about."""
    of_day = any("of_day" in item.scores for r in verdict.walk for item in r.evidence)
    worth = of_day or _promise(verdict.walk) >= _PROMISING
    return policy.on_unclear == "confirm" and verdict.signal.leaning and worth


def _promise(reports: Sequence[LayerReport]) -> float:
    """Return how sure the surest unclear evidence is."""
    return max((r.best or 0.0 for r in reports if r.outcome == "unclear"), default=0.0)


def _best_sufficient(
    reports: Sequence[LayerReport], signal: RecallSignal, parts: Enforcement
) -> LayerReport | None:
    """Return the home layer's hit if there is one, else the first, with what is newer."""
    sufficient = [r for r in reports if r.outcome == "sufficient"]
    home = _home(signal)
    found = next((r for r in sufficient if r.layer == home), sufficient[0] if sufficient else None)
    if found is None or found.layer == "L3":
        return found
    if found.layer == "L4":
        return with_memories(found, reports)
    return with_newer(found, reports, contradicts=parts.contradicts, named_in=parts.named_in)


def _home(signal: RecallSignal) -> LayerName | None:
    """Return the layer that what is asked for is at home in, if there is one."""
    return "L4" if "howto_general" in signal.cues else HOME_LAYER.get(signal.kind)


def _hit(verdict: Verdict, found: LayerReport, policy: Policy) -> Verdict:
    verdict = _with_kind(verdict)
    kind = verdict.signal.kind
    stale = bool(found.evidence) and found.evidence[0].stale
    if kind == "status" and stale and _live_failed(verdict.walk):
        # An old status whose live artifact could not be fetched is not what was asked for.
        return _near_miss(verdict, [found], policy)
    answers = policy.on_hit == "answer" or kind in policy.answer_kinds
    hit = replace(
        verdict,
        action="answer" if answers else "ground",
        outcome="hit",
        layer=found.layer,
        evidence=found.evidence[: None if found.is_whole else policy.max_evidence],
    )
    several = verdict.signal.several
    quoted = hit.evidence[:1] if answers and not several else hit.quoted
    return replace(hit, text=quote_several(quoted, hit.perhaps_more))


def _with_kind(verdict: Verdict) -> Verdict:
    """Return a verdict with a kind of recall, the likeliest one where the detector saw none."""
    signal = verdict.signal
    if signal.kind != "none":
        return verdict
    return replace(verdict, signal=replace(signal, kind=signal.runner_up))


def _live_failed(reports: Sequence[LayerReport]) -> bool:
    return any(r.layer == "L3" and r.outcome == "unavailable" for r in reports)


def _near_miss(verdict: Verdict, unclear: Sequence[LayerReport], policy: Policy) -> Verdict:
    best = max(unclear, key=lambda r: r.best or 0.0)
    evidence = sorted((e for r in unclear for e in r.evidence), key=lambda e: -e.confidence)
    evidence = evidence[: policy.max_evidence]
    action: Action = "confirm" if policy.on_unclear == "confirm" else "fallback"
    named: Sequence[Evidence] = evidence if policy.name_near_misses else ()
    partial = [r for r in verdict.walk if r.is_partial]
    return replace(
        _with_kind(verdict),
        action=action,
        outcome="near_miss",
        layer=best.layer,
        evidence=tuple(evidence),
        text=reply_for_near_miss(
            policy.fallback_text,
            named,
            most=SEVERAL_NAMED if verdict.signal.several else NEAR_MISSES_NAMED,
            broken=partial,
        ),
    )


def _nothing(verdict: Verdict, policy: Policy) -> Verdict:
    if policy.on_miss == "generate":
        free = LayerReport("L5", "loaded", reason="free generation, ungrounded by policy")
        return replace(
            verdict,
            action="generate",
            outcome="nothing_stored",
            layer="L5",
            walk=(*verdict.walk, free),
        )
    return replace(verdict, action="fallback", outcome="nothing_stored", text=policy.fallback_text)


def _previous(parts: Enforcement, turn: Turn) -> list[Mapping[str, Any]] | StoreError:
    """Return the last verdicts of this session and project, or why they cannot be read."""
    try:
        return list(parts.previous(turn.session_id, turn.project))
    except StoreError as error:
        return error


def _meta_verdict(
    verdict: Verdict, records: Sequence[Mapping[str, Any]] | StoreError, policy: Policy
) -> Verdict:
    """Answer "which memories did you use?" from the journal, or say that none were used."""
    bare = replace(verdict, evidence=(), layer=None, text="")
    if isinstance(records, StoreError):
        broken = LayerReport("L0", "unavailable", reason=f"the journal: {records.message}")
        text = reply_for_miss(policy.fallback_text, [broken])
        return replace(bare, action="fallback", outcome="unavailable", text=text)
    used = next((r for r in records if r.get("injected")), None)
    if used is None:
        return _nothing(bare, policy)
    evidence = tuple(
        Evidence(
            id=str(item.get("id", "")),
            text=redact(str(item.get("text", ""))),
            layer=item.get("layer", "L1"),
            source=str(item.get("source", "")),
            as_of=_moment(item.get("as_of")),
            confidence=1.0,
        )
        for item in _used_items(used)
    )
    return replace(
        bare, action="answer", outcome="hit", evidence=evidence, text=quote_evidence(evidence)
    )


def _used_items(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the memories that a verdict's record says were injected, reminders too, each once."""
    items = {i.get("id"): i for i in (*record.get("reminders", ()), *record.get("evidence", ()))}
    return [items[i] for i in dict.fromkeys(record["injected"]) if i in items]


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def _with_context(parts: Enforcement, verdict: Verdict, query: Query) -> Verdict:
    """Attach relevant memories to a prompt that passes, within the token budget."""
    layer = next((x for x in parts.layers if x.name == "L1"), None)
    if layer is None:
        return verdict
    report = next((r for r in verdict.walk if r.layer == "L1"), None)
    if report is None:
        report = _as_shown(layer.gather(verdict.turn, query, verdict.signal), parts)
        verdict = replace(verdict, walk=(*verdict.walk, report))
    evidence: list[Evidence] = []
    left = parts.policy.context_budget_tokens
    for item in report.evidence:
        left -= estimate_tokens(item.text)
        if left < 0:
            break
        evidence.append(item)
    return replace(verdict, evidence=tuple(evidence))


def _as_shown(report: LayerReport, parts: Enforcement) -> LayerReport:
    """Return a report whose evidence can be shown, quoted in part or injected."""
    texts = [parts.shown(e.text) for e in report.evidence]
    if texts == [e.text for e in report.evidence]:
        return report
    shown = (replace(e, text=text) for text, e in zip(texts, report.evidence, strict=True))
    return replace(report, evidence=tuple(shown))
