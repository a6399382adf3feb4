"""The roles that implementations play; tests and third parties implement these.

In: values of `palace.types`. Out: the same. A port never mentions a medium.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from palace.types.changes import Relation
from palace.types.memory import Document, Draft, Memory, MemoryKind, Trust
from palace.types.query import Query, RecallSignal
from palace.types.session import ConversationTurn, Message, ScratchEntry, SessionMark, Turn
from palace.types.verdict import LayerName, LayerReport

Vector = bytes
"""One embedding: L2-normalised float32, little-endian, 4 bytes for every dimension."""

Progress = Callable[[int, int], object]
"""Is told how many of how many are done, while something long goes on."""


class Scope(NamedTuple):
    """What a reader may see; an argument of every query, never a filter afterwards.

    Global memories are always visible; project and session memories only to their own.
    """

    session_id: str | None = None
    project: str | None = None

    @property
    def names(self) -> frozenset[str]:
        """The scopes of the memories that are visible."""
        session = [f"session:{self.session_id}"] if self.session_id else []
        project = [f"project:{self.project}"] if self.project else []
        return frozenset(["global", *session, *project])


GLOBAL = Scope()
"""A reader outside every session and project."""


def scope_of(project: str | None, session_id: str | None = None) -> str:
    """Return the scope of a memory of a project or, more narrowly, of a session."""
    if session_id:
        return f"session:{session_id}"
    return f"project:{project}" if project else "global"


class Candidate(NamedTuple):
    """One memory as the index knows it: enough to be scored, not yet loaded.

    Attributes:
        key: The index's own row key; only valid until the next refresh.
        body: Index tokens of the memory's words, in order.
        context: Index tokens of speaker, headings, title, tags, room and drawer.
        names: Tokens of the body that are written as names.
        bm25: Raw relevance, larger is better; 0 for a candidate that was not searched for.
        asks: Ranges (start, end) of the body that are questions.
    """

    key: int
    path: str
    position: int
    session: str
    body: tuple[str, ...]
    context: tuple[str, ...]
    names: frozenset[str] = frozenset()
    bm25: float = 0.0
    asks: tuple[tuple[int, int], ...] = ()


class TermCounts(NamedTuple):
    """How many memories hold a term, anywhere (`any`) and as part of a name (`name`)."""

    any: int = 0
    name: int = 0


@dataclass(frozen=True, slots=True)
class UseCounts:
    """How often one memory was used.

    Attributes:
        uses: Times it was put before a model or a person.
        said_again: Times somebody said the same again.
        helpful: Times it was called helpful.
        unhelpful: Times it was called not helpful.
        last: When it was last used, said again or called helpful, aware.
    """

    uses: int = 0
    said_again: int = 0
    helpful: int = 0
    unhelpful: int = 0
    last: datetime | None = None


UNUSED = UseCounts()

JournalMark = Mapping[str, int]
"""How far a journal was read; what it says is the journal's own business."""


class UseCounters(Protocol):
    """Where counts of use are kept; derived from the journal, and made anew when they are lost."""

    def mark(self) -> JournalMark:
        """Return how far the journal is counted; empty if nothing is."""

    def counts(self, ids: Iterable[str] | None = None) -> dict[str, UseCounts]:
        """Return the counts by memory id, of these memories or of all; unused ones are missing."""

    def keep(
        self,
        counts: Mapping[str, UseCounts],
        mark: JournalMark,
        *,
        since: JournalMark,
        anew: bool = False,
    ) -> bool:
        """Put counts in the place of those that are kept, with the mark they reach to.

        Args:
            counts: Of the memories that changed.
            mark: How far the journal is counted now.
            since: The mark they were counted from; nothing is kept if it is another one by now.
            anew: Whether everything that is kept is out of date.

        Returns:
            Whether they were kept.
        """


class Worth(NamedTuple):
    """What a memory is worth beside its words.

    Attributes:
        kind: What sort of memory it is.
        trust: Whose word it is.
        confidence: In [0, 1].
        importance: In [0, 1].
        dated: When it was last written, aware; None where nobody knows.
        counts: How it was used.
    """

    kind: MemoryKind
    trust: Trust
    confidence: float
    importance: float
    dated: datetime | None = None
    counts: UseCounts = UNUSED


