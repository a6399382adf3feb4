"""What was decided for a turn, and the trace of why: evidence, judgements, the walk.

In: what the layers found. Out: what the doors show and the journal keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from palace.types.memory import Trust
from palace.types.query import RecallSignal
from palace.types.session import Turn

Action = Literal["pass", "ground", "confirm", "answer", "fallback", "generate"]
Outcome = Literal["hit", "near_miss", "nothing_stored", "unavailable", "not_recall"]
LayerName = Literal["L0", "L1", "L2", "L3", "L4", "L5"]
LayerOutcome = Literal["loaded", "sufficient", "unclear", "none", "skipped", "unavailable"]
Band = Literal["sufficient", "unclear", "none"]
Rule = Literal[
    "bars",
    "stranger",
    "name missing",
    "answer missing",
    "other date",
    "other number",
    "names present",
    "own words",
    "mended word",
    "near only",
    "dangling",
    "off topic",
    "of the day",
    "meaning",
    "procedure",
    "former",
    "trigger",
    "retired",
    "left out",
]

FALLBACK_TEXT = "I don't have this in my memory palace."
"""What is said where nothing is known, unless the settings say it otherwise."""

SEVERAL_NAMED = 5
"""Most memories that are named to a person where several things are asked for."""

_QUOTED_SHARE = 0.5
# Below this what stands beside an answer in a palace of notes is about something else.
_MAY_BELONG = 0.05
_NUMBERS = (
    *("bias", "probability", "attribution", "confidence", "sufficient_at", "unclear_at", "prior"),
    *("topic", "on_topic_at"),
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a layer found.

    Attributes:
        id: Memory id, or an artifact reference such as `gitea:owner/repo#12`.
        text: The words of the memory, verbatim; those of a turn behind who says them.
        source: `path:line`, or the URL of an artifact.
        as_of: When this was true: the memory's date or the moment of the fetch.
        confidence: Calibrated probability in [0, 1] that it answers the question.
        scores: The features behind the confidence, by name.
        trust: Whose word it is.
        stale: Whether it may be out of date: an old status, or superseded.
        state_of: The past moment it was looked up for; None for today.
        superseded: Whether a tag, or its page, says that another one holds by now.
    """

    id: str
    text: str
    layer: LayerName
    source: str
    as_of: datetime | None = None
    confidence: float = 0.0
    scores: Mapping[str, float] = field(default_factory=dict)
    trust: Trust = "user"
    stale: bool = False
    state_of: datetime | None = None
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """How it was judged whether one memory answers, feature by feature.

    Attributes:
        source: File of the memory, relative to the palace root.
        model: Which of the two fitted models judged it.
        bias: Log-odds before any feature speaks.
        parts: Feature -> (value, contribution to the log-odds), largest contribution first.
        probability: What the features add up to, in [0, 1].
        attribution: Factor for whether what was found is the asked person's own, above 1 where it
            surely is; None where nobody was asked about or nobody speaks.
        attribution_parts: As `parts`, for the model behind `attribution`.
        confidence: `probability` times `attribution`; 0 when nobody the question names is known.
        sufficient_at: The bar in force from which evidence is sufficient.
        unclear_at: The bar in force from which it is at least unclear.
        rule: What decided; `palace.explaining` says in a sentence what each rule means.
        topic: Probability that the first of what was found has to do with the question at all;
            None where it is a turn.
        on_topic_at: The bar in force for `topic`; below it nothing is unclear.
        prior: Log-odds for what the memory is worth beside its words. They order near ties among
            what was found; whether it answers is judged without them.
    """

    source: str
    model: Literal["statement", "turn"]
    bias: float
    parts: Mapping[str, tuple[float, float]]
    probability: float
    attribution: float | None
    attribution_parts: Mapping[str, tuple[float, float]]
    confidence: float
    sufficient_at: float
    unclear_at: float
    band: Band
    rule: Rule
    prior: float = 0.0
    topic: float | None = None
    on_topic_at: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The JSON shape, rounded; features that say nothing are left out."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        rounded = {k: None if v is None else round(v, 4) for k, v in numbers.items()}
        return {
            "source": self.source,
            "model": self.model,
            **rounded,
            "band": self.band,
            "rule": self.rule,
            "parts": _rounded_parts(self.parts),
            "attribution_parts": _rounded_parts(self.attribution_parts),
        }


