"""Where ports meet implementations: the parts of a palace, put together from its settings.

In: a palace with its stores and settings. Out: detector, layers, writer and enforcement. Beside the
facade and `palace.configured`, which makes what the settings name, this is the only module that
sees settings and implementations together.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from palace.configured import (
    configured_embedder,
    configured_fetchers,
    configured_generator,
    configured_policy,
)
from palace.enforce.enforcer import Enforcement
from palace.enforce.markers import escape_markers
from palace.errors import ConfigError, StoreError
from palace.layers.artifacts import ArtifactsLayer
from palace.layers.identity import IdentityLayer
from palace.layers.indexed import IndexedLayer
from palace.layers.judging import trusted
from palace.layers.reminders import reminders
from palace.layers.scratchpad import ScratchpadLayer
from palace.learn.cues import Cues, load_cues
from palace.learn.prior import prior
from palace.learn.remember import Writer
from palace.learn.rivals import Rivals
from palace.models.vector_cache import VectorCache
from palace.past import PastState, past_state
from palace.ports import Generator, Layer, Scope, SessionMarks
from palace.recall.as_of import dated_turn, named_end, retired_at
from palace.recall.blocks import CLOSE_TAG, OPEN_TAG
from palace.recall.detector import CueDetector
from palace.recall.fusion import Fusion
from palace.recall.in_time import in_order
from palace.recall.insisting import insisted_on
from palace.recall.instructions import without_instructions
from palace.recall.lexicon import Lexicon, load_lexicons
from palace.recall.logistic import load_model
from palace.recall.misspelt import as_meant
from palace.recall.query import Analyst
from palace.recall.scoring import STATIC_VECTORS
from palace.recall.search import Searcher
from palace.recall.sufficiency import Sufficiency
from palace.recall.unrelated import UNRELATED
from palace.store.journal import new_record
from palace.store.session_marks import FileSessionMarks
from palace.store.timeline_page import session_title
from palace.text.moments import today_here, utc_now
from palace.types.changes import Match
from palace.types.memory import PLAYBOOKS, TIMELINE, Draft, Memory
from palace.types.query import Query, TimeOrder
from palace.types.session import ConversationTurn, Turn
from palace.types.verdict import Evidence

if TYPE_CHECKING:
    from palace.learn.consolidate import Consolidator
    from palace.ports import ConflictJudge, Embedder
    from palace.settings import Settings
    from palace.store.index_sqlite import SqliteIndex
    from palace.store.vector_channel import VectorChannel
    from palace.verbs.opened import OpenedPalace

_RECENT_VERDICTS = 50
# Each is an index in memory.
_KEPT_MOMENTS = 2
_BOUGHT = "embeddings.sqlite"
_log = logging.getLogger(__name__)


class Assembly:
    """The parts of one palace, each made when it is first needed.

    Args:
        palace: The palace; its stores must be open.
        past: The state of then, for a walk through a past of the palace: what is read is its index
            in place of today's, and nothing is fetched or embedded.
    """

    def __init__(self, palace: OpenedPalace, *, past: PastState | None = None) -> None:
        self._palace = palace
        self._past = past
        self._moments: dict[datetime, Assembly] = {}
        self._present: dict[str, str] = {}
        # As of a state of the index: what is retired, or holds until a plan begins; what reminds.
        self._ended: tuple[int | None, Sequence[Memory]] = (None, ())
        self._reminding: tuple[int | None, Sequence[Memory]] = (None, ())

    @property
    def _settings(self) -> Settings:
        return self._palace.settings

    @property
    def _index(self) -> SqliteIndex:
        return self._palace.index if self._past is None else self._past.index

    @property
    def timeout_ms(self) -> float:
        """How long one pattern may take, in milliseconds."""
        return self._settings.detector.pattern_timeout_ms

    @cached_property
    def lexicons(self) -> tuple[Lexicon, ...]:
        """The languages the detector knows."""
        return load_lexicons(self._settings.detector.languages)

    @cached_property
    def analyst(self) -> Analyst:
        """Turns prompts into queries."""
        return Analyst(
            self.lexicons,
            self._index,
            related=self._settings.search.related_words,
            noted=self.scratchpad_layer.tokens_of,
            identity=self.identity,
            fallback_text=self._settings.enforce.fallback_text,
            timeout_ms=self.timeout_ms,
        )

    def identity(self) -> str:
        """Return what says who the agent is; where it cannot be read L0 reports that."""
        try:
            return self._palace.identity_file.read().text
        except StoreError:
            return ""

    @cached_property
    def searcher(self) -> Searcher:
        """Asks the index."""
        search = self._settings.search
        return Searcher(
            self._index,
            vectors=self.vectors,
            fusion=Fusion(search.fusion, search.vector_share),
            candidates=search.candidates,
            neighbour_distance=search.neighbour_distance,
            priors=self._priors,
            with_meaning=load_model(f"ranking_{self._meaning}") if self.vectors else None,
            order=self._in_time,
        )

    @property
    def _meaning(self) -> str:
        """What the weights that see meaning are called; of a host's embedder nothing is known."""
        if self._palace.embedder is not None:
            return "semantic"
        return "static" if self._settings.embeddings.in_force in STATIC_VECTORS else "semantic"

    def _priors(self, keys: Sequence[int]) -> dict[int, float]:
        """Return what the memories behind candidates are worth; no file is read for it."""
        now = utc_now()
        worths = self._index.uses.worths(keys)
        return {key: prior(worth, at=now) for key, worth in worths.items()}

    def _in_time(self, order: TimeOrder, keys: Sequence[int]) -> list[int]:
        """Return the keys of memories that tell a day, in an order of time."""
        from palace.enforce.days_told import days_told

        today = self._past.moment.date() if self._past else today_here()
        memories = self._index.load(keys)
        told = {key: days_told(memory) for key, memory in memories.items()}
        return in_order(order, told, today=today)

    @cached_property
    def vectors(self) -> VectorChannel | None:
        """The channel of meaning, None where no embedder is configured."""
        if self._past is not None:
            return None  # the vectors are those of today's memories
        settings = self._settings.embeddings
        own = self._palace.embedder
        folder = self._palace.root / ".palace"
        if own is not None:
            from palace.models.host_embedder import HostEmbedder

            load: Callable[[], Embedder] | None = partial(HostEmbedder, own)
        else:
            load = configured_embedder(settings, cache=folder / _BOUGHT)
        if load is None:
            return None
        from palace.store.vector_channel import VectorChannel
        from palace.store.vector_file import VectorFile

        return VectorChannel(
            self._index,
            VectorFile(folder),
            load,
            batch_size=settings.batch_size,
            is_local=own is not None or settings.in_force != "openai",
            unrelated=UNRELATED,
        )

    @property
    def bought_vectors(self) -> VectorCache:
        """Where vectors are kept that a server was asked for."""
        return VectorCache(self._palace.root / ".palace" / _BOUGHT)

    @cached_property
    def detector(self) -> CueDetector:
        """Decides what is recall."""
        settings = self._settings.detector
        own = [(cue.pattern, cue.kind) for cue in settings.cues]
        preset = self._palace.preset.cues if self._palace.preset else ()
        return CueDetector(
            self.lexicons,
            self._index,
            analyse=self.analyst.analyse,
            model=load_model("detector"),
            own_cues=[*own, *preset],
            recall_at=settings.recall_at,
            other_below=settings.other_below,
            timeout_ms=self.timeout_ms,
            names_artifact=self.artifacts.names_artifact,
            noted=self.scratchpad_layer.tokens_of,
        )

    @cached_property
    def artifacts(self) -> ArtifactsLayer:
        """L3, with the fetchers that are configured."""
        fetchers = self._palace.fetchers if self._past is None else ()
        artifacts = self._settings.artifacts
        if fetchers is None:
            fetchers = tuple(configured_fetchers(artifacts)) if artifacts.enabled else ()
        return ArtifactsLayer(fetchers, min_trust=self._settings.enforce.min_trust)

    @cached_property
    def sufficiency(self) -> Sufficiency:
        """The calibrated bar in force."""
        settings = self._settings.sufficiency
        return Sufficiency(
            load_model("sufficiency_statement"),
            load_model("sufficiency_turn"),
            attribution=load_model("attribution"),
            meaning=(
                load_model(f"sufficiency_statement_{self._meaning}") if self.vectors else None
            ),
            topic=load_model("topic"),
            topic_in_meaning=load_model(f"topic_{self._meaning}") if self.vectors else None,
            sufficient_at=settings.sufficient_at,
            unclear_at=settings.unclear_at,
            on_topic_at=settings.on_topic_at,
        )

    @cached_property
    def writer(self) -> Writer:
        """The one way in."""
        return Writer(
            store=self._palace.store,
            resembling=self._resembling,
            written=self._palace.index_file,
            privacy=self._palace.privacy,
            max_chars=self._settings.write.max_chars,
            reinforced=self._reinforced,
            judge=self._judge,
            promised=self._palace.pending.promised,
        )

    @cached_property
    def _judge(self) -> ConflictJudge | None:
        """Who has the last word on conflicts: the one handed in, or the model of the settings."""
        handed_in, generator = self._palace.judge, self.generator
        if handed_in is not None or self._settings.write.conflict_judge == "off":
            return handed_in
        if generator is None:
            raise ConfigError(
                "write.conflict_judge is model, and there is no model",
                hint="set generator.base_url and generator.model, or write.conflict_judge: off",
            )
        from palace.learn.model_judge import ModelJudge

        return ModelJudge(generator, self._palace.privacy.shown)

    def _reinforced(self, memory: Memory, draft: Draft, match: Match) -> bool:
        """Leave a breadcrumb: this memory was said again. It holds no text, only who and when."""
        about = {"memory": memory.id, "source": draft.trust, "match": match}
        return self._palace.keep_record(
            new_record("reinforced", "r", draft.session or None, about),
            otherwise="a memory was said again, and no note could be taken",
        )

    @cached_property
    def cues(self) -> tuple[Cues, ...]:
        """What statements look like in the languages of the detector."""
        return load_cues(self._settings.detector.languages)

    @cached_property
    def generator(self) -> Generator | None:
        """The language model that the settings name, or the one that was handed in."""
        return self._palace.generator or configured_generator(self._settings.generator)

    @cached_property
    def marks(self) -> SessionMarks:
        """How far each session is condensed."""
        return FileSessionMarks(self._palace.root)

    @cached_property
    def consolidator(self) -> Consolidator:
        """Condenses sessions to the timeline."""
        from palace.learn.consolidate import Consolidator, Limits

        settings = self._settings.consolidate
        return Consolidator(
            marks=self.marks,
            entries=self._entries_of,
            write=self.write_entry,
            frame=lambda text: f"{OPEN_TAG}\n{escape_markers(text)}\n{CLOSE_TAG}",
            shown=self._palace.privacy.shown,
            clock=utc_now,
            limits=Limits(
                window_tokens=settings.window_tokens,
                turns=settings.turns,
                idle=timedelta(minutes=settings.idle_minutes),
                keep_turns=settings.keep_turns,
                summary_tokens=settings.summary_tokens,
            ),
            generator=self.generator,
            cues=self.cues,
        )

    def _entries_of(self, session: str) -> list[Memory]:
        title = session_title(session)
        return [m for m in self._index.memories(room=TIMELINE) if m.session == title]

    def write_entry(self, entry: ConversationTurn) -> None:
        """Put an entry on the timeline, unless it is there; the next question finds it."""
        for path in self._palace.store.append_timeline([entry]):
            self._palace.index_file(path)

    @cached_property
    def rivals(self) -> Rivals:
        """What a statement, or a memory, may be at odds with or repeat."""
        index = self._index
        return Rivals(index=index, terms=self.analyst.terms, everything=index.memories)

    def _resembling(self, draft: Draft) -> list[Memory]:
        # What a person took out of a file by hand is not held any more.
        self._palace.refresh(force=False)
        return self.rivals.of(draft)

    def meant(self, turn: Turn) -> Turn:
        """Return a turn as it is judged.

        That is without what says how to answer, with small words as they are meant, for the turn
        that it insists on, and with the past moment it asks about.
        """
        said = without_instructions(turn.prompt, self.lexicons, timeout_ms=self.timeout_ms)
        said = as_meant(said, self.lexicons)
        asked = insisted_on(
            turn if said == turn.prompt else replace(turn, prompt=said),
            fallback_text=self._settings.enforce.fallback_text,
            lexicons=self.lexicons,
        )
        return dated_turn(asked, self.lexicons, now=utc_now(), timeout_ms=self.timeout_ms)

    def at(self, moment: datetime) -> Assembly:
        """Return the parts of the palace as it was: files alone, without vectors and artifacts.

        The index of then is built in memory from the history of the present one. Those of the last
        moments are kept until a file changes.
        """
        now = self._index.digests()
        if self._present != now:
            self._present = now
            self._moments.clear()
        found = self._moments.pop(moment, None)
        if found is None:
            found = Assembly(self._palace, past=past_state(self._index, moment))
        self._moments[moment] = found
        for oldest in list(self._moments)[:-_KEPT_MOMENTS]:
            del self._moments[oldest]
        return found

    def reminders(self, turn: Turn) -> list[Evidence]:
        """Return the memories whose triggers match a prompt, the most important first."""
        if (state := self._index.state()) != self._reminding[0]:
            self._reminding = state, self._index.marked("triggers")
        return reminders(turn, self._reminding[1], timeout_ms=self.timeout_ms)

    @cached_property
    def enforcement(self) -> Enforcement:
        """Everything a walk needs."""
        return Enforcement(
            analyst=self.analyst,
            detector=self.detector,
            layers=self._layers(),
            policy=configured_policy(self._settings),
            journal=self._palace.journal if self._settings.journal.enabled else None,
            refresh=lambda: self._palace.refresh(force=False),
            previous=self.previous_verdicts,
            shown=self._palace.privacy.shown,
            heard=self._palace.heard,
            reminders=self.reminders,
            meant=self.meant,
            at=lambda moment: self.at(moment).enforcement,
            generation=self._index.generation,
            steady=self._index.steady,
            beside=self.scratchpad_layer.beside,
            contradicts=_contradicts,
            named_in=self.artifacts.named_in,
            wants_artifact=self.artifacts.is_wanted,
        )

    def _layers(self) -> tuple[Layer, ...]:
        made: Mapping[str, Callable[[], Layer]] = {
            "L0": lambda: IdentityLayer(lambda: self._palace.identity_file.read().text),
            "L1": lambda: self._indexed_layer("L1"),
            "L2": lambda: self.scratchpad_layer,
            "L3": lambda: self.artifacts,
            "L4": lambda: self._indexed_layer("L4"),
        }
        return tuple(made[name]() for name in self._settings.layers if name in made)

    def _indexed_layer(self, name: Literal["L1", "L4"]) -> IndexedLayer:
        enforce = self._settings.enforce
        return IndexedLayer(
            name,
            searcher=self.searcher,
            sufficiency=self.sufficiency,
            max_evidence=enforce.max_evidence,
            min_trust=enforce.min_trust,
            stale_after_days=self._settings.artifacts.stale_after_days,
            timeout_ms=self.timeout_ms,
            retired=self._retired,
            gathered=self._gathered if name == "L1" else lambda _query: (),
            unread=lambda: [
                fault
                for fault in self._palace.unread
                if (name == "L4") == (fault.path.split("/")[0] == PLAYBOOKS)
            ],
            named_end=lambda prompt: named_end(
                prompt, self.lexicons, now=utc_now(), timeout_ms=self.timeout_ms
            ),
        )

    def _gathered(self, query: Query) -> list[Memory]:
        """Return the memories that a prompt asks for as a whole."""
        from palace.layers.gathered import gathered

        if query.gathers is None:
            return []
        now = self._past.moment if self._past else utc_now()
        believed = trusted(self._settings.enforce.min_trust)
        return gathered(
            self._index,
            query.gathers,
            scope=Scope(session_id=query.session_id, project=query.project),
            present=session_title(query.session_id) if query.session_id else None,
            may=lambda memory: memory.holds_at(now) and memory.trust in believed,
            most=self._settings.enforce.max_evidence,
        )

    def _retired(self, moment: datetime | None) -> Sequence[Memory]:
        """Return the memories that held no more at a moment; at that of the palace if None."""
        if moment is None and self._past is not None:
            return self._past.retired
        index = self._index
        if (state := index.state()) != self._ended[0]:
            ended = [m for m in index.marked("superseded_by") if m.status == "active"]
            self._ended = state, (*index.marked("status"), *ended)
        return retired_at(self._ended[1], moment or utc_now())

    @cached_property
    def scratchpad_layer(self) -> ScratchpadLayer:
        """L2, the notes of the session."""
        return ScratchpadLayer(
            self._palace.living_notes,
            vocabulary=self._index,
            sufficiency=self.sufficiency,
            max_evidence=self._settings.enforce.max_evidence,
            min_trust=self._settings.enforce.min_trust,
            contradicts=_contradicts,
        )

    def previous_verdicts(
        self, session_id: str | None, project: str | None
    ) -> Iterator[dict[str, Any]]:
        """Return the last verdict records of a session in a project, newest first.

        What another project was shown in the same session is none of this one's business.
        """
        last = islice(self._palace.journal.records(type="verdict"), _RECENT_VERDICTS)
        whose = (session_id or None, project or None)
        return (r for r in last if (r.get("session") or None, r.get("project") or None) == whose)


def _contradicts(told: str, since: str) -> bool:
    from palace.learn.conflict import contradicts  # only where there is a note beside another word

    return contradicts(told, since)
