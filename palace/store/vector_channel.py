"""The channel of meaning: an embedder, the stored vectors, and the work of keeping them complete.

In: questions, and memories as the index gets them. Out: vectors and cosines, or the reason why
words have to answer alone. An embedder that fails costs meaning, never an answer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, TypeVar
from uuid import uuid4

from palace.errors import (
    EmbedderMismatchError,
    ModelError,
    PalaceError,
    StoreError,
    StoreUnavailableError,
)
from palace.ports import (
    Background,
    Embedder,
    EmbedderIdentity,
    Progress,
    Scope,
    Vector,
    VectorState,
)
from palace.store.files import LockHeldError, lock_file
from palace.store.index_sqlite import SqliteIndex
from palace.store.vector_file import VectorFile
from palace.store.vectors import VectorIndex
from palace.text import counted
from palace.types.verdict import LayerName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
_COOL_DOWN_S = 30.0
_PATIENCE_S = 2.0
_TURN_S = 0.2  # closing waits no longer for another process that embeds
_FAREWELL_S = 2.0
_REMEMBERED_QUESTIONS = 64
_LEAST_DEVIATION = 1e-3


@dataclass(frozen=True, slots=True)
class Embedded:
    """What an embedding run did.

    Attributes:
        identity: The model.
        added: Memories embedded since the palace was opened or was last asked this, be it here or
            in the background.
        embedded: Memories that have a vector now.
        total: Memories there are.
    """

    identity: EmbedderIdentity
    added: int
    embedded: int
    total: int


class VectorChannel:
    """Meaning for one palace; loads nothing before the first question or embedding.

    No question raises. What looks or embeds may raise `EmbedderMismatchError`, where the stored
    vectors come from another model, `EmbedderUnavailableError`, where the embedder fails, and
    `StoreUnavailableError`, where index or vectors cannot be used; what was made so far is kept.

    Args:
        index: The palace's index.
        file: Where vectors are kept.
        load: Returns the embedder; called once, on first use.
        batch_size: Texts embedded and committed at a time, >= 1.
        is_local: Whether embedding a few texts costs milliseconds and no network: then what was
            just written is embedded before the next question is answered.
        unrelated: Sentences that have to do with no question, for `background`; none or some.
    """

    def __init__(
        self,
        index: SqliteIndex,
        file: VectorFile,
        load: Callable[[], Embedder],
        *,
        batch_size: int = 32,
        is_local: bool = True,
        unrelated: Sequence[str] = (),
    ) -> None:
        self._index = index
        self._file = file
        self._load = load
        self._batch_size = batch_size
        self._is_local = is_local
        self._unrelated = unrelated
        self._vectors = VectorIndex(index, file)
        self._embedder: Embedder | None = None
        self._asked: OrderedDict[str, Vector] = OrderedDict()
        self._asked_of = ("", "")  # the generation of vectors that they were compared with
        self._loading = threading.Lock()
        self._state = VectorState("partial", reason="nothing was asked yet")
        self._met = threading.local()
        self._added = 0
        self._silent_until = float("-inf")
        self._stopped = threading.Event()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None

    # -- questions -----------------------------------------------------------------------------

    @property
    def state(self) -> VectorState:
        """What the last call found, a failure only where this thread met it; costs nothing."""
        mine: VectorState | None = getattr(self._met, "state", None)
        if mine is None or not (_failed(mine) or _failed(self._state)):
            return self._state
        return mine

    def _note(self, state: VectorState) -> None:
        self._state = self._met.state = state

    def ask(self, text: str) -> Vector | None:
        """Return the vector of a question, None where words have to answer: `state` says why."""
        if self._state.status == "unavailable" and time.monotonic() < self._silent_until:
            self._met.state = self._state
            return None
        return self._guarded(partial(self._vector_of, text), None)

    def _vector_of(self, text: str) -> Vector:
        self._require_match()
        if self._is_local and len(self._vectors.missing(limit=self._batch_size + 1)) <= (
            self._batch_size
        ):
            with suppress(LockHeldError):
                self._embed_batch(patience_s=_PATIENCE_S)
        generation = self._file.generation()
        if generation != self._asked_of:
            self._asked.clear()
            self._asked_of = generation
        vector = self._asked.get(text)
        if vector is None:
            (vector,) = self._model().embed([text], kind="query")
            self._asked[text] = vector
            while len(self._asked) > _REMEMBERED_QUESTIONS:
                self._asked.popitem(last=False)
        self._note_counts()
        return vector

    def nearest(
        self, vector: Vector, *, layer: LayerName, scope: Scope, limit: int
    ) -> list[tuple[int, float]]:
        """Return (candidate key, cosine) of active, visible memories, nearest first."""
        found = partial(self._vectors.nearest, vector, layer=layer, scope=scope, limit=limit)
        return self._guarded(found, [])

    def cosines(self, vector: Vector, keys: Sequence[int]) -> dict[int, float]:
        """Return the cosine of every key that has a vector."""
        return self._guarded(partial(self._vectors.cosines, vector, keys), {})

    def background(self, vector: Vector) -> Background | None:
        """Return what any cosine to a question is in this model, None where nobody can tell."""
        return self._guarded(partial(self._background_of, vector), None)

    def _background_of(self, vector: Vector) -> Background | None:
        if not self._unrelated:
            return None
        import numpy as np

        vectors, deviation = self._unrelated_vectors
        return Background(float((vectors @ np.frombuffer(vector, "<f4")).mean()), deviation)

    @cached_property
    def _unrelated_vectors(self) -> tuple[NDArray[np.float32], float]:
        """The vectors of the unrelated sentences, and the deviation of their cosines."""
        import numpy as np

        # A question waits for it, and no server is told the kind.
        kind: Literal["query", "passage"] = "passage" if self._is_local else "query"
        made = self._model().embed(self._unrelated, kind=kind)
        vectors = np.stack([np.frombuffer(vector, "<f4") for vector in made])
        among = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
        return vectors, max(float(among.std()), _LEAST_DEVIATION)

    def _guarded(self, call: Callable[[], _T], otherwise: _T) -> _T:
        """Return what the call returns; a failure becomes the state, and words answer."""
        try:
            return call()
        except EmbedderMismatchError as error:
            self._fail("mismatch", error)
        except (ModelError, StoreError) as error:
            self._fail("unavailable", error)
        except OSError as error:  # of a model's own files
            self._fail("unavailable", StoreError(error.strerror or str(error)))
        return otherwise

    def _fail(self, status: Literal["unavailable", "mismatch"], error: PalaceError) -> None:
        _log.info("words answer alone: %s", error)
        self._silent_until = time.monotonic() + _COOL_DOWN_S
        self._note(replace(self._state, status=status, reason=error.message))

    def _note_counts(self) -> None:
        embedded, total = self._vectors.counts()
        if embedded == total:
            self._note(VectorState("ready", embedded, total))
        else:
            reason = f"{embedded} of {counted(total, 'memory', 'memories')} embedded"
            self._note(VectorState("partial", embedded, total, reason))

    def _model(self) -> Embedder:
        with self._loading:
            if self._embedder is None:
                self._embedder = self._load()
            return self._embedder

    def _patient_model(self) -> Embedder:
        """Return the model for a run: a server that tells its dimension is waited for."""
        model = self._model()
        if not self._is_local:
            # To ask for `identity` is as impatient as a question.
            model.embed(["."], kind="passage")
        return model

    def _require_match(self) -> None:
        self._file.require(self._model().identity)

    def look(self) -> tuple[EmbedderIdentity, VectorState]:
        """Return the model and how complete its vectors are, both looked at anew."""
        self._vectors.recount()
        self._require_match()
        # A new text: what is kept on the disk does not tell whether a server is up.
        self._model().embed([f"probe {uuid4().hex}"], kind="query")
        self._note_counts()
        return self._model().identity, self._state

    # -- embedding -----------------------------------------------------------------------------

    def catch_up(self, *, progress: Progress | None = None) -> Embedded:
        """Embed every memory that has no vector yet; each batch is kept as soon as it is made.

        Args:
            progress: Called with (memories embedded, memories there are).
        """
        self._complete(progress)
        with self._loading:
            added, self._added = self._added, 0
        return Embedded(self._model().identity, added, self._state.embedded, self._state.total)

    def _complete(self, progress: Progress | None = None, *, waits: bool = True) -> None:
        self._vectors.recount()
        self._file.require(self._patient_model().identity)
        if self._vectors.missing(limit=1):
            self._require_writable()
        made: int | None = None
        while made != 0 and not self._stopped.is_set():
            made = None
            with suppress(LockHeldError):  # another process is at it: what it makes is progress too
                made = self._embed_batch(patience_s=_TURN_S)
            self._note_counts()
            if progress is not None:
                progress(self._state.embedded, self._state.total)
        # Who is at the graph may be our own background, which gives it up when we close.
        while not (self._extend_graph() or self._stopped.is_set()) and waits:
            pass

    def _require_writable(self) -> None:
        if self._file.read_only:
            raise StoreUnavailableError(
                "the palace is read-only: no vectors can be kept",
                hint="give this user permission to read and write the palace folder",
            )

    def _extend_graph(self) -> bool:
        """Make or extend the graph of a very large palace; False if somebody else is at it."""
        if self._file.read_only:
            return True
        with suppress(LockHeldError), self._locked("graph", timeout_s=_TURN_S):
            self._vectors.extend_graph(stopped=self._stopped.is_set)
            return True
        return False

    def rebuild(self, *, progress: Progress | None = None) -> Embedded:
        """Embed everything again, with the model of the settings, in the place of what there is.

        The vectors so far are read until all new ones are there, and stay where one cannot be
        made. A rebuild that was interrupted goes on where it stopped.
        """
        self._require_writable()
        beside = self._file.beside()
        with self._locked("rebuild", timeout_s=float("inf")), closing(beside):
            identity = self._patient_model().identity
            if beside.identity() not in (None, identity):
                beside.start(identity)
            made = VectorChannel(self._index, beside, self._model, batch_size=self._batch_size)
            made._stopped = self._stopped
            made._complete(progress)
            if not self._stopped.is_set():
                self._file.adopt(beside)
        with self._loading:
            self._added = made._added
        return self.catch_up()

    def _embed_batch(self, *, patience_s: float) -> int:
        """Embed and keep one batch of what is missing; return how many memories it was.

        One at a time, among all processes: what another one has embedded is not embedded again.

        Raises:
            LockHeldError: If another process was at it for so long, in seconds.
        """
        if self._file.read_only or not self._vectors.missing(limit=1):
            return 0
        with self._locked("embedding", timeout_s=patience_s):
            missing = self._vectors.missing(limit=self._batch_size)
            texts = self._index.passage_texts(list(missing))
            if len(texts) < len(missing):  # removed since
                self._vectors.recount()
            passages = {missing[key]: text for key, text in texts.items()}
            model = self._model()
            if self._stopped.is_set():  # while it waited for the lock; nobody would end the call
                return 0
            vectors = model.embed(list(passages.values()), kind="passage")
            if self._stopped.is_set():
                return 0
            self._file.add(
                list(zip(passages, vectors, strict=True)),
                identity=model.identity,
                kept=lambda: {missing[key] for key in self._index.load(list(missing))},
            )
            with self._loading:
                self._added += len(missing)
        return len(missing)

    def _locked(self, name: str, *, timeout_s: float) -> AbstractContextManager[None]:
        path = self._file.folder / f"{name}.lock"
        return lock_file(path, what=f"palace's {name}", timeout_s=timeout_s)

    # -- in the background ---------------------------------------------------------------------

    def start(self) -> None:
        """Begin to embed in the background what has no vector yet; `wake` tells of new memories."""
        if self._thread is None and not self._file.read_only:
            self._thread = threading.Thread(target=self._work, name="embedding", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Tell the background that memories were written."""
        self._woken.set()

    def held(self) -> AbstractContextManager[object]:
        """Keep other threads from reading and writing vectors."""
        return self._file.held()

    def close(self) -> None:
        """End the background work after its current batch, and close embedder and file."""
        self._stopped.set()
        self._woken.set()
        if self._embedder is not None and not self._is_local:
            self._embedder.close()  # nothing that waits for a server is waited for
        if self._thread is not None:
            self._thread.join(_FAREWELL_S)
        if self._embedder is not None:
            self._embedder.close()
        self._file.close()

    def _work(self) -> None:
        while not self._stopped.is_set():
            self._woken.clear()
            if self._guarded(self._completed, otherwise=False):
                self._woken.wait()
            else:  # however much is written meanwhile
                self._stopped.wait(_COOL_DOWN_S)

    def _completed(self) -> bool:
        """Embed what is missing; a model that has nothing to do is not even loaded."""
        if self._vectors.missing(limit=1):
            self._complete(waits=False)
        return True


def _failed(state: VectorState) -> bool:
    return state.status in ("unavailable", "mismatch")
