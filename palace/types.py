"""Frozen values that travel through the program; they import nothing of ours.

In: what stores, layers and doors produce. Out: what the enforcer, the doors and the journal read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Action = Literal["pass", "ground", "confirm", "answer", "fallback", "generate"]
Outcome = Literal["hit", "near_miss", "nothing_stored", "unavailable", "not_recall"]
RecallKind = Literal[
    "fact", "status", "history", "preference", "procedure", "identity", "meta", "none"
]
MemoryKind = Literal["fact", "preference", "procedure", "correction", "negative", "event"]
Trust = Literal["user", "agent", "system"]
Match = Literal["exact", "normalised", "near"]
Relation = Literal["duplicate", "conflict", "unrelated"]
Status = Literal["active", "inactive"]
LayerName = Literal["L0", "L1", "L2", "L3", "L4", "L5"]
LayerOutcome = Literal["loaded", "sufficient", "unclear", "none", "skipped", "unavailable"]
Band = Literal["sufficient", "unclear", "none"]
Rule = Literal[
    "bars", "stranger", "name missing", "names present", "own words", "meaning", "procedure"
]
AnswerType = Literal["clock", "date", "number", "person", "place", "reason", "yes_no", "thing"]


@dataclass(frozen=True, slots=True)
class Message:
    """One earlier message.

    Attributes:
        role: `user`, `assistant`, `system` or `tool`.
        at: When it was said, aware, where the host knows.
        calls: Ids of the tool calls this message makes.
        answers: Id of the tool call this message answers, else "".
    """

    role: str
    content: str
    at: datetime | None = None
    calls: tuple[str, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person just said, and where.

    Attributes:
        prompt: The raw prompt, any text at all.
        session_id: The session, if the door knows one. Untrusted input.
        project: The project whose scoped memories may be used, if any.
        history: Earlier messages, oldest first.
        as_of: Asks for the state of this moment instead of today's, aware.
    """

    prompt: str
    session_id: str | None = None
    project: str | None = None
    history: tuple[Message, ...] = ()
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One statement of the palace, with where it stands.

    Attributes:
        id: `m-…` when the file carries an id, `d-…` (path + content hash) when it is derived.
        text: The statement as a person reads it: markers and our metadata comment removed.
        path: File, relative to the palace root, with forward slashes.
        line: First line of the statement in the file, 1-based.
        room: Room name; `timeline` for history, `playbooks` for procedures.
        drawer: File name without its suffix.
        title: The drawer's title.
        heading: Headings above the statement, outermost first, joined by ` > `.
        position: Ordinal of the statement in its file, 0-based.
        speaker: Who said it, for a conversation turn, else "".
        session: The session it was said or learned in, else "".
        confidence: In [0, 1].
        importance: In [0, 1].
        key: Of a memory that is updated in place: one active memory has it in a scope.
        links: What it points to: `room/drawer` and `[[links]]` of its words, ids of memories.
        retired: When it became inactive, if it did.
    """

    id: str
    text: str
    path: str
    line: int
    room: str
    drawer: str
    title: str = ""
    heading: str = ""
    position: int = 0
    kind: MemoryKind = "fact"
    scope: str = "global"
    trust: Trust = "user"
    provenance: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 1.0
    created: datetime | None = None
    updated: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    status: Status = "active"
    superseded_by: str = ""
    triggers: tuple[str, ...] = ()
    project: str = ""
    task: str = ""
    session: str = ""
    reason: str = ""
    speaker: str = ""
    key: str = ""
    retired: datetime | None = None

    @property
    def source(self) -> str:
        """Where a person finds it: `path:line`."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory before it has a file and a line; fields as in `Memory`.

    Attributes:
        id: The id it shall have; "" for one that the store gives it.
    """

    text: str
    kind: MemoryKind = "fact"
    scope: str = "global"
    trust: Trust = "user"
    provenance: str = ""
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 1.0
    created: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    triggers: tuple[str, ...] = ()
    project: str = ""
    task: str = ""
    session: str = ""
    reason: str = ""
    key: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One entry of the timeline: a verbatim turn of a conversation, or what became of several.

    Attributes:
        trust: Whose word it is.
        scope: Who may read it, as in `Memory`.
        project: The project it belongs to, if any.
        task: The task it belongs to, if any.
    """

    session: str
    speaker: str
    text: str
    at: datetime
    provenance: str = ""
    trust: Trust = "user"
    scope: str = "global"
    project: str = ""
    task: str = ""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What became of a part of a session, and when that part ended."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class SessionMark:
    """How far a session is condensed.

    Attributes:
        session_id: The session.
        last_consolidated_at: When the last condensed message was said or, where messages have no
            times, when it was condensed; None before the first time.
        count: Messages condensed so far, system messages and our own blocks not counted.
        tail: Digests of the last of them, in order.
        summaries: What they became, oldest first, as far as it is still put before the model.
        failures: Failures of the model in a row.
    """

    session_id: str
    last_consolidated_at: datetime | None = None
    count: int = 0
    tail: tuple[str, ...] = ()
    summaries: tuple[SessionSummary, ...] = ()
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a file that could not be understood; the bytes stay as they are."""

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed memory file.

    Attributes:
        path: Relative to the palace root, forward slashes.
        digest: Hash of the file's bytes.
        memories: In file order, inactive ones included.
    """

    path: str
    digest: str
    title: str
    tags: tuple[str, ...]
    memories: tuple[Memory, ...]
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What tells whether a file changed since it was indexed."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Query:
    """A prompt, analysed: what the index and the layers are asked.

    Attributes:
        text: The prompt as given.
        terms: Content terms (index tokens), unique, in order of appearance.
        head: The terms asked for directly ("which T-shirt size" -> shirt, size).
        names: Each name of the prompt as its index tokens.
        identifiers: Code-like tokens, versions, issue numbers, paths.
        numbers: Numbers of the prompt, normalised.
        answer_type: What kind of thing would answer.
        soft: Terms that only say what sort of thing is asked ("number", "version"); a memory can
            answer without them.
        carried: Terms taken over from the previous turn of a follow-up.
        language: Code of the language whose function words the prompt uses.
        session_id: Session scope that may be read.
        project: Project scope that may be read.
    """

    text: str
    terms: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    identifiers: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    answer_type: AnswerType = "thing"
    soft: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    language: str = "en"
    session_id: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a search returned; `parts` name what its score is made of."""

    memory: Memory
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a layer found.

    Attributes:
        id: Memory id, or an artifact reference such as `gitea:owner/repo#12`.
        text: The words of the memory, verbatim.
        source: `path:line`, or the URL of an artifact.
        as_of: When this was true: the memory's date or the moment of the fetch.
        confidence: Calibrated probability in [0, 1] that it answers the question.
        scores: The features behind the confidence, by name.
        trust: Whose word it is.
        stale: Whether a live artifact should be preferred (old status).
        state_of: The past moment it was looked up for; None for today.
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


@dataclass(frozen=True, slots=True)
class Judgement:
    """How it was judged whether one memory answers, feature by feature.

    Attributes:
        source: File of the memory, relative to the palace root.
        model: Which of the two fitted models judged it.
        bias: Log-odds before any feature speaks.
        parts: Feature -> (value, contribution to the log-odds), largest contribution first.
        probability: What the features add up to, in [0, 1].
        attribution: Factor in [0, 1] for whether what was found is the asked person's own; None
            where nobody was asked about or nobody speaks.
        attribution_parts: As `parts`, for the model behind `attribution`.
        confidence: `probability` times `attribution`; 0 when nobody the question names is known.
        sufficient_at: The bar in force from which evidence is sufficient.
        unclear_at: The bar in force from which it is at least unclear.
        rule: What decided: `bars`; `stranger` (nobody the question names is known), `name missing`
            (a statement lacks a name of the question), `names present` (it holds them all),
            `own words` (it only shares words with the turn before), `meaning` (near by meaning is
            at least unclear) or `procedure` (a playbook proves no fact).
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

    def as_dict(self) -> dict[str, Any]:
        """The JSON shape, rounded; features that say nothing are left out."""
        rounded = {
            name: None if value is None else round(value, 4)
            for name, value in (
                ("bias", self.bias),
                ("probability", self.probability),
                ("attribution", self.attribution),
                ("confidence", self.confidence),
                ("sufficient_at", self.sufficient_at),
                ("unclear_at", self.unclear_at),
                ("prior", self.prior),
            )
        }
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
        candidates: How many candidates were looked at.
        best: The best candidate's confidence in [0, 1], if there was one.
        elapsed_ms: Wall time of the visit in milliseconds.
        evidence: What it found, best first; empty unless sufficient, unclear or loaded.
        judgement: How its best candidate was judged, where something was.
    """

    layer: LayerName
    outcome: LayerOutcome
    candidates: int = 0
    best: float | None = None
    elapsed_ms: float = 0.0
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    judgement: Judgement | None = None


@dataclass(frozen=True, slots=True)
class RecallSignal:
    """The detector's opinion of one prompt.

    Attributes:
        kind: What sort of recall it would be; `none` when it is not recall.
        score: Probability in [0, 1] that the prompt asks for something remembered.
        cues: Names of the cues that spoke, strongest first.
        runner_up: The second most likely kind.
        band: `recall`, `unsure` (the evidence decides) or `other`.
    """

    kind: RecallKind
    score: float
    cues: tuple[str, ...] = ()
    runner_up: RecallKind = "none"
    band: Literal["recall", "unsure", "other"] = "other"


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
    def judgement(self) -> Judgement | None:
        """How the best evidence was judged; where nothing was found, the nearest memory."""
        judged = [r for r in self.walk if r.judgement and self.layer in (None, r.layer)]
        return max(judged, key=lambda r: r.best or 0.0).judgement if judged else None

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

    def as_trace(self) -> dict[str, Any]:
        """The public shape with everything a person needs to see why: scores and reasons too."""
        trace = self.as_dict()
        trace["prompt"] = self.turn.prompt
        trace["signal"].update(runner_up=self.signal.runner_up, band=self.signal.band)
        for item, evidence in zip(trace["evidence"], self.evidence, strict=True):
            item["scores"] = {k: round(v, 4) for k, v in evidence.scores.items()}
            item["stale"] = evidence.stale
            item["trust"] = evidence.trust
        for item, report in zip(trace["walk"], self.walk, strict=True):
            item["reason"] = report.reason
        trace["elapsed_ms"] = round(self.elapsed_ms, 3)
        trace["judgement"] = self.judgement.as_dict() if self.judgement else None
        return trace

    def explain(self) -> str:
        """Every step of the decision, for a person."""
        from palace.explaining import explain_trace

        return explain_trace(self.as_trace())


@dataclass(frozen=True, slots=True)
class ScratchEntry:
    """One note of a session's scratchpad.

    Attributes:
        id: `s-…`.
        at: When it was noted, UTC.
        ttl_s: Seconds it stays readable after `at`.
        promoted: Memory id it was promoted to, else "".
    """

    id: str
    session_id: str
    text: str
    at: datetime
    ttl_s: float
    source: Trust = "agent"
    promoted: str = ""


@dataclass(frozen=True, slots=True)
class Playbook:
    """A documented procedure.

    Attributes:
        name: File name without suffix.
        steps: The numbered steps, markers removed, in order.
        body: The whole Markdown body, verbatim.
    """

    name: str
    title: str
    triggers: tuple[str, ...]
    prerequisites: tuple[str, ...]
    warnings: tuple[str, ...]
    steps: tuple[str, ...]
    body: str
    path: str
    line: int = 1
    updated: datetime | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """A write that happened."""

    memory: Memory
    status: Literal["stored"] = "stored"


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Nothing was written: the palace holds this already.

    Attributes:
        memory: The memory that says the same.
        match: `exact` (the same characters), `normalised` (the same words and signs) or `near`.
        reinforced: Whether the journal took note that it was said again.
    """

    memory: Memory
    match: Match = "exact"
    reinforced: bool = False
    status: Literal["duplicate"] = "duplicate"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Nothing was written: the palace holds another value for the same thing.

    Attributes:
        memory: The memory that says otherwise.
        detail: What differs, for a person.
        stronger: Whose word counts more: a person's beats an agent's, an agent's the system's.
        others: Further memories that the statement contradicts.
    """

    memory: Memory
    detail: str
    stronger: Literal["new", "stored", "neither"] = "neither"
    others: tuple[Memory, ...] = ()
    status: Literal["conflict"] = "conflict"


WriteResult = Remembered | Duplicate | Conflict


@dataclass(frozen=True, slots=True)
class Unclear:
    """A correction was meant, but not which memory, or not how; nothing was written.

    Attributes:
        question: What to ask the person.
        candidates: The memories that may be meant.
    """

    question: str
    candidates: tuple[Memory, ...] = ()
    status: Literal["unclear"] = "unclear"


@dataclass(frozen=True, slots=True)
class Undone:
    """A change that was taken back.

    Attributes:
        event: Journal id of the change.
        verb: What it was: `remember`, `correction`, `forget`, `tag`, `link` …
        restored: Memories that are again as they were before it.
        removed: Ids of memories that it had added and that are gone.
    """

    event: str
    verb: str
    restored: tuple[Memory, ...] = ()
    removed: tuple[str, ...] = ()
    status: Literal["undone"] = "undone"


@dataclass(frozen=True, slots=True)
class History:
    """What became of a statement.

    Attributes:
        versions: Every version that is still readable, oldest first; the last may be active.
        events: Journal records of the changes, oldest first.
    """

    versions: tuple[Memory, ...]
    events: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Erased:
    """A memory whose words are gone from files, index, notes and journal.

    Attributes:
        memory_id: The memory asked for.
        erased: Ids of everything that went, older versions and retired copies included.
        remaining: Where the same words still stand, `path:line`: other memories, pages of a
            person's own. Nobody asked to erase those.
    """

    memory_id: str
    erased: tuple[str, ...]
    remaining: tuple[str, ...] = ()
    status: Literal["erased"] = "erased"


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback that was noted.

    Attributes:
        event: Journal id of the note.
        helpful: What was said.
        memories: The memories it is about.
        strengths: How strong each of them is now, by id, in [0, 1].
    """

    event: str
    helpful: bool
    memories: tuple[Memory, ...]
    strengths: Mapping[str, float]
    status: Literal["noted"] = "noted"