def _rounded_parts(parts: Mapping[str, tuple[float, float]]) -> dict[str, list[float]]:
    return {name: [round(value, 3), round(share, 3)] for name, (value, share) in parts.items()}


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One layer's visit.

    Attributes:
        outcome: `loaded` (L0), `sufficient`, `unclear`, `none`, `skipped` (not asked, e.g. no
            artifact was named) or `unavailable` (it failed: `reason` says why).
        reason: What a person should know of it, such as that words answered alone; mostly "".
        candidates: How many candidates were looked at.
        best: The best candidate's confidence in [0, 1], if there was one.
        elapsed_ms: Wall time of the visit in milliseconds.
        evidence: What it found, best first; empty unless sufficient, unclear or loaded.
        judgement: How its best candidate was judged, where something was.
        is_partial: Whether some of its files could not be read: `reason` says which, and that it
            found nothing does not say that nothing is there.
        is_whole: Whether its evidence is all memories of a sort, which was asked for as a whole.
    """

    layer: LayerName
    outcome: LayerOutcome
    candidates: int = 0
    best: float | None = None
    elapsed_ms: float = 0.0
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    judgement: Judgement | None = None
    is_partial: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class PromptWrite:
    """What a prompt told the memory to keep or to put right, and what became of it.

    Attributes:
        status: `stored`, `duplicate` (it was there already), `corrected`, `conflict` (another value
            is stored), `unclear` (which memory is meant), `refused` (a secret, unfit text) or
            `unavailable` (it could not be written).
        text: What a person is told, one sentence.
        memory_id: Id of the memory that holds it now, "" if none does.
        source: `path:line` of that memory.
    """

    status: Literal[
        "stored", "duplicate", "corrected", "conflict", "unclear", "refused", "unavailable"
    ]
    text: str
    memory_id: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Heard:
    """What was made of the requests to the memory in a prompt.

    Attributes:
        writes: One for each request, in order.
        rest: What else the prompt asks, "" if nothing.
    """

    writes: tuple[PromptWrite, ...]
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the enforcer decided for a turn, and the whole trace of why.

    Attributes:
        id: Key of the verdict in the journal.
        action: What the host must do; see `docs/decisions/0001-core.md`.
        outcome: What was found.
        layer: The layer that ended the walk, if one did.
        text: What a caller without a model may show: the reply for `fallback` and `answer`, the
            quotes for `ground`, the named near miss for `confirm`, empty for `pass`.
        evidence: Best first.
        walk: One report per layer visited, in order.
        reminders: Memories whose triggers match the prompt, whatever the action is.
        written: What the prompt told the memory to keep, and what became of it.
    """

    id: str
    action: Action
    outcome: Outcome
    signal: RecallSignal
    layer: LayerName | None = None
    text: str = ""
    evidence: tuple[Evidence, ...] = ()
    walk: tuple[LayerReport, ...] = ()
    turn: Turn = field(default_factory=lambda: Turn(prompt=""))
    elapsed_ms: float = 0.0
    reminders: tuple[Evidence, ...] = ()
    written: tuple[PromptWrite, ...] = ()

    @property
    def quoted(self) -> tuple[Evidence, ...]:
        """The evidence worth quoting to a person: what is nearly as sure as the best."""
        surest = max((e.confidence for e in self.evidence), default=0.0)
        return tuple(e for e in self.evidence if e.confidence >= _QUOTED_SHARE * surest)

    @property
    def perhaps_more(self) -> tuple[Evidence, ...]:
        """What else may belong to the answer where several things are asked for; else nothing."""
        if not self.signal.several:
            return ()
        quoted = self.quoted
        may = (e for e in self.evidence if e.confidence >= _MAY_BELONG)
        rest = [e for e in may if e not in quoted]
        return tuple(rest[: max(0, SEVERAL_NAMED - len(quoted))])

    @property
    def judgement(self) -> Judgement | None:
        """How the best evidence was judged; where nothing was found, the nearest memory."""
        judged = [r for r in self.walk if r.judgement and self.layer in (None, r.layer)]
        return max(judged, key=lambda r: r.best or 0.0).judgement if judged else None

    def with_writes(self, writes: tuple[PromptWrite, ...]) -> Verdict:
        """Return the verdict with what was told beside its question; a reply says that first."""
        said = "\n".join([*(write.text for write in writes), self.text])
        is_reply = self.action in {"fallback", "answer"}
        return replace(self, written=writes, text=said if is_reply else self.text)

    def as_dict(self) -> dict[str, Any]:
        """The public JSON shape, exactly as `palace ask --json` prints it.

        `reminders` and `written` are there where there is something in them.
        """
        shape: dict[str, Any] = {
            "id": self.id,
            "action": self.action,
            "outcome": self.outcome,
            "layer": self.layer,
            "text": self.text,
            "signal": {
                "kind": self.signal.kind,
                "score": round(self.signal.score, 4),
                "cues": list(self.signal.cues),
            },
            "evidence": [
                {
                    "id": e.id,
                    "text": e.text,
                    "layer": e.layer,
                    "source": e.source,
                    "as_of": e.as_of.isoformat() if e.as_of else None,
                    "confidence": round(e.confidence, 4),
                    **({"state_of": e.state_of.isoformat()} if e.state_of else {}),
                }
                for e in self.evidence
            ],
            "walk": [
                {
                    "layer": r.layer,
                    "outcome": r.outcome,
                    "candidates": r.candidates,
                    "best": None if r.best is None else round(r.best, 4),
                    "elapsed_ms": round(r.elapsed_ms, 3),
                }
                for r in self.walk
            ],
        }
        if self.reminders:
            shape["reminders"] = [
                {"id": e.id, "text": e.text, "source": e.source, "trust": e.trust}
                for e in self.reminders
            ]
        if self.written:
            shape["written"] = [
                {"status": w.status, "text": w.text, "memory": w.memory_id, "source": w.source}
                for w in self.written
            ]
        return shape

    def as_trace(self, *, scores: bool = True) -> dict[str, Any]:
        """The public shape with everything a person needs to see why.

        Args:
            scores: Whether to tell the features of every piece of evidence too.
        """
        trace = self.as_dict()
        trace["prompt"] = self.turn.prompt
        trace["signal"].update(runner_up=self.signal.runner_up, band=self.signal.band)
        if self.signal.several:
            trace["signal"]["several"] = True
        for item, evidence in zip(trace["evidence"], self.evidence, strict=True):
            if scores:
                item["scores"] = {k: round(v, 4) for k, v in evidence.scores.items()}
            item["stale"] = evidence.stale
            item["trust"] = evidence.trust
        for item, report in zip(trace["walk"], self.walk, strict=True):
            item["reason"] = report.reason
        trace["elapsed_ms"] = round(self.elapsed_ms, 3)
        judgement = self.judgement
        trace["judgement"] = judgement.as_dict() if judgement else None
        return trace

    def explain(self) -> str:
        """Every step of the decision, for a person."""
        from palace.explaining import explain_trace

        return explain_trace(self.as_trace())