class Vocabulary(Protocol):
    """What the palace's words are: enough for weights and familiarity."""

    def counts(self, terms: Iterable[str], *, scope: Scope = GLOBAL) -> Mapping[str, TermCounts]:
        """Return how many memories a reader may see hold each term; absent terms have zeros."""

    def together(self, terms: Sequence[str], *, scope: Scope = GLOBAL) -> int:
        """Return how many memories a reader may see hold all of these terms; 0 for no term."""

    def alike(self, token: str, *, scope: Scope = GLOBAL) -> Sequence[str]:
        """Return tokens that a reader may see and that may be one slip away from one.

        These are at least all tokens with the same first letter that differ by one letter added,
        removed or changed, or by two swapped; the result may hold more. Letters that are added or
        put in place of another are "a" to "z".
        """

    def beginning(self, letters: str, *, most_chars: int, scope: Scope = GLOBAL) -> Sequence[str]:
        """Return tokens that a reader may see, that begin so and have at most so many letters."""

    def size(self, *, scope: Scope = GLOBAL) -> int:
        """Return the number of active memories that a reader may see."""

    def state(self) -> object:
        """Return what differs after any change of what the other methods return."""


@runtime_checkable
class Index(Vocabulary, Protocol):
    """Derived, disposable search structure over the palace's memories and playbooks."""

    def candidates(
        self,
        terms: Sequence[str],
        *,
        layer: LayerName,
        scope: Scope,
        limit: int,
        at: datetime | None = None,
    ) -> list[Candidate]:
        """Return active, visible memories holding any of the terms, best BM25 first.

        They are valid at this moment; now if it is not given.
        """

    def neighbours(
        self,
        candidates: Sequence[Candidate],
        *,
        distance: int,
        scope: Scope,
        known: Sequence[Candidate] = (),
    ) -> list[Candidate]:
        """Return what stands within `distance` memories in the same file and session, each once.

        Neither the candidates themselves nor what is `known` already is among it.
        """

    def candidates_by_key(self, keys: Sequence[int]) -> list[Candidate]:
        """Return the candidates of these keys, in the order asked; vanished ones are left out."""

    def load(self, keys: Sequence[int]) -> dict[int, Memory]:
        """Return the memories of these keys, in the order asked; vanished ones are left out."""

    def holds(self, layer: LayerName, *, scope: Scope = GLOBAL) -> bool:
        """Return whether there is any active memory of a layer that a reader may see."""

    def get(self, memory_id: str) -> Memory | None:
        """Return one memory, active or not."""


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Which model made a vector; vectors of two identities are never compared.

    Attributes:
        name: Provider and model, e.g. `wordllama/l2_supercat_256`.
        revision: Fingerprint of the weights, "" where nobody can know it.
        dimension: Numbers in a vector, >= 1.
    """

    name: str
    revision: str
    dimension: int

    def __str__(self) -> str:
        revision = f"@{self.revision}" if self.revision else ""
        return f"{self.name}{revision} ({self.dimension} dimensions)"


class Embedder(Protocol):
    """Turns texts into vectors whose dot product tells how near their meanings are."""

    @property
    def identity(self) -> EmbedderIdentity:
        """The model; raises `EmbedderUnavailableError` if it cannot tell without an answer."""

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"]) -> list[Vector]:
        """Return one vector for each text, in order; any text at all, also an empty one.

        Raises:
            EmbedderUnavailableError: The only error it may raise; its text never holds a token.
        """

    def close(self) -> None:
        """Let go of connections and memory; what is asked for later is opened again."""


@dataclass(frozen=True, slots=True)
class VectorState:
    """How far the channel of meaning can be relied on.

    Attributes:
        status: `ready` (every memory has its vector), `partial` (some are still to be embedded),
            `unavailable` (the embedder or the store failed; words answer) or `mismatch` (the
            stored vectors come from another model; words answer).
        embedded: Memories that have a vector.
        total: Memories there are.
        reason: What a person should know, "" when ready.
    """

    status: Literal["ready", "partial", "unavailable", "mismatch"]
    embedded: int = 0
    total: int = 0
    reason: str = ""


class Background(NamedTuple):
    """How large the cosines of a question are by chance alone: what a real one is compared with.

    Attributes:
        mean: Mean cosine of the question to sentences that have nothing to do with it.
        deviation: Standard deviation of the cosines of such sentences among each other, > 0.
    """

    mean: float
    deviation: float


class Vectors(Protocol):
    """The channel of meaning: optional, never the only one, and silent when it cannot speak."""

    @property
    def state(self) -> VectorState:
        """What the last call found; costs nothing."""

    def ask(self, text: str) -> Vector | None:
        """Return the vector of a question, None where words have to answer: `state` says why."""

    def nearest(
        self, vector: Vector, *, layer: LayerName, scope: Scope, limit: int
    ) -> list[tuple[int, float]]:
        """Return (candidate key, cosine) of active, visible memories, nearest first."""

    def cosines(self, vector: Vector, keys: Sequence[int]) -> dict[int, float]:
        """Return the cosine of every key that has a vector."""

    def background(self, vector: Vector) -> Background | None:
        """Return what any cosine to a question is in this model, None where nobody can tell."""


class DrawerStore(Protocol):
    """The canonical Markdown: what a person owns."""

    def locked(self) -> AbstractContextManager[None]:
        """Keep all other writers out meanwhile; whoever holds it may write, and hold it again."""

    def read(self, path: str) -> Document:
        """Parse one file; nonsense in it becomes faults, never an exception."""

    def add(self, draft: Draft, *, room: str, drawer: str) -> Memory:
        """Append one memory durably (fsync) and return it with its id, path and line."""

    def update(self, memory: Memory, **fields: object) -> Memory:
        """Change metadata fields of one memory in place; its text and all else stay as they are."""


class BulkStore(Protocol):
    """The same, for what comes in as a whole."""

    def add_many(self, drafts: Sequence[Draft], *, room: str, drawer: str) -> list[Memory]:
        """Append memories to one drawer in one durable write."""

    def append_timeline(self, turns: Sequence[ConversationTurn]) -> list[str]:
        """Add the turns that are not there yet; return the paths that changed."""


class Journal(Protocol):
    """Append-only record of what was decided and used."""

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one whole record or raise; a record has at least `id`, `at` and `type`."""

    def records(
        self,
        *,
        since: datetime | None = None,
        type: str | None = None,
        among: int | None = None,
        holding: Collection[str] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield records, newest first.

        Args:
            since: Only records of this moment or later; aware.
            type: Only records of this type.
            among: Look at this many of the newest only, whatever they hold.
            holding: Only records in which one of these texts stands somewhere: ids or names of
                fields, in plain ASCII.
        """

    def find(self, record_id: str) -> dict[str, Any] | None:
        """Return the record with this id."""


class ConflictJudge(Protocol):
    """Says how two statements stand to each other; a model's opinion, where a host gives one."""

    def judge(self, stored: str, new: str) -> Relation | None:
        """Return the relation, or None where it cannot tell; raises `ModelError` if it fails."""


class Scratchpad(Protocol):
    """Append-only notes of sessions, with a time to live."""

    def append(self, session_id: str, text: str, *, ttl_s: float | None = None) -> ScratchEntry:
        """Write one note."""

    def entries(self, session_id: str) -> list[ScratchEntry]:
        """Return the living notes of a session, oldest first; expired ones never."""


class SessionMarks(Protocol):
    """How far each session is condensed; survives a restart."""

    def read(self, session_id: str) -> SessionMark:
        """Return the mark of a session, an empty one if it has none."""

    def write(self, mark: SessionMark) -> None:
        """Keep a mark durably."""

    def locked(self) -> AbstractContextManager[None]:
        """Hold the marks against other writers, those of other processes too."""

    def redact(self, told: Callable[[str], bool]) -> None:
        """Take every line that `told` knows out of what the sessions were condensed to."""


class Generator(Protocol):
    """A language model, for what can be done without one too, but better with one."""

    def generate(self, messages: Sequence[Message], *, max_tokens: int) -> str:
        """Return the model's reply, not empty; raises `ModelError` and nothing else.

        Args:
            messages: System and user messages, in order.
            max_tokens: Most tokens of the reply, >= 1.
        """


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """Something outside that a prompt named.

    Attributes:
        kind: `file`, `log`, `issue`, `pull` or `repo_file`.
        host: `files`, `logs`, `gitea` or `github`.
        target: What to fetch, in the fetcher's own notation (`owner/repo#12`, a path).
        options: Fetcher options, e.g. `{"grep": "ECONNREFUSED"}`.
    """

    kind: str
    host: str
    target: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Artifact:
    """A fetched artifact.

    Attributes:
        ref: Stable reference, e.g. `gitea:owner/repo#12`.
        title: One line for a person.
        text: What it says, within the size cap.
        url: Where it is; a path for local files. Never holds a token.
        fetched_at: When it was fetched, UTC.
        truncated: Whether the size cap cut it.
    """

    ref: str
    title: str
    text: str
    url: str
    fetched_at: datetime
    truncated: bool = False


class Fetcher(Protocol):
    """Finds artifacts in a prompt and fetches them live."""

    host: str

    def recognise(self, prompt: str) -> Sequence[ArtifactRef]:
        """Return the artifacts this prompt names that this fetcher is configured for."""

    def fetch(self, ref: ArtifactRef) -> Artifact:
        """Fetch one; raises `FetchError` and nothing else."""


class Detector(Protocol):
    """Decides whether a prompt asks for something remembered."""

    def detect(self, turn: Turn, query: Query) -> RecallSignal:
        """Return the signal; never raises on any text."""


class Layer(Protocol):
    """One layer of the walk: it gathers, it does not wrap, so no layer can skip another."""

    name: LayerName

    def gather(self, turn: Turn, query: Query, signal: RecallSignal) -> LayerReport:
        """Return what this layer knows; a failure is an `unavailable` report."""