@dataclass(frozen=True, slots=True)
class WakeUp:
    """What a session starts with.

    Attributes:
        text: Ready to be put in front of a model; within the budget.
        used_tokens: Estimated tokens of `text`.
        budget_tokens: The budget it was made for.
        rooms: Rooms selected for this context.
        left_out: What did not fit, one line each, for a person.
        included: Ids of memories and scratchpad entries in the text.
    """

    session_id: str
    text: str
    used_tokens: int
    budget_tokens: int
    rooms: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


Overwriting = Literal["missing", "older", "back"]


@dataclass(frozen=True, slots=True)
class Overwritten:
    """Something the palace wrote within a day that its file does not have as it was written.

    Attributes:
        id: Of the memory.
        path: Its file, relative to the palace.
        text: Its words as they were written; "" if it was erased.
        at: When it was written, aware.
        how: `missing`: it is nowhere. `older`: it is as before that write, e.g. active again.
            `back`: it was erased and stands there again.
    """

    id: str
    path: str
    text: str
    at: datetime
    how: Overwriting


@dataclass(frozen=True, slots=True)
class Suspect:
    """Something stored that looks like an attack on whoever reads it.

    Attributes:
        id: Of the memory, playbook or note; `identity` for the identity.
        source: Where a person finds it.
        trust: Whose word it is.
        reasons: What makes it suspicious; see `palace.enforce.suspicion`.
        excerpt: Its first words, with secrets and stings removed.
    """

    id: str
    source: str
    trust: Trust
    reasons: tuple[str, ...]
    excerpt: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing `doctor` tried."""

    name: str
    ok: bool
    detail: str
    hint: str = ""
